package capture

import (
	"errors"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/identify/record"
)

// columns say which cells of a line are what. A place of −1 is none.
type columns struct {
	frame, time int
	timeScale   float64 // s
	points      []pointColumns
	bodies      []bodyColumns
	signals     []signalColumns
	length      float64 // m  one of the unit of lengths
	zeros       bool    // this format writes a zero where nothing was seen
	exactLines  bool    // no line is longer than the header; one that ends behind the time is a frame in which nothing was seen

	x               []float64 // numbers of a line
	zeroed, partial int       // what was taken as not seen
	scaled, badNorm int       // rotations that were not of length one
}

type pointColumns struct {
	name    string
	columns [3]int
}

type bodyColumns struct {
	name     string
	position [3]int
	rotation [4]int // x y z w of a quaternion, or three angles and −1
	turn     turn   // makes a rotation of them; nil: a quaternion
}

type signalColumns struct {
	name, unit string
	column     int
	scale      float64 // 0: 1
}

// turn makes a rotation of three angles in rad.
type turn func(a [3]float64) quat.Number

var nowhereColumns = [3]int{-1, -1, -1}

// newColumns are those of nothing.
func newColumns() *columns { return &columns{frame: -1, time: -1, timeScale: 1, length: 1} }

// maxPoints bounds the positions and samples of a file; a line that claims many columns is cheap to write.
const maxPoints = 1 << 27

// places are those of the columns that mean anything.
func (p *columns) places() []int {
	all := []int{p.frame, p.time}
	for i := range p.points {
		all = append(all, p.points[i].columns[:]...)
	}
	for i := range p.bodies {
		all = append(append(all, p.bodies[i].position[:]...), p.bodies[i].rotation[:]...)
	}
	for i := range p.signals {
		all = append(all, p.signals[i].column)
	}
	return all
}

// lines reads lines of numbers up to the end, or to one for which stop says so: that line is given back.
func (c *Capture) lines(r *rows, p *columns, stop func([]string) bool) (k *clock, after []string, err error) {
	c.Markers, c.Bodies = make([]Marker, len(p.points)), make([]Body, len(p.bodies))
	for i, q := range p.points {
		c.Markers[i].Name = q.name
	}
	for i, b := range p.bodies {
		c.Bodies[i].Name = b.name
	}
	c.Analog = make([]Channel, len(p.signals))
	for i, s := range p.signals {
		c.Analog[i].Name, c.Analog[i].Unit = s.name, s.unit
	}
	k = &clock{}
	width, left := slices.Max(p.places())+1, maxPoints // a line has so many cells at least
	p.x = make([]float64, width)
	for {
		cells, err := c.next(r)
		switch {
		case err == io.EOF || err == nil && stop != nil && stop(cells):
			return k, cells, p.doubts(c)
		case err != nil:
			return nil, nil, err
		case p.exactLines && len(cells) == 2:
			cells = append(cells, make([]string, max(width-2, 0))...)
		case len(cells) < width || p.exactLines && !blank(cells[width:]):
			return nil, nil, c.fail(r.line, "If it is the last line, the file was cut short: remove the line, or export the file again.",
				"%d cells, the header has %d columns", len(cells), width)
		}
		if left -= width; left < 0 {
			return nil, nil, c.fail(r.line, "Cut the recording.", "more than %d numbers", maxPoints)
		}
		if err := p.line(c, r, cells, k); err != nil {
			return nil, nil, err
		}
	}
}

// line takes one line apart.
func (p *columns) line(c *Capture, r *rows, cells []string, k *clock) error {
	for j := range p.x {
		x, err := r.number(cells[j])
		if errors.Is(err, errNumber) && slices.Contains(p.places(), j) {
			return c.fail(r.line, "A marker that was not seen has an empty cell.", "%q in column %d is not a usable number", cells[j], j+1)
		}
		p.x[j] = x
	}
	k.add(r.line, p.at(p.frame), p.at(p.time)*p.timeScale)
	for i := range p.points {
		pos, seen := p.vector(p.points[i].columns)
		c.Markers[i].add(pos, seen)
	}
	for i := range p.bodies {
		p.pose(&p.bodies[i], &c.Bodies[i])
	}
	for i := range p.signals {
		s := &p.signals[i]
		x := p.at(s.column)
		if s.scale != 0 {
			x *= s.scale
		}
		c.Analog[i].Samples = append(c.Analog[i].Samples, x)
	}
	return nil
}

func (p *columns) at(j int) float64 {
	if j < 0 {
		return math.NaN()
	}
	return p.x[j]
}

// vector is a position in m, and whether there is one.
func (p *columns) vector(at [3]int) (r3.Vec, bool) {
	v := r3.Vec{X: p.at(at[0]), Y: p.at(at[1]), Z: p.at(at[2])}
	missing := 0
	for _, x := range []float64{v.X, v.Y, v.Z} {
		if math.IsNaN(x) {
			missing++
		}
	}
	switch {
	case missing == 3:
		return v, false
	case missing > 0:
		p.partial++
		return v, false
	case p.zeros && v == r3.Vec{}:
		p.zeroed++
		return v, false
	}
	return r3.Scale(p.length, v), true
}

