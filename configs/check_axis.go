package configs

import (
	"fmt"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/plant"
	"hilrig/hil/axis"
)

// checkAxisSignals looks at the signals that an axis names; taken are those that axes before it use, and for what.
func (c *Config) checkAxisSignals(r *schema.Report, a *Axis, taken map[string]string) {
	p := a.path()
	var measured, commanded []string
	unit := map[string]string{}
	unclear := map[string]bool{} // a list that could not be read may have the signal
	for _, d := range c.Devices {
		for i, m := range d.Measure {
			unclear["measurement"] = unclear["measurement"] || r.HasProblem(fmt.Sprintf("%s.measure[%d].name", d.path(), i))
			measured = append(measured, d.Name+"."+m.Name)
			unit[d.Name+"."+m.Name] = m.Unit
		}
		for i, m := range d.Command {
			unclear["command"] = unclear["command"] || r.HasProblem(fmt.Sprintf("%s.command[%d].name", d.path(), i))
			commanded = append(commanded, d.Name+"."+m.Name)
			unit[d.Name+"."+m.Name] = m.Unit
		}
	}
	for _, d := range c.Devices {
		for what, empty := range map[string]bool{"measurement": d.Measure == nil, "command": d.Command == nil} {
			unclear[what] = unclear[what] || empty && r.HasProblem(d.path())
		}
	}
	driven, such := a.Drive.Kind, ""
	if a.Drive.Kind != plant.NoDrive {
		such = "such as drive." + driven.String()
	}
	effort := []string{a.Unit("N·m"), "J"}
	for _, k := range []struct {
		key, signal, signalKind, need string // need: it must be there, such as
		among                         []string
		units                         []string
	}{
		{"position", a.Position, "measurement", "such as drive.rotor.angle", measured, []string{a.Unit("rad")}},
		{"velocity", a.Velocity, "measurement", "", measured, []string{a.Unit("rad/s")}},
		{"current", a.Current, "measurement", "", measured, []string{"A"}},
		{"effort", a.Effort, "measurement", "", measured, effort},
		{"drive.applied", a.Drive.Applied, "measurement", "", measured, []string{"V"}},
		{"drive.command", a.Drive.Command, "command", such, commanded, []string{a.Unit(driven.Unit())}},
		{"drive.enable", a.Drive.Enable, "command", "", commanded, []string{""}},
	} {
		at := p + "." + k.key
		if k.units[0] == a.Unit("N·m") {
			k.units = effort
		}
		switch other := taken[k.signal]; {
		case r.HasProblem(at) || k.signal == "" && k.need == "":
		case k.signal == "":
			r.KeyErrorf(at, "is missing: the %s, %s", k.signalKind, k.need)
		case strings.HasPrefix(k.key, "drive.") && a.Drive.Kind == plant.NoDrive:
			r.KeyErrorf(at, "%s, but drive.kind is none: give the kind of the drive, or leave this out", k.signal)
		case k.key == "drive.applied" && a.Drive.Kind != plant.VoltageDrive:
			r.KeyErrorf(at, "only a voltage drive has one; what another drive does is %s.current or %s.effort", p, p)
		case !slices.Contains(k.among, k.signal):
			if !unclear[k.signalKind] {
				c.unknownSignal(r, at, k.signal, k.signalKind, k.among)
			}
		case other != "" && !(k.key == "drive.enable" && strings.HasSuffix(other, ".drive.enable")): // one line may enable several drives
			r.KeyErrorf(at, "%s is %s already", k.signal, other)
		case k.key == "drive.command" && !slices.Contains(k.units, unit[k.signal]):
			r.KeyErrorf(at, "%s is in %s; a %s drive of a %s axis takes %s: correct drive.kind, or the unit of the command", k.signal,
				unitName(unit[k.signal]), driven.String(), a.Kind, k.units[0])
		case !slices.Contains(k.units, unit[k.signal]):
			r.KeyErrorf(at, "%s is measured in %s; want %s", k.signal, unitName(unit[k.signal]), unitName(k.units[0]))
		}
		if slices.Contains(k.among, k.signal) {
			taken[k.signal] = at
		}
	}
	r.WarnIf(a.Current == "" && !r.HasProblem(p+".current") && a.Drive.Kind == plant.VoltageDrive, p+".current",
		"is missing: friction is estimated from the voltage alone, and currents are not guarded")
}

