package machine

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/multibody"
)

// A body is real where its pseudo-inertia is positive definite [WKS18]:
//
//	J = [ ½·tr(I)·1 − I   m·c ]
//	    [ (m·c)ᵀ          m   ]        I about the origin of its axes
//
// The nearest real bodies are the minimum of a convex function over convex cones: the squares of what the torques say, over positive
// definite J and positive armatures and friction. It is found by the barrier method [BV04] ch. 11,
//
//	q(θ) + γ·Σ (tr(P⁻¹·J) − log det J)        γ → 0
//
// where the last term, up to a constant the divergence from the body P of the machine file [LWP20], keeps J definite and holds what the
// torques do not tell. Newton steps are taken by S in J = L·(1 + S)·Lᵀ with L the Cholesky factor of J [RW22]: the Hessian of the
// barrier is one at every J, so a body that is nearly flat is no narrow valley. An armature x is a cone of one number, x·(1 + s).

const (
	barrierFall   = 0.1  // of γ from one round to the next
	barrierShare  = 1e-5 // of the squares of all rows: the optimum is left at most that far away
	barrierRounds = 40
	newtonSteps   = 50   // of a round: more than it takes by far
	thinBody      = 1e-2 // eigenvalues of the pseudo-inertia of the file, by the size of the body, are lifted to this share
)

// Possible is the set of parameters of real bodies, with armatures and friction above zero, whose base parameters are nearest to those of
// theta, by what the rows tell of them. Of the sets that are as near it is the one nearest to the file. grown is the weighted rms of the
// rows over that with theta.
func (r *Result) Possible(theta []float64) (possible []float64, grown float64) {
	b := r.Base
	p, n := len(b.Pivot), len(b.Columns)
	rows := mat.NewDense(p, n, nil)
	rows.Mul(mat.NewDense(p, p, r.sys.tri), mat.NewDense(p, n, b.B))
	was := r.sys.sumSquares(b.Of(theta))
	s := newRealBodies(b, r.Model, rows, theta)
	s.descend(barrierShare * was)
	possible = s.theta()
	if grown = 1; was > 0 {
		grown = math.Sqrt(r.sys.sumSquares(b.Of(possible)) / was)
	}
	return possible, grown
}

// unreal is the probability below which chance does not put base parameters as far from those of real bodies.
const unreal = 0.01

// Unreal tells whether the base parameters of possible, which Possible made of theta, are further from those of theta than chance puts
// those that were found from the true ones: by what the rows tell of them, where the squares of the scores add up to a sum of chi squares
// [S46], and what was left out of theta.
func (r *Result) Unreal(theta, possible []float64) bool {
	b, p := r.Base, len(r.FreeParams)
	mean, square := 0.0, 0.0
	for i := range p {
		for j := range p {
			square += r.scatter[i*p+j] * r.scatter[i*p+j]
		}
		mean += r.scatter[i*p+i]
	}
	if !(square > 0) {
		return false
	}
	dof := mean * mean / square
	chance := square / mean * distuv.ChiSquared{K: dof}.Quantile(1-unreal)
	target := b.Of(theta)
	left := math.Max(r.sys.sumSquares(target)-r.sys.sumSquares(r.Values), 0)
	return r.sys.distance(b.Of(possible), target) > math.Sqrt(chance)+math.Sqrt(left)
}

// realBodies are a set of parameters on its way to the minimum.
type realBodies struct {
	rows   *mat.Dense // of q = ½·‖rows·(θ − target)‖²
	target []float64
	body   []realBody
	number []realNumber
}

// realBody is a pseudo-inertia J = L·Lᵀ.
type realBody struct {
	columns []int // columns of the ten inertial parameters
	l       *mat.Dense
	inv     *mat.Dense // P⁻¹, of the file
}

// realNumber is an armature or a friction, above zero, or an offset or lag, which may be any number and is held near its start.
type realNumber struct {
	column       int
	x, reference float64 // its value, and that of the file or the size of a usual one
	unbounded    bool
	start, size  float64
}

func newRealBodies(b *Base, m *multibody.Model, rows *mat.Dense, target []float64) *realBodies {
	s := &realBodies{rows: rows, target: target}
	size := b.sizes(m)
	file := b.Start()
	used := make([]bool, len(target))
	for j := 1; j <= m.Bodies(); j++ {
		var at []int
		for k := range b.Columns {
			if q := &b.Columns[k]; q.Inertial >= 0 && bodyOf(m, q.Joint) == j {
				at = append(at, k)
				used[k] = true
			}
		}
		if at != nil {
			s.body = append(s.body, newRealBody(at, file, size))
		}
	}
	for k := range b.Columns {
		c := &b.Columns[k]
		if used[k] {
			continue
		}
		x := realNumber{column: k, unbounded: c.Term == Offset || c.Term == Lag, size: size[k]}
		switch {
		case x.unbounded:
			x.x, x.start = target[k], target[k]
		case c.Term == Armature:
			x.reference = math.Max(file[k], rotorSize*size[b.inertiaOf(c.Joint, k)])
		default: // the record tells friction, or it stays as it is
			x.reference = math.Max(math.Abs(target[k]), 1e-6)
		}
		if !x.unbounded {
			x.x = x.reference
		}
		s.number = append(s.number, x)
	}
	return s
}

