package estimator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine"
)

// fed is an axis fed by hand, a tick of 1 ms at a time.
type fed struct {
	*Axis
	t    int64
	in   Inputs
	x    [4]float64
	skip uint32
}

func newFed(t testing.TB, a testAxis, groups ...Group) *fed {
	t.Helper()
	axis, err := a.spec(AxisSpec{Tick: tick, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	return &fed{Axis: axis, t: 5e9, in: Inputs{Driven: true}}
}

// step is a tick with these new samples; the others grow older.
func (f *fed) step(came map[Quantity]Sample) engine.Status {
	f.t += int64(1e6 * (1 + f.skip))
	for q, s := range []*Sample{&f.in.Position, &f.in.Current, &f.in.Velocity, &f.in.Effort, &f.in.Voltage} {
		s.Age, s.Fresh = s.Age+tick*float64(1+f.skip), false
		for of, c := range came { // an age is that of the group
			if f.group[q] >= 0 && f.group[q] == f.group[of] {
				s.Age = c.Age
			}
		}
		if c, ok := came[Quantity(q)]; ok {
			*s = c
			s.Fresh = true
		}
	}
	return f.Step(f.t, f.skip, &f.in, f.x[:])
}

// rest is a tick of an axis that stands at a position.
func (f *fed) rest(position float64, ticks int) (st engine.Status) {
	for k := range ticks {
		came := map[Quantity]Sample{}
		for q, g := range f.group {
			if g >= 0 && k%int(f.s.Groups[g].Every/tick+0.5) == 0 {
				came[Quantity(q)] = Sample{}
			}
		}
		if _, ok := came[Position]; ok {
			came[Position] = Sample{Value: position}
		}
		st = f.step(came)
	}
	return st
}

var (
	frame     = Group{Every: tick, Of: []Quantity{Position, Current, Voltage}}
	both      = Group{Every: tick, Of: []Quantity{Position, Current}}
	fastSlow  = []Group{{Every: tick, Of: []Quantity{Current}}, {Every: 5 * tick, Of: []Quantity{Position}}}
	twoEqual  = []Group{{Every: tick, Of: []Quantity{Current}}, {Every: tick, Of: []Quantity{Position}}}
	lagged    = effortAxis("current", 1, 2e-3, 0, 0.042)
	commanded = effortAxis("effort", 1, 0, 1, 0)
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
				if k == 100+late && !lost && f.outcome.Refused[Position] == f.outcome.Taken[Position] {
					t.Fatalf("%s, %d ticks late: taken %v, refused %v", axis.name, late, f.outcome.Taken[Position], f.outcome.Refused[Position])
				}
			}
			return f
		}
		inTime, without := run(0, false), run(0, true)
		if math.Abs(inTime.kf.x[XVel]-without.kf.x[XVel]) < 1e-6 {
			t.Fatal("the sample says nothing")
		}
		for _, late := range []int{1, 2, 7, 40, kept - 3, kept - 2, 70} {
			f, want := run(late, false), inTime
			if late > kept-3 {
				want = without
			}
			for i, x := range f.kf.x {
				sd := math.Sqrt(f.kf.p[i][i])
				if math.Abs(x-want.kf.x[i]) > 1e-6*sd || math.Abs(f.kf.p[i][i]-want.kf.p[i][i]) > 1e-6*want.kf.p[i][i] {
					t.Errorf("%s, %d ticks late: state %d is %.12g ± %.6g, want %.12g ± %.6g", axis.name, late, i, x, sd, want.kf.x[i], math.Sqrt(want.kf.p[i][i]))
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
	want := inTime.past.at(indexOf(inTime, late.past.newest())).then.x
	for i, x := range late.kf.x {
		if math.Abs(x-want[i]) > 1e-9*(1+math.Abs(x)) {
			t.Errorf("state %d: %.12g, with currents in time %.12g", i, x, want[i])
		}
	}
}

// indexOf is the event of an axis next to a time.
func indexOf(f *fed, at float64) (i int) {
	for j := range f.past.n {
		if math.Abs(f.past.at(j).at-at) < math.Abs(f.past.at(i).at-at) {
			i = j
		}
	}
	return i
}

// One wrong sample dies out, whatever the groups, the rates and the losses.
func TestAxisForgets(t *testing.T) {
	for _, axis := range []testAxis{motorAxis(), lagged, commanded} {
		for _, slow := range []int{1, 5, 20} {
			for _, late := range []int{0, 10} {
				for _, loss := range []float64{0, 0.5} {
					of := []Quantity{Current}
					if axis.truth[Current] == nil {
						of[0] = Velocity
					}
					run := func(wrong float64) *fed {
						f := newFed(t, axis, Group{Every: tick, Of: of}, Group{Every: float64(slow) * tick, Of: []Quantity{Position}})
						rng := rand.New(rand.NewPCG(4, 2))
						for k := range 400*slow + 2000 {
							came := map[Quantity]Sample{}
							if rng.Float64() >= loss {
								came[of[0]] = Sample{Value: 0, Age: 0.3e-3}
							}
							if k%slow == 0 && (rng.Float64() >= loss || k == 200*slow) {
								came[Position] = Sample{Value: 0, Age: (float64(late) + 0.1) * tick}
								if k == 200*slow {
									came[Position] = Sample{Value: wrong, Age: (float64(late) + 0.1) * tick}
								}
							}
							f.step(came)
						}
						return f
					}
					right, wrong := run(0), run(1e-3)
					for i := range right.kf.x {
						if d := math.Abs(wrong.kf.x[i] - right.kf.x[i]); !(d <= 1e-6*math.Sqrt(right.kf.p[i][i])) {
							t.Errorf("%s, position each %d ticks, %d late, %g lost: state %d is still %g off", axis.name, slow, late, loss, i, d)
						}
					}
				}
			}
		}
	}
}

// What no axis can have is refused on both sides and both ways round, and told; what it can have is taken.
func TestAxisRefuses(t *testing.T) {
	both := []Group{{Every: tick, Of: []Quantity{Position, Velocity, Effort}}}
	measured := effortAxis("effort", 1, 2e-3, 0, 0)
	j, top := 7e-5, 0.4
	for _, side := range []float64{1, -1} {
		for _, c := range []struct {
			name  string
			q     Quantity
			edge  func(f *fed) float64
			value func(edge, over float64) float64
		}{
			{"effort", Effort, func(*fed) float64 { return 2*top + 10e-3 }, nil},
			{"velocity by the acceleration", Velocity, func(f *fed) float64 {
				g := *f.kf
				g.Predict(tick, 0, 0)
				edge := 0.0
				for range 50 { // the noise grows with the velocity itself
					edge = 10*math.Sqrt(g.p[XVel][XVel]+0.05*0.05+1e-4*edge*edge) + (top+math.Abs(g.x[XTorque]))/j*tick
				}
				return edge
			}, nil},
		} {
			for _, over := range []float64{-1e-6, 1e-6} {
				f := newFed(t, measured, both...)
				f.rest(0, 300)
				v := side * (c.edge(f) + over)
				f.step(map[Quantity]Sample{Position: {}, Velocity: {}, Effort: {}, c.q: {Value: v}})
				if o := f.Outcome(); o.Taken[c.q] != (over < 0) || o.Refused[c.q] != (over > 0) || !o.Taken[Position] {
					t.Errorf("%s of %.9g: taken %v, refused %v, position taken %v", c.name, v, o.Taken[c.q], o.Refused[c.q], o.Taken[Position])
				}
			}
		}
		// faster than the top speed, after a second without one
		for _, over := range []float64{-1e-6, 1e-6} {
			f := newFed(t, measured, both...)
			f.rest(0, 300)
			for range 1000 {
				f.step(map[Quantity]Sample{Position: {}, Effort: {}})
			}
			v := side * (500 + 10*math.Hypot(0.05, 0.01*500) + over)
			f.step(map[Quantity]Sample{Position: {}, Velocity: {Value: v}, Effort: {}})
			if o := f.Outcome(); o.Taken[Velocity] != (over < 0) || o.Refused[Velocity] != (over > 0) {
				t.Errorf("velocity of %.9g: taken %v, refused %v", v, o.Taken[Velocity], o.Refused[Velocity])
			}
		}
	}
	// no number is refused silently by its own flag elsewhere; a sample without a time is refused
	f := newFed(t, measured, both...)
	f.rest(0, 300)
	f.step(map[Quantity]Sample{Position: {}, Velocity: {Value: math.NaN()}, Effort: {Value: math.Inf(1)}})
	if o := f.Outcome(); o.Taken[Velocity] || o.Taken[Effort] || o.Refused[Velocity] || o.Refused[Effort] {
		t.Errorf("no numbers: %+v", o)
	}
	for _, age := range []float64{math.NaN(), 1e3, -1e3} {
		f.step(map[Quantity]Sample{Position: {Age: age}, Velocity: {Age: age}, Effort: {Age: age}})
		if o := f.Outcome(); o.Came || o.Refused != [Quantities]bool{Position: true, Velocity: true, Effort: true} {
			t.Errorf("age %g s: %+v", age, o)
		}
	}
}

// A position that is another is told once, with samples of another group between; so is an estimate that is no number.
func TestAxisTellsWhatHappened(t *testing.T) {
	f := newFed(t, motorAxis(), fastSlow...)
	if st := f.step(nil); st != engine.NotConverged {
		t.Errorf("without a sample: %v", st)
	}
	if st := f.rest(0, 100); st != engine.OK || !f.Sound() {
		t.Errorf("at rest: %v", st)
	}
	jumps := 0
	for k := range 100 {
		came := map[Quantity]Sample{Current: {}}
		if k%5 == 0 {
			came[Position] = Sample{Value: 60, Age: 3.2e-3}
		}
		f.step(came)
		if o := f.Outcome(); o.Jumped {
			jumps++
			if k != 20 {
				t.Errorf("jump at tick %d, want the fifth position", k)
			}
		}
	}
	if jumps != 1 || math.Abs(f.x[0]-60) > 1e-3 {
		t.Errorf("%d jumps, now at %g rad", jumps, f.x[0])
	}
	f.kf.x[XVel] = math.NaN()
	if st := f.rest(60, 1); st != engine.NonFinite {
		t.Errorf("no number: %v", st)
	}
	if st := f.rest(60, 100); st != engine.OK || math.Abs(f.x[0]-60) > 1e-3 || math.Abs(f.x[1]) > 0.1 {
		t.Errorf("after it: %v, %v", st, f.x)
	}
	// a clock that is set back is a new beginning
	f.rest(60, 1)
	f.step(map[Quantity]Sample{Position: {Value: 6, Age: 1}, Current: {Age: 1}})
	if f.past.n != 1 && f.past.n != 2 {
		t.Errorf("%d samples kept of the time before", f.past.n)
	}
}

// An effort without a position is an event all the same, in one frame too: it says what acts from then on.
func TestEffortAlone(t *testing.T) {
	f := newFed(t, effortAxis("effort", 1, 2e-3, 0, 0), Group{Every: tick, Of: []Quantity{Position, Effort}})
	f.rest(0, 300)
	for range 10 {
		f.step(map[Quantity]Sample{Effort: {Value: 0.01}})
		if o := f.Outcome(); !o.Came || !o.Taken[Effort] || math.Abs(o.Passed-tick) > 1e-9 {
			t.Fatalf("%+v", o)
		}
	}
	if want := 0.01 / 7e-5 * 9.5e-3; math.Abs(f.x[1]-want) > 0.01*want { // half of the first tick
		t.Errorf("%g rad/s after 10 ms of 0.01 N·m, want %g", f.x[1], want)
	}
}

// A drive that is off gives no effort: neither its commands move the estimate, nor those of an axis that nothing drives.
func TestAxisWithoutDrive(t *testing.T) {
	for _, c := range []struct {
		name   string
		axis   testAxis
		driven bool
		moves  bool
	}{{"effort", commanded, true, true}, {"effort, off", commanded, false, false}, {"nothing drives it", passiveAxis(), true, false}, {"motor", motorAxis(), true, true}, {"motor, off", motorAxis(), false, false}} {
		f := newFed(t, c.axis, Group{Every: tick, Of: []Quantity{Position}})
		f.in.Driven = c.driven
		f.rest(0, 500)
		f.in.Command = 0.3
		for range 10 { // no samples: the model alone
			f.step(nil)
		}
		if moved := math.Abs(f.x[1]) > 0.1; moved != c.moves {
			t.Errorf("%s: %g /s after 10 ms under a command without samples", c.name, f.x[1])
		}
	}
}

// What the least squares get: position and current together or not at all.
func TestUseInLeastSquares(t *testing.T) {
	s := demoKalman()
	s.TopVoltage, s.TopSpeed = topVolts, topTurns
	rls := demoRLS()
	a, err := NewElectrical(s, AxisSpec{Tick: tick, Groups: []Group{frame}, RLS: &rls})
	if err != nil {
		t.Fatal(err)
	}
	f := &fed{Axis: a, t: 5e9}
	missing := func(want float64, what string) {
		t.Helper()
		if got := a.lessons.missing; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %g s missing, want %g", what, got, want)
		}
	}
	f.rest(0.5, 200)
	missing(0, "at rest")
	for n := 1; n <= 8; n++ {
		f.step(map[Quantity]Sample{Current: {}})
		missing(float64(n)*tick, "currents alone")
	}
	f.step(map[Quantity]Sample{Position: {Value: 0.5}})
	missing(9*tick, "a position alone")
	f.step(nil)
	f.step(map[Quantity]Sample{Position: {Value: 0.5}, Current: {}})
	missing(0, "both")
	f.step(map[Quantity]Sample{Position: {Value: 3}, Current: {}})
	missing(tick, "a position out of reach")
}

func TestAxisSignals(t *testing.T) {
	force := effortAxis("force", 1000, 2e-3, 0, 42)
	for _, c := range []struct {
		axis testAxis
		want string
	}{
		{motorAxis(), "[{position rad} {velocity rad/s} {current A} {friction N·m}]"},
		{commanded, "[{position rad} {velocity rad/s} {friction N·m}]"},
		{force, "[{position m} {velocity m/s} {friction N}]"},
		{passiveAxis(), "[{position rad} {velocity rad/s} {acceleration rad/s²}]"},
	} {
		of := []Quantity{Position}
		if c.axis.measured != 0 {
			of = append(of, c.axis.measured)
		}
		f := newFed(t, c.axis, Group{Every: tick, Of: of})
		if got := fmt.Sprint(f.Signals()); got != c.want {
			t.Errorf("%s: %s, want %s", c.axis.name, got, c.want)
		}
		x := [4]float64{3: 7}
		if f.State(x[:]); len(f.Signals()) == 3 && x[3] != 7 {
			t.Errorf("%s writes beyond its signals", c.axis.name)
		}
	}
	a, err := NewMechanical(MechanicalSpec{PositionNoise: 1e-6, Walk: 1}, AxisSpec{Tick: tick, Linear: true, Groups: []Group{{Every: tick, Of: []Quantity{Position}}}})
	if err != nil || fmt.Sprint(a.Signals()) != "[{position m} {velocity m/s} {acceleration m/s²}]" {
		t.Errorf("%v, %v", a, err)
	}
}

// Where the noise of a position and the top speed are not given, they are those of a count and any speed.
func TestMechanicalDefaults(t *testing.T) {
	for top, speed := range map[float64]float64{0: 1000, 7: 7} {
		k, err := NewMechanicalKalman(MechanicalSpec{Dt: tick, Count: 1e-3, Walk: 1, TopSpeed: top})
		if err != nil {
			t.Fatal(err)
		}
		k.Correct(&[nY]float64{1}, &[nY]bool{true})
		sd, want := make([]float64, 4), [2]float64{1e-3 / math.Sqrt(24), speed} // the first position counts twice
		if k.StdDevs(sd); math.Abs(sd[0]/want[0]-1) > 1e-9 || math.Abs(sd[1]/want[1]-1) > 1e-9 {
			t.Errorf("top speed %g: standard deviations %v, want %v", top, sd, want)
		}
	}
}

func TestAxisBadSpec(t *testing.T) {
	rls := demoRLS()
	motor := func(s AxisSpec) error { _, err := NewElectrical(demoKalman(), s); return err }
	effort := func(s AxisSpec) error {
		_, err := NewMechanical(MechanicalSpec{Inertia: 1, PositionNoise: 1, Walk: 1}, s)
		return err
	}
	passive := func(s AxisSpec) error {
		_, err := NewMechanical(MechanicalSpec{PositionNoise: 1, Walk: 1}, s)
		return err
	}
	for _, c := range []struct {
		build func(AxisSpec) error
		s     AxisSpec
		want  string
	}{
		{motor, AxisSpec{Groups: []Group{frame}}, "tick"},
		{motor, AxisSpec{Tick: tick}, "no group has the position"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{frame, frame}}, "stands in two groups"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{{Every: tick, Of: []Quantity{Position, Quantities}}}}, "is not known"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{{Of: []Quantity{Position}}}}, "period of samples"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{{Every: tick, Of: []Quantity{Current}}, {Every: 33 * tick, Of: []Quantity{Position}}}}, "within a factor of 32"},
		{motor, AxisSpec{Tick: tick, Groups: fastSlow, RLS: &rls}, "position and current or effort of one group"},
		{motor, AxisSpec{Tick: tick, Groups: []Group{{Every: tick, Of: []Quantity{Position, Effort}}}}, "the effort says nothing"},
		{effort, AxisSpec{Tick: tick, PerCommand: 1, Groups: []Group{{Every: tick, Of: []Quantity{Position, Voltage}}}}, "the voltage says nothing"},
		{effort, AxisSpec{Tick: tick, PerCommand: 1, Groups: []Group{{Every: tick, Of: []Quantity{Position, Velocity}}}}, "the velocity says nothing"},
		{effort, AxisSpec{Tick: tick, Groups: []Group{both}}, "the current says nothing"},
		{effort, AxisSpec{Tick: tick, PerAmpere: 1, Groups: []Group{{Every: tick, Of: []Quantity{Position, Current, Effort}}}}, "the current says nothing"},
		{passive, AxisSpec{Tick: tick, Groups: []Group{{Every: tick, Of: []Quantity{Position, Effort}}}}, "the effort says nothing"},
		{effort, AxisSpec{Tick: tick, PerCommand: math.NaN(), Groups: []Group{frame}}, "effort per command"},
		{effort, AxisSpec{Tick: tick, Groups: []Group{{Every: tick, Of: []Quantity{Position}}}}, "leave out the inertia"},
	} {
		if err := c.build(c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want a word of %q", c.s, err, c.want)
		}
	}
	if err := motor(AxisSpec{Tick: tick, Groups: []Group{both, {Every: 32 * tick, Of: []Quantity{Voltage}}}, RLS: &rls}); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*MechanicalSpec){
		"position noise": func(s *MechanicalSpec) { s.PositionNoise = 0 }, "walk": func(s *MechanicalSpec) { s.Walk = 0 }, "inertia": func(s *MechanicalSpec) { s.Inertia = -1 },
		"velocity noise": func(s *MechanicalSpec) { s.VelocityNoise = math.NaN() }, "share": func(s *MechanicalSpec) { s.VelocityShare = -1 },
		"effort noise": func(s *MechanicalSpec) { s.EffortNoise = -1 }, "top effort": func(s *MechanicalSpec) { s.TopEffort = -1 }, "top speed": func(s *MechanicalSpec) { s.TopSpeed = math.Inf(1) },
	} {
		s := MechanicalSpec{Dt: tick, Inertia: 1, PositionNoise: 1, Walk: 1}
		if spoil(&s); name != "" {
			if _, err := NewMechanicalKalman(s); err == nil {
				t.Errorf("a bad %s was accepted", name)
			}
		}
	}
}

