package hil

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/estimator"
)

// What the controller makes of its samples, in their own time.

// bridged is the number of sampling periods that the recursive least squares bridge with the filter's model.
const bridged = 12

// estimate runs the filter and the recursive least squares in the samples' own time, then carries the estimate to now.
// b.Cmd still holds the command of the tick before: the voltage on its way to the motor.
func (c *Controller) estimate(r *Row, b *Blocks) {
	y := [2]float64{b.Meas[c.s.Position], c.current(b)}
	age := c.s.Delay
	if c.s.Age >= 0 {
		age += b.Meas[c.s.Age]
	}
	c.sent.add(b.Cmd[c.s.Drive], 1+r.Skip)

	// what came, without what the declaration or the clock calls impossible
	came := [2]bool{c.fresh(r, c.s.Position), c.fresh(r, c.s.Current)}
	known := math.Abs(age) < oldest
	c.guard.refused, c.came = 0, false
	good := [2]bool{came[0] && known && !c.guard.outside(c.s.Position, y[0]), came[1] && known && !c.guard.outside(c.s.Current, y[1])}
	if good[0] || good[1] {
		dt, lost := c.at.advance(r.T-int64(age*1e9), c.s.Every)
		if measured, ok := c.applied(b); !(dt > 0) {
			c.kf.Reset() // the clock of the samples jumped back
		} else if !c.before.Energised() {
			emf := c.emf(b)
			c.kf.Predict(dt, emf, math.Abs(emf))
		} else if ok && !lost {
			c.kf.Predict(dt, measured, 0) // the device's own word
		} else {
			doubt := 0.0
			if ok {
				doubt = c.sent.beyond(measured, age+dt)
			}
			c.sent.between(age+dt, age, c.s.Every, func(dt, u float64) { c.kf.Predict(dt, u, doubt) })
		}
		c.kf.SetTiming(math.Sqrt(c.at.off2) * 1e-9)
		taken, jumped := c.kf.Correct(y, good)
		c.came = taken[0]
		for j, i := range [2]int{c.s.Position, c.s.Current} {
			if taken[j] {
				c.taken[j] = y[j]
			} else if good[j] && numeric.Finite(y[j]) {
				c.guard.refused |= 1 << i
			}
		}
		if jumped {
			r.Flags |= FlagJump
		}
		var x [4]float64
		c.kf.State(x[:])
		c.regress(b, y, &x, age, dt, taken[0] && taken[1] && !jumped)
		c.stuck = c.stall.step(c.before.Energised(), taken[0], y[0], c.s.Motor.K*x[eCur], x[eFric], dt)
		if c.stuck.cause != CauseNone {
			c.stuck.where = uint16(c.s.Position + 1)
		}
	}
	if c.rls != nil && !c.rls.Excited() {
		r.Flags |= FlagUnexcited
	}
	if !known {
		c.guard.refused = r.Fresh
	}
	if came != good || c.guard.refused != 0 {
		r.Flags |= FlagRefused
	}
	c.age = age + c.kf.Unseen()
	c.kf.State(b.Est)
	if !c.kf.Primed() || !(age < longestGap*c.s.Every) {
		return
	}
	c.carry(b, b.Est[:4], age, 0)
}

// emf is the voltage (V) of a winding that nothing drives. It may be open, as it is with most drives, or shorted: then it is zero.
func (c *Controller) emf(b *Blocks) float64 { return c.s.Motor.K * b.Est[eVel] }

// applied is the voltage (V) that the device says it applied, if it says so.
func (c *Controller) applied(b *Blocks) (u float64, ok bool) {
	if c.s.Applied < 0 {
		return 0, false
	}
	return b.Meas[c.s.Applied], numeric.Finite(b.Meas[c.s.Applied])
}

// oldest is the age (s) beyond which the time of a sample is not believed; before the first frame, link.age is 1000 s.
const oldest = 100

// noise is the verdict on the noise of the position.
func (c *Controller) noise() reason {
	times, sound := c.kf.Noise()
	if sound {
		return reason{}
	}
	return reason{CauseEstimate, uint16(c.s.Position + 1), times, estimator.MaxNoise}
}

// fresh tells whether signal i brought a new sample; a signal that is not there (−1) never does.
func (c *Controller) fresh(r *Row, i int) bool { return i >= 0 && r.Fresh&(1<<i) != 0 }

// regress feeds the recursive least squares: one sample a sampling period, and what the filter's model says of the current between
// two. x is the state after the sample, age and dt are those of the sample (s).
func (c *Controller) regress(b *Blocks, y [2]float64, x *[4]float64, age, dt float64, both bool) {
	if c.rls == nil {
		return
	}
	c.missing += dt
	if both {
		current := x[eCur]
		if m := int(math.Round(c.missing / c.s.Every)); m < 1 || m > bridged {
			c.rls.Gap()
		} else {
			current = c.bridge(b, y, m, age)
		}
		c.learnt, c.learntAt, c.missing = y, *x, 0
		c.learntAt[eCur] = current
	}
	c.rls.Step(y[0], x[eVel], y[1], both)
	est := b.Est
	if k := c.rls.Windows(); k != c.upd || k == 0 {
		c.upd = k
		c.rls.Values(est[eRLS : eRLS+4])
		c.rls.StdErrs(est[eRLS+4 : eRLS+8])
		est[eWin], est[eCond] = float64(k), c.rls.Cond()
	}
}

