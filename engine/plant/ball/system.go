package ball

import (
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// Energy is that of motion and of height (J); a ball at the origin with its centre of mass in the centre has none of height.
func (m *Model) Energy(s *State) float64 {
	f := s.Frame()
	v := r3.Add(r3.Vec{X: s.VX, Y: s.VY}, f.ToPlane(r3.Cross(s.W, m.c)))
	at := r3.Add(r3.Vec{X: s.X, Y: s.Y}, f.ToPlane(m.c))
	return 0.5*r3.Dot(s.W, m.inertia.mulVec(s.W)) + 0.5*m.mass*r3.Norm2(v) - r3.Dot(m.weight, at)
}

// Power is that of all friction (W), not above zero: dE/dt. a belongs to s.
func (m *Model) Power(s *State, a *Accel) float64 {
	f := s.Frame()
	moment, d := m.moment(f.C, s.W, s.Mode)
	power := r3.Dot(s.W, axpy(-a.Force.Z, d, moment))
	if s.Mode.Slip {
		ux, uy := m.contact(&f, s)
		power += a.Force.X*ux + a.Force.Y*uy
	}
	return power
}

// Where the numbers of a state stand in the x of a System.
const (
	QW = iota
	QX
	QY
	QZ
	X
	Y
	WX
	WY
	WZ
	VX
	VY
	Slip // 1: the contact slips
	RollHeld
	SpinHeld
	States
)

// Outputs of a System, at the end of the step.
const (
	OutX          = iota // m
	OutY                 // m
	OutQW                // orientation from body to the frame of the plane
	OutQX                //
	OutQY                //
	OutQZ                //
	OutRoll              // rad/s  |ω_h|
	OutSpin              // rad/s  (ω, γ)
	OutNormal            // N      of the contact
	OutTangential        // N      its magnitude
	OutSlip              // m/s    of the contact
	OutEnergy            // J
	OutPower             // W      of friction
	Outputs
)

// System is a ball as an engine.System without inputs.
type System struct{ Model *Model }

// Layout names states and outputs.
func (System) Layout() engine.Layout {
	return engine.Layout{
		NQ: 6, NV: 5, NA: 3,
		States: []engine.Signal{
			{Name: "qw"}, {Name: "qx"}, {Name: "qy"}, {Name: "qz"}, {Name: "x", Unit: "m"}, {Name: "y", Unit: "m"},
			{Name: "wx", Unit: "rad/s"}, {Name: "wy", Unit: "rad/s"}, {Name: "wz", Unit: "rad/s"}, {Name: "vx", Unit: "m/s"},
			{Name: "vy", Unit: "m/s"},
			{Name: "slips"}, {Name: "roll_held"}, {Name: "spin_held"},
		},
		Outputs: []engine.Signal{
			{Name: "x", Unit: "m"}, {Name: "y", Unit: "m"}, {Name: "qw"}, {Name: "qx"}, {Name: "qy"}, {Name: "qz"},
			{Name: "roll", Unit: "rad/s"}, {Name: "spin", Unit: "rad/s"}, {Name: "normal", Unit: "N"}, {Name: "tangential", Unit: "N"},
			{Name: "slip", Unit: "m/s"}, {Name: "energy", Unit: "J"}, {Name: "power", Unit: "W"},
		},
	}
}

// Step advances x by dt (s). It has no inputs, u may be nil.
func (b System) Step(dt float64, x, _, y []float64) engine.Status {
	s := Unpack(x)
	a, st := b.Model.Step(dt, &s)
	Pack(&s, x)
	f := s.Frame()
	wn := r3.Dot(s.W, f.C)
	ux, uy := b.Model.contact(&f, &s)
	y = y[:Outputs]
	y[OutX], y[OutY], y[OutQW], y[OutQX], y[OutQY], y[OutQZ] = s.X, s.Y, s.Q.Real, s.Q.Imag, s.Q.Jmag, s.Q.Kmag
	y[OutRoll], y[OutSpin] = r3.Norm(axpy(-wn, f.C, s.W)), wn
	y[OutNormal], y[OutTangential], y[OutSlip] = a.Force.Z, math.Hypot(a.Force.X, a.Force.Y), math.Hypot(ux, uy)
	y[OutEnergy], y[OutPower] = b.Model.Energy(&s), b.Model.Power(&s, &a)
	return st
}

// Pack writes s to x.
func Pack(s *State, x []float64) {
	x = x[:States]
	x[QW], x[QX], x[QY], x[QZ], x[X], x[Y] = s.Q.Real, s.Q.Imag, s.Q.Jmag, s.Q.Kmag, s.X, s.Y
	x[WX], x[WY], x[WZ], x[VX], x[VY] = s.W.X, s.W.Y, s.W.Z, s.VX, s.VY
	x[Slip], x[RollHeld], x[SpinHeld] = flag(s.Mode.Slip), flag(s.Mode.RollHeld), flag(s.Mode.SpinHeld)
}

// Unpack reads it.
func Unpack(x []float64) State {
	x = x[:States]
	return State{
		Q: quat.Number{Real: x[QW], Imag: x[QX], Jmag: x[QY], Kmag: x[QZ]}, X: x[X], Y: x[Y],
		W: r3.Vec{X: x[WX], Y: x[WY], Z: x[WZ]}, VX: x[VX], VY: x[VY],
		Mode: Mode{Slip: x[Slip] != 0, RollHeld: x[RollHeld] != 0, SpinHeld: x[SpinHeld] != 0},
	}
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
