package capture

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"
)

// trc is laid out as Cortex writes it, with a time that is rounded to 1 ms, a marker that is hidden, and one that has no name.
const trc = "PathFileType\t4\t(X/Y/Z)\tball.trc\n" +
	"DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n" +
	"60.0\t60.0\t4\t3\tmm\t60.0\t1\t678\n" +
	"Frame#\tTime\tTop\t\t\t\t\t\tFront\t\t\n" +
	"\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3\n\n" +
	"1\t0.000\t-2894.17090\t1663.10840\t-3255.51221\t1\t2\t3\t4\t5\t6\n" +
	"2\t0.017\t-2894.22632\t1663.09448\t-3255.73730\t\t\t\t4\t5\t6\n" +
	"3\t0.033\t-2894.30054\t1663.05310\t-3255.97241\tNaN\tNaN\tNaN\t4\t5\t6\n" +
	"4\t0.050\t-2894.37915\t1662.97754\t-3256.23560\t1\t2\t\t0\t0\t0\n"

func TestTRC(t *testing.T) {
	c := decode(t, []byte(trc))
	if c.Format != TRC || c.Rate != 60 || c.Unit != "mm" || len(c.Time) != 4 || math.Abs(c.Time[1]-1.0/60) > 1e-15 {
		t.Fatalf("%s, %g Hz, %s, at %v", c.Format, c.Rate, c.Unit, c.Time)
	}
	if m := c.Markers; m[0].Name != "Top" || m[1].Name != "marker 2" || m[2].Name != "Front" ||
		r3.Norm(r3.Sub(m[0].Path[3], r3.Vec{X: -2.89437915, Y: 1.66297754, Z: -3.25623560})) > 1e-14 {
		t.Errorf("%s %s %s at %v", m[0].Name, m[1].Name, m[2].Name, m[0].Path[3])
	}
	if v := c.Markers[1].Visible; !v[0] || v[1] || v[2] || v[3] || c.Markers[2].Visible[3] || !said(c, "partial") || !said(c, "zeros") {
		t.Errorf("%v %v", v, c.Findings)
	}
	if g := Gaps(c.Markers[1].Visible); len(g) != 1 || g[0] != (Gap{1, 4}) {
		t.Errorf("gaps %v", g)
	}
	// metres, and times that are not those of the rate
	uneven := strings.NewReplacer("\tmm\t", "\tm\t", "4\t0.050", "4\t0.150").Replace(trc)
	c = decode(t, []byte(uneven))
	if c.Markers[0].Path[0].X != -2894.17090 || c.Time[3] != 0.15 || !said(c, "uneven") {
		t.Errorf("%v, at %v, %v", c.Markers[0].Path[0], c.Time, c.Findings)
	}
	if c, err := Decode("asked", []byte(uneven), Options{Rate: 60}); err != nil || math.Abs(c.Time[3]-0.05) > 1e-15 {
		t.Errorf("%v %v", c.Time, err)
	}
}

// Blanks in place of tabs, in all lines or in those of numbers alone; markers that have numbers and no name.
func TestTRCOfCarelessWriters(t *testing.T) {
	full := strings.NewReplacer("\tNaN\tNaN\tNaN", "\t1\t2\t3", "\t\t\t\t4", "\t7\t8\t9\t4", "\t1\t2\t\t0\t0\t0", "\t1\t2\t3\t4\t5\t6",
		"Top\t\t\t\t\t\tFront", "Top\t\t\tSide\t\t\tFront").Replace(trc)
	lines := strings.SplitAfter(full, "\n")
	blanks := strings.ReplaceAll(full, "\t", "  ")
	numbers := strings.Join(lines[:6], "") + strings.ReplaceAll(strings.Join(lines[6:], ""), "\t", " ")
	for name, text := range map[string]string{"tabs": full, "blanks": blanks, "numbers by blanks": numbers} {
		c := decode(t, []byte(text))
		if len(c.Markers) != 3 || len(c.Time) != 4 || c.Markers[1].Name != "Side" ||
			r3.Norm(r3.Sub(c.Markers[1].Path[1], r3.Vec{X: 7e-3, Y: 8e-3, Z: 9e-3})) > 1e-12 || c.Rate != 60 {
			t.Errorf("%s: %+v", name, c.Markers)
		}
	}
	for declared, named := range map[string]string{"3": "Top\t\t\tSide", "2": "Top\t\t\tSide", "1": "Top"} {
		text := strings.NewReplacer("4\t3\tmm", "4\t"+declared+"\tmm", "Top\t\t\tSide\t\t\tFront", named).Replace(full)
		c := decode(t, []byte(text))
		if len(c.Markers) != 3 || c.Markers[2].Name != "marker 3" || c.Markers[2].Path[0].Z != 6e-3 || !said(c, "marker-count") {
			t.Errorf("%s declared: %+v %+v", declared, c.Markers, c.Findings)
		}
	}
}

