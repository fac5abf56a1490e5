package daemon

import (
	"encoding/binary"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/protocol"
)

// Every number of the line is in the health report, and every key of the report in its page of the docs, no more and no less.
func TestHealthCarriesTheLine(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/mqtt.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, key := range regexp.MustCompile("`<device>.([a-z0-9_]+)`").FindAllStringSubmatch(string(page), -1) {
		told[key[1]] = true
	}
	var none, st device.Stats
	empty := linkMap(&none)
	for key := range empty {
		if !told[key] {
			t.Errorf("docs/reference/mqtt.md does not say what %s is", key)
		}
		delete(told, key)
	}
	for key := range told {
		t.Errorf("docs/reference/mqtt.md speaks of %s, which health does not have", key)
	}
	v := reflect.ValueOf(&st).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if name == "Time" || name == "Width" || name == "Text" || name == "OpenErrno" || name == "Silent" || name == "Refusal" ||
			name == "Confirmation" {
			continue // when the numbers were taken; of the newest misfit, opening, question and command: told in words
		}
		st = device.Stats{}
		switch f := v.Field(i); f.Kind() {
		case reflect.Uint64:
			f.SetUint(7000)
		case reflect.Int64:
			f.SetInt(7000)
		case reflect.Float64:
			f.SetFloat(7000)
		default:
			t.Fatalf("%s is a %s", name, f.Kind())
		}
		changed := 0
		for key, x := range linkMap(&st) {
			if x != empty[key] && !(x != x && empty[key] != empty[key]) {
				changed++
			}
		}
		if changed != 1 {
			t.Errorf("%s shows in %d keys of health, want 1", name, changed)
		}
	}
}

