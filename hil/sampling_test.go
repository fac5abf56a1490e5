package hil

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// The estimate against the best that can be made of the same samples, over rates, losses, bursts and ages. Truth and ideal filter
// are written here from the equations and integrated by Runge–Kutta; they know nothing of our transitions.

// motion4 is a motor with LuGre friction: angle, speed, current, bristle.
type motion4 [4]float64

// truthDot is the right-hand side for the voltage u; torque is the friction.
func truthDot(x, dx []float64, u float64) (torque float64) {
	m, f := demoMotor(), demoLaw()
	v := x[1]
	g := f.Fc + (f.Fs-f.Fc)*math.Exp(-(v/f.Vs)*(v/f.Vs))
	dz := v - f.Sigma0*math.Abs(v)/g*x[3]
	torque = f.Sigma0*x[3] + f.Sigma1*math.Exp(-(v/f.Vd)*(v/f.Vd))*dz + f.Sigma2*v
	dx[0], dx[1], dx[2], dx[3] = v, (m.K*x[2]-torque)/m.J, (u-m.R*x[2]-m.K*v)/m.L, dz
	return torque
}

// rk4 moves x by h under dx = f(x).
func rk4(x []float64, h float64, f func(x, dx []float64)) {
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

const fineStep = 25e-6 // s  of both integrations

// sampled is one pattern of samples.
type sampled struct {
	name  string
	loss  float64 // share lost at random
	skip  int     // every so many samples one is lost; 0: none
	burst int     // samples lost in a row, once in forty
	age   float64 // a sample is up to so many periods old on top of its phase
}

var patterns = []sampled{
	{name: "none"},
	{name: "late", age: 1.5},
	{name: "10 %", loss: 0.1},
	{name: "30 %", loss: 0.3},
	{name: "50 %", loss: 0.5, age: 1.5},
	{name: "2nd", skip: 2},
	{name: "3 in 40", burst: 3},
	{name: "8 in 40", burst: 8, age: 1.5},
}

// sample is what the device measured.
type sample struct {
	t, arrive float64 // s
	y         [2]float64
	lost      bool
}

// sampledRun is a record at one rate: truth at the ticks, samples, voltages.
type sampledRun struct {
	dt      float64
	truth   []motion4 // θ ω i T at the ticks
	u       []float64 // V  from tick to tick
	samples []sample
}

// record integrates the motor under an open-loop voltage that reverses and jumps, and samples it at its own raster, 100 ppm slow.
func record(rate float64, p sampled, seed uint64) *sampledRun {
	n := int(max(600, min(3*rate, 5000)))
	r := &sampledRun{dt: 1 / rate}
	rng := rand.New(rand.NewPCG(seed, 7))
	period := r.dt * (1 + 100e-6)
	x, next, j, left := motion4{}, 0.37*r.dt, 0, 0
	count := 2 * math.Pi / 65536
	for k := range n {
		t := float64(k) * r.dt
		u := 2.5*math.Sin(2*math.Pi*1.3*t) + 1.5*math.Sin(2*math.Pi*4.7*t)
		if math.Mod(t, 0.7) > 0.35 {
			u += 1.5
		}
		var dx motion4
		torque := truthDot(x[:], dx[:], u)
		r.truth, r.u = append(r.truth, motion4{x[0], x[1], x[2], torque}), append(r.u, u)
		// to the next tick, by way of the samples
		at, end := t, t+r.dt
		for at < end {
			stop := min(end, next)
			steps := max(1, math.Ceil((stop-at)/fineStep))
			for range int(steps) {
				rk4(x[:], (stop-at)/steps, func(x, dx []float64) { truthDot(x, dx, u) })
			}
			if at = stop; at < next {
				break
			}
			s := sample{t: at, arrive: at + p.age*period*rng.Float64(), y: [2]float64{math.Round(x[0]/count) * count, x[2] + 0.02*rng.NormFloat64()}}
			if p.burst > 0 && j%40 == 39 {
				left = p.burst
			}
			s.lost = rng.Float64() < p.loss || p.skip > 0 && j%p.skip == 1 || left > 0
			left--
			r.samples = append(r.samples, s)
			j++
			next = (0.37*r.dt + float64(j)*period)
		}
	}
	return r
}

// idealFilter is the textbook's continuous-discrete Kalman filter, state and covariance integrated from their equations:
// dx/dt = A·x + B·u, dP/dt = A·P + P·Aᵀ + W. It knows every voltage and every time exactly.
type idealFilter struct {
	x    [4]float64
	p    [4][4]float64
	spec estimator.KalmanSpec
	dt   float64
}

func (f *idealFilter) dot(v, d []float64, u float64) { // of the state alone, or of state and covariance
	clear(d)
	m := f.spec.Motor
	a := [4][4]float64{{0, 1, 0, 0}, {0, 0, m.K / m.J, -1 / m.J}, {0, -m.K / m.L, -m.R / m.L, 0}, {}}
	w := [4]float64{2: f.spec.VoltageNoise * f.spec.VoltageNoise * f.dt / (m.L * m.L), 3: f.spec.TorqueWalk * f.spec.TorqueWalk}
	d[2] = u / m.L
	for i := range 4 {
		for l := range 4 {
			d[i] += a[i][l] * v[l]
			for j := range len(v)/4 - 1 {
				d[4+4*i+j] += a[i][l]*v[4+4*l+j] + v[4+4*i+l]*a[j][l]
			}
		}
		if len(v) > 4 {
			d[4+5*i] += w[i]
		}
	}
}

func (f *idealFilter) advance(dt, u float64, alone bool) {
	var v [20]float64
	copy(v[:4], f.x[:])
	for i := range 4 {
		copy(v[4+4*i:], f.p[i][:])
	}
	n := 20
	if alone {
		n = 4
	}
	steps := max(1, math.Ceil(dt/(4*fineStep)))
	for range int(steps) {
		rk4(v[:n], dt/steps, func(v, d []float64) { f.dot(v, d, u) })
	}
	copy(f.x[:], v[:4])
	for i := range 4 {
		copy(f.p[i][:], v[4+4*i:8+4*i])
	}
}

func (f *idealFilter) correct(y [2]float64) {
	for j, c := range [2]int{0, 2} {
		r := [2]float64{f.spec.PositionNoise, f.spec.CurrentNoise}[j]
		s := f.p[c][c] + r*r
		nu := y[j] - f.x[c]
		p := f.p
		for i := range 4 {
			f.x[i] += p[i][c] / s * nu
			for l := range 4 {
				f.p[i][l] = p[i][l] - p[i][c]*p[c][l]/s
			}
		}
	}
}

// errorsOf runs the controller's estimate and the ideal filter over a record and gives the rms errors of both at the ticks.
func errorsOf(t *testing.T, r *sampledRun, spec estimator.KalmanSpec) (ours, ideal [4]float64) {
	t.Helper()
	gen, err := reference.New(reference.Spec{Kind: "constant"})
	if err != nil {
		t.Fatal(err)
	}
	spec.TopSpeed = 300
	a := motorAxis(spec, r.dt)
	a.Ref, a.PID.Limit, a.Sampling.RLS = gen, 0, nil
	c, err := NewController(ControllerSpec{
		Rig: "sampling", Rate: 1 / r.dt, Ages: []int{2, 2, 2}, Axes: []AxisSpec{a},
		Meas: Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"}, engine.Signal{Name: "motor.current", Unit: "A"},
			engine.Signal{Name: "age", Unit: "s"}),
		Cmd:   Of("drive", engine.Signal{Name: "voltage", Unit: "V"}),
		Guard: GuardSpec{Meas: make([]MeasLimit, 3), Cmd: []CmdLimit{{Lo: -24, Hi: 24}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.previousMode = Run
	var row Row
	var b Blocks
	schema := c.Schema()
	b.Meas, b.Est, b.Model, b.Cmd = schema.Blocks(&row)
	f := &idealFilter{spec: spec, dt: r.dt}
	for i, sd := range [4]float64{spec.PositionNoise, 300, 20, 0.8} {
		f.p[i][i] = sd * sd
	}
	const begin = int64(5e9)
	seen, at, used := 0, 0.0, 0
	for k := range r.truth {
		now := float64(k) * r.dt
		row.T, row.FreshSignals, row.Flags = begin+int64(now*1e9), Fresh{}, 0
		newest := -1
		for i := seen; i < len(r.samples) && r.samples[i].t <= now; i++ {
			if s := &r.samples[i]; s.arrive <= now && !s.lost {
				newest = i
			}
		}
		if k > 0 {
			b.Cmd[0] = r.u[k-1]
		}
		if newest >= 0 {
			s := &r.samples[newest]
			seen = newest + 1
			row.FreshSignals, b.Meas[0], b.Meas[1] = Fresh{7}, s.y[0], s.y[1]
			for at < s.t { // by way of the ticks
				j := int(math.Floor(at/r.dt + 1e-9))
				stop := min(s.t, float64(j+1)*r.dt)
				f.advance(stop-at, r.u[j], false)
				at = stop
			}
			f.correct(s.y)
			at = s.t
		}
		if seen > 0 {
			b.Meas[2] = now - r.samples[seen-1].t
		} else {
			b.Meas[2] = 1e3
		}
		c.estimate(&row, &b)
		if row.Flags&(FlagRefused|FlagJump) != 0 && seen > 0 {
			t.Fatalf("tick %d: a good sample was refused, flags %b", k, row.Flags)
		}
		if k < len(r.truth)/5 {
			continue
		}
		used++
		g := *f // ahead to now
		for g0 := at; g0 < now-1e-12; {
			j := int(math.Floor(g0/r.dt + 1e-9))
			stop := min(now, float64(j+1)*r.dt)
			g.advance(stop-g0, r.u[j], true)
			g0 = stop
		}
		for i := range 4 {
			ours[i] += (b.Est[i] - r.truth[k][i]) * (b.Est[i] - r.truth[k][i])
			ideal[i] += (g.x[i] - r.truth[k][i]) * (g.x[i] - r.truth[k][i])
		}
	}
	for i := range 4 {
		ours[i], ideal[i] = math.Sqrt(ours[i]/float64(used)), math.Sqrt(ideal[i]/float64(used))
	}
	return ours, ideal
}

func samplingSpec() estimator.KalmanSpec {
	m := demoMotor()
	m.BrushDrop = 0 // the ideal filter is linear
	return estimator.KalmanSpec{Motor: m, PositionNoise: 0.1e-3, CurrentNoise: 0.02, TorqueWalk: 0.1, VoltageNoise: 0.05}
}

// No error of position, speed, current or torque is more than 1.05 times that of the ideal filter on the same samples.
func TestEstimateAgainstIdeal(t *testing.T) {
	var w strings.Builder
	w.WriteString("\n| lost |")
	rates := []float64{50, 200, 1000, 5000}
	switch {
	case soak:
		rates = []float64{50, 100, 200, 500, 1000, 2000, 5000, 10000}
	case testing.Short():
		rates = rates[:3]
	}
	worst := 0.0
	for i, p := range patterns {
		fmt.Fprintf(&w, "\n| %s", p.name)
		for _, rate := range rates {
			ours, ideal := errorsOf(t, record(rate, p, uint64(100*rate)+uint64(i)), samplingSpec())
			for j, name := range []string{"position", "speed", "current", "torque"} {
				worst = max(worst, ours[j]/ideal[j])
				if !(ours[j] <= 1.05*ideal[j]) {
					t.Errorf("%g Hz, %s: error of %s %.3g, of the ideal filter %.3g: %.2f times", rate, p.name, name, ours[j], ideal[j], ours[j]/ideal[j])
				}
			}
			fmt.Fprintf(&w, " | %.2g", ours[1])
		}
	}
	t.Logf("rms errors of the speed (rad/s), by rate; at most %.3f times those of the ideal filter:%s", worst, w.String())
}
