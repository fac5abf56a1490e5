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
	Cond   float64 // largest condition number with which the estimate still moves; 0: 40
	Start  [4]float64

	// where it is not known when commands act
	Bows  int                            // that are tried; 0: it is known
	Emf   []float64                      // A per unit of acceleration: each has so much more
	Mixes []Mix                          // of them, one of which is the true one …
	Prior func(dof float64, p []float64) // … how likely each is before the motion says, by what has dof degrees of freedom; nil: as the others
	Noise func() float64                 // A²  variance of a sample of the current; nil: not known
}

// The parameters, in the order of Values.
const (
	PInertia = iota // kg·m²
	PViscous        // N·m·s/rad
	PCoulomb        // N·m
	POffset         // N·m  load torque plus K times the offset of the current sensor
	rlsN
)

// rlsIll is the condition number beyond which the equations so far do not tell the parameters apart.
const rlsIll = 1e9

// RLS estimates J, Fv, Fc and an offset of the torque balance
//
//	K·i = J·dω/dt + Fv·ω + Fc·sgn ω + off
//
// from samples of position and current alone. Nothing is differentiated: the balance is multiplied by a test function φ
// with φ = φ' = φ” = φ”' = 0 at both ends of a window W and integrated by parts,
//
//	K·∫φ·i = J·∫φ''·θ − Fv·∫φ'·θ + Fc·∫φ·sgn ω + off·∫φ,   φ = sin⁴(πt/W) at the samples, straight between them,
//
// one equation per window. φ” is then a pulse at every sample, so that the term of J is the sum of the samples by second differences of φ,
// exact however the speed runs between them. ∫φ” and ∫φ' vanish: the angle counts from the start of the window and may run on for ever. A
// smooth φ needs the speed at the samples, and a polynomial through the positions does not tell it where the torque is held from sample to
// sample: J was 1 % too large at 50 Hz. Integrals by the trapezoid rule cost J 0.2 % and Fv up to 1.6 % in a window of ten samples.
//
// Between the samples the current does not run straight: the voltage steps at the loop's ticks, which are not the device's, and where
// samples are lost it steps many times. The weights above are those of a straight line; what a model of the winding says of the
// current beyond that line comes in by Bow. Left out, it costs the inertia of the demonstration motor 0.5 %, several standard errors
// after a minute.
//
// When a drive takes its commands is not known where it samples more rarely than they come: mixes of several bows may be the true one.
// Each bow is a column of the equations behind the parameters, and the triangular factor of all tells for any mix what it leaves over, and
// the parameters with it. Values are means over the mixes, each by its likelihood, and errors hold how these differ. Two things tell it:
//
//   - a mix leaves over no more than the noise: SS^(−ν/2) with ν degrees of freedom, the error of the equations integrated out;
//   - the motion answers the torque at once, neither earlier nor later: its jerk, −∫φ”'·θ, a column before those of the bows, explains
//     nothing of what is left over.
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
	self   float64 // s²  sum of the squared weights of the current

	// test function at sample j = 0…n: weights of the angle for J, Fv and jerk, of the current, of its bow on either side, of a constant
	wJ, wV, wLag, wI, wBow []float64
	phiIntegral            float64 // s  ∫φ

	// windows under way: the second starts n/2 samples after the first
	acc          [2]window
	run          int // samples since the run began
	lastPosition float64
	sign         float64
	bow          Bow       // since the sample before, beside …
	bows         []Bow     // … one of these
	rowOld       []float64 // whitened row before, the right-hand side behind it
	row          []float64
	dOld         float64 // its Cholesky diagonal; 0: none

	// information and trial of its next update, of parameters, jerk and bows; that of the parameters alone; sums of weights, and squared
	info        *numeric.Factor
	trialInfo   *numeric.Factor
	paramInfo   *numeric.Factor
	w1, w2      float64
	mixes       mixes
	theta       [rlsN]float64
	se          [rlsN]float64
	cond        float64
	windows     uint64
	idleSamples int // samples since the last accepted window
	accepted    bool
}

