package simulate

import (
	"context"
	"fmt"
	"math"
	"strings"

	"hilrig/cmd/plot"
	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/plant/brush"
)

// motorStep is the longest time between two looks at a motor with brushes (s): bars pass a brush every 0.8 ms at 3000 rpm.
const motorStep = 1e-4

// buildMotor makes a motor with its brushes. Rows have its outputs in place of coordinates.
func (s *contactRun) buildMotor() error {
	d := s.cfg.Drive
	spec := brush.MachineSpec{
		Params: s.cfg.Brush.Params, Scheme: s.moreau(), SubStep: s.cfg.Engine.Step, AlwaysAveraged: s.cfg.Engine.AveragedContact,
		Pair: d.Pair, LoadJ: d.LoadJ, LoadTorque: d.LoadTorque,
	}
	m, err := brush.NewMachine(spec)
	if err != nil {
		return err
	}
	s.motor = m
	s.q = m.NewState()
	s.q[plant.Omega] = d.Speed
	for i, o := range m.Layout().Outputs {
		_, name, _ := strings.Cut(o.Name, ".")
		switch i {
		case plant.OutPosition:
			name = "angle"
		case plant.OutFriction:
			name = "brush_torque"
		case plant.OutEffort:
			name = "armature_torque"
		case plant.OutApplied:
			name = "voltage"
		}
		s.extraSignals = append(s.extraSignals, engine.Signal{Name: name, Unit: o.Unit})
	}
	return nil
}

// motorBySteps runs the motor under its supply and gathers means and ripples.
func (s *contactRun) motorBySteps(ctx context.Context) error {
	rows := s.cfg.Rows()
	parts := max(1, int(math.Ceil(rows/motorStep-1e-9)))
	dt := rows / float64(parts)
	x, y := s.q, make([]float64, len(s.extraSignals))
	u := []float64{s.cfg.Brush.Motor.Voltage, 1}
	s.q = nil
	var n, i2 float64
	mean := make([]float64, len(y))
	steps := int(math.Round(s.cfg.Duration / dt))
	gaps := 0.0
	for k := range steps {
		if st := s.motor.Step(dt, x, u, y); st == engine.NonFinite {
			return fmt.Errorf("at t = %.6g s the motor has no finite state", float64(k)*dt)
		}
		t := float64(k+1) * dt
		if t > s.cfg.Discard {
			if n == 0 {
				gaps = y[brush.OutInterrupted]
			}
			n++
			for i, v := range y {
				mean[i] += (v - mean[i]) / n
			}
			i2 += (y[plant.OutCurrent]*y[plant.OutCurrent] - i2) / n
		}
		if (k+1)%parts == 0 {
			s.rows = append(s.rows, instant{t: t, extras: append([]float64(nil), y...)})
		}
		if k%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	s.meaning = map[string]string{
		"speed_mean": "after discard, as every mean", "current_ripple": "standard deviation of the current",
		"brush_torque_mean": "of both brushes, against the rotation",
		"face_force":        "on one brush, mean", "contact_drop_mean": "of one brush", "loss": "share of the time without force on the face, " +
			"last 50 ms",
		"sparking_mean": "broken when a bar leaves the brush", "interruptions": "gaps of the face force of 0.5 ms and more",
		"tilt":           "of the first brush, mean",
		"averaged_share": "share of the time with the averaged contact",
	}
	c := &s.motor.Counts
	time := n * dt
	i := mean[plant.OutCurrent]
	s.metrics = []Metric{
		{"speed_mean", "rad/s", mean[plant.OutVelocity]}, {"speed_end", "rad/s", y[plant.OutVelocity]},
		{"current_mean", "A", i}, {"current_rms", "A", math.Sqrt(i2)}, {"current_ripple", "A", math.Sqrt(max(0, i2-i*i))},
		{"brush_torque_mean", "N·m", mean[plant.OutFriction]}, {"face_force", "N", mean[brush.OutForce]},
		{"contact_drop_mean", "V", mean[brush.OutDrop]},
		{"loss", "", mean[brush.OutLoss]}, {"sparking_mean", "A", mean[brush.OutSparking]},
		{"interruptions", "1/s", (y[brush.OutInterrupted] - gaps) / time},
		{"tilt", "rad", mean[brush.OutTilt]}, {"temperature_end", "degC", y[plant.OutTemperature]},
		{"averaged_share", "", mean[brush.OutAveraged]},
	}
	s.solver = []Metric{
		{"steps", "", float64(c.Steps)}, {"sub_steps", "", float64(c.Sub)}, {"averaged_sub_steps", "", float64(c.AveragedSubSteps)},
		{"switches", "", float64(c.Switches)},
		{"unverified_steps", "", float64(c.Degraded)}, {"unverified_share", "", float64(c.Degraded) / max(1, float64(c.Sub))},
		{"restarts", "", float64(c.Restarts)},
	}
	s.warnings = append(s.warnings, s.motor.Warnings()...)
	if c.AveragedSubSteps > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("averaged contact in %d of %d sub-steps: a step of %g s does not resolve the surface at "+
			"that speed", c.AveragedSubSteps, c.Sub, s.cfg.Engine.Step))
	}
	return nil
}

// motorFigure has speed and current over the run, and what the bars do to current and contact over the last two turns.
func (s *contactRun) motorFigure() *plot.Figure {
	t := s.column(func(r *instant) float64 { return r.t })
	end := t[len(t)-1]
	speed := math.Abs(s.rows[len(s.rows)-1].extras[plant.OutVelocity])
	turns := end
	if speed > 1 {
		turns = min(end, 4*math.Pi/speed)
	}
	panel := func(name string, i int, from float64) plot.Panel {
		var x, y []float64
		for k, r := range s.rows {
			if t[k] >= from {
				x, y = append(x, t[k]), append(y, r.extras[i])
			}
		}
		return plot.Panel{X: plot.Axis{Name: "time", Unit: "s", Min: from, Max: end}, Y: plot.Axis{Name: name, Unit: s.extraSignals[i].Unit},
			Series: []plot.Series{{X: x, Y: y}}}
	}
	left := []plot.Panel{panel("speed", plant.OutVelocity, 0), panel("current", plant.OutCurrent, 0),
		panel("brush torque", plant.OutFriction, 0)}
	right := []plot.Panel{panel("current", plant.OutCurrent, end-turns), panel("contact drop", brush.OutDrop, end-turns),
		panel("face force", brush.OutForce, end-turns)}
	return &plot.Figure{Title: s.title(), Note: s.engineText() + "; right: the last two turns",
		Columns: []plot.Column{{Panels: left}, {Panels: right}}}
}
