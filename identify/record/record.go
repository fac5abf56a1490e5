// Package record reads recordings of an axis and judges them before anything is fitted.
//
// A file (text with columns, MAT, or anything that can fill a Table) and a Mapping give Records: channels in SI on an even
// grid of time, one Record per piece. What cannot be used is a *Error with the place in the file and how to go on. Check then
// looks for what a reader cannot see: units and signs that contradict each other, clocks, sensors and drives at their limits,
// and motion that says nothing about friction.
package record

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
)

// Record is a recording of an axis on a uniform grid of time, in SI: metres and newtons, or radians and newton metres.
// A file may hold several pieces, each a Record of its own. Channels that were not recorded are nil.
type Record struct {
	File        string    // where it came from, "" for memory
	SHA256      string    // of the file as it lies on disk, hex
	Piece       string    // which part of the file, "" for the whole
	Dt          float64   // s, sampling interval; 0 for a table of steady friction
	Start       float64   // s, time of the first sample as recorded
	Position    []float64 // m or rad
	Velocity    []float64 // m/s or rad/s, as measured
	Force       []float64 // N or N·m, of the drive on the axis, positive in the direction of positive position
	Reference   []float64 // m or rad, what the controller was told, or the far end of the spring that draws the mass
	Disturbance []float64 // N or N·m, a known force on the axis besides the drive, counted like Force
	Load        []float64 // N, normal load of the contact
	Current     []float64 // A

	// A table of steady friction: every row is a level of constant speed, with its Velocity and mean Force. There is no time;
	// Dt is 0.
	SteadyLevels bool
	ForceError   []float64 // N or N·m, standard error of the mean force; nil: not known
	Count        []float64 // samples in the mean; nil: not known

	// PositionStep is the step of the encoder, m or rad, where samples are interpolated and do not show it any more; 0: they do, or there is
	// none.
	PositionStep float64

	// ForceStep is the step of the recorded force, N or N·m, where that is known; 0: what the record shows.
	ForceStep float64

	// ForceMeans says that forces are means over the intervals behind the samples: each has half of the error of the sensor at either end.
	ForceMeans bool

	Clock    Clock    // how regular the recorded times were
	Warnings []string // what was odd but could be used
}

// Len is the number of samples.
func (d *Record) Len() int {
	return max(len(d.Position), len(d.Velocity), len(d.Force), len(d.Reference), len(d.Load), len(d.Current))
}

// channelNames are those of the channels, in the order of channels.
var channelNames = []string{"position", "velocity", "force", "reference", "disturbance", "load", "current", "deviation", "count"}

// channels are the places of all channels of d.
func (d *Record) channels() []*[]float64 {
	return []*[]float64{&d.Position, &d.Velocity, &d.Force, &d.Reference, &d.Disturbance, &d.Load, &d.Current, &d.ForceError, &d.Count}
}

// Clocks of one board differ from recording to recording, and those of two boards: RC oscillators by 1 to 2 %.
const (
	sameRate      = 0.02 // share by which the sampling intervals of records that are fitted together may differ …
	sameRateErr   = 4.0  // … and beyond that standard errors of both, of clocks that tremble
	maxRateSpread = 0.1  // in all
)

// CheckRate refuses a record whose sampling interval is another one than that of first. Intervals that are nearly equal are
// those of one experiment; each record keeps its own.
func (d *Record) CheckRate(first *Record) error {
	apart := math.Abs(d.Dt-first.Dt) / first.Dt
	if apart <= math.Min(maxRateSpread, sameRate+sameRateErr*math.Hypot(d.rateErr(), first.rateErr())) {
		return nil
	}
	return d.Fail(0, "Resample them to one rate.", "sampled every %.6g s, the first record every %.6g s", d.Dt, first.Dt)
}

// rateErr is the standard error of the sampling interval, relative: intervals tremble one by one.
func (d *Record) rateErr() float64 { return d.Clock.Jitter / math.Sqrt(float64(max(d.Len()-1, 1))) }

// CheckLengths tells which channel is not as long as the others.
func (d *Record) CheckLengths() error {
	for i, x := range d.channels() {
		if len(*x) != 0 && len(*x) != d.Len() {
			return d.Fail(0, "", "%d samples of the %s but %d of the record", len(*x), channelNames[i], d.Len())
		}
	}
	return nil
}

// longColumns is the number of rows from which on the memory of columns counts.
const longColumns = 1 << 17

// Release collects the memory of columns that are no longer used, where they have so many rows that it counts, before as much is taken
// again. It stays with the program, which would have to ask the system for it anew.
func Release(rows int) {
	if rows > longColumns {
		runtime.GC()
	}
}

// giveBack gives it back to the system.
func giveBack(rows int) {
	if rows > longColumns {
		debug.FreeOSMemory()
	}
}

// Info identifies a record.
type Info struct {
	File     string  `json:"file"`
	SHA256   string  `json:"sha256,omitempty"`
	Samples  int     `json:"samples"`
	Start    float64 `json:"start_s"` // as recorded
	Interval float64 `json:"interval_s"`
	Duration float64 `json:"duration_s"`
}

// Info tells which record this is.
func (d *Record) Info() Info {
	return Info{File: d.File, SHA256: d.SHA256, Samples: d.Len(), Start: d.Start, Interval: d.Dt, Duration: float64(d.Len()-1) * d.Dt}
}

// Name is how the record is called in a message.
func (d *Record) Name() string {
	switch {
	case d.Piece != "":
		return "piece " + d.Piece
	case d.File != "":
		return d.File
	}
	return "a record"
}

// Fail makes an *Error about this record.
func (d *Record) Fail(line int, hint, format string, args ...any) error {
	return &Error{File: d.File, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// Error says that the measured data cannot be used: where, why, and how to go on.
type Error struct {
	File string // "" for data that came from memory
	Line int    // 1-based line of the text, 0 if the problem has no single line
	Msg  string
	Hint string // advice, may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString("\n     " + e.Hint)
	}
	return b.String()
}
