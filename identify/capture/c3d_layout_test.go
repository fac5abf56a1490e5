package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// plainC3D writes a C3D of floats in the order of Intel with one point (k, 2, 3) mm in frame k and channels of which sample number n of
// channel j is 1000·j + n: a writer of its own, by the guide of the format.
type plainC3D struct {
	frames                   int
	points                   []string // names; all at the same place
	channels, perFrame       int
	headChannels, headFrames int     // as the header has them, 0: as they are
	headPerFrame             int     //
	usedChannels             int     //
	analogRate               float64 // 0: none
	first                    int
	pointFrames              int // POINT:FRAMES, 0: 16 bits of frames
	trial                    [2]int
	longFrames               float64
	texts                    map[string][]string // more parameters of POINT
	junk                     int                 // bytes behind the frames
	scaled                   bool                // channels have j + 1 as their scale, 2 as offset, and a unit, in lists of 255
}

func (s plainC3D) bytes() []byte {
	or := func(x, otherwise int) int {
		if x != 0 {
			return x
		}
		return otherwise
	}
	var p bytes.Buffer // parameters
	p.Write([]byte{1, 80, 0, 84})
	group := func(id int8, name string) {
		p.Write([]byte{byte(len(name)), byte(-id)})
		p.WriteString(name)
		p.Write([]byte{3, 0, 0})
	}
	param := func(id int8, name string, kind int8, dims []byte, data []byte) {
		p.Write([]byte{byte(len(name)), byte(id)})
		p.WriteString(name)
		binary.Write(&p, binary.LittleEndian, uint16(2+2+len(dims)+len(data)+1))
		p.WriteByte(byte(kind))
		p.WriteByte(byte(len(dims)))
		p.Write(dims)
		p.Write(data)
		p.WriteByte(0)
	}
	u16 := func(x ...int) (out []byte) {
		for _, v := range x {
			out = binary.LittleEndian.AppendUint16(out, uint16(v))
		}
		return out
	}
	f32 := func(x float64) []byte { return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x))) }
	text := func(id int8, name string, list []string) {
		width := 1
		for _, t := range list {
			width = max(width, len(t))
		}
		var data []byte
		for _, t := range list {
			data = append(data, fmt.Sprintf("%-*s", width, t)...)
		}
		dims := []byte{byte(width), byte(len(list))}
		if name == "TYPE_GROUPS" {
			dims = []byte{byte(width), 2, byte(len(list) / 2)}
		}
		param(id, name, -1, dims, data)
	}
	group(1, "POINT")
	param(1, "USED", 2, nil, u16(len(s.points)))
	param(1, "FRAMES", 2, nil, u16(or(s.pointFrames, s.frames)))
	param(1, "SCALE", 4, nil, f32(-1))
	param(1, "RATE", 4, nil, f32(100))
	text(1, "UNITS", []string{"mm"})
	text(1, "LABELS", s.points)
	for name, list := range s.texts {
		text(1, name, list)
	}
	if s.longFrames > 0 {
		param(1, "LONG_FRAMES", 4, nil, f32(s.longFrames))
	}
	group(2, "ANALOG")
	param(2, "USED", 2, nil, u16(or(s.usedChannels, s.channels)))
	if s.analogRate > 0 {
		param(2, "RATE", 4, nil, f32(s.analogRate))
	}
	for from := 0; s.scaled && from < s.channels; from += 255 {
		var scales, offsets []byte
		var units []string
		for j := from; j < min(from+255, s.channels); j++ {
			scales, offsets, units = append(scales, f32(float64(j+1))...), append(offsets, u16(2)...), append(units, fmt.Sprint("u", j))
		}
		suffix, n := "", []byte{byte(len(units))}
		if from > 0 {
			suffix = fmt.Sprint(from/255 + 1)
		}
		param(2, "SCALE"+suffix, 4, n, scales)
		param(2, "OFFSET"+suffix, 2, n, offsets)
		text(2, "UNITS"+suffix, units)
	}
	if s.trial != [2]int{} {
		group(3, "TRIAL")
		param(3, "ACTUAL_START_FIELD", 2, []byte{2}, u16(s.trial[0]&0xffff, s.trial[0]>>16))
		param(3, "ACTUAL_END_FIELD", 2, []byte{2}, u16(s.trial[1]&0xffff, s.trial[1]>>16))
	}
	p.Write([]byte{0, 0})
	blocks := (p.Len() + 511) / 512
	p.Write(make([]byte, 512*blocks-p.Len()))
	body := p.Bytes()
	body[2] = byte(blocks)
	first := or(s.first, 1)
	head := make([]byte, 512)
	head[0], head[1] = 2, 80
	for n, x := range map[int]int{2: len(s.points), 3: or(s.headChannels, s.channels*s.perFrame), 4: first,
		5: first + or(s.headFrames, s.frames) - 1, 9: 2 + blocks, 10: or(s.headPerFrame, s.perFrame)} {
		copy(head[2*(n-1):], u16(x))
	}
	copy(head[12:], f32(-1))
	copy(head[20:], f32(100))
	out := append(head, body...)
	for k := range s.frames {
		for range s.points {
			out = append(out, f32(float64(k+1))...)
			out = append(append(append(out, f32(2)...), f32(3)...), f32(1)...)
		}
		for n := range s.perFrame {
			for j := range s.channels {
				out = append(out, f32(float64(1000*j+k*s.perFrame+n))...)
			}
		}
	}
	return append(out, make([]byte, s.junk)...)
}

