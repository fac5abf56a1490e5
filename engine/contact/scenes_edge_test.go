package contact_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/contact"
)

// slidingOff is a box whose lower left corner slides to the right off the end of the top face of a support. Above the face the box touches
// with that corner, or leans over the end of the face and touches it with its bottom. The support lies on a smooth floor or is fixed.
type slidingOff struct {
	m, j, w, h float64 // kg, kg·m², m: the box
	thick      float64 // m, of the support
	support    float64 // kg, +Inf is fixed
	mu         float64
	leans      bool
	x          [4]float64 // m, rad: centre of the box, its angle, right end of the support
	v          [4]float64 // m/s, rad/s
}

// arm is the way from the centre to the point of contact, n the normal on the box, left how far its lower left corner is before the end.
func (c *slidingOff) arm(x [4]float64) (rx, ry, nx, ny, left float64) {
	s, k := math.Sincos(x[2])
	cx, cy := s*c.h/2-k*c.w/2, -s*c.w/2-k*c.h/2
	if !c.leans {
		return cx, cy, 0, 1, x[3] - x[0] - cx
	}
	rx, ry = x[3]-x[0], -x[1]
	return rx, ry, -s, k, k*(rx-cx) + s*(ry-cy)
}

// accelerations while the box slides on the support: the point of contact stays on the face, or the end of the face on the bottom; and the
// normal force that this needs.
func (c *slidingOff) accelerations(x, v [4]float64) (a [4]float64, normal float64) {
	rx, ry, nx, ny, _ := c.arm(x)
	tx, ty, om := ny, -nx, v[2]
	slip := tx*(v[0]-v[3]) + ty*v[1] - om*(nx*rx+ny*ry)
	bias := -om * om * (nx*rx + ny*ry)
	if c.leans {
		bias = om*om*(nx*rx+ny*ry) - 2*om*(tx*(v[0]-v[3])+ty*v[1])
	}
	f := -math.Copysign(c.mu, slip)
	fx, fy := nx+f*tx, ny+f*ty // per normal force
	one := [4]float64{fx / c.m, fy / c.m, (rx*fy - ry*fx) / c.j, -fx / c.support}
	normal = (ny*weight - bias) / (nx*one[0] + ny*one[1] + (rx*ny-ry*nx)*one[2] - nx*one[3])
	for i := range a {
		a[i] = one[i] * normal
	}
	a[1] -= weight
	return a, normal
}

// final is where all is at end (s): Runge and Kutta of order four until the corners meet, then free flight. ok is false where the box does
// not slide off as it is thought to.
func (c *slidingOff) final(end float64) (x, v [4]float64, ok bool) {
	ok = true
	step := func(x0, v0 [4]float64, h float64) (x, v [4]float64) {
		x, v = x0, v0
		xs, vs := x0, v0
		for i, share := range [4]float64{h / 2, h / 2, h, 0} {
			a, normal := c.accelerations(xs, vs)
			ok = ok && normal > 0
			part := [4]float64{h / 6, h / 3, h / 3, h / 6}[i]
			for j, dx := range vs {
				x[j] += part * dx
				v[j] += part * a[j]
				xs[j], vs[j] = x0[j]+share*dx, v0[j]+share*a[j]
			}
		}
		return x, v
	}
	x, v = c.x, c.v
	for h := 1e-5; ; {
		y, w := step(x, v, h)
		if _, _, _, _, left := c.arm(y); left < 0 {
			h /= 2
		} else {
			x, v, end = y, w, end-h
		}
		if h < 1e-16 {
			break
		}
	}
	ok = ok && end > 1e-4 && (x[2] < -1e-3 || !c.leans) && (x[2] > 1e-3 || c.leans)
	for i := range x {
		x[i] += v[i] * end
	}
	x[1] -= weight * end * end / 2
	v[1] -= weight * end
	return x, v, ok
}

