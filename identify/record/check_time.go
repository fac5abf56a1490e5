package record

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// A column of time in another unit than it is taken for fits as well as the right one: speeds shrink or grow by the factor, and inertia
// by its square. What gives it away is what no axis does: a rate at which nobody records a motion; an inertia that takes part in the
// force of a motion whose swings take minutes; accelerations that no drive makes.
const (
	doubtfulRate = 0.1 // Hz  below, whatever moves
	possibleRate = 1e7 // Hz  above, nobody samples the motion of an axis
	// Hz  below, if the inertia takes part in the force: at 10 Hz and ten samples a swing, accelerations are (2π·1 Hz)² times the way
	slowRate    = 10.0
	shows       = 10.0 // standard errors, from which an inertia does
	slowMotion  = 0.01 // Hz  rms acceleration over 2π·rms speed, below, if the inertia is a good part of the force
	goodPart    = 0.1  // of the force, rms
	fastMotion  = 100  // Hz  … above; below, a position in another unit does the same
	briskMotion = 60   // Hz  … above, which is 1 Hz in minutes: possible, and worth a question
	hardest     = 1e5  // m/s²  10 000 g: no drive accelerates an axis so
	arm         = 0.01 // m  … at this radius, of what turns
)

// rate doubts the unit of time by the rate alone.
func (c *checker) rate() {
	dt := c.d.Dt
	switch {
	case c.o.Static:
	case dt > 1/doubtfulRate:
		c.addFinding("time-unit", Fatal, "time", 1/dt, "Hz", timeAdvice,
			"a sample every %.4g s, a rate of %.2g Hz: the times look like ms or µs that are taken for s", dt, 1/dt)
	case dt < 1/possibleRate:
		c.addFinding("time-unit", Fatal, "time", 1/dt, "Hz", timeAdvice,
			"a sample every %.4g s, a rate of %.2g Hz: the times look like s that are taken for ms or µs", dt, 1/dt)
	}
}

const timeAdvice = "Give the unit of the column of time: s, ms, us or min. If it is right, fix a number that you know and see whether " +
	"the rest agrees: the inertia, " +
	"or R and K of the motor; with a wrong unit of time the inertia is wrong by the square of the factor."

// pace doubts the unit of time by the inertia that the balance of the forces shows, and by how the rows of that move.
func (c *checker) pace(b *balance, rows *balanceRows, dt float64) {
	mass, se := b.mass()
	if !(dt <= 1/doubtfulRate && mass > shows*se && mass > 0) {
		return
	}
	unit := c.o.unit("kg")
	if dt > 1/slowRate {
		c.addFinding("time-unit", Fatal, "time", 1/dt, "Hz", timeAdvice,
			"a sample every %.4g s, and still an inertia shows, %.3g %s: are the times ms that are taken for s? It would be %.3g %s then", dt, mass,
			unit, mass*1e-6, unit)
		return
	}
	at := slices.Index(rows.names, "M")
	if at < 0 {
		return
	}
	acceleration := numeric.RMS(rows.cols[at])
	pace := acceleration / (2 * math.Pi * numeric.RMS(rows.v)) // Hz
	most := hardest
	if c.o.Rotary {
		most /= arm
	}
	switch {
	case pace < slowMotion && mass*acceleration > goodPart*numeric.RMS(rows.force):
		c.addFinding("time-unit", Fatal, "time", pace, "Hz", timeAdvice,
			"the motion swings at about %.2g Hz, and still its inertia, %.3g %s, is %.0f %% of the force: are the times ms or µs that are "+
				"taken for s? With ms it would be %.3g %s", pace, mass, unit, 100*mass*acceleration/numeric.RMS(rows.force), mass*1e-6, unit)
	case pace > fastMotion && acceleration > most:
		c.addFinding("time-unit", Fatal, "time", acceleration, c.o.unit("m/s²"), timeAdvice,
			"accelerations of %.2g %s, which no drive makes: are the times s that are taken for ms or µs? "+
				"The inertia, %.3g %s, would be %.3g %s", acceleration, c.o.unit("m/s²"), mass, unit, mass*1e6, unit)
	case pace > briskMotion:
		c.addFinding("time-unit", Warning, "time", pace, "Hz", timeAdvice,
			"the motion swings at about %.3g Hz, sampled at %.3g Hz: are the times minutes that are taken for s? "+
				"The inertia, %.3g %s, would be %.3g %s", pace, 1/dt, mass, unit, mass*3600, unit)
	}
}

// longestStep is the longest sampling interval of motions, s.
func longestStep(all []*motion) (dt float64) {
	for _, m := range all {
		dt = math.Max(dt, m.d.Dt)
	}
	return dt
}
