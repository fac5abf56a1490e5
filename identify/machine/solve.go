package machine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
)

// Unidentifiable says what the rows cannot tell: a sum of columns that vanishes, and the base parameter that stays at its start for it.
type Unidentifiable struct {
	Name      string
	Names     []string  // of the combination, largest part first
	Weights   []float64 // parameters by the lengths of their columns
	FileValue float64   // the value of the file
	Text      string
}

// rounds of weights are enough for three digits of them.
const weightRounds = 4

// system is the weighted regression of base parameters.
type system struct {
	base       *Base
	blocks     []block
	joints     int
	sigma      []float64 // rms of the residual of each joint, N·m or N
	start      []float64 // of the base parameters
	freeParams []int     // base parameters that are solved for
	theta      []float64 // of all base parameters

	tri, rhs           []float64 // of all columns, weighted by sigma
	unexplainedSquares float64   // sum of squares that no value of them explains
	rows               int
}

// solve finds the base parameters.
func (s *system) solve() ([]Unidentifiable, error) {
	s.sigma = make([]float64, s.joints)
	for i := range s.sigma {
		var y []float64
		for _, b := range s.blocks {
			if b.joint == i {
				y = append(y, b.y...)
			}
		}
		s.sigma[i] = numeric.RMS(y)
	}
	most := slices.Max(s.sigma)
	for i, x := range s.sigma { // a passive joint is weighted as the strongest drive at first
		if s.sigma[i] = x; x == 0 {
			s.sigma[i] = most
		}
		if s.sigma[i] == 0 {
			s.sigma[i] = 1
		}
	}
	s.freeParams = nil
	for k := range s.base.Pivot {
		s.freeParams = append(s.freeParams, k)
	}
	s.factor()
	refused := s.supported()
	for range weightRounds {
		theta, err := s.solveFree(s.freeParams)
		if err != nil {
			return refused, err
		}
		s.theta = theta
		for i := range s.sigma {
			if rms := s.jointRMS(i, theta); rms > 0 {
				s.sigma[i] = rms
			}
		}
		s.factor()
	}
	return refused, nil
}

// factor forms the triangle of all columns.
func (s *system) factor() {
	p := len(s.base.Pivot)
	f := numeric.NewFactor(p)
	s.rows = 0
	for _, b := range s.blocks {
		n := len(b.y)
		cols := make([][]float64, p)
		zero := make([]float64, n)
		scale := 1 / s.sigma[b.joint]
		for k := range cols {
			if cols[k] = zero; b.column(k) != nil {
				cols[k] = scaled(scale, b.column(k))
			}
		}
		if n > 0 {
			f.AddColumns(cols, scaled(scale, b.y))
		}
		s.rows += n
	}
	tri, rhs := f.Triangle()
	s.tri, s.rhs, s.unexplainedSquares = slices.Clone(tri), slices.Clone(rhs), f.SumSquares()
}

func scaled(x float64, of []float64) []float64 {
	return floats.ScaleTo(make([]float64, len(of)), x, of)
}

// length is that of column k.
func (s *system) length(k int) float64 {
	p, sum := len(s.base.Pivot), 0.0
	for i := 0; i <= k; i++ {
		sum += s.tri[i*p+k] * s.tri[i*p+k]
	}
	return math.Sqrt(sum)
}

// picked are columns of the triangle, scaled to length one, and their lengths.
func (s *system) picked(which []int) (*mat.Dense, []float64) {
	p := len(s.base.Pivot)
	out, length := mat.NewDense(p, len(which), nil), make([]float64, len(which))
	for j, k := range which {
		if length[j] = s.length(k); length[j] == 0 {
			continue
		}
		for i := range p {
			out.Set(i, j, s.tri[i*p+k]/length[j])
		}
	}
	return out, length
}

// supported leaves out of free what the rows cannot tell: columns that vanish, then as long as the condition of the columns, scaled to
// length one, is beyond linear.MaxCondition, the one with the largest part in the direction that vanishes.
func (s *system) supported() (refused []Unidentifiable) {
	drop := func(at int, u Unidentifiable) {
		k := s.freeParams[at]
		u.Name, u.FileValue = s.base.Name(k), s.start[k]
		refused = append(refused, u)
		s.freeParams = slices.Delete(s.freeParams, at, at+1)
	}
	for at := 0; at < len(s.freeParams); at++ {
		if s.length(s.freeParams[at]) == 0 {
			name := s.base.Name(s.freeParams[at])
			drop(at, Unidentifiable{Names: []string{name}, Weights: []float64{1}, Text: "its column is zero throughout: no joint moves as it needs"})
			at--
		}
	}
	for len(s.freeParams) > 1 {
		x, _ := s.picked(s.freeParams)
		var svd mat.SVD
		if !svd.Factorize(x, mat.SVDThin) {
			return refused
		}
		sv := svd.Values(nil)
		last := len(sv) - 1
		if sv[0] <= linear.MaxCondition*sv[last] {
			return refused
		}
		var v mat.Dense
		svd.VTo(&v)
		at, most := 0, 0.0
		var order []int
		for j := range s.freeParams {
			if part := math.Abs(v.At(j, last)); part > most {
				at, most = j, part
			}
			order = append(order, j)
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return int(math.Copysign(1, math.Abs(v.At(b, last))-math.Abs(v.At(a, last))))
		})
		u := Unidentifiable{}
		var parts []string
		for _, j := range order {
			if x := v.At(j, last) / v.At(at, last); math.Abs(x) > 0.05 {
				u.Names, u.Weights = append(u.Names, s.base.Name(s.freeParams[j])), append(u.Weights, x)
				if j != at {
					parts = append(parts, s.base.Name(s.freeParams[j]))
				}
			}
		}
		if u.Text = "its column vanishes to rounding"; parts != nil {
			u.Text = fmt.Sprintf("the record cannot tell it from %s: condition %.2g", strings.Join(parts, ", "), sv[0]/sv[last])
		}
		drop(at, u)
	}
	return refused
}

