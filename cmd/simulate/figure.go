package simulate

import (
	"cmp"
	"fmt"

	"hilrig/cmd/plot"
	"hilrig/cmd/report"
	"hilrig/engine/experiment"
)

// figure draws position, velocity and friction over time on the left, friction over velocity and over displacement on the
// right, all laws in one legend. Velocity is the mean of the steps, which belongs to their middle as friction does.
func (s *simulation) figure() *plot.Figure {
	c := s.cfg
	time := plot.Axis{Name: "time", Unit: "s", Max: c.Duration}
	position := plot.Axis{Name: s.word("position", "angle"), Unit: c.Unit("m")}
	velocity := plot.Axis{Name: s.word("velocity", "speed"), Unit: c.Unit("m/s")}
	friction := plot.Axis{Name: s.word("friction", "friction torque"), Unit: c.Unit("N")}
	displacement := position
	if !c.Rotary() {
		displacement.Name = "displacement"
	}
	var overX, overV, x, v, f, amps []plot.Series
	for i := range s.runs {
		t, label := s.runs[i].trace, s.runs[i].law.Label
		mid := middles(t, c.Step)
		x = append(x, plot.Series{Label: label, X: t.T, Y: t.X})
		v = append(v, plot.Series{Label: label, X: t.TMid, Y: t.W})
		f = append(f, plot.Series{Label: label, X: t.TMid, Y: t.F})
		overV = append(overV, plot.Series{Label: label, X: t.W, Y: t.F})
		overX = append(overX, plot.Series{Label: label, X: mid, Y: t.F})
		amps = append(amps, plot.Series{Label: label, X: t.T, Y: t.Amps})
	}

	// what the input is compared with
	first := s.runs[0].trace
	switch c.Plant.Kind {
	case experiment.DrawnMass:
		x = append(x, plot.Series{Label: "end of the spring", X: first.T, Y: first.Input, Style: plot.Guide})
	case experiment.ControlledMass:
		guide := plot.Series{Label: "reference", X: first.T, Y: first.Input, Style: plot.Guide}
		if c.Control.Quantity == "velocity" {
			v = append(v, guide)
		} else {
			x = append(x, guide)
		}
	case experiment.ImposedForce:
		f = append(f, plot.Series{Label: "applied " + s.word("force", "torque"), X: first.T, Y: first.Input, Style: plot.Guide})
	}

	left := []plot.Panel{{X: time, Y: position, Series: x}, {X: time, Y: velocity, Series: v}, {X: time, Y: friction, Series: f}}
	if c.Plant.Kind == experiment.MotorAxis {
		left = append(left, plot.Panel{X: time, Y: plot.Axis{Name: "current", Unit: "A"}, Series: amps}, plot.Panel{X: time,
			Y: plot.Axis{Name: "voltage", Unit: "V"}, Series: []plot.Series{{Label: "voltage", X: first.T, Y: first.Input, Style: plot.Guide}}})
	}
	return &plot.Figure{
		Title: cmp.Or(c.Description, c.Name),
		Note:  fmt.Sprintf("%s; step %s, %s", s.plantText(), report.WithUnit(c.Step, "s"), c.Scheme),
		Columns: []plot.Column{
			{Width: 1.5, Panels: left},
			{Width: 1, Panels: []plot.Panel{{X: velocity, Y: friction, Series: overV}, {X: displacement, Y: friction, Series: overX}}},
		},
	}
}

// middles are the positions in the middle of the steps.
func middles(t *experiment.Trace, step float64) []float64 {
	mid := make([]float64, len(t.X))
	for k := range mid {
		mid[k] = t.X[k] - 0.5*step*t.W[k]
	}
	return mid
}

// word is the name of a quantity on this axis.
func (s *simulation) word(linear, rotary string) string {
	if s.cfg.Rotary() {
		return rotary
	}
	return linear
}
