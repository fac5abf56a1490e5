package linear

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/record"
)

// Total least squares. With noise of known ratio in position and force, the estimate that is not drawn towards zero makes
//
//	Σ_k (y_k − w_k·θ)² / (σy² + θᵀ·Σw·θ)
//
// least [VHV91], where Σw is the covariance of the noise of the columns and σy² the variance of that of y, both after the
// filters. With [W y] = Q·R, exact columns first, the corner R22 of noisy columns and y, and C = L·Lᵀ their joint noise
// covariance, the solution is the right singular vector of R22·L⁻ᵀ with the least singular value; exact columns (signs, the
// constant) are solved for afterwards and stay as they are.
//
// Assumed: noise of the position is white from sample to sample, so is that of the force, and the model is exact: what it
// leaves over is taken for noise. Noise turns over few signs of velocity; their columns count as exact. The factor between
// the variance that the residual has and the one expected comes out on the way and is not needed.
//
// With ŵ_k = w_k + e_k·Σw·θ/(σy² + θᵀΣwθ), the columns nearest to the measured ones that fit exactly, the estimate solves
// Σ ŵ_k·e_k = 0, and a change of the rows moves it by B⁻¹·Σ ŵ_k·δ_k with B = WᵀW − N·λ·Σw, λ = Σe²/(N·(σy² +
// θᵀΣwθ)): this is where standard errors come from.

// noise is the covariance of position, velocity and acceleration after the filters, for white noise of the position with
// variance one.
func (f *filters) noise() (c [3][3]float64) {
	for w, weight := range filter.Frequencies {
		g := f.gain(w) * f.positionLowpass.Gain(w)
		v, a := filter.Slope(w)/f.dt, filter.Curve(w)/(f.dt*f.dt)
		g *= g * weight
		c[0][0] += g
		c[1][1] += g * v * v
		c[2][2] += g * a * a
		c[0][2] += g * a
	}
	c[2][0] = c[0][2] // position and acceleration go against each other; velocity is a quarter turn from both
	return c
}

// gain is that of the filters of both sides.
func (f *filters) gain(w float64) float64 {
	return f.sidesLowpass.Gain(w) * f.rowLowpass.Gain(w*float64(f.rowStep))
}

// spread forms the noise covariance of the columns, mean over the rows, for a force noise of one and a position noise of ratio.
func (r *regression) spread(ratio float64) {
	f := *r.form.f
	f.rowLowpass = r.rowLowpass
	c, p := f.noise(), len(r.w)
	r.noise, r.noiseY = make([]float64, p*p), filter.Mean(func(w float64) float64 { return f.gain(w) * f.gain(w) })
	d := make([][3]float64, p)
	for k, v := range r.v {
		for j, t := range r.spec.Terms {
			if of := r.spec.slope(t); of != nil {
				d[j] = of(r.q[k], numeric.Sign(v))
			}
		}
		for i := range p {
			for j := range p {
				for a := range 3 {
					for b := range 3 {
						r.noise[i*p+j] += d[i][a] * c[a][b] * d[j][b] * ratio * ratio / float64(len(r.v))
					}
				}
			}
		}
	}
}

// totalLeastSquares solves for θ with noisy columns and finds the influence of the rows.
func (r *regression) totalLeastSquares(s *solution) error {
	p := len(r.w)
	var exact, noisy []int
	for j := range p {
		if r.noise[j*p+j] > 0 {
			noisy = append(noisy, j)
		} else {
			exact = append(exact, j)
		}
	}
	order := append(append([]int{}, exact...), noisy...)
	m, ne := len(noisy), len(exact)

	// R of [exact noisy y]
	f := numeric.NewFactor(p + 1)
	cols := make([][]float64, 0, p+1)
	for _, j := range order {
		cols = append(cols, r.noiseFreeColumns()[j])
	}
	cols = append(cols, r.y)
	f.AddColumns(cols, r.y)
	tri, _ := f.Triangle()
	full := mat.NewDense(p+1, p+1, tri)

	// the corner, with noise scaled to the same size in every direction
	c := mat.NewSymDense(m+1, nil)
	for a, i := range noisy {
		for b, j := range noisy {
			c.SetSym(a, b, r.noise[i*p+j])
		}
	}
	c.SetSym(m, m, r.noiseY)
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		return &record.Error{
			Msg:  "total least squares: two columns carry the same noise",
			Hint: "Remove one of the terms that depend on the position alone.",
		}
	}
	var l mat.TriDense
	chol.LTo(&l)
	corner := mat.DenseCopyOf(full.Slice(ne, p+1, ne, p+1))
	var white mat.Dense
	if err := white.Solve(&l, corner.T()); err != nil { // L⁻¹·R22ᵀ
		return err
	}
	var svd mat.SVD
	if !svd.Factorize(white.T(), mat.SVDFull) {
		return noAnswer
	}
	var vs mat.Dense
	svd.VTo(&vs)
	var null mat.VecDense
	if err := null.SolveVec(l.T(), vs.ColView(m)); err != nil {
		return noAnswer
	}
	last := null.AtVec(m)
	if !(math.Abs(last) > 1e-9*mat.Norm(&null, math.Inf(1))) {
		return noAnswer
	}

	// θ of the noisy columns, then back substitution for the exact ones
	beta := make([]float64, p)
	for a := range m {
		beta[ne+a] = -null.AtVec(a) / last
	}
	for k := ne - 1; k >= 0; k-- {
		x := full.At(k, p)
		for j := k + 1; j < p; j++ {
			x -= full.At(k, j) * beta[j]
		}
		beta[k] = x / full.At(k, k)
	}
	s.theta = make([]float64, p)
	for i, j := range order {
		s.theta[j] = beta[i]
	}
	return r.setInfluence(s)
}

var noAnswer = &record.Error{
	Msg:  "total least squares has no answer here: the noise of the position is as large as the motion",
	Hint: "Check noise_ratio, lower the filter cutoff, or use form instrumental.",
}

// setInfluence forms the influence X of the rows on θ: X = Ŵ·(ŴᵀŴ)⁻¹·B, so that (XᵀX)⁻¹·Xᵀ = B⁻¹·Ŵᵀ. From then on
// Ŵ are the instruments.
func (r *regression) setInfluence(s *solution) error {
	n, p := len(r.y), len(r.w)
	e := r.misfit(s.theta)
	var st mat.VecDense // Σw·θ
	theta := mat.NewVecDense(p, s.theta)
	st.MulVec(mat.NewDense(p, p, r.noise), theta)
	size := r.noiseY + mat.Dot(&st, theta) // σy² + θᵀΣwθ
	lambda := floats.Dot(e, e) / size      // times N

	near := make([][]float64, p)
	for j, col := range r.noiseFreeColumns() {
		near[j] = make([]float64, n)
		for k, x := range col {
			near[j][k] = x + e[k]*st.AtVec(j)/size
		}
	}
	var gram, b, turn mat.Dense
	gram.ReuseAs(p, p)
	b.ReuseAs(p, p)
	for i := range p {
		for j := range p {
			gram.Set(i, j, floats.Dot(near[i], near[j]))
			b.Set(i, j, floats.Dot(r.noiseFreeColumns()[i], r.w[j])-lambda*r.noise[i*p+j])
		}
	}
	if err := turn.Solve(&gram, &b); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			return noAnswer
		}
	}
	r.z, s.turn = near, turn.RawMatrix().Data
	return nil
}

// noiseFreeColumns are the columns with no noise of the force.
func (r *regression) noiseFreeColumns() [][]float64 {
	if r.z != nil {
		return r.z
	}
	return r.w
}
