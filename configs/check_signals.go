package configs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/spelling"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/device"
	"hilrig/hil/models"
	"hilrig/hil/protocol"
	"hilrig/hil/wire"
)

// maxSignals is how many measurements a device may send, and how many commands it may take: a word of fresh bits less one for their age.
const maxSignals = wire.MaxFields - 1

// maxAxes is how many axes a rig may have.
const maxAxes = 4

// ownerName is the name of a device, an axis or a model: signals are called by it.
var ownerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// checkOwners looks at the names of devices, axes and models, which share one name space, and at how many there are.
func (c *Config) checkOwners(r *schema.Report) {
	first := map[string]string{}
	for _, o := range []struct {
		kind, owner        string
		minCount, maxCount int
		paths              []string
	}{{"devices", "a device", 1, device.MaxDevices, listOf(c.Devices, Device.path)},
		{"axes", "an axis", c.minAxes(), maxAxes, listOf(c.Axes, Axis.path)},
		{"models", "a model", 0, hil.MaxModels, listOf(c.Models, Model.path)}} {
		switch {
		case len(o.paths) < o.minCount && !r.HasProblem(o.kind):
			r.KeyErrorf(o.kind, "there is none; want %s with its name, see hil config example", o.owner)
		case len(o.paths) > o.maxCount:
			r.KeyErrorf(o.kind, "%d, this version runs at most %d", len(o.paths), o.maxCount)
		}
		for _, p := range o.paths {
			name := p[len(o.kind)+1:]
			switch other := first[name]; {
			case !ownerName.MatchString(name):
				r.Errorf(p, "%s: %s, want up to 32 letters, digits, - and _, starting with a letter: signals are called by it", o.kind,
					schema.Quote(name))
			case slices.Contains([]string{"guard", "loop", "plant"}, name):
				r.KeyErrorf(p, "the name %s belongs to the program", name)
			case other != "":
				r.KeyErrorf(p, "%s has that name too; devices, axes and models share their names", other)
			}
			first[name] = p
		}
	}
}

// minAxes is how many axes the file must have: none beside a model that needs none.
func (c *Config) minAxes() int {
	if slices.ContainsFunc(c.Models, func(m Model) bool { return m.Kind == models.BallChoice }) {
		return 0
	}
	return 1
}

// checkPorts looks at what devices share: no two have one port, all are virtual or none is, and together they have no more measurements
// than fresh bits.
func (c *Config) checkPorts(r *schema.Report) {
	first, measured := map[string]string{}, 0
	for i := range c.Devices {
		d := &c.Devices[i]
		p := d.path()
		other := first[d.Port]
		r.FirstErrorIf(other != "" && d.Port != "" && !d.isVirtual(), p+".port", "%s is the port of %s too; one port is one device: several "+
			"slaves on a bus are fields with an address, at: {slave: …, register: …}", d.Port, other)
		first[d.Port] = p
		r.FirstErrorIf(d.isVirtual() != c.IsVirtual(), p+".port", "%s beside a virtual rig; either all devices are virtual or none", d.Port)
		if measured += len(d.Measure) + 1; measured > hil.MaxMeasured {
			r.KeyErrorf(p+".measure", "%d measurements and ages up to here, at most %d in a rig", measured, hil.MaxMeasured)
		}
	}
}

// checkDevice looks at a device, its port and its signals.
func (c *Config) checkDevice(r *schema.Report, d *Device) {
	c.checkPort(r, d)
	p := d.path()
	if !d.Required {
		for _, a := range c.Axes {
			for _, k := range []struct{ key, signal string }{{"position", a.Position}, {"drive.command", a.Drive.Command},
				{"drive.enable", a.Drive.Enable}, {"drive.applied", a.Drive.Applied}} {
				if strings.HasPrefix(k.signal, d.Name+".") {
					r.KeyErrorf(p+".required", "false, but %s.%s is %s; a drive and the position of a driven axis are required", a.path(), k.key, k.signal)
					break
				}
			}
		}
	}
	for _, l := range []struct {
		key string
		n   int
	}{{"measure", len(d.Measure)}, {"command", len(d.Command)}} {
		r.ErrorIf(l.n > maxSignals, p+"."+l.key, "%d, at most %d", l.n, maxSignals)
	}
	first := map[string]string{}
	once := func(at, name string) {
		other, twice := first[name]
		r.ErrorIf(twice && name != "", at+".name", "%q is the name of %s too", name, other)
		first[name] = at
	}
	for i, m := range d.Measure {
		at := fmt.Sprintf("%s.measure[%d]", p, i)
		c.checkMeasure(r, d, at, m)
		c.checkSignal(r, d, at, m.Field, "range", m.Range)
		once(at, m.Name)
	}
	for i, m := range d.Command {
		at := fmt.Sprintf("%s.command[%d]", p, i)
		c.checkCommand(r, d, at, m)
		c.checkSignal(r, d, at, m.Field, "limit", m.Limit)
		once(at, m.Name)
	}
	if d.Status != "" && d.StatusAt() < 0 && !r.HasProblem(p+".measure") {
		c.unknownSignal(r, p+".status", d.Status, "measurement of the device", listOf(d.Measure, func(m Measure) string { return m.Name }))
	}
}

