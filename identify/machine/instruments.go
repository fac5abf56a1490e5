package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hilrig/identify/fit"
)

// Use is what instrumental variables are for.
type Use string

// What they may be for.
const (
	UseCheck    Use = "check"    // least squares is compared with them
	UseEstimate Use = "estimate" // they give the values
	UseNone     Use = "none"
)

// Words are the uses.
func (Use) Words() []string { return []string{string(UseCheck), string(UseEstimate), string(UseNone)} }

// Instruments are the estimate by instrumental variables [JVG14], with
//
//	θ = (Zᵀ·W)⁻¹·Zᵀ·y
//
// for W from the recorded positions and Z the same columns from simulated ones. Noise of the recorded position makes W wrong, and least
// squares counts its square in WᵀW; Z does not hold this noise. The machine is simulated with the estimate under the recorded torque,
// and drawn to the recorded motion (follow), which gives new Z and a new estimate, until it stays.
type Instruments struct {
	Bandwidth   float64   `json:"bandwidth_hz"` // of what the simulation takes from the record
	Reference   bool      `json:"reference"`    // it follows what the controllers were told, not the position
	Rounds      int       `json:"rounds"`
	Failure     string    `json:"missing,omitempty"` // why there is no estimate
	Weakest     float64   `json:"weakest"`           // smallest canonical correlation of W and Z: 1 where they span the same
	Values      []float64 `json:"values"`            // of the free base parameters
	LSValues    []float64 `json:"least_squares"`     // of the same ones
	Differences []float64 `json:"apart"`             // their difference, in standard errors of a normal law, by Durbin, Wu, Hausman [HAU78]
	Smaller     float64   `json:"smaller"`           // the same of the torque of least squares: noise makes it smaller
	// places in Values where least squares is off beyond doubt, and by as much as its own standard error
	Biased []int `json:"biased"`
}

const (
	maxRounds    = 20
	stepTol      = 0.05 // rms standard errors of white noise, which the last round may move the estimate
	weakestShare = 0.3  // canonical correlation below which instruments say too little
	apartSurely  = 3.3  // standard errors of the difference: one in a thousand without bias …
	apartWith    = 2.0  // … and of one of the parameters where all together are biased
	bandShare    = 0.25 // of the cutoff, what the simulation takes from the record: noise of the acceleration is 4⁵ times less there
)

// instruments estimates by instrumental variables from what least squares found, for the free parameters. The system has the
// columns of the projection of W on Z.
func (r *Result) instruments(recs []Recording) (*Instruments, *system) {
	out := &Instruments{Bandwidth: r.Spec.Bandwidth}
	if out.Bandwidth == 0 {
		out.Bandwidth = bandShare * r.Spec.Cutoff
	}
	for _, k := range r.FreeParams {
		out.LSValues = append(out.LSValues, r.Values[k])
	}
	sys := *r.sys
	sys.blocks, sys.sigma, sys.theta = slices.Clone(r.sys.blocks), slices.Clone(r.sys.sigma), slices.Clone(r.Values)
	fail := func(format string, args ...any) (*Instruments, *system) {
		out.Failure = fmt.Sprintf(format, args...)
		return out, nil
	}
	if len(r.FreeParams) == 0 {
		return fail("there are no parameters")
	}
	step := math.Inf(1)
	for out.Rounds = 1; out.Rounds <= maxRounds; out.Rounds++ {
		if err := r.progress.begin(fmt.Sprintf("simulated motion, round %d", out.Rounds), 1,
			math.Max(0, usualRounds-float64(out.Rounds))+halfWork+lackingWork); err != nil {
			return fail("%v", err)
		}
		motions, followed, err := r.follow(recs, sys.theta, out.Bandwidth)
		if err != nil {
			return fail("%v", err)
		}
		out.Reference, r.motions = followed, motions
		if out.Weakest, err = sys.project(r.Base, r.simulatedBlocks(r.Spec, motions, sys.blocks)); err != nil {
			return fail("%v", err)
		}
		if out.Weakest < weakestShare {
			return fail("the simulated motion tells too little of the recorded one: canonical correlation %.2g, want %.2g", out.Weakest,
				weakestShare)
		}
		sys.factor()
		theta, err := sys.solveFree(r.FreeParams)
		if err != nil {
			return fail("%v", err)
		}
		step = sys.distance(theta, sys.theta) / math.Sqrt(float64(len(r.FreeParams)))
		sys.theta = theta
		for i := range sys.sigma {
			if rms := sys.jointRMS(i, theta); rms > 0 {
				sys.sigma[i] = rms
			}
		}
		if step < stepTol {
			break
		}
	}
	if step >= stepTol {
		return fail("no estimate stays after %d rounds: the last one moved it by %.2g standard errors", maxRounds, step)
	}
	sys.factor()
	for _, k := range r.FreeParams {
		out.Values = append(out.Values, sys.theta[k])
	}
	r.compareInstruments(out, &sys)
	return out, &sys
}