// bridge carries the model from the sample before to y, m sampling periods on, and feeds the m − 1 samples that are missing between: the
// model's path, turned so that it ends in both. It returns the model's current (A) at the end, where the next path begins: one that began
// with the measured current would run off an offset of the sensor each time.
func (c *Controller) bridge(b *Blocks, y [2]float64, m int, age float64) float64 {
	var path [bridged + 1][4]float64
	period, from := c.missing/float64(m), age+c.missing
	path[0] = c.learntAt
	for k := 1; k <= m; k++ {
		path[k] = path[k-1]
		if u, ok := c.applied(b); ok && m == 1 && c.before.Energised() {
			c.kf.Ahead(path[k][:], period, u)
		} else {
			c.carry(b, path[k][:], from-period*float64(k-1), from-period*float64(k))
		}
	}
	at := func(k, j int, first, last float64) float64 {
		w := float64(k) / float64(m)
		return first + w*(last-first) + path[k][j] - path[0][j] - w*(path[m][j]-path[0][j])
	}
	for k := 1; k <= m; k++ {
		c.rls.Bow(estimator.Bow(c.s.Kalman.Motor, path[k-1][:], path[k][:], period))
		if k < m {
			c.rls.Step(at(k, ePos, c.learnt[0], y[0]), path[k][eVel], at(k, eCur, c.learnt[1], y[1]), true)
		}
	}
	return path[m][eCur]
}

// carry takes a state from one time to a later one, both in s ago, under the voltage that acted.
func (c *Controller) carry(b *Blocks, x []float64, from, to float64) {
	if !c.before.Energised() {
		c.kf.Ahead(x, from-to, c.emf(b))
	} else { // a tick that woke late may have a sample from after its time
		c.sent.between(from, to, c.s.Every, func(dt, u float64) { c.kf.Ahead(x, dt, u) })
	}
}

// commands are the voltages sent in the last ticks, as if each acted from its tick to the next.
type commands struct {
	u      [256]float64 // V  ring
	newest int
	tick   float64 // s
}

// add takes the command (V) that was held for so many ticks up to now.
func (c *commands) add(u float64, ticks uint32) {
	for range min(ticks, uint32(len(c.u))) {
		c.newest = (c.newest + 1) % len(c.u)
		c.u[c.newest] = u
	}
}

// mean of the commands from i to j ticks ago.
func (c *commands) mean(i, j int) float64 {
	sum := 0.0
	for l := i; l <= j; l++ {
		sum += c.u[(c.newest+len(c.u)-min(l, len(c.u)-1))%len(c.u)]
	}
	return sum / float64(j-i+1)
}

// between tells piece by piece which voltage acted, from one time to a later one, both in s ago. What changes more often than
// eight times a sampling period is averaged.
func (c *commands) between(from, to, period float64, piece func(dt, u float64)) {
	group := max(1, int(period/c.tick/8))
	for t := from; t > to; {
		i := min(max(0, int(math.Ceil(t/c.tick-1e-6))-1), len(c.u)) // ticks ago
		low := i - i%group
		end := max(to, float64(low)*c.tick)
		if low == 0 {
			end = to
		}
		piece(t-end, c.mean(low, i))
		t = end
	}
}

// beyond is how far a voltage lies outside those sent since (s ago): the commands did not arrive.
func (c *commands) beyond(u, since float64) (d float64) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range min(len(c.u), 2+int(since/c.tick)) {
		v := c.mean(i, i)
		lo, hi = min(lo, v), max(hi, v)
	}
	return max(0, lo-u, u-hi)
}

// sampleTime gives the intervals between samples. The device's raster is even, the times at which samples are known to have been
// taken are not: exact to microseconds where the device has a clock, noisy where it has none. So the raster follows them
// slowly, in phase and in period.
type sampleTime struct {
	t      float64 // ns  time of the newest sample on the device's raster
	period float64 // ns  of the raster; 0: no sample yet
	off2   float64 // ns² slow mean of the squared distance of a sample from the raster
}

// advance takes the time of a new sample (ns) and the nominal period (s). It returns the interval (s) since the sample before, a
// whole number of periods of the raster, and whether samples in between were lost. A sample is at least one period younger than
// the one before, and a late one is not yet a lost one. After a clock that jumped back the interval is negative.
func (s *sampleTime) advance(at int64, nominal float64) (dt float64, lost bool) {
	const pull = 0.02
	t := float64(at)
	if s.period == 0 {
		s.t, s.period = t, nominal*1e9
		return 0, false
	}
	n := max(1, math.Round((t-s.t)/s.period-0.25))
	dt = n * s.period
	s.t += dt
	d := t - s.t
	s.off2 += (min(d*d, 25*s.period*s.period) - s.off2) * pull / 2
	switch {
	case math.Abs(d) > 5*s.period:
		s.t, dt = t, dt+d
	default:
		s.t += pull * d
		s.period += pull * pull / 2 * d / n
		s.period = max(0.95*nominal*1e9, min(1.05*nominal*1e9, s.period)) // a bad oscillator is 3 % off
	}
	return dt * 1e-9, n > 1
}
