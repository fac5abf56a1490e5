// Package capture reads motion-capture recordings from files: paths of markers, poses of bodies and analog channels.
//
// Formats: Vicon Nexus and Tracker CSV, OptiTrack Motive CSV, TRC (OpenSim, Cortex), C3D [C3D08], and tables of any program whose
// columns are named (ball.x, ball.qw …). The content of a file decides, not its name.
//
// What is promised: lengths in m, times in s, rotations as unit quaternions body → world; analog channels stay in the units of the
// file, which are named. A marker or body that was not seen in a frame has Visible = false there, and its number is NaN, never zero
// and never interpolated. Whatever was assumed, left out or looks wrong is a Finding with its count. What cannot be used is a
// *record.Error with line, reason and how to go on. Memory grows with what a file holds, not with what its header claims.
//
// Check looks for what a reader cannot see: wrong units, mirrored axes, frames that are missing, markers that are never there. Groups
// finds the markers that move as one body.
package capture

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/identify/record"
)

// Capture is a recording of moving points and bodies, in SI.
type Capture struct {
	File   string  // where it came from, "" for memory
	SHA256 string  // of the file as it lies on disk, hex
	Format Format  // how it was written
	Unit   string  // of lengths as the file names it, before they were converted; "" where it names none
	Rate   float64 // Hz, frames per second

	Frame    []int     // numbers of the frames as in the file; strictly ascending
	Time     []float64 // s, of the frames; strictly ascending
	Markers  []Marker
	Bodies   []Body
	Analog   []Channel
	Events   []Event
	Findings []record.Finding // what reading assumed, left out or found odd
}

// Format is a way to write a recording.
type Format string

const (
	C3D    Format = "c3d"
	TRC    Format = "trc"
	Vicon  Format = "vicon csv"
	Motive Format = "motive csv"
	Table  Format = "table" // columns with names such as ball.x, ball.qw
)

// Marker is the path of a point. Both slices are as long as Capture.Time.
type Marker struct {
	Name    string
	Path    []r3.Vec // m, NaN where it was not seen
	Visible []bool
}

// Body is the motion of a rigid body. The slices are as long as Capture.Time.
type Body struct {
	Name     string
	Position []r3.Vec      // m, of its origin in the world; NaN where it was not seen; nil: the file has rotations only
	Rotation []quat.Number // unit, body → world; NaN where it was not seen
	Visible  []bool
}

// Channel is a signal that was sampled beside the frames.
type Channel struct {
	Name    string
	Unit    string    // as in the file, "" where it names none
	Rate    float64   // Hz
	Start   float64   // s, time of the first sample on the clock of Capture.Time
	Samples []float64 // NaN where there is none
}

// Event is a named moment.
type Event struct {
	Name string
	Time float64 // s, on the clock of Capture.Time
}

// Duration is the time from the first to the last frame, s.
func (c *Capture) Duration() float64 {
	if len(c.Time) == 0 {
		return 0
	}
	return c.Time[len(c.Time)-1] - c.Time[0]
}

// VisibleCount counts the frames in which a marker or body was visible.
func VisibleCount(visible []bool) (n int) {
	for _, v := range visible {
		if v {
			n++
		}
	}
	return n
}

// Gap is a stretch of frames without a marker or body.
type Gap struct{ From, To int } // first frame without, first frame with it again (or the number of frames)

// Gaps are the stretches in which a marker or body was not visible.
func Gaps(visible []bool) (out []Gap) {
	for k, v := range visible {
		switch {
		case v:
		case k == 0 || visible[k-1]:
			out = append(out, Gap{k, k + 1})
		default:
			out[len(out)-1].To = k + 1
		}
	}
	return out
}

var (
	nowhere   = r3.Vec{X: math.NaN(), Y: math.NaN(), Z: math.NaN()}
	noTurning = quat.Number{Real: math.NaN(), Imag: math.NaN(), Jmag: math.NaN(), Kmag: math.NaN()}
)

// pick are the values at these places; none where a place is below 0.
func pick[T any](values []T, places []int, none T) []T {
	out := make([]T, len(places))
	for i, k := range places {
		if out[i] = none; k >= 0 {
			out[i] = values[k]
		}
	}
	return out
}

// pick is the marker in these frames; it was not seen in those below 0.
func (m *Marker) pick(frames []int) Marker {
	return Marker{m.Name, pick(m.Path, frames, nowhere), pick(m.Visible, frames, false)}
}

// pick is the body in these frames.
func (b *Body) pick(frames []int) Body {
	out := Body{b.Name, nil, pick(b.Rotation, frames, noTurning), pick(b.Visible, frames, false)}
	if b.Position != nil {
		out.Position = pick(b.Position, frames, nowhere)
	}
	return out
}

// framesAt are where frames with these numbers stand; −1: not in it.
func (c *Capture) framesAt(numbers []int) []int {
	at := make([]int, len(numbers))
	for i, f := range numbers {
		k, found := slices.BinarySearch(c.Frame, f)
		if at[i] = k; !found {
			at[i] = -1
		}
	}
	return at
}

// add appends a frame of a marker.
func (m *Marker) add(p r3.Vec, seen bool) {
	if !seen {
		p = nowhere
	}
	m.Path, m.Visible = append(m.Path, p), append(m.Visible, seen)
}

// addFinding adds a finding about a marker, body or channel.
func (c *Capture) addFinding(kind string, s record.Severity, name string, value float64, unit, advice, format string, args ...any) {
	c.Findings = append(c.Findings, record.Finding{Kind: kind, Severity: s, Channel: name, Pieces: 1, Value: value, Unit: unit,
		Advice: advice, Text: fmt.Sprintf(format, args...)})
}

// fail makes an error about this file.
func (c *Capture) fail(line int, hint, format string, args ...any) error {
	return &record.Error{File: c.File, Line: line, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// usable says that a coordinate can be a measurement: finite, and its square does not overflow.
func usable(x float64) bool { return math.Abs(x) < 1e100 }
