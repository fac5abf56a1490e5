package contact_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/contact"
)

// pivoted is a body that turns about the point where it touches, which friction holds: a corner of a box on the floor, a face of a box on
// the corner of a table, a disc on that corner, or a disc that rolls on the floor and turns about another point every moment. The first
// three move as pendulums do. Positions are relative to the pivot.
type pivoted struct {
	m, j        float64 // kg; kg·m² about the pivot
	g           float64 // m/s²
	ax, ay      float64 // m, centre of mass in the frame of the body; of one that rolls in the frame of the floor
	rolls       bool
	upright     bool    // the support pushes along y; otherwise along the y axis of the body
	least, most float64 // rad, where it turns on that corner alone
}

// arm is the centre of mass.
func (p *pivoted) arm(angle float64) (x, y float64) {
	if p.rolls {
		angle = 0
	}
	s, c := math.Sincos(angle)
	return c*p.ax - s*p.ay, s*p.ax + c*p.ay
}

// turn is dω/dt.
func (p *pivoted) turn(angle float64) float64 {
	x, _ := p.arm(angle)
	return -p.m * p.g * x / p.j
}

// swing moves angle and speed by t (s): Runge and Kutta of order four.
func (p *pivoted) swing(angle, omega, t float64) (float64, float64) {
	n := 1 + int(t/1e-4)
	h := t / float64(n)
	for range n {
		k1, l1 := omega, p.turn(angle)
		k2, l2 := omega+h/2*l1, p.turn(angle+h/2*k1)
		k3, l3 := omega+h/2*l2, p.turn(angle+h/2*k2)
		k4, l4 := omega+h*l3, p.turn(angle+h*k3)
		angle, omega = angle+h/6*(k1+2*k2+2*k3+k4), omega+h/6*(l1+2*l2+2*l3+l4)
	}
	return angle, omega
}

// support splits the force or impulse (x, y) of the support, and tells whether friction mu gives it with some to spare.
func (p *pivoted) support(angle, x, y, mu float64) (n float64, holds bool) {
	s, c := math.Sincos(angle)
	if p.upright {
		s, c = 0, 1
	}
	n = y*c - x*s
	return n, n > 0 && math.Abs(x*c+y*s) < 0.8*mu*n
}

// stays tells whether the support carries the body from now on for t (s).
func (p *pivoted) stays(angle, omega, t, mu float64) bool {
	for range 100 {
		x, y := p.arm(angle)
		a := p.turn(angle)
		fx, fy := p.m*(-omega*omega*x-a*y), p.m*(p.g-omega*omega*y+a*x)
		if p.rolls {
			fx, fy = -p.m*a*y, p.m*p.g
		}
		n, holds := p.support(angle, fx, fy, mu)
		if angle < p.least || angle > p.most || !holds || n < 0.1*p.m*p.g {
			return false
		}
		angle, omega = p.swing(angle, omega, t/100)
	}
	return true
}

// pivotedBody draws such a body, what it stands on, and the distance of the face that a ball can hit from the centre.
func pivotedBody(r *rand.Rand) (p pivoted, body, ground contact.BodySpec, angle, face float64) {
	m := logUniform(r, 0.1, 10)
	p.g = oneOf(r, weight, weight, 100)
	ground = boxBody("floor", 1, 0.5, 0.3)
	ground.Locked, ground.Pose = [3]bool{true, true, true}, [3]float64{-0.25, -0.15}
	p.least, p.most, angle = -1, -0.02, -0.05-0.4*r.Float64()
	switch r.IntN(4) {
	case 0: // a corner of a box on the floor
		w, h := 0.03+0.1*r.Float64(), 0.03+0.1*r.Float64()
		body, ground, angle = boxBody("body", m, w, h), floorBody(), 0.2+r.Float64()
		p.ax, p.ay, p.least, p.most, p.upright, face = w/2, h/2, 0.05, 1.5, true, h/2
	case 1: // a face of a box on the corner of a table
		w, h := 0.06+0.1*r.Float64(), 0.02+0.05*r.Float64()
		body = boxBody("body", m, w, h)
		p.ax, p.ay, face = (r.Float64()-0.5)*0.5*w, h/2, h/2
	case 2: // a disc on it
		body = discBody("body", m, 0.02+0.05*r.Float64())
		p.ay, face = body.Shape.Radius, body.Shape.Radius
	case 3: // a disc on the floor
		body, ground = discBody("body", m, 0.02+0.05*r.Float64()), floorBody()
		p.ay, face = body.Shape.Radius, body.Shape.Radius
		p.rolls, p.upright, p.least, p.most = true, true, -100, 100
	}
	p.m, p.j = m, body.Inertia+m*(p.ax*p.ax+p.ay*p.ay)
	return p, body, ground, angle, face
}

