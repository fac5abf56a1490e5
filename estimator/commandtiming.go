package estimator

import (
	"math"

	"hilrig/engine/plant"
)

// commandTiming tries when a device takes the commands that come between its samples: as they come, each after a delay, or one a sample,
// at some phase of its sampling period. Each makes a bow of the current between samples.
type commandTiming struct {
	samplePeriod float64   // s  sampling period
	tick         float64   // s  from command to command
	declared     float64   // A² variance of a sample of the current; 0: none
	tau, emf     float64   // s and A per unit of speed, of the winding: L/R and K/R; 0: none
	delays       []float64 // s
	mixList      []Mix     // of delays, then of phases
	ofDelays     int       // how many of them are of delays
	bows         []Bow     // A  of the delays, then of the phases
	model        []float64 // A  with each delay, the model's current at the newest sample …
	nextModel    []float64 // A  … and at the one that comes
	unsettled    []float64 // A  for each phase, by how much the current at the newest sample was behind its command
	current      float64   // A  of the newest sample …
	speed        float64   // … and the speed

	// how the currents change from sample to sample: sums of squares and products, of the samples, of the model with each delay, of both, and
	// of the model with one delay and the next
	forgettingFactor             float64 // share of them that is kept from sample to sample
	square, count                float64
	models, crossProducts, pairs []float64
}

const (
	delayShare = 8    // delays are a period through this apart, from one before the sending …
	minReach   = 5e-3 // s  … to one behind a period, or as much
	maxDelays  = 26
	phaseSteps = 4    // phases are a period through this apart
	maxMixes   = 128  // of delays, and of phases: a window is judged within a tick
	maxLag     = 0.4  // share of a step that a winding may have before it at a sample: with more the sample tells nothing of the command
	lineTime   = 3e-3 // s  mean time that a line takes to carry a command, before anything is known of it
	atSample   = 0.06 // of the period: half of the devices that take one command a sample do so with it, shortly behind or before
	anyPhase   = 0.5  // share of those that do so at any phase
)

// newCommandTiming is that of a device with a sampling period, s, whose current of so much noise, A, a motor makes; R = 0: the force is
// what the command asks for. memory, s, is that of the least squares.
func newCommandTiming(every, tick, memory, noise float64, m plant.Motor) *commandTiming {
	t := &commandTiming{samplePeriod: every, tick: tick, declared: noise * noise, forgettingFactor: 1}
	if memory > 0 {
		t.forgettingFactor = math.Exp(-every / memory)
	}
	if m.R > 0 {
		t.tau, t.emf = m.L/m.R, m.K/m.R
	}
	for d := -every / delayShare; len(t.delays) < maxDelays && d < max(every*(1+1.5/delayShare), minReach); d += every / delayShare {
		t.delays = append(t.delays, d)
	}
	n := len(t.delays)
	t.model, t.unsettled = make([]float64, n), make([]float64, phaseSteps+1)
	t.nextModel = make([]float64, n)
	t.models, t.crossProducts, t.pairs = make([]float64, n), make([]float64, n), make([]float64, n)
	t.bows = make([]Bow, len(t.delays)+len(t.unsettled))
	return t
}

// mixes are the delays and phases between those whose bows are computed.
func (t *commandTiming) mixes() []Mix {
	var out []Mix
	between := func(from, to, parts int) {
		for at := from; at < to; at++ {
			for k := range parts {
				x := float64(k) / float64(parts)
				out = append(out, Mix{Index: at, Weight: [2]float64{1 - x, x}})
			}
		}
		out = append(out, Mix{Index: to - 1, Weight: [2]float64{0, 1}})
	}
	between(0, len(t.delays)-1, maxMixes/(len(t.delays)-1))
	between(len(t.delays), len(t.bows)-1, maxMixes/phaseSteps)
	t.mixList, t.ofDelays = out, len(out)-maxMixes-1
	return out
}

// start forgets what was before a sample of the current (A), that of the model and the speed.
func (t *commandTiming) start(model, current, speed float64) {
	if t == nil {
		return
	}
	for k := range t.model {
		t.model[k] = model
	}
	clear(t.unsettled)
	t.current, t.speed = current, speed
}

// compare takes a change of the current (A) from sample to sample with those of the model, before becoming after.
func (t *commandTiming) compare(change float64, after []float64) {
	t.square, t.count = t.forgettingFactor*t.square+change*change, t.forgettingFactor*t.count+1
	last := 0.0
	for k := range t.delays {
		d := after[k] - t.model[k]
		t.models[k], t.crossProducts[k] = t.forgettingFactor*t.models[k]+d*d, t.forgettingFactor*t.crossProducts[k]+d*change
		if k > 0 {
			t.pairs[k-1] = t.forgettingFactor*t.pairs[k-1] + last*d
		}
		last = d
	}
	copy(t.model, after)
}

