package multibody

import (
	"fmt"
	"math"

	"hilrig/engine"
)

// Stabilised integrates a machine, and states z beside it, in the stabilised form of index 2 [GGL85]: the constraints hold at the level of
// positions and of velocities, each by multipliers of its own,
//
//	dq/dt = v + H⁻¹·Jacᵀ·µ,   H·dv/dt = τ − h + Jacᵀ·λ,   dz/dt = f,   g(q, t) = 0,   dg/dt = 0,
//
// where µ vanishes but for rounding and the error of the method, that of Radau IIA with three stages, order 5 [HW96] IV.8, VII.4. The
// stages are found by iteration: the constraints through the Delassus matrix of each stage, all other forces as they come, so that what is
// stiff in them shortens the steps as with an explicit method. Near singular positions it leaps as Offline does. Offline costs about an
// eighth of it for the same error.
type Stabilised struct {
	Rtol, Atol float64 // error of a step per component as in engine.DormandPrince; 1e-8, 1e-8 to begin with
	MaxStep    float64 // s  0: no limit
	FirstStep  float64 // s  first step after Start; 0: chosen from the slope
	MaxSteps   int     // tried steps after Start; 1e6 to begin with

	T         float64   // s  time reached
	StepStart float64   // s  time before the last step
	X         []float64 // [q | v | z] at T, to be read only
	Status
	Gap, Rate          float64 // largest |g| and |dg/dt| at the end of a step since Start
	Shift              float64 // largest |µ| since Start, in the unit of an impulse
	Leaps              int     // over singular positions
	Accepted, Rejected int
	Turns              int // of the iteration

	m          *Model
	d          *Data
	f          Forces
	drives     []func(t float64) Motion
	n          int // of x
	tau        []float64
	h          float64
	slope      []float64 // dx/dt at T
	lambda     []float64
	stage      [3]radauStage
	lastStages [3]radauStage // of the last step, whose polynomial guesses the next one
	x0         []float64     // at StepStart
	span       float64       // s  of the last step; 0: there is none to go by
	err        []float64
	rk         [4][]float64
	nearness   nearness
	leapCubic  hermite    // the last step if it was a leap
	floor      [2]float64 // of the tolerances of positions and velocities
}

// radauStage is the state of a stage, its slope, and what its forces are made of.
type radauStage struct {
	x, k       []float64
	freeAcc    []float64 // nv     acceleration without multipliers
	lift       []float64 // nc×nv  rows of (H⁻¹·Jacᵀ)ᵀ
	lambda, mu []float64
	rate, gap  []float64 // nc     (Jac·H⁻¹·Jacᵀ)⁺ of what is missing
}

var (
	radauC   [3]float64
	radauA   [3][3]float64
	radauInv [3][3]float64
	radauE   [3]float64 // of the stages in the estimate of the error, with gamma times the slope
)

const radauGamma = 1 / 3.6378342527444957 // 1 by the real eigenvalue of A⁻¹

func init() {
	r := math.Sqrt(6)
	radauC = [3]float64{(4 - r) / 10, (4 + r) / 10, 1}
	radauA = [3][3]float64{
		{(88 - 7*r) / 360, (296 - 169*r) / 1800, (-2 + 3*r) / 225},
		{(296 + 169*r) / 1800, (88 + 7*r) / 360, (-2 - 3*r) / 225},
		{(16 - r) / 36, (16 + r) / 36, 1.0 / 9},
	}
	radauE = [3]float64{-(13 + 7*r) / 3, (-13 + 7*r) / 3, -1.0 / 3}
	lu := engine.NewLU(3)
	for i := range 3 {
		copy(lu.A[3*i:], radauA[i][:])
	}
	lu.Factor()
	for k := range 3 {
		e := make([]float64, 3)
		e[k] = 1
		lu.Solve(e)
		for i := range 3 {
			radauInv[i][k] = e[i]
		}
	}
}

// NewStabilised makes an integrator of a machine with nz states beside it; f writes the torques of the joints and dz/dt.
func NewStabilised(m *Model, d *Data, nz int, f Forces, drives []func(t float64) Motion) *Stabilised {
	if len(drives) != len(m.loops.drives) {
		panic("multibody: NewStabilised: want a motion for each drive")
	}
	s := &Stabilised{Rtol: 1e-8, Atol: 1e-8, MaxSteps: 1e6, m: m, d: d, f: f, drives: drives, n: m.nq + m.nv + nz}
	slice := func() []float64 { return make([]float64, s.n) }
	s.tau, s.lambda = make([]float64, m.nv), make([]float64, m.loops.n)
	s.X, s.x0, s.slope, s.err = slice(), slice(), slice(), slice()
	for i := range s.rk {
		s.rk[i] = slice()
	}
	for _, set := range []*[3]radauStage{&s.stage, &s.lastStages} {
		for i := range set {
			nc := m.loops.n
			c := func() []float64 { return make([]float64, nc) }
			set[i] = radauStage{x: slice(), k: slice(), freeAcc: make([]float64, m.nv), lift: make([]float64, nc*m.nv), lambda: c(), mu: c(),
				rate: c(), gap: c()}
		}
	}
	return s
}

