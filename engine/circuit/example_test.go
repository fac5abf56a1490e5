package circuit_test

import (
	"fmt"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
)

// A motor that turns at 100 rad/s on 12 V: what it draws, and the torque, by the equations of one instant.
func Example() {
	c, err := circuit.Build(circuit.Spec{Axes: 1, Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "supply", FromNode: "+", ToNode: "0", U: reference.Constant(12)},
		&circuit.Resistor{Name: "cable", FromNode: "+", ToNode: "m", R: 0.2},
		&circuit.DC{Name: "motor", FromNode: "m", ToNode: "0", Motor: plant.Motor{R: 1, L: 2e-3, K: 0.05}, Axis: 0, I0: 5},
	}})
	if err != nil {
		panic(err)
	}
	q, v, tau := []float64{0}, []float64{100}, []float64{0}
	x, dx := make([]float64, len(c.States())), make([]float64, len(c.States()))
	c.Reset(x)
	p, st := c.Flow(0, q, v, x, dx, tau)
	u, _ := c.Potential("m")
	fmt.Printf("%s = %g A, rises by %.0f A/s (%v)\n", c.States()[0].Name, x[0], dx[0], st)
	fmt.Printf("torque %.2f N·m, motor at %.1f V\n", tau[0], u)
	fmt.Printf("in %.0f W = loss %.0f W + shaft %.0f W + field %.0f W\n", p.Input, p.Loss, p.Output, p.Input-p.Loss-p.Output)

	// the same motor in a fixed step ten times its time constant long: where the current settles, 12 V = 1.2 Ω·i + 5 V
	st = engine.OK
	for k := range 5 {
		_, st = c.Trial(float64(k)*0.02, 0.02, q, v, v, x, x, tau, make([]float64, 1))
	}
	fmt.Printf("settled at %.4f A (%v)\n", x[0], st)
	// Output:
	// motor.current = 5 A, rises by 500 A/s (ok)
	// torque 0.25 N·m, motor at 11.0 V
	// in 60 W = loss 30 W + shaft 25 W + field 5 W
	// settled at 5.8333 A (ok)
}

// A loop of two sources has no single current. The error says who is in it and what to do.
func ExampleBuild() {
	_, err := circuit.Build(circuit.Spec{Elements: []circuit.Element{
		&circuit.VoltageSource{Name: "battery", FromNode: "+", ToNode: "0", U: reference.Constant(12)},
		&circuit.VoltageSource{Name: "charger", FromNode: "+", ToNode: "0", U: reference.Constant(14)},
	}})
	fmt.Println(err)
	// Output:
	// loop of voltage sources and capacitors: battery, charger: their voltages contradict each other by 2 V; leave one out or put a resistor in series
}
