package capture

import (
	"io"
	"math"
	"slices"
	"strings"

	"hilrig/identify/record"
)

// viconSections are the titles of the parts of a CSV of Vicon Nexus or Tracker.
var viconSections = []string{"Trajectories", "Segments", "Objects", "Joints", "Model Outputs", "Devices", "Events"}

// viconSection is the title of a section, if a line is one: alone in its line.
func viconSection(cells []string) string {
	for _, s := range viconSections {
		if strings.EqualFold(cells[0], s) && blank(cells[1:]) {
			return s
		}
	}
	return ""
}

// readVicon reads the sections of a CSV of Vicon Nexus or Tracker: title, rate, names, axes, units, then a line a frame with its number
// and the number of the sample in it. Markers and bodies of all sections come on the frames of the first section that has any.
func (c *Capture) readVicon(data []byte, o Options) error {
	c.Format = Vicon
	r := newRows(data)
	title, err := c.next(r)
	var parts []*viconPart
	for err == nil {
		section := viconSection(title)
		if section == "" {
			return c.fail(r.line, "Want "+strings.Join(viconSections, ", ")+".", "%.40q is no title of a section", title[0])
		}
		if section == "Events" {
			title, err = c.eventsVicon(r)
			continue
		}
		part := &viconPart{title: section, line: r.line}
		if title, err = c.partVicon(r, part, o); err == nil || err == io.EOF {
			parts = append(parts, part)
		}
	}
	if err != io.EOF {
		return err
	}
	return c.joinVicon(parts, o)
}

// viconPart is one section.
type viconPart struct {
	Capture
	title         string
	line          int
	sub           []float64 // number of the sample within its frame, by line
	definesFrames bool      // its frames are those of the whole
}

// rateVicon reads the line with a rate behind the title of a section.
func (c *Capture) rateVicon(r *rows, section string) (float64, error) {
	cells, err := c.headerLine(r, "the header of the "+section)
	if err != nil {
		return 0, err
	}
	rate := positive(cells[0])
	if rate == 0 {
		return 0, c.fail(r.line, "Export it again.", "want the rate of the %s in Hz, found %.40q", section, cells[0])
	}
	return rate, nil
}

// partVicon reads a section behind its title and gives the title of the next one.
func (c *Capture) partVicon(r *rows, part *viconPart, o Options) ([]string, error) {
	part.File = c.File
	rate, err := c.rateVicon(r, part.title)
	if err != nil {
		return nil, err
	}
	var head [3][]string // names, axes, units
	for i := 0; i < len(head); i++ {
		cells, err := c.headerLine(r, "the header of the "+part.title)
		if err != nil {
			return nil, err
		}
		head[i] = clone(cells)
		if i == 0 && strings.EqualFold(cells[0], "Frame") { // no names, as in a section with one nameless signal
			head[0], head[1] = nil, head[0]
			i++
		}
	}
	axes := head[1]
	if !strings.EqualFold(axes[0], "Frame") || cell(axes, 1) != "Sub Frame" {
		return nil, c.fail(r.line-1, "Export it again.", "want a line with Frame, Sub Frame and the axes, found %.40q", axes[0])
	}
	p, err := c.columnsVicon(part, head[0], axes, head[2], o)
	if err != nil {
		return nil, err
	}
	p.signals = append(p.signals, signalColumns{name: "sub frame", column: 1})
	k, next, err := part.lines(r, p, func(cells []string) bool { return blank(cells[1:]) && !r.isNumber(cells[0]) })
	if err != nil {
		return nil, err
	}
	last := len(part.Analog) - 1
	part.sub, part.Analog = part.Analog[last].Samples, part.Analog[:last]
	if err := part.clockVicon(k, rate, o); err != nil {
		return nil, err
	}
	if next == nil {
		return nil, io.EOF
	}
	return clone(next), nil
}

