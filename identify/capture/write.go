package capture

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteCSV writes the paths of the markers and the poses of the bodies as a table in SI: number and time (s) of the frame, NAME.x,
// NAME.y, NAME.z (m) of every marker, NAME.px … and NAME.qw … of every body, empty cells where it was not seen. Read gives the same
// numbers back, bit for bit. Analog channels and events are not in it.
func WriteCSV(w io.Writer, c *Capture) error {
	buffer := bufio.NewWriter(w)
	fmt.Fprintf(buffer, "%s\n# rate [Hz]: %s\n", ownFirst, formatExact(c.Rate))
	out := csv.NewWriter(buffer)
	row := []string{"frame", "time [s]"}
	named := func(name, unit string, axes ...string) {
		for _, a := range axes {
			row = append(row, plainName(name)+"."+a+unit)
		}
	}
	for i := range c.Markers {
		named(c.Markers[i].Name, " [m]", "x", "y", "z")
	}
	for i := range c.Bodies {
		b := &c.Bodies[i]
		if b.Position != nil {
			named(b.Name, " [m]", "px", "py", "pz")
		}
		named(b.Name, "", "qw", "qx", "qy", "qz")
	}
	if err := out.Write(row); err != nil {
		return err
	}
	for k := range c.Time {
		row = append(row[:0], strconv.Itoa(c.Frame[k]), formatExact(c.Time[k]))
		put := func(seen bool, xs ...float64) {
			for _, x := range xs {
				if seen {
					row = append(row, formatExact(x))
				} else {
					row = append(row, "")
				}
			}
		}
		for i := range c.Markers {
			m := &c.Markers[i]
			put(m.Visible[k], m.Path[k].X, m.Path[k].Y, m.Path[k].Z)
		}
		for i := range c.Bodies {
			b := &c.Bodies[i]
			if b.Position != nil {
				put(b.Visible[k], b.Position[k].X, b.Position[k].Y, b.Position[k].Z)
			}
			q := b.Rotation[k]
			put(b.Visible[k], q.Real, q.Imag, q.Jmag, q.Kmag)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buffer.Flush()
}

// formatExact writes a number so that it is read back bit for bit.
func formatExact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// plainName keeps a name on its line.
func plainName(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, name))
}