// unknownSignal says that there is no such signal, with the one that was probably meant.
func (c *Config) unknownSignal(r *schema.Report, at, name, what string, have []string) {
	r.ErrorAt(at, r.PlaceOf(at), spelling.Hint(name, have, "there are "+strings.Join(have, ", ")), "%s: %s is no %s", at, schema.Quote(name),
		what)
}

// behind is what a pointer leads to.
func behind(p *string) string { return *p }

// listOf lists what each has of something, such as its name.
func listOf[T, N any](list []T, name func(T) N) (out []N) {
	for _, x := range list {
		out = append(out, name(x))
	}
	return out
}

func (c *Config) checkPort(r *schema.Report, d *Device) {
	p := d.path()
	switch {
	case r.HasProblem(p + ".port"):
	case d.Port == "":
		r.KeyErrorf(p+".port", "is missing: a serial port (hil ports lists them), or %s", VirtualPort)
	case strings.HasPrefix(d.Port, VirtualPort) && !d.isVirtual():
		r.KeyErrorf(p+".port", "%s, want %s or a serial port; virtual.plant.kind says what stands behind it", schema.Quote(d.Port), VirtualPort)
	}
	for k := range protocol.Kinds {
		section := p + "." + protocol.Kinds[k].Name
		r.WarnIf(k != int(d.Protocol) && r.HasKey(section), section, "not used by protocol %s", d.Protocol)
	}
	for _, bad := range d.section().Check() {
		r.SectionError(p+"."+d.Protocol.String(), bad.Path, bad.Text)
	}
	if k := d.Protocol.Kind(); k.Registers || k.Tracker {
		c.checkPlan(r, d)
	}
}

// checkPlan looks at a device whose protocol knows what may stand in its table, and what the loop makes of one that answers questions.
func (c *Config) checkPlan(r *schema.Report, d *Device) {
	p := d.path()
	r.ErrorIf(c.Loop.Clock == d.Name && d.Protocol.Kind().Asks, "loop.clock",
		"%s does not send by itself, for protocol %s asks; want wall, or a device that does", d.Name, d.Protocol)
	if r.HasProblem(p+".rate") || r.HasProblem("loop.rate") || r.HasProblem(p+"."+d.Protocol.String()) {
		return
	}
	plan, err := c.Plan(d)
	for _, bad := range engine.Problems(err) {
		if !r.HasProblem(p + "." + bad.Path) {
			r.SectionError(p, bad.Path, bad.Text)
		}
	}
	if err != nil {
		return
	}
	n := len(plan.Groups)
	r.ErrorIf(n > device.MaxGroups || len(d.Measure)+n > wire.MaxFields, p+".measure", "%d fields in %d requests; at most %d requests, and "+
		"%d of both together. %s.%s.gap reads fields at once that do not lie next to each other", len(d.Measure), n, device.MaxGroups,
		wire.MaxFields, p, d.Protocol)
	for _, g := range plan.Groups {
		if plan.Streams {
			break
		}
		if g.Rate > c.Loop.Rate*(1+1e-9) {
			r.KeyWarnf(p+".rate", "its measurements are asked for %s times per second, more often than the loop looks (%s Hz)",
				schema.Short(g.Rate), schema.Short(c.Loop.Rate))
			break
		}
	}
}

