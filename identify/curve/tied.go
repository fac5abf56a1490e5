package curve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/identify/fit"
)

// tied is a static map and presliding loops in one least-squares problem, or loops alone. Each of them is weighted by its own
// noise: the scatter of the points about the map, and of every loop about its branches.
//
// The unknowns of the loops stand behind the parameters in the problem. The answer is freed of them: their columns are
// projected out of the Jacobian, which leaves (JᵀJ)⁻¹ the block of the parameters of the whole inverse.
type tied struct {
	system
	static *staticFit // nil: loops alone
	loops  []*loop
	scale  []float64 // of the noise of the loops
	own    int       // parameters; behind them the unknowns
	rate   int       // coefficient of the bristle rate, N·s/m; the last of the unknowns unless sigma1 is given
}

// stack are models one after the other in the rows.
type stack struct {
	models []model
	rows   []int
	n      int
}

func (s *stack) at(theta, f, j []float64) engine.Status {
	st, from := engine.OK, 0
	for i, m := range s.models {
		to := from + s.rows[i]
		var part []float64
		if j != nil {
			part = j[from*s.n : to*s.n]
		}
		st = max(st, m.at(theta, f[from:to], part))
		from = to
	}
	return st
}

// tie makes the problem. The parameters have their starts already.
func tie(static *staticFit, loops []*loop, params []fit.Param) (*tied, error) {
	at := index(params)
	t := &tied{static: static, loops: loops, own: len(params)}
	t.params = slices.Clone(params)
	t.unit = ""
	offset := value(values(params), at.of("offset"), 0)
	for _, l := range loops {
		l.sigma0, l.offset = at.of("sigma0"), at.of("offset")
		l.level = [2]int{at.of("Fs+", "Fs", "Fc+", "Fc"), at.of("Fs-", "Fs", "Fc-", "Fc")}
		if l.sigma0 < 0 || l.level[0] < 0 || l.level[1] < 0 {
			return nil, &fit.ParamError{Problems: []string{"a presliding loop needs the parameters sigma0 and Fs"}}
		}
		l.start, l.turn = len(t.params), len(t.params)+1
		t.params = append(t.params, l.nuisance(offset)...)
		t.scale = append(t.scale, 1)
	}
	if t.rate = at.of("sigma1"); t.rate < 0 {
		t.rate = len(t.params)
		top := 0.0
		for _, l := range loops {
			for k := range l.u {
				top = max(top, math.Abs(l.u[k]))
			}
		}
		t.params = append(t.params, fit.Param{Param: engine.Param{Name: "rate", Unit: loops[0].turns.unit("N·s/m"), Lo: -1e12 * top, Hi: 1e12 * top, Fixed: true}})
	}
	if static != nil {
		t.y, t.w = append(t.y, static.y...), append(t.w, static.w...)
		static.m.n = len(t.params)
	}
	for _, l := range loops {
		l.rate, l.n = t.rate, len(t.params)
		t.y = append(t.y, l.u...)
	}
	t.w = append(t.w, make([]float64, len(t.y)-len(t.w))...)
	t.model = func() model {
		s := &stack{n: len(t.params)}
		if static != nil {
			s.models, s.rows = append(s.models, static.m), append(s.rows, len(static.y))
		}
		for _, l := range loops {
			s.models, s.rows = append(s.models, l.branches.copy()), append(s.rows, len(l.u))
		}
		return s
	}
	return t, nil
}

// rows is the first row of every loop.
func (t *tied) rows() []int {
	at := 0
	if t.static != nil {
		at = len(t.static.y)
	}
	from := make([]int, len(t.loops))
	for i, l := range t.loops {
		from[i] = at
		at += len(l.u)
	}
	return from
}

// place moves every loop to the values of the parameters.
func (t *tied) place() {
	theta := values(t.params)
	for i, from := range t.rows() {
		t.loops[i].place(theta, t.w[from:from+len(t.loops[i].u)], t.scale[i])
	}
}

// fit solves, moves the points of the loops to the solution and weighs anew, until nothing moves any more.
func (t *tied) fit(ctx context.Context, watch fit.Watch) (*fit.Solution, error) {
	t.place()
	var sol *fit.Solution
	iterations, evaluations := 0, 0
	for round := range 15 {
		before := values(t.params)
		var err error
		if sol, err = t.solve(ctx, watch); err != nil {
			return nil, err
		}
		iterations, evaluations = iterations+sol.Iterations, evaluations+sol.Evaluations
		copy(t.params, sol.Params)
		weighed := t.weigh(sol)
		moved := 0.0
		for i, p := range t.params {
			if i < t.own || i == t.rate {
				moved = max(moved, math.Abs(p.Value-before[i])/max(math.Abs(p.Value), 1e-12*p.Hi))
			}
		}
		t.place()
		if round > 0 && moved < 1e-7 && !weighed || ctx.Err() != nil {
			break
		}
	}
	sol.Iterations, sol.Evaluations = iterations, evaluations
	return sol, nil
}

