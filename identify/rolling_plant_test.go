package identify

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	plant "hilrig/engine/plant/ball"
	"hilrig/identify/ball"
	"hilrig/identify/record"
)

// matrix is row-major: the orientation, from body to plane, and inertias.
type matrix [3][3]float64

func (a *matrix) by(v r3.Vec) r3.Vec {
	return r3.Vec{X: a[0][0]*v.X + a[0][1]*v.Y + a[0][2]*v.Z, Y: a[1][0]*v.X + a[1][1]*v.Y + a[1][2]*v.Z,
		Z: a[2][0]*v.X + a[2][1]*v.Y + a[2][2]*v.Z}
}

func (a matrix) times(b matrix) (c matrix) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func (a matrix) transposed() (b matrix) {
	for i := range 3 {
		for j := range 3 {
			b[j][i] = a[i][j]
		}
	}
	return b
}

// solve is x of a·x = v, by Cramer's rule.
func (a *matrix) solve(v r3.Vec) r3.Vec {
	column := func(j int) r3.Vec { return r3.Vec{X: a[0][j], Y: a[1][j], Z: a[2][j]} }
	p, q, r := column(0), column(1), column(2)
	det := r3.Dot(p, r3.Cross(q, r))
	return r3.Vec{X: r3.Dot(v, r3.Cross(q, r)) / det, Y: r3.Dot(p, r3.Cross(v, r)) / det, Z: r3.Dot(p, r3.Cross(q, v)) / det}
}

// turned is the rotation by the vector v, by Rodrigues' formula.
func turned(v r3.Vec) matrix {
	angle := r3.Norm(v)
	if angle == 0 {
		return matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	}
	u, c, s := r3.Scale(1/angle, v), math.Cos(angle), math.Sin(angle)
	d := 1 - c
	return matrix{
		{c + u.X*u.X*d, u.X*u.Y*d - u.Z*s, u.X*u.Z*d + u.Y*s},
		{u.Y*u.X*d + u.Z*s, c + u.Y*u.Y*d, u.Y*u.Z*d - u.X*s},
		{u.Z*u.X*d - u.Y*s, u.Z*u.Y*d + u.X*s, c + u.Z*u.Z*d},
	}
}

// rollingBall is a ball written from Newton's and Euler's equations in axes of the plane. It knows nothing of engine/plant/ball.
type rollingBall struct {
	radius, mass, gravity float64
	inertia               [3]float64 // kg·m², about the geometric centre
	center                r3.Vec     // m, of mass
	tilt                  [2]float64 // rad
	roll, spin            [4]float64 // N·m·s, N·m·s², N·m, m
	turn, w               r3.Vec     // rad, rad/s, at the start
}

// paperBall is the body of [KKK17].
func paperBall() rollingBall {
	return rollingBall{
		radius: 0.035, mass: 0.054, gravity: 9.81, inertia: [3]float64{36535.4e-9, 36535.4e-9, 22355.6e-9}, center: r3.Vec{Z: 0.0109},
		roll: [4]float64{2.5e-4}, spin: [4]float64{5e-5}, turn: r3.Vec{X: math.Pi - 0.9}, w: r3.Vec{X: 0.5, Y: 4, Z: 3},
	}
}

// rollingState is in axes of the plane.
type rollingState struct {
	turn matrix
	p, w r3.Vec
	rest bool // friction against rolling holds
}

