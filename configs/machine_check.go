package configs

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
	"hilrig/engine/machine"
	"hilrig/engine/spelling"
)

// Check looks at what the tags cannot say. What bodies, loops, drive train and circuit refuse comes from where they are built.
func (c *MachineRun) Check(r *schema.Report) {
	r.CheckBounds(c)
	r.FirstErrorIf(c.Version != 1, "version", "%d, this program reads version 1", c.Version)
	r.ErrorIf(len(c.Machine.Bodies) == 0 && !r.HasProblem("machine"), "machine.bodies", "is missing: bodies by name, each with its joint")
	c.Machine.checkNames(r)
	for i := range c.Machine.Bodies {
		c.Machine.Bodies[i].check(r, "machine")
	}
	for _, s := range c.signals() {
		s.signal.check(r, s.path, s.unit, s.fadeStart)
	}
	for i := range c.Machine.Bodies {
		c.Machine.Bodies[i].checkMotion(r, c.Duration)
	}
	c.Machine.checkMotors(r)
	c.Machine.checkMagnets(r, &c.Start)
	c.Machine.checkElements(r)
	c.Machine.checkControllers(r, &c.Start)
	c.Machine.period(r, c.Duration)
	c.checkRows(r)
	c.Machine.checkEnds(r)
	if every := c.Outputs.RowInterval; every > 0 && c.Duration/every > maxRows && !r.HasProblem("outputs") && !r.HasProblem("duration") {
		r.KeyErrorf("outputs.every", "%.3g rows, at most %d are kept", c.Duration/every, maxRows)
	}
	if len(r.Problems()) > 0 {
		return
	}
	m, err := c.Build()
	if err != nil {
		c.passOn(r, err)
		return
	}
	for i, name := range c.Start.Hold {
		_, err := m.Model.Joint(name)
		r.ErrorIf(err != nil, fmt.Sprintf("start.hold[%d]", i), "%v", err)
	}
	for i, name := range c.Outputs.Frames {
		_, err := m.Model.Frame(name)
		r.ErrorIf(err != nil, fmt.Sprintf("outputs.frames[%d]", i), "%v", err)
	}
}