// NewRLS checks the description and tabulates the test function.
func NewRLS(s RLSSpec) (*RLS, error) {
	errs := []error{
		above0("rls: sample period", s.Dt, "s"), above0("rls: torque constant", s.K, "N·m/A"), above0("rls: window", s.Window, "s"),
		above0("rls: smallest speed", s.MinVel, "rad/s"), atLeast0("rls: memory", s.Memory, "s"), atLeast0("rls: count", s.Count, "rad"),
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
	all := rlsN + min(s.Bows, 1) + s.Bows
	r := &RLS{s: s, n: n, lambda: 1, bows: make([]Bow, s.Bows), mixes: newMixes(&s)}
	r.row, r.rowOld = make([]float64, all+1), make([]float64, all+1)
	r.info, r.trialInfo, r.paramInfo = numeric.NewFactorBlock(all, 1), numeric.NewFactorBlock(all, 1), numeric.NewFactorBlock(rlsN, 1)
	for i := range r.acc {
		r.acc[i].bows = make([]float64, s.Bows)
	}
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
	r.w1, r.w2 = 0, 0
	r.theta = r.s.Start
	for i := range r.se {
		r.se[i] = math.Inf(1)
	}
	r.cond = math.Inf(1)
	r.windows, r.idleSamples, r.accepted = 0, 0, false
	r.Gap()
}

// Retune forgets everything and goes on with another torque constant (N·m/A).
func (r *RLS) Retune(k float64) {
	r.s.K = k
	r.Reset()
}

// Gap tells that samples are missing: windows under way are dropped.
func (r *RLS) Gap() {
	r.run, r.sign, r.dOld = 0, 0, 0
	r.Bow(Bow{}, nil)
	r.acc[0].index, r.acc[1].index = -1, -1
}

// Bow is by how much a current (A) is above the straight line between two samples: its means over the interval between them, x = 0 … 1,
// with the weights 1 − x and x. The sum of both is by how much its mean is.
type Bow struct{ Fall, Rise float64 }

func (b Bow) orZero() Bow { return Bow{numeric.OrZero(b.Fall), numeric.OrZero(b.Rise)} }

// Bow tells the bow of the current since the last sample before Step takes the next one: what is known of it, and what one of the bows that
// are tried says beside that. Without it the current runs straight.
func (r *RLS) Bow(known Bow, tried []Bow) {
	r.bow = known.orZero()
	clear(r.bows)
	for i, b := range tried {
		r.bows[i] = b.orZero()
	}
}

// bowBetween is the bow between two states [θ ω i T] that a motor model went through in dt (s), whatever the voltage did:
//
//	K·∫i dt = J·Δω + T·dt,   K·∫(1 − t/dt)·i dt = J·(Δθ/dt − ω) + T·dt/2
func bowBetween(m plant.Motor, from, to []float64, dt float64) Bow {
	mean := (m.J*(to[XVel]-from[XVel])/dt + from[XTorque]) / m.K
	fall := (m.J*((to[XPos]-from[XPos])/dt-from[XVel])/dt + from[XTorque]/2) / m.K
	return Bow{fall - from[XCur]/3 - to[XCur]/6, mean - fall - from[XCur]/6 - to[XCur]/3}
}

// Step takes one sample of position (rad) and current (A) of the same instant, and an estimate of the speed (rad/s) that
// decides about sign and window, not about the equations. Ticks without a fresh sample are passed over: samples count, not
// ticks. It reports whether the estimate moved.
func (r *RLS) Step(theta, velocity, current float64, fresh bool) (updated bool) {
	r.idleSamples++
	if !fresh {
		return false
	}
	if !numeric.IsFinite(theta + velocity + current) {
		r.Gap()
		return false
	}
	// usable motion? fast enough, one direction, no sample lost
	sign := math.Copysign(1, velocity)
	if math.Abs(velocity) < r.s.MinVel || r.run > 0 && sign != r.sign {
		r.Gap()
		return false
	}
	if move := velocity * r.s.Dt; r.run > 0 && math.Abs(theta-r.lastPosition-move) > 0.5*math.Abs(move)+2*r.s.Count {
		r.Gap()
	}
	r.sign, r.lastPosition = sign, theta
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
		if a.index < 0 {
			continue
		}
		d := theta - a.theta0
		a.sumJ += r.wJ[a.index] * d
		a.sumV += r.wV[a.index] * d
		a.sumLag += r.wLag[a.index] * d
		r.add(a, current, true)
		if a.index++; a.index > r.n {
			row := r.row
			row[PInertia], row[PViscous], row[PCoulomb], row[POffset] = a.sumJ, a.sumV, r.sign*r.phiIntegral, r.phiIntegral
			if len(a.bows) > 0 {
				row[rlsN] = a.sumLag
			}
			for i, b := range a.bows {
				row[rlsN+1+i] = -r.s.K * (b + r.s.Emf[i]*a.sumJ)
			}
			row[len(row)-1] = r.s.K * a.sumI
			updated = r.addRow(row) || updated
			// the last sample of a window is the first of the next; its weights are zero there but for the current's
			a.start(theta)
			r.add(a, current, false)
			a.index = 1
		}
	}
	r.Bow(Bow{}, nil)
	return updated
}

