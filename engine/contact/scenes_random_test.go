package contact_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// verdict of a run: what it is worth, and whether the engine says so.
type verdict uint8

const (
	right   verdict = iota
	warned          // may be wrong, and the engine says so
	refused         // ended with an error in words
	wrong           // wrong without a word
)

func (v verdict) String() string { return [...]string{"right", "warned", "refused", "wrong"}[v] }

// sample is a scene at random with what is known of its motion.
type scenario struct {
	sys   contact.System
	start func(q, u []float64)
	end   float64 // s
	step  float64 // s, of the fixed step
	law   contact.ImpactLaw
	// judge looks at the end and at the sums over the run, and says what is wrong; slack is the error of position that the engine may have
	// (m).
	judge func(r *outcome, slack float64) string
}

// outcome is the end of a run and what was summed on the way.
type outcome struct {
	q, u    []float64
	impulse map[string]float64 // N·s, along the normal, by the names of the two bodies
	load    map[string]float64 // N, the same at the end: means over the last 20 ms or less
	slow    float64            // m/s, impacts slower than this need not rebound
	work    float64            // J, lost in contacts; NaN: the engine does not know
	most    float64            // J, highest energy on the way
}

func key(a, b string) string {
	if a > b {
		a, b = b, a
	}
	return a + "|" + b
}

func newOutcome(c *scenario) *outcome {
	n := c.sys.DOF()
	o := &outcome{q: make([]float64, n), u: make([]float64, n), impulse: map[string]float64{}, load: map[string]float64{}}
	c.start(o.q, o.u)
	o.most = math.Inf(-1)
	return o
}

// bySteps runs a scenario with the defaults of hil simulate.
func (c *scenario) bySteps() (verdict, string) {
	c.step = c.end / math.Ceil(c.end/c.step*(1-1e-12))
	m, err := contact.NewMoreau(c.sys, contact.MoreauOptions{Step: c.step, Positions: true, Impact: c.law})
	if err != nil {
		return refused, err.Error()
	}
	o := newOutcome(c)
	o.slow = 1e-3 // the default of VTh
	n := int(math.Round(c.end / c.step))
	window := min(n/5, int(0.02/c.step))
	for k := range n {
		if r := m.Step(float64(k)*c.step, o.q, o.u); r.Status == engine.NonFinite {
			return refused, "not finite"
		}
		for i, at := range m.ClosedPlaces {
			name := key(contact.Pair(c.sys, m.Set.ID[at]))
			o.impulse[name] += m.Impulse[2*i]
			if k >= n-window {
				o.load[name] += m.Impulse[2*i] / (float64(window) * c.step)
			}
		}
	}
	o.work = m.Dissipated - m.Gained
	says := c.judge(o, 20*c.step)
	switch doubtful := m.Degraded > 0 || m.DroppedContacts > 0 || m.Overruns > 0 || m.Merged > 0; {
	case says == "" && !doubtful:
		return right, ""
	case doubtful:
		return warned, fmt.Sprintf("%d unverified, %d too long, %d merged; %s", m.Degraded, m.Overruns, m.Merged, says)
	}
	return wrong, says
}

// byEvents runs a scenario between events.
func (c *scenario) byEvents() (verdict, string) {
	e, err := contact.NewEventDriven(c.sys, contact.EventOptions{RTol: 1e-9, Law: c.law})
	if err != nil {
		return refused, err.Error()
	}
	o := newOutcome(c)
	if err := e.Start(0, o.q, o.u); err != nil {
		return refused, err.Error()
	}
	if err := e.Run(c.end, nil); err != nil {
		return refused, err.Error()
	}
	e.State(o.q, o.u)
	for _, f := range e.Forces(nil) {
		o.load[key(contact.Pair(c.sys, f.ID))] += f.N
	}
	o.work = math.NaN()
	if says := c.judge(o, 1e-6); says != "" {
		return wrong, says
	}
	return right, ""
}

func logUniform(r *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }

func oneOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// off is a complaint where got is not within tol of want.
func off(what string, got, want, tol float64) string {
	if math.Abs(got-want) <= tol {
		return ""
	}
	return fmt.Sprintf("%s: %.9g, want %.9g ± %.1g; ", what, got, want, tol)
}

