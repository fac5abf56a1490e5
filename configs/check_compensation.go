package configs

import (
	"math"
	"reflect"
	"slices"

	"hilrig/configs/schema"
	"hilrig/estimator"
	"hilrig/hil"
)

// checkCompensation compares the compensation with the law, the controller and the rate of the loop.
func (c *Config) checkCompensation(r *schema.Report) {
	k := c.Compensation
	if r.Bad("compensation.kind") {
		return
	}
	if k.Scale > 0.95 && k.Scale <= 1 && k.Kind != hil.CompNone {
		r.Warnf("compensation.scale", "compensation.scale: %s; above 0.95 a small error of the model over-compensates and the axis hunts", schema.Short(k.Scale))
	}
	c.checkUnused(r)
	c.checkAdapt(r)
	if r.Bad("control") || r.Bad("motor") || r.Bad("friction") || r.Bad("loop.rate") {
		return
	}
	switch k.Kind {
	case hil.CompObserver:
		c.checkSPR(r)
	case hil.CompDisturbance:
		c.checkDisturbance(r)
	}
	c.checkDither(r)
}

// checkUnused warns of numbers that the kind does not look at.
func (c *Config) checkUnused(r *schema.Report) {
	given, usual := reflect.ValueOf(c.Compensation), reflect.ValueOf(Default().Compensation)
	own := c.Compensation.Kind.Info().Settings
	for _, f := range schema.FieldsOf(given.Type()) {
		belongs := slices.ContainsFunc(hil.Compensations[:], func(i hil.CompInfo) bool { return slices.Contains(i.Settings, f.Key) })
		if belongs && !slices.Contains(own, f.Key) && !given.FieldByIndex(f.Index).Equal(usual.FieldByIndex(f.Index)) {
			r.Warnf("compensation."+f.Key, "compensation.%s: not used by kind %s", f.Key, c.Compensation.Kind)
		}
	}
}

// checkSPR is the condition of [C95] under which the observer with a correction is sure to converge: the error system
// (σ1·s + σ0)/(J·s² + Kv·s + Kp) is strictly positive real, σ1·Kv > σ0·J [theory §10.2], Kv = kd + σ2.
func (c *Config) checkSPR(r *schema.Report) {
	f, j := c.Friction, c.Motor.J
	kv := c.Control.Kd + f.Sigma2
	if c.Compensation.Gain <= 0 || f.Sigma1*kv > f.Sigma0*j {
		return
	}
	if f.Sigma1 == 0 {
		r.Warnf("compensation.gain", "compensation.gain: with sigma1 = 0 no kd makes a correction sure to converge; want gain 0")
		return
	}
	r.Warnf("compensation.gain", "compensation.gain: %s 1/s is not sure to converge: sigma1·(kd + sigma2) = %.3g is not above sigma0·J = %.3g N²·m²·s²/rad²; want gain 0, or kd above %.3g N·m·s/rad (it is %s)",
		schema.Short(c.Compensation.Gain), f.Sigma1*kv, f.Sigma0*j, f.Sigma0*j/f.Sigma1-f.Sigma2, schema.Short(c.Control.Kd))
}

// checkDisturbance compares the low-pass with the delay of the loop: what the observer feeds back it sees again some 2.5 ticks
// later, and |e^{−sT} − 1|·|Q| < 1, which is sufficient, wants a bandwidth below about 1/(2π·T) = rate/16 [theory §10.4].
// Beyond a quarter of the rate nothing is left to filter.
func (c *Config) checkDisturbance(r *schema.Report) {
	k, rate := c.Compensation, c.Loop.Rate
	if k.Bandwidth == 0 && !r.Bad("compensation.bandwidth") {
		r.Errorf("compensation.bandwidth", "compensation.bandwidth is missing: kind disturbance-observer needs it, in Hz; at most %s Hz at this rate", schema.Short(rate/16))
		return
	}
	switch {
	case k.Bandwidth > rate/4:
		r.Errorf("compensation.bandwidth", "compensation.bandwidth: %s Hz, want at most a quarter of loop.rate, %s Hz", schema.Short(k.Bandwidth), schema.Short(rate/4))
	case k.Bandwidth > rate/16:
		r.Warnf("compensation.bandwidth", "compensation.bandwidth: %s Hz; above a sixteenth of loop.rate, %s Hz, the delay of the loop is not covered by |Δ·Q| < 1: stability then rests on the inertia being right", schema.Short(k.Bandwidth), schema.Short(rate/16))
	}
	if k.DeadBand == 0 {
		r.Warnf("compensation.dead_band", "compensation.dead_band: 0; a disturbance observer is integral action and hunts around a stuck position; want a few counts of the position sensor")
	}
}