// A marker without a name that is hidden in the first frame is not left out: its columns are there, or the file is refused.
func TestTRCHiddenWithoutAName(t *testing.T) {
	one := strings.NewReplacer("\t1\t2\t3\t4\t5\t6\n2", "\t1\t2\t3\n2", "Top\t\t\t\t\t\tFront", "Top").Replace(trc)
	short := strings.Replace(one, "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3", "\t\tX1\tY1\tZ1\tX2", 1)
	blanks := strings.NewReplacer("\t\t\t\t4", " 4", "\t", " ").Replace(one)
	for name, text := range map[string]string{"axes": one, "longer lines": short, "blanks": blanks} {
		if c, err := Decode("test", []byte(text), Options{}); err == nil || !strings.Contains(err.Error(), "cells, the header has") {
			t.Errorf("%s: %v %+v", name, err, c)
		}
	}
}

func TestTRCBadFiles(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"cut":         {"1\t2\t\t0\t0\t0\n", "1\t2", "test:10: 7 cells, the header has 11 columns"},
		"two markers": {"4\t3\tmm", "4\t2\tmm", ""}, // the numbers decide, for the names
		"four markers": {"Front\t\t\n", "Front\t\t\tBack\t\t\n", "test:4: NumMarkers says 3, 4 markers are named, and the first frame has 9 " +
			"numbers"},
		"no axes":      {"\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3\n", "", `want a line with X1, Y1, Z1 …, found "1"`},
		"no names":     {"Frame#\tTime", "Nr\tTime", "want the line with Frame#"},
		"unit":         {"\tmm\t", "\tparsec\t", `lengths are in "parsec"`},
		"text":         {"4\t5\t6\n2", "4\tfive\t6\n2", `test:7: "five" in column 10 is not a usable number`},
		"huge":         {"4\t5\t6\n2", "4\t1e200\t6\n2", `"1e200" in column 10 is not a usable number`},
		"time missing": {"2\t0.017", "2\t", "test:8: the time is missing"},
	} {
		text := strings.Replace(trc, c.old, c.new, 1)
		if text == trc {
			t.Fatalf("%s: nothing changed", name)
		}
		got, err := Decode("test", []byte(text), Options{})
		if c.want == "" && err == nil && said(got, "marker-count") {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	short := strings.Replace(trc, "60.0\t60.0\t4\t", "60.0\t60.0\t9\t", 1)
	if c := decode(t, []byte(short)); !said(c, "frame-count") {
		t.Error("five frames less than the header says are not told")
	}
}

// motive is laid out as OptiTrack Motive exports it: blank lines, type, name, ID, kind, axes.
const motive = `Format Version,1.23,Take Name,roll 1,Take Notes,,Capture Frame Rate,240.000000,Export Frame Rate,240.000000,Rotation Type,Quaternion,Length Units,Meters,Coordinate Space,Global

,Type,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body,Rigid Body Marker,Rigid Body Marker,Rigid Body Marker,Marker,Marker,Marker
,Name,ball,ball,ball,ball,ball,ball,ball,ball,ball:1,ball:1,ball:1,ball:1,ball:1,ball:1
,ID,1,1,1,1,1,1,1,1,2,2,2,3,3,3
,,Rotation,Rotation,Rotation,Rotation,Position,Position,Position,Mean Marker Error,Position,Position,Position,Position,Position,Position
Frame,Time (Seconds),X,Y,Z,W,X,Y,Z,,X,Y,Z,X,Y,Z
0,0.000000,0,0,0.6,0.8,0.1,0.2,0.3,0.0001,1,2,3,1.1,2,3
1,0.004167,,,,,,,,,1,2,3,,,
2,0.008333,0.5,0.5,0.5,0.5,0.1,0.2,0.3,0.0001,1,2,3,1.2,2,3
`

// Formats that are not read are named, with what to do.
func TestFormatsThatAreNotRead(t *testing.T) {
	for text, want := range map[string]string{
		"NO_OF_FRAMES\t3\nNO_OF_CAMERAS\t8\nMARKER_NAMES\ta\n1\t2\t3\n":                            "Qualisys",
		"walk\nversion=1\nnRows=2\nnColumns=2\ninDegrees=yes\nendheader\ntime\tknee\n0\t1\n1\t2\n": "OpenSim",
		"\ufeffNO_OF_FRAMES\t3\n":              "Qualisys",
		"\xff\xfet\x00,\x00":                   "UTF-16",
		"\xfe\xff\x00t\x00,":                   "UTF-16",
		"t\x00,\x00x\x00\n\x001\x00,\x002\x00": "UTF-16",
		"\x00t\x00,\x00x\x00\n\x001\x00,\x002": "UTF-16",
	} {
		if _, err := Decode("test", []byte(text), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

// Columns of one name are things of their own, by their ID or because their axes come again.
func TestMotiveOfOneName(t *testing.T) {
	for name, id := range map[string]string{"IDs": ",ID,7,7,7,8,8,8,9,9,9\n", "one ID": ",ID,7,7,7,7,7,7,7,7,7\n", "no ID": ""} {
		c := decode(t, []byte("Format Version,1.23,Take Name,roll 1,Capture Frame Rate,240,Export Frame Rate,240,Rotation "+
			"Type,Quaternion,Length Units,Meters,Coordinate Space,Global\n\n"+
			",Type,Marker,Marker,Marker,Marker,Marker,Marker,Marker,Marker,Marker\n,Name,m,m,m,m,m,m,n,n,n\n"+id+
			",,Position,Position,Position,Position,Position,Position,Position,Position,Position\nFrame,Time (Seconds),X,Y,Z,X,Y,Z,X,Y,Z\n"+
			"0,0,1,2,3,4,5,6,7,8,9\n1,0.004167,1,2,3,4,5,6,7,8,9\n"))
		if len(c.Markers) != 3 || c.Markers[1].Path[0] != (r3.Vec{X: 4, Y: 5, Z: 6}) || c.Markers[0].Name == c.Markers[1].Name ||
			c.Markers[2].Name != "n" || !said(c, "same-name") {
			t.Errorf("%s: %+v %+v", name, c.Markers, c.Findings)
		}
	}
}

func TestMotive(t *testing.T) {
	c := decode(t, []byte(motive))
	if c.Format != Motive || c.Rate != 240 || c.Unit != "m" || math.Abs(c.Time[2]-2.0/240) > 1e-15 {
		t.Fatalf("%s %g %s %v", c.Format, c.Rate, c.Unit, c.Time)
	}
	b := c.Bodies[0]
	if b.Name != "ball" || b.Rotation[0] != (quat.Number{Real: 0.8, Kmag: 0.6}) || b.Visible[1] ||
		b.Rotation[2] != (quat.Number{Real: 0.5, Imag: 0.5, Jmag: 0.5, Kmag: 0.5}) || b.Position[2].Z != 0.3 {
		t.Errorf("%+v", b)
	}
	if m := c.Markers; len(m) != 2 || m[0].Name != "ball:1 (solved)" || m[1].Name != "ball:1" || m[1].Visible[1] || !m[0].Visible[1] ||
		m[1].Path[2].X != 1.2 {
		t.Errorf("%+v", c.Markers)
	}
	if !said(c, "left-out") {
		t.Error("the column of errors is left out without a word")
	}
	euler := strings.NewReplacer("Quaternion", "XYZ", "0,0.000000,0,0,0.6,0.8", "0,0.000000,90,0,0,", "Z,W,X,Y,Z,,X", "Z,,X,Y,Z,,X",
		"2,0.008333,0.5,0.5,0.5,0.5", "2,0.008333,0,0,0,").Replace(motive)
	c = decode(t, []byte(euler))
	if q := c.Bodies[0].Rotation[0]; quat.Abs(quat.Sub(q, quat.Number{Real: math.Sqrt(0.5), Imag: math.Sqrt(0.5)})) > 1e-15 ||
		!said(c, "euler") {
		t.Errorf("%v", q)
	}
	for name, x := range map[string]struct{ old, new, want string }{
		"unit": {"Meters", "Cubits", `lengths are in "Cubits"`},
		"no rotation": {"Rotation,Rotation,Rotation,Rotation,Position", "Bearing,Bearing,Bearing,Bearing,Position",
			"Rigid Body ball has a position and no rotation"},
		"not turned":  {"0,0.000000,0,0,0.6,0.8", "0,0.000000,0,0,6,8", "1 of 1 quaternions are not of length one"},
		"in its head": {motive[strings.Index(motive, "Frame,Time"):], "", "the file ends in its header"},
	} {
		if _, err := Decode("test", []byte(strings.Replace(motive, x.old, x.new, 1)), Options{}); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

// Tables of other programs: their names of columns, their order of the quaternion, units, separators and decimal signs.
func TestTables(t *testing.T) {
	turned := quat.Number{Real: 0.5, Imag: -0.5, Jmag: 0.5, Kmag: 0.5}
	for name, text := range map[string]string{
		"dots": "time,ball.x,ball.y,ball.z,ball.qw,ball.qx,ball.qy,ball.qz\n0,1,2,3,0.5,-0.5,0.5,0.5\n0.01,1,2,3,1,0,0,0\n",
		"xyzw, mm": "t [s];ball_x [mm];ball_y [mm];ball_z " +
			"[mm];ball_qx;ball_qy;ball_qz;ball_qw\n0;1000;2000;3000;-0,5;0,5;0,5;0,5\n0,01;1000;2000;3000;0;0;0;1\n",
		"words": "timestamp_ms\tball position x\tball position y\tball position z\tball orientation w\tball orientation x\tball " +
			"orientation y\tball orientation z\n0\t1\t2\t3\t0.5\t-0.5\t0.5\t0.5\n10\t1\t2\t3\t1\t0\t0\t0\n",
		"row of units": "time,ball.px,ball.py,ball.pz,ball.q0,ball.q1,ball.q2,ball.q3\n# " +
			"s,cm,cm,cm,1,1,1,1\n0,100,200,300,0.5,-0.5,0.5,0.5\n0.01,100,200,300,1,0,0,0\n",
		"other columns": "# made by hand\nframe,time_us,ball.vx,ball.x,ball.y,ball.z,ball.omega.x,ball.omega.y,ball.omega.z,ball.quat.w,ball.quat.x,ball.quat.y,ball.quat.z,note\n1,0,9,1,2,3,7,7,7,0.5,-0.5,0.5,0.5,ok\n2,10000,9,1,2,3,7,7,7,1,0,0,0,ok\n",
	} {
		c, err := Decode("test", []byte(text), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.Format != Table || len(c.Bodies) != 1 || len(c.Markers) != 0 || math.Abs(c.Rate-100) > 1e-9 || math.Abs(c.Time[1]-0.01) > 1e-15 {
			t.Errorf("%s: %s, %d bodies, %d markers, %g Hz, %v", name, c.Format, len(c.Bodies), len(c.Markers), c.Rate, c.Time)
			continue
		}
		if b := c.Bodies[0]; b.Name != "ball" || b.Rotation[0] != turned || r3.Norm(r3.Sub(b.Position[0], r3.Vec{X: 1, Y: 2, Z: 3})) > 1e-15 {
			t.Errorf("%s: %+v", name, b)
		}
	}
	// rotations only, and a quaternion that was rounded
	c, err := Decode("test", []byte("qw,qx,qy,qz\n0.7071,0.7071,0,0\n0,0,0,0\n"), Options{Rate: 50})
	if err != nil || c.Bodies[0].Position != nil || math.Abs(quat.Abs(c.Bodies[0].Rotation[0])-1) > 1e-15 || c.Bodies[0].Visible[1] ||
		c.Time[1] != 0.02 {
		t.Errorf("%v %+v", err, c)
	}
	// times without numbers of frames, a gap in them, and a rate that is asked for
	c = decode(t, []byte("time,a.x,a.y,a.z\n10,1,2,3\n10.5,1,2,3\n12,1,2,3\n12.5,1,2,3\n"))
	if c.Rate != 2 || c.Frame[2] != 5 || c.Time[2] != 12 {
		t.Errorf("%g Hz, frames %v at %v", c.Rate, c.Frame, c.Time)
	}
	if c, err = Decode("test", []byte("frame,time,a.x,a.y,a.z\n3,0.3,1,2,3\n4,0.4,1,2,3\n9,0.9,1,2,3\n"), Options{}); err != nil ||
		math.Abs(c.Rate-10) > 1e-12 || math.Abs(c.Time[2]-0.9) > 1e-15 {
		t.Errorf("%v %+v", err, c)
	}
	if c, err = Decode("test", []byte("time,a.x,a.y,a.z\n0,1,2,3\n0.0049,1,2,3\n0.0152,1,2,3\n"), Options{Rate: 200}); err != nil ||
		c.Rate != 200 || c.Frame[2] != 4 || c.Time[2] != 0.015 {
		t.Errorf("%v %+v", err, c)
	}
	// a body that is repeated with its position
	if c = decode(t, []byte("frame,time,b.x,b.y,b.z,b.qw,b.qx,b.qy,b.qz\n1,0,1,2,3,1,0,0,0\n1,0,1,2,3,1,0,0,0\n2,1,4,5,6,1,0,0,0\n")); len(c.Bodies[0].Position) != 2 || c.Bodies[0].Position[1].X != 4 || !said(c, "repeated-frame") {
		t.Errorf("%+v", c.Bodies[0])
	}
	for name, x := range map[string]struct{ text, want string }{
		"a body twice": {"frame,time,b.x,b.y,b.z,b.qw,b.qx,b.qy,b.qz\n1,0,1,2,3,1,0,0,0\n1,0,1,2,9,1,0,0,0\n2,1,1,2,9,1,0,0,0\n",
			"once more, with other numbers for b"},
		"short":        {"time,qw,qx,qy,qz\n0,0.98,0,0,0\n1,1,0,0,0\n", "1 of 1 quaternions are not of length one"},
		"no time":      {"a.x,a.y,a.z\n1,2,3\n2,3,4\n", "--rate 200"},
		"back in time": {"time,a.x,a.y,a.z\n1,1,2,3\n0.5,2,3,4\n", "test:3: the time goes back from 1 to 0.5 s"},
		"two units":    {"time,a.x [mm],a.y [mm],a.z [m]\n0,1,2,3\n1,2,3,4\n", "different units"},
		"of two": {"time,a.x [mm],a.y [mm],a.z [mm],b.x [m],b.y [m],b.z [m]\n0,1,2,3,1,2,3\n1,2,3,4,1,2,3\n",
			`positions are in "mm" and in "m"`},
		"no columns": {"time,force\n0,1\n1,2\n", "no motion-capture recording"},
		"no head":    {"0,1,2,3\n1,2,3,4\n", "no motion-capture recording"},
		"UTF-16":     {"\xff\xfet\x00", "UTF-16"},
		"empty":      {"", "empty file"},
	} {
		if _, err := Decode("test", []byte(x.text), Options{}); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
	if _, err := Decode("test", []byte(trc), Options{Unit: "mn"}); err == nil || !strings.Contains(err.Error(), "no unit of length") {
		t.Error(err)
	}
}
