package capture

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
)

// Whatever stands in a file, reading it ends, and what it gives holds the promises of the package.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{nexus, trc, motive, "time,ball.x,ball.y,ball.z,ball.qw,ball.qx,ball.qy,ball.qz\n0,1,2,3,0.5,-0.5,0.5,0.5\n0.01,1,2,3,1,0,0,0\n",
		"# made by hand\nframe;t [ms];a.x [mm];a.y [mm];a.z [mm];f\n1;0;1,5;2;3;4\n3;20;1;2;;5\n",
		"Objects\n250\n,,box:box\nFrame,Sub Frame,RX,RY,RZ,RW,TX,TY,TZ\n,,,,,,mm,mm,mm\n1,0,1,0,0,0,10,20,30\n"} {
		f.Add([]byte(text))
		f.Add([]byte(text[:len(text)*2/3]))
	}
	var own strings.Builder
	if err := WriteCSV(&own, rollingBall(3, 0, 1, 1)); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(own.String()))
	dec := rolling(3)
	dec.Processor, dec.Real = "dec", true
	sgi := rolling(3)
	sgi.Processor, sgi.Frames = "sgi", "trial"
	for _, data := range writeC3D(f, rolling(8), dec, sgi) {
		f.Add(data)
		f.Add(data[:len(data)-600])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		c, err := Decode("fuzz", data, Options{})
		if err != nil {
			if c != nil || !strings.HasPrefix(err.Error(), "fuzz") {
				t.Fatalf("%v with a capture", err)
			}
			return
		}
		holds(t, c)
		Check(c, Known{Radius: 0.035, Set: ballSet})
	})
}

// holds checks the promises of the package.
func holds(t *testing.T, c *Capture) {
	n := len(c.Time)
	if n == 0 || len(c.Frame) != n || !(c.Rate > 0) {
		t.Fatalf("%d frames, %d times, %g Hz", len(c.Frame), n, c.Rate)
	}
	for k := 1; k < n; k++ {
		if !(c.Time[k] > c.Time[k-1]) || c.Frame[k] <= c.Frame[k-1] {
			t.Fatalf("frame %d at %g s behind frame %d at %g s", c.Frame[k], c.Time[k], c.Frame[k-1], c.Time[k-1])
		}
	}
	for _, m := range c.Markers {
		if len(m.Path) != n || len(m.Visible) != n {
			t.Fatalf("%s: %d points, %d visible, %d frames", m.Name, len(m.Path), len(m.Visible), n)
		}
		for k, p := range m.Path {
			if s := p.X + p.Y + p.Z; m.Visible[k] != (s-s == 0) {
				t.Fatalf("%s: visible %v at %v", m.Name, m.Visible[k], p)
			}
		}
	}
	for _, b := range c.Bodies {
		if len(b.Rotation) != n || len(b.Visible) != n || b.Position != nil && len(b.Position) != n {
			t.Fatalf("%s: %d rotations, %d visible, %d frames", b.Name, len(b.Rotation), len(b.Visible), n)
		}
		for k, q := range b.Rotation {
			if b.Visible[k] != (math.Abs(quat.Abs(q)-1) < 1e-9) {
				t.Fatalf("%s: visible %v, turned %v", b.Name, b.Visible[k], q)
			}
		}
	}
	for _, a := range c.Analog {
		if !(a.Rate > 0) || math.IsNaN(a.Start) {
			t.Fatalf("%s: %g Hz from %g s", a.Name, a.Rate, a.Start)
		}
	}
}

// A header that claims much costs nothing: 4000 million frames, 65535 points, 255 names in seven dimensions.
func TestHugeClaimsAreCheap(t *testing.T) {
	s := rolling(2)
	s.Frames = "long"
	data := writeC3D(t, s)[0]
	for at := range data[:min(len(data), 1536)] { // every byte of header and parameters in turn at its largest
		old := data[at]
		data[at] = 0xff
		if c, err := Decode("claim", data, Options{}); err == nil {
			if n := len(c.Time) * (len(c.Markers) + 1); n > len(data) {
				t.Errorf("byte %d: %d points out of %d bytes", at, n, len(data))
			}
			holds(t, c)
		}
		data[at] = old
	}
}
