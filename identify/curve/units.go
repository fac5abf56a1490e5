package curve

import (
	"strings"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
)

// rotary says whether units are those of an axis that turns.
type rotary bool

// unit gives a unit of an axis that slides as it is on this one.
func (r rotary) unit(linear string) string {
	if r {
		return friction.RotaryUnit(linear)
	}
	return linear
}

// quantity gives what is explained its name on this axis.
func (r rotary) quantity(linear string) string {
	if r {
		return strings.Replace(linear, "force", "torque", 1)
	}
	return linear
}

// Rotary gives parameters, which come with the units of an axis that slides, those of one that turns.
func Rotary(params []fit.Param) []fit.Param {
	for i := range params {
		params[i].Unit = friction.RotaryUnit(params[i].Unit)
	}
	return params
}
