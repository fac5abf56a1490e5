package configs

import (
	"maps"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
)

// MachineRow ties speeds of joints to quantities of the circuit.
type MachineRow struct {
	Name    string             `yaml:"-" names:"rows"`
	Factors map[string]float64 `yaml:"of" doc:"factor of the speed of each joint, rad/s or m/s: {slider: 1}"`
	Charge  map[string]float64 `yaml:"charge,omitempty" doc:"factor of the charge of each capacitor, in the unit of of·speed per C"`
	Current map[string]float64 `yaml:"current,omitempty" doc:"factor of the current of each motor, magnet or inductor, per A; MOTOR.id and MOTOR.iq of a synchronous one"`
	Rate    map[string]float64 `yaml:"rate,omitempty" doc:"factor of the rate of such a current, per A/s"`
	Offset  *Signal            `yaml:"offset,omitempty" unit:"rad/s|m/s" doc:"a number or a generator, in the unit of of·speed"`
}

// rows are the constraints of the machine.
func (m *Machine) rows() (list []machine.Row) {
	for i := range m.Rows {
		k := &m.Rows[i]
		r := machine.Row{Name: k.Name, Offset: k.Offset.Generator()}
		r.X = termsOf(k.Factors)
		for _, name := range slices.Sorted(maps.Keys(k.Charge)) {
			r.Terms = append(r.Terms, machine.RowTerm{State: name + ".voltage", Charge: k.Charge[name]})
		}
		for _, name := range slices.Sorted(maps.Keys(k.Current)) {
			r.Terms = append(r.Terms, machine.RowTerm{State: currentState(name), Current: k.Current[name]})
		}
		for _, name := range slices.Sorted(maps.Keys(k.Rate)) {
			r.Terms = append(r.Terms, machine.RowTerm{State: currentState(name), Rate: k.Rate[name]})
		}
		list = append(list, r)
	}
	return list
}

// termsOf are the factors of joints, by their names.
func termsOf(factors map[string]float64) []multibody.Term {
	return listOf(slices.Sorted(maps.Keys(factors)), func(joint string) multibody.Term {
		return multibody.Term{Joint: joint, Factor: factors[joint]}
	})
}

// currentState is the state of a current by what the file calls it: NAME, or MOTOR.id.
func currentState(name string) string {
	if motor, axis, ok := strings.Cut(name, "."); ok {
		return motor + "." + strings.TrimPrefix(axis, "i") + ".current"
	}
	return name + ".current"
}

// checkRows wants rows of what there is.
func (c *MachineRun) checkRows(r *schema.Report) {
	m := &c.Machine
	r.FirstErrorIf(len(m.Rows) > 0 && c.Formulation == multibody.ByGGL, "constraints",
		"%s does not know rows, whose equations are between speeds; take projection", c.Formulation)
	for i := range m.Rows {
		k := &m.Rows[i]
		at := "machine.rows." + k.Name
		if r.HasProblem(at) {
			continue
		}
		r.FirstErrorIf(len(k.Factors) == 0, at+".of", "is missing: factors of joints, such as {slider: 1}")
		unit := ""
		for _, joint := range slices.Sorted(maps.Keys(k.Factors)) {
			in := at + ".of." + joint
			b := m.single(r, in, joint, "joint")
			r.FirstErrorIf(k.Factors[joint] == 0, in, "0, want another number")
			if b != nil {
				unit = m.coordinate(b)
			}
			r.ErrorIf(b != nil && b.Joint.Motion != nil, in, "the motion of the joint is prescribed; leave the row or the motion out")
		}
		if k.Offset != nil && len(k.Factors) == 1 && unit != "" {
			if key, given := r.Counts(at+".offset", map[string]string{"m": "rad", "rad": "m"}[unit]); key != "" {
				r.KeyErrorf(key, "in %s, and the speed of the joint is in %s/s", given, unit)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(k.Charge)) {
			m.checkFeedback(r, &MachineController{Feedback: name + ".voltage"}, at+".charge."+name)
		}
		for key, of := range map[string]map[string]float64{"current": k.Current, "rate": k.Rate} {
			for _, name := range slices.Sorted(maps.Keys(of)) {
				measured := name
				if !strings.Contains(name, ".") {
					measured += ".current"
				}
				m.checkFeedback(r, &MachineController{Feedback: measured}, at+"."+key+"."+name)
			}
		}
	}
}