// inertiaOf is the column of a moment of inertia of the body of a joint; k where there is none.
func (b *Base) inertiaOf(joint, k int) int {
	for i := range b.Columns {
		if c := &b.Columns[i]; c.Joint == joint && c.Inertial == multibody.InertialParams-1 {
			return i
		}
	}
	return k
}

// newRealBody begins at the body of the file, one that is as large as others where the file has none.
func newRealBody(at []int, file, size []float64) realBody {
	mass, l := size[at[0]], size[at[1]]/size[at[0]]
	unit := mat.NewSymDense(4, nil) // of the body, divided by its mass and its size
	var p [multibody.InertialParams]float64
	for i, k := range at {
		p[i] = file[k]
	}
	if p[0] > 0 {
		j := pseudoInertia(&p)
		for r := range 4 {
			for q := range r + 1 {
				unit.SetSym(r, q, j[r][q]/mass/scaleOf(r, l)/scaleOf(q, l))
			}
		}
	} else {
		for r, x := range []float64{1. / 3, 1. / 3, 1. / 3, 1} {
			unit.SetSym(r, r, x)
		}
	}
	var eig mat.EigenSym
	var v, lifted mat.Dense
	if eig.Factorize(unit, true) {
		eig.VectorsTo(&v)
		d := mat.NewDiagDense(4, nil)
		for i, x := range eig.Values(nil) {
			d.SetDiag(i, math.Max(x, thinBody))
		}
		lifted.Product(&v, d, v.T())
	} else {
		lifted.CloneFrom(mat.NewDiagDense(4, []float64{1. / 3, 1. / 3, 1. / 3, 1}))
	}
	j := mat.NewSymDense(4, nil)
	for r := range 4 {
		for q := range r + 1 {
			j.SetSym(r, q, mass*lifted.At(r, q)*scaleOf(r, l)*scaleOf(q, l))
		}
	}
	out := realBody{columns: at}
	var chol mat.Cholesky
	chol.Factorize(j)
	var inv mat.SymDense
	if chol.InverseTo(&inv) == nil {
		out.inv = mat.DenseCopyOf(&inv)
	}
	var tri mat.TriDense
	chol.LTo(&tri)
	out.l = mat.DenseCopyOf(&tri)
	return out
}

// scaleOf is the length that row r of a pseudo-inertia has.
func scaleOf(r int, l float64) float64 {
	if r < 3 {
		return l
	}
	return 1
}

// pseudoInertia is J of ten parameters, and inertial are the parameters of a symmetric J.
func pseudoInertia(p *[multibody.InertialParams]float64) [4][4]float64 {
	h := (p[4] + p[7] + p[9]) / 2
	return [4][4]float64{{h - p[4], -p[5], -p[6], p[1]}, {-p[5], h - p[7], -p[8], p[2]}, {-p[6], -p[8], h - p[9], p[3]},
		{p[1], p[2], p[3], p[0]}}
}

func inertial(j mat.Matrix) [multibody.InertialParams]float64 {
	x, y, z := j.At(0, 0), j.At(1, 1), j.At(2, 2)
	return [...]float64{j.At(3, 3), j.At(0, 3), j.At(1, 3), j.At(2, 3), y + z, -j.At(0, 1), -j.At(0, 2), x + z, -j.At(1, 2), x + y}
}

// theta are the parameters.
func (s *realBodies) theta() []float64 {
	out := make([]float64, len(s.target))
	for i := range s.body {
		b := &s.body[i]
		var j mat.Dense
		j.Mul(b.l, b.l.T())
		for k, x := range inertial(&j) {
			out[b.columns[k]] = x
		}
	}
	for _, x := range s.number {
		out[x.column] = x.x
	}
	return out
}

// parts are q, the barrier, and by how much q may be above its minimum for every unit of γ.
func (s *realBodies) parts() (q, barrier, gap float64) {
	x := s.theta()
	floats.Sub(x, s.target)
	p, _ := s.rows.Dims()
	for i := range p {
		e := floats.Dot(s.rows.RawRowView(i), x)
		q += e * e / 2
	}
	for i := range s.body {
		b := &s.body[i]
		var j, t mat.Dense
		j.Mul(b.l, b.l.T())
		t.Mul(b.inv, &j)
		barrier += mat.Trace(&t)
		gap += 4 + mat.Trace(&t)
		for r := range 4 {
			barrier -= 2 * math.Log(b.l.At(r, r))
		}
	}
	for _, x := range s.number {
		if x.unbounded {
			d := (x.x - x.start) / x.size
			barrier += d * d / 2
			continue
		}
		barrier += x.x/x.reference - math.Log(x.x)
		gap += 1 + x.x/x.reference
	}
	return q, barrier, gap
}

