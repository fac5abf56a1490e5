package configs

import (
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/hil/axis"
)

// Units of an axis. A tag holds the spelling of one kind of axis; on the other kind it means its partner. Tags of laws are linear,
// those of the sections of an axis are rotary.

// usage are spellings of units of a rotary axis that leave the radian out.
var usage = map[string]string{"N·m·s/rad": "N·m·s", "kg·m²": "N·m·s²/rad"}

// rotaryTag is what a tag means on an axis that turns, with other spellings after |. Those of a tag that is rotary already stay.
func rotaryTag(tag string) string {
	if namesNoUnit(tag) {
		return tag
	}
	unit, other, _ := strings.Cut(tag, "|")
	if unit == other {
		return unit
	}
	turned := engine.RotaryUnit(unit)
	if also := usage[turned]; turned != unit && also != "" {
		return turned + "|" + also
	}
	if turned != unit {
		return turned
	}
	return tag
}

// linearTag is what a tag means on a linear axis. One that says its unit twice means that on both.
func linearTag(tag string) string {
	if namesNoUnit(tag) {
		return tag
	}
	unit, other, _ := strings.Cut(tag, "|")
	if unit == other {
		return unit
	}
	return engine.LinearUnit(unit)
}

// namesNoUnit tells tags that stand for the unit of something else.
func namesNoUnit(tag string) bool { return strings.HasPrefix(tag, "@") || strings.HasPrefix(tag, "#") }

// Linear tells whether the axis moves along a line.
func (a *Axis) Linear() bool { return a.Kind == "linear" }

// Units makes the sections of an axis speak of m, N and kg where it is linear, of rad, N·m and kg·m² where it turns.
func (a *Axis) Units() func(tag string) string {
	turned := rotaryTag
	if a.Linear() {
		turned = linearTag
	}
	return func(tag string) string {
		rates, ok := strings.CutPrefix(tag, referenceTag)
		if !ok {
			return turned(tag)
		}
		unit := "rad"
		switch a.Reference.Quantity {
		case axis.OfEffort:
			unit = "N·m"
		case axis.OfCommand:
			unit = a.Drive.Kind.Unit()
		}
		unit = turned(unit)
		if unit, _, _ = strings.Cut(unit, "|"); rates != "" {
			unit = schema.PerSecond(unit)
		}
		if rates == "/s²" {
			unit = schema.PerSecond(unit)
		}
		return unit
	}
}

// referenceTag is the unit of a reference: that of what it is the wanted value of.
const referenceTag = "reference"

// AllUnits are both; of a reference, those of a position.
func (*Axis) AllUnits(tag string) []string {
	if rest, ok := strings.CutPrefix(tag, referenceTag); ok {
		tag = "rad" + rest
	}
	return bothUnits(tag)
}

// bothUnits are the units of a tag on an axis that turns and on a linear one: one where they are the same.
func bothUnits(tag string) []string {
	rotary, _, _ := strings.Cut(rotaryTag(tag), "|")
	if linear := linearTag(tag); linear != rotary {
		return []string{rotary, linear}
	}
	return []string{rotary}
}

// Unit is that of a quantity on this axis: Unit("N·m") is N on a linear one.
func (a *Axis) Unit(unit string) string {
	unit, _, _ = strings.Cut(a.Units()(unit), "|")
	return unit
}
