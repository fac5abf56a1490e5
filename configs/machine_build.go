package configs

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/circuit/servo"
	"hilrig/engine/friction"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/engine/rotation"
)

var jointKinds = map[string]multibody.Kind{"fixed": multibody.Fixed, "revolute": multibody.Revolute, "prismatic": multibody.Prismatic,
	"spherical": multibody.Spherical, "free": multibody.Free}

var loopKinds = map[string]multibody.CutKind{"fixed": multibody.CutFixed, "revolute": multibody.CutRevolute,
	"prismatic": multibody.CutPrismatic, "cylindrical": multibody.CutCylindrical, "spherical": multibody.CutSpherical,
	"point": multibody.CutPoint, "distance": multibody.CutDistance}

// motionSuffix is what the torque of a prescribed motion is called, behind the name of its joint.
const motionSuffix = ".motion"

// Build makes the machine of a file that was checked.
func (c *MachineRun) Build() (*machine.Machine, error) { return machine.New(c.Spec()) }

// Stepper makes a machine with a fixed step of a file that was checked, and its state at the start, loops closed.
func (c *MachineRun) Stepper(o machine.StepOptions) (s *machine.Stepper, x []float64, err error) {
	if s, err = machine.NewStepper(c.Spec(), o); err != nil {
		return nil, nil, err
	}
	x = c.State(s.M)
	how := multibody.Assembly{Limit: c.Start.Limit}
	if c.Start.Refuse {
		how.Limit = 1e-6
	}
	if c.Start.Rest {
		_, rest, _, err := c.Begin()
		if err != nil {
			return nil, nil, err
		}
		copy(x, rest)
	}
	for k, joint := range o.MotionJoints { // where the file has it, until somebody tells
		q, v, err := s.At(joint)
		if err != nil {
			return nil, nil, err
		}
		s.SetMotion(k, multibody.Motion{X: x[q], V: x[v]})
	}
	how.Hold = slices.DeleteFunc(slices.Clone(c.Start.Hold), func(joint string) bool { return slices.Contains(o.MotionJoints, joint) })
	if _, err := s.Begin(0, x, how); err != nil {
		return nil, nil, fmt.Errorf("start: %w", err)
	}
	return s, x, nil
}

// Spec describes the machine of a file that was checked.
func (c *MachineRun) Spec() machine.Spec {
	m := &c.Machine
	var s machine.Spec
	s.Gravity = vector(m.Gravity)
	for i := range m.Bodies {
		b := &m.Bodies[i]
		s.Bodies = append(s.Bodies, m.body(b))
		if g := b.Joint.Motion.Generator(); g != nil {
			s.Drives, s.Motions = append(s.Drives, multibody.Drive{Name: b.Name + motionSuffix, Joint: b.Name}), append(s.Motions, g)
		}
		s.Friction = b.Joint.JointFriction.appendTo(b.Name, b.Joint.Kind, s.Friction)
		if g := b.Joint.Effort.Generator(); g != nil {
			s.Efforts = append(s.Efforts, machine.Effort{Joint: b.Name, Generator: g})
		}
	}
	for i := range m.Frames {
		f := &m.Frames[i]
		s.Frames = append(s.Frames, multibody.Frame{Name: f.Name, Body: f.Body, Pose: pose(f.Location, f.Turn)})
	}
	// a place of its own on a body, or on that of a frame
	end := func(of, name string, at, turn [3]float64) string {
		if at == [3]float64{} && turn == [3]float64{} {
			return of
		}
		body, on := of, pose(at, turn)
		for k := range m.Frames {
			if f := &m.Frames[k]; f.Name == of {
				body, on = f.Body, pose(f.Location, f.Turn).Compose(on)
			}
		}
		s.Frames = append(s.Frames, multibody.Frame{Name: name, Body: body, Pose: on})
		return name
	}
	for i := range m.Loops {
		l := &m.Loops[i]
		cut := multibody.Cut{Name: l.Name, Kind: loopKinds[l.Kind], Length: l.Length}
		cut.A, cut.B = end(l.A, l.Name+"/a", l.AtA, l.TurnA), end(l.B, l.Name+"/b", l.AtB, l.TurnB)
		s.Cuts = append(s.Cuts, cut)
		s.Friction = l.JointFriction.appendTo(l.Name, l.Kind, s.Friction)
	}
	for i := range m.Springs {
		k := &m.Springs[i]
		s.Springs = append(s.Springs, multibody.Spring{Name: k.Name, A: end(k.A, k.Name+"//a", k.AtA, [3]float64{}),
			B: end(k.B, k.Name+"//b", k.AtB, [3]float64{}), Stiffness: k.Stiffness, Damping: k.Damping, Length: k.Length})
	}
	for i := range m.Forces {
		k := &m.Forces[i]
		f := machine.Force{Name: k.Name, Frame: end(k.Target, k.Name+"///on", k.Point, [3]float64{}), Direction: vector(k.Direction),
			World: k.Axes == "world"}
		f.Force, f.Torque = k.Force.Generator(), k.Torque.Generator()
		s.Forces = append(s.Forces, f)
	}
	for i := range m.Couplings {
		k := &m.Couplings[i]
		s.Couplings = append(s.Couplings, multibody.Coupling{Name: k.Name, Offset: k.Offset, Terms: termsOf(k.Factors)})
	}
	s.Rows = m.rows()
	s.Parts = m.parts
	return s
}

