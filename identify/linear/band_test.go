package linear

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/record"
)

// turning is a rotary axis along a sum of sines, with noise of position and force: written from the equation of motion alone.
func turning(seed uint64, noise float64) *record.Record {
	const j, fv, fc = 0.2, 2, 5
	r := rand.New(rand.NewPCG(seed, 31))
	d := &record.Record{Dt: 2e-3}
	for k := range 10000 {
		t := float64(k) * d.Dt
		x, v, a := 0.0, 0.0, 0.0
		for i, f := range []float64{0.15, 0.45, 0.75} {
			w, size := 2*math.Pi*f, []float64{0.8, 0.3, 0.15}[i]
			sin, cos := math.Sincos(w*t + float64(i))
			x, v, a = x+size*sin, v+size*w*cos, a-size*w*w*sin
		}
		d.Position = append(d.Position, x+noise*r.NormFloat64())
		d.Force = append(d.Force, j*a+fv*v+math.Copysign(fc, v)+0.1*r.NormFloat64())
	}
	return d
}

// Slow motion under noise of the position has its inertia in a narrow band: the cutoff that is found there does not draw it, the usual one does. A fine
// position keeps the usual one.
func TestCutoffFromRecord(t *testing.T) {
	spec := DefaultSpec()
	spec.Rotary, spec.Lag = true, LagFixed
	mean := map[float64]float64{}
	const seeds = 8
	for seed := range uint64(seeds) {
		for _, cutoff := range []float64{0, FromRecord} {
			spec.Cutoff = cutoff
			r, err := Fit([]*record.Record{turning(seed, 4e-5)}, spec, Direct, Options{})
			if err != nil {
				t.Fatal(err)
			}
			mean[cutoff] += r.Estimates[0].Value / 0.2 / seeds
			if cutoff == 0 && r.Spec.Cutoff != 100 || cutoff == FromRecord && r.Spec.Cutoff > 50 {
				t.Errorf("asked for a cutoff of %g, used %g Hz", cutoff, r.Spec.Cutoff)
			}
		}
	}
	if mean[0] > 0.99 || math.Abs(mean[FromRecord]-1) > 0.005 {
		t.Errorf("inertia over the true one: %.4f at the usual cutoff, %.4f at that of the record", mean[0], mean[FromRecord])
	}
	spec.Cutoff = FromRecord
	r, err := Fit([]*record.Record{turning(1, 1e-9)}, spec, Direct, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Spec.Cutoff != 100 {
		t.Errorf("a fine position has a cutoff of %g Hz", r.Spec.Cutoff)
	}
}
