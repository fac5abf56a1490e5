package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
)

// LongRun is the covariance of the sum of the scores g_k, one slice for each of their components [NW87]:
//
//	S = Γ0 + Σ_{l=1..L} (1 − l/(L+1))·(Γl + Γlᵀ),   Γl = Σ_k g_k·g_{k−l}ᵀ
//
// with the bandwidth L of the AR(1) plug-in for these weights [A91] (6.4): L = 1.1447·(α·N)^⅓, where
// α = 4ρ²/((1−ρ)²(1+ρ)²) is averaged over the scores, each by its own variance. Products never reach across pieces.
//
// The triangular weights are those of windows of L+1 rows that slide over the scores: S is also
//
//	S = 1/(L+1)·Σ_t B_t·B_tᵀ,   B_t = Σ_{i=t−L..t} g_i
//
// which takes N·p² products whatever the bandwidth, and shows that S has no negative direction.
func LongRun(g [][]float64, pieces []int) (s []float64, lags int) {
	n := len(g[0])
	lags = bandwidth(g, n, pieces, 0)
	return windows(g, nil, n, lags, pieces), lags
}

// slowTerms are the cosines that LongRunSlow takes at most, of all pieces together.
const slowTerms = 60

// Drawing are the orthonormal columns by which a fit draws the scores to itself, row by row, and the places of the rows among the scores;
// rows of several channels may have one place.
type Drawing struct {
	Places []int
	Rows   [][]float64
}

// LongRunSlow is the covariance of the sum of the scores g_k by what they have slower than one period of so many rows [LLSW18]:
//
//	S = N/ν·Σ_j Λ_j·Λ_jᵀ,   Λ_j = √(2/N)·Σ_k cos(πj(k+½)/N)·g_k,   j = 1..ν ≤ 2N/period
//
// and an estimate over its standard error has the distribution of Student with ν degrees of freedom. Scores whose neighbours cancel, as
// those of a second difference of white noise do, are large where they are quick. Windows let a part of that through, cosines do not.
// Pieces have cosines of their own; what their means differ by counts too.
//
// Of the covariance of Λ_j the fit leaves I − N·A_j², A_j = √(2/N)·Σ_k cos(…)·q_k·q_kᵀ, and (I − N·A_j²)^(−½)·Λ_j
// makes up for that [BM02].
func LongRunSlow(g [][]float64, by Drawing, pieces []int, period int) (s []float64, dof int) {
	p, n := len(g), len(g[0])
	s = make([]float64, p*p)
	of, wave := make([]float64, p), make([]float64, n)
	term := func() {
		for i, x := range g {
			of[i] = floats.Dot(wave, x)
		}
		b := by.madeUp(wave, of)
		for i, x := range b {
			for j, y := range b {
				s[i*p+j] += x * y
			}
		}
		dof++
	}
	count := max(1, len(pieces))
	eachPiece(n, pieces, func(from, to int) {
		rows := float64(to - from)
		for j := range 1 + max(1, min(2*(to-from)/period, slowTerms/count)) {
			if j == 0 && count == 1 { // the scores add up to zero
				continue
			}
			size := math.Sqrt(2 / rows)
			if j == 0 {
				size = math.Sqrt(1 / rows)
			}
			clear(wave)
			for k := from; k < to; k++ {
				wave[k] = size * math.Cos(math.Pi*float64(j)*(float64(k-from)+0.5)/rows)
			}
			term()
		}
	})
	if count > 1 { // so do those of all pieces together
		dof--
	}
	floats.Scale(float64(n)/float64(dof), s)
	return s, dof
}

// Of scores whose neighbours may cancel:
const (
	cancelBlocks = 32   // that are compared with windows
	cancelTurns  = 8    // the quickest waves, in periods over all rows
	cancelDrawn  = 0.1  // of the variance of a wave that the fit takes or brings at most
	cancelWaves  = 6    // fewest that tell a variance
	cancelP      = 0.01 // how often chance alone makes a variance so small that it is taken for less than that of windows
)

