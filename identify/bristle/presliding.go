package bristle

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// weak are the places of the parameters of the presliding form in the order of its columns. σ2 acts like σ1 and is given.
var weak = [4]int{inertia, sigma1, sigma0, offset}

// Presliding fits the linear form for motion that never breaks loose, (6.48) and (6.49) with g = Fs,
//
//	u = M·d²x/dt² + σ1·dz/dt + σ2·dx/dt + σ0·z + offset,
//
// x counted from the first sample, where the bristles are taken as relaxed. If Fs is given as a fixed parameter, z is
// integrated from x with it, and with the whole curve g(v) if Fc and vs are fixed too. Otherwise z = x, which is right as
// long as the path of the whole record, not only its reach, stays well below Fs/σ0: bristles creep a little at every turn
// and forget where they were.
//
// No data are differentiated: the equation is multiplied by test functions that vanish with their derivatives at both ends
// of a window, and integrated by parts. The window is the one with the smallest errors. What the noise of x does to the
// regression, too small an inertia above all, is removed by instruments: columns from the motion that the model itself makes
// under the recorded force.
//
// σ1 and σ2 act alike here. sigma2 is taken as it is given, sigma1 is what remains; if sigma2 is free, both are refused and
// only their sum has a meaning.
//
// Extra holds "window" in s.
func Presliding(ctx context.Context, rec *record.Record, params []fit.Param, o Options, watch fit.Watch) (*fit.Solution, error) {
	begin := time.Now()
	m, err := newPresliding(params)
	if err != nil {
		return nil, err
	}
	d, err := newData(rec, &o)
	if err != nil {
		return nil, err
	}
	// the noise of the encoder is no motion that bends bristles: their path is that of the smoothed position
	x, path := make([]float64, len(d.y)), make([]float64, len(d.y))
	for k := range x {
		x[k] = d.y[k] - d.y[0]
	}
	if m.level.Fs > 0 {
		sm := newSmoother(3, len(x))
		sm.run(x, 0.3*sm.discrepancy(x, d.noise))
		copy(path, sm.x)
	}
	var best *weakFit
	for w := narrowest; 8*w < len(x); w = w * 3 / 2 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		watch.Say(fit.Progress{Method: "presliding", Phase: fmt.Sprintf("window %.3g s", 2*float64(w)*d.h)})
		f, ok := m.solve(d, x, path, w, o.Hold)
		if ok && (best == nil || f.spread < best.spread) {
			best = f
		}
	}
	if best == nil {
		return nil, rec.Fail(0, "Drive the contact with small forces of several frequencies, up to its own resonance at √(σ0/M).",
			"inertia, damping and stiffness cannot be told apart in this motion")
	}
	for k := 1; k < len(x); k++ {
		best.path += math.Abs(x[k] - x[k-1])
	}
	s := m.solution(d, best)
	s.Compute = time.Since(begin)
	return s, nil
}

// preslide is the model of small motion.
type preslide struct {
	*model
	level friction.LuGre // g; Fs = 0: z = x
	cols  []int          // columns that are searched
}

func newPresliding(params []fit.Param) (*preslide, error) {
	// levels that are not given have no say
	full := slices.Clone(params)
	level := friction.LuGre{Vs: math.Inf(1)}
	given := func(name string) float64 {
		for _, p := range params {
			if p.Name == name && p.Fixed {
				return p.Value
			}
		}
		return 0
	}
	if level.Fs = given("Fs"); level.Fs > 0 {
		level.Fc = level.Fs
		if fc, vs := given("Fc"), given("vs"); fc > 0 && vs > 0 {
			level.Fc, level.Vs = fc, vs
		}
	}
	for _, p := range Params(false) {
		i := slices.IndexFunc(full, func(q fit.Param) bool { return q.Name == p.Name || p.Name == "M" && q.Name == "J" })
		if i < 0 {
			switch p.Name {
			case "Fc", "Fs", "vs":
				p.Fixed = true
				full = append(full, p)
			}
		}
	}
	m, err := newModel(full)
	if err != nil {
		return nil, err
	}
	m.params = m.params[:len(params)]
	for i, k := range m.at {
		if k >= len(params) {
			m.at[i] = -1
		}
	}
	q := &preslide{model: m, level: level}
	for j, i := range weak {
		if m.isFree[i] {
			q.cols = append(q.cols, j)
		}
	}
	if q.cols == nil {
		return nil, &fit.ParamError{Problems: []string{"none of inertia, sigma0, sigma1 and offset is free: nothing to fit"}}
	}
	return q, nil
}