// checkAdapt looks at what learning rests on: the model's inertia, damping, and a time that is slow for the loop.
func (c *Config) checkAdapt(r *schema.Report) {
	k := c.Compensation
	if k.Kind.Info().Learns == nil {
		return
	}
	if a := k.Adapt.Range; !(a[0] > 0 && a[0] <= 1 && a[1] >= 1) || math.IsInf(a[1], 0) {
		r.Errorf("compensation.adapt.range", "compensation.adapt.range: %s to %s, want two numbers > 0 around 1, the model", schema.Short(a[0]), schema.Short(a[1]))
	}
	if !k.Inertia {
		r.Warnf("compensation.inertia", "compensation.inertia: false; kind %s takes the missing J times acceleration for friction", k.Kind)
	}
	if r.Bad("control") || r.Bad("motor") || r.Bad("friction") {
		return
	}
	if c.Control.Kd == 0 {
		r.Errorf("control.kd", "control.kd is missing: kind %s needs a damped controller", k.Kind)
		return
	}
	// K ≥ kd/2 (estimator.SlidingOf): learning with the time constant t is overdamped for t > 4·J/K
	if most := 8 * c.Motor.J / c.Control.Kd; k.Adapt.Time > 0 && k.Adapt.Time < most {
		r.Warnf("compensation.adapt.time", "compensation.adapt.time: %s s; below 8·J/kd = %.3g s learning is faster than the loop and rings", schema.Short(k.Adapt.Time), most)
	}
}

// checkDither compares the dither with break-away, actuator and the frequencies of the loop.
func (c *Config) checkDither(r *schema.Report) {
	d, f := c.Compensation.Dither, c.Friction
	if d.Kind == estimator.DitherNone || r.Bad("compensation.dither") {
		return
	}
	const at = "compensation.dither."
	need := func(key string, v float64, what string) bool {
		if v == 0 {
			r.Errorf(at+key, "%s%s is missing: kind %s needs it, in %s", at, key, d.Kind, what)
		}
		return v != 0
	}
	ok := need("frequency", d.Frequency, "Hz")
	torque := d.Amplitude
	if d.Kind == estimator.DitherVelocity {
		ok = need("velocity", d.Velocity, "rad/s") && ok
		w := 2 * math.Pi * d.Frequency
		torque = d.Velocity * math.Hypot(c.Motor.J*w-c.Control.Kp/math.Max(w, 1e-9), c.Control.Kd)
	} else {
		ok = need("amplitude", d.Amplitude, "N·m") && ok
	}
	if !ok {
		return
	}
	switch {
	case d.Kind == estimator.DitherVelocity && torque > c.Control.Limit:
		r.Errorf(at+"velocity", "%svelocity: %s rad/s at %s Hz takes %.3g N·m, more than control.limit, %s N·m", at, schema.Short(d.Velocity), schema.Short(d.Frequency), torque, schema.Short(c.Control.Limit))
	case torque > c.Control.Limit:
		r.Errorf(at+"amplitude", "%samplitude: %s N·m is above control.limit, %s N·m", at, schema.Short(torque), schema.Short(c.Control.Limit))
	case d.Kind == estimator.DitherPulse && d.Amplitude <= f.Fc:
		r.Errorf(at+"amplitude", "%samplitude: %s N·m moves nothing; want more than the Coulomb friction, %s N·m", at, schema.Short(d.Amplitude), schema.Short(f.Fc))
	case d.Kind == estimator.DitherForce && d.Amplitude <= f.Fs:
		r.Warnf(at+"amplitude", "%samplitude: %s N·m does not break away; want more than Fs, %s N·m", at, schema.Short(d.Amplitude), schema.Short(f.Fs))
	}
	loop := math.Sqrt(c.Control.Kp/c.Motor.J) / (2 * math.Pi) // Hz
	switch rate := c.Loop.Rate; {
	case d.Kind == estimator.DitherPulse && d.Frequency > rate/20:
		r.Errorf(at+"frequency", "%sfrequency: %s Hz, want at most a twentieth of loop.rate, %s Hz: the axis must come to rest in between", at, schema.Short(d.Frequency), schema.Short(rate/20))
	case d.Kind == estimator.DitherPulse:
	case d.Frequency > rate/4:
		r.Errorf(at+"frequency", "%sfrequency: %s Hz, want at most a quarter of loop.rate, %s Hz", at, schema.Short(d.Frequency), schema.Short(rate/4))
	case d.Frequency < 5*loop:
		r.Warnf(at+"frequency", "%sfrequency: %s Hz is within reach of the controller; want at least five times its bandwidth, %.3g Hz", at, schema.Short(d.Frequency), 5*loop)
	}
}