// body is a body with the rotors on its joint.
func (m *Machine) body(b *MachineBody) multibody.Body {
	out := multibody.Body{Name: b.Name, Parent: b.Parent, Place: pose(b.Location, b.Turn)}
	if b.RPY != [3]float64{} {
		out.Place.R = rollPitchYaw(b.RPY)
	}
	j := &b.Joint
	out.Joint = multibody.Joint{Kind: jointKinds[j.Kind], Axis: vector(j.Axis), Armature: j.Armature, Damping: j.Damping,
		Stiffness: j.Stiffness, Rest: j.Rest}
	for i := range m.Motors {
		if k := &m.Motors[i]; k.Joint == b.Name {
			out.Joint.Armature += k.Gear * k.Gear * k.Rotor
		}
	}
	if b.Flexible != nil {
		var err error
		if out.Flex, err = b.Flexible.flex(); err != nil {
			panic("configs: " + err.Error()) // it was checked
		}
		return out
	}
	d, p := b.Inertia, b.Products
	if b.InertiaZ > 0 {
		d = [3]float64{b.InertiaZ / 2, b.InertiaZ / 2, b.InertiaZ}
	}
	out.Inertia = multibody.Inertia{Mass: b.Mass, Com: vector(b.Com),
		I: rotation.Matrix{{d[0], p[0], p[1]}, {p[0], d[1], p[2]}, {p[1], p[2], d[2]}}}
	return out
}

func pose(at, turn [3]float64) multibody.Pose {
	p := multibody.Pose{P: vector(at)}
	if turn != [3]float64{} {
		p.R = rotation.Exp(vector(turn))
	}
	return p
}

// rollPitchYaw turns by roll about x, then pitch about y, then yaw about z, all of them fixed axes.
func rollPitchYaw(a [3]float64) quat.Number {
	turn := func(x, y, z float64) quat.Number { return rotation.Exp(r3.Vec{X: x, Y: y, Z: z}) }
	return quat.Mul(turn(0, 0, a[2]), quat.Mul(turn(0, a[1], 0), turn(a[0], 0, 0)))
}

// appendTo appends the friction of a joint, if it has one.
func (f *JointFriction) appendTo(joint, kind string, list []machine.Friction) []machine.Friction {
	law := f.Friction.Model
	if law == nil {
		return list
	}
	out := machine.Friction{Joint: joint, Law: law, Speed: f.Smoothing}
	switch {
	case f.Nominal > 0:
		out.Lever = 1 / f.Nominal
	case f.asks():
		// mu under a load of 1
		out.Law, out.Lever = friction.Clone(law), f.Radius
		var theta []float64
		for _, p := range law.Params() {
			if theta = append(theta, p.Value); p.Name == "N0" {
				theta[len(theta)-1] = 1
			}
		}
		if err := out.Law.SetParams(theta); err != nil {
			panic("configs: " + err.Error()) // it was checked
		}
		if kind == "prismatic" {
			out.Lever = 1
		}
	}
	return append(list, out)
}

// asks tells a law with mu and without a load of its own.
func (f *JointFriction) asks() bool { return f.Friction.Model != nil && f.Friction.NeedsNormal() }

