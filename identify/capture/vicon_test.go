package capture

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// nexus is laid out as Vicon Nexus exports it: sections with title, rate, names, axes and units, empty cells where nothing was seen.
const nexus = `Trajectories
100
,,Ball:top,,,Ball:side,,
Frame,Sub Frame,X,Y,Z,X,Y,Z
,,mm,mm,mm,mm,mm,mm
11,0,1,2,3,4000,-5,6.5
12,0,1.5,2,3,,,
13,0,2,2,3,0,0,0

Segments
100
,,Ball:Ball,,,,,
Frame,Sub Frame,RX,RY,RZ,TX,TY,TZ
,,deg,deg,deg,mm,mm,mm
11,0,0,0,90,1000,0,0
12,0,60,0,0,,,
13,0,0,0,0,0,0,0

Devices
200
,,Plate - Force,,,Switch
Frame,Sub Frame,Fx,Fy,Fz,Pin
,,N,N,N,V
11,0,0.1,0,-9.81,5
11,1,0.2,0,-9.82,5
12,0,0.3,0,-9.83,0
12,1,0.4,0,-9.84,0

Events
100
Subject,Context,Name,Time (s),Description
Ball,General,Release,0.02,The ball is let go

Model Outputs
100
,,Ball:Angle,,
Frame,Sub Frame,X,Y,Z
,,deg,deg,deg
11,0,1,2,3
12,0,4,5,6
13,0,7,8,9
`

func TestViconSections(t *testing.T) {
	c := decode(t, []byte(nexus))
	if c.Format != Vicon || c.Rate != 100 || c.Unit != "mm" || len(c.Time) != 3 || c.Frame[0] != 11 || c.Time[0] != 0 ||
		math.Abs(c.Time[2]-0.02) > 1e-15 {
		t.Fatalf("%s, %g Hz, %s, frames %v at %v", c.Format, c.Rate, c.Unit, c.Frame, c.Time)
	}
	side := c.Markers[1]
	if c.Markers[0].Name != "Ball:top" || r3.Norm(r3.Sub(side.Path[0], r3.Vec{X: 4, Y: -0.005, Z: 0.0065})) > 1e-15 {
		t.Errorf("%s, side at %v", c.Markers[0].Name, side.Path[0])
	}
	// an empty cell and three zeros are both a gap
	if side.Visible[1] || side.Visible[2] || !math.IsNaN(side.Path[2].X) || !said(c, "zeros") || !c.Markers[0].Visible[1] {
		t.Errorf("side is visible in %v: %v", side.Visible, c.Findings)
	}
	b := c.Bodies[0]
	half := math.Sqrt(0.5) // a quarter turn about z
	if b.Name != "Ball:Ball" || quat.Abs(quat.Sub(b.Rotation[0], quat.Number{Real: half, Kmag: half})) > 1e-15 ||
		b.Position[0] != (r3.Vec{X: 1}) {
		t.Errorf("body %+v", b)
	}
	if b.Visible[1] || b.Visible[2] || !math.IsNaN(b.Rotation[1].Real) || !said(c, "rotation-vector") {
		t.Errorf("body is visible in %v", b.Visible)
	}
	names := []string{}
	for _, a := range c.Analog {
		names = append(names, a.Name+" "+a.Unit)
	}
	if got := strings.Join(names, ", "); got != "Plate - Force.Fx N, Plate - Force.Fy N, Plate - Force.Fz N, Switch.Pin V, Ball:Angle.X "+
		"deg, Ball:Angle.Y deg, Ball:Angle.Z deg" {
		t.Error(got)
	}
	if fz := c.Analog[2]; fz.Rate != 200 || len(fz.Samples) != 4 || fz.Samples[3] != -9.84 || fz.Start != 0 {
		t.Errorf("%+v", fz)
	}
	if angle := c.Analog[4]; angle.Rate != 100 || angle.Samples[2] != 7 {
		t.Errorf("%+v", angle)
	}
	if len(c.Events) != 1 || c.Events[0] != (Event{"General Release", 0.02}) {
		t.Errorf("%v", c.Events)
	}
}

// Vicon Tracker writes quaternions as RX RY RZ RW; half a turn about x here.
func TestViconTracker(t *testing.T) {
	c := decode(t, []byte("Objects\n250\n,,box:box\nFrame,Sub "+
		"Frame,RX,RY,RZ,RW,TX,TY,TZ\n,,,,,,mm,mm,mm\n1,0,1,0,0,0,10,20,30\n2,0,0,0,0,0,0,0,0\n"))
	b := c.Bodies[0]
	if c.Rate != 250 || b.Rotation[0] != (quat.Number{Imag: 1}) || b.Position[0] != (r3.Vec{X: 0.01, Y: 0.02, Z: 0.03}) || b.Visible[1] {
		t.Errorf("%+v", b)
	}
}

