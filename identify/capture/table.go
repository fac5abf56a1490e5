package capture

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"hilrig/identify/record"
)

// ownFirst begins the files of WriteCSV.
const ownFirst = "# motion capture in SI (version 1)"

// tableHeader is what the head of a table says.
type tableHeader struct {
	cells, units []string
	ownFormat    bool    // written by WriteCSV: names are taken as they are
	rate         float64 // Hz, of WriteCSV; 0: not said
	row          []string
	line         int
}

// field is a column of a table by its name.
type field struct {
	owner string
	kind  rune // p: position, q: quaternion, f: number of the frame, t: time; 0: another signal
	axis  int  // 0 x, 1 y, 2 z, 3 w
	unit  string
	index bool // counted, q0 … q3
}

// tableHead reads the head of a table with the path of a point or the rotation of a body.
func tableHead(data []byte) (h tableHeader, ok bool) {
	r := newRows(data)
	if err := h.read(r); err != nil {
		return h, false
	}
	for _, t := range h.things() {
		if t.isComplete('p') || t.isComplete('q') {
			return h, true
		}
	}
	return h, false
}

// read reads comments, the line of names, and one of units behind it; row is the first line after that, nil: none.
func (h *tableHeader) read(r *rows) error {
	for h.cells == nil {
		cells, err := r.read()
		if err != nil {
			return err
		}
		if text, comment := strings.CutPrefix(cells[0], "#"); comment {
			rest := strings.TrimSpace(text)
			if cells[0] == ownFirst {
				h.ownFormat = true
			} else if rate, ok := strings.CutPrefix(rest, "rate [Hz]:"); ok {
				h.rate, _ = strconv.ParseFloat(strings.TrimSpace(rate), 64)
			}
			if cells[0] = rest; len(cells) < 3 || h.ownFormat {
				continue // a remark; a line with columns may well be the names
			}
		}
		if !blank(cells) {
			h.cells, h.line = clone(cells), r.line
		}
	}
	if slices.ContainsFunc(h.cells, r.isNumber) {
		return io.ErrUnexpectedEOF // no names
	}
	for {
		cells, err := r.read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case blank(cells):
		case h.units == nil && len(cells) == len(h.cells) && (strings.HasPrefix(cells[0], "#") || !slices.ContainsFunc(cells, r.isNumber)):
			h.units = clone(cells)
			h.units[0] = strings.TrimSpace(strings.TrimPrefix(h.units[0], "#"))
		case strings.HasPrefix(cells[0], "#"):
		default:
			h.row = clone(cells)
			return nil
		}
	}
}

// thing is what the columns of one owner say.
type thing struct {
	name     string
	position [3]int
	rotation [4]int
	unit     string
	indexed  bool // q0 … q3
	mixed    bool // positions in several units
}

func (t *thing) isComplete(kind rune) bool {
	if kind == 'p' {
		return !slices.Contains(t.position[:], -1)
	}
	return !slices.Contains(t.rotation[:], -1)
}

// things are the owners of columns in their order.
func (h *tableHeader) things() (out []*thing) {
	known := map[string]*thing{}
	for j := range h.cells {
		f := h.field(j)
		if f.kind != 'p' && f.kind != 'q' {
			continue
		}
		key := f.owner
		if h.ownFormat && f.kind == 'p' && len(lastWord(h.cells[j])) == 1 {
			key += "\x00marker" // a marker and a body may have one name
		}
		t := known[key]
		if t == nil {
			t = &thing{name: f.owner, position: nowhereColumns, rotation: [4]int{-1, -1, -1, -1}}
			known[key] = t
			out = append(out, t)
		}
		at := t.rotation[:]
		if f.kind == 'p' {
			t.mixed = t.mixed || slices.Max(t.position[:]) >= 0 && t.unit != f.unit
			at, t.unit = t.position[:], f.unit
		}
		t.indexed = t.indexed || f.index
		if at[f.axis] < 0 {
			at[f.axis] = j
		}
	}
	return out
}

// lastWord is what stands behind the last dot, without a unit.
func lastWord(cell string) string {
	name, _ := cutUnit(cell)
	return name[strings.LastIndexByte(name, '.')+1:]
}

