package axis

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/identify/fit"
)

// Indistinct are the parameters of the model, or the combinations of them, that the records cannot tell by their nature,
// whatever the noise: the scale of the forces where none was recorded, and what acts alike on a motion in one direction.
// params are those that Problem was given.
func (m *Model) Indistinct(params []fit.Param) ([]fit.Indistinct, error) {
	all, err := m.merge(params)
	if err != nil {
		return nil, err
	}
	is := func(name string) bool {
		return slices.ContainsFunc(all, func(p fit.Param) bool { return p.Name == name && !p.Fixed })
	}
	var out []fit.Indistinct
	switch m.spec.Drive {
	case Coast:
		out = append(out, fit.Indistinct{Remark: true, Names: m.forces(all), Why: fmt.Sprintf(
			"nothing drives the axis: only the ratios to the inertia %s are known, and the values hold for the %s they were found with", m.names.inertia, m.names.inertia),
			Advice: fmt.Sprintf("measure %s on its own, or record a run with a known %s", m.names.inertia, m.names.force)})
	case Spring:
		out = append(out, fit.Indistinct{Remark: true, Names: m.forces(all), Why: "no force was compared: all forces are in proportion to the stiffness kd of the spring, and as uncertain",
			Advice: "measure kd on its own, with weights"})
	}
	// one direction only
	forward, backward := false, false
	for _, p := range m.pieces {
		for _, v := range p.v {
			forward, backward = forward || v > 0.05*m.rough.v, backward || v < -0.05*m.rough.v
		}
	}
	if !forward || !backward {
		var alike []string
		for _, name := range []string{"Fc", "Fc+", "Fc-", "offset"} {
			if is(name) {
				alike = append(alike, name)
			}
		}
		if m.spec.Rotary && len(alike) == 1 || !m.spec.Rotary && len(alike) == 1 && alike[0] == "offset" {
			out = append(out, fit.Indistinct{Names: alike, Why: "the axis moves in one direction only: a constant load, such as that of a slope, acts like Coulomb friction, and their sum is all that is known",
				Advice: "record the motion in both directions, or measure the slope to better than the friction"})
		} else if len(alike) > 1 {
			out = append(out, fit.Indistinct{Names: alike, Why: "the axis moves in one direction only: Coulomb friction and a constant load act alike, and their sum is all that is known",
				Advice: "record the motion in both directions, or fix one of them"})
		}
		if !backward {
			forward = true
		}
		for _, p := range all {
			if !p.Fixed && (forward && strings.HasSuffix(p.Name, "-") || !forward && strings.HasSuffix(p.Name, "+")) {
				out = append(out, fit.Indistinct{Names: []string{p.Name}, Why: "the axis never moves in this direction", Advice: "record the motion in both directions"})
			}
		}
	}
	return out, nil
}

// forces are the free parameters that are forces, or forces over motions.
func (m *Model) forces(all []fit.Param) []string {
	var names []string
	for _, p := range all {
		if !p.Fixed && (strings.Contains(p.Unit, "N") || strings.HasPrefix(p.Unit, "kg")) {
			names = append(names, p.Name)
		}
	}
	return names
}
