package hil

import (
	"math"

	"hilrig/engine"
	"hilrig/estimator"
)

// What the controller makes of its samples.

// axis is the estimate of the configured axis: samples of one age come in one frame.
func (s *ControllerSpec) axis() (*estimator.Axis, error) {
	k := s.Kalman
	k.TopSpeed = s.Guard.MaxSpeed
	if s.Drive < len(s.Guard.Cmd) {
		k.TopVoltage = max(s.Guard.Cmd[s.Drive].Hi, -s.Guard.Cmd[s.Drive].Lo)
	}
	groups := []estimator.Group{{Every: s.Every, Of: []estimator.Quantity{estimator.Position}}}
	of := map[int]int{s.source(s.Position).Age: 0}
	for _, q := range []struct {
		at int
		of estimator.Quantity
	}{{s.Current, estimator.Current}, {s.Applied, estimator.Voltage}} {
		from := s.source(s.Position) // a quantity that is not measured is never fresh
		if q.at >= 0 {
			from = s.source(q.at)
		}
		g, ok := of[from.Age]
		if !ok {
			g, of[from.Age] = len(groups), len(groups)
			groups = append(groups, estimator.Group{Every: from.Every})
		}
		groups[g].Of = append(groups[g].Of, q.of)
	}
	return estimator.NewElectrical(k, estimator.AxisSpec{Tick: 1 / s.Rate, Groups: groups, RLS: s.RLS})
}

// estimate runs the filter and the recursive least squares. b.Cmd still holds the command of the tick before: the voltage on its way to
// the motor.
func (c *Controller) estimate(r *Row, b *Blocks) {
	c.guard.refused, c.came = Fresh{}, false
	refused := false
	sample := func(k, i int) (s estimator.Sample) { // without what the declaration calls impossible
		if s.Age = c.s.Delay; c.ages[k] >= 0 {
			s.Age += b.Meas[c.ages[k]]
		}
		if i < 0 {
			return s
		}
		came := IsFresh(&r.Fresh, i)
		s.Value, s.Fresh = b.Meas[i], came && !c.guard.outside(i, b.Meas[i])
		refused = refused || came != s.Fresh
		if came && !(math.Abs(s.Age) < estimator.Oldest) {
			SetFresh(&c.guard.refused, i)
		}
		return s
	}
	in := estimator.Inputs{Position: sample(0, c.s.Position), Current: sample(1, c.s.Current), Command: b.Cmd[c.s.Drive], Driven: c.before.Energised()}
	in.Voltage = sample(2, c.s.Applied)
	if c.est.Step(r.T, r.Skip, &in, b.Est) == engine.NonFinite {
		r.Flags |= FlagEstimator
	}

	// what became of the samples
	o := c.est.Outcome()
	c.age = c.est.Age()
	c.came = o.Taken[estimator.Position]
	for j, i := range [2]int{estimator.Position: c.s.Position, estimator.Current: c.s.Current} {
		if o.Taken[j] {
			c.taken[j] = b.Meas[i]
		} else if o.Refused[j] {
			SetFresh(&c.guard.refused, i)
		}
	}
	if refused || c.guard.refused != (Fresh{}) {
		r.Flags |= FlagRefused
	}
	if o.Jumped {
		r.Flags |= FlagJump
	}
	if o.Came {
		var x [4]float64
		c.est.State(x[:])
		c.stuck = c.stall.step(in.Driven, c.came, b.Meas[c.s.Position], c.s.Motor.K*x[eCur], x[eFric], o.Passed)
		if c.stuck.cause != CauseNone {
			c.stuck.where = uint16(c.s.Position + 1)
		}
		c.learnt(b.Est)
	}
	if l := c.est.RLS(); l != nil && !l.Excited() {
		r.Flags |= FlagUnexcited
	}
}

// learnt puts what the least squares found into the row.
func (c *Controller) learnt(est []float64) {
	l := c.est.RLS()
	if l == nil {
		return
	}
	if k := l.Windows(); k != c.upd || k == 0 {
		c.upd = k
		l.Values(est[eRLS : eRLS+4])
		l.StdErrs(est[eRLS+4 : eRLS+8])
		est[eWin], est[eCond] = float64(k), l.Cond()
	}
}

// noise is the verdict on the noise of the position.
func (c *Controller) noise() reason {
	times, sound := c.est.Noise()
	if sound {
		return reason{}
	}
	return reason{CauseEstimate, uint16(c.s.Position + 1), times, estimator.MaxNoise}
}