// A second without a frame of the table is told with what came instead, once for each trouble until frames arrive again.
func TestWhatArrivesInstead(t *testing.T) {
	link, line := configs.Demo(), configs.Demo()
	line.Devices[0].Protocol, line.Devices[0].Line.Time = protocol.LineChoice, "t"
	line.Devices[0].Measure = line.Devices[0].Measure[:2]
	withText := func(s device.Stats, text string) device.Stats {
		var b [8 * len(s.Text)]byte
		copy(b[:], text)
		for i := range s.Text {
			s.Text[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
		return s
	}
	start := device.Stats{Connected: 1, Bytes: 100, Frames: 5}
	for _, c := range []struct {
		name string
		cfg  *configs.Config
		now  device.Stats
		want string // "": nothing is told
	}{
		{"frames", link, device.Stats{Connected: 1, Bytes: 300, Frames: 6, Misfits: 9}, ""},
		{"unplugged", link, device.Stats{Bytes: 300, Frames: 5}, ""},
		{"silence", link, start, "nothing arrives on virtual: no byte in a second"},
		{"other table", link, device.Stats{Connected: 1, Bytes: 900, Frames: 5, Malformed: 40, Misfits: 40, Width: 9},
			"with 9 bytes of data; those of the file have 11 (motor.angle i32, motor.current i16"},
		{"an echo", link, device.Stats{Connected: 1, Bytes: 900, Frames: 5, Foreign: 40}, "frames arrive that a host sends"},
		{"wrong speed", link, device.Stats{Connected: 1, Bytes: 900, Frames: 5, Malformed: 40, Oversize: 2},
			"800 bytes a second arrive, and no whole frame: 40 with a wrong checksum, 2 without an end. Is the board at 921600 baud"},
		{"a column less", line, withText(device.Stats{Connected: 1, Bytes: 900, Frames: 5, Misfits: 40, Width: 1}, "12.5\x01"),
			`lines arrive with 1 column, the file has 3 (t, motor.angle, motor.current): "12.5·"`},
		{"bytes", line, withText(device.Stats{Connected: 1, Bytes: 900, Frames: 5, Misfits: 40, Width: 1}, "\x01\x02\x7f4"),
			`what arrives is no text: "···4". Is the protocol link`},
		{"a word", line, withText(device.Stats{Connected: 1, Bytes: 900, Frames: 5, Misfits: 40, Width: 3}, "1;2,5;on"),
			`a column is no number: "1;2,5;on"; the file has t, motor.angle, motor.current`},
		{"a wrong checksum", line, device.Stats{Connected: 1, Bytes: 900, Frames: 5, Malformed: 40},
			"no whole line: 40 refused by their checksum"},
	} {
		var told []string
		a := arrivals{cfg: c.cfg, secondStats: start, emit: func(e hil.Event) { told = append(told, e.Code+" "+e.Text) }}
		a.update(c.now, 990*time.Millisecond)
		if c.want != "" && len(told) > 0 {
			t.Errorf("%s: told before a second was over", c.name)
		}
		a.update(c.now, time.Second)
		c.now.Bytes += c.now.Bytes - start.Bytes
		c.now.Malformed, c.now.Misfits, c.now.Foreign, c.now.Oversize = 2*c.now.Malformed, 2*c.now.Misfits, 2*c.now.Foreign, 2*c.now.Oversize
		c.now.Frames += c.now.Frames - start.Frames
		a.update(c.now, 2*time.Second) // the same again
		if c.want == "" && told != nil || c.want != "" && (len(told) != 1 || !strings.HasPrefix(told[0], "NO_FRAMES ") ||
			!strings.Contains(told[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.name, told, c.want)
		}
		if c.want != "" { // frames, and the trouble again
			c.now.Frames++
			a.update(c.now, 2500*time.Millisecond)
			a.update(c.now, 3490*time.Millisecond)
			if len(told) != 1 {
				t.Errorf("%s: told %d times, want 1", c.name, len(told))
			}
			a.update(c.now, 3500*time.Millisecond)
			if len(told) != 2 {
				t.Errorf("%s: told %d times, want 2", c.name, len(told))
			}
		}
	}
}

// A board that takes no commands is told after a second, once; a clock that jumps at once and then once a minute.
func TestCommandsAndClock(t *testing.T) {
	var told []string
	a := arrivals{cfg: configs.Demo(), emit: func(e hil.Event) { told = append(told, e.Code+" "+e.Text) }}
	st := device.Stats{Connected: 1, TxFrames: 10, TxErrors: 3, ClockJumps: 0}
	at := time.Duration(0)
	look := func(frames, errors, jumps uint64, d time.Duration, want ...string) {
		t.Helper()
		st.TxFrames, st.TxErrors, st.ClockJumps, at, told = st.TxFrames+frames, st.TxErrors+errors, st.ClockJumps+jumps, at+d, nil
		a.commands(st, at)
		a.clock(st, at)
		if len(told) != len(want) {
			t.Fatalf("%q, want %q", told, want)
		}
		for i := range want {
			if !strings.Contains(told[i], want[i]) {
				t.Errorf("%q, want %q", told[i], want[i])
			}
		}
	}
	look(1, 0, 0, 100*time.Millisecond)
	look(0, 0, 0, 2*time.Second) // nothing to send: no fault
	look(0, 50, 0, 990*time.Millisecond)
	look(0, 7, 0, 10*time.Millisecond, "NO_COMMANDS no command could be written to virtual for a second (57 tried)")
	look(0, 50, 0, 5*time.Second)
	look(1, 0, 0, time.Second)
	look(0, 50, 0, 999*time.Millisecond)
	look(0, 50, 0, time.Millisecond, "NO_COMMANDS")
	st.Connected = 0
	look(0, 50, 0, 2*time.Second)
	st.Connected = 1
	look(0, 1, 0, 100*time.Millisecond)

	look(1, 0, 1, time.Second, "CLOCK the clock of drive jumped, once:")
	look(1, 0, 30, 59*time.Second)
	look(1, 0, 2, time.Second, "CLOCK the clock of drive jumped, 32 times:")
	look(1, 0, 0, 90*time.Second)
	look(1, 0, 1, time.Second, "CLOCK the clock of drive jumped, once:")
}

// A tracker that began anew is told at once, then once a minute at most with the number of times.
func TestRestartsAreTold(t *testing.T) {
	var told []string
	a := arrivals{cfg: configs.Demo(), emit: func(e hil.Event) { told = append(told, e.Code+" "+e.Text) }}
	for _, c := range []struct {
		begun uint64
		at    time.Duration
		want  string
	}{
		{0, time.Second, ""}, {1, 2 * time.Second, "RESTARTED drive began anew, once, and"}, {3, 61 * time.Second, ""},
		{3, 62 * time.Second, "RESTARTED drive began anew, 2 times, and"}, {0, 63 * time.Second, ""}, {1, 122 * time.Second, "once"},
	} {
		told = nil
		a.restarts(device.Stats{DeviceRestarts: c.begun}, c.at)
		if got := strings.Join(told, "; "); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%d at %v: %q, want %q", c.begun, c.at, got, c.want)
		}
	}
}

// A board that sends at another rate than the file says is told within 2 s with both rates, not before a second,, and then once a minute;
// one that is right within a quarter, or loses frames on the way, is not. So it is with replies.
func TestRate(t *testing.T) {
	link := configs.Demo()
	plan, err := link.Plan(&link.Devices[0])
	if err != nil {
		t.Fatal(err)
	}
	turn := func(hz float64, once bool) protocol.Turn {
		return protocol.Turn{Period: time.Duration(1e9 / hz), AtStart: once}
	}
	bus := &protocol.Plan{Turns: []protocol.Turn{turn(1, true), turn(50, false), turn(10, false)}}
	for _, c := range []struct {
		name           string
		plan           *protocol.Plan
		arrived, lost  float64 // 1/s
		want           string
		reconnectEvery int // s
	}{
		{"as it says", plan, 1000, 0, "", 0},
		{"3/4 and a little", plan, 760, 0, "", 0},
		{"half", plan, 500, 0, "drive sends 500 frames per second, the file says 1000.", 0},
		{"twice", plan, 2000, 0, "drive sends 2000 frames per second, the file says 1000.", 0},
		{"4/3 less a little", plan, 1320, 0, "", 0},
		{"half of them damaged", plan, 500, 500, "", 0},
		{"silent", plan, 0, 0, "", 0},
		{"half, but it comes and goes", plan, 500, 0, "", 1},
		{"replies", bus, 60, 0, "", 0},
		{"half of the replies", bus, 30, 0, "drive gives 30 replies per second, the file asks for 60.", 0},
	} {
		var told []string
		a := arrivals{cfg: link, emit: func(e hil.Event) { told = append(told, e.Code+" "+e.Text) }, pace: paceOf(c.plan)}
		st := device.Stats{Connected: 1}
		for k := range 1500 {
			if c.reconnectEvery > 0 && k%(10*c.reconnectEvery) == 0 {
				st.Reconnects++
			}
			st.Arrived, st.Malformed = uint64(c.arrived*float64(k)/10), uint64(c.lost*float64(k)/10)
			st.Frames = st.Arrived
			a.paced(st, time.Duration(k)*100*time.Millisecond)
			if k == 10 && len(told) > 0 || k == 20 && len(told) == 0 && c.want != "" {
				t.Errorf("%s: told %d times within %d ms", c.name, len(told), 100*k)
			}
		}
		want := 0
		if c.want != "" {
			want = 3 // in two and a half minutes
		}
		if len(told) != want || want > 0 && !strings.HasPrefix(told[0], "RATE "+c.want) {
			t.Errorf("%s: %q, want %q", c.name, told, c.want)
		}
	}
}

// A board that goes over to another rate while it runs is told within 2 s, wherever the windows stand. What a stalled host takes at once
// later is no other rate.
func TestRateChanges(t *testing.T) {
	link := configs.Demo()
	plan, err := link.Plan(&link.Devices[0])
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	begin := func() *arrivals {
		told = nil
		return &arrivals{cfg: link, emit: func(e hil.Event) { told = append(told, e.Code) }, pace: paceOf(plan)}
	}
	for _, times := range []float64{0.5, 2} {
		for from := 30; from < 42; from++ { // tenths of a second
			a, sum := begin(), 0.0
			for k := range from + 20 {
				if a.paced(device.Stats{Connected: 1, Arrived: uint64(sum)}, time.Duration(k)*100*time.Millisecond); k < from && len(told) > 0 {
					t.Fatalf("told after %d ms", 100*k)
				}
				if sum += 100; k >= from {
					sum += 100 * (times - 1)
				}
			}
			if len(told) != 1 {
				t.Errorf("%g times the rate, from %d ms: told %d times", times, 100*from, len(told))
			}
		}
	}
	for stall := 1; stall <= 6; stall++ {
		for from := 30; from < 42; from++ {
			a := begin()
			for k := range 100 {
				arrived := 100 * k
				if k >= from && k < from+stall {
					arrived = 100 * from
				}
				a.paced(device.Stats{Connected: 1, Arrived: uint64(arrived)}, time.Duration(k)*100*time.Millisecond)
			}
			if len(told) != 0 {
				t.Errorf("a host that stalls for %d ms: %q", 100*stall, told)
			}
		}
	}
}

// A clock that stands still, or runs backwards, is told after half a second of it, and once a minute at most.
func TestStalledClockIsTold(t *testing.T) {
	var told []string
	a := arrivals{cfg: configs.Demo(), emit: func(e hil.Event) { told = append(told, e.Code+" "+e.Text) }}
	for _, c := range []struct {
		stalled, at, wrap time.Duration
		want              string
	}{
		{0, time.Second, 0, ""}, {499 * time.Millisecond, 2 * time.Second, 0, ""},
		{500 * time.Millisecond, 3 * time.Second, 0, "CLOCK the clock of drive stands still"},
		{61 * time.Second, 62 * time.Second, 0, ""}, {62 * time.Second, 63 * time.Second, 0, "for 62.0 s now"}, {0, 200 * time.Second, 0, ""},
		{500 * time.Millisecond, 201 * time.Second, 0, "CLOCK the clock of drive stands still"}, {0, 202 * time.Second, 0, ""},
		{500 * time.Millisecond, 203 * time.Second, 65536 * time.Microsecond, "CLOCK the clock of drive begins anew every 0.0655 s"},
		{2 * time.Second, 205 * time.Second, 65536 * time.Microsecond, ""},
	} {
		told = nil
		a.clock(device.Stats{ClockStalled: int64(c.stalled), ClockWrap: int64(c.wrap)}, c.at)
		if got := strings.Join(told, "; "); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%v at %v: %q, want %q", c.stalled, c.at, got, c.want)
		}
	}
}
