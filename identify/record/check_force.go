package record

import (
	"fmt"
	"math"
)

// balance is what a plain regression says of the force of all pieces:
//
//	F = M·a + Fv·v + Fc·sgn v + offset + k·x        (for large angles gs·sin x + gc·cos x instead of k·x)
//
// It is no identification, only a witness: a sign or a unit that is wrong shows in it.
type balance struct {
	names  []string
	coef   []float64
	se     []float64 // with correlated residuals counted
	r2     float64
	loss   float64 // mean of Fv·v² + Fc·|v|, W: what friction takes
	lossSE float64
	driven float64 // mean of F·v, W
	gross  float64 // mean of |F·v|, W
}

// of gives a coefficient with its standard error; se is +Inf for a term that the motion does not excite.
func (b *balance) of(name string) (x, se float64) {
	for i, n := range b.names {
		if n == name {
			return b.coef[i], b.se[i]
		}
	}
	return 0, math.Inf(1)
}

// rowsOf is the share of a piece in the regression: columns and force, smoothed alike.
type rowsOf struct {
	cols   [][]float64
	force  []float64
	v      []float64
	at     []int     // samples that are rows
	smooth []float64 // force of every sample
}

// dynamics judges sign, inertia and lag of the force.
func (c *checker) dynamics(all []*motion) {
	c.d = nil
	var rows []rowsOf
	var names []string
	for _, m := range all {
		if len(m.d.Force) == 0 || m.top == 0 {
			continue
		}
		n, r := c.regressors(m, 0)
		if names == nil {
			names = n
		}
		if r != nil && len(n) == len(names) {
			rows = append(rows, *r)
		}
	}
	if rows == nil || c.o.Coupled {
		return
	}
	b := regress(names, rows)
	if b == nil {
		return
	}
	if sound := c.signs(b); sound && !c.o.Static {
		c.inertia(b)
		c.forceLag(all, b)
	}
}

// signs reports a force that would feed the axis by friction, or turn its inertia negative; true if it does neither.
func (c *checker) signs(b *balance) bool {
	const sure = 5.0 // standard errors
	mass, se := b.of("M")
	unit := c.o.force()
	negative := !c.o.Static && mass < -sure*se
	gains := b.loss < -sure*b.lossSE && b.loss < -0.05*b.gross
	net := fmt.Sprintf("over the record the force does %.3g W of work on the axis on average, of %.3g W that change hands", b.driven, b.gross)
	advice := "Check the sign of force and position: both count positive in one direction."
	switch {
	case gains && (negative || c.o.Static) && b.r2 > 0.3:
		c.say("force-sign", Fatal, "force", b.loss, "W", advice, "force has the wrong sign against the motion: inertia and friction both come out negative; %s", net)
	case gains:
		c.say("force-power", Warning, "force", b.loss, "W", advice+" Otherwise something besides the recorded force moves the axis.",
			"friction would come out negative, feeding %.3g W to the axis; %s", -b.loss, net)
	case negative && b.r2 > 0.5:
		c.say("inertia-sign", Warning, "force", mass, unit, "Check the signs of position and velocity, and the timing of the force; a load may be missing in the model.",
			"a plain regression gives a negative inertia, %.3g ± %.2g", mass, se)
	default:
		c.say("power", Note, "force", b.driven, "W", "", "%s", net)
		return true
	}
	return false
}

// inertia compares the regression with an inertia that is known, and says if there is none to be seen.
func (c *checker) inertia(b *balance) {
	mass, se := b.of("M")
	unit := "kg"
	if c.o.Rotary {
		unit = "kg·m²"
	}
	switch known := c.o.Inertia; {
	case !(mass > 4*se):
		c.say("inertia-excitation", Note, "", mass, unit, "Accelerate harder if the inertia is wanted; otherwise fix it.", "the motion hardly shows an inertia: %.3g ± %.2g %s", mass, se, unit)
	case known > 0 && b.r2 > 0.7 && math.Abs(math.Log(mass/known)) > math.Log(2):
		lo, hi := (mass-2*se)/known, (mass+2*se)/known
		why := ""
		if text, _ := nameFactor(0.9*lo, 1.1*hi, c.o.Rotary); text != "" {
			why = ": " + text
		}
		c.say("inertia-scale", Fatal, "force", mass/known, "", "Check the units of force, position and time: force / (position / time²) is an inertia.",
			"force and acceleration give an inertia of %.3g %s, %.3g times the known one%s", mass, unit, mass/known, why)
	}
}

// forceLag shifts the force against the motion: positive lags mean that its stamp comes later than its effect.
func (c *checker) forceLag(all []*motion, b *balance) {
	if b.r2 < 0.8 {
		return
	}
	const most = 6
	m := all[0]
	for _, other := range all {
		if len(other.v) > len(m.v) && len(other.d.Force) > 0 {
			m = other
		}
	}
	_, r := c.regressors(m, most)
	if r == nil || len(r.force) < 40 {
		return
	}
	q, _, _ := orthonormal(r.cols)
	y, n := make([]float64, len(r.force)), len(r.force)
	lag, se := lagOf(func(shift int) float64 {
		for i, k := range r.at {
			y[i] = r.smooth[k+shift]
		}
		for i := range q {
			s := dot(q[i], y)
			for k := range y {
				y[k] -= s * q[i][k]
			}
		}
		return dot(y, y)
	}, most, 1)
	se /= math.Sqrt(float64(max(n, 8)) / 8)
	if math.IsNaN(lag) || math.Abs(lag) < 1 || math.Abs(lag) < 5*se {
		return
	}
	how, severity := "later than", Note
	if lag < 0 {
		how = "earlier than"
	}
	if math.Abs(lag) >= 3 {
		severity = Warning
	}
	c.say("force-lag", severity, "force", lag*m.d.Dt, "s", "Free the input lag in the fit, or shift the column; friction that is fitted with a wrong lag takes the blame for it.",
		"force fits the motion best if its stamp is taken as %.2g s, %.1f samples, %s its effect", math.Abs(lag)*m.d.Dt, math.Abs(lag), how)
}
