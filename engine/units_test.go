package engine

import "testing"

// Written out by hand: a torque is a force times its arm, an angle takes the place of a displacement.
func TestUnitsOfTheOtherKindOfAxis(t *testing.T) {
	for linear, rotary := range map[string]string{
		"m": "rad", "m/s": "rad/s", "m/s²": "rad/s²", "N": "N·m", "N/s": "N·m/s", "N·s": "N·m·s", "kg": "kg·m²", "N/√s": "N·m/√s",
		"N/m": "N·m/rad", "N·s/m": "N·m·s/rad", "N/(m·s)": "N·m/(rad·s)", "s/m": "s/rad", "N/A": "N·m/A", "A/N": "A/(N·m)",
		"V·s/m": "V·s/rad",
		"m^-n":  "rad^-n",
	} {
		if got := RotaryUnit(linear); got != rotary {
			t.Errorf("%s on a rotary axis: %s, want %s", linear, got, rotary)
		}
		if got := LinearUnit(rotary); got != linear {
			t.Errorf("%s on a linear axis: %s, want %s", rotary, got, linear)
		}
		if RotaryUnit(rotary) != rotary || LinearUnit(linear) != linear {
			t.Errorf("%s and %s do not stay on their own kind of axis", linear, rotary)
		}
	}
	// what is the same on both
	for _, unit := range []string{"", "s", "Hz", "1/s", "A", "A/s", "V", "ohm", "H", "K/W", "J/K", "1/K²", "degC", "m²", "m²/A", "%"} {
		if RotaryUnit(unit) != unit || LinearUnit(unit) != unit {
			t.Errorf("%s: %s and %s", unit, RotaryUnit(unit), LinearUnit(unit))
		}
	}
	// a unit of a motion that nobody thought of is no unit of the other kind by accident
	for _, unit := range []string{"N²", "m³", "kg/s", "rad·s", "N/m³"} {
		for _, turn := range []func(string) string{RotaryUnit, LinearUnit} {
			func() {
				defer func() { recover() }()
				t.Errorf("%s has a partner: %s", unit, turn(unit))
			}()
		}
	}
}
