package machine

import (
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/circuit/servo"
	"hilrig/engine/multibody"
)

// Mode is one way in which a machine moves about its equilibrium, as e^(λt): an eigenvalue of its linear equations, one of each pair.
type Mode struct {
	Eigenvalue complex128   // 1/s, imaginary part ≥ 0
	Error      float64      // 1/s  of it, by those of the differences; at least
	Share      []float64    // of each of Modes.States in it, in sum 1: participation, which has no unit
	Shape      []complex128 // of each of Modes.States, the largest of the positions 1, or of all where no position moves
}

// Frequency is that of its vibration (Hz).
func (m *Mode) Frequency() float64 { return imag(m.Eigenvalue) / (2 * math.Pi) }

// Damping is the damping ratio: 1 where nothing vibrates, negative where it grows; NaN of an eigenvalue 0.
func (m *Mode) Damping() float64 {
	if m.Eigenvalue == 0 {
		return math.NaN()
	}
	return -real(m.Eigenvalue) / cmplx.Abs(m.Eigenvalue)
}

// Modes are all modes of a machine, the slowest first.
type Modes struct {
	List          []Mode
	States        []engine.Signal // positions of joints, then states of the parts
	Loose         []string        // joints whose friction sticks: it is left out
	Constant      []string        // states that do not rest, which are held: temperatures
	FreePositions []string        // positions on which no force depends: the machine rests wherever they are
	Kinks         []string        // states in which a force has a kink there: the slope is the mean of both sides
}

// Modes moves x to the static equilibrium that Equilibrate finds without friction that sticks, and tells the eigenvalues of the linear
// equations about it, sources as at the time t (s). With controllers x has to rest already. The equations are
//
//	da/dt = b,   db/dt = Nᵀ·dv/dt,   dz/dt,   q = q0 + N·a closed by the shortest way,   v = N·b,
//
// with N an orthonormal basis of the velocities that the constraints let be; their slopes are differences of order 4, of the length at
// which two agree best.
func (m *Machine) Modes(t float64, x []float64) (out Modes, err error) {
	switch {
	case len(m.rows.list) > 0:
		return out, errors.New("rows between speeds and currents have no modes")
	case m.sampling():
		return out, errors.New("a controller that samples has no eigenvalues: leave out its every")
	}
	for k := range m.dryJoints {
		m.dryJoints[k].dir = 1 // it slips, without a force
		out.Loose = append(out.Loose, m.axes[m.dryJoints[k].axis].name)
	}
	m.slippery = true
	defer func() { m.slippery = false }()
	if !slices.ContainsFunc(m.Parts, func(p drivetrain.Part) bool { _, ok := p.(*servo.Part); return ok }) {
		if _, err := m.findEquilibrium(t, x); err != nil {
			return out, fmt.Errorf("%w. What drives a machine round leaves it none: the modes at rest are those with the source at 0", err)
		}
	}
	l := &linear{m: m, t: t, x: x}
	if err := l.tangent(); err != nil {
		return out, err
	}
	if err := l.slopes(&out); err != nil {
		return out, err
	}
	out.List = l.eigen()
	out.FreePositions = l.free(&out)
	return out, nil
}

// free are the positions along which no force changes: rows of the null space of the slopes by positions.
func (l *linear) free(out *Modes) (names []string) {
	n := l.size()
	var svd mat.SVD
	if l.d == 0 || !svd.Factorize(l.a.Slice(l.d, n, 0, l.d), mat.SVDFullV) {
		return nil
	}
	var v, way mat.Dense
	svd.VTo(&v)
	sizes := svd.Values(nil)
	least := 10*mat.Norm(l.errors.Slice(l.d, n, 0, l.d), 2) + 1e-10*sizes[0]
	null := l.d
	for null > 0 && (null > len(sizes) || sizes[null-1] <= least) {
		null--
	}
	if null == l.d {
		return nil
	}
	way.Mul(l.basis, v.Slice(0, l.d, null, l.d))
	for k := range l.n {
		if mat.Norm(way.RowView(k), 2) > 1e-3 {
			names = append(names, out.States[k].Name)
		}
	}
	return names
}

// linear are the equations about the state x.
type linear struct {
	m      *Machine
	t      float64
	x      []float64
	n, d   int        // velocities, of them free
	basis  *mat.Dense // n×d
	z      []int      // states of the parts that are not held
	a      *mat.Dense // slopes of a, b, z
	errors *mat.Dense // their errors
}

func (l *linear) size() int { return 2*l.d + len(l.z) }

