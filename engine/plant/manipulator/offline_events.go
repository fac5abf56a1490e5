package manipulator

import (
	"fmt"
	"math"

	"hilrig/engine/beam"
)

// event looks at the end of a step: what happened in it first; "" if nothing did.
func (r *run) event(old float64) (string, error) {
	if err := r.eval(r.d.T, r.d.X); err != nil {
		return "", err
	}
	r.maxLambda = math.Max(r.maxLambda, math.Abs(r.a.lambda))
	first, at := "", math.Inf(1)
	for _, what := range []string{Border, Opens, Closes, Pulls, Switch} {
		if r.value(what) >= 0 {
			continue
		}
		t := r.d.T
		if what != Switch {
			var err error
			if t, err = r.find(what, old); err != nil {
				return "", err
			}
		}
		if t < at {
			first, at = what, t
		}
	}
	if first == "" {
		return "", nil
	}
	// the step again, up to the event
	t0 := r.d.StepStart
	if err := r.sampleUpTo(math.Nextafter(at, 0)); err != nil {
		return "", err
	}
	if at < r.d.T {
		r.d.At(t0, r.x)
		r.steps += r.d.Accepted - 1
		r.d.Start(t0, r.x)
		for r.d.T < at {
			if err := r.d.Step(at); err != nil {
				return "", err
			}
		}
	}
	return first, nil
}

// touchTolerance is how deep (m) the tip of an open contact may lie before it counts as closed: rounding after it opened.
const touchTolerance = 1e-12

// minPull is the force (N) from which a bilateral contact counts as pulling: a share of the largest so far, and of what bends the beam.
func (r *run) minPull() float64 {
	b := &r.m.p.Beam
	return 1e-6*r.maxLambda + 1e-7*b.Young*b.SecondMoment/(b.Length*b.Length)
}

// value is positive as long as the event has not come, at the state that was evaluated.
func (r *run) value(what string) float64 {
	l := r.m.beam.Element()
	switch {
	case what == Border:
		x := r.w.pose.tip.X
		return math.Min(x-float64(r.e)*l, float64(r.e+1)*l-x) + 1e-15
	case what == Opens && r.m.p.Unilateral && r.inContact:
		return r.a.lambda
	case what == Closes && !r.inContact:
		return -r.w.c.Phi + touchTolerance
	case what == Pulls && !r.m.p.Unilateral:
		// not every rounding about zero
		if r.pulls {
			return r.minPull() - r.a.lambda
		}
		return r.minPull() + r.a.lambda
	case what == Switch && r.inContact && r.o.Formulation == Partition:
		if to, err := r.w.choose(r.w.dep); err == nil && to != r.w.dep {
			return -1
		}
	}
	return 1
}

// find bisects for the time of an event on the continuous solution of the last step.
func (r *run) find(what string, old float64) (float64, error) {
	lo, hi := old, r.d.T
	end := hi
	for range 60 {
		mid := (lo + hi) / 2
		r.d.At(mid, r.x)
		if err := r.eval(mid, r.x); err != nil {
			return 0, err
		}
		if r.value(what) < 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	// back to the end of the step
	return hi, r.eval(end, r.d.X)
}

// applyEvent carries out an event at the end of the step, and starts anew. Done: the run is over.
func (r *run) applyEvent(what string, old float64) (done bool, err error) {
	t := r.d.T
	copy(r.x, r.d.X)
	if err := r.eval(t, r.x); err != nil {
		return true, err
	}
	r.pack() // a partition's dependent joint as it is
	ev := Event{T: t, Kind: what}
	switch what {
	case Border:
		to := r.e + 1
		if r.w.pose.tip.VX < 0 {
			to = r.e - 1
		}
		if to < 0 || to >= r.m.p.Beam.Elements {
			ev.Kind, ev.Value = Left, r.w.pose.tip.X
			if err := r.sample(t); err != nil {
				return true, err
			}
			r.result.Events = append(r.result.Events, ev)
			return true, fmt.Errorf("manipulator: %w", &beam.LeftError{T: t, X: float64(max(to, 0)) * r.m.beam.Element(), Length: r.m.p.Beam.Length})
		}
		ev.FromIndex, ev.ToIndex = r.e+1, to+1
		r.e = to
	case Opens:
		r.inContact = false
	case Closes:
		r.w.place(r.s, r.e, true)
		before := r.w.energy(r.s)
		r.inContact = true
		if ev.Value, err = r.w.impulse(r.s, &r.s.v); err != nil {
			return true, err
		}
		r.w.place(r.s, r.e, true)
		r.blown += before - r.w.energy(r.s)
		if r.w.dep, err = r.w.choose(-1); err != nil {
			return true, err
		}
		r.pack()
	case Pulls:
		if r.pulls = !r.pulls; !r.pulls {
			ev.Kind = Pushes
		}
	case Switch:
		ev.FromIndex = r.m.freeJoints[r.w.dep] + 1
		if r.w.dep, err = r.w.choose(r.w.dep); err != nil {
			return true, err
		}
		ev.ToIndex = r.m.freeJoints[r.w.dep] + 1
	}
	r.result.Events = append(r.result.Events, ev)
	r.restart(t)
	return false, r.sampleUpTo(t)
}
