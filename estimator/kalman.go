package estimator

import (
	"errors"
	"math"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/engine/plant"
)

// KalmanSpec describes the filter of a motor that is driven by a voltage.
type KalmanSpec struct {
	Dt            float64     // s         from sample to sample as a rule; every other interval is predicted as exactly
	Motor         plant.Motor // as the model knows it; J includes the load
	Count         float64     // rad       one encoder count; used when PositionNoise is 0
	PositionNoise float64     // rad       standard deviation of the position; 0: Count/√12
	CurrentNoise  float64     // A         standard deviation of the current
	VelocityNoise float64     // rad/s     standard deviation of the velocity at rest; 0: none is measured
	VelocityShare float64     // 1         … of a moving axis: this share of the velocity comes to it
	TorqueWalk    float64     // N·m/√s    random walk of friction and load
	VoltageNoise  float64     // V         standard deviation of the applied voltage, fresh every Dt
	TopVoltage    float64     // V         the drive applies no more; 0: not known, no sample is refused
	TopSpeed      float64     // rad/s     the axis turns no faster; 0: TopVoltage/K
}

// State of the filter, and what State writes.
const (
	XPos    = iota // rad
	XVel           // rad/s
	XCur           // A
	XTorque        // N·m  friction and load, opposing positive motion
	nX
)

type (
	vector [nX]float64
	matrix [nX][nX]float64
)

// The rows of y, and what each of them measures.
const nY = 3

var sensed = [nY]int{XPos, XCur, XVel}

// Kalman estimates position, speed, current and friction torque of an axis from its input and from samples of position,
// current and velocity that may be late, uneven, lost or wild. The equations of motion are those of a model: electrical or
// mechanical.
//
// The filter lives in the time of its newest sample. Predict carries state and covariance over the interval to the next one,
// whatever that is, and Correct takes what came then: the gain belongs to the interval that really passed. A constant gain
// made for one period is too large after a longer one and lets the error grow without end. With the covariance carried along
// the filter is stable for every pattern of samples that shows the position again and again. Extrapolate gives the state at a later
// moment.
type Kalman struct {
	model
	s limits
	belief

	timing float64 // s  standard deviation of the times of samples
}

// model is what a filter knows of the motion of its axis. u is the input: V, N·m or N.
type model interface {
	// predict carries state and covariance over dt (s) under an input that rises by rise about its mean u, with white noise of
	// the input (its unit squared times s).
	predict(x *vector, p *matrix, dt, u, rise, white float64)
	// extrapolate carries the state alone, under a constant input.
	extrapolate(x *vector, dt, u float64)
	// acceleration is the largest that the axis can have in a state (rad/s² or m/s²); +Inf: not known.
	acceleration(x *vector) float64
}

// limits are the numbers of a filter that are no part of its model.
type limits struct {
	dt         float64     // s   from sample to sample as a rule
	r          [nY]float64 // variances of the measurements; 0: not measured
	share      float64     // standard deviation of a velocity as a share of it, beside r
	position   float64     // rad or m  standard deviation of the position
	inputNoise float64     // V²·s, (N·m)²·s or N²·s  strength of the noise of the input
	prior      vector      // standard deviations of the state of an axis of which only the position is known
	topSpeed   float64     // rad/s or m/s; 0: not known
	topCurrent float64     // A; 0: not known
	screened   bool        // positions and velocities that the axis cannot have are refused
}

// belief is what the samples so far say. It holds no pointer: a copy is a point to which the filter can go back.
type belief struct {
	x      vector
	p      matrix
	primed bool // the first position has come

	screen         screen
	nis            float64 // of the last correction
	nisSamples     int     // … and the number of samples in it
	lastInnovation float64 // normalised innovation of the newest position
	noise          float64 // slow mean of half the squared differences of successive ones: 1 where all noise levels are right
	misfit         float64 // the same, of which one sample can make up a tenth of misfitTop at most
}

const (
	longest   = 64  // periods across which is predicted; what comes after a longer gap is a new beginning
	misfitAge = 100 // positions over which the misfit is averaged
	misfitTop = MaxNoise * MaxNoise

	// MaxNoise is the noise of a position, in units of what all declared noise explains, above which the estimate is not sound.
	MaxNoise = 10
)

// NewKalman checks the description and discretises the model.
func NewKalman(s KalmanSpec) (*Kalman, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	m := new(electrical)
	m.set(&s)
	return &Kalman{model: m, s: s.limits()}, nil
}

// prepare fills in what follows from other numbers, and checks.
func (s *KalmanSpec) prepare() error {
	s.fill()
	return s.validate()
}

