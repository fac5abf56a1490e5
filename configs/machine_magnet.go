package configs

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/circuit"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/engine/spelling"
)

// magnetElements are the coils of the magnets.
func (m *Machine) magnetElements(wires map[string]*circuit.Held, axis func(joint string) int) (list []circuit.Element) {
	for i := range m.Magnets {
		k := &m.Magnets[i]
		from, to := k.Name+"/+", groundName
		if len(k.Nodes) == 2 {
			from, to = k.Nodes[0], k.Nodes[1]
		} else {
			list = append(list, &circuit.VoltageSource{Name: k.Name + supplySuffix, FromNode: from, ToNode: to,
				U: wired(wires, k.Name+".voltage", generatorOr(k.Voltage, 0))})
		}
		list = append(list, &circuit.Electromagnet{Name: k.Name, FromNode: from, ToNode: to, R: k.R, Axis: axis(k.Joint), I0: k.Amperes,
			Plunger: circuit.Plunger{Linf: k.Linf, C: k.C, X0: k.X0, Shut: k.ClosedPosition, Reverse: k.Reverse}})
	}
	return list
}

// supplySuffix is what the source of a motor or magnet is called, behind its name.
const supplySuffix = ".supply"

// threePhase is the motor between nodes.
func (k *MachineMotor) threePhase(axis int) circuit.Element {
	out := &circuit.ThreePhase{Name: k.Name, Phases: circuit.Phases{Rotor: k.rotor(), L0: cmp.Or(k.L0, k.Lq)}, R: k.R, Axis: axis}
	for p := range 3 {
		if len(k.Nodes) == 6 {
			out.FromNode[p], out.ToNode[p] = k.Nodes[2*p], k.Nodes[2*p+1]
		} else {
			out.FromNode[p], out.ToNode[p] = k.Nodes[p], k.Name+"/star"
		}
	}
	return out
}

// rotor is the field of a synchronous motor as its joint sees it.
func (k *MachineMotor) rotor() circuit.Rotor {
	r := circuit.Rotor{Ld: k.Ld, Lq: k.Lq, Psi: *k.Psi, Pairs: k.Pairs * k.Gear}
	for _, c := range k.Cogging {
		// gear·amplitude·sin(order·gear·q), which is odd in gear twice
		r.Cogs = append(r.Cogs, circuit.Cog{Amplitude: c.Amplitude * math.Abs(k.Gear), Order: c.Order * math.Abs(k.Gear)})
	}
	return r
}

// pulses are a source that changes between two values; nil: the signal as it is.
func (e *CircuitElement) pulses(of *Signal, low, high float64) reference.Generator {
	if e.PWM == nil {
		return generatorOr(of, 0)
	}
	return &circuit.PWM{Low: low, High: high, Period: 1 / e.PWM.Frequency, Duty: generatorOr(e.PWM.Duty, 0)}
}

// levels are the two of a pulse-width modulated source (V); 0 for another source.
func (p *CircuitPWM) levels() (low, high float64) {
	if p == nil {
		return 0, 0
	}
	return p.LowVoltage, p.HighVoltage
}

// lump is the winding as package plant has it.
func (t *MachineThermal) lump() (out plant.Thermal) {
	if t == nil {
		return out
	}
	return plant.Thermal{Resistance: t.Resistance, Capacity: t.Capacity, CopperTC: t.Copper, Ambient: t.Ambient}
}

// transformer is several windings on one core.
func (e *CircuitElement) transformer() circuit.Element {
	n := len(e.Windings)
	f := &circuit.Constant{L: make([]float64, n*n)}
	out := &circuit.Windings{Name: e.Name, Field: f, Axis: -1}
	for i, a := range e.Windings {
		for j, b := range e.Windings {
			f.L[i*n+j] = e.Coupling * math.Sqrt(a.L*b.L)
		}
		f.L[i*n+i] = a.L
		out.Branches = append(out.Branches, circuit.Winding{Name: e.Name + "." + a.Name, FromNode: a.FromNode, ToNode: a.ToNode, R: a.R,
			I0: a.Amperes})
	}
	return out
}

