package capture

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// Headers that contradict their file, as published sample files have them, are followed as far as they make sense, and it is said.
func TestC3DContradictions(t *testing.T) {
	good := writeC3D(t, rolling(40))[0]
	// the n-th parameter of a name: the place of its pointer, behind which are type, number of dimensions and value
	find := func(data []byte, name string, n int) int {
		at := 0
		for range n {
			i := bytes.Index(data[at:], []byte(name))
			if i < 0 {
				t.Fatalf("no %s", name)
			}
			at += i + len(name)
		}
		return at
	}
	set := func(name string, n, behind int, value uint16) []byte {
		data := bytes.Clone(good)
		binary.LittleEndian.PutUint16(data[find(data, name, n)+behind:], value)
		return data
	}
	size := 2 * (4*3 + 2*4) // bytes of a frame
	body := 512 * (int(binary.LittleEndian.Uint16(good[16:])) - 1)
	exact := func(data []byte) []byte { return data[:body+40*size] } // no padding behind the frames
	renamed := bytes.Clone(good)
	copy(renamed[find(renamed, "SCALE", 3)-5:], "SCALF")
	for name, c := range map[string]struct {
		data   []byte
		kind   string // of the finding
		frames int
	}{
		"one frame too many":        {exact(set("FRAMES", 1, 4, 41)), "header", 40},
		"one point too many":        {exact(set("USED", 1, 4, 4)), "header", 40},
		"last pointer swapped":      {set("FORMAT", 1, 0, 0x1f00), "parameter-pointer", 40},
		"channels by the parameter": {set("USED", 2, 4, 5), "header", 40},
		"analog without a scale":    {renamed, "analog-scale", 40},
	} {
		got, err := Decode("odd", c.data, Options{})
		if err != nil || !said(got, c.kind) || len(got.Time) != c.frames || len(got.Markers) != 3 || len(got.Analog) != 2 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if math.Abs(got.Markers[0].Path[0].Y+0.02) > 1e-4 {
			t.Errorf("%s: at %v", name, got.Markers[0].Path[0])
		}
		if x := got.Analog[0].Samples[4]; c.kind == "analog-scale" && x != 8 { // 2052 − 2048, twice
			t.Errorf("%s: %g", name, x)
		}
	}
	if c := decode(t, exact(good)); len(c.Findings) != 0 {
		t.Errorf("a sound file: %+v", c.Findings)
	}
	// one byte less is a frame less
	if _, err := Decode("cut", exact(good)[:body+40*size-1], Options{}); err == nil {
		t.Error("a frame that is cut is read")
	}
}

// A point whose numbers are not finite is a gap; so is one at the origin; one with the residual 0 is kept and counted.
func TestC3DOddPoints(t *testing.T) {
	s := rolling(3)
	s.Real, s.Samples = true, 0
	s.Points[1][0] = &[3]float64{}
	data := writeC3D(t, s)[0]
	body := 512 * (int(binary.LittleEndian.Uint16(data[16:])) - 1)
	put := func(frame, point, word int, x float64) {
		binary.LittleEndian.PutUint32(data[body+frame*3*16+point*16+4*word:], math.Float32bits(float32(x)))
	}
	put(0, 1, 2, math.NaN())
	put(0, 2, 3, math.Inf(1))
	put(2, 0, 3, 256) // camera 1, residual 0
	put(2, 1, 3, -1)
	c := decode(t, data)
	for i, want := range [][]bool{{true, false, true}, {false, true, false}, {false, true, true}} {
		for k, v := range c.Markers[i].Visible {
			if v != want[k] {
				t.Errorf("%s in frame %d: visible %v", c.Markers[i].Name, k, v)
			}
		}
	}
	counts := map[string]float64{}
	for _, f := range c.Findings {
		counts[f.Kind] = f.Value
	}
	if counts["not-finite"] != 2 || counts["zeros"] != 1 || counts["computed"] != 1 || len(counts) != 3 {
		t.Errorf("%v", counts)
	}
}

