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
	slide                 float64    // coefficient of sliding friction; 0: it never slides
	turn, w               r3.Vec     // rad, rad/s, at the start
	push                  r3.Vec     // m/s, velocity of the contact at the start
	markers               []r3.Vec   // m; nil: rollingMarkers

	moment func(s *rollingState) r3.Vec // N·m beside friction; nil: none
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
	turn    matrix
	p, w    r3.Vec
	rest    bool   // friction against rolling holds
	sliding bool   // the contact moves
	v       r3.Vec // m/s, of the centre while it slides
	t       float64
}

// inertiaAxes are the centre of mass and the inertia about it, in axes of the plane.
func (b *rollingBall) inertiaAxes(s *rollingState) (c r3.Vec, in matrix) {
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
	return s.turn.by(b.center), s.turn.times(own).times(s.turn.transposed())
}

// weight is in axes of the plane.
func (b *rollingBall) weight() r3.Vec {
	sx, cx := math.Sincos(b.tilt[0])
	sy, cy := math.Sincos(b.tilt[1])
	return r3.Scale(b.mass*b.gravity, r3.Vec{X: sx, Y: cx * sy, Z: -cx * cy})
}

// friction is the moment against rolling and spinning with the normal force.
func (b *rollingBall) friction(s *rollingState, normal float64) r3.Vec {
	w := s.w
	h := math.Hypot(w.X, w.Y)
	f := b.roll[0] + b.roll[1]*h
	if h > 0 {
		f += (b.roll[2] + b.roll[3]*normal) / h
	}
	g := b.spin[0] + b.spin[1]*math.Abs(w.Z)
	if w.Z != 0 {
		g += (b.spin[2] + b.spin[3]*normal) / math.Abs(w.Z)
	}
	m := r3.Vec{X: -f * w.X, Y: -f * w.Y, Z: -g * w.Z}
	if b.moment != nil {
		m = r3.Add(m, b.moment(s))
	}
	return m
}

// rates are dω/dt, the moment that would hold the ball, about the contact, and the force of the plane.
func (b *rollingBall) rates(s *rollingState, held bool) (dw, drive, force r3.Vec) {
	c, in := b.inertiaAxes(s)
	rho := r3.Add(r3.Vec{Z: b.radius}, c)
	weight, spun := b.weight(), r3.Cross(s.w, r3.Cross(s.w, c))
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
	force.Z = b.mass * b.gravity
	for range 6 { // the normal force depends on dω/dt
		moment := r3.Add(drive, b.friction(s, force.Z))
		if held { // the plane takes what would make it roll
			dw = r3.Vec{Z: moment.Z / k[2][2]}
		} else {
			dw = k.solve(moment)
		}
		force = r3.Sub(r3.Scale(b.mass, r3.Add(r3.Cross(dw, rho), spun)), weight)
	}
	return dw, drive, force
}

// slip is the velocity of the contact.
func (b *rollingBall) slip(s *rollingState) r3.Vec { return r3.Sub(s.v, b.rolled(s.w)) }

// rolled is the velocity of the centre of a ball that rolls.
func (b *rollingBall) rolled(w r3.Vec) r3.Vec { return r3.Scale(b.radius, r3.Cross(w, r3.Vec{Z: 1})) }

// slidingRates are dω/dt and dv/dt with the friction of sliding: the force F = N·(−μ·u/|u| + z) at the contact, with N so that the
// centre stays at its height.
func (b *rollingBall) slidingRates(s *rollingState) (dw, dv r3.Vec) {
	c, in := b.inertiaAxes(s)
	u := b.slip(s)
	along := r3.Add(r3.Vec{Z: 1}, r3.Scale(-b.slide/r3.Norm(u), u))
	weight, spun := b.weight(), r3.Cross(s.w, r3.Cross(s.w, c))
	arm := r3.Sub(r3.Vec{Z: -b.radius}, c) // from the centre of mass to the contact
	normal := b.mass * b.gravity
	for range 6 {
		own := in.solve(r3.Sub(b.friction(s, normal), r3.Cross(s.w, in.by(s.w))))
		per := in.solve(r3.Cross(arm, along))
		normal = (-weight.Z + b.mass*(spun.Z+r3.Cross(own, c).Z)) / (1 - b.mass*r3.Cross(per, c).Z)
		dw = r3.Add(own, r3.Scale(normal, per))
	}
	total := r3.Add(weight, r3.Scale(normal, along))
	dv = r3.Sub(r3.Scale(1/b.mass, total), r3.Add(r3.Cross(dw, c), spun))
	dv.Z = 0
	return dw, dv
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
	slope := func(at *rollingState) (w, v, dw, dv r3.Vec) {
		if at.sliding {
			dw, dv = b.slidingRates(at)
			return at.w, at.v, dw, dv
		}
		dw, _, _ = b.rates(at, at.rest)
		return at.w, b.rolled(at.w), dw, r3.Vec{}
	}
	ahead := func(w, v, dw, dv r3.Vec, by float64) *rollingState {
		return &rollingState{turned(r3.Scale(by, w)).times(s.turn), r3.Add(s.p, r3.Scale(by, v)), r3.Add(s.w, r3.Scale(by, dw)), s.rest,
			s.sliding, r3.Add(s.v, r3.Scale(by, dv)), s.t + by}
	}
	w1, v1, a1, d1 := slope(s)
	w2, v2, a2, d2 := slope(ahead(w1, v1, a1, d1, h/2))
	w3, v3, a3, d3 := slope(ahead(w2, v2, a2, d2, h/2))
	w4, v4, a4, d4 := slope(ahead(w3, v3, a3, d3, h))
	mean := func(a, b, c, d r3.Vec) r3.Vec {
		return r3.Scale(1./6, r3.Add(r3.Add(a, d), r3.Scale(2, r3.Add(b, c))))
	}
	s.t += h
	before, slid := r3.Vec{X: s.w.X, Y: s.w.Y}, b.slip(s)
	// the mean turns with the commutator of its ends, [MK99]: of fourth order at these steps
	turn := r3.Add(r3.Scale(h, mean(w1, w2, w3, w4)), r3.Scale(h*h/12, r3.Cross(w4, w1)))
	s.turn = turned(turn).times(s.turn)
	s.p, s.w = r3.Add(s.p, r3.Scale(h, mean(v1, v2, v3, v4))), r3.Add(s.w, r3.Scale(h, mean(a1, a2, a3, a4)))
	if s.v = r3.Add(s.v, r3.Scale(h, mean(d1, d2, d3, d4))); b.slide > 0 {
		b.grip(s, slid)
	}
	after := r3.Vec{X: s.w.X, Y: s.w.Y}
	if b.roll[2]+b.roll[3] > 0 && !s.rest && (r3.Dot(before, after) <= 0 || r3.Norm(after) < 1e-4) { // it comes to rest, or turns back
		_, drive, force := b.rates(s, false)
		if r3.Norm(r3.Vec{X: drive.X, Y: drive.Y}) <= b.roll[2]+b.roll[3]*force.Z {
			s.rest, s.w = true, r3.Vec{Z: s.w.Z}
		}
	}
	if b.spin[2]+b.spin[3] > 0 && math.Abs(s.w.Z) < 1e-5 {
		s.w.Z = 0
	}
}

