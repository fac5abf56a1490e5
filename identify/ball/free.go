package ball

import "slices"

// CheckFree tells what is wrong with the names of free parameters.
func CheckFree(names []string) error {
	_, err := choose(names, 3)
	return err
}

// IsFriction tells whether a parameter is a coefficient of friction.
func IsFriction(name string) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return t.name == name })
}

// IsMoment tells whether a parameter is a principal moment of inertia, which no body is without.
func IsMoment(name string) bool {
	return slices.Contains([]string{"Ixx", "Iyy", "Izz"}, name)
}
