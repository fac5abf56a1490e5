package capture

import (
	"math"
	"strings"

	"hilrig/identify/record"
)

// lengthNames are the units of length, lengths what one of them is in m.
var lengthNames = []string{"m", "mm", "cm", "dm", "um", "µm", "km", "in", "ft"}

var lengths = map[string]float64{"m": 1, "mm": 1e-3, "cm": 1e-2, "dm": 1e-1, "um": 1e-6, "µm": 1e-6, "km": 1e3, "in": 0.0254, "ft": 0.3048}

// lengthWords are other spellings.
var lengthWords = map[string]string{"mete": "m", "meters": "m", "meter": "m", "metres": "m", "metre": "m", "millimeters": "mm",
	"millimeter": "mm", "millimetres": "mm",
	"millimetre": "mm", "centimeters": "cm", "centimeter": "cm", "centimetres": "cm", "centimetre": "cm", "inches": "in", "inch": "in",
	"feet": "ft", "foot": "ft", "μm": "µm", "microns": "µm"}

// plainLength finds the usual spelling of a unit of length.
func plainLength(text string) (unit string, ok bool) {
	unit = strings.ToLower(strings.TrimSpace(text))
	if word := lengthWords[unit]; word != "" {
		unit = word
	}
	_, ok = lengths[unit]
	return unit, ok
}

// lengthIn decides the unit of lengths: that of the options, else of the file, else the usual one of the format. It gives what one is
// in m, and says what was decided against the file or without it.
func (c *Capture) lengthIn(named string, usual string, o Options) (float64, error) {
	unit, known := plainLength(named)
	if known {
		c.Unit = unit
	} else {
		c.Unit = strings.TrimSpace(named)
	}
	switch {
	case o.Unit != "":
		if c.Unit != "" && c.Unit != o.Unit {
			c.addFinding("unit", record.Note, "", lengths[o.Unit], "m", "", "lengths are read in %s as asked; the file says %s", o.Unit, c.Unit)
		}
		return lengths[o.Unit], nil
	case known:
		return lengths[unit], nil
	case c.Unit != "":
		return 0, c.fail(0, "Say which it is with --unit mm, or m, cm, in, ft.", "lengths are in %q, which is no unit that is known here", c.Unit)
	}
	c.addFinding("unit", record.Warning, "", lengths[usual], "m", "Say which it is with --unit if that is wrong.",
		"the file names no unit of length; %s is assumed", usual)
	return lengths[usual], nil
}

// angles is what one of a unit of angle is in rad; 0 where it is none.
func angles(unit string) float64 {
	switch strings.ToLower(unit) {
	case "deg", "degree", "degrees", "°":
		return math.Pi / 180
	case "rad", "radian", "radians":
		return 1
	}
	return 0
}
