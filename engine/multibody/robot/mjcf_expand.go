package robot

import (
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
)

// include puts in place of each include element of MJCF what stands in the root of the file that it names, as MuJoCo does: names start at
// the folder of the outermost file, and a file may be included once.
func include(e *element, open opener, seen map[string]bool) error {
	var kids []*element
	for _, k := range e.kids {
		if k.name != "include" {
			if err := include(k, open, seen); err != nil {
				return err
			}
			kids = append(kids, k)
			continue
		}
		name := k.text("file")
		switch {
		case open == nil:
			return fmt.Errorf("line %d, %v: files that include others are not followed in a text without a place: "+
				"read it as a file, or save the model as one file first, with compile of MuJoCo", k.line, k)
		case name == "":
			return fmt.Errorf("line %d, %v: file is missing: the name of the file to include", k.line, k)
		case seen[name]:
			return fmt.Errorf("line %d, %v: %s is included twice", k.line, k, name)
		}
		seen[name] = true
		in, err := open(name)
		if err != nil {
			return fmt.Errorf("line %d, %v: %w", k.line, k, err)
		}
		root, err := parse(io.LimitReader(in, maxBytes))
		in.Close()
		if err == nil {
			err = include(root, open, seen)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		kids = append(kids, root.kids...)
	}
	e.kids = kids
	return nil
}

// maxCopies are those of all replicate elements of a file together.
const maxCopies = 100_000

// expand writes out frame and replicate elements: what stands in them comes to the body around them, with the pose and the class of
// defaults of what it stood in.
func (m *mjcfReader) expand(kids []*element, frame multibody.Pose, class string) (out []*element) {
	for _, k := range kids {
		switch k.name {
		case "frame":
			inner := class
			if c := k.text("childclass"); c != "" {
				inner = c
			}
			k.frame = frame
			out = append(out, m.expand(k.kids, m.pose(k), inner)...)
		case "replicate":
			out = append(out, m.replicate(k, frame, class)...)
		default:
			if k.frame, k.class = frame, class; k.name == "body" {
				k.kids = m.expand(k.kids, multibody.Pose{}, "")
			}
			out = append(out, k)
		}
	}
	return out
}

// replicate copies what stands in it: each copy is moved by offset and euler from the one before, and its names get its number.
func (m *mjcfReader) replicate(e *element, at multibody.Pose, class string) (out []*element) {
	count := m.number(e, "count", 0)
	if n := int(count); float64(n) != count || n < 1 || n > maxCopies {
		m.fail(e, "count=%q: want a whole number from 1 to %d", e.attr["count"], maxCopies)
		return nil
	}
	step := multibody.Pose{P: m.vector(e, "offset", r3.Vec{}), R: m.orientation(e)}
	digits := len(strconv.Itoa(int(count) - 1))
	for i := range int(count) {
		if m.copies++; m.copies > maxCopies {
			m.fail(e, "more than %d copies in all", maxCopies)
			return nil
		}
		suffix := fmt.Sprintf("%s%0*d", e.attr["sep"], digits, i)
		var copies []*element
		for _, k := range e.kids {
			copies = append(copies, duplicate(k, suffix))
		}
		out = append(out, m.expand(copies, at, class)...)
		at = at.Compose(step)
	}
	return out
}

// duplicate is an element with a suffix behind all its names.
func duplicate(e *element, suffix string) *element {
	c := *e
	c.attr, c.kids = maps.Clone(e.attr), nil
	if strings.TrimSpace(c.attr["name"]) != "" {
		c.attr["name"] = e.text("name") + suffix
	}
	for _, k := range e.kids {
		c.kids = append(c.kids, duplicate(k, suffix))
	}
	return &c
}
