package configs

import (
	"math"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/hil"
	"hilrig/hil/axis"
)

// Check reports everything that would make the rig misbehave: numbers out of range, contradictions between sections, a
// line too slow for its frames. Warnings are legal settings that deserve a thought.
func (c *Config) Check(r *schema.Report) {
	r.FirstErrorIf(c.Version != 2, "version", "%d, this program reads version 2; hil config example shows it", c.Version)
	r.CheckBounds(c)
	c.checkNames(r)
	c.checkLoop(r)
	c.checkOwners(r)
	c.checkPorts(r)
	for i := range c.Devices {
		c.checkDevice(r, &c.Devices[i])
		c.checkBudget(r, &c.Devices[i])
	}
	taken := map[string]string{}
	for i := range c.Axes {
		c.checkAxis(r, &c.Axes[i], taken)
	}
	c.checkOutside(r)
	c.checkMechanism(r)
	c.checkModels(r)
	c.checkVirtual(r)
	c.checkBrushes(r)
}

// checkAxis looks at an axis, in its units.
func (c *Config) checkAxis(r *schema.Report, a *Axis, taken map[string]string) {
	defer r.WithUnits(a.Units())()
	c.checkAxisSignals(r, a, taken)
	c.checkDrive(r, a)
	c.checkModel(r, a)
	c.checkReference(r, a)
	c.checkControl(r, a)
	c.checkGuard(r, a)
}

