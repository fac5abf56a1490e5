package curve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// whitened are the numbers of all steps and the levels before the first, multiplied by the inverse of the root of their
// covariance, so that all have unit variance and none depends on another; and what is known of the lag beforehand.
type whitened struct {
	x    *stepFit
	n    int // parameters
	f, d []float64
}

func (m *whitened) at(theta, f, j []float64) engine.Status {
	x := m.x
	m.f, m.d = m.f[:0], m.d[:0]
	for _, s := range x.steps {
		y, d := x.predict(theta, s)
		for a, has := range s.available {
			if has {
				m.f, m.d = append(m.f, y[a]), append(m.d, d[a][:]...)
			}
		}
	}
	for _, p := range x.begins {
		y, d := x.level(theta, p.v)
		m.f, m.d = append(m.f, y), append(m.d, d[:]...)
	}
	places := [5]int{x.a, x.b, x.l, x.mu0, x.lagAt}
	for row := range m.f {
		w := x.whitening.RawRowView(row)
		f[row] = 0
		for c := range row + 1 {
			f[row] += w[c] * m.f[c]
			for q, place := range places {
				if j != nil && place >= 0 {
					j[row*m.n+place] += w[c] * m.d[5*c+q]
				}
			}
		}
	}
	last := len(m.f)
	f[last] = theta[places[4]] / x.lag[1]
	if j != nil {
		j[last*m.n+places[4]] = 1 / x.lag[1]
	}
	return engine.OK
}

// whiten makes the root of the covariance, with the scatter from step to step, and the numbers that belong to it. A plateau is
// the end of one step and the beginning of the next.
func (x *stepFit) whiten() []float64 {
	type number struct {
		value       float64
		variance    float64
		kind        int
		plateaus    [2]*plateau   // on whose fits it rests …
		derivatives [2][3]float64 // … and its derivatives by them
	}
	var list []number
	for _, s := range x.steps {
		for a, has := range s.available {
			if has {
				list = append(list, number{s.y[a], s.ownVariance[a], a, s.plateaus, [2][3]float64{s.derivatives[0][a], s.derivatives[1][a]}})
			}
		}
	}
	for _, p := range x.begins {
		list = append(list, number{p.f2, 1e-16 * p.f2 * p.f2, 3, [2]*plateau{p, nil}, [2][3]float64{{1}}})
	}
	n := len(list)
	c := mat.NewSymDense(n, nil)
	for i, a := range list {
		for k, b := range list[:i+1] {
			v := 0.0
			for u, p := range a.plateaus {
				for w, q := range b.plateaus {
					if p == q && p != nil {
						v += bilinear(a.derivatives[u], p.cov, b.derivatives[w])
					}
				}
			}
			if i == k {
				v += a.variance + x.tau[a.kind]*x.tau[a.kind]
			}
			if i != k && a.plateaus == b.plateaus && a.kind < 2 && b.kind < 2 { // both shift with the instant of the step
				v += math.Sqrt(x.jitter(a.plateaus[0]) * x.jitter(b.plateaus[0]))
			} else if i == k && a.kind < 2 {
				v += x.jitter(a.plateaus[0])
			}
			c.SetSym(i, k, v)
		}
	}
	// in units of the standard errors, which may be of very different size
	size := make([]float64, n)
	for i := range size {
		size[i] = math.Sqrt(c.At(i, i))
	}
	for i := range n {
		for k := range i {
			c.SetSym(i, k, c.At(i, k)/size[i]/size[k])
		}
		c.SetSym(i, i, 1+1e-8)
	}
	var ch mat.Cholesky
	inv := mat.NewTriDense(n, mat.Lower, nil)
	var l mat.TriDense
	if ch.Factorize(c) {
		ch.LTo(&l)
	}
	if l.IsEmpty() || inv.InverseTri(&l) != nil { // as if independent
		inv = mat.NewTriDense(n, mat.Lower, nil)
		for i := range n {
			inv.SetTri(i, i, 1)
		}
	}
	x.whitening = mat.NewDense(n, n, nil)
	y := make([]float64, n, n+1)
	for i := range n {
		for k := range i + 1 {
			x.whitening.Set(i, k, inv.At(i, k)/size[k])
			y[i] += x.whitening.At(i, k) * list[k].value
		}
	}
	return append(y, x.lag[0]/x.lag[1])
}

