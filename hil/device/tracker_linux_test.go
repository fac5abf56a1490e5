package device

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"hilrig/hil/protocol"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// A file's fields of each tracker.
func trackerFields(names ...string) (out []wire.Field) {
	units := map[string]string{"x": "m", "y": "m", "z": "m", "yaw": "rad", "pitch": "rad", "roll": "rad", "a.x": "m/s²", "a.z": "m/s²",
		"w.z": "rad/s", "time": "s"}
	for _, n := range names {
		q := n
		for _, part := range []string{"B.", "C."} {
			q = strings.TrimPrefix(q, part)
		}
		out = append(out, wire.Field{Name: n, Unit: units[q], Scale: 1})
	}
	return out
}

type trackerCase struct {
	name    string
	section protocol.Section
	fields  []wire.Field
	tol     float64
	starts  bool // has a start that it can forget
	whole   bool // every frame has all the fields
}

func trackerCases() []trackerCase {
	s := func(k protocol.Choice) protocol.Section { return k.Kind().Section(&protocol.Sections{}) }
	ndi := s(protocol.NDIChoice).(*protocol.NDI)
	ndi.Tools, ndi.Delay = []protocol.Tool{{Name: "B", Number: 10}, {Name: "C", Number: 11}}, 0
	tx := *ndi
	tx.Reply = protocol.ReplyTX
	two := s(protocol.PolhemusChoice).(*protocol.Liberty)
	two.Stations = []protocol.Part{{Name: "B", Number: 1}, {Name: "C", Number: 2}}
	return []trackerCase{
		{"ndi, BX", ndi, trackerFields("B.x", "B.q.w", "B.q.x", "B.q.y", "B.q.z", "C.z", "B.missing"), 1e-6, true, true},
		{"ndi, TX", &tx, trackerFields("B.x", "B.q.w", "B.q.x", "B.q.y", "B.q.z", "C.z", "B.missing"), 1e-4, true, true},
		{"xsens", s(protocol.XsensChoice), trackerFields("q.w", "q.x", "q.y", "q.z", "a.x", "w.z"), 1e-6, true, true},
		{"vectornav", s(protocol.VectorNavChoice), trackerFields("yaw", "pitch", "roll", "a.x"), 1e-6, false, true},
		{"polhemus", s(protocol.PolhemusChoice), trackerFields("x", "y", "z"), 1e-6, true, true},
		{"polhemus, two stations", two, trackerFields("B.x", "C.y"), 1e-6, true, false},
		{"fastrak", s(protocol.FastrakChoice), trackerFields("x", "y", "z"), 1e-6, true, true},
		{"witmotion", s(protocol.WitMotionChoice), trackerFields("yaw", "pitch", "roll", "a.x"), 0.01, false, false},
		{"bno08x", s(protocol.BNO08xChoice), trackerFields("yaw", "pitch", "roll", "a.x"), 0.01, false, true},
	}
}

// pose is what the far end says at a step: all values are within ±1, each step has another, and a quaternion is of length one.
func (c *trackerCase) pose(step int) []float64 {
	u := make([]float64, len(c.fields))
	for i := range u {
		u[i] = 0.3 + 0.5*math.Sin(float64(step)*0.01+float64(i))
		if strings.HasSuffix(c.fields[i].Name, "missing") {
			u[i] = 0
		}
		if strings.HasSuffix(c.fields[i].Name, "q.z") {
			q := u[i-3 : i+1]
			length := math.Hypot(math.Hypot(q[0], q[1]), math.Hypot(q[2], q[3]))
			for k := range q {
				q[k] /= length
			}
		}
	}
	return u
}

// trackerPair is a rig and the far end of its line, over a pseudo-terminal.
func trackerPair(t *testing.T, c trackerCase, rate float64) (*Rig, *Firmware) {
	t.Helper()
	far, err := NewFirmware(FirmwareOptions{Protocol: c.section, Send: c.fields})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	rig, err := NewRig(Options{Name: "tracker", Port: far.Name(), Protocol: c.section, Measure: c.fields, Safe: []float64{}, Rate: rate,
		Loop: 1000, TxCPU: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rig.Close() })
	if err := far.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := rig.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return rig, far
}

func stats(r *Rig) (s Stats) { r.Stats(&s); return s }

// until waits for something, with poses from the far end meanwhile.
func untilPosed(t *testing.T, what string, rig *Rig, far *Firmware, c *trackerCase, ok func(s *Stats) bool) {
	t.Helper()
	for end, step := time.Now().Add(20*time.Second), 0; ; step++ {
		far.Send(c.pose(step))
		s := stats(rig)
		if ok(&s) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: not in 20 s; %+v", what, s)
		}
		time.Sleep(time.Millisecond)
	}
}

