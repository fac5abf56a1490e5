package manipulator

import (
	"errors"
	"math"

	"hilrig/engine"
	"hilrig/engine/beam"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
)

// Why the equations of motion have no solution at a state.
var (
	ErrSingular = errors.New("no free joint can follow the beam here: the tip moves along the beam whatever joint gives way (singular " +
		"position)")
	ErrJam = errors.New("friction on the beam is so strong that contact force and acceleration have no single solution here (Painlevé)")
)

// state is where the system is: all joints, driven ones included, and the beam.
type state struct {
	q, v   joints
	qc, vc []float64
	z      []float64 // of the friction law
}

// accel is what the equations of motion say of a state.
type accel struct {
	a         joints
	ac, dz    []float64
	lambda    float64 // N
	force     float64 // N  of friction along the beam, opposing the tip
	slip      float64 // m/s  of the tip along the beam
	torque    joints  // N·m  of the drives
	power     float64 // W  of the drives
	lossPower float64 // W  of dampers, beam and friction
}

// solver finds x of the system that ties accelerations, or impulses, of free joints and beam to the contact:
//
//	[ M_ff   0   J_fᵀ ] [ x_f ]   [ r_f ]
//	[  0    M_c   Nᵀ  ] [ x_c ] = [ r_c ]
//	[ J_f    N    0   ] [  λ  ]   [ r_λ ]
//
// for as many right sides as there are. Open, the last row and column are left out and λ = 0.
type solver interface {
	factor(w *work, closed bool) error
	solve(w *work, closed bool, xf *joints, xc []float64, r float64) (lambda float64) // replaces xf and xc
}

// work is the scratch of one goroutine.
type work struct {
	m           *Model
	pose        pose
	c           beam.Contact
	jr          joints // J_R of all joints
	mass        beam.Band
	dep         int // of the partition, place in freeJoints; −1: none
	load        []float64
	tangent     []float64
	elimination massElimination
}

func (m *Model) newWork() *work {
	w := &work{m: m, mass: beam.NewBand(m.beam.N), dep: -1, load: make([]float64, m.beam.N), tangent: make([]float64, m.beam.N)}
	w.mass.Sum(1, &m.beam.M, 0, &m.beam.M)
	if !w.mass.Factor() {
		panic("manipulator: the mass matrix of a beam is not positive definite")
	}
	w.elimination.xc = make([]float64, m.beam.N)
	return w
}

// place evaluates chain and contact at a state, by the polynomials of element e.
func (w *work) place(s *state, e int, masses bool) {
	w.m.evaluate(&s.q, &s.v, masses, &w.pose)
	w.c = w.m.beam.Contact(e, &w.pose.tip, s.qc, s.vc)
	w.c.Row(w.pose.jx[:w.m.n], w.pose.jy[:w.m.n], w.jr[:w.m.n])
}

// choose picks the free joint that follows the beam best, by |J_R|/√M, and keeps the present one until another is twice as good.
func (w *work) choose(now int) (int, error) {
	best, at := 0.0, -1
	have := 0.0
	for k, i := range w.m.freeJoints {
		if w.pose.m[i][i] <= 0 {
			continue
		}
		r := math.Abs(w.jr[i]) / math.Sqrt(w.pose.m[i][i])
		if r > best {
			best, at = r, k
		}
		if k == now {
			have = r
		}
	}
	switch {
	case at < 0 || best < minReach:
		return -1, ErrSingular
	case now >= 0 && have*2 >= best:
		return now, nil
	}
	return at, nil
}

// minReach is |J_R|/√M below which a joint counts as unable to follow the beam (1/√kg): 1e-6 of what an arm of 1 kg has.
const minReach = 1e-6

// accelerate solves the equations of motion at s, whose chain and contact have been placed with their masses. da are the accelerations of
// the driven joints.
func (w *work) accelerate(by solver, s *state, da *joints, closed bool, out *accel) error {
	m, p := w.m, &w.pose
	if err := by.factor(w, closed); err != nil {
		return err
	}
	out.a = *da
	rate := w.c.Gamma
	var rf joints
	for k, i := range m.freeJoints {
		rf[k] = -p.h[i]
		for _, d := range m.drivenJoints {
			rf[k] -= p.m[i][d] * da[d]
		}
	}
	for _, d := range m.drivenJoints {
		rate += w.jr[d] * da[d]
	}
	m.beam.K.Mul(s.qc, out.ac)
	m.beam.D.Mul(s.vc, w.load)
	for i := range out.ac {
		out.ac[i] = m.weight[i] - out.ac[i] - w.load[i]
	}
	damped := 0.0
	for i, x := range s.vc {
		damped += x * w.load[i]
	}
	out.lambda = by.solve(w, closed, &rf, out.ac, -rate)
	out.force, out.slip = 0, 0
	if law := m.p.Friction; law != nil {
		if err := w.addFriction(by, s, closed, &rf, out); err != nil {
			return err
		}
	}
	for k, i := range m.freeJoints {
		out.a[i] = rf[k]
	}
	// what the drives give, and what is lost
	cs := cosine(&w.c)
	out.power, out.lossPower = 0, damped+out.force*out.slip
	for i := range m.n {
		out.lossPower += m.p.Joints[i].Damping * s.v[i] * s.v[i]
	}
	for _, d := range m.drivenJoints {
		t := p.h[d] + w.jr[d]*out.lambda + out.force/cs*(p.jx[d]+w.c.Slope*p.jy[d])
		for j := range m.n {
			t += p.m[d][j] * out.a[j]
		}
		out.torque[d] = t
		out.power += t * s.v[d]
	}
	if !numeric.AllFinite(rf[:len(m.freeJoints)]...) || !numeric.AllFinite(out.ac...) {
		return engine.ErrNonFinite
	}
	return nil
}

