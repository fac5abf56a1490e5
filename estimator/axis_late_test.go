package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A sample that comes late leaves the estimate that it would have left in time, up to 62 samples of another group later; an older one is
// refused and leaves none.
func TestLateSampleActsAtItsTime(t *testing.T) {
	for _, axis := range []testAxis{motorAxis(), lagged} {
		run := func(late int, lost bool) *fed {
			f := newFed(t, axis, twoEqual...)
			f.rest(0.2, 200)
			rng := rand.New(rand.NewPCG(1, 1))
			for k := range 200 {
				f.in.Command = math.Sin(0.1 * float64(k))
				current := Sample{Value: 0.3*math.Sin(0.1*float64(k)) + 0.01*rng.NormFloat64()}
				came := map[Quantity]Sample{Current: current}
				if k < 100 {
					came[Position] = Sample{Value: 0.2, Age: 0.4e-3}
				}
				if k == 100+late && !lost { // the position of tick 100
					came[Position] = Sample{Value: 0.201, Age: float64(late)*tick + 0.4e-3}
				}
				f.step(came)
				if k == 100+late && !lost && f.outcome.Rejected[Position] == f.outcome.Accepted[Position] {
					t.Fatalf("%s, %d ticks late: taken %v, refused %v", axis.name, late, f.outcome.Accepted[Position], f.outcome.Rejected[Position])
				}
			}
			return f
		}
		inTime, without := run(0, false), run(0, true)
		if math.Abs(inTime.kf.x[XVel]-without.kf.x[XVel]) < 1e-6 {
			t.Fatal("the sample says nothing")
		}
		for _, late := range []int{1, 2, 7, 40, maxEvents - 3, maxEvents - 2, 70} {
			f, want := run(late, false), inTime
			if late > maxEvents-3 {
				want = without
			}
			for i, x := range f.kf.x {
				sd := math.Sqrt(f.kf.p[i][i])
				if math.Abs(x-want.kf.x[i]) > 1e-6*sd || math.Abs(f.kf.p[i][i]-want.kf.p[i][i]) > 1e-6*want.kf.p[i][i] {
					t.Errorf("%s, %d ticks late: state %d is %.12g ± %.6g, want %.12g ± %.6g", axis.name, late, i, x, sd, want.kf.x[i],
						math.Sqrt(want.kf.p[i][i]))
				}
			}
		}
	}
}

// A measured current that comes after a position that is younger than it says what acted before that position.
func TestLateInputActsAtItsTime(t *testing.T) {
	run := func(late float64) *fed { // of the currents, in ticks; they step at tick 100
		f := newFed(t, lagged, twoEqual...)
		for k := range 140 {
			came := map[Quantity]Sample{}
			if j := k - int(late); j >= 0 {
				i := 0.0
				if j >= 100 {
					i = 1
				}
				came[Current] = Sample{Value: i, Age: late*tick + 0.5e-3}
			}
			if k < 110 {
				came[Position] = Sample{Value: 0, Age: 0.1e-3}
			}
			f.step(came)
		}
		return f
	}
	inTime, late := run(0), run(20)
	// the newest event of the late one is a current that the other took 20 ticks before
	want := inTime.history.at(indexOf(inTime, late.history.newestTime())).belief.x
	for i, x := range late.kf.x {
		if math.Abs(x-want[i]) > 1e-9*(1+math.Abs(x)) {
			t.Errorf("state %d: %.12g, with currents in time %.12g", i, x, want[i])
		}
	}
}

// indexOf is the event of an axis next to a time.
func indexOf(f *fed, at float64) (i int) {
	for j := range f.history.n {
		if math.Abs(f.history.at(j).time-at) < math.Abs(f.history.at(i).time-at) {
			i = j
		}
	}
	return i
}

// An effort that comes again after longer than all that is kept leaves what the filter knows.
func TestLateInputAfterAGap(t *testing.T) {
	f := newFed(t, lagged, Group{SamplePeriod: tick, Quantities: []Quantity{Current}},
		Group{SamplePeriod: tick, Quantities: []Quantity{Velocity}}, Group{SamplePeriod: 32 * tick, Quantities: []Quantity{Position}})
	f.rest(0.3, 3200)
	for k := range 2*maxEvents - 1 {
		came := map[Quantity]Sample{Velocity: {Age: 0.5e-3}}
		if k%32 == 0 {
			came[Position] = Sample{Value: 0.3, Age: 0.3e-3}
		}
		f.step(came)
	}
	g := *f.kf
	g.Predict(f.history.age(f.t+1e6), 0, 0)
	f.step(map[Quantity]Sample{Current: {}})
	if got, want := f.kf.p[XPos][XPos], g.p[XPos][XPos]; !f.Usable() || math.Abs(got/want-1) > 0.01 || math.Abs(f.x[0]-0.3) > 1e-3 {
		t.Errorf("the estimate is %v, variance of the position %.6g, want %.6g", f.x, got, want)
	}
}
