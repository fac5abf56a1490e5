package curve

import (
	"cmp"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"

	"gonum.org/v1/gonum/stat"
)

// StaticParams are parameters for a map of the given law with starts and bounds from the points: Fc, Fv, Fs and vs where
// the law has them, delta where it has one, and offset where both directions were measured; or, asymmetric, all levels per
// direction and no offset. The start is the recipe of theory §9.2: Fv from the fastest third, Fc its intercept, Fs the value
// at rest of the linear surrogate [MOGI] (6.19) or the largest force, vs where 1/e of the excess is left.
func StaticParams(points []Point, law string, asymmetric bool) []fit.Param {
	v, f, mid, both := folded(points)
	top, fast := slices.Max(f), v[len(v)-1]
	if !(top > 0) {
		top = 1
	}

	// straight line through the fastest third
	third := v[len(v)-min(max(2, len(v)/3), len(v)):]
	fc, fv := line(third, f[len(f)-len(third):])
	fv = min(max(fv, 0), 100*top/fast)
	fc = min(max(fc, 0.05*top), top)

	fs := max(slices.Max(f), fc)
	if len(v) > 2 {
		// the surrogate belongs to the slow part of the map
		s, _, err := friction.FitSurrogate(func(x float64) float64 { return numeric.Interpolate(v, f, x) }, v[0], v[len(v)*2/3], 50)
		if err == nil && s.Alpha1 > 0 && s.Alpha0 < 2*top {
			fs = max(fs, s.Alpha0)
		}
	}
	vs := v[len(v)/2]
	for k, x := range v {
		if f[k]-fc-fv*x <= (fs-fc)/math.E {
			vs = x
			break
		}
	}

	var params []fit.Param
	add := func(name, unit, doc string, value, lo, hi float64, log bool) {
		params = append(params, fit.Param{Param: engine.Param{Name: name, Unit: unit, Doc: doc, Value: value, Lo: lo, Hi: hi}, Log: log})
	}
	ends := []string{""}
	if asymmetric && both {
		ends = []string{"+", "-"}
	}
	damping := "Fv"
	if law == "" || law == "lugre" {
		damping = "sigma2"
	}
	for _, e := range ends {
		add("Fc"+e, "N", "Coulomb friction", fc, 0, 10*top, false)
		if !isFlat(law) {
			add("Fs"+e, "N", "break-away friction (total, not the increment)", fs, 0, 10*top, false)
		}
		if law != "coulomb" {
			add(damping+e, "N·s/m", "viscous friction", fv, 0, 100*top/fast, false)
		}
	}
	if !isFlat(law) {
		add("vs", "m/s", "Stribeck velocity", vs, v[0]/100, 100*fast, true)
		if law == "stribeck-bo-pavelescu" {
			add("delta", "", "exponent of the fall; 2: Gauss curve", 2, 0.3, 8, false)
		}
	}
	if !asymmetric && both {
		far := 10 * (top + math.Abs(mid))
		add("offset", "N", "constant force that opposes positive motion", mid, -far, far, false)
	}
	return params
}

// folded is friction over speed, sorted: the half difference of the directions where both were measured, else what
// there is, positive. mid is their mean half sum, the force that does not turn with the motion.
func folded(points []Point) (v, f []float64, mid float64, both bool) {
	var one [2][]Point
	for _, p := range points {
		switch {
		case p.V > 0:
			one[0] = append(one[0], p)
		case p.V < 0:
			one[1] = append(one[1], Point{V: -p.V, F: -p.F})
		}
	}
	for i := range one {
		slices.SortFunc(one[i], func(a, b Point) int { return cmp.Compare(a.V, b.V) })
	}
	both = len(one[0]) > 0 && len(one[1]) > 0
	main, other, sign := one[0], one[1], 1.0
	if len(other) > len(main) {
		main, other, sign = other, main, -1
	}
	var ov, of []float64
	for _, p := range other {
		ov, of = append(ov, p.V), append(of, p.F)
	}
	for _, p := range main {
		y := p.F
		if both {
			back := numeric.Interpolate(ov, of, p.V)
			mid += (y - back) / 2 / float64(len(main))
			y = (y + back) / 2
		}
		v, f = append(v, p.V), append(f, y)
	}
	return v, f, sign * mid, both
}

