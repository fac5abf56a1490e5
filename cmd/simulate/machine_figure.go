package simulate

import (
	"cmp"
	"strings"

	"hilrig/cmd/plot"
)

// figure draws positions and speeds of the joints on the left; states of the drive, forces of the constraints, energies and what the
// constraints are off by in the middle; the machine at some times on the right.
func (s *machineRun) figure() *plot.Figure {
	time := s.columns[0].x
	panels := map[string]*plot.Panel{}
	var left, right []string
	add := func(side *[]string, key, name, unit string, c column) {
		p := panels[key]
		if p == nil {
			p = &plot.Panel{X: plot.Axis{Name: "time", Unit: "s"}, Y: plot.Axis{Name: name, Unit: unit}}
			panels[key] = p
			*side = append(*side, key)
		}
		label := c.name
		for _, suffix := range []string{".q", ".v"} { // of one joint, in one colour
			label = strings.TrimSuffix(label, suffix)
		}
		p.Series = append(p.Series, plot.Series{Label: label, X: time, Y: c.x})
	}
	for _, c := range s.columns[1:] {
		switch dot := strings.LastIndexByte(c.name, '.'); {
		case c.name == "residual":
			add(&right, "residual", "constraints are off by", "", c)
		case c.name == "residual_rate":
		case c.unit == "J":
			add(&right, "energy", "energy", "J", c)
		case strings.HasPrefix(c.name, "at."):
			add(&left, "places", "place", "m", c)
		case dot >= 0 && (c.name[dot+1:] == "q" || c.unit == "m" || strings.HasPrefix(c.name[dot+1:], "q")) &&
			(c.unit == "rad" || c.unit == "m" || c.unit == ""):
			name := map[string]string{"rad": "angle", "m": "position", "": "quaternion"}[c.unit]
			add(&left, name, name, c.unit, c)
		case c.unit == "rad/s":
			add(&left, "speed of turning", "speed of turning", c.unit, c)
		case c.unit == "m/s":
			add(&left, "velocity", "velocity", c.unit, c)
		default:
			name := cmp.Or(map[string]string{"A": "current", "V": "voltage", "N": "force", "N·m": "torque", "rad": "deflection"}[c.unit], "state")
			add(&right, name+c.unit, name, c.unit, c)
		}
	}
	columns := []plot.Column{{}, {}, {Panels: s.sequence()}}
	for i, keys := range [][]string{left, right} {
		for _, k := range keys {
			columns[i].Panels = append(columns[i].Panels, *panels[k])
		}
	}
	return &plot.Figure{Title: cmp.Or(s.cfg.Description, s.cfg.Name), Note: s.text(), Columns: columns}
}
