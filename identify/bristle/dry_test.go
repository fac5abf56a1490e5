package bristle

import (
	"context"
	"math"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// A dry axis is told that there is no bristle, not that force and motion do not belong together.
func TestDryAxisHasNoBristle(t *testing.T) {
	a := independent.Axis{M: 2, Friction: independent.Friction{Fc: 3, Sigma2: 5}}
	at := func(seed uint64, count float64) *record.Record {
		s := independent.Sines(seed, []float64{0.06, 0.03, 0.015}, []float64{0.5, 1.3, 2.9})
		reference := func(t float64) float64 { return (s(t) - s(0)) * min(1, 3*t) }
		tr := a.Simulate(independent.Run{Dt: 1e-3, N: 2000, Sampled: independent.Cascade(40, 300, 0, 1e-3, reference)})
		return tr.Record(independent.Sensors{Count: count, Velocity: -1, Force: 0.04, Seed: seed}, nil)
	}
	refused := 0
	for seed := uint64(1); seed < 2; seed++ {
		rec := at(seed, []float64{1e-5, 5e-5}[seed])
		_, err := Kalman(context.Background(), []*record.Record{rec}, Params(false), Options{Workers: 1}, nil)
		if err == nil {
			continue
		}
		if refused++; !strings.Contains(err.Error(), "no bristle in this record") {
			t.Errorf("dry, seed %d: %v", seed, err)
		}
	}
	if refused == 0 {
		t.Error("no dry record is refused: the test shows nothing")
	}
}

// A bristle that bends between two samples is not put down to the sensor of position: the samples are too few.
func TestBristleBetweenSamples(t *testing.T) {
	a := independent.Axis{M: 2, Friction: independent.Friction{Fc: 3, Fs: 4, Vs: 0.01, Sigma0: 3e5, Sigma1: 500, Sigma2: 5}}
	s := independent.Sines(3, []float64{0.06, 0.03, 0.015}, []float64{0.5, 1.3, 2.9})
	reference := func(t float64) float64 { return (s(t) - s(0)) * min(1, 3*t) }
	tr := a.Simulate(independent.Run{Dt: 1e-3, N: 8000, Sampled: independent.Cascade(40, 300, 0, 1e-3, reference)})
	rec := tr.Record(independent.Sensors{Count: 1e-6, Velocity: -1, Force: 0.04, Seed: 3}, nil)
	every := func(x []float64) (out []float64) {
		for k := 0; k < len(x); k += 20 {
			out = append(out, x[k])
		}
		return out
	}
	rec.Dt, rec.Position, rec.Force = 0.02, every(rec.Position), every(rec.Force)
	sol, err := Kalman(context.Background(), []*record.Record{rec}, Params(false), Options{Workers: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range sol.Unidentifiable {
		if in.Names[0] == "sigma0" && strings.Contains(in.Reason, "from sample to sample") && strings.Contains(in.Advice, "sample faster") {
			return
		}
	}
	t.Errorf("at 50 Hz: %v", sol.Unidentifiable)
}

// A contact that breaks away within one count of the position is no bristle of the record; within three its stiffness and damping are not
// told; beyond, nothing is said. The same by the noise of the position, √12 of which make a count.
func TestBristleWithinACount(t *testing.T) {
	m, err := newModel(Params(false))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*data{{quantum: 1e-5}, {noise: 1e-5 / math.Sqrt(12)}} {
		for _, c := range []struct {
			reach float64
			want  string // "": nothing
		}{{0.9e-5, "no bristle in this record"}, {1.1e-5, "presliding is not represented"}, {2.9e-5, "presliding is not represented"},
			{3.1e-5, ""}} {
			for _, higher := range []int{coulomb, breakout} { // a break-away level below sliding friction bends the bristle less
				at := theta{sigma0: 1e6}
				at[coulomb], at[breakout] = 0.05*c.reach*1e6, 0.05*c.reach*1e6
				at[higher] = c.reach * 1e6
				s := &fit.Solution{}
				resolved(m, d, &at, s)
				said, absent := "", false
				for _, in := range s.Unidentifiable {
					said, absent = said+in.Reason, in.Absent
				}
				if (said == "") != (c.want == "") || !strings.Contains(said, c.want) || absent != (c.reach < 1e-5) {
					t.Errorf("count %g, breaks away after %g: %q, absent %v, want %q", max(d.quantum, d.noise), c.reach, said, absent, c.want)
				}
			}
		}
	}
}
