package device_test

import (
	"context"
	"fmt"
	"time"

	"hilrig/hil/device"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// A rig and a host on one pseudo-terminal: one sample goes out, one command comes back.
func Example() {
	measure := []wire.Field{{Name: "axis.position", Unit: "rad", Type: wire.I32, Scale: 0.001}}
	command := []wire.Field{{Name: "motor.voltage", Unit: "V", Type: wire.I16, Scale: 0.001}}

	// the far end: a board with its own clock, 40 ppm fast
	board, err := device.NewFirmware(device.FirmwareOptions{Baud: 921600, Pace: true, Recv: command, Send: measure, DriftPPM: 40})
	if err != nil {
		fmt.Println(err)
		return
	}
	board.Start(context.Background())
	defer board.Close()

	// the host's end: what the loop polls
	rig, err := device.NewRig(device.Options{Name: "demo", Port: board.Name(), Baud: 921600, Measure: measure, Command: command,
		Safe: []float64{0}, TxCPU: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := rig.Start(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	defer rig.Close()

	y := make([]float64, 2) // axis.position, age
	for board.Send([]float64{1.234}); rig.Poll(rt.Now(), y) == 0; time.Sleep(time.Millisecond) {
	}
	fmt.Printf("%.3f rad\n", y[0])

	u := make([]float64, 2) // motor.voltage, age
	for rig.Send([]float64{-3.3}); board.Poll(rt.Now(), u) == 0; time.Sleep(time.Millisecond) {
	}
	fmt.Printf("%.1f V\n", u[0])
	// Output:
	// 1.234 rad
	// -3.3 V
}