// parts are the circuit and the drive train.
func (m *Machine) parts(axis func(joint string) (int, error), axes int) (list []drivetrain.Part, err error) {
	number := func(joint string) int {
		if joint == groundName {
			return drivetrain.Ground
		}
		k, bad := axis(joint)
		if bad != nil && err == nil {
			err = bad
		}
		return k
	}
	wires := m.wires()
	electric, joints := m.servos(wires, number)
	var network *circuit.Circuit
	if e := m.elements(wires, number); len(e) > 0 {
		var bad error
		if network, bad = circuit.Build(circuit.Spec{Ground: groundName, Axes: axes, Elements: e}); bad != nil {
			return nil, bad
		}
	}
	servos := func(label string, c *circuit.Circuit, of []servo.Controller) {
		p, bad := servo.New(label, c, axes, of)
		if list = append(list, p); bad != nil && err == nil {
			err = bad
		}
	}
	switch {
	case len(electric) > 0 && network == nil:
		servos("controllers", nil, electric)
	case len(electric) > 0:
		servos(network.Name(), network, electric)
	case network != nil:
		list = append(list, network)
	}
	for _, of := range joints {
		servos(of[0].Name, nil, of)
	}
	for i := range m.Shafts {
		s := &m.Shafts[i]
		out := &drivetrain.Shaft{Label: s.Name, Twist: drivetrain.Twist{A: number(s.A), B: number(s.B), Ratio: s.Ratio}, K: s.Stiffness,
			C: s.Damping}
		if s.Efficiency < 1 || s.BackEfficiency != nil {
			out.Mesh = &drivetrain.Mesh{Efficiency: s.Efficiency, BackEfficiency: math.NaN(), Speed: s.Speed}
			if s.BackEfficiency != nil {
				out.Mesh.BackEfficiency = *s.BackEfficiency
			}
		}
		list = append(list, out)
	}
	for i := range m.Belts {
		b := &m.Belts[i]
		list = append(list, &drivetrain.Belt{Label: b.Name, A: number(b.A), B: number(b.B), RA: b.RadiusA, RB: b.RadiusB, K: b.Stiffness,
			C: b.Damping, Tension: b.Tension, Grip: b.Grip})
	}
	for i := range m.Stops {
		s := &m.Stops[i]
		list = append(list, &drivetrain.Contact{Label: s.Name, Twist: drivetrain.Twist{A: number(s.A), B: number(s.B), Ratio: s.Ratio},
			Stops: plant.Stops{Travel: s.Travel, Stiffness: s.Stiffness, Loss: s.Loss}})
	}
	return list, err
}

// elements are the branches of the circuit.
func (m *Machine) elements(wires map[string]*circuit.Held, axis func(joint string) int) (list []circuit.Element) {
	for i := range m.Motors {
		k := &m.Motors[i]
		at := axis(k.Joint)
		if k.Kind == "synchronous" {
			list = append(list, &circuit.Synchronous{Name: k.Name, Rotor: k.rotor(), R: k.R, Axis: at,
				Ud: wired(wires, k.Name+".ud", generatorOr(k.Ud, 0)), Uq: wired(wires, k.Name+".uq", generatorOr(k.Uq, 0))})
			continue
		}
		if k.Kind == "three-phase" {
			list = append(list, k.threePhase(at))
			continue
		}
		from, to := k.Name+"/+", groundName
		if len(k.Nodes) == 2 {
			from, to = k.Nodes[0], k.Nodes[1]
		} else {
			list = append(list, &circuit.VoltageSource{Name: k.Name + supplySuffix, FromNode: from, ToNode: to,
				U: wired(wires, k.Name+".voltage", k.Voltage.Generator())})
		}
		list = append(list, &circuit.DC{Name: k.Name, FromNode: from, ToNode: to, Axis: at, I0: k.Amperes,
			Motor: plant.Motor{R: k.R, L: k.L, K: k.K * k.Gear, BrushDrop: k.BrushDrop, DropScale: k.DropScale}, Thermal: k.Thermal.lump()})
	}
	list = append(list, m.magnetElements(wires, axis)...)
	for i := range m.Circuit {
		e := &m.Circuit[i]
		var out circuit.Element
		switch e.Kind {
		case "resistor":
			out = &circuit.Resistor{Name: e.Name, FromNode: e.FromNode, ToNode: e.ToNode, R: e.R}
		case "inductor":
			out = &circuit.Inductor{Name: e.Name, FromNode: e.FromNode, ToNode: e.ToNode, L: e.L, R: e.R, I0: e.Amperes}
		case "capacitor":
			out = &circuit.Capacitor{Name: e.Name, FromNode: e.FromNode, ToNode: e.ToNode, C: e.C, U0: e.Volts}
		case "voltage-source":
			low, high := e.PWM.levels()
			out = &circuit.VoltageSource{Name: e.Name, FromNode: e.FromNode, ToNode: e.ToNode,
				U: wired(wires, e.Name+".voltage", e.pulses(e.Voltage, low, high)), R: e.R}
		case "current-source":
			out = &circuit.CurrentSource{Name: e.Name, FromNode: e.FromNode, ToNode: e.ToNode, I: generatorOr(e.Current, 0)}
		case "switch":
			out = &circuit.Switch{Name: e.Name, FromNode: e.FromNode, ToNode: e.ToNode, Ron: e.Ron, Roff: e.Roff, Control: e.pulses(e.Control, 0, 1)}
		case "diode":
			out = &circuit.Diode{Name: e.Name, FromNode: e.FromNode, ToNode: e.ToNode, Knee: e.Knee, Ron: e.Ron, Roff: e.Roff}
		case "transformer":
			out = e.transformer()
		}
		list = append(list, out)
	}
	return list
}

