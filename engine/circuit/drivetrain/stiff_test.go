package drivetrain

import (
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// An armature that settles in a nanosecond is too stiff offline: the error names it. In fixed steps it is no trouble, and the same
// machine as one without inductance.
func TestStiffArmature(t *testing.T) {
	machine := func(l float64) *Train {
		c, err := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{
			&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: reference.Constant(12)},
			&circuit.DC{Name: "tiny", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 1, L: l, K: 0.05}}}})
		if err != nil {
			t.Fatal(err)
		}
		return train(t, Inertias{{Name: "rotor", J: 1e-4}}, []Part{c}, nil)
	}
	tr := machine(1e-9)
	x := tr.NewState()
	if _, err := tr.Integrate(x, 0, 1, Offline{MaxSteps: 2000}, nil); err == nil || !errors.Is(err, engine.ErrSteps) ||
		!strings.Contains(err.Error(), "the winding tiny settles in L/R = 1e-09 s") {
		t.Error(err)
	}
	// w = U/K·(1 − e^{−t·K²/(R·J)})
	want := 12 / 0.05 * -math.Expm1(-0.05*0.05/1e-4*0.05)
	for _, l := range []float64{1e-9, 0} {
		tr := machine(l)
		x := tr.NewState()
		if _, st := tr.Run(x, 0, 1e-3, 50, nil); st != engine.OK {
			t.Fatal(st)
		}
		near(t, "speed", x[1], want, 2e-4*want)
	}
	if _, err := machine(0).Integrate(machine(0).NewState(), 0, 1, Offline{}, nil); err != nil {
		t.Error(err)
	}
}
