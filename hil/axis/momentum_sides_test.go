package axis

import (
	"math"
	"testing"

	"hilrig/estimator"
)

// missed is what momentum finds in a course of 1 kg·m² whose every number is given as a function of time (s), and when; 0: nothing in 1.2 s.
func missed(s *Spec, at func(t float64) (position, effort, load, carried float64)) (float64, Finding) {
	m := newMomentum(newFrozen(s, countNoise))
	for k := range 1200 {
		t := 1e-3 * float64(k)
		x, u, load, carried := at(t)
		if bad, _ := m.step(Tick{On: true}, true, false, &estimator.Sample{Value: x, Fresh: true}, u, 0, load, carried); bad.Fault != Fine {
			return t, bad
		}
	}
	return 0, Finding{}
}

// An axis moves at 10 rad/s and carries 40 N·m: what a mechanism takes, or a load that the estimate found. The effort that carries it is no push, and
// 23 N·m more are one that must show, to either side, whichever way it carries. 23 N·m less are one beside a mechanism; a load that is no mechanism's may
// as well be a brake, which gives way.
func TestMomentumBesideALoad(t *testing.T) {
	for _, speed := range []float64{10, -10} {
		for _, weight := range []float64{40, -40} {
			for _, push := range []float64{0, 23, -23} {
				for _, mechanism := range []bool{true, false} {
					got, found := missed(frozenSpec(), func(t float64) (x, u, load, carried float64) {
						if u = weight; t >= 0.5 {
							u += push
						}
						if mechanism {
							carried = weight
						}
						return speed * t, u, weight, carried
					})
					// 20 N·m on 1 kg·m² go 100 counts of 1 mrad in 0.1 s, and the mean of the speed lags by 10 ms
					if want := push != 0 && (mechanism || push*weight > 0); (found.Fault != Fine) != want || want && (got < 0.599 || got > 0.63 || found.Value*push <= 0) {
						t.Errorf("%+g rad/s, %+g N·m, mechanism %v, %+g N·m more: after %g s %+v", speed, weight, mechanism, push, got, found)
					}
				}
			}
		}
	}
}

// 4.5 N·m lie between the hold of 3 N·m and that and the friction of 2 N·m: they must show on an axis that was seen in motion, 0.3 rad/s and more, and need not on another.
func TestMomentumKnowsALoadInMotion(t *testing.T) {
	for _, speed := range []float64{0.28, 0.33, 10} {
		for _, side := range []float64{1, -1} {
			for _, push := range []float64{4.5, -4.5} {
				got, found := missed(frozenSpec(), func(t float64) (x, u, load, carried float64) {
					if t >= 0.5 {
						u = push
					}
					return side * speed * t, u, 0, 0
				})
				// 1.5 N·m go 100 mrad in 0.37 s
				if want := speed > 0.3; (found.Fault != Fine) != want || want && (got < 0.84 || got > 0.95 || found.Value*push <= 0) {
					t.Errorf("%+g rad/s, %+g N·m: after %g s %+v", side*speed, push, got, found)
				}
			}
		}
	}
}

// A tenth of the change of speed must show, for the inertia may be ten times that of the file, of an axis that gets faster and of one that is braked.
func TestMomentumInMotion(t *testing.T) {
	for _, speed := range []float64{30, -30} {
		for _, push := range []float64{23, -23} {
			for _, shown := range []float64{-0.4, 0, 0.07, 0.1, 0.3, 1, 2} { // of 23 N·m; 20 must show, a tenth of them is 0.087 of 23
				got, found := missed(frozenSpec(), func(t float64) (x, u, load, carried float64) {
					x = speed * t
					if t -= 0.5; t >= 0 {
						u = push
						x += shown * push * t * t / 2
					}
					return x, u, 0, 0
				})
				if want := shown < 0.087; (found.Fault != Fine) != want || want && (got < 0.599 || got > 0.66 || found.Value*push <= 0) {
					t.Errorf("%+g rad/s, %+g N·m, %g of it shown: after %g s %+v", speed, push, shown, got, found)
				}
			}
		}
	}
}

// A course and its mirror image are told alike, with a load, a mechanism and an effort that go to and fro.
func TestMomentumIsSymmetric(t *testing.T) {
	for _, push := range []float64{0, 5.5, 23, 60} {
		var times, values [2]float64
		for k, side := range []float64{1, -1} {
			got, found := missed(frozenSpec(), func(t float64) (x, u, load, carried float64) {
				if u = 12 * math.Sin(9*t); t >= 0.4 {
					u += push
				}
				return side * (3*math.Sin(4*t) + 8*t), side * u, side * 6 * math.Sin(9*t), side * 5 * math.Sin(9*t)
			})
			times[k], values[k] = got, side*found.Value
		}
		if times[0] != times[1] || math.Abs(values[0]-values[1]) > 1e-9 {
			t.Errorf("%g N·m: after %g s, and the other way round %g; %g and %g", push, times[0], times[1], values[0], values[1])
		}
	}
}