func (c *Config) checkSignal(r *schema.Report, d *Device, p string, f wire.Field, limitKey string, limits [2]float64) {
	switch {
	case r.HasProblem(p + ".name"):
	case f.Name == "":
		r.KeyErrorf(p+".name", "is missing")
	case !signalName.MatchString(f.Name):
		r.KeyErrorf(p+".name", "%s, want up to 48 letters, digits, dots, - and _, starting with a letter", schema.Quote(f.Name))
	case f.Name == "age" || strings.HasSuffix(f.Name, ".age"):
		r.KeyErrorf(p+".name", "%s.%s is the age of the device's newest frame", d.Name, f.Name)
	}
	kind := d.Protocol.Kind()
	r.WarnIf(f.Register != nil && !kind.Registers, p+".at", "not used by protocol %s", d.Protocol)
	if text := kind.Text; r.HasProblem(p+".type") || kind.Registers { // registers have their own types
	} else if kind.Tracker {
		r.WarnIf(f.Type != 0, p+".type", "not used by protocol %s", d.Protocol)
	} else if f.Type == 0 {
		r.KeyErrorf(p+".type", "is missing: one of u8, i8, u16, i16, u32, i32, f32, f64")
	} else if !text && f.Type == wire.Text {
		r.KeyErrorf(p+".type", "%s does not fit a link frame; want one of u8, i8, u16, i16, u32, i32, f32, f64", f.Type)
	} else if text && f.Type != wire.Text {
		r.KeyErrorf(p+".type", "%s does not fit a text line; want text, or leave it out", f.Type)
	}
	r.FirstErrorIf(f.Scale == 0, p+".scale", "0 makes every value the same")
	lo, hi := limits[0], limits[1]
	r.FirstErrorIf((lo != 0 || hi != 0) && !(lo < hi), p+"."+limitKey, "%s to %s, want low < high", schema.Short(lo), schema.Short(hi))
}

func unitName(si string) string { return cmp.Or(si, `pure numbers (unit "")`) }

func (c *Config) checkMeasure(r *schema.Report, d *Device, p string, m Measure) {
	if r.HasProblem(p) {
		return
	}
	u := c.use(d, m.Field, false)
	lo, hi, ok := m.Field.Range()
	r.WarnIf(ok && m.Range != [2]float64{} && (m.Range[0] < lo || m.Range[1] > hi), p+".range", "%s carries %s to %s %s; beyond it the "+
		"device saturates and the range check stays silent", m.Type, schema.Short(lo), schema.Short(hi), m.Unit)
	if m.Stale > 0 && !r.HasProblem("loop.rate") && !r.HasProblem(d.path()+".rate") {
		slow, what := 1/c.Loop.Rate, "loop"
		if period := 1 / c.sentRate(d, m); period > slow {
			slow, what = period, "device"
		}
		r.ErrorIf(m.Stale <= 2*slow, p+".stale", "%s s, want more than two periods of the %s, %s s", schema.Short(m.Stale), what,
			schema.Short(2*slow))
	}
	switch {
	case !m.Optional:
	case c.Needs(d, m):
		r.KeyErrorf(p+".optional", "%s is the position of a driven axis, a status, or what a limit rests on; it is not optional", m.Name)
	case m.Stale > 0:
		r.KeyErrorf(p+".stale", "what is optional may never come, and is not watched; leave one of both out")
	}
	r.WarnIf(c.Needs(d, m) && m.Stale == 0, p+".stale", "%s is not watched; a cable that comes off would not hold the rig. hil run --arm "+
		"refuses this file: leave stale out, or give it a time", m.Name)
	r.ErrorIf(u.axis != nil && u.role == hil.RolePosition && math.Abs(m.Scale) > 2*math.Pi*(1+1e-9), p+".scale",
		"one count is %s rad, want at most one turn", schema.Short(math.Abs(m.Scale)))
	r.ErrorIf(u.role == hil.RoleStatus && m.Scale != 1, p+".scale", "a status is bits; want 1")
	r.ErrorIf(u.role == hil.RoleStatus && (m.Type == wire.F32 || m.Type == wire.F64), p+".type", "a status is bits; want an integer type")
	switch temperature := u.role == hil.RoleTemperature; {
	case m.Max != 0 && !temperature:
		r.KeyErrorf(p+".max",
			"only a temperature (degC, K) trips above a limit of its own; the range holds the rig, guard limits of the axis trip")
	case temperature && hot(m, u) == 0:
		r.KeyWarnf(p+".max", "%s has no limit; give one, or the range of the measurement", m.Name)
	}
}

