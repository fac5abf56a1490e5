package circuit

import (
	"fmt"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// Element is a part of a network. The current of a branch flows from FromNode to ToNode inside it, its voltage is φ_FromNode − φ_ToNode.
type Element interface {
	label() string
	add(b *builder)
}

// Spec describes a network.
type Spec struct {
	Ground   string // name of the reference node; "": "0"
	Axes     int    // coordinates of the mechanics
	Elements []Element
}

// Resistor is an ohmic branch; R = 0 is a wire.
type Resistor struct {
	Name, FromNode, ToNode string
	R                      float64 // Ω
}

// Inductor is a coil at rest, with the resistance of its wire.
type Inductor struct {
	Name, FromNode, ToNode string
	L                      float64 // H
	R                      float64 // Ω
	I0                     float64 // A  current at the start
}

// Capacitor is C·u′ = j.
type Capacitor struct {
	Name, FromNode, ToNode string
	C                      float64 // F
	U0                     float64 // V  voltage at the start
}

// VoltageSource holds φ_FromNode − φ_ToNode = U(t) − R·(current out of FromNode).
type VoltageSource struct {
	Name, FromNode, ToNode string
	U                      reference.Generator // V
	R                      float64             // Ω  inside; 0: ideal
}

// CurrentSource drives I(t) from FromNode to ToNode through itself.
type CurrentSource struct {
	Name, FromNode, ToNode string
	I                      reference.Generator // A
}

// Switch is a resistor with two values.
type Switch struct {
	Name, FromNode, ToNode string
	Ron, Roff              float64             // Ω  closed, open
	Control                reference.Generator // above one half: closed
}

// Diode conducts from FromNode to ToNode above the knee: two straight lines that meet at Knee,
//
//	j = (u − Knee)/Ron + Knee/Roff for u > Knee, else u/Roff.
type Diode struct {
	Name, FromNode, ToNode string
	Knee                   float64 // V
	Ron, Roff              float64 // Ω
}

// DC is the armature of a machine with a commutator and permanent magnets:
//
//	L·i′ = u − R·i − K·w − drop·tanh(i/i0),   τ = K·i,   R = R20·(1 + α·(T − 20 °C))
//
// With L = 0 it is quasi-static: i = (u − K·w)/R; brush drop and thermal lump then are refused. The inertia in Motor is that of the
// mechanics and not looked at here.
type DC struct {
	Name, FromNode, ToNode string
	Motor                  plant.Motor
	Thermal                plant.Thermal // without Capacity the winding stays at Ambient, which acts only with CopperTC
	Axis                   int           // coordinate
	I0                     float64       // A  current at the start
}

// Electromagnet is a coil whose inductance depends on an air gap.
type Electromagnet struct {
	Name, FromNode, ToNode string
	Plunger
	R    float64 // Ω
	Axis int     // coordinate of the gap
	I0   float64 // A
}

// Synchronous is a permanent-magnet synchronous machine with its inverter, in the axes of the rotor. Its states are id and iq.
type Synchronous struct {
	Name string
	Rotor
	R      float64             // Ω  of a phase
	Ud, Uq reference.Generator // V
	Axis   int
	I0     [2]float64 // A
}

// ThreePhase is the same machine with three windings between nodes. If all three end in one node of their own, that is a star point:
// the sum of the currents is then zero for want of another way.
type ThreePhase struct {
	Name             string
	FromNode, ToNode [3]string
	Phases
	R    float64 // Ω  of a phase
	Axis int
	I0   [3]float64 // A
}

// Windings is a group of windings in a field of the caller.
type Windings struct {
	Name     string
	Field    Field
	Axis     int // coordinate; −1: a field at rest
	Branches []Winding
}

// Winding is a branch of Windings.
type Winding struct {
	Name, FromNode, ToNode string
	R                      float64 // Ω
	I0                     float64 // A
}

func (e *Resistor) label() string      { return e.Name }
func (e *Inductor) label() string      { return e.Name }
func (e *Capacitor) label() string     { return e.Name }
func (e *VoltageSource) label() string { return e.Name }
func (e *CurrentSource) label() string { return e.Name }
func (e *Switch) label() string        { return e.Name }
func (e *Diode) label() string         { return e.Name }
func (e *DC) label() string            { return e.Name }
func (e *Electromagnet) label() string { return e.Name }
func (e *Synchronous) label() string   { return e.Name }
func (e *ThreePhase) label() string    { return e.Name }
func (e *Windings) label() string      { return e.Name }

func (e *Resistor) add(b *builder) {
	b.require(e.R >= 0, "R", e.R, "Ω", "≥ 0")
	if e.R == 0 {
		b.addLead(lead{name: e.Name, cap: -1, axis: -1}, e.FromNode, e.ToNode)
		return
	}
	b.conductor(conductor{name: e.Name, g: 1 / e.R}, e.FromNode, e.ToNode)
	k := len(b.c.conductors) - 1
	b.number(".R", "Ω", true, func(c *Circuit, r float64) { c.conductors[k].g = 1 / r }, e.R)
}

func (e *Inductor) add(b *builder) {
	b.require(e.L > 0, "L", e.L, "H", "> 0")
	f := &Constant{L: []float64{e.L}}
	b.group(e.Name, f, -1, []Winding{{e.Name, e.FromNode, e.ToNode, e.R, e.I0}})
	b.number(".L", "H", true, func(_ *Circuit, v float64) { f.L[0] = v }, e.L)
	b.resistance(e.R, 1)
}

func (e *Capacitor) add(b *builder) {
	b.require(e.C > 0, "C", e.C, "F", "> 0")
	b.require(numeric.IsFinite(e.U0), "start voltage", e.U0, "V", "a finite number")
	b.addLead(lead{name: e.Name, cap: len(b.c.capacitors), axis: -1}, e.FromNode, e.ToNode)
	b.c.capacitors = append(b.c.capacitors, capacitor{e.Name, e.C, len(b.c.leads) - 1})
	b.volts = append(b.volts, e.U0)
	k := len(b.c.capacitors) - 1
	b.number(".C", "F", true, func(c *Circuit, v float64) { c.capacitors[k].c = v }, e.C)
}

func (e *VoltageSource) add(b *builder) {
	b.require(e.R >= 0, "R", e.R, "Ω", "≥ 0")
	// the current j of a lead flows from FromNode to ToNode inside it: φ_FromNode − φ_ToNode = u + R·j
	b.addLead(lead{name: e.Name, r: e.R, u: b.source("U", e.U), cap: -1, axis: -1}, e.FromNode, e.ToNode)
}

func (e *CurrentSource) add(b *builder) {
	b.c.injections = append(b.c.injections, injection{e.Name, b.node(e.FromNode), b.node(e.ToNode), b.source("I", e.I)})
	b.join(e.FromNode, e.ToNode)
}

func (e *Switch) add(b *builder) {
	b.require(e.Ron > 0, "on", e.Ron, "Ω", "> 0")
	b.require(e.Roff > e.Ron, "off", e.Roff, "Ω", "above on")
	b.conductor(conductor{name: e.Name, kind: switched, g: 1 / e.Roff, gOn: 1 / e.Ron, gOff: 1 / e.Roff,
		control: b.source("Closed", e.Control)}, e.FromNode, e.ToNode)
}

func (e *Diode) add(b *builder) {
	b.require(e.Ron > 0, "on", e.Ron, "Ω", "> 0")
	b.require(e.Roff > e.Ron, "off", e.Roff, "Ω", "above on")
	b.require(e.Knee >= 0, "knee", e.Knee, "V", "≥ 0")
	b.conductor(conductor{name: e.Name, kind: rectifying, g: 1 / e.Roff, gOn: 1 / e.Ron, gOff: 1 / e.Roff, knee: e.Knee}, e.FromNode, e.ToNode)
}

func (e *DC) add(b *builder) {
	m, th := &e.Motor, &e.Thermal
	b.require(m.R > 0, "R", m.R, "Ω", "> 0")
	b.require(m.L >= 0, "L", m.L, "H", "≥ 0")
	b.require(numeric.IsFinite(m.K), "K", m.K, "N·m/A", "a finite number")
	b.require(m.BrushDrop >= 0, "brush drop", m.BrushDrop, "V", "≥ 0")
	b.require(m.BrushDrop == 0 || m.DropScale > 0, "drop current", m.DropScale, "A", "> 0")
	b.axis(e.Axis)
	if m.L == 0 {
		if m.BrushDrop != 0 || th.Capacity != 0 {
			b.fault("L: 0 H with a brush drop or a thermal capacity: a quasi-static armature has neither, give it an inductance")
		}
		if e.I0 != 0 {
			b.fault("%g A at the start with L = 0: without an inductance the current is no state", e.I0)
		}
		r := m.R * (1 + th.CopperTC*(th.Ambient-t20))
		b.addLead(lead{name: e.Name, r: r, cap: -1, axis: e.Axis, k: m.K}, e.FromNode, e.ToNode)
		k := len(b.c.leads) - 1
		b.number(".R", "Ω", true, func(c *Circuit, v float64) { c.leads[k].r = v * (1 + th.CopperTC*(th.Ambient-t20)) }, m.R)
		b.number(".K", "N·m/A", false, func(c *Circuit, v float64) { c.leads[k].k = v }, m.K)
		return
	}
	f := &Constant{L: []float64{m.L}, K: []float64{m.K}}
	b.group(e.Name, f, e.Axis, []Winding{{e.Name, e.FromNode, e.ToNode, m.R, e.I0}})
	w := &b.c.windings[len(b.c.windings)-1]
	cold := 1.0 // R in force by R at 20 °C
	if th.Capacity == 0 {
		cold = 1 + th.CopperTC*(th.Ambient-t20)
	}
	b.resistance(m.R, cold)
	b.number(".L", "H", true, func(_ *Circuit, v float64) { f.L[0] = v }, m.L)
	b.number(".K", "N·m/A", false, func(_ *Circuit, v float64) { f.K[0] = v }, m.K)
	if k := len(b.c.windings) - 1; m.BrushDrop > 0 {
		b.number(".brush_drop", "V", true, func(c *Circuit, v float64) { c.windings[k].drop = v }, m.BrushDrop)
		b.orZero()
	}
	w.drop, w.scale = m.BrushDrop, m.DropScale
	switch {
	case th.Capacity > 0:
		b.require(th.Resistance > 0, "thermal resistance", th.Resistance, "K/W", "> 0")
		w.heat = len(b.c.heaters)
		b.c.heaters = append(b.c.heaters, heater{e.Name, th.Capacity, th.Resistance, th.Ambient, th.CopperTC})
	case th.CopperTC != 0:
		w.r *= 1 + th.CopperTC*(th.Ambient-t20)
		b.require(w.r > 0, "R at ambient", w.r, "Ω", "> 0")
	}
}

// t20 is the temperature (°C) to which resistances belong, as in package plant.
const t20 = 20.0

func (e *Electromagnet) add(b *builder) {
	b.require(e.Linf >= 0, "Linf", e.Linf, "H", "≥ 0")
	b.require(e.C > 0, "C", e.C, "H·m", "> 0")
	b.require(e.X0 > 0, "X0", e.X0, "m", "> 0")
	b.require(numeric.IsFinite(e.Shut), "Shut", e.Shut, "m", "a finite number")
	b.axis(e.Axis)
	f := e.Plunger // the element may serve a second circuit
	b.group(e.Name, &f, e.Axis, []Winding{{e.Name, e.FromNode, e.ToNode, e.R, e.I0}})
	b.resistance(e.R, 1)
	b.number(".C", "H·m", true, func(_ *Circuit, v float64) { f.C = v }, f.C)
	b.number(".X0", "m", true, func(_ *Circuit, v float64) { f.X0 = v }, f.X0)
	b.number(".Linf", "H", true, func(_ *Circuit, v float64) { f.Linf = v }, f.Linf)
}

func (r *Rotor) check(b *builder) {
	b.require(r.Ld > 0, "Ld", r.Ld, "H", "> 0")
	b.require(r.Lq > 0, "Lq", r.Lq, "H", "> 0")
	b.require(numeric.IsFinite(r.Psi), "psi", r.Psi, "V·s", "a finite number")
	b.require(r.Pairs != 0, "pairs", r.Pairs, "", "a number other than 0")
	for _, c := range r.Cogs {
		b.require(c.Order > 0 && numeric.IsFinite(c.Amplitude), "order of the cogging", c.Order, "", "> 0")
	}
}

func (e *Synchronous) add(b *builder) {
	e.Rotor.check(b)
	b.require(e.R >= 0, "R", e.R, "Ω", "≥ 0")
	b.axis(e.Axis)
	var branches []Winding
	for k, u := range []reference.Generator{e.Ud, e.Uq} {
		axis := [...]string{".d", ".q"}[k]
		b.addLead(lead{name: e.Name + axis + ".inverter", u: b.source("U"+axis[1:], u), cap: -1, axis: -1, weight: park}, e.Name+axis, b.ground)
		branches = append(branches, Winding{e.Name + axis, e.Name + axis, b.ground, park * e.R, e.I0[k]})
	}
	f := e.Rotor
	b.group(e.Name, &f, e.Axis, branches)
	f.numbers(b)
	k := len(b.c.windings) - 2
	b.number(".R", "Ω", true, func(c *Circuit, r float64) { c.windings[k].r, c.windings[k+1].r = park*r, park*r }, e.R)
	b.orZero()
}

func (r *Rotor) numbers(b *builder) {
	b.number(".Ld", "H", true, func(_ *Circuit, v float64) { r.Ld = v }, r.Ld)
	b.number(".Lq", "H", true, func(_ *Circuit, v float64) { r.Lq = v }, r.Lq)
	b.number(".psi", "V·s", false, func(_ *Circuit, v float64) { r.Psi = v }, r.Psi)
}

func (e *ThreePhase) add(b *builder) {
	e.Rotor.check(b)
	b.require(e.R >= 0, "R", e.R, "Ω", "≥ 0")
	b.require(e.L0 > 0, "L0", e.L0, "H", "> 0")
	b.axis(e.Axis)
	var branches []Winding
	for k := range 3 {
		branches = append(branches, Winding{e.Name + [...]string{".a", ".b", ".c"}[k], e.FromNode[k], e.ToNode[k], e.R, e.I0[k]})
	}
	f := e.Phases
	b.group(e.Name, &f, e.Axis, branches)
	f.numbers(b)
	k := len(b.c.windings) - 3
	b.number(".R", "Ω", true, func(c *Circuit, r float64) {
		for i := range 3 {
			c.windings[k+i].r = r
		}
	}, e.R)
	b.orZero()
}

func (e *Windings) add(b *builder) {
	if e.Field == nil || e.Field.Windings() != len(e.Branches) || len(e.Branches) == 0 {
		b.fault("%d branches, want one for each winding of a field", len(e.Branches))
		return
	}
	if e.Axis != -1 {
		b.axis(e.Axis)
	}
	b.group(e.Name, e.Field, e.Axis, e.Branches)
}

// names of the states
func (w *winding) signal() engine.Signal { return engine.Signal{Name: w.name + ".current", Unit: "A"} }
func (p *capacitor) signal() engine.Signal {
	return engine.Signal{Name: p.name + ".voltage", Unit: "V"}
}
func (h *heater) signal() engine.Signal {
	return engine.Signal{Name: h.name + ".temperature", Unit: "°C"}
}

// problem of one element.
type problem struct {
	element string
	text    string
}

func (p *problem) Error() string { return fmt.Sprintf("%s: %s", p.element, p.text) }