// checkDrive looks at what an axis must have with its kind of drive, and at what it cannot have.
func (c *Config) checkDrive(r *schema.Report, a *Axis) {
	p, kind, e := a.path(), a.Drive.Kind, &a.Estimator
	if r.HasProblem(p + ".drive.kind") {
		return
	}
	missing := func(key, why string) {
		r.ErrorIf(!r.HasProblem(p+"."+key), p+"."+key, "is missing: %s", why)
	}
	voltage := kind == plant.VoltageDrive
	inertia := a.Inertia > 0 || !voltage && kind.Forces()
	switch {
	case voltage && a.Motor == nil:
		missing("motor", "a voltage drive needs the motor's R, L, K and J")
	case !voltage && a.Motor != nil:
		r.KeyErrorf(p+".motor", "belongs to a voltage drive; with drive.kind %s give inertia, and drive.K in %s where a current is commanded "+
			"or measured", kind, a.Unit("N·m/A"))
	case voltage && a.Inertia != 0:
		r.KeyErrorf(p+".inertia", "a voltage drive has %s.motor.J for it", p)
	case voltage && a.Drive.K != 0:
		r.KeyErrorf(p+".drive.K", "a voltage drive has %s.motor.K for it", p)
	case !voltage && inertia && a.Inertia == 0:
		missing("inertia", fmt.Sprintf("in %s, of all that a %s drive moves", a.Unit("kg·m²"), kind))
	}
	if kind == plant.CurrentDrive && a.Drive.K == 0 {
		missing("drive.K", fmt.Sprintf("in %s, what one ampere does", a.Unit("N·m/A")))
	}
	known := kind.Forces() || a.Effort != "" || a.Current != "" && a.Drive.K > 0 // an effort
	r.ErrorIf(!voltage && a.Inertia > 0 && !known, p+".inertia", "nothing tells the effort on the axis: measure effort, or current and give "+
		"drive.K, or leave the inertia out: then friction is not estimated")
	if (voltage || a.Inertia > 0) && e.EffortWalk == 0 {
		missing("estimator.effort_walk", fmt.Sprintf("in %s, how fast friction and load may change", a.Unit("N·m/√s")))
	}
	if !voltage && a.Inertia == 0 && e.AccelWalk == 0 && !inertia {
		missing("estimator.acceleration_walk", fmt.Sprintf("in %s, how fast the acceleration of an axis without a known inertia may change",
			a.Unit("rad/(s²·√s)")))
	}
	if a.Current != "" && e.CurrentNoise < 1e-9 && (voltage || a.Inertia > 0) {
		missing("estimator.current_noise", "in A, as a current is measured")
	}
	if a.Velocity != "" && e.VelocityNoise == 0 && e.VelocityShare == 0 {
		missing("estimator.velocity_noise", fmt.Sprintf("in %s, as a velocity is measured", a.Unit("rad/s")))
	}
	if e.RLS.Enabled && e.RLS.MinVel == 0 {
		missing("estimator.rls.min_velocity", fmt.Sprintf("in %s, the speed from which on friction rises straight with it: three times vs of "+
			"the law", a.Unit("rad/s")))
	}
	if rls := p + ".estimator.rls"; e.RLS.Enabled && !voltage && (a.Inertia == 0 || a.Effort == "" && a.Current == "") && !r.HasProblem(rls) {
		r.KeyErrorf(rls+".enabled", "least squares need an inertia to begin with, and a measured effort or current in the frame of the position")
	}
	// the file in force has the default
	if of := a.Reference.Quantity; kind == plant.NoDrive && (of != axis.OfPosition || a.Reference.Kind != schema.New[Axis]().Reference.Kind) {
		r.KeyErrorf(p+".reference", "nothing drives the axis; leave it out")
	} else if !kind.Forces() && of == axis.OfEffort {
		r.KeyErrorf(p+".reference.of", "a %s drive takes no effort; want position or command", kind)
	}
	r.ErrorIf(a.Compensation.Kind != axis.CompNone && (!kind.Forces() || a.Reference.Quantity != axis.OfPosition), p+".compensation.kind",
		"%s adds an effort to that of a position controller; with drive.kind %s and reference.of %s there is none, want none",
		a.Compensation.Kind, kind, a.Reference.Quantity)
}

// MotorModel is what the model knows of the drive: the motor of a voltage drive, else inertia and effort per ampere.
func (a *Axis) MotorModel() plant.Motor {
	if a.Motor != nil {
		return *a.Motor
	}
	return plant.Motor{J: a.Inertia, K: a.Drive.K}
}

// ZeroOfCurrent says why a constant torque that was found with the measured current is none of the axis alone; "": it is. A drive that
// is told a voltage does not add what its current sensor reads at rest; one that is told a current adds it, and compensation takes it off.
func (a *Axis) ZeroOfCurrent() string {
	if a.Drive.Kind == plant.VoltageDrive && a.Current != "" {
		return "the zero of the current sensor is in it, which a drive that is told a voltage does not see"
	}
	return ""
}

// HasDrive tells whether an axis of the rig has a drive.
func (c *Config) HasDrive() bool {
	return slices.ContainsFunc(c.Axes, func(a Axis) bool { return a.Drive.Kind != plant.NoDrive })
}

// Controlled tells whether a position is followed by a controller whose output is an effort.
func (a *Axis) Controlled() bool {
	return a.Reference.Quantity == axis.OfPosition && a.Drive.Kind.Forces()
}
