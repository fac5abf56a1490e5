package daemon

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine"
	"hilrig/engine/failure"
	"hilrig/hil"
)

// channels look at every measurement of a dry run: what it says, how often, how old, how noisy, and which way it moves.
type channels struct {
	mu           sync.Mutex
	signals      []engine.Signal // those that the devices send
	columns, age []int           // in a row: each of them, and the age of its device
	stats        []channel
	firstTime    int64 // ns  of the first row of this stretch
	t            int64 // ns  of the newest
}

// channel is one measurement over a stretch of time.
type channel struct {
	totalSamples uint64 // samples of all stretches
	n            uint64 // samples of this one
	repeats      uint64 // of these, equal to the one before
	firstValue   float64
	lastValues   [2]float64 // the newest two
	arrival      int64      // ns  arrival of the newest
	bends        uint64     // pairs of neighbouring differences …
	bend         float64    // … and the sum of the squares of their difference
}

func newChannels(s *hil.Schema) *channels {
	c := &channels{}
	for i, ch := range s.Meas {
		if ch.Role != hil.RoleAge {
			c.signals, c.columns = append(c.signals, ch.Signal), append(c.columns, i)
			c.age = append(c.age, slices.IndexFunc(s.Meas, func(a hil.Channel) bool { return a.Name == ch.Age }))
		}
	}
	c.stats = make([]channel, len(c.columns))
	return c
}

// see takes a row.
func (c *channels) see(r *hil.Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.t = r.T; c.firstTime == 0 {
		c.firstTime = r.T // what it holds came before the stretch
		return
	}
	for k, i := range c.columns {
		if hil.IsFresh(&r.FreshSignals, i) {
			c.stats[k].add(r.X[i], r.T-int64(max(0, r.X[c.age[k]])*1e9))
		}
	}
}

func (c *channel) add(x float64, arrived int64) {
	switch {
	case c.n == 0:
		c.firstValue = x
	case x == c.lastValues[0]:
		c.repeats++
	}
	// noise is what neighbouring differences do not share: a steady motion does not count
	if c.totalSamples >= 2 {
		if b := x - 2*c.lastValues[0] + c.lastValues[1]; b-b == 0 {
			c.bends, c.bend = c.bends+1, c.bend+b*b
		}
	}
	c.totalSamples, c.n = c.totalSamples+1, c.n+1
	c.lastValues[1], c.lastValues[0], c.arrival = c.lastValues[0], x, arrived
}

// noise is the standard deviation of white noise that bends the signal as much.
func (c *channel) noise() float64 { return math.Sqrt(c.bend / 6 / float64(max(c.bends, 1))) }

// table has a line for each channel, and begins a new stretch.
func (c *channels) table() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.t == c.firstTime {
		return ""
	}
	span := float64(c.t-c.firstTime) * 1e-9
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\nchannel\tvalue\trate\tage\tnoise (σ)\trepeats\tin %.1f s it moved\n", span)
	for i := range c.stats {
		ch, unit := &c.stats[i], c.signals[i].Unit
		if ch.totalSamples == 0 {
			fmt.Fprintf(tw, "%s\tnever came\n", c.signals[i].Name)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%.4g Hz\t%s\t%s\t%.0f %%\t%s\n", c.signals[i].Name, report.WithUnit(ch.lastValues[0], unit),
			float64(ch.n)/span,
			time.Duration(max(0, c.t-ch.arrival)).Round(10*time.Microsecond), report.Prefixed(ch.noise(), 2, unit),
			100*float64(ch.repeats)/float64(max(1, ch.n)), ch.movement(unit))
		*ch = channel{totalSamples: ch.totalSamples, lastValues: ch.lastValues, arrival: ch.arrival}
	}
	c.firstTime = c.t
	tw.Flush()
	return b.String()
}

// movement says which way the channel went; less than its noise is none.
func (c *channel) movement(unit string) string {
	by := c.lastValues[0] - c.firstValue
	switch {
	case c.n == 0:
		return "no sample came"
	case by != by:
		return "not a number"
	case math.Abs(by) <= 4*c.noise():
		return "still"
	case by > 0:
		return "up, +" + report.Prefixed(by, 3, unit)
	}
	return "down, " + report.Prefixed(by, 3, unit)
}

// run shows the table after two seconds and then every five, every two on a terminal, until ctx ends.
func (c *channels) run(ctx context.Context, screen *report.Redrawn) {
	defer failure.Report()
	const every = 5 * time.Second
	for wait := 2 * time.Second; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		text := c.table()
		if terminal := screen.Width() > 0; terminal || wait < every {
			text += "\nmove the axis by hand: the position has to rise in the direction into which a positive drive turns it\n"
			if !terminal {
				wait = every
			}
		}
		screen.Show(text)
	}
}
