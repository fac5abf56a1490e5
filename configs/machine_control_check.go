package configs

import (
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/spelling"
)

// setBy tells which controller sets a voltage, an effort or a reference, by what the file calls it; "": none.
func (m *Machine) setBy(what string) string {
	for i := range m.Controllers {
		k := &m.Controllers[i]
		if k.Kind == "field-oriented" && (what == k.Motor+".ud" || what == k.Motor+".uq") || k.Kind != "field-oriented" && k.Acts == what {
			return k.Name
		}
	}
	return ""
}

// checkControllers wants controllers between what there is.
func (m *Machine) checkControllers(r *schema.Report, start *MachineStart) {
	set := map[string]string{}
	for i := range m.Controllers {
		k := &m.Controllers[i]
		at := "machine.controllers." + k.Name
		if r.HasProblem(at) {
			continue
		}
		r.ErrorIf(start.Rest, "start.equilibrium", "what the controller %s sets depends on where the machine is, and the equilibrium is found "+
			"with the forces of the file's position; leave one of them out", k.Name)
		r.FirstErrorIf(k.Kp == 0 && k.Ki == 0 && k.Kd == 0 && !r.HasProblem(at+".ki") && !r.HasProblem(at+".kd"), at+".kp",
			"is missing: with kp, ki and kd at 0 the controller does nothing")
		targets := []string{k.Acts}
		if k.Kind == "field-oriented" {
			m.checkField(r, k, at)
			targets = []string{k.Motor + ".ud", k.Motor + ".uq"}
		} else {
			m.checkPID(r, k, at)
		}
		for _, t := range targets {
			by := set[t]
			r.FirstErrorIf(by != "", at,
				"sets %s, which the controller %s sets already; leave one of them out, or let one set the reference of the other", t, by)
			set[t] = k.Name
		}
	}
}

// checkField looks at a controller that is field-oriented.
func (m *Machine) checkField(r *schema.Report, k *MachineController, at string) {
	for _, key := range trueKeys([]string{"feedback", "acts_on", "reference", "kd", "dead_zone"}, k.Feedback != "", k.Acts != "",
		k.Reference != nil, k.Kd != 0, k.DeadZone != 0) {
		r.KeyErrorf(at+"."+key, "belongs to a controller of kind pid; this one is field-oriented")
	}
	motor := m.motor(k.Motor)
	switch {
	case r.HasProblem(at + ".motor"):
	case k.Motor == "":
		r.KeyErrorf(at+".motor", "is missing: a synchronous motor")
	case motor == nil:
		r.KeyErrorf(at+".motor", "there is no motor %q%s", k.Motor,
			spelling.DidYouMean(k.Motor, listOf(m.Motors, func(k MachineMotor) string { return k.Name })))
	case motor.Kind != "synchronous":
		r.KeyErrorf(at+".motor", "the motor %s is %s; want one of kind synchronous", k.Motor, motor.Kind)
	}
	for j, want := range []*Signal{k.ID, k.IQ} {
		key := [...]string{"id", "iq"}[j]
		by := m.setBy(k.Name + "." + key)
		switch {
		case by != "" && want != nil:
			r.KeyErrorf(at+"."+key, "the controller %s sets it; leave one of them out", by)
		case key == "iq" && by == "" && want == nil && !r.HasProblem(at+".iq"):
			r.KeyErrorf(at+".iq", "is missing: a number or a generator in A; or a controller that acts_on %s.iq", k.Name)
		}
	}
}

// checkPID looks at a controller of one error.
func (m *Machine) checkPID(r *schema.Report, k *MachineController, at string) {
	for _, key := range trueKeys([]string{"motor", "id", "iq"}, k.Motor != "", k.ID != nil, k.IQ != nil) {
		r.KeyErrorf(at+"."+key, "belongs to a controller that is field-oriented; this one is a pid")
	}
	measured := m.checkFeedback(r, k, at+".feedback")
	acts := m.checkActs(r, k, at)
	switch by := m.setBy(k.Name + ".reference"); {
	case by != "" && k.Reference != nil:
		r.KeyErrorf(at+".reference", "the controller %s sets it; leave one of them out", by)
	case by == "" && k.Reference == nil && !r.HasProblem(at+".reference"):
		r.KeyErrorf(at+".reference", "is missing: a number or a generator")
	}
	_, of, _ := strings.Cut(k.Feedback, ".")
	r.ErrorIf(k.Kd != 0 && of != "position", at+".kd", "acts on the rate of the error, which is known of a position; the feedback is %s",
		k.Feedback)
	if !measured || !acts {
		return
	}
	// units, as the joints have them
	in, out := m.controllerUnits(k)
	for tag, key := range map[string]string{"out/in": "kp", "out/(in·s)": "ki", "out·s/in": "kd", "out": "limit", "in": "dead_zone"} {
		fits(r, at+"."+key, spellGain(tag, in, out))
	}
	wrong := map[string]string{"m": "rad", "rad": "m", "m/s": "rad", "rad/s": "m"}[in]
	if wrong != "" && k.Reference != nil {
		key, given := r.Counts(at+".reference", wrong)
		r.ErrorIf(key != "", key, "in %s, and the feedback %s is in %s", given, k.Feedback, in)
	}
}