// cutUnit cuts "x [mm]" or "x (mm)".
func cutUnit(cell string) (name, unit string) {
	for _, br := range []string{"[]", "()"} {
		if i := strings.LastIndexByte(cell, br[0]); i > 0 && cell[len(cell)-1] == br[1] {
			return strings.TrimSpace(cell[:i]), strings.TrimSpace(cell[i+1 : len(cell)-1])
		}
	}
	return cell, ""
}

// other are words in front of an axis that make it no position: velocities, forces, angles. A single letter alone may be a name.
var other = []string{"v", "vel", "velocity", "speed", "a", "acc", "accel", "acceleration", "omega", "w", "gyro", "gyr", "angular",
	"linear", "mag", "magnetic", "f", "force", "torque",
	"moment", "euler", "angle", "angles", "rpy", "std", "sigma", "var", "cov", "err", "error", "normal", "scale"}

var positionWords = []string{"p", "t", "pos", "position", "translation", "trans", "loc", "location"}
var rotationWords = []string{"q", "r", "quat", "quaternion", "rot", "rotation", "orientation", "attitude", "ori"}

// field tells what a column is.
func (h *tableHeader) field(j int) (f field) {
	name, unit := cutUnit(h.cells[j])
	if unit == "" {
		unit = strings.Trim(cell(h.units, j), "[]()")
	}
	f = field{unit: unit}
	if h.ownFormat {
		i := strings.LastIndexByte(name, '.')
		f.word(name[i+1:], "")
		if f.owner = name[:max(i, 0)]; i < 0 && (f.kind == 'p' || f.kind == 'q') {
			f.kind = 0
		}
		return f
	}
	const between = " ._:/-"
	cut := func(s string) (front, word string) {
		i := strings.LastIndexAny(s, between)
		return strings.TrimRight(s[:max(i, 0)], between), s[i+1:]
	}
	front, word := cut(name)
	if _, isLength := plainLength(word); unit == "" && front != "" && (isLength || seconds[word] != 0) { // x_mm, time_ms
		f.unit, name = word, front
		front, word = cut(name)
	}
	owner, before := cut(front)
	if before == "" {
		owner, before = "", front
	}
	before = strings.ToLower(before)
	if _, isLength := plainLength(f.unit); slices.Contains(other, before) && (owner != "" || len(before) > 1) || f.unit != "" && !isLength &&
		!isNoUnit(f.unit) && seconds[f.unit] == 0 {
		return field{unit: f.unit}
	}
	f.word(word, before)
	if f.owner = front; (f.kind == 'p' || f.kind == 'q') &&
		(slices.Contains(positionWords, before) || slices.Contains(rotationWords, before)) {
		f.owner = owner
	}
	return f
}

func isNoUnit(u string) bool { return u == "1" || u == "-" || u == "" }

// seconds is what a unit of time is in s.
var seconds = map[string]float64{"s": 1, "sec": 1, "secs": 1, "seconds": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}

// word tells what the last word of a name is, and the one before it.
func (f *field) word(word, before string) {
	word = strings.ToLower(word)
	switch word {
	case "time", "t", "timestamp", "stamp", "seconds", "secs":
		f.kind = 't'
		return
	case "frame", "frame#", "frames", "frameno", "framenumber":
		f.kind = 'f'
		return
	case "number", "no", "id", "index":
		if before == "frame" {
			f.kind = 'f'
		}
		return
	}
	if word == "" {
		return
	}
	axis := strings.IndexByte("xyzw", word[len(word)-1])
	lead := strings.TrimRight(word[:len(word)-1], "_")
	switch {
	case len(word) == 2 && word[0] == 'q' && word[1] >= '0' && word[1] <= '3': // the scalar is counted zero
		f.kind, f.axis, f.index = 'q', (int(word[1]-'0')+3)%4, true
	case axis < 0:
	case slices.Contains(rotationWords, lead) || lead == "" && slices.Contains(rotationWords, before):
		f.kind, f.axis = 'q', axis
	case axis < 3 && (lead == "" || slices.Contains(positionWords, lead)):
		f.kind, f.axis = 'p', axis
	}
}

