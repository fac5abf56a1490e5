// Package circuit is the electrical side of an electromechanical machine in the form of Lagrange and Maxwell: windings that move,
// resistors, capacitors, sources, switches and diodes between nodes, and the forces that the windings exert.
//
// The problem: the mechanics has coordinates q with speeds v. A group of windings that moves with one coordinate q has the magnetic
// co-energy W′(q, i) = ½iᵀL(q)i + iᵀψ(q) − V(q), from which follow voltage and force [WW59]:
//
//	L·i′ + (Γ·v + R)·i + γ·v + drop(i) = A_Lᵀ·φ       Γ = dL/dq, γ = dψ/dq
//	τ = iᵀ(Γ − ½·dL/dq)·i + iᵀγ − dV/dq               = ½iᵀ(dL/dq)i + iᵀ(dψ/dq) − dV/dq
//
// In axes that turn with the rotor (dq) the currents are no time derivatives of charges: L is constant and Γ, γ are the voltages
// of rotation. The two lines hold as they stand, and for any Γ and γ the power closes,
//
//	iᵀ·(voltage) = d/dt(½iᵀLi + V) + iᵀRi + iᵀdrop + τ·v,
//
// so that torque and back-emf cannot disagree.
//
// Kirchhoff's laws are constraints and the node voltages φ their multipliers: modified nodal analysis [HRB75]. The states are the
// currents i of all windings and the voltages v_C of all capacitors. What has no state is found with their derivatives from one
// system of equations, given the mechanics:
//
//	unknown i′    L·i′ − A_Lᵀ·φ = −(R + Γv)i − γv − drop
//	unknown φ     A_L·i + A_G·G·A_Gᵀ·φ + A_V·j + A_I·I(t) = 0               one row per node
//	unknown j     A_Vᵀ·φ − R·j = e                          sources, e = u(t); capacitors, e = v_C, C·v_C′ = j; windings with L = 0, e = γv
//
// A set of nodes that only windings and current sources join to the rest has no φ in the sum of its node rows: that sum is a
// constraint of the states. It is differentiated once (index 1) and takes the place of one row, so that the currents keep to it
// exactly, to what the integration of I(t) leaves. A winding without inductance is quasi-static: a resistor with a back-emf. A
// resistor carries no state either; both are solved with the node voltages. Refused, with the names of the elements: loops of
// voltage sources and capacitors, cut sets of current sources, nodes without a way to ground.
//
// The forces need speeds and currents only, never accelerations: the rows of the mechanics and of the circuit are coupled through
// their states, and for the solution of the former the latter are known forces.
//
// Flow is the differential form, for adaptive integrators. Trial is a fixed step, exact where speeds and sources change evenly (step.go).
//
// Not here: saturation, iron losses, eddy currents, capacitors that move. Units are SI, the coordinate of a machine is rad or m.
package circuit

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/reference"
)

// Circuit is a network that Build has checked, and its workspace. Not for concurrent use.
type Circuit struct {
	Audited bool // Trial returns its energies

	axes  int
	nodes []string // without ground

	windings   []winding
	capacitors []capacitor
	leads      []lead // branches with a current j of their own: sources, capacitors, windings without inductance
	conductors []conductor
	injections []injection
	groups     []group
	heaters    []heater // windings that warm up
	cuts       []cut    // sets of nodes on windings and current sources only
	drives     []reference.Generator

	numbers []number
	signals []engine.Signal
	start   []float64

	nx             int // states: currents, voltages of capacitors, temperatures
	n              int // unknowns of the solve: i′, φ, j
	varyingFields  bool
	constantFields bool // nothing of A depends on positions and speeds
	switchedLinear bool // nothing but switches changes its equations: those of windings with Constant fields, no heat, brushes and diodes
	lu             engine.LU
	factored       bool // lu holds the factors for the flags of the conductors as they are, and a constant L
	solution       instant
	step           stepper
}

// ground is the number of the reference node.
const ground = -1

type winding struct {
	name             string
	fromNode, toNode int
	r                float64 // Ω  at 20 °C
	drop             float64 // V  across brushes, drop·tanh(i/scale)
	scale            float64 // A
	heat             int     // index of its heater; −1: none
}

type capacitor struct {
	name      string
	c         float64 // F
	leadIndex int
}

// lead is φ_fromNode − φ_toNode − r·j = e.
type lead struct {
	name             string
	fromNode, toNode int
	r                float64             // Ω
	u                reference.Generator // V  nil: none
	cap              int                 // capacitor whose voltage e is; −1: none
	axis             int                 // coordinate of a winding without inductance; −1: none
	k                float64             // V·s/rad  its constant, e = k·v
	weight           float64             // of its voltage: 1, or 3/2 in dq
}

// conductor is a branch φ_fromNode − φ_toNode = u with the current g·(u − u0) + g0·u0.
type conductor struct {
	name             string
	fromNode, toNode int
	g                float64 // S  in force
	u0               float64 // V  in force
	kind             conductorKind
	gOn, gOff        float64             // S  of switch and diode
	knee             float64             // V  of a diode
	control          reference.Generator // of a switch: above one half it is closed
}

type conductorKind uint8

const (
	ohmic conductorKind = iota
	switched
	rectifying
)

// injection is a current source.
type injection struct {
	name             string
	fromNode, toNode int
	u                reference.Generator // A
}

// group is a field and its windings, which are neighbours.
type group struct {
	name         string
	field        Field
	axis         int // −1: none
	firstWinding int
	m            int
	mag          Magnetic
	static       bool // L does not depend on q
}

type heater struct {
	name              string
	capacity, res, ta float64 // J/K, K/W, °C
	tc                float64 // 1/K
}

// cut replaces the row of a node by the sum of the rows of its set, differentiated.
type cut struct {
	row        int   // node
	windings   []int // by their sign: k or ^k
	injections []int
}

// States names the numbers of x: currents of windings, voltages of capacitors, temperatures.
func (c *Circuit) States() []engine.Signal { return c.signals }

// Nodes are the names of the nodes but ground.
func (c *Circuit) Nodes() []string { return c.nodes }

// Axes is the number of coordinates of the machine.
func (c *Circuit) Axes() int { return c.axes }

// Name is the one under which the circuit stands in an audit.
func (c *Circuit) Name() string { return "circuit" }

// Reset writes the state in which all begins: the currents and voltages of the description.
func (c *Circuit) Reset(x []float64) { copy(x, c.start) }

// Next is the first instant after t (s) at which a source jumps or a switch is thrown; +Inf: there is none.
func (c *Circuit) Next(t float64) float64 {
	next := math.Inf(1)
	for _, g := range c.drives {
		if j, ok := g.(Jumping); ok {
			next = min(next, j.Next(t))
		}
	}
	return next
}

// StoredEnergy is the energy (J) of fields and capacitors at the positions q, and of cogging, which is stored too.
func (c *Circuit) StoredEnergy(q, x []float64) float64 {
	sum := 0.0
	for g := range c.groups {
		p := &c.groups[g]
		p.field.At(coordinate(q, p.axis), &p.mag)
		i := x[p.firstWinding : p.firstWinding+p.m]
		for a, ia := range i {
			row := p.mag.L[a*p.m : a*p.m+p.m]
			for b, ib := range i {
				sum += ia * row[b] * ib / 2
			}
		}
		sum += p.mag.Potential
	}
	for k := range c.capacitors {
		v := x[len(c.windings)+k]
		sum += c.capacitors[k].c * v * v / 2
	}
	return sum
}
