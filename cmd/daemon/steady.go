package daemon

import (
	"fmt"
	"math"
	"slices"

	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/hil/dashboard"
)

// pageAxis is what the page shows beside the estimates of an axis: its configured law, and on a virtual rig the truth. The page of the
// plant itself has only the truth.
func pageAxis(cfg *configs.Config, a *configs.Axis, plant bool) dashboard.Axis {
	law := a.Friction.Model
	out := dashboard.Axis{Name: a.Name, Model: frictionMap(law, inertia(a), a.MotorModel().J), Curve: steadyCurve(law, a.Guard.MaxSpeed)}
	if cfg.Mechanism != nil || swings(cfg) {
		out.Carries = "gravity and coupling"
	}
	switch {
	case plant:
		out.Model, out.Curve = trueFriction(cfg, a)
	case cfg.IsVirtual():
		out.Truth, out.TruthCurve = trueFriction(cfg, a)
	}
	return out
}

// trueFriction is the friction behind an axis of a virtual rig, with that of its brushes, as frictionMap and steadyCurve have it. Where
// axes are coupled or swing under gravity, inertia and constant part depend on the posture: there they have no true number.
func trueFriction(cfg *configs.Config, a *configs.Axis) (numbers map[string]float64, curve [][2]float64) {
	truth := cfg.Truth(a.Name)
	numbers, curve = frictionMap(truth.Friction, inertia(a), truth.Motor.J+truth.LoadJ), steadyCurve(truth.Friction, a.Guard.MaxSpeed)
	if swings(cfg) {
		delete(numbers, inertia(a))
		delete(numbers, "offset")
		return numbers, curve
	}
	brushes := cfg.BrushFriction()
	offset := truth.LoadTorque + truth.Motor.K*cfg.CurrentOffset(a.Name) // what a fit of the torque balance sees as offset
	numbers["Fc"] += brushes
	numbers["offset"] += offset
	for i := range curve {
		p := &curve[i]
		p[1] += math.Copysign(brushes, p[0]) + offset
	}
	return numbers, curve
}

// swings tells whether the axes of a virtual rig are coupled, or swing under gravity.
func swings(cfg *configs.Config) bool {
	if cfg.Virtual == nil {
		return false
	}
	k := plant.Find(string(cfg.Virtual.Plant.Kind))
	return k != nil && k.Posture
}

// axisSteadyCurve is the curve of a law with all its numbers, up to the speeds of an axis.
func axisSteadyCurve(cfg *configs.Config, axis, law string, values map[string]float64) ([][2]float64, error) {
	i := slices.IndexFunc(cfg.Axes, func(a configs.Axis) bool { return a.Name == axis })
	if i < 0 {
		return nil, fmt.Errorf("there is no axis %q", axis)
	}
	built, err := friction.Build(law, values)
	if err != nil {
		return nil, err
	}
	return steadyCurve(built, cfg.Axes[i].Guard.MaxSpeed), nil
}

// inertia is the name of the estimate of what an axis moves.
func inertia(a *configs.Axis) string {
	if a.Linear() {
		return "M"
	}
	return "J"
}

// frictionMap are an inertia and the numbers of a law under the names of the estimates beside which the page shows them. Coulomb friction
// is the mean of both directions, as a fit without directions sees it. An axis may have no law.
func frictionMap(law friction.Model, name string, inertia float64) map[string]float64 {
	if law == nil {
		return map[string]float64{name: inertia}
	}
	level := law.Levels()
	return map[string]float64{name: inertia, "Fv": law.Viscous(1), "Fc": (level.Sliding.Forward + level.Sliding.Backward) / 2,
		"offset": level.Offset}
}

// steadyCurve is the steady friction at speeds (SI of the axis) up to top, the largest of the axis, in both directions, rising; 0: it has
// no limit. The speeds are even in their logarithm, over seven decades: where a curve bends is the law's own affair.
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
		points = append(points, [2]float64{v, law.SteadyForce(v)})
	}
	for i := range decades*each + 1 {
		v := -points[decades*each-i][0]
		points = append(points, [2]float64{v, law.SteadyForce(v)})
	}
	return points
}