// Start begins at t with x, which has to meet the constraints: see Assemble.
func (s *Stabilised) Start(t float64, x []float64) error {
	copy(s.X, x)
	s.T, s.StepStart, s.h, s.span, s.leapCubic.h = t, t, 0, 0, 0
	s.Status, s.Gap, s.Rate, s.Shift, s.Leaps, s.Accepted, s.Rejected, s.Turns = OK, 0, 0, 0, 0, 0, 0, 0
	s.nearness = nearness{}
	s.drive(t)
	s.m.learn(s.d, s.q(s.X), s.v(s.X))
	return s.arrive()
}

func (s *Stabilised) q(x []float64) []float64 { return x[:s.m.nq] }
func (s *Stabilised) v(x []float64) []float64 { return x[s.m.nq : s.m.nq+s.m.nv] }
func (s *Stabilised) z(x []float64) []float64 { return x[s.m.nq+s.m.nv:] }

func (s *Stabilised) drive(t float64) {
	for k, f := range s.drives {
		s.d.Drive(k, f(t))
	}
}

// flow is dx/dt with the constraints at the level of accelerations.
func (s *Stabilised) flow(t float64, x, dx []float64) Status {
	m, d := s.m, s.d
	s.f(t, s.q(x), s.v(x), s.z(x), s.tau, s.z(dx))
	s.drive(t)
	st := Dynamics(m, d, s.q(x), s.v(x), s.tau)
	Rates(m, s.q(x), s.v(x), s.q(dx))
	copy(s.v(dx), d.QDD)
	if st <= Singular && finiteStatus(dx) != OK {
		st = NonFinite
	}
	return st
}

// arrive takes the slope at T and notes how well the constraints hold. What rounding has left near a singular position, where multipliers
// are large, is projected away.
func (s *Stabilised) arrive() error {
	st := s.flow(s.T, s.X, s.slope)
	if g, rate := s.d.Residual(); st <= Singular && (g > 10*closedTol || rate > 10*closedTol*math.Max(1, 1e-2*largestOf(s.v(s.X)))) {
		if p := Project(s.m, s.d, s.q(s.X), s.v(s.X)); p != OK {
			return fmt.Errorf("projection at t = %.9g s: %v", s.T, p)
		}
		st = s.flow(s.T, s.X, s.slope)
	}
	copy(s.lambda, s.d.Lambda)
	g, rate := s.d.Residual()
	s.Gap, s.Rate, s.Status = math.Max(s.Gap, g), math.Max(s.Rate, rate), max(s.Status, st)
	s.nearness.measure(s.d)
	const rounding = 1e-13 // m, rad
	a := math.Max(s.nearness.angle, 1e-6)
	left := math.Max(rounding, g) // the step takes away what was missed before it
	s.floor = [2]float64{left / a, math.Max(left*largestOf(s.v(s.X))/(a*a), rate/a)}
	if st > Singular {
		return fmt.Errorf("at t = %.9g s: %v", s.T, st)
	}
	return nil
}

// Step makes one step towards end (s).
func (s *Stabilised) Step(end float64) error {
	if h, ok := s.nearness.leap(s.T, end); ok && s.m.loops.n > 0 {
		return s.leap(h, end)
	}
	if s.h == 0 {
		s.h = s.first(end)
	}
	for {
		if s.Accepted+s.Rejected >= s.MaxSteps {
			return fmt.Errorf("at t = %.9g s: %w", s.T, engine.ErrSteps)
		}
		if s.MaxStep > 0 {
			s.h = math.Min(s.h, s.MaxStep)
		}
		h, last := s.h, false
		if left := end - s.T; h > left*(1-1e-9) {
			h, last = left, true
		} else if h > 0.5*left {
			h = 0.5 * left
		}
		if !(s.T+h > s.T) {
			return fmt.Errorf("at t = %.9g s: %w", s.T, engine.ErrStepSize)
		}
		turns, ok := s.solve(h)
		size := math.Inf(1)
		if ok {
			size = s.size(h)
		}
		if !(size <= 1) {
			s.Rejected++
			s.h = h * math.Max(0.2, math.Min(0.9, 0.9*math.Pow(size, -0.25)))
			if !ok {
				s.h = 0.4 * h
			}
			continue
		}
		s.accept(h, end, last)
		if err := s.arrive(); err != nil {
			return err
		}
		s.nearness.noteStep(h, false)
		grow := math.Min(5, 0.9*math.Pow(math.Max(size, 1e-8), -0.25))
		if turns > 25 {
			grow = math.Min(grow, 1)
		}
		if grow > 1 && last {
			grow = math.Max(1, s.h/h) // a step that was cut says nothing against the next
		}
		s.h = h * grow
		return nil
	}
}