// grip lets the contact slide where rolling asks for more than friction gives, and stop where its velocity, slid before the step, turns.
func (b *rollingBall) grip(s *rollingState, slid r3.Vec) {
	_, _, force := b.rates(s, s.rest)
	across := r3.Vec{X: force.X, Y: force.Y}
	holds := r3.Norm(across) <= b.slide*force.Z
	switch {
	case s.sliding && holds && r3.Dot(slid, b.slip(s)) <= 0:
		s.sliding = false
	case !s.sliding && !holds:
		s.sliding, s.v = true, r3.Add(b.rolled(s.w), r3.Scale(-1e-7/r3.Norm(across), across))
	}
	if !s.sliding {
		s.v = b.rolled(s.w)
	}
}

// rollingMarkers lie inside the shell.
var rollingMarkers = []r3.Vec{
	{X: 0.025, Y: 0.005, Z: 0.008}, {X: -0.012, Y: 0.024, Z: -0.002}, {X: -0.014, Y: -0.022, Z: 0.006}, {X: 0.004, Y: -0.006, Z: -0.027},
	{X: 0.008, Y: 0.01, Z: 0.025},
}

const planeHeight = 0.012 // m

// seenMarkers are the places of the markers on it.
func (b *rollingBall) seenMarkers() []r3.Vec {
	if b.markers == nil {
		return rollingMarkers
	}
	return b.markers
}

// recorded is what cameras at 200 Hz see of it over seconds, with noise (m).
func (b rollingBall) recorded(seconds, noise float64, seed uint64) *ball.Recording {
	var times []float64
	for k := 0; float64(k)*0.005 <= seconds+1e-9; k++ {
		times = append(times, 0.005*float64(k))
	}
	return b.recordedAt(times, noise, seed)
}

// recordedAt is what they see at these times.
func (b rollingBall) recordedAt(times []float64, noise float64, seed uint64) *ball.Recording {
	rng := rand.New(rand.NewPCG(seed, 23))
	s := rollingState{turn: turned(b.turn), w: b.w, v: r3.Add(b.rolled(b.w), b.push), sliding: b.push != r3.Vec{}}
	markers := b.seenMarkers()
	out := &ball.Recording{Times: times}
	const longest = 0.005 / 16 // s
	for k := range times {
		points, visible := make([]r3.Vec, len(markers)), make([]bool, len(markers))
		for j, at := range markers {
			n := r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
			points[j] = r3.Add(r3.Add(s.p, r3.Vec{Z: b.radius + planeHeight}), r3.Add(s.turn.by(at), r3.Scale(noise, n)))
			visible[j] = true
		}
		out.Points, out.Visible = append(out.Points, points), append(out.Visible, visible)
		if k+1 == len(times) {
			break
		}
		for left := times[k+1] - times[k]; left > 1e-12; {
			h := b.short(&s, min(left, longest))
			b.step(&s, h)
			left -= h
		}
	}
	return out
}

// peakRatio is the largest force across over the normal one that rolling asks for.
func (b rollingBall) peakRatio(seconds float64) (top float64) {
	s := rollingState{turn: turned(b.turn), w: b.w}
	for t := 0.0; t < seconds; t += 0.001 {
		_, _, force := b.rates(&s, s.rest)
		top = max(top, math.Hypot(force.X, force.Y)/force.Z)
		b.step(&s, 0.001)
	}
	return top
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
