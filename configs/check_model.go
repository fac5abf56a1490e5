package configs

import (
	"math"

	"hilrig/configs/schema"
	"hilrig/engine/plant"
	"hilrig/hil/axis"
)

func (c *Config) checkModel(r *schema.Report, a *Axis) {
	p := a.path()
	if a.Motor != nil {
		c.checkMotor(r, p+".motor", *a.Motor)
	}
	a.Friction.check(r, p+".friction", a.needsLaw())
	e := a.Estimator
	if rls := p + ".estimator.rls"; !r.HasProblem("loop.rate") && e.RLS.Enabled && !r.HasProblem(rls) {
		r.ErrorIf(e.RLS.Window < 10/c.Loop.Rate, rls+".window", "%s s, want at least ten ticks, %s s", schema.Short(e.RLS.Window),
			schema.Short(10/c.Loop.Rate))
		r.ErrorIf(e.RLS.Memory > 0 && e.RLS.Memory < 5*e.RLS.Window, rls+".memory",
			"%s s, want at least five windows, %s s, or 0 for no forgetting", schema.Short(e.RLS.Memory), schema.Short(5*e.RLS.Window))
		vs := a.Friction.StribeckSpeed()
		r.WarnIf(e.RLS.MinVel < vs, rls+".min_velocity", "%s %[3]s is below the Stribeck velocity, %[2]s %[3]s: windows in its range bias the "+
			"Coulomb estimate", schema.Short(e.RLS.MinVel), schema.Short(vs), a.Unit("rad/s"))
	}
	// the bristle must be resolved by the encoder, else presliding cannot be compensated [theory §4.2]
	if r.HasProblem(p+".friction") || a.Friction.Model == nil || a.Compensation.Kind != axis.CompObserver {
		return
	}
	stick := a.Friction.Model.Levels().Rest.Max() / a.Friction.Model.Stiffness().K
	if m := c.measurement(a.Position); m != nil {
		count := math.Abs(m.Scale)
		r.WarnIf(stick > 0 && count > stick/4, p+".compensation.kind", "one count, %s %[3]s, is more than a quarter of the presliding travel, "+
			"break-away over stiffness, %[2]s %[3]s; the observer will not see presliding", schema.Short(count), schema.Short(stick), a.Unit("rad"))
	}
}

func (c *Config) checkMotor(r *schema.Report, path string, m plant.Motor) {
	checkBrushes(r, path, m.BrushDrop, m.DropScale)
	// electrical time constant: a mistyped unit shows here
	if tau := m.L / m.R; m.R > 0 && m.L > 0 && (tau < 1e-6 || tau > 1) {
		r.Warnf(path+".L", "%s: L/R is %.3g s; small motors have 0.1 to 10 ms", path, tau)
	}
}

// checkBrushes wants both numbers of a brush drop or none; a drop that is said to be 0 may have its current.
func checkBrushes(r *schema.Report, at string, drop, current float64) {
	switch {
	case r.HasProblem(at):
	case drop > 0 && current <= 0:
		r.KeyErrorf(at+".drop_current", "is missing: there is a brush drop; want the current at which it is three quarters developed")
	case r.HasKey(at+".drop_current") && !r.HasKey(at+".brush_drop"):
		r.KeyErrorf(at+".drop_current", "has no effect without brush_drop; give that, or leave it out")
	}
}