var (
	rigName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$`)
	signalName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,47}$`)
	topicPart  = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$`)
)

func (c *Config) checkNames(r *schema.Report) {
	switch {
	case r.HasProblem("rig.name"):
	case c.Rig.Name == "":
		r.KeyErrorf("rig.name", "is missing: it is part of every topic and of the folder of a recording")
	case !rigName.MatchString(c.Rig.Name):
		r.KeyErrorf("rig.name", "%s, want up to 48 letters, digits, - and _", schema.Quote(c.Rig.Name))
	}
}

func (c *Config) checkLoop(r *schema.Report) {
	l := c.Loop
	r.ErrorIf(l.Overrun.Policy == hil.OverrunCatchUp && l.Overrun.Max == 0, "loop.overrun.max", "0, want at least 1 with policy catch-up")
	r.ErrorIf(l.Overrun.Max > 100 && (l.Overrun.Policy == hil.OverrunHold || l.Overrun.Policy == hil.OverrunTrip), "loop.overrun.max",
		"%d, want 0 to 100: misses are counted in a window of 100 ticks", l.Overrun.Max)
	if r.HasProblem("loop.rate") {
		return
	}
	r.ErrorIf(l.Overrun.Limit > 0 && l.Overrun.Limit < 2/l.Rate, "loop.overrun.limit", "%s s, want at least two periods, %s s",
		schema.Short(l.Overrun.Limit), schema.Short(2/l.Rate))
	r.ErrorIf(l.Spin > 0.5/l.Rate, "loop.spin", "%s s, want at most half a period, %s s", schema.Short(l.Spin), schema.Short(0.5/l.Rate))
	r.WarnIf(l.Rate > 5000, "loop.rate", "%s Hz needs an isolated processor; up to 5 kHz does not", schema.Short(l.Rate))
	for i := range c.Devices {
		d := &c.Devices[i]
		r.ErrorIf(l.Clock == d.Name && d.Rate != 0 && d.Rate != l.Rate, d.path()+".rate",
			"%s Hz, want %s Hz as loop.rate: with loop.clock %s each frame makes a tick", schema.Short(d.Rate), schema.Short(l.Rate), d.Name)
	}
	if clocks := append([]string{"wall"}, listOf(c.Devices, func(d Device) string { return d.Name })...); !slices.Contains(clocks, l.Clock) &&
		!r.HasProblem("loop.clock") {
		c.unknownSignal(r, "loop.clock", l.Clock, "device, nor wall", clocks)
	} else if k := c.Pacer(); k >= 0 && !c.Devices[k].Required {
		r.KeyErrorf("loop.clock", "%s is not required; a device that makes the ticks must be there", l.Clock)
	}
}

func (c *Config) checkReference(r *schema.Report, a *Axis) {
	if a.Drive.Kind == plant.NoDrive {
		return
	}
	at, spec := a.path()+".reference", a.Reference.Spec
	spec.Fade = 0 // begins with RUN, from where the axis is then
	g := checkMotion(r, at, spec, a.Unit(referenceTag))
	r.ErrorIf(len(spec.Tones) > 64, at+".tones", "%d, at most 64", len(spec.Tones))
	if g == nil {
		return
	}
	frequency, speed := reference.Fastest(g)
	if a.Reference.Times != nil {
		speed *= math.Abs(*a.Reference.Times)
	}
	r.ErrorIf(!r.HasProblem("loop.rate") && frequency > c.Loop.Rate/10, at, "%s Hz is more than a tenth of loop.rate; a tick would see steps",
		schema.Short(frequency))
	if a.Reference.Quantity != axis.OfPosition {
		return
	}
	top := a.Guard.MaxSpeed
	r.ErrorIf(top > 0 && speed > top, at, "asks for up to %s %[4]s, but %[2]s.guard.max_speed trips at %[3]s %[4]s", schema.Short(speed),
		a.path(), schema.Short(top), a.Unit("rad/s"))
	c.checkTop(r, a, speed)
}

// limitOf is the limit of the command that drives an axis; [0, 0]: it is not known.
func (c *Config) limitOf(a *Axis) [2]float64 {
	if dev, at := c.Find(a.Drive.Command, true); dev >= 0 {
		return c.Devices[dev].Command[at].Limit
	}
	return [2]float64{}
}

// checkTop warns when the drive cannot follow the reference: sliding friction at top speed, with back-emf and brush drop where they count.
func (c *Config) checkTop(r *schema.Report, a *Axis, speed float64) {
	p := a.path()
	if speed == 0 || r.HasProblem(p+".motor") || r.HasProblem(p+".friction") || r.HasProblem("devices") || r.HasProblem(p+".drive.K") {
		return
	}
	m, lim := a.MotorModel(), c.limitOf(a)
	sliding, need := a.Friction.sliding(speed), 0.0
	switch a.Drive.Kind {
	case plant.VoltageDrive:
		need = m.Voltage(sliding, speed)
	case plant.CurrentDrive:
		need = sliding / m.K
	case plant.EffortDrive:
		need = sliding
	case plant.VelocityDrive:
		need = speed
	}
	if have := math.Min(-lim[0], lim[1]); have > 0 && need > have {
		unit := a.Unit(a.Drive.Kind.Unit())
		r.KeyWarnf(p+".reference", "its top speed of %.3g %s needs about %.3g %s, the drive gives %.3g %s", speed, a.Unit("rad/s"),
			need, unit, have, unit)
	}
}

func (c *Config) checkOutside(r *schema.Report) {
	m := c.MQTT
	if m.Enabled {
		r.ErrorIf(!topicPart.MatchString(m.Prefix), "mqtt.prefix", "%s, want words joined by /, without a leading or closing / and without + # $",
			schema.Quote(m.Prefix))
		if m.Broker == "" {
			c.checkListen(r, "mqtt.listen", m.Listen)
			for _, f := range []struct{ key, v string }{{"mqtt.user", m.User}, {"mqtt.password", m.Password}, {"mqtt.ca", m.CA}} {
				r.WarnIf(f.v != "", f.key, "used with an external broker only; mqtt.broker is empty")
			}
		} else {
			c.checkBroker(r)
		}
	}
	if c.Web.Enabled {
		c.checkListen(r, "web.listen", c.Web.Listen)
	}
	r.ErrorIf(c.Record.Enabled && c.Record.Dir == "", "record.dir", "is empty: give a folder, or set record.enabled to false")
	r.ErrorIf(c.Record.MaxBytes > 0 && c.Record.MaxBytes < 1e6, "record.keep",
		"%s B is less than one minute of recording; want 0 (keep all) or at least 1 MB", schema.Short(c.Record.MaxBytes))
}

func (c *Config) checkListen(r *schema.Report, path, addr string) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		r.KeyErrorf(path, "%s, want host:port such as localhost:8080", schema.Quote(addr))
		return
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		r.KeyErrorf(path, "port %s is not a number from 0 to 65535", schema.Quote(port))
		return
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		r.KeyWarnf(path, "%s can be read by everybody in the network; localhost keeps it on this machine", schema.Quote(addr))
	}
}

func (c *Config) checkBroker(r *schema.Report) {
	m := c.MQTT
	u, err := url.Parse(m.Broker)
	if err != nil || u.Host == "" {
		r.KeyErrorf("mqtt.broker", "%s, want an address such as tcp://host:1883 or ssl://host:8883", schema.Quote(m.Broker))
		return
	}
	schemes := []string{"tcp", "ssl", "ws", "wss"}
	if !slices.Contains(schemes, u.Scheme) {
		hint := map[string]string{"mqtt": " (mqtt:// is tcp:// here)", "mqtts": " (mqtts:// is ssl:// here)", "tls": " (tls:// is ssl:// here)",
			"http": " (MQTT over WebSocket is ws://)", "https": " (MQTT over WebSocket is wss://)"}[u.Scheme]
		r.KeyErrorf("mqtt.broker", "%s is none of %s%s", schema.Quote(u.Scheme+"://"), strings.Join(schemes, ", "), hint)
		return
	}
	r.ErrorIf(u.User != nil, "mqtt.broker", "user and password stand in mqtt.user and mqtt.password, not in the address")
	r.ErrorIf(u.Port() == "", "mqtt.broker", "%s has no port; 1883 is usual for tcp, 8883 for ssl", schema.Quote(m.Broker))
	secure := u.Scheme == "ssl" || u.Scheme == "wss"
	switch {
	case m.CA != "" && !secure:
		r.KeyErrorf("mqtt.ca", "needs ssl:// or wss://, the broker is %s://", u.Scheme)
	case m.CA != "":
		_, err := os.Stat(m.CA)
		r.ErrorIf(err != nil, "mqtt.ca", "%v", err)
	}
	r.ErrorIf(m.Password != "" && m.User == "", "mqtt.user", "is missing: there is a password without a user")
	if ip := net.ParseIP(u.Hostname()); m.Password != "" && !secure && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		r.KeyWarnf("mqtt.broker", "the password crosses the network in clear text; ssl:// hides it")
	}
}
