package brush

import "math"

// FaceMu is the coefficient of friction between face and commutator at the temperature t (K), the current density j (A/m²) and
// the sliding speed v (m/s):
//
//	μ(T, J, v) = μ·(1 + aT·(T − T0))·(1 + aJ·(|J| − J0))·(1 + av·|v|), at least 0
//
// [SNB06] says that μ depends on temperature and current density, [SB06] measured that of such a contact; neither prints a
// curve. Factors linear about the reference, as in the brush law of package friction, are this program's own. μ holds at the
// reference and at rest.
func (p *Params) FaceMu(t, j, v float64) float64 {
	m := &p.Material
	k := max(0, 1+m.MuTemperature*(t-m.RefTemperature))
	k *= max(0, 1+m.MuCurrent*(math.Abs(j)-m.RefCurrentDensity))
	k *= max(0, 1+m.MuSpeed*math.Abs(v))
	return p.Contact.Face.Mu * k
}

// Restitution is a coefficient of restitution eps, stated for slow impacts, at the impact speed v (m/s): ε·(1 + aε·|v|), kept
// within 0 and 1. [SNB06] says that it depends on the speed; the linear form is this program's own.
func (p *Params) Restitution(eps, v float64) float64 {
	return max(0, min(1, eps*(1+p.Material.EpsSpeed*math.Abs(v))))
}

// StiffnessFactor is the factor of k_a and k_s at the temperature t (K), 1 + aT·(T − T0), at least a tenth so that a hot brush stays an
// elastic one.
func (p *Params) StiffnessFactor(t float64) float64 {
	return max(0.1, 1+p.Material.StiffnessTemperature*(t-p.Material.RefTemperature))
}