// weakFit is the outcome for one window.
type weakFit struct {
	f      *windows
	t      theta
	phi    []float64 // columns
	y      []float64 // force less that of σ2
	u      []float64 // force
	spread float64   // Σ of the squared relative standard errors
	path   float64   // of the motion
}

// solve fits with windows of half width w.
func (m *preslide) solve(d *data, x, path []float64, w int, hold Hold) (*weakFit, bool) {
	r := &weakFit{f: newWindows(len(x), w, d.h), t: m.start}
	if r.f.rows < 6*len(m.cols) {
		return nil, false
	}
	r.u = r.f.means(hold.atSamples(d.u))
	r.y = r.f.slopes(x)
	for k, v := range r.y {
		r.y[k] = r.u[k] - r.t[sigma2]*v
	}
	z := x
	for pass := range 8 {
		r.phi = r.f.columns(x, z)
		inst := r.phi
		if pass > 0 {
			sim, ok := m.simulate(d, &r.t)
			if !ok {
				return nil, false
			}
			zs := sim
			if m.level.Fs > 0 {
				zs = m.deflect(sim, r.t[sigma0], d.h)
			}
			inst = r.f.columns(sim, zs)
		}
		if !m.regress(r, inst) {
			return nil, false
		}
		if m.level.Fs > 0 {
			if !(r.t[sigma0] > 0) {
				return nil, false
			}
			z = m.deflect(path, r.t[sigma0], d.h)
		}
	}
	return r, r.t[inertia] > 0 && r.t[sigma0] > 0
}

// deflect runs the bristles along x.
func (m *preslide) deflect(x []float64, s0, h float64) []float64 {
	p := m.level
	p.Sigma0 = s0
	z := make([]float64, len(x))
	for k := 1; k < len(x); k++ {
		z[k], _, _ = p.StepDx(z[k-1], x[k]-x[k-1], h)
	}
	return z
}

// simulate is the motion of the linear model under the recorded force: the midpoint rule in steps that resolve it.
func (m *preslide) simulate(d *data, t *theta) ([]float64, bool) {
	mass, c, k := t[inertia], t[sigma1]+t[sigma2], t[sigma0]
	if !(mass > 0 && k > 0 && c >= 0) {
		return nil, false
	}
	n := int(min(max(2, math.Ceil(20*d.h*math.Sqrt(k/mass))), 400))
	h := d.h / float64(n)
	x := make([]float64, len(d.u))
	pos, v := 0.0, 0.0 // linear also where z is not: instruments need not be exact
	for i := range len(x) - 1 {
		for j := range n {
			u := d.u[i] + (d.u[i+1]-d.u[i])*(float64(j)+0.5)/float64(n) - t[offset]
			w := (2*mass/h*v + u - k*pos) / (2*mass/h + c + k*h/2)
			pos += h * w
			v = 2*w - v
		}
		x[i+1] = pos
	}
	return x, finite(pos)
}