// add takes a current into the integrals of a window, with the bow behind the sample before.
func (r *RLS) add(a *window, current float64, bowed bool) {
	a.sumI += r.wI[a.index] * current
	if a.index == 0 || !bowed {
		return
	}
	fall, rise := r.wBow[a.index-1], r.wBow[a.index]
	a.sumI += fall*r.bow.Fall + rise*r.bow.Rise
	for i, b := range r.bows {
		a.bows[i] += fall*b.Fall + rise*b.Rise
	}
}

// addRow whitens the row of a finished window, its right-hand side behind it, and adds it to the information.
func (r *RLS) addRow(row []float64) bool {
	// whiten against the window before, if that belongs to the same run
	d := 1.0
	if r.dOld > 0 {
		l := r.rho / r.dOld
		d = math.Sqrt(1 - l*l)
		for j := range row {
			row[j] = (row[j] - l*r.rowOld[j]) / d
		}
	}
	copy(r.rowOld, row)
	r.dOld = d

	// trial update with forgetting
	all := len(row) - 1
	r.trialInfo.Set(r.info)
	r.trialInfo.Scale(math.Sqrt(r.lambda))
	r.trialInfo.Add(row[:all], row[all])
	w1, w2 := r.lambda*r.w1+1, r.lambda*r.lambda*r.w2+1

	// is the information still good, or at least getting better? The bows are no matter of excitation
	var se [rlsN]float64
	r.paramInfo.Leading(r.trialInfo)
	cond := r.paramInfo.Errors(se[:])
	if cond > rlsIll {
		cond = math.Inf(1)
	}
	if !(cond <= r.s.Cond || cond < r.cond || math.IsInf(r.cond, 1)) {
		return false
	}
	r.info, r.trialInfo = r.trialInfo, r.info
	r.w1, r.w2, r.cond = w1, w2, cond
	r.windows++
	if !(cond <= r.s.Cond) || r.paramInfo.Solve(r.theta[:]) != nil {
		return false
	}
	r.idleSamples, r.accepted = 0, true
	// variances of a weighted estimate: those of σ²·A⁻¹·(Σw²φφᵀ)·A⁻¹ ≈ σ²·A⁻¹·Σw²/Σw
	ratio := r.w2 / r.w1
	floor := 0.0
	if r.s.Noise != nil {
		floor = r.s.K * r.s.K * r.self * r.s.Noise() * r.w1
	}
	r.mixes.solve(r.info, r.DoF(), floor, &r.theta)
	for i := range r.se {
		r.se[i] = math.Inf(1)
		// residual variance on the degrees of freedom that weighting leaves: E[ρ²] = σ²·(Σw − p·Σw²/Σw)
		if dof := r.w1 - rlsN*ratio; dof > 0.5 {
			r.se[i] = math.Sqrt(se[i]*se[i]*r.mixes.rest/dof*ratio + r.mixes.spread[i])
		}
	}
	return true
}

// Values writes J, Fv, Fc and the offset. Before the motion was rich enough they are Start.
func (r *RLS) Values(dst []float64) { copy(dst, r.theta[:rlsN]) }

// inertia is what was found, or what was assumed as long as it is not known to a tenth.
func (r *RLS) inertia(assumed float64) float64 {
	if found := r.theta[PInertia]; r.accepted && found > 10*r.se[PInertia] {
		return found
	}
	return assumed
}

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
	return r.accepted && float64(r.idleSamples)*r.s.Dt < 1+r.s.Window
}