// pose appends a frame of a body.
func (p *columns) pose(at *bodyColumns, b *Body) {
	seen, partial := true, false
	pos := nowhere
	if at.position != nowhereColumns {
		before := p.zeroed
		if pos, seen = p.vector(at.position); p.zeroed > before { // a body may well stand at the origin, if it is turned
			p.zeroed, pos, seen = before, r3.Vec{}, true
		}
	}
	q := quat.Number{Imag: p.at(at.rotation[0]), Jmag: p.at(at.rotation[1]), Kmag: p.at(at.rotation[2]), Real: p.at(at.rotation[3])}
	switch angle := [3]float64{q.Imag, q.Jmag, q.Kmag}; {
	case at.turn != nil && p.zeros && angle == [3]float64{} && pos == r3.Vec{}:
		p.zeroed++
		seen = false
	case at.turn != nil:
		q = at.turn(angle)
		partial = quat.IsNaN(q)
	case q == quat.Number{}:
		seen = false
	default:
		n := quat.Abs(q)
		if partial = math.IsNaN(n); !partial {
			if math.Abs(n-1) > 1e-2 {
				p.badNorm++
			}
			if math.Abs(n-1) > 1e-15 { // one that is of length one stays as it is, bit for bit
				p.scaled++
				q = quat.Scale(1/n, q)
			}
		}
	}
	if partial && seen && at.position != nowhereColumns {
		p.partial++
	}
	if seen = seen && !partial; !seen {
		pos, q = nowhere, noTurning
	}
	if at.position != nowhereColumns {
		b.Position = append(b.Position, pos)
	}
	b.Rotation, b.Visible = append(b.Rotation, q), append(b.Visible, seen)
}

// doubts says what was taken as not seen, and refuses numbers that are no rotations.
func (p *columns) doubts(c *Capture) error {
	if p.zeroed > 0 {
		c.addFinding("zeros", record.Note, "", float64(p.zeroed), "points", "", "%d points at exactly (0, 0, 0) are taken as not seen", p.zeroed)
	}
	if p.partial > 0 {
		c.addFinding("partial", record.Warning, "", float64(p.partial), "points", "",
			"%d points have some of their numbers only and are taken as not seen", p.partial)
	}
	if p.badNorm > 0 {
		return c.fail(0, "Are the four columns those of one rotation, and none of them a velocity or an angle?",
			"%d of %d quaternions are not of length one, by more than 1 %%", p.badNorm, p.scaled)
	}
	return nil
}

// unrepeat keeps these lines. The others repeat the frame before with the same numbers, or are refused.
func (c *Capture) unrepeat(keep, lines []int) error {
	if len(keep) == len(lines) {
		return nil
	}
	for k := range lines {
		if _, kept := slices.BinarySearch(keep, k); kept {
			continue
		}
		if name, differs := c.changed(k); differs {
			return c.fail(lines[k], "Which of the two is right? Remove the other line.", "the frame of the line before once more, with other "+
				"numbers for %s", name)
		}
	}
	for j := range c.Markers {
		c.Markers[j] = c.Markers[j].pick(keep)
	}
	for j := range c.Bodies {
		c.Bodies[j] = c.Bodies[j].pick(keep)
	}
	for j := range c.Analog {
		c.Analog[j].Samples = pick(c.Analog[j].Samples, keep, 0)
	}
	c.addFinding("repeated-frame", record.Warning, "", float64(len(lines)-len(keep)), "frames", "",
		"%d lines repeat the frame before with the same numbers and are left out", len(lines)-len(keep))
	return nil
}

// changed names a marker or body that has other numbers in line k than in the line before.
func (c *Capture) changed(k int) (name string, differs bool) {
	for _, m := range c.Markers {
		if m.Visible[k] != m.Visible[k-1] || m.Visible[k] && m.Path[k] != m.Path[k-1] {
			return m.Name, true
		}
	}
	for _, b := range c.Bodies {
		if b.Visible[k] != b.Visible[k-1] || b.Visible[k] &&
			(b.Rotation[k] != b.Rotation[k-1] || b.Position != nil && b.Position[k] != b.Position[k-1]) {
			return b.Name, true
		}
	}
	return "", false
}

// settleLines settles the clock of a table, leaves repeated lines out, and dates the signals, which have a sample a frame.
func (c *Capture) settleLines(k *clock, rate float64, o Options) error {
	lines := k.line
	keep, err := c.setTimes(k, rate, o)
	if err == nil {
		err = c.unrepeat(keep, lines)
	}
	for i := range c.Analog {
		c.Analog[i].Rate = c.Rate
		if len(c.Time) > 0 {
			c.Analog[i].Start = c.Time[0]
		}
	}
	return err
}
