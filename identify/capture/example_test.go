package capture_test

import (
	"fmt"

	"hilrig/identify/capture"
)

// A table of another program: a marker and a body, lengths in mm, an empty cell where the marker was hidden.
func Example() {
	text := `time,top.x [mm],top.y [mm],top.z [mm],ball.x [mm],ball.y [mm],ball.z [mm],ball.qw,ball.qx,ball.qy,ball.qz
0.000,100,0,70,100,0,35,1,0,0,0
0.005,,,,101,0,35,0.9999,0,0.0143,0
0.010,102,0,69.9,102,0,35,0.9996,0,0.0286,0
`
	c, err := capture.Decode("ball.csv", []byte(text), capture.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d frames at %.0f Hz\n", len(c.Time), c.Rate)
	for _, m := range c.Markers {
		fmt.Printf("marker %s: seen in %d, gaps %v, at first %v m\n", m.Name, capture.VisibleCount(m.Visible), capture.Gaps(m.Visible), m.Path[0])
	}
	for _, b := range c.Bodies {
		fmt.Printf("body %s: at last %.4f, turned %.4f\n", b.Name, b.Position[2], b.Rotation[2])
	}
	// Output:
	// 3 frames at 200 Hz
	// marker top: seen in 2, gaps [{1 2}], at first {0.1 0 0.07} m
	// body ball: at last {0.1020 0.0000 0.0350}, turned (0.9996+0.0000i+0.0286j+0.0000k)
}
