package estimator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
)

// The estimate of an axis against the best that can be made of the same samples. Truth and ideal filter are written here from the
// equations and integrated by Runge–Kutta at a fine step; they know nothing of our transitions, rasters or pasts.

// rung moves x by h under dx = f(x).
func rung(x []float64, h float64, f func(x, dx []float64)) {
	var k [4][20]float64
	var y [20]float64
	n := len(x)
	for j, c := range [4]float64{0, h / 2, h / 2, h} {
		copy(y[:n], x)
		for i := range n {
			if j > 0 {
				y[i] += c * k[j-1][i]
			}
		}
		f(y[:n], k[j][:n])
	}
	for i := range n {
		x[i] += h / 6 * (k[0][i] + 2*k[1][i] + 2*k[2][i] + k[3][i])
	}
}

// testAxis is a kind of axis: its truth [position, velocity, current or effort, bristle], the linear model that the ideal filter knows,
// and how both filters are described.
type testAxis struct {
	name   string
	dot    func(x, dx []float64, u float64)
	third  func(x []float64) float64 // friction, or acceleration, in a state
	dt     float64                   // s  largest step that resolves it
	linear bool
	drive  func(t float64) float64 // command
	spec   func(s AxisSpec) (*Axis, error)
	shown  int // which of [θ ω i T] the estimate has, as bits

	model      [4][4]float64 // d[θ ω i T]/dt
	input      [4]float64    // … per unit of input
	walk       float64
	inputNoise float64 // fresh every period
	noise      [Quantities]float64
	share      float64  // of the velocity, beside its noise
	measured   Quantity // input of the ideal filter, scaled by perUnit; 0: it is the command
	perUnit    float64
	truth      [Quantities]func(x []float64) float64 // what sensors see without noise
}

// lugre is the friction at the velocity v and bristle z, and dz/dt.
func lugre(scale, v, z float64) (force, dz float64) {
	f := demoLaw()
	g := f.Fc + (f.Fs-f.Fc)*math.Exp(-(v/f.Vs)*(v/f.Vs))
	dz = v - f.Sigma0*math.Abs(v)/g*z
	return scale * (f.Sigma0*z + f.Sigma1*math.Exp(-(v/f.Vd)*(v/f.Vd))*dz + f.Sigma2*v), dz
}

// sd is the standard deviation of a sample of v.
func (a *testAxis) sd(q Quantity, v float64) float64 {
	if q == Velocity {
		return math.Hypot(a.noise[q], a.share*v)
	}
	return a.noise[q]
}

func state(i int) func(x []float64) float64 { return func(x []float64) float64 { return x[i] } }

// swing reverses and jumps.
func swing(top float64) func(t float64) float64 {
	return func(t float64) float64 {
		u := 2.5*math.Sin(2*math.Pi*1.3*t) + 1.5*math.Sin(2*math.Pi*4.7*t)
		if math.Mod(t, 0.7) > 0.35 {
			u += 1.5
		}
		return top / 5.5 * u
	}
}

// motorAxis is the demonstration motor without brush drop, under a voltage.
func motorAxis() testAxis {
	m := demoMotor()
	m.BrushDrop = 0
	const walk, inputNoise, position, current, share = 0.1, 0.05, 1e-4, 0.02, 0.01
	return testAxis{
		name: "motor", dt: 25e-6, drive: swing(5.5), shown: 0b1111,
		dot: func(x, dx []float64, u float64) {
			torque, dz := lugre(1, x[1], x[3])
			dx[0], dx[1], dx[2], dx[3] = x[1], (m.K*x[2]-torque)/m.J, (u-m.R*x[2]-m.K*x[1])/m.L, dz
		},
		third: func(x []float64) float64 { f, _ := lugre(1, x[1], x[3]); return f },
		spec: func(s AxisSpec) (*Axis, error) {
			return NewElectrical(KalmanSpec{Motor: m, PositionNoise: position, CurrentNoise: current, VelocityNoise: 0.05, VelocityShare: share,
				TorqueWalk:   walk,
				VoltageNoise: inputNoise, TopVoltage: 24, TopSpeed: 300}, s)
		},
		model: [4][4]float64{{0, 1, 0, 0}, {0, 0, m.K / m.J, -1 / m.J}, {0, -m.K / m.L, -m.R / m.L, 0}, {}},
		input: [4]float64{2: 1 / m.L}, walk: walk, inputNoise: inputNoise, noise: [Quantities]float64{position, current, 0.05}, share: share,
		truth: [Quantities]func(x []float64) float64{state(0), state(2), state(1), nil, nil},
	}
}

