package bristle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// odd are records of 3000 rows that no model here made, and good ones that were damaged.
func odd() map[string]*record.Record {
	const n = 3000
	out := map[string]*record.Record{}
	make_ := func(name string, x, u func(k int, r *rand.Rand) float64) {
		r := rand.New(rand.NewPCG(uint64(len(out)), 8))
		rec := &record.Record{Dt: 1e-3, Position: make([]float64, n), Force: make([]float64, n)}
		for k := range n {
			rec.Position[k], rec.Force[k] = x(k, r), u(k, r)
		}
		out[name] = rec
	}
	sine := func(a, f float64) func(int, *rand.Rand) float64 {
		return func(k int, _ *rand.Rand) float64 { return a * math.Sin(2*math.Pi*f*float64(k)/1000) }
	}
	white := func(a float64) func(int, *rand.Rand) float64 {
		return func(_ int, r *rand.Rand) float64 { return a * r.NormFloat64() }
	}
	walk := func(a float64) func(int, *rand.Rand) float64 {
		at := 0.0
		return func(_ int, r *rand.Rand) float64 { at += a * r.NormFloat64(); return at }
	}
	sum := func(f ...func(int, *rand.Rand) float64) func(int, *rand.Rand) float64 {
		return func(k int, r *rand.Rand) (s float64) {
			for _, g := range f {
				s += g(k, r)
			}
			return s
		}
	}
	make_("white noise", white(0.01), white(1))
	make_("random walks", walk(1e-4), walk(0.1))
	make_("walk and noise", walk(1e-4), white(1))
	make_("two sines", sine(0.01, 1.3), sine(1, 2.1))
	make_("sine and cosine", sine(0.01, 3), func(k int, _ *rand.Rand) float64 { return math.Cos(6 * math.Pi * float64(k) / 1000) })
	make_("sine in phase", sine(0.01, 3), sine(1, 3))
	make_("noisy sine, noisy force", sum(sine(0.01, 3), white(1e-4)), sum(sine(-1, 3), white(0.3)))
	make_("steps of force", sine(0.02, 0.7), func(k int, _ *rand.Rand) float64 { return float64(k/300%3 - 1) })
	make_("chirp", func(k int, _ *rand.Rand) float64 { s := float64(k) / 1000; return 0.01 * math.Sin(20*s*s) },
		func(k int, _ *rand.Rand) float64 { s := float64(k) / 1000; return math.Cos(20 * s * s) })
	make_("large numbers", sine(3e4, 1), sine(-1e7, 1.1))
	make_("small numbers", sine(3e-9, 1), sine(-1e-8, 1.1))

	damage := func(name string, from int, change func(rec *record.Record, r *rand.Rand)) {
		b := benches()[from]
		b.seconds = 2.999
		rec := b.draw(uint64(len(out)))
		change(rec, rand.New(rand.NewPCG(uint64(len(out)), 8)))
		out[name] = rec
	}
	for _, late := range []int{2, 8, 40, 300} {
		damage(fmt.Sprintf("force late by %d samples", late), 1, func(rec *record.Record, _ *rand.Rand) {
			rec.Force = append(slices.Repeat(rec.Force[:1], late), rec.Force[:n-late]...)
		})
	}
	damage("force shuffled", 1, func(rec *record.Record, r *rand.Rand) {
		r.Shuffle(n, func(i, j int) { rec.Force[i], rec.Force[j] = rec.Force[j], rec.Force[i] })
	})
	damage("position shuffled", 1, func(rec *record.Record, r *rand.Rand) {
		r.Shuffle(n, func(i, j int) { rec.Position[i], rec.Position[j] = rec.Position[j], rec.Position[i] })
	})
	damage("drop-outs", 1, func(rec *record.Record, r *rand.Rand) {
		for range 30 {
			rec.Force[r.IntN(n)] = 0
		}
	})
	damage("wild positions", 1, func(rec *record.Record, r *rand.Rand) {
		for range 30 {
			rec.Position[r.IntN(n)] += r.NormFloat64()
		}
	})
	damage("frozen position", 1, func(rec *record.Record, _ *rand.Rand) {
		for k := 1000; k < 1500; k++ {
			rec.Position[k] = rec.Position[1000]
		}
	})
	damage("clipped force", 1, func(rec *record.Record, _ *rand.Rand) {
		for k, u := range rec.Force {
			rec.Force[k] = min(max(u, -0.9), 0.9)
		}
	})
	damage("clipped position", 0, func(rec *record.Record, _ *rand.Rand) {
		for k, x := range rec.Position {
			rec.Position[k] = max(x, -0.002)
		}
	})
	damage("millimetres", 1, func(rec *record.Record, _ *rand.Rand) {
		for k := range rec.Position {
			rec.Position[k] *= 1000
		}
	})
	damage("ten times too slow", 1, func(rec *record.Record, _ *rand.Rand) { rec.Dt *= 10 })
	damage("ten times too fast", 2, func(rec *record.Record, _ *rand.Rand) { rec.Dt /= 10 })
	damage("force squared", 1, func(rec *record.Record, _ *rand.Rand) {
		for k, u := range rec.Force {
			rec.Force[k] = u * math.Abs(u)
		}
	})
	damage("every tenth sample", 2, func(rec *record.Record, _ *rand.Rand) {
		for k := range n {
			rec.Position[k] = rec.Position[k/10*10]
		}
	})
	damage("coarse", 1, func(rec *record.Record, _ *rand.Rand) {
		for k, x := range rec.Position {
			rec.Position[k] = 2e-4 * math.Round(x/2e-4)
		}
	})
	damage("half of the mass", 6, func(rec *record.Record, _ *rand.Rand) {
		for k := n / 2; k < n; k++ {
			rec.Force[k] *= 2
		}
	})
	damage("reversed", 4, func(rec *record.Record, _ *rand.Rand) { slices.Reverse(rec.Position); slices.Reverse(rec.Force) })
	damage("sound", 2, func(*record.Record, *rand.Rand) {})
	return out
}

// Records of any kind end in a result with finite numbers or in a refusal in words, and within a bounded number of sub-steps.
func TestOddRecords(t *testing.T) {
	records := odd()
	names := []string{}
	for name := range records {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if !soaking && i%15 > 0 {
			continue
		}
		begin := processor()
		s, err := Kalman(context.Background(), []*record.Record{records[name]}, Params(false), Options{Workers: 1}, nil)
		took := processor() - begin
		var data *record.Error
		switch {
		case err != nil && !errors.As(err, &data):
			t.Errorf("%s: %v, want an error about the record", name, err)
		case err != nil:
			t.Logf("%-24s %4.1f s refused: %v", name, took, data.Msg)
		default:
			if _, err := fit.Assess(s); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			t.Logf("%-24s %4.1f s %d runs, %v, %s", name, took, s.Evaluations, s.Extra["substeps"], s.Reason)
		}
	}
}

// processor is the time of the processor that this process has used, s.
func processor() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