func boxBody(name string, m, w, h float64) contact.BodySpec {
	o, err := contact.Rectangle(w, h, 0)
	if err != nil {
		panic(err)
	}
	return contact.BodySpec{Name: name, Mass: m, Inertia: m * (w*w + h*h) / 12, Shape: contact.Shape{Outline: o}}
}

func discBody(name string, m, r float64) contact.BodySpec {
	return contact.BodySpec{Name: name, Mass: m, Inertia: m * r * r / 2, Shape: contact.Shape{Radius: r}}
}

func floorBody() contact.BodySpec {
	return contact.BodySpec{Name: "floor", Locked: [3]bool{true, true, true}, Shape: contact.Shape{HalfPlane: true}}
}

const weight = 9.81

func sceneOf(spec contact.SceneSpec) (*scenario, *contact.Scene, error) {
	s, err := contact.NewScene(spec)
	if err != nil {
		return nil, nil, err
	}
	return &scenario{sys: s, start: s.Start}, s, nil
}

// stack: up to 30 boxes on each other at rest, or dropped by up to a tenth of a millimetre: the load of every pair is the weight above it,
// and nothing moves. Where heavy boxes that rebound strike light ones nothing says that these stay: then there is no more energy than
// before.
func stack(r *rand.Rand) (*scenario, error) {
	n := oneOf(r, 1, 2, 3, 5, 8, 13, 20, 30)
	ratio := oneOf(r, 1, 1, 10, 1e3, 1e6)
	order := r.IntN(3) // heavier upwards, downwards, any
	gap := oneOf(r, 0, 0, 1e-4*r.Float64())
	law := contact.Law{Mu: oneOf(r, 0, 0.3, 0.8), EpsN: oneOf(r, 0, 0, 0.4*r.Float64())}
	spec := contact.SceneSpec{Gravity: [2]float64{0, -weight}, Bodies: []contact.BodySpec{floorBody()}}
	y := 0.0
	above := make([]float64, n+1)
	for i := range n {
		share := float64(i) / float64(max(n-1, 1))
		switch order {
		case 1:
			share = 1 - share
		case 2:
			share = r.Float64()
		}
		w, h := 0.1+0.02*r.Float64(), 0.03+0.02*r.Float64()
		b := boxBody(fmt.Sprintf("box %d", i), math.Pow(ratio, share), w, h)
		b.Pose = [3]float64{0.01 * (r.Float64() - 0.5), y + gap + h/2}
		y += gap + h
		spec.Bodies = append(spec.Bodies, b)
		spec.Pairs = append(spec.Pairs, contact.PairSpec{A: b.Name, B: spec.Bodies[i].Name, Law: law})
	}
	for i := n - 1; i >= 0; i-- {
		above[i] = above[i+1] + spec.Bodies[i+1].Mass*weight
	}
	c, s, err := sceneOf(spec)
	if err != nil {
		return nil, err
	}
	c.end, c.step = 0.1, 5e-5
	if gap > 0 {
		c.end = 0.5
	}
	q0, u0 := make([]float64, s.DOF()), make([]float64, s.DOF())
	s.Start(q0, u0)
	energy := func(q, u []float64) (e float64) {
		for i := range n {
			b := &spec.Bodies[i+1]
			e += b.Mass*(weight*q[3*i+1]+(u[3*i]*u[3*i]+u[3*i+1]*u[3*i+1])/2) + b.Inertia*u[3*i+2]*u[3*i+2]/2
		}
		return e
	}
	c.judge = func(o *outcome, slack float64) (says string) {
		if gap > 0 && law.EpsN > 0 && ratio >= 1e3 {
			if e, e0 := energy(o.q, o.u), energy(q0, u0); !(e <= e0*(1+1e-6)) {
				says = fmt.Sprintf("energy: %g J, %g J at the start; ", e, e0)
			}
			return says
		}
		for i := range n {
			says += off("load under "+spec.Bodies[i+1].Name, o.load[key(spec.Bodies[i+1].Name, spec.Bodies[i].Name)], above[i], 1e-3*above[i])
			says += off("height of "+spec.Bodies[i+1].Name, o.q[3*i+1], q0[3*i+1]-gap*float64(i+1), 1e-5+slack*weight*c.step)
			says += off("place of "+spec.Bodies[i+1].Name, o.q[3*i], q0[3*i], 1e-5+gap)
		}
		return says
	}
	return c, nil
}

