package identify

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/identify/fit"
)

// systematic is the share of a value by which something that the residual shows may move it without a word.
const systematic = 0.02

// worthSaying is the share of the squared residual, %, from which structure that does no harm is a warning.
const worthSaying = 10.0

// findUnmodelled looks for what the model lacks in the residual of a force: that of the fit, or, where the fit explains a motion,
// that of the recorded force along the recorded motion.
func (r *Result) findUnmodelled(j *job, st *stage) {
	if r.Interrupted {
		return
	}
	rotary, s := j.plan.Model.Rotary, st.sol
	suspects := fit.Suspects(s, rotary)
	if st.inverse != nil {
		s = st.inverse()
		if s == nil {
			return
		}
		// smoothing bends the motion most where it turns
		suspects = slices.DeleteFunc(fit.Suspects(s, rotary), func(p fit.Suspect) bool { return p.Turn })
	}
	r.Unmodelled = fit.Unmodelled(s, suspects, r.tolerance)
	if st.pushed != nil && r.Residual.White {
		r.Unmodelled = fit.Unmodelled(st.sol, confirmable(st, r.Unmodelled), r.tolerance)
	}
	for _, l := range r.Unmodelled {
		for i := range r.Parameters {
			p := &r.Parameters[i]
			if m, ok := l.Moves[p.Name]; ok && (p.Biased == nil || math.Abs(m) > math.Abs(*p.Biased)) {
				p.Biased = &m
			}
		}
	}
}

// confirmable are the effects on a recorded force as suspects of the motion that was explained. Where the fit leaves white noise,
// the motion tells better than the force along it, which has to be smoothed.
func confirmable(st *stage, effects []fit.Effect) []fit.Suspect {
	var out []fit.Suspect
	for _, l := range effects {
		moved := st.pushed(l.Column)
		if moved == nil {
			continue
		}
		size := 1.0
		if l.Drift {
			size = l.Size
		}
		out = append(out, fit.Suspect{Kind: l.Kind, What: l.What, Advice: l.Advice, Of: l.Of, Drift: l.Drift,
			Columns: []func(k int) float64{func(k int) float64 { return moved[k] / size }}})
	}
	return out
}

// harm is by how much each free parameter may move without harm: its interval, or a little of its value if that is more. What
// may be zero is measured by the force.
func (r *Result) harm(s *fit.Solution) map[string]float64 {
	p, out := len(s.Free), map[string]float64{}
	for j, i := range s.Free {
		q := &r.Parameters[i]
		h := math.Inf(1)
		if ci := r.random(q); ci != nil {
			h = (ci[1] - ci[0]) / 2
		}
		size := math.Abs(q.Value)
		if mayBeZero(q.Name) {
			all, own := 0.0, 0.0
			for k, y := range s.Measured {
				all, own = all+y*y, own+s.Jac[k*p+j]*s.Jac[k*p+j]
			}
			if size = math.Inf(1); all > 0 && own > 0 {
				size = math.Sqrt(all / own)
			}
		}
		out[q.Name] = math.Max(h, systematic*size)
	}
	return out
}

// judgeUnmodelled names what the model lacks and what that does to the values.
func (r *Result) judgeUnmodelled(say func(Verdict, string, ...any)) {
	for _, l := range r.Unmodelled {
		if l.Worst == "" {
			if l.Share > worthSaying {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s: the residual holds %s, %.0f %% of its square; it moves no value by more than its interval. %s", l.Kind, l.What, l.Share, l.Advice))
			}
			continue
		}
		p, _ := r.Param(l.Worst)
		say(Weak, "%s: the residual holds %s. With it in the model %s would be %.4g instead of %.4g %s. %s",
			l.Kind, l.What, p.Name, l.Values[p.Name], p.Value, strings.TrimSpace(p.Unit), l.Advice)
	}
}
