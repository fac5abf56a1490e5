package machine

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/multibody"
)

// A body is real where its pseudo-inertia is positive definite [WKS18]:
//
//	J = [ ½·tr(I)·1 − I   m·c ]
//	    [ (m·c)ᵀ          m   ]        I about the origin of its axes
//
// which holds for any J = L·Lᵀ with L triangular and its diagonal an exponential [RW22]: the parameters of L are free of bounds.

// possibleSteps are more than a search takes by far.
const possibleSteps = 100

// tie is the weight of the sizes beside what the rows tell: a parameter that moves by its own size counts a tenth of a standard deviation.
const tie = 0.1

// Possible is the set of parameters of real bodies, with armatures above zero, nearest to theta: by what the rows tell of the base
// parameters, in standard deviations, and by the sizes of the parameters where they tell nothing. grown is the weighted rms of the
// rows over that with theta. Bodies without mass in the file stay so, and friction stays as it is.
func (r *Result) Possible(theta []float64) (possible []float64, grown float64) {
	b := r.Base
	n, p := len(b.Columns), len(b.Pivot)
	size := b.sizes(r.Model)
	// rows of the search: tri·B·(θ − θ_full) and tie·(θ − θ_full)/size
	tb := mat.NewDense(p, n, nil)
	tb.Mul(mat.NewDense(p, p, r.sys.tri), mat.NewDense(p, n, b.B))
	c := newCone(b, r.Model, theta, size)
	cost := func(z []float64) (float64, []float64) {
		x := c.theta(z)
		floats.Sub(x, theta)
		e := make([]float64, p+n)
		for i := range p {
			e[i] = floats.Dot(tb.RawRowView(i), x)
		}
		for k := range n {
			if size[k] > 0 {
				e[p+k] = tie * x[k] / size[k]
			}
		}
		return floats.Dot(e, e), e
	}
	// from what was found, lifted to real bodies, or from the file, whichever leads further down
	z, best := c.descend(c.z, cost, tb, size)
	if other, less := c.descend(newCone(b, r.Model, b.Start(), size).z, cost, tb, size); less < best {
		z = other
	}
	out := c.theta(z)
	was, now := r.sys.sumSquares(b.Of(theta)), r.sys.sumSquares(b.Of(out))
	if was > 0 {
		grown = math.Sqrt(now / was)
	} else {
		grown = 1
	}
	return out, grown
}

// descend is the search of Levenberg and Marquardt from z: tb are the derivatives of the first rows of the cost by the parameters, tie
// over size those of the others.
func (c *cone) descend(z []float64, cost func(z []float64) (float64, []float64), tb *mat.Dense, size []float64) ([]float64, float64) {
	p, n := tb.Dims()
	best, e := cost(z)
	if len(z) == 0 { // no body has mass, no joint an armature of its own
		return z, best
	}
	mu := 1e-3
	for range possibleSteps {
		jac := c.jacobian(z) // n × len(z)
		a := mat.NewDense(p+n, len(z), nil)
		a.Slice(0, p, 0, len(z)).(*mat.Dense).Mul(tb, jac)
		for k := range n {
			for j := range z {
				if size[k] > 0 {
					a.Set(p+k, j, tie*jac.At(k, j)/size[k])
				}
			}
		}
		var h mat.SymDense
		h.SymOuterK(1, a.T())
		g := mat.NewVecDense(len(z), nil)
		g.MulVec(a.T(), mat.NewVecDense(len(e), e))
		next, better := z, false
		for !better && mu < 1e12 {
			damped := mat.NewSymDense(len(z), nil)
			damped.CopySym(&h)
			for j := range z {
				damped.SetSym(j, j, h.At(j, j)*(1+mu)+1e-12)
			}
			var chol mat.Cholesky
			var step mat.VecDense
			if chol.Factorize(damped) && chol.SolveVecTo(&step, g) == nil {
				try := make([]float64, len(z))
				for j := range try {
					if try[j] = z[j] - step.AtVec(j); c.logarithm(j) { // by a factor of 20 at most
						try[j] = z[j] - math.Max(-3, math.Min(3, step.AtVec(j)))
					}
				}
				if now, et := cost(try); now < best {
					better = now < best*(1-1e-9)
					next, best, e = try, now, et
					mu /= 5
					break
				}
			}
			mu *= 4
		}
		z = next
		if !better {
			break
		}
	}
	return z, best
}

// cone maps free numbers to parameters of real bodies.
type cone struct {
	at    [][]int // columns of the inertia of each body; nil: none, or no mass
	rest  []int   // columns of armatures, a logarithm each
	fixed []float64
	z     []float64 // where the search begins
}

