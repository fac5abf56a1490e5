package configs

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"hilrig/configs/schema"
	"hilrig/hil/wire"
)

// Budget is what a serial line has to carry: 8N1, ten bits per byte.
type Budget struct {
	Baud      int
	Rx, Tx    Flow    // device → host, host → device
	Estimated bool    // line protocol: the length of a line depends on its numbers
	Period    float64 // s  of the loop
}

// Flow is one direction.
type Flow struct {
	Bytes int     // per frame
	Data  int     // of these, the fields
	Rate  float64 // Hz
	Use   float64 // share of the line
	Fit   float64 // bytes per frame that fit at this rate
	Wire  float64 // s  time of one frame on the line
}

// Budget computes bytes per frame and the load of a device's line in both directions.
func (c *Config) Budget(d *Device) Budget {
	p := d.Frames()
	b := Budget{Baud: d.Baud, Estimated: d.Protocol.Info().Text, Period: 1 / c.Loop.Rate}
	var measured, commanded []wire.Type
	for _, m := range d.Measure {
		measured = append(measured, m.Type)
	}
	for _, m := range d.Command {
		commanded = append(commanded, m.Type)
	}
	b.Rx.Data, b.Rx.Bytes = p.Bytes(measured, wire.Measurement)
	b.Tx.Data, b.Tx.Bytes = p.Bytes(commanded, wire.Command)
	b.Rx.Rate, b.Tx.Rate = c.DeviceRate(d), c.Loop.Rate
	for _, f := range []*Flow{&b.Rx, &b.Tx} {
		f.Wire = float64(f.Bytes) * 10 / float64(d.Baud)
		f.Use = f.Wire * f.Rate
		f.Fit = float64(d.Baud) / 10 / f.Rate
	}
	return b
}

// DeviceRate is the rate of the frames that a device sends, in Hz.
func (c *Config) DeviceRate(d *Device) float64 { return cmp.Or(d.Rate, c.Loop.Rate) }

// Age is the greatest age of a sample when the tick reads it, s: the frame has to travel, and the tick comes up to one
// frame period later.
func (b Budget) Age() float64 { return b.Rx.Wire + 1/b.Rx.Rate }

// String is the budget for people, three lines.
func (b Budget) String() string {
	var s strings.Builder
	for _, f := range []struct {
		name string
		Flow
	}{{"device → host", b.Rx}, {"host → device", b.Tx}} {
		about := ""
		if b.Estimated {
			about = "about "
		}
		fmt.Fprintf(&s, "%s  %s%d bytes per frame (%d of them data), %s frames/s, %s%.3g %% of the line (%.3g bytes would fit)\n",
			f.name, about, f.Bytes, f.Data, schema.Short(f.Rate), about, 100*f.Use, f.Fit)
	}
	fmt.Fprintf(&s, "age            a sample is at most %.3g ms old when the tick reads it: %.3g ms on the line, up to %.3g ms between frames\n",
		1e3*b.Age(), 1e3*b.Rx.Wire, 1e3/b.Rx.Rate)
	return s.String()
}

// standardBauds are the speeds that adapters commonly offer.
var standardBauds = []int{9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600, 1000000, 1500000, 2000000, 3000000, 6000000, 12000000}

// checkBudget refuses a line that cannot carry its frames.
func (c *Config) checkBudget(r *schema.Report, d *Device) {
	at := d.path()
	if r.Bad(at) || r.Bad("loop") {
		return
	}
	if d.isVirtual() && c.Virtual != nil && !c.Virtual.Pacing {
		return // nothing slows the bytes down
	}
	b := c.Budget(d)
	for _, f := range []struct {
		from, key string
		Flow
	}{{"the device sends", at + ".rate", b.Rx}, {"the loop sends", "loop.rate", b.Tx}} {
		if f.Use <= 0.8 {
			continue
		}
		load := fmt.Sprintf("%s %d bytes per frame × %s frames/s × 10 bits = %.0f bit/s over a line of %d bit/s (%.0f %%); at this rate %.3g bytes per frame fit",
			f.from, f.Bytes, schema.Short(f.Rate), float64(f.Bytes)*f.Rate*10, b.Baud, 100*f.Use, f.Fit)
		if b.Estimated {
			if f.Use > 1 {
				load += "; the length of a text line is an estimate"
			}
			r.Warnf(at+".baud", "%s.baud: %s", at, load)
			continue
		}
		if f.Use <= 1 {
			r.Warnf(at+".baud", "%s.baud: %s", at, load)
			continue
		}
		need := math.Inf(1)
		for _, s := range standardBauds {
			if float64(s) >= float64(f.Bytes)*f.Rate*10 {
				need = float64(s)
				break
			}
		}
		advice := fmt.Sprintf("lower %s to %.0f Hz or send shorter fields", f.key, math.Floor(float64(b.Baud)/10/float64(f.Bytes)))
		if !math.IsInf(need, 0) {
			advice = fmt.Sprintf("set the baud rate of device and file to %.0f, or ", need) + advice
		}
		r.ErrorAt(at+".baud", r.PlaceOf(at+".baud"), advice, "%s.baud: %s", at, load)
	}
}
