package configs

import (
	"math"
	"slices"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/hil"
)

func (c *Config) checkModel(r *schema.Report) {
	c.checkMotor(r, "motor", c.Motor)
	c.checkLaw(r, "friction", c.Friction)
	e := c.Estimator
	if !r.Bad("loop.rate") && e.RLS.Enabled && !r.Bad("estimator.rls") {
		if e.RLS.Window < 10/c.Loop.Rate {
			r.Errorf("estimator.rls.window", "estimator.rls.window: %s s, want at least ten ticks, %s s", schema.Short(e.RLS.Window), schema.Short(10/c.Loop.Rate))
		}
		if e.RLS.Memory > 0 && e.RLS.Memory < 5*e.RLS.Window {
			r.Errorf("estimator.rls.memory", "estimator.rls.memory: %s s, want at least five windows, %s s, or 0 for no forgetting", schema.Short(e.RLS.Memory), schema.Short(5*e.RLS.Window))
		}
		if e.RLS.MinVel < c.Friction.Vs {
			r.Warnf("estimator.rls.min_velocity", "estimator.rls.min_velocity: %s rad/s is below friction.vs, %s rad/s: windows in the Stribeck range bias the Coulomb estimate", schema.Short(e.RLS.MinVel), schema.Short(c.Friction.Vs))
		}
	}
	// the bristle must be resolved by the encoder, else presliding cannot be compensated [theory §4.2]
	for _, m := range c.Device.Measure {
		stick := c.Friction.Fs / c.Friction.Sigma0
		if count := math.Abs(m.Scale); m.Role == "position" && c.Compensation.Kind == hil.CompObserver && stick > 0 && count > stick/4 {
			r.Warnf("compensation.kind", "compensation.kind: one count, %s rad, is more than a quarter of the presliding travel Fs/sigma0, %s rad; the observer will not see presliding", schema.Short(count), schema.Short(stick))
		}
	}
}

func (c *Config) checkMotor(r *schema.Report, path string, m plant.Motor) {
	if m.BrushDrop > 0 && m.DropScale <= 0 && !r.Bad(path+".drop_current") {
		r.Errorf(path+".drop_current", "%s.drop_current is missing: there is a brush drop; want the current at which it is three quarters developed", path)
	}
	// electrical time constant: a mistyped unit shows here
	if tau := m.L / m.R; m.R > 0 && m.L > 0 && (tau < 1e-6 || tau > 1) {
		r.Warnf(path+".L", "%s: L/R is %.3g s; small motors have 0.1 to 10 ms", path, tau)
	}
}

// checkLaw compares the friction numbers with each other: order of Fs and Fc, passivity of the LuGre law.
func (c *Config) checkLaw(r *schema.Report, path string, f Friction) {
	if r.Bad(path) {
		return
	}
	if f.Fs < f.Fc {
		r.Errorf(path+".Fs", "%s.Fs: %s N·m is less than Fc, %s N·m; Fs is the total break-away torque, not what is added to Fc", path, schema.Short(f.Fs), schema.Short(f.Fc))
		return
	}
	lugre := f.LuGre()
	if lugre.Validate() != nil {
		return // said where the numbers stand
	}
	law := Law{Name: "lugre", Model: &lugre, path: path}
	law.advise(r)
}

// LuGre is the law that the section describes.
func (f Friction) LuGre() friction.LuGre {
	return friction.LuGre{Sigma0: f.Sigma0, Sigma1: f.Sigma1, Sigma2: f.Sigma2, Fc: f.Fc, Fs: f.Fs, Vs: f.Vs, Vd: f.Vd, Offset: f.Offset}
}

