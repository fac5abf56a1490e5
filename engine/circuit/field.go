package circuit

import "math"

// Field is the magnetic field of m windings that move with one coordinate.
type Field interface {
	Windings() int
	// At writes what the field is at the position q (rad or m). The slices have room for m numbers, or m×m row-major, and hold
	// what the last call wrote.
	At(q float64, f *Magnetic)
	// Static tells that L does not depend on q.
	Static() bool
}

// Magnetic is a field at one position; see the package comment for the equations.
type Magnetic struct {
	L         []float64 // H      inductances, symmetric and positive definite
	DL        []float64 // H/rad  dL/dq
	Turn      []float64 // H/rad  Γ: voltage per speed and current; dL/dq where currents are derivatives of charges
	EMF       []float64 // V·s/rad  γ: voltage per speed, dψ/dq
	Potential float64   // J      V(q) of the magnets with the iron
	Slope     float64   // J/rad  dV/dq
}

func newMagnetic(m int) Magnetic {
	v := make([]float64, 3*m*m+m)
	return Magnetic{L: v[:m*m], DL: v[m*m : 2*m*m], Turn: v[2*m*m : 3*m*m], EMF: v[3*m*m:]}
}

// Constant is a group of windings that moves nothing, or whose flux from magnets is linear in the position, as in a machine with
// a commutator: L is constant and ψ = K·q.
type Constant struct {
	L []float64 // H, m×m row-major
	K []float64 // V·s/rad or N·m/A; nil: none
}

// Windings is m.
func (p *Constant) Windings() int { return int(math.Round(math.Sqrt(float64(len(p.L))))) }

// Static is true.
func (p *Constant) Static() bool { return true }

// At writes the constants.
func (p *Constant) At(_ float64, f *Magnetic) {
	copy(f.L, p.L)
	copy(f.EMF, p.K)
}

// Plunger is the winding of an electromagnet with the air gap q (m):
//
//	L = Linf + C/(q + X0),   f = ½i²·dL/dq,
//
// which draws the gap shut. Its seat is a stop of the mechanics; below −X0/2 the formula is left and L goes on as a straight line,
// so that a trial step through the seat stays finite: Circuit.GapOutOfRange tells. On a joint that turns read rad for m. The gap is the
// coordinate less Shut, or Shut less the coordinate where Reverse is set.
type Plunger struct {
	Linf    float64 // H
	C       float64 // H·m
	X0      float64 // m  gap that is left when it is shut: iron and varnish
	Shut    float64 // m  coordinate at which the gap is shut
	Reverse bool    // the magnet draws towards larger coordinates
}

// gap is the air gap (m) at the coordinate q, and its slope.
func (p *Plunger) gap(q float64) (x, sign float64) {
	if p.Reverse {
		return p.Shut - q, -1
	}
	return q - p.Shut, 1
}

// Windings is 1.
func (p *Plunger) Windings() int { return 1 }

// Static is false.
func (p *Plunger) Static() bool { return false }

// At writes L and its slope.
func (p *Plunger) At(q float64, f *Magnetic) {
	x, sign := p.gap(q)
	g, past := x+p.X0, 0.0
	if low := p.X0 / 2; g < low {
		g, past = low, low-g
	}
	slope := -p.C / (g * g)
	f.L[0] = p.Linf + p.C/g - slope*past
	f.DL[0], f.Turn[0] = sign*slope, sign*slope
}

// Cog is one harmonic of the cogging torque, −V′(q) = Amplitude·sin(Order·q).
type Cog struct {
	Amplitude float64 // N·m
	Order     float64 // periods per 2π rad of the shaft
}

func cogging(cogs []Cog, q float64, f *Magnetic) {
	f.Potential, f.Slope = 0, 0
	for _, c := range cogs {
		sin, cos := math.Sincos(c.Order * q)
		f.Potential += c.Amplitude / c.Order * cos
		f.Slope -= c.Amplitude * sin
	}
}

// Rotor is a permanent-magnet synchronous machine in axes that turn with its rotor, amplitude-invariant:
//
//	Ld·id′ = ud − R·id + p·w·Lq·iq
//	Lq·iq′ = uq − R·iq − p·w·(Ld·id + ψ)
//	τ = 3/2·p·(ψ·iq + (Ld − Lq)·id·iq) + cogging
//
// The power of the three phases is 3/2·(ud·id + uq·iq): all voltages of the group are taken 3/2 times, then power and virtual work
// are those of the machine.
type Rotor struct {
	Ld, Lq float64 // H
	Psi    float64 // V·s  amplitude of the magnets' flux in a phase
	Pairs  float64 // p; negative: it turns against the axis
	Cogs   []Cog
}

// Windings are d and q.
func (p *Rotor) Windings() int { return 2 }

// Static is true.
func (p *Rotor) Static() bool { return true }

// At writes the constants and the cogging.
func (p *Rotor) At(q float64, f *Magnetic) {
	f.L[0], f.L[3] = park*p.Ld, park*p.Lq
	f.Turn[1], f.Turn[2] = -park*p.Pairs*p.Lq, park*p.Pairs*p.Ld
	f.EMF[1] = park * p.Pairs * p.Psi
	cogging(p.Cogs, q, f)
}

// park is the power of amplitude-invariant dq axes.
const park = 1.5

// Phases is the same machine with its three phases as they are wound:
//
//	L_jk = ⅓·((Ld + Lq)·cos(θ_j − θ_k) + (Ld − Lq)·cos(θ_j + θ_k) + L0),   ψ_j = ψ·cos θ_j,   θ_j = p·q − 2πj/3,
//
// the transformation of Park [Park29] undone. L0 is the inductance of the zero sequence.
type Phases struct {
	Rotor
	L0 float64 // H
}

// Windings are a, b, c.
func (p *Phases) Windings() int { return 3 }

// Static tells whether the rotor has no saliency.
func (p *Phases) Static() bool { return p.Ld == p.Lq }

// At writes inductances, fluxes and cogging.
func (p *Phases) At(q float64, f *Magnetic) {
	var angle [3]float64
	for j := range angle {
		angle[j] = p.Pairs*q - 2*math.Pi/3*float64(j)
		f.EMF[j] = -p.Pairs * p.Psi * math.Sin(angle[j])
	}
	for j := range 3 {
		for k := range 3 {
			sin, cos := math.Sincos(angle[j] + angle[k])
			f.L[3*j+k] = ((p.Ld+p.Lq)*math.Cos(angle[j]-angle[k]) + (p.Ld-p.Lq)*cos + p.L0) / 3
			dl := -2 * p.Pairs * (p.Ld - p.Lq) * sin / 3
			f.DL[3*j+k], f.Turn[3*j+k] = dl, dl
		}
	}
	cogging(p.Cogs, q, f)
}