// Run steps to end.
func (s *Stabilised) Run(end float64) error {
	for s.T < end {
		if err := s.Step(end); err != nil {
			return err
		}
	}
	return nil
}

// first is a step that changes the state by a hundredth of it.
func (s *Stabilised) first(end float64) float64 {
	if s.FirstStep > 0 {
		return s.FirstStep
	}
	h := end - s.T
	for i, k := range s.slope {
		if k != 0 {
			h = math.Min(h, 1e-3*(math.Abs(s.X[i])+1e-3)/math.Abs(k))
		}
	}
	return h
}

// tolerance is that of component i of the size x. What is missed of the constraints at its beginning, or rounding of them, moves positions
// by ε/angle and velocities by ε·v/angle², which no smaller step makes better.
func (s *Stabilised) tolerance(i int, x float64) float64 {
	t := s.Atol + s.Rtol*x
	switch {
	case i < s.m.nq:
		t += s.floor[0]
	case i < s.m.nq+s.m.nv:
		t += s.floor[1]
	}
	return t
}

// size is the estimated error of the stages by the tolerances.
func (s *Stabilised) size(h float64) float64 {
	sum := 0.0
	for i, x := range s.X {
		e := h * s.slope[i]
		for k := range s.stage {
			e += radauE[k] * (s.stage[k].x[i] - x)
		}
		e *= radauGamma / s.tolerance(i, math.Max(math.Abs(x), math.Abs(s.stage[2].x[i])))
		sum += e * e
	}
	return math.Sqrt(sum / float64(s.n))
}

func (s *Stabilised) accept(h, end float64, last bool) {
	copy(s.x0, s.X)
	copy(s.X, s.stage[2].x)
	Normalise(s.m, s.q(s.X))
	s.StepStart, s.T, s.span = s.T, s.T+h, h
	if last {
		s.T = end
	}
	s.leapCubic.h = 0
	s.Accepted++
	for _, mu := range s.stage[2].mu {
		s.Shift = math.Max(s.Shift, math.Abs(mu))
	}
	s.stage, s.lastStages = s.lastStages, s.stage
}

// At is the state at a time of the last step, StepStart ≤ t ≤ T, on its polynomial.
func (s *Stabilised) At(t float64, x []float64) {
	switch {
	case s.leapCubic.h > 0:
		s.leapCubic.at(t, x)
		return
	case s.span == 0:
		copy(x, s.X)
		return
	}
	s.polynomial((t-s.StepStart)/s.span, x)
}

// polynomial goes through the beginning of the last step and its stages; theta is 0 … 1 in it.
func (s *Stabilised) polynomial(theta float64, x []float64) {
	var w [4]float64
	nodes := [4]float64{0, radauC[0], radauC[1], radauC[2]}
	for i := range nodes {
		w[i] = 1
		for k := range nodes {
			if k != i {
				w[i] *= (theta - nodes[k]) / (nodes[i] - nodes[k])
			}
		}
	}
	for i := range x {
		x[i] = w[0]*s.x0[i] + w[1]*s.lastStages[0].x[i] + w[2]*s.lastStages[1].x[i] + w[3]*s.lastStages[2].x[i]
	}
}

// guess begins the stages of a step of h.
func (s *Stabilised) guess(h float64) {
	for i := range s.stage {
		g := &s.stage[i]
		clear(g.mu)
		if s.span == 0 {
			for k, x := range s.X {
				g.x[k] = x + radauC[i]*h*s.slope[k]
			}
			copy(g.lambda, s.lambda)
			continue
		}
		theta := 1 + radauC[i]*h/s.span
		s.polynomial(theta, g.x)
		var w [3]float64
		for a := range w {
			w[a] = 1
			for b := range w {
				if b != a {
					w[a] *= (theta - radauC[b]) / (radauC[a] - radauC[b])
				}
			}
		}
		for k := range g.lambda {
			g.lambda[k] = w[0]*s.lastStages[0].lambda[k] + w[1]*s.lastStages[1].lambda[k] + w[2]*s.lastStages[2].lambda[k]
		}
	}
}

