//go:build !amd64 || noasm

package population

func steppers(p Path) stepper {
	if p == Portable {
		return stepPortable
	}
	return nil
}
