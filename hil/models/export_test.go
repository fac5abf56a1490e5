package models

// Taken is the number of sub-steps of the last step, as the model or as a probe.
func (m *Brush) Taken() int { return m.plan.lastSubsteps }
