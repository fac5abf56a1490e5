package drivetrain

import (
	"errors"
	"fmt"
	"math"
)

// Mesh is the loss of a gear that goes with the torque it carries. The power of A is greater than that of B by the factor
// 1/Efficiency while A drives, and smaller by BackEfficiency while B drives:
//
//	loss torque on A = |T_A|·c·tanh(v_A/Speed),   c = 1/Efficiency − 1 where the power flows from A to B, else 1 − BackEfficiency,
//
// T_A = T/Ratio the torque without loss [PSO02]. It opposes v_A, is continuous where the torque or the speed changes its sign, and
// zero there, so no side has to be chosen at zero power and nothing chatters. At rest the gear creeps under a torque instead of
// holding it. Losses without torque are those of a Bearing.
type Mesh struct {
	Efficiency float64 // 0 … 1, A drives
	// 0 … 1, B drives; 0 holds all torque of B (self-locking). NaN: 2 − 1/Efficiency, at least 0: the same loss both ways
	BackEfficiency float64
	Speed          float64 // rad/s  of A, at which the loss is 76 % developed
}

func (m *Mesh) check() error {
	if m == nil {
		return nil
	}
	var errs []error
	if !(m.Efficiency > 0 && m.Efficiency <= 1) {
		errs = append(errs, fmt.Errorf("efficiency: %g, want > 0 and ≤ 1", m.Efficiency))
	}
	if m.BackEfficiency < 0 || m.BackEfficiency > 1 {
		errs = append(errs, fmt.Errorf("back: efficiency %g, want 0 to 1", m.BackEfficiency))
	}
	return errors.Join(append(errs, atLeast("speed", m.Speed, "rad/s", true))...)
}

// share is c for the signs of torque and speed.
func (m *Mesh) share(torque, v float64) float64 {
	switch {
	case torque*v > 0:
		return 1/m.Efficiency - 1
	case math.IsNaN(m.BackEfficiency):
		return min(1, 1/m.Efficiency-1)
	}
	return 1 - m.BackEfficiency
}

// drag is the loss torque on A that opposes v, with its derivatives by the torque carried and by v.
func (m *Mesh) drag(torque, v float64) (f, dt, dv float64) {
	c := m.share(torque, v)
	s := math.Tanh(v / m.Speed)
	return math.Abs(torque) * c * s, math.Copysign(c*s, torque), math.Abs(torque) * c * (1 - s*s) / m.Speed
}

// lossPower is the power (W) that goes: that of one side by its efficiency.
func (m *Mesh) lossPower(torque, v float64) float64 {
	return m.share(torque, v) * math.Abs(torque*v*math.Tanh(v/m.Speed))
}
