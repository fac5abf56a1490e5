package configs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/plant"
)

// checkVirtual looks at the virtual rig.
func (c *Config) checkVirtual(r *schema.Report) {
	v := c.Virtual
	if v == nil || r.HasProblem("virtual") {
		return
	}
	defer r.WithUnits(v.Plant.Units())()
	c.checkRates(r)
	c.checkPlant(r)
	c.checkFirmware(r)
	if !r.HasProblem("virtual") && !r.HasProblem("axes") && !r.HasProblem("devices") {
		c.checkReadings(r)
		c.checkSeen(r)
		c.checkScript(r)
	}
}

// checkRates: the plant makes a whole number of steps from frame to frame.
func (c *Config) checkRates(r *schema.Report) {
	v := c.Virtual
	multiple := func(key string, hz float64) {
		n := v.InnerRate / hz
		r.ErrorIf(math.Abs(n-math.Round(n)) > 1e-9*n, "virtual.inner_rate", "%s Hz, want a multiple of %s, %s Hz", schema.Short(v.InnerRate), key,
			schema.Short(hz))
	}
	if !r.HasProblem("loop.rate") {
		multiple("loop.rate", c.Loop.Rate)
	}
	for i := range c.Devices {
		if d := &c.Devices[i]; d.Rate > 0 && !r.HasProblem(d.path()+".rate") {
			multiple(d.path()+".rate", d.Rate)
			n := c.FastestRate() / d.Rate
			r.ErrorIf(math.Abs(n-math.Round(n)) > 1e-9*n, d.path()+".rate", "%s Hz; a device of the virtual rig sends at a whole part of the rate "+
				"of the fastest, %s Hz", schema.Short(d.Rate), schema.Short(c.FastestRate()))
		}
	}
}

// checkPlant looks at the plant and its axes.
func (c *Config) checkPlant(r *schema.Report) {
	p := &c.Virtual.Plant
	const at = "virtual.plant"
	r.ErrorIf(!(p.Supply[0] <= 0 && p.Supply[1] > 0), at+".supply", "%s to %s V, want low ≤ 0 < high", schema.Short(p.Supply[0]),
		schema.Short(p.Supply[1]))
	for _, s := range []struct {
		key     string
		kind    PlantKind
		present bool
	}{{"two_link", armPlant, p.TwoLink != nil}, {"brush", brushPlant, p.Brush != nil}, {"ball", ballPlant, p.Ball != nil},
		{"machine", machinePlant, p.Machine != nil}} {
		switch {
		case s.present && p.Kind != s.kind:
			r.KeyWarnf(at+"."+s.key, "not used by kind %s", p.Kind)
		case !s.present && p.Kind == s.kind:
			r.KeyErrorf(at+"."+s.key, "is missing: %s", map[PlantKind]string{machinePlant: "{file: NAME.yaml}, a " +
				"machine file"}[s.kind]+map[PlantKind]string{armPlant: "mass, length, centre and inertia of the links"}[s.kind])
		}
	}
	if p.Kind == ballPlant {
		c.checkBallPlant(r)
		return
	}
	most, least := plant.MostAxes, 1
	if k := plant.Find(string(p.Kind)); k != nil && k.Axes > 0 {
		most, least = k.Axes, k.Axes
	} else if p.Kind == brushPlant {
		most = 1
	}
	n := len(p.Axes)
	r.ErrorIf(n < least || n > most, at+".axes", "%d with those of the file; a plant of kind %s has %s", n, p.Kind, axesText(least, most))
	if p.TwoLink != nil && p.Kind == armPlant {
		err := p.TwoLink.Validate()
		r.ErrorIf(err != nil, at+".two_link", "%v", err)
	}
	if p.Kind == machinePlant && p.Machine != nil {
		defer c.checkLinkage(r)
	}
	for i := range p.Axes {
		a := &p.Axes[i]
		c.checkTruth(r, a)
		if m := c.ModelOf(a.Name); m != nil && p.Kind != machinePlant && m.Linear() != p.linear() && !r.HasProblem(m.path()+".kind") {
			r.KeyErrorf(at+".kind", "%s, but %s is %s", p.Kind, m.path(), m.Kind)
		}
	}
}

