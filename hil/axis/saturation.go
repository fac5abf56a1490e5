package axis

// saturation finds a controller whose command runs from one limit to the other: a gain far above what the loop bears, or noise that it
// amplifies. It heats and wears the drive while the axis hardly moves, and no limit of the motion sees it.
//
// Counted are the cycles of a saturated command, two turns from one limit to the other, per second, and the share of the time that it is at
// a limit. The wanted motion needs two turns for each change of the sign of its acceleration at most, since friction turns with the
// velocity and inertia with the acceleration: those are taken off. A fast reversal, a reference that asks for more than the drive has, and
// a long way at one limit are therefore no finding.
type saturation struct {
	maxCycle float64 // Hz  cycles that are borne; 0: not watched

	weight average // of a tick in the means
	side   int8    // of the limit at which the command was last
	wants  int8    // sign of the wanted acceleration
	cycle  float64 // Hz  slow mean of the cycles, less those that the wanted motion needs
	share  float64 // slow mean of the time at a limit
}

const (
	saturationTime  = 0.5 // s  over which turns and time at a limit are averaged
	saturationShare = 0.5 // of the time at a limit, above which cycles count
)

// step takes the side of the limit at which the command is (−1, 0, 1), the wanted acceleration, and the time dt (s) since the tick before.
func (s *saturation) step(on bool, side int8, acceleration, dt float64) Finding {
	if !on || s.maxCycle == 0 {
		*s = saturation{maxCycle: s.maxCycle}
		return Finding{}
	}
	fade := s.weight.weightFor(dt, saturationTime)
	s.share -= s.share * fade
	s.cycle -= s.cycle * fade
	if side != 0 {
		s.share += fade
		if side == -s.side {
			s.cycle += 0.5 / saturationTime
		}
		s.side = side
	}
	if sign := signOf(acceleration); sign != 0 {
		if sign == -s.wants {
			s.cycle -= 1 / saturationTime
		}
		s.wants = sign
	}
	if s.share > saturationShare && s.cycle > s.maxCycle {
		return Finding{Fault: Saturated, Value: s.cycle, Limit: s.maxCycle}
	}
	return Finding{}
}

func signOf(x float64) int8 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// Saturation takes the wanted command of this tick with the limits of its channel, and tells the state when it runs from one limit to the
// other.
func (a *Axis) Saturation(k Tick, wanted, lo, hi float64, m *State) {
	side := a.limited
	switch {
	case a.s.RefKind != OfPosition:
		return
	case wanted >= hi:
		side = 1
	case wanted <= lo:
		side = -1
	}
	if f := a.saturated.step(k.Energised && !a.checksSuspended, side, a.desiredMotion[2], a.elapsed(k)); f.Fault != Fine &&
		m.Finding.Fault == Fine {
		m.Finding = f
	}
}

// LimitCycle is how often (Hz) the command runs from limit to limit and back, beyond what the wanted motion needs, and 0 while it is at
// them for less than half of the time.
func (a *Axis) LimitCycle() float64 {
	if a.saturated.share <= saturationShare {
		return 0
	}
	return max(0, a.saturated.cycle)
}
