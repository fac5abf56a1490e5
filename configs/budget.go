package configs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/hil/protocol"
)

// Budget is what a serial line has to carry: 8N1, ten bits per byte.
type Budget struct {
	Baud      int
	Rx, Tx    Flow           // device → host, host → device
	Estimated bool           // line protocol: the length of a line depends on its numbers
	Period    float64        // s  of the loop
	plan      *protocol.Plan // of a device that answers questions, which share the line; nil: it sends by itself
}

// Flow is one direction.
type Flow struct {
	protocol.Flow
	Use  float64 // share of the line
	Fit  float64 // bytes per frame that fit at this rate
	Wire float64 // s  time of one frame on the line
}

// Budget computes bytes per frame and the load of a device's line in both directions.
func (c *Config) Budget(d *Device) Budget {
	b := Budget{Baud: d.Baud, Estimated: d.Protocol.Kind().Text, Period: 1 / c.Loop.Rate}
	p, err := c.Plan(d)
	if err != nil {
		return b // told by the checks
	}
	if len(p.Turns) > 0 && !p.Streams {
		b.plan = p
		return b
	}
	for i, g := range p.Groups { // several of a tracker that sends a frame for each of its parts; none of a device that measures nothing
		if i == 0 {
			b.Rx.Flow = g.Flow
			continue
		}
		b.Rx.Data += g.Data
		b.Rx.Bytes += g.Bytes
	}
	if len(d.Command) > 0 { // a device that takes none is sent nothing
		b.Tx.Flow = p.Commands
	}
	for _, f := range []*Flow{&b.Rx, &b.Tx} {
		if f.Rate == 0 {
			continue
		}
		f.Wire = float64(f.Bytes) * 10 / float64(d.Baud)
		f.Use = f.Wire * f.Rate
		f.Fit = float64(d.Baud) / 10 / f.Rate
	}
	return b
}

// DeviceRate is the rate of the frames that a device sends, in Hz.
func (c *Config) DeviceRate(d *Device) float64 { return cmp.Or(d.Rate, c.Loop.Rate) }

// FastestRate is that of the device that sends the most frames per second, in Hz.
func (c *Config) FastestRate() float64 {
	rate := 0.0
	for i := range c.Devices {
		rate = max(rate, c.DeviceRate(&c.Devices[i]))
	}
	return rate
}

// PlantRate is that of the ticks of the virtual rig, in Hz. A device that is asked and does not say when it sampled answers with what it
// reads then: so that this is at most a millisecond old, as in a drive, and not a period of the questions.
func (c *Config) PlantRate() float64 {
	const fresh = 1000 // Hz
	rate := c.FastestRate()
	if c.Virtual.Plant.Kind == ballPlant || !slices.ContainsFunc(c.Devices, func(d Device) bool { return c.isPolled(&d) }) {
		return rate
	}
	for n := 1.0; n*rate <= c.Virtual.InnerRate; n++ {
		if q := c.Virtual.InnerRate / (n * rate); n*rate >= fresh && math.Abs(q-math.Round(q)) < 1e-9*q {
			return n * rate
		}
	}
	return rate
}

// SendEvery is the number of ticks of the virtual rig between two samples of a device.
func (c *Config) SendEvery(d *Device) int {
	if c.isPolled(d) {
		return 1
	}
	return int(c.PlantRate()/c.DeviceRate(d) + 0.5)
}

// isPolled tells whether the samples of a device are replies, of the time of the question.
func (c *Config) isPolled(d *Device) bool {
	p, err := c.Plan(d)
	return err == nil && len(p.Turns) > 0 && !p.AllOnce() && !p.Clocked
}

// Age is the greatest age of a sample when the tick reads it, s: the frame has to travel, and the tick comes up to one
// frame period later.
func (b Budget) Age() float64 { return b.Rx.Wire + 1/b.Rx.Rate }

// Wire is the time that a sample spends on the line, s, which its age does not hold: a frame is dated by its last byte. most is the longest
// that it may be late besides, by a device that is asked: when it looks is not known.
func (b Budget) Wire() (known, most float64) {
	if b.plan == nil {
		return b.Rx.Wire, b.Rx.Wire
	}
	for i := range b.plan.Turns {
		if t := &b.plan.Turns[i]; t.Group >= 0 && !t.AtStart {
			most = max(most, t.Takes(b.plan).Seconds())
		}
	}
	return 0, most
}

// String is the budget for people: a line for each direction and one for the age, or one for each question and their sum.
func (b Budget) String() string {
	var s strings.Builder
	if b.plan != nil {
		return b.turns()
	}
	for _, f := range []struct {
		name string
		Flow
	}{{"device → host", b.Rx}, {"host → device", b.Tx}} {
		if f.Bytes == 0 {
			continue
		}
		about := ""
		if b.Estimated {
			about = "about "
		}
		fmt.Fprintf(&s, "%s  %s%d bytes per frame (%d of them data), %s frames/s, %s%.3g %% of the line (%.3g bytes would fit)\n",
			f.name, about, f.Bytes, f.Data, schema.Short(f.Rate), about, 100*f.Use, f.Fit)
	}
	if b.Rx.Bytes == 0 {
		return s.String()
	}
	fmt.Fprintf(&s, "age            a sample is at most %.3g ms old when the tick reads it: %.3g ms on the line, up to %.3g ms between "+
		"frames\n", 1e3*b.Age(), 1e3*b.Rx.Wire, 1e3/b.Rx.Rate)
	return s.String()
}

