//go:build amd64 && !noasm

package population

import (
	"slices"

	"golang.org/x/sys/cpu"
)

//go:generate go test ./gen -update

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
	avx2 := cpu.X86.HasAVX2 && cpu.X86.HasFMA
	switch {
	case p == Portable:
		return stepPortable
	case p == AVX2 && avx2:
		return inOctets([]vectorStep{{16, 4, stepAVX2x4}, {8, 2, stepAVX2x2}, {0, 1, stepAVX2x1}})
	case p == AVX512 && avx2 && cpu.X86.HasAVX512F:
		// what fits into four vectors of AVX2 is left to these: their division is shorter
		return inOctets([]vectorStep{{48, 8, stepAVX512x8}, {16, 4, stepAVX512x4}, {8, 2, stepAVX2x2}, {0, 1, stepAVX2x1}})
	}
	return nil
}

// vectorStep advances so many octets, where more lanes than laneThreshold are left.
type vectorStep struct {
	laneThreshold, octets int
	step                  func(oct *octet, rows *row, n int, errs *float64, stride int)
}

// inOctets takes the first step that serves, again and again. Few octets take nearly as long as one, because a step waits for its
// exponential and its division: so three are better off with a fourth one that stands still than as two and one, and so on. Nanoseconds of
// a row on a Xeon of 2023:
//
//	octets     1    2    4    8
//	AVX2      28   33   60
//	AVX-512   32   36   47   93
func inOctets(steps []vectorStep) stepper {
	return func(oct []octet, n int, rows []row, errs []float64, stride int) {
		check(oct, n, rows, errs, stride)
		for at := 0; 8*at < n; {
			s := steps[slices.IndexFunc(steps, func(s vectorStep) bool { return n-8*at > s.laneThreshold })]
			s.step(&oct[at], &rows[0], len(rows), &errs[8*at], stride)
			at += s.octets
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