// patience (s) is the longest that an axis has with its position whose drive or position is on a device: who waits so long for one waits
// for the other.
func (c *Config) patience(d *Device) (longest float64) {
	for i := range c.Axes {
		a := &c.Axes[i]
		if p := c.measurement(a.Position); p != nil && (strings.HasPrefix(a.Position, d.Name+".") ||
			strings.HasPrefix(a.Drive.Command, d.Name+".")) {
			longest = max(longest, p.Stale)
		}
	}
	return longest
}

// staleOf is how old a sample with this use may be where the file does not say: five of its periods, at least 20 ms, for what an axis
// names, 0.1 s or the patience with the position for a status, which a board may send more rarely; 5 s for what warms up, on a device that
// must be there or with a limit.
func (c *Config) staleOf(d *Device, m Measure, u use) float64 {
	slow := max(1/c.Loop.Rate, 1/c.sentRate(d, m))
	if !(slow < 10) { // a rate that is refused elsewhere
		slow = 0
	}
	floor := 0.02 // s
	if u.axis != nil && u.role != hil.RolePosition {
		if p := c.measurement(u.axis.Position); p != nil { // who is patient with the position is so with what is read beside it
			floor = max(floor, p.Stale)
		}
	}
	moves := u.axis != nil && (u.role == hil.RolePosition || u.role == hil.RoleCurrent || u.role == hil.RoleEffort &&
		u.axis.Drive.Kind != plant.VoltageDrive)
	switch {
	case m.Optional:
		return 0
	case moves || u.axis != nil && d.Required:
		return max(floor, 5*slow)
	case u.role == hil.RoleStatus && d.Required:
		return max(c.patience(d), 0.1, 5*slow)
	case u.role == hil.RoleTemperature && (d.Required || hot(m, u) != 0):
		return temperatureStale
	}
	return 0
}

// Hot is the limit of a measured temperature in its own unit; 0: none.
func (c *Config) Hot(d *Device, m Measure) float64 { return hot(m, c.use(d, m.Field, false)) }

func hot(m Measure, u use) float64 {
	switch {
	case u.role != hil.RoleTemperature:
		return 0
	case m.Max == 0:
		return m.Range[1]
	}
	return m.Max
}

// sentRate is how often (Hz) a device sends a measurement, or is asked for it.
func (c *Config) sentRate(d *Device, m Measure) float64 {
	if m.Register != nil && m.Register.Poll > 0 && d.Protocol.Kind().Registers {
		return m.Register.Poll
	}
	return c.DeviceRate(d)
}

// Needs tells whether a drive must not be energised without watching the age of m: the position, the status of its board, and what a
// limit rests on.
func (c *Config) Needs(d *Device, m Measure) bool {
	u := c.use(d, m.Field, false)
	switch {
	case u.role == hil.RoleStatus:
		return slices.ContainsFunc(d.Command, func(cmd Command) bool { return c.use(d, cmd.Field, true).axis != nil })
	case u.axis == nil:
		return hot(m, u) != 0
	}
	return u.axis.Drive.Kind != plant.NoDrive && (u.role == hil.RolePosition || u.role == hil.RoleCurrent &&
		(u.axis.Guard.MaxCurrent > 0 || u.axis.Guard.RatedI > 0))
}

// A drive at full voltage brings a motor to its top speed within a few hundredths of a second. Longer than that it must not stay
// energised without a good sample, unless five samples of a slow device take longer.
const (
	longestStale     = 0.5 // s
	temperatureStale = 5   // s  of a temperature
	longestHold      = 1.0 // s
)

