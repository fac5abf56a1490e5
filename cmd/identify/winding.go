package identify

import (
	"math"

	"hilrig/configs"
	"hilrig/engine/plant"
	"hilrig/estimator"
	"hilrig/identify/record"
)

// meanCurrent takes the current of a motor, recorded as its force, to what a straight line between the samples has the same mean of:
// where the voltage is held, the current runs along an exponential. Between brushes of a small current it runs faster, for there the
// drop is most of the resistance.
func meanCurrent(recs []*record.Record, w *configs.Winding) {
	if w == nil {
		return
	}
	m := plant.Motor{R: w.R, L: w.L, K: w.K, BrushDrop: w.BrushDrop, DropScale: w.DropScale}
	for _, d := range recs {
		n := min(len(d.Force), len(d.Position))
		if n < 3 || !(d.Dt > 0) {
			continue
		}
		before := d.Force[0]
		for k := range n {
			last, next := before, d.Force[min(k+1, n-1)]
			before = d.Force[k]
			rise := (next - last) / float64(min(k+1, n-1)-max(k-1, 0))
			j := min(max(k, 1), n-2)
			acceleration := (d.Position[j+1] - 2*d.Position[j] + d.Position[j-1]) / (d.Dt * d.Dt)
			c, extra := estimator.HeldVoltage(m, d.Dt, slope(&m, last/m.K, next/m.K))
			d.Force[k] += (c-0.5)*rise + extra*acceleration
		}
	}
}

// slope is the mean one of the brush drop between two currents (V/A).
func slope(m *plant.Motor, a, b float64) float64 {
	if math.Abs(b-a) > 1e-3*m.DropScale {
		return (m.Drop(b) - m.Drop(a)) / (b - a)
	}
	if m.BrushDrop == 0 {
		return 0
	}
	cosh := math.Cosh((a + b) / 2 / m.DropScale)
	return m.BrushDrop / m.DropScale / (cosh * cosh)
}
