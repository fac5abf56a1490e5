package record

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Severity ranks findings.
type Severity string

const (
	Note    Severity = "note"    // worth knowing
	Warning Severity = "warning" // results may suffer
	Fatal   Severity = "error"   // results would be wrong
)

// Finding is what a check of the data found out.
type Finding struct {
	Kind     string   `json:"kind"` // velocity-scale, saturation, gap …
	Severity Severity `json:"severity"`
	Channel  string   `json:"channel,omitempty"` // which signal
	File     string   `json:"file,omitempty"`    // in which of several records; in the one that speaks if Pieces is above 1
	Piece    string   `json:"piece,omitempty"`   // of which piece; of the same one
	Pieces   int      `json:"pieces"`            // in how many pieces
	Text     string   `json:"text"`
	Advice   string   `json:"advice,omitempty"`
	Value    float64  `json:"value"` // the number that decided
	Unit     string   `json:"unit,omitempty"`
}

// CheckOptions is what is known besides the record. The zero value of a number says unknown.
type CheckOptions struct {
	Rotary      bool
	Presliding  float64 // m or rad, FS/σ0: the motion before sliding, for laws with bristles
	Static      bool    // plateaus of constant speed: neither acceleration nor reversals within a piece are asked for
	SmallMotion bool    // presliding is looked for: the motion is small on purpose
	Coupled     bool    // something besides the recorded force moves the axis: another joint, a spring, a hand
}

// unit gives a unit of an axis that slides as it is on this one.
func (o CheckOptions) unit(linear string) string { return engine.UnitOn(o.Rotary, linear) }

// Check looks for what would spoil a fit: wrong units and signs, clocks, converters and sensors at their limits, and motion
// that says nothing. It judges what the record shows and invents no reason for it; what a fitted model lacks shows in its
// residual, which is not looked at here. Pieces are fitted together: signals are judged one by one, motion as a whole, and what
// several pieces share is said once.
func Check(pieces []*Record, o CheckOptions) []Finding {
	c := checker{o: o, changingChannels: map[string]bool{}}
	for _, c.d = range pieces {
		for _, s := range c.channels() {
			c.changingChannels[s.name] = c.changingChannels[s.name] || numeric.Span(s.x) > 0
		}
	}
	var all []*motion
	looked := len(pieces)
	for _, d := range pieces {
		c.d = d
		if d.SteadyLevels {
			c.levels()
			continue
		}
		if !c.isUsable() {
			continue
		}
		c.clock()
		c.rate()
		c.signals()
		c.pulses()
		parts := windows(d)
		looked += len(parts) - 1
		for _, c.d = range parts {
			m := c.newMotion()
			c.quantum(m)
			c.velocity(m)
			c.factors(m)
			if m != nil {
				all = append(all, m)
			}
		}
	}
	if len(pieces) == 0 || slices.ContainsFunc(pieces, func(d *Record) bool { return !d.SteadyLevels }) {
		c.excitation(all)
		c.dynamics(all)
	}
	return merge(c.findings, looked)
}

// windows are the parts of a record in which its motion is judged: all of it, or of a long one stretches from all over it.
func windows(d *Record) []*Record {
	const most, size, count = 1 << 20, 1 << 17, 8
	n := d.Len()
	if n <= most {
		return []*Record{d}
	}
	var out []*Record
	for i := range count {
		from := i * (n - size) / (count - 1)
		part := *d
		part.Start = d.Start + float64(from)*d.Dt
		part.Piece = strings.TrimSpace(fmt.Sprintf("%s %.4g to %.4g s", d.Piece, part.Start, part.Start+float64(size)*d.Dt))
		for _, x := range part.channels() {
			if *x != nil {
				*x = (*x)[from : from+size]
			}
		}
		out = append(out, &part)
	}
	return out
}

// checker collects findings.
type checker struct {
	o                CheckOptions
	d                *Record
	changingChannels map[string]bool // channels that change, in any piece
	findings         []Finding
}

// addFinding adds a finding about the present piece.
func (c *checker) addFinding(kind string, s Severity, channel string, value float64, unit, advice, format string, args ...any) {
	f := Finding{Kind: kind, Severity: s, Channel: channel, Pieces: 1, Value: value, Unit: unit, Advice: advice,
		Text: fmt.Sprintf(format, args...)}
	if c.d != nil {
		f.File, f.Piece = c.d.File, c.d.Piece
	}
	c.findings = append(c.findings, f)
}