// readTable reads a table with named columns.
func (c *Capture) readTable(data []byte, o Options) error {
	c.Format = Table
	var h tableHeader
	r := newRows(data)
	if err := h.read(r); err != nil {
		return c.fail(r.line, "Add a line that names the columns.", "no line with the names of columns")
	}
	if h.row == nil {
		return nil // no frame: said by Decode
	}
	p := newColumns()
	if err := c.columnsTable(&h, p, o); err != nil {
		return err
	}
	r.unread(h.row)
	k, _, err := c.lines(r, p, nil)
	if err != nil {
		return err
	}
	if h.ownFormat && h.rate > 0 && usable(h.rate) {
		return c.ownClock(k, h.rate)
	}
	return c.settleLines(k, 0, o)
}

// columnsTable gives the columns their meaning.
func (c *Capture) columnsTable(h *tableHeader, p *columns, o Options) error {
	unit, unitLess := "", false
	used := map[int]bool{}
	for _, t := range h.things() {
		name := t.name
		if t.mixed {
			return c.fail(h.line, "Bring them to one unit.", "the coordinates of %q are in different units", name)
		}
		if t.isComplete('p') {
			if unit != "" && t.unit != unit || unitLess && t.unit != "" {
				return c.fail(h.line, "Bring them to one unit.", "positions are in %q and in %q", unit, t.unit)
			}
			unit, unitLess = t.unit, t.unit == ""
		}
		switch {
		case t.isComplete('q'):
			b := bodyColumns{name: name, position: nowhereColumns, rotation: t.rotation}
			if t.isComplete('p') {
				b.position = t.position
			}
			if b.name == "" && !h.ownFormat {
				b.name = "body"
			}
			if t.indexed {
				c.addFinding("quaternion-order", record.Warning, b.name, 0, "", "Name the columns qx, qy, qz, qw.",
					"q0 is taken for the scalar part of the quaternion")
			}
			p.bodies = append(p.bodies, b)
		case t.isComplete('p'):
			if name == "" && !h.ownFormat {
				name = "point"
			}
			p.points = append(p.points, pointColumns{name, t.position})
		default:
			continue // a part of something: stays a signal
		}
		for _, j := range append(t.position[:], t.rotation[:]...) {
			used[j] = true
		}
	}
	var err error
	if unit != "" || unitLess {
		if h.ownFormat {
			unit = "m"
		}
		if p.length, err = c.lengthIn(unit, "m", o); err != nil {
			return err
		}
	}
	for j, name := range h.cells {
		f := h.field(j)
		switch {
		case used[j]:
		case f.kind == 't' && p.time < 0:
			p.time = j
			if f.unit != "" {
				if p.timeScale = seconds[f.unit]; p.timeScale == 0 {
					return c.fail(h.line, "Want s, ms, us or ns.", "the time is in %q", f.unit)
				}
			}
		case f.kind == 'f' && p.frame < 0:
			p.frame = j
		case h.row != nil && (&rows{}).isNumber(cell(h.row, j)):
			short, _ := cutUnit(name)
			p.signals = append(p.signals, signalColumns{name: short, unit: f.unit, column: j})
		case name != "":
			c.addFinding("left-out", record.Note, name, 1, "columns", "", "column %q holds no number in its first line and is left out", name)
		}
	}
	return nil
}

// ownClock takes numbers and times as WriteCSV wrote them.
func (c *Capture) ownClock(k *clock, rate float64) error {
	c.Rate = rate
	for i := range k.line {
		if math.IsNaN(k.frame[i]) || math.IsNaN(k.time[i]) || math.Abs(k.frame[i]) > 1<<52 || i > 0 &&
			!(k.frame[i] > k.frame[i-1] && k.time[i] > k.time[i-1]) {
			return c.fail(k.line[i], "Write the file again.", "frame and time must both rise from line to line")
		}
		c.Frame, c.Time = append(c.Frame, int(k.frame[i])), append(c.Time, k.time[i])
	}
	for i := range c.Analog {
		c.Analog[i].Rate, c.Analog[i].Start = rate, c.Time[0]
	}
	return nil
}
