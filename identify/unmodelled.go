package identify

import (
	"math"
	"strings"

	"hilrig/identify/fit"
)

// systematic is the share of a value by which something that the residual shows may move it without a word.
const systematic = 0.02

// findUnmodelled looks for what the model lacks in the residual of a force.
func (r *Result) findUnmodelled(st *stage, rotary bool) {
	if st.sol.Known || r.Interrupted {
		return
	}
	r.Unmodelled = fit.Unmodelled(st.sol, fit.Suspects(st.sol, rotary), r.harm(st.sol))
	for _, l := range r.Unmodelled {
		for i := range r.Parameters {
			p := &r.Parameters[i]
			if m, ok := l.Moves[p.Name]; ok && (p.Biased == nil || math.Abs(m) > math.Abs(*p.Biased)) {
				p.Biased = &m
			}
		}
	}
}

// harm is by how much each free parameter may move without harm: its interval, or a little of its value if that is more. What
// may be zero is measured by the force.
func (r *Result) harm(s *fit.Solution) []float64 {
	p := len(s.Free)
	out := make([]float64, p)
	for j, i := range s.Free {
		q := &r.Parameters[i]
		if ci := r.random(q); ci != nil {
			out[j] = (ci[1] - ci[0]) / 2
		} else {
			out[j] = math.Inf(1)
		}
		size := math.Abs(q.Value)
		if mayBeZero(q.Name) {
			force, own := 0.0, 0.0
			for k, y := range s.Measured {
				force, own = force+y*y, own+s.Jac[k*p+j]*s.Jac[k*p+j]
			}
			size = math.Sqrt(force / own)
		}
		out[j] = math.Max(out[j], systematic*size)
	}
	return out
}

// judgeUnmodelled names what the model lacks and what that does to the values.
func (r *Result) judgeUnmodelled(say func(Verdict, string, ...any)) {
	for _, l := range r.Unmodelled {
		if l.Worst == "" {
			continue
		}
		p, _ := r.Param(l.Worst)
		say(Weak, "%s: the residual holds %s. With it in the model %s would be %.4g instead of %.4g %s. %s",
			l.Kind, l.What, p.Name, l.Values[p.Name], p.Value, strings.TrimSpace(p.Unit), l.Advice)
	}
}