// solveFree is the least-squares solution for some base parameters, the others at their start.
func (s *system) solveFree(which []int) ([]float64, error) {
	theta := slices.Clone(s.start)
	if len(which) == 0 {
		return theta, nil
	}
	x, length := s.picked(which)
	y := s.reducedRHS(which)
	var qr mat.QR
	qr.Factorize(x)
	var out mat.Dense
	if err := qr.SolveTo(&out, false, mat.NewDense(len(y), 1, y)); err != nil {
		return nil, fmt.Errorf("the columns of the base parameters depend on each other: %w", err)
	}
	for j, k := range which {
		theta[k] = out.At(j, 0) / length[j]
	}
	return theta, nil
}

// inverseOf is R⁻¹ of the triangle of picked columns; nil: they depend on each other.
func inverseOf(x *mat.Dense) *mat.Dense {
	_, p := x.Dims()
	var qr mat.QR
	qr.Factorize(x)
	var tri, inv mat.Dense
	qr.RTo(&tri)
	if inv.Inverse(tri.Slice(0, p, 0, p)) != nil {
		return nil
	}
	return &inv
}

// reducedRHS is the right-hand side of the triangle less what the parameters that are not in which explain at their start.
func (s *system) reducedRHS(which []int) []float64 {
	p := len(s.base.Pivot)
	y := slices.Clone(s.rhs)
	for k, x := range s.start {
		if x != 0 && !slices.Contains(which, k) {
			for i := 0; i <= k; i++ {
				y[i] -= x * s.tri[i*p+k]
			}
		}
	}
	return y
}

// sumSquares is the weighted sum of squares that theta leaves.
func (s *system) sumSquares(theta []float64) float64 {
	p, sum := len(s.base.Pivot), s.unexplainedSquares
	for i := range p {
		e := s.rhs[i]
		for k := i; k < p; k++ {
			e -= s.tri[i*p+k] * theta[k]
		}
		sum += e * e
	}
	return sum
}

// jointRMS is the rms of the residual of a joint, by its degrees of freedom.
func (s *system) jointRMS(joint int, theta []float64) float64 {
	sum, n := 0.0, 0
	for i := range s.blocks {
		if b := &s.blocks[i]; b.joint == joint {
			e := b.residual(theta)
			sum, n = sum+floats.Dot(e, e), n+len(e)
		}
	}
	if n == 0 {
		return 0
	}
	used := float64(len(s.freeParams)) * float64(n) / float64(max(s.rows, 1))
	return math.Sqrt(sum / math.Max(float64(n)-used, 1))
}

// residual is y − w·θ.
func (b *block) residual(theta []float64) []float64 {
	e := slices.Clone(b.y)
	for k, w := range b.w {
		if w != nil {
			floats.AddScaled(e, -theta[k], w)
		}
	}
	return e
}

// solution is the weighted regression in the form of all fits, its rows those of the joints one after the other in every recording.
// free are the parameters with columns in its Jacobian.
func (s *system) solution(blocks []block, free []int, dt, blur float64) *fit.Solution {
	out := &fit.Solution{Quantity: "torque", Dt: dt, Blur: blur, Objective: "half the sum of squares in units of the rms of each joint",
		Converged: true, Iterations: 1,
		Reason: "linear: solved at once", FreeParams: slices.Clone(free)}
	p := len(free)
	for _, b := range blocks {
		if len(b.y) == 0 {
			continue
		}
		out.Pieces = append(out.Pieces, len(out.Residual))
		scale := 1 / s.sigma[b.joint]
		out.Residual = append(out.Residual, scaled(scale, b.residual(s.theta))...)
		out.Measured = append(out.Measured, scaled(scale, b.y)...)
		out.Velocity, out.Position = append(out.Velocity, b.v...), append(out.Position, b.q...)
		jac := make([]float64, len(b.y)*p)
		for j, k := range free {
			for r, x := range b.column(k) {
				jac[r*p+j] = scale * x
			}
		}
		out.Jac = append(out.Jac, jac...)
	}
	if len(out.Pieces) == 1 {
		out.Pieces = nil
	}
	for k := range s.base.Pivot {
		c := &s.base.Columns[s.base.Pivot[k]]
		out.Params = append(out.Params, fit.Param{Param: engine.Param{Name: s.base.Name(k), Unit: c.Unit, Doc: c.Doc, Value: s.theta[k],
			Lo: math.Inf(-1), Hi: math.Inf(1)}})
	}
	out.Cost = floats.Dot(out.Residual, out.Residual) / 2
	return out
}
