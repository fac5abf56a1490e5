package machine

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
)

// ownSlider is a slider-crank in a plane by Newton and Euler: crank about the origin, rod, slider along x at y = offset. Its crank has a
// damper and a torque, its slider friction µ·|N|.
type ownSlider struct {
	r, l, offset        float64 // m
	m1, m2, m3          float64 // kg
	c1, c2              float64 // m  centres from the joints
	i1, i2              float64 // kg·m² about the centres
	damping, torque, mu float64
	g                   float64 // m/s² along −y
}

// slope are θ″ and the multipliers by the 8 equations of three bodies, for a friction that is known, until |N| is that of the
// friction: bisection in N.
func (s *ownSlider) slope(theta, w float64) float64 {
	// kinematics of the rod: sin φ = (r·sin θ − offset)/l, its tip at the slider
	st, ct := math.Sincos(theta)
	sp := (s.r*st - s.offset) / s.l
	cp := math.Sqrt(1 - sp*sp)
	dp := s.r * ct * w / (s.l * cp) // rate of the angle −φ of the rod
	vx := -s.r*st*w - s.l*sp*dp
	// accelerations are p·α + b
	type lin struct{ p, b float64 }
	ddp := lin{s.r * ct / (s.l * cp), (-s.r*st*w*w + s.l*sp*dp*dp) / (s.l * cp)}
	ax1, ay1 := lin{-s.c1 * st, -s.c1 * ct * w * w}, lin{s.c1 * ct, -s.c1 * st * w * w}
	// centre of the rod: r·(c, s) + c2·(cos φ, −sin φ)
	ax2 := lin{-s.r*st - s.c2*sp*ddp.p, -s.r*ct*w*w - s.c2*cp*dp*dp - s.c2*sp*ddp.b}
	ay2 := lin{s.r*ct - s.c2*cp*ddp.p, -s.r*st*w*w + s.c2*sp*dp*dp - s.c2*cp*ddp.b}
	ax3 := lin{-s.r*st - s.l*sp*ddp.p, -s.r*ct*w*w - s.l*cp*dp*dp - s.l*sp*ddp.b}
	// for a friction F along −x on the slider: forces on the rod at the slider (Bx, By) and at the crank (Ax, Ay)
	//   m3·ax3 = −Bx − F,  N = By + m3·g (N from the guide upwards),  m2·ax2 = Ax + Bx,  m2·ay2 = Ay + By − m2·g,
	//   −i2·ddp = moment of A and B about the centre,  i1·α + m1·(…) = torque − damping·w − moment of A on the crank
	normal := func(f float64) (alpha, n float64) {
		residual := func(alpha float64) (rest, n float64) {
			at := func(x lin) float64 { return x.p*alpha + x.b }
			bx := -s.m3*at(ax3) - f
			axf := s.m2*at(ax2) - bx
			// moment about the centre of the rod; its angle is −φ: −i2·φ″ = Σ
			rax, ray := -s.c2*cp, s.c2*sp             // crank pin from the centre
			rbx, rby := (s.l-s.c2)*cp, -(s.l-s.c2)*sp // slider pin
			// Ay = m2·(ay2 + g) − By:  rax·Ay − ray·Ax + rbx·By − rby·Bx = −i2·ddp
			q := s.m2 * (at(ay2) + s.g)
			by := (-s.i2*at(ddp) - rax*q + ray*axf + rby*bx) / (rbx - rax)
			ay := q - by
			n = by + s.m3*s.g
			mass := s.i1*alpha + s.m1*(s.c1*ct*at(ay1)-s.c1*st*at(ax1)) + s.m1*s.g*s.c1*ct
			return mass - (s.torque - s.damping*w - (s.r*ct*ay - s.r*st*axf)), n
		}
		r0, _ := residual(0)
		r1, _ := residual(1)
		alpha = -r0 / (r1 - r0)
		_, n = residual(alpha)
		return alpha, n
	}
	if s.mu == 0 || vx == 0 {
		alpha, _ := normal(0)
		return alpha
	}
	// F = µ·|N(F)|·sign vx, N linear in F
	sign := math.Copysign(s.mu, vx)
	_, n0 := normal(0)
	_, n1 := normal(1)
	k := n1 - n0
	f := math.NaN()
	// N = n0 + k·F of this sign; that of n0 goes on from no friction
	for _, side := range []float64{-math.Copysign(1, n0), math.Copysign(1, n0)} {
		if x := sign * side * n0 / (1 - sign*side*k); side*(n0+k*x) >= 0 {
			f = x
		}
	}
	alpha, _ := normal(f)
	return alpha
}

