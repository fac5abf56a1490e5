package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"hilrig/identify/record"
)

// readMotive reads the CSV of OptiTrack Motive, versions 1.2 to 1.25 of the format: a line of keys and values, then a line each with
// Type, Name, ID (and Parent) of the columns, with Rotation or Position, and with X, Y, Z, W.
func (c *Capture) readMotive(data []byte, o Options) error {
	c.Format = Motive
	r := newRows(data)
	first, err := c.next(r)
	if err != nil {
		return err
	}
	info := map[string]string{}
	for i := 0; i+1 < len(first); i += 2 {
		info[first[i]] = first[i+1]
	}
	heads := map[string][]string{} // Type, Name, ID
	var what, axis []string
	for axis == nil {
		cells, err := c.headerLine(r, "its header")
		switch {
		case err != nil:
			return err
		case strings.EqualFold(cells[0], "Frame"):
			axis = clone(cells)
		case slices.Contains([]string{"Type", "Name", "ID", "Parent"}, cell(cells, 1)):
			heads[cell(cells, 1)] = clone(cells)
		case what == nil && heads["Type"] == nil: // the words are left out by some versions: type, name and ID in this order
			heads["Type"] = clone(cells)
		case what == nil && heads["Name"] == nil:
			heads["Name"] = clone(cells)
		default:
			what = clone(cells) // the last one before the axes
		}
	}
	p := newColumns()
	p.frame, p.time, p.zeros = 0, 1, true
	if p.length, err = c.lengthIn(info["Length Units"], "m", o); err != nil {
		return err
	}
	if space := info["Coordinate Space"]; space != "" && space != "Global" {
		c.addFinding("space", record.Warning, "", 0, "", "Export in the global space.", "coordinates are in the space %q", space)
	}
	if err := c.columnsMotive(p, heads, what, axis, info["Rotation Type"]); err != nil {
		return err
	}
	k, _, err := c.lines(r, p, nil)
	if err != nil {
		return err
	}
	return c.settleLines(k, cmp.Or(positive(info["Export Frame Rate"]), positive(info["Capture Frame Rate"])), o)
}

// columnsMotive finds markers and bodies among the columns.
func (c *Capture) columnsMotive(p *columns, heads map[string][]string, what, axis []string, rotations string) error {
	type thing struct { // things of one name have an ID each, or their axes come again
		kind, name, id, what string
		again                int
	}
	places := map[thing]map[string]int{}
	var order []thing
	for j := 2; j < len(axis); j++ {
		t := thing{kind: cell(heads["Type"], j), name: cell(heads["Name"], j), id: cell(heads["ID"], j), what: cell(what, j)}
		for has := true; has; {
			if _, has = places[t][axis[j]]; has {
				t.again++
			}
		}
		if places[t] == nil {
			places[t] = map[string]int{}
			order = append(order, t)
		}
		places[t][axis[j]] = j
	}
	column := func(t thing, axis string) int {
		if j, ok := places[t][axis]; ok {
			return j
		}
		return -1
	}
	vector := func(t thing) [3]int { return [3]int{column(t, "X"), column(t, "Y"), column(t, "Z")} }
	measured := map[string]bool{} // names of markers as they were seen
	for _, t := range order {
		measured[t.name] = measured[t.name] || t.kind == "Marker" && t.what == "Position"
	}
	beside := func(t thing, what string) thing { t.what = what; return t }
	left := 0
	for _, t := range order {
		at := vector(t)
		switch {
		case t.what == "Position" && slices.Contains(at[:], -1):
			return c.fail(0, "Export it again.", "%s %s has no X, Y and Z", t.kind, t.name)
		case t.what == "Position" && strings.HasSuffix(t.kind, "Marker"):
			name := t.name
			if t.kind != "Marker" && measured[name] {
				name += " (solved)" // where the rigid body puts it, beside where it was seen
			}
			p.points = append(p.points, pointColumns{name, at})
		case t.what == "Rotation":
			b := bodyColumns{name: t.name, position: nowhereColumns, rotation: [4]int{at[0], at[1], at[2], column(t, "W")}}
			if pos := vector(beside(t, "Position")); !slices.Contains(pos[:], -1) {
				b.position = pos
			}
			if slices.Contains(at[:], -1) {
				return c.fail(0, "Export it again.", "the rotation of %s has no X, Y and Z", t.name)
			}
			if b.rotation[3] < 0 {
				var ok bool
				if b.turn, ok = eulerAngles(rotations, angles("deg")); !ok {
					return c.fail(0, "Export rotations as quaternions.", "rotations of the type %q", rotations)
				}
				c.addFinding("euler", record.Warning, t.name, 0, "", "Export rotations as quaternions.",
					"angles are read about the axes of the body in the order %s", rotations)
			}
			p.bodies = append(p.bodies, b)
		case t.what == "Position" && places[beside(t, "Rotation")] == nil:
			return c.fail(0, "Export rotations, too, or markers.", "%s %s has a position and no rotation", t.kind, t.name)
		case t.what != "Position":
			left++
		}
	}
	if left > 0 {
		c.addFinding("left-out", record.Note, "", float64(left), "columns", "",
			"%d columns are neither position nor rotation (errors, qualities) and are left out", left)
	}
	if len(p.points)+len(p.bodies) == 0 {
		return c.fail(0, "Export markers or rigid bodies.", "no column with a position or rotation among %s", fmt.Sprint(len(axis)))
	}
	return nil
}