// regress solves (ZᵀΦ)·θ = Zᵀy for the free columns and rates the result by its standard errors
// s²·(ZᵀΦ)⁻¹·ZᵀZ·(ΦᵀZ)⁻¹. False if the columns cannot be told apart.
func (m *preslide) regress(r *weakFit, inst []float64) bool {
	n := len(m.cols)
	var g, zz [16]float64
	var b [4]float64
	for i := range 4 { // columns that are not searched: identity
		g[5*i], zz[5*i] = 1, 0
	}
	for i, ci := range m.cols {
		for j, cj := range m.cols {
			g[4*i+j], zz[4*i+j] = 0, 0
			for k := range r.f.rows {
				g[4*i+j] += inst[4*k+ci] * r.phi[4*k+cj]
				zz[4*i+j] += inst[4*k+ci] * inst[4*k+cj]
			}
		}
		for k := range r.f.rows {
			y := r.y[k]
			for j := range 4 {
				if !slices.Contains(m.cols, j) {
					y -= r.phi[4*k+j] * r.t[weak[j]]
				}
			}
			b[i] += inst[4*k+ci] * y
		}
	}
	var inv [16]float64
	for i := range 4 {
		a, e := g, [4]float64{}
		e[i] = 1
		if !solve4(&a, &e) {
			return false
		}
		for k := range 4 {
			inv[4*k+i] = e[k]
		}
	}
	for i, ci := range m.cols {
		v := 0.0
		for j := range n {
			v += inv[4*i+j] * b[j]
		}
		r.t[weak[ci]] = v
	}
	rss := 0.0
	for k := range r.f.rows {
		e := r.y[k]
		for j := range 4 {
			e -= r.phi[4*k+j] * r.t[weak[j]]
		}
		rss += e * e
	}
	r.spread = 0
	for i, ci := range m.cols {
		v := 0.0
		for j := range n {
			for k := range n {
				v += inv[4*i+j] * zz[4*j+k] * inv[4*i+k]
			}
		}
		if place := weak[ci]; place != offset {
			r.spread += v * rss / float64(r.f.rows-n) / (r.t[place] * r.t[place])
		}
	}
	return finite(r.spread)
}

// solution describes the fit. Its rows are windows.
func (m *preslide) solution(d *data, f *weakFit) *fit.Solution {
	t := f.t
	s := &fit.Solution{
		Residual: make([]float64, f.f.rows), Measured: f.u, Unit: m.unit[1], Quantity: m.quantity("force", "torque"), Dt: d.h * float64(max(1, f.f.w/2)),
		Objective: "half the sum of squared residuals of the weak form", Converged: true, Reason: "solved in one go",
		Extra: map[string]any{"window": 2 * float64(f.f.w) * d.h},
	}
	for i := range m.isFree {
		switch {
		case !m.isFree[i]:
		case i == coulomb || i == breakout || i == stribeck:
			s.Refused = append(s.Refused, fit.Indistinct{Names: []string{m.name(i)}, Why: "the contact does not slide in presliding", Advice: "fix it here, and find it where the axis slides"})
		case i == sigma2 && m.isFree[sigma1]:
			s.Refused = append(s.Refused, fit.Indistinct{
				Names: []string{m.name(sigma1), m.name(sigma2)}, Weights: []float64{1, -1},
				Why:    fmt.Sprintf("in presliding both damp alike: only their sum, %.4g, is known; sigma2 was left at its start", t[sigma1]+t[sigma2]),
				Advice: "take sigma2 from sliding at constant speeds and fix it here",
			})
		}
	}
	m.free = slices.DeleteFunc(m.free, func(i int) bool { return !slices.Contains(weak[:], i) })
	cols := len(m.free)
	s.Jac = make([]float64, f.f.rows*cols)
	for k := range f.f.rows {
		e := f.y[k]
		for j, i := range weak {
			e -= f.phi[4*k+j] * t[i]
			for c, free := range m.free {
				if free == i {
					s.Jac[k*cols+c] = f.phi[4*k+j]
				}
			}
		}
		s.Residual[k] = e
		s.Cost += e * e / 2
	}
	if m.level.Fs == 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("The bristles were taken as a linear spring. The motion adds up to %.3g %s, which would bend them by %.3g %s: if that is more than a tenth of the break-away force, give Fs as a fixed value.", f.path, m.unit[0], t[sigma0]*f.path, m.unit[1]))
	}
	s.Params, s.Free = m.answer(t)
	return s
}
