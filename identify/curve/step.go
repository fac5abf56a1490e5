package curve

import (
	"cmp"
	"context"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"
)

// plateau is a stretch of constant speed after a step of velocity, with the fit of the coefficient of friction on it,
//
//	f(δ) = f2 + a·exp(−δ/L)   [MOGI] (6.40),   δ = v·(t − t0) − (F − F1)/k
//
// with δ the slip since the step at t0 and a = fmax − f2, extrapolated to t0: the machine delays the peak. F1 is the force
// before the step and k the stiffness of the machine, infinite where it is not known.
type plateau struct {
	v            float64 // m/s, > 0
	start, stop  int     // samples of this speed, and with …
	forceDelay   int     // … this many more those of its force
	t0           float64 // samples, where the step was as the motion says; and the force, once lag is known
	unsure       float64 // samples², variance of t0
	lag          float64 // s, of the force by its jump
	dt           float64 // s
	rho          float64 // how the noise depends on its own past
	jumpResolved bool    // the jump of the force lies between two samples
	f            []float64
	slip         []float64 // m
	endSlip      float64   // m, slip at the next step
	machine      float64   // 1/m, stiffness of the machine over the load; 0: rigid
	skip         int       // samples left out after the step

	f2, a, l float64 // fitted; a = 0: level
	cov      [3][3]float64
	resolved bool // the decay is seen, so l means something
	decays   bool // a step is before it
}

// end is the fitted f at slip δ, and its derivatives with respect to f2, a, L.
func (p *plateau) end(slip float64) (f float64, g [3]float64) {
	if p.a == 0 || p.l == 0 {
		return p.f2, [3]float64{1, 0, 0}
	}
	e := math.Exp(-slip / p.l)
	return p.f2 + p.a*e, [3]float64{1, e, p.a * e * slip / (p.l * p.l)}
}

// residuals are the residuals of the fit, of the samples after skip.
func (p *plateau) residuals() []float64 {
	r := slices.Clone(p.f[p.skip:])
	for k := range r {
		f, _ := p.end(p.slip[p.skip+k])
		r[k] -= f
	}
	return r
}

// decay is the model of one plateau: parameters f2, a, L.
type decay struct{ slip []float64 }

func (d *decay) at(theta, f, j []float64) engine.Status {
	a, l := theta[1], theta[2]
	for k, x := range d.slip {
		e := math.Exp(-x / l)
		f[k] = theta[0] + a*e
		if j != nil {
			j[3*k], j[3*k+1], j[3*k+2] = 1, e, a*e*x/(l*l)
		}
	}
	return engine.OK
}

// plateausOf cuts a record of imposed speed into stretches of constant speed and fills in coefficient and slip. v is
// positive. Stretches shorter than minPlateau samples belong to the transition between their neighbours.
func plateausOf(v []float64) []*plateau {
	const window = 4
	noise := jitter(v)
	near := func(a, m float64) bool { return math.Abs(a-m) <= max(0.03*m, 5*noise) }
	var list []*plateau
	for k := 0; k+window <= len(v); {
		m := stat.Mean(v[k:k+window], nil)
		if !(m > 0) || slices.ContainsFunc(v[k:k+window], func(a float64) bool { return !near(a, m) }) {
			k++
			continue
		}
		// grow until three samples in a row are off
		sum, n, end, off := m*window, float64(window), k+window, 0
		for i := end; i < len(v) && off < 3; i++ {
			if near(v[i], sum/n) {
				sum, n, end, off = sum+v[i], n+1, i+1, 0
			} else {
				off++
			}
		}
		if end-k >= minPlateau {
			list = append(list, &plateau{v: sum / n, start: k, stop: end})
			k = end
		} else {
			k++
		}
	}
	return list
}