// turns are the questions, how often they are asked, and what they take of the line.
func (b Budget) turns() string {
	var s strings.Builder
	for i := range b.plan.Turns {
		t := &b.plan.Turns[i]
		if t.AtStart {
			continue
		}
		takes := t.Takes(b.plan).Seconds()
		age := ""
		if t.Group >= 0 {
			age = fmt.Sprintf("; a sample is at most %.3g ms old", 1e3*(t.Period.Seconds()+takes))
		}
		fmt.Fprintf(&s, "%s: %.4g Hz, %d and %d bytes, %.3g ms each, %.3g %% of the line%s\n",
			t.Name, 1/t.Period.Seconds(), t.AskLen, t.Reply, 1e3*takes, 100*takes/t.Period.Seconds(), age)
	}
	fmt.Fprintf(&s, "line           %.3g %% of its time, with the delays of slaves and adapter and %.3g ms between frames, if no reply "+
		"is lost\n", 100*b.plan.Load(), 1e3*b.plan.Silence.Seconds())
	return s.String()
}

// checkTurns refuses a line that cannot carry its questions.
func (b Budget) checkTurns(r *schema.Report, d *Device) {
	p, load := b.plan, b.plan.Load()
	if load <= 0.8 {
		return
	}
	share := func(t *protocol.Turn) float64 { return t.Takes(p).Seconds() / t.Period.Seconds() }
	asked := slices.DeleteFunc(slices.Clone(p.Turns), func(t protocol.Turn) bool { return t.AtStart })
	turn := slices.MaxFunc(asked, func(a, b protocol.Turn) int { return cmp.Compare(share(&a), share(&b)) })
	most := &turn
	path := d.path() + ".rate"
	text := fmt.Sprintf("%s: questions and replies take %.0f %% of the line's time, with the delays of slaves and adapter; most of it %s, "+
		"%.3g ms at %.4g Hz", path, 100*load, most.Name, 1e3*most.Takes(p).Seconds(), 1/most.Period.Seconds())
	if load <= 1 {
		r.Warnf(path, "%s", text)
		return
	}
	place := path
	if !r.HasKey(place) {
		place = d.path()
	}
	r.ErrorAt(path, r.PlaceOf(place), fmt.Sprintf("lower %s, loop.rate or the poll of some fields, raise %s.baud, or read fields at once "+
		"that lie near each other (%s.%s.gap)", path, d.path(), d.path(), d.Protocol), "%s", text)
}

// standardBauds are the speeds that adapters commonly offer.
var standardBauds = []int{9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600, 1000000, 1500000, 2000000, 3000000, 6000000, 12000000}

// checkBudget refuses a line that cannot carry its frames.
func (c *Config) checkBudget(r *schema.Report, d *Device) {
	at := d.path()
	if r.HasProblem(at) || r.HasProblem("loop") {
		return
	}
	if d.isVirtual() && !c.Firmware(d).Pacing {
		return // nothing slows the bytes down
	}
	b := c.Budget(d)
	if b.plan != nil {
		b.checkTurns(r, d)
		return
	}
	for _, f := range []struct {
		sender, key string
		Flow
	}{{"the device sends", at + ".rate", b.Rx}, {"the loop sends", "loop.rate", b.Tx}} {
		if f.Use <= 0.8 {
			continue
		}
		load := fmt.Sprintf("%s %d bytes per frame × %s frames/s × 10 bits = %.0f bit/s over a line of %d bit/s (%.0f %%); at this rate %.3g "+
			"bytes per frame fit", f.sender, f.Bytes, schema.Short(f.Rate), float64(f.Bytes)*f.Rate*10, b.Baud, 100*f.Use, f.Fit)
		if b.Estimated {
			if f.Use > 1 {
				load += "; the length of a text line is an estimate"
			}
			r.KeyWarnf(at+".baud", "%s", load)
			continue
		}
		if f.Use <= 1 {
			r.KeyWarnf(at+".baud", "%s", load)
			continue
		}
		advice := fmt.Sprintf("lower %s to %.0f Hz or send shorter fields", f.key, math.Floor(float64(b.Baud)/10/float64(f.Bytes)))
		if k := slices.IndexFunc(standardBauds, func(baud int) bool { return float64(baud) >= float64(f.Bytes)*f.Rate*10 }); k >= 0 {
			advice = fmt.Sprintf("set the baud rate of device and file to %d, or ", standardBauds[k]) + advice
		}
		r.ErrorAt(at+".baud", r.PlaceOf(at+".baud"), advice, "%s.baud: %s", at, load)
	}
}
