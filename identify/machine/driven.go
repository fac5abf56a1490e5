package machine

import (
	"slices"
	"strings"

	"hilrig/identify/record"
)

// checkDrives refuses records whose drives do not tell the parameters: torques that are zero without a word, and passive joints that no
// torque reaches. Zero torques alone tell ratios of parameters, and least squares would take all of them for zero.
func (r *Result) checkDrives(recs []Recording) error {
	m := r.Model
	for i := range m.NV() {
		still := true
		for _, rec := range recs {
			still = still && !slices.ContainsFunc(rec[i].Force, func(x float64) bool { return x != 0 })
		}
		switch {
		case still && !r.Spec.Passive[i]:
			return recs[0][i].Fail(0, "Say passive: true in place of its torque if no drive acts on it; otherwise name the right column.",
				"joint %s: its torque is zero throughout", JointName(m, i))
		case !still && r.Spec.Passive[i]:
			return recs[0][i].Fail(0, "Leave one of them out.", "joint %s: it is passive and has a torque", JointName(m, i))
		}
	}
	if !slices.Contains(r.Spec.Passive, true) {
		return nil
	}
	// joints whose rows share an inertial parameter are tied
	reached := make([]bool, m.NV())
	for i := range reached {
		reached[i] = !r.Spec.Passive[i]
	}
	shares := func(i, j int) bool {
		for k, at := range r.Base.Pivot {
			if r.Base.Columns[at].Inertial >= 0 && r.sys.feels(i, k) && r.sys.feels(j, k) {
				return true
			}
		}
		return false
	}
	for range m.NV() {
		for i := range reached {
			for j := range reached {
				reached[i] = reached[i] || reached[j] && shares(i, j)
			}
		}
	}
	var alone []string
	for i, yes := range reached {
		if !yes {
			alone = append(alone, JointName(m, i))
		}
	}
	if alone != nil {
		return &record.Error{File: recs[0][0].File, Msg: "no torque reaches " + strings.Join(alone,
			", ") + ": a joint that moves freely tells how its parameters stand to each other, and not how large they are",
			Hint: "Drive a joint that it is coupled to, or fix what is known and leave its terms out."}
	}
	return nil
}

// feels tells whether joint i has base parameter k in its rows.
func (s *system) feels(i, k int) bool {
	return slices.ContainsFunc(s.blocks, func(b block) bool { return b.joint == i && b.w[k] != nil })
}