// jitter is the variance of fmax of a step that the motion knows to a sample only.
func (x *stepFit) jitter(p *plateau) float64 {
	fall := p.a * p.v * p.dt / p.l
	return fall * fall * p.unsure
}

// bilinear is aᵀ·c·b.
func bilinear(a [3]float64, c [3][3]float64, b [3]float64) (s float64) {
	for i := range a {
		for k := range b {
			s += a[i] * c[i][k] * b[k]
		}
	}
	return s
}

// regress solves for the parameters, with as much scatter from step to step as each of the four kinds of numbers needs.
func (x *stepFit) regress(ctx context.Context, params []fit.Param, watch fit.Watch) (*fit.Solution, error) {
	s := system{params: slices.Clone(params)}
	s.model = func() model { return &whitened{x: x, n: len(s.params)} }
	x.knowLag()
	own := len(params)
	if x.lagAt < 0 {
		far := 10*math.Abs(x.lag[0]) + 100*x.lag[1]
		x.lagAt = own
		s.params = append(s.params, fit.Param{Param: engine.Param{Name: "lag", Unit: "s", Lo: -far, Hi: far}})
	}
	x.start(s.params)
	var sol *fit.Solution
	for range 20 {
		s.y = x.whiten()
		s.w = slices.Repeat([]float64{1}, len(s.y))
		var err error
		if sol, err = s.solve(ctx, watch); err != nil {
			return nil, err
		}
		copy(s.params, sol.Params)
		if !x.scatter(fit.Values(s.params)) {
			break
		}
	}
	sol.NoiseKnown = true // by the residuals within the plateaus, and by tau
	if place := x.lagAt; place >= own {
		sol.Extra["lag"] = sol.Params[place].Value
		if cov, c := fit.Covariance(sol), slices.Index(sol.FreeParams, place); cov != nil {
			sol.Extra["lag_se"] = math.Sqrt(cov.At(c, c))
		}
		sol.Marginal(own)
	}
	sol.Quantity = "A·ln(v2/v1), B·ln(v2/v1), ln L and level of every step, and the lag of the force"
	return sol, nil
}

// knowLag gathers what the jumps of the force say of its lag: each that it is within half a sample of its own. Without them it
// is less than about a sample.
func (x *stepFit) knowLag() {
	var seen []float64
	dt := 0.0
	for _, s := range x.steps {
		dt = max(dt, s.plateaus[0].dt)
		if s.plateaus[0].jumpResolved {
			seen = append(seen, s.plateaus[0].lag)
		}
	}
	if seen == nil {
		x.lag = [2]float64{0, 0.6 * dt}
		return
	}
	x.lag = [2]float64{stat.Mean(seen, nil), dt / math.Sqrt(12)}
}

// start sets the free parameters to medians over the steps.
func (x *stepFit) start(params []fit.Param) {
	var a, b, l, m []float64
	for _, s := range x.steps {
		a, b = append(a, s.y[0]/s.r), append(b, s.y[1]/s.r)
		if s.available[2] {
			l = append(l, math.Exp(s.y[2]))
		}
		m = append(m, s.y[3])
	}
	for name, list := range map[string][]float64{"A": a, "B": b, "L": l, "mu0": m} {
		if i := fit.Index(params, name); i >= 0 && !params[i].Fixed && len(list) > 0 {
			params[i].Value = min(max(numeric.Median(list), params[i].Lo), params[i].Hi)
		}
	}
	if i := x.lagAt; !params[i].Fixed {
		params[i].Value = min(max(x.lag[0], params[i].Lo), params[i].Hi)
	}
}

// variance is that of a number of a step by itself.
func (x *stepFit) variance(s step, kind int) float64 {
	v := s.ownVariance[kind]
	for i, p := range s.plateaus {
		v += bilinear(s.derivatives[i][kind], p.cov, s.derivatives[i][kind])
	}
	if kind < 2 {
		v += x.jitter(s.plateaus[0])
	}
	return v
}

