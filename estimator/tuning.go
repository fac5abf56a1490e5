package estimator

import "hilrig/engine/plant"

// Tuning is what the filter of an axis knows of its motor: all that changes with it, as plain numbers. It is made beside the tick, and
// taken in by the filter at the edge of one: the belief of the filter, the times of its samples and the commands on their way go on.
type Tuning struct {
	electrical            electrical
	mechanical            mechanical
	limits                limits
	perAmpere, perCommand float64
	motor                 plant.Motor // of the least squares
}

// TuneElectrical makes the tuning of an axis with a voltage drive. The numbers are not checked: NewElectrical does. It reads nothing that a
// tick changes.
func (a *Axis) TuneElectrical(t *Tuning, k KalmanSpec) {
	k.Dt = a.fastestPeriod
	k.fill()
	t.electrical.set(&k)
	t.limits, t.motor = k.limits(), k.Motor
}

// TuneMechanical is the same for an axis of NewMechanical, with other efforts per ampere and per command.
func (a *Axis) TuneMechanical(t *Tuning, m MechanicalSpec, perAmpere, perCommand float64) {
	m.Dt = a.slowest()
	m.fill()
	t.mechanical.set(&m)
	t.limits = m.limits()
	t.limits.inputNoise = a.inputNoise(&m)
	t.perAmpere, t.perCommand = perAmpere, perCommand
	t.motor = plant.Motor{J: m.Inertia, K: 1}
	if a.input == Current {
		t.motor.K = perAmpere
	}
}

// Adopt goes on with another tuning. Least squares begin anew where the torque constant is another: what they summed up belongs to the old
// one.
func (a *Axis) Adopt(t *Tuning) {
	switch m := a.kf.model.(type) {
	case *electrical:
		*m = t.electrical
	case *mechanical:
		*m = t.mechanical
		a.s.PerAmpere, a.s.PerCommand = t.perAmpere, t.perCommand
	}
	a.kf.s = t.limits
	if a.rls == nil {
		return
	}
	if t.motor.K != a.rlsInput.motor.K {
		a.rls.Retune(t.motor.K)
		a.rlsInput = lessons{input: a.rlsInput.input, path: a.rlsInput.path}
	}
	a.rlsInput.motor = t.motor
}
