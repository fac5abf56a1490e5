package hil

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// faultCauses are the causes of what an axis finds wrong with itself.
var faultCauses = [...]Cause{axis.Fine: CauseNone, axis.Jump: CauseJump, axis.Noise: CauseEstimate, axis.Direction: CauseDirection,
	axis.Frozen:        CauseFrozen,
	axis.FrozenCurrent: CauseFrozenCurrent, axis.Blocked: CauseBlocked, axis.FrozenReading: CauseFrozenReading, axis.Disagree: CauseDisagree,
	axis.Scale: CauseScale, axis.Delay: CauseDelay,
	axis.Saturated: CauseSaturated}

// hinted are the causes that an axis leaves its limits for: a hint names what made it do so.
var hinted = [...]Cause{CauseSpeed, CauseTravel, CauseError, CauseResidual, CauseCurrent, CauseBlocked}

// reasonOf is a finding as a reason.
func (a *AxisGuard) reasonOf(f axis.Finding) reason {
	if f.Fault == axis.Fine {
		return reason{}
	}
	where := uint16(a.Measured[f.Quantity] + 1)
	if f.Fault == axis.Saturated {
		where = a.Command
	}
	return reason{faultCauses[f.Fault], where, f.Value, f.Limit}
}

// Watch looks at the motion of every axis in this tick. A violated bound trips an energised rig before the command leaves, and keeps
// another one from READY. Stale samples do not lift the limits: what the estimator predicts is held against them. (A current that is
// no number is the sensor's affair: see sensors.)
func (g *Guard) Watch(r *Row, states []axis.State, meas []float64) {
	bad := reason{}
	for i := range states {
		found := g.judge(r, &g.s.Axes[i], &states[i], meas)
		if on := g.notOff(r, i, &states[i], meas); on.cause != CauseNone {
			r.Flags |= FlagNotOff
			found = on
		}
		if bad.cause == CauseNone {
			bad = found
		}
	}
	if g.motion = bad; g.mode.Energised() && bad.cause != CauseNone {
		g.motion = reason{}
		g.move(onFault, bad)
	}
	for i := range states {
		g.updateHeat(r, i, states[i].Heating)
	}
	g.writeMode(r)
}

// judge is what is wrong with an axis.
func (g *Guard) judge(r *Row, a *AxisGuard, m *axis.State, meas []float64) reason {
	above := func(x, limit float64) bool { return limit > 0 && math.Abs(x) > limit }
	current, at := 0.0, a.Measured[estimator.Current]
	if at >= 0 {
		current = meas[at]
	}
	bad := reason{}
	switch {
	case m.Diverged || !numeric.IsFinite(m.Position) || !numeric.IsFinite(m.Speed) || !numeric.IsFinite(m.Error) ||
		!numeric.IsFinite(m.Residual):
		r.Flags |= FlagDiverged
		bad = reason{cause: CauseDiverged, signal: a.Speed}
	case m.Finding.Fault != axis.Fine:
		bad = a.reasonOf(m.Finding)
	case m.Unsound && (g.mode == SelfTest || g.mode == Ready || g.mode == Armed):
		bad = reason{cause: CauseEstimate, signal: a.Speed}
	case above(current, a.MaxCurrent):
		r.Flags |= FlagRange
		bad = reason{CauseCurrent, uint16(at + 1), numeric.OrZero(current), a.MaxCurrent}
	case above(m.Speed, a.MaxSpeed):
		bad = reason{CauseSpeed, a.Speed, m.Speed, a.MaxSpeed}
	case above(m.Measured, a.MaxSpeed):
		bad = reason{CauseSpeed, uint16(a.Measured[estimator.Velocity] + 1), m.Measured, a.MaxSpeed}
	case a.Travel[1] > a.Travel[0] && (m.Position < a.Travel[0] || m.Position > a.Travel[1]):
		edge := a.Travel[1]
		if m.Position < a.Travel[0] {
			edge = a.Travel[0]
		}
		bad = reason{CauseTravel, a.Position, m.Position, edge}
	case above(m.Error, a.MaxError):
		bad = reason{CauseError, a.Error, m.Error, a.MaxError}
	case above(m.Residual, a.MaxResidual):
		bad = reason{CauseResidual, a.Residual, m.Residual, a.MaxResidual}
	}
	switch {
	case bad.cause == CauseNone:
	case m.Finding.Fault >= axis.FrozenReading: // a reading that is wrong says more than one that is missing
	case g.mode == Hold && g.byFault:
		return g.reason // what made it blind is what made it leave its limits
	case m.Hint.Fault != axis.Fine && slices.Contains(hinted[:], bad.cause):
		return a.reasonOf(m.Hint)
	}
	return bad
}
