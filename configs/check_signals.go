package configs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/hil/device"
	"hilrig/hil/wire"
)

// maxSignals is what a row leaves for measurements and commands: 64 less the signals of estimator, model and link.
const maxSignals = 40

// besideSignals is what a brush beside the rig adds.
const besideSignals = 10

// reserved beginnings belong to the signals the loop adds to a row.
var reserved = []string{"est.", "rls.", "ref.", "ctl.", "comp.", "model.", "guard.", "link."}

// roleUnit is the SI unit a role wants; status and enable are pure numbers.
var roleUnit = map[string][]string{
	"position": {"rad"}, "velocity": {"rad/s"}, "current": {"A"}, "voltage": {"V"}, "torque": {"N·m", "J"}, "temperature": {"degC", "K"}, "status": {""},
	"drive": {"V"}, "enable": {""},
}

// signal is what measurements and commands have in common.
type signal struct {
	wire.Field
	path, role string
	limits     [2]float64
	limitKey   string
}

func (c *Config) signals() (out []signal) {
	for i, m := range c.Device.Measure {
		out = append(out, signal{m.Field, fmt.Sprintf("device.measure[%d]", i), m.Role, m.Range, "range"})
	}
	for i, m := range c.Device.Command {
		out = append(out, signal{m.Field, fmt.Sprintf("device.command[%d]", i), m.Role, m.Limit, "limit"})
	}
	return out
}

func (c *Config) checkSignals(r *schema.Report) {
	d := c.Device
	c.checkPort(r)
	sigs := c.signals()
	most, beside := maxSignals-len(c.Compensation.Kind.Info().Learns), ""
	if c.Brush != nil {
		most, beside = most-besideSignals, " beside those of the brush"
	}
	if len(sigs) > most {
		r.Errorf("device.measure", "device: %d measurements and commands, at most %d%s", len(sigs), most, beside)
	}
	for i, m := range d.Measure {
		c.checkMeasure(r, fmt.Sprintf("device.measure[%d]", i), m)
	}
	for i, m := range d.Command {
		c.checkCommand(r, fmt.Sprintf("device.command[%d]", i), m)
	}
	first := map[string]string{}
	roles := map[string]string{}
	for _, s := range sigs {
		c.checkSignal(r, s)
		if other, twice := first[s.Name]; twice && s.Name != "" {
			r.Errorf(s.path+".name", "%s.name: %q is the name of %s too", s.path, s.Name, other)
		}
		first[s.Name] = s.path
		if other, twice := roles[s.role]; twice && s.role != "" {
			r.Errorf(s.path+".role", "%s.role: %s is the role of %s too; want one", s.path, s.role, other)
		}
		roles[s.role] = s.path
	}
	unclear := func(list string) bool { // a role that could not be read may be the one that is looked for
		return slices.ContainsFunc(sigs, func(s signal) bool { return strings.HasPrefix(s.path, list) && r.Bad(s.path+".role") })
	}
	if _, ok := roles["position"]; !ok && !unclear("device.measure") {
		r.Errorf("device.measure", "device.measure: no measurement has the role position; want exactly one")
	}
	if _, ok := roles["drive"]; !ok && !unclear("device.command") {
		r.Errorf("device.command", "device.command: no command has the role drive; want exactly one")
	}
	if _, ok := roles["current"]; !ok && !unclear("device.measure") {
		r.Warnf("device.measure", "device.measure: no measurement has the role current; friction is estimated from the voltage alone, and currents are not guarded")
	}
}

func (c *Config) checkPort(r *schema.Report) {
	d := c.Device
	switch {
	case r.Bad("device.port"):
	case d.Port == "":
		r.Errorf("device.port", "device.port is missing: a serial port (hil ports lists them), %s or %s", VirtualMotor, VirtualBrush)
	case strings.HasPrefix(d.Port, "virtual:") && !c.IsVirtual():
		r.Errorf("device.port", "device.port: %s, want %s, %s or a serial port", schema.Quote(d.Port), VirtualMotor, VirtualBrush)
	}
	if d.Protocol == device.Line {
		if d.Line.Separator == "comma" && d.Line.Decimal == "comma" {
			r.Errorf("device.line.decimal", "device.line.decimal: comma cannot be both separator and decimal sign")
		}
		if strings.ContainsAny(d.Line.Time, ",; \t") {
			r.Errorf("device.line.time", "device.line.time: %s is not the name of a column", schema.Quote(d.Line.Time))
		}
	} else if r.Given("device.line") {
		r.Warnf("device.line", "device.line: not used by protocol %s", d.Protocol)
	}
}

