package brush

import "math"

// factors of M̂ = M + hθC + h²θ²K. In the frame of the main body the rows of x and y are those of e_t and e_n, and with
// the joints last
//
//	M̂ = [A B; Bᵀ D],   D = diag(D_u, D_s) constant,   S = A − B·D⁻¹·Bᵀ  3×3 with S_tn = 0
//
// because axial motion has no part along e_t and tangential motion none along e_n: of S only the column of φ changes.
type factors struct {
	h, theta   float64
	invU, invS [segments][segments]float64 // D_u⁻¹, D_s⁻¹
	accU, accS [segments]float64           // D⁻¹·Bᵀ of the rows e_n and e_t: constant
	stt, snn   float64                     // of S
	mu, ms     [segments]float64           // B of the rows e_n and e_t: mass that joint j carries
	invH, invA float64
	hh         float64 // h·θ, and its square times K goes into D

	sin, cos               float64           // of φ
	gu, gs                 [segments]float64 // D⁻¹·Bᵀ of the row φ
	stp, snp               float64
	invStt, invSnn, invSpp float64 // 1/S_tt, 1/S_nn, 1/(S_φφ − S_tφ²/S_tt − S_nφ²/S_nn)
}

// prepare computes what depends on h and theta alone.
func (b *Brush) prepare(h, theta float64) bool {
	f := &b.f
	f.h, f.theta, f.hh = h, theta, h*theta
	path := b.path()
	massU, massS := b.jointMass(&path), b.jointMass(&path)
	for i := range segments {
		for j := range segments {
			massU[i][j] += f.hh*b.cU[i][j] + f.hh*f.hh*b.kU[i][j]
			massS[i][j] += f.hh*b.cS[i][j] + f.hh*f.hh*b.kS[i][j]
		}
	}
	if !invert(&massU, &f.invU) || !invert(&massS, &f.invS) {
		return false
	}
	for j := range segments {
		f.mu[j] = 0
		for i := range segments {
			f.mu[j] += b.ms * path[i][j]
		}
	}
	f.ms = f.mu
	total := b.m0 + segments*b.ms
	f.accU, f.accS = times(&f.invU, &f.mu), times(&f.invS, &f.ms)
	f.snn = total - dot(&f.mu, &f.accU)
	f.stt = total - dot(&f.ms, &f.accS)
	f.invH = 1 / (b.jH + f.hh*b.cH + f.hh*f.hh*b.kH)
	f.invA = 1 / (b.jA + f.hh*b.cA + f.hh*f.hh*b.kA)
	f.invStt, f.invSnn = 1/f.stt, 1/f.snn
	return f.stt > 0 && f.snn > 0 && f.invH > 0 && f.invA > 0
}

// jointMass is the mass matrix of one kind of displacement, pathᵀ·m·path.
func (b *Brush) jointMass(path *[segments][segments]float64) (m [segments][segments]float64) {
	for i := range segments {
		for j := range segments {
			for k := range segments {
				m[j][k] += b.ms * path[i][j] * path[i][k]
			}
		}
	}
	return m
}

// Free is contact.Dynamics: it factors M̂ at q and gives the velocity after a step without contact.
func (b *Brush) Free(t, h, theta float64, q, u, ufree []float64) bool {
	f := &b.f
	if h != f.h || theta != f.theta {
		if !b.prepare(h, theta) {
			f.h = 0
			return false
		}
	}
	var y state
	b.unpack(q, u, &y)
	spp := b.place(&y)

	// h·(f − hθK·u)
	var r effort
	b.forces(&y, f.hh, &r)
	r.t, r.n, r.p, r.h, r.a = h*r.t, h*r.n, h*r.p, h*r.h, h*r.a
	for i := range segments {
		r.u[i] *= h
		r.s[i] *= h
	}
	b.solve(&r)
	ufree[0] = u[0] + f.cos*r.t - f.sin*r.n
	ufree[1] = u[1] + f.sin*r.t + f.cos*r.n
	ufree[2] = u[2] + r.p
	for i := range segments {
		ufree[3+2*i] = u[3+2*i] + r.u[i]
		ufree[4+2*i] = u[4+2*i] + r.s[i]
	}
	ufree[colHolder] = u[colHolder] + r.h
	ufree[colArm] = u[colArm] + r.a
	sum := 0.0
	for _, v := range ufree[:dof] {
		sum += 0 * v
	}
	return spp > 0 && sum == 0
}