func (s *KalmanSpec) fill() {
	if s.PositionNoise == 0 {
		s.PositionNoise = s.Count / math.Sqrt(12)
	}
	if s.TopSpeed == 0 {
		s.TopSpeed = s.TopVoltage / s.Motor.K
	}
}

// limits of the filter.
func (s *KalmanSpec) limits() limits {
	m := &s.Motor
	l := limits{dt: s.Dt, position: s.PositionNoise, inputNoise: s.VoltageNoise * s.VoltageNoise * s.Dt, topSpeed: s.TopSpeed,
		share: s.VelocityShare, screened: s.TopVoltage > 0,
		r: [nY]float64{s.PositionNoise * s.PositionNoise, s.CurrentNoise * s.CurrentNoise, s.VelocityNoise * s.VelocityNoise}}
	// any speed, current and torque that the motor can have; without a top voltage, any that motors have
	speed, current := 1000.0, 10.0 // rad/s, A
	if s.TopVoltage > 0 {
		speed, current = s.TopSpeed, s.TopVoltage/m.R
		l.topCurrent = (s.TopVoltage+m.K*s.TopSpeed)/m.R + sigmaFactor*s.CurrentNoise
	}
	l.prior = vector{XPos: s.PositionNoise, XVel: speed, XCur: current, XTorque: m.K * current}
	return l
}

func (s *KalmanSpec) validate() error {
	return errors.Join(s.Motor.Validate(),
		above0("kalman: period", s.Dt, "s"), above0("kalman: position noise (or the size of a count)", s.PositionNoise, "rad"),
		above0("kalman: current noise", s.CurrentNoise, "A"), atLeast0("kalman: velocity noise", s.VelocityNoise, "rad/s"),
		atLeast0("kalman: share of velocity noise", s.VelocityShare, ""),
		above0("kalman: torque walk", s.TorqueWalk, "N·m/√s"),
		atLeast0("kalman: voltage noise", s.VoltageNoise, "V"), atLeast0("kalman: top voltage", s.TopVoltage, "V"),
		atLeast0("kalman: top speed", s.TopSpeed, "rad/s"))
}

// Reset forgets everything; the next position is taken as it comes.
func (k *Kalman) Reset() { k.belief = belief{} }

// begin puts the axis at a position (rad or m), with the prior for everything else.
func (k *Kalman) begin(position float64) {
	k.Reset()
	for i, sd := range k.s.prior {
		k.p[i][i] = sd * sd
	}
	k.x[XPos], k.primed = position, true
}

// Predict carries the estimate over dt (s), the time since the newest sample, under the input u (V, N·m or N) with the standard
// deviation su beside the usual noise: what is not known of the input where samples are missing. Across more than 64
// periods, or back in time, nothing is predicted: the next position is a new beginning.
func (k *Kalman) Predict(dt, u, su float64) { k.predictRamp(dt, u, 0, su) }

// predictRamp is Predict for an input that rises by rise about its mean u.
func (k *Kalman) predictRamp(dt, u, rise, su float64) {
	if !k.primed || !(dt > 0 && dt <= longest*k.s.dt) {
		k.Reset()
		return
	}
	k.screen.positionAge += dt
	k.screen.unheard += dt
	// an error of the input that is constant within a period, or over all of dt, as the white noise of the same strength
	k.predict(&k.x, &k.p, dt, u, rise, k.s.inputNoise+su*su*dt)
}

// Extrapolate carries x = [θ, ω, i, T], an estimate of the time of the newest sample, by dt (s) under the input u (V, N·m or N), in
// place. At most 50 periods: what lies beyond is no estimate any more.
func (k *Kalman) Extrapolate(x []float64, dt, u float64) {
	if !(dt > 0) || math.IsNaN(u) {
		return
	}
	k.extrapolate((*vector)(x), min(dt, 50*k.s.dt), u)
}

