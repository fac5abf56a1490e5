package multibody

import (
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// Data is the scratch of one goroutine for one Model: results of the algorithms and what they share. Each algorithm says which
// fields it leaves valid.
type Data struct {
	QDD []float64 // nv     dv/dt, by ABA
	Tau []float64 // nv     torques, by RNEA
	H   []float64 // nv×nv  inertia matrix, rows first, by CRBA
	L   []float64 // nv×nv  lower factor H = Lᵀ·L, by Factor
	LoopData

	// Implicit (nv) is added to the diagonal of H in Dynamics, Accelerate, Answer and Reaccelerate, as armatures are: what forces of the
	// joints that a stepper takes implicitly change with the acceleration.
	Implicit   []float64
	Springless bool // springs between frames are left out of Dynamics, Accelerate and Reaccelerate: a stepper takes them upon itself
	Bodies     bool // Accelerate leaves Velocities valid, also where a machine that moves in a plane could do without

	body    []bodyData
	column  []spatial // S of each velocity: what a unit of it does to its body
	wrench  []Wrench  // external, of each body
	joined  []Wrench  // of the cut joints, scratch of Loads
	passive []Wrench  // of the springs
	loaded  bool      // some wrench may be other than zero

	planarBodies []flatData
	torques      []float64   // nv  torques of the last Accelerate or Reaccelerate of a tree
	method       elimination // how the last evaluation solved for the accelerations
}

// Wrench is a force and a moment on a body.
type Wrench struct {
	M r3.Vec // N·m  about the origin of the body, world axes
	F r3.Vec // N    world axes
}

// spatial is a motion: angular and linear velocity at the origin of a body, world axes.
type spatial struct{ ang, lin r3.Vec }

// bodyData is the state of a body; world axes, spatial vectors at its origin.
type bodyData struct {
	rot      rotation.Matrix // body → world
	pos      r3.Vec          // m  origin
	arm      r3.Vec          // m  origin from that of the parent
	vel, acc spatial
	cor      spatial // V × S·v
	force    Wrench

	// inertia about the origin
	mc r3.Vec
	io symmetric

	// of all that hangs on it (CRBA): mass beside mc and io
	mass  float64
	mcAll r3.Vec
	ioAll symmetric

	art articulated

	flex  *flexData // of a flexible body
	modes []spatial // of a node: what a unit of each mode does to it
	theta r3.Vec    // of a node: rotation by the deformation
}

// NewData makes the scratch for one goroutine.
func (m *Model) NewData() *Data {
	n, nb := m.nv, len(m.body)
	v := make([]float64, 4*n+2*n*n)
	cut := func(n int) (part []float64) { part, v = v[:n:n], v[n:]; return part }
	d := &Data{
		QDD: cut(n), Tau: cut(n), Implicit: cut(n), torques: cut(n), H: cut(n * n), L: cut(n * n),
		body: make([]bodyData, nb), column: make([]spatial, n), wrench: make([]Wrench, nb), joined: make([]Wrench, nb),
		passive:  make([]Wrench, nb),
		LoopData: newLoopData(m),
	}
	for j := range d.body {
		d.body[j].rot = rotation.Eye
		if k := m.body[j].kind; k == Spherical || k == Free {
			d.body[j].art.multi = new(multiData)
		}
	}
	m.newFlexData(d)
	if m.plane != nil {
		d.planarBodies = make([]flatData, nb)
	}
	return d
}

// Push adds a wrench to the external wrenches on body j; they act in RNEA, ABA and all that builds on them until Release.
func (d *Data) Push(j int, w Wrench) {
	d.wrench[j].M = r3.Add(d.wrench[j].M, w.M)
	d.wrench[j].F = r3.Add(d.wrench[j].F, w.F)
	d.loaded = true
}

// PushAt adds a force F (N, world axes) on body j at a point p (m, world). Positions of the bodies must be valid.
func (d *Data) PushAt(j int, p, force r3.Vec) {
	d.Push(j, Wrench{M: r3.Cross(r3.Sub(p, d.body[j].pos), force), F: force})
}

// Release takes all external wrenches away.
func (d *Data) Release() {
	if d.loaded {
		clear(d.wrench)
		d.loaded = false
	}
}

// check panics where a slice has another length than the model wants.
func (m *Model) check(where string, q, v, tau []float64) {
	if len(q) != m.nq || v != nil && len(v) != m.nv || tau != nil && len(tau) != m.nv {
		panic("multibody: " + where + ": vector of another length")
	}
}
