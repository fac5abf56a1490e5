package engine

import (
	"slices"
	"strings"
	"unicode"
)

// The formulas of an axis are the same whether it turns or moves along a line; only units differ: rad, N·m and kg·m² stand for m, N and
// kg. linearRotary pairs the units of a linear and a rotary axis. The radian is written out, and an angle is no pure number.
var linearRotary = [...][2]string{
	{"m", "rad"}, {"m/s", "rad/s"}, {"m/s²", "rad/s²"}, {"m/s³", "rad/s³"}, {"m/(s²·√s)", "rad/(s²·√s)"}, {"s/m", "s/rad"},
	{"1/m", "1/rad"},
	{"m^-n", "rad^-n"},
	{"N", "N·m"}, {"N/s", "N·m/s"}, {"N·s", "N·m·s"}, {"N/√s", "N·m/√s"},
	{"N/m", "N·m/rad"}, {"N/(m·s)", "N·m/(rad·s)"}, {"N·s/m", "N·m·s/rad"}, {"m/N", "rad/(N·m)"},
	{"kg", "kg·m²"}, {"N·s²/m", "N·m·s²/rad"},
	{"N/A", "N·m/A"}, {"A/N", "A/(N·m)"}, {"V·s/m", "V·s/rad"},
}

// contactUnits are those of the contact itself, whose metres are metres on every axis: its area and what is referred to it.
var contactUnits = []string{"m²", "A/m²", "m²/A", "m⁴/A²"}

// RotaryUnit is the unit on an axis that turns of what has the given unit on a linear one: N becomes N·m. Units without mass, length,
// force and angle stay, and so do those of a rotary axis. It panics where no partner is known.
func RotaryUnit(unit string) string { return partner(unit, 1) }

// LinearUnit is the unit on a linear axis of what has the given unit on one that turns: N·m becomes N. It is the inverse of RotaryUnit.
func LinearUnit(unit string) string { return partner(unit, 0) }

// UnitOn is what has the given unit on a linear axis in its unit on an axis that turns, if rotary, else in the same.
func UnitOn(rotary bool, linear string) string {
	if rotary {
		return RotaryUnit(linear)
	}
	return linear
}

// partner is the unit of the column to, in whichever column the given one stands.
func partner(unit string, to int) string {
	for i := range linearRotary {
		if pair := &linearRotary[i]; unit == pair[0] || unit == pair[1] {
			return pair[to]
		}
	}
	if !slices.Contains(contactUnits, unit) {
		for _, name := range strings.FieldsFunc(unit, func(c rune) bool { return !unicode.IsLetter(c) }) {
			if slices.Contains([]string{"m", "N", "kg", "rad"}, name) {
				panic("engine: unit " + unit + " has no partner for the other kind of axis")
			}
		}
	}
	return unit
}
