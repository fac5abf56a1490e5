package estimator

import (
	"errors"
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
)

// KalmanSpec describes the filter.
type KalmanSpec struct {
	Dt            float64     // s         from sample to sample as a rule; every other interval is predicted as exactly
	Motor         plant.Motor // as the model knows it; J includes the load
	Count         float64     // rad       one encoder count; used when PositionNoise is 0
	PositionNoise float64     // rad       standard deviation of the position; 0: Count/√12
	CurrentNoise  float64     // A         standard deviation of the current
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

// Kalman estimates position, speed, current and friction torque of a motor from its voltage and from samples of position
// and current that may be late, uneven, lost or wild.
//
// Model, x = [θ ω i T], discretised exactly for a voltage held over the interval:
//
//	θ' = ω,  ω' = (K·i − T)/J,  i' = (u − drop(i) − R·i − K·ω)/L,  T' = noise;   y = [θ, i]
//
// The filter lives in the time of its newest sample. Predict carries state and covariance over the interval to the next one,
// whatever that is, and Correct takes what came then: the gain belongs to the interval that really passed. A constant gain
// made for one period is too large after a longer one and lets the error grow without end. With the covariance carried along
// the filter is stable for every pattern of samples that shows the position again and again. Ahead gives the state at a later
// moment.
//
// The brush drop is a known nonlinear input. Taken from the old current it would oscillate (its slope near zero current is
// ten times R), so it belongs to the current at the end of the step, found from a scalar equation that always has exactly
// one root; the covariance takes the slope there.
//
// Noise: T is a random walk; the voltage has an error that is constant within a period.
type Kalman struct {
	s     KalmanSpec
	steps [1 + fractions]transition // Dt, Dt/2, Dt/4 …
	r     [2]float64                // variances of the measurements

	x      vector
	p      matrix
	primed bool // the first position has come

	screen screen
	nis    float64 // of the last correction
	used   int     // … and the number of samples in it
	timing float64 // s  standard deviation of the times of samples
	newest float64 // normalised innovation of the newest position
	noise  float64 // slow mean of half the squared differences of successive ones: 1 where all noise levels are right
	misfit float64 // the same, of which one sample can make up a tenth of misfitTop at most
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
	if s.PositionNoise == 0 {
		s.PositionNoise = s.Count / math.Sqrt(12)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.TopSpeed == 0 {
		s.TopSpeed = s.TopVoltage / s.Motor.K
	}
	k := &Kalman{s: s, r: [2]float64{s.PositionNoise * s.PositionNoise, s.CurrentNoise * s.CurrentNoise}}
	for j := range k.steps {
		k.steps[j] = discretise(&s, math.Ldexp(s.Dt, -j))
	}
	return k, nil
}

func (s *KalmanSpec) validate() error {
	return errors.Join(s.Motor.Validate(),
		above0("kalman: period", s.Dt, "s"), above0("kalman: position noise (or the size of a count)", s.PositionNoise, "rad"),
		above0("kalman: current noise", s.CurrentNoise, "A"), above0("kalman: torque walk", s.TorqueWalk, "N·m/√s"),
		atLeast0("kalman: voltage noise", s.VoltageNoise, "V"), atLeast0("kalman: top voltage", s.TopVoltage, "V"),
		atLeast0("kalman: top speed", s.TopSpeed, "rad/s"))
}

// Reset forgets everything; the next position is taken as it comes.
func (k *Kalman) Reset() {
	k.x, k.p, k.primed, k.screen = vector{}, matrix{}, false, screen{}
	k.nis, k.used, k.newest, k.noise, k.misfit = 0, 0, 0, 0, 0
}

// begin puts the shaft at theta (rad) with any speed, current and torque that the motor can have; without a top voltage, with
// any that motors have.
func (k *Kalman) begin(theta float64) {
	k.Reset()
	m := &k.s.Motor
	speed, current := 1000.0, 10.0 // rad/s, A
	if k.s.TopVoltage > 0 {
		speed, current = k.s.TopSpeed, k.s.TopVoltage/m.R
	}
	for i, sd := range (vector{XPos: k.s.PositionNoise, XVel: speed, XCur: current, XTorque: m.K * current}) {
		k.p[i][i] = sd * sd
	}
	k.x[XPos], k.primed = theta, true
}

// Predict carries the estimate over dt (s), the time since the newest sample, under the voltage u (V) with the standard
// deviation su (V) beside the usual noise: what is not known of the voltage where samples are missing. Across more than 64
// periods, or back in time, nothing is predicted: the next position is a new beginning.
func (k *Kalman) Predict(dt, u, su float64) {
	if !k.primed || !(dt > 0 && dt <= longest*k.s.Dt) {
		k.Reset()
		return
	}
	k.screen.since += dt
	// a voltage error that is constant within a period, or over all of dt, as the white noise of the same strength
	white := k.s.VoltageNoise*k.s.VoltageNoise*k.s.Dt + su*su*dt
	rest := k.each(dt, func(t *transition) { k.p = t.spread(&k.p, t.step(&k.s.Motor, &k.x, u), white) })
	k.x[XPos] += k.x[XVel] * rest
}

// Ahead carries x = [θ ω i T], an estimate of the time of the newest sample, by dt (s) under the voltage u (V), in place. At
// most 50 periods: what lies beyond is no estimate any more.
func (k *Kalman) Ahead(x []float64, dt, u float64) {
	if !(dt > 0) || math.IsNaN(u) {
		return
	}
	var s vector
	copy(s[:], x)
	rest := k.each(min(dt, 50*k.s.Dt), func(t *transition) { t.step(&k.s.Motor, &s, u) })
	s[XPos] += s[XVel] * rest
	copy(x, s[:])
}

// each walks over dt (s) in whole periods and halves, quarters … of one, and returns what is left: at most half of the
// shortest piece, either sign.
func (k *Kalman) each(dt float64, step func(*transition)) (rest float64) {
	pieces := int(math.Round(math.Ldexp(dt/k.s.Dt, fractions)))
	for range pieces >> fractions {
		step(&k.steps[0])
	}
	for j := 1; j <= fractions; j++ {
		if pieces&(1<<(fractions-j)) != 0 {
			step(&k.steps[j])
		}
	}
	return dt - math.Ldexp(float64(pieces)*k.s.Dt, -fractions)
}

// Correct takes the samples y = [position rad, current A] of the time to which Predict went, those that are fresh. It tells
// which it took (see screen for those it refuses) and whether the position jumped: then the filter begins anew from it.
func (k *Kalman) Correct(y [2]float64, fresh [2]bool) (taken [2]bool, jumped bool) {
	k.nis, k.used = 0, 0
	for j := range y {
		taken[j] = fresh[j] && numeric.Finite(y[j])
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
	taken[1] = taken[1] && k.primed && (k.s.TopVoltage == 0 || math.Abs(y[1]) <= k.topCurrent())
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
		k.used++
	}
	for i, x := range k.x {
		if !numeric.Finite(x) || !numeric.Finite(k.p[i][i]) {
			k.Reset()
			return [2]bool{}, false
		}
	}
	return taken, jumped
}

var sensed = [2]int{XPos, XCur}

// update takes one sample: a scalar update of the covariance in Joseph's form, P ← (I − g·hᵀ)·P·(I − g·hᵀ)ᵀ + g·r·gᵀ, which
// keeps P symmetric and positive whatever rounding does to g. It returns the innovation and its variance.
func (k *Kalman) update(j int, y float64) (nu, s float64) {
	c := sensed[j]
	nu, s = y-k.x[c], k.p[c][c]+k.r[j]
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
	d := e - k.newest
	k.newest = e
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
func (k *Kalman) Unseen() float64 { return k.screen.since }

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

// PositionNoise is the standard deviation (rad) that a position is taken to have.
func (k *Kalman) PositionNoise() float64 { return k.s.PositionNoise }

// NIS is the normalised innovation squared of the last correction and the number of samples in it: its mean is that number
// when the noise levels are right.
func (k *Kalman) NIS() (value float64, samples int) { return k.nis, k.used }

// Sound tells whether the estimate may be acted on: a position has come and is not being refused, the speed is known to a tenth
// of the top speed, and the positions are not noisier than MaxNoise.
func (k *Kalman) Sound() bool {
	known := k.s.TopSpeed == 0 || k.p[XVel][XVel] <= k.s.TopSpeed*k.s.TopSpeed/100
	return k.primed && k.screen.odd == 0 && known && k.misfit <= misfitTop
}