// rates are dω/dt and the moment that would hold the ball, about the contact.
func (b *rollingBall) rates(s *rollingState, held bool) (dw, drive r3.Vec, normal float64) {
	up := r3.Vec{Z: 1}
	c := s.turn.by(b.center)
	// inertia about the centre of mass, in axes of the plane
	own := matrix{}
	c2 := r3.Norm2(b.center)
	at := [3]float64{b.center.X, b.center.Y, b.center.Z}
	for i := range 3 {
		for j := range 3 {
			own[i][j] = b.mass * at[i] * at[j]
			if i == j {
				own[i][j] += b.inertia[i] - b.mass*c2
			}
		}
	}
	in := s.turn.times(own).times(s.turn.transposed())
	rho := r3.Add(r3.Scale(b.radius, up), c)
	sx, cx := math.Sincos(b.tilt[0])
	sy, cy := math.Sincos(b.tilt[1])
	weight := r3.Scale(b.mass*b.gravity, r3.Vec{X: sx, Y: cx * sy, Z: -cx * cy})
	spun := r3.Cross(s.w, r3.Cross(s.w, c))
	drive = r3.Sub(r3.Scale(-1, r3.Cross(s.w, in.by(s.w))), r3.Cross(rho, r3.Sub(r3.Scale(b.mass, spun), weight)))
	k := in
	r := [3]float64{rho.X, rho.Y, rho.Z}
	for i := range 3 {
		for j := range 3 {
			k[i][j] -= b.mass * r[i] * r[j]
			if i == j {
				k[i][j] += b.mass * r3.Norm2(rho)
			}
		}
	}
	if held {
		dw = r3.Vec{}
	}
	wh, wn := r3.Vec{X: s.w.X, Y: s.w.Y}, s.w.Z
	h := r3.Norm(wh)
	normal = b.mass * b.gravity
	for range 6 { // the normal force depends on dω/dt
		moment := drive
		f := b.roll[0] + b.roll[1]*h
		if h > 0 {
			f += (b.roll[2] + b.roll[3]*normal) / h
		}
		moment = r3.Sub(moment, r3.Scale(f, wh))
		g := b.spin[0] + b.spin[1]*math.Abs(wn)
		if wn != 0 {
			g += (b.spin[2] + b.spin[3]*normal) / math.Abs(wn)
		}
		moment.Z -= g * wn
		if held { // the plane takes what would make it roll
			dw = r3.Vec{Z: moment.Z / k[2][2]}
		} else {
			dw = k.solve(moment)
		}
		force := r3.Sub(r3.Scale(b.mass, r3.Add(r3.Cross(dw, rho), spun)), weight)
		normal = force.Z
	}
	return dw, drive, normal
}

// short is a step of h at most in which dry friction hardly changes its direction.
func (b *rollingBall) short(s *rollingState, h float64) float64 {
	if b.roll[2]+b.roll[3] == 0 && b.spin[2]+b.spin[3] == 0 {
		return h
	}
	dw, _, _ := b.rates(s, s.rest)
	least := math.Inf(1)
	if b.roll[2]+b.roll[3] > 0 && !s.rest {
		least = math.Hypot(s.w.X, s.w.Y) / math.Hypot(dw.X, dw.Y)
	}
	if b.spin[2]+b.spin[3] > 0 && s.w.Z != 0 {
		least = min(least, math.Abs(s.w.Z/dw.Z))
	}
	return min(h, max(0.05*least, 1e-5))
}