// simulatedBlocks are the columns of simulated motions at the rows of blocks.
func (r *Result) simulatedBlocks(s Spec, motions []Recording, blocks []block) []block {
	f := s.filters(motions[0][0].Dt)
	per := make([][]block, len(motions))
	fit.Parallel(len(motions), func(i int) {
		if f.count(motions[i][0].Len()) > 0 {
			per[i] = r.Base.rows(r.Model, s, &f, motions[i], nil)
		}
	})
	out := make([]block, len(blocks))
	for i, b := range blocks {
		z := per[b.rec][b.joint]
		out[i] = block{rec: b.rec, joint: b.joint, w: make([][]float64, len(z.w))}
		for k, col := range z.w {
			if col == nil {
				continue
			}
			for _, at := range b.gridPlaces {
				out[i].w[k] = append(out[i].w[k], col[at])
			}
		}
	}
	return out
}

// weighted are the free columns of blocks, the rows weighted, and their lengths, to which they are scaled.
func (s *system) weighted(blocks []block) (*mat.Dense, []float64, error) {
	n := 0
	for i := range blocks {
		n += len(s.blocks[i].y)
	}
	x, length := mat.NewDense(n, len(s.freeParams), nil), make([]float64, len(s.freeParams))
	row := 0
	for i := range blocks {
		scale := 1 / s.sigma[blocks[i].joint]
		for j, k := range s.freeParams {
			for t, v := range blocks[i].w[k] {
				x.Set(row+t, j, scale*v)
			}
		}
		row += len(s.blocks[i].y)
	}
	for j, k := range s.freeParams {
		if length[j] = mat.Norm(x.ColView(j), 2); length[j] == 0 {
			return nil, nil, fmt.Errorf("the simulated motion has nothing of %s", s.base.Name(k))
		}
		for t := range n {
			x.Set(t, j, x.At(t, j)/length[j])
		}
	}
	return x, length, nil
}

// project gives the blocks the columns P·W, with P the projection on the columns of z, and returns the smallest canonical
// correlation of W and Z.
func (s *system) project(base *Base, z []block) (weakest float64, err error) {
	zs, zl, err := s.weighted(z)
	if err != nil {
		return 0, err
	}
	ws, wl, err := s.weighted(s.blocks)
	if err != nil {
		return 0, err
	}
	n, p := zs.Dims()
	if n < p {
		return 0, errors.New("fewer rows than parameters")
	}
	var qz, qw mat.QR
	qz.Factorize(zs)
	qw.Factorize(ws)
	var a, rz, rw, c mat.Dense
	if err := qz.SolveTo(&a, false, ws); err != nil {
		return 0, fmt.Errorf("the columns of the simulated motion depend on each other: %w", err)
	}
	// canonical correlations: singular values of Q_zᵀ·Q_w = R_z·A·R_w⁻¹
	qz.RTo(&rz)
	qw.RTo(&rw)
	c.Mul(rz.Slice(0, p, 0, p), &a)
	var inv mat.Dense
	if err := inv.Inverse(rw.Slice(0, p, 0, p)); err != nil {
		return 0, err
	}
	c.Mul(&c, &inv)
	var svd mat.SVD
	if !svd.Factorize(&c, mat.SVDNone) {
		return 0, errors.New("no singular values of the correlations")
	}
	weakest = slices.Min(svd.Values(nil))
	for i := range s.blocks {
		b := &s.blocks[i]
		b.j = make([][]float64, len(base.Pivot))
		for col, k := range s.freeParams {
			b.j[k] = make([]float64, len(b.y))
			for row, l := range s.freeParams {
				if zc := z[i].w[l]; zc != nil {
					floats.AddScaled(b.j[k], a.At(row, col)*wl[col]/zl[row], zc)
				}
			}
		}
	}
	return weakest, nil
}

// column is column k of the Jacobian: that of the regression, or its projection on the instruments.
func (b *block) column(k int) []float64 {
	if b.j != nil && b.j[k] != nil {
		return b.j[k]
	}
	return b.w[k]
}

// distance is between two sets of base parameters by what they make of the rows, weighted.
func (s *system) distance(a, b []float64) float64 {
	p, sum := len(s.base.Pivot), 0.0
	for i := range p {
		e := 0.0
		for k := i; k < p; k++ {
			e += s.tri[i*p+k] * (a[k] - b[k])
		}
		sum += e * e
	}
	return math.Sqrt(sum)
}

// influence is (XᵀX)⁻¹ of the free columns; nil: they depend on each other.
func (s *system) influence() *mat.Dense {
	x, length := s.picked(s.freeParams)
	inv := inverseOf(x)
	if inv == nil {
		return nil
	}
	var out mat.Dense
	out.Mul(inv, inv.T())
	out.Apply(func(i, j int, v float64) float64 { return v / (length[i] * length[j]) }, &out)
	return &out
}

