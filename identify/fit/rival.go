package fit

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
)

// A lag among the parameters takes up what is like it: beside weight, a friction that grows with the load changes with the angle as the
// slope of the torque does. So each lag is compared with the suspects of its joint. Without its column in the model, what does it explain,
// and what does each of them? Where one explains more than the lag, by more than notExcluded of twice the logarithm of the likelihood, the
// record speaks against the lag, and structure is looked for without it.

// rivalled are the places in FreeParams of the lags that another suspect explains better.
func (s *Solution) rivalled(suspects []Suspect) (lags []int) {
	all, away := s.rowsAway()
	for j, i := range s.FreeParams {
		if !isLag(s.Params[i].Name) {
			continue
		}
		for _, turn := range []bool{false, true} {
			rows := away
			if turn {
				rows = all
			}
			if s.rival(j, s.instead(suspects, j, turn), rows, tries(suspects)) {
				lags = append(lags, j)
				break
			}
		}
	}
	return lags
}

// rival tells whether one of the suspects explains more than lag j.
func (s *Solution) rival(j int, suspects []Suspect, rows []int, tries float64) bool {
	x := s.explainedBut(rows, j)
	if x.q == nil || 2*x.columns() >= len(x.e) || suspects == nil {
		return false
	}
	x.independent = x.count()
	p := len(s.FreeParams)
	lag, ok := x.try(-1, []*trial{newTrial(x.columnWithoutLocal(func(k int) float64 { return s.Jac[k*p+j] }, rows), minColumnShare)})
	return ok && slices.ContainsFunc(suspects, func(sp Suspect) bool {
		f, ok := x.try(-1, x.trials(&sp, rows))
		return ok && f.p*tries < unmodelledP && f.gain > lag.gain+notExcluded && f.share > lag.share
	})
}

// instead are the suspects that may stand in the place of lag j: of its joint, and no lag of another kind.
func (s *Solution) instead(suspects []Suspect, j int, turn bool) (own []Suspect) {
	name := s.Params[s.FreeParams[j]].Name
	joint := name[:len(name)-len(bare(name))]
	for _, sp := range suspects {
		late := sp.Kind == "late force" || sp.Kind == "late position" || sp.Kind == LowPass || sp.Drift && sp.DriftParam == j
		if sp.Turn == turn && !late && (sp.Joint == "" || sp.Joint+"." == joint) {
			own = append(own, sp)
		}
	}
	return own
}

// isLag tells whether a parameter is the lag of a force or torque.
func isLag(name string) bool { return AxisName(bare(name)) == "lag" }

// withoutLags is the solution without the lags in the places of FreeParams, to first order: values and residual are those of the other
// parameters alone. shift is by how much each parameter moves. nil: nothing is left.
func (s *Solution) withoutLags(lags []int) (*Solution, map[string]float64) {
	p, n := len(s.FreeParams), len(s.Residual)
	var kept []int
	for j := range p {
		if !slices.Contains(lags, j) {
			kept = append(kept, j)
		}
	}
	if len(kept) == 0 || len(s.Jac) < n*p || s.Local != nil {
		return nil, nil
	}
	out := *s
	out.Params, out.FreeParams, out.Residual = slices.Clone(s.Params), nil, slices.Clone(s.Residual)
	out.Jac = make([]float64, n*len(kept))
	for c, j := range kept {
		out.FreeParams = append(out.FreeParams, s.FreeParams[j])
		for k := range n {
			out.Jac[k*len(kept)+c] = s.Jac[k*p+j]
		}
	}
	lagged := make([]float64, n) // what the lags made of it
	for _, j := range lags {
		out.Params[s.FreeParams[j]].Value = 0
		for k := range n {
			lagged[k] += s.Params[s.FreeParams[j]].Value * s.Jac[k*p+j]
		}
	}
	shift := map[string]float64{}
	for _, j := range lags {
		shift[s.Params[s.FreeParams[j]].Name] = -s.Params[s.FreeParams[j]].Value
	}
	floats.Add(out.Residual, lagged)
	columns := make([][]float64, len(kept))
	for c := range columns {
		for k := range n {
			columns[c] = append(columns[c], out.Jac[k*len(kept)+c])
		}
	}
	f, by := numeric.NewFactor(len(kept)), make([]float64, len(kept))
	if f.AddColumns(columns, lagged); f.Solve(by) != nil {
		return nil, nil
	}
	for c, i := range out.FreeParams {
		shift[out.Params[i].Name] = by[c]
		out.Params[i].Value += by[c]
		floats.AddScaled(out.Residual, -by[c], columns[c])
	}
	return &out, shift
}

// withoutRivalled takes lags out of the solution that a suspect explains better, of the suspects what is about them, and of noisier
// solutions as well. shift is nil if there is none.
func withoutRivalled(s *Solution, suspects []Suspect, noisier []Noisier) (*Solution, []Suspect, []Noisier, map[string]float64) {
	lags := s.rivalled(suspects)
	if lags == nil {
		return s, suspects, noisier, nil
	}
	without, shift := s.withoutLags(lags)
	noisier = slices.Clone(noisier)
	for i := range noisier {
		n := &noisier[i]
		if less, _ := n.Solution.withoutLags(lags); less != nil {
			n.Solution, n.Suspects = less, withoutPlaces(n.Suspects, lags)
		}
	}
	return without, withoutPlaces(suspects, lags), noisier, shift
}

// withoutPlaces are the suspects of a solution without the parameters in these places of FreeParams.
func withoutPlaces(suspects []Suspect, places []int) (out []Suspect) {
	for _, sp := range suspects {
		if sp.Drift && slices.Contains(places, sp.DriftParam) {
			continue
		}
		before := 0
		for _, j := range places {
			if j < sp.DriftParam {
				before++
			}
		}
		sp.DriftParam -= before
		out = append(out, sp)
	}
	return out
}

// from makes the moves those from the values of the solution s, from which this one had moved by shift.
func (l *Effect) from(s *Solution, shift, harm map[string]float64) {
	worst := 1.0
	l.Worst = ""
	values := maps.Clone(l.Values)
	for _, i := range s.FreeParams {
		name := s.Params[i].Name
		l.ParamMoves[name] += shift[name]
		values[name] = s.Params[i].Value + l.ParamMoves[name]
		if r, ok := l.Range[name]; ok {
			l.Range[name] = [2]float64{math.Min(r[0]+shift[name], 0), math.Max(r[1]+shift[name], 0)}
		}
		if h := harm[name]; h > 0 && !IsState(name) && math.Abs(l.ParamMoves[name])/h > worst {
			worst, l.Worst = math.Abs(l.ParamMoves[name])/h, name
		}
	}
	l.Values = values
}
