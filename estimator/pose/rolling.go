package pose

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
)

// Friction are the coefficients of the moment against rolling and spinning, −(Roll + Quadratic·|ω_h|)·ω_h − Spin·ω_n, or their
// standard deviations, or what they walk.
type Friction struct {
	Roll      float64 // N·m·s
	Spin      float64 // N·m·s
	Quadratic float64 // N·m·s²
}

// RollingSpec describes a Rolling.
type RollingSpec struct {
	Ball ball.Params // its friction is not used: it is what the filter finds

	Prior       Friction // standard deviations of the coefficients before the first frame, about zero; Quadratic 0: it is zero
	Walk        Friction // N·m·s/√s, N·m·s²/√s  of the coefficients
	Disturbance float64  // rad/s²/√Hz  white noise of dω/dt: what the equations leave out
	SlipWalk    float64  // m/s/√s      random walk of the contact velocity
	HeightWalk  float64  // m/√s        … of the height of the centre
	RadiusError float64  // share of the rolling speed that counts as noise of the contact velocity: the radius is not known better
	Sliding     float64  // coefficient of sliding friction that the contact is sure to have; 0: T/N is not checked
}

// Validate tells what is wrong with the description.
func (s *RollingSpec) Validate() error {
	var errs []error
	for _, c := range []struct {
		name, unit string
		v          float64
		zero       bool
	}{
		{"prior of rolling friction", "N·m·s", s.Prior.Roll, false}, {"prior of spinning friction", "N·m·s", s.Prior.Spin, false},
		{"prior of quadratic friction", "N·m·s²", s.Prior.Quadratic, true},
		{"walk of rolling friction", "N·m·s/√s", s.Walk.Roll, true}, {"walk of spinning friction", "N·m·s/√s", s.Walk.Spin, true},
		{"walk of quadratic friction", "N·m·s²/√s", s.Walk.Quadratic, true},
		{"disturbance", "rad/s²/√Hz", s.Disturbance, true}, {"walk of the contact velocity", "m/s/√s", s.SlipWalk, false},
		{"walk of the height", "m/√s", s.HeightWalk, true}, {"error of the radius", "", s.RadiusError, true},
		{"coefficient of sliding friction", "", s.Sliding, true},
	} {
		if !(c.v > 0 || c.zero && c.v == 0) || math.IsInf(c.v, 0) {
			want := "> 0"
			if c.zero {
				want = ">= 0"
			}
			errs = append(errs, fmt.Errorf("rolling filter: %s: %g %s, want %s", c.name, c.v, c.unit, want))
		}
	}
	return errors.Join(errs...)
}

// States of the filter. The error of the orientation is a turn in body axes.
const (
	iTurn      = 0
	iOmega     = 3
	iPlace     = 6 // x, y, z
	iSlip      = 9 // velocity of the contact in the plane
	iRoll      = 11
	iSpin      = 12
	iQuadratic = 13

	dynamicStates = 8 // states before it change by the equations; the others walk
)

const (
	maxStartFrames = 24   // frames, at most, that the first state is made of
	minStartFrames = 8    // … at least
	span           = 0.12 // s  of them, unless minStartFrames take longer
	longest        = 0.01 // s  of one step of the equations
	gap            = 0.25 // s  after which the filter begins anew

	// maxOmegaError is the standard deviation of ω, over the rolling speed, above which the filter does not begin: the coefficients enter as
	// products with ω, and the linearised equations would learn from its errors. On records without it, one estimate in fifty was seven
	// standard errors off.
	maxOmegaError = 0.1
)

// Rolling is the filter of a rolling ball with its friction. Make one with NewRolling.
type Rolling struct {
	spec  RollingSpec
	model ball.Model
	n     int // states

	t     float64
	q     quat.Number
	w     r3.Vec // rad/s  body axes
	x     r3.Vec // m      centre
	u     [2]float64
	mu    Friction
	force r3.Vec
	p     square

	running  bool // the first state has been made
	count    int  // frames of the beginning kept
	times    [maxStartFrames]float64
	turns    [maxStartFrames]quat.Number
	places   [maxStartFrames]r3.Vec
	verdicts verdictState
}

