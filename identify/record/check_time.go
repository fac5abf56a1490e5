package record

import "math"

// A column of time in ms or µs that is taken for s fits as well as the right one: speeds shrink by the factor, and inertia grows by its square. Two
// things give it away: a rate at which nobody records a motion, and an inertia that shows at a rate where hardly any would.
const (
	doubtfulRate = 0.1  // Hz  below, whatever moves
	slowRate     = 10.0 // Hz  below, if the inertia takes part in the force: at 10 Hz and ten samples a swing, accelerations are (2π·1 Hz)² times the way
	shows        = 10.0 // standard errors, from which an inertia does
)

// rate doubts the unit of time by the rate alone.
func (c *checker) rate() {
	if dt := c.d.Dt; dt > 1/doubtfulRate && !c.o.Static {
		c.say("time-unit", Fatal, "time", 1/dt, "Hz", timeAdvice, "a sample every %.4g s, a rate of %.2g Hz: the times look like ms or µs that are taken for s", dt, 1/dt)
	}
}

const timeAdvice = "Give the unit of the column of time, ms or us. If it is s, fix a number that you know and see whether the rest agrees: the inertia, " +
	"or R and K of the motor; with a wrong unit of time the inertia is wrong by the square of the factor."

// pace doubts the unit of time by the inertia that the balance of the forces shows.
func (c *checker) pace(b *balance, dt float64) {
	mass, se := b.mass()
	if !(dt > 1/slowRate && dt <= 1/doubtfulRate && mass > shows*se && mass > 0) {
		return
	}
	unit := c.o.unit("kg")
	c.say("time-unit", Fatal, "time", 1/dt, "Hz", timeAdvice,
		"a sample every %.4g s, and still an inertia shows, %.3g %s: are the times ms that are taken for s? It would be %.3g %s then", dt, mass, unit, mass*1e-6, unit)
}

// longestStep is the longest sampling interval of motions, s.
func longestStep(all []*motion) (dt float64) {
	for _, m := range all {
		dt = math.Max(dt, m.d.Dt)
	}
	return dt
}
