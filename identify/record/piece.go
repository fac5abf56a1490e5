package record

import (
	"fmt"
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// minFragment is the least number of samples of a stretch between two gaps; shorter ones are left out.
const minFragment = 20

// listed is how many pieces that are left out get a line each.
const listed = 3

// ShortList is a list of pieces that are left out, in one line where it is long.
func ShortList(left []string) []string {
	if len(left) <= listed {
		return left
	}
	return []string{fmt.Sprintf("%s; and so are %d more pieces", left[0], len(left)-1)}
}

// piece turns the rows lo … hi, which belong together, into records: one, or several where gaps are cut out. lost says what
// was left out.
func (t *converted) piece(lo, hi int) (out []*Record, lost []string, err error) {
	m, name := t.m, t.label(lo)
	of := ""
	if name != "" {
		of = " in piece " + name
	}
	first := lo // row at which time begins where there is no column of it
	if m.Span != [2]float64{} {
		a, b := t.spanRows(lo, hi)
		if b-a < 2 {
			if m.Piece != "" {
				return nil, []string{fmt.Sprintf("%s is left out: it has fewer than 2 samples from %.6g to %.6g s", name, m.Span[0], m.Span[1])}, nil
			}
			return nil, nil, t.fail(0, fmt.Sprintf("Time there runs from %.6g to %.6g s.", t.at(lo, first), t.at(hi-1, first)),
				"%d samples from %.6g to %.6g s, want at least 2", max(b-a, 0), m.Span[0], m.Span[1])
		}
		lo, hi = a, b
	}
	if err := t.checkNumbers(lo, hi); err != nil {
		return nil, nil, err
	}
	if hi-lo < 2 {
		return nil, nil, t.fail(t.line(lo), fmt.Sprintf("Does column %s really change only between pieces?", m.Piece),
			"%d rows%s, want at least 2", hi-lo, of)
	}

	base := Record{File: t.File, SHA256: t.SHA256, Piece: name}
	if t.time == nil {
		d := base
		d.Dt, d.Start = 1/m.Rate, t.at(lo, first)
		d.Clock = Clock{Median: d.Dt, Shortest: d.Dt, Longest: d.Dt}
		t.fill(&d, lo, hi)
		return []*Record{&d}, nil, t.shift(&d)
	}
	stretches, err := t.stretches(lo, hi)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range stretches {
		if len(stretches) > 1 && c[1]-c[0] < minFragment {
			lost = append(lost, fmt.Sprintf("%d samples between two gaps at %.6g s are left out%s", c[1]-c[0], t.time[c[0]], of))
			continue
		}
		d := base
		if len(stretches) > 1 {
			d.Piece = fmt.Sprintf("part %d", i+1)
			if name != "" {
				d.Piece = name + ", " + d.Piece
			}
		}
		if err := t.regular(&d, c[0], c[1]); err != nil {
			return nil, nil, err
		}
		if err := t.shift(&d); err != nil {
			return nil, nil, err
		}
		out = append(out, &d)
	}
	return out, lost, nil
}

// at is the time of a row, s; without a column of time it begins with the row first.
func (t *converted) at(row, first int) float64 {
	if t.time == nil {
		return float64(row-first) / t.m.Rate
	}
	return t.time[row]
}

// spanRows finds the rows of the wanted span, from the first to the last. An end of 0 after a later beginning is no end.
func (t *converted) spanRows(lo, hi int) (a, b int) {
	span := t.m.Span
	if span[1] == 0 && span[0] > 0 {
		span[1] = math.Inf(1)
	}
	a, b = hi, 0
	for k := lo; k < hi; k++ {
		if x := t.at(k, lo); x >= span[0] && x <= span[1] {
			a, b = min(a, k), k+1
		}
	}
	return a, b
}

// checkNumbers checks that the wanted rows hold numbers only.
func (t *converted) checkNumbers(lo, hi int) error {
	for _, f := range t.flaws {
		if f.row >= lo && f.row < hi {
			return f.err
		}
	}
	columns, x := t.m.channels(), t.x
	if t.time != nil {
		columns, x = slices.Insert(columns, 0, channel{Column: t.m.Time}), append([][]float64{t.time}, x...)
	}
	for i, c := range columns {
		for k, y := range x[i][lo:hi] {
			if !(math.Abs(y) < largest) { // not so for NaN
				return t.fail(t.line(lo+k), cutHint, "%g in column %s is not a usable number (%s)", y, c.Name, t.place(lo+k))
			}
		}
	}
	return nil
}

const cutHint = "Cut the record before or after it: a filter would spread it over its neighbours."

// fill gives the rows lo … hi of the channels to a record.
func (t *converted) fill(d *Record, lo, hi int) {
	for i, c := range t.m.channels() {
		*c.to(d) = t.x[i][lo:hi:hi]
	}
}

// shift takes the delays of columns out of a record: a value that was stamped late belongs to an earlier sample. Whole samples
// are moved; parts of one are interpolated, motion by a cubic and forces by a straight line. Rows at the ends for which a
// channel has no value are cut off.
func (t *converted) shift(d *Record) error {
	first, last := 0.0, float64(d.Len()-1) // samples that every channel has
	for _, c := range t.m.channels() {
		late := c.Delay / d.Dt
		first, last = max(first, math.Ceil(-late-1e-9)), min(last, math.Floor(float64(d.Len()-1)-late+1e-9))
	}
	a, n := int(first), int(last)-int(first)+1
	if n == d.Len() {
		return nil
	}
	if last-first < 1 {
		return t.fail(0, "A delay is given in s.", "the delays of the columns leave nothing of %d samples at intervals of %.4g s", d.Len(), d.Dt)
	}
	for _, c := range t.m.channels() {
		x := *c.to(d)
		late := c.Delay / d.Dt
		whole := math.Round(late)
		if math.Abs(late-whole) < 1e-6 {
			from := a + int(whole)
			*c.to(d) = x[from : from+n : from+n]
			continue
		}
		from := int(math.Floor(late)) + a
		out := make([]float64, n)
		for k := range out {
			out[k] = interpolateAt(x, from+k, late-math.Floor(late), c.isMotion())
		}
		*c.to(d) = out
	}
	d.Start += first * d.Dt
	return nil
}

// interpolateAt is the value at the share w of the way from sample k to the next, 0 < w < 1.
func interpolateAt(x []float64, k int, w float64, smooth bool) float64 {
	if !smooth || k < 1 || k+2 >= len(x) {
		return x[k] + w*(x[k+1]-x[k])
	}
	return numeric.Lagrange([]float64{-1, 0, 1, 2}, x[k-1:k+3], w)
}

// levels turns the rows lo … hi of a table of steady friction into a record. The deviation becomes the standard error of the
// mean: what it says of single samples is divided by the root of their number.
func (t *converted) levels(lo, hi int) (out []*Record, lost []string, err error) {
	if err := t.checkNumbers(lo, hi); err != nil {
		return nil, nil, err
	}
	m := t.m
	d := &Record{File: t.File, SHA256: t.SHA256, Piece: t.label(lo), SteadyLevels: true}
	t.fill(d, lo, hi)
	for _, key := range []string{"velocity", "force"} {
		if *d.channels()[slices.Index(channelNames, key)] == nil {
			return nil, nil, t.fail(0, "Name its column in data.columns."+key+".", "a table of steady friction needs the %s", key)
		}
	}
	for k := range d.Force {
		line := t.line(lo + k)
		if d.Count != nil && (d.Count[k] < 1 || d.Count[k] != math.Trunc(d.Count[k])) {
			return nil, nil, t.fail(line, "It is the number of samples in the mean of the level.", "%g in column %s, want a whole number from 1",
				d.Count[k], m.Count.Name)
		}
		if d.ForceError == nil {
			continue
		}
		if d.ForceError[k] < 0 {
			return nil, nil, t.fail(line, "Give the standard deviation of the force, without sign.", "%g in column %s, want no negative number",
				d.ForceError[k], m.Deviation.Name)
		}
		if d.Count != nil {
			d.ForceError[k] /= math.Sqrt(d.Count[k])
		}
	}
	if d.ForceError != nil && d.Count == nil {
		d.Warnings = append(d.Warnings, "column "+m.Deviation.Name+" without a count says which levels are better than others; how good they "+
			"are is found from their scatter about the curve. Name the number of samples in data.columns.count, or say static.weights: errors if "+
			"it is the standard deviation of the mean")
	}
	return []*Record{d}, nil, nil
}

// levels judges a table of steady friction: what it can tell, and the sign of the force.
func (c *checker) levels() {
	d := c.d
	u := c.o.unit("m/s")
	forward, backward, against := 0, 0, 0
	speeds := map[float64]bool{}
	for k, v := range d.Velocity {
		switch {
		case v > 0:
			forward++
		case v < 0:
			backward++
		}
		if v*d.Force[k] < 0 {
			against++
		}
		speeds[math.Abs(v)] = true
	}
	n := len(d.Velocity)
	c.addFinding("levels", Note, "", float64(n), "levels", "",
		"a table of %d levels of constant speed, %d forward and %d backward, at %d speeds", n, forward, backward, len(speeds))
	if moving := forward + backward; moving < n {
		c.addFinding("rest", Warning, "velocity", float64(n-moving), "levels", "Take them out of the table.",
			"%d levels have no velocity: at rest the force says only that friction is larger", n-moving)
	}
	if 2*against > n {
		c.addFinding("force-sign", Fatal, "force", float64(against), "levels", "Count force and velocity positive in one direction.",
			"at %d of %d levels the force drives backward: the wrong sign of force or velocity", against, n)
	}
	if n > 0 && (forward == 0 || backward == 0) {
		c.addFinding("one-direction", Warning, "", 0, "", "Measure both ways; otherwise fix the offset and use a law without direction.",
			"all levels move one way: a Coulomb force and a constant offset cannot be told apart")
	}
	if len(speeds) < 3 {
		c.addFinding("one-speed", Warning, "", float64(len(speeds)), u, "Measure at several speeds, a decade apart at best.",
			"%d speeds: Coulomb and viscous friction cannot be told from a fall at slow speeds", len(speeds))
	}
}