// effortAxis is an axis under an effort that follows its command: at once, or with the lag (s). scale makes a linear axis of the
// rotary one: kg and N in place of kg·m² and N·m.
func effortAxis(name string, scale, lag float64, perCommand, perAmpere float64) testAxis {
	j := scale * 7e-5
	walk, position := scale*0.1, 1e-4
	noise := scale * 1e-3
	a := testAxis{
		name: name, dt: 25e-6, drive: swing(scale * 0.05), shown: 0b1011, linear: scale > 1,
		dot: func(x, dx []float64, u float64) {
			force, dz := lugre(scale, x[1], x[3])
			effort := u
			if dx[2] = 0; lag > 0 {
				effort, dx[2] = x[2], (u-x[2])/lag
			}
			dx[0], dx[1], dx[3] = x[1], (effort-force)/j, dz
		},
		third: func(x []float64) float64 { f, _ := lugre(scale, x[1], x[3]); return f },
		spec: func(s AxisSpec) (*Axis, error) {
			s.PerCommand, s.PerAmpere, s.Linear = perCommand, perAmpere, scale > 1
			return NewMechanical(MechanicalSpec{Inertia: j, PositionNoise: position, VelocityNoise: 0.05, VelocityShare: 0.01, EffortNoise: noise,
				Walk:      walk,
				TopEffort: scale * 0.4, TopSpeed: 500}, s)
		},
		model: [4][4]float64{{0, 1, 0, 0}, {0, 0, 0, -1 / j}, {}, {}},
		input: [4]float64{1: 1 / j}, walk: walk, inputNoise: noise,
		noise: [Quantities]float64{Position: position, Velocity: 0.05, Effort: noise}, share: 0.01,
		truth: [Quantities]func(x []float64) float64{Position: state(0), Velocity: state(1), Effort: state(2)},
	}
	switch {
	case perAmpere != 0:
		a.truth[Current] = func(x []float64) float64 { return x[2] / perAmpere }
		a.noise[Current], a.measured, a.perUnit = noise/perAmpere, Current, perAmpere
	case perCommand == 0:
		a.measured, a.perUnit = Effort, 1
	}
	return a
}

// knownEffort is an axis of which the ideal filter knows the effort exactly, at all times; ours has samples of it.
func knownEffort(lag float64) testAxis {
	a := effortAxis("effort", 1, lag, 0, 0)
	a.measured, a.noise[Effort] = 0, a.inputNoise
	a.model[1][2], a.model[2][2], a.input, a.inputNoise = -a.model[1][3], -1/lag, [4]float64{2: 1 / lag}, 0
	return a
}

// passiveAxis is a pendulum that nobody drives.
func passiveAxis() testAxis {
	dot := func(x, dx []float64, _ float64) { dx[0], dx[1] = x[1], -60*math.Sin(x[0])-0.05*x[1] }
	return testAxis{
		name: "pendulum", dt: 100e-6, drive: func(float64) float64 { return 0 }, shown: 0b1011, dot: dot,
		third: func(x []float64) float64 {
			var dx [4]float64
			dot(x, dx[:], 0)
			return dx[1]
		},
		spec: func(s AxisSpec) (*Axis, error) {
			return NewMechanical(MechanicalSpec{PositionNoise: 1e-4, VelocityNoise: 0.05, Walk: 40, TopSpeed: 100}, s)
		},
		model: [4][4]float64{{0, 1, 0, 0}, {0, 0, 0, 1}, {}, {}},
		walk:  40, noise: [Quantities]float64{Position: 1e-4, Velocity: 0.05},
		truth: [Quantities]func(x []float64) float64{Position: state(0), Velocity: state(1)},
	}
}

// stream is how one group is sampled.
type stream struct {
	every float64 // s
	of    []Quantity
	late  float64 // s  from sample to arrival …
	more  float64 // s  … and up to so much more
	loss  float64 // share lost at random
	burst int     // lost in a row, once in forty
}

// reading is one sample of a group.
type reading struct {
	group     int
	t, arrive float64 // s
	y         [Quantities]float64
	lost      bool
}

