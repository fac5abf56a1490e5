package axis

import (
	"math"

	"hilrig/estimator"
)

// swing finds a loop that swings because its commands act late. The motion of such an axis (J·a, and K·ω of a voltage) follows the
// command of some time before, not that of now:
//
//	ρ(d) = correlation of the motion with the command of d before,   ρ(0) small,   ρ(d) near 1
//
// The correlation is that of a swing: slow parts are taken off by means over swingMean. It does not depend on the inertia, which the file
// may have wrong, and a load that does not swing is not in it. A wrong sign and a spring have ρ(0) = −1. Friction alone has its
// maximum at three quarters of the period, behind a minimum: from 0 to the delay that is told ρ must only rise. A swing counts whose
// command is above what friction may take (rms).
type swing struct {
	ring    [1 + swingSteps*swingStep]float64 // commands, spaced; 0 before the first
	head    int
	part    float64 // s  since the newest, by the raster …
	elapsed float64 // s  … and by the time of the samples
	spacing float64 // s

	duration       float64                 // s
	weight         average                 // of a sample in the means, behind the first ones
	motion, square float64                 // means of the motion and of its square …
	command, power [1 + swingSteps]float64 // … of the command of so many steps before, and of its square …
	product        [1 + swingSteps]float64 // … and of both
	fits           bool                    // a command of before fits, and that of now does not …
	bestStep       int                     // … and is so many steps old
	time           float64                 // s  it swings so
}

const (
	swingMean     = 0.1 // s
	swingSteps    = 16
	swingStep     = 4     // spacings of delaySpacing: 10 ms; fewer where samples are further apart
	swingFits     = 0.9   // correlation with the command of before at least …
	swingOff      = 0.6   // … and with that of now at most, to both sides: half a step beside 30 ms, and 53°
	minDriveDelay = 20e-3 // s  any drive may need as long as this
)

// step is what lies between two delays, in spacings.
func (w *swing) step() int { return max(1, int(math.Round(swingStep*delaySpacing/w.spacing))) }

// add takes a command and what the motion takes of it, dt (s) after those before; least is the rms of a swing that counts. Of samples that
// are closer than spacing (s) only those of the raster are taken: a swing is slow.
func (w *swing) add(u, motion, dt, spacing, least float64) {
	w.spacing = spacing
	w.elapsed += dt
	if w.part += dt; w.part < spacing*(1-1e-9) && w.duration > 0 {
		return
	}
	w.part = max(0, w.part-spacing)
	w.head = (w.head + 1) % len(w.ring)
	w.ring[w.head] = u
	dt, w.elapsed = w.elapsed, 0
	w.duration += dt
	share := max(dt/w.duration, w.weight.weightFor(dt, swingMean))
	w.motion += share * (motion - w.motion)
	w.square += share * (motion*motion - w.square)
	step, at := w.step(), w.head
	for i := range w.command {
		c := w.ring[at]
		if at -= step; at < 0 {
			at += len(w.ring)
		}
		w.command[i] += share * (c - w.command[i])
		w.power[i] += share * (c*c - w.power[i])
		w.product[i] += share * (c*motion - w.product[i])
	}
	peak := 0.0
	if w.fits = math.Abs(w.correlation(0)) < swingOff; w.fits {
		w.bestStep, peak = w.firstPeak()
		w.fits = peak > swingFits
	}
	if w.time += dt; !w.fits || !(w.power[0]-w.command[0]*w.command[0] > least*least) || w.duration < 2*swingMean {
		w.time = 0
	}
}

// firstPeak is the step of the first maximum of the correlation, and that.
func (w *swing) firstPeak() (step int, peak float64) {
	peak = w.correlation(0)
	for i := 1; i < len(w.command); i++ {
		r := w.correlation(i)
		if !(r > peak) {
			break
		}
		step, peak = i, r
	}
	return step, peak
}

// named is a finding, or the delay that explains it.
func (w *swing) named(f Finding, every float64) Finding {
	if f.Fault == Fine || f.Quantity != estimator.Position || !w.fits || w.delay() < w.minDelay(every) {
		return f
	}
	return Finding{Delay, estimator.Position, w.delay(), minDriveDelay / 2}
}

// against tells that the motion goes against the command of now more surely than it follows one of before: a wrong sign, and no delay.
func (w *swing) against() bool {
	now := w.correlation(0)
	if !(now < -swingOff) {
		return false
	}
	_, peak := w.firstPeak()
	return peak < -now
}

// delay is the delay (s) that fits best, least the smallest that is told where samples come every so many s.
func (w *swing) delay() float64 { return float64(w.bestStep*w.step()) * w.spacing }
func (w *swing) minDelay(every float64) float64 {
	return max(minDriveDelay, (delaySamples+1)*every) * (1 - 1e-9)
}

// correlation of the motion with the command of i steps before.
func (w *swing) correlation(i int) float64 {
	both := (w.square - w.motion*w.motion) * (w.power[i] - w.command[i]*w.command[i])
	if !(both > 0) {
		return 0
	}
	return (w.product[i] - w.motion*w.command[i]) / math.Sqrt(both)
}

// judge tells a swing that lasts, of samples every so many s.
func (w *swing) judge(every float64) Finding {
	if w.time < max(swingMean/2, minSamples*every) || w.delay() < w.minDelay(every) {
		return Finding{}
	}
	return Finding{Delay, estimator.Position, w.delay(), minDriveDelay / 2}
}
