package ball

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// The error of cameras depends on the place: markers drift, each in its own way. Windows over the scores of a fit do not see that: beside
// noise that is white the memory of the drift hides, and a recording holds few of its periods. But markers are many, and what they move
// against each other in a frame is noise, whatever the ball does. With the waves of a series of n rows
//
//	ψ_j(k) = √(2/n)·cos(πj(k+½)/n),   ψ_0(k) = 1/√n,
//
// and W_j those of all series without the motions of a rigid body, the power of the noise is P_j = |W_j·e|²/tr(W_j·(I − H)·W_jᵀ), with e
// the residuals and H what the fit draws to itself. The covariance of the parameters is then that of white noise, σ²·(XᵀX)⁻¹, and
//
//	Σ_j (P_j − σ²)·G·ψ_j·ψ_jᵀ·Gᵀ,   G = (XᵀX)⁻¹·Xᵀ,
//
// over all series. Waves share their power by octaves.

const (
	driftWaves  = 64   // slowest of a series that are looked at
	driftPeriod = 16   // frames, the quickest of them
	driftChance = 0.01 // that white noise is taken for drift
)

// drift is the slow noise of markers, and what it does to the free parameters of a solution.
type drift struct {
	rms     float64              // m  of a coordinate; 0: there is none
	effects map[string]waveNoise // by parameter
}

// waveNoise is a variance that is made of octaves.
type waveNoise struct {
	variance float64 // beside that of white noise
	scatter  float64 // Σ v²/ν of the octaves: variance² over it is the number of degrees of freedom [S46]
}