// chain: up to 80 discs in a row with gaps, the first one moves; momentum stays, energy does not grow, and where collisions come one by
// one they are those of pairs.
func chain(r *rand.Rand) (*scenario, error) {
	n := oneOf(r, 2, 3, 5, 10, 20, 40, 80)
	ratio := oneOf(r, 1, 1, 10, 1e3, 1e6)
	law := contact.Law{EpsN: oneOf(r, 0, 0.5, 0.9, 1, r.Float64()), Mu: oneOf(r, 0, 0.3)}
	speed := logUniform(r, 0.1, 100)
	touching := r.IntN(4) == 0
	spec := contact.SceneSpec{}
	x := 0.0
	m, v := make([]float64, n), make([]float64, n)
	place := make([]float64, n)
	for i := range n {
		b := discBody(fmt.Sprintf("disc %d", i), math.Pow(ratio, r.Float64()), 0.01)
		b.Pose[0] = x
		m[i], place[i] = b.Mass, x
		gap := 0.002 + 0.003*r.Float64()
		if touching && i > 0 {
			gap = 0
		}
		x += 0.02 + gap
		if i == 0 {
			b.Speed[0], v[0] = speed, speed
		} else {
			spec.Pairs = append(spec.Pairs, contact.PairSpec{A: b.Name, B: spec.Bodies[i-1].Name, Law: law})
		}
		spec.Bodies = append(spec.Bodies, b)
	}
	c, _, err := sceneOf(spec)
	if err != nil {
		return nil, err
	}
	c.end = min(2*x/speed, 0.5)
	c.step = min(2e-5, 0.002/speed/4)
	momentum, energy := m[0]*speed, m[0]*speed*speed/2
	want, slowest, exact := collisions(place, v, m, law.EpsN, 0.02, c.end, 4*c.step)
	c.judge = func(o *outcome, slack float64) string {
		p, e := 0.0, 0.0
		for i := range n {
			p += m[i] * o.u[3*i]
			e += m[i] * o.u[3*i] * o.u[3*i] / 2
		}
		says := off("momentum", p, momentum, 1e-8*momentum)
		if e > energy*(1+1e-8) {
			says += fmt.Sprintf("energy: %g of %g J; ", e, energy)
		}
		if law.EpsN == 1 {
			says += off("energy", e, energy, 1e-6*energy)
		}
		for i := range n {
			if i > 0 && o.q[3*i]-o.q[3*i-3] < 0.02-1e-9-slack*speed {
				says += fmt.Sprintf("disc %d is %g m in the one before; ", i, 0.02-o.q[3*i]+o.q[3*i-3])
			}
			if exact {
				tol := 1e-6 * speed
				if slowest < o.slow {
					tol += o.slow
				}
				says += off(fmt.Sprintf("speed of disc %d", i), o.u[3*i], want[i], tol)
			}
		}
		return says
	}
	return c, nil
}

// collisions moves balls on a line from collision to collision, each of one pair, and says how slow the slowest is and whether they are all
// further apart in time than least.
func collisions(x0, v0, m []float64, eps, size, end, least float64) (v []float64, slowest float64, apart bool) {
	x, v := append([]float64(nil), x0...), append([]float64(nil), v0...)
	slowest, apart = math.Inf(1), true
	last := make([]float64, len(x))
	for i := range last {
		last[i] = -1
	}
	for t, hits := 0.0, 0; ; hits++ {
		next, at := math.Inf(1), -1
		for i := range len(x) - 1 {
			if close := v[i] - v[i+1]; close > 1e-12 {
				if d := max(x[i+1]-x[i]-size, 0) / close; d < next {
					next, at = d, i
				}
			}
		}
		if at < 0 || t+next > end || hits > 2000 {
			return v, slowest, apart && hits <= 2000 && !(at >= 0 && t+next-end < least)
		}
		t += next
		for i := range x {
			x[i] += v[i] * next
		}
		for _, i := range [2]int{at, at + 1} {
			if last[i] >= 0 && t-last[i] < least {
				apart = false
			}
			last[i] = t
		}
		a, b := m[at], m[at+1]
		slowest = min(slowest, v[at]-v[at+1])
		p := (1 + eps) * (v[at] - v[at+1]) / (1/a + 1/b)
		v[at], v[at+1] = v[at]-p/a, v[at+1]+p/b
		if end-t < least {
			apart = false
		}
	}
}

