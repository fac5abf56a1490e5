package curve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// whitened are the numbers of all steps, those of a step multiplied by the inverse of the root of their covariance, so that
// all have unit variance and none depends on another.
type whitened struct {
	x *stepFit
	n int // parameters
}

func (m *whitened) at(theta, f, j []float64) engine.Status {
	places := [4]int{m.x.at.of("A"), m.x.at.of("B"), m.x.at.of("L"), m.x.at.of("mu0")}
	row := 0
	for i, s := range m.x.steps {
		y, d := m.x.predict(theta, s)
		w := m.x.white[i]
		n := 0
		for a := range 4 {
			if !s.has[a] {
				continue
			}
			f[row+n] = 0
			c := 0
			for b := range 4 {
				if !s.has[b] || c > n {
					continue
				}
				f[row+n] += w.At(n, c) * y[b]
				if j != nil {
					for q, place := range places {
						if place >= 0 {
							j[(row+n)*m.n+place] += w.At(n, c) * d[b][q]
						}
					}
				}
				c++
			}
			n++
		}
		row += n
	}
	return engine.OK
}

// whiten makes the roots of the covariances, with the scatter from step to step, and the numbers that belong to them.
func (x *stepFit) whiten() (y []float64) {
	x.white = x.white[:0]
	for _, s := range x.steps {
		var at []int
		for i, h := range s.has {
			if h {
				at = append(at, i)
			}
		}
		// in units of the standard errors, which may be of very different size
		n := len(at)
		size := make([]float64, n)
		for i, p := range at {
			size[i] = math.Sqrt(s.cov[p][p] + x.tau[p]*x.tau[p])
		}
		c := mat.NewSymDense(n, nil)
		for i, p := range at {
			for j, q := range at {
				c.SetSym(i, j, s.cov[p][q]/size[i]/size[j])
			}
			c.SetSym(i, i, 1+1e-12)
		}
		var ch mat.Cholesky
		inv := mat.NewTriDense(n, mat.Lower, nil)
		if ch.Factorize(c) {
			var l mat.TriDense
			ch.LTo(&l)
			if err := inv.InverseTri(&l); err != nil {
				inv = nil
			}
		} else {
			inv = nil
		}
		if inv == nil { // as if independent
			inv = mat.NewTriDense(n, mat.Lower, nil)
			for i := range n {
				inv.SetTri(i, i, 1)
			}
		}
		for i := range n {
			for j := range i + 1 {
				inv.SetTri(i, j, inv.At(i, j)/size[j])
			}
			v := 0.0
			for j := range i + 1 {
				v += inv.At(i, j) * s.y[at[j]]
			}
			y = append(y, v)
		}
		x.white = append(x.white, inv)
	}
	return y
}

// regress solves for the parameters, with as much scatter from step to step as each of the four kinds of numbers needs.
func (x *stepFit) regress(ctx context.Context, params []fit.Param, watch fit.Watch) (*fit.Solution, error) {
	s := system{params: slices.Clone(params)}
	s.model = func() model { return &whitened{x, len(params)} }
	x.start(s.params)
	var sol *fit.Solution
	for range 20 {
		s.y = x.whiten()
		s.w = make([]float64, len(s.y))
		for k := range s.w {
			s.w[k] = 1
		}
		var err error
		if sol, err = s.solve(ctx, watch); err != nil {
			return nil, err
		}
		copy(s.params, sol.Params)
		if !x.scatter(values(s.params)) {
			break
		}
	}
	sol.Known = x.tau == [4]float64{}
	sol.Quantity = "A·ln(v2/v1), B·ln(v2/v1), ln L and level of every step"
	return sol, nil
}

// start sets the free parameters to medians over the steps.
func (x *stepFit) start(params []fit.Param) {
	var a, b, l, m []float64
	for _, s := range x.steps {
		a, b = append(a, s.y[0]/s.r), append(b, s.y[1]/s.r)
		if s.has[2] {
			l = append(l, math.Exp(s.y[2]))
		}
		m = append(m, s.y[3])
	}
	for name, list := range map[string][]float64{"A": a, "B": b, "L": l, "mu0": m} {
		if i := x.at.of(name); i >= 0 && !params[i].Fixed && len(list) > 0 {
			params[i].Value = min(max(numeric.Median(list), params[i].Lo), params[i].Hi)
		}
	}
	if i := x.at.of("L"); len(l) == 0 && !params[i].Fixed {
		params[i].Fixed = true // nothing tells it
	}
}

// scatter sets the scatter of every kind so that its squares sum up to the degrees of freedom (Mandel and Paule), and says
// whether that changed one. It is believed where chance would bring as much in one case of a hundred.
func (x *stepFit) scatter(theta []float64) (changed bool) {
	for kind := range 4 {
		var r, se []float64
		for _, s := range x.steps {
			if s.has[kind] {
				y, _ := x.predict(theta, s)
				r, se = append(r, s.y[kind]-y[kind]), append(se, math.Sqrt(s.cov[kind][kind]))
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
func (x *stepFit) judge(sol *fit.Solution, all []*plateau, length bool) {
	cov := covariance(sol)
	se := func(name string) float64 {
		c := slices.Index(sol.Free, x.at.of(name))
		if c < 0 || cov == nil {
			return 0
		}
		return math.Sqrt(cov.At(c, c))
	}
	a, b := sol.Params[x.at.of("A")], sol.Params[x.at.of("B")]
	if !a.Fixed && a.Value < 2*se("A") {
		sol.Refused = append(sol.Refused, fit.Indistinct{Names: []string{"A"}, Why: fmt.Sprintf("it is below the noise: %.2g ± %.2g", a.Value, se("A")),
			Advice: "Take 1e-4, the least a simulation needs, or repeat with larger ratios of speed, a stiffer machine and faster sampling."})
	}
	if !b.Fixed && b.Value < 2*se("B") {
		sol.Refused = append(sol.Refused, fit.Indistinct{Names: []string{"B"}, Why: fmt.Sprintf("it is below the noise: %.2g ± %.2g", b.Value, se("B")),
			Advice: "Repeat with larger ratios of speed."})
	}
	if l := sol.Params[x.at.of("L")]; !length && !slices.Contains(sol.Free, x.at.of("L")) && l.Name == "L" {
		sol.Refused = append(sol.Refused, fit.Indistinct{Names: []string{"L"}, Why: "no decay after a step is seen",
			Advice: "Sample at least twenty times within L/v2 and hold every speed for 5·L/v2."})
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
		sol.Notes = append(sol.Notes, fmt.Sprintf("after %d of %d steps the first samples do not follow the decay, as when the machine yields; they are left out and fmax is extrapolated to the step", skipped, steps))
		if all[0].machine == 0 {
			sol.Notes = append(sol.Notes, "the stiffness of the machine is not given: A and B take up its yielding")
		}
	}
	var table []map[string]float64
	for _, s := range x.steps {
		row := map[string]float64{"ratio": math.Exp(s.r), "A": s.y[0] / s.r, "B": s.y[1] / s.r, "f2": s.y[3]}
		if s.has[2] {
			row["L"] = math.Exp(s.y[2])
		}
		table = append(table, row)
	}
	sol.Extra["steps"] = table
	sol.Extra["scatter_A_ln"], sol.Extra["scatter_B_ln"], sol.Extra["scatter_ln_L"], sol.Extra["scatter_f2"] = x.tau[0], x.tau[1], x.tau[2], x.tau[3]
}