// step goes on by h, by the classical method of Runge and Kutta.
func (b *rollingBall) step(s *rollingState, h float64) {
	slope := func(at *rollingState) (w, v, dw r3.Vec) {
		dw, _, _ = b.rates(at, at.rest)
		return at.w, r3.Scale(b.radius, r3.Cross(at.w, r3.Vec{Z: 1})), dw
	}
	ahead := func(w, v, dw r3.Vec, by float64) *rollingState {
		return &rollingState{turned(r3.Scale(by, w)).times(s.turn), r3.Add(s.p, r3.Scale(by, v)), r3.Add(s.w, r3.Scale(by, dw)), s.rest}
	}
	w1, v1, a1 := slope(s)
	w2, v2, a2 := slope(ahead(w1, v1, a1, h/2))
	w3, v3, a3 := slope(ahead(w2, v2, a2, h/2))
	w4, v4, a4 := slope(ahead(w3, v3, a3, h))
	mean := func(a, b, c, d r3.Vec) r3.Vec {
		return r3.Scale(1./6, r3.Add(r3.Add(a, d), r3.Scale(2, r3.Add(b, c))))
	}
	before := r3.Vec{X: s.w.X, Y: s.w.Y}
	// the mean turns with the commutator of its ends, [MK99]: of fourth order at these steps
	turn := r3.Add(r3.Scale(h, mean(w1, w2, w3, w4)), r3.Scale(h*h/12, r3.Cross(w4, w1)))
	s.turn = turned(turn).times(s.turn)
	s.p, s.w = r3.Add(s.p, r3.Scale(h, mean(v1, v2, v3, v4))), r3.Add(s.w, r3.Scale(h, mean(a1, a2, a3, a4)))
	after := r3.Vec{X: s.w.X, Y: s.w.Y}
	if b.roll[2]+b.roll[3] > 0 && !s.rest && (r3.Dot(before, after) <= 0 || r3.Norm(after) < 1e-4) { // it comes to rest, or turns back
		_, drive, normal := b.rates(s, false)
		if r3.Norm(r3.Vec{X: drive.X, Y: drive.Y}) <= b.roll[2]+b.roll[3]*normal {
			s.rest, s.w = true, r3.Vec{Z: s.w.Z}
		}
	}
	if b.spin[2]+b.spin[3] > 0 && math.Abs(s.w.Z) < 1e-5 {
		s.w.Z = 0
	}
}

// rollingMarkers lie inside the shell.
var rollingMarkers = []r3.Vec{
	{X: 0.025, Y: 0.005, Z: 0.008}, {X: -0.012, Y: 0.024, Z: -0.002}, {X: -0.014, Y: -0.022, Z: 0.006}, {X: 0.004, Y: -0.006, Z: -0.027},
	{X: 0.008, Y: 0.01, Z: 0.025},
}

const planeHeight = 0.012 // m

// recorded is what cameras at 200 Hz see of it over seconds, with noise (m).
func (b rollingBall) recorded(seconds, noise float64, seed uint64) *ball.Recording {
	rng := rand.New(rand.NewPCG(seed, 23))
	s := rollingState{turn: turned(b.turn), w: b.w}
	out := &ball.Recording{}
	const parts = 16
	for k := 0; float64(k)*0.005 <= seconds+1e-9; k++ {
		points, visible := make([]r3.Vec, len(rollingMarkers)), make([]bool, len(rollingMarkers))
		for j, at := range rollingMarkers {
			n := r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
			points[j] = r3.Add(r3.Add(s.p, r3.Vec{Z: b.radius + planeHeight}), r3.Add(s.turn.by(at), r3.Scale(noise, n)))
			visible[j] = true
		}
		out.Times, out.Points, out.Visible = append(out.Times, 0.005*float64(k)), append(out.Points, points), append(out.Visible, visible)
		for left := 0.005; left > 0; {
			h := b.short(&s, min(left, 0.005/parts))
			b.step(&s, h)
			left -= h
		}
	}
	return out
}

// given is what the file says of it: all but friction.
func (b *rollingBall) given() plant.Params {
	return plant.Params{Radius: b.radius, Mass: b.mass, Inertia: b.inertia, InertiaAbout: plant.AboutCenter,
		Center: [3]float64{b.center.X, b.center.Y, b.center.Z}, Gravity: b.gravity}
}

// fitRolling finds a ball and judges it.
func fitRolling(t testing.TB, spec ball.Spec, rec *ball.Recording) (*Result, *ball.Result) {
	t.Helper()
	if spec.Markers == nil {
		spec.Markers = rollingMarkers
	}
	found, err := ball.Fit(context.Background(), spec, rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := len(rec.Times)
	r, err := Rolling(found, record.Info{Samples: n, Duration: rec.Times[n-1], Interval: rec.Times[n-1] / float64(n-1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, found
}
