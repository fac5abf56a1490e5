package estimator

import (
	"math"
	"math/rand/v2"
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
	return &fed{Axis: axis, t: 5e9, in: Inputs{DriveActive: true}}
}

// step is a tick with these new samples; the others grow older.
func (f *fed) step(came map[Quantity]Sample) engine.Status {
	f.t += int64(1e6 * (1 + f.skip))
	for q, s := range []*Sample{&f.in.Position, &f.in.Current, &f.in.Velocity, &f.in.Effort, &f.in.Voltage} {
		s.Age, s.Updated = s.Age+tick*float64(1+f.skip), false
		for of, c := range came { // an age is that of the group
			if f.group[q] >= 0 && f.group[q] == f.group[of] {
				s.Age = c.Age
			}
		}
		if c, ok := came[Quantity(q)]; ok {
			*s = c
			s.Updated = true
		}
	}
	return f.Step(f.t, f.skip, &f.in, f.x[:])
}

// rest is a tick of an axis that stands at a position.
func (f *fed) rest(position float64, ticks int) (st engine.Status) {
	for k := range ticks {
		came := map[Quantity]Sample{}
		for q, g := range f.group {
			if g >= 0 && k%int(f.s.Groups[g].SamplePeriod/tick+0.5) == 0 {
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
	frame     = Group{SamplePeriod: tick, Quantities: []Quantity{Position, Current, Voltage}}
	both      = Group{SamplePeriod: tick, Quantities: []Quantity{Position, Current}}
	fastSlow  = []Group{{SamplePeriod: tick, Quantities: []Quantity{Current}}, {SamplePeriod: 5 * tick, Quantities: []Quantity{Position}}}
	twoEqual  = []Group{{SamplePeriod: tick, Quantities: []Quantity{Current}}, {SamplePeriod: tick, Quantities: []Quantity{Position}}}
	lagged    = effortAxis("current", 1, 2e-3, 0, 0.042)
	commanded = effortAxis("effort", 1, 0, 1, 0)
)

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
						f := newFed(t, axis, Group{SamplePeriod: tick, Quantities: of}, Group{SamplePeriod: float64(slow) * tick,
							Quantities: []Quantity{Position}})
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
	both := []Group{{SamplePeriod: tick, Quantities: []Quantity{Position, Velocity, Effort}}}
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
				if o := f.Outcome(); o.Accepted[c.q] != (over < 0) || o.Rejected[c.q] != (over > 0) || !o.Accepted[Position] {
					t.Errorf("%s of %.9g: taken %v, refused %v, position taken %v", c.name, v, o.Accepted[c.q], o.Rejected[c.q], o.Accepted[Position])
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
			if o := f.Outcome(); o.Accepted[Velocity] != (over < 0) || o.Rejected[Velocity] != (over > 0) {
				t.Errorf("velocity of %.9g: taken %v, refused %v", v, o.Accepted[Velocity], o.Rejected[Velocity])
			}
		}
	}
	// no number is refused silently by its own flag elsewhere; a sample without a time is refused
	f := newFed(t, measured, both...)
	f.rest(0, 300)
	f.step(map[Quantity]Sample{Position: {}, Velocity: {Value: math.NaN()}, Effort: {Value: math.Inf(1)}})
	if o := f.Outcome(); o.Accepted[Velocity] || o.Accepted[Effort] || o.Rejected[Velocity] || o.Rejected[Effort] {
		t.Errorf("no numbers: %+v", o)
	}
	for _, age := range []float64{math.NaN(), 1e3, -1e3} {
		f.step(map[Quantity]Sample{Position: {Age: age}, Velocity: {Age: age}, Effort: {Age: age}})
		if o := f.Outcome(); o.HasSample || o.Rejected != [Quantities]bool{Position: true, Velocity: true, Effort: true} {
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
	if st := f.rest(0, 100); st != engine.OK || !f.Usable() {
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
	if f.history.n != 1 && f.history.n != 2 {
		t.Errorf("%d samples kept of the time before", f.history.n)
	}
}

// An effort without a position is an event all the same, in one frame too: it says what acts from then on.
func TestEffortAlone(t *testing.T) {
	f := newFed(t, effortAxis("effort", 1, 2e-3, 0, 0), Group{SamplePeriod: tick, Quantities: []Quantity{Position, Effort}})
	f.rest(0, 300)
	for range 10 {
		f.step(map[Quantity]Sample{Effort: {Value: 0.01}})
		if o := f.Outcome(); !o.HasSample || !o.Accepted[Effort] || math.Abs(o.TimeStep-tick) > 1e-9 {
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
	}{{"effort", commanded, true, true}, {"effort, off", commanded, false, false}, {"nothing drives it", passiveAxis(), true, false},
		{"motor", motorAxis(), true, true}, {"motor, off", motorAxis(), false, false}} {
		f := newFed(t, c.axis, Group{SamplePeriod: tick, Quantities: []Quantity{Position}})
		f.in.DriveActive = c.driven
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
				turn := int(groups[g].SamplePeriod/tick + 0.5)
				if s.Age, s.Updated = s.Age+tick, k%turn == 0; s.Updated {
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
	{"effort/commanded", commanded, 0, []Group{{SamplePeriod: tick, Quantities: []Quantity{Position}}}},
	{"effort/current in one group", lagged, 0, []Group{both}},
	{"effort/position slow", lagged, 0, fastSlow},
	{"effort/position slow, 10 ms late", lagged, 10, fastSlow},
	{"effort/velocity fast, position 10 ms late", lagged, 10, []Group{{SamplePeriod: tick, Quantities: []Quantity{Current, Velocity}},
		fastSlow[1]}},
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

// What a tick says of its samples: whether one came, by how much time moved on, and nothing refused while a position is waited for.
func TestAxisOutcome(t *testing.T) {
	for _, groups := range [][]Group{{frame}, fastSlow} {
		f := newFed(t, motorAxis(), groups...)
		for k := range 50 {
			f.step(map[Quantity]Sample{Current: {Age: 0.2e-3}})
			if o := f.Outcome(); len(groups) > 1 && o.Rejected[Current] || !o.HasSample || f.Primed() || k > 1 && math.Abs(o.TimeStep-tick) > 1e-8 {
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
			if passed += o.TimeStep; o.HasSample {
				came++
			}
			if o.HasSample != (len(some) > 0) || o.Accepted[Position] != (k%5 == 0) || o.Accepted[Current] != (k%3 > 0) && f.Primed() && k > 0 {
				t.Fatalf("tick %d: %+v", k, o)
			}
		}
		if math.Abs(passed-0.5) > 2e-3 || came != 367 {
			t.Errorf("%d groups: %g s passed in %d ticks with samples", len(groups), passed, came)
		}
	}
}

// A voltage that a device of its own reports is believed, not the command: half of it is taken away on the way to the motor.
func TestVoltageOfAnotherDevice(t *testing.T) {
	m := demoMotor()
	run := func(reported bool) float64 {
		a := motorAxis()
		groups := []Group{{SamplePeriod: tick, Quantities: []Quantity{Position}}, {SamplePeriod: tick, Quantities: []Quantity{Voltage}}}
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
			return []float64{usual, usual, usual, -usual, 0, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e9,
				rng.NormFloat64()}[rng.IntN(12)]
		}
		for k := range 20000 {
			f.in = Inputs{Command: odd(1), DriveActive: rng.IntN(3) > 0}
			for _, s := range []*Sample{&f.in.Position, &f.in.Current, &f.in.Velocity, &f.in.Effort, &f.in.Voltage} {
				*s = Sample{Value: odd(0.1), Age: odd(1e-3), Updated: rng.IntN(2) > 0}
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
		f.in, f.skip = Inputs{DriveActive: true}, 0
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
				f.in.DriveActive, f.in.Command = k%700 < 400, side*math.Sin(0.02*float64(k))
				came := map[Quantity]Sample{}
				for q, g := range f.group {
					if v := rng.NormFloat64(); g >= 0 && k%int(f.s.Groups[g].SamplePeriod/tick+0.5) == 0 {
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
				for _, r := range f.Outcome().Rejected {
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
		k := newFed(t, a, Group{SamplePeriod: tick, Quantities: []Quantity{Position}}).kf
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
