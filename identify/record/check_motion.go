package record

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// motion is the velocity of a piece, with what is noise in it.
type motion struct {
	d     *Record
	x     []float64 // position without jumps by a turn; nil if it was not recorded
	q     float64   // step of the position
	noise float64   // of the position, standard deviation

	v        []float64 // measured, or the slope of the position
	slope    bool      // v is the slope of the position
	topSpeed float64   // highest speed, 99.5 % quantile
	rest     float64   // slower than this cannot be told from rest
}

// newMotion finds the velocity; nil if neither position nor velocity changes.
func (c *checker) newMotion() *motion {
	d := c.d
	m := &motion{d: d}
	if len(d.Position) > 0 && numeric.Span(d.Position) > 0 {
		m.x = d.Position
		if c.o.Rotary && turns(m.x) > 0 {
			m.x = unwrap(m.x)
		}
		m.q, m.noise = numeric.EncoderStep(m.x), numeric.Noise(m.x)
	}
	vn := 0.0
	switch {
	case len(d.Velocity) > 0 && numeric.Span(d.Velocity) > 0:
		m.v = d.Velocity
		vn = max(numeric.EncoderStep(m.v), numeric.Noise(m.v))
	case len(d.Velocity) > 0 && m.x == nil && d.Velocity[0] != 0:
		m.v = d.Velocity // a plateau
	case m.x != nil:
		m.slope = true
		m.v, vn = m.derivative()
	default:
		return nil
	}
	m.topSpeed = numeric.QuantileOf(len(m.v), 0.995, func(k int) float64 { return math.Abs(m.v[k]) })
	m.rest = max(4*vn, 2e-3*m.topSpeed)
	return m
}

// unwrap takes jumps of whole turns out of an angle.
func unwrap(x []float64) []float64 {
	out := make([]float64, len(x))
	turn := 0.0
	for k := range x {
		if k > 0 {
			turn -= 2 * math.Pi * math.Round((x[k]-x[k-1])/(2*math.Pi))
		}
		out[k] = x[k] + turn
	}
	return out
}

// derivative takes the slope over as few samples as bring its noise below a hundredth of its size.
func (m *motion) derivative() (v []float64, noise float64) {
	n := len(m.x)
	most := max(min(n/20, 64), 1)
	for w := 1; ; w *= 2 {
		v = numeric.Slope(m.x, w, m.d.Dt)
		noise = m.noise * math.Sqrt2 / (2 * float64(w) * m.d.Dt)
		if 2*w > most || noise < 0.01*numeric.RMS(v) {
			return v, noise
		}
	}
}

// quantum compares the step of the position with the motion and with presliding.
func (c *checker) quantum(m *motion) {
	if m == nil || m.q == 0 {
		return
	}
	u := c.o.unit("m")
	span := numeric.Span(m.x)
	if steps := span / m.q; steps < 100 {
		advice := "Use a finer sensor or a larger motion."
		if c.o.SmallMotion {
			advice = "Use a finer sensor."
		}
		c.addFinding("resolution", Warning, "position", m.q, u, advice, "position counts in steps of %.3g %s: the whole motion is %.0f of them",
			m.q, u, steps)
		return
	}
	if c.o.Presliding > 0 {
		steps := c.o.Presliding / m.q
		switch {
		case steps < 3:
			c.addFinding("resolution", Warning, "position", steps, "steps",
				"Fix the bristle stiffness, or use a law without bristles: presliding is not in these data.",
				"presliding, %.3g %s, is %.2g steps of the position (%.3g %s): bristle stiffness and damping cannot be seen", c.o.Presliding, u, steps,
				m.q, u)
		case steps < 10:
			c.addFinding("resolution", Warning, "position", steps, "steps",
				"Expect wide intervals of the bristle parameters; a finer sensor narrows them.",
				"presliding, %.3g %s, is only %.2g steps of the position (%.3g %s)", c.o.Presliding, u, steps, m.q, u)
		}
		return
	}
	c.addFinding("resolution", Note, "position", m.q, u, "",
		"position counts in steps of %.3g %s: a law with bristles wants a presliding of ten steps at least, FS/σ0 > %.2g %s", m.q, u, 10*m.q, u)
}

// excitation judges the motion of all pieces together.
func (c *checker) excitation(all []*motion) {
	c.d = nil
	u := c.o.unit("m/s")
	if len(all) == 0 {
		if len(c.findings) == 0 || !slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Severity == Fatal }) {
			c.addFinding("motion", Fatal, "", 0, u, "Record a motion: position or velocity.",
				"nothing moves, or neither position nor velocity is recorded")
		}
		return
	}
	resting, forward, backward, samples, reversals := 0, 0, 0, 0, 0
	top, floor, up, down := 0.0, 0.0, 0.0, 0.0
	var speeds []float64
	for _, m := range all {
		top, floor = max(top, m.topSpeed), max(floor, m.rest)
	}
	for _, m := range all {
		side := 0.0
		for _, v := range m.v {
			samples++
			switch {
			case v > m.rest:
				forward, up = forward+1, max(up, v)
			case v < -m.rest:
				backward, down = backward+1, max(down, -v)
			default:
				resting++
			}
			// a reversal leads from a tenth of the highest speed of the piece to the other side's
			if math.Abs(v) > m.rest {
				speeds = append(speeds, math.Abs(v))
			}
			if math.Abs(v) > max(0.1*m.topSpeed, m.rest) {
				if v*side < 0 {
					reversals++
				}
				side = math.Copysign(1, v)
			}
		}
	}
	moving := forward + backward
	c.addFinding("motion", Note, "", top, u, "", "%d reversals, up to %.3g %s forward and %.3g backward, at rest %.0f %% of the time",
		reversals, up, u, down, 100*float64(resting)/float64(samples))
	if moving < 20 {
		advice := "Move further, or record with a finer sensor."
		if c.o.SmallMotion {
			advice = "Record with a finer sensor, or with more force below break-away."
		}
		c.addFinding("excitation", Fatal, "", float64(moving), "samples", advice, "only %d samples move faster than noise, %.3g %s", moving,
			floor, u)
		return
	}
	if c.o.SmallMotion { // it rests at its turns, and whether it goes both ways or at one speed is nothing to presliding
		return
	}
	// a mass that a spring draws sticks most of the time and moves one way: that is the experiment
	drawn := !slices.ContainsFunc(all, func(m *motion) bool { return len(m.d.Reference) == 0 || len(m.d.Force) > 0 })
	if share := float64(resting) / float64(samples); share > 0.8 && !drawn {
		c.addFinding("rest", Warning, "", share, "", "Leave the rests out, or move more of the time: at rest the force says only that friction "+
			"is larger.",
			"the axis rests %.0f %% of the time", 100*share)
	}
	if less := float64(min(forward, backward)) / float64(moving); less < 0.02 {
		severity := Warning
		if drawn {
			severity = Note
		}
		c.addFinding("one-direction", severity, "", less, "", "Move both ways; otherwise fix the offset and use a law without direction.",
			"%.1f %% of the motion is in one direction: a Coulomb force and a constant offset cannot be told apart", 100*(1-less))
	}
	slow, fast := numeric.QuantileInPlace(speeds, 0.05), numeric.QuantileInPlace(speeds, 0.95)
	if fast < 1.5*slow {
		c.addFinding("one-speed", Warning, "", fast/slow, "", "Move at several speeds, a decade apart at best.",
			"nine tenths of the motion lie between %.3g and %.3g %s: Coulomb and viscous friction cannot be told apart", slow, fast, u)
	}
}
