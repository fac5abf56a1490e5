package linear

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// Several pieces tell what no single one does: whether a parameter is the same in all of them. Standard errors within the
// pieces take the model for right; where it is not, its error differs from piece to piece and moves the estimate by more.
// The jackknife leaves one piece out at a time [E82]:
//
//	se² = (G−1)/G·Σ_g (θ(−g) − mean θ(−g))²
//
// for G pieces. θ(−g) comes from the factors of the pieces: X_{−g}·δ ≈ e_{−g}, θ(−g) = θ + δ, with X the influence of the rows.

// Numbers of pieces for which it is worth the effort.
const fewPieces, manyPieces = 3, 200

// jackknife is the standard error of every parameter between pieces; nil: too few or too many pieces, or pieces that cannot
// be left out.
func (r *regression) jackknife(s *solution, e []float64) []float64 {
	var parts []*numeric.Factor
	p, last := len(r.w), -1
	for i, from := range r.pieces {
		to := len(e)
		if i+1 < len(r.pieces) {
			to = r.pieces[i+1]
		}
		if g := r.group(i); g != last {
			parts, last = append(parts, numeric.NewFactor(p)), g
		}
		cut := make([][]float64, p)
		for j, col := range s.influence {
			cut[j] = col[from:to]
		}
		parts[len(parts)-1].AddColumns(cut, e[from:to])
	}
	groups := len(parts)
	if groups < fewPieces || groups > manyPieces {
		return nil
	}

	deltas, mean := make([][]float64, groups), make([]float64, p)
	rest := numeric.NewFactor(p)
	for g := range parts {
		rest.Reset()
		for h, part := range parts {
			if h != g {
				rest.Merge(part)
			}
		}
		deltas[g] = make([]float64, p)
		if rest.Solve(deltas[g]) != nil {
			return nil
		}
		for j, d := range deltas[g] {
			mean[j] += d / float64(groups)
		}
	}
	se := make([]float64, p)
	for j := range se {
		for _, d := range deltas {
			se[j] += (d[j] - mean[j]) * (d[j] - mean[j])
		}
		se[j] = math.Sqrt(se[j] * float64(groups-1) / float64(groups))
	}
	return se
}

// group is the number of the recording that piece i belongs to.
func (r *regression) group(i int) int {
	if r.joints {
		return r.of[i] / 2
	}
	return r.of[i]
}

// compare says which parameters differ between pieces by more than their errors tell. One whose interval holds zero when
// the pieces are the sample is refused, if the rows alone would call it known.
func (r *regression) compare(s *solution, sol *fit.Solution, estimates []Estimate) {
	se := r.jackknife(s, sol.Residual)
	if se == nil {
		return
	}
	groups := 0
	for i, last := 0, -1; i < len(r.pieces); i++ {
		if g := r.group(i); g != last {
			groups, last = groups+1, g
		}
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(groups - 1)}.Quantile(0.975)
	by, wide := map[string]float64{}, []string{}
	for j, e := range estimates {
		by[e.Symbol] = se[j]
		known := e.RobustCI95[0] > 0 || e.RobustCI95[1] < 0
		if se[j] > 2*e.RobustErr {
			wide = append(wide, fmt.Sprintf("%s ±%.2g %s instead of ±%.2g", e.Symbol, se[j], e.Unit, e.RobustErr))
		}
		if known && t*se[j] > math.Abs(e.Value) && !strings.HasPrefix(e.Symbol, "offset") {
			sol.Refused = append(sol.Refused, fit.Indistinct{
				Names:  []string{e.Symbol},
				Why:    fmt.Sprintf("the %d pieces disagree: with them as the sample, %.3g ± %.2g %s cannot be told from zero", groups, e.Value, se[j], e.Unit),
				Advice: "Something that the model lacks differs between the pieces: record longer under equal conditions, or fix the parameter.",
			})
		}
	}
	if sol.Extra == nil {
		sol.Extra = map[string]any{}
	}
	sol.Extra["std_err_between_pieces"] = by
	if len(wide) > 0 {
		sol.Notes = append(sol.Notes, fmt.Sprintf("between the %d pieces parameters scatter by more than their errors say: %s", groups, strings.Join(wide, ", ")))
	}
}
