package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
)

// Where parameters count as indistinct [theory §9.5].
const (
	maxScaled      = 1e4  // condition number of the scaled Jacobian
	maxCorrelation = 0.98 // of two estimates
	minWeight      = 0.05 // of the largest, to be named in a combination
)

// indistinct lists what the data cannot tell apart, worst first: parameters without any effect, combinations of
// parameters without effect (right singular vectors of the scaled Jacobian whose value is below the largest/1e4),
// groups whose estimates are correlated by more than 0.98, and single values known to no better than 50 %.
func indistinct(s *Solution, c *covariance, est []Estimate) []Indistinct {
	p := len(est)
	list := []Indistinct{}
	named := make([]bool, p)
	covered := func(group []int) bool {
		for _, l := range list {
			if !slices.ContainsFunc(group, func(j int) bool { return !slices.Contains(l.Names, est[j].Name) }) {
				return true
			}
		}
		return false
	}
	add := func(group []int, weights []float64, why string) {
		l := Indistinct{Weights: weights, Reason: why}
		worst := 0.0
		for _, j := range group {
			l.Names = append(l.Names, est[j].Name)
			named[j] = true
			worst = math.Max(worst, relative(s, j, &est[j]))
		}
		l.RelErr, l.Advice = numeric.OrNull(worst), advice(l.Names)
		list = append(list, l)
	}

	// no effect at all
	for j, l := range c.length {
		if l == 0 {
			add([]int{j}, nil, fmt.Sprintf("%s has no effect on what was measured", est[j].Name))
		}
	}

	// combinations without effect
	for _, w := range c.weak() {
		group, part := entries(w, c.length)
		if len(group) < 2 || covered(group) {
			continue
		}
		for k, j := range group {
			part[k] /= c.length[j] * unitOf(est[j].Value)
		}
		effect := "no effect at all"
		if r := c.effect(w); r > nullSingular {
			effect = fmt.Sprintf("%.2g of the effect of the best known combination", r)
		}
		add(group, normalised(part), fmt.Sprintf("changing %s together as the weights say has %s", names(est, group), effect))
	}

	// groups of estimates that move together
	for _, group := range correlated(c.correlation) {
		if covered(group) {
			continue
		}
		least, part := 1.0, principal(c.correlation, group)
		for k, j := range group {
			if se := est[j].StdErr; se != nil {
				part[k] *= *se / unitOf(est[j].Value)
			}
			for _, l := range group[:k] {
				if r := math.Abs(c.correlation[j][l]); r > maxCorrelation {
					least = math.Min(least, r)
				}
			}
		}
		add(group, normalised(part), fmt.Sprintf("the estimates of %s are correlated by %.4f: they move together as the weights say and the "+
			"fit hardly changes", names(est, group), least))
	}

	// values that are little more than an order of magnitude, where the sign is no question
	for j, e := range est {
		q := &s.Params[s.FreeParams[j]]
		if !named[j] && e.Loose && e.Relative != nil && (q.Log || q.Lo >= 0 || q.Hi <= 0) {
			add([]int{j}, nil, fmt.Sprintf("the standard error of %s is %.0f %% of its value", e.Name, 100**e.Relative))
		}
	}
	return list
}

// weak is a basis of the combinations of scaled columns that are worth less than 1/1e4 of the best, the least first.
// Singular vectors of nearly equal values are any mixture; elimination with the largest entry as pivot makes each as
// short as it goes, so that it names only what belongs together.
func (c *covariance) weak() [][]float64 {
	var basis [][]float64
	for i := len(c.singular) - 1; i >= 0 && c.singular[0] > maxScaled*c.singular[i]; i-- {
		basis = append(basis, mat.Col(nil, i, c.v))
	}
	for i := range basis {
		// the vector with the largest entry comes next
		for l := i + 1; l < len(basis); l++ {
			if math.Abs(basis[l][largest(basis[l])]) > math.Abs(basis[i][largest(basis[i])]) {
				basis[i], basis[l] = basis[l], basis[i]
			}
		}
		pivot := largest(basis[i])
		for l, w := range basis {
			if f := w[pivot] / basis[i][pivot]; l != i {
				floats.AddScaled(w, -f, basis[i])
			}
		}
	}
	slices.SortStableFunc(basis, func(a, b []float64) int { return cmp.Compare(c.effect(a), c.effect(b)) })
	return basis
}