// tangent finds the velocities that the constraints let be: what Project leaves of each.
func (l *linear) tangent() error {
	m := l.m
	q0, v0, _ := m.split(l.x)
	l.n = len(v0)
	m.drive(l.t)
	q, v := make([]float64, len(q0)), make([]float64, l.n)
	project := func(i int) error {
		copy(q, q0)
		clear(v)
		if i >= 0 {
			v[i] = 1
		}
		if st := multibody.Project(m.Model, m.Data, q, v); st != multibody.OK {
			return errors.New(m.open(st))
		}
		return nil
	}
	if m.Model.NC() > 0 {
		if err := project(-1); err != nil {
			return err
		}
		if slices.ContainsFunc(v, func(x float64) bool { return math.Abs(x) > 1e-12 }) {
			return errors.New("a motion is prescribed that moves at the start: there is no equilibrium")
		}
		if m.Data.Rank < m.Data.FullRank {
			return errors.New("the equilibrium is a singular position of the loops: the equations are not linear there")
		}
	}
	all := mat.NewDense(l.n, l.n, nil)
	for i := range l.n {
		clear(v)
		if v[i] = 1; m.Model.NC() > 0 {
			if err := project(i); err != nil {
				return err
			}
		}
		all.SetCol(i, v)
	}
	var svd mat.SVD
	if !svd.Factorize(all, mat.SVDFull) {
		return errors.New("the velocities that the constraints let be were not found")
	}
	if l.d = svd.Rank(1e-9); l.d == 0 {
		return errors.New("the machine has no degree of freedom")
	}
	var u mat.Dense
	svd.UTo(&u)
	l.basis = mat.DenseCopyOf(u.Slice(0, l.n, 0, l.d))
	return nil
}

// rates are those of a, b and z where entry i of them is h from the equilibrium; i < 0: there.
func (l *linear) rates(i int, h float64) (out []float64, ok bool) {
	m := l.m
	at, dx := append([]float64(nil), l.x...), make([]float64, len(l.x))
	q, v, z := m.split(at)
	step := make([]float64, l.n)
	switch {
	case i < 0:
	case i < 2*l.d:
		mat.Col(step, i%l.d, l.basis)
		for k := range step {
			step[k] *= h
		}
		if i >= l.d {
			copy(v, step)
			break
		}
		to := make([]float64, len(q))
		multibody.Integrate(m.Model, q, step, 1, to)
		copy(q, to)
		if m.Model.NC() > 0 {
			m.drive(l.t)
			if multibody.Project(m.Model, m.Data, q, v) != multibody.OK {
				return nil, false
			}
		}
	default:
		z[l.z[i-2*l.d]] += h
	}
	if st := m.Flow(l.t, at, dx); st != multibody.OK && st != multibody.Singular {
		return nil, false
	}
	_, dv, dz := m.split(dx)
	reduced := func(v []float64) {
		for c := range l.d {
			x := 0.0
			for k := range l.n {
				x += l.basis.At(k, c) * v[k]
			}
			out = append(out, x)
		}
	}
	reduced(v)
	reduced(dv)
	for _, k := range l.z {
		out = append(out, dz[k])
	}
	for _, x := range out {
		ok = ok || x-x != 0
	}
	return out, !ok
}

// slopes finds the matrix of the equations, and what is not smooth or does not rest.
func (l *linear) slopes(out *Modes) error {
	const lengths = 7 // 1e-2 … 1e-8 of rad, m, A, …
	m := l.m
	columns := m.Columns()
	nq, nv := m.Model.NQ(), m.Model.NV()
	for k := range m.states {
		l.z = append(l.z, k)
	}
	rest, ok := l.rates(-1, 0)
	if !ok {
		return errors.New(m.named(multibody.NonFinite))
	}
	l.z = slices.DeleteFunc(l.z, func(k int) bool {
		hot := m.states[k].Unit == "°C" && math.Abs(rest[2*l.d+k]) > 1e-12
		if hot {
			out.Constant = append(out.Constant, columns[nq+nv+k].Name)
		}
		return hot
	})
	for _, c := range columns[nq : nq+nv] {
		if name, ok := strings.CutSuffix(c.Name, ".v"); ok {
			c.Name = name + ".q"
		}
		c.Unit = strings.TrimSuffix(c.Unit, "/s")
		out.States = append(out.States, c)
	}
	for _, k := range l.z {
		out.States = append(out.States, columns[nq+nv+k])
	}
	rest, _ = l.rates(-1, 0)
	n := l.size()
	l.a, l.errors = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for j := range n {
		var tries [lengths][]float64
		kink := false
		for k := range tries {
			h := math.Pow(10, -2-float64(k))
			var f [4][]float64
			good := true
			for e, s := range [4]float64{-2, -1, 1, 2} {
				var ok bool
				f[e], ok = l.rates(j, s*h)
				good = good && ok
			}
			if !good {
				continue
			}
			tries[k] = make([]float64, n)
			for i := range n {
				tries[k][i] = (8*(f[2][i]-f[1][i]) - (f[3][i] - f[0][i])) / (12 * h)
				if k == 4 { // bent: both sides together have a slope
					both := math.Abs(f[2][i]+f[1][i]-2*rest[i]) / h
					kink = kink || both > 1e-2*math.Abs(tries[k][i]) && both > 1e-4
				}
			}
		}
		for i := range n {
			best := math.Inf(1)
			for k := range lengths - 1 {
				if tries[k] != nil && tries[k+1] != nil {
					if e := math.Abs(tries[k][i] - tries[k+1][i]); e < best {
						best = e
						l.a.Set(i, j, tries[k][i])
					}
				}
			}
			if math.IsInf(best, 1) {
				return fmt.Errorf("the equations cannot be followed near the equilibrium, along %s", l.named(j, out))
			}
			l.errors.Set(i, j, best+1e-13*math.Abs(l.a.At(i, j)))
		}
		if kink {
			out.Kinks = append(out.Kinks, l.named(j, out))
		}
	}
	for i := range n {
		scale := 0.0
		for j := range n {
			scale += math.Abs(l.a.At(i, j))
		}
		if math.Abs(rest[i]) > 1e-6*scale+1e-9 {
			return fmt.Errorf("the machine does not rest at the start: %s has a rate of %.3g, "+
				"and a controller sets what depends on where it is; give it a start at rest", l.named(i, out), rest[i])
		}
	}
	return nil
}