// checkMagnets wants what the tags cannot say.
func (m *Machine) checkMagnets(r *schema.Report, start *MachineStart) {
	for i := range m.Magnets {
		k := &m.Magnets[i]
		at := "machine.magnets." + k.Name
		if r.HasProblem(at) {
			continue
		}
		b := m.single(r, at+".joint", k.Joint, "joint, whose position opens its gap")
		switch {
		case k.Voltage == nil && len(k.Nodes) == 0 && m.setBy(k.Name+".voltage") != "":
		case k.Voltage == nil && len(k.Nodes) == 0 && !r.HasProblem(at+".voltage"):
			r.KeyErrorf(at+".voltage", "is missing: a number or a generator in V; or nodes, two nodes of the circuit")
		case k.Voltage != nil && len(k.Nodes) > 0:
			r.KeyErrorf(at+".nodes", "voltage says it already; leave one of them out")
		case k.Voltage == nil && len(k.Nodes) != 2:
			r.KeyErrorf(at+".nodes", "%d, want two", len(k.Nodes))
		}
		for _, key := range []string{"c", "x0"} {
			if x := map[string]float64{"c": k.C, "x0": k.X0}[key]; x == 0 && !r.HasKey(at+"."+key) && !r.HasProblem(at+"."+key) {
				r.KeyErrorf(at+"."+key, "is missing: L(x) = L_inf + c/(x + x0)")
			}
		}
		r.ErrorIf(start.Rest && k.Amperes != 0, "start.equilibrium", "the force of the magnet %s depends on where the joint is, and the "+
			"equilibrium is found with the forces of the file's position: leave %s.start_current or start.equilibrium out", k.Name, at)
		if b == nil || r.HasProblem(at) {
			continue
		}
		unit := m.coordinate(b)
		fits(r, at+".closed", unit)
		fits(r, at+".x0", unit)
		fits(r, at+".c", "H·"+unit)
		gap, side := b.Joint.Position-k.ClosedPosition, "lower"
		if k.Reverse {
			gap, side = -gap, "upper"
		}
		if gap < -k.X0/2 {
			r.KeyErrorf(at+".closed", "the gap is %.6g %s at the start, below −x0/2 = %.6g %s: L(x) does not hold there; change closed, reverse "+
				"or the position of joint %s", gap, unit, -k.X0/2, unit, k.Joint)
			continue
		}
		m.checkSeat(r, at, k, side, unit)
	}
}

// checkSeat warns of a magnet that nothing holds off its core.
func (m *Machine) checkSeat(r *schema.Report, at string, k *MachineMagnet, side, unit string) {
	for i := range m.Stops {
		s := &m.Stops[i]
		if s.A != k.Joint || s.B != groundName || s.Ratio == 0 {
			continue
		}
		end := s.Travel[0] * s.Ratio
		if k.Reverse != (s.Ratio < 0) {
			end = s.Travel[1] * s.Ratio
		}
		gap := end - k.ClosedPosition
		if k.Reverse {
			gap = -gap
		}
		if gap > -k.X0/2 {
			return
		}
		r.KeyWarnf("machine.stops."+s.Name+".travel", "the gap of the magnet %s is %.6g %s at this stop, below −x0/2, where L(x) does not "+
			"hold: a run that comes there ends", k.Name, gap, unit)
		return
	}
	r.KeyWarnf(at, "no stop holds the gap open, and a run ends where it falls below −x0/2 = %.6g %s: give its seat, such as "+
		"machine.stops.seat: {a: %s, travel: […], stiffness: …}, whose %s end is at the position %.6g %s", -k.X0/2, unit, k.Joint, side,
		k.ClosedPosition, unit)
}

// single is the body of a joint with one coordinate; nil: it is missing or another one, which is reported.
func (m *Machine) single(r *schema.Report, at, joint, what string) *MachineBody {
	b, all := (&MachineRun{Machine: *m}).joint(joint)
	switch {
	case b != nil || r.HasProblem(at):
	case joint == "":
		r.KeyErrorf(at, "is missing: a %s", what)
	default:
		for i := range m.Bodies {
			if o := &m.Bodies[i]; o.Name == joint {
				r.KeyErrorf(at, "the joint %s is %s; want a revolute or prismatic one", joint, o.Joint.Kind)
				return nil
			}
		}
		r.KeyErrorf(at, "there is no revolute or prismatic joint %q%s", joint, spelling.DidYouMean(joint, all))
	}
	return b
}