// findDrift compares the markers with each other. moved has the numbers of the file among its parameters, and rows for what is known of
// them.
func (s *shooting) findDrift(moved *fit.Solution) (d drift) {
	m := len(moved.FreeParams)
	rigid := s.rigidFrames()
	columns, apart, length := make([][]float64, m), make([][]float64, m), make([]float64, m)
	gram := mat.NewSymDense(m, nil)
	for j := range columns {
		for k := j; k < len(moved.Jac); k += m {
			columns[j] = append(columns[j], moved.Jac[k])
		}
		length[j] = floats.Norm(columns[j], 2)
		floats.Scale(1/length[j], columns[j])
		apart[j] = s.withoutRigid(rigid, columns[j])
		for i := range j + 1 {
			gram.SetSym(i, j, floats.Dot(columns[i], columns[j]))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) || chol.Cond() > mat.ConditionTolerance { // Assess says what is not told apart
		return d
	}
	residual := s.withoutRigid(rigid, moved.Residual)
	own := s.shareWithoutRigid(rigid)

	var octaves [driftOctaves]struct {
		power, dof float64
		waves      int
		weights    []float64 // by parameter: what power of one does to its variance
	}
	for b := range octaves {
		octaves[b].weights = make([]float64, m)
	}
	quick, quickDOF := floats.Dot(residual, residual), floats.Sum(own)
	product, gain := mat.NewVecDense(m, nil), mat.NewVecDense(m, nil)
	for k := range s.pieces {
		free := s.series(k, own)
		share := floats.Sum(free) / float64(len(free))
		wave := make([]float64, len(free))
		solve := func(columns [][]float64) {
			for i := range columns {
				product.SetVec(i, floats.Dot(wave, s.series(k, columns[i])))
			}
			_ = chol.SolveVecTo(gain, product) // its condition is known
		}
		for j := range min(driftWaves, len(free)*2/driftPeriod) {
			setWave(wave, j)
			o := &octaves[bits.Len(uint(j))]
			e := floats.Dot(wave, s.series(k, residual))
			solve(apart)
			o.power, o.dof, o.waves = o.power+e*e, o.dof+share-mat.Dot(product, gain), o.waves+1
			quick, quickDOF = quick-e*e, quickDOF-share
			solve(columns)
			for i := range o.weights {
				o.weights[i] += gain.AtVec(i) * gain.AtVec(i) / (length[i] * length[i])
			}
		}
	}
	if quickDOF < 1 {
		return d
	}
	white, chance := quick/quickDOF, 1.0
	for _, o := range octaves {
		if o.dof >= 1 {
			chance = min(chance, driftOctaves*distuv.ChiSquared{K: o.dof}.Survival(o.power/white))
		}
	}
	if chance > driftChance {
		return d
	}
	d.effects = map[string]waveNoise{}
	for _, o := range octaves {
		power := o.power / o.dof
		if o.dof < 1 || power < white {
			continue
		}
		d.rms += (power - white) * float64(o.waves) / float64(s.rows)
		for i, p := range moved.FreeParams {
			name, w := moved.Params[p].Name, o.weights[i]
			x := d.effects[name]
			d.effects[name] = waveNoise{x.variance + w*(power-white), x.scatter + w*w*power*power/o.dof}
		}
	}
	d.rms = math.Sqrt(d.rms)
	return d
}

// driftOctaves hold the waves up to driftWaves: the mean, 1, 2 to 3, 4 to 7 and so on.
const driftOctaves = 7

// setWave is ψ_j.
func setWave(wave []float64, j int) {
	n := float64(len(wave))
	size := math.Sqrt(2 / n)
	if j == 0 {
		size = math.Sqrt(1 / n)
	}
	for k := range wave {
		wave[k] = size * math.Cos(math.Pi*float64(j)*(float64(k)+0.5)/n)
	}
}

// rigidFrame are the rows of markers in a frame, the coordinates of one after the other, and what they do when the ball moves along and
// turns about the first so many axes of the plane: orthonormal modes, so that each has the noise of a coordinate.
type rigidFrame struct {
	rows  []int
	modes [][]float64
}

func (s *shooting) rigidFrame(f int, markers []int, axes int) (r rigidFrame) {
	for _, j := range markers {
		rows := s.rowsOf(f, j)
		r.rows = append(r.rows, rows[:]...)
	}
	for m := range 2 * axes {
		axis := [3]r3.Vec{{X: 1}, {Y: 1}, {Z: 1}}[m%axes]
		var e []float64
		for _, j := range markers {
			v := axis
			if m >= axes {
				v = r3.Cross(axis, r3.Sub(s.rec.Points[f][j], s.poses.center[f]))
			}
			e = append(e, v.X, v.Y, v.Z)
		}
		size := floats.Norm(e, 2)
		r.takeOff(e)
		if own := floats.Norm(e, 2); own > 1e-6*size {
			floats.Scale(1/own, e)
		} else { // markers in a line do not turn about it
			clear(e)
		}
		r.modes = append(r.modes, e)
	}
	return r
}

// of are the rows of the frame in a column.
func (r *rigidFrame) of(column []float64) (e []float64) {
	for _, row := range r.rows {
		e = append(e, column[row])
	}
	return e
}

// takeOff takes the modes off what markers do in the frame.
func (r *rigidFrame) takeOff(e []float64) {
	for _, b := range r.modes {
		floats.AddScaled(e, -floats.Dot(b, e), b)
	}
}

// rest are the rows of the frame in a column without the modes.
func (r *rigidFrame) rest(column []float64) []float64 {
	e := r.of(column)
	r.takeOff(e)
	return e
}

// rigidFrames are those in which the ball has a pose, with all markers that are compared.
func (s *shooting) rigidFrames() (frames []rigidFrame) {
	for f := range s.rowPlaces {
		if s.poses.hasPose(f) {
			var markers []int
			s.eachMarker(f, f+1, func(_, j int, _ [3]int) { markers = append(markers, j) })
			frames = append(frames, s.rigidFrame(f, markers, 3))
		}
	}
	return frames
}

// withoutRigid is a column without what motions of the ball do to it, and without the rows of other frames.
func (s *shooting) withoutRigid(frames []rigidFrame, column []float64) []float64 {
	out := make([]float64, s.rows)
	for i := range frames {
		for k, v := range frames[i].rest(column) {
			out[frames[i].rows[k]] = v
		}
	}
	return out
}

// shareWithoutRigid is how much of white noise in each row that leaves.
func (s *shooting) shareWithoutRigid(frames []rigidFrame) []float64 {
	out := make([]float64, s.rows)
	for i := range frames {
		for k, row := range frames[i].rows {
			out[row] = 1
			for _, b := range frames[i].modes {
				out[row] -= b[k] * b[k]
			}
		}
	}
	return out
}

// Adjust puts what markers that drift do to the estimates in the place of the scatter between series: markers are no repetitions, all
// share one motion.
func (r *Result) Adjust(a *fit.Assessment) {
	for i := range a.Estimates {
		e := &a.Estimates[i]
		e.BetweenErr, e.BetweenCI95 = nil, nil
		d, ci := r.drift.effects[e.Name], e.Interval(a.Residual.White)
		if d.variance == 0 || e.StdErr == nil || ci == nil {
			continue
		}
		variance := *e.StdErr**e.StdErr + d.variance
		half := distuv.StudentsT{Sigma: 1, Nu: variance * variance / d.scatter}.Quantile(0.975) * math.Sqrt(variance)
		if half > (ci[1]-ci[0])/2 {
			e.BetweenErr, e.BetweenCI95 = numeric.OrNull(math.Sqrt(variance)), &[2]float64{e.Value - half, e.Value + half}
		}
	}
}
