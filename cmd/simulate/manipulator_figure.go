package simulate

import (
	"fmt"
	"io"
	"math"

	"hilrig/cmd/plot"
	"hilrig/engine"
	"hilrig/engine/plant/manipulator"
)

// figure draws the mechanism at some times and its joints on the left, deflections, contact force and torque on the right.
func (s *manipulatorRun) figure() *plot.Figure {
	t := s.of("time")
	time := plot.Axis{Name: "time", Unit: "s", Max: t[len(t)-1]}
	over := func(name, unit string, labels ...string) plot.Panel {
		p := plot.Panel{X: time, Y: plot.Axis{Name: name, Unit: unit}}
		for _, l := range labels {
			p.Series = append(p.Series, plot.Series{Label: l, X: t, Y: s.of(l)})
		}
		return p
	}
	left := []plot.Panel{ManipulatorSlides(s.model, s.runResult.Samples, slides)}
	byUnit := map[string][]string{}
	for i, j := range s.model.Params().Joints {
		unit := engine.UnitOn(j.Kind == manipulator.Revolute, "m")
		byUnit[unit] = append(byUnit[unit], fmt.Sprintf("q%d", i+1))
	}
	for _, k := range []struct{ unit, name string }{{"rad", "angle"}, {"m", "displacement"}} {
		if len(byUnit[k.unit]) > 0 {
			left = append(left, over(k.name, k.unit, byUnit[k.unit]...))
		}
	}
	var nodes []string
	n := s.model.Beam().Nodes()
	for _, share := range []float64{0.2, 0.4, 0.5, 0.7} {
		name := fmt.Sprintf("w%d", int(math.Round(share*float64(n-1)))+1)
		if len(nodes) == 0 || nodes[len(nodes)-1] != name {
			nodes = append(nodes, name)
		}
	}
	right := []plot.Panel{over("deflection of nodes", "m", nodes...), over("contact force", "N", "lambda")}
	for i, j := range s.model.Params().Joints {
		if j.Drive != nil {
			right = append(right, over(fmt.Sprintf("drive of joint %d", i+1),
				engine.UnitOn(j.Kind == manipulator.Revolute, "N"), fmt.Sprintf("tau%d", i+1)))
		}
	}
	if s.model.Params().Friction != nil {
		right = append(right, over("friction", "N", "friction"))
	}
	return &plot.Figure{Title: s.title(), Note: s.text(), Columns: []plot.Column{{Panels: left}, {Panels: right}}}
}

// slides is how many positions of the mechanism a figure shows.
const slides = 6

// ManipulatorSlides draws the chain and the beam at n of the samples, evenly over time.
func ManipulatorSlides(m *manipulator.Model, samples []manipulator.Sample, n int) plot.Panel {
	p := plot.Panel{X: plot.Axis{Name: "x", Unit: "m"}, Y: plot.Axis{Name: "y", Unit: "m"}}
	for k := range n {
		r := &samples[k*(len(samples)-1)/max(1, n-1)]
		s := plot.Series{Label: fmt.Sprintf("t = %.3g s", r.T)}
		for _, at := range m.Shape(r.Q) {
			s.X, s.Y = append(s.X, at[0]), append(s.Y, at[1])
		}
		// the beam in the same colour: a gap interrupts the line
		s.X, s.Y = append(s.X, math.NaN()), append(s.Y, math.NaN())
		for i, w := range r.W {
			s.X, s.Y = append(s.X, float64(i)*m.Beam().Element()), append(s.Y, w)
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// animate writes a page that shows chain and beam moving, with the contact force.
func (s *manipulatorRun) animate(w io.Writer) error {
	p := s.model.Params()
	b := s.model.Beam()
	d := animationData{Title: s.title(), Note: s.text(), Caption: "chain and beam; the arrow is the force on the tip", Enlarge: 1}
	// a body reaches from its joint to the next one, and as far beyond its centre of mass as that is from the joint
	for i, j := range p.Joints {
		end := p.Tip
		if i+1 < len(p.Joints) {
			end = p.Joints[i+1].Location
		}
		body := drawnBody{Name: fmt.Sprintf("body %d", i+1), Kind: "body", Points: [][2]float64{{2 * j.Center[0], 2 * j.Center[1]}, {}, end},
			Unscaled: true}
		if end == [2]float64{} && j.Center == [2]float64{} {
			body = drawnBody{Name: body.Name, Kind: "holder", Radius: 0.02 * p.Beam.Length, Closed: true, Unscaled: true}
		}
		d.Bodies = append(d.Bodies, body)
	}
	for e := range p.Beam.Elements {
		d.Bodies = append(d.Bodies, drawnBody{Name: fmt.Sprintf("element %d", e+1), Kind: "turning", Points: [][2]float64{{}, {b.Element(), 0}}})
	}
	for range 2 {
		d.Bodies = append(d.Bodies, drawnBody{Name: "support", Kind: "ground",
			Points: [][2]float64{{0, -0.03 * p.Beam.Length}, {0, 0.03 * p.Beam.Length}}, Unscaled: true})
	}
	low, high := 0.0, 0.0
	top := 1e-12
	for k := range s.runResult.Samples {
		r := &s.runResult.Samples[k]
		var pose []float64
		angle := 0.0
		points := s.model.Shape(r.Q)
		for i, j := range p.Joints {
			if j.Kind == manipulator.Revolute {
				angle += r.Q[i]
			}
			pose = append(pose, shown7(points[i][0]), shown7(points[i][1]), shown7(angle))
			low, high = math.Min(low, points[i][1]), math.Max(high, points[i][1])
		}
		for e := range p.Beam.Elements {
			pose = append(pose, shown7(float64(e)*b.Element()), shown7(r.W[e]), shown7(math.Atan((r.W[e+1]-r.W[e])/b.Element())))
		}
		pose = append(pose, 0, 0, 0, p.Beam.Length, 0, 0)
		d.T, d.Pose = append(d.T, r.T), append(d.Pose, pose)
		touch := [][4]float64{}
		if !r.ContactOpen {
			touch = append(touch, [4]float64{shown7(r.TipX), shown7(r.TipY), 0, shown7(r.Lambda)})
			top = math.Max(top, math.Abs(r.Lambda))
		}
		d.Contacts = append(d.Contacts, touch)
	}
	d.Rest, d.Force = d.Pose[0], top
	d.View = [4]float64{p.Beam.Length / 2, (low + high) / 2, 1.3 * p.Beam.Length, 1.3*(high-low) + 0.2*p.Beam.Length}
	for _, name := range []string{"lambda", "tip_x", fmt.Sprintf("w%d", b.Nodes()/2+1)} {
		for _, c := range s.columns {
			if c.name == name {
				d.Traces = append(d.Traces, trace(c.name, c.unit, c.x))
			}
		}
	}
	return d.write(w)
}