// sharpen takes out of variances by windows of some width what they have too much where neighbours cancel in part. A triangle leaves out
// Σ|l|·Γl over its width, so that half of the width tells how much that is: both together are the sum with weights of 1 up to half of the
// width that fall to 0 [PR95]. Where more than half of a variance would go, the difference is one of large numbers, see cancelling.
func sharpen(variance, half []float64, narrow, wide int) {
	for j, v := range variance {
		if x := (float64(wide)*v - float64(narrow)*half[j]) / float64(wide-narrow); x < v && x > v/2 {
			variance[j] = x
		}
	}
}

// cancelling mends the variances of estimates by windows of so many rows, with g the scores of the residuals, q the orthonormal columns
// and b the root of the covariance. Where noise is differenced, as by a controller that has its speed from two positions, rows
// are large that cancel over many: windows let a share of 1/(lags + 1) of that through, and the errors came out ten times too wide. Where
// blocks scatter less than windows say, slow waves of the scores are measured, and taken where they are less beyond chance:
//
//	S = N/ν·Σ_j Λ_j·Λ_jᵀ,   Λ_j = √(2/N)·Σ_k cos(2πjk/N)·g_k and the same with sines,   j = 1..cancelTurns
//
// [LLSW18]. Cosines and sines together weigh the ends of the record as its middle, where noise does not cancel. Waves that lie along what
// the fit took of the scores are left out: what it took of other parameters may be many times as large. It gives the degrees of freedom
// of every parameter that it mended, 0 of others; nil: none.
func (s *Solution) cancelling(g, q [][]float64, b *mat.Dense, variance []float64, lags int) []float64 {
	n, rank := len(g[0]), len(g)
	if s.Dt <= 0 || lags+1 >= n/cancelBlocks || n < 4*cancelBlocks*rank {
		return nil
	}
	sum, of := make([]float64, rank*rank), make([]float64, rank)
	add := func(scale float64) {
		for i, x := range of {
			for j, y := range of {
				sum[i*rank+j] += scale * x * y
			}
		}
	}
	below := func(dof float64) (v []float64, less []bool) {
		v = variances(b, sum)
		limit := distuv.ChiSquared{K: dof}.Quantile(cancelP) / dof
		for j := range v {
			less = append(less, v[j] < limit*variance[j])
		}
		return v, less
	}
	for k := range cancelBlocks {
		for i, x := range g {
			of[i] = floats.Sum(x[k*n/cancelBlocks : (k+1)*n/cancelBlocks])
		}
		add(1)
	}
	if _, less := below(cancelBlocks); !slices.Contains(less, true) {
		return nil
	}
	clear(sum)
	wave, dof := [2][]float64{make([]float64, n), make([]float64, n)}, 0
	for turns := range cancelTurns {
		for k := range n {
			sin, cos := math.Sincos(2 * math.Pi * float64(turns+1) * (float64(k) + 0.5) / float64(n))
			wave[0][k], wave[1][k] = cos, sin
		}
		if amplitude(q, wave[0]) > cancelDrawn || amplitude(q, wave[1]) > cancelDrawn {
			continue
		}
		for _, w := range wave {
			for i, x := range g {
				of[i] = floats.Dot(w, x)
			}
			add(2)
			dof++
		}
	}
	if dof < cancelWaves {
		return nil
	}
	floats.Scale(1/float64(dof), sum)
	out := make([]float64, len(variance))
	v, less := below(float64(dof))
	for j := range out {
		if less[j] {
			variance[j], out[j] = v[j], float64(dof)
		}
	}
	return out
}

// amplitude is the largest share of the variance of a wave of the scores that a fit by the orthonormal columns q takes: 2·λ² for λ the
// eigenvalues of Σ wave_k·q_k·q_kᵀ, of which their root of the sum of squares is a bound.
func amplitude(q [][]float64, wave []float64) float64 {
	sum := 0.0
	for i, x := range q {
		for j, y := range q[:i+1] {
			a := 0.0
			for k, w := range wave {
				a += w * x[k] * y[k]
			}
			if sum += a * a; j < i {
				sum += a * a
			}
		}
	}
	return 2 * sum
}