// MayDrive is why this rig must not be energised; nil if it may.
func (c *Config) MayDrive() error {
	const instead = "hil run --dry-run reads and estimates all the same"
	for i := range c.Axes {
		a := &c.Axes[i]
		if a.Drive.Kind == plant.NoDrive || a.Drive.Kind == plant.VoltageDrive {
			continue
		}
		// only a voltage tells, with current and speed, that a sign is wrong
		for _, g := range []struct {
			key   string
			limit float64
			needs bool
		}{{"max_speed", a.Guard.MaxSpeed, true}, {"max_error", a.Guard.MaxError, a.Reference.Quantity == axis.OfPosition}} {
			if g.needs && g.limit == 0 {
				return fmt.Errorf("%s.guard.%s is missing: with a %s drive nothing but the motion tells that a sign is wrong, and the axis would run "+
					"away; give it a limit. %s", a.path(), g.key, a.Drive.Kind, instead)
			}
		}
	}
	if !c.HasDrive() {
		return errors.New("no axis of this rig has a drive: there is nothing to arm; hil run without --arm measures, estimates and records")
	}
	for k := range c.Devices {
		d := &c.Devices[k]
		for i, m := range d.Measure {
			u := c.use(d, m.Field, false)
			usual := c.staleOf(d, m, u)
			top := max(longestStale, usual)
			if u.role == hil.RoleTemperature {
				top = temperatureStale
			}
			switch {
			case c.Needs(d, m) && m.Stale == 0:
				return fmt.Errorf("%s.measure[%d].stale is 0: nobody would notice that %s stopped coming while the drive is energised; leave stale "+
					"out (%s s here) or give it a time. %s", d.path(), i, m.Name, schema.Short(usual), instead)
			case c.Needs(d, m) && m.Stale > top:
				return fmt.Errorf("%s.measure[%d].stale is %s s: so long the drive would be energised blind when %s stops coming; want at most %s s, "+
					"or leave stale out (%s s here). %s", d.path(), i, schema.Short(m.Stale), m.Name, schema.Short(top), schema.Short(usual), instead)
			}
		}
	}
	if h := c.Guard.HoldTime; h > longestHold {
		return fmt.Errorf("guard.hold_time is %s s: so long the drive would stay energised while a sensor is sick; want at most %s s. %s",
			schema.Short(h), schema.Short(longestHold), instead)
	}
	return nil
}

// SetRate moves the configuration to another rate of the loop; samples may be older where they come more slowly.
func (c *Config) SetRate(rate float64) {
	c.Loop.Rate = rate
	c.Loop.Spin = min(c.Loop.Spin, 0.4/rate)
	for k := range c.Devices {
		d := &c.Devices[k]
		if d.Rate != 0 {
			d.Rate = rate
		}
		for i := range d.Measure {
			if m := &d.Measure[i]; m.Stale > 0 {
				m.Stale = max(m.Stale, c.staleOf(d, *m, c.use(d, m.Field, false)))
			}
		}
	}
}

func (c *Config) checkCommand(r *schema.Report, d *Device, p string, m Command) {
	if r.HasProblem(p) {
		return
	}
	u := c.use(d, m.Field, true)
	switch {
	case u.axis == nil:
		r.ErrorIf(!r.HasProblem("axes"), p, "no axis uses %s.%s; name it under drive: command or drive: enable of an axis, or leave it out",
			d.Name, m.Name)
		return
	case m.Limit == [2]float64{}:
		r.KeyErrorf(p+".limit", "is missing: the command never leaves it, e.g. ±24 V")
		return
	case m.Safe < m.Limit[0] || m.Safe > m.Limit[1]:
		r.KeyErrorf(p+".safe", "%s is outside the limit, %s to %s %s", schema.Short(m.Safe), schema.Short(m.Limit[0]),
			schema.Short(m.Limit[1]), m.Unit)
		return
	}
	if lo, hi, ok := m.Range(); ok {
		r.ErrorIf(m.Limit[0] < lo || m.Limit[1] > hi, p+".limit", "%s to %s %s does not fit %s with this scale, which carries %s to %s",
			schema.Short(m.Limit[0]), schema.Short(m.Limit[1]), m.Unit, m.Type, schema.Short(lo), schema.Short(hi))
		steps := (m.Limit[1] - m.Limit[0]) / math.Abs(m.Scale)
		r.WarnIf(!u.enable && steps < 100, p+".scale", "the whole limit is %.3g counts; the drive moves in coarse steps", steps)
	}
	switch {
	case u.enable:
		r.ErrorIf(m.Safe != 0, p+".safe", "%s, want 0: enable is off in every safe state", schema.Short(m.Safe))
		r.ErrorIf(m.Limit != [2]float64{0, 1}, p+".limit", "enable is 0 or 1")
	default:
		r.WarnIf(m.Safe != 0, p+".safe", "%s %s keeps the drive energised in the safe state", schema.Short(m.Safe), m.Unit)
		// which have no counts
		if m.Slew > 0 && !r.HasProblem("loop.rate") && m.Slew/c.Loop.Rate < math.Abs(m.Scale) &&
			!slices.Contains([]wire.Type{wire.Text, wire.F32, wire.F64}, m.Type) {
			r.KeyErrorf(p+".slew", "%s %s/s is less than one count per tick; the drive would never move", schema.Short(m.Slew), m.Unit)
		}
	}
}