// collision is a ball that touches the body at (px, py) from the pivot with the normal (nx, ny) and comes with the relative velocity (vn,
// vt).
type collision struct {
	m, r, inertia         float64
	px, py, nx, ny        float64
	vn, vt                float64
	mu, eps               float64
	muSupport, epsSupport float64
}

// blow is the impulse on the ball along n and t: compression and expansion by Poisson's law, the pivot taken for a joint. ok tells that
// what the pivot has to give is what a support gives.
func (p *pivoted) blow(angle float64, b *collision) (pn, pt float64, ok bool) {
	tx, ty := b.ny, -b.nx
	an, at := b.px*b.ny-b.py*b.nx, b.px*ty-b.py*tx
	gnn, gnt, gtt := 1/b.m+an*an/p.j, an*at/p.j, 1/b.m+b.r*b.r/b.inertia+at*at/p.j
	support := func(pn, pt float64) (n float64, ok bool) {
		turn := -(an*pn + at*pt) / p.j
		x, y := p.arm(angle)
		return p.support(angle, -p.m*turn*y+b.nx*pn+tx*pt, p.m*turn*x+b.ny*pn+ty*pt, b.muSupport)
	}
	// compression ends with the normal velocity 0
	det := gnn*gtt - gnt*gnt
	cn, ct := -(gtt*b.vn-gnt*b.vt)/det, -(gnn*b.vt-gnt*b.vn)/det
	if math.Abs(ct) > b.mu*cn {
		side := math.Copysign(b.mu, ct)
		cn = -b.vn / (gnn + side*gnt)
		ct = side * cn
		if cn <= 0 || (b.vt+gnt*cn+gtt*ct)*ct > 0 {
			return 0, 0, false
		}
	}
	// expansion gives back eps of the impulse
	en := b.eps * cn
	et := -(b.vt + gnt*(cn+en) + gtt*ct) / gtt
	if math.Abs(et) > b.mu*en {
		et = math.Copysign(b.mu*en, et)
	}
	pn, pt = cn+en, ct+et
	sc, holds := support(cn, ct)
	se, still := support(en, et)
	return pn, pt, holds && still && se > 1.1*b.epsSupport*sc && b.vn+gnn*pn+gnt*pt > 0
}