// NewRolling checks the description.
func NewRolling(s RollingSpec) (*Rolling, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	m, err := ball.New(s.Ball)
	if err != nil {
		return nil, err
	}
	f := &Rolling{spec: s, n: iQuadratic, model: *m}
	if s.Prior.Quadratic > 0 {
		f.n++
	}
	return f, nil
}

// Reset forgets everything, counters too.
func (f *Rolling) Reset() {
	f.restart()
	f.verdicts = verdictState{}
}

// restart begins a new estimate; what was counted stays.
func (f *Rolling) restart() { f.count, f.running = 0, false }

// Step takes the pose of the ball at a time: R from body to world, P its geometric centre. A pose that is no number, or not after
// the last one, is counted and left out.
func (f *Rolling) Step(z *Sample) {
	v := &f.verdicts
	switch {
	case !allFinite(z):
		v.badFrames++
		return
	case f.count > 0 && !(z.T > f.times[f.count-1]):
		v.badFrames++
		return
	case f.count > 0 && z.T-f.times[f.count-1] > gap:
		v.gaps++
		f.restart()
	}
	if !f.running {
		f.gather(z)
		return
	}
	f.times[f.count-1] = z.T
	f.advance(z.T)
	nis, ok := f.correct(z)
	if !ok {
		v.badFrames++
		return
	}
	f.judge(nis)
}

func allFinite(z *Sample) bool {
	s := z.T + z.R.Real + z.R.Imag + z.R.Jmag + z.R.Kmag + z.P.X + z.P.Y + z.P.Z
	return s-s == 0
}

// advance predicts to a time (s).
func (f *Rolling) advance(t float64) {
	parts := math.Ceil((t - f.t) / longest)
	h := (t - f.t) / parts
	for range int(parts) {
		f.predict(h)
	}
	f.t = t
}

// gather keeps the first frames. When there are enough, a cubic through them gives the state in their middle, which the equations carry to
// the last of them.
func (f *Rolling) gather(z *Sample) {
	f.times[f.count], f.turns[f.count], f.places[f.count] = z.T, z.R, z.P
	f.count++
	n := f.count
	half := (z.T - f.times[0]) / 2
	if n < maxStartFrames && (n < minStartFrames || 2*half < span) {
		return
	}
	noise := math.Sqrt((z.Turn[0][0] + z.Turn[1][1] + z.Turn[2][2]) / 3)
	place := math.Sqrt((z.Place[0][0] + z.Place[1][1] + z.Place[2][2]) / 3)
	t := f.times[0] + half
	turn, err := rotation.Polynomial{HalfWindow: half, Order: 3, Noise: noise}.Turn(t, f.times[:n], f.turns[:n])
	point, _ := rotation.Polynomial{HalfWindow: half, Order: 3, Noise: place}.Point(t, f.times[:n], f.places[:n])
	// half as much again for what a cubic does not follow
	const inflated = 1.5
	f.q, f.w = turn.R, turn.Omega
	speed := r3.Norm(f.rollingOmega())
	omega := inflated * r3.Norm(turn.OmegaError) / math.Sqrt(3)
	if err != nil || omega > maxOmegaError*speed {
		// too fast for the frames, or too slow: forget the older half and go on
		f.verdicts.verdict = Slow
		if err != nil {
			f.verdicts.verdict = Fast
		}
		f.count = copy(f.times[:], f.times[n/2:n])
		copy(f.turns[:], f.turns[n/2:n])
		copy(f.places[:], f.places[n/2:n])
		return
	}
	f.running = true
	f.t, f.x = t, point.P
	f.u, f.p = [2]float64{}, square{}
	f.mu = f.project(turn.Alpha, r3.Norm(turn.AlphaError)/math.Sqrt(3))
	f.verdicts.mean, f.verdicts.verdict, f.verdicts.slip = 1, Learning, 0
	around := func(at, n int, sd float64) {
		for i := range n {
			f.p[at+i][at+i] = sd * sd
		}
	}
	around(iTurn, 3, inflated*r3.Norm(turn.TurnError)/math.Sqrt(3))
	around(iOmega, 3, omega)
	around(iPlace, 3, inflated*r3.Norm(point.PError)/math.Sqrt(3))
	around(iSlip, 2, 0.1*f.spec.Ball.Radius*speed+f.spec.SlipWalk)
	around(iRoll, 1, f.spec.Prior.Roll)
	around(iSpin, 1, f.spec.Prior.Spin)
	around(iQuadratic, 1, f.spec.Prior.Quadratic)
	f.advance(z.T)
}