// solve finds the stages of a step of h.
func (s *Stabilised) solve(h float64) (turns int, ok bool) {
	const most = 60
	s.guess(h)
	before := math.Inf(1)
	for turns = 1; turns <= most; turns++ {
		s.Turns++
		missed := 0.0
		for i := range s.stage {
			m, ok := s.evaluate(s.T+radauC[i]*h, &s.stage[i])
			if !ok {
				return turns, false
			}
			missed = math.Max(missed, m)
		}
		s.constrain(h)
		way := s.move(h)
		if !(way < math.Inf(1)) || turns > 3 && way > 2*before && way > 1 {
			return turns, false
		}
		// the iteration is linear: what is left is less than the last way, unless rounding is all that moves, as near singular positions
		if missed <= closedTol && (way <= 1e-4 || way <= 1e-2 && way <= 0.2*before || turns > 5 && way <= 0.5 && way >= 0.5*before) {
			return turns, true
		}
		before = way
	}
	return turns, false
}

// evaluate finds the forces of a stage and what its constraints miss; of rates (1/s) a tenth counts, or less at high speeds.
func (s *Stabilised) evaluate(t float64, g *radauStage) (missed float64, ok bool) {
	m, d, n := s.m, s.d, s.m.nv
	q, v := s.q(g.x), s.v(g.x)
	s.f(t, q, v, s.z(g.x), s.tau, s.z(g.k))
	s.drive(t)
	if m.prepare(d, q, v) != OK {
		return 0, false
	}
	m.delassus(d)
	copy(g.freeAcc, s.tau)
	m.losses(q, v, g.freeAcc, -1)
	for i := range g.freeAcc {
		g.freeAcc[i] -= d.Tau[i]
	}
	Solve(m, d, g.freeAcc)
	fast := math.Max(10, 1e-2*largestOf(v))
	for r := range g.rate {
		row := g.lift[r*n : r*n+n]
		copy(row, d.w[r*n:r*n+n])
		m.restSolve(d, row)
		g.gap[r], g.rate[r] = -d.G[r], -d.GRate[r]
		missed = math.Max(missed, math.Max(math.Abs(d.G[r]), math.Abs(d.GRate[r])/fast))
	}
	if m.loops.n > 0 {
		d.gram.solve(g.gap)
		d.gram.solve(g.rate)
	}
	return missed, finiteStatus(g.freeAcc) == OK && missed-missed == 0
}

// constrain moves the multipliers of all stages to where their constraints hold.
func (s *Stabilised) constrain(h float64) {
	for i := range s.stage {
		g := &s.stage[i]
		for j := range s.stage {
			a, o := radauInv[i][j]/h, &s.stage[j]
			for r := range g.lambda {
				g.lambda[r] += a * o.rate[r]
				g.mu[r] += a * o.gap[r]
			}
		}
	}
}

// move takes the slopes of the stages and moves these; way is the largest change by the tolerances.
func (s *Stabilised) move(h float64) (way float64) {
	m, n := s.m, s.m.nv
	w := s.err[:n]
	for i := range s.stage {
		g := &s.stage[i]
		a := s.v(g.k)
		copy(a, g.freeAcc)
		copy(w, s.v(g.x))
		for r, l := range g.lambda {
			mu := g.mu[r]
			for k, x := range g.lift[r*n : r*n+n] {
				a[k] += l * x
				w[k] += mu * x
			}
		}
		Rates(m, s.q(g.x), w, s.q(g.k))
	}
	for i := range s.stage {
		g := &s.stage[i]
		sum := 0.0
		for k, x := range s.X {
			y := x + h*(radauA[i][0]*s.stage[0].k[k]+radauA[i][1]*s.stage[1].k[k]+radauA[i][2]*s.stage[2].k[k])
			e := (y - g.x[k]) / s.tolerance(k, math.Abs(y))
			sum += e * e
			g.x[k] = y
		}
		way = math.Max(way, math.Sqrt(sum/float64(s.n)))
		if sum-sum != 0 {
			return math.Inf(1)
		}
	}
	return way
}

// leap goes over a singular position by RK4 and a projection.
func (s *Stabilised) leap(h, end float64) error {
	copy(s.x0, s.X)
	t := s.T
	if st := rungeKutta(s.x0, s.X, &s.rk, h, func(after float64, y, dy []float64) Status { return s.flow(t+after, y, dy) }); st > Singular {
		copy(s.X, s.x0)
		return fmt.Errorf("at t = %.9g s: %v", t, st)
	}
	if s.T += h; h == end-t {
		s.T = end
	}
	Normalise(s.m, s.q(s.X))
	s.drive(s.T)
	if st := Project(s.m, s.d, s.q(s.X), s.v(s.X)); st != OK {
		return fmt.Errorf("projection at t = %.9g s: %v", s.T, st)
	}
	s.StepStart, s.span, s.h = t, 0, s.nearness.cruise
	s.Leaps++
	if err := s.arrive(); err != nil {
		return err
	}
	s.leapCubic.set(t, h, s.x0, s.X, s.rk[0], s.slope)
	s.nearness.noteStep(h, true)
	return nil
}
