package manipulator

import (
	"math"

	"hilrig/engine"
)

// guess is where Newton's method begins in stage i: accelerations and λ. The first pass takes those of the stage before, for the first
// stage of the end of the step before; the second those of the first; later ones draw a line through the last two. known: dep is the
// coordinate of the dependent joint that goes with them.
func (p *stepper) guess(i int) (a joints, lambda, dep float64, known bool) {
	if p.passes == 0 || !p.inContact {
		last := (i + stages - 1) % stages
		return p.a[last], p.lambda[last], 0, false
	}
	near, far := &p.pass[1], &p.pass[2]
	a, lambda, dep = near.a[i], near.lambda[i], near.dep[i]
	if p.passes == 1 || near.force == far.force {
		return a, lambda, dep, true
	}
	x := (p.pass[0].force - near.force) / (near.force - far.force)
	for k := range a {
		a[k] += x * (a[k] - far.a[i][k])
	}
	return a, lambda + x*(lambda-far.lambda[i]), dep + x*(dep-far.dep[i]), true
}

// stage solves stage i; its result is in to.
func (p *stepper) stage(i int, h, f float64) engine.Status {
	w, m, to := p.w, p.w.m, &p.to
	g := sdirkG * h
	row := &sdirkA[i]
	for k := range p.pv {
		v, q := p.s.vc[k], p.s.qc[k]
		for j := range i {
			v += h * row[j] * p.ac[j][k]
			q += h * row[j] * p.vc[j][k]
		}
		p.pv[k], p.pq[k] = v, q+g*v
	}
	m.beam.K.Mul(p.pq, p.unconstrained)
	m.beam.D.Mul(p.pv, w.load)
	for k := range p.unconstrained {
		p.unconstrained[k] = m.weight[k] - p.unconstrained[k] - w.load[k]
	}
	p.band.Solve(p.unconstrained)

	// where the stage would be without acceleration, and a first guess of it
	var pq, pv joints
	a, lambda, dep, known := p.guess(i)
	for _, d := range m.drivenJoints {
		to.q[d], to.v[d], a[d] = p.motion(d, p.t+sdirkC[i]*h)
	}
	for _, k := range m.freeJoints {
		v, q := p.s.v[k], p.s.q[k]
		for j := range i {
			v += h * row[j] * p.a[j][k]
			q += h * row[j] * p.v[j][k]
		}
		pv[k], pq[k] = v, q+g*v
		to.q[k], to.v[k] = pq[k]+g*g*a[k], v+g*a[k]
	}
	if known {
		to.q[m.freeJoints[p.dep]] = dep
	}
	// until the correction after this one, smaller by the same factor as this one, would be below rounding
	st, before := engine.NotConverged, 0.0
	for range corrections {
		p.newtons++
		far, now := p.newton(g, f, &pq, &pv, &a, &lambda)
		if now != engine.OK {
			return now
		}
		if far <= 1 || far*far <= before {
			st = engine.OK
			break
		}
		before = far
	}
	if st != engine.OK {
		return st
	}
	// all of the beam
	c := &w.c
	cs := cosine(c)
	press := 0.0
	if p.inContact {
		press = lambda - f*c.Slope/cs
	}
	n := &c.N
	g0, g1, g2, g3 := p.give[0], p.give[1], p.give[2], p.give[3]
	for k, x := range p.unconstrained {
		if p.inContact {
			x -= press * (n[0]*g0[k] + n[1]*g1[k] + n[2]*g2[k] + n[3]*g3[k])
		}
		p.ac[i][k] = x
		to.vc[k] = p.pv[k] + g*x
		to.qc[k] = p.pq[k] + g*g*x
		p.vc[i][k] = to.vc[k]
	}
	p.a[i], p.v[i], p.lambda[i] = a, to.v, lambda
	p.pass[0].a[i], p.pass[0].lambda[i], p.pass[0].dep[i] = a, lambda, to.q[m.freeJoints[p.dep]]
	p.slip[i], p.normal[i] = w.pose.tip.VX*cs, lambda*cs
	return engine.OK
}

// What counts as rounding of the unknowns of a stage.
const (
	jointRounding = 1e-14 // rad or m, of coordinates, and of speeds times 1 s
	forceRounding = 1e-10 // of 1 N and of λ
)

