package axis

import (
	"math"
	"slices"
	"strings"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// Velocities vs that are tried for the dip of the curve of sliding, evenly in their logarithm, and the number of rows that this looks at.
const (
	dipTries = 12
	dipRows  = 2500
)

// dip is friction of sliding with its Stribeck dip, before any simulation: linear least squares on smoothed derivatives,
//
//	u = M·a + s2·v + Fc·sgn v + (Fs − Fc)·exp(−(v/vs)²)·sgn v + offset,
//
// for each of some vs, of which the best counts. It gives values by the names of parameters; nil: the law has no such curve, or the record
// does not tell it.
func (m *Model) dip() map[string]float64 {
	if !hasAnyParam(m.law, "vs") || !hasAnyParam(m.law, "Fs") || m.spec.Drive != Force && m.spec.Drive != Servo {
		return nil
	}
	if slices.ContainsFunc(m.spec.Terms, func(t string) bool { return t != "offset" && t != "viscous" }) {
		return nil
	}
	inertia, known := m.spec.Known[m.names.inertia]
	skip := max(1, m.samples()/dipRows)
	columns := make([][]float64, 5) // sgn v, the dip, v, 1, a
	var u, speed []float64
	for _, p := range m.pieces {
		for k := 0; k < p.n; k += skip {
			v, a, f := p.v[k], p.a[k], p.force[k]
			if math.Abs(v) < 0.02*m.roughSizes.v {
				continue
			}
			if known {
				f, a = f-inertia*a, 0
			}
			for j, x := range [...]float64{math.Copysign(1, v), 0, v, 1, a} {
				columns[j] = append(columns[j], x)
			}
			u, speed = append(u, f), append(speed, v)
		}
	}
	if known {
		columns = columns[:4]
	}
	if len(u) < 10*len(columns) {
		return nil
	}
	least, theta, vs := math.Inf(1), make([]float64, len(columns)), 0.0
	b := m.slides.box(m.spec.Rotary).vs
	f, now := numeric.NewFactor(len(columns)), make([]float64, len(columns))
	for i := range dipTries {
		try := b.at((float64(i) + 0.5) / dipTries)
		for k, v := range speed {
			r := v / try
			columns[1][k] = columns[0][k] * math.Exp(-r*r)
		}
		f.Reset()
		f.AddColumns(columns, u)
		if f.Solve(now) == nil && f.SumSquares() < least && now[0] > 0 && now[0]+now[1] > 0 && (known || now[4] > 0) {
			least, vs = f.SumSquares(), try
			copy(theta, now)
		}
	}
	if math.IsInf(least, 1) {
		return nil
	}
	if !known {
		inertia = theta[4]
	}
	fc, rise, s2 := theta[0], theta[1], theta[2]
	return map[string]float64{m.names.inertia: inertia, "Fc": fc, "Fs": fc + rise, "dFs": rise, "vs": vs, "offset": theta[3], "Fv": s2,
		dampedBy(m.spec.Law): s2}
}

// slidingBy puts the values of dip into the free parameters of theta, within their bounds.
func slidingBy(dip map[string]float64, free []fit.Param, theta []float64) {
	for j := range free {
		p := &free[j]
		if x, ok := dip[strings.TrimRight(p.Name, "+-")]; ok && !p.Fixed {
			theta[j] = min(max(x, p.Lo), p.Hi)
		}
	}
}