// scenario is its scene, turned by tilt and mirrored where side is −1.
func (c *slidingOff) scenario(side, tilt, end float64) (*scenario, error) {
	const width = 0.08
	x, v, ok := c.final(end)
	if !ok {
		return nil, nil
	}
	s, k := math.Sincos(tilt)
	turned := func(x, y, angle float64) [3]float64 { return [3]float64{side * (k*x - s*y), s*x + k*y, side * angle} }
	box, support := boxBody("box", c.m, c.w, c.h), boxBody("support", min(c.support, 1e3), width, c.thick)
	box.Pose, box.Speed = turned(c.x[0], c.x[1], c.x[2]+tilt), turned(c.v[0], c.v[1], c.v[2])
	support.Pose, support.Speed = turned(c.x[3]-width/2, -c.thick/2, tilt), turned(c.v[3], 0, 0)
	floor := floorBody()
	floor.Pose = turned(0, -c.thick, tilt)
	pairs := []contact.PairSpec{{A: "box", B: "support", Law: contact.Law{Mu: c.mu, EpsN: 0.3}}, {A: "support", B: "floor"}}
	if math.IsInf(c.support, 1) {
		support.Locked, pairs = floor.Locked, pairs[:1]
	}
	g := turned(0, -weight, 0)
	sc, _, err := sceneOf(contact.SceneSpec{Gravity: [2]float64{g[0], g[1]}, Bodies: []contact.BodySpec{box, support, floor}, Pairs: pairs})
	if err != nil {
		return nil, err
	}
	want, wantSpeed := turned(x[0], x[1], x[2]+tilt), turned(v[0], v[1], v[2])
	under, underSpeed := turned(x[3]-width/2, -c.thick/2, tilt), turned(v[3], 0, 0)
	sc.end, sc.step = end, 2e-5
	sc.judge = func(o *outcome, slack float64) (says string) {
		tol := 1e-8 + slack
		q, u := append(want[:], under[:]...), append(wantSpeed[:], underSpeed[:]...)
		for i := range o.q {
			says += off("place", lever(i)*o.q[i], lever(i)*q[i], tol) + off("speed", lever(i)*o.u[i], lever(i)*u[i], 10*tol)
		}
		return says
	}
	return sc, nil
}

// Where two corners meet and part, rounding does not decide about an impact.
func TestCornersSlideOffEachOther(t *testing.T) {
	var sum [2][4]int
	for i := range 200 {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		c := &slidingOff{m: logUniform(r, 0.1, 10), w: 0.04 + 0.08*r.Float64(), h: logUniform(r, 0.005, 0.1), thick: logUniform(r, 0.002, 0.05),
			support: oneOf(r, math.Inf(1), logUniform(r, 0.3, 30)), mu: oneOf(r, 0, 0.3, 0.68), leans: r.IntN(2) == 0}
		c.j = c.m * (c.w*c.w + c.h*c.h) / 12
		before, slip := 0.01+logUniform(r, 1e-12, 1e-6), 0.5+2*r.Float64()
		angle, om := oneOf(r, 0.03+0.15*r.Float64(), 0.2+0.5*r.Float64()), -2*r.Float64()
		if !math.IsInf(c.support, 1) {
			c.v[3] = 0.3 * (r.Float64() - 0.5)
		}
		s, k := math.Sincos(angle)
		c.x, c.v[2] = [4]float64{k*c.w/2 - s*c.h/2 - before, s*c.w/2 + k*c.h/2, angle}, om
		if c.leans {
			s = -s
			c.x = [4]float64{k*(c.w/2-before) - s*c.h/2, s*(c.w/2-before) + k*c.h/2, -angle}
		}
		rx, ry, nx, ny, _ := c.arm(c.x)
		c.v[0], c.v[1] = c.v[3]+ny*slip+om*ry, -nx*slip-om*rx
		sc, err := c.scenario(oneOf(r, 1, -1.0), oneOf(r, 0, 0.3, -1), before/(slip-0.2)+0.002+0.002*r.Float64())
		if err != nil {
			t.Fatal(err)
		}
		if sc == nil {
			continue
		}
		for e, run := range []func() (verdict, string){sc.byEvents, sc.bySteps} {
			v, says := run()
			if sum[e][v]++; v != right {
				t.Errorf("%d: %s by %s: %s; %+v", i, v, []string{"events", "steps"}[e], says, *c)
			}
		}
	}
	if t.Log(sum); sum[0][right] < 100 {
		t.Error("want 100 scenes or more")
	}
}

