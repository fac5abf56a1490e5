package record

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine/numeric"
)

// signals judges every channel by itself.
func (c *checker) signals() {
	spikes := c.d.spikes()
	for _, s := range c.channels() {
		if c.constant(s) {
			continue
		}
		c.saturated(s)
		c.checkRepetition(s)
		for _, p := range spikes {
			if p.Channel == s.name {
				how := "are off the curve through their neighbours, as no motion is,"
				if !slices.ContainsFunc(p.Samples, func(k int) bool { return s.x[k] != 0 }) {
					how = "drop to zero"
				}
				c.addFinding("outliers", Warning, s.name, float64(len(p.Samples)), "samples",
					"Look at them: a counter, a converter or a link makes them.",
					"%d samples of %s %s by up to %.3g %s, first at %.6g s: they are left out",
					len(p.Samples), s.name, how, p.Largest, s.unit, c.d.Start+float64(p.Samples[0])*c.d.Dt)
				s.x = p.mended
			}
		}
		c.outliers(s)
		c.counts(s)
		c.rounding(s)
		c.band(s)
		c.bits(s)
		if s.name != "load" {
			continue
		}
		if lo, _ := numeric.Range(s.x); lo < 0 {
			c.addFinding("load-sign", Warning, s.name, lo, s.unit,
				"Count the normal load positive where it presses; take off the zero of the sensor.", "load falls to %.4g N: a contact cannot pull", lo)
		}
	}
}

// constant reports a channel that never changes.
func (c *checker) constant(s signal) bool {
	lo, hi := numeric.Range(s.x)
	lo += 0 // makes −0 plain
	if hi > lo {
		return false
	}
	severity, advice := Note, ""
	switch {
	case c.changingChannels[s.name]: // in another piece
	case s.name == "position", s.name == "velocity" && !c.o.Static:
		severity, advice = Fatal, "Is the sensor connected, and is this its column?"
	case s.name == "force", s.name == "current":
		severity, advice = Warning, "Is this its column? A run-down without drive needs no force at all."
	}
	c.addFinding("constant", severity, s.name, lo, s.unit, advice, "%s is %g %s throughout", s.name, lo, s.unit)
	return true
}

// saturated reports a drive that rests at an extreme while it takes many other values.
func (c *checker) saturated(s signal) {
	if s.name != "force" && s.name != "current" {
		return
	}
	lo, hi := numeric.Range(s.x)
	rest := map[float64]int{}
	run := 1
	for k := 1; k <= len(s.x); k++ {
		if k < len(s.x) && s.x[k] == s.x[k-1] {
			run++
			continue
		}
		if y := s.x[k-1]; run >= 3 && (y == lo || y == hi) {
			rest[y] += run
		}
		run = 1
	}
	share := float64(rest[lo]+rest[hi]) / float64(len(s.x))
	if share <= 0.005 || lo == 0 && rest[hi] == 0 || hi == 0 && rest[lo] == 0 { // zero is no limit
		return
	}
	levels := map[float64]bool{}
	for _, y := range s.x {
		if levels[y] = true; len(levels) > 20 {
			break
		}
	}
	var at []string
	for _, y := range []float64{lo, hi} {
		if rest[y] > 0 {
			at = append(at, fmt.Sprintf("%.4g", y))
		}
	}
	if len(levels) <= 20 {
		c.addFinding("levels", Note, s.name, float64(len(levels)), "", "",
			"%s takes %d values only: a stepped command, whose extremes need no limit", s.name, len(levels))
		return
	}
	c.addFinding("saturation", Warning, s.name, share, "",
		"Keep the drive below its limit, or leave these parts out: there the true value is not the recorded one.",
		"%.1f %% of the samples of %s rest at its extreme (%s %s)", 100*share, s.name, strings.Join(at, " or "), s.unit)
}

// checkRepetition reports a channel that is renewed more slowly than it is sampled. Counted are repetitions between changes of several
// steps of its quantisation. A noisy signal that counts in coarse steps repeats itself by chance: as often as it changes by
// a single step up or down, on average, and that many are no sign of a slow clock.
func (c *checker) checkRepetition(s signal) {
	q := s.q()
	lo, hi := numeric.Range(s.x)
	large := 3 * q
	if q == 0 {
		large = 1e-9 * (hi - lo)
	}
	samples, repeated, runs, chance := 0, 0, 0, 0.0
	values := map[float64]bool{}
	last, before := 0, 0.0 // where the last change was, and its size
	for k := 1; k < len(s.x); k++ {
		step := math.Abs(s.x[k] - s.x[k-1])
		if step == 0 {
			continue
		}
		if last > 0 && step > large && before > large && s.x[k-1] != lo && s.x[k-1] != hi && k-last <= 50 {
			samples, repeated, runs = samples+k-last, repeated+k-last-1, runs+1
			if len(values) <= 20 {
				values[s.x[k-1]] = true
			}
		}
		if next := k + 1; step < 1.5*q && next < len(s.x) && before > large && last == k-1 && math.Abs(s.x[next]-s.x[k]) > large {
			chance += 0.5
		}
		last, before = k, step
	}
	share := (float64(repeated) - chance) / float64(max(samples, 1))
	if runs < 50 || len(values) <= 20 || share < 0.2 {
		return // fewer repetitions come about by chance where steps are uneven
	}
	rate := (1 - share) / c.d.Dt
	severity := Note
	if share > 0.3 {
		severity = Warning
	}
	c.addFinding("held", severity, s.name, rate, "Hz",
		"Record faster, or decimate to this rate; as it stands the value is old by up to a sampling interval of its own.",
		"%.0f %% of the samples of %s repeat the one before while it moves: it is renewed at about %.4g Hz, not at %.4g Hz", 100*share, s.name,
		rate, 1/c.d.Dt)
}