// Headers that contradict the parameters, counters that turned over, and quantities of a model in any list: what is in the file is read.
func TestC3DLayouts(t *testing.T) {
	one := []string{"p"}
	for name, c := range map[string]struct {
		spec     plainC3D
		markers  int
		channels int // all, those of quantities too
		rate     float64
		kind     string // of a finding
	}{
		"sound": {plainC3D{frames: 50, points: one, channels: 3, perFrame: 4, analogRate: 400}, 1, 3, 400, ""},
		"samples as channels": {plainC3D{frames: 50, points: one, channels: 3, perFrame: 4, headPerFrame: 1, headChannels: 12,
			analogRate: 400}, 1, 3, 400, "header"},
		"channels as samples": {plainC3D{frames: 50, points: one, channels: 12, perFrame: 1, headPerFrame: 4, headChannels: 12,
			analogRate: 100}, 1, 12, 100, "header"},
		"no samples in the header": {plainC3D{frames: 50, points: one, channels: 3, perFrame: 4, headPerFrame: 0xffff, headChannels: 0xffff,
			analogRate: 400}, 1, 3, 400, "header"},
		"wrong in both": {plainC3D{frames: 50, points: one, channels: 3, perFrame: 4, headPerFrame: 2, headChannels: 10,
			analogRate: 400}, 1, 3, 400, "header"},
		"samples wrong in the header": {plainC3D{frames: 50, points: one, channels: 3, perFrame: 4, headPerFrame: 1, headChannels: 3,
			analogRate: 400}, 1, 3, 400, "header"},
		"channels wrong in the header, turned over": {plainC3D{frames: 70000, points: one, channels: 3, perFrame: 4, headPerFrame: 4,
			headChannels: 8, analogRate: 400}, 1, 3, 400, "header"},
		"the header is right": {plainC3D{frames: 50, points: one, channels: 3, perFrame: 4, usedChannels: 6, analogRate: 400}, 1, 3,
			400, "header"},
		"turned over":               {plainC3D{frames: 70000, points: one}, 1, 0, 0, "header"},
		"turned over, with a trial": {plainC3D{frames: 70000, points: one, trial: [2]int{1, 70000}}, 1, 0, 0, "header"},
		"turned over, more behind":  {plainC3D{frames: 70000, points: one, trial: [2]int{1, 70000}, junk: 5000}, 1, 0, 0, "header"},
		"turned over, LONG_FRAMES":  {plainC3D{frames: 70000, points: one, longFrames: 70000, junk: 5000}, 1, 0, 0, "header"},
		"turned over twice":         {plainC3D{frames: 140000, points: one, trial: [2]int{1, 140000}, junk: 2000}, 1, 0, 0, "header"},
		"a later part": {plainC3D{frames: 70000, points: one, first: 300, trial: [2]int{300, 70299}, junk: 700}, 1, 0, 0,
			"header"},
		"angles": {plainC3D{frames: 5, points: []string{"p", "Knee"}, texts: map[string][]string{"ANGLES": {"Knee"}}}, 1,
			3, 100, "quantities"},
		"of a subject": {plainC3D{frames: 5, points: []string{"Ann:p", "Ann:Knee"},
			texts: map[string][]string{"FORCES": {"Knee"}}}, 1, 3, 100, "quantities"},
		"a list by TYPE_GROUPS": {plainC3D{frames: 5, points: []string{"p", "Flow"},
			texts: map[string][]string{"TYPE_GROUPS": {"ANGLES", "ANGLE_UNITS", "FLOWS", "FLOW_UNITS"}, "FLOWS": {"Flow"}, "FLOW_UNITS": {"l/s"}}},
			1, 3, 100, "quantities"},
		"places of a model are markers": {plainC3D{frames: 5, points: []string{"p", "Hip"},
			texts: map[string][]string{"TYPE_GROUPS": {"MODELED_MARKERS", "MODELED_MARKER_UNITS"}, "MODELED_MARKERS": {"Hip"},
				"MODELED_MARKER_UNITS": {"mm"}}}, 2, 0, 0, ""},
	} {
		got, err := Decode(name, c.spec.bytes(), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got.Time) != c.spec.frames || len(got.Markers) != c.markers || len(got.Analog) != c.channels {
			t.Errorf("%s: %d frames, %d markers, %d channels, want %d, %d, %d: %+v", name, len(got.Time), len(got.Markers), len(got.Analog),
				c.spec.frames, c.markers, c.channels, got.Findings)
			continue
		}
		if last := got.Markers[0].Path[c.spec.frames-1]; math.Abs(last.X-1e-3*float64(c.spec.frames)) > 1e-9*float64(c.spec.frames) {
			t.Errorf("%s: the last frame is at %v", name, last)
		}
		if first := max(c.spec.first, 1); got.Frame[0] != first {
			t.Errorf("%s: begins with frame %d, want %d", name, got.Frame[0], first)
		}
		if c.kind != "" && !said(got, c.kind) || c.kind == "" && said(got, "header") {
			t.Errorf("%s: findings %+v, want %q", name, got.Findings, c.kind)
		}
		for j, a := range got.Analog {
			if a.Rate != c.rate {
				t.Errorf("%s: channel %d has %g Hz, want %g", name, j, a.Rate, c.rate)
			}
			if c.kind == "quantities" {
				continue
			}
			for n, x := range a.Samples {
				if x != float64(1000*j+n) {
					t.Fatalf("%s: sample %d of channel %d is %g", name, n, j, x)
				}
			}
		}
	}
}

// Channels beyond the 255 of a list have their scale, offset and unit in the next one.
func TestC3DManyChannels(t *testing.T) {
	c := decode(t, plainC3D{frames: 3, points: []string{"p"}, channels: 600, perFrame: 1, analogRate: 100, scaled: true}.bytes())
	for j, a := range c.Analog {
		if want := float64((1000*j + 2 - 2) * (j + 1)); a.Samples[2] != want || a.Unit != fmt.Sprint("u", j) {
			t.Fatalf("channel %d: %g %s, want %g u%d", j, a.Samples[2], a.Unit, want, j)
		}
	}
}

// A counter that stayed at 65535 is not taken for one that turned over, though the last frame but one ends in the last block.
func TestC3DCounterThatStayed(t *testing.T) {
	spec := plainC3D{frames: 1 << 17, points: []string{"p"}, pointFrames: 65535, headFrames: 65535}
	if c := decode(t, spec.bytes()); len(c.Time) != spec.frames {
		t.Errorf("%d frames, want %d", len(c.Time), spec.frames)
	}
}
