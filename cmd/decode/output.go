package decode

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"

	"hilrig/hil/wire"
)

// writer writes one line of JSON for each frame, and notes what lies between frames.
type writer struct {
	output   io.Writer
	line     []byte
	units    []named // of the values in the line
	frames   int
	frameEnd int // of the newest frame
	gaps     []gap
}

type named struct{ name, unit string }

// gap is a piece that belongs to no frame.
type gap struct{ at, n int }

// begin starts the line of a frame.
func (w *writer) begin(at, n int, kind string) {
	if at > w.frameEnd {
		w.gaps = append(w.gaps, gap{w.frameEnd, at - w.frameEnd})
	}
	w.frameEnd = max(w.frameEnd, at+n)
	w.frames++
	w.units = w.units[:0]
	w.line = append(w.line[:0], `{"at":`...)
	w.line = strconv.AppendInt(w.line, int64(at), 10)
	w.integer("bytes", n)
	w.text("frame", kind)
}

func (w *writer) key(k string) {
	if c := w.line[len(w.line)-1]; c != '{' && c != '[' {
		w.line = append(w.line, ',')
	}
	w.line = append(append(append(w.line, '"'), k...), '"', ':')
}

func (w *writer) integer(k string, v int) {
	w.key(k)
	w.line = strconv.AppendInt(w.line, int64(v), 10)
}

func (w *writer) text(k, v string) {
	w.key(k)
	b, _ := json.Marshal(v)
	w.line = append(w.line, b...)
}

func (w *writer) raw(k string, b []byte) {
	w.key(k)
	w.line = append(w.line, '"')
	w.line = hex.AppendEncode(w.line, b)
	w.line = append(w.line, '"')
}

// value is a number with a unit; what is not finite is null.
func (w *writer) value(k, unit string, v float64) {
	w.key(k)
	w.number(v)
	if n := (named{k, unit}); unit != "" && !slices.Contains(w.units, n) {
		w.units = append(w.units, n)
	}
}

func (w *writer) number(v float64) {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		w.line = append(w.line, "null"...)
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		w.line = strconv.AppendFloat(w.line, v, 'f', -1, 64)
	default:
		w.line = strconv.AppendFloat(w.line, v, 'g', -1, 64)
	}
}

func (w *writer) open(k string, bracket byte) {
	w.key(k)
	w.line = append(w.line, bracket)
}

func (w *writer) shut(bracket byte) { w.line = append(w.line, bracket) }

// writeLine writes the line, with the units of its values.
func (w *writer) writeLine() {
	if len(w.units) > 0 {
		w.open("units", '{')
		for _, n := range w.units {
			w.text(n.name, n.unit)
		}
		w.shut('}')
	}
	w.output.Write(append(w.line, '}', '\n')) // the first error stays in the bufio.Writer
}

// fields are the values of a frame of a table.
func (w *writer) fields(list []wire.Field, f *wire.Frame) {
	w.open("values", '{')
	for i := range list {
		if f.FreshFields>>i&1 != 0 {
			w.value(list[i].Name, list[i].Unit, f.V[i])
		}
	}
	w.shut('}')
}

// finish notes what lies behind the last frame.
func (w *writer) finish(b []byte) {
	if len(b) > w.frameEnd {
		w.gaps = append(w.gaps, gap{w.frameEnd, len(b) - w.frameEnd})
	}
}
