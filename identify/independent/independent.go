// Package independent makes records of an axis whose truth is known, for tests of the fits.
//
// A fit that is checked on records of its own stepping scheme proves nothing: both share one error. Here the equations are
// integrated by the classical Runge–Kutta method of order four, at least 32 steps a sample and as many more as the contact is
// stiff; rigid friction is integrated piece by piece between its reversals, which are located by bisection. Nothing of
// engine or identify but the type of a record is used, and nothing but tests imports this package.
//
// The equations, with u the force of the drive and F ≥ 0 for v > 0:
//
//	M·dv/dt = u(t) − F − load(t, x, v),   dx/dt = v
//	LuGre    dz/dt = v − σ0·|v|/g(v)·z,   g = Fc + (Fs − Fc)·exp(−(v/vs)²),   F = σ0·z + σ1·dz/dt + σ2·v
//	rigid    F = sgn(v)·g(v) + σ2·v; at rest F takes any value up to Fs
package independent

import (
	"cmp"
	"math"
	"math/rand/v2"

	"hilrig/engine/numeric"
	"hilrig/identify/record"
)

// Friction of a contact. Sigma0 = 0 is rigid friction. The fields ending in Back apply to v < 0 where Split is set.
type Friction struct {
	Sigma0, Sigma1, Sigma2 float64 // N/m, N·s/m, N·s/m
	Fc, Fs, Vs             float64 // N, N, m/s; Fs = 0: Fc; Vs = 0: no dip
	Vd                     float64 // m/s, at which Sigma1 has faded to 1/e; 0: it does not

	Split                      bool
	FcBack, FsBack, Sigma2Back float64
}

func (f *Friction) level(v float64) (g, fs, s2 float64) {
	fc, fs, s2 := f.Fc, f.Fs, f.Sigma2
	if f.Split && v < 0 {
		fc, fs, s2 = f.FcBack, f.FsBack, f.Sigma2Back
	}
	fs = cmp.Or(fs, fc)
	g = fc
	if f.Vs > 0 {
		g += (fs - fc) * math.Exp(-(v/f.Vs)*(v/f.Vs))
	}
	return g, fs, s2
}

// Axis is a mass with friction and a load.
type Axis struct {
	M        float64 // kg
	Friction Friction
	Scale    func(t float64) float64       // factor of all of the friction, over time; nil: 1
	Load     func(t, x, v float64) float64 // N, opposes positive motion; nil: none
}

// Run says what is done with the axis.
type Run struct {
	Dt     float64 // s, sampling interval
	N      int     // samples
	X0, V0 float64 // m, m/s

	Force func(t float64) float64 // N, continuous; or
	// Sampled gives the force from sample k on (N), held until the next one, from the positions measured up to then.
	Sampled func(k int, x []float64) float64
	// Intersample with Sampled nil: Exact follows Force, Held its samples.
	Intersample Between

	Delay  float64                           // s, by which the force acts later than Force or Sampled say
	Sensor func(k int, x float64) float64    // what a controller sees of the position; nil: the position
	Push   func(k int, r *rand.Rand) float64 // N, unmeasured force held over a sample; nil: none
	Seed   uint64                            // of Push
}

// Between says what a force does between its samples.
type Between uint8

const (
	Exact Between = iota
	Held
)

// Trace is the exact motion at the samples.
type Trace struct {
	Dt      float64
	T, X, V []float64 // s, m, m/s
	U       []float64 // N, as commanded at the sample
}

