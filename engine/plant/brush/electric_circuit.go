package brush

import (
	"math"

	"hilrig/engine"
)

// Circuit is the armature with two brushes in series:
//
//	L·di/dt = u − R·i − K(i)·ω − V1(i) − V2(i),   torque K(i)·i
//
// K(i) = K for permanent magnets and K·i for a series winding without saturation; R and L then include the field. Within a
// step u, ω and the forces on the contacts are held. Every V is a chain of straight lines in i, so the solution is a chain of
// exponentials, each with the time at which it ends in closed form: the step is exact and stable for any length, however
// many decades the conductances jump, and takes at most a dozen pieces because i is monotone. Integrals of i and i² come with
// the pieces, so the balance
//
//	supply = copper + contacts + arcs + breaks + diodes + work of the back-emf + Δ(½L·i²)
//
// holds in each step to rounding.
type Circuit struct {
	R, L   float64 // Ω, H
	K      float64 // V·s/rad = N·m/A; with Series H: emf K·i·ω, torque K·i²
	Series bool
	Drop   Drop

	edge [4]float64 // A  ends of the straight lines, rising
	side [2]branch
}

// Touch is how one brush touches during a step.
type Touch struct {
	Force     float64 // N
	Gap       float64 // m  when lifted
	Crowd     float64 // 1  factor of film and constriction from an uneven distribution of the current; 0: none
	OpenShare float64 // 1  share of the step without contact, when Force is the mean over the rest
}

// Flow is what happened in one step of a Circuit. Energies are in J.
type Flow struct {
	I       float64 // A    at the end
	Charge  float64 // A·s  ∫i dt
	Square  float64 // A²·s ∫i² dt
	Torque  float64 // N·m  mean
	Supply  float64 // from the source
	Copper  float64 // R·i²
	Contact float64 // both brushes and their contacts
	Arc     float64 // arcs
	Break   float64 // ½L·i² of currents that were cut off below the smallest arc
	Diode   float64 // freewheeling diodes
	Volts   float64 // V·s  ∫(V1 + V2) dt; 0 with the source disconnected
	EMF     float64 // work done on the shaft
	Burning float64 // s    time with an arc, of either brush
	Broken  int     // currents cut off
}

// Step advances the current i (A) over h (s) at the mean voltage u (V) and the mean speed w (rad/s). With diode > 0 (V) the
// source is disconnected and the current runs through diodes of that voltage. A number that is not finite leaves i alone.
func (c *Circuit) Step(h, i, u, w, diode float64, touch *[2]Touch, out *Flow) engine.Status {
	*out = Flow{I: i}
	sum := h + i + u + w + diode
	for k := range touch {
		t := &touch[k]
		c.side[k] = c.Drop.at(t)
		sum += t.Force + t.Gap + t.Crowd + t.OpenShare
	}
	if !(h > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return engine.NonFinite
	}
	c.order()

	// the law of the line: L·y' = e − v − (r + Σ)·y with y = s·i ≥ 0
	e, r := u, c.R
	if diode > 0 {
		e = 0
	}
	if c.Series {
		r += c.K * w
	} else {
		e -= c.K * w
	}
	s := 1.0
	if i < 0 || i == 0 && e < 0 {
		s = -1
	}
	y, left := s*i, h
	var q, sq float64 // ∫y dt signed, ∫y² dt
	var p piece
	for range 24 {
		if !c.enter(y, s*e-diode, r, &p) { // the current stays
			c.hold(y, left, s*e-diode, r, out)
			q, sq = q+s*y*left, sq+y*y*left
			out.Diode += diode * y * left
			break
		}
		if math.IsInf(p.r, 1) { // no contact and no arc: the current is cut off
			if y > 0 {
				out.Break += c.L / 2 * y * y
				out.Broken++
			}
			y = 0
			break
		}
		// how long on this line
		t, end := left, 0.0
		if ratio := (p.bound - y) / p.d; p.r*ratio < 1 {
			t = ratio * c.L
			if z := p.r * ratio; math.Abs(z) > 1e-12 {
				t = -c.L / p.r * math.Log1p(-z)
			}
		}
		last := !(t < left)
		if last {
			t = left
		}
		f, dq, dsq := p.run(y, t/c.L)
		dq, dsq = t*dq, t*dsq
		end = p.bound
		if last {
			end = f
		}
		c.book(&p, t, dq, dsq, out)
		q, sq = q+s*dq, sq+dsq
		out.Diode += diode * dq
		y, left = end, left-t
		if last {
			break
		}
		if y == 0 { // through zero: the mirror image goes on
			s = -s
		}
	}
	if bad := y + q + sq; math.IsNaN(bad) || math.IsInf(bad, 0) {
		*out = Flow{I: i}
		return engine.NonFinite
	}
	out.I, out.Charge, out.Square = s*y, q, sq
	if y == 0 {
		out.I = 0
	}
	if diode == 0 {
		out.Supply = u * q
	}
	out.Copper = c.R * sq
	if c.Series {
		out.Torque = c.K * sq / h
	} else {
		out.Torque = c.K * q / h
	}
	out.EMF = out.Torque * w * h
	if diode == 0 {
		out.Volts = u*h - c.R*q - c.L*(out.I-i) - c.K*w*h
		if c.Series {
			out.Volts += c.K * w * (h - q)
		}
	}
	return engine.OK
}