// instant is where the velocity stepped between two plateaus, in samples: where the straight lines of the position meet;
// without a position half a sample before the first of the new speed, or, when samples lie between, the point that keeps the
// way; unsure is then the variance of anywhere within a sample.
func instant(d *record.Record, v []float64, a, b *plateau) (t, unsure float64) {
	lo, hi := float64(a.stop-1), float64(b.start)
	if len(d.Position) > 0 {
		n := min(a.stop-a.start, 200)
		m := min(b.stop-b.start, 200)
		x0, s0 := line(ramp(a.stop-n, a.stop), d.Position[a.stop-n:a.stop])
		x1, s1 := line(ramp(b.start, b.start+m), d.Position[b.start:b.start+m])
		if s0 != s1 {
			if t := (x0 - x1) / (s1 - s0); t > lo-0.5 && t < hi+0.5 {
				return min(max(t, lo), hi), 0
			}
		}
	}
	if b.start == a.stop {
		return hi - 0.5, 1. / 12
	}
	way := 0.0
	for k := a.stop; k <= b.start; k++ {
		way += (v[k] + v[k-1]) / 2
	}
	return min(max((b.v*hi-a.v*lo-way)/(b.v-a.v), lo), hi), 1. / 12
}

// jump looks for the sample at which the force f jumps at the step to b: one change that stands out, with the sign that a step
// of velocity gives it. A machine that yields spreads the jump over several samples; then there is none.
func jump(f []float64, a, b *plateau, noise float64) (late int, seen bool) {
	const reach = 3
	if b.start != a.stop || b.start < reach+1 || b.start+reach >= len(f) {
		return 0, false
	}
	sign := math.Copysign(1, b.v-a.v)
	most, second := 0.0, 5*math.Sqrt2*noise/3
	for k := -reach; k <= reach; k++ {
		c := sign * (f[b.start+k] - f[b.start+k-1])
		if c > most {
			second, most, late = max(second, most), c, k
		} else {
			second = max(second, c)
		}
	}
	return late, most > 3*second
}

func ramp(from, to int) []float64 {
	t := make([]float64, to-from)
	for k := range t {
		t[k] = float64(from + k)
	}
	return t
}

// fit fits the decay. A plateau without a step before it is its mean or, when its halves differ, a decay from its first
// sample.
func (p *plateau) fit(ctx context.Context, rho float64) {
	p.rho, p.a, p.l, p.skip = rho, 0, 0, 0
	if !p.decays {
		n := len(p.f)
		m, se := meanError(p.f)
		a, sa := meanError(p.f[:n/2])
		b, sb := meanError(p.f[n/2:])
		if se = max(se, math.Sqrt(stat.MomentAbout(2, p.f, m, nil)*(1+rho)/(1-rho)/float64(n))); math.Abs(a-b) <= 5*math.Hypot(sa,
			sb)+1e-9*math.Abs(m) {
			p.f2, p.cov[0][0] = m, se*se
			return
		}
	}
	for p.skip = 0; ; {
		p.exponential(ctx, 0)
		// samples after the step that the decay does not explain are those of the machine
		n := len(p.f) - p.skip
		w := max(2, min(n/50, 20))
		if p.skip+w > len(p.f)/2 {
			return
		}
		r := p.residuals()
		if math.Abs(stat.Mean(r[:w], nil)) <= 3.5*numeric.RMS(r[w:])/math.Sqrt(float64(w))+1e-9*math.Abs(p.a) {
			return
		}
		p.skip += w
	}
}