// record is a run of an axis: truth at the ticks, commands, and the readings of each group in the order of their times.
type record struct {
	axis     testAxis
	tick     float64
	streams  []stream
	truth    [][4]float64 // θ ω i T
	u        []float64
	readings [][]reading
}

// sampleAxis integrates the truth for n ticks and samples it at rasters of its own, 100 ppm slow.
func sampleAxis(a testAxis, tick float64, n int, seed uint64, streams ...stream) *record {
	r := &record{axis: a, tick: tick, streams: streams, readings: make([][]reading, len(streams))}
	rng := rand.New(rand.NewPCG(seed, 7))
	x := []float64{0.3, 0, 0, 0}
	left := make([]int, len(streams))
	next := func(g int) float64 {
		return (0.37+0.19*float64(g))*tick + float64(len(r.readings[g]))*streams[g].every*(1+100e-6)
	}
	for k := range n {
		t := float64(k) * tick
		u := a.drive(t)
		r.truth, r.u = append(r.truth, [4]float64{x[0], x[1], x[2], a.third(x)}), append(r.u, u)
		for end := t + tick; t < end; {
			stop, group := end, -1
			for g := range streams {
				if at := next(g); at < stop {
					stop, group = max(at, t), g
				}
			}
			steps := max(1, math.Ceil((stop-t)/a.dt))
			for range int(steps) {
				rung(x, (stop-t)/steps, func(x, dx []float64) { a.dot(x, dx, u) })
			}
			if t = stop; group < 0 {
				break
			}
			s := &streams[group]
			y := reading{group: group, t: t, arrive: t + s.late + s.more*rng.Float64()}
			for _, q := range s.of {
				v := a.truth[q](x)
				if q == Position {
					v = math.Round(v/count) * count
				} else {
					v += a.sd(q, v) * rng.NormFloat64()
				}
				y.y[q] = v
			}
			j := len(r.readings[group])
			if s.burst > 0 && j%40 == 39 {
				left[group] = s.burst
			}
			y.lost = rng.Float64() < s.loss || left[group] > 0
			left[group]--
			r.readings[group] = append(r.readings[group], y)
		}
	}
	return r
}

// follow runs an axis and the ideal filter over a record and gives the rms errors of both at the ticks, [θ ω i T], and the share of
// the samples that were refused.
func (r *record) follow(t *testing.T) (ours, best [4]float64, refused float64) {
	t.Helper()
	f := &ideal{a: &r.axis, r: r, period: r.tick}
	fastest := math.Inf(1)
	for _, s := range r.streams {
		fastest = min(fastest, s.every)
		if slices.Contains(s.of, r.axis.measured) && r.axis.measured != 0 {
			f.period = s.every
		}
	}
	if r.axis.name == "motor" {
		f.period = fastest
	}
	used, samples := 0.0, 0.0
	r.feed(t, func(k int, a *Axis, came []reading) {
		samples += float64(len(came))
		f.take(came)
		if slices.Contains(a.Outcome().Rejected[:], true) {
			refused++
		}
		if k < len(r.truth)/5 {
			return
		}
		best4, e := f.now(float64(k)*r.tick), a.tickState
		used++
		for i := range 4 {
			if r.axis.shown&(1<<i) != 0 {
				ours[i] += (e[i] - r.truth[k][i]) * (e[i] - r.truth[k][i])
				best[i] += (best4[i] - r.truth[k][i]) * (best4[i] - r.truth[k][i])
			}
		}
	})
	for i := range 4 {
		ours[i], best[i] = math.Sqrt(ours[i]/used), math.Sqrt(best[i]/used)
	}
	return ours, best, refused / samples
}