// A rotation about (1, 2, 2)/3 by 1.2 rad, worked out by Rodrigues' formula on the unit vector x.
func TestRotationVector(t *testing.T) {
	q := rotationVector(1)([3]float64{0.4, 0.8, 0.8})
	k := r3.Vec{X: 1.0 / 3, Y: 2.0 / 3, Z: 2.0 / 3}
	x := r3.Vec{X: 1}
	want := r3.Add(r3.Add(r3.Scale(math.Cos(1.2), x), r3.Scale(math.Sin(1.2), r3.Cross(k, x))), r3.Scale(r3.Dot(k, x)*(1-math.Cos(1.2)), k))
	if got := r3.Rotation(q).Rotate(x); r3.Norm(r3.Sub(got, want)) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
	if q := rotationVector(1)([3]float64{1e-300, 0, 0}); q.Real != 1 || q.Imag > 1e-300 {
		t.Errorf("a rotation by nothing: %v", q)
	}
}

// XYZ: about x, then about the turned y, then about the z that was turned by both: R = Rx·Ry·Rz.
func TestEulerAngles(t *testing.T) {
	turn, ok := eulerAngles("XYZ", math.Pi/180)
	if !ok {
		t.Fatal("XYZ is not known")
	}
	q := r3.Rotation(turn([3]float64{90, 0, 90}))
	if got := q.Rotate(r3.Vec{X: 1}); r3.Norm(r3.Sub(got, r3.Vec{Z: 1})) > 1e-15 { // Rz takes x to y, Rx takes that to z
		t.Errorf("%v", got)
	}
	for _, bad := range []string{"XXY", "XY", "XYX", "", "ABC", "XYZW"} {
		if _, ok := eulerAngles(bad, 1); ok {
			t.Errorf("%q is taken for an order of axes", bad)
		}
	}
}

func TestViconBadFiles(t *testing.T) {
	line := func(old, new string) string {
		if !strings.Contains(nexus, old) {
			t.Fatalf("no %q to change", old)
		}
		return strings.Replace(nexus, old, new, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"cut in a line":      {nexus[:strings.Index(nexus, "13,0,2")] + "13,0,2,2", "test:8: 4 cells, the header has 8 columns"},
		"cut in a header":    {"Trajectories\n100\n,,a\n", "test:3: the file ends in the header of the Trajectories"},
		"no rate":            {line("Trajectories\n100", "Trajectories\nHz"), `test:2: want the rate of the Trajectories in Hz, found "Hz"`},
		"no number":          {line("12,0,1.5,2", "12,0,1.5,two"), `test:7: "two" in column 4 is not a usable number`},
		"two of one frame":   {line("12,0,1.5", "11,0,1.5"), "test:7: the frame of the line before once more, with other numbers for Ball:top"},
		"back in time":       {line("13,0,2,2", "3,0,2,2"), "test:8: frame 3 follows frame 12"},
		"no frame":           {line("12,0,1.5", ",0,1.5"), "test:7: the number of the frame is missing"},
		"half a frame":       {line("12,0,1.5", "12.5,0,1.5"), "test:7: the number of the frame is missing or no whole number"},
		"unit of an angle":   {line(",,deg,deg,deg,mm", ",,turns,turns,turns,mm"), `the rotation of Ball:Ball is in "turns"`},
		"mixed units":        {line(",,mm,mm,mm", ",,mm,m,m"), "the axes of Ball:top are in different units"},
		"other section":      {line("\nSegments\n", "\nBones\n"), `"Bones"`},
		"nothing in it":      {"Trajectories\n100\n,,a,,\nFrame,Sub Frame,X,Y,Z\n,,mm,mm,mm\n", "no frame in it"},
		"event without time": {line("0.02,The", "soon,The"), `"soon" is no time of an event`},
	} {
		if _, err := Decode("test", []byte(c.text), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A line that repeats a frame with the same numbers is left out and counted; frames that are missing are counted.
func TestViconRepeatedAndMissingFrames(t *testing.T) {
	text := strings.Replace(nexus, "12,0,1.5,2,3,,,\n", "12,0,1.5,2,3,,,\n12,0,1.5,2,3,,,\n", 1)
	text = strings.Replace(text, "13,0,2,2,3,0,0,0", "17,0,2,2,3,7,8,9", 1)
	c := decode(t, []byte(text))
	if len(c.Time) != 3 || c.Frame[2] != 17 || math.Abs(c.Time[2]-0.06) > 1e-15 || !said(c, "repeated-frame") || !said(c, "frames-differ") {
		t.Errorf("frames %v at %v, %v", c.Frame, c.Time, c.Findings)
	}
	for _, f := range Check(c, Known{}) {
		if f.Kind == "time-gap" && f.Value == 4 {
			return
		}
	}
	t.Error("four missing frames are not told")
}

// A section with one signal that has no name has no line of names either.
func TestViconNamelessSection(t *testing.T) {
	trajectories, _, _ := strings.Cut(nexus, "\n\nSegments")
	c := decode(t, []byte(trajectories+"\n\nDevices\n100\nFrame,Sub Frame,Pin\n,,V\n11,0,5\n12,0,4\n13,0,3\n"))
	if len(c.Analog) != 1 || c.Analog[0].Unit != "V" || len(c.Analog[0].Samples) != 3 || c.Analog[0].Samples[2] != 3 {
		t.Errorf("%+v", c.Analog)
	}
}
