package contact

import "math"

// pivoted solves K·x = b where rows of K may depend on each other: contacts that hold a body in more ways than it has.
// Elimination takes the largest number left as its pivot; what is below 1e-10 of the largest is dependence, and the unknowns
// that remain are zero.
type pivoted struct {
	a        []float64 // n×n, is overwritten
	b        []float64
	row, col []int
}

func newPivoted(n int) *pivoted {
	return &pivoted{a: make([]float64, n*n), b: make([]float64, n), row: make([]int, n), col: make([]int, n)}
}

const rankTol = 1e-10

// solve fills x. It returns the rank, and the largest number that the dependent rows leave over: not zero when the equations
// contradict each other.
func (p *pivoted) solve(n int, x []float64) (rank int, left float64) {
	a, b := p.a, p.b
	for i := range n {
		p.row[i], p.col[i] = i, i
	}
	first := 0.0
	for rank = 0; rank < n; rank++ {
		big, r, c := 0.0, rank, rank
		for i := rank; i < n; i++ {
			for j := rank; j < n; j++ {
				if v := math.Abs(a[p.row[i]*n+p.col[j]]); v > big {
					big, r, c = v, i, j
				}
			}
		}
		if rank == 0 {
			first = big
		}
		if !(big > rankTol*first) {
			break
		}
		p.row[rank], p.row[r] = p.row[r], p.row[rank]
		p.col[rank], p.col[c] = p.col[c], p.col[rank]
		top, at := a[p.row[rank]*n:p.row[rank]*n+n], p.col[rank]
		for i := rank + 1; i < n; i++ {
			to := a[p.row[i]*n : p.row[i]*n+n]
			f := to[at] / top[at]
			if f == 0 {
				continue
			}
			for j := rank; j < n; j++ {
				to[p.col[j]] -= f * top[p.col[j]]
			}
			b[p.row[i]] -= f * b[p.row[rank]]
		}
	}
	for i := rank; i < n; i++ {
		left = max(left, math.Abs(b[p.row[i]]))
		x[p.col[i]] = 0
	}
	for i := rank - 1; i >= 0; i-- {
		row, s := a[p.row[i]*n:p.row[i]*n+n], b[p.row[i]]
		for j := i + 1; j < rank; j++ {
			s -= row[p.col[j]] * x[p.col[j]]
		}
		x[p.col[i]] = s / row[p.col[i]]
	}
	return rank, left
}