// Every tracker is started, feeds the row with what its far end says, and is started again when it has forgotten everything.
func TestTrackers(t *testing.T) {
	for _, c := range trackerCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // they wait most of the time
			rig, far := trackerPair(t, c, 200)
			n := len(c.fields)
			untilPosed(t, "frames", rig, far, &c, func(s *Stats) bool { return s.Frames > 20 })
			// what comes is what was said, at rest
			still := c.pose(77)
			meas, _ := rig.Signals()
			y := make([]float64, len(meas))
			for end := time.Now().Add(10 * time.Second); ; {
				far.Send(still)
				time.Sleep(2 * time.Millisecond)
				rig.Poll(rt.Now(), y)
				off := 0.0
				for i := range c.fields {
					off = max(off, math.Abs(y[i]-still[i]))
				}
				if off <= c.tol {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("%v arrives, want %v", y, still)
				}
			}
			if y[n] > 1 {
				t.Errorf("age %v s", y[n])
			}
			if s := stats(rig); s.Malformed != 0 || s.Refusals != 0 || s.Gaps != 0 {
				t.Errorf("%+v", s)
			}
			if !c.starts {
				return
			}
			before := stats(rig)
			if err := far.Restart(); err != nil {
				t.Fatal(err)
			}
			told := c.name != "fastrak" && !strings.HasPrefix(c.name, "polhemus") // they say nothing: silence tells
			untilPosed(t, "frames after a restart", rig, far, &c, func(s *Stats) bool {
				return s.Frames > before.Frames+40 && (!told || s.DeviceRestarts == 1 && s.Reconnects == 1)
			})
		})
	}
}

// A frame that is damaged on the line is counted, and the next is taken.
func TestTrackerDamaged(t *testing.T) {
	for _, c := range trackerCases() {
		if !c.whole || strings.HasPrefix(c.name, "ndi") || c.name == "polhemus" || c.name == "fastrak" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			rig, far := trackerPair(t, c, 200)
			n := len(c.fields)
			untilPosed(t, "frames", rig, far, &c, func(s *Stats) bool { return s.Frames > 5 })
			p, _ := plan(c.section, &protocol.Table{Measure: c.fields, Rate: 1, Loop: 1})
			f := p.FarEnd()
			f.Decoder.Next([]byte{0xFA, 0xFF, 0x10, 0, 0xF1}, &wire.Frame{}) // to measure, where that is needed
			b, _ := f.Encoder.Append(nil, wire.Header{Kind: wire.Measurement, FreshFields: wire.AllFields(n)}, c.pose(0))
			b[len(b)-3] ^= 0x55
			for range 3 {
				far.Write(b)
			}
			before := stats(rig)
			untilPosed(t, "bad frames", rig, far, &c, func(s *Stats) bool { return s.Malformed >= 1 && s.Frames > before.Frames+5 && s.Resync > 0 })
		})
	}
}

// No frame is lost at 1 kHz.
func TestTrackersAtOneKilohertz(t *testing.T) {
	const frames = 300
	for _, c := range trackerCases() {
		if strings.HasPrefix(c.name, "ndi") {
			continue // asked
		}
		t.Run(c.name, func(t *testing.T) {
			rig, far := trackerPair(t, c, 1000)
			untilPosed(t, "frames", rig, far, &c, func(s *Stats) bool { return s.Frames > 5 })
			time.Sleep(50 * time.Millisecond)
			var f0, f1 Stats
			far.Stats(&f0)
			r0 := stats(rig)
			next := rt.Now()
			for step := range frames {
				next += 1e6
				rt.SleepUntil(next, 0)
				far.Send(c.pose(1000 + step))
				for end := time.Now().Add(10 * time.Second); ; { // a machine that is busy: the far end must have sent before it is handed the next
					far.Stats(&f1)
					if f1.TxFrames >= f0.TxFrames+uint64(step)+1 {
						break
					}
					if time.Now().After(end) {
						t.Fatalf("pose %d of %d does not leave the far end within 10 s: it sent %d before, and now %d\nfar end %+v\nrig %+v", step, frames,
							f0.TxFrames, f1.TxFrames, f1, stats(rig))
					}
					time.Sleep(20 * time.Microsecond)
				}
			}
			far.Stats(&f1)
			sent := f1.TxFrames - f0.TxFrames
			per := uint64(1) // frames of one moment: a record of each station, packets of time, acceleration and angle
			switch {
			case strings.Contains(c.name, "two"):
				per = 2
			case c.name == "witmotion":
				per = 3
			}
			var r1 Stats
			for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if r1 = stats(rig); r1.Bytes-r0.Bytes == f1.TxBytes-f0.TxBytes {
					break
				}
			}
			got := r1.Frames - r0.Frames
			if sent != frames || r1.Bytes-r0.Bytes != f1.TxBytes-f0.TxBytes || got != per*sent || r1.Gaps != r0.Gaps ||
				r1.Malformed != r0.Malformed || r1.Resync != r0.Resync {
				t.Errorf("%d frames sent, %d taken; %d and %d bytes; %+v", sent, got, f1.TxBytes-f0.TxBytes, r1.Bytes-r0.Bytes, r1)
			}
		})
	}
}