func (c *Config) checkControl(r *schema.Report, a *Axis) {
	k, m, at := a.Control, a.MotorModel(), a.path()+".control"
	c.checkCompensation(r, a)
	if !a.Controlled() {
		r.FirstErrorIf(k.Gain == 0 && a.Drive.Kind == plant.VelocityDrive && a.Reference.Quantity == axis.OfPosition, at+".gain",
			"is missing: in 1/s, the velocity that a velocity drive adds per position error")
		return
	}
	r.WarnIf(k.Gain != 0, at+".gain", "used with a velocity drive only")
	r.FirstErrorIf(k.Limit == 0, at+".limit", "is missing: in %s, the largest effort that the controller asks for", a.Unit("N·m"))
	if r.HasProblem(at) || r.HasProblem(a.path()+".motor") || r.HasProblem(a.path()+".inertia") || r.HasProblem("loop.rate") {
		return
	}
	viscous := 0.0
	if !r.HasProblem(a.path() + ".friction") {
		viscous = a.Friction.viscosity()
	}
	if k.Kp == 0 && k.Kd == 0 {
		r.Errorf(at+".kp", "%s.kp and kd are both missing or zero: nothing would follow the reference", at)
		return
	}
	r.WarnIf(k.Kind == "pd" && k.Ki > 0, at+".ki", "not used by kind pd")
	if k.Kind == "pid" {
		damping := k.Kd + viscous
		switch {
		case k.Ki == 0:
			r.KeyWarnf(at+".ki", "kind pid without an integral gain is pd")
		case k.Ki*m.J >= k.Kp*damping: // Routh for J s³ + (kd+σ2) s² + kp s + ki
			r.KeyErrorf(at+".ki", "%s %s makes the axis unstable; want less than kp·(kd + viscous friction)/J = %s", schema.Short(k.Ki),
				a.Unit("N·m/(rad·s)"), schema.Short(k.Kp*damping/m.J))
		}
	}
	// the loop delays by about one and a half ticks: crossover beyond 1/(1.5 T)·π/2 ≈ rate is unstable
	rate := c.Loop.Rate
	cross, wn := k.Kd/m.J, math.Sqrt(k.Kp/m.J)
	switch {
	case cross > rate:
		r.KeyErrorf(at+".kd", "the velocity loop would cross over at kd/J = %.3g rad/s; with one and a half ticks of delay it is unstable "+
			"above %.3g rad/s", cross, rate)
	case cross > rate/4 || wn > rate/4:
		r.KeyWarnf(at, "the loop crosses over at about %.3g rad/s; above a quarter of the rate, %.3g rad/s, the delay of the loop eats the "+
			"damping", math.Max(cross, wn), rate/4)
	}
	zeta := (k.Kd + viscous) / (2 * math.Sqrt(k.Kp*m.J))
	r.WarnIf(k.Kp > 0 && zeta < 0.2, at+".kd", "damping ratio %.2g without friction; below 0.2 the axis rings", zeta)
	unit, lim := a.Unit("N·m"), c.limitOf(a)
	top := math.Max(-lim[0], lim[1])
	switch a.Drive.Kind {
	case plant.VoltageDrive:
		stall := m.K * math.Max(0, top-m.BrushDrop) / m.R
		r.WarnIf(k.Limit > stall && top > 0, at+".limit", "%s %s is never reached; the drive's %.3g V give %.3g %[2]s at standstill",
			schema.Short(k.Limit), unit, top, stall)
	case plant.CurrentDrive, plant.EffortDrive:
		most := top
		if a.Drive.Kind == plant.CurrentDrive {
			most *= m.K
		}
		r.WarnIf(k.Limit > most*(1+1e-9) && most > 0, at+".limit", "%s %s is never reached; the limit of the command is %.3g %[2]s",
			schema.Short(k.Limit), unit, most)
	}
}

func (c *Config) checkGuard(r *schema.Report, a *Axis) {
	g, at := a.Guard, a.path()+".guard"
	if a.Current == "" && !r.HasProblem(a.path()+".current") {
		for _, k := range []struct {
			key string
			v   float64
		}{{"max_current", g.MaxCurrent}, {"rated_current", g.RatedI}} {
			r.ErrorIf(k.v > 0, at+"."+k.key, "needs a measured current, %s.current", a.path())
		}
	}
	r.ErrorIf(g.MaxCurrent > 0 && g.RatedI > g.MaxCurrent, at+".rated_current",
		"%s A is above max_current, %s A; the budget would never be used", schema.Short(g.RatedI), schema.Short(g.MaxCurrent))
	r.WarnIf(!c.IsVirtual() && g.MaxSpeed == 0 && g.MaxError == 0 && a.Drive.Kind == plant.VoltageDrive, at,
		"neither max_speed nor max_error is set; a runaway axis would be stopped by the current limit at best")
	switch j := a.MotorModel().J; {
	case g.MaxInertia > 0 && !a.Drive.Kind.Forces():
		r.KeyErrorf(at+".max_inertia", "nothing uses it with drive.kind %s: leave it out", a.Drive.Kind)
	case g.MaxInertia > 0 && g.MaxInertia < j:
		r.KeyErrorf(at+".max_inertia", "%s %s is below the inertia that the file gives, %s %[2]s; want the largest that the axis may truly have",
			schema.Short(g.MaxInertia), a.Unit("kg·m²"), schema.Short(j))
	case g.MaxInertia == 0 && j > 0 && a.Drive.Kind.Forces() && !c.IsVirtual():
		r.KeyWarnf(at, "max_inertia is not set, so the true inertia may be ten times that of the file: a position that shows a part of the "+
			"motion only, as of a coupling that slips, is found late or never. Give the largest inertia that the axis may truly have, such as "+
			"twice that of the file")
	}
	for _, l := range []struct {
		key    string
		limits [2]float64
	}{{"travel", g.Travel}, {"stop", g.Stop}} {
		r.ErrorIf(l.limits != [2]float64{} && !(l.limits[0] < l.limits[1]), at+"."+l.key, "%s to %s, want low < high", schema.Short(l.limits[0]),
			schema.Short(l.limits[1]))
	}
	t, s := g.Travel, g.Stop
	r.ErrorIf(t[0] < t[1] && s[0] < s[1] && (s[0] <= t[0] || s[1] >= t[1]), at+".stop",
		"%s to %s %s, want it within travel, %s to %s: the reference has to stop before the rig trips", schema.Short(s[0]), schema.Short(s[1]),
		a.Unit("rad"), schema.Short(t[0]), schema.Short(t[1]))
	if m := c.measurement(a.Current); m != nil && g.MaxCurrent != 0 && m.Range != [2]float64{} &&
		(g.MaxCurrent > m.Range[1] || -g.MaxCurrent < m.Range[0]) {
		r.KeyWarnf(at+".max_current", "%s A is outside the range of %s, which holds the rig first", schema.Short(g.MaxCurrent), m.Name)
	}
}