// Accelerate is contact.Dynamics: it factors M at q and gives the acceleration without contact.
func (b *Brush) Accelerate(t float64, q, u, acc []float64) bool {
	f := &b.f
	if f.theta != 0 || f.stt == 0 { // not the factors of M itself
		if !b.prepare(0, 0) {
			f.h = 0
			return false
		}
	}
	var y state
	b.unpack(q, u, &y)
	spp := b.place(&y)
	var r effort
	b.forces(&y, 0, &r)
	b.solve(&r)
	acc[0], acc[1], acc[2] = f.cos*r.t-f.sin*r.n, f.sin*r.t+f.cos*r.n, r.p
	for i := range segments {
		acc[3+2*i], acc[4+2*i] = r.u[i], r.s[i]
	}
	acc[colHolder], acc[colArm] = r.h, r.a
	sum := 0.0
	for _, v := range acc[:dof] {
		sum += 0 * v
	}
	return spp > 0 && sum == 0
}

// place computes what depends on the configuration and returns what has to be positive.
func (b *Brush) place(y *state) (spp float64) {
	f := &b.f
	f.sin, f.cos = y.sin, y.cos

	// the row of φ: Σ m·ξ carried by joint j, −Σ m·η
	jp := b.j0
	var cu, cs [segments]float64
	var sx, sn float64
	for i := range segments {
		xi, eta := y.xi[i], y.eta[i]
		cu[i], cs[i] = b.ms*xi, -b.ms*eta
		sx += cu[i]
		sn += cs[i]
		jp += b.ms * (xi*xi + eta*eta)
	}
	b.gather(&cu)
	b.gather(&cs)
	f.gu, f.gs = times(&f.invU, &cu), times(&f.invS, &cs)
	f.stp = sn - dot(&f.ms, &f.gs)
	f.snp = sx - dot(&f.mu, &f.gu)
	spp = jp - dot(&cu, &f.gu) - dot(&cs, &f.gs) - f.stp*f.stp*f.invStt - f.snp*f.snp*f.invSnn
	f.invSpp = 1 / spp
	return spp
}

// effort is a generalised force in the frame of the main body, or the velocity it causes.
type effort struct {
	t, n, p float64
	u, s    [segments]float64
	h, a    float64
}

// solve replaces r by M̂⁻¹·r.
func (b *Brush) solve(r *effort) {
	f := &b.f
	// joints out of the upper three rows
	t := r.t - dot(&f.accS, &r.s)
	n := r.n - dot(&f.accU, &r.u)
	p := r.p - dot(&f.gu, &r.u) - dot(&f.gs, &r.s)
	t, n, p = f.schur(t, n, p)
	u, s := times(&f.invU, &r.u), times(&f.invS, &r.s)
	for i := range segments {
		r.u[i] = u[i] - f.accU[i]*n - f.gu[i]*p
		r.s[i] = s[i] - f.accS[i]*t - f.gs[i]*p
	}
	r.t, r.n, r.p = t, n, p
	r.h *= f.invH
	r.a *= f.invA
}

// schur solves S·x = (t, n, p) with S = [S_tt 0 S_tφ; 0 S_nn S_nφ; S_tφ S_nφ S_φφ].
func (f *factors) schur(t, n, p float64) (float64, float64, float64) {
	p = (p - f.stp*f.invStt*t - f.snp*f.invSnn*n) * f.invSpp
	return (t - f.stp*p) * f.invStt, (n - f.snp*p) * f.invSnn, p
}

// state is a configuration with its velocity in the frame of the main body.
type state struct {
	sin, cos          float64
	omega             float64 // φ̇
	vt, vn            float64 // of the centre
	xi, eta           [segments]float64
	dxi, deta         [segments]float64
	u, s, du, ds      [segments]float64 // of the joints
	hold, arm         float64
	holdRate, armRate float64
}