// Simulate integrates the motion.
func (a *Axis) Simulate(run Run) *Trace {
	tr := &Trace{Dt: run.Dt, T: make([]float64, run.N), X: make([]float64, run.N), V: make([]float64, run.N), U: make([]float64, run.N)}
	own := *a
	if own.Scale == nil {
		own.Scale = func(float64) float64 { return 1 }
	}
	if own.Load == nil {
		own.Load = func(t, x, v float64) float64 { return 0 }
	}
	if run.Sensor == nil {
		run.Sensor = func(_ int, x float64) float64 { return x }
	}
	if run.Push == nil {
		run.Push = func(int, *rand.Rand) float64 { return 0 }
	}
	s := state{axis: &own, x: run.X0, v: run.V0}
	if s.v != 0 && a.Friction.Sigma0 > 0 { // slides since long
		g, _, _ := a.Friction.level(s.v)
		s.z = math.Copysign(g/a.Friction.Sigma0, s.v)
	}
	r := rand.New(rand.NewPCG(run.Seed, 4711))
	seen := make([]float64, 0, run.N)
	for k := range run.N {
		t := float64(k) * run.Dt
		tr.T[k], tr.X[k], tr.V[k] = t, s.x, s.v
		seen = append(seen, run.Sensor(k, s.x))
		push := run.Push(k, r)
		var u func(t float64) float64
		if run.Sampled != nil {
			tr.U[k] = run.Sampled(k, seen)
			u = func(at float64) float64 { // at lies in this sample or, delayed, in one before
				j := min(int(math.Floor((at-run.Delay)/run.Dt+1e-9)), k)
				return tr.U[max(j, 0)] + push
			}
		} else {
			tr.U[k] = run.Force(t)
			u = func(at float64) float64 {
				if at -= run.Delay; run.Intersample == Held {
					at = math.Floor(at/run.Dt+1e-9) * run.Dt
				}
				return run.Force(at) + push
			}
		}
		// a held force jumps where its delay ends
		cut := run.Dt
		if run.Delay != 0 && (run.Sampled != nil || run.Intersample != Exact) {
			if frac := math.Mod(run.Delay, run.Dt); frac > 1e-12 {
				cut = frac
			} else if frac < -1e-12 {
				cut = run.Dt + frac
			}
		}
		s.advance(t, cut, u)
		if cut < run.Dt {
			s.advance(t+cut, run.Dt-cut, u)
		}
	}
	return tr
}

// state is that of the integration.
type state struct {
	axis      *Axis
	x, v, z   float64
	direction float64 // rigid: the direction of motion, 0 at rest
}

// flow is the derivative; way is the direction of rigid friction.
func (s *state) flow(t float64, u func(float64) float64, x, v, z float64) (dx, dv, dz float64) {
	f := &s.axis.Friction
	var force float64
	if f.Sigma0 > 0 {
		g, _, s2 := f.level(v)
		dz = v - f.Sigma0*math.Abs(v)/g*z
		s1 := f.Sigma1
		if f.Vd > 0 {
			s1 *= math.Exp(-(v / f.Vd) * (v / f.Vd))
		}
		force = f.Sigma0*z + s1*dz + s2*v
	} else {
		near := v
		if near*s.direction <= 0 {
			near = s.direction * 1e-300
		}
		g, _, s2 := f.level(near)
		force = s.direction*g + s2*v
	}
	return v, (u(t) - s.axis.Scale(t)*force - s.axis.Load(t, x, v)) / s.axis.M, dz
}

// rk4 is one step of length h from the state; it changes nothing. Forces that jump do so between the steps, so they are
// looked at a hair inside of the step.
func (s *state) rk4(t, h float64, u func(float64) float64) (x, v, z float64) {
	in := 1e-6 * h
	a1, b1, c1 := s.flow(t+in, u, s.x, s.v, s.z)
	a2, b2, c2 := s.flow(t+h/2, u, s.x+h/2*a1, s.v+h/2*b1, s.z+h/2*c1)
	a3, b3, c3 := s.flow(t+h/2, u, s.x+h/2*a2, s.v+h/2*b2, s.z+h/2*c2)
	a4, b4, c4 := s.flow(t+h-in, u, s.x+h*a3, s.v+h*b3, s.z+h*c3)
	return s.x + h/6*(a1+2*a2+2*a3+a4), s.v + h/6*(b1+2*b2+2*b3+b4), s.z + h/6*(c1+2*c2+2*c3+c4)
}

// advance integrates over span (s), at least 32 steps.
func (s *state) advance(t, span float64, u func(float64) float64) {
	f := &s.axis.Friction
	end := t + span
	for t < end-1e-12*span {
		h := min(span/32, end-t)
		if f.Sigma0 > 0 {
			k := s.axis.Scale(t)
			g, _, s2 := f.level(s.v)
			h = min(h, 0.1/math.Sqrt(k*f.Sigma0/s.axis.M), 0.2*s.axis.M/(k*(f.Sigma1+s2)+1e-300), 0.2*g/(f.Sigma0*math.Abs(s.v)+1e-300))
			s.x, s.v, s.z = s.rk4(t, h, u)
			t += h
			continue
		}
		t += s.rigid(t, h, u)
	}
}

