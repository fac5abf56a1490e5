package configs

import (
	"cmp"
	"math"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/experiment"
	"hilrig/engine/friction"
)

// Validate checks a run that was changed after loading (flags); there are no places in a file to point at.
func (c *Simulate) Validate() (problems, warnings []schema.Problem) {
	r := schema.NewReport(c.UnitTags(func(path ...string) string {
		switch {
		case len(path) == 1:
			return c.Axis
		case path[0] == "plant":
			return c.Plant.Kind.String()
		case c.Control != nil:
			return c.Control.Quantity
		}
		return ""
	}))
	c.Check(r)
	return r.Problems(), r.Warnings()
}

// Check reports what is wrong with the values, and what is legal but worth a thought.
func (c *Simulate) Check(r *schema.Report) {
	r.FirstErrorIf(c.Version != 1, "version", "%d, this program reads version 1", c.Version)
	r.CheckBounds(c)
	c.checkPlant(r)
	c.checkSignals(r)
	c.checkRun(r)
	c.checkSensors(r)
	r.FirstErrorIf(len(c.Friction) == 0, "friction", "is missing: a law such as {law: lugre}, or a list of laws; hil laws lists them")
}

func (c *Simulate) checkPlant(r *schema.Report) {
	p, motor := &c.Plant, c.Plant.Kind == experiment.MotorAxis
	if motor && !r.HasKey("axis") {
		c.Axis = "rotary"
	}
	if r.HasProblem("plant.kind") {
		return
	}
	if p.Kind == 0 {
		r.KeyErrorf("plant.kind", "is missing: drawn-mass, imposed-velocity, imposed-motion, imposed-force, controlled-mass or motor")
		return
	}
	r.ErrorIf(motor && c.Axis != "rotary", "axis", "a motor turns; want rotary, or leave axis out")
	led := p.Kind == experiment.ControlledMass
	mass := p.Kind.Info().Mass
	r.FirstErrorIf(mass && p.Mass == 0, "plant.mass", "is missing or zero: %s moves a mass, in %s", p.Kind, c.Unit("kg"))
	r.FirstErrorIf(p.Kind == experiment.DrawnMass && p.Spring == 0 && p.Damper == 0, "plant.spring",
		"is missing or zero: the input draws the mass over it, in %s", c.Unit("N/m"))
	r.FirstErrorIf(led && c.Control == nil, "control",
		"is missing: a controlled mass needs its gains, such as {of: position, kp: 3 %s, kd: 6 %s}", c.Unit("N/m"), c.Unit("N·s/m"))
	if k := c.Control; led && k != nil {
		k.Quantity = cmp.Or(k.Quantity, "position")
		k := k.Spec()
		for _, err := range k.Check(c.Step, c.Scheme) {
			key, _, _ := strings.Cut(err.Error(), ":")
			if !r.HasProblem(key) && !r.HasProblem("step") && !r.HasProblem("control") {
				r.Errorf(key, "%v", err)
			}
		}
	}
	r.FirstErrorIf(motor && p.Motor == nil, "plant.motor", "is missing: R, L, K, J as in a rig file")
	if m := p.Motor; motor && m != nil {
		checkBrushes(r, "plant.motor", m.BrushDrop, m.DropScale)
	}
	for _, k := range []struct {
		key     string
		applies bool
	}{
		{"plant.mass", mass}, {"plant.spring", mass}, {"plant.damper", mass}, {"plant.motor", motor}, {"plant.load_inertia", motor},
		{"plant.load_torque", motor}, {"plant.cogging", motor}, {"plant.cogging_periods", motor}, {"plant.thermal", motor},
		{"initial.velocity", mass || motor}, {"current", !motor}, {"control", led},
	} {
		r.WarnIf(r.HasKey(k.key) && !k.applies, k.key, "not used by plant.kind %s", p.Kind)
	}
	r.FirstErrorIf(motor && c.Scheme != friction.Midpoint, "scheme", "a motor is stepped by midpoint only")
}

func (c *Simulate) checkSignals(r *schema.Report) {
	if c.Input.Kind == "" && !r.HasKey("input") && !r.HasProblem("input") {
		r.KeyErrorf("input", "is missing: the %s, a number or a generator such as {kind: ramp, velocity: 0.1 m/s}", c.Plant.Kind.Info().Input)
	} else {
		c.Input.check(r, "input", c.InputUnit(), c.Initial.Position)
	}
	if c.Normal != nil {
		c.Normal.check(r, "normal", c.Unit("N"), 0)
	}
	if c.Current != nil {
		c.Current.check(r, "current", "A", 0)
	}
	if c.Normal != nil {
		return
	}
	for i := range c.Friction {
		c.Friction[i].checkLoad(r, "normal is not given")
	}
}

