package daemon

import (
	"math"

	"hilrig/engine/friction"
)

// frictionMap are an inertia (kg·m²) and the numbers of a law under the names of the estimates beside which the page shows them. Coulomb
// friction is the mean of both directions, as a fit without directions sees it. An axis may have no law.
func frictionMap(law friction.Model, inertia float64) map[string]float64 {
	if law == nil {
		return map[string]float64{"J": inertia}
	}
	level := law.Levels()
	return map[string]float64{"J": inertia, "Fv": law.Viscous(1), "Fc": (level.Sliding.Forward + level.Sliding.Backward) / 2, "offset": level.Offset}
}

// steadyCurve is the steady friction (N·m) at speeds (rad/s) up to top, the largest of the axis, in both directions, rising; 0: it has no
// limit. The speeds are even in their logarithm, over seven decades: where a curve bends is the law's own affair.
func steadyCurve(law friction.Model, top float64) (points [][2]float64) {
	if law == nil {
		return nil
	}
	if top <= 0 {
		top = 1000
	}
	const decades, each = 7, 16
	for i := range decades*each + 1 {
		v := -top * math.Pow(10, -float64(i)/each)
		points = append(points, [2]float64{v, law.Steady(v)})
	}
	for i := range decades*each + 1 {
		v := -points[decades*each-i][0]
		points = append(points, [2]float64{v, law.Steady(v)})
	}
	return points
}
