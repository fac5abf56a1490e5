package linear

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Noise of the position draws least squares towards zero: with W = W₀ + N, where the N of a row has the covariance σ²·C, the
// products of the columns are those of the motion and n·σ²·C. What is known of the noise is taken out [FU87],
//
//	(ZᵀW − n·σ²·C)·θ = Zᵀy,
//
// with Z the instruments, or W itself. σ is what the position shows from sample to sample, at least that of its step, step/√12; C
// follows from the filters. Noise that a filter before the record took away does not reach the rows: they leave over at least the noise
// that the columns carry times θ, so that σ²·θᵀCθ is at most what is left over.
//
// Assumed: noise of the position is white, and the recorded force knows nothing of it. A controller that answers to it makes that
// untrue by kp·kv/(M·ω²) for the inertia, with ω the upper end of the band. Signs of velocity count as exact, and so does the
// instrument of the lag, the slope of the force that the model makes: with that force Σθ·N its products with the columns times θ are
// of x·dx/dt, zero on average.

// minAttenuation is the share of its standard error by which a parameter has to be drawn for the noise to be looked at.
const minAttenuation = 0.02

// maxNoiseShare is the largest share of a direction of the columns that may be noise: beyond it what is left of the motion rests on how
// well the noise is known.
const maxNoiseShare = 0.2

// noiseShare is the largest share that noise has in a direction of the columns.
func noiseShare(products, noise *mat.Dense) (share float64) {
	var of mat.Dense
	var eigen mat.Eigen
	if of.Solve(products, noise) != nil || !eigen.Factorize(&of, mat.EigenNone) {
		return math.Inf(1)
	}
	for _, v := range eigen.Values(nil) {
		share = math.Max(share, real(v))
	}
	return share
}

// positionNoise is the variance of white noise of the position of a record, (m or rad)².
func positionNoise(d *record.Record) float64 {
	s := numeric.Noise(d.Position)
	return s * s
}

// positionNoise is that of record rec, found once.
func (m *form) positionNoise(rec int, d *record.Record) float64 {
	if m.noiseVariance == nil {
		m.noiseVariance = map[int]float64{}
	}
	if _, known := m.noiseVariance[rec]; !known {
		m.noiseVariance[rec] = positionNoise(d)
	}
	return m.noiseVariance[rec]
}

// columnNoise is the covariance of the noise of the columns, summed over the kept rows, row-major; nil: there is none, or it is not known.
func (r *regression) columnNoise() []float64 {
	if r.form.noise == nil || r.form.joints || r.form.undriven {
		return nil
	}
	c := r.form.noise(r.rowLowpass)
	p := len(r.columns)
	out, d, with := make([]float64, p*p), make([][3]float64, p), make([][3]float64, p) // the slopes of a row, and with the covariance
	slopes, noisy := make([]func(q, dir float64) [3]float64, p), []int{}
	for j, t := range r.spec.Terms {
		if slopes[j] = r.spec.slope(t); slopes[j] != nil {
			noisy = append(noisy, j)
		}
	}
	any := false
	r.eachPiece(func(rec, from, to int) {
		variance := r.form.positionNoise(rec, r.recs[rec])
		if !(variance > 0) {
			return
		}
		count := 0.0 // of rows one after the other whose slopes are d
		add := func() {
			for _, i := range noisy {
				x, y := &d[i], &with[i]
				for a := range 3 {
					y[a] = count * variance * (c[a][0]*x[0] + c[a][1]*x[1] + c[a][2]*x[2])
				}
			}
			for _, i := range noisy {
				for _, j := range noisy {
					out[i*p+j] += d[i][0]*with[j][0] + d[i][1]*with[j][1] + d[i][2]*with[j][2]
				}
			}
			count = 0
		}
		for k := from; k < to; k++ {
			if !r.fittedRows[k] {
				continue
			}
			for _, j := range noisy {
				if of := slopes[j](r.q[k], numeric.Sign(r.v[k])); of != d[j] {
					if count > 0 {
						add()
					}
					d[j] = of
				}
			}
			count++
		}
		any = any || count > 0
		add()
	})
	if !any {
		return nil
	}
	return out
}

