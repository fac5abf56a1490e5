package simulate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"hilrig/engine/machine"
)

// fixedSteps is a run in the fixed steps of a loop, beside that of the integrator.
type fixedSteps struct {
	step       float64 // s; 0: none
	n          int     // steps
	rows       int     // steps from row to row
	result     machine.Stepped
	difference float64 // largest difference of a number of the state to the integrator, by one plus its size
	signal     string  // that number
	time       float64 // s  when
}

// maxSteps are those of a run.
const maxSteps = 100_000_000

// wholeSteps makes duration and time between rows whole numbers of steps of h (s), and says where they were not; h = 0: no fixed steps.
func (s *machineRun) wholeSteps(h float64) error {
	if h == 0 {
		return nil
	}
	c, f := s.cfg, &s.fixedStep
	n := math.Round(c.Duration / h)
	if !(n >= 1 && n <= maxSteps) {
		return fmt.Errorf("--step: %g s in a duration of %g s makes %.3g steps, want 1 to %d", h, c.Duration, c.Duration/h, maxSteps)
	}
	f.step, f.n = h, int(n)
	if math.Abs(n*h-c.Duration) > 1e-9*c.Duration {
		s.warn("the duration, %.9g s, is no whole number of steps of %.9g s: the run ends at %.9g s", c.Duration, h, n*h)
	}
	c.Duration = n * h
	every := s.every()
	rows := max(1, math.Round(every/h))
	if given := c.Outputs.RowInterval; given > 0 && math.Abs(rows*h-given) > 1e-9*given {
		s.warn("outputs.every, %.9g s, is no whole number of steps of %.9g s: rows stand every %.9g s", given, h, rows*h)
	}
	f.rows, c.Outputs.RowInterval = int(rows), rows*h
	return nil
}

// runSteps integrates, then goes through the same time in fixed steps, which the table holds, and compares.
func (s *machineRun) runSteps(ctx context.Context) error {
	f := &s.fixedStep
	var stopped *machine.Failure
	if err := s.run(ctx); errors.As(err, &stopped) {
		s.warn("the integrator %v: what follows is not compared with it", stopped)
	} else if err != nil {
		return err
	}
	exact := s.columns
	step, x, err := s.cfg.Stepper(machine.StepOptions{Audited: true})
	if err != nil {
		return err
	}
	s.model, s.result = step.M, machine.Result{}
	keep, err := s.table()
	if err != nil {
		return err
	}
	size := step.M.Size()
	row, told := 0, s.progress("fixed steps")
	f.result, err = step.Run(ctx, x, f.step, f.n, f.rows, func(p *machine.Sample) error {
		if row > 0 && row < len(exact[0].x) { // controllers sample in the first step
			for i := range size {
				y := exact[1+i].x[row]
				if e := math.Abs(p.X[i]-y) / (1 + math.Abs(y)); e > f.difference {
					f.difference, f.signal, f.time = e, exact[1+i].name, p.T
				}
			}
		}
		row++
		told(p.T)
		return keep(p)
	})
	r := &f.result
	s.result.Audit, s.result.Accepted, s.result.Residual, s.result.Rate = r.Audit, r.Steps, r.Residual, r.Rate
	s.result.Singular, s.result.SingularAt = r.Singular, r.SingularAt
	return err
}

// metrics are the numbers of the report beside the energies.
func (f *fixedSteps) metrics(dof int, closed bool) []Metric {
	r := &f.result
	list := []Metric{{"degrees_of_freedom", "", float64(dof)}, {"step", "s", f.step}, {"steps", "", float64(r.Steps)},
		{"steps_not_met", "", float64(r.NotMet)}, {"singular_steps", "", float64(r.Singular)}, {"difference_to_integrator_max", "", f.difference}}
	if closed {
		list = append(list, Metric{"constraint_residual_max", "", r.Residual}, Metric{"constraint_rate_max", "", r.Rate})
	}
	return list
}

// shorterStep is a step (s) with the share of the error of one of h, by order two: a part of h with one digit.
func shorterStep(h, share float64) float64 {
	step := h * math.Sqrt(share)
	unit := math.Pow(10, math.Floor(math.Log10(step)))
	return math.Floor(step/unit) * unit
}

// doubts warns of what a loop with this step would not follow. The run is a trial: it ends well all the same.
func (f *fixedSteps) doubts(missing float64, warn func(format string, a ...any)) {
	const much, apart = 1e-3, 1e-4 // share of the energy, difference to the integrator
	r := &f.result
	if r.NotMet > 0 {
		warn("%d of %d steps did not meet their equations, the first at t = %.6g s: %s. A loop shows them as status of its model",
			r.NotMet, r.Steps, r.UnmetAt, r.Reason)
	}
	if missing > much {
		warn("the steps miss %.2g of the largest energy: a shorter step may help", missing)
	}
	if f.difference > apart {
		warn("the steps differ from the integrator by %.2g of %s at t = %.6g s: --step %.6gms differs by less than %g, unless the motion "+
			"depends on rounding", f.difference, f.signal, f.time, 1e3*shorterStep(f.step, apart/2/f.difference), apart)
	}
}
