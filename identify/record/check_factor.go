package record

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine/numeric"
)

// A wrong unit shows as a factor between two signals that ought to agree. factorNames are the usual ones.
var factorNames = []struct {
	factor float64
	text   string
	rotary bool // only there
}{
	{1000, "thousand", false},
	{1e6, "million", false},
	{60 / (2 * math.Pi), "60/2π, as between revolutions per minute and rad/s", true},
	{180 / math.Pi, "180/π, as between degrees and radians", true},
	{2 * math.Pi, "2π, as between revolutions and radians", true},
	{6, "6, as between degrees per second and revolutions per minute", true},
	{360, "360, as between degrees and revolutions", true},
	{25.4, "25.4, as between inches and millimetres", false},
	{60, "60, as between minutes and seconds", false},
	{9.80665, "9.80665, as between kilopond and newton", false},
	{10, "ten", false},
	{100, "hundred, as between percent or centimetres and the unit", false},
	{2, "two", false},
}

// nameFactor names the known factor between lo and hi, or its reciprocal, behind lead; "": there is none.
func nameFactor(lead string, lo, hi float64, rotary bool) (text string) {
	best := math.Inf(1)
	for _, f := range factorNames {
		if f.rotary && !rotary {
			continue
		}
		for _, x := range []float64{f.factor, 1 / f.factor} {
			off := math.Abs(math.Log(x / math.Sqrt(lo*hi)))
			if x < lo*0.98 || x > hi*1.02 || off >= best {
				continue
			}
			best, text = off, lead+"a factor of "+f.text
			if x < 1 {
				text = lead + "one over " + f.text
			}
		}
	}
	return text
}

// relation is y = s·x + c when both are noisy. The true |s| lies between the slope of y on x and the inverse slope of x on
// y, the bounds of Frisch, whatever share of the noise is whose, as long as the two noises have nothing in common.
type relation struct {
	lo, hi, scale float64 // scale = ±√(lo·hi), with sign; lo, hi > 0
	r2            float64
}

func relate(x, y []float64) relation {
	xx, yy, xy := stat.Variance(x, nil), stat.Variance(y, nil), stat.Covariance(x, y, nil)
	if !(xx > 0 && yy > 0) || xy == 0 {
		return relation{}
	}
	return relation{lo: math.Abs(xy) / xx, hi: yy / math.Abs(xy), scale: math.Copysign(math.Sqrt(yy/xx), xy), r2: xy * xy / (xx * yy)}
}

// judge says what a relation means whose slope should be one. Nothing is said of what agrees within 2 %.
func (c *checker) judge(kind, channel, subject string, r relation, advice string) {
	if r.scale < 0 {
		c.addFinding(kind, Fatal, channel, r.scale, "", advice, "%s has the opposite sign (times %.4g)", subject, r.scale)
		return
	}
	if r.lo*0.98 <= 1 && r.hi*1.02 >= 1 {
		return
	}
	severity, why := Warning, ""
	if s := math.Abs(math.Log(r.scale)); s > math.Log(1.5) {
		severity, why = Fatal, nameFactor(": ", r.lo, r.hi, c.o.Rotary)
	}
	c.addFinding(kind, severity, channel, r.scale, "", advice, "%s is %.4g times what it should be%s", subject, r.scale, why)
}

// followed is the share of the way, squared, that the integral of a velocity explains where the two are of one axis, however noisy or
// late the velocity is within short windows. Sums of noise come that near to each other in one record of a hundred.
const followed = 0.95