// sampledAxis is an axis with what its ticks bring: a sample of each group in its turn, those of the slow one late.
func sampledAxis(tb testing.TB, axis testAxis, late int, groups ...Group) func() {
	f := newFed(tb, axis, groups...)
	f.rest(0, 200)
	k := 0
	return func() {
		k++
		f.t += 1e6
		f.in.Command = 0.01
		for q, s := range []*Sample{&f.in.Position, &f.in.Current, &f.in.Velocity, &f.in.Effort, &f.in.Voltage} {
			if g := f.group[q]; g >= 0 {
				turn := int(groups[g].Every/tick + 0.5)
				if s.Age, s.Fresh = s.Age+tick, k%turn == 0; s.Fresh {
					s.Age = 0.37e-3
					if turn > 1 {
						s.Age += float64(late) * tick
					}
				}
			}
		}
		f.Step(f.t, 0, &f.in, f.x[:])
	}
}

var stepped = []struct {
	name   string
	axis   testAxis
	late   int
	groups []Group
}{
	{"motor/one group, voltage told", motorAxis(), 0, []Group{frame}},
	{"motor/one group", motorAxis(), 0, []Group{both}},
	{"motor/position slow", motorAxis(), 0, fastSlow},
	{"motor/position slow, 10 ms late", motorAxis(), 10, fastSlow},
	{"effort/commanded", commanded, 0, []Group{{Every: tick, Of: []Quantity{Position}}}},
	{"effort/current in one group", lagged, 0, []Group{both}},
	{"effort/position slow", lagged, 0, fastSlow},
	{"effort/position slow, 10 ms late", lagged, 10, fastSlow},
	{"effort/velocity fast, position 10 ms late", lagged, 10, []Group{{Every: tick, Of: []Quantity{Current, Velocity}}, fastSlow[1]}},
}