// variances are the diagonal of B·S·Bᵀ for S row-major.
func variances(b *mat.Dense, s []float64) []float64 {
	p, rank := b.Dims()
	var all mat.Dense
	all.Product(b, mat.NewDense(rank, rank, s), b.T())
	out := make([]float64, p)
	for j := range out {
		out[j] = all.At(j, j)
	}
	return out
}

// maxDrawnShare is the share of its variance that a cosine may have lost to the fit and is made up for; in a direction that the fit
// takes whole there is nothing left.
const maxDrawnShare = 0.75

// madeUp is the sum of scores under a wave, with what the fit took of it.
func (d *Drawing) madeUp(wave, sum []float64) []float64 {
	p := len(sum)
	a := make([]float64, p*p)
	for r, q := range d.Rows {
		if c := wave[d.Places[r]]; c != 0 {
			for i, x := range q {
				for j, y := range q[i:] {
					a[i*p+i+j] += c * x * y
				}
			}
		}
	}
	var eigen mat.EigenSym
	if d.Rows == nil || !eigen.Factorize(mat.NewSymDense(p, a), true) {
		return sum
	}
	var v mat.Dense
	var turned, out mat.VecDense
	eigen.VectorsTo(&v)
	turned.MulVec(v.T(), mat.NewVecDense(p, sum))
	for i, x := range eigen.Values(nil) {
		turned.SetVec(i, turned.AtVec(i)/math.Sqrt(1-math.Min(float64(len(wave))*x*x, maxDrawnShare)))
	}
	out.MulVec(&v, &turned)
	return out.RawVector().Data
}

// RobustQuantile is the 97.5 % quantile of an estimate over its standard error by LongRun, with b = (L+1)/N [KV05]: triangular
// weights lose some of the correlation, and the rest is estimated from few windows. For L = 0 it is that of Student's
// distribution with N degrees of freedom, to 2 % down to N = 4.
func RobustQuantile(b float64) float64 {
	b = math.Min(b, 1)
	return 1.9600 + b*(2.9694+b*(0.4160-b*0.5324))
}

// degrees are the degrees of freedom of the variance from L lags of N equal rows: N²/Σ_ij w_ij² with triangular weights w.
func degrees(lags int, rows float64) float64 {
	wide := float64(lags + 1)
	return math.Max(3*wide*rows/(2*wide*wide+1), 1)
}

// widening is by how much an interval from LongRun has to be wider than one from a covariance that is known.
func widening(lags, n int) float64 {
	if lags == 0 {
		return 1
	}
	return RobustQuantile(float64(lags+1)/float64(n)) / 1.9600
}

// bandwidth is the plug-in for the number of lags, between 1, or least, and a quarter of the longest piece.
func bandwidth(g [][]float64, n int, pieces []int, least int) int {
	num, den := 0.0, 0.0
	for _, x := range g {
		next := 0.0
		eachPiece(n, pieces, func(from, to int) { next += floats.Dot(x[from+1:to], x[from:to-1]) })
		square := floats.Dot(x, x)
		rho := math.Max(math.Min(numeric.OrZero(next/square), 0.97), -0.97)
		innov := square * (1 - rho*rho)
		num += 4 * rho * rho * innov * innov / (math.Pow(1-rho, 6) * (1 + rho) * (1 + rho))
		den += innov * innov / math.Pow(1-rho, 4)
	}
	lags := int(math.Min(1.1447*math.Cbrt(numeric.OrZero(num/den)*float64(n)), float64(n)))
	return min(max(lags, least, 1), longest(n, pieces)/4)
}

