package identify

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/identify/fit"
)

// Parameters that were not searched are known, if the user says so, or assumed: values of the rig file, of a law, of the program. What is
// assumed may be wrong. If the record shows that, the reason says so, as of anything that the model lacks; if it does not exclude it,
// intervals hold what half of the value more or less would do.

// assumedDoubt is by how much of its value a number may be wrong that nobody measured.
const assumedDoubt = 0.5

// assumed are the parameters of a solution that nobody gave.
func (j *job) assumed(s *fit.Solution) (list []*fit.Param) {
	for i := range s.Params {
		p := &s.Params[i]
		given := slices.ContainsFunc(j.plan.Given, func(g Given) bool { return g.Name == p.Name && g.known() })
		if p.Fixed && !given && !fit.IsState(p.Name) && !fit.MayBeZero(p.Name) {
			list = append(list, p)
		}
	}
	return list
}

// findAssumed looks for what other values of assumed parameters would do.
func (r *Result) findAssumed(j *job, st *stage) {
	var suspects []fit.Suspect
	for _, p := range j.assumed(st.sol) {
		own, ok := r.Param(p.Name)
		if !ok {
			continue
		}
		step := assumedDoubt * math.Abs(p.Value)
		if own.assumption = true; step == 0 {
			step = r.fadesAt(p.Name)
		}
		if r.Interrupted || st.changed == nil || !(step > 0) {
			continue
		}
		moved := st.changed(p.Name, p.Value+step)
		if moved == nil || floats.Norm(moved, 2) == 0 {
			continue
		}
		for _, sign := range []float64{1, -1} {
			if sign < 0 && p.Value == 0 {
				continue
			}
			column := func(k int) float64 { return sign * moved[k] }
			suspects = append(suspects, fit.Suspect{Kind: "assumed value", Usual: true, Most: 1, Columns: []func(int) float64{column},
				What:   fmt.Sprintf("what another %s makes than %.4g %s, which was assumed", p.Name, p.Value, p.Unit),
				Advice: fmt.Sprintf("Search it: parameters: {%s: {start: %.4g}}; or measure it, and give it.", p.Name, p.Value+step)})
		}
	}
	if suspects == nil {
		return
	}
	found, possible := fit.Unmodelled(st.sol, suspects, r.tolerance)
	for _, l := range found {
		r.lacks(l)
	}
	for _, l := range append(found, possible...) { // either way: to first order the way is known, not where it ends
		for i := range r.Parameters {
			p := &r.Parameters[i]
			p.assumed = math.Max(p.assumed, math.Abs(l.Moves[p.Name]))
		}
	}
}

// fadesAt is the value beside zero of a parameter that is zero where something is left out: the speed at which the damping of a bristle fades.
func (r *Result) fadesAt(name string) float64 {
	if vs, ok := r.Param("vs"); ok && name == "vd" {
		return 10 * vs.Value
	}
	return 0
}