// checkFeedback wants something that is measured.
func (m *Machine) checkFeedback(r *schema.Report, k *MachineController, at string) bool {
	if r.HasProblem(at) {
		return false
	}
	name, of, _ := strings.Cut(k.Feedback, ".")
	if k.Feedback == "" {
		r.KeyErrorf(at, "is missing: JOINT.position, JOINT.speed, MOTOR.current, …")
		return false
	}
	switch of {
	case "position", "speed":
		return m.single(r, at, name, "joint") != nil
	case "id", "iq":
		if k := m.motor(name); k != nil && k.Kind == "synchronous" {
			return true
		}
		r.KeyErrorf(at, "there is no synchronous motor %q", name)
		return false
	case "current":
		motor := m.motor(name)
		switch {
		case motor != nil && motor.Kind == "dc" && motor.L == 0:
			r.KeyErrorf(at, "with L = 0 the current of %s follows its voltage at once, and what measures it while it sets the voltage is an "+
				"algebraic loop; give machine.motors.%s.L", name, name)
			return false
		case motor != nil && motor.Kind != "dc":
			r.KeyErrorf(at, "the motor %s is %s and has no one current; take %s.id or %s.iq of one that is synchronous", name, motor.Kind,
				name, name)
			return false
		case motor != nil:
			return true
		}
		for i := range m.Magnets {
			if m.Magnets[i].Name == name {
				return true
			}
		}
		if e := m.element(name); e != nil && e.Kind == "inductor" {
			return true
		}
		r.KeyErrorf(at, "there is no motor, magnet or inductor %q%s", name, spelling.DidYouMean(name, m.coils()))
		return false
	case "voltage":
		if e := m.element(name); e != nil && e.Kind == "capacitor" {
			return true
		}
		r.KeyErrorf(at, "there is no capacitor %q, whose voltage can be measured", name)
		return false
	}
	r.KeyErrorf(at, "%q; want JOINT.position, JOINT.speed, NAME.current, MOTOR.id, MOTOR.iq or NAME.voltage", k.Feedback)
	return false
}

// element is the one of a name; nil: there is none.
func (m *Machine) element(name string) *CircuitElement {
	for i := range m.Circuit {
		if m.Circuit[i].Name == name {
			return &m.Circuit[i]
		}
	}
	return nil
}

// coils have a current.
func (m *Machine) coils() (all []string) {
	all = listOf(m.Motors, func(k MachineMotor) string { return k.Name })
	return append(all, listOf(m.Magnets, func(k MachineMagnet) string { return k.Name })...)
}

// checkActs wants something that can be set, and that nothing else sets.
func (m *Machine) checkActs(r *schema.Report, k *MachineController, at string) bool {
	at += ".acts_on"
	if r.HasProblem(at) {
		return false
	}
	name, what, _ := strings.Cut(k.Acts, ".")
	refuse := func(format string, a ...any) bool {
		r.Errorf(at, "%s: "+format, append([]any{at}, a...)...)
		return false
	}
	if k.Acts == "" {
		r.KeyErrorf(at, "is missing: JOINT.effort, MOTOR.voltage, …")
		return false
	}
	motor := m.motor(name)
	switch what {
	case "effort":
		b := m.single(r, at, name, "joint")
		if b != nil && b.Joint.Motion != nil {
			return refuse("the motion of the joint %s is prescribed, an effort has no effect on it; leave machine.bodies.%s.joint.motion out", name,
				name)
		}
		return b != nil
	case "ud", "uq":
		if motor == nil || motor.Kind != "synchronous" {
			return refuse("there is no synchronous motor %q", name)
		}
		if what == "ud" && motor.Ud != nil || what == "uq" && motor.Uq != nil {
			return refuse("machine.motors.%s.%s sets it; leave one of them out", name, what)
		}
		return true
	case "reference", "id", "iq":
		if name == k.Name {
			return refuse("a controller does not set its own reference")
		}
		i := slices.IndexFunc(m.Controllers, func(o MachineController) bool {
			return o.Name == name && (o.Kind == "field-oriented") == (what != "reference")
		})
		if i < 0 {
			kind := map[bool]string{true: "pid", false: "field-oriented"}[what == "reference"]
			return refuse("there is no controller %q of kind %s", name, kind)
		}
		return true
	case "voltage":
		for i := range m.Magnets {
			if g := &m.Magnets[i]; g.Name == name {
				if g.Voltage != nil || len(g.Nodes) > 0 {
					return refuse("machine.magnets.%s has a voltage or nodes; leave them out, or act on a voltage source of the circuit", name)
				}
				return true
			}
		}
		if e := m.element(name); e != nil && e.Kind == "voltage-source" {
			if e.Voltage != nil || e.PWM != nil {
				return refuse("machine.circuit.%s has a voltage or pwm; leave one of them out", name)
			}
			return true
		}
		switch {
		case motor == nil:
			return refuse("there is no motor, magnet or voltage source %q%s", name, spelling.DidYouMean(name, m.coils()))
		case motor.Kind == "synchronous":
			return refuse("the motor %s is synchronous: act on %s.ud or %s.uq, or take a controller of kind field-oriented", name, name, name)
		case motor.Kind != "dc":
			return refuse("the motor %s is %s: act on voltage sources of the circuit", name, motor.Kind)
		case motor.Voltage != nil || len(motor.Nodes) > 0:
			return refuse("machine.motors.%s has a voltage or nodes; leave them out, or act on a voltage source of the circuit", name)
		}
		return true
	}
	return refuse("%q; want JOINT.effort, NAME.voltage, MOTOR.ud, MOTOR.uq, or CONTROLLER.reference, .id, .iq", k.Acts)
}