// weigh sets the noise of the loops and the scatter of the points from the residuals, and says whether that changed them.
// Residuals of a loop that depend on each other count for fewer.
func (t *tied) weigh(sol *fit.Solution) (changed bool) {
	for i, from := range t.rows() {
		n := len(t.loops[i].u)
		r := sol.Residual[from : from+n]
		s := 0.0
		for _, a := range r {
			s += a * a
		}
		free := n - 3 - len(t.loops[i].turnX)
		if free < 1 || s == 0 {
			continue
		}
		m := mean(r)
		factor := math.Sqrt(s / float64(free))
		if g0 := autocovariance(r, m, 0); g0 > 0 && t.static != nil {
			if g := inefficiencyOf(r, m, g0); g > 1.5 {
				factor *= math.Sqrt(g)
			}
		}
		if t.static != nil && factor < 1e-3 { // without noise there is nothing to scale by
			continue
		}
		was := t.scale[i]
		t.scale[i] *= factor
		if t.scale[i] > 0 && math.Abs(t.scale[i]-was) > 1e-3*was {
			changed = true
		}
	}
	if t.static == nil || t.static.se == nil && t.static.tau == 0 {
		return changed
	}
	if t.static.loose && t.static.scatter(&fit.Solution{Residual: sol.Residual[:len(t.static.y)], Free: make([]int, t.static.freed)}) {
		changed = true
	}
	copy(t.w, t.static.w)
	return changed
}

// bristleRate looks for a part of the force that goes with the rate of the bristle. Where it stands out it stays in the
// model, for it would bend the branches; what it is made of, a loop cannot tell.
func (t *tied) bristleRate(ctx context.Context, sol *fit.Solution, watch fit.Watch) (*fit.Solution, string, error) {
	if t.rate < t.own {
		return sol, "", nil // given
	}
	kept := slices.Clone(t.params)
	scale := slices.Clone(t.scale)
	t.params[t.rate].Fixed = false
	with, err := t.fit(ctx, watch)
	if err != nil {
		return nil, "", err
	}
	c, se := with.Params[t.rate].Value, math.Inf(1)
	if cov := covariance(with); cov != nil {
		for i, k := range with.Free {
			if k == t.rate {
				se = math.Sqrt(cov.At(i, i))
			}
		}
	}
	if c > 4*se {
		return with, fmt.Sprintf("a part of the force goes with the rate of the bristle, %.3g ± %.2g %s: the loop was drawn fast, or the rig has losses of its own; it is allowed for", c, se, t.params[t.rate].Unit), nil
	}
	copy(t.params, kept)
	copy(t.scale, scale)
	t.place()
	sol.Extra["rate_se"] = se
	return sol, "", nil
}

// marginal frees a solution of the unknowns behind the parameters.
func (t *tied) marginal(sol *fit.Solution) {
	n, all := len(sol.Residual), len(sol.Free)
	keep := 0
	for _, k := range sol.Free {
		if k < t.own {
			keep++
		}
	}
	extra := all - keep
	j := mat.NewDense(n, keep, nil)
	for k := range n {
		for c := range keep {
			j.Set(k, c, sol.Jac[k*all+c])
		}
	}
	if extra > 0 {
		// columns of length one, orthonormal by QR; twice is enough
		var list []*mat.VecDense
		for c := keep; c < all; c++ {
			v := mat.NewVecDense(n, nil)
			for k := range n {
				v.SetVec(k, sol.Jac[k*all+c])
			}
			length := mat.Norm(v, 2)
			if length == 0 {
				continue
			}
			v.ScaleVec(1/length, v)
			for range 2 {
				for _, q := range list {
					v.AddScaledVec(v, -mat.Dot(q, v), q)
				}
			}
			if rest := mat.Norm(v, 2); rest > 1e-9 {
				v.ScaleVec(1/rest, v)
				list = append(list, v)
			}
		}
		for c := range keep {
			col := mat.VecDenseCopyOf(j.ColView(c))
			for range 2 {
				for _, q := range list {
					col.AddScaledVec(col, -mat.Dot(q, col), q)
				}
			}
			j.SetCol(c, col.RawVector().Data)
		}
	}
	sol.Jac = slices.Clone(j.RawMatrix().Data)
	sol.Free = sol.Free[:keep]
	sol.Params = sol.Params[:t.own]
}
