package capture

import (
	"bytes"
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/peer"
)

// c3dSpec is what testdata/c3d.py writes: a program that shares nothing with the reader but the user guide of the format.
type c3dSpec struct {
	Processor string          `json:"processor"`
	Real      bool            `json:"real"`
	Scale     float64         `json:"scale"`
	Rate      float64         `json:"rate"`
	Units     string          `json:"units,omitempty"`
	Names     []string        `json:"names"`
	Points    [][]*[3]float64 `json:"points"`
	Analog    [][][]int       `json:"analog,omitempty"`
	Samples   int             `json:"samples"`
	AScale    []float64       `json:"ascale"`
	AOffset   []int           `json:"aoffset"`
	GenScale  float64         `json:"gen_scale"`
	Unsigned  bool            `json:"unsigned"`
	First     int             `json:"first"`
	Frames    string          `json:"frames,omitempty"`
	Events    [][3]any        `json:"events,omitempty"`
	ParamsAt  int             `json:"params_at"`
	Repeat    int             `json:"repeat"`

	HeadChannels  int                 `json:"head_channels,omitempty"`
	UsedChannels  int                 `json:"used_channels,omitempty"`
	Quantities    map[string][]string `json:"quantities,omitempty"`
	QuantityUnits map[string]string   `json:"quantity_units,omitempty"`
}

