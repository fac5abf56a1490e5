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
func stepAVX512x4(oct *octet, rows *row, n int, errs *float64, stride int)

//go:noescape
func stepAVX512x8(oct *octet, rows *row, n int, errs *float64, stride int)

// stepperOf is the stepper of a path, nil if the machine has none.
func stepperOf(p Path) stepper {
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

// Few octets take nearly as long as one, because a step waits for its exponential and its division: so three are better off
// with a fourth one that stands still than as two and one, and so on. Nanoseconds of a row on a Xeon of 2023:
//
//	octets     1    2    4    8
//	AVX2      28   33   60
//	AVX-512   32   36   47   93

func stepAVX2(oct []octet, n int, rows []row, errs []float64, stride int) {
	check(oct, n, rows, errs, stride)
	for at := 0; 8*at < n; {
		o, r, e := &oct[at], &rows[0], &errs[8*at]
		switch left := n - 8*at; {
		case left > 16:
			stepAVX2x4(o, r, len(rows), e, stride)
			at += 4
		case left > 8:
			stepAVX2x2(o, r, len(rows), e, stride)
			at += 2
		default:
			stepAVX2x1(o, r, len(rows), e, stride)
			at++
		}
	}
}

// stepAVX512 leaves what fits into four vectors of AVX2 to these: their division is shorter.
func stepAVX512(oct []octet, n int, rows []row, errs []float64, stride int) {
	check(oct, n, rows, errs, stride)
	for at := 0; 8*at < n; {
		o, r, e := &oct[at], &rows[0], &errs[8*at]
		switch left := n - 8*at; {
		case left > 48:
			stepAVX512x8(o, r, len(rows), e, stride)
			at += 8
		case left > 16:
			stepAVX512x4(o, r, len(rows), e, stride)
			at += 4
		case left > 8:
			stepAVX2x2(o, r, len(rows), e, stride)
			at += 2
		default:
			stepAVX2x1(o, r, len(rows), e, stride)
			at++
		}
	}
}

// check panics before a vector step could leave its slices.
func check(oct []octet, n int, rows []row, errs []float64, stride int) {
	taken := 8
	for taken < n {
		taken *= 2
	}
	_, _, _ = oct[taken/8-1], rows[0], errs[(len(rows)-1)*stride+taken-1]
}