// checkLoad wants a normal load for a law that takes its level from it, where the run has none; N0 will do.
func (l *Law) checkLoad(r *schema.Report, why string) {
	if l.NeedsNormal() {
		r.Errorf(l.path+".mu", "%s: %s has mu = %s, so it needs the normal load, but %s; give it as N0", l.path, l.Name,
			schema.Short(l.param("mu")), why)
	}
}

// NeedsNormal tells whether the law has no level without a normal load.
func (l *Law) NeedsNormal() bool { return l.param("mu") > 0 && l.param("N0") == 0 }

func (c *Simulate) checkRun(r *schema.Report) {
	if r.HasProblem("step") || r.HasProblem("duration") {
		return
	}
	switch n := c.Duration / c.Step; {
	case n < 1-1e-9:
		r.KeyErrorf("duration", "%s s, want at least one step, %s s", schema.Short(c.Duration), schema.Short(c.Step))
	case n > 1e9:
		r.KeyErrorf("duration", "%s s are %.3g steps, want at most 1e9", schema.Short(c.Duration), n)
	}
	c.checkSampling(r)
	if c.Outputs.RowInterval > 0 && c.Outputs.Decimate > 0 {
		r.KeyErrorf("outputs.decimate", "every says it already; leave one of them out")
	} else if _, ok := c.Decimation(); !ok && !r.HasProblem("outputs.every") {
		r.KeyErrorf("outputs.every", "%s s is no whole number of steps of %s s", schema.Short(c.Outputs.RowInterval), schema.Short(c.Step))
	}
	r.FirstErrorIf(len(c.Outputs.Columns) == 0, "outputs.columns", "empty, want at least one")
	seen := map[string]bool{}
	for _, col := range c.Outputs.Columns {
		r.ErrorIf(seen[col], "outputs.columns", "%s appears twice", col)
		seen[col] = true
		r.ErrorIf((col == "current" || col == "temperature") && c.Plant.Kind != experiment.MotorAxis && c.Plant.Kind != 0, "outputs.columns",
			"%s is there for a motor only", col)
	}
	for i, l := range c.Friction {
		for _, other := range c.Friction[:i] {
			r.ErrorIf(other.Label == l.Label, l.path, "two laws are called %q; give one of them another label", l.Label)
		}
	}
	for i := range c.Friction {
		l := &c.Friction[i]
		l.advise(r)
		l.checkPlant(r)
		info, _ := friction.Find(l.Name)
		r.WarnIf(info.Force && c.Plant.Kind.Info().ImposesMotion, l.path,
			"%s looks at the applied force, and an imposed motion has none: only its sliding branch shows", l.Name)
	}
}

// advise warns about laws that do what nature does not.
func (l *Law) advise(r *schema.Report) {
	fs, fc := l.param("Fs"), l.param("Fc")
	if fs < fc { // NaN: no such parameter
		r.Warnf(l.path+".Fs", "%s: Fs, %s %s, lies below Fc, %s %s: this contact strengthens with speed; Fs is the total break-away level, not "+
			"what is added to Fc", l.path, schema.Short(fs), r.UnitIn("N"), schema.Short(fc), r.UnitIn("N"))
	}
	ok, from := l.Model.Passive()
	if ok {
		return
	}
	at := ""
	if math.IsInf(from, 0) {
		at = ", in the limit of high speed"
	} else if from > 0 {
		at = ", from " + short3(from) + " " + r.UnitIn("m/s") + " on"
	}
	lugre, is := l.Model.(*friction.LuGre)
	if !is {
		r.KeyWarnf(l.path, "with these parameters %s can return more energy than it was given%s", l.Name, at)
		return
	}
	vd, _ := lugre.Remedy() // a law without bristle damping is passive
	key, remedy := ".sigma1", "give sigma1 a vd of about "
	if lugre.Vd > 0 {
		key, remedy = ".vd", "lower vd to about "
	}
	remedy += short3(vd) + " " + r.UnitIn("m/s")
	if lugre.Vd == 0 && lugre.Fs > lugre.Fc {
		remedy += ", or have sigma2 ≥ sigma1·(Fs − Fc)/Fc = " + short3(lugre.Sigma1*(lugre.Fs-lugre.Fc)/lugre.Fc) + " " + r.UnitIn("N·s/m")
	}
	r.Warnf(l.path+key, "%s: with these parameters lugre can return more energy than it was given%s; %s", l.path, at, remedy)
}