// velocity compares a measured velocity with the slope of the position, both as increments of position over windows.
func (c *checker) velocity(m *motion) {
	if m == nil || m.x == nil || m.slope {
		return
	}
	n := len(m.v)
	area := make([]float64, n) // ∫v dt
	for k := 1; k < n; k++ {
		area[k] = area[k-1] + 0.5*(m.v[k]+m.v[k-1])*m.d.Dt
	}
	var best relation
	var dx, dv []float64
	for w := 2; w <= max(n/10, 2) && w < n; w *= 2 {
		dx, dv = dx[:0], dv[:0]
		for k := 0; k+w < n; k += max(w/4, 1) {
			dx, dv = append(dx, m.x[k+w]-m.x[k]), append(dv, area[k+w]-area[k])
		}
		if r := relate(dx, dv); len(dx) >= 20 && r.r2 > best.r2 {
			best = r
		}
	}
	if whole := relate(m.x, area); best.r2 < 0.9 && n >= 20 && whole.r2 > followed {
		best = whole
	}
	u := c.o.unit("m")
	switch span := numeric.Span(m.x); {
	case best.r2 < 0.5 && span > 50*m.noise && m.topSpeed > 4*m.rest:
		c.addFinding("velocity-scale", Fatal, "velocity", best.r2, "", "Are these columns of the same axis?",
			"velocity does not follow from position: its integral explains %.0f %% of the way", 100*best.r2)
		return
	case best.r2 < 0.9:
		c.addFinding("velocity-scale", Note, "velocity", best.r2, "", "",
			"velocity cannot be compared with position: there is too little motion above the noise")
		return
	}
	c.judge("velocity-scale", "velocity", "velocity, against the slope of the position,", best,
		fmt.Sprintf("Check unit and sign of both columns, position in %s and velocity in %s/s, and the unit of time.", u, u))
	if best.scale > 0 {
		c.velocityLag(m, best.scale)
	}
}

// velocityLag finds by how much the measured velocity comes later than the slope of the position: the peak of their
// correlation, both behind one moving average, refined by a parabola.
func (c *checker) velocityLag(m *motion, scale float64) {
	n := len(m.v)
	w := 1
	for ; w < n/100 && m.noise/(float64(w)*m.d.Dt) > 0.05*numeric.RMS(m.v); w *= 2 {
	}
	slope, v := numeric.Slope(m.x, w, m.d.Dt), movingMean(m.v, w)
	most := min(50, n/20)
	if most < 2 {
		return
	}
	miss := func(lag int) float64 {
		s := 0.0
		for k := most + w; k < n-most-w; k++ {
			e := v[k+lag] - scale*slope[k]
			s += e * e
		}
		return s
	}
	lag, se := lagOf(miss, most, float64(n-2*most-2*w)/float64(4*w))
	if math.IsNaN(lag) || math.Abs(lag) < 0.75 || math.Abs(lag) < 5*se {
		return
	}
	severity, how := Note, "later"
	if math.Abs(lag) >= 2 {
		severity = Warning
	}
	if lag < 0 {
		how = "earlier"
	}
	c.addFinding("velocity-lag", severity, "velocity", lag*m.d.Dt, "s",
		"A filter or a difference over past samples delays it: prefer the slope of the position, or shift the column.",
		"velocity comes %.3g s, %.1f samples, %s than the slope of the position", math.Abs(lag)*m.d.Dt, math.Abs(lag), how)
}

// lagOf finds the minimum of a sum of squares over shifts and its standard error, for rows that count as n independent
// ones. NaN: no minimum within ±most.
func lagOf(sum func(int) float64, most int, n float64) (lag, se float64) {
	best, at := math.Inf(1), 0
	for s := -most; s <= most; s++ {
		if e := sum(s); e < best {
			best, at = e, s
		}
	}
	if at == -most || at == most {
		return math.NaN(), 0
	}
	a, b := sum(at-1), sum(at+1)
	bend := a - 2*best + b
	if !(bend > 0) {
		return math.NaN(), 0
	}
	return float64(at) + 0.5*(a-b)/bend, math.Sqrt(2 * best / max(n, 1) / bend)
}

// movingMean is the mean of 2w samples around each, the ends by half.
func movingMean(x []float64, w int) []float64 {
	out := make([]float64, len(x))
	sum := make([]float64, len(x)+1)
	for k, v := range x {
		sum[k+1] = sum[k] + v
	}
	for k := range x {
		a, b := max(k-w, 0), min(k+w, len(x)-1)
		out[k] = (sum[b+1] - sum[a] - 0.5*x[a] - 0.5*x[b]) / float64(max(b-a, 1))
	}
	return out
}