// Correct takes the samples y = [position rad, current A, velocity rad/s] of the time to which Predict went, those that are fresh. It
// tells which it took (see screen for those it refuses) and whether the position jumped: then the filter begins anew from it.
// engine.NonFinite: the estimate was no number any more, and the filter waits for a new position.
func (k *Kalman) Correct(y *[nY]float64, fresh *[nY]bool) (taken [nY]bool, jumped bool, st engine.Status) {
	k.nis, k.nisSamples = 0, 0
	for j := range y {
		taken[j] = fresh[j] && numeric.IsFinite(y[j]) && k.s.r[j] > 0
	}
	if taken[0] {
		if !k.primed {
			k.begin(y[0])
		}
		taken[0], jumped = k.admit(y[0])
		if jumped {
			k.begin(y[0])
		}
	}
	taken[1] = taken[1] && k.primed && (k.s.topCurrent == 0 || math.Abs(y[1]) <= k.s.topCurrent)
	taken[2] = taken[2] && k.primed && k.admitVelocity(y[2])
	for j := range y {
		if !taken[j] {
			continue
		}
		speed := k.x[XVel]
		nu, s := k.update(j, y[j])
		if j == 0 {
			k.compare(nu / math.Sqrt(s+9*speed*speed*k.timing*k.timing))
		}
		k.nis += nu * nu / s
		k.nisSamples++
	}
	for i, x := range k.x {
		if !numeric.IsFinite(x) || !numeric.IsFinite(k.p[i][i]) {
			k.Reset()
			return [nY]bool{}, false, engine.NonFinite
		}
	}
	return taken, jumped, engine.OK
}

// variance of the noise of a sample.
func (k *Kalman) variance(j int, y float64) float64 {
	r := k.s.r[j]
	if c := k.s.share * y; sensed[j] == XVel {
		r += c * c
	}
	return r
}

// update takes one sample: a scalar update of the covariance in Joseph's form, P ← (I − g·hᵀ)·P·(I − g·hᵀ)ᵀ + g·r·gᵀ, which
// keeps P symmetric and positive whatever rounding does to g. It returns the innovation and its variance.
func (k *Kalman) update(j int, y float64) (nu, s float64) {
	c := sensed[j]
	nu, s = y-k.x[c], k.p[c][c]+k.variance(j, y)
	var g, ph vector
	for i := range g {
		ph[i] = k.p[i][c]
		g[i] = ph[i] / s
		k.x[i] += g[i] * nu
	}
	for i := range g {
		for l := range i + 1 {
			v := k.p[i][l] - g[i]*ph[l] - ph[i]*g[l] + g[i]*s*g[l]
			k.p[i][l], k.p[l][i] = v, v
		}
	}
	return nu, s
}

// compare takes the normalised innovation of a position. Noise, and steps that are coarser than declared, change it from one
// sample to the next; a load, a wrong inertia or a friction that the random walk is too slow for drag it along, and their
// differences are small. One sample alone is no misfit.
func (k *Kalman) compare(e float64) {
	if !numeric.IsFinite(e) { // it misfits; what is no number would do so for ever
		e = k.lastInnovation + 1e6
	}
	d := e - k.lastInnovation
	k.lastInnovation = e
	d = min(d*d/2, 1e12)
	k.noise += (d - k.noise) / misfitAge
	k.misfit += (min(d, misfitTop*misfitAge/10) - k.misfit) / misfitAge
}

// SetTiming tells the standard deviation (s) of the times of samples: at a speed, three of it times that speed count as noise of
// the position that is known of.
func (k *Kalman) SetTiming(sd float64) { k.timing = sd }

// Noise of the positions in units of what all declared noise explains, rms over the last hundred or so: 1 where that is right.
// sound: it is not above MaxNoise, or one sample alone makes it so.
func (k *Kalman) Noise() (times float64, sound bool) {
	return math.Sqrt(k.noise), k.misfit <= misfitTop
}

// Unseen is the time (s) from the newest position that was taken to the newest sample.
func (k *Kalman) Unseen() float64 { return k.screen.positionAge }

// Primed tells whether a position has come since the last Reset: before, the state is zero and means nothing.
func (k *Kalman) Primed() bool { return k.primed }

// State writes [θ, ω, i, T] at the time of the newest sample.
func (k *Kalman) State(dst []float64) { copy(dst, k.x[:]) }

// StdDevs writes the standard deviations of State, in the same order and units.
func (k *Kalman) StdDevs(dst []float64) {
	for i := range min(len(dst), nX) {
		dst[i] = math.Sqrt(max(0, k.p[i][i]))
	}
}

// PositionNoise is the standard deviation (rad or m) that a position is taken to have.
func (k *Kalman) PositionNoise() float64 { return k.s.position }

// NIS is the normalised innovation squared of the last correction and the number of samples in it: its mean is that number
// when the noise levels are right.
func (k *Kalman) NIS() (value float64, samples int) { return k.nis, k.nisSamples }

// Usable tells whether the estimate may be acted on: a position has come and is not being refused, the speed is known to a tenth
// of the top speed, and the positions are not noisier than MaxNoise.
func (k *Kalman) Usable() bool {
	known := k.s.topSpeed == 0 || k.p[XVel][XVel] <= k.s.topSpeed*k.s.topSpeed/100
	return k.primed && k.screen.odd == 0 && known && k.misfit <= misfitTop
}