// windows adds up the outer products of the sliding sums of g. Where g are the scores of residuals, q are the orthonormal columns
// that these were fitted with, else nil. A window draws the fit to itself: of the covariance of B_t the fit leaves I − G_t,
// G_t = Σ q_k·q_kᵀ over the window, and (I − G_t)^(−½)·B_t makes up for that [BM02]. Rows that depend on each other draw by more
// than their own leverage: for windows as long as their memory the sum knows that, single rows do not.
func windows(g, q [][]float64, n, lags int, pieces []int) []float64 {
	const block = 256
	p := len(g)
	some := func(n int) [][]float64 { // of the windows that end in a block
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, block)
		}
		return x
	}
	s, sum, ends := make([]float64, p*p), make([]float64, p), some(p)
	var own []float64           // G, its lower triangle row by row
	var drawn, rest [][]float64 // G by window, and room
	if q != nil && lags > 0 {
		own, drawn, rest = make([]float64, p*(p+1)/2), some(p*(p+1)/2), some(2*p+1)
	}
	eachPiece(n, pieces, func(from, to int) {
		clear(sum)
		clear(own)
		for at := from; at < to+lags; at += block {
			count := min(block, to+lags-at)
			for j, x := range g {
				ends[j] = ends[j][:count]
				sum[j] = slide(ends[j], x[from:to], sum[j], at-from, lags)
			}
			switch {
			case q == nil:
			case lags == 0:
				undrawnRows(q, at, ends)
			default:
				for i, place := 0, 0; i < p; i++ {
					for j := 0; j <= i; j, place = j+1, place+1 {
						x, y, g := q[i], q[j], own[place]
						for t := range count {
							if k := at + t; k < to {
								g += x[k] * y[k]
							}
							if k := at + t - lags - 1; k >= from {
								g -= x[k] * y[k]
							}
							drawn[place][t] = g
						}
						own[place] = g
					}
				}
				undrawn(drawn, ends, rest)
			}
			for i := range p {
				for j := range i + 1 {
					s[i*p+j] += floats.Dot(ends[i], ends[j])
				}
			}
		}
	})
	for i := range p {
		for j := range i + 1 {
			s[i*p+j] /= float64(lags + 1)
			s[j*p+i] = s[i*p+j]
		}
	}
	return s
}

// slide writes the sums of x over windows of lags + 1 rows that end at row at and after it, with sum that of the one before, and gives the
// last.
func slide(ends, x []float64, sum float64, at, lags int) float64 {
	for i := range ends {
		d, last := 0.0, at+i
		if last < len(x) {
			d = x[last]
		}
		if gone := last - lags - 1; gone >= 0 {
			d -= x[gone]
		}
		sum += d
		ends[i] = sum
	}
	return sum
}

// Where the series of undrawn is cut.
const (
	undrawnShare = 1e-10
	undrawnTerms = 200
)

// undrawnRows is undrawn for windows of one row, G = q_k·q_kᵀ: (series of h)/h·(q_k·b)·q_k is added, h = q_k·q_k.
func undrawnRows(q [][]float64, from int, b [][]float64) {
	for t := range b[0] {
		h, along := 0.0, 0.0
		for j, x := range q {
			h, along = h+x[from+t]*x[from+t], along+x[from+t]*b[j][t]
		}
		term, sum := 0.5, 0.5
		for m := 2.0; m <= undrawnTerms && term > undrawnShare*sum; m++ {
			term *= h * (1 - 0.5/m)
			sum += term
		}
		for j, x := range q {
			b[j][t] += sum * along * x[from+t]
		}
	}
}

// undrawn makes b (I − G)^(−½)·b, of several windows at once, by its series Σ (2m−1)!!/(2m)!!·Gᵐ·b, cut where all terms are below
// undrawnShare of b, or after undrawnTerms of them: in a direction that a window takes whole there is nothing left to make up for. g is the
// lower triangle of G, row by row; room is for twice as many series as b has, and one.
func undrawn(g, b, room [][]float64) {
	p, n := len(b), len(b[0])
	term, next, size := room[:p], room[p:2*p], room[2*p][:n]
	clear(size)
	for i, x := range b {
		copy(term[i], x)
		for t, v := range x {
			size[t] = max(size[t], math.Abs(v))
		}
	}
	for m, more := 1, true; more && m <= undrawnTerms; m++ {
		c := 1 - 0.5/float64(m)
		more = false
		for i, out := range b {
			x := next[i][:n]
			clear(x)
			for j := range b {
				h, y := g[max(i, j)*(max(i, j)+1)/2+min(i, j)][:n], term[j][:n]
				for t := range x {
					x[t] += h[t] * y[t]
				}
			}
			for t, v := range x {
				v *= c
				x[t] = v
				out[t] += v
				more = more || math.Abs(v) > undrawnShare*size[t]
			}
		}
		term, next = next, term
	}
}
