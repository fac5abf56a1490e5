package record_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/record"
)

// What a force fluctuates by below the bandwidth of its controller moves the axis: no filter lies between it and the record. The same
// fluctuation of a record whose axis did not feel it is noise behind a filter.
func TestForceOfController(t *testing.T) {
	const n, h, parts = 6000, 5e-3, 20
	recorded := func(acts bool) *record.Record {
		rng := rand.New(rand.NewPCG(4, 9))
		d := &record.Record{Dt: h, Position: make([]float64, n), Force: make([]float64, n)}
		x, v, noise := 0.0, 0.0, 0.0
		for k := range n {
			at := h * float64(k)
			d.Position[k] = x + 2e-5*rng.NormFloat64()
			r, dr := 2*math.Sin(2.5*at)+0.4*math.Sin(9*at), 5*math.Cos(2.5*at)+3.6*math.Cos(9*at)
			f := 0.03*(r-x) + 2e-3*(dr-v)
			noise += 0.35 * (6e-3*rng.NormFloat64() - noise)
			d.Force[k] = f + noise
			if acts {
				f += noise
			}
			for range parts {
				v += h / parts * (f - 0.012*math.Tanh(v/0.02)) / 8e-5
				x += h / parts * v
			}
		}
		return d
	}
	for _, acts := range []bool{false, true} {
		said := false
		for _, f := range record.Check([]*record.Record{recorded(acts)}, record.CheckOptions{Rotary: true}) {
			said = said || f.Kind == "filtered" && f.Channel == "force"
		}
		if said == acts {
			t.Errorf("it acts: %v, filtered: %v", acts, said)
		}
	}
}
