package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
)

// RLSSpec describes the recursive least squares.
type RLSSpec struct {
	Dt     float64 // s      from sample to sample
	K      float64 // N·m/A  torque constant
	Window float64 // s      length of the test functions, rounded to an even number of samples, at least 8
	MinVel float64 // rad/s  windows that go below this speed are left out; at least three times the Stribeck velocity
	Memory float64 // s      of accepted motion after which a window weighs 1/e; 0: no forgetting
	Count  float64 // rad    one encoder count; only used to recognise lost samples
	Lag    float64 // s      standard deviation of the time by which commands may be taken later, or earlier, than the bow has it; 0: they are taken then
	Cond   float64 // largest condition number with which the estimate still moves; 0: 40
	Start  [4]float64
}

// The parameters, in the order of Values.
const (
	PInertia = iota // kg·m²
	PViscous        // N·m·s/rad
	PCoulomb        // N·m
	POffset         // N·m  load torque plus K times the offset of the current sensor
	rlsN
)

const (
	rlsLag = rlsN     // column of the lag, where it is one …
	rlsBow = rlsN + 1 // … and of the share of the bow
	rlsW   = rlsN + 2 // parameters, lag and share; the right-hand side stands behind them
	rlsIll = 1e9      // condition number beyond which the equations so far do not tell the parameters apart
	// the share of the bow is 0 or 1, or between where the lag is: known beforehand to be a half, as far off
	shareGuess, shareDoubt = 0.5, 0.5

	rlsPin = 1e6 // of lag and share: weight that makes them what they are without a record
)

// RLS estimates J, Fv, Fc and an offset of the torque balance
//
//	K·i = J·dω/dt + Fv·ω + Fc·sgn ω + off
//
// from samples of position and current alone. Nothing is differentiated: the balance is multiplied by a test function φ
// with φ = φ' = φ” = φ”' = 0 at both ends of a window W and integrated by parts,
//
//	K·∫φ·i = J·∫φ''·θ − Fv·∫φ'·θ + Fc·∫φ·sgn ω + off·∫φ,   φ(t) = sin⁴(πt/W),
//
// one equation per window. ∫φ” and ∫φ' vanish, so the angle counts from the start of the window and may run on for ever. The sums
// are those of the balances of the intervals between samples: means of current and speed, change of the speed. Integrals of φ”·θ and
// of φ·i by the trapezoid rule cost J 0.2 % and Fv up to 1.6 % in a window of ten samples.
//
// Between the samples the current does not run straight: the voltage steps at the loop's ticks, which are not the device's, and where
// samples are lost it steps many times. The weights above are those of a straight line; what a model of the winding says of the mean
// current beyond that line comes in by Bow. Left out, it costs the inertia of the demonstration motor 0.5 %, several standard errors
// after a minute.
//
// When a drive takes its commands is not known where it samples more rarely than they come. A command y (in units of the current) that is
// taken at another time than the bow has it makes a torque that is K·λ·dy/dt larger, λ at most half a sampling period. With y
// straight between its values,
//
//	∫φ·y(t − λ) = S₀ + λ·S₁ + λ²/2·S₂,   S₁ = ∫φ'·y,  S₂ = ∫φ''·y,
//
// so λ is one more unknown, linear around the last one (Gauss and Newton). It is known to be near zero: that is one more equation, by the
// variance of the residual against Lag². Where the motion does not tell λ, the errors of the others hold what it may be.
//
// Such a drive may take each command, or one a sample. One that holds a command from sample to sample has no bow but for its lag: with
// that the straight line is right. So the share of the bow that is there is an unknown too, known beforehand to be ½ ± ½.
//
// White residuals. Windows overlap by half, which uses nearly all of the record: sin⁴ and cos⁴ sum to almost a constant.
// Neighbouring windows then share a correlation ρ ≈ 0.043 of the noise, and windows further apart none. The
// covariance of a run of windows is tridiagonal and its Cholesky factor is carried along, so each row is whitened exactly
// by the one before it: row'_k = (row_k − l_k·row'_{k−1})/d_k, l_k = ρ/d_{k−1}, d_k² = 1 − l_k². Standard errors from
// white residuals need no correction.
//
// Windows in which the speed falls below MinVel or changes sign are dropped: there friction is Stribeck and presliding,
// not Fv·ω + Fc·sgn ω. So are windows with a lost sample, recognised by a displacement that does not fit the speed.
//
// The least squares are kept as the triangular factor of the information, updated by reflections: half the digits that a
// covariance would need, positive by construction, and it knows the residual. Forgetting
// multiplies the factor by √λ, λ = e^{−W/(2·Memory)}, only when a window is taken.
//
// Excitation. The information, scaled to unit diagonal, must have a condition number below Cond. A window whose update
// with forgetting would take it above (motion at one speed, in one direction) is refused, so old knowledge is not forgotten
// in exchange for nothing, and at rest nothing changes at all. Excited tells.
type RLS struct {
	s      RLSSpec
	n      int // samples in a window, intervals between them
	lambda float64
	rho    float64

	// test function at sample j = 0…n: weights of the angle for J and Fv, of the current, of a constant
	wJ, wV, wI []float64
	wBow       []float64    // … of the bow of the current behind it
	wLag       [2][]float64 // φ' and φ'' there
	one        float64      // s  ∫φ

	// windows under way: the second starts n/2 samples after the first
	acc    [2]window
	run    int // samples since the run began
	last   float64
	sign   float64
	bow    float64           // A  since the sample before …
	filled bool              // … and a sample at either end is the model's, which made the bow too
	push   float64           // A  what commands asked for since then; NaN: what there was
	before float64           // A  current of the sample before
	rowOld [rlsW + 1]float64 // whitened row before
	dOld   float64           // its Cholesky diagonal; 0: none

	// information and trial of its next update, that with what is known of the lag, sums of weights and squared weights
	info     *numeric.Factor
	next     *numeric.Factor
	whole    *numeric.Factor
	w1, w2   float64
	s2       float64 // variance of the residual; 0: not known
	unknowns int     // parameters, and lag and share of the bow where they are some
	theta    [rlsW]float64
	se       [rlsW]float64
	cond     float64
	windows  uint64
	idle     int // samples since the last accepted window
	accepted bool
}

