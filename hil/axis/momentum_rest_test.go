package axis

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// fall is what momentum finds in 0.4 s from RUN on, told by runaway whether a wrong sign may be, of a body of 1 kg·m² under an effort
// and a weight (N·m), which shows sign times its motion. The estimate tells the load that this motion seems to have.
func fall(s *Spec, sign float64, effort, weight func(t float64) float64) (float64, Finding) {
	m := newMomentum(newFrozen(s, countNoise))
	r := runaway{f: m.f}
	v, x := 0.0, 0.0
	for k := range 400 {
		t := 1e-3 * float64(k)
		u := effort(t)
		a := u - weight(t)
		v += 1e-3 * a
		x += 1e-3 * v
		command := u
		if s.Drive == plant.CurrentDrive {
			command /= s.Motor.K
		}
		sample := estimator.Sample{Value: 1e-3 * math.Round(sign*x/1e-3), Updated: true}
		r.step(Tick{Energised: true}, true, false, &sample, command, math.NaN(), 0, 0)
		m.turned = r.grown
		if bad, _ := m.step(Tick{Energised: true}, true, false, &sample, command, 0, u-sign*a, 0); bad.Fault != Fine {
			return t, bad
		}
	}
	return 0, Finding{}
}

// An effort grows by e in 25 ms from 0.1 N·m on, as in a loop that is closed the wrong way round. It is above what holds the axis and
// what the load at rest may be, 5 N·m, after 98 ms, and 0.1 s of motion must be missing then. A position that counts the wrong way is
// told 50 ms after that, whatever load the axis seems to have; one that counts the right way never is. A weight of 40 N·m that falls at
// once, and is caught by an effort that grows to it, is none, to neither side.
func TestMomentumFromRest(t *testing.T) {
	current := func(s *Spec) *Spec { s.Drive, s.Motor.K, s.TopCommand = plant.CurrentDrive, 0.5, 200; return s }
	for _, s := range []func() *Spec{frozenSpec, func() *Spec { return current(frozenSpec()) }} {
		for _, side := range []float64{1, -1} {
			grows := func(t float64) float64 { return side * min(60, 0.1*math.Exp(t/25e-3)) }
			nothing := func(float64) float64 { return 0 }
			at, found := fall(s(), -1, grows, nothing)
			if found.Fault != Direction || at > 0.25 || found.Value*side <= 0 {
				t.Errorf("%+g, counted the wrong way: after %g s %+v", side, at, found)
			}
			if at, found := fall(s(), 1, grows, nothing); found.Fault != Fine {
				t.Errorf("%+g, counted the right way: after %g s %+v", side, at, found)
			}
			weight := func(float64) float64 { return 40 * side }
			caught := func(t float64) float64 { return side * 60 * -math.Expm1(-t/30e-3) }
			if at, found := fall(s(), 1, caught, weight); found.Fault != Fine {
				t.Errorf("%+g, a weight: after %g s %+v", side, at, found)
			}
		}
	}
}

// A tenth of the motion is enough where the file does not say how large the inertia can be. Where it says twice or three times that of the
// file, 0.3 must show, and where it says four times a quarter.
func TestMomentumOfAKnownInertia(t *testing.T) {
	for _, c := range []struct {
		most, share float64
		found       bool
	}{{0, 0.12, false}, {0, 0.07, true}, {2, 0.28, true}, {2, 0.33, false}, {4, 0.22, true}, {4, 0.28, false}, {8, 0.14, false}} {
		for _, side := range []float64{1, -1} {
			s := frozenSpec()
			s.MaxInertia = c.most
			_, found := missed(s, func(t float64) (x, u, load, carried float64) {
				if t -= 0.5; t >= 0 {
					u = side * 60
					x = side * c.share * (60 - 5) * t * t / 2 // 5 N·m are what holds it, and the load at rest
				}
				return x, u, 0, 0
			})
			if (found.Fault != Fine) != c.found {
				t.Errorf("at most %g kg·m², %g of the motion, %+g: %+v", c.most, c.share, side, found)
			}
		}
	}
}