// line is the straight line through points, a + b·x; without extent in x it is level.
func line(x, y []float64) (a, b float64) {
	if a, b = stat.LinearRegression(x, y, nil, false); math.IsNaN(b) || math.IsInf(b, 0) {
		return stat.Mean(y, nil), 0
	}
	return a, b
}

// starts are sets of values to begin from, the given one first, then the best of a grid over vs, and delta if it is free:
// at each of its nodes the other parameters are linear and solved for.
func (m *staticMap) starts(params []fit.Param, y, w []float64) [][]float64 {
	given := fit.Values(params)
	list := [][]float64{given}
	free := func(i int) bool { return i >= 0 && !params[i].Fixed }
	vs := m.side[0].vs
	if m.flatCurve || !free(vs) && !free(m.side[1].vs) {
		if t, _ := m.linear(params, given, y, w); t != nil {
			list = append(list, t)
		}
		return list
	}
	slow, fast := m.speeds()
	deltas := []float64{value(given, m.delta, 2)}
	if free(m.delta) {
		deltas = []float64{0.5, 1, 2, 4}
	}
	type trial struct {
		theta []float64
		cost  float64
	}
	var trials []trial
	const nodes = 32
	for _, d := range deltas {
		for i := range nodes {
			t := slices.Clone(given)
			at := slow / 2 * math.Pow(2*fast/slow, float64(i)/(nodes-1))
			for _, k := range []int{vs, m.side[1].vs} {
				if free(k) {
					t[k] = min(max(at, params[k].Lo), params[k].Hi)
				}
			}
			if free(m.delta) {
				t[m.delta] = min(max(d, params[m.delta].Lo), params[m.delta].Hi)
			}
			if t, cost := m.linear(params, t, y, w); t != nil {
				trials = append(trials, trial{t, cost})
			}
		}
	}
	slices.SortStableFunc(trials, func(a, b trial) int { return cmp.Compare(a.cost, b.cost) })
	// the best, and the next that are not its neighbours
	for _, t := range trials {
		near := false
		for _, s := range list[1:] {
			near = near || math.Abs(math.Log(t.theta[max(vs, m.side[1].vs)]/s[max(vs, m.side[1].vs)])) < 0.5 &&
				(m.delta < 0 || t.theta[m.delta] == s[m.delta])
		}
		if !near && len(list) < 4 {
			list = append(list, t.theta)
		}
	}
	return list
}

// linear solves for the free parameters in which the map is linear, all but vs and delta, and keeps them in their bounds;
// cost is the weighted sum of squares there. A ridge of 1e-12 stands in for what the points cannot tell.
func (m *staticMap) linear(params []fit.Param, theta, y, w []float64) ([]float64, float64) {
	var cols []int
	for i, p := range params {
		if !p.Fixed && i != m.side[0].vs && i != m.side[1].vs && i != m.delta {
			cols = append(cols, i)
		}
	}
	n, c := len(y), len(cols)
	f, j := make([]float64, n), make([]float64, n*m.n)
	m.at(theta, f, j)
	theta = slices.Clone(theta)
	if c > 0 {
		a, length, x := numeric.NewFactor(c), make([]float64, c), make([]float64, c)
		for k := range n {
			for i, p := range cols {
				x[i] = j[k*m.n+p] * w[k]
				length[i] = math.Hypot(length[i], x[i])
			}
			a.Add(x, (y[k]-f[k])*w[k])
		}
		for i := range c {
			clear(x)
			x[i] = 1e-6 * length[i]
			if length[i] == 0 {
				x[i] = 1e-6
			}
			a.Add(x, 0)
		}
		_ = a.Solve(x) // which the ridge makes possible
		for i, p := range cols {
			theta[p] = min(max(theta[p]+x[i], params[p].Lo), params[p].Hi)
		}
		m.at(theta, f, nil)
	}
	cost := 0.0
	for k := range n {
		r := (y[k] - f[k]) * w[k]
		cost += r * r
	}
	if math.IsNaN(cost) {
		return nil, 0
	}
	return theta, cost
}
