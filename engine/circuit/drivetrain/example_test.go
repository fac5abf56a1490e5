package drivetrain_test

import (
	"fmt"

	"hilrig/engine/circuit"
	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// A motor lifts a weight through a worm gear: 24 V, ratio 40, 60 % of the power arrives, the rest is in the audit.
func Example() {
	c, err := circuit.Build(circuit.Spec{Axes: 2, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: reference.Constant(24)},
		&circuit.DC{Name: "motor", FromNode: "+", ToNode: "0", Motor: plant.Motor{R: 0.8, L: 1e-3, K: 0.06}, Axis: 0},
	}})
	if err != nil {
		panic(err)
	}
	tr, err := drivetrain.New(
		drivetrain.Inertias{{Name: "rotor", J: 2e-4}, {Name: "drum", J: 0.05, Pull: 8}},
		[]drivetrain.Part{c, &drivetrain.Bearing{Label: "bearing", Twist: drivetrain.Twist{A: 0, B: drivetrain.Ground},
			Law: &friction.Viscous{Fv: 1e-4, Delta: 1}}},
		[]drivetrain.Row{&drivetrain.Gear{Label: "worm", Twist: drivetrain.Twist{A: 0, B: 1, Ratio: 40},
			Mesh: &drivetrain.Mesh{Efficiency: 0.6, BackEfficiency: 0, Speed: 1}}})
	if err != nil {
		panic(err)
	}
	x := tr.NewState()
	audit, err := tr.Integrate(x, 0, 3, drivetrain.Offline{}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("the drum turns at %.3f rad/s, the motor draws %.3f A\n", x[3], x[4])
	for _, e := range append(audit.Lines, audit.Total()) {
		fmt.Printf("%-10s in %7.2f  loss %6.2f  work %7.2f  stored %6.2f J\n", e.Name, e.Input, e.Loss, e.Output, e.StoredChange)
	}
	fmt.Println(audit.Check(1e-8))
	// Output:
	// the drum turns at 7.971 rad/s, the motor draws 6.087 A
	// circuit    in  469.66  loss 114.18  work  355.47  stored   0.02 J
	// bearing    in    0.00  loss  29.67  work  -29.67  stored   0.00 J
	// worm       in    0.00  loss 126.26  work -126.26  stored   0.00 J
	// mechanics  in    0.00  loss   0.00  work -199.55  stored 199.55 J
	// total      in  469.66  loss 270.10  work    0.00  stored 199.57 J
	// <nil>
}
