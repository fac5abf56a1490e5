package brush

import "math"

// Drop is the voltage across one brush and its contact on the commutator [HA67]:
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

// branch is the drop of one contact at a held force as a function of y = |i|: two straight lines, and the arc beyond.
type branch struct {
	r0, r1 float64 // Ω  slope below and above Ilin; +Inf: open
	v1     float64 // V  offset above Ilin
	rb, va float64 // Ω, V  slope and offset while an arc burns
	carry  float64 // A  current of the contact beside an arc
	burn   float64 // A  the arc burns from here on
}

// at prepares the branch for a force (N), a gap (m) and a crowding of the current, which multiplies film and constriction.
func (d *Drop) at(f, gap, crowd float64) branch {
	rc := crowd / d.Conductance(f)
	v0 := crowd * d.V0
	b := branch{r0: d.Rb + rc + v0/d.Ilin, r1: d.Rb + rc, v1: v0, rb: d.Rb, va: d.Varc + d.Earc*max(0, gap)}
	switch {
	case math.IsInf(rc, 1):
		b.carry = 0
	case v0+rc*d.Ilin >= b.va:
		b.carry = b.va / (v0/d.Ilin + rc)
	case rc > 0:
		b.carry = (b.va - v0) / rc
	default:
		b.carry = math.Inf(1)
	}
	b.burn = max(d.Iarc, b.carry)
	return b
}

// line is the slope and the offset of the branch right above (or at) y, and whether that is the arc.
func (b *branch) line(y, ilin float64) (r, v float64, arc bool) {
	switch {
	case y >= b.burn:
		return b.rb, b.va, true
	case y >= ilin:
		return b.r1, b.v1, false
	}
	return b.r0, 0, false
}