// piece is one straight line of the characteristic, and the end towards which the current runs on it.
type piece struct {
	r     float64    // Ω  slope of all resistances
	c, d  float64    // V  voltage across L at y = 0 of the line, and at the beginning
	bound float64    // A
	arc   [2]float64 // share of an arc in either voltage
	rk    [2]float64 // Ω, V  line of either contact
	vk    [2]float64
}

// run is the exponential on the line from y for x = t/L (s/H): its end and the means of the current and of its square.
func (p *piece) run(y, x float64) (end, mean, square float64) {
	z := p.r * x
	f1, f2, f3 := phi(z)
	if z > 0.5 { // about what it tends to: no differences of large numbers
		to := p.c / p.r
		a := y - to
		e := math.Exp(-z)
		return to + a*e, to + a*f1, to*to + 2*to*a*f1 + a*a*f1*(1+e)/2
	}
	g := p.d * x
	return y + g*f1, y + g*f2, y*y + 2*y*g*f2 + g*g*f3
}

// order sorts the ends of the lines.
func (c *Circuit) order() {
	c.edge = [4]float64{c.Drop.Ilin, c.Drop.Iarc, c.side[0].burn, c.side[1].burn}
	for i := range c.edge {
		for j := i; j > 0 && c.edge[j] < c.edge[j-1]; j-- {
			c.edge[j], c.edge[j-1] = c.edge[j-1], c.edge[j]
		}
	}
}

// enter finds the line on which the current leaves y, upwards or downwards. It is false when the current stays.
func (c *Circuit) enter(y, e, r float64, p *piece) bool {
	// the line above y
	c.lines(y, e, r, y, p)
	if p.d > 0 {
		p.bound = math.Inf(1)
		for _, b := range c.edge {
			if b > y {
				p.bound = b
				break
			}
		}
		return true
	}
	if y == 0 {
		return false
	}
	// the line below: it differs only where y is an end
	low := 0.0
	for _, b := range c.edge {
		if b < y {
			low = b
		}
	}
	c.lines(low, e, r, y, p)
	p.bound = low
	return p.d < 0
}

// lines adds up the line that starts at from; d belongs to y.
func (c *Circuit) lines(from, e, r, y float64, p *piece) {
	p.r, p.c = r, e
	for k := range c.side {
		p.rk[k], p.vk[k], p.arc[k] = c.side[k].line(from, c.Drop.Ilin)
		p.r += p.rk[k]
		p.c -= p.vk[k]
	}
	switch {
	case !math.IsInf(p.r, 1):
		p.d = p.c - p.r*y
	case y > 0:
		p.d = -1 // falls at once
	default:
		p.d = 0 // open and without current
	}
}

// book adds the energies of a line: t seconds, dq = ∫y dt, dsq = ∫y² dt. Of an arc's voltage the part of the current that the
// contact beside it carries is booked with the contact.
func (c *Circuit) book(p *piece, t, dq, dsq float64, out *Flow) {
	burning := false
	for k := range c.side {
		all := p.rk[k]*dsq + p.vk[k]*dq
		if b := &c.side[k]; p.arc[k] > 0 {
			burning = true
			arc := p.arc[k] * b.va * dq
			if p.arc[k] == 1 {
				arc -= (1 - b.openShare) * b.va * b.carry * t
			}
			out.Arc += arc
			all -= arc
		}
		out.Contact += all
	}
	if burning {
		out.Burning += t
	}
}

// hold books a current that stays for t seconds.
func (c *Circuit) hold(y, t, e, r float64, out *Flow) {
	var p piece
	c.lines(y, e, r, y, &p)
	if y > 0 {
		c.book(&p, t, y*t, y*y*t, out)
	}
}

// phi holds the functions of an exponential that starts with slope 1, over its length: with f = (1−e^(−zτ))/z
//
//	f1 = f(1),   f2 = ∫f dτ = (1−f1)/z,   f3 = ∫f² dτ = (1 − 2·f1(z) + f1(2z))/z²
//
// by their series where the differences would cancel.
func phi(z float64) (f1, f2, f3 float64) {
	if math.Abs(z) > 0.5 {
		e := -math.Expm1(-z)
		f1 = e / z
		f2 = (1 - f1) / z
		// 1 − 2(1−E)/z + (1−E²)/(2z) with E = e^(−z), e = 1−E
		f3 = (1 - f1 - e*f1/2) / (z * z)
		return f1, f2, f3
	}
	// (−z)^m over (m+1)!, (m+2)! and (m+3)!
	term, two := 1.0, 2.0
	for m := 1.0; m < 20; m++ {
		f1 += term
		f2 += term / (m + 1)
		f3 += term / ((m + 1) * (m + 2)) * 2 * (two - 1)
		term *= -z / (m + 1)
		two *= 2
		if math.Abs(term)*two < 1e-18 {
			break
		}
	}
	return f1, f2, f3
}
