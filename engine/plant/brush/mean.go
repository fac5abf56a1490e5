package brush

import "math"

// Averaged is the contact of face and commutator by its means, for speeds at which a step no longer resolves the surface:
//
//	F̄ = (N·cos α_t + m·g)/(cos β̄ + μ·sin β̄),   N·lever = M_0 + k_sp·φ_s        spring and geometry
//	τ̄ = r_c·μ(T, J, v)·F̄·rise(v)
//	λ(v) = share of the time without force
//
// What the current sees is not the mean force: an open contact drives it down at the voltage of an arc, however well the
// closed one conducts. So the face lets go for a gap of the mean length and carries for as long as the share of gaps asks, in
// turn, which gives gaps their due for any inductance.
//
// The mean force does not depend on speed or loss: the spring has to be carried. β̄ is the place on the face where it acts, a
// tenth of the width from the middle, which fits what the full model does within a percent for new and worn brushes.
//
// All that depends on v is a fit and nothing more: seed means of the full model, at the default parameters, at steps that
// resolve the surface up to 6000 rpm; the last two points are not converged. The odds λ/(1−λ) run along straight lines between
// the points, on scales of the logarithm. Another surface or spring shifts the odds by the factor Odds, which a run at a
// speed that can be resolved determines.
type Averaged struct {
	Force float64 // N  F̄
	Odds  float64 // 1  factor of λ/(1−λ)

	phase float64 // of the turns of gap and contact
}

// Turn moves gap and contact on by h (s) and tells which share of that is a gap.
func (a *Averaged) Turn(h float64, f *Typical) float64 {
	if f.WindowLoss == 0 {
		return 0
	}
	d := h * f.WindowLoss / f.Gap
	if d >= 1 { // a step over all of it
		return f.WindowLoss
	}
	from := a.phase
	to := from + d
	open := max(0, min(to, f.WindowLoss)-from) // [from, to] against [0, WindowLoss] and its repetition
	open += max(0, min(to-1, f.WindowLoss))
	a.phase = to - math.Floor(to)
	return min(1, open/d)
}

// Typical is the fit at one speed.
type Typical struct {
	Loss       float64 // 1  share of steps of 2 … 20 µs without force
	WindowLoss float64 // 1  share of windows of 0.1 ms without any
	Gap        float64 // s  mean time for which the window stays without
	Weak       float64 // 1  in the other windows: the force whose resistance is the mean resistance, over the mean force there
	Rise       float64 // 1  torque over friction: the rough outline also lifts the brush, against the normal forces
}

// typical lists Typical at sliding speeds v (m/s) of 500, 1000, 2000, 3000, 4000, 6000, 12000 and 30000 rpm; 16 seeds each.
var typical = []struct {
	v float64
	Typical
}{
	{0.576, Typical{0.040, 0.0002, 24e-6, 0.925, 1.016}},
	{1.152, Typical{0.092, 0.0118, 67e-6, 0.690, 1.021}},
	{2.304, Typical{0.314, 0.118, 99e-6, 0.368, 1.033}},
	{3.456, Typical{0.461, 0.218, 132e-6, 0.353, 1.040}},
	{4.608, Typical{0.540, 0.260, 148e-6, 0.242, 1.043}},
	{6.912, Typical{0.620, 0.307, 158e-6, 0.246, 1.044}},
	{13.82, Typical{0.742, 0.370, 185e-6, 0.239, 1.050}},
	{34.56, Typical{0.870, 0.370, 174e-6, 0.294, 1.062}},
}

// NewAveraged is the averaged contact of a brush: its force from the statics of the spring, the loss of the default surface.
func NewAveraged(p *Params) Averaged { return Averaged{Force: p.MeanForce(), Odds: 1} }

// MeanForce is F̄ (N): the arm in equilibrium on the top of a seated brush.
func (p *Params) MeanForce() float64 {
	s, b := &p.Spring, &p.Brush
	length := s.FittedLength
	if s.Follows {
		length = b.Length
	}
	// the tip r_s above the top face, which goes through (0, r_c + L_b)
	sin, cos := math.Sincos(b.TopSlope)
	dx, dy := s.PivotX, length+s.PivotHeight-b.Length
	angle, ok := root(-1.4, 1.4, func(a float64) float64 {
		sa, ca := math.Sincos(a)
		return cos*(dy+s.Arm*sa) - sin*(dx+s.Arm*ca) - s.TipRadius
	})
	if !ok {
		return 0
	}
	// moments about the pivot, of a force along the normal (−sin, cos) through the centre of the tip
	sa, ca := math.Sincos(angle)
	press := (s.Moment + s.Stiffness*angle) / (s.Arm * (ca*cos + sa*sin))
	// face: the normal leans by β̄, and friction carries a part there
	beta := 0.1 * b.Width / p.Commutator.Radius
	sb, cb := math.Sincos(beta)
	lift := cb + math.Copysign(sb, p.Commutator.Speed)*p.Contact.Face.Mu
	return max(0, (press*cos+p.Mass()*b.Gravity)/lift)
}

// At is the fit at the sliding speed v (m/s).
func (a *Averaged) At(v float64) Typical {
	v = math.Abs(v)
	if !(v > 0.01) { // far below the table nothing is lost
		return Typical{Gap: typical[0].Gap, Weak: 1, Rise: 1}
	}
	n := len(typical)
	k := 1
	for k < n-1 && v > typical[k].v {
		k++
	}
	l, r := &typical[k-1], &typical[k]
	w := math.Log(v/l.v) / math.Log(r.v/l.v)
	share := func(from, to float64) float64 {
		logit := func(q float64) float64 { return math.Log(q / (1 - q)) }
		odds := a.Odds * math.Exp(logit(from)+w*(logit(to)-logit(from)))
		return min(0.95, odds/(1+odds))
	}
	straight := func(from, to float64) float64 { return from + min(1, max(0, w))*(to-from) }
	return Typical{share(l.Loss, r.Loss), share(l.WindowLoss, r.WindowLoss), straight(l.Gap, r.Gap), straight(l.Weak, r.Weak),
		straight(l.Rise, r.Rise)}
}

// Calibrate takes the force and the loss from what a run of the full model measured at the sliding speed v (m/s).
func (a *Averaged) Calibrate(v, force, loss float64) {
	if force > 0 {
		a.Force = force
	}
	one := Averaged{Odds: 1}
	if l := one.At(v).Loss; l > 0 && loss > 0 && loss < 1 {
		a.Odds = loss / (1 - loss) * (1 - l) / l
	}
}

// MeanTorque is that of one brush on the commutator (N·m) where it slides slowly: r_c·μ·F̄.
func (p *Params) MeanTorque() float64 {
	m := &p.Material
	return p.Commutator.Radius * p.FaceMu(m.Temperature, m.CurrentDensity, 0) * p.MeanForce()
}