func TestAxisAllocs(t *testing.T) {
	for _, c := range stepped {
		if n := testing.AllocsPerRun(200, sampledAxis(t, c.axis, c.late, c.groups...)); n != 0 {
			t.Errorf("%s: %g allocations in a step", c.name, n)
		}
	}
}

// A position slow and late comes each fifth tick, and takes the filter ten ticks back.
func BenchmarkAxisStep(b *testing.B) {
	for _, c := range stepped {
		b.Run(c.name, func(b *testing.B) {
			step := sampledAxis(b, c.axis, c.late, c.groups...)
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// The least squares of an axis under an effort find inertia and friction of a simulated truth, with samples lost, at rates that are no
// part of the loop's, whether the drive follows its commands at once or late, and whether or not the commands are an effort.
func TestAxisRLS(t *testing.T) {
	for _, c := range []struct {
		name                  string
		scale, lag            float64
		perCommand, perAmpere float64
		every, loss           float64
	}{
		{"effort, at once", 1, 0.05e-3, 1, 0, 1e-3, 0},
		{"effort, 1 ms late", 1, 1e-3, 1, 0, 1e-3, 0},
		{"effort, half lost", 1, 0.05e-3, 1, 0, 1e-3, 0.5},
		{"effort at 400 Hz, a third lost", 1, 0.05e-3, 1, 0, 2.5e-3, 0.3},
		{"current", 1, 0.3e-3, 0.042, 0.042, 1e-3, 0},
		{"current of a linear axis, a third lost", 1000, 0.3e-3, 42, 42, 1e-3, 0.3},
		{"force, its command unknown", 1000, 5e-3, 0, 0, 1e-3, 0},
		{"force, its command unknown, a third lost", 1000, 5e-3, 0, 0, 1e-3, 0.3},
	} {
		a := effortAxis("effort", c.scale, c.lag, c.perCommand, c.perAmpere)
		q := Effort
		unit := 1.0 // of command
		if c.perAmpere != 0 {
			q, unit = Current, c.perAmpere
		}
		lagged := a.dot
		if c.perCommand != 0 {
			a.dot = func(x, dx []float64, u float64) { lagged(x, dx, u*unit) }
		} else {
			unit = 1
		}
		a.drive = func(t float64) float64 {
			return c.scale / unit * (0.045*math.Sin(2*math.Pi*0.7*t) + 0.03*math.Sin(2*math.Pi*2.9*t))
		}
		rls := RLSSpec{Dt: c.every, K: 1, Window: 0.1, MinVel: 2, Count: count}
		build := a.spec
		a.spec = func(s AxisSpec) (*Axis, error) { s.RLS = &rls; return build(s) }
		r := sampleAxis(a, 1e-3, 20000, 3, stream{every: c.every, of: []Quantity{Position, q}, loss: c.loss})
		got := r.feed(t, func(int, *Axis, []reading) {})
		x, se := make([]float64, 4), make([]float64, 4)
		got.RLS().Values(x)
		got.RLS().StdErrs(se)
		off := ""
		for i, truth := range []float64{c.scale * 7e-5, c.scale * 1.5e-4, c.scale * 15e-3, 0} {
			off += fmt.Sprintf(" %.4g ± %.2g (%.1f)", x[i], se[i], (x[i]-truth)/se[i])
			if !(math.Abs(x[i]-truth) <= 4*se[i]) || i == 0 && math.Abs(x[0]-truth) > 0.01*truth {
				t.Errorf("%s: parameter %d is %.5g ± %.2g, truth %.5g", c.name, i, x[i], se[i], truth)
			}
		}
		t.Logf("%s: %d windows, %s", c.name, got.RLS().Windows(), off)
	}
}

// What a tick says of its samples: whether one came, by how much time moved on, and nothing refused while a position is waited for.
func TestAxisOutcome(t *testing.T) {
	for _, groups := range [][]Group{{frame}, fastSlow} {
		f := newFed(t, motorAxis(), groups...)
		for k := range 50 {
			f.step(map[Quantity]Sample{Current: {Age: 0.2e-3}})
			if o := f.Outcome(); len(groups) > 1 && o.Refused[Current] || !o.Came || f.Primed() || k > 1 && math.Abs(o.Passed-tick) > 1e-8 {
				t.Fatalf("currents alone, tick %d: %+v", k, o)
			}
		}
		passed, came := 0.0, 0
		for k := range 500 {
			some := map[Quantity]Sample{}
			if k%3 > 0 { // every third current is lost
				some[Current] = Sample{Age: 0.2e-3}
			}
			if k%5 == 0 {
				some[Position] = Sample{Age: 0.2e-3}
			}
			f.step(some)
			o := f.Outcome()
			if passed += o.Passed; o.Came {
				came++
			}
			if o.Came != (len(some) > 0) || o.Taken[Position] != (k%5 == 0) || o.Taken[Current] != (k%3 > 0) && f.Primed() && k > 0 {
				t.Fatalf("tick %d: %+v", k, o)
			}
		}
		if math.Abs(passed-0.5) > 2e-3 || came != 367 {
			t.Errorf("%d groups: %g s passed in %d ticks with samples", len(groups), passed, came)
		}
	}
}

// An effort that comes again after longer than all that is kept leaves what the filter knows.
func TestLateInputAfterAGap(t *testing.T) {
	f := newFed(t, lagged, Group{Every: tick, Of: []Quantity{Current}}, Group{Every: tick, Of: []Quantity{Velocity}}, Group{Every: 32 * tick, Of: []Quantity{Position}})
	f.rest(0.3, 3200)
	for k := range 2*kept - 1 {
		came := map[Quantity]Sample{Velocity: {Age: 0.5e-3}}
		if k%32 == 0 {
			came[Position] = Sample{Value: 0.3, Age: 0.3e-3}
		}
		f.step(came)
	}
	g := *f.kf
	g.Predict(f.past.age(f.t+1e6), 0, 0)
	f.step(map[Quantity]Sample{Current: {}})
	if got, want := f.kf.p[XPos][XPos], g.p[XPos][XPos]; !f.Sound() || math.Abs(got/want-1) > 0.01 || math.Abs(f.x[0]-0.3) > 1e-3 {
		t.Errorf("the estimate is %v, variance of the position %.6g, want %.6g", f.x, got, want)
	}
}

// A voltage that a device of its own reports is believed, not the command: half of it is taken away on the way to the motor.
func TestVoltageOfAnotherDevice(t *testing.T) {
	m := demoMotor()
	run := func(reported bool) float64 {
		a := motorAxis()
		groups := []Group{{Every: tick, Of: []Quantity{Position}}, {Every: tick, Of: []Quantity{Voltage}}}
		f := newFed(t, a, groups[:1]...)
		if reported {
			f = newFed(t, a, groups...)
		}
		x := []float64{0, 0, 0, 0}
		sum := 0.0
		for k := range 2000 {
			u := 4 * math.Sin(2*math.Pi*float64(k)*tick)
			for range 40 {
				rung(x, tick/40, func(x, dx []float64) { a.dot(x, dx, u/2) })
			}
			f.in.Command = u
			f.step(map[Quantity]Sample{Position: {Value: x[0]}, Voltage: {Value: u / 2}})
			if k >= 400 {
				torque, _ := lugre(1, x[1], x[3])
				sum += (f.x[3] - torque) * (f.x[3] - torque) / 1600
			}
		}
		return math.Sqrt(sum)
	}
	with, without := run(true), run(false)
	if lost := m.K * 2 / m.R / math.Sqrt2; !(with < 0.1*without) || without < lost/2 {
		t.Errorf("error of the torque %g N·m, without a report of the voltage %g; what does not arrive is %g", with, without, lost)
	}
}

// Whatever comes, nothing panics, what is written is a number, and after a second of good samples the estimate is sound and right.
func TestAxisBearsAnything(t *testing.T) {
	for i, c := range stepped {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		f := newFed(t, c.axis, c.groups...)
		odd := func(usual float64) float64 {
			return []float64{usual, usual, usual, -usual, 0, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e9, rng.NormFloat64()}[rng.IntN(12)]
		}
		for k := range 20000 {
			f.in = Inputs{Command: odd(1), Driven: rng.IntN(3) > 0}
			for _, s := range []*Sample{&f.in.Position, &f.in.Current, &f.in.Velocity, &f.in.Effort, &f.in.Voltage} {
				*s = Sample{Value: odd(0.1), Age: odd(1e-3), Fresh: rng.IntN(2) > 0}
			}
			f.skip = uint32(rng.IntN(3)) * uint32(rng.IntN(2)*400)
			if f.t += int64(1e6 * (1 + f.skip)); rng.IntN(100) == 0 {
				f.t += int64(rng.NormFloat64() * 1e9)
			}
			st := f.Step(f.t, f.skip, &f.in, f.x[:])
			for _, x := range f.x {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%s, step %d: %v, %v", c.name, k, f.x, st)
				}
			}
		}
		f.in, f.skip = Inputs{Driven: true}, 0
		if st := f.rest(0.7, 1000); st != engine.OK || math.Abs(f.x[0]-0.7) > 0.01 || math.Abs(f.x[1]) > 1 {
			t.Errorf("%s: %v, %v", c.name, st, f.x)
		}
	}
}

// A mirrored motion gives the mirrored estimate, to the last bit, with the drive on and off.
func TestAxisMirrored(t *testing.T) {
	for _, c := range stepped {
		run := func(side float64) (x [4]float64, sd [4]float64, refused int) {
			f := newFed(t, c.axis, c.groups...)
			rng := rand.New(rand.NewPCG(2, 9))
			theta := 0.0
			for k := range 3000 {
				theta += 0.03 * math.Sin(0.01*float64(k))
				f.in.Driven, f.in.Command = k%700 < 400, side*math.Sin(0.02*float64(k))
				came := map[Quantity]Sample{}
				for q, g := range f.group {
					if v := rng.NormFloat64(); g >= 0 && k%int(f.s.Groups[g].Every/tick+0.5) == 0 {
						came[Quantity(q)] = Sample{Value: side * (0.1*math.Sin(0.02*float64(k)) + 0.02*v), Age: 0.4e-3}
					}
				}
				if _, ok := came[Position]; ok {
					came[Position] = Sample{Value: side * theta, Age: 0.4e-3}
					if k%100 >= 95 { // out of reach
						came[Position] = Sample{Value: side * (theta + 40), Age: 0.4e-3}
					}
				}
				if _, ok := came[Velocity]; ok {
					came[Velocity] = Sample{Value: side * 30 * math.Sin(0.01*float64(k)), Age: 0.4e-3}
				}
				f.step(came)
				for _, r := range f.Outcome().Refused {
					if r {
						refused++
					}
				}
			}
			f.StdDevs(sd[:])
			return f.x, sd, refused
		}
		x, sd, refused := run(1)
		mirror, sd2, refused2 := run(-1)
		for i := range mirror {
			mirror[i] = -mirror[i]
		}
		if x != mirror || sd != sd2 || refused != refused2 || refused == 0 || x[1] == 0 {
			t.Errorf("%s: %v ± %v, mirrored %v ± %v; %d and %d refused", c.name, x, sd, mirror, sd2, refused, refused2)
		}
	}
}

// The polynomials of the mechanical model against its equations, dx/dt = A·x + B·u and dP/dt = A·P + P·Aᵀ + W, by Runge–Kutta.
func TestMechanicalAgainstItsEquations(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, a := range []testAxis{commanded, effortAxis("force", 1000, 0, 1, 0), passiveAxis()} {
		k := newFed(t, a, Group{Every: tick, Of: []Quantity{Position}}).kf
		for _, dt := range []float64{0.1e-3, 1e-3, 7.3e-3, 50e-3} {
			var e estimate
			scale := [4]float64{1e-3, 3, 0, 100}
			if a.input[1] != 0 {
				scale[3] = 100 / a.input[1]
			}
			var root [4][4]float64
			for i := range 4 {
				e.x[i] = scale[i] * rng.NormFloat64()
				for j := range 4 {
					root[i][j] = scale[i] * rng.NormFloat64()
				}
			}
			for i := range 4 {
				for j := range 4 {
					for l := range 4 {
						e.p[i][j] += root[i][l] * root[j][l]
					}
				}
			}
			k.x, k.p, k.primed = e.x, e.p, true
			u, rise, doubt := scale[3]*rng.NormFloat64(), scale[3]*rng.NormFloat64(), scale[3]*rng.Float64()
			k.predictRamp(dt, u, rise, doubt)

			var v [20]float64
			copy(v[:4], e.x[:])
			for i := range 4 {
				copy(v[4+4*i:], e.p[i][:])
			}
			noisy := a
			noisy.inputNoise = math.Sqrt(a.inputNoise*a.inputNoise*tick + doubt*doubt*dt)
			f := &ideal{a: &noisy, period: 1}
			const steps = 200
			for n := range steps {
				stage := 0
				rung(v[:], dt/steps, func(v, d []float64) {
					at := (float64(n) + [4]float64{0, 0.5, 0.5, 1}[stage]) / steps
					stage++
					f.dot(v, d, u+rise*(at-0.5))
				})
			}
			for i := range 4 {
				if math.Abs(k.x[i]-v[i]) > 1e-9*(scale[i]+math.Abs(v[i])) {
					t.Errorf("%s, %g s: state %d is %.12g, want %.12g", a.name, dt, i, k.x[i], v[i])
				}
				for j := range 4 {
					if want := v[4+4*i+j]; math.Abs(k.p[i][j]-want) > 1e-9*math.Sqrt(v[4+5*i]*v[4+5*j]) {
						t.Errorf("%s, %g s: P[%d][%d] is %.12g, want %.12g", a.name, dt, i, j, k.p[i][j], want)
					}
				}
			}
		}
	}
}