// prior is how likely each mix is before the motion is asked. The changes of the current tell which command acted at a sample, with as many
// degrees of freedom as the motion has. It was sent so long before as its line takes, and if the device takes one a sample, since the phase
// of the taking.
func (t *commandTiming) prior(dof float64, p []float64) {
	n := t.ofDelays
	least := math.Inf(1)
	for k := range n {
		p[k] = t.residual(&t.mixList[k])
		least = min(least, p[k])
	}
	for k := range n {
		if least > 0 {
			p[k] = math.Exp(-dof / 2 * math.Log(p[k]/least))
		} else {
			p[k] = 1
		}
		p[k] *= math.Exp(-t.delay(k) / lineTime)
	}
	long, j := 0.0, n // of the delays from j on
	for k := n; k < len(p); k++ {
		phase := t.phase(k)
		since := (1 - phase) * t.samplePeriod
		for j > 0 && t.delay(j-1) >= since-min(t.tick, t.samplePeriod/delayShare) {
			j--
			long += p[j]
		}
		share := anyPhase / float64(len(p)-n)
		if phase < atSample || phase > 1-atSample {
			share += (1 - anyPhase) / (2 * atSample * float64(len(p)-n))
		}
		p[k] = share * math.Exp(since/lineTime) * long
	}
}

// residual is what the best gain of the model leaves over of the changes of the current, with the delay of a mix.
func (t *commandTiming) residual(x *Mix) float64 {
	a, b := x.Weight[0], x.Weight[1]
	m, i := a*a*t.models[x.Index], a*t.crossProducts[x.Index]
	if b != 0 {
		m, i = m+2*a*b*t.pairs[x.Index]+b*b*t.models[x.Index+1], i+b*t.crossProducts[x.Index+1]
	}
	if m > 0 && i > 0 {
		return max(t.square-i*i/m, 1e-9*t.square)
	}
	return t.square
}

// variance is that of the noise of a sample of the current (A²): no more than the model leaves over.
func (t *commandTiming) variance() float64 {
	least := math.Inf(1)
	for k := range t.ofDelays {
		least = min(least, t.residual(&t.mixList[k]))
	}
	if found := least / (2 * max(1, t.count)); t.declared == 0 || found < t.declared {
		return found
	}
	return t.declared
}

// delay is that of a mix of delays, s.
func (t *commandTiming) delay(k int) float64 {
	return t.delays[t.mixList[k].Index] + t.mixList[k].Weight[1]*t.samplePeriod/delayShare
}

// phase is that of a mix of phases.
func (t *commandTiming) phase(k int) float64 {
	return (float64(t.mixList[k].Index-len(t.delays)) + t.mixList[k].Weight[1]) / phaseSteps
}

// accelerated is what the bows of phases have beside those of hold, per unit of acceleration: of the even change of the speed.
func (t *commandTiming) accelerated() []float64 {
	out := make([]float64, len(t.bows))
	for k := range t.unsettled {
		out[len(t.delays)+k] = (0.5 - float64(k)/phaseSteps) * t.emf * t.samplePeriod
	}
	return out
}

// hold adds the bows of commands of which one a sample is taken, between samples of the current (A) and the speed. What they say of the
// commands is e behind these, i + K·ω/R = u/R − e, where the winding has not settled since; with u₀ before the phase p and u₁ behind it
//
//	mean i = (p·u₀ + (1−p)·u₁ − K·mean ω)/R − τ·Δi/h
//	mean ω = (ω₀ + ω₁)/2 + a·h·(K/R·Δω/12 − (u₁ − u₀)/R·p·(1−p)/2)
//
// a, rad/s² per A, is how the current accelerates the motor: what the voltage of the speed takes of a held current bends the speed, and so
// does the new voltage. A step of the current at p tilts what is above the straight line: Rise − Fall = (p·(1−p) − 1/6)·step.
func (t *commandTiming) hold(i, speed, perAmpere float64) {
	di := i - t.current
	step := di + t.emf*(speed-t.speed)
	bend := perAmpere * t.samplePeriod * t.emf
	for k := range t.unsettled {
		p := float64(k) / phaseSteps
		e := t.unsettled[k]
		late := 0.0
		if t.tau > 0 {
			x := min(maxLag, math.Exp(-max(1-p, 0.5/phaseSteps)*t.samplePeriod/t.tau))
			late = x / (1 - x) * (step + e*math.Expm1(-p*t.samplePeriod/t.tau))
		}
		mean := (0.5-p)*di + p*e + (1-p)*late - t.tau/t.samplePeriod*di - bend*(t.emf*(speed-t.speed)/12-step*p*(1-p)/2)
		tilt := step * (p*(1-p) - 1./6)
		t.bows[len(t.delays)+k] = Bow{(mean - tilt) / 2, (mean + tilt) / 2}
		t.unsettled[k] = late
	}
	t.current, t.speed = i, speed
}
