package brush

import "math"

// Averaged is the contact of face and commutator by its means, for speeds at which a step no longer resolves the surface:
//
//	F̄ = (N·cos α_t + m·g)/(cos β̄ + μ·sin β̄),   N·lever = M_0 + k_sp·φ_s        spring and geometry
//	τ̄ = r_c·μ(T, J, v)·F̄·rise(v)
//	λ(v) = share of the time without force
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
}

// Typical is the fit at one speed.
type Typical struct {
	Loss float64 // 1  share of steps of 5 … 20 µs without force
	Lost float64 // 1  share of windows of 0.1 ms without any
	Weak float64 // 1  in the other windows: the force whose resistance is the mean resistance, over the mean force there
	Rise float64 // 1  torque over friction: the rough outline also lifts the brush, against the normal forces
}

// typical lists Typical at sliding speeds v (m/s) of 500, 1000, 2000, 3000, 4000, 6000, 12000 and 30000 rpm; 16 seeds each.
var typical = []struct {
	v float64
	Typical
}{
	{0.576, Typical{0.038, 0.0001, 0.916, 1.016}},
	{1.152, Typical{0.089, 0.0134, 0.668, 1.022}},
	{2.304, Typical{0.275, 0.102, 0.367, 1.032}},
	{3.456, Typical{0.400, 0.180, 0.338, 1.037}},
	{4.608, Typical{0.470, 0.210, 0.248, 1.040}},
	{6.912, Typical{0.542, 0.231, 0.238, 1.041}},
	{13.82, Typical{0.683, 0.292, 0.242, 1.047}},
	{34.56, Typical{0.841, 0.292, 0.347, 1.063}},
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
		return Typical{Weak: 1, Rise: 1}
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
	return Typical{share(l.Loss, r.Loss), share(l.Lost, r.Lost), straight(l.Weak, r.Weak), straight(l.Rise, r.Rise)}
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