// merge unites findings of one kind about one channel; the gravest, and of these the one with the largest number, speaks.
func merge(in []Finding, pieces int) []Finding {
	rank := func(s Severity) int { return slices.Index([]Severity{Note, Warning, Fatal}, s) }
	var out []Finding
	for _, f := range in {
		i := slices.IndexFunc(out, func(g Finding) bool {
			return g.Kind == f.Kind && g.Channel == f.Channel && (g.File != f.File || g.Piece != f.Piece)
		})
		if i < 0 {
			out = append(out, f)
			continue
		}
		n := out[i].Pieces + 1
		if r, s := rank(f.Severity), rank(out[i].Severity); r > s || (r == s && math.Abs(f.Value) > math.Abs(out[i].Value)) {
			out[i] = f
		}
		out[i].Pieces = n
	}
	files := map[string]bool{}
	for _, f := range in {
		if f.File != "" {
			files[f.File] = true
		}
	}
	for i := range out {
		f := &out[i]
		if len(files) < 2 {
			f.File = ""
		}
		at := strings.TrimSpace(f.File + " " + f.Piece)
		switch {
		case f.Pieces > 1:
			f.Text += fmt.Sprintf(" (%s)", strings.TrimPrefix(fmt.Sprintf("%s, the worst of %d pieces that show it, of %d", at, f.Pieces, pieces),
				", "))
		case f.File != "":
			f.Text += fmt.Sprintf(" (%s)", at)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return rank(b.Severity) - rank(a.Severity) })
	return out
}

// signal is a channel with its name and unit.
type signal struct {
	name, unit string
	x          []float64
	step       *float64 // its quantum, once it is known
}

// q is the step in which the signal counts, 0 for none.
func (s signal) q() float64 {
	if math.IsNaN(*s.step) {
		*s.step = numeric.EncoderStep(s.x)
	}
	return *s.step
}

// channels are the recorded signals.
func (c *checker) channels() []signal {
	p, f := c.o.unit("m"), c.o.unit("N")
	var all []signal
	for i, unit := range []string{p, p + "/s", f, p, f, "N", "A"} {
		if x := *c.d.channels()[i]; len(x) > 0 {
			unknown := math.NaN()
			all = append(all, signal{channelNames[i], unit, x, &unknown})
		}
	}
	return all
}

// isUsable says whether the record can be looked at: its channels are of one length and finite.
func (c *checker) isUsable() bool {
	d, ok := c.d, true
	if !(d.Dt > 0) || math.IsInf(d.Dt, 0) || d.Len() < 2 {
		c.addFinding("empty", Fatal, "", float64(d.Len()), "samples", "Record longer.", "%d samples at intervals of %g s cannot be judged",
			d.Len(), d.Dt)
		return false
	}
	for _, s := range c.channels() {
		if len(s.x) != d.Len() {
			c.addFinding("length", Fatal, s.name, float64(len(s.x)), "samples", "All channels of a record must be of one length.",
				"%s has %d samples, the record %d", s.name, len(s.x), d.Len())
			ok = false
		}
		if k := slices.IndexFunc(s.x, func(x float64) bool { return !numeric.IsFinite(x) }); k >= 0 {
			c.addFinding("non-finite", Fatal, s.name, float64(k), "sample", "Cut the record there.", "%s is %g at sample %d", s.name, s.x[k], k)
			ok = false
		}
	}
	return ok
}

// ClockDrift is the kind of finding that an even grid leaves the recorded times by more than a sample.
const ClockDrift = "clock-drift"

// clock judges the recorded times.
func (c *checker) clock() {
	k, dt := c.d.Clock, c.d.Dt
	if k.Resampled {
		c.addFinding("resampled", Note, "time", k.Jitter, "", "",
			"values were interpolated at even times: recorded intervals scatter by %.2g %% rms, from %.4g to %.4g s", 100*k.Jitter, k.Shortest,
			k.Longest)
		if k.Bridged > 0 {
			severity := Note
			if float64(k.Invented) > 0.01*float64(c.d.Len()) {
				severity = Warning
			}
			c.addFinding("gaps", severity, "time", float64(k.Invented), "samples", "",
				"%d gaps of up to %.3g s are filled with %d interpolated samples", k.Bridged, k.Longest, k.Invented)
		}
		return
	}
	if k.Jitter > jitterWarn {
		c.addFinding("jitter", Warning, "time", k.Jitter, "", "Stamp samples where they are taken, or resample.",
			"sampling intervals scatter by %.2g %% rms, from %.4g to %.4g s; they are taken as even", 100*k.Jitter, k.Shortest, k.Longest)
	}
	if drift := k.Drift / dt; drift > driftBad {
		c.addFinding(ClockDrift, Warning, "time", k.Drift, "s", "Resample: interpolation keeps the recorded times.",
			"the even grid is up to %.3g s, %.1f samples, away from the recorded times: intervals were longer at one end of the record than at "+
				"the other", k.Drift, drift)
	}
}
