//go:build !amd64 || noasm

package population

func stepperOf(p Path) stepper {
	if p == Portable {
		return stepPortable
	}
	return nil
}
