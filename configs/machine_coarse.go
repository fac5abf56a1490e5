package configs

import (
	"hilrig/configs/schema"
	"hilrig/engine/machine"
)

const (
	coarseSteps = 200
	coarseError = 0.01 // of the state, above which a step is too coarse
)

// checkStep warns of a fixed step of h (s) that a machine is too fast for, by its motion from the start of its file with the joints pushed
// off.
func (c *MachineRun) checkStep(r *schema.Report, at string, joints []string, h float64) {
	found, err := machine.MeasureCoarseness(func() (*machine.Stepper, []float64, error) { return c.Stepper(machine.StepOptions{}) }, joints,
		h, coarseSteps)
	switch {
	case err != nil: // said where it is built
	case found.Reason != "":
		r.KeyWarnf(at, "a trial of the machine by itself with steps of %s s fails after %s s: %s", schema.Short(h), schema.Short(found.T),
			found.Reason)
	case found.Error > coarseError:
		r.KeyWarnf(at, "steps of %s s are too coarse for this machine: by itself, pushed off from the start of its file, its %s is off by %.2g "+
			"of one plus its size within %s s, as half steps say. Take a faster rate: half the step has a quarter of the error", schema.Short(h),
			found.Signal, found.Error, schema.Short(found.T))
	}
}
