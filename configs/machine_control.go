package configs

import (
	"cmp"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/circuit"
	"hilrig/engine/circuit/servo"
	"hilrig/engine/control"
	"hilrig/engine/reference"
)

// MachineController is a controller as a part of the machine.
type MachineController struct {
	Name         string  `yaml:"-" names:"controllers"`
	Kind         string  `yaml:"kind" enum:"pid,field-oriented" doc:"pid: of one error; field-oriented: of the currents id and iq of a synchronous motor, whose voltages ud and uq it sets, and takes away what the rotation couples them by"`
	Feedback     string  `yaml:"feedback" doc:"pid: what is measured: JOINT.position, JOINT.speed, NAME.current of a motor, magnet or inductor, MOTOR.id and MOTOR.iq of a synchronous one, NAME.voltage of a capacitor"`
	Acts         string  `yaml:"acts_on" doc:"pid: what is set: JOINT.effort, NAME.voltage of a motor, magnet or voltage source, MOTOR.ud and MOTOR.uq, CONTROLLER.reference, CONTROLLER.id and CONTROLLER.iq of one that is field-oriented"`
	Reference    *Signal `yaml:"reference,omitempty" unit:"in" doc:"pid: what the feedback shall be, a number or a generator"`
	Motor        string  `yaml:"motor" doc:"field-oriented: the motor"`
	ID           *Signal `yaml:"id,omitempty" unit:"A" auto:"0 A, or what another controller sets" doc:"field-oriented: current along the magnets"`
	IQ           *Signal `yaml:"iq,omitempty" unit:"A" auto:"what another controller sets" doc:"field-oriented: current across them, which makes the torque"`
	Kp           float64 `yaml:"kp" unit:"out/in" want:">=0" doc:"proportional gain"`
	Ki           float64 `yaml:"ki" unit:"out/(in·s)" want:">=0" doc:"integral gain"`
	Kd           float64 `yaml:"kd" unit:"out·s/in" want:">=0" doc:"derivative gain, of a position: on the difference of reference and measured speed"`
	Limit        float64 `yaml:"limit" unit:"out" want:">=0" doc:"largest value that is set, and largest integral; field-oriented: √(ud² + uq²). 0: none"`
	DeadZone     float64 `yaml:"dead_zone" unit:"in" want:">=0" doc:"pid: the integral rests while the error is inside"`
	SamplePeriod float64 `yaml:"every" unit:"s" want:">=0" doc:"time between samples, the first at the start; what is set is held in between. 0: continuous"`
}

// SetDefaults is a PID.
func (k *MachineController) SetDefaults() { k.Kind = "pid" }

// in and out are the units of what is measured and set, with those of joints of the other kind.
func (k *MachineController) units() (in, out string) {
	if k.Kind == "field-oriented" {
		return "A", "V"
	}
	_, measured, _ := strings.Cut(k.Feedback, ".")
	switch measured {
	case "speed":
		in = "rad/s|m/s"
	case "current", "id", "iq":
		in = "A"
	case "voltage":
		in = "V"
	default:
		in = "rad|m"
	}
	_, set, _ := strings.Cut(k.Acts, ".")
	switch set {
	case "effort":
		out = "N·m|N"
	case "id", "iq":
		out = "A"
	case "reference":
		out = "rad|m|rad/s|m/s|A|V"
	default:
		out = "V"
	}
	return in, out
}

// Units are those of what is measured and set.
func (k *MachineController) Units() func(tag string) string {
	in, out := k.units()
	return func(tag string) string { return spellGain(tag, in, out) }
}

// AllUnits are those of a position and an effort, and of a current and a voltage.
func (*MachineController) AllUnits(tag string) (all []string) {
	for _, u := range [][2]string{{"rad", "N·m"}, {"rad/s", "N·m"}, {"A", "V"}} {
		if unit := spellGain(tag, u[0], u[1]); !slices.Contains(all, unit) {
			all = append(all, unit)
		}
	}
	return all
}

// spellGain is a tag with in and out, which may have several spellings.
func spellGain(tag, in, out string) string {
	var all []string
	for a := range strings.SplitSeq(in, "|") {
		for b := range strings.SplitSeq(out, "|") {
			unit := gainUnit(tag, a, b)
			if !slices.Contains(all, unit) {
				all = append(all, unit)
			}
		}
	}
	return strings.Join(all, "|")
}

// gainUnit is a tag with a for in and b for out. Seconds in it that meet those of a rate cancel.
func gainUnit(tag, a, b string) string {
	below, rate, _ := strings.Cut(a, "/")
	above, divisor, _ := strings.Cut(b, "/")
	seconds := len(rate) - len(divisor) // s is the only divisor of both
	switch tag {
	case "in":
		return a
	case "out":
		return b
	case "out/(in·s)":
		seconds--
	case "out·s/in":
		seconds++
	case "out/in":
	default:
		return tag
	}
	power := map[int]string{-2: "·s²", -1: "·s", 1: "·s", 2: "·s²"}[seconds]
	if seconds < 0 {
		return above + "/(" + below + power + ")"
	}
	return above + power + "/" + below
}