// turn is RK4 from θ, w to end (s) in n steps, short ones, since the slope has kinks.
func (s *ownSlider) turn(theta, w, end float64, n int) (float64, float64) {
	h := end / float64(n)
	for range n {
		k1 := s.slope(theta, w)
		k2 := s.slope(theta+h/2*w, w+h/2*k1)
		w2 := w + h/2*k1
		k3 := s.slope(theta+h/2*w2, w+h/2*k2)
		w3 := w + h/2*k2
		k4 := s.slope(theta+h*w3, w+h*k3)
		w4 := w + h*k3
		theta += h / 6 * (w + 2*w2 + 2*w3 + w4)
		w += h / 6 * (k1 + 2*k2 + 2*k3 + k4)
	}
	return theta, w
}

func (s *ownSlider) spec() Spec {
	planar := func(m, c, i float64) multibody.Inertia {
		return multibody.Inertia{Mass: m, Com: r3.Vec{X: c}, I: rotation.Diag(r3.Vec{X: i / 2, Y: i / 2, Z: i})}
	}
	turn := multibody.Joint{Kind: multibody.Revolute}
	driven := turn
	driven.Damping = s.damping
	return Spec{
		Spec: multibody.Spec{
			Gravity: r3.Vec{Y: -s.g},
			Bodies: []multibody.Body{
				{Name: "crank", Joint: driven, Inertia: planar(s.m1, s.c1, s.i1)},
				{Name: "rod", Parent: "crank", Place: multibody.At(s.r, 0, 0), Joint: turn, Inertia: planar(s.m2, s.c2, s.i2)},
				{Name: "slider", Place: multibody.At(0, s.offset, 0), Joint: multibody.Joint{Kind: multibody.Prismatic, Axis: r3.Vec{X: 1}},
					Inertia: multibody.Inertia{Mass: s.m3}},
			},
			Frames: []multibody.Frame{{Name: "end", Body: "rod", Pose: multibody.At(s.l, 0, 0)}},
			Cuts:   []multibody.Cut{{Name: "pin", Kind: multibody.CutPoint, A: "end", B: "slider"}},
		},
		Efforts:  []Effort{{"crank", reference.Constant(s.torque)}},
		Friction: []Friction{{Joint: "slider", Law: &friction.Coulomb{Fc: s.mu}, Lever: 1}},
	}
}

// place is the crank at θ with the speed w, the loop closed.
func (s *ownSlider) place(x []float64, theta, w float64) {
	st, ct := math.Sincos(theta)
	phi := math.Asin((s.r*st - s.offset) / s.l)
	dphi := s.r * ct * w / (s.l * math.Cos(phi))
	copy(x, []float64{theta, -phi - theta, s.r*ct + s.l*math.Cos(phi), w, -dphi - w, -s.r*st*w - s.l*math.Sin(phi)*dphi})
}

