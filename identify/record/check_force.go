package record

import (
	"fmt"
	"math"
	"slices"
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

// mass is the inertia with its standard error, +Inf where the motion does not excite it.
func (b *balance) mass() (x, se float64) {
	if i := slices.Index(b.names, "M"); i >= 0 {
		return b.coef[i], b.se[i]
	}
	return 0, math.Inf(1)
}

// dynamics judges sign and inertia of the force, and what only the balance of all pieces shows.
func (c *checker) dynamics(all []*motion) {
	c.d = nil
	var rows *balanceRows
	for _, m := range all {
		if len(m.d.Force) > 0 && m.top > 0 {
			rows = rows.join(c.regressors(m))
		}
	}
	for _, m := range all {
		if !c.o.Static {
			c.d = m.d
			c.play(m)
		}
	}
	c.d = nil
	if rows == nil || c.o.Coupled {
		return
	}
	b := rows.regress()
	if b == nil {
		return
	}
	if sound := c.signs(b); sound && !c.o.Static {
		c.inertia(b)
		c.clipped(rows)
	}
}

// signs reports a force that would feed the axis by friction, or turn its inertia negative; true if it does neither.
func (c *checker) signs(b *balance) bool {
	const sure = 5.0 // standard errors
	mass, se := b.mass()
	unit := c.o.unit("N")
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

// inertia says if there is none to be seen.
func (c *checker) inertia(b *balance) {
	unit := c.o.unit("kg")
	if mass, se := b.mass(); !(mass > 4*se) {
		c.say("inertia-excitation", Note, "", mass, unit, "Accelerate harder if the inertia is wanted; otherwise fix it.", "the motion hardly shows an inertia: %.3g ± %.2g %s", mass, se, unit)
	}
}