func newCone(b *Base, m *multibody.Model, theta, size []float64) *cone {
	c := &cone{fixed: theta}
	used := make([]bool, len(theta))
	for j := 1; j <= m.Bodies(); j++ {
		var at []int
		any := m.InertiaOf(j).Mass > 0 // the same for every start
		for k := range b.Columns {
			if q := &b.Columns[k]; q.Inertial >= 0 && bodyOf(m, q.Joint) == j {
				at = append(at, k)
				used[k] = true
			}
		}
		if at == nil || !any {
			continue
		}
		c.at = append(c.at, at)
		c.z = append(c.z, startOf(at, theta, size)...)
	}
	for k := range b.Columns {
		if used[k] || size[k] == 0 {
			continue
		}
		if b.Columns[k].Term == Armature {
			c.rest = append(c.rest, k)
			c.z = append(c.z, math.Log(math.Max(theta[k], 1e-3*size[k])))
		}
	}
	return c
}

// startOf is the triangle of the pseudo-inertia of a body, with its eigenvalues lifted above zero, each axis by its size.
func startOf(at []int, theta, size []float64) []float64 {
	m := math.Max(theta[at[0]], 1e-3*size[at[0]])
	l := size[at[1]] / size[at[0]]
	tr := (theta[at[4]] + theta[at[7]] + theta[at[9]]) / 2
	j := mat.NewSymDense(4, nil)
	diag := [3]int{4, 7, 9}
	off := [3][3]int{{0, 5, 6}, {5, 0, 8}, {6, 8, 0}}
	for r := range 3 {
		j.SetSym(r, r, (tr-theta[at[diag[r]]])/(l*l))
		for q := range r {
			j.SetSym(r, q, -theta[at[off[r][q]]]/(l*l))
		}
		j.SetSym(r, 3, theta[at[1+r]]/l)
	}
	j.SetSym(3, 3, m)
	var eig mat.EigenSym
	if !eig.Factorize(j, true) {
		return make([]float64, 10)
	}
	values := eig.Values(nil)
	least := 1e-4 * math.Max(values[3], m)
	var v mat.Dense
	eig.VectorsTo(&v)
	lifted := mat.NewSymDense(4, nil)
	for r := range 4 {
		for q := range r + 1 {
			sum := 0.0
			for k := range 4 {
				sum += v.At(r, k) * math.Max(values[k], least) * v.At(q, k)
			}
			s := 1.0 // back to metres
			if r < 3 {
				s *= l
			}
			if q < 3 {
				s *= l
			}
			lifted.SetSym(r, q, sum*s)
		}
	}
	var chol mat.Cholesky
	chol.Factorize(lifted)
	var tri mat.TriDense
	chol.LTo(&tri)
	var z []float64
	for r := range 4 {
		for q := range r + 1 {
			if x := tri.At(r, q); r == q {
				z = append(z, math.Log(x))
			} else {
				z = append(z, x)
			}
		}
	}
	return z
}

// logarithm tells whether number j is one.
func (c *cone) logarithm(j int) bool {
	if j < 10*len(c.at) {
		r := j % 10
		return r == 0 || r == 2 || r == 5 || r == 9 // the diagonal of a triangle, row by row
	}
	return true
}

// triangle is L of ten numbers.
func triangle(z []float64) (l [4][4]float64) {
	k := 0
	for r := range 4 {
		for q := range r + 1 {
			if l[r][q] = z[k]; r == q {
				l[r][q] = math.Exp(z[k])
			}
			k++
		}
	}
	return l
}

// inertial are the ten parameters of the symmetric matrix Σ L_i·K_j, a linear map of J.
func inertial(j *[4][4]float64) [multibody.InertialParams]float64 {
	tr := j[0][0] + j[1][1] + j[2][2]
	return [...]float64{j[3][3], j[0][3], j[1][3], j[2][3], tr - j[0][0], -j[0][1], -j[0][2], tr - j[1][1], -j[1][2], tr - j[2][2]}
}

// outer is A·Bᵀ + B·Aᵀ, halved.
func outer(a, b *[4][4]float64) (j [4][4]float64) {
	for r := range 4 {
		for q := range 4 {
			for k := range 4 {
				j[r][q] += (a[r][k]*b[q][k] + b[r][k]*a[q][k]) / 2
			}
		}
	}
	return j
}

// theta are the parameters of z.
func (c *cone) theta(z []float64) []float64 {
	out := append([]float64(nil), c.fixed...)
	for i, at := range c.at {
		l := triangle(z[10*i : 10*i+10])
		j := outer(&l, &l)
		p := inertial(&j)
		for k, col := range at {
			out[col] = p[k]
		}
	}
	for i, k := range c.rest {
		out[k] = math.Exp(z[10*len(c.at)+i])
	}
	return out
}

// jacobian is that of theta.
func (c *cone) jacobian(z []float64) *mat.Dense {
	out := mat.NewDense(len(c.fixed), len(z), nil)
	for i, at := range c.at {
		l := triangle(z[10*i : 10*i+10])
		k := 0
		for r := range 4 {
			for q := range r + 1 {
				var d [4][4]float64
				if d[r][q] = 1; r == q {
					d[r][q] = l[r][q]
				}
				j := outer(&l, &d)
				p := inertial(&j)
				for n, col := range at {
					out.Set(col, 10*i+k, 2*p[n])
				}
				k++
			}
		}
	}
	for i, k := range c.rest {
		out.Set(k, 10*len(c.at)+i, math.Exp(z[10*len(c.at)+i]))
	}
	return out
}