// wires are the sources and references that controllers set, by what the file calls them.
func (m *Machine) wires() map[string]*circuit.Held {
	all := map[string]*circuit.Held{}
	for i := range m.Controllers {
		switch k := &m.Controllers[i]; {
		case k.Kind == "field-oriented":
			all[k.Motor+".ud"], all[k.Motor+".uq"] = new(circuit.Held), new(circuit.Held)
		case !strings.HasSuffix(k.Acts, ".effort"):
			all[k.Acts] = new(circuit.Held)
		}
	}
	return all
}

// wired is what a controller sets, or the signal of the file.
func wired(wires map[string]*circuit.Held, what string, other reference.Generator) reference.Generator {
	if h := wires[what]; h != nil {
		return h
	}
	return other
}

// servos are the controllers of the circuit, and those of joints alone.
func (m *Machine) servos(wires map[string]*circuit.Held, axis func(joint string) int) (electric []servo.Controller,
	joints [][]servo.Controller) {
	measured := func(what string) servo.Measured {
		name, of, _ := strings.Cut(what, ".")
		switch of {
		case "position":
			return servo.Measured{Quantity: servo.Position, Axis: axis(name)}
		case "speed":
			return servo.Measured{Quantity: servo.Speed, Axis: axis(name)}
		case "id", "iq":
			return servo.Measured{Quantity: servo.State, State: name + "." + of[1:] + ".current"}
		}
		return servo.Measured{Quantity: servo.State, State: what}
	}
	var list []servo.Controller
	alone := []bool{}
	for i := range m.Controllers {
		k := &m.Controllers[i]
		c := servo.Controller{Name: k.Name, PID: control.PID{Kp: k.Kp, Ki: k.Ki, Kd: k.Kd, Limit: k.Limit, DeadZone: k.DeadZone},
			SamplePeriod: k.SamplePeriod}
		if k.Kind == "field-oriented" {
			motor := m.motor(k.Motor)
			rotor := motor.rotor()
			c.Rotor, c.Axis = &rotor, axis(motor.Joint)
			for j, want := range []*Signal{k.ID, k.IQ} {
				d := [...]string{"d", "q"}[j]
				c.Channels = append(c.Channels, servo.Channel{Measured: measured(k.Motor + ".i" + d),
					Reference: wired(wires, k.Name+".i"+d, generatorOr(want, 0)), To: servo.Target{Source: wires[k.Motor+".u"+d]}, Name: d, Unit: "V"})
			}
			list, alone = append(list, c), append(alone, false)
			continue
		}
		_, out := m.controllerUnits(k)
		ch := servo.Channel{Measured: measured(k.Feedback), Reference: wired(wires, k.Name+".reference", generatorOr(k.Reference, 0)), Unit: out}
		joint, effort := strings.CutSuffix(k.Acts, ".effort")
		if effort {
			ch.To.Axis = axis(joint)
		} else {
			ch.To.Source = wires[k.Acts]
		}
		c.Channels = []servo.Channel{ch}
		list, alone = append(list, c), append(alone, effort && ch.Quantity != servo.State && wires[k.Name+".reference"] == nil)
	}
	for i := range list {
		if alone[i] {
			joints = append(joints, list[i:i+1:i+1])
		} else {
			electric = append(electric, list[i])
		}
	}
	return electric, joints
}

// motor is the one of a name; nil: there is none.
func (m *Machine) motor(name string) *MachineMotor {
	for i := range m.Motors {
		if m.Motors[i].Name == name {
			return &m.Motors[i]
		}
	}
	return nil
}

// controllerUnits are the units of what a controller measures and sets, as its joints have them. The names have been checked.
func (m *Machine) controllerUnits(k *MachineController) (in, out string) {
	in, out = k.units()
	pick := func(unit, name string) string {
		one, other, _ := strings.Cut(unit, "|")
		if b, _ := (&MachineRun{Machine: *m}).joint(name); b != nil && b.Joint.Kind == "prismatic" {
			return cmp.Or(other, one)
		}
		return one
	}
	name, _, _ := strings.Cut(k.Feedback, ".")
	in = pick(in, name)
	name, set, _ := strings.Cut(k.Acts, ".")
	if set == "reference" {
		for i := range m.Controllers {
			if o := &m.Controllers[i]; o.Name == name && o != k && o.Kind == "pid" {
				out, _ = m.controllerUnits(&MachineController{Feedback: o.Feedback})
			}
		}
		return in, out
	}
	return in, pick(out, name)
}

// controllersWithout are the controllers that are left when motors are gone, and those that led to them.
func (m *Machine) controllersWithout(motors func(name string) bool) (left []MachineController) {
	left = slices.Clone(m.Controllers)
	for n := -1; n != len(left); {
		n = len(left)
		left = slices.DeleteFunc(left, func(k MachineController) bool {
			name, set, _ := strings.Cut(k.Acts, ".")
			if k.Kind == "field-oriented" {
				return motors(k.Motor)
			}
			if set == "reference" || set == "id" || set == "iq" {
				return !slices.ContainsFunc(left, func(o MachineController) bool { return o.Name == name })
			}
			return set != "effort" && motors(name)
		})
	}
	return left
}

// period warns of controllers that do not sample within the run.
func (m *Machine) period(r *schema.Report, duration float64) {
	for i := range m.Controllers {
		k := &m.Controllers[i]
		at := "machine.controllers." + k.Name + ".every"
		r.WarnIf(k.SamplePeriod > duration && duration > 0 && !r.HasProblem(at), at,
			"%g s is longer than the run of %g s: the controller samples once, at the start", k.SamplePeriod, duration)
	}
}
