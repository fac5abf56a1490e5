package exportmodel

import "math"

// Mass is that of the body (kg); of a rotary axis, where it is not identified, a number to be replaced.
func (f *file) Mass() float64 {
	if f.Rotary {
		return 1
	}
	return f.Inertia
}

// Around is the inertia of the body about the axis (kg·m²); of a linear one a number to be replaced.
func (f *file) Around() float64 {
	if f.Rotary {
		return f.Inertia
	}
	return 1e-3 * f.Inertia
}

// Timestep is a step (s) that resolves the swing of the mass on the bristle with about sixty steps and its decay with ten, at most
// 1 ms: 1, 2 or 5 times a power of ten.
func (f *file) Timestep() float64 {
	h := 1e-3
	if b := f.Contact.Bristle; b != nil {
		h = min(h, 0.1*math.Sqrt(f.Inertia/b.Sigma0), 0.1*f.Inertia/(b.Sigma1+f.Contact.Fore.Fv))
	}
	ten := math.Pow(10, math.Floor(math.Log10(h)+1e-9))
	for _, k := range []float64{5, 2} {
		if k*ten <= h {
			return k * ten
		}
	}
	return ten
}