// A box that slides over the joint of two boxes, face beside face, does not notice it.
func TestBoxSlidesOverAJoint(t *testing.T) {
	for i := range 60 {
		r := rand.New(rand.NewPCG(uint64(i), 9))
		tilt, speed, mu := oneOf(r, 0, 0.3, -1, 2), 0.5+r.Float64(), oneOf(r, 0, 0.3)
		s, k := math.Sincos(tilt)
		turned := func(x, y, angle float64) [3]float64 { return [3]float64{k*x - s*y, s*x + k*y, angle} }
		const h, before, end = 0.02, 0.06, 0.05
		bodies := []contact.BodySpec{boxBody("box", 1, 0.05+0.05*r.Float64(), h), boxBody("left", 1, 0.1, h), boxBody("right", 1, 0.1, h)}
		for i, x := range [3]float64{-before, -0.05, 0.05} {
			bodies[i].Pose, bodies[i].Locked = turned(x, 0, tilt), [3]bool{i > 0, i > 0, i > 0}
		}
		bodies[0].Pose, bodies[0].Speed = turned(-before, h, tilt), turned(speed, 0, 0)
		g := turned(0, -weight, 0)
		sc, _, err := sceneOf(contact.SceneSpec{Gravity: [2]float64{g[0], g[1]}, Bodies: bodies, Pairs: []contact.PairSpec{
			{A: "box", B: "left", Law: contact.Law{Mu: mu}}, {A: "box", B: "right", Law: contact.Law{Mu: mu}}}})
		if err != nil {
			t.Fatal(err)
		}
		sc.end, sc.step = end, 2e-5
		q, u := turned(speed*end-mu*weight*end*end/2-before, h, tilt), turned(speed-mu*weight*end, 0, 0)
		sc.judge = func(o *outcome, slack float64) (says string) {
			for j := range q {
				says += off("place", o.q[j], q[j], 1e-8+slack) + off("speed", o.u[j], u[j], 1e-6+slack)
			}
			return says
		}
		for e, run := range []func() (verdict, string){sc.byEvents, sc.bySteps} {
			if v, says := run(); v != right {
				t.Errorf("%d: %s by %s: %s", i, v, []string{"events", "steps"}[e], says)
			}
		}
	}
}

// A box that falls on one of its own width, side above side to rounding, meets its top, however long the step is in which it gets there.
func TestBoxFallsOnItsOwnWidth(t *testing.T) {
	for i := range 40 {
		r := rand.New(rand.NewPCG(uint64(i), 21))
		size, tilt := logUniform(r, 0.01, 10), oneOf(r, 0, 0.3, math.Pi/2, -2)
		s, k := math.Sincos(tilt)
		turned := func(x, y, angle float64) [3]float64 { return [3]float64{k*x - s*y, s*x + k*y, angle} }
		w, h, drop, v0 := size*(0.3+r.Float64()), size*(0.1+r.Float64()), size*logUniform(r, 0.01, 20), oneOf(r, 0, 1.0)*r.Float64()
		thick, beside, eps := size*(0.05+r.Float64()), oneOf(r, 0, 1e-13, 1e-12, -1e-12, 1e-10), oneOf(r, 0, 0.5)
		box, under := boxBody("box", 1, w+oneOf(r, 0, 1e-12, -1e-12, 1e-10), h), boxBody("under", 1, w, thick)
		box.Pose, box.Speed = turned(beside, drop+h/2, tilt), turned(0, -v0, 0)
		under.Pose, under.Locked = turned(0, -thick/2, tilt), [3]bool{true, true, true}
		g := turned(0, -weight, 0)
		sc, _, err := sceneOf(contact.SceneSpec{Gravity: [2]float64{g[0], g[1]}, Bodies: []contact.BodySpec{box, under},
			Pairs: []contact.PairSpec{{A: "box", B: "under", Law: contact.Law{Mu: oneOf(r, 0, 0.5), EpsN: eps}}}})
		if err != nil {
			t.Fatal(err)
		}
		fast := math.Sqrt(v0*v0 + 2*weight*drop)
		after := 0.05*fast/weight + 0.5*eps*fast/weight
		sc.end, sc.step = (fast-v0)/weight+after, min(2e-5, 0.05*size/fast)
		y, v := h/2, 0.0
		if eps > 0 {
			y, v = y+eps*fast*after-weight*after*after/2, eps*fast-weight*after
		}
		q, u := turned(beside, y, tilt), turned(0, v, 0)
		sc.judge = func(o *outcome, slack float64) (says string) {
			for j := range q {
				says += off("place", o.q[j], q[j], 1e-8+slack) + off("speed", o.u[j], u[j], 1e-6+20*slack)
			}
			return says
		}
		for e, run := range []func() (verdict, string){sc.byEvents, sc.bySteps} {
			if v, says := run(); v != right {
				t.Errorf("%d: %s by %s: %s", i, v, []string{"events", "steps"}[e], says)
			}
		}
	}
}

