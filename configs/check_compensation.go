package configs

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// checkCompensation compares the compensation with the law, the controller and the rate of the loop.
func (c *Config) checkCompensation(r *schema.Report, a *Axis) {
	k := a.Compensation
	if r.HasProblem(a.path() + ".compensation.kind") {
		return
	}
	r.WarnIf(k.Scale > 0.95 && k.Scale <= 1 && k.Kind != axis.CompNone, a.path()+".compensation.scale",
		"%s; above 0.95 a small error of the model over-compensates and the axis hunts", schema.Short(k.Scale))
	c.checkUnused(r, a)
	c.checkAdapt(r, a)
	if r.HasProblem(a.path()+".control") || r.HasProblem(a.path()+".motor") || r.HasProblem(a.path()+".friction") ||
		r.HasProblem("loop.rate") || a.Friction.Model == nil {
		return
	}
	a.Friction.checkCompensated(r, a.path()+".compensation", &a.Compensation)
	switch k.Kind {
	case axis.CompObserver:
		c.checkSPR(r, a)
	case axis.CompDisturbance:
		c.checkDisturbance(r, a)
	}
	c.checkDither(r, a)
}

// checkUnused warns of numbers that the kind does not look at.
func (c *Config) checkUnused(r *schema.Report, a *Axis) {
	all := listOf(axis.Compensations[:], func(i axis.CompInfo) []string { return i.Settings })
	warnUnused(r, a.path()+".compensation", a.Compensation, schema.New[Axis]().Compensation, a.Compensation.Kind,
		a.Compensation.Kind.Info().Settings, all)
}

// warnUnused warns of keys of a section that differ from the usual ones and belong to other kinds: all are the keys of every kind, own
// those of this one.
func warnUnused[T any](r *schema.Report, path string, section, usual T, kind fmt.Stringer, own []string, all [][]string) {
	given, left := reflect.ValueOf(section), reflect.ValueOf(usual)
	for _, f := range schema.FieldsOf(given.Type()) {
		if slices.Contains(slices.Concat(all...), f.Key) && !slices.Contains(own, f.Key) &&
			!reflect.DeepEqual(given.FieldByIndex(f.Index).Interface(), left.FieldByIndex(f.Index).Interface()) {
			r.KeyWarnf(path+"."+f.Key, "not used by kind %s", kind)
		}
	}
}

// checkSPR is the condition of [C95] under which the observer with a correction is sure to converge: the error system
// (σ1·s + σ0)/(J·s² + Kv·s + Kp) is strictly positive real, σ1·Kv > σ0·J [theory §10.2], Kv = kd + σ2.
func (c *Config) checkSPR(r *schema.Report, a *Axis) {
	f, lugre := a.Friction.Model.(*friction.LuGre)
	j := a.MotorModel().J
	if !lugre || a.Compensation.Gain <= 0 {
		return
	}
	kv := a.Control.Kd + f.Sigma2
	if estimator.SPR(f, kv, j) {
		return
	}
	if f.Sigma1 == 0 {
		r.KeyWarnf(a.path()+".compensation.gain", "with sigma1 = 0 no kd makes a correction sure to converge; want gain 0")
		return
	}
	r.KeyWarnf(a.path()+".compensation.gain", "%s 1/s is not sure to converge: sigma1·(kd + sigma2) = %.3g is not above sigma0·J = %.3g, "+
		"both in (%s)²; want gain 0, or kd above %.3g %[4]s (it is %[6]s)", schema.Short(a.Compensation.Gain), f.Sigma1*kv, f.Sigma0*j,
		a.Unit("N·m·s/rad"), f.Sigma0*j/f.Sigma1-f.Sigma2, schema.Short(a.Control.Kd))
}

// checkDisturbance compares the low-pass with the delay of the loop: what the observer feeds back it sees again some 2.5 ticks
// later, and |e^{−sT} − 1|·|Q| < 1, which is sufficient, wants a bandwidth below about 1/(2π·T) = rate/16 [theory §10.4].
// Beyond a quarter of the rate nothing is left to filter.
func (c *Config) checkDisturbance(r *schema.Report, a *Axis) {
	k, rate := a.Compensation, c.Loop.Rate
	if k.Bandwidth == 0 && !r.HasProblem(a.path()+".compensation.bandwidth") {
		r.KeyErrorf(a.path()+".compensation.bandwidth", "is missing: kind disturbance-observer needs it, in Hz; at most %s Hz at this rate",
			schema.Short(rate/16))
		return
	}
	switch {
	case k.Bandwidth > rate/4:
		r.KeyErrorf(a.path()+".compensation.bandwidth", "%s Hz, want at most a quarter of loop.rate, %s Hz",
			schema.Short(k.Bandwidth), schema.Short(rate/4))
	case k.Bandwidth > rate/16:
		r.KeyWarnf(a.path()+".compensation.bandwidth", "%s Hz; above a sixteenth of loop.rate, %s Hz, the delay of the loop is not covered by "+
			"|Δ·Q| < 1: stability then rests on the inertia being right", schema.Short(k.Bandwidth), schema.Short(rate/16))
	}
	r.WarnIf(k.DeadBand == 0, a.path()+".compensation.dead_band",
		"0; a disturbance observer is integral action and hunts around a stuck position; want a few counts of the position sensor")
}