// feed runs an axis over the record, tick by tick, and shows it with the readings that came.
func (r *record) feed(t *testing.T, see func(tick int, a *Axis, came []reading)) *Axis {
	t.Helper()
	spec := AxisSpec{Tick: r.tick}
	for _, s := range r.streams {
		spec.Groups = append(spec.Groups, Group{SamplePeriod: s.every, Quantities: s.of})
	}
	a, err := r.axis.spec(spec)
	if err != nil {
		t.Fatal(err)
	}
	seen, last := make([]int, len(r.streams)), make([]*reading, len(r.streams))
	x := make([]float64, 4)
	for k := range r.truth {
		now := float64(k) * r.tick
		in := Inputs{DriveActive: true}
		if k > 0 {
			in.Command = r.u[k-1]
		}
		var came []reading
		for g, ys := range r.readings {
			fresh := false
			for i := seen[g]; i < len(ys) && ys[i].t <= now; i++ {
				if ys[i].arrive <= now && !ys[i].lost {
					seen[g], last[g], fresh = i+1, &ys[i], true
				}
			}
			age := 1e3
			if last[g] != nil {
				age = now - last[g].t
			}
			for _, q := range r.streams[g].of {
				s := Sample{Age: age, Updated: fresh}
				if fresh {
					s.Value = last[g].y[q]
				}
				*[]*Sample{&in.Position, &in.Current, &in.Velocity, &in.Effort, &in.Voltage}[q] = s
			}
			if fresh {
				came = append(came, *last[g])
			}
		}
		if st := a.Step(5e9+int64(math.Round(now*1e9)), 0, &in, x); st == engine.NonFinite {
			t.Fatalf("tick %d: %v", k, st)
		}
		see(k, a, came)
	}
	return a
}

// worst is the largest ratio of an error to that of the ideal filter.
func worst(ours, best [4]float64) (w float64) {
	for i := range ours {
		if best[i] > 0 {
			w = max(w, ours[i]/best[i])
		}
	}
	return w
}

// sampledKind is an axis with the groups of its samples, at a rate of its fastest one.
type sampledKind struct {
	name    string
	axis    testAxis
	streams func(every float64, s stream) []stream
}

// oneGroup has all quantities at the same times.
func oneGroup(of ...Quantity) func(every float64, s stream) []stream {
	return func(every float64, s stream) []stream {
		s.every, s.of = every, of
		return []stream{s}
	}
}

// twoGroups has a position at a fifth of the rate, and so many fast periods late.
func twoGroups(late float64, of ...Quantity) func(every float64, s stream) []stream {
	return func(every float64, s stream) []stream {
		position := s
		s.every, s.of = every, of
		position.every, position.of, position.late = 5*every, []Quantity{Position}, late*every
		return []stream{s, position}
	}
}

func sampledKinds() []sampledKind {
	return []sampledKind{
		{"motor, one group", motorAxis(), oneGroup(Position, Current)},
		{"motor, position slow", motorAxis(), twoGroups(0, Current)},
		{"motor, position slow and late", motorAxis(), twoGroups(10, Current)},
		{"effort commanded", effortAxis("effort", 1, 0, 1, 0), oneGroup(Position)},
		{"effort measured, linear", effortAxis("force", 1000, 2e-3, 0, 0), oneGroup(Position, Effort)},
		{"effort from a current, position slow", effortAxis("current", 1, 2e-3, 0, 0.042), twoGroups(0, Current)},
		{"effort from a current, position slow and late", effortAxis("current", 1, 2e-3, 0, 0.042), twoGroups(10, Current)},
		{"effort from a current, velocity too", effortAxis("current", 1000, 2e-3, 0, 42), twoGroups(10, Current, Velocity)},
		{"nothing drives it", passiveAxis(), oneGroup(Position)},
	}
}

// againstIdeal holds every kind of axis against the ideal filter under these losses and delays (of a period), at these rates (Hz).
func againstIdeal(t *testing.T, patterns []stream, rates ...float64) {
	var w strings.Builder
	top := 0.0
	for i, kind := range sampledKinds() {
		fmt.Fprintf(&w, "\n%s", kind.name)
		for _, s := range patterns {
			fmt.Fprintf(&w, "\n| %2g %% lost, %d in a row, %g late |", 100*s.loss, s.burst, s.more)
			for _, rate := range rates {
				p := s
				p.more /= rate
				r := sampleAxis(kind.axis, 1/rate, int(max(600, min(3*rate, 5000))), uint64(rate)+uint64(i), kind.streams(1/rate, p)...)
				ours, best, refused := r.follow(t)
				top = max(top, worst(ours, best))
				fmt.Fprintf(&w, " %.2g |", ours[1])
				if !(worst(ours, best) <= 1.1) || refused > 0 {
					t.Errorf("%s, %+v at %g Hz: errors of θ ω i T %.3g, of the ideal filter %.3g; %g of the samples refused", kind.name, p, rate, ours,
						best, refused)
				}
			}
		}
	}
	t.Logf("errors of the speed (rad/s or m/s); at most %.3f times those of the ideal filter:%s", top, w.String())
}