// Two bodies whose corners meet head on, each symmetric to the way, rebound along it as balls on a line do, and do not turn.
func TestCornersMeetHeadOn(t *testing.T) {
	for i := range 60 {
		r := rand.New(rand.NewPCG(uint64(i), 25))
		tilt, gap, eps := oneOf(r, 0, 0.3, math.Pi/2, -2), 0.002+0.01*r.Float64(), oneOf(r, 0, 0.3, 0.9)
		slow, fast := -r.Float64(), 0.3+2*r.Float64()
		s, k := math.Sincos(tilt)
		turned := func(x, y, angle float64) [3]float64 { return [3]float64{k*x - s*y, s*x + k*y, angle} }
		pointed := func(name string, dir, at, speed float64) (b contact.BodySpec, x float64) {
			m, long, wide := logUniform(r, 0.1, 10), 0.02+0.1*r.Float64(), 0.01+0.1*r.Float64()
			points := []contact.Point{{X: dir * long / 2, Y: 0}, {X: -dir * long / 2, Y: dir * wide / 2}, {X: -dir * long / 2, Y: -dir * wide / 2}}
			if r.IntN(2) == 0 {
				points = []contact.Point{{X: long / 2, Y: 0}, {X: 0, Y: wide / 2}, {X: -long / 2, Y: 0}, {X: 0, Y: -wide / 2}}
			}
			first := r.IntN(len(points))
			o, err := contact.NewOutline(append(points[first:], points[:first]...))
			if err != nil {
				t.Fatal(err)
			}
			b = contact.BodySpec{Name: name, Mass: m, Inertia: m * (long*long + wide*wide) / 24, Shape: contact.Shape{Outline: o}}
			x = at - dir*long/2
			b.Pose, b.Speed = turned(x, 0, tilt), turned(speed, 0, 0)
			return b, x
		}
		a, x := pointed("a", 1, 0, fast)
		b, y := pointed("b", -1, gap, slow)
		sc, _, err := sceneOf(contact.SceneSpec{Bodies: []contact.BodySpec{a, b},
			Pairs: []contact.PairSpec{{A: "a", B: "b", Law: contact.Law{Mu: oneOf(r, 0, 0.3), EpsN: eps}}}})
		if err != nil {
			t.Fatal(err)
		}
		hit, after := gap/(fast-slow), 0.02
		p := (1 + eps) * (fast - slow) / (1/a.Mass + 1/b.Mass)
		va, vb := fast-p/a.Mass, slow+p/b.Mass
		sc.end, sc.step, sc.law = hit+after, 1e-4, oneOf(r, contact.Newton, contact.Poisson)
		placeA, placeB := turned(x+fast*hit+va*after, 0, tilt), turned(y+slow*hit+vb*after, 0, tilt)
		speedA, speedB := turned(va, 0, 0), turned(vb, 0, 0)
		sc.judge = func(o *outcome, slack float64) (says string) {
			q, u := append(placeA[:], placeB[:]...), append(speedA[:], speedB[:]...)
			for j := range q {
				says += off("place", o.q[j], q[j], 1e-8) + off("speed", o.u[j], u[j], 1e-6)
			}
			return says
		}
		for e, run := range []func() (verdict, string){sc.byEvents, sc.bySteps} {
			if v, says := run(); v != right {
				t.Errorf("%d: turned by %g, %s by %s: %s", i, tilt, v, []string{"events", "steps"}[e], says)
			}
		}
	}
}