// project is the friction that makes the equations agree best with an acceleration α (rad/s², body axes) of standard error sd, the prior
// counted. It is the point about which the equations are linearised: about zero, the carried state would not be what its covariance says
// (its mean square error was twice that). The prior stays as wide as it is.
func (f *Rolling) project(alpha r3.Vec, sd float64) (mu Friction) {
	f.model.SetFriction(ball.Friction{}, ball.Friction{})
	g := ball.FrameOf(f.q)
	free, _ := f.model.RollingForce(&g, f.w)
	s := f.model.Slopes(&g, f.w, free)
	a, b := s.Roll, s.Spin
	left := r3.Sub(alpha, free)
	aa := r3.Dot(a, a) + sd*sd/(f.spec.Prior.Roll*f.spec.Prior.Roll)
	bb := r3.Dot(b, b) + sd*sd/(f.spec.Prior.Spin*f.spec.Prior.Spin)
	ab, al, bl := r3.Dot(a, b), r3.Dot(a, left), r3.Dot(b, left)
	det := aa*bb - ab*ab
	return Friction{Roll: (bb*al - ab*bl) / det, Spin: (aa*bl - ab*al) / det}
}

// rollingOmega is ω_h, the part of ω in the plane, and its length is the rolling speed.
func (f *Rolling) rollingOmega() r3.Vec {
	g := ball.FrameOf(f.q).C
	return r3.Sub(f.w, r3.Scale(r3.Dot(f.w, g), g))
}

// slope is the derivative of (turn θ since q0, ω, x, y) [MK99].
func (f *Rolling) slope(q0 quat.Number, theta, w r3.Vec) (dTheta, dOmega r3.Vec, dx, dy float64) {
	g := ball.FrameOf(quat.Mul(q0, rotation.Exp(theta)))
	dOmega, f.force = f.model.RollingForce(&g, w)
	tw := r3.Cross(theta, w)
	dTheta = r3.Add(r3.Add(w, r3.Scale(0.5, tw)), r3.Scale(1.0/12, r3.Cross(theta, tw)))
	return dTheta, dOmega, f.spec.Ball.Radius*r3.Dot(g.B, w) + f.u[0], -f.spec.Ball.Radius*r3.Dot(g.A, w) + f.u[1]
}

