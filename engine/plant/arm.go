package plant

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// TwoLink is a planar arm of two links. q1 turns the first one against the vertical, hanging down at 0, and q2 the second one
// against the first; positive is counter-clockwise. With
//
//	α = I1 + m1·c1² + m2·l1²,   β = m2·l1·c2,   δ = I2 + m2·c2²
//	g1 = (m1·c1 + m2·l1)·g,     g2 = m2·c2·g
//
// the equations of motion are M(q)·dv/dt + h(q, v) = τ − friction, [KD04] in closed form:
//
//	M11 = α + δ + 2β·cos q2 + J1     h1 = −β·sin q2·(2·v1·v2 + v2²) + g1·sin q1 + g2·sin(q1 + q2)
//	M12 = δ + β·cos q2               h2 =  β·sin q2·v1² + g2·sin(q1 + q2)
//	M22 = δ + J2
//
// J1 and J2 are what turns with a joint alone: the inertia of its motor behind the gear.
type TwoLink struct {
	Mass    [2]float64 `yaml:"mass" unit:"kg" doc:"of the links"`
	Length  float64    `yaml:"length" unit:"m" want:">0 <=1000" doc:"of the first link, from joint to joint"`
	Centre  [2]float64 `yaml:"centre" unit:"m" doc:"from a link's joint to its centre of mass"`
	Inertia [2]float64 `yaml:"inertia" unit:"kg·m²" doc:"of the links about their centres of mass"`
	Gravity float64    `yaml:"gravity" unit:"m/s²" want:">=0 <=100" doc:"0: the arm moves in a horizontal plane"`
}

// arm are the numbers of its equations, and how the steps of its joints meet.
type arm struct {
	alpha, beta, delta float64 // kg·m²
	g1, g2             float64 // N·m
	accel              float64 // rad/s²  of the second joint in the step before
	slope              float64 //         of its equation there
}

func (l *TwoLink) arm() *arm {
	return &arm{
		alpha: l.Inertia[0] + l.Mass[0]*l.Centre[0]*l.Centre[0] + l.Mass[1]*l.Length*l.Length,
		beta:  l.Mass[1] * l.Length * l.Centre[1],
		delta: l.Inertia[1] + l.Mass[1]*l.Centre[1]*l.Centre[1],
		g1:    (l.Mass[0]*l.Centre[0] + l.Mass[1]*l.Length) * l.Gravity,
		g2:    l.Mass[1] * l.Centre[1] * l.Gravity,
		slope: -1,
	}
}

// Validate reports every number outside its range at once.
func (l *TwoLink) Validate() error {
	var errs []error
	for _, c := range []struct {
		name     string
		v        float64
		unit     string
		positive bool // more than 0
	}{
		{"mass of the first link", l.Mass[0], "kg", true}, {"mass of the second link", l.Mass[1], "kg", true}, {"length", l.Length, "m", true},
		{"centre of the first link", l.Centre[0], "m", false}, {"centre of the second link", l.Centre[1], "m", true},
		{"inertia of the first link", l.Inertia[0], "kg·m²", false}, {"inertia of the second link", l.Inertia[1], "kg·m²", false},
		{"gravity", l.Gravity, "m/s²", false},
	} {
		if !(c.v >= 0) || math.IsInf(c.v, 0) || c.positive && c.v == 0 {
			errs = append(errs, fmt.Errorf("two-link: %s: %g %s, want a finite number %s", c.name, c.v, c.unit,
				map[bool]string{true: "> 0", false: "≥ 0"}[c.positive]))
		}
	}
	return errors.Join(errs...)
}

// terms are the mass matrix without the joints' own inertia (kg·m²) and the forces of motion and gravity (N·m).
func (a *arm) terms(q1, q2, v1, v2 float64) (m11, m12, h1, h2 float64) {
	sin, cos := math.Sincos(q2)
	b := a.beta * cos
	g2 := a.g2 * math.Sin(q1+q2)
	return a.alpha + a.delta + 2*b, a.delta + b,
		-a.beta*sin*(2*v1+v2)*v2 + a.g1*math.Sin(q1) + g2, a.beta*sin*v1*v1 + g2
}