// outliers reports single samples that do not belong to their neighbours, and short drops of a motion sensor.
func (c *checker) outliers(s signal) {
	n := len(s.x)
	if n < 50 {
		return
	}
	q := s.q()
	span := numeric.Span(s.x)

	// distance from the median of five, against what is usual for this signal
	far := func(k int) float64 {
		if k < 2 || k >= n-2 {
			return 0
		}
		return math.Abs(s.x[k] - middle([5]float64(s.x[k-2:k+3])))
	}
	limit := max(12*numeric.QuantileOf(n, 0.97, far), 8*q, 0.01*span)
	count, first, worst, zeros := 0, 0, 0.0, 0
	for k := 2; k < n-2; k++ {
		if math.Abs(s.x[k]-s.x[k-1]) <= limit && math.Abs(s.x[k]-s.x[k+1]) <= limit {
			continue // three of five are within the limit, and so is their median
		}
		x := far(k)
		if x <= limit {
			continue
		}
		if count++; count == 1 {
			first = k
		}
		if s.x[k] == 0 {
			zeros++
		}
		worst = max(worst, x)
	}
	// a sensor cannot leave a place and be back there at once
	if s.name == "position" || s.name == "velocity" {
		k0, drops := c.drops(s, max(q, 1e-12*span))
		if drops > count {
			first, count = k0, drops
			worst = max(worst, limit)
		}
	}
	if count == 0 || float64(count) > 0.02*float64(n) { // what happens all the time is no outlier
		return
	}
	what := "stand far off their neighbours"
	if zeros == count {
		what = "drop to zero"
	}
	severity := Warning
	if s.name != "position" && s.name != "velocity" && zeros < count && count < max(10, n/5000) {
		severity = Note // a force may well jump
	}
	c.addFinding("outliers", severity, s.name, float64(count), "samples", "Look at them; cut the record there, or use a robust loss.",
		"%d samples of %s %s, by up to %.3g %s, first at %.6g s", count, s.name, what, worst, s.unit, c.d.Start+float64(first)*c.d.Dt)
}

// middle is the median of five numbers.
func middle(x [5]float64) float64 {
	lo, hi := max(min(x[0], x[1]), min(x[2], x[3])), min(max(x[0], x[1]), max(x[2], x[3]))
	return max(min(lo, hi), min(max(lo, hi), x[4]))
}

// drops counts samples between a jump and the jump back, at most 50 later.
func (c *checker) drops(s signal, tiny float64) (first, count int) {
	n := len(s.x)
	step := func(k int) float64 { return math.Abs(s.x[k+1] - s.x[k]) }
	limit := max(20*numeric.QuantileOf(n-1, 0.99, step), 20*tiny)
	for k := 0; k < n-1; k++ {
		if step(k) <= limit {
			continue
		}
		jump := s.x[k+1] - s.x[k]
		for j := k + 1; j < min(k+50, n-1); j++ {
			back := s.x[j+1] - s.x[j]
			if step(j) > limit && back*jump < 0 && math.Abs(s.x[j+1]-s.x[k]) < 0.2*math.Abs(jump) {
				if count == 0 {
					first = k + 1
				}
				count += j - k
				k = j
				break
			}
		}
	}
	return first, count
}

// counts reports a position in whole numbers, which is what an encoder counts in, and angles that jump by a turn.
func (c *checker) counts(s signal) {
	if s.name != "position" && s.name != "reference" {
		return
	}
	span := numeric.Span(s.x)
	whole := span >= 20 && !slices.ContainsFunc(s.x, func(x float64) bool { return x != math.Trunc(x) })
	if whole {
		c.addFinding("counts", Warning, s.name, span, s.unit,
			"Counts of an encoder? Give the gain of the column, the length or angle of one count.",
			"every value of %s is a whole number of %s, over a range of %g", s.name, s.unit, span)
	}
	if !c.o.Rotary {
		const hall = 50 // m, few axes are longer
		if span > hall && !whole {
			c.addFinding("range", Warning, s.name, span, s.unit, "Millimetres? Give the unit of the column.", "%s runs over %.4g m", s.name, span)
		}
		return
	}
	if n := turns(s.x); n > 0 {
		c.addFinding("wrapped", Fatal, s.name, float64(n), "jumps", "Unwrap the angle before it is recorded or exported.",
			"%s jumps by a whole turn %d times: an angle that begins anew at its limits", s.name, n)
	}
}

// turns counts jumps of a whole turn between samples that are otherwise close.
func turns(x []float64) int {
	step := func(k int) float64 { return math.Abs(x[k+1] - x[k]) }
	often, n := numeric.QuantileOf(len(x)-1, 0.9, step), 0
	for k := range len(x) - 1 {
		if math.Abs(step(k)-2*math.Pi) < max(3*often, 0.02) && often < 1 {
			n++
		}
	}
	return n
}