// generatorOr is a signal, or a constant where it is left out.
func generatorOr(s *Signal, x float64) reference.Generator {
	if g := s.Generator(); g != nil {
		return g
	}
	return reference.Constant(x)
}

// State is the start as the file gives it, loops not yet closed.
func (c *MachineRun) State(m *machine.Machine) []float64 {
	x := m.NewState()
	for i := range c.Machine.Bodies {
		b := &c.Machine.Bodies[i]
		j, err := m.Model.Joint(b.Name)
		if err != nil {
			continue // fixed
		}
		_, kind, iq, iv := m.Model.JointOf(j)
		q, v := x[iq:], x[m.Model.NQ()+iv:]
		switch kind {
		case multibody.Fixed: // flexible, undeformed
		case multibody.Revolute, multibody.Prismatic:
			q[0], v[0] = b.Joint.Position, b.Joint.Velocity
			if g := b.Joint.Motion.Generator(); g != nil {
				q[0], v[0], _ = g.At(0)
			}
		default:
			g := rotation.Exp(vector(b.Start.Turn))
			q[0], q[1], q[2], q[3] = g.Real, g.Imag, g.Jmag, g.Kmag
			copy(v, b.Start.Omega[:])
			if kind == multibody.Free {
				copy(q[4:], b.Start.Origin[:])
				copy(v[3:], b.Start.Speed[:])
			}
		}
	}
	return x
}

// Begin makes the machine and its state at the start, loops closed. What was moved stands in the report; the error says why they cannot be.
func (c *MachineRun) Begin() (m *machine.Machine, x []float64, done multibody.Assembled, err error) {
	if m, err = c.Build(); err != nil {
		return nil, nil, done, err
	}
	x = c.State(m)
	how := multibody.Assembly{Hold: c.Start.Hold, Limit: c.Start.Limit}
	if c.Start.Refuse {
		how.Limit = 1e-6
	}
	if done, err = m.Assemble(0, x, how); err != nil {
		return nil, nil, done, fmt.Errorf("start: %w", err)
	}
	if c.Start.Refuse && done.VelocityChange > 1e-6 {
		return nil, nil, done, fmt.Errorf("start: the velocities miss the constraints by %.3g, and start.refuse is set", done.GapRate)
	}
	if c.Start.Rest {
		if done.Unstable, err = m.Equilibrate(0, x); err != nil {
			return nil, nil, done, fmt.Errorf("start.equilibrium: %w", err)
		}
	}
	return m, x, done, nil
}

// Assembled says how the start came out.
func (c *MachineRun) Assembled() (string, error) {
	_, _, done, err := c.Begin()
	return done.String(), err
}

// Ends are the places on bodies that are known by name: of each its body, or the ground, and its name among the frames of the model.
func (c *MachineRun) Ends() (list [][2]string) {
	s := c.Spec()
	for i := range c.Machine.Bodies { // along a beam
		from := c.Machine.Bodies[i].Name
		for _, to := range c.Machine.Bodies[i].nodes() {
			list = append(list, [2]string{from, to})
			from = to
		}
	}
	for _, f := range s.Frames {
		list = append(list, [2]string{onGround(f.Body), f.Name})
	}
	return list
}