func (c *Config) checkSignal(r *schema.Report, s signal) {
	p := s.path
	switch {
	case r.Bad(p + ".name"):
	case s.Name == "":
		r.Errorf(p+".name", "%s.name is missing", p)
	case !signalName.MatchString(s.Name):
		r.Errorf(p+".name", "%s.name: %s, want up to 48 letters, digits, dots, - and _, starting with a letter", p, schema.Quote(s.Name))
	case s.Name == "timestamp" || s.Name == "seq" || s.Name == "mode" || s.Name == "armed" || s.Name == "late_us":
		r.Errorf(p+".name", "%s.name: %q is a key of every telemetry message", p, s.Name)
	case slices.ContainsFunc(reserved, func(pre string) bool { return strings.HasPrefix(s.Name, pre) }):
		r.Errorf(p+".name", "%s.name: names that start with %s belong to the loop", p, strings.Join(reserved, ", "))
	case c.Brush != nil && strings.HasPrefix(s.Name, "brush."):
		r.Errorf(p+".name", "%s.name: names that start with brush. belong to the brush beside the rig", p)
	}
	if r.Bad(p + ".type") {
	} else if text := c.Device.Protocol.Info().Text; s.Type == 0 {
		r.Errorf(p+".type", "%s.type is missing: one of u8, i8, u16, i16, u32, i32, f32, f64", p)
	} else if !text && s.Type == wire.Text {
		r.Errorf(p+".type", "%s.type: %s does not fit a link frame; want one of u8, i8, u16, i16, u32, i32, f32, f64", p, s.Type)
	} else if text && s.Type != wire.Text {
		r.Errorf(p+".type", "%s.type: %s does not fit a text line; want text, or leave it out", p, s.Type)
	}
	if s.Scale == 0 && !r.Bad(p+".scale") {
		r.Errorf(p+".scale", "%s.scale: 0 makes every value the same", p)
	}
	if want, ok := roleUnit[s.role]; ok && !r.Bad(p+".unit") && !r.Bad(p+".role") && !slices.Contains(want, s.Unit) {
		r.Errorf(p+".unit", "%s.unit: role %s is measured in %s, not in %s", p, s.role, unitName(want[0]), unitName(s.Unit))
	}
	lo, hi := s.limits[0], s.limits[1]
	if (lo != 0 || hi != 0) && !(lo < hi) && !r.Bad(p+"."+s.limitKey) {
		r.Errorf(p+"."+s.limitKey, "%s.%s: %s to %s, want low < high", p, s.limitKey, schema.Short(lo), schema.Short(hi))
	}
}

func unitName(si string) string {
	if si == "" {
		return "pure numbers (unit \"\")"
	}
	return si
}

func (c *Config) checkMeasure(r *schema.Report, p string, m Measure) {
	if r.Bad(p) {
		return
	}
	if lo, hi, ok := m.Field.Range(); ok && m.Range != [2]float64{} && (m.Range[0] < lo || m.Range[1] > hi) {
		r.Warnf(p+".range", "%s.range: %s carries %s to %s %s; beyond it the device saturates and the range check stays silent", p, m.Type, schema.Short(lo), schema.Short(hi), m.Unit)
	}
	if m.Stale > 0 && !r.Bad("loop.rate") && !r.Bad("device.rate") {
		slow, what := 1/c.Loop.Rate, "loop"
		if d := 1 / c.DeviceRate(); d > slow {
			slow, what = d, "device"
		}
		if m.Stale <= 2*slow {
			r.Errorf(p+".stale", "%s.stale: %s s, want more than two periods of the %s, %s s", p, schema.Short(m.Stale), what, schema.Short(2*slow))
		}
	}
	if c.Needs(m) && m.Stale == 0 {
		r.Warnf(p+".stale", "%s.stale: %s is not watched; a cable that comes off would not hold the rig. hil run --arm refuses this file: leave stale out, or give it a time", p, m.Name)
	}
	if m.Role == "position" && math.Abs(m.Scale) > 2*math.Pi*(1+1e-9) {
		r.Errorf(p+".scale", "%s.scale: one count is %s rad, want at most one turn", p, schema.Short(math.Abs(m.Scale)))
	}
	if m.Role == "status" && m.Scale != 1 {
		r.Errorf(p+".scale", "%s.scale: a status is bits; want 1", p)
	}
	if m.Role == "status" && (m.Type == wire.F32 || m.Type == wire.F64) {
		r.Errorf(p+".type", "%s.type: a status is bits; want an integer type", p)
	}
}

// staleOf is how old a sample with this role may be where the file does not say: five of its periods, at least 20 ms, for what moves
// the axis, 5 s for what warms up.
func (c *Config) staleOf(role string) float64 {
	switch role {
	case "position", "current":
		slow := max(1/c.Loop.Rate, 1/c.DeviceRate())
		if !(slow < 10) { // a rate that is refused elsewhere
			slow = 0
		}
		return max(0.02, 5*slow)
	case "temperature":
		return 5
	}
	return 0
}

