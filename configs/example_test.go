package configs_test

import (
	"fmt"

	"hilrig/configs"
	"hilrig/engine/plant"
)

// A misspelt key and a unit of the wrong kind are both found in one go.
func Example() {
	var rig struct {
		Loop  configs.Loop `yaml:"loop"`
		Motor plant.Motor  `yaml:"motor"`
	}
	err := configs.Decode("rig.yaml", []byte("loop: {rate: 2 kHz}\nmotor:\n  R: 0.8 Ω\n  K: 31 mV\n  intertia: 5 g·cm²\n"), &rig)
	fmt.Println(rig.Loop.Rate, rig.Motor.R)
	fmt.Println(err)
	// Output:
	// 2000 0.8
	// 2 problems in rig.yaml
	// rig.yaml:4:6: motor.K: 31 mV is in V (voltage), want N·m/A (torque constant)
	//   3 |   R: 0.8 Ω
	// > 4 |   K: 31 mV
	//            ^
	// rig.yaml:5:3: unknown key "intertia" under motor (known here: R, L, K, brush_drop, drop_current, J)
	//   4 |   K: 31 mV
	// > 5 |   intertia: 5 g·cm²
	//         ^
}

func ExampleConfig_Budget() {
	demo := configs.Demo()
	fmt.Print(demo.Budget(&demo.Devices[0]))
	// Output:
	// device → host  22 bytes per frame (11 of them data), 1000 frames/s, 23.9 % of the line (92.2 bytes would fit)
	// host → device  14 bytes per frame (3 of them data), 1000 frames/s, 15.2 % of the line (92.2 bytes would fit)
	// age            a sample is at most 1.24 ms old when the tick reads it: 0.239 ms on the line, up to 1 ms between frames
}
