package population

// Path is an implementation of the step.
type Path uint8

const (
	Portable Path = iota // Go, everywhere
	AVX2                 // four lanes in a vector, with FMA
	AVX512               // eight
)

func (p Path) String() string {
	return [...]string{"portable", "avx2", "avx512", "unknown"}[min(p, AVX512+1)]
}

// Paths lists what this machine can run, slowest first.
func Paths() []Path {
	ps := []Path{Portable}
	for _, p := range []Path{AVX2, AVX512} {
		if stepperOf(p) != nil {
			ps = append(ps, p)
		}
	}
	return ps
}

// Fastest is the path taken unless another one is asked for.
func Fastest() Path {
	ps := Paths()
	return ps[len(ps)-1]
}