const (
	maxSweeps = 40    // a step takes four to six
	meetRel   = 1e-11 // of the speeds of the step
)

// step makes one step of both joints together, from the states x1 and x2, and leaves it in them.
//
// Each joint is a mass under its friction, its drive and the torque that the mean acceleration of the other one puts on it; so
// any law that can carry a mass goes into a joint, with its stick mode. What is left is one equation for the acceleration b of
// the second joint: with a1(b) the mean acceleration that the first joint then makes, and b′(a1) the one that the second one
// answers with, b′(a1(b)) = b. The mass matrix is positive definite and friction and drives only resist, so b′(a1(·)) rises
// with a slope between 0 and M12²/(M11·M22) < 1: the left-hand side less the right one falls with a slope between −1 and a number
// below 0, and the secant, kept within these slopes, finds its zero; where it does not halve what is left, one step with −1 comes
// between, which cannot go too far. Matrix and forces are those of the middle of the step, found on the way. Second order; where friction
// makes no part of the step, the same as the implicit midpoint rule.
func (a *arm) step(dt float64, d [2]*Axis, x1, x2 []float64, y1, y2 []float64) engine.Status {
	one, two := d[0], d[1]
	w1, w2 := x1[Omega], x2[Omega]
	b, slope := a.accel, a.slope
	var before, beforeRes float64
	safe := false // the last step was that of slope −1
	for n := 1; ; n++ {
		m11, m12, h1, h2 := a.terms(x1[Theta]+dt/2*w1, x2[Theta]+dt/2*w2, w1, w2)
		one.inertia, two.inertia = m11+one.j, a.delta+two.j

		one.couplingTorque = -m12*b - h1
		r1 := one.advance(dt, x1)
		a1 := (one.xm[1] - x1[Omega]) / dt
		two.couplingTorque = -m12*a1 - h2
		r2 := two.advance(dt, x2)
		a2 := (two.xm[1] - x2[Omega]) / dt
		if r1.Status == engine.NonFinite || r2.Status == engine.NonFinite {
			one.outputs(x1, y1)
			two.outputs(x2, y2)
			a.accel = 0
			return engine.NonFinite
		}

		// met? the accelerations, and the middle of the step with them. The scale: the speeds, and what the loads alone would change
		res := a2 - b
		scale := math.Abs(x1[Omega]) + math.Abs(x2[Omega]) + dt*(math.Abs(r1.Load*one.frictionFactor)+math.Abs(h1))/one.inertia + dt*(math.Abs(r2.Load*two.frictionFactor)+math.Abs(h2))/two.inertia
		off := max(math.Abs(res)*dt, math.Abs(r1.W-w1), math.Abs(r2.W-w2))
		w1, w2 = r1.W, r2.W
		if met := off <= meetRel*scale; met || n == maxSweeps {
			one.finish(dt, x1, y1, &r1)
			two.finish(dt, x2, y2, &r2)
			a.accel, a.slope = a2, slope
			st := max(r1.Status, r2.Status)
			if !met && off > 1e-6*scale {
				st = max(st, engine.NotConverged)
			}
			return st
		}

		flattest := -1 + m12*m12/(one.inertia*two.inertia)
		switch {
		// a kink between the two, or the middle has moved: one step that cannot go too far
		case n > 1 && !safe && !(math.Abs(res) <= 0.5*math.Abs(beforeRes)):
			safe = true
			before, beforeRes = b, res
			b += res
			continue
		case n > 1 && b != before:
			slope = min(flattest, max(-1, (res-beforeRes)/(b-before)))
		default:
			slope = min(flattest, slope)
		}
		safe = false
		before, beforeRes = b, res
		b -= res / slope
	}
}
