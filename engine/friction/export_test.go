package friction

// What only tests ask for.

// Law is the state-variable law of the material, with the coefficient mu0 at the speed v0 (m/s) and the normal load n0 (N).
func (m Material) Law(mu0, v0, n0 float64) StateVariable {
	return StateVariable{Mu0: mu0, V0: v0, A: m.A, B: m.B, L: m.L, N0: n0, Veps: 1e-9}
}
