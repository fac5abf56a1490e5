package record

import (
	"math"
	"slices"
)

// levels turns the rows lo … hi of a table of steady friction into a record. The deviation becomes the standard error of the
// mean: what it says of single samples is divided by the root of their number.
func (t *converted) levels(lo, hi int) (out []*Record, lost []string, err error) {
	if err := t.sound(lo, hi); err != nil {
		return nil, nil, err
	}
	m := t.m
	d := &Record{File: t.File, SHA256: t.SHA256, Piece: t.label(lo), Steady: true}
	t.fill(d, lo, hi)
	for _, key := range []string{"velocity", "force"} {
		if *d.channels()[slices.Index(channelNames, key)] == nil {
			return nil, nil, t.fail(0, "Name its column in data.columns."+key+".", "a table of steady friction needs the %s", key)
		}
	}
	for k := range d.Force {
		line := t.line(lo + k)
		if d.Count != nil && (d.Count[k] < 1 || d.Count[k] != math.Trunc(d.Count[k])) {
			return nil, nil, t.fail(line, "It is the number of samples in the mean of the level.", "%g in column %s, want a whole number from 1", d.Count[k], m.Count.Name)
		}
		if d.ForceError == nil {
			continue
		}
		if d.ForceError[k] < 0 {
			return nil, nil, t.fail(line, "Give the standard deviation of the force, without sign.", "%g in column %s, want no negative number", d.ForceError[k], m.Deviation.Name)
		}
		if d.Count != nil {
			d.ForceError[k] /= math.Sqrt(d.Count[k])
		}
	}
	if d.ForceError != nil && d.Count == nil {
		d.Warnings = append(d.Warnings, "column "+m.Deviation.Name+" without a count says which levels are better than others; how good they are is found from their scatter about the curve. Name the number of samples in data.columns.count, or say static.weights: errors if it is the standard deviation of the mean")
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
	c.say("levels", Note, "", float64(n), "levels", "", "a table of %d levels of constant speed, %d forward and %d backward, at %d speeds", n, forward, backward, len(speeds))
	if moving := forward + backward; moving < n {
		c.say("rest", Warning, "velocity", float64(n-moving), "levels", "Take them out of the table.", "%d levels have no velocity: at rest the force says only that friction is larger", n-moving)
	}
	if 2*against > n {
		c.say("force-sign", Fatal, "force", float64(against), "levels", "Count force and velocity positive in one direction.", "at %d of %d levels the force drives backward: the wrong sign of force or velocity", against, n)
	}
	if n > 0 && (forward == 0 || backward == 0) {
		c.say("one-direction", Warning, "", 0, "", "Measure both ways; otherwise fix the offset and use a law without direction.",
			"all levels move one way: a Coulomb force and a constant offset cannot be told apart")
	}
	if len(speeds) < 3 {
		c.say("one-speed", Warning, "", float64(len(speeds)), u, "Measure at several speeds, a decade apart at best.", "%d speeds: Coulomb and viscous friction cannot be told from a fall at slow speeds", len(speeds))
	}
}