// rigid takes a step of h at most, ending where the motion turns; it returns how far it went.
func (s *state) rigid(t, h float64, u func(float64) float64) float64 {
	if s.v == 0 || s.direction == 0 {
		s.direction = math.Copysign(1, s.v)
		if s.v == 0 {
			net := u(t+1e-6*h) - s.axis.Load(t, s.x, 0)
			if _, fs, _ := s.axis.Friction.level(net); math.Abs(net) <= s.axis.Scale(t)*fs {
				s.direction = 0
				return h // it sticks
			}
			s.direction = math.Copysign(1, net)
		}
	}
	x, v, _ := s.rk4(t, h, u)
	if v*s.direction > 0 {
		s.x, s.v = x, v
		return h
	}
	lo, hi := 0.0, h // it turns in between
	for range 60 {
		mid := (lo + hi) / 2
		if _, v, _ := s.rk4(t, mid, u); v*s.direction > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	s.x, _, _ = s.rk4(t, lo, u)
	s.v, s.direction = 0, 0
	return max(hi, 1e-9*h)
}

// Cascade is a sampled controller u = clamp(kv·(kp·(r − x) − v)), with v the difference of two-sample means of the position.
// Its gains give newton.
func Cascade(kp, kv, limit float64, dt float64, reference func(t float64) float64) func(k int, x []float64) float64 {
	return func(k int, x []float64) float64 {
		v := 0.0
		if k >= 2 {
			v = (x[k] - x[k-2]) / (2 * dt)
		}
		u := kv * (kp*(reference(float64(k)*dt)-x[k]) - v)
		if limit > 0 {
			u = min(max(u, -limit), limit)
		}
		return u
	}
}

// Sines is a sum of sines with random phases: smooth, and rich enough to tell most parameters.
func Sines(seed uint64, amplitude, frequency []float64) func(t float64) float64 {
	r := rand.New(rand.NewPCG(seed, 99))
	phase := make([]float64, len(amplitude))
	for i := range phase {
		phase[i] = 2 * math.Pi * r.Float64()
	}
	return func(t float64) float64 {
		s := 0.0
		for i, a := range amplitude {
			s += a * math.Sin(2*math.Pi*frequency[i]*t+phase[i])
		}
		return s
	}
}

// Sensors is how a trace is recorded.
type Sensors struct {
	Position float64 // m, standard deviation of white noise, before the encoder
	Count    float64 // m, step of the encoder; 0: none
	Velocity float64 // m/s, standard deviation; < 0: no such channel
	Force    float64 // N, standard deviation of the recorded force
	Seed     uint64
}

// Record is the trace seen by sensors, with the reference if there is one.
func (tr *Trace) Record(s Sensors, reference func(t float64) float64) *record.Record {
	r := rand.New(rand.NewPCG(s.Seed, 2718))
	n := len(tr.X)
	x, u := make([]float64, n), make([]float64, n)
	shift := s.Count * r.Float64()
	for k := range n {
		x[k], u[k] = tr.X[k]+s.Position*r.NormFloat64(), tr.U[k]+s.Force*r.NormFloat64()
		if s.Count > 0 {
			x[k] = s.Count * math.Floor((x[k]+shift)/s.Count)
		}
	}
	if !numeric.AllFinite(append(x, u...)...) {
		panic("independent: the simulation is not finite")
	}
	rec := &record.Record{Dt: tr.Dt, Position: x, Force: u}
	rec.File = "simulated apart"
	if s.Velocity >= 0 {
		rec.Velocity = make([]float64, n)
		for k := range n {
			rec.Velocity[k] = tr.V[k] + s.Velocity*r.NormFloat64()
		}
	}
	if reference != nil {
		rec.Reference = make([]float64, n)
		for k := range n {
			rec.Reference[k] = reference(tr.T[k])
		}
	}
	return rec
}