// pivotBlow: a ball flies into a body that turns on a corner, or rolls. Nothing else happens before and after.
func pivotBlow(r *rand.Rand) (*scenario, error) {
	p, body, ground, angle, face := pivotedBody(r)
	omega := oneOf(r, -1, 1.0) * oneOf(r, 1, 5, 20.0) * r.Float64()
	step, hit, after := oneOf(r, 1e-5, 1e-4, 1e-4, 5e-4), 0.02+0.06*r.Float64(), 0.01
	b := collision{mu: 0.5 * r.Float64(), eps: oneOf(r, 0.3, 0.5, 0.8), muSupport: 0.8 + 0.7*r.Float64(), epsSupport: oneOf(r, 0, 0.4)}
	law := oneOf(r, contact.Poisson, contact.Newton)
	if law == contact.Newton {
		b.mu = 0 // otherwise the laws differ
	}
	if !p.stays(angle, omega, hit, b.muSupport) {
		return nil, fmt.Errorf("the pivot does not hold")
	}
	a1, w1 := p.swing(angle, omega, hit)
	pivot := 0.0 // way of the pivot until then
	if p.rolls {
		pivot = -omega * p.ay * hit
	}

	// where and how the ball arrives
	ball := discBody("ball", p.m*logUniform(r, 0.05, 2), 0.01+0.02*r.Float64())
	b.m, b.r, b.inertia = ball.Mass, ball.Shape.Radius, ball.Inertia
	cx, cy := p.arm(a1)
	facing, side := a1+math.Pi/2, (r.Float64()-0.5)*0.03
	if body.Shape.Radius > 0 {
		facing, side = math.Pi/2+1.2*(r.Float64()-0.5), 0
	}
	b.ny, b.nx = math.Sincos(facing)
	tx, ty := b.ny, -b.nx
	b.px, b.py = cx+face*b.nx+side*tx, cy+face*b.ny+side*ty
	speed := logUniform(r, 0.2, 3)
	vx, vy, spin := speed*(0.4*(r.Float64()-0.5)-b.nx), speed*(0.4*(r.Float64()-0.5)-b.ny), 20*(r.Float64()-0.5)
	rx, ry := vx+spin*b.r*b.ny+w1*b.py, vy-spin*b.r*b.nx-w1*b.px
	b.vn, b.vt = rx*b.nx+ry*b.ny, rx*tx+ry*ty
	if b.vn > -0.1 {
		return nil, fmt.Errorf("no blow")
	}
	pn, pt, ok := p.blow(a1, &b)
	if !ok {
		return nil, fmt.Errorf("the pivot does not hold the blow")
	}

	// afterwards, until the ball may come back
	an, at := b.px*b.ny-b.py*b.nx, b.px*ty-b.py*tx
	w2 := w1 - (an*pn+at*pt)/p.j
	bx, by, spin2 := vx+(b.nx*pn+tx*pt)/b.m, vy+(b.ny*pn+ty*pt)/b.m, spin+b.r*pt/b.inertia
	parting := b.vn + pn*(1/b.m+an*an/p.j) + pt*an*at/p.j
	if after = min(after, 0.25*parting/p.g); after < 20*step {
		return nil, fmt.Errorf("the ball comes back at once")
	}
	if !p.stays(a1, w2, after, b.muSupport) {
		return nil, fmt.Errorf("the pivot does not hold after the blow")
	}
	a3, w3 := p.swing(a1, w2, after)

	// back to the start of the ball, on a way that is clear
	for k := 1; k <= 100; k++ {
		back := hit * float64(k) / 100
		a, _ := p.swing(angle, omega, hit-back)
		x, y := p.arm(a)
		dx, dy := b.px+b.r*b.nx-vx*back-x, b.py+b.r*b.ny-vy*back-p.g*back*back/2-y
		if p.rolls {
			dx -= omega * p.ay * back
		}
		away := dy*math.Cos(a) - dx*math.Sin(a)
		if body.Shape.Radius > 0 {
			away = math.Hypot(dx, dy)
		}
		if away < face+b.r {
			return nil, fmt.Errorf("the ball comes through the body")
		}
	}
	ball.Pose = [3]float64{pivot + b.px + b.r*b.nx - vx*hit, b.py + b.r*b.ny - vy*hit - p.g*hit*hit/2}
	ball.Speed = [3]float64{vx, vy + p.g*hit, spin}
	sx, sy := p.arm(angle)
	body.Pose, body.Speed = [3]float64{sx, sy, angle}, [3]float64{-omega * sy, omega * sx, omega}
	c, _, err := sceneOf(contact.SceneSpec{Gravity: [2]float64{0, -p.g}, Bodies: []contact.BodySpec{ground, body, ball},
		Pairs: []contact.PairSpec{
			{A: "body", B: "floor", Law: contact.Law{Mu: b.muSupport, EpsN: b.epsSupport}},
			{A: "ball", B: "body", Law: contact.Law{Mu: b.mu, EpsN: b.eps}}}})
	if err != nil {
		return nil, err
	}
	c.end, c.step, c.law = hit+after, step, law
	c.judge = func(o *outcome, slack float64) string {
		l := math.Hypot(p.ax, p.ay)
		tol := 1e-6 + 0.01*math.Abs(b.vn) + 3*slack*p.g/weight
		way := 1e-6 + slack*(math.Abs(b.vn)+math.Abs(omega)*l)
		return off("speed of turning", o.u[2]*l, w3*l, tol) + off("angle", o.q[2]*l, a3*l, way) +
			off("ball vx", o.u[3], bx, tol) + off("ball vy", o.u[4], by-p.g*after, tol) + off("ball spin", o.u[5]*b.r, spin2*b.r, tol)
	}
	return c, nil
}

var pivotFamilies = []family{{"pivot and blow", pivotBlow}}

func TestPivotAndBlow(t *testing.T) {
	list := make([]int, 200)
	for k := range list {
		list[k] = k
	}
	randomScenes(t, pivotFamilies, list)
}
