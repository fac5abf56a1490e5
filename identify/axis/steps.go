package axis

import (
	"slices"

	"hilrig/identify/fit"
)

// Parts is the largest number of parts of a sampling interval in which the model moves, at the values of params, and the
// longest of them (s).
func (m *Model) Parts(params []fit.Param) (parts int, step float64, err error) {
	q, err := m.planOf(params)
	if err != nil {
		return 0, 0, err
	}
	for i, p := range m.pieces {
		parts, step = max(parts, q.parts[i]), max(step, p.dt/float64(q.parts[i]))
	}
	return parts, step, nil
}

// Finer is the model with n times as many parts of every sampling interval as it has at the values of params.
func (m *Model) Finer(params []fit.Param, n int) (*Model, error) {
	q, err := m.planOf(params)
	if err != nil {
		return nil, err
	}
	finer := *m
	finer.parts = slices.Clone(q.parts)
	for i := range finer.parts {
		finer.parts[i] *= n
	}
	return &finer, nil
}

// Hold is the model under a force that does h between its samples.
func (m *Model) Hold(h Hold) *Model {
	other := *m
	other.spec.Hold = h
	if m.led != nil {
		other.lead(m.led.mass, m.led.noise)
	}
	return &other
}