// factors compares channels that are the same quantity by other means.
func (c *checker) factors(m *motion) {
	d := c.d
	if m != nil && m.x != nil && len(d.Reference) > 0 {
		ref := d.Reference
		if c.o.Rotary && turns(ref) > 0 {
			ref = unwrap(ref)
		}
		if r := relate(ref, m.x); !c.o.SmallMotion && r.r2 > 0.9 && (r.scale < 0 || r.lo > 1.5 || r.hi < 1/1.5) {
			c.judge("reference-scale", "reference", "position, against the reference it follows,", r, "Check unit and sign of both columns.")
		}
	}
	if len(d.Current) == 0 || len(d.Force) == 0 {
		return
	}
	r := relate(d.Current, d.Force)
	if u := c.o.unit("N") + "/A"; r.r2 >= 0.9 {
		c.addFinding("current-scale", Note, "current", r.scale, u, "", "force is %.4g %s times the current", r.scale, u)
	}
	// one is computed from the other if they agree to the last digit: no second measurement
	if r.r2 > 1-1e-9 {
		c.addFinding("current-copy", Note, "current", r.r2, "", "", "force and current are one signal: the force was computed from the current")
	}
}

// commanded is the share of the disturbance that is in the recorded force already: force is what a controller asked for, out of
// the reference and the last positions, plus share·disturbance. se is its standard error. Not ok where there is no such controller.
func (d *Record) commanded() (share, se float64, ok bool) {
	n, lags := len(d.Force), 6
	if len(d.Disturbance) != n || len(d.Reference) != n || len(d.Position) != n || n < 500 {
		return 0, 0, false
	}
	lo, hi := numeric.Range(d.Force)
	cols := make([][]float64, lags+4)
	var y []float64
	stride := max(1, n/50000)
	for k := lags; k < n-1; k += stride {
		if d.Force[k] == lo || d.Force[k] == hi {
			continue // at its limit
		}
		row := []float64{1, d.Reference[k], d.Reference[k-1], d.Reference[k] - d.Position[k]}
		for i := 1; i < lags; i++ {
			row = append(row, d.Position[k-i+1]-d.Position[k-i])
		}
		row = append(row, d.Disturbance[k])
		for j, x := range row {
			cols[j] = append(cols[j], x)
		}
		y = append(y, d.Force[k])
	}
	if len(y) < 200 {
		return 0, 0, false
	}
	value, errs := jackknife(cols, y, func(coef []float64, rest float64) []float64 {
		return []float64{coef[len(coef)-1], rest}
	})
	share, se = value[0], errs[0]
	return share, se, value[1] < 1e-3*stat.Variance(y, nil)*float64(len(y)-1) && !math.IsNaN(share) && !math.IsNaN(se)
}

// InCommand tells that the disturbance was added to the command before it was recorded as the force.
func (d *Record) InCommand() bool {
	share, se, ok := d.commanded()
	return ok && share > 0.5 && share > 5*se
}

// WithTotalForce is the record with one force, that of the drive and the known disturbance; d itself where there is none, or where it is in
// the command already.
func (d *Record) WithTotalForce() *Record {
	if len(d.Disturbance) == 0 || len(d.Disturbance) != len(d.Force) || d.InCommand() {
		return d
	}
	one := *d
	one.Force, one.Disturbance = floats.AddTo(make([]float64, len(d.Force)), d.Force, d.Disturbance), nil
	return &one
}

// pulses compares a recorded disturbance with what the command holds besides the controller: all of it, if it was added to the
// command, or nothing.
func (c *checker) pulses() {
	share, se, ok := c.d.commanded()
	if !ok || math.Abs(share) < 5*se || math.Abs(share) < 0.1 || math.Abs(share-1) < max(5*se, 0.1) {
		return
	}
	why := nameFactor(", ", 0.99*share, 1.01*share, c.o.Rotary)
	c.addFinding("disturbance-scale", Fatal, "disturbance", share, "",
		"Check unit and sign of this column; if it has the unit of the command, give it the gain of the force.",
		"the force is what a controller asks for and %.4g times the disturbance%s: want 1 where the disturbance was added to the command, 0 "+
			"where it was not", share, why)
}