// Hot is the limit of a measured temperature in its own unit; 0: none.
func (c *Config) Hot(m Measure) float64 {
	switch {
	case m.Role != "temperature":
		return 0
	case c.Guard.MaxTemp == 0:
		return m.Range[1]
	case m.Unit == "K":
		return c.Guard.MaxTemp + 273.15
	}
	return c.Guard.MaxTemp
}

// Needs tells whether a drive must not be energised without watching the age of m: the position, and what a limit rests on.
func (c *Config) Needs(m Measure) bool {
	return m.Role == "position" || m.Role == "current" && (c.Guard.MaxCurrent > 0 || c.Guard.RatedI > 0) || c.Hot(m) != 0
}

// A drive at full voltage brings a motor to its top speed within a few hundredths of a second. Longer than that it must not stay
// energised without a good sample, unless five samples of a slow device take longer.
const (
	longestStale = 0.5 // s
	longestHold  = 1.0 // s
)

// MayDrive is why this rig must not be energised; nil if it may.
func (c *Config) MayDrive() error {
	const instead = "hil run --dry-run reads and estimates all the same"
	for i, m := range c.Device.Measure {
		top := max(longestStale, c.staleOf(m.Role))
		switch {
		case c.Needs(m) && m.Stale == 0:
			return fmt.Errorf("device.measure[%d].stale is 0: nobody would notice that %s stopped coming while the drive is energised; leave stale out (%s s here) or give it a time. %s",
				i, m.Name, schema.Short(c.staleOf(m.Role)), instead)
		case c.Needs(m) && m.Stale > top:
			return fmt.Errorf("device.measure[%d].stale is %s s: so long the drive would be energised blind when %s stops coming; want at most %s s, or leave stale out (%s s here). %s",
				i, schema.Short(m.Stale), m.Name, schema.Short(top), schema.Short(c.staleOf(m.Role)), instead)
		}
	}
	if h := c.Guard.HoldTime; h > longestHold {
		return fmt.Errorf("guard.hold_time is %s s: so long the drive would stay energised while a sensor is sick; want at most %s s. %s", schema.Short(h), schema.Short(longestHold), instead)
	}
	return nil
}

// SetRate moves the configuration to another rate of the loop; samples may be older where they come more slowly.
func (c *Config) SetRate(rate float64) {
	c.Loop.Rate = rate
	c.Loop.Spin = min(c.Loop.Spin, 0.4/rate)
	if c.Device.Rate != 0 {
		c.Device.Rate = rate
	}
	for i := range c.Device.Measure {
		if m := &c.Device.Measure[i]; m.Stale > 0 {
			m.Stale = max(m.Stale, c.staleOf(m.Role))
		}
	}
}

func (c *Config) checkCommand(r *schema.Report, p string, m Command) {
	if r.Bad(p) {
		return
	}
	switch {
	case m.Role == "":
		r.Errorf(p+".role", "%s.role is missing: drive or enable", p)
		return
	case m.Limit == [2]float64{}:
		r.Errorf(p+".limit", "%s.limit is missing: the command never leaves it, e.g. ±24 V", p)
		return
	case m.Safe < m.Limit[0] || m.Safe > m.Limit[1]:
		r.Errorf(p+".safe", "%s.safe: %s is outside the limit, %s to %s %s", p, schema.Short(m.Safe), schema.Short(m.Limit[0]), schema.Short(m.Limit[1]), m.Unit)
		return
	}
	if lo, hi, ok := m.Range(); ok {
		if m.Limit[0] < lo || m.Limit[1] > hi {
			r.Errorf(p+".limit", "%s.limit: %s to %s %s does not fit %s with this scale, which carries %s to %s", p, schema.Short(m.Limit[0]), schema.Short(m.Limit[1]), m.Unit, m.Type, schema.Short(lo), schema.Short(hi))
		}
		if steps := (m.Limit[1] - m.Limit[0]) / math.Abs(m.Scale); m.Role == "drive" && steps < 100 {
			r.Warnf(p+".scale", "%s.scale: the whole limit is %.3g counts; the drive moves in coarse steps", p, steps)
		}
	}
	switch m.Role {
	case "enable":
		if m.Safe != 0 {
			r.Errorf(p+".safe", "%s.safe: %s, want 0: enable is off in every safe state", p, schema.Short(m.Safe))
		}
		if m.Limit != [2]float64{0, 1} {
			r.Errorf(p+".limit", "%s.limit: enable is 0 or 1", p)
		}
	case "drive":
		if m.Safe != 0 {
			r.Warnf(p+".safe", "%s.safe: %s %s keeps the drive energised in the safe state", p, schema.Short(m.Safe), m.Unit)
		}
		if m.Slew > 0 && !r.Bad("loop.rate") && m.Slew/c.Loop.Rate < math.Abs(m.Scale) && m.Type != wire.Text {
			r.Errorf(p+".slew", "%s.slew: %s %s/s is less than one count per tick; the drive would never move", p, schema.Short(m.Slew), m.Unit)
		}
	}
}