// A slider-crank whose slider rubs under its load, which passes through zero and changes its side at every turn, moves as the equations
// of Newton and Euler say, with a tolerance and with fixed steps.
func TestSliderCrankUnderLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 4))
	in := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	for k := range 20 {
		s := ownSlider{r: in(0.03, 0.07), m1: in(0.2, 1), m2: in(0.1, 0.6), m3: in(0.2, 1.5), damping: in(0.001, 0.02), torque: in(0.3, 1),
			g: 9.81}
		s.l, s.mu = s.r*in(2.5, 5), []float64{0.05, 0.1, 0.2, 0.3}[k%4]
		s.c1, s.c2 = s.r*in(0, 1), s.l*in(0.2, 0.8)
		s.i1, s.i2 = in(3e-4, 2e-3), s.m2*s.l*s.l/12
		if k%3 == 0 {
			s.offset = s.r * in(-0.5, 0.5)
		}
		if k%5 == 0 {
			s.torque *= -1
		}
		const end = 0.6
		theta0, w0 := in(0, 6), math.Copysign(in(15, 30), s.torque)
		m := build(t, s.spec())
		x := m.NewState()
		s.place(x, theta0, w0)
		if a, err := m.Assemble(0, x, multibody.Assembly{}); err != nil || a.PositionChange > 1e-9 || a.VelocityChange > 1e-6 {
			t.Fatal(a, err)
		}
		start := append([]float64(nil), x...)
		theta, w := s.turn(theta0, w0, end, 24000)
		_, err := m.Run(context.Background(), x, 0, end, Options{Rtol: 1e-12, Atol: 1e-13}, nil)
		if err != nil {
			t.Errorf("%d: %+v: %v", k, s, err)
			continue
		}
		if e := math.Abs(x[0] - theta); e > 1e-6 || math.Abs(x[3]-w) > 1e-4 {
			t.Errorf("%d: %+v: crank at %.9f rad, %.9g rad/s, want %.9f, %.9g", k, s, x[0], x[3], theta, w)
		}
		// fixed steps
		st := newStepper(t, s.spec(), StepOptions{})
		copy(x, start)
		if _, err := st.Begin(0, x, multibody.Assembly{}); err != nil {
			t.Fatal(err)
		}
		unmet := 0
		for i := range 6000 {
			if st.Step(float64(i)*1e-4, 1e-4, x) != engine.OK {
				unmet++
			}
		}
		t.Logf("%d: µ %g: %.5f rad, turned by %.2f; 0.1 ms off by %.2g, unmet %d", k, s.mu, theta, theta-theta0, x[0]-theta, unmet)
		if unmet > 0 || math.Abs(x[0]-theta) > 1e-3 {
			t.Errorf("%d: %+v: 0.1 ms off by %.2g rad, %d steps not met", k, s, x[0]-theta, unmet)
		}
	}
}

// Where friction changes the load by more than itself, repetition leads away; the solution that goes on from no friction is taken where
// there is one.
func TestLoadsByMeasurement(t *testing.T) {
	s := ownSlider{r: 0.1, l: 0.105, m1: 0.5, m2: 0.3, m3: 0.5, c1: 0.05, c2: 0.05, i1: 1e-4, i2: 3e-4, mu: 4, g: 9.81}
	met, jammed := 0, 0
	for _, theta := range []float64{1.1, 1.2, 1.3, 1.4, -1.2, 2} {
		for _, w := range []float64{1, -1, 5, -5} {
			m := build(t, s.spec())
			x, dx := m.NewState(), make([]float64, m.Size())
			s.place(x, theta, w)
			want := s.slope(theta, w)
			st := m.begin(0, x, dx)
			switch {
			case want-want != 0:
				if jammed++; st == multibody.OK {
					t.Errorf("θ %g, %g rad/s: no solution, and %g rad/s²", theta, w, dx[3])
				}
			case st != multibody.OK || math.Abs(dx[3]-want) > 1e-6*math.Abs(want):
				t.Errorf("θ %g, %g rad/s: %v, %.9g rad/s², want %.9g: %s", theta, w, st, dx[3], want, m.fault)
			default:
				met++
			}
		}
	}
	if met < 8 || jammed == 0 {
		t.Errorf("%d states met, %d without a solution", met, jammed)
	}
}