// descend goes to within enough (of 2·q) of the minimum.
func (s *realBodies) descend(enough float64) {
	q, _, gap := s.parts()
	if enough == 0 {
		enough = 1e-9 * q
	}
	gamma := math.Max(q/gap, enough/gap)
	for range barrierRounds {
		for range newtonSteps {
			if s.step(gamma) < 1e-3 {
				break
			}
		}
		if _, _, gap = s.parts(); 2*gamma*gap <= enough {
			return
		}
		gamma *= barrierFall
	}
}

// basis are the ten symmetric matrices of length one in which S is counted.
var basis = func() (out [multibody.InertialParams]*mat.Dense) {
	k := 0
	for r := range 4 {
		for q := range r + 1 {
			e := mat.NewDense(4, 4, nil)
			if r == q {
				e.Set(r, r, 1)
			} else {
				e.Set(r, q, math.Sqrt2/2)
				e.Set(q, r, math.Sqrt2/2)
			}
			out[k] = e
			k++
		}
	}
	return out
}()

// step is a step of Newton with a search along it. It returns the Newton decrement squared, in units of the barrier: 0 where there is no
// way down.
func (s *realBodies) step(gamma float64) float64 {
	p, n := s.rows.Dims()
	free := len(basis)*len(s.body) + len(s.number)
	move := mat.NewDense(n, free, nil) // of θ by S and s
	slope := make([]float64, free)     // of the barrier; its second derivatives are one
	for i := range s.body {
		b := &s.body[i]
		var g mat.Dense
		g.Product(b.l.T(), b.inv, b.l)
		for k, e := range basis {
			var j mat.Dense
			j.Product(b.l, e, b.l.T())
			at := len(basis)*i + k
			for c, x := range inertial(&j) {
				move.Set(b.columns[c], at, x)
			}
			for r := range 4 {
				slope[at] += mat.Dot(g.RowView(r), e.RowView(r)) - e.At(r, r)
			}
		}
	}
	for i, x := range s.number {
		at := len(basis)*len(s.body) + i
		if x.unbounded {
			move.Set(x.column, at, x.size)
			slope[at] = (x.x - x.start) / x.size
			continue
		}
		move.Set(x.column, at, x.x)
		slope[at] = x.x/x.reference - 1
	}
	// least squares: rows of q, and √γ·(s + slope)
	a, y := mat.NewDense(p+free, free, nil), mat.NewDense(p+free, 1, nil)
	a.Slice(0, p, 0, free).(*mat.Dense).Mul(s.rows, move)
	off := s.theta()
	floats.Sub(off, s.target)
	down := make([]float64, free) // gradient of all
	for i := range p {
		e := floats.Dot(s.rows.RawRowView(i), off)
		y.Set(i, 0, -e)
		floats.AddScaled(down, e, a.RawRowView(i))
	}
	root := math.Sqrt(gamma)
	for k := range free {
		a.Set(p+k, k, root)
		y.Set(p+k, 0, -root*slope[k])
		down[k] += gamma * slope[k]
	}
	var qr mat.QR
	qr.Factorize(a)
	var step mat.Dense
	if qr.SolveTo(&step, false, y) != nil {
		return 0
	}
	d := step.RawMatrix().Data
	fall := floats.Dot(down, d)
	if !(fall < 0) {
		return 0
	}
	q, barrier, _ := s.parts()
	now := q + gamma*barrier
	for t := 1.0; t > 1e-9; t /= 2 {
		try, ok := s.stepAlong(t, d)
		if !ok {
			continue
		}
		if q, barrier, _ := try.parts(); q+gamma*barrier <= now+1e-4*t*fall {
			*s = *try
			return -fall / gamma
		}
	}
	return 0
}

// stepAlong is the set after t·d; false: it is no real one.
func (s *realBodies) stepAlong(t float64, d []float64) (*realBodies, bool) {
	out := *s
	out.body, out.number = append([]realBody(nil), s.body...), append([]realNumber(nil), s.number...)
	for i := range out.body {
		b := &out.body[i]
		one := mat.NewSymDense(4, nil)
		for r := range 4 {
			one.SetSym(r, r, 1)
		}
		for k, e := range basis {
			x := t * d[len(basis)*i+k]
			for r := range 4 {
				for q := range r + 1 {
					one.SetSym(r, q, one.At(r, q)+x*e.At(r, q))
				}
			}
		}
		var chol mat.Cholesky
		if !chol.Factorize(one) {
			return nil, false
		}
		var tri mat.TriDense
		chol.LTo(&tri)
		l := new(mat.Dense)
		l.Mul(b.l, &tri)
		b.l = l
	}
	for i := range out.number {
		x := &out.number[i]
		by := t * d[len(basis)*len(s.body)+i]
		if x.unbounded {
			x.x += by * x.size
			continue
		}
		if x.x *= 1 + by; !(x.x > 0) {
			return nil, false
		}
	}
	return &out, true
}
