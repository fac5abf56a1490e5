package friction

import "slices"

// What only tests ask for.

// NewMuTable takes the axes, each with at least one number and rising, and the coefficients in the order of mu[v][t][j]: the
// current density runs fastest. The slices are copied.
func NewMuTable(v, t, j, mu []float64) (*MuTable, error) {
	m := &MuTable{slices.Clone(v), slices.Clone(t), slices.Clone(j), slices.Clone(mu)}
	return m, m.Validate()
}

// Law is the state-variable law of the material, with the coefficient mu0 at the speed v0 (m/s) and the normal load n0 (N).
func (m Material) Law(mu0, v0, n0 float64) StateVariable {
	return StateVariable{Mu0: mu0, V0: v0, A: m.A, B: m.B, L: m.L, N0: n0, Veps: 1e-9}
}