// addFriction adds friction along the tangent (1, w_x): with −F on the tip, F·w_x/√(1+w_x²) on the beam, and the normal force λ·√(1+w_x²)
// in the law, of a bilateral contact its magnitude. Everything is linear in F, so one number is sought.
func (w *work) addFriction(by solver, s *state, closed bool, rf *joints, out *accel) error {
	m, p := w.m, &w.pose
	law := m.p.Friction.(friction.Flow)
	cs := cosine(&w.c)
	out.slip = p.tip.VX * cs
	if !closed {
		law.Flow(s.z, out.dz, friction.Input{V: 0, N: -1})
		return nil
	}
	var tf joints
	for k, i := range m.freeJoints {
		tf[k] = -(p.jx[i] + w.c.Slope*p.jy[i]) / cs
	}
	clear(w.tangent)
	w.c.Add(w.c.Slope/cs, w.tangent)
	per := by.solve(w, closed, &tf, w.tangent, 0)
	free := out.lambda
	force := func(lambda float64) float64 {
		return law.Flow(s.z, out.dz, friction.Input{V: out.slip, N: normal(m.p.Unilateral, lambda*cs)})
	}
	// λ = free + per·F(λ): secant
	a, fa := free, free+per*force(free)-free
	b := free + per*force(free)
	for range 50 {
		fb := free + per*force(b) - b
		if math.Abs(fb) <= 1e-14*(math.Abs(b)+math.Abs(free)) || b == a {
			break
		}
		slope := (fb - fa) / (b - a)
		if !(slope < 0) {
			return ErrJam
		}
		a, fa, b = b, fb, b-fb/slope
	}
	out.lambda = b
	out.force = force(b)
	for k := range m.freeJoints {
		rf[k] += out.force * tf[k]
	}
	for i := range out.ac {
		out.ac[i] += out.force * w.tangent[i]
	}
	return nil
}

// normal is what a law is told of a normal force (N): zero would mean that it is not known.
func normal(unilateral bool, n float64) float64 {
	if unilateral {
		n = max(0, n)
	} else {
		n = math.Abs(n)
	}
	return max(n, math.SmallestNonzeroFloat64)
}

// massElimination solves by the masses as they are: chain by elimination, beam by its band, contact by the one number that is left.
type massElimination struct {
	chain engine.LU
	xf    joints
	xc    []float64 // M_c⁻¹·Nᵀ
	reach float64   // J_f·M_ff⁻¹·J_fᵀ + N·M_c⁻¹·Nᵀ
}

func (f *massElimination) factor(w *work, closed bool) error {
	m := w.m
	nf := len(m.freeJoints)
	if f.chain.A == nil {
		f.chain = engine.NewLU(nf)
	}
	for a, i := range m.freeJoints {
		for b, j := range m.freeJoints {
			f.chain.A[a*nf+b] = w.pose.m[i][j]
		}
	}
	if !f.chain.Factor() {
		return ErrSingular
	}
	if !closed {
		return nil
	}
	for k, i := range m.freeJoints {
		f.xf[k] = w.jr[i]
	}
	f.chain.Solve(f.xf[:nf])
	clear(f.xc)
	w.c.Add(1, f.xc)
	w.mass.Solve(f.xc)
	f.reach = w.c.Of(&w.c.N, f.xc)
	own := 0.0
	for k, i := range m.freeJoints {
		own += w.jr[i] * f.xf[k]
	}
	f.reach += own
	if !(own > minReach*minReach) {
		return ErrSingular
	}
	return nil
}

func (f *massElimination) solve(w *work, closed bool, xf *joints, xc []float64, r float64) float64 {
	m := w.m
	f.chain.Solve(xf[:len(m.freeJoints)])
	w.mass.Solve(xc)
	if !closed {
		return 0
	}
	sum := w.c.Of(&w.c.N, xc) - r
	for k, i := range m.freeJoints {
		sum += w.jr[i] * xf[k]
	}
	lambda := sum / f.reach
	for k := range m.freeJoints {
		xf[k] -= lambda * f.xf[k]
	}
	for i := range xc {
		xc[i] -= lambda * f.xc[i]
	}
	return lambda
}

// cosine is √(1 + w_x²), the inverse cosine of the beam's slope.
func cosine(c *beam.Contact) float64 { return math.Sqrt(1 + c.Slope*c.Slope) }