// No error of a state is more than 1.1 times that of the ideal filter.
func TestAxisAgainstIdeal(t *testing.T) {
	againstIdeal(t, []stream{{}, {loss: 0.5}, {burst: 8, more: 1.5}}, 100, 1000)
}

// A measured effort that is not lost is as good as one that is known exactly, and with nothing in between.
func TestAxisMeasuredEffort(t *testing.T) {
	for _, rate := range []float64{500, 1000, 5000} {
		for _, loss := range []float64{0, 0.5} {
			r := sampleAxis(knownEffort(5e-3), 1/rate, int(3*rate), 1, stream{every: 1 / rate, of: []Quantity{Effort}},
				stream{every: 1 / rate, of: []Quantity{Position}, loss: loss, more: 3 / rate})
			ours, best, refused := r.follow(t)
			t.Logf("%g Hz, %g of the positions lost: errors %.3g, of the ideal filter %.3g", rate, loss, ours, best)
			if !(worst(ours, best) <= 1.1) || refused > 0 {
				t.Errorf("%g Hz, %g of the positions lost: errors %.3g, of the ideal filter %.3g; %g refused", rate, loss, ours, best, refused)
			}
		}
	}
}

// With 10 ms of age on the slow group, at 1 kHz and 200 Hz, while the fast one has none.
func TestAxisTenMillisecondsLate(t *testing.T) {
	for _, loss := range []float64{0, 0.3} {
		r := sampleAxis(motorAxis(), 1e-3, 5000, 1, stream{every: 1e-3, of: []Quantity{Current}, loss: loss},
			stream{every: 5e-3, of: []Quantity{Position}, late: 10e-3, loss: loss})
		ours, best, refused := r.follow(t)
		t.Logf("%g lost: errors %.3g, of the ideal filter %.3g", loss, ours, best)
		if !(worst(ours, best) <= 1.1) || refused > 0 {
			t.Errorf("%g lost: errors %.3g, of the ideal filter %.3g; %g refused", loss, ours, best, refused)
		}
	}
}

// A tacho with 1 % of noise beside an encoder of 200 Hz: at the speeds of the demonstration, up to 20 rad/s, the error of the speed falls
// to 0.7 of what it was, and at any speed the errors are those of the ideal filter.
func TestAxisWithTacho(t *testing.T) {
	slow, fast := stream{every: 5e-3, of: []Quantity{Position}}, stream{every: 1e-3}
	of := func(q ...Quantity) stream { fast.of = q; return fast }
	for _, c := range []struct {
		name          string
		axis          testAxis
		drive         float64
		without, with []stream
		most          float64
	}{
		{"motor", motorAxis(), 1.6, []stream{slow, of(Current)}, []stream{slow, of(Current, Velocity)}, 0.7},
		{"effort", effortAxis("effort", 1, 0, 1, 0), 0.03, []stream{slow}, []stream{slow, of(Velocity)}, 0.7},
		{"force", effortAxis("force", 1000, 0, 1, 0), 30, []stream{slow}, []stream{slow, of(Velocity)}, 0.7},
		{"motor, up to 80 rad/s", motorAxis(), 5.5, []stream{slow, of(Current)}, []stream{slow, of(Current, Velocity)}, 0.8},
		{"effort, up to 80 rad/s", effortAxis("effort", 1, 0, 1, 0), 0.08, []stream{slow}, []stream{slow, of(Velocity)}, 0.95},
	} {
		c.axis.drive = swing(c.drive)
		without, _, _ := sampleAxis(c.axis, 1e-3, 5000, 1, c.without...).follow(t)
		with, best, refused := sampleAxis(c.axis, 1e-3, 5000, 1, c.with...).follow(t)
		t.Logf("%s: speed error %.3g, with a tacho %.3g: %.2f times; %.3f times the ideal filter's", c.name, without[1], with[1],
			with[1]/without[1], worst(with, best))
		if !(with[1] <= c.most*without[1]) || !(worst(with, best) <= 1.1) || refused > 0 {
			t.Errorf("%s: speed error %.3g, with a tacho %.3g; errors %.3g, of the ideal filter %.3g; %g refused", c.name, without[1], with[1],
				with, best, refused)
		}
	}
}
