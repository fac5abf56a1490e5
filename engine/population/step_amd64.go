//go:build amd64 && !noasm

package population

//go:generate go run ./gen

// The vector steps, for as many octets as the name says. n is the number of rows, stride as for a stepper.

//go:noescape
func stepAVX2x1(oct *octet, rows *row, n int, errs *float64, stride int)

//go:noescape
func stepAVX2x2(oct *octet, rows *row, n int, errs *float64, stride int)

//go:noescape
func stepAVX2x4(oct *octet, rows *row, n int, errs *float64, stride int)

//go:noescape
func stepAVX512x1(oct *octet, rows *row, n int, errs *float64, stride int)

//go:noescape
func stepAVX512x2(oct *octet, rows *row, n int, errs *float64, stride int)

//go:noescape
func stepAVX512x4(oct *octet, rows *row, n int, errs *float64, stride int)

//go:noescape
func stepAVX512x8(oct *octet, rows *row, n int, errs *float64, stride int)

// steppers is the stepper of a path, nil if the machine has none.
func steppers(p Path) stepper {
	switch {
	case p == Portable:
		return stepPortable
	case p == AVX2 && hasAVX2:
		return stepAVX2
	case p == AVX512 && hasAVX512:
		return stepAVX512
	}
	return nil
}

func stepAVX2(oct []octet, _ int, rows []row, errs []float64, stride int) {
	_ = errs[(len(rows)-1)*stride+8*len(oct)-1]
	for at := 0; at < len(oct); {
		o, r, e := &oct[at], &rows[0], &errs[8*at]
		switch left := len(oct) - at; {
		case left >= 4:
			stepAVX2x4(o, r, len(rows), e, stride)
			at += 4
		case left >= 2:
			stepAVX2x2(o, r, len(rows), e, stride)
			at += 2
		default:
			stepAVX2x1(o, r, len(rows), e, stride)
			at++
		}
	}
}

func stepAVX512(oct []octet, _ int, rows []row, errs []float64, stride int) {
	_ = errs[(len(rows)-1)*stride+8*len(oct)-1]
	for at := 0; at < len(oct); {
		o, r, e := &oct[at], &rows[0], &errs[8*at]
		switch left := len(oct) - at; {
		case left >= 8:
			stepAVX512x8(o, r, len(rows), e, stride)
			at += 8
		case left >= 4:
			stepAVX512x4(o, r, len(rows), e, stride)
			at += 4
		case left >= 2:
			stepAVX512x2(o, r, len(rows), e, stride)
			at += 2
		default:
			stepAVX512x1(o, r, len(rows), e, stride)
			at++
		}
	}
}