// compareInstruments compares the estimates: without noise in W both are right, and differ by what the residuals explain.
func (r *Result) compareInstruments(out *Instruments, iv *system) {
	p := len(r.FreeParams)
	out.Differences, out.Biased = make([]float64, p), []int{}
	ls := *r.sys
	ls.sigma = iv.sigma
	ls.factor()
	a, b := iv.influence(), ls.influence()
	if a == nil || b == nil {
		return
	}
	g := gridOf(iv.blocks)
	diff, own := g.zeros(p), g.zeros(p)
	smaller := make([]float64, p) // what of the torque that a unit of each parameter is in
	for i := range iv.blocks {
		bl := &iv.blocks[i]
		scale := 1 / (iv.sigma[bl.joint] * iv.sigma[bl.joint])
		e, made := bl.residual(iv.theta), bl.modelTorque(iv.theta)
		for row := range e {
			at := g.row(bl, row)
			for j, k := range r.FreeParams {
				if w := bl.w[k]; w != nil {
					smaller[j] += w[row] * scale * made[row]
				}
			}
			for l, k := range r.FreeParams {
				x, z := 0.0, 0.0
				if w := bl.w[k]; w != nil {
					x = w[row] * scale * e[row]
				}
				if w := bl.column(k); w != nil {
					z = w[row] * scale * e[row]
				}
				for j := range p {
					diff[j][at] += a.At(j, l)*z - b.At(j, l)*x
					own[j][at] += b.At(j, l) * x
				}
			}
		}
	}
	for j := range diff { // where least squares is off, its scores have a mean
		floats.AddConst(-floats.Sum(diff[j])/float64(len(diff[j])), diff[j])
	}
	cov, dof := fit.LongRunSlow(diff, fit.Drawing{}, g.ends, slowPeriods*r.slowRows(out.Bandwidth))
	least, _ := fit.LongRun(own, g.ends)
	student := distuv.StudentsT{Sigma: 1, Nu: float64(dof)}
	apart := func(d, variance float64) float64 { // as rare as this many standard errors that are known
		if !(variance > 0) {
			return 0
		}
		chance := math.Max(student.CDF(-math.Abs(d)/math.Sqrt(variance)), math.SmallestNonzeroFloat64)
		return math.Copysign(distuv.UnitNormal.Quantile(chance), d)
	}
	lost, variance := 0.0, 0.0
	for j := range p {
		d := out.Values[j] - out.LSValues[j]
		out.Differences[j] = apart(d, cov[j*p+j])
		lost += smaller[j] * d
		for k := range p {
			variance += smaller[j] * cov[j*p+k] * smaller[k]
		}
	}
	// noise makes what least squares finds smaller: where all parameters together are, each of them needs less to be said of it
	out.Smaller = apart(lost, variance)
	limit := apartSurely
	if out.Smaller > apartSurely {
		limit = apartWith
	}
	for j := range p {
		if d := out.Values[j] - out.LSValues[j]; math.Abs(out.Differences[j]) > limit && math.Abs(d) > math.Sqrt(least[j*p+j]) {
			out.Biased = append(out.Biased, j)
		}
	}
}

// modelTorque is the torque of a block by the parameters theta.
func (b *block) modelTorque(theta []float64) []float64 {
	out := make([]float64, len(b.y))
	for k, x := range theta {
		if w := b.w[k]; w != nil {
			floats.AddScaled(out, x, w)
		}
	}
	return out
}

// slowRows are the rows in a period of the bandwidth of the instruments (Hz). The residual holds noise of the acceleration, which cancels
// over this time as the instruments see it.
func (r *Result) slowRows(bandwidth float64) int {
	return int(math.Ceil(1 / (bandwidth * r.rowTime)))
}

// grid joins the rows of all joints at one time.
type grid struct {
	firstRow map[int]int // place of the first row of a recording
	ends     []int       // the same in order
	n        int
}

func gridOf(blocks []block) grid {
	g := grid{firstRow: map[int]int{}}
	for i := range blocks {
		b := &blocks[i]
		if _, seen := g.firstRow[b.rec]; seen {
			continue
		}
		g.firstRow[b.rec], g.ends = g.n, append(g.ends, g.n)
		most := 0
		for k := range blocks {
			if at := blocks[k].gridPlaces; blocks[k].rec == b.rec && len(at) > 0 {
				most = max(most, at[len(at)-1]+1)
			}
		}
		g.n += most
	}
	return g
}

func (g *grid) zeros(p int) [][]float64 {
	out := make([][]float64, p)
	for j := range out {
		out[j] = make([]float64, g.n)
	}
	return out
}

func (g *grid) row(b *block, row int) int { return g.firstRow[b.rec] + b.gridPlaces[row] }
