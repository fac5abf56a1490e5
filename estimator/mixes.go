package estimator

import (
	"math"

	"hilrig/engine/numeric"
)

// Mix is a sum of two neighbouring bows of those that are tried: Index and Index + 1.
type Mix struct {
	Index  int
	Weight [2]float64
}

// mixes tell what the least squares find with each of the mixes of bows, and how likely it is.
type mixes struct {
	mixList      []Mix
	prior        func(dof float64, p []float64)
	n            int         // bows
	residuals    []float64   // sum of squares that a mix leaves over, but for …
	lagResiduals []float64   // … that in the direction of a lag
	likely       []float64   // of each mix, in sum 1
	move         [][]float64 // by which a bow of one moves the parameters

	rest   float64       // mean of the sums of squares
	spread [rlsN]float64 // variance of the parameters between the mixes
}

func newMixes(s *RLSSpec) mixes {
	n := len(s.Mixes)
	m := mixes{mixList: s.Mixes, prior: s.Prior, n: s.Bows, move: make([][]float64, s.Bows)}
	m.residuals, m.lagResiduals, m.likely = make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range m.move {
		m.move[i] = make([]float64, rlsN)
	}
	return m
}

// solve turns the parameters that are right without a bow into their means over the mixes, for equations with so many degrees of freedom
// that leave over at least floor, the noise of the current:
//
//	[R₁₁ R₁₂]   [θ]   [c₁]
//	[ 0  R₂₂] · [m] = [c₂]:   θ = R₁₁⁻¹·(c₁ − R₁₂·m),   SS = ‖R₂₂·m − c₂‖² + rest
//
// Whoever controls the axis answers the noise of its samples, so a wrong mix may leave less than the noise: below that all are alike. What
// the right mix leaves is then told by the lag of the motion, which does not answer to noise: the first row of R₂₂ is its direction.
func (m *mixes) solve(f *numeric.Factor, dof, floor float64, theta *[rlsN]float64) {
	m.rest, m.spread = f.SumSquares(), [rlsN]float64{}
	if m.n == 0 {
		return
	}
	r, c := f.Triangle()
	n := rlsN + 1 + m.n
	for b := range m.move {
		for k := rlsN - 1; k >= 0; k-- {
			s := -r[k*n+rlsN+1+b]
			for j := k + 1; j < rlsN; j++ {
				s -= r[k*n+j] * m.move[b][j]
			}
			m.move[b][k] = s / r[k*n+k]
		}
	}
	least := math.Inf(1)
	for i := range m.mixList {
		sum, late := m.misfit(&m.mixList[i], r, c)
		m.residuals[i], m.lagResiduals[i] = max(floor, m.rest+sum), late
		least = min(least, m.residuals[i])
	}
	for i := range m.likely {
		m.likely[i] = 1
	}
	if m.prior != nil {
		m.prior(dof, m.likely)
	}
	most := math.Inf(-1)
	for i, left := range m.residuals { // logarithms first: the likelihoods may be smaller than any number
		m.likely[i] = math.Log(m.likely[i])
		if left > 0 {
			m.likely[i] -= dof / 2 * (math.Log(left/least) + m.lagResiduals[i]*m.lagResiduals[i]/least)
		}
		most = max(most, m.likely[i])
	}
	sum := 0.0
	for i, l := range m.likely {
		m.likely[i] = math.Exp(l - most)
		sum += m.likely[i]
	}
	m.rest = 0
	var mean, square [rlsN]float64
	for i := range m.mixList {
		if m.likely[i] /= sum; m.likely[i] == 0 {
			continue
		}
		m.rest += m.likely[i] * m.residuals[i]
		for k := range rlsN {
			d := m.shift(&m.mixList[i], k)
			mean[k] += m.likely[i] * d
			square[k] += m.likely[i] * d * d
		}
	}
	for k := range rlsN {
		theta[k] += mean[k]
		m.spread[k] = max(0, square[k]-mean[k]*mean[k])
	}
}

// misfit is ‖R₂₂·m − c₂‖² of a mix, but for late, what is left over in the direction of a lag.
func (m *mixes) misfit(x *Mix, r, c []float64) (sum, late float64) {
	n := rlsN + 1 + m.n
	two := x.Index+1 < m.n
	for k := rlsN; k < n; k++ {
		row := r[k*n+rlsN+1:][:m.n]
		d := c[k] - x.Weight[0]*row[x.Index]
		if two {
			d -= x.Weight[1] * row[x.Index+1]
		}
		if k == rlsN {
			late = d
			continue
		}
		sum += d * d
	}
	return sum, late
}

// shift is by how much a mix moves parameter k.
func (m *mixes) shift(x *Mix, k int) float64 {
	d := x.Weight[0] * m.move[x.Index][k]
	if x.Index+1 < m.n {
		d += x.Weight[1] * m.move[x.Index+1][k]
	}
	return d
}
