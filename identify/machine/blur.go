package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
	"hilrig/identify/linear"
)

// Rows beside slow motion. The low-pass mixes what friction does at rest into them, where it is not that of sliding. But a reversal is
// also where the angle is at its end and the acceleration large: what weight and a constant torque have apart is told there. So rows
// beside slow ones are left out over as many periods of the cutoff as leave every parameter half of what the rows that move say of it.

// blurs are the periods of the cutoff beside slow samples, tried in turn.
var blurs = []float64{1, 0.5, 0.25, 0}

const (
	blurKeeps = 0.5 // of the rows that move are kept beside slow ones
	blurTells = 0.5 // of what they say of every parameter, the inverse of the square of its standard error, is kept
	findBlur  = -1  // as place among blurs: found in the record
)

// keptRows tells which rows count for a joint: those that are at least as fast as limit, and no nearer than blur (samples) to slower ones.
func (f *filters) keptRows(v []float64, limit float64, blur int) []bool {
	slow := make([]int, len(v)+1) // before a sample
	for k, x := range v {
		slow[k+1] = slow[k]
		if math.Abs(x) < limit {
			slow[k+1]++
		}
	}
	var out []bool
	for k := f.skip; k < len(v)-f.skip; k += f.rowStep {
		out = append(out, slow[min(k+blur+1, len(v))] == slow[max(k-blur, 0)])
	}
	return out
}

func tally(kept []bool) (n int) {
	for _, k := range kept {
		if k {
			n++
		}
	}
	return n
}

// keptByBlur are the rows of a block that are kept with each of blurs; where that leaves too few, fewer are left out.
func (f *filters) keptByBlur(v []float64, limit, cutoff float64) [][]bool {
	out := make([][]bool, len(blurs))
	moving := f.keptRows(v, limit, 0)
	for i := len(blurs) - 1; i >= 0; i-- {
		out[i] = f.keptRows(v, limit, int(blurs[i]/cutoff/f.dt))
		if i+1 < len(blurs) && float64(tally(out[i])) < blurKeeps*float64(tally(moving)) {
			out[i] = out[i+1]
		}
	}
	return out
}

// chooseBlur is the place among blurs of the rows that are kept. keep has, by block, those of each of blurs; nil: all count.
func (b *Base) chooseBlur(m *multibody.Model, blocks []block, keep [][][]bool) int {
	weight := make([]float64, m.NV())
	for i := range weight {
		var y []float64
		for k := range blocks {
			if blocks[k].joint == i {
				y = append(y, blocks[k].y...)
			}
		}
		weight[i] = numeric.RMS(y)
	}
	for i, x := range weight {
		weight[i] = 1
		if most := slices.Max(weight); x > 0 {
			weight[i] = 1 / x
		} else if most > 0 {
			weight[i] = 1 / most
		}
	}
	whole := b.information(blocks, keep, weight, len(blurs)-1)
	for i := range blurs {
		own := b.information(blocks, keep, weight, i)
		tells := true
		for k := range own {
			tells = tells && own[k] >= blurTells*whole[k]
		}
		if tells {
			return i
		}
	}
	return len(blurs) - 1
}

// information is that of the rows about each base parameter but lags: one over its variance, with the others unknown. What the rows do
// not tell, to the condition from which on it is refused, is as if it were known so well.
func (b *Base) information(blocks []block, keep [][][]bool, weight []float64, at int) []float64 {
	var which []int
	for k, c := range b.Pivot {
		if b.Columns[c].Term != Lag {
			which = append(which, k)
		}
	}
	p := len(which)
	f := numeric.NewFactor(p)
	for i := range blocks {
		bl := &blocks[i]
		n := len(bl.y)
		if keep[i] != nil {
			n = tally(keep[i][at])
		}
		if n == 0 {
			continue
		}
		cols, zero := make([][]float64, p), make([]float64, n)
		for j, k := range which {
			if cols[j] = zero; bl.w[k] == nil {
				continue
			}
			cols[j] = make([]float64, 0, n)
			for row, x := range bl.w[k] {
				if keep[i] == nil || keep[i][at][row] {
					cols[j] = append(cols[j], x*weight[bl.joint])
				}
			}
		}
		f.AddColumns(cols, zero)
	}
	tri, _ := f.Triangle()
	x := mat.NewDense(2*p, p, nil)
	length := make([]float64, p)
	for j := range p {
		for i := 0; i <= j; i++ {
			length[j] = math.Hypot(length[j], tri[i*p+j])
		}
		if length[j] == 0 {
			length[j] = 1
		}
		for i := 0; i <= j; i++ {
			x.Set(i, j, tri[i*p+j]/length[j])
		}
		x.Set(p+j, j, 1/linear.MaxCondition)
	}
	out := make([]float64, p)
	inv := inverseOf(x)
	if inv == nil {
		return out
	}
	for j := range out {
		out[j] = math.Pow(length[j]/floats.Norm(inv.RawRowView(j), 2), 2)
	}
	return out
}
