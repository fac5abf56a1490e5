package fit

import (
	"math/rand/v2"
	"testing"
)

// A fit of six parameters to 10 000 rows, judged: covariances, robust ones, whiteness, cross-correlations.
func BenchmarkAssess(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := solved(rng, 10000, "M", "sigma0", "sigma1", "Fc", "Fs", "vs")
	s.Residual = series(rng, 10000, 0.7, nil)
	s.Input, s.Velocity = series(rng, 10000, 0.99, nil), series(rng, 10000, 0.99, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Assess(s); err != nil {
			b.Fatal(err)
		}
	}
}

// A generation of 30 members, the model costing next to nothing.
func BenchmarkGeneration(b *testing.B) {
	p := box(6, 10, -2, 3, rosenbrock)
	a := AEP{Workers: 1}.withDefaults()
	pop, err := a.populate(p)
	if err != nil {
		b.Fatal(err)
	}
	c := newCrew(p, 1, len(pop.individuals))
	pop.first(b.Context(), c)
	b.ReportAllocs()
	for b.Loop() {
		pop.generation(b.Context(), c, &a)
	}
}