// named is what moves most with entry j of a, b and z.
func (l *linear) named(j int, out *Modes) string {
	if j >= 2*l.d {
		return out.States[l.n+j-2*l.d].Name
	}
	best := 0
	for k := range l.n {
		if math.Abs(l.basis.At(k, j%l.d)) > math.Abs(l.basis.At(best, j%l.d)) {
			best = k
		}
	}
	return out.States[best].Name
}

// eigen are the modes. Of an eigenvalue a part that its error may make 0 is 0.
func (l *linear) eigen() (list []Mode) {
	n := l.size()
	var e mat.Eigen
	if !e.Factorize(l.a, mat.EigenBoth) {
		return nil
	}
	var right, left mat.CDense
	e.VectorsTo(&right)
	e.LeftVectorsTo(&left)
	rounding := 0x1p-52 * mat.Norm(l.a, 2)
	for i, lambda := range e.Values(nil) {
		if imag(lambda) < 0 {
			continue
		}
		var dot complex128
		off := 0.0
		for k := range n {
			dot += cmplx.Conj(left.At(k, i)) * right.At(k, i)
			for j := range n {
				off += cmplx.Abs(left.At(k, i)) * (l.errors.At(k, j) + rounding) * cmplx.Abs(right.At(j, i))
			}
		}
		off /= cmplx.Abs(dot)
		re, im := real(lambda), imag(lambda)
		if math.Abs(re) <= 10*off {
			re = 0
		}
		if math.Abs(im) <= 10*off {
			im = 0
		}
		if lambda = complex(re, im); off-off != 0 { // two of them in one
			lambda = 0
		}
		mode := Mode{Eigenvalue: lambda, Error: off, Share: make([]float64, l.n+len(l.z)), Shape: make([]complex128, l.n+len(l.z))}
		take := func(to int, share float64, k int) {
			mode.Share[to] += share * cmplx.Abs(left.At(k, i)) * cmplx.Abs(right.At(k, i))
		}
		for k := range l.n {
			for c := range l.d {
				x := l.basis.At(k, c)
				mode.Shape[k] += complex(x, 0) * right.At(c, i)
				take(k, x*x, c)
				take(k, x*x, l.d+c)
			}
		}
		for k := range l.z {
			mode.Shape[l.n+k] = right.At(2*l.d+k, i)
			take(l.n+k, 1, 2*l.d+k)
		}
		mode.normalise(l.n)
		list = append(list, mode)
	}
	slices.SortStableFunc(list, func(a, b Mode) int {
		switch x, y := cmplx.Abs(a.Eigenvalue), cmplx.Abs(b.Eigenvalue); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return list
}

// normalise makes the shares 1 in sum, and the largest of the first n entries of the shape 1.
func (m *Mode) normalise(n int) {
	sum := 0.0
	for _, x := range m.Share {
		sum += x
	}
	if sum > 0 {
		for k := range m.Share {
			m.Share[k] /= sum
		}
	}
	top, all := complex(0, 0), complex(0, 0)
	for k, x := range m.Shape {
		if k < n && cmplx.Abs(x) > cmplx.Abs(top) {
			top = x
		}
		if cmplx.Abs(x) > cmplx.Abs(all) {
			all = x
		}
	}
	if cmplx.Abs(top) < 1e-9*cmplx.Abs(all) {
		top = all
	}
	if top != 0 {
		for k := range m.Shape {
			m.Shape[k] /= top
		}
	}
}