func (b *Brush) unpack(q, u []float64, y *state) {
	q, u = q[:dof], u[:dof]
	y.sin, y.cos = sincos(q[2])
	y.omega = u[2]
	y.vt = y.cos*u[0] + y.sin*u[1]
	y.vn = y.cos*u[1] - y.sin*u[0]
	for i := range segments {
		y.u[i], y.s[i], y.du[i], y.ds[i] = q[3+2*i], q[4+2*i], u[3+2*i], u[4+2*i]
	}
	y.xi, y.eta, y.dxi, y.deta = y.s, y.u, y.ds, y.du
	if !b.star {
		b.sums(&y.xi)
		b.sums(&y.eta)
		b.sums(&y.dxi)
		b.sums(&y.deta)
	}
	for i := range segments {
		y.xi[i] += b.joint[i].Position
		y.eta[i] -= b.down
	}
	y.hold, y.holdRate, y.arm, y.armRate = q[colHolder], u[colHolder], q[colArm], u[colArm]
}

// forces is f − ahead·K·u: everything but contact.
func (b *Brush) forces(y *state, ahead float64, r *effort) {
	// weight and, on the segments, what their acceleration has without d²q/dt²
	gt, gn := -b.gravity*y.sin, -b.gravity*y.cos
	w, w2 := 2*y.omega, y.omega*y.omega
	r.t, r.n, r.p = b.m0*gt, b.m0*gn, 0
	for i := range segments {
		xi, eta := y.xi[i], y.eta[i]
		ft := b.ms * (gt + w*y.deta[i] + w2*xi)
		fn := b.ms * (gn - w*y.dxi[i] + w2*eta)
		r.t += ft
		r.n += fn
		r.p += xi*fn - eta*ft
		r.u[i], r.s[i] = fn, ft
	}
	b.gather(&r.u)
	b.gather(&r.s)
	// joints
	for i := range segments {
		for j := range segments {
			r.u[i] -= b.kU[i][j]*(y.u[j]+ahead*y.du[j]) + b.cU[i][j]*y.du[j]
			r.s[i] -= b.kS[i][j]*(y.s[j]+ahead*y.ds[j]) + b.cS[i][j]*y.ds[j]
		}
	}
	r.h = -b.kH*(y.hold+ahead*y.holdRate) - b.cH*y.holdRate
	r.a = -b.kA*(y.arm+ahead*y.armRate) - b.cA*y.armRate - b.press
}

func times(m *[segments][segments]float64, v *[segments]float64) (r [segments]float64) {
	for i := range segments {
		r[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
	}
	return r
}

func dot(a, b *[segments]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// invert writes the inverse of the symmetric m; false when m is not positive definite.
func invert(m, inv *[segments][segments]float64) bool {
	c00 := m[1][1]*m[2][2] - m[1][2]*m[2][1]
	c01 := m[1][2]*m[2][0] - m[1][0]*m[2][2]
	c02 := m[1][0]*m[2][1] - m[1][1]*m[2][0]
	det := m[0][0]*c00 + m[0][1]*c01 + m[0][2]*c02
	if !(det > 0 && m[0][0] > 0 && c00 > 0) || math.IsInf(det, 0) {
		return false
	}
	d := 1 / det
	inv[0] = [segments]float64{c00 * d, c01 * d, c02 * d}
	inv[1] = [segments]float64{inv[0][1], (m[0][0]*m[2][2] - m[0][2]*m[2][0]) * d, (m[0][2]*m[1][0] - m[0][0]*m[1][2]) * d}
	inv[2] = [segments]float64{inv[0][2], inv[1][2], (m[0][0]*m[1][1] - m[0][1]*m[1][0]) * d}
	return true
}

// sincos is math.Sincos, by its series for the small angles of a guided brush and of the arm: the first terms left out are below
// 1e-17.
func sincos(x float64) (sin, cos float64) {
	if !(x > -0.2 && x < 0.2) {
		return math.Sincos(x)
	}
	z := x * x
	sin = x + x*z*(-1./6+z*(1./120+z*(-1./5040+z*(1./362880-z*(1./39916800)))))
	cos = 1 + z*(-0.5+z*(1./24+z*(-1./720+z*(1./40320+z*(-1./3628800+z*(1./479001600))))))
	return sin, cos
}