// scatter sets the scatter of every kind so that its squares sum up to the degrees of freedom (Mandel and Paule), and says
// whether that changed one. It is believed where chance would bring as much in one case of a hundred.
func (x *stepFit) scatter(theta []float64) (changed bool) {
	for kind := range 4 {
		var r, se []float64
		for _, s := range x.steps {
			if s.available[kind] {
				y, _ := x.predict(theta, s)
				r, se = append(r, s.y[kind]-y[kind]), append(se, math.Sqrt(x.variance(s, kind)))
			}
		}
		if len(r) < 3 {
			continue
		}
		was := x.tau[kind]
		x.tau[kind] = mandelPaule(r, se, float64(len(r)-1), was)
		changed = changed || math.Abs(x.tau[kind]-was) > 1e-3*x.tau[kind]
	}
	return changed
}

// judge says what the steps do not tell.
func (x *stepFit) judge(sol *fit.Solution, all []*plateau) {
	cov := fit.Covariance(sol)
	se := func(name string) float64 {
		c := slices.Index(sol.FreeParams, fit.Index(sol.Params, name))
		if c < 0 || cov == nil {
			return 0
		}
		return math.Sqrt(cov.At(c, c))
	}
	a, b := sol.Params[x.a], sol.Params[x.b]
	for i, p := range []fit.Param{a, b} {
		if !p.Fixed && p.Value < 2*se(p.Name) {
			sol.Unidentifiable = append(sol.Unidentifiable,
				fit.Indistinct{Names: []string{p.Name}, Reason: fmt.Sprintf("it is below the noise: %.2g ± %.2g", p.Value, se(p.Name)),
					Advice: []string{"Take 1e-4, the least a simulation needs, or repeat with larger ratios of speed, a stiffer machine and faster " +
						"sampling.", "Repeat with larger ratios of speed."}[i]})
		}
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, s := range x.steps {
		least, most = min(least, s.r), max(most, s.r)
	}
	if most-least < 0.1 {
		sol.Notes = append(sol.Notes, "all steps have one ratio of speeds: that friction follows its logarithm is taken for granted")
	}
	if cov != nil {
		i, k := slices.Index(sol.FreeParams, x.a), slices.Index(sol.FreeParams, x.b)
		if i >= 0 && k >= 0 {
			sol.Extra["A_minus_B"], sol.Extra["A_minus_B_se"] = a.Value-b.Value, math.Sqrt(max(0, cov.At(i, i)+cov.At(k, k)-2*cov.At(i, k)))
		}
	}
	short, skipped, steps := 0, 0, 0
	for _, p := range all {
		if !p.decays {
			continue
		}
		steps++
		if p.skip > 0 {
			skipped++
		}
		if p.l > 0 && p.slip[len(p.slip)-1] < 3*p.l {
			short++
		}
	}
	if short > 0 {
		sol.Notes = append(sol.Notes, fmt.Sprintf("%d of %d speeds are held for less than 3·L: their steady level is extrapolated", short, steps))
	}
	if skipped > 0 {
		sol.Notes = append(sol.Notes, fmt.Sprintf("after %d of %d steps the first samples do not follow the decay, as when the machine yields; "+
			"they are left out and fmax is extrapolated to the step", skipped, steps))
		if all[0].machine == 0 {
			sol.Notes = append(sol.Notes, "the stiffness of the machine is not given: A and B take up its yielding")
		}
	}
	var table []map[string]float64
	for _, s := range x.steps {
		row := map[string]float64{"ratio": math.Exp(s.r), "A": s.y[0] / s.r, "B": s.y[1] / s.r, "f2": s.y[3]}
		if s.available[2] {
			row["L"] = math.Exp(s.y[2])
		}
		table = append(table, row)
	}
	sol.Extra["steps"] = table
	sol.Extra["scatter_A_ln"], sol.Extra["scatter_B_ln"], sol.Extra["scatter_ln_L"], sol.Extra["scatter_f2"] = x.tau[0], x.tau[1], x.tau[2],
		x.tau[3]
}