// largest is the place of the largest number of w, whatever its sign.
func largest(w []float64) (at int) {
	for j, x := range w {
		if math.Abs(x) > math.Abs(w[at]) {
			at = j
		}
	}
	return at
}

// effect is ‖X·w‖/‖w‖ relative to the largest there is.
func (c *covariance) effect(w []float64) float64 {
	sum := 0.0
	for i, sv := range c.singular {
		part := 0.0
		for j, x := range w {
			part += c.v.At(j, i) * x
		}
		sum += sv * sv * part * part
	}
	return math.Sqrt(sum/floats.Dot(w, w)) / c.singular[0]
}

// entries are the places and values of the large entries of a combination.
func entries(w, length []float64) (at []int, part []float64) {
	most := math.Abs(w[largest(w)])
	for j, x := range w {
		if math.Abs(x) > minWeight*most && length[j] > 0 {
			at, part = append(at, j), append(part, x)
		}
	}
	return at, part
}

// normalised makes the largest weight 1.
func normalised(w []float64) []float64 {
	if most := w[largest(w)]; most != 0 {
		for i := range w {
			w[i] /= most
		}
	}
	return w
}

// unitOf is what a change of a parameter is measured in: its value, or its unit if it is zero.
func unitOf(value float64) float64 {
	if value == 0 {
		return 1
	}
	return math.Abs(value)
}

// correlated are the groups of estimates that hang together by correlations above the limit.
func correlated(r [][]float64) [][]int {
	var groups [][]int
	seen := make([]bool, len(r))
	for i := range r {
		if seen[i] {
			continue
		}
		group := []int{i}
		seen[i] = true
		for k := 0; k < len(group); k++ {
			for j := range r {
				if !seen[j] && math.Abs(r[group[k]][j]) > maxCorrelation {
					group, seen[j] = append(group, j), true
				}
			}
		}
		if len(group) > 1 {
			slices.Sort(group)
			groups = append(groups, group)
		}
	}
	return groups
}

// principal is the direction in which the estimates of a group scatter most, each in its own standard error: the leading
// eigenvector of their correlations.
func principal(r [][]float64, group []int) []float64 {
	m := mat.NewSymDense(len(group), nil)
	for a, i := range group {
		for b, j := range group[:a+1] {
			m.SetSym(a, b, r[i][j])
		}
	}
	var eig mat.EigenSym
	v := make([]float64, len(group))
	for k := range v {
		v[k] = 1
	}
	if eig.Factorize(m, true) {
		var vec mat.Dense
		eig.VectorsTo(&vec)
		for k := range v {
			v[k] = vec.At(k, len(group)-1)
		}
	}
	return v
}

func names(est []Estimate, group []int) string {
	var s []string
	for _, j := range group {
		s = append(s, est[j].Name)
	}
	return strings.Join(s, ", ")
}

// relative is the largest standard error of parameter j, relative to its size.
func relative(s *Solution, j int, e *Estimate) float64 {
	size := s.Size(j)
	switch {
	case !MayBeZero(e.Name) && e.Relative != nil:
		return *e.Relative
	case e.StdErr == nil || e.RobustErr == nil || !(size > 0) || len(s.Measured) == 0:
		return math.Inf(1)
	}
	worst := math.Max(*e.StdErr, *e.RobustErr)
	if e.BetweenErr != nil {
		worst = math.Max(worst, *e.BetweenErr)
	}
	return worst / size
}