// bullet: a disc or a box on its way through the middle of a thin plate, from either side; the two bodies are on a line.
func bullet(r *rand.Rand) (*scenario, error) {
	thick, size := logUniform(r, 2e-4, 5e-3), logUniform(r, 1e-3, 2e-2)
	speed := logUniform(r, 1, 100) * oneOf(r, -1.0, 1)
	eps := r.Float64()
	ms, mp := logUniform(r, 1e-3, 1e3), logUniform(r, 1e-3, 1e3)
	plate := boxBody("plate", mp, thick, 0.2)
	shot := discBody("bullet", ms, size/2)
	if r.IntN(2) == 0 {
		shot = boxBody("bullet", ms, size, size)
	}
	back := r.Float64() * speed // of the plate, the same way
	away := 0.1 + 0.1*r.Float64()
	shot.Pose[0] = math.Copysign(away, -speed)
	shot.Speed[0], plate.Speed[0] = speed, back
	c, _, err := sceneOf(contact.SceneSpec{Bodies: []contact.BodySpec{plate, shot},
		Pairs: []contact.PairSpec{{A: "bullet", B: "plate", Law: contact.Law{EpsN: eps, Mu: 0.3}}}})
	if err != nil {
		return nil, err
	}
	way := away - size/2 - thick/2
	hit := way / math.Abs(speed-back)
	c.end, c.step = min(2*hit, 0.5), logUniform(r, 1e-6, 5e-5)
	vp, vs := back, speed
	if c.end > hit {
		p := (1 + eps) * (speed - back) / (1/ms + 1/mp)
		vp, vs = back+p/mp, speed-p/ms
	}
	c.judge = func(o *outcome, slack float64) string {
		if math.Abs(c.end-hit) < 4*c.step {
			return ""
		}
		tol := 1e-8 * math.Abs(speed)
		says := off("speed of the plate", o.u[0], vp, tol) + off("speed of the bullet", o.u[3], vs, tol)
		return says + off("place of the bullet", o.q[3], shot.Pose[0]+speed*min(hit, c.end)+vs*max(0, c.end-hit), 1e-8+slack*math.Abs(speed-back))
	}
	return c, nil
}

// slide: a box on a slope, pushed up or down, sticks, slides, stops or comes back.
func slide(r *rand.Rand) (*scenario, error) {
	w, h := 0.05+0.3*r.Float64(), logUniform(r, 0.005, 0.05)
	mu, alpha := 0.05+0.75*r.Float64(), oneOf(r, 0, 0, 1.0)*0.6*r.Float64()
	v0 := oneOf(r, 0, -1, 1.0) * logUniform(r, 0.1, 10)
	b := boxBody("box", logUniform(r, 1e-3, 1e3), w, h)
	b.Pose[1], b.Speed[0] = h/2, v0
	c, _, err := sceneOf(contact.SceneSpec{
		Gravity: [2]float64{weight * math.Sin(alpha), -weight * math.Cos(alpha)},
		Bodies:  []contact.BodySpec{floorBody(), b}, Pairs: []contact.PairSpec{{A: "box", B: "floor", Law: contact.Law{Mu: mu}}},
	})
	if err != nil {
		return nil, err
	}
	c.end, c.step = 0.7, oneOf(r, 2e-5, 1e-4)
	pull := weight * math.Sin(alpha)
	rub := mu * weight * math.Cos(alpha)
	// with the velocity v for the time left, down the slope is positive
	x, v, left := 0.0, v0, c.end
	if v != 0 {
		a := pull - math.Copysign(rub, v)
		if stop := -v / a; stop > 0 && stop < left {
			x, v, left = x+v*stop/2, 0, left-stop
		} else {
			x, v, left = v*left+a*left*left/2, v+a*left, 0
		}
	}
	if left > 0 {
		a := max(0, pull-rub)
		x, v = x+a*left*left/2, a*left
	}
	if math.Abs(pull-rub) < 1e-3 || mu*h > 0.9*w {
		return nil, fmt.Errorf("close to an edge")
	}
	c.judge = func(o *outcome, slack float64) string {
		tol := 1e-8 + slack*max(math.Abs(v0), 1)
		return off("place", o.q[0], x, tol) + off("speed", o.u[0], v, 20*tol) + off("height", o.q[1], h/2, tol) + off("load",
			o.load["box|floor"], b.Mass*weight*math.Cos(alpha), 1e-4*b.Mass*weight)
	}
	return c, nil
}