// predict carries state and covariance over h (s): the state by a step of Runge and Kutta of order 4, the covariance by the equations
// linearised in the middle of the step.
func (f *Rolling) predict(h float64) {
	f.model.SetFriction(ball.Friction{Linear: f.mu.Roll, Quadratic: f.mu.Quadratic}, ball.Friction{Linear: f.mu.Spin})
	q0, w0 := f.q, f.w
	t1, a1, x1, y1 := f.slope(q0, r3.Vec{}, w0)
	t2, a2, x2, y2 := f.slope(q0, r3.Scale(h/2, t1), r3.Add(w0, r3.Scale(h/2, a1)))
	tm, wm := r3.Scale(h/2, t2), r3.Add(w0, r3.Scale(h/2, a2))
	t3, a3, x3, y3 := f.slope(q0, tm, wm)
	t4, a4, x4, y4 := f.slope(q0, r3.Scale(h, t3), r3.Add(w0, r3.Scale(h, a3)))
	sum := func(a, b, c, d r3.Vec) r3.Vec {
		return r3.Vec{X: h / 6 * (a.X + 2*(b.X+c.X) + d.X), Y: h / 6 * (a.Y + 2*(b.Y+c.Y) + d.Y), Z: h / 6 * (a.Z + 2*(b.Z+c.Z) + d.Z)}
	}
	var phi flow
	f.transition(quat.Mul(q0, rotation.Exp(tm)), wm, a3, h, &phi)
	phi.propagate(&f.p, h, f.n)

	f.q, _ = rotation.Unit(quat.Mul(q0, rotation.Exp(sum(t1, t2, t3, t4))))
	f.w = r3.Add(w0, sum(a1, a2, a3, a4))
	f.x.X += h / 6 * (x1 + 2*(x2+x3) + x4)
	f.x.Y += h / 6 * (y1 + 2*(y2+y3) + y4)

	s := &f.spec
	for i := range 3 {
		d := s.Disturbance * s.Disturbance
		f.p[iTurn+i][iTurn+i] += d * h * h * h / 3
		f.p[iTurn+i][iOmega+i] += d * h * h / 2
		f.p[iOmega+i][iTurn+i] += d * h * h / 2
		f.p[iOmega+i][iOmega+i] += d * h
	}
	for i := range 2 {
		d := s.SlipWalk * s.SlipWalk
		f.p[iPlace+i][iPlace+i] += d * h * h * h / 3
		f.p[iPlace+i][iSlip+i] += d * h * h / 2
		f.p[iSlip+i][iPlace+i] += d * h * h / 2
		f.p[iSlip+i][iSlip+i] += d * h
	}
	f.p[iPlace+2][iPlace+2] += s.HeightWalk * s.HeightWalk * h
	f.p[iRoll][iRoll] += s.Walk.Roll * s.Walk.Roll * h
	f.p[iSpin][iSpin] += s.Walk.Spin * s.Walk.Spin * h
	if f.n > iQuadratic {
		f.p[iQuadratic][iQuadratic] += s.Walk.Quadratic * s.Walk.Quadratic * h
	}
}

// correct takes a pose in; the returned innovation squared is χ² of 6 degrees of freedom.
func (f *Rolling) correct(z *Sample) (nis float64, ok bool) {
	turn, ok := whitened(&z.Turn)
	if !ok {
		return 0, false
	}
	place, ok := whitened(&z.Place)
	if !ok {
		return 0, false
	}
	var dx [maxStates]float64
	angle := rotation.Difference(f.q, z.R)
	off := r3.Sub(z.P, f.x)
	for at, m := range [2]struct {
		w *[3][3]float64
		z [3]float64
	}{{&turn, [3]float64{angle.X, angle.Y, angle.Z}}, {&place, [3]float64{off.X, off.Y, off.Z}}} {
		for i := range 3 {
			var h measured
			y := 0.0
			for k := range i + 1 {
				if m.w[i][k] != 0 {
					h.add(at*iPlace+k, m.w[i][k])
					y += m.w[i][k] * m.z[k]
				}
			}
			e := correct(&f.p, &dx, &h, f.n, y, 1)
			nis += e * e
		}
	}
	f.p.mirror(f.n)
	f.q, _ = rotation.Unit(quat.Mul(f.q, rotation.Exp(r3.Vec{X: dx[0], Y: dx[1], Z: dx[2]})))
	f.w = r3.Add(f.w, r3.Vec{X: dx[iOmega], Y: dx[iOmega+1], Z: dx[iOmega+2]})
	f.x = r3.Add(f.x, r3.Vec{X: dx[iPlace], Y: dx[iPlace+1], Z: dx[iPlace+2]})
	f.u[0] += dx[iSlip]
	f.u[1] += dx[iSlip+1]
	f.mu.Roll += dx[iRoll]
	f.mu.Spin += dx[iSpin]
	f.mu.Quadratic += dx[iQuadratic]
	return nis, true
}
