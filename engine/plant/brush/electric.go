package brush

import "math"

// Drop is the voltage across one brush and its contact on the commutator [H67]:
//
//	V(i, F) = V0·sat(i/Ilin) + i·(Rb + Rc(F)),   Rc = aR·F^(−1/2) + bR·F^(−1)
//
// with sat(x) = x for |x| ≤ 1 and ±1 beyond. F^(−1/2) is the constriction of the current in spots that yield plastically,
// F^(−1) the film on them. The contact is written as a conductance, so F = 0 is an open contact and no division by zero.
//
// A current that the contact cannot carry burns as an arc of the voltage Varc + Earc·gap, whatever the current, as long as
// that is at least Iarc. Arc and contact are in parallel: a contact that would need more than the arc's voltage leaves the
// rest of its current to the arc. So the limit F → 0 is the open contact, also in a force that was averaged over time and is
// never quite zero. Below Iarc the arc is out: the contact carries what it can, an open one nothing.
type Drop struct {
	V0   float64 // V
	Ilin float64 // A        end of the linear range
	AR   float64 // Ω·N^½
	BR   float64 // Ω·N
	Rb   float64 // Ω        body of the brush
	Varc float64 // V
	Earc float64 // V/m
	Iarc float64 // A
}

// Conductance of constriction and film (S) under the force f (N): 0 without force, +Inf when both coefficients are 0.
func (d *Drop) Conductance(f float64) float64 {
	if !(f > 0) {
		return 0
	}
	return f / (d.AR*math.Sqrt(f) + d.BR)
}

// Voltage is the drop (V) at the current i (A) and the force f (N) without an arc: +Inf times the sign of i when f = 0.
func (d *Drop) Voltage(i, f float64) float64 {
	v := i*(d.Rb+1/d.Conductance(f)) + d.V0*max(-1, min(1, i/d.Ilin))
	if i == 0 {
		return 0
	}
	return v
}

// branch is the drop of one contact at a held force as a function of y = |i|: straight lines that begin at 0, Ilin, the least
// current of an arc and the current that the contact leaves to the arc.
type branch struct {
	r0, r1    float64 // Ω  slope below and above Ilin; +Inf: open
	v1        float64 // V  offset above Ilin
	rb, va    float64 // Ω, V  slope and offset while an arc burns
	carry     float64 // A  current of the contact beside an arc
	light     float64 // A  from here on an open contact arcs
	burn      float64 // A  from here on a closed one does as well
	openShare float64 // 1  share of the time that the contact is open, when what is asked for is a mean
}

// at prepares the branch. A crowding multiplies film and constriction. A contact that is open for a share of the time has the
// mean voltage of both states; below the least current of an arc the open state is taken as the resistance that joins on to the
// arc, so that the mean is continuous.
func (d *Drop) at(t *Touch) branch {
	crowd := t.Crowd
	if crowd == 0 {
		crowd = 1
	}
	rc := crowd / d.Conductance(t.Force)
	v0 := crowd * d.V0
	b := branch{rb: d.Rb, va: d.Varc + d.Earc*max(0, t.Gap), openShare: max(0, min(1, t.OpenShare)), light: d.Iarc}
	b.r0, b.r1, b.v1 = d.Rb+rc+v0/d.Ilin, d.Rb+rc, v0
	switch {
	case math.IsInf(rc, 1):
		b.openShare = 0
	case v0+rc*d.Ilin >= b.va:
		b.carry = b.va / (v0/d.Ilin + rc)
	case rc > 0:
		b.carry = (b.va - v0) / rc
	default:
		b.carry = math.Inf(1)
	}
	b.burn = max(b.light, b.carry)
	return b
}

// line is the line right above (or at) y: slope, offset, and the share of an arc in it.
func (b *branch) line(y, ilin float64) (r, v, arc float64) {
	if y >= b.burn {
		return b.rb, b.va, 1
	}
	if y >= ilin {
		r, v = b.r1, b.v1
	} else {
		r = b.r0
	}
	switch {
	case b.openShare == 0:
		return r, v, 0
	case y >= b.light:
		return r + b.openShare*(b.rb-r), v + b.openShare*(b.va-v), b.openShare
	}
	return r + b.openShare*(b.rb+b.va/b.light-r), v - b.openShare*v, 0
}

// faceResistance is the resistance (Ω) of the whole face to the current i (A) under the force f (N), with the constant part of the drop
// and an arc in it.
func (d *Drop) faceResistance(i, f float64) float64 {
	r := 1 / d.Conductance(f)
	if i == 0 {
		return min(r+d.V0/d.Ilin, d.Varc/d.Iarc)
	}
	i = math.Abs(i)
	return min(r+d.V0*min(1, i/d.Ilin)/i, d.Varc/max(i, d.Iarc))
}

// ArcLimitedVoltage is the drop (V) at a current i (A) that the rest of the circuit keeps up, as far as an arc lets it: a contact that
// would need more than the arc's voltage for a current too small to arc counts as a resistance that joins on to the arc.
func (d *Drop) ArcLimitedVoltage(i float64, t *Touch) float64 {
	if i == 0 {
		return 0
	}
	b, y := d.at(t), math.Abs(i)
	v := b.va + b.rb*y
	if y < b.light {
		v = (b.va/b.light + b.rb) * y
	}
	if r, v0, _ := b.line(y, d.Ilin); r*y+v0 < v {
		v = r*y + v0
	}
	return math.Copysign(v, i)
}