// coordinate is the unit of a joint's position.
func (*Machine) coordinate(b *MachineBody) string {
	if b.Joint.Kind == "prismatic" {
		return "m"
	}
	return "rad"
}

// fits refuses a number whose unit is that of another kind of joint.
func fits(r *schema.Report, at, unit string) {
	given, ok := r.Measures(at, unit)
	r.FirstErrorIf(!ok, at, "in %s, and this joint wants %s", given, unit)
}

// elementKeys are the keys of a circuit element that not all kinds have, and the kinds that want them.
var elementKeys = []struct {
	key          string
	kinds, needs []string
}{
	{"R", []string{"resistor", "inductor", "voltage-source"}, []string{"resistor"}},
	{"L", []string{"inductor"}, []string{"inductor"}},
	{"start_current", []string{"inductor"}, nil},
	{"C", []string{"capacitor"}, []string{"capacitor"}},
	{"start_voltage", []string{"capacitor"}, nil},
	{"voltage", []string{"voltage-source"}, nil},
	{"current", []string{"current-source"}, nil},
	{"closed", []string{"switch"}, nil},
	{"pwm", []string{"voltage-source", "switch"}, nil},
	{"on", []string{"switch", "diode"}, []string{"switch", "diode"}},
	{"off", []string{"switch", "diode"}, []string{"switch", "diode"}},
	{"knee", []string{"diode"}, nil},
	{"windings", []string{"transformer"}, nil},
	{"coupling", []string{"transformer"}, nil},
}

// checkElements wants of the circuit what the kinds differ in.
func (m *Machine) checkElements(r *schema.Report) {
	for i := range m.Circuit {
		e := &m.Circuit[i]
		at := "machine.circuit." + e.Name
		if r.HasProblem(at) || e.Kind == "" {
			continue
		}
		for _, k := range elementKeys {
			key := at + "." + k.key
			r.FirstErrorIf(r.HasKey(key) && !slices.Contains(k.kinds, e.Kind), key, "belongs to %s; this is of kind %s", strings.Join(k.kinds, ", "),
				e.Kind)
			r.FirstErrorIf(slices.Contains(k.needs, e.Kind) && !r.HasKey(key), key, "is missing")
		}
		core, pulsed := e.Kind == "transformer", e.Kind == "voltage-source" || e.Kind == "switch"
		r.FirstErrorIf(core && e.FromNode+e.ToNode != "", at+".from",
			"belongs to an element with two ends; this is a transformer, and each winding has its own")
		if p := e.PWM; p != nil && pulsed {
			r.ErrorIf(e.Voltage != nil || e.Control != nil, at+".pwm", "voltage or closed say it already; leave one of them out")
			r.ErrorIf(p.Frequency == 0 && !r.HasProblem(at+".pwm"), at+".pwm.frequency", "is missing")
			if p.Duty == nil && !r.HasProblem(at+".pwm.duty") {
				r.KeyErrorf(at+".pwm.duty", "is missing: 0 to 1, a number or a generator")
			} else if g, ok := p.Duty.Generator().(reference.Constant); ok && (g < 0 || g > 1) {
				r.KeyErrorf(at+".pwm.duty", "%g, want 0 to 1", float64(g))
			}
			r.ErrorIf(e.Kind == "switch" && (p.LowVoltage != 0 || p.HighVoltage != 0), at+".pwm",
				"low and high are voltages of a source; a switch is closed or open")
		}
		r.FirstErrorIf(core && len(e.Windings) < 2, at+".windings", "%d, want two or more: {primary: {from: …, to: …, L: …}, …}", len(e.Windings))
		for j := range e.Windings {
			w := &e.Windings[j]
			if in := at + ".windings." + w.Name; !r.HasProblem(in) {
				checkMissing(r, in, map[string]bool{"from": w.FromNode == "", "to": w.ToNode == "", "L": w.L == 0})
			}
		}
	}
}