// NewRLS checks the description and tabulates the test function.
func NewRLS(s RLSSpec) (*RLS, error) {
	errs := []error{
		above0("rls: sample period", s.Dt, "s"), above0("rls: torque constant", s.K, "N·m/A"), above0("rls: window", s.Window, "s"),
		above0("rls: smallest speed", s.MinVel, "rad/s"), atLeast0("rls: memory", s.Memory, "s"), atLeast0("rls: count", s.Count, "rad"),
		atLeast0("rls: lag", s.Lag, "s"),
	}
	if s.Cond == 0 {
		s.Cond = 40
	}
	if !(s.Cond > 1) {
		errs = append(errs, fmt.Errorf("rls: condition number: %g, want > 1", s.Cond))
	}
	n := 2 * int(math.Round(s.Window/s.Dt/2))
	if errors.Join(errs...) == nil && (n < 8 || n > 1<<16) {
		errs = append(errs, fmt.Errorf("rls: window: %g s is %d samples, want 8 to %d", s.Window, n, 1<<16))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	r := &RLS{s: s, n: n, lambda: 1, unknowns: rlsN}
	if s.Lag > 0 {
		r.unknowns = rlsW
	}
	r.info, r.next, r.whole = numeric.NewFactorBlock(r.unknowns, 1), numeric.NewFactorBlock(r.unknowns, 1), numeric.NewFactorBlock(r.unknowns, 1)
	if s.Memory > 0 {
		r.lambda = math.Exp(-0.5 * float64(n) * s.Dt / s.Memory)
	}
	r.tabulate()
	r.Reset()
	return r, nil
}

// Reset forgets everything; Values are those of the start.
func (r *RLS) Reset() {
	r.info.Reset()
	r.w1, r.w2, r.s2 = 0, 0, 0
	r.theta = [rlsW]float64{}
	copy(r.theta[:], r.s.Start[:])
	for i := range r.se {
		r.se[i] = math.Inf(1)
	}
	r.cond = math.Inf(1)
	r.windows, r.idle, r.accepted = 0, 0, false
	r.Gap()
}

// Retune forgets everything and goes on with another torque constant (N·m/A).
func (r *RLS) Retune(k float64) {
	r.s.K = k
	r.Reset()
}

// Gap tells that samples are missing: windows under way are dropped.
func (r *RLS) Gap() {
	r.run, r.sign, r.dOld, r.bow, r.push = 0, 0, 0, 0, math.NaN()
	r.acc[0].at, r.acc[1].at = -1, -1
}

// Bow tells by how much (A) the mean of the current since the last sample is above the straight line to the next one, before Step takes
// that, and how large a current (A) the commands meanwhile ask for: it counts by its changes only. Without it the current runs straight,
// and asks for itself. filled tells that a sample at either end is the model's, which made the bow too.
func (r *RLS) Bow(current, asked float64, filled bool) {
	r.bow, r.push, r.filled = numeric.OrZero(current), asked, filled
}

// Bow is by how much the mean current (A) lies above the straight line between two states [θ ω i T] that a motor model went through in
// dt (s): K·∫i = J·Δω + T·dt, whatever the voltage did.
func Bow(m plant.Motor, from, to []float64, dt float64) float64 {
	return (m.J*(to[XVel]-from[XVel])/dt+from[XTorque])/m.K - 0.5*(from[XCur]+to[XCur])
}

// Step takes one sample of position (rad) and current (A) of the same instant, and an estimate of the speed (rad/s) that
// decides about sign and window, not about the equations. Ticks without a fresh sample are passed over: samples count, not
// ticks. It reports whether the estimate moved.
func (r *RLS) Step(theta, velocity, current float64, fresh bool) (updated bool) {
	r.idle++
	if !fresh {
		return false
	}
	if !numeric.Finite(theta + velocity + current) {
		r.Gap()
		return false
	}
	// usable motion? fast enough, one direction, no sample lost
	sign := math.Copysign(1, velocity)
	if math.Abs(velocity) < r.s.MinVel || r.run > 0 && sign != r.sign {
		r.Gap()
		return false
	}
	if move := velocity * r.s.Dt; r.run > 0 && math.Abs(theta-r.last-move) > 0.5*math.Abs(move)+2*r.s.Count {
		r.Gap()
	}
	r.sign, r.last = sign, theta
	between := interval{bow: r.bow, push: r.push, filled: r.filled}
	if math.IsNaN(between.push) {
		between.push = (r.before+current)/2 + r.bow
	}
	r.bow, r.push, r.before = 0, math.NaN(), current

	// the second window of a run starts half a window later; from then on both restart where they end
	if r.run == 0 {
		r.acc[0].start(theta)
	}
	if r.run == r.n/2 {
		r.acc[1].start(theta)
	}
	r.run++
	for i := range r.acc {
		a := &r.acc[i]
		if a.at < 0 {
			continue
		}
		d := theta - a.theta0
		a.sumJ += r.wJ[a.at] * d
		a.sumV += r.wV[a.at] * d
		r.add(a, current, between)
		if a.at++; a.at > r.n {
			// K·(S₀ + λ·S₁ + λ²/2·S₂) around the last λ
			k, lag := r.s.K, r.theta[rlsLag]
			row := [rlsW + 1]float64{
				a.sumJ, a.sumV, r.sign * r.one, r.one,
				-k * (a.sumLag[0] + lag*a.sumLag[1]), -k * a.sumBow,
				k * (a.sumI - lag*lag/2*a.sumLag[1]),
			}
			if r.unknowns == rlsN {
				row[rlsW] += k * a.sumBow
			}
			updated = r.take(row) || updated
			// the last sample of a window is the first of the next; its weights are zero there but for the current's
			a.start(theta)
			r.add(a, current, interval{})
			a.at = 1
		}
	}
	return updated
}

// interval is what was between two samples, both in A: by how much the mean current was above the straight line, and what commands made
// of it; filled: a sample at either end is the model's.
type interval struct {
	bow, push float64
	filled    bool
}

// add takes a current into the integrals of a window, and what was since the sample before.
func (r *RLS) add(a *window, current float64, since interval) {
	a.sumI += r.wI[a.at] * current
	if a.at == 0 {
		return
	}
	if since.filled {
		a.sumI += r.wBow[a.at-1] * since.bow
	} else {
		a.sumBow += r.wBow[a.at-1] * since.bow
	}
	for i := range a.sumLag {
		a.sumLag[i] += r.wLag[i][a.at-1] * since.push
	}
}

// take whitens the row of a finished window and adds it to the information.
func (r *RLS) take(row [rlsW + 1]float64) bool {
	// whiten against the window before, if that belongs to the same run
	d := 1.0
	if r.dOld > 0 {
		l := r.rho / r.dOld
		d = math.Sqrt(1 - l*l)
		for j := range row {
			row[j] = (row[j] - l*r.rowOld[j]) / d
		}
	}
	r.rowOld, r.dOld = row, d

	// trial update with forgetting
	r.next.Set(r.info)
	r.next.Scale(math.Sqrt(r.lambda))
	r.next.Add(row[:r.unknowns], row[rlsW])
	w1, w2 := r.lambda*r.w1+1, r.lambda*r.lambda*r.w2+1

	// is the information still good, or at least getting better?
	var se [rlsW]float64
	// lag and share are no matter of excitation: what the motion does not tell of them is known beforehand
	none := 1e-12 * math.Abs(row[POffset]) // where there is no lag, or no bow, any weight does
	whole := r.withLag(rlsPin*math.Max(none, math.Abs(row[rlsLag])), rlsPin*math.Max(none, math.Abs(row[rlsBow])))
	cond := whole.Errors(se[:r.unknowns])
	if cond > rlsIll {
		cond = math.Inf(1)
	}
	if !(cond <= r.s.Cond || cond < r.cond || math.IsInf(r.cond, 1)) {
		return false
	}
	if r.unknowns > rlsN && r.s2 > 0 {
		sigma := math.Sqrt(r.s2 * w2 / w1)
		whole = r.withLag(sigma/r.s.Lag, sigma/shareDoubt)
		whole.Errors(se[:r.unknowns])
	}
	r.info, r.next = r.next, r.info
	r.w1, r.w2, r.cond = w1, w2, cond
	r.windows++
	if !(cond <= r.s.Cond) || whole.Solve(r.theta[:r.unknowns]) != nil {
		return false
	}
	r.idle, r.accepted = 0, true

	// residual variance on the degrees of freedom that weighting leaves: E[ρ²] = σ²·(Σw − p·Σw²/Σw)
	ratio := r.w2 / r.w1
	s2 := math.Inf(1)
	if dof := r.w1 - float64(r.unknowns)*ratio; dof > 0.5 {
		s2 = whole.SumSquares() / dof
		r.s2 = s2
	}
	// covariance of a weighted estimate: σ²·A⁻¹·(Σw²φφᵀ)·A⁻¹ ≈ σ²·A⁻¹·Σw²/Σw
	for i := range r.unknowns {
		r.se[i] = se[i] * math.Sqrt(s2*ratio)
	}
	return true
}

// withLag is the information of the trial with a lag that is near zero and half of the bow, by so much.
func (r *RLS) withLag(lag, bow float64) *numeric.Factor {
	if r.unknowns == rlsN {
		return r.next
	}
	known := [rlsW]float64{rlsLag: lag}
	r.whole.Set(r.next)
	r.whole.Add(known[:], 0)
	known = [rlsW]float64{rlsBow: bow}
	r.whole.Add(known[:], shareGuess*bow)
	return r.whole
}

// Values writes J, Fv, Fc and the offset. Before the motion was rich enough they are Start.
func (r *RLS) Values(dst []float64) { copy(dst, r.theta[:rlsN]) }

// StdErrs writes the standard errors of Values; +Inf before the motion was rich enough. Few windows tell the variance of the residual
// badly, and what a parameter may be is spread like Student's t: its standard deviation is given, √(ν/(ν−2)) times what the
// residual says [JCGM 101:2008, 6.4.9.4]. Twice that is the 95 % interval for any ν.
func (r *RLS) StdErrs(dst []float64) {
	dof := r.DoF()
	for i := range dst[:rlsN] {
		if dst[i] = math.Inf(1); dof > 2 {
			dst[i] = math.Sqrt(dof/(dof-2)) * r.se[i]
		}
	}
}

// Lag is the time (s) by which commands are taken later than the bow has it, and its standard error; 0 and +Inf where it is no unknown.
func (r *RLS) Lag() (lag, se float64) { return r.theta[rlsLag], r.se[rlsLag] }

// Windows counts the equations taken.
func (r *RLS) Windows() uint64 { return r.windows }

// DoF is the effective number of equations less the number of parameters: the degrees of freedom of a t interval.
func (r *RLS) DoF() float64 {
	if r.w2 == 0 {
		return 0
	}
	return max(0, r.w1*r.w1/r.w2-rlsN)
}

// Cond is the condition number of the regressor matrix with columns scaled to unit length, in the Frobenius norm (4 at
// best; never less than the usual one and at most about twice as much). +Inf before there are four independent equations.
func (r *RLS) Cond() float64 { return r.cond }

// Excited tells that the motion of the last second was rich enough for the estimate to follow it.
func (r *RLS) Excited() bool {
	return r.accepted && float64(r.idle)*r.s.Dt < 1+r.s.Window
}