func axesText(least, most int) string {
	switch {
	case least == most && most == 1:
		return "one"
	case least == most:
		return fmt.Sprint(most)
	case most == 1:
		return "one"
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// checkTruth looks at an axis of the plant.
func (c *Config) checkTruth(r *schema.Report, a *VirtualAxis) {
	p := a.path()
	voltage := a.Drive.Kind.is(plant.VoltageDrive)
	switch {
	case voltage && a.Motor == nil:
		r.KeyErrorf(p+".motor", "is missing: the drive is a voltage, and no axis of the file has that name")
	case voltage:
		c.checkMotor(r, p+".motor", *a.Motor)
	case a.Inertia+a.LoadJ == 0 && c.Virtual.Plant.Kind != machinePlant && !r.HasProblem(p):
		what := "what moves"
		if c.Virtual.Plant.Kind == armPlant {
			what = "of the motor behind the gear, beside that of the links"
		}
		r.KeyErrorf(p+".inertia", "is missing: %s", what)
	}
	r.ErrorIf(a.Drive.Kind.is(plant.CurrentDrive) && a.K == 0, p+".K", "is missing: the effort per current")
	r.ErrorIf(a.Drive.Kind.is(plant.VelocityDrive) && a.Drive.Kp == 0 && a.Drive.Ki == 0, p+".drive.kp",
		"is missing: a velocity drive controls the speed by itself, with kp and ki")
	_, err := a.Drive.Limit.inUnit(c.limitUnit(a))
	r.ErrorIf(err != nil, p+".drive.limit", "%v", err)
	if m := c.ModelOf(a.Name); a.Friction.Model == nil && m == nil {
		r.KeyErrorf(p+".friction", "is missing: no axis of the file has that name")
	} else if a.Friction.Model != nil { // without, the model's is missing or less than that of brushes: said there
		a.Friction.check(r, p+".friction", true)
		a.Friction.checkPlant(r)
	}
	r.ErrorIf(a.Cogging > 0 && a.CoggingN == 0, p+".cogging_periods", "is missing: there is a cogging torque")
	s := a.Stops
	r.ErrorIf(s.Travel != [2]float64{} && !(s.Travel[0] < s.Travel[1] && s.Stiffness > 0), p+".stops", "travel from %s to %s with a "+
		"stiffness of %s, want low < high and a stiffness", schema.Short(s.Travel[0]), schema.Short(s.Travel[1]), schema.Short(s.Stiffness))
}

// checkFirmware looks at the boards.
func (c *Config) checkFirmware(r *schema.Report) {
	names := listOf(c.Devices, func(d Device) string { return d.Name })
	for _, d := range c.Virtual.Devices {
		p := "virtual.devices." + d.Name
		if !slices.Contains(names, d.Name) {
			c.unknownSignal(r, p, d.Name, "device", names)
		}
		r.ErrorIf(!r.HasProblem("loop.rate") && d.Watchdog < 3/c.Loop.Rate, p+".watchdog", "%s s, want at least three ticks, %s s",
			schema.Short(d.Watchdog), schema.Short(3/c.Loop.Rate))
	}
}

// checkReadings looks at the sensors.
func (c *Config) checkReadings(r *schema.Report) {
	v := c.Virtual
	outputs := v.outputs(c)
	seen := map[string]bool{}
	c.eachReading(func(d *Device, m Measure, reading plant.Reading, s *VirtualSensor) {
		if s == nil {
			return
		}
		seen[s.Name] = true
		p := "virtual.sensors." + s.Name
		if s.Quantity != "" && reading.Output < 0 {
			c.unknownSignal(r, p+".of", s.Quantity, "number of the plant", listOf(outputs, func(o engine.Signal) string { return o.Name }))
			return
		}
		if reading.Output < 0 {
			r.KeyWarnf(p, "no axis uses %s, so it stays 0; say what it measures, with of", s.Name)
			return
		}
		if o := outputs[reading.Output]; o.Unit != m.Unit {
			r.KeyErrorf(p+".of", "%s is in %s, the measurement in %s", o.Name, unitName(o.Unit), unitName(m.Unit))
			return
		}
		for key, a := range map[string]Amount{"noise": s.Noise, "offset": s.Offset, "step": s.Step} {
			if x, err := a.difference(m.Unit); err != nil {
				r.KeyErrorf(p+"."+key, "%v", err)
			} else if x < 0 && key != "offset" {
				r.KeyErrorf(p+"."+key, "%s, want ≥ 0", a)
			}
		}
		switch count, scale := reading.Count, math.Abs(m.Scale); {
		case s.Counts > 0 && s.Step != "":
			r.KeyErrorf(p+".step", "beside counts; one of them")
		case s.Counts > 0 && m.Unit != "rad":
			r.KeyErrorf(p+".counts", "counts per turn of a measurement in %s; want step", unitName(m.Unit))
		case s.Counts > 0 && math.Abs(scale-count) > 1e-6*count && scale != 1:
			// the virtual encoder and the file must speak of the same count
			r.KeyWarnf(p+".counts", "%d per turn, %s rad; the file has %s rad per count", s.Counts, schema.Short(count),
				schema.Short(scale))
		}
	})
	measured, _ := c.measurements()
	for _, s := range v.Sensors {
		if !seen[s.Name] {
			c.unknownSignal(r, "virtual.sensors."+s.Name, s.Name, "measurement", measured)
		}
	}
}

// measurements are the names of all measurements, and their units.
func (c *Config) measurements() (names, units []string) {
	for _, d := range c.Devices {
		for _, m := range d.Measure {
			names, units = append(names, d.Name+"."+m.Name), append(units, m.Unit)
		}
	}
	return names, units
}

// checkScript looks at what happens to the rig.
func (c *Config) checkScript(r *schema.Report) {
	settings := c.Virtual.settings()
	readings := c.Readings()
	measured, units := c.measurements()
	for i := range c.Virtual.Script {
		e := &c.Virtual.Script[i]
		p := fmt.Sprintf("virtual.script[%d]", i)
		amount := func(key string, a Amount, needed bool, unit string) {
			switch _, err := a.difference(unit); {
			case needed && a == "":
				r.KeyErrorf(p+"."+key, "is missing: a number in %s", unitName(unit))
			case !needed && a != "":
				r.KeyErrorf(p+"."+key, "not used here")
			case err != nil:
				r.KeyErrorf(p+"."+key, "%v", err)
			}
		}
		switch {
		case (e.Set == "") == (e.Sensor == ""):
			r.KeyErrorf(p, "want set or sensor, one of them")
			continue
		case e.Set != "":
			k := slices.IndexFunc(settings, func(s engine.Signal) bool { return s.Name == e.Set })
			if k < 0 {
				c.unknownSignal(r, p+".set", e.Set, "setting of the plant", listOf(settings, func(s engine.Signal) string { return s.Name }))
				continue
			}
			r.ErrorIf(e.Fault != plant.Healthy, p+".fault", "of a sensor, but the entry sets %s", e.Set)
			amount("to", e.To, true, settings[k].Unit)
			amount("by", e.Amount, false, "")
			if to, err := e.To.inUnit(settings[k].Unit); err == nil && k == 0 && to < 0 {
				r.KeyErrorf(p+".to", "%s, want ≥ 0: the upper edge of the supply", e.To)
			}
		default:
			k := slices.Index(measured, e.Sensor)
			if k < 0 {
				c.unknownSignal(r, p+".sensor", e.Sensor, "measurement", measured)
				continue
			}
			r.ErrorIf(readings[k].Output < 0, p+".sensor", "%s measures nothing of the plant", e.Sensor)
			if e.Fault == plant.Healthy {
				r.KeyErrorf(p+".fault", "is missing: %s", strings.Join(e.Fault.Words()[1:], ", "))
			}
			amount("to", e.To, false, "")
			amount("by", e.Amount, e.Fault == plant.Shifted || e.Fault == plant.Delayed, byUnit(e.Fault, units[k]))
			if by, err := e.Amount.inUnit("s"); e.Fault == plant.Delayed && err == nil && !(by >= 0 && by <= 10) {
				r.KeyErrorf(p+".by", "%s, want 0 to 10 s", e.Amount)
			}
		}
	}
	if r.HasProblem("virtual.script") {
		return
	}
	// what the script asks of the same thing at the same time
	for _, clash := range plant.Clashes(c.Events()) {
		p := fmt.Sprintf("virtual.script[%d]", clash[1])
		r.KeyErrorf(p, "virtual.script[%d] is still in force then; let it end before, with for", clash[0])
	}
}
