package lcp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// inCone tells whether q is a combination with coefficients ≥ 0 of linearly independent columns, exactly, for whole numbers. By
// Carathéodory's theorem it is in the cone of some columns when it is so for one of their independent subsets.
func inCone(columns [][]int64, q []int64) bool {
	n, k := len(q), len(columns)
	a := make([][]int64, n)
	for i := range a {
		for _, c := range columns {
			a[i] = append(a[i], c[i])
		}
		a[i] = append(a[i], q[i])
	}
	for c := range k {
		r := c
		for r < n && a[r][c] == 0 {
			r++
		}
		if r == n {
			return false // dependent
		}
		a[r], a[c] = a[c], a[r]
		for i := range a {
			f, p := a[i][c], a[c][c]
			if i == c || f == 0 {
				continue
			}
			g := int64(0)
			for j := range a[i] {
				a[i][j] = p*a[i][j] - f*a[c][j]
				g = gcd(g, a[i][j])
			}
			if g > 1 {
				for j := range a[i] {
					a[i][j] /= g
				}
			}
		}
	}
	for i := range a {
		if i < k && a[i][k]*a[i][i] < 0 || i >= k && a[i][k] != 0 {
			return false
		}
	}
	return true
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// whole is what is true of a problem of whole numbers: whether w = M·z + q, z ≥ 0, w ≥ 0 has a solution, and whether it has one with
// zᵀw = 0. All subsets of the columns of (I, −M) are tried, singular ones as well.
func whole(n int, m, q []int64) (feasible, solvable bool) {
	column := make([][]int64, 2*n)
	for j := range n {
		column[j], column[n+j] = make([]int64, n), make([]int64, n)
		column[j][j] = 1
		for i := range n {
			column[n+j][i] = -m[i*n+j]
		}
	}
	for set := range 1 << (2 * n) {
		var some [][]int64
		for j := range 2 * n {
			if set>>j&1 == 1 {
				some = append(some, column[j])
			}
		}
		paired := set&(set>>n)&(1<<n-1) != 0
		if len(some) > n || paired && feasible || !inCone(some, q) {
			continue
		}
		feasible = true
		if !paired {
			return true, true
		}
	}
	return feasible, false
}

func smallInts(r *rand.Rand, k, low, high int) []int64 {
	v := make([]int64, k)
	for i := range v {
		v[i] = int64(low + r.IntN(high-low+1))
	}
	return v
}

// wholeClasses are classes of matrices [CPS09] 3, of small whole numbers: ties and singular parts everywhere.
var wholeClasses = []struct {
	name string
	draw func(r *rand.Rand, n int) []int64
}{
	{"any", func(r *rand.Rand, n int) []int64 { return smallInts(r, n*n, -2, 2) }},
	{"signs", func(r *rand.Rand, n int) []int64 { return smallInts(r, n*n, -1, 1) }},
	{"negative", func(r *rand.Rand, n int) []int64 { return smallInts(r, n*n, -2, 0) }},
	{"not negative, with zeros", func(r *rand.Rand, n int) []int64 { return smallInts(r, n*n, 0, 1) }},
	{"copositive", func(r *rand.Rand, n int) []int64 { return added(product(r, n, 1), smallInts(r, n*n, 0, 2)) }},
	{"semidefinite", func(r *rand.Rand, n int) []int64 { return product(r, n, (n+1)/2) }},
	{"monotone", func(r *rand.Rand, n int) []int64 { return added(product(r, n, 1), skew(r, n)) }},
	{"skew-symmetric", skew},
	{"P, triangular", func(r *rand.Rand, n int) []int64 {
		m := smallInts(r, n*n, -2, 2)
		for i := range n {
			m[i*n+i] = int64(1 + r.IntN(2))
			clear(m[i*n+i+1 : i*n+n])
		}
		return m
	}},
	{"Z", func(r *rand.Rand, n int) []int64 {
		m := smallInts(r, n*n, -2, 0)
		for i := range n {
			m[i*n+i] = int64(r.IntN(4))
		}
		return m
	}},
	{"symmetric", func(r *rand.Rand, n int) []int64 {
		m := smallInts(r, n*n, -2, 2)
		for i := range n {
			for j := range i {
				m[i*n+j] = m[j*n+i]
			}
		}
		return m
	}},
	{"game", func(r *rand.Rand, n int) []int64 { return blocks(n, smallInts(r, n*n, 1, 3), smallInts(r, n*n, 1, 3)) }},
	{"game with zeros", func(r *rand.Rand, n int) []int64 { return blocks(n, smallInts(r, n*n, 0, 2), smallInts(r, n*n, 0, 2)) }},
	{"two-coloured", func(r *rand.Rand, n int) []int64 {
		return blocks(n, smallInts(r, n*n, -2, 2), smallInts(r, n*n, -2, 2))
	}},
	{"linear program", func(r *rand.Rand, n int) []int64 {
		m := blocks(n, smallInts(r, n*n, -2, 2), make([]int64, n*n))
		for i := range n {
			for j := range i {
				m[i*n+j] = -m[j*n+i]
			}
		}
		return m
	}},
	{"singular", func(r *rand.Rand, n int) []int64 {
		m := smallInts(r, n*n, -2, 2)
		if n > 1 {
			copy(m[n:2*n], m[:n])
		}
		return m
	}},
}

// product is A·Aᵀ of rank k or less.
func product(r *rand.Rand, n, k int) []int64 {
	a, m := smallInts(r, n*k, -2, 2), make([]int64, n*n)
	for i := range n {
		for j := range n {
			for l := range k {
				m[i*n+j] += a[i*k+l] * a[j*k+l]
			}
		}
	}
	return m
}

func skew(r *rand.Rand, n int) []int64 {
	m := make([]int64, n*n)
	for i := range n {
		for j := range i {
			m[i*n+j] = int64(r.IntN(5) - 2)
			m[j*n+i] = -m[i*n+j]
		}
	}
	return m
}

func added(a, b []int64) []int64 {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

// blocks keeps a in the upper right and b in the lower left corner of the matrix, zero elsewhere.
func blocks(n int, a, b []int64) []int64 {
	m, k := make([]int64, n*n), n/2
	for i := range n {
		for j := range n {
			switch {
			case i < k && j >= k:
				m[i*n+j] = a[i*n+j]
			case i >= k && j < k:
				m[i*n+j] = b[i*n+j]
			}
		}
	}
	return m
}

// Every class against exact enumeration: solved when there is a solution, otherwise a proof that there is no w ≥ 0, or the statement
// that there is no solution. The same in other units of every row and unknown, which change nothing in what is true.
func TestClassesAgainstExactEnumeration(t *testing.T) {
	for _, decades := range []float64{0, 1} {
		for _, c := range wholeClasses {
			count, by := map[string]int{}, map[Method]int{}
			for i := range 600 {
				r := rand.New(rand.NewPCG(uint64(i), 77))
				n := 1 + r.IntN(4)
				mi, qi := c.draw(r, n), smallInts(r, n, -3, 2)
				p := problem{c.name, n, make([]float64, n*n), make([]float64, n)}
				row, col := make([]float64, n), make([]float64, n)
				for k := range n {
					row[k], col[k] = math.Pow(10, decades*(2*r.Float64()-1)), math.Pow(10, decades*(2*r.Float64()-1))
				}
				for k, v := range mi {
					p.m[k] = float64(v) * row[k/n] * col[k%n]
				}
				for k, v := range qi {
					p.q[k] = float64(v) * row[k]
				}
				feasible, solvable := whole(n, mi, qi)
				res := run(t, p)
				by[res.Method]++
				want, ok := "solved", res.Status.OK()
				switch {
				case !feasible:
					want, ok = "infeasible", res.Status == RayInfeasible
				case !solvable:
					want, ok = "without a solution", res.NoSolution
				}
				if count[want]++; !ok {
					t.Errorf("%v: %s, got %+v", p, want, res)
				}
			}
			t.Logf("%-26s %v by %v", c.name, count, by)
		}
	}
}
