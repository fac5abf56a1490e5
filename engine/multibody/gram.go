package multibody

import "math"

// gram solves A·x = b for a symmetric positive semidefinite A of any rank, by Cholesky's factors with complete pivoting of A scaled to
// a diagonal of 1 for the largest row of each group [GVL13] 4.2.8, 5.5: where rank is missing, x is the solution of least squares and
// least norm.
type gram struct {
	n, rank  int
	maxRank  int       // independent rows at most: what is left of others is the error of a position
	minPivot float64   // pivot that was taken, of 1
	a        []float64 // n×n; the lower factor afterwards, rows in the order of perm
	scale    []float64 // of row and column
	group    []int     // of row: rows of a group have the same scale
	perm     []int     // row k of the factor is row perm[k] of A
	c        []float64 // rank×rank factor of FᵀF where rank is missing
	t, u     []float64
}

// rankLimit is the part of the diagonal that has to be left of a row when those before it are taken away: rounding leaves about 1e-15,
// a row at an angle φ from the others φ², and one that has shrunk to φ of the largest of its group too.
const rankLimit = 1e-12

// nothing is the part of the largest diagonal below which a row is zero but for rounding, 1e-16 of a row squared; rows of moments and of
// forces on parts of 0.1 mm differ by 1e-8.
const nothing = 1e-22

func newGram(group []int) gram {
	n := len(group)
	return gram{n: n, maxRank: n, group: group, a: make([]float64, n*n), scale: make([]float64, n), perm: make([]int, n),
		c: make([]float64, n*n), t: make([]float64, n), u: make([]float64, n)}
}

// factor takes the lower triangle of a.
func (g *gram) factor() {
	n, a := g.n, g.a
	top := 0.0
	for i := range n {
		top = max(top, a[i*n+i])
	}
	clear(g.t)
	for i, k := range g.group {
		g.t[k] = max(g.t[k], a[i*n+i])
	}
	for i, k := range g.group {
		g.perm[i], g.scale[i] = i, 0
		if x := g.t[k]; x > nothing*top {
			g.scale[i] = 1 / math.Sqrt(x)
		}
	}
	for i := range n {
		for j := range i + 1 {
			a[i*n+j] *= g.scale[i] * g.scale[j]
		}
	}
	g.rank, g.minPivot = n, 1
	for k := range n {
		// largest rest of the diagonal; a row stays in its place unless another is clearly larger
		p := k
		for i := k + 1; i < n; i++ {
			if a[i*n+i] > a[p*n+p]*(1+1e-9) {
				p = i
			}
		}
		if k == g.maxRank || !(a[p*n+p] > rankLimit) {
			g.rank = k
			break
		}
		if p != k {
			g.swap(k, p)
		}
		g.minPivot = min(g.minPivot, a[k*n+k])
		d := math.Sqrt(a[k*n+k])
		a[k*n+k] = d
		d = 1 / d
		for i := k + 1; i < n; i++ {
			a[i*n+k] *= d
		}
		for i := k + 1; i < n; i++ {
			x := a[i*n+k]
			if x == 0 {
				continue
			}
			row := a[i*n : i*n+i+1]
			for j := k + 1; j <= i; j++ {
				row[j] -= x * a[j*n+k]
			}
		}
	}
	if g.rank < n {
		g.factorGram()
	}
}

// swap exchanges rows and columns k < p of the lower triangle.
func (g *gram) swap(k, p int) {
	n, a := g.n, g.a
	g.perm[k], g.perm[p] = g.perm[p], g.perm[k]
	for j := range k {
		a[k*n+j], a[p*n+j] = a[p*n+j], a[k*n+j]
	}
	for j := k + 1; j < p; j++ {
		a[j*n+k], a[p*n+j] = a[p*n+j], a[j*n+k]
	}
	for i := p + 1; i < n; i++ {
		a[i*n+k], a[i*n+p] = a[i*n+p], a[i*n+k]
	}
	a[k*n+k], a[p*n+p] = a[p*n+p], a[k*n+k]
}

// factorGram factors FᵀF for the n×rank factor F.
func (g *gram) factorGram() {
	n, r := g.n, g.rank
	for i := range r {
		for j := range i + 1 {
			x := 0.0
			for k := i; k < n; k++ {
				x += g.a[k*n+i] * g.a[k*n+j]
			}
			g.c[i*n+j] = x
		}
	}
	for i := range r {
		for j := range i + 1 {
			x := g.c[i*n+j]
			for k := range j {
				x -= g.c[i*n+k] * g.c[j*n+k]
			}
			if i == j {
				g.c[i*n+i] = math.Sqrt(x)
			} else {
				g.c[i*n+j] = x / g.c[j*n+j]
			}
		}
	}
}

// solve replaces b by the solution.
func (g *gram) solve(b []float64) {
	n, r, a, t := g.n, g.rank, g.a, g.t
	for k, p := range g.perm {
		t[k] = b[p] * g.scale[p]
	}
	if r == n {
		lowerSolve(a, n, n, t)
		upperSolve(a, n, n, t)
	} else {
		// A⁺ = F·(FᵀF)⁻¹·(FᵀF)⁻¹·Fᵀ
		u := g.u[:r]
		for j := range u {
			u[j] = 0
			for i := j; i < n; i++ {
				u[j] += a[i*n+j] * t[i]
			}
		}
		for range 2 {
			lowerSolve(g.c, n, r, u)
			upperSolve(g.c, n, r, u)
		}
		for i := range t {
			t[i] = 0
			for j := 0; j <= i && j < r; j++ {
				t[i] += a[i*n+j] * u[j]
			}
		}
	}
	for k, p := range g.perm {
		b[p] = t[k] * g.scale[p]
	}
}

func lowerSolve(l []float64, stride, n int, x []float64) {
	for i := range n {
		row, s := l[i*stride:i*stride+i+1], x[i]
		for j := range i {
			s -= row[j] * x[j]
		}
		x[i] = s / row[i]
	}
}

func upperSolve(l []float64, stride, n int, x []float64) {
	for i := n - 1; i >= 0; i-- {
		s := x[i]
		for j := i + 1; j < n; j++ {
			s -= l[j*stride+i] * x[j]
		}
		x[i] = s / l[i*stride+i]
	}
}
