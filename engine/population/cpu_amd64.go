//go:build amd64 && !noasm

package population

func cpuid(leaf, sub uint32) (a, b, c, d uint32)

// xgetbv is the low half of XCR0: which registers the operating system saves. Only where cpuid has said OSXSAVE.
func xgetbv() (a uint32)

// What processor and operating system together offer: AVX2 with FMA, and the foundation of AVX-512.
var hasAVX2, hasAVX512 = func() (avx2, avx512 bool) {
	const (
		fma, osxsave, avx = 1 << 12, 1 << 27, 1 << 28 // leaf 1, c
		bitAVX2, bit512F  = 1 << 5, 1 << 16           // leaf 7, b
		saveY, saveZ      = 0x6, 0xe6                 // XCR0: X and Y; these, the masks and Z
	)
	if top, _, _, _ := cpuid(0, 0); top < 7 {
		return
	}
	_, _, c, _ := cpuid(1, 0)
	if c&(fma|osxsave|avx) != fma|osxsave|avx {
		return
	}
	_, b, _, _ := cpuid(7, 0)
	saved := xgetbv()
	avx2 = b&bitAVX2 != 0 && saved&saveY == saveY
	return avx2, avx2 && b&bit512F != 0 && saved&saveZ == saveZ
}()
