//go:build !amd64 || noasm

package population

func steppers(p Path) (stepper, sloper) {
	if p == Portable {
		return stepPortable, slopesPortable
	}
	return nil, nil
}
