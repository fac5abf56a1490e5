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
	top := 0.0
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
	for _, m := range all {
		top = max(top, m.top)
		if !c.o.Static {
			c.d = m.d
			c.play(m)
		}
	}
	c.d = nil
	if rows == nil || c.o.Coupled {
		return
	}
	b := regress(names, rows)
	if b == nil {
		return
	}
	if sound := c.signs(b); sound && !c.o.Static {
		c.inertia(b)
		c.clipped(names, rows)
		c.drifts(names, rows, top)
		c.forceLag(all, names)
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

// lagReach is how far the force is looked for before and behind its motion, s.
const lagReach = 0.05

// lateness is by how much the force comes later than the motion says.
type lateness struct {
	lag, se    float64   // samples
	here, best []float64 // coefficients of the balance as recorded, and with the lag taken out
	share      float64   // of the squared residual that is left then
}

// findLag shifts the force of a piece against its motion, up to lagReach, and takes the shift at which the balance leaves
// least. Its standard error is that of the jackknife. nil: no such place.
func (c *checker) findLag(m *motion) *lateness {
	n := len(m.v)
	most := max(6, int(math.Round(lagReach/m.d.Dt)))
	if most = min(most, n/8); most < 2 {
		return nil
	}
	names, r := c.regressors(m, most)
	if r == nil {
		return nil
	}
	if r = r.where(func(i int) bool { return math.Abs(r.v[i]) > 0.2*m.top }); len(r.at) < 100 { // what bristles do at reversals looks like a lag
		return nil
	}
	at := map[int][]*sums{}
	y := make([]float64, len(r.force))
	shifted := func(by int) []*sums {
		if at[by] == nil {
			for i, k := range r.at {
				y[i] = r.smooth[k+by]
			}
			at[by] = partsOf(r.cols, y)
		}
		return at[by]
	}
	left := func(by, without int) (coef []float64, rest float64) {
		all := newSums(len(r.cols))
		for i, s := range shifted(by) {
			if i != without {
				all.add(s, 1)
			}
		}
		return all.solve()
	}
	// a single tone can be turned into any other phase by inertia and stiffness
	whole := newSums(len(r.cols))
	whole.take(r.cols, r.force, 0, len(r.force))
	if len(names) == 0 || whole.alone(len(names)-1) < 0.02 {
		return nil
	}
	// the least over coarse steps, then over single samples around it
	best, rest := 0, math.Inf(1)
	look := func(from, to, step int) {
		for by := from; by <= to; by += step {
			if by < -most || by > most {
				continue
			}
			if _, e := left(by, -1); e < rest {
				best, rest = by, e
			}
		}
	}
	coarse := max(1, most/20)
	look(-most, most, coarse)
	look(best-coarse, best+coarse, max(1, coarse/8))
	look(best-coarse/8-1, best+coarse/8+1, 1)
	if best <= -most || best >= most || rest > 0.2*variance(r.force) {
		return nil
	}
	vertex := func(without int) float64 {
		_, a := left(best-1, without)
		_, e := left(best, without)
		_, b := left(best+1, without)
		if bend := a - 2*e + b; bend > 0 {
			return min(max(0.5*(a-b)/bend, -2), 2)
		}
		return math.NaN()
	}
	out := &lateness{lag: float64(best) + vertex(-1)}
	for i := range jackBlocks {
		e := float64(best) + vertex(i) - out.lag
		out.se += e * e * (jackBlocks - 1) / jackBlocks
	}
	out.se = math.Sqrt(out.se)
	out.here, out.share = left(0, -1)
	out.share = rest / max(out.share, math.SmallestNonzeroFloat64)
	out.best, _ = left(best, -1)
	// an inertia that a shift doubles or halves is none: the balance is no witness
	if m := len(names) - 1; math.IsNaN(out.se) || !(out.here[m] > 0.5*out.best[m] && out.here[m] < 2*out.best[m]) {
		return nil
	}
	return out
}

// forceLag says if the force and the motion are not of one time: positive lags mean that its stamp comes later than its
// effect.
func (c *checker) forceLag(all []*motion, names []string) {
	m := all[0]
	for _, other := range all {
		if len(other.v) > len(m.v) && len(other.d.Force) > 0 {
			m = other
		}
	}
	// a force that is held from sample to sample acts half a sample late by itself; what leaves most of the residual as it is
	// has another cause
	l := c.findLag(m)
	if l == nil || math.Abs(l.lag) < 1.5 || math.Abs(l.lag) < 5*l.se || l.share > 0.7 {
		return
	}
	// what it does to inertia and friction
	moved, what := 0.0, ""
	for i, name := range names {
		if share := math.Abs(l.here[i]/l.best[i] - 1); (name == "M" || name == "Fv" || name == "Fc") && share > moved {
			moved, what = share, name
		}
	}
	how, severity := "later than", Note
	if l.lag < 0 {
		how = "earlier than"
	}
	switch {
	case c.o.LagFree:
	case moved > 0.02:
		severity = Fatal
	case math.Abs(l.lag) >= 3:
		severity = Warning
	}
	c.say("force-lag", severity, "force", l.lag*m.d.Dt, "s", "Free the lag in the fit, or correct the times of the column with delay.",
		"the force fits the motion best if its stamp is taken as %.2g s, %.1f samples, %s its effect; in a plain regression %s is %.2g %% off without that",
		math.Abs(l.lag)*m.d.Dt, math.Abs(l.lag), how, what, 100*moved)
}