// checkAdapt looks at what learning rests on: the model's inertia, damping, and a time that is slow for the loop.
func (c *Config) checkAdapt(r *schema.Report, a *Axis) {
	k := a.Compensation
	if k.Kind.Info().Learns == nil {
		return
	}
	f := k.Adapt.Range
	r.ErrorIf(!(f[0] > 0 && f[0] <= 1 && f[1] >= 1) || math.IsInf(f[1], 0), a.path()+".compensation.adapt.range",
		"%s to %s, want two numbers > 0 around 1, the model", schema.Short(f[0]), schema.Short(f[1]))
	if !k.Inertia {
		r.KeyWarnf(a.path()+".compensation.inertia", "false; kind %s takes the missing J times acceleration for friction", k.Kind)
	}
	if r.HasProblem(a.path()+".control") || r.HasProblem(a.path()+".motor") || r.HasProblem(a.path()+".friction") {
		return
	}
	if a.Control.Kd == 0 {
		r.KeyErrorf(a.path()+".control.kd", "is missing: kind %s needs a damped controller", k.Kind)
		return
	}
	// K ≥ kd/2 (estimator.SlidingOf): learning with the time constant t is overdamped for t > 4·J/K
	most := 8 * a.MotorModel().J / a.Control.Kd
	r.WarnIf(k.Adapt.Time > 0 && k.Adapt.Time < most, a.path()+".compensation.adapt.time",
		"%s s; below 8·J/kd = %.3g s learning is faster than the loop and rings", schema.Short(k.Adapt.Time), most)
}

// checkDither compares the dither with break-away, actuator and the frequencies of the loop.
func (c *Config) checkDither(r *schema.Report, a *Axis) {
	d, level := a.Compensation.Dither, a.Friction.Model.Levels()
	if d.Kind == estimator.DitherNone || r.HasProblem(a.path()+".compensation.dither") {
		return
	}
	at := a.path() + ".compensation.dither."
	need := func(key string, v float64, what string) bool {
		r.ErrorIf(v == 0, at+key, "is missing: kind %s needs it, in %s", d.Kind, what)
		return v != 0
	}
	ok := need("frequency", d.Frequency, "Hz")
	torque, effort := d.Amplitude, a.Unit("N·m")
	if d.Kind == estimator.DitherVelocity {
		ok = need("velocity", d.Velocity, a.Unit("rad/s")) && ok
		w := 2 * math.Pi * d.Frequency
		torque = d.Velocity * math.Hypot(a.MotorModel().J*w-a.Control.Kp/math.Max(w, 1e-9), a.Control.Kd)
	} else {
		ok = need("amplitude", d.Amplitude, effort) && ok
	}
	if !ok {
		return
	}
	switch {
	case d.Kind == estimator.DitherVelocity && torque > a.Control.Limit:
		r.KeyErrorf(at+"velocity", "%s %s at %s Hz takes %.3g %s, more than control.limit, %s %[5]s", schema.Short(d.Velocity),
			a.Unit("rad/s"), schema.Short(d.Frequency), torque, effort, schema.Short(a.Control.Limit))
	case torque > a.Control.Limit:
		r.KeyErrorf(at+"amplitude", "%s %[3]s is above control.limit, %[2]s %[3]s", schema.Short(torque), schema.Short(a.Control.Limit), effort)
	case d.Kind == estimator.DitherPulse && d.Amplitude <= level.Sliding.Max():
		r.KeyErrorf(at+"amplitude", "%s %[3]s moves nothing; want more than the Coulomb friction, %[2]s %[3]s",
			schema.Short(d.Amplitude), schema.Short(level.Sliding.Max()), effort)
	case d.Kind == estimator.DitherForce && d.Amplitude <= level.Rest.Max():
		r.KeyWarnf(at+"amplitude", "%s %[3]s does not break away; want more than break-away, %[2]s %[3]s",
			schema.Short(d.Amplitude), schema.Short(level.Rest.Max()), effort)
	}
	loop := math.Sqrt(a.Control.Kp/a.MotorModel().J) / (2 * math.Pi) // Hz
	switch rate := c.Loop.Rate; {
	case d.Kind == estimator.DitherPulse && d.Frequency > rate/20:
		r.KeyErrorf(at+"frequency", "%s Hz, want at most a twentieth of loop.rate, %s Hz: the axis must come to rest in between",
			schema.Short(d.Frequency), schema.Short(rate/20))
	case d.Kind == estimator.DitherPulse:
	case d.Frequency > rate/4:
		r.KeyErrorf(at+"frequency", "%s Hz, want at most a quarter of loop.rate, %s Hz", schema.Short(d.Frequency), schema.Short(rate/4))
	case d.Frequency < 5*loop:
		r.KeyWarnf(at+"frequency", "%s Hz is within reach of the controller; want at least five times its bandwidth, %.3g Hz",
			schema.Short(d.Frequency), 5*loop)
	}
}