// badName is what would not be read back from the columns of a table.
var badName = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`)

// checkNames wants names that differ where they stand in one table.
func (m *Machine) checkNames(r *schema.Report) {
	m.namedParts(func(section, name string) {
		at := schema.Join("machine."+section, name)
		switch bad := badName.FindString(name); {
		case slices.Contains([]string{"circuit", "shafts", "belts", "stops"}, section): // have tables of their own
		case bad != "" || name == "":
			r.KeyErrorf(at, "the name holds %q; want letters, digits, - and _", bad)
		case name == groundName:
			r.KeyErrorf(at, "ground is what does not move; choose another name")
		}
	})
}

// namedParts are all parts of the machine: the key of their list in the file, and their names.
func (m *Machine) namedParts(see func(section, name string)) {
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		section, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if list := v.Field(i); schema.Named(list.Type().Elem()) {
			for k := range list.Len() {
				see(section, list.Index(k).FieldByName("Name").String())
			}
		}
	}
}

// check looks at a body and its joint, of a section.
func (b *MachineBody) check(r *schema.Report, section string) {
	at := section + ".bodies." + b.Name
	if r.HasProblem(at) {
		return
	}
	j := &b.Joint
	refuse := func(key, why string) { r.KeyErrorf(at+"."+key, "%s", why) }
	if j.Kind == "" {
		r.Errorf(at+".joint", "%s.joint.kind is missing: revolute, prismatic, spherical, free or fixed", at)
		return
	}
	b.checkFlexible(r, at)
	single := j.Kind == "revolute" || j.Kind == "prismatic"
	for _, key := range append(j.motionKeys(), j.bodyKeys()...) {
		if !single {
			refuse("joint."+key, "belongs to revolute and prismatic joints, this one is "+j.Kind)
		}
	}
	placed := b.Start != MachinePlace{}
	switch {
	case single && placed:
		refuse("start", "belongs to spherical and free joints; give joint.position and joint.velocity")
	case j.Kind == "spherical" && (b.Start.Origin != [3]float64{} || b.Start.Speed != [3]float64{}):
		refuse("start", "at and speed belong to a free joint, a spherical one only turns")
	case j.Kind == "fixed" && placed:
		refuse("start", "a fixed joint does not move")
	}
	if j.Kind == "free" && j.Damping > 0 {
		refuse("joint.damping", "a free joint has none: a drag has other units for turning than for moving")
	}
	if b.Turn != [3]float64{} && b.RPY != [3]float64{} {
		refuse("rpy", "turn says it already; leave one of them out")
	}
	if b.InertiaZ > 0 && (b.Inertia != [3]float64{} || b.Products != [3]float64{}) {
		refuse("inertia_z", "inertia says it already; leave one of them out")
	}
	if j.Motion != nil && j.Effort != nil {
		refuse("joint.effort", "the motion of the joint is prescribed, an effort has no effect on it; leave one of them out")
	}
	j.JointFriction.check(r, at+".joint", j.Kind)
}

// motionKeys and bodyKeys are the keys of a joint that say how it moves in a run, and those that say what it is, as far as they say
// anything: a file that the program wrote has all of them.
func (j *MachineJoint) motionKeys() (keys []string) {
	return trueKeys([]string{"position", "velocity", "friction", "friction_speed", "friction_radius", "friction_load", "effort", "motion"},
		j.Position != 0, j.Velocity != 0, j.Friction.Model != nil, j.Smoothing != 0, j.Radius != 0, j.Nominal != 0, j.Effort != nil,
		j.Motion != nil)
}

func (j *MachineJoint) bodyKeys() (keys []string) {
	return trueKeys([]string{"axis", "stiffness", "rest"}, j.Axis != [3]float64{}, j.Stiffness != 0, j.Rest != 0)
}

// trueKeys are the keys whose condition, of the same place, holds.
func trueKeys(keys []string, is ...bool) (out []string) {
	for i, key := range keys {
		if is[i] {
			out = append(out, key)
		}
	}
	return out
}

// checkMotion wants a start that is that of a prescribed motion, and a motion without jumps: no torque makes one.
func (b *MachineBody) checkMotion(r *schema.Report, duration float64) {
	g, at := b.Joint.Motion.Generator(), "machine.bodies."+b.Name+".joint"
	if g == nil || r.HasProblem(at) {
		return
	}
	x, v, _ := g.At(0)
	for _, s := range []struct {
		key             string
		value, expected float64
	}{{"position", b.Joint.Position, x}, {"velocity", b.Joint.Velocity, v}} {
		r.ErrorIf(r.HasKey(at+"."+s.key) && math.Abs(s.value-s.expected) > 1e-9*(1+math.Abs(s.expected)), at+"."+s.key,
			"%.9g, and the prescribed motion starts with %.9g; leave it out", s.value, s.expected)
	}
	jumps, ok := g.(circuit.Jumping)
	if !ok {
		return
	}
	for t := jumps.Next(0); t < duration; t = jumps.Next(t) {
		x0, v0, _ := g.At(t * (1 - 1e-9))
		x1, v1, _ := g.At(t)
		what := ""
		switch {
		case math.Abs(x1-x0) > 1e-6*(math.Abs(x0)+math.Abs(x1)):
			what = fmt.Sprintf("position jumps from %.6g to %.6g", x0, x1)
		case math.Abs(v1-v0) > 1e-6*(math.Abs(v0)+math.Abs(v1)):
			what = fmt.Sprintf("speed jumps from %.6g to %.6g", v0, v1)
		default:
			continue
		}
		r.KeyErrorf(at+".motion",
			"its %s at t = %.6g s, which takes an infinite torque; want a motion whose speed has no jumps, such as trapezoid, or a file", what, t)
		return
	}
}

// checkFriction wants a law that a machine of several coordinates can have.
func (j *JointFriction) check(r *schema.Report, at, kind string) {
	law := j.Friction.Model
	if law == nil {
		for _, key := range trueKeys([]string{"friction_speed", "friction_radius", "friction_load"}, j.Smoothing > 0, j.Radius > 0,
			j.Nominal > 0) {
			r.ErrorIf(!r.HasProblem(at+".friction"), at+"."+key, "of friction, which is missing")
		}
		return
	}
	switch asks := j.asks(); {
	case asks && j.Nominal > 0:
		r.KeyErrorf(at+".friction_load", "the law has mu, which the force that the joint carries acts on; leave friction_load out")
	case asks && j.Radius == 0 && kind != "prismatic" && !r.HasProblem(at+".friction_radius"):
		r.KeyErrorf(at+".friction_radius", "is missing: the law has mu, and friction is mu times the force that the joint carries times the "+
			"radius of its bearing; or give the law N0")
	case j.Radius > 0 && (!asks || kind == "prismatic"):
		r.KeyErrorf(at+".friction_radius", "of a joint that turns whose law has mu and no N0; for another law give friction_load")
	}
	_, smooth := law.(friction.Smooth)
	_, flow := law.(friction.Flow)
	name := j.Friction.Name
	if j.Smoothing == 0 {
		r.ErrorIf((!smooth || !flow) && !machine.Sticks(law), at+".friction",
			"%s has a memory, and no differential form of it; set %s.friction_speed, over which the sign of its steady curve is smoothed, or "+
				"take a law of bristles (lugre, dahl, elasto-plastic) or one without a memory (coulomb, static-coulomb-viscous)", name, at)
		return
	}
	_, sided := law.(*friction.TwoSidedStick)
	r.ErrorIf(sided || byDirection(law) != "" || j.Friction.param("offset") != 0 && !math.IsNaN(j.Friction.param("offset")), at+".friction",
		"with friction_speed the law has to be the same both ways: no backward, no offset")
}

// checkMotors wants what each kind needs.
func (m *Machine) checkMotors(r *schema.Report) {
	for i := range m.Motors {
		k := &m.Motors[i]
		at := "machine.motors." + k.Name
		if r.HasProblem(at) {
			continue
		}
		need := func(ok bool, key, why string) {
			r.FirstErrorIf(!ok, at+"."+key, "is missing: %s", why)
		}
		need(k.Joint != "", "joint", "the joint that it turns")
		r.ErrorIf(k.Gear == 0, at+".gear", "0, want a number other than 0")
		supply := k.Voltage != nil
		switch k.Kind {
		case "dc":
			need(k.K != 0, "K", "torque and back-emf constant")
			checkBrushes(r, at, k.BrushDrop, k.DropScale)
			switch {
			case !supply && len(k.Nodes) == 0 && m.setBy(k.Name+".voltage") != "":
			case !supply && len(k.Nodes) == 0:
				need(false, "voltage", "a number or a generator in V; or nodes, two nodes of the circuit; or a controller that acts_on it")
			case supply && len(k.Nodes) > 0:
				r.KeyErrorf(at+".nodes", "voltage says it already; leave one of them out")
			case !supply && len(k.Nodes) != 2:
				r.KeyErrorf(at+".nodes", "%d, want two", len(k.Nodes))
			}
			if t := k.Thermal; t != nil && t.Capacity > 0 {
				need(t.Resistance > 0, "thermal.resistance", "from the winding to ambient")
			}
		default:
			need(k.Ld > 0, "Ld", "inductance along the magnets")
			need(k.Lq > 0, "Lq", "inductance across the magnets")
			need(k.Psi != nil, "psi", "flux linkage of the magnets; 0 for a reluctance motor, which has none")
			r.ErrorIf(k.Psi != nil && *k.Psi == 0 && k.Ld == k.Lq, at+".psi",
				"0, and Ld is Lq: this motor has no torque; a reluctance motor has two inductances")
			need(k.Pairs > 0, "pole_pairs", "of poles")
			if k.Kind == "synchronous" {
				need(k.Uq != nil || m.setBy(k.Name+".uq") != "", "uq", "a number or a generator in V; or a controller")
			} else if n := len(k.Nodes); n != 3 && n != 6 && !r.HasProblem(at+".nodes") {
				r.KeyErrorf(at+".nodes", "%d, want three nodes of the circuit, or six", n)
			}
			for _, key := range trueKeys([]string{"ud", "uq"}, k.Ud != nil, k.Uq != nil) {
				by := m.setBy(k.Name + "." + key)
				r.ErrorIf(by != "", at+"."+key, "the controller %s sets it; leave one of them out", by)
			}
		}
		for _, key := range k.unusedKeys() {
			r.KeyErrorf(at+"."+key, "has no effect on a motor of kind %s; leave it out", k.Kind)
		}
	}
}

// unusedKeys are the keys that say something which a motor of this kind does not have.
func (k *MachineMotor) unusedKeys() []string {
	dc, phases := k.Kind == "dc", k.Kind == "three-phase"
	return trueKeys([]string{"K", "brush_drop", "drop_current", "voltage", "start_current", "L", "thermal", "Ld", "Lq", "psi", "pole_pairs",
		"cogging", "ud", "uq", "L0", "nodes"}, !dc && k.K != 0, !dc && k.BrushDrop != 0, !dc && k.DropScale != 0, !dc && k.Voltage != nil,
		!dc && k.Amperes != 0, !dc && k.L != 0, !dc && k.Thermal != nil, dc && k.Ld != 0, dc && k.Lq != 0, dc && k.Psi != nil, dc && k.Pairs != 0,
		dc && len(k.Cogging) > 0, k.Kind != "synchronous" && k.Ud != nil, k.Kind != "synchronous" && k.Uq != nil, !phases && k.L0 != 0,
		k.Kind == "synchronous" && len(k.Nodes) > 0)
}

// checkEnds wants what loops, couplings, the circuit and the drive train stand between.
func (m *Machine) checkEnds(r *schema.Report) {
	var bodies []string
	for i := range m.Bodies {
		bodies = append(append(bodies, m.Bodies[i].Name), m.Bodies[i].nodes()...)
	}
	ground := append(slices.Clone(bodies), groundName)
	places := slices.Concat(ground, listOf(m.Frames, func(f MachineFrame) string { return f.Name }))
	known := func(at, what, name string, list []string) {
		switch {
		case r.HasProblem(at):
		case name == "":
			r.KeyErrorf(at, "is missing: %s", what)
		case !slices.Contains(list, name):
			r.KeyErrorf(at, "there is no %s %q%s", what, name, spelling.DidYouMean(name, list))
		}
	}
	m.checkClamps(r)
	for i := range m.Frames {
		f := &m.Frames[i]
		known("machine.frames."+f.Name+".body", "body", f.Body, ground)
	}
	for i := range m.Loops {
		l := &m.Loops[i]
		at := "machine.loops." + l.Name
		known(at+".a", "body or frame", l.A, places)
		known(at+".b", "body or frame", l.B, places)
		r.ErrorIf(l.Kind == "" && !r.HasProblem(at), at+".kind", "is missing: what b may do as seen from a")
		if f := &l.JointFriction; f.Friction.Model != nil && !slices.Contains([]string{"revolute", "prismatic", "point"}, l.Kind) {
			r.KeyErrorf(at+".friction", "belongs to a loop of kind revolute, prismatic or point; this one is %s", l.Kind)
		} else {
			f.check(r, at, l.Kind)
		}
		r.ErrorIf(l.Length > 0 && l.Kind != "distance", at+".length", "of a distance; this loop is closed by %s", l.Kind)
	}
	for i := range m.Springs {
		k := &m.Springs[i]
		at := "machine.springs." + k.Name
		known(at+".a", "body or frame", k.A, places)
		known(at+".b", "body or frame", k.B, places)
	}
	for i := range m.Forces {
		m.Forces[i].check(r, func(at, name string) { known(at, "body or frame", name, places) })
	}
	for i := range m.Couplings {
		k := &m.Couplings[i]
		for joint := range k.Factors {
			known("machine.couplings."+k.Name+".of."+joint, "joint", joint, bodies)
		}
	}
	for i := range m.Motors {
		known("machine.motors."+m.Motors[i].Name+".joint", "joint", m.Motors[i].Joint, bodies)
	}
	for i := range m.Shafts {
		s := &m.Shafts[i]
		known("machine.shafts."+s.Name+".a", "joint", s.A, ground)
		known("machine.shafts."+s.Name+".b", "joint", s.B, ground)
		turns(r, "machine.shafts."+s.Name, s.Ratio)
		if at := "machine.shafts." + s.Name; s.Efficiency == 1 && s.BackEfficiency == nil && s.Speed != 0 {
			r.KeyWarnf(at+".efficiency_speed", "not used: the gear has no efficiency below 1")
		}
		if s.Efficiency < 1 && s.Speed == 0 {
			at := "machine.shafts." + s.Name + ".efficiency_speed"
			r.KeyErrorf(at, "is missing: the speed of a at which the loss is 76 %% developed")
		}
	}
	for i := range m.Belts {
		b := &m.Belts[i]
		known("machine.belts."+b.Name+".a", "joint", b.A, ground)
		known("machine.belts."+b.Name+".b", "joint", b.B, ground)
	}
	for i := range m.Stops {
		s := &m.Stops[i]
		known("machine.stops."+s.Name+".a", "joint", s.A, bodies)
		known("machine.stops."+s.Name+".b", "joint", s.B, ground)
		turns(r, "machine.stops."+s.Name, s.Ratio)
	}
	for i := range m.Circuit {
		e := &m.Circuit[i]
		at := "machine.circuit." + e.Name
		core, pulsed := e.Kind == "transformer", e.PWM != nil
		checkMissing(r, at, map[string]bool{"kind": e.Kind == "", "from": e.FromNode == "" && !core, "to": e.ToNode == "" && !core,
			"voltage": e.Kind == "voltage-source" && e.Voltage == nil && !pulsed && m.setBy(e.Name+".voltage") == "",
			"current": e.Kind == "current-source" && e.Current == nil, "closed": e.Kind == "switch" && e.Control == nil && !pulsed})
	}
}

// checkMissing reports the keys below at that are missing, in order of their names.
func checkMissing(r *schema.Report, at string, missing map[string]bool) {
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		r.FirstErrorIf(missing[key], at+"."+key, "is missing")
	}
}

// check wants a place that can move, a direction, and something that acts.
func (f *MachineForce) check(r *schema.Report, known func(at, name string)) {
	at := "machine.forces." + f.Name
	switch {
	case f.Target == groundName:
		r.KeyErrorf(at+".on", "ground does not move, a force on it has no effect")
	case f.Target == "" && !r.HasProblem(at):
		r.KeyErrorf(at+".on", "is missing: a body or frame")
	default:
		known(at+".on", f.Target)
	}
	r.ErrorIf(f.Direction == [3]float64{} && !r.HasProblem(at), at+".along", "is missing: the direction, such as [1, 0, 0]")
	r.FirstErrorIf(f.Force == nil && f.Torque == nil, at, "force and torque are missing; give one of them, or both")
}

// turns refuses a ratio of 0.
func turns(r *schema.Report, at string, ratio float64) {
	if at += ".ratio"; ratio == 0 && !r.HasProblem(at) {
		r.KeyErrorf(at, "0, want a number other than 0")
	}
}

// quoted is how the engine begins what it says of a part of the machine.
var quoted = regexp.MustCompile(`^(\w+) "([^"]+)": `)

// passOn reports what building the machine refused, at the section that it speaks of.
func (c *MachineRun) passOn(r *schema.Report, err error) {
	if list, ok := err.(interface{ Unwrap() []error }); ok && strings.Contains(err.Error(), "\n") {
		for _, one := range list.Unwrap() {
			c.passOn(r, one)
		}
		return
	}
	m, text, at := &c.Machine, err.Error(), "machine"
	name := ""
	if p := quoted.FindStringSubmatch(text); p != nil {
		name, text = p[2], strings.TrimPrefix(text, p[0])
	} else if before, after, ok := strings.Cut(text, ": "); ok {
		name, _, _ = strings.Cut(before, ".friction")
		if text = after; !strings.HasSuffix(before, ".friction") {
			name = before
		}
	}
	m.namedParts(func(section, of string) {
		if of == name && at == "machine" {
			at = "machine." + section + "." + name
		}
	})
	switch key, rest, ok := strings.Cut(text, ": "); {
	case at == "machine":
		text = err.Error()
	case ok && slices.Contains([]string{"parent", "inertia"}, key):
		at, text = at+"."+key, rest
	}
	r.KeyErrorf(at, "%s", text)
}
