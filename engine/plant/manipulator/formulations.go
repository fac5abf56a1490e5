package manipulator

import "hilrig/engine"

// Formulation is how the equations are set up offline.
type Formulation int

const (
	Partition Formulation = iota // of coordinates: one joint and λ are eliminated [Lip] (25)–(28)
	Full                         // all accelerations and λ in one system of equations
)

func (f Formulation) String() string { return [...]string{"partition", "full"}[f] }

// Formulations are the words for them.
var Formulations = map[string]Formulation{Partition.String(): Partition, Full.String(): Full}

// full is the whole matrix with its multiplier.
type full struct {
	lu engine.LU
	b  []float64
}

func (f *full) factor(w *work, closed bool) error {
	m := w.m
	nf, nc := len(m.freeJoints), m.beam.N
	n := nf + nc
	if closed {
		n++
	}
	if f.b == nil {
		f.lu, f.b = engine.NewLU(nf+nc+1), make([]float64, nf+nc+1)
	}
	f.lu.Resize(n)
	a := f.lu.A
	clear(a)
	for r, i := range m.freeJoints {
		for c, j := range m.freeJoints {
			a[r*n+c] = w.pose.m[i][j]
		}
		if closed {
			a[r*n+n-1], a[(n-1)*n+r] = w.jr[i], w.jr[i]
		}
	}
	for r := range nc {
		for c := max(0, r-3); c <= min(nc-1, r+3); c++ {
			a[(nf+r)*n+nf+c] = m.beam.M.At(r, c)
		}
	}
	if closed {
		for k, i := range w.c.I {
			if i >= 0 {
				a[(nf+i)*n+n-1], a[(n-1)*n+nf+i] = w.c.N[k], w.c.N[k]
			}
		}
	}
	if !f.lu.Factor() {
		return ErrSingular
	}
	return nil
}

func (f *full) solve(w *work, closed bool, xf *joints, xc []float64, r float64) (lambda float64) {
	nf := len(w.m.freeJoints)
	b := append(append(f.b[:0], xf[:nf]...), xc...)
	if closed {
		b = append(b, r)
	}
	f.lu.Solve(b)
	copy(xf[:nf], b)
	copy(xc, b[nf:])
	if closed {
		lambda = b[len(b)-1]
	}
	return lambda
}

// partition eliminates the joint w.dep, v, and λ. With B1 = J_Ru/J_Rv, B3 = N/J_Rv and B2 = γ/J_Rv the dependent acceleration is
// v″ = −B1·u″ − B3·q_c″ − B2, and what is left is [Lip] (28), with M11* set right in its third term and M22* and Q1* as derived:
//
//	M11* = M_uu − B1ᵀ·M_vu − M_uv·B1 + B1ᵀ·M_vv·B1,   M12* = −M_uv·B3 + B1ᵀ·M_vv·B3,   M22* = M_c + B3ᵀ·M_vv·B3
//	Q1*  = Q_u − B1ᵀ·Q_v − M_uv·B2 + B1ᵀ·M_vv·B2,     Q2* = −B3ᵀ·Q_v + B3ᵀ·M_vv·B2 (beside D·q_c′ + K·q_c)
//
// Without contact all joints are independent, and it is full.
type partition struct {
	noContact full
	lu        engine.LU
	b         []float64
	b1        joints
	b3        [4]float64
	v         int // joint
	u         [MostJoints]int
	nu        int
}

func (f *partition) factor(w *work, closed bool) error {
	if !closed {
		return f.noContact.factor(w, closed)
	}
	m, p := w.m, &w.pose
	nc := m.beam.N
	f.nu = 0
	for k, i := range m.freeJoints {
		if k == w.dep {
			f.v = i
		} else {
			f.u[f.nu] = i
			f.nu++
		}
	}
	nu, v := f.nu, f.v
	jv := w.jr[v]
	if jv == 0 {
		return ErrSingular
	}
	n := nu + nc
	if f.b == nil {
		f.lu, f.b = engine.NewLU(n), make([]float64, n)
	}
	a := f.lu.A
	clear(a)
	for k, i := range f.u[:nu] {
		f.b1[k] = w.jr[i] / jv
	}
	for k := range f.b3 {
		f.b3[k] = w.c.N[k] / jv
	}
	mvv := p.m[v][v]
	for r, i := range f.u[:nu] {
		for c, j := range f.u[:nu] {
			a[r*n+c] = p.m[i][j] - f.b1[r]*p.m[v][j] - p.m[i][v]*f.b1[c] + f.b1[r]*mvv*f.b1[c]
		}
		for k, at := range w.c.I {
			if at >= 0 {
				x := (-p.m[i][v] + f.b1[r]*mvv) * f.b3[k]
				a[r*n+nu+at], a[(nu+at)*n+r] = x, x
			}
		}
	}
	for r := range nc {
		for c := max(0, r-3); c <= min(nc-1, r+3); c++ {
			a[(nu+r)*n+nu+c] = m.beam.M.At(r, c)
		}
	}
	for k, r := range w.c.I {
		for l, c := range w.c.I {
			if r >= 0 && c >= 0 {
				a[(nu+r)*n+nu+c] += f.b3[k] * mvv * f.b3[l]
			}
		}
	}
	if !f.lu.Factor() {
		return ErrSingular
	}
	return nil
}

// solve takes −Q as right side xf and −γ as r.
func (f *partition) solve(w *work, closed bool, xf *joints, xc []float64, r float64) float64 {
	if !closed {
		return f.noContact.solve(w, closed, xf, xc, r)
	}
	m, p := w.m, &w.pose
	v, nu := f.v, f.nu
	mvv, b2 := p.m[v][v], -r/w.jr[v]
	qv := xf[w.dep] // −Q_v
	b := f.b
	at := 0
	for k := range m.freeJoints {
		if k == w.dep {
			continue
		}
		i := f.u[at]
		b[at] = xf[k] - f.b1[at]*qv + p.m[i][v]*b2 - f.b1[at]*mvv*b2
		at++
	}
	copy(b[nu:], xc)
	for k, i := range w.c.I {
		if i >= 0 {
			b[nu+i] -= f.b3[k] * (qv + mvv*b2)
		}
	}
	f.lu.Solve(b)
	copy(xc, b[nu:])
	vdd := -b2
	for k, i := range w.c.I {
		if i >= 0 {
			vdd -= f.b3[k] * xc[i]
		}
	}
	reach := qv
	for k, i := range f.u[:nu] {
		vdd -= f.b1[k] * b[k]
		reach -= p.m[v][i] * b[k]
	}
	at = 0
	for k := range m.freeJoints {
		if k == w.dep {
			xf[k] = vdd
			continue
		}
		xf[k] = b[at]
		at++
	}
	return (reach - mvv*vdd) / w.jr[v]
}