// columnsVicon finds markers, bodies and signals in the columns of a section. A name stands over its first column.
func (c *Capture) columnsVicon(part *viconPart, names, axes, units []string, o Options) (*columns, error) {
	p := newColumns()
	p.frame, p.zeros = 0, true
	lengthSet := false
	length := func(j int) (err error) {
		if !lengthSet {
			lengthSet = true
			p.length, err = c.lengthIn(cell(units, j), "mm", o)
		}
		return err
	}
	for j := 2; j < len(axes); {
		to := j + 1 // the columns of one name
		for to < len(axes) && cell(names, to) == "" && axes[to] != axes[j] {
			to++
		}
		name := cell(names, j)
		find := func(axis string) int {
			if i := slices.Index(axes[j:to], axis); i >= 0 {
				return j + i
			}
			return -1
		}
		place := [3]int{find("X"), find("Y"), find("Z")}
		position := [3]int{find("TX"), find("TY"), find("TZ")}
		angle := [4]int{find("RX"), find("RY"), find("RZ"), find("RW")}
		var used []int
		switch {
		case part.title == "Trajectories" && !slices.Contains(place[:], -1):
			p.points = append(p.points, pointColumns{name, place})
			used = place[:]
		case (part.title == "Segments" || part.title == "Objects") && !slices.Contains(position[:], -1) && !slices.Contains(angle[:3], -1):
			b := bodyColumns{name: name, position: position, rotation: angle}
			if angle[3] < 0 {
				scale := angles(cell(units, angle[0]))
				if scale == 0 {
					return nil, c.fail(0, "Want deg or rad in the line of units.", "the rotation of %s is in %q", name, cell(units, angle[0]))
				}
				b.turn = rotationVector(scale)
				if len(p.bodies) == 0 {
					c.addFinding("rotation-vector", record.Note, name, 0, "", "Export quaternions (RW) where the program can.",
						"RX, RY, RZ are read as a rotation vector, its length the angle (helical angles)")
				}
			}
			p.bodies = append(p.bodies, b)
			used = append(slices.Clone(position[:]), angle[:]...)
		}
		if len(used) > 0 {
			first := slices.Max(used[:3])
			if err := length(first); err != nil {
				return nil, err
			}
			if u := cell(units, first); u != cell(units, slices.Min(used[:3])) {
				return nil, c.fail(0, "Export it again.", "the axes of %s are in different units, %s and %s", name, cell(units, slices.Min(used[:3])),
					u)
			}
		}
		for i := j; i < to; i++ {
			if !slices.Contains(used, i) && axes[i] != "" {
				p.signals = append(p.signals, signalColumns{name: strings.TrimPrefix(name+"."+axes[i], "."), unit: cell(units, i), column: i})
			}
		}
		j = to
	}
	return p, nil
}

// clockVicon dates the lines of a section: by the frames, and in a section with several samples a frame by its samples.
func (c *viconPart) clockVicon(k *clock, rate float64, o Options) error {
	perFrame := 1.0
	for i, s := range c.sub {
		if math.IsNaN(s) || s < 0 || s != math.Trunc(s) || s > 1e6 {
			return c.fail(k.line[i], "Remove the line, or export the file again.", "the number of the sample in its frame is missing or no "+
				"whole number")
		}
		perFrame = max(perFrame, s+1)
	}
	if perFrame == 1 {
		return c.settleLines(k, rate, o)
	}
	if len(c.Markers)+len(c.Bodies) > 0 {
		return c.fail(k.line[0], "Export it again.", "the %s have several samples a frame", c.title)
	}
	for i := range k.frame {
		k.frame[i] = k.frame[i]*perFrame + c.sub[i]
	}
	if o.Rate > 0 {
		o.Rate *= perFrame
	}
	return c.settleLines(k, rate, o)
}

// eventsVicon reads the table of events and gives the title of the next section.
func (c *Capture) eventsVicon(r *rows) ([]string, error) {
	if _, err := c.rateVicon(r, "Events"); err != nil {
		return nil, err
	}
	head, err := c.headerLine(r, "the header of the Events")
	if err != nil {
		return nil, err
	}
	name, at := slices.Index(head, "Name"), slices.IndexFunc(head, func(s string) bool { return strings.HasPrefix(s, "Time") })
	context := slices.Index(head, "Context")
	if name < 0 || at < 0 {
		return nil, c.fail(r.line, "Export it again.", "the events have no columns Name and Time (s)")
	}
	for {
		cells, err := c.next(r)
		if err != nil || viconSection(cells) != "" {
			return clone(cells), err
		}
		t, err := r.number(cell(cells, at))
		if err != nil || math.IsNaN(t) {
			return nil, c.fail(r.line, "Remove the line, or export the file again.", "%q is no time of an event", cell(cells, at))
		}
		c.Events = append(c.Events, Event{Name: strings.TrimSpace(cell(cells, context) + " " + cell(cells, name)), Time: t})
	}
}
