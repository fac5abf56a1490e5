package capture

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"hilrig/identify/record"
)

// readTRC reads a TRC file: a line with PathFileType, a line of keys and one of their values, a line with the names of the markers, a
// line with X1 Y1 Z1 X2 …, and a line a frame: number, time (s), three coordinates a marker, separated by tabs; by blanks where a line
// has no tab.
func (c *Capture) readTRC(data []byte, o Options) error {
	c.Format = TRC
	r := newRows(tabbed(data))
	r.semi = false // tabs are the rule here, and commas in numbers are not
	var head [4][]string
	for i := range head {
		cells, err := c.headerLine(r, "its header")
		if err != nil {
			return err
		}
		head[i] = clone(cells)
	}
	keys, values := filled(head[1]), filled(head[2])
	value := func(key string) string {
		i := slices.IndexFunc(keys, func(k string) bool { return strings.EqualFold(k, key) })
		if i < 0 {
			return ""
		}
		return cell(values, i)
	}
	names, err := c.namesTRC(head[3], r.line)
	if err != nil {
		return err
	}
	if names, err = c.headTRC(r, names, value("NumMarkers")); err != nil {
		return err
	}
	p := newColumns()
	p.frame, p.time, p.zeros = 0, 1, true
	for i, name := range names {
		p.points = append(p.points, pointColumns{name, [3]int{2 + 3*i, 3 + 3*i, 4 + 3*i}})
	}
	if p.length, err = c.lengthIn(value("Units"), "mm", o); err != nil {
		return err
	}
	p.exactLines = true
	k, _, err := c.lines(r, p, nil)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(value("NumFrames")); err == nil && n != len(k.line) {
		c.addFinding("frame-count", record.Warning, "", float64(len(k.line)), "frames", "Was the file cut, or not closed properly?",
			"the header says %d frames, there are %d", n, len(k.line))
	}
	return c.settleLines(k, positive(value("DataRate")), o) // 0: the times may tell
}

// filled are the cells that hold something: writers of headers differ in how many tabs they put.
func filled(cells []string) []string {
	return slices.DeleteFunc(clone(cells), func(s string) bool { return s == "" })
}

// namesTRC finds the names of the markers in the line that begins with Frame#: every third cell, unless the writer was careless with
// tabs; then they count in their order.
func (c *Capture) namesTRC(cells []string, line int) ([]string, error) {
	if !strings.HasPrefix(strings.ToLower(cells[0]), "frame") {
		return nil, c.fail(line, "Export it again.", "want the line with Frame#, Time and the names of the markers, found %.40q", cells[0])
	}
	inStep, last := true, 1
	for j := 2; j < len(cells); j++ {
		if cells[j] != "" {
			inStep, last = inStep && (j-2)%3 == 0, j
		}
	}
	var names []string
	if inStep {
		for j := 2; j <= last; j += 3 {
			names = append(names, cells[j])
		}
	} else if names = filled(cells); len(names) >= 2 {
		names = names[2:]
	}
	for i, n := range names {
		if n == "" {
			names[i] = fmt.Sprintf("marker %d", i+1)
		}
	}
	return names, nil
}

// tabbed puts tabs where a writer has put blanks: in lines that have neither tab nor comma but at their ends, behind the first one.
func tabbed(data []byte) []byte {
	head, body, _ := bytes.Cut(data, []byte{'\n'})
	out := append(bytes.Clone(head), '\n')
	for line := range bytes.Lines(body) {
		if inner := bytes.TrimSpace(line); !bytes.ContainsAny(inner, "\t,") && bytes.ContainsRune(inner, ' ') {
			line = append(bytes.Join(bytes.Fields(line), []byte{'\t'}), '\n')
		}
		out = append(out, line...)
	}
	return out
}

// headTRC reads the line X1 Y1 Z1 … in front of the numbers, and gives the names of all markers that have numbers. That line and the first
// one of numbers decide: a marker that is not named gets its number, one that is named and has none is an error.
func (c *Capture) headTRC(r *rows, names []string, declared string) ([]string, error) {
	cells, err := c.next(r)
	if err == io.EOF {
		return names, nil // no frame: said by Decode
	} else if err != nil {
		return nil, err
	}
	if words := filled(cells); !strings.HasPrefix(strings.ToUpper(words[0]), "X") {
		return nil, c.fail(r.line, "Export it again.", "want a line with X1, Y1, Z1 …, found %.40q", words[0])
	}
	line, axes := r.line, len(filled(cells))
	if cells, err = c.next(r); err == io.EOF {
		return names, nil
	} else if err != nil {
		return nil, err
	}
	r.unread(clone(cells))
	named := len(names)
	numbers := max(0, len(cells)-2) // those in front of empty cells behind the last
	for numbers > 0 && cells[1+numbers] == "" {
		numbers--
	}
	markers := (numbers + 2) / 3
	if axes%3 == 0 { // some may be hidden in the first frame
		markers = max(markers, axes/3)
	}
	n, err := strconv.Atoi(declared)
	switch {
	case named > markers && err == nil && n != named:
		return nil, c.fail(line-1, "Correct the header: it decides which column belongs to which marker.",
			"NumMarkers says %s, %d markers are named, and the first frame has %d numbers", declared, named, len(cells)-2)
	case markers > named:
		for i := named; i < markers; i++ {
			names = append(names, fmt.Sprintf("marker %d", i+1))
		}
		c.addFinding("marker-count", record.Warning, "", float64(named), "markers", "",
			"%d markers are named, %d have numbers: those without a name are numbered", named, markers)
	case err == nil && n != named:
		c.addFinding("marker-count", record.Warning, "", float64(named), "markers", "",
			"NumMarkers says %s, %d markers are named, and so many have numbers", declared, named)
	}
	return names, nil
}
