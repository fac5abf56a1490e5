package axis

import "hilrig/engine/friction"

// twoSided is a smooth law whose levels and viscosity depend on the direction: two sets of parameters on one contact state.
// At v = 0 neither set moves the state, so the force is continuous where the direction changes.
type twoSided struct {
	friction.Model // forward
	back           friction.Model
	fore, aft      friction.Smooth
}

func newTwoSided(fore, back friction.Model) *twoSided {
	return &twoSided{Model: fore, back: back, fore: fore.(friction.Smooth), aft: back.(friction.Smooth)}
}

// Step is the step of the set for the direction of in.V.
func (l *twoSided) Step(z []float64, in friction.Input) float64 {
	if in.V < 0 {
		return l.back.Step(z, in)
	}
	return l.Model.Step(z, in)
}

// Trial is the trial of the set for the direction of in.V.
func (l *twoSided) Trial(s friction.Scheme, z, zn []float64, in friction.Input) (force, slope float64) {
	if in.V < 0 {
		return l.aft.Trial(s, z, zn, in)
	}
	return l.fore.Trial(s, z, zn, in)
}

// Steady is that of the set for the direction of v.
func (l *twoSided) Steady(v float64) float64 {
	if v < 0 {
		return l.back.Steady(v)
	}
	return l.Model.Steady(v)
}

// Stiffness bounds the slopes of both sets.
func (l *twoSided) Stiffness() friction.Stiffness {
	a, b := l.Model.Stiffness(), l.back.Stiffness()
	return friction.Stiffness{K: max(a.K, b.K), C: max(a.C, b.C), Fall: max(a.Fall, b.Fall), Speed: min(a.Speed, b.Speed)}
}

// Validate reports what is wrong with either set.
func (l *twoSided) Validate() error {
	if err := l.Model.Validate(); err != nil {
		return err
	}
	return l.back.Validate()
}