// unattenuated takes the noise of the position out of a solution of the kept rows, which leaves the sum of squares left.
func (r *regression) unattenuated(s *solution, left float64) {
	noise := r.columnNoise()
	if noise == nil || !(left > 0) {
		return
	}
	own, _ := r.regressor()
	p, m := len(own), len(r.columns) // the lag is the last
	z := own
	if r.z != nil {
		z = r.z
	}
	// what the noise makes of the rows, and what it may
	size := 0.0
	for i := range m {
		for j := range m {
			size += s.theta[i] * noise[i*m+j] * s.theta[j]
		}
	}
	share := math.Min(1, left/size)
	s.noise = share * size / left
	zw, zz := mat.NewDense(p, p, nil), mat.NewDense(p, p, nil)
	zy := mat.NewVecDense(p, nil)
	r.runs(func(from, to int) {
		for i := range p {
			zi := z[i][from:to]
			zy.SetVec(i, zy.AtVec(i)+floats.Dot(zi, r.y[from:to]))
			for j := range p {
				zw.Set(i, j, zw.At(i, j)+floats.Dot(zi, own[j][from:to]))
				zz.Set(i, j, zz.At(i, j)+floats.Dot(zi, z[j][from:to]))
			}
		}
	})
	of := mat.NewDense(p, p, nil)
	for i := range m {
		for j := range m {
			of.Set(i, j, share*noise[i*m+j])
		}
	}
	if s.drowned = maxNoiseShare < noiseShare(zw, of); s.drowned {
		return
	}
	b := mat.NewDense(p, p, nil)
	b.Sub(zw, of)
	var theta mat.VecDense
	if err := theta.SolveVec(b, zy); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			return // as much noise as motion: the values stay, and intervals say what they are worth
		}
	}
	var inverse, cov mat.Dense // of the scores, with residuals as they are
	if inverse.Inverse(b) != nil || !numeric.AllFinite(theta.RawVector().Data...) {
		return
	}
	cov.Product(&inverse, zz, inverse.T())
	variance := left / math.Max(float64(r.rowsKept()-p), 1)
	drawn := false
	for j := range p {
		drawn = drawn || math.Abs(theta.AtVec(j)-s.theta[j]) > minAttenuation*math.Sqrt(variance*cov.At(j, j))
	}
	if !drawn {
		return
	}
	var turn mat.Dense
	if turn.Solve(zz, b) != nil {
		return
	}
	s.removedBias = make([]float64, p)
	for j := range p {
		s.removedBias[j] = theta.AtVec(j) - s.theta[j]
	}
	copy(s.theta, theta.RawVector().Data)
	s.turn = turn.RawMatrix().Data
}

// noiseless is the triangle R of the columns but the lag, with y = Wθ by Rθ = c and the sum of squares left, without the noise of the
// position: RᵀR less its products. Noise makes columns longer, so that a sum of squares is the less the smaller the inertia is; a lag that
// takes its place would win by that. R itself where the noise is not known, or, drowned, much of the columns.
func (r *regression) noiseless(tri, c []float64, left float64) (without []float64, drowned bool) {
	noise := r.columnNoise()
	if noise == nil || !(left > 0) {
		return tri, false
	}
	p := len(r.columns)
	upper, cov := mat.NewTriDense(p, mat.Upper, tri), mat.NewDense(p, p, noise)
	var theta mat.VecDense
	var products mat.Dense
	if theta.SolveVec(upper, mat.NewVecDense(p, c)) != nil {
		return tri, false
	}
	cov.Scale(math.Min(1, left/mat.Inner(&theta, cov, &theta)), cov)
	products.Mul(upper.T(), upper)
	if maxNoiseShare < noiseShare(&products, cov) {
		return tri, true
	}
	out := mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			out.SetSym(i, j, products.At(i, j)-cov.At(i, j))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(out) {
		return tri, true
	}
	less := mat.NewTriDense(p, mat.Upper, nil)
	chol.UTo(less)
	return mat.DenseCopyOf(less).RawMatrix().Data, false
}

// drownedWithoutLag tells that noise of the position is much of the columns even without the lag.
func (r *regression) drownedWithoutLag() bool {
	f := r.factor(r.w)
	tri, c := f.Triangle()
	_, drowned := r.noiseless(tri, c, f.SumSquares())
	return drowned
}

// NoiseShare is the share of what is left over that noise of the position makes, as far as that is known.
func (r *Result) NoiseShare() float64 { return r.noiseShare }

// Noisier is the regression with as much noise of the position again, of white noise by seed, and all else as it was decided.
func (r *Result) Noisier(recs []*record.Record, by Form, o Options, seed uint64) (*fit.Solution, error) {
	rng := rand.New(rand.NewPCG(seed, 1))
	again := make([]*record.Record, len(recs))
	for i, d := range recs {
		own := *d
		own.Position = slices.Clone(d.Position)
		half := math.Sqrt(3 * positionNoise(d))
		for k := range own.Position {
			own.Position[k] += half * (2*rng.Float64() - 1)
		}
		again[i] = &own
	}
	m, err := r.formMaker(r.Spec, again)
	if err != nil {
		return nil, err
	}
	parts, _, err := r.Spec.stretches(again, m)
	if err != nil {
		return nil, err
	}
	m.f.blur, m.f.build, m.f.noisy = r.blur, r.build, r.noisy
	reg, err := r.Spec.assemble(again, m, parts, r.slowest, r.slowest, r.Lagged())
	if err != nil {
		return nil, err
	}
	if r.Lagged() {
		reg.pushSlope(r.lag, r.zeroOrderHold)
		theta, err := reg.theta()
		if err != nil {
			return nil, err
		}
		reg.freeLag(reg.w)
		reg.z = append(reg.z, reg.turning(theta))
	} else {
		reg.push(r.lag, r.zeroOrderHold)
	}
	reg.smoothed, reg.turns = nil, nil
	o.Unattenuated = false
	sol, err := reg.solve(by, o)
	if err != nil {
		return nil, err
	}
	out := &Result{Spec: r.Spec, formMaker: r.formMaker}
	out.explain(reg, sol, true, false)
	return out.sol, nil
}
