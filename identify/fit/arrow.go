package fit

import "hilrig/engine/numeric"

// An arrow is the factor of columns some of which stand in blocks of rows, each of its own. Of every block these are eliminated first,
//
//	Qᵀ·[A_own A_shared b] = [R_own R_shared c; 0 A' b'],
//
// and what is left goes to the factor of the others, with the rows of no block. So work and room grow with the number of blocks, not with
// its square.
type arrow struct {
	blockColumns  [][]int // columns of every block
	sharedColumns []int   // the others
	heads         []head  // of the blocks
	tail          head    // of what is left of them
	tri           *numeric.Factor
	part          *numeric.Factor // of the block at work
	rest          float64         // sum of squares that no column of a block explains
}

// head are rows of a factor, upper triangular: those of a block, or all of what is left.
type head struct {
	columns []int     // columns
	r, c    []float64 // rows of so many numbers, and the right-hand side
}

// newArrow is one for the parameters of a problem, which eats so many rows at a time.
func newArrow(p *Problem, rows int) *arrow {
	a := &arrow{sharedColumns: p.sharedParams(), heads: make([]head, len(p.Local))}
	most := 0
	for _, l := range p.Local {
		a.blockColumns = append(a.blockColumns, append([]int{}, l.Params...))
		most = max(most, len(l.Params))
	}
	a.tri = numeric.NewFactorBlock(len(a.sharedColumns), max(rows, 1))
	a.part = numeric.NewFactor(most + len(a.sharedColumns))
	return a
}

// reset empties it.
func (a *arrow) reset() {
	a.tri.Resize(len(a.sharedColumns))
	a.rest = 0
}

// open begins block i: its own columns come first.
func (a *arrow) open(i int) (part *numeric.Factor, at []int) {
	a.part.Resize(len(a.blockColumns[i]) + len(a.sharedColumns))
	h := &a.heads[i]
	h.columns = append(append(h.columns[:0], a.blockColumns[i]...), a.sharedColumns...)
	return a.part, h.columns
}

// close eliminates the own columns of block i.
func (a *arrow) close(i int) {
	r, c := a.part.Triangle()
	h, own, n := &a.heads[i], len(a.blockColumns[i]), len(c)
	h.r, h.c = append(h.r[:0], r[:own*n]...), append(h.c[:0], c[:own]...)
	for k := own; k < n; k++ {
		a.tri.Add(r[k*n+own:k*n+n], c[k])
	}
	a.rest += a.part.SumSquares()
}

// sharedHead is the head of what is left of the blocks.
func (a *arrow) sharedHead() *head {
	r, c := a.tri.Triangle()
	a.tail = head{a.sharedColumns, r, c}
	return &a.tail
}

// eachHead calls see with all heads.
func (a *arrow) eachHead(see func(h *head)) {
	for i := range a.heads {
		see(&a.heads[i])
	}
	see(a.sharedHead())
}

// explained and unexplained are the parts of the sum of squares of the right-hand side that the columns explain and do not.
func (a *arrow) explained() (sum float64) {
	a.eachHead(func(h *head) {
		for _, v := range h.c {
			sum += v * v
		}
	})
	return sum
}

func (a *arrow) unexplained() float64 { return a.rest + a.tri.SumSquares() }

// solve writes the solution to x, by column; 0 for a column without any size of its own.
func (a *arrow) solve(x []float64) {
	a.sharedHead().backward(x)
	for i := range a.heads {
		a.heads[i].backward(x)
	}
}

// backward solves the rows for their leading columns; the others are known.
func (h *head) backward(x []float64) {
	n := len(h.columns)
	for k := len(h.c) - 1; k >= 0; k-- {
		s := h.c[k]
		for j := k + 1; j < n; j++ {
			s -= h.r[k*n+j] * x[h.columns[j]]
		}
		if x[h.columns[k]] = 0; h.r[k*n+k] != 0 {
			x[h.columns[k]] = s / h.r[k*n+k]
		}
	}
}