// newton evaluates a stage and corrects its unknowns once, by far in units of their rounding.
func (p *stepper) newton(g, f float64, pq, pv, a *joints, lambda *float64) (far float64, st engine.Status) {
	w, m, to := p.w, p.w.m, &p.to
	nf := len(m.freeJoints)
	if !p.inContact {
		return p.newtonOpen(g, pq, pv, a)
	}
	v := m.freeJoints[p.dep]
	m.evaluate(&to.q, &to.v, false, &w.pose)
	at := m.beam.PlaceIn(p.e, w.pose.tip.X)
	var give [4]float64 // S·Nᵀ in the coordinates of the element
	soft, slope0, slope1 := 0.0, 0.0, 0.0
	for k, i := range at.I {
		if i >= 0 {
			give[k] = at.N[0]*p.give[0][i] + at.N[1]*p.give[1][i] + at.N[2]*p.give[2][i] + at.N[3]*p.give[3][i]
			soft += at.N[k] * give[k]
			slope0 += at.Nx[k] * (p.pq[i] + g*g*p.unconstrained[i])
			slope1 += at.Nx[k] * g * g * give[k]
		}
	}
	// the four coordinates of the element at this λ; friction presses by the slope that it has a small part in
	press := *lambda
	for range slopeRounds {
		slope := slope0 - slope1*press
		press = *lambda - f*slope/math.Sqrt(1+slope*slope)
		if f == 0 {
			break
		}
	}
	bend := 0.0
	for k, i := range at.I {
		if i >= 0 {
			x := p.unconstrained[i] - press*give[k]
			to.vc[i], to.qc[i] = p.pv[i]+g*x, p.pq[i]+g*g*x
			bend += at.N[k] * x
		}
	}
	// speed of the dependent joint
	w.c = m.beam.Contact(p.e, &w.pose.tip, to.qc, to.vc)
	w.c.Row(w.pose.jx[:m.n], w.pose.jy[:m.n], w.jr[:m.n])
	jv := w.jr[v]
	if jv == 0 {
		return 0, engine.NotConverged
	}
	to.v[v] -= w.c.Rate / jv
	w.place(to, p.e, true)
	jv = w.jr[v]
	// how 1 N less moves N·q_c″ + γ and N·q_c′ + w_x·x′, the tip held: near a support that does not give this is more than N·S·Nᵀ
	vx := g * w.pose.tip.VX
	softA, softV := soft, soft
	for k := range give {
		softA += vx * (2*at.Nx[k] + vx*at.Nxx[k]) * give[k]
		softV += vx * at.Nx[k] * give[k]
	}
	sum := bend + w.c.Gamma
	for i := range m.n {
		if i != v {
			sum += w.jr[i] * a[i]
		}
	}
	a[v] = -sum / jv

	// residuals, and a matrix that has all but the velocity terms
	n := nf + 1
	p.lu.Resize(n)
	mat, r := p.lu.A, p.unknown[:n]
	cs := cosine(&w.c)
	joint := m.p.Joints[v]
	for k, i := range m.freeJoints {
		r[k] = w.pose.h[i] + w.jr[i]**lambda + f/cs*(w.pose.jx[i]+w.c.Slope*w.pose.jy[i])
		for j := range m.n {
			r[k] += w.pose.m[i][j] * a[j]
		}
		miv := w.pose.m[i][v]
		if i == v {
			miv += g * joint.Damping
		}
		for c, j := range m.freeJoints {
			switch {
			case j == v:
				mat[k*n+c] = 0
				if i == v {
					mat[k*n+c] = joint.Spring
				}
			default:
				x := w.pose.m[i][j] - miv*w.jr[j]/jv
				if i == j {
					x += g*m.p.Joints[i].Damping + g*g*m.p.Joints[i].Spring
				}
				mat[k*n+c] = x
			}
		}
		mat[k*n+nf] = w.jr[i] + miv*softA/jv
	}
	r[nf] = w.c.Phi
	for c, j := range m.freeJoints {
		mat[nf*n+c] = g * g * w.jr[j]
		if j == v {
			mat[nf*n+c] = jv
		}
	}
	mat[nf*n+nf] = -g * g * soft
	if !p.lu.Factor() {
		return 0, engine.NotConverged
	}
	p.lu.Solve(r)
	own := 0.0
	for k, i := range m.freeJoints {
		if i == v {
			to.q[i] -= r[k]
			far = math.Max(far, math.Abs(r[k]))
			continue
		}
		a[i] -= r[k]
		to.q[i], to.v[i] = pq[i]+g*g*a[i], pv[i]+g*a[i]
		far = math.Max(far, g*math.Abs(r[k]))
		own += w.jr[i] * r[k]
	}
	// what the dependent joint does beside them
	a[v] += (own - softA*r[nf]) / jv
	to.v[v] += g * (own - softV*r[nf]) / jv
	*lambda -= r[nf]
	if far-far != 0 {
		return 0, engine.NonFinite
	}
	return math.Max(far/jointRounding, math.Abs(r[nf])/(forceRounding*(1+math.Abs(*lambda)))), engine.OK
}

// newtonOpen is newton without contact.
func (p *stepper) newtonOpen(g float64, pq, pv, a *joints) (far float64, st engine.Status) {
	w, m, to := p.w, p.w.m, &p.to
	nf := len(m.freeJoints)
	m.evaluate(&to.q, &to.v, true, &w.pose)
	p.lu.Resize(nf)
	mat, r := p.lu.A, p.unknown[:nf]
	for k, i := range m.freeJoints {
		r[k] = w.pose.h[i]
		for j := range m.n {
			r[k] += w.pose.m[i][j] * a[j]
		}
		for c, j := range m.freeJoints {
			if mat[k*nf+c] = w.pose.m[i][j]; i == j {
				mat[k*nf+c] += g*m.p.Joints[i].Damping + g*g*m.p.Joints[i].Spring
			}
		}
	}
	if !p.lu.Factor() {
		return 0, engine.NotConverged
	}
	p.lu.Solve(r)
	for k, i := range m.freeJoints {
		a[i] -= r[k]
		to.q[i], to.v[i] = pq[i]+g*g*a[i], pv[i]+g*a[i]
		far = math.Max(far, g*math.Abs(r[k]))
	}
	if far-far != 0 {
		return 0, engine.NonFinite
	}
	return far / jointRounding, engine.OK
}
