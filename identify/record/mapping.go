package record

import (
	"slices"
)

// Column says where a signal stands in a file and how its numbers become SI: SI = Scale·number + Shift.
type Column struct {
	Name  string  // in the header row; a header "name [unit]" also answers to name. In a MAT file x, s.x, X(:,2) or X[2]
	Unit  string  // of the numbers as they stand in the file; checked against the file's own unit, if it states one
	Scale float64 // SI unit per unit, 0 for 1; for the force with the gain of the drive
	Shift float64 // SI
	Step  float64 // in which the numbers count, in their unit; 0: as they show it
	Delay float64 // s, by which the stamps of this column come after those of the others: a value stamped t was true at t − Delay

	Optional bool // a file without this column is read without the channel
}

// Mapping says which columns of a file are what, and which part of it is wanted. Channels without a name are neither read
// nor asked for, so other columns may hold anything.
type Mapping struct {
	Time, Position, Velocity, Force, Reference, Disturbance, Load, Current Column

	// SteadyLevels says that every row is a level of constant speed instead of a sample: velocity and mean force. Deviation is the
	// standard deviation of the force of a level: of its samples if Count says how many there were, else of their mean.
	SteadyLevels     bool
	Deviation, Count Column

	Rate         float64                // Hz, used where Time.Name is empty
	Separator    rune                   // between columns of a text; 0: found in the header row
	DecimalComma bool                   // 1,5 instead of 1.5
	SameUnit     func(a, b string) bool // compares spellings of units; nil: equal but for spaces and products

	Piece        string     // name of a column: a new piece begins where its value changes, and time may begin anew. "": one piece
	Rows         [2]int     // first and last row of numbers, counted from 1, both included; 0: from the beginning, to the end
	Span         [2]float64 // s, only samples whose recorded time is within; both 0: all; [from, 0]: to the end
	TailDuration float64    // s, only samples of this time up to the last one; 0: all

	// Resample interpolates samples that are not evenly spaced in time. Without it they are refused, since derivatives would
	// be wrong. What is even already stays as it is.
	Resample     bool
	ResampleRate float64 // Hz of the even grid; 0: one over the median interval
	// Cubic interpolates by a cubic through the four nearest samples, with an error of order h⁴, for smooth signals such as a
	// position; else by a straight line, with the error h²·|x″|/8, which never overshoots.
	Cubic     bool
	SplitGaps bool // a gap begins a new piece instead of being refused

	// Watch is told now and then how many of the bytes of the file were read, and how many rows; nil: nobody.
	Watch    func(read, size int64, rows int)
	source   *source // the file that is read
	rowLimit int     // rows that are read; 0: all
	head     *Head   // takes the first row; only the head is read; nil: rows are
}

// columns are those of the channels of a record, in their order.
func (m *Mapping) columns() []*Column {
	return []*Column{&m.Position, &m.Velocity, &m.Force, &m.Reference, &m.Disturbance, &m.Load, &m.Current, &m.Deviation, &m.Count}
}

// channel is a column that becomes a channel of a record, at this place among them.
type channel struct {
	Column
	place int
}

// to is where the numbers of the channel go.
func (c channel) to(d *Record) *[]float64 { return d.channels()[c.place] }

// isMotion tells a motion from a force.
func (c channel) isMotion() bool {
	return slices.Contains([]string{"position", "velocity", "reference"}, channelNames[c.place])
}

// channels are the columns that become signals, without time.
func (m *Mapping) channels() (named []channel) {
	for i, c := range m.columns() {
		if c.Name != "" {
			named = append(named, channel{*c, i})
		}
	}
	return named
}

// spare takes the channels of a column that is not there out of the mapping, if all of them are optional.
func (m *Mapping) spare(name string) bool {
	if name == m.Time.Name || name == m.Piece {
		return false
	}
	if slices.ContainsFunc(m.columns(), func(c *Column) bool { return c.Name == name && !c.Optional }) {
		return false
	}
	for _, c := range m.columns() {
		if c.Name == name {
			*c = Column{}
		}
	}
	return true
}

// names are all columns that have to be read.
func (m *Mapping) names() []string {
	out := []string{m.Time.Name, m.Piece}
	for _, c := range m.channels() {
		out = append(out, c.Name)
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" })
}

// allRows says that every row of the file is wanted.
func (m *Mapping) allRows() bool {
	return m.Rows == [2]int{} && m.Span == [2]float64{} && m.TailDuration == 0
}

// sameUnit compares two spellings of a unit.
func (m *Mapping) sameUnit(a, b string) bool {
	if m.SameUnit != nil {
		return m.SameUnit(a, b)
	}
	return plainUnit(a) == plainUnit(b)
}