// writeC3D writes files with Python.
func writeC3D(t testing.TB, specs ...c3dSpec) [][]byte {
	t.Helper()
	var text []string
	peer.Ask(t, "json", specs, &text, "testdata/c3d.py")
	out := make([][]byte, len(text))
	for i := range text {
		var err error
		if out[i], err = base64.StdEncoding.DecodeString(text[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// rolling is a ball with three markers on a table, in mm; the second one is hidden in the frames 4 to 6.
func rolling(frames int) c3dSpec {
	s := c3dSpec{Processor: "intel", Scale: 0.05, Rate: 200, Units: "mm", Names: []string{"top", "side", "front"}, First: 1, ParamsAt: 2,
		Repeat:  1,
		Samples: 4, AScale: []float64{0.5, -0.25}, AOffset: []int{2048, -3}, GenScale: 2}
	for k := range frames {
		a := 0.02 * float64(k)
		p := func(phase float64) *[3]float64 {
			return &[3]float64{100 + 35*(a+math.Sin(a+phase)), -20, 35 + 35*math.Cos(a+phase)}
		}
		frame := []*[3]float64{p(0), p(2), p(4)}
		if k >= 4 && k < 7 {
			frame[1] = nil
		}
		s.Points = append(s.Points, frame)
		var samples [][]int
		for j := range 4 {
			samples = append(samples, []int{2048 + 4*k + j, -3 - k})
		}
		s.Analog = append(s.Analog, samples)
	}
	return s
}

func decode(t *testing.T, data []byte) *Capture {
	t.Helper()
	c, err := Decode("test", data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The same recording reads the same from every processor, as integers and as floats.
func TestC3DOfEveryProcessor(t *testing.T) {
	base := rolling(40)
	base.Events = [][3]any{{0, 0.05, "start"}, {1, 2.5, "end"}}
	var specs []c3dSpec
	for _, proc := range []string{"intel", "dec", "sgi"} {
		for _, real := range []bool{false, true} {
			s := base
			s.Processor, s.Real = proc, real
			specs = append(specs, s)
		}
	}
	far := base // parameters somewhere else
	far.ParamsAt = 7
	specs = append(specs, far)
	for i, data := range writeC3D(t, specs...) {
		s := specs[i]
		c := decode(t, data)
		tol := 1e-3 * s.Scale / 2 * math.Sqrt(3) // m, of integers
		if s.Real {
			tol = 0.3 * math.Pow(2, -23) // of floats, at 0.3 m
		}
		if c.Format != C3D || c.Rate != 200 || len(c.Time) != 40 || math.Abs(c.Time[39]-39.0/200) > 1e-15 || c.Frame[39] != 40 || c.Unit != "mm" {
			t.Fatalf("%s %v: %s, %g Hz, %d frames", s.Processor, s.Real, c.Format, c.Rate, len(c.Time))
		}
		for j, m := range c.Markers {
			if m.Name != s.Names[j] {
				t.Errorf("marker %d is %q", j, m.Name)
			}
			for k, p := range m.Path {
				want := s.Points[k][j]
				switch {
				case m.Visible[k] != (want != nil):
					t.Fatalf("%s %v: %s in frame %d: visible %v", s.Processor, s.Real, m.Name, k, m.Visible[k])
				case want == nil && !(math.IsNaN(p.X) && math.IsNaN(p.Y) && math.IsNaN(p.Z)):
					t.Fatalf("not seen, and at %v", p)
				case want != nil && r3.Norm(r3.Sub(p, r3.Scale(1e-3, r3.Vec{X: want[0], Y: want[1], Z: want[2]}))) > tol:
					t.Fatalf("%s %v: %s in frame %d at %v, want %v mm", s.Processor, s.Real, m.Name, k, p, *want)
				}
			}
		}
		if len(c.Analog) != 2 || c.Analog[0].Rate != 800 || c.Analog[0].Unit != "N" || c.Analog[1].Name != "F2" {
			t.Fatalf("analog %+v", c.Analog)
		}
		for k, x := range c.Analog[0].Samples { // (count − offset)·scale·general scale
			if want := float64(k) * 0.5 * 2; x != want {
				t.Fatalf("sample %d: %g, want %g", k, x, want)
			}
			if want := float64(k/4) * 0.25 * 2; c.Analog[1].Samples[k] != want {
				t.Fatalf("sample %d: %g, want %g", k, c.Analog[1].Samples[k], want)
			}
		}
		if len(c.Events) != 2 || c.Events[0].Name != "start" || math.Abs(c.Events[0].Time-0.05) > 1e-8 || math.Abs(c.Events[1].Time-62.5) > 1e-5 {
			t.Errorf("events %v", c.Events)
		}
	}
}

// Counts of a converter without sign: from 0 to 65535.
func TestC3DUnsignedAnalog(t *testing.T) {
	s := rolling(2)
	s.Unsigned, s.AOffset = true, []int{32768, 40000}
	s.Analog = [][][]int{{{0, 40000}, {65535, 40001}, {32768, 0}, {1, 65535}}, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}}
	c := decode(t, writeC3D(t, s)[0])
	want := [][]float64{{-32768, 32767, 0, -32767}, {0, 1 * -0.5, -40000 * -0.5, 25535 * -0.5}}
	for j := range want {
		for k, w := range want[j] {
			if x := c.Analog[j].Samples[k]; x != w {
				t.Errorf("channel %d, sample %d: %g, want %g", j, k, x, w)
			}
		}
	}
}

// More frames than fit 16 bits are counted in one of three ways, one less than that in none.
func TestC3DLongRecordings(t *testing.T) {
	cases := []struct {
		how   string
		n     int
		first int
	}{{"float", 65536, 1}, {"long", 65536, 1}, {"trial", 65600, 300}, {"int", 65535, 1}, {"trial", 20, 70000},
		{"wrapped", 70000, 1}, {"wrapped", 65536, 1}, {"wrapped", 140000, 1}, {"wrapped", 62000, 5000}, {"int", 70000, 1}}
	var specs []c3dSpec
	for _, c := range cases {
		specs = append(specs, c3dSpec{Processor: "intel", Scale: 0.1, Rate: 1000, Units: "m", Names: []string{"p"}, First: c.first,
			Frames: c.how, ParamsAt: 2,
			AScale: []float64{}, AOffset: []int{}, Points: [][]*[3]float64{{{1, 2, 4}}}, Repeat: c.n})
	}
	for i, data := range writeC3D(t, specs...) {
		c := cases[i]
		got := decode(t, data)
		if n := c.n; len(got.Time) != n || got.Frame[0] != c.first || got.Frame[n-1] != c.first+n-1 {
			t.Errorf("%s: %d frames from %d to %d, want %d from %d", c.how, len(got.Time), got.Frame[0], got.Frame[len(got.Frame)-1], n, c.first)
		}
		if p := got.Markers[0].Path[len(got.Time)-1]; math.Abs(p.Z-4) > 1e-6 {
			t.Errorf("%s: the last point is at %v", c.how, p)
		}
	}
}

// Names beyond the 255 that fit one list stand in a second one.
func TestC3DManyMarkers(t *testing.T) {
	s := rolling(0)
	s.Samples, s.Names = 0, nil
	frame := []*[3]float64{}
	for i := range 300 {
		s.Names = append(s.Names, strings.Repeat("m", 1+i%3)+string(rune('A'+i/12))+string(rune('a'+i%12)))
		frame = append(frame, &[3]float64{float64(i) + 1, 0, 0})
	}
	s.Points = [][]*[3]float64{frame, frame}
	c := decode(t, writeC3D(t, s)[0])
	for i := range 300 {
		if c.Markers[i].Name != s.Names[i] || math.Abs(c.Markers[i].Path[1].X-1e-3*float64(i+1)) > 1e-7 {
			t.Fatalf("marker %d: %s at %v", i, c.Markers[i].Name, c.Markers[i].Path[1])
		}
	}
}

// What is wrong with a C3D file is said, with what was expected.
func TestC3DBadFiles(t *testing.T) {
	good := writeC3D(t, rolling(40))[0]
	noUnit := rolling(3)
	noUnit.Units = ""
	odd := rolling(3)
	odd.Units = "furlong"
	other := writeC3D(t, noUnit, odd)
	change := func(at int, b ...byte) []byte {
		data := bytes.Clone(good)
		copy(data[at:], b)
		return data
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"frames cut":     {good[:len(good)-1024], "cut short: 40 frames by the header, there are "},
		"header cut":     {good[:600], "cut short"},
		"no parameters":  {good[:512], "cut short: the parameters begin at byte 512"},
		"processor":      {change(515, 83), "unknown kind 83"},
		"no data there":  {change(16, 255, 255), "cut short: the frames begin at byte"},
		"scale":          {bytes.ReplaceAll(good, []byte{0xcd, 0xcc, 0x4c, 0x3d}, []byte{0, 0, 0, 0}), "a scale of 0"},
		"unknown unit":   {other[1], `lengths are in "furlong"`},
		"not a C3D file": {[]byte("C3D\x00"), "no motion-capture recording"},
	} {
		if _, err := Decode("bad", c.data, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	c := decode(t, other[0])
	if !said(c, "unit") || math.Abs(c.Markers[0].Path[0].Y+0.02) > 1e-5 {
		t.Errorf("no unit: %v, %v", c.Markers[0].Path[0], c.Findings)
	}
	if c, err := Decode("asked", other[1], Options{Unit: "m", Rate: 100}); err != nil || math.Abs(c.Markers[0].Path[0].Y+20) > 0.05 ||
		c.Rate != 100 || !said(c, "unit") || !said(c, "rate") {
		t.Errorf("%v", err)
	}
}

// said tells that a finding of a kind is there.
func said(c *Capture, kind string) bool {
	for _, f := range c.Findings {
		if f.Kind == kind {
			return true
		}
	}
	return false
}

// The sample files of c3d.org, where they lie beside the checkout: six formats of one recording, and five places of the parameters.
func TestC3DPublishedSamples(t *testing.T) {
	for _, set := range []struct {
		files  []string
		frames int
		tol    float64 // m, the step of the integers
	}{
		{[]string{"sample_01/Eb015pi.c3d", "sample_01/Eb015pr.c3d", "sample_01/Eb015si.c3d", "sample_01/Eb015sr.c3d", "sample_01/Eb015vi.c3d",
			"sample_01/Eb015vr.c3d"}, 450, 0.084e-3},
		{[]string{"sample_02/pc_int.c3d", "sample_02/pc_real.c3d", "sample_02/sgi_int.c3d", "sample_02/sgi_real.c3d", "sample_02/dec_int.c3d",
			"sample_02/dec_real.c3d"}, 89, 0.49e-3},
		{[]string{"sample_08/EB015PI.c3d", "sample_08/TESTAPI.c3d", "sample_08/TESTBPI.c3d", "sample_08/TESTCPI.c3d", "sample_08/TESTDPI.c3d"},
			450, 0},
	} {
		var first *Capture
		for _, file := range set.files {
			c, err := Read(peer.SharedRecord(t, "c3d.org/"+file), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = c
			}
			if len(c.Time) != set.frames || c.Rate != 50 {
				t.Errorf("%s: %d frames at %g Hz", file, len(c.Time), c.Rate)
			}
			for i, m := range c.Markers {
				for k := range m.Path {
					if m.Visible[k] != first.Markers[i].Visible[k] || m.Visible[k] && r3.Norm(r3.Sub(m.Path[k], first.Markers[i].Path[k])) > set.tol {
						t.Fatalf("%s: %s in frame %d at %v, and at %v in %s", file, m.Name, k, m.Path[k], first.Markers[i].Path[k], set.files[0])
					}
				}
			}
			for j, a := range c.Analog {
				for k, x := range a.Samples {
					if x != first.Analog[j].Samples[k] {
						t.Fatalf("%s: sample %d of %s is %g, and %g in %s", file, k, a.Name, x, first.Analog[j].Samples[k], set.files[0])
					}
				}
			}
		}
	}
}