// bounce: a disc falls, bounces with restitution and at last rests; it rubs and then rolls.
func bounce(r *rand.Rand) (*scenario, error) {
	radius, eps, mu := logUniform(r, 1e-3, 0.1), 0.8*r.Float64(), 0.05+0.5*r.Float64()
	height, vx, spin := logUniform(r, 1e-3, 0.2), 4*r.Float64()-2, 200*r.Float64()-100
	b := discBody("disc", logUniform(r, 1e-3, 1e3), radius)
	b.Pose[1], b.Speed = radius+height, [3]float64{vx, 0, spin}
	c, _, err := sceneOf(contact.SceneSpec{Gravity: [2]float64{0, -weight}, Bodies: []contact.BodySpec{floorBody(), b},
		Pairs: []contact.PairSpec{{A: "disc", B: "floor", Law: contact.Law{Mu: mu, EpsN: eps}}}})
	if err != nil {
		return nil, err
	}
	fall := math.Sqrt(2 * height / weight)
	rest := fall * (1 + 2*eps/(1-eps))
	slip := math.Abs(vx + radius*spin)
	c.end, c.step = rest+slip/(3*mu*weight)+0.1, 1e-4
	// all friction is impulse at the point of contact: m·vx − J·spin/r stays
	roll := (2*vx - radius*spin) / 3
	c.judge = func(o *outcome, slack float64) string {
		return off("height", o.q[1], radius, 1e-6+slack*1e-2) + off("speed", o.u[0], roll, 1e-6+slack) + off("spin", o.u[2], -roll/radius,
			(1e-6+slack)/radius) + off("load", o.load["disc|floor"], b.Mass*weight, 1e-3*b.Mass*weight)
	}
	return c, nil
}

// family is a kind of scenes.
type family struct {
	name string
	draw func(*rand.Rand) (*scenario, error)
}

var families = []family{{"stack", stack}, {"chain", chain}, {"bullet", bullet}, {"slide", slide}, {"bounce", bounce}}

// randomScenes draws scenes by their numbers and wants none of them wrong without a word, in either engine.
func randomScenes(t *testing.T, families []family, list []int) {
	sum := map[string]*[4]int{}
	for _, k := range list {
		f := families[k%len(families)]
		var c *scenario
		var err error
		for try := uint64(0); c == nil; try++ {
			c, err = f.draw(rand.New(rand.NewPCG(uint64(k), try)))
			if try > 50 {
				t.Fatalf("%s %d: %v", f.name, k, err)
			}
		}
		for _, e := range []struct {
			name string
			run  func() (verdict, string)
		}{{"fixed-step", c.bySteps}, {"event-driven", c.byEvents}} {
			v, says := e.run()
			at := f.name + ", " + e.name
			if sum[at] == nil {
				sum[at] = new([4]int)
			}
			sum[at][v]++
			if len(says) > 300 {
				says = says[:300]
			}
			switch v {
			case wrong:
				t.Errorf("%s %d: %s", at, k, says)
			case refused:
				t.Logf("%s %d refused: %s", at, k, says)
			case warned:
				t.Logf("%s %d warned: %s", at, k, says)
			}
		}
	}
	for _, f := range families {
		for _, e := range []string{"fixed-step", "event-driven"} {
			if n := sum[f.name+", "+e]; n != nil {
				t.Logf("%-22s %4d right, %3d warned, %3d refused, %3d wrong", f.name+", "+e, n[right], n[warned], n[refused], n[wrong])
			}
		}
	}
}

func TestRandomScenes(t *testing.T) {
	list := []int{61, 75, 86, 211, 471, 790, 811}
	for k := range 5 { // all 1000 are in the soak
		list = append(list, k)
	}
	randomScenes(t, families, list)
}