// exponential fits f2, a and L, or with given L > 0 the first two, to the samples after skip.
func (p *plateau) exponential(ctx context.Context, given float64) {
	slip, f := p.slip[p.skip:], p.f[p.skip:]
	n := len(f)
	top := slip[n-1]
	// L by a grid, the rest linear
	const nodes = 40
	least, best := math.Inf(1), cmp.Or(given, top/4)
	for i := 0; i < nodes && given == 0; i++ {
		l := top / 1000 * math.Pow(3000, float64(i)/float64(nodes-1))
		if _, _, cost := p.linear(slip, f, l); cost < least {
			least, best = cost, l
		}
	}
	f2, a, _ := p.linear(slip, f, best)
	span := 0.0
	for _, y := range f {
		span = max(span, math.Abs(y-f2))
	}
	s := system{y: f, w: slices.Repeat([]float64{1}, n), model: func() model { return &decay{slip} }, series: []series{{0, n, p.rho}}}
	wide := 1e3*span + 1e-6*math.Abs(f2) + 1e-300
	s.params = []fit.Param{
		{Param: engine.Param{Name: "f2", Value: f2, Lo: f2 - wide, Hi: f2 + wide}},
		{Param: engine.Param{Name: "a", Value: min(max(a, -wide), wide), Lo: -wide, Hi: wide}},
		{Param: engine.Param{Name: "L", Value: best, Lo: top / 1e5, Hi: top * 20, Fixed: given > 0}, Log: true},
	}
	if given > 0 {
		s.params[2].Lo, s.params[2].Hi = given/2, given*2
	}
	p.f2, p.a, p.l, p.resolved = f2, a, best, false
	p.cov = [3][3]float64{}
	sol, err := s.solve(ctx, nil)
	if err != nil {
		return
	}
	v := fit.Values(sol.Params)
	p.f2, p.a, p.l = v[0], v[1], v[2]
	cov := fit.Covariance(sol)
	if cov == nil {
		p.cov[0][0], p.cov[1][1] = wide*wide, wide*wide
		return
	}
	many := 1.0 // samples that count as one
	if g0 := autocovariance(sol.Residual, 0, 0); g0 > 1e-24*p.a*p.a {
		many = inefficiencyOf(sol.Residual, 0, g0)
	}
	for i := range sol.FreeParams {
		for j := range sol.FreeParams {
			p.cov[i][j] = cov.At(i, j) * many
		}
	}
	inside := p.l > top/900 && p.l < top*2
	p.resolved = given == 0 && inside && math.Abs(p.a) > 4*math.Sqrt(p.cov[1][1]) && p.l > 2*math.Sqrt(p.cov[2][2])
}

// linear solves for f2 and a at a given L.
func (p *plateau) linear(slip, f []float64, l float64) (f2, a, cost float64) {
	e := make([]float64, len(slip))
	for k, x := range slip {
		e[k] = math.Exp(-x / l)
	}
	f2, a = line(e, f)
	for k := range f {
		r := f[k] - f2 - a*e[k]
		cost += r * r
	}
	return f2, a, cost
}

// yielding is what a machine of stiffness k between the imposed velocity and the contact does to the numbers of a step, to
// first order in 1/κ, κ = k·L/N [derived here]. The contact slips at v = v2·e^x with df/dδ = (k/N)·(e^{−x} − 1) along its
// slip δ, f = f2 + A·x + θ and dθ/dδ = −(θ + B·x)/L, where x = −r before the step, r = ln(v2/v1). Then
//
//   - force decays with y·δ/L, where A·y² − (κ + A − B)·y + κ = 0, as the relaxing spring hurries the slip a little;
//   - the decay, extrapolated to the step, has the amplitude [B·r + (A·B/κ)·g(r)]/(1 − A·y/κ), with g(r) = ∫ s/(e^s − 1) ds
//     from 0 to r for what θ misses while the spring is being drawn.
//
// The slip is measured: v·t less the change of force over k.
func yielding(a, b, kappa, r float64) (amplitude, y float64) {
	s := kappa + a - b
	d := s*s - 4*a*kappa
	if !(d > 0) || !(s > 0) { // too soft for steady slip
		return b * r, 1
	}
	y = 2 * kappa / (s + math.Sqrt(d))
	return (b*r + a*b/kappa*missed(r)) / (1 - a*y/kappa), y
}

// missed is ∫ s/(e^s − 1) ds from 0 to r, which Gauss' rule gives to rounding.
func missed(r float64) float64 {
	return math.Copysign(1, r) * quad.Fixed(func(s float64) float64 {
		if math.Abs(s) < 1e-6 {
			return 1 - s/2
		}
		return s / math.Expm1(s)
	}, min(0, r), max(0, r), 20, nil, 0)
}