// Where the header and ANALOG:USED differ, those channels count with which the frames fill the file.
func TestC3DChannelsThatDivideTheData(t *testing.T) {
	head, used, both := rolling(40), rolling(40), rolling(40)
	head.HeadChannels, used.UsedChannels, both.HeadChannels, both.UsedChannels = 5, 7, 5, 7
	for i, data := range writeC3D(t, head, used) {
		c := decode(t, data)
		if len(c.Analog) != 2 || !said(c, "header") || c.Analog[0].Samples[5] != 5 || math.Abs(c.Markers[0].Path[39].Y+0.02) > 1e-4 {
			t.Errorf("case %d: %d channels, %+v", i, len(c.Analog), c.Findings)
		}
	}
	if c, err := Decode("both wrong", writeC3D(t, both)[0], Options{}); err == nil && !said(c, "header") {
		t.Error("both are wrong, and nothing is said")
	}
}

// More bytes than the counted frames take are told, unless they fill the last block.
func TestC3DRoomBehindTheFrames(t *testing.T) {
	data := writeC3D(t, rolling(40))[0]
	if c := decode(t, append(bytes.Clone(data), make([]byte, 600)...)); len(c.Time) != 40 || !said(c, "header") {
		t.Errorf("%d frames, %+v", len(c.Time), c.Findings)
	}
}

// Points that a model computed are channels with a unit, and no markers.
func TestC3DQuantities(t *testing.T) {
	s := rolling(10)
	s.Real = true
	s.Quantities = map[string][]string{"ANGLES": {"Side"}, "POWERS": {"Bob:front"}} // letters and subjects may differ
	s.QuantityUnits = map[string]string{"POWER_UNITS": "kW"}
	c := decode(t, writeC3D(t, s)[0])
	if len(c.Markers) != 1 || c.Markers[0].Name != "top" || len(c.Analog) != 2+6 || !said(c, "quantities") {
		t.Fatalf("%d markers, %d channels, %+v", len(c.Markers), len(c.Analog), c.Findings)
	}
	for j, want := range []struct {
		name, unit string
		point, of  int
	}{{"side.x", "deg", 1, 0}, {"side.y", "deg", 1, 1}, {"side.z", "deg", 1, 2}, {"front.x", "kW", 2, 0}, {"front.y", "kW", 2, 1},
		{"front.z", "kW", 2, 2}} {
		a := c.Analog[2+j]
		if a.Name != want.name || a.Unit != want.unit || a.Rate != 200 || len(a.Samples) != 10 {
			t.Errorf("%+v", a)
		}
		for k, x := range a.Samples {
			p := s.Points[k][want.point]
			if p == nil != math.IsNaN(x) || p != nil && math.Abs(x-p[want.of]) > 1e-4 {
				t.Errorf("%s in frame %d: %g, want %v", a.Name, k, x, p)
			}
		}
	}
}

// Events count from frame 1 of the trial, of which the file holds frames 101 to 140 at 200 Hz; those that could only count from its first
// frame do.
func TestC3DEventsOfALaterPart(t *testing.T) {
	trial, file := rolling(40), rolling(40)
	trial.First, file.First = 101, 101
	trial.Events = [][3]any{{0, 0.55, "strike"}, {0, 0.4, "before"}}
	file.Events = [][3]any{{0, 0.05, "strike"}, {0, 2, "behind the end"}}
	all := writeC3D(t, trial, file, rolling(40))
	head := all[2] // events of the header: a key, their number, seconds, and labels of four letters
	for at, x := range map[int]uint16{298: 12345, 300: 1} {
		binary.LittleEndian.PutUint16(head[at:], x)
	}
	binary.LittleEndian.PutUint32(head[304:], math.Float32bits(0.05))
	copy(head[396:], "hit ")
	for i, data := range all {
		c := decode(t, data)
		if math.Abs(c.Events[0].Time-0.05) > 1e-6 || said(c, "events") != (i == 1) || i == 2 && c.Events[0].Name != "hit" {
			t.Errorf("case %d: %+v, %+v", i, c.Events, c.Findings)
		}
	}
}
