package hil

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// What the controller makes of its samples, in their own time.

// estimate runs the filter and the recursive least squares in the samples' own time, then carries the estimate to now.
// b.Cmd still holds the command of the tick before: the voltage on its way to the motor.
func (c *Controller) estimate(r *Row, b *Blocks) {
	y := [2]float64{b.Meas[c.s.Position], c.current(b)}
	fresh := [2]bool{r.Fresh&(1<<c.s.Position) != 0, c.s.Current >= 0 && r.Fresh&(1<<max(0, c.s.Current)) != 0}
	u, age := b.Cmd[c.s.Drive], c.s.Delay
	if c.s.Age >= 0 {
		age += b.Meas[c.s.Age]
	}
	c.age = age
	n := c.at.advance(r.T-int64(age*1e9), fresh[0] || fresh[1], c.dt)
	if fresh[0] && numeric.Finite(y[0]) && (!c.primed || n > bridged*c.s.Every || c.recovering) {
		// after a gap in which the voltage may have been anything the filter's prediction would only shock it: position and
		// current are measured, the speed is the mean since the sample before; the next sample gives it well
		omega, cur := 0.0, 0.0
		if c.primed {
			omega = (y[0] - c.xs[ePos]) / (float64(n) * c.dt)
		}
		if fresh[1] && numeric.Finite(y[1]) {
			cur = y[1]
		}
		c.kf.Set(y[0], omega, cur)
		c.recovering, c.primed = !c.recovering, true
		c.xs[ePos], c.xs[eVel], c.xs[eCur] = y[0], omega, cur
		if c.rls != nil {
			c.rls.Gap()
		}
		n = 0
	}
	if n > 0 && c.primed {
		applied := u
		if c.s.Applied >= 0 && numeric.Finite(b.Meas[c.s.Applied]) {
			applied = b.Meas[c.s.Applied]
		}
		for range n - 1 {
			c.kf.Step(y, [2]bool{}, applied, c.xs[:]) // samples that never came: predict only
		}
		if c.kf.Step(y, fresh, applied, c.xs[:]) != engine.OK {
			r.Flags |= FlagEstimator
		}
		c.regress(r, b, y, n, fresh[0] && fresh[1])
	}
	copy(b.Est[:4], c.xs[:])
	if c.primed && age < float64(longestGap*c.s.Every)*c.dt {
		c.ahead.Step(b.Est[:4], u, max(0, age)) // a tick that woke late may have a sample from after its time
	}
}

// regress feeds the recursive least squares: one sample a sampling period; one or two lost ones are bridged by a straight line,
// which errs by less than a count.
func (c *Controller) regress(r *Row, b *Blocks, y [2]float64, n int, both bool) {
	if c.rls == nil {
		return
	}
	x := b.Est
	if m := (n + c.s.Every/2) / c.s.Every; both {
		for k := 1; k < m; k++ {
			w := float64(k) / float64(m)
			c.rls.Step(c.last[0]+w*(y[0]-c.last[0]), c.xs[eVel], c.last[1]+w*(y[1]-c.last[1]), true)
		}
	}
	c.rls.Step(y[0], c.xs[eVel], y[1], both)
	if both {
		c.last = y
	}
	if k := c.rls.Windows(); k != c.upd || k == 0 {
		c.upd = k
		c.rls.Values(x[eRLS : eRLS+4])
		c.rls.StdErrs(x[eRLS+4 : eRLS+8])
		x[eWin], x[eCond] = float64(k), c.rls.Cond()
	}
	if !c.rls.Excited() {
		r.Flags |= FlagUnexcited
	}
}

// sampleTime counts the ticks from one sample to the next by their times, which are exact to microseconds
// where the device has a clock and noisy where it has none.
type sampleTime struct {
	t   float64 // ns  time of the newest sample on the device's raster, as far as is known
	set bool
}

// advance takes the time of the newest sample (ns) and returns how many ticks lie between it and the one before; 0 when
// nothing is fresh. A fresh sample is at least one period younger, and a late one is not yet a lost one.
func (s *sampleTime) advance(at int64, fresh bool, dt float64) int {
	if !fresh {
		return 0
	}
	t, period := float64(at), dt*1e9
	if !s.set {
		s.t, s.set = t, true
		return 1
	}
	n := math.Max(1, math.Round((t-s.t)/period-0.25))
	s.t += n * period
	if d := t - s.t; math.Abs(d) > 5*period {
		s.t = t
	} else {
		s.t += 0.02 * d // the device's period is not exactly ours
	}
	return int(math.Min(n, 1<<30))
}