func (c *Config) checkControl(r *schema.Report) {
	k, m := c.Control, c.Motor
	c.checkCompensation(r)
	if r.Bad("control") || r.Bad("motor") || r.Bad("loop.rate") {
		return
	}
	if k.Kp == 0 && k.Kd == 0 {
		r.Errorf("control.kp", "control.kp and control.kd are both missing or zero: nothing would follow the reference")
		return
	}
	if k.Kind == "pd" && k.Ki > 0 {
		r.Warnf("control.ki", "control.ki: not used by kind pd")
	}
	if k.Kind == "pid" {
		damping := k.Kd + c.Friction.Sigma2
		switch {
		case k.Ki == 0:
			r.Warnf("control.ki", "control.ki: kind pid without an integral gain is pd")
		case k.Ki*m.J >= k.Kp*damping: // Routh for J s³ + (kd+σ2) s² + kp s + ki
			r.Errorf("control.ki", "control.ki: %s N·m/(rad·s) makes the axis unstable; want less than kp·(kd + sigma2)/J = %s", schema.Short(k.Ki), schema.Short(k.Kp*damping/m.J))
		}
	}
	// the loop delays by about one and a half ticks: crossover beyond 1/(1.5 T)·π/2 ≈ rate is unstable
	rate := c.Loop.Rate
	cross, wn := k.Kd/m.J, math.Sqrt(k.Kp/m.J)
	switch {
	case cross > rate:
		r.Errorf("control.kd", "control.kd: the velocity loop would cross over at kd/J = %.3g rad/s; with one and a half ticks of delay it is unstable above %.3g rad/s", cross, rate)
	case cross > rate/4 || wn > rate/4:
		r.Warnf("control", "control: the loop crosses over at about %.3g rad/s; above a quarter of the rate, %.3g rad/s, the delay of the loop eats the damping", math.Max(cross, wn), rate/4)
	}
	if zeta := (k.Kd + c.Friction.Sigma2) / (2 * math.Sqrt(k.Kp*m.J)); k.Kp > 0 && zeta < 0.2 {
		r.Warnf("control.kd", "control.kd: damping ratio %.2g without friction; below 0.2 the axis rings", zeta)
	}
	if i := slices.IndexFunc(c.Device.Command, func(d Command) bool { return d.Role == "drive" }); i >= 0 && m.R > 0 {
		u := math.Max(-c.Device.Command[i].Limit[0], c.Device.Command[i].Limit[1])
		if stall := m.K * math.Max(0, u-m.BrushDrop) / m.R; k.Limit > stall && u > 0 {
			r.Warnf("control.limit", "control.limit: %s N·m is never reached; the drive's %.3g V give %.3g N·m at standstill", schema.Short(k.Limit), u, stall)
		}
	}
}

func (c *Config) checkGuard(r *schema.Report) {
	g := c.Guard
	role := func(name string) int {
		return slices.IndexFunc(c.Device.Measure, func(m Measure) bool { return m.Role == name })
	}
	if role("current") < 0 && !r.Bad("device.measure") {
		for _, k := range []struct {
			key string
			v   float64
		}{{"max_current", g.MaxCurrent}, {"rated_current", g.RatedI}} {
			if k.v > 0 {
				r.Errorf("guard."+k.key, "guard.%s: needs a measurement with role current", k.key)
			}
		}
	}
	if g.MaxCurrent > 0 && g.RatedI > g.MaxCurrent {
		r.Errorf("guard.rated_current", "guard.rated_current: %s A is above guard.max_current, %s A; the budget would never be used", schema.Short(g.RatedI), schema.Short(g.MaxCurrent))
	}
	if temp := role("temperature"); g.MaxTemp != 0 && temp < 0 && !r.Bad("device.measure") {
		r.Errorf("guard.max_temperature", "guard.max_temperature: needs a measurement with role temperature")
	} else if temp >= 0 && c.Hot(c.Device.Measure[temp]) == 0 {
		r.Warnf("guard.max_temperature", "guard.max_temperature: %s has no limit; give one, or the range of the measurement", c.Device.Measure[temp].Name)
	}
	if !c.IsVirtual() && g.MaxSpeed == 0 && g.MaxError == 0 {
		r.Warnf("guard", "guard: neither max_speed nor max_error is set; a runaway axis would be stopped by the current limit at best")
	}
	for _, m := range c.Device.Measure {
		if g.MaxCurrent > 0 && m.Role == "current" && m.Range != [2]float64{} && (g.MaxCurrent > m.Range[1] || -g.MaxCurrent < m.Range[0]) {
			r.Warnf("guard.max_current", "guard.max_current: %s A is outside the range of %s, which holds the rig first", schema.Short(g.MaxCurrent), m.Name)
		}
	}
}
