package device

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hilrig/hil/protocol"
	"hilrig/hil/rt"
	"hilrig/hil/wire"
)

// polaris is a tracking system of its own, from the words of NDI's guide: it shares no code with the program. It gives wireless tools
// handles of its choice, and keeps ports of wired tools as they are plugged in.
type polaris struct {
	sync.Mutex
	port     Port
	tracking bool
	handles  map[int]*polarisPort
	next     []int    // handles that PHRQ gives
	heard    []string // all commands
	rubbish  int      // replies with poses that are still to be damaged
	occupied int      // status of the system
	frame    int
}

type polarisPort struct {
	wired              bool
	serial             string
	definition         []byte
	initialized, ready bool
	x                  string // position as in TX
	toFree             bool
	gone               string // how the replies with poses tell that it is not seen: "left out", or in their own word
}

// replies reads commands until the port is closed.
func (s *polaris) replies() {
	var line []byte
	buf := make([]byte, 512)
	for {
		n, err := s.port.Read(buf)
		if err != nil {
			return
		}
		for _, b := range buf[:n] {
			if b != '\r' {
				line = append(line, b)
				continue
			}
			s.Lock()
			reply := s.reply(string(line))
			s.Unlock()
			line = line[:0]
			s.port.Write(reply, time.Second)
		}
	}
}

func (s *polaris) reply(line string) []byte {
	body := line[:len(line)-4]
	if string(ndiReply(body)) != line+"\r" {
		return ndiReply("ERROR04")
	}
	s.heard = append(s.heard, body)
	word, rest, _ := strings.Cut(body, ":")
	handle := func() *polarisPort {
		h, err := strconv.ParseInt(rest[:min(2, len(rest))], 16, 32)
		if err != nil {
			return nil
		}
		return s.handles[int(h)]
	}
	switch {
	case word == "TX":
		return s.poses()
	case word == "BX":
		return s.binary()
	case word == "TSTOP" && !s.tracking:
		return ndiReply("ERROR0C")
	case word == "TSTOP":
		s.tracking = false
	case s.tracking:
		return ndiReply("ERROR0C")
	case word == "INIT":
	case word == "TSTART":
		s.tracking = true
	case word == "PHSR":
		var list string
		n := 0
		for h, p := range s.handles {
			if p.toFree == (rest == "01") || rest == "00" {
				list += fmt.Sprintf("%02X001", h)
				n++
			}
		}
		s.occupied = 0
		return ndiReply(fmt.Sprintf("%02X%s", n, list))
	case word == "PHRQ" && len(s.next) == 0:
		return ndiReply("ERROR2D")
	case word == "PHRQ" && rest == "*********1****":
		h := s.next[0]
		s.next = s.next[1:]
		s.handles[h] = &polarisPort{}
		return ndiReply(fmt.Sprintf("%02X", h))
	case handle() == nil:
		return ndiReply("ERROR08")
	case word == "PHF":
		h, _ := strconv.ParseInt(rest, 16, 32)
		delete(s.handles, int(h))
	case word == "PVWR":
		at, _ := strconv.ParseInt(rest[2:6], 16, 32)
		b, err := hex.DecodeString(rest[6:])
		if p := handle(); err != nil || len(b) != 64 || int(at) != len(p.definition) {
			return ndiReply("ERROR07")
		} else {
			p.definition = append(p.definition, b...)
		}
	case word == "PINIT":
		p := handle()
		if !p.wired && (len(p.definition) == 0 || p.definition[0] == '?') {
			return ndiReply("ERROR13")
		}
		if !p.wired { // the definition says what it is: here its first letter is its place
			p.x = fmt.Sprintf("%+07d", 1000*int(p.definition[0]))
			p.serial = strings.Repeat(string(p.definition[0]), 8)
		}
		p.initialized = true
	case word == "PHINF":
		return ndiReply("02000000" + "NDI         " + "001" + handle().serial + "11")
	case word == "PENA":
		handle().ready = handle().initialized
	}
	return ndiReply("OKAY")
}

func (s *polaris) poses() []byte {
	if !s.tracking {
		return ndiReply("ERROR0C")
	}
	s.frame++
	text, n := "", 0
	for h, p := range s.handles {
		if !p.ready || p.gone == "left out" {
			continue
		}
		n++
		pose := "+10000+00000+00000+00000" + p.x + "+000000+000000+00000"
		switch p.gone {
		case "DISABLED", "UNOCCUPIED":
			text += fmt.Sprintf("%02X%s\n", h, p.gone)
			continue
		case "MISSING":
			pose = p.gone
		}
		text += fmt.Sprintf("%02X%s00000031%08X\n", h, pose, s.frame)
	}
	b := ndiReply(fmt.Sprintf("%02X%s%04X", n, text, s.occupied))
	if s.rubbish > 0 {
		s.rubbish--
		b[len(b)-8] ^= 0x15
	}
	return b
}

// binary is poses in the form of BX: a head with its CRC, the tools, the status of the system, a CRC.
func (s *polaris) binary() []byte {
	if !s.tracking {
		return ndiReply("ERROR0C")
	}
	s.frame++
	le := binary.LittleEndian
	n, body := byte(0), []byte{}
	for h, p := range s.handles {
		if !p.ready || p.gone == "left out" {
			continue
		}
		if p.gone == "DISABLED" {
			n, body = n+1, append(body, byte(h), 4)
			continue
		}
		x, err := strconv.ParseFloat(p.x, 32)
		if err != nil {
			panic(err)
		}
		if p.gone == "MISSING" {
			n, body = n+1, append(body, byte(h), 2)
		} else {
			n, body = n+1, append(body, byte(h), 1)
			for _, v := range []float64{1, 0, 0, 0, x / 100, 0, 0, 0} { // mm
				body = le.AppendUint32(body, math.Float32bits(float32(v)))
			}
		}
		body = le.AppendUint32(le.AppendUint32(body, 0x31), uint32(s.frame))
	}
	body = le.AppendUint16(append([]byte{n}, body...), uint16(s.occupied))
	b := le.AppendUint16([]byte{0xC4, 0xA5}, uint16(len(body)))
	b = le.AppendUint16(b, ndiCRC(b))
	b = le.AppendUint16(append(b, body...), ndiCRC(body))
	if s.rubbish > 0 {
		s.rubbish--
		b[len(b)-8] ^= 0x15
	}
	return b
}

// forms are those in which poses are asked for.
var forms = []protocol.NDIReply{protocol.ReplyTX, protocol.ReplyBX}

// polarisRig is the program's end of the line.
func polarisRig(t *testing.T, s *polaris, reply protocol.NDIReply, tools []protocol.Tool) (*Rig, func(tool string) float64) {
	t.Helper()
	port, name, err := OpenPTY("")
	if err != nil {
		t.Fatal(err)
	}
	s.port = port
	t.Cleanup(func() { port.Close() })
	go s.replies()
	var fields []wire.Field
	for _, tool := range tools {
		fields = append(fields, wire.Field{Name: tool.Name + ".x", Unit: "m", Scale: 1})
	}
	n := &protocol.NDI{Tools: tools, Reply: reply, Timeout: 0.2}
	rig, err := NewRig(Options{Name: "tracker", Port: name, Protocol: n, Measure: fields, Safe: []float64{}, Rate: 100, Loop: 1000, TxCPU: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rig.Close() })
	if err := rig.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	meas, _ := rig.Signals()
	y := make([]float64, len(meas))
	return rig, func(tool string) float64 {
		rig.Poll(rt.Now(), y)
		for i := range meas {
			if meas[i].Name == tool+".x" || meas[i].Name == tool {
				return y[i]
			}
		}
		t.Fatalf("no %s", tool)
		return 0
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in 20 s", what)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// Wireless tools: their definitions arrive whole, old handles are given back, and poses go to the tool that was defined, whatever handle
// the system gave it, at the first start and after the next one.
func TestPolarisWireless(t *testing.T) {
	for _, form := range forms {
		t.Run(form.String(), func(t *testing.T) {
			t.Parallel()
			testWireless(t, form)
		})
	}
}

func testWireless(t *testing.T, form protocol.NDIReply) {
	define := func(first byte, n int) []byte { return append([]byte{first}, bytes.Repeat([]byte{0xA7, 0}, n)...) }
	first, second := define('2', 375), define('3', 31)
	s := &polaris{next: []int{0x35, 0x21, 0x21, 0x40}, handles: map[int]*polarisPort{
		5: {toFree: true}, 7: {toFree: true}, 10: {wired: true, serial: "34801403", x: "+050000"},
	}}
	rig, x := polarisRig(t, s, form, []protocol.Tool{{Name: "A", ROM: "a.rom", Definition: first},
		{Name: "B", ROM: "b.rom", Definition: second}, {Name: "C", Number: 10}})
	right := func() bool { return near(x("A"), 0.5) && near(x("B"), 0.51) && near(x("C"), 0.5) }
	eventually(t, "poses", right)
	s.Lock()
	for h, want := range map[int][]byte{0x35: first, 0x21: second} {
		p := s.handles[h]
		if p == nil || len(p.definition) != (len(want)+63)/64*64 || !bytes.Equal(p.definition[:len(want)], want) ||
			len(bytes.Trim(p.definition[len(want):], "\x00")) != 0 {
			t.Errorf("%02X has not got its definition: %v", h, p)
		}
	}
	if s.handles[5] != nil || s.handles[7] != nil || len(s.handles) != 3 {
		t.Errorf("handles %v", s.handles)
	}
	// the system forgets everything: B's handle of before is A's now
	s.tracking, s.handles = false, map[int]*polarisPort{10: s.handles[10]}
	s.handles[10].initialized, s.handles[10].ready = false, false
	s.Unlock()
	eventually(t, "a new start", func() bool { return stats(rig).DeviceRestarts == 1 && right() })
	if n := stats(rig).Refusals; n != 0 {
		t.Errorf("%d refusals: %s", n, trouble(rig))
	}
}

// A definition that the system refuses, a handle that no tool has and handles that are all given away leave the other tools as they are.
func TestPolarisRefusesATool(t *testing.T) {
	for i, c := range []struct {
		tool    protocol.Tool
		next    []int // handles that are free
		because string
	}{
		{protocol.Tool{Name: "A", Number: 11}, nil, "invalid port handle"},
		{protocol.Tool{Name: "A", ROM: "a.rom", Definition: []byte("?2")}, []int{3}, "unable to initialize"},
		{protocol.Tool{Name: "A", ROM: "a.rom", Definition: []byte("2")}, nil, "all port handles are allocated"},
	} {
		t.Run(c.because, func(t *testing.T) {
			t.Parallel()
			s := &polaris{next: c.next, handles: map[int]*polarisPort{10: {wired: true, serial: "34801403", x: "+050000"}}}
			rig, x := polarisRig(t, s, forms[i%2], []protocol.Tool{c.tool, {Name: "C", Number: 10}})
			eventually(t, "poses", func() bool { return near(x("C"), 0.5) })
			if v := x("A"); v == v || stats(rig).Refusals != 1 || !strings.Contains(trouble(rig), c.because) {
				t.Errorf("%v, %d refusals, %q", v, stats(rig).Refusals, trouble(rig))
			}
		})
	}
}

// A tool that is not seen, whose handle is disabled, or that the replies do not speak of, has no pose or one whose age grows; its wireless
// and wired neighbours go on. When it is seen again it has its pose.
func TestPolarisToolVanishes(t *testing.T) {
	for _, form := range forms {
		for _, how := range []string{"MISSING", "DISABLED", "UNOCCUPIED", "left out"} {
			if form == protocol.ReplyBX && how == "UNOCCUPIED" {
				continue // it is DISABLED there
			}
			t.Run(form.String()+" "+how, func(t *testing.T) {
				t.Parallel()
				s := &polaris{next: []int{2}, handles: map[int]*polarisPort{10: {wired: true, serial: "34801403", x: "+050000"}}}
				rig, x := polarisRig(t, s, form, []protocol.Tool{{Name: "A", ROM: "a.rom", Definition: []byte("3")}, {Name: "C", Number: 10}})
				both := func() bool { return near(x("A"), 0.51) && near(x("C"), 0.5) }
				eventually(t, "poses", both)
				s.Lock()
				s.handles[2].gone = how
				s.handles[10].x = "+060000"
				s.Unlock()
				eventually(t, "C alone", func() bool {
					v := x("A")
					return near(x("C"), 0.6) && (v != v || how == "left out" && x("A.age") > 0.3)
				})
				if n := stats(rig).Refusals + stats(rig).DeviceRestarts; n != 0 {
					t.Errorf("%d refusals and restarts: %q", n, trouble(rig))
				}
				s.Lock()
				s.handles[2].gone = ""
				s.handles[10].x = "+050000"
				s.Unlock()
				eventually(t, "poses again", both)
			})
		}
	}
}

// The only tool is plugged in after the start: the replies before spoke of no tool.
func TestPolarisPluggedLater(t *testing.T) {
	for _, form := range forms {
		t.Run(form.String(), func(t *testing.T) {
			t.Parallel()
			s := &polaris{handles: map[int]*polarisPort{}}
			rig, x := polarisRig(t, s, form, []protocol.Tool{{Name: "A", Number: 10}})
			eventually(t, "a refusal", func() bool { return stats(rig).Refusals == 1 })
			s.Lock()
			s.handles[10] = &polarisPort{wired: true, serial: "34801403", x: "+050000"}
			s.occupied = 1 << 6
			s.Unlock()
			eventually(t, "poses", func() bool { return near(x("A"), 0.5) })
		})
	}
}

// A wired tool that is plugged in anew has another handle, and its old one is to be freed: it is given back, and the tool is refused at
// the handle of the file, where another one is then.
func TestPolarisHandleGivenAnew(t *testing.T) {
	for _, form := range forms {
		t.Run(form.String(), func(t *testing.T) {
			t.Parallel()
			s := &polaris{handles: map[int]*polarisPort{10: {wired: true, serial: "34801403", x: "+050000"},
				11: {wired: true, serial: "77777777", x: "-025000"}}}
			rig, x := polarisRig(t, s, form, []protocol.Tool{{Name: "A", Number: 10}, {Name: "B", Number: 11}})
			eventually(t, "poses", func() bool { return near(x("A"), 0.5) && near(x("B"), -0.25) })
			s.Lock()
			s.handles[10].toFree, s.handles[10].ready = true, false
			s.handles[12] = &polarisPort{wired: true, serial: "34801403", x: "+040000"}
			s.occupied = 1 << 6
			s.Unlock()
			gone := func() bool { v := x("A"); return v != v && near(x("B"), -0.25) }
			eventually(t, "A is gone", func() bool { return stats(rig).DeviceRestarts == 1 && gone() })
			if n := stats(rig).Refusals; n == 0 || !strings.Contains(trouble(rig), "invalid port handle") {
				t.Errorf("%d refusals: %q", n, trouble(rig))
			}
			s.Lock() // B's tool goes to the handle of A, A's to that of B
			s.handles = map[int]*polarisPort{10: {wired: true, serial: "77777777", x: "+030000"},
				11: {wired: true, serial: "34801403", x: "+020000"}}
			s.occupied = 1 << 6
			s.Unlock()
			eventually(t, "both refused", func() bool {
				a, b := x("A"), x("B")
				return stats(rig).DeviceRestarts == 2 && a != a && b != b && strings.Contains(trouble(rig), "another tool")
			})
		})
	}
}

// Tools that were exchanged at their ports are refused: those that the file names by their serial numbers at once, others when they were
// exchanged under way.
func TestPolarisToolsExchanged(t *testing.T) {
	for i, c := range []struct {
		name    string
		serial  string // that the file wants
		there   string // at the start
		then    string // plugged in later; "": nothing is
		refused int    // 1 at the start, 2 later, 0 never
		because string
		unplug  bool // said in the status
	}{
		{name: "right", serial: "34801403", there: "34801403", then: "34801403"},
		{name: "any", there: "34801403", then: "34801403"},
		{name: "other than the file says", serial: "34801403", there: "11111111", refused: 1, because: "not that of the file"},
		{name: "exchanged", there: "34801403", then: "11111111", refused: 2, because: "first start"}, // BX
		{name: "exchanged, TX", there: "34801403", then: "11111111", refused: 2, because: "first start"},
		{name: "exchanged, in the file", serial: "34801403", there: "34801403", then: "11111111", refused: 2, because: "not that of the file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &polaris{handles: map[int]*polarisPort{10: {wired: true, serial: c.there, x: "+050000"},
				11: {wired: true, serial: "7", x: "-025000"}}}
			s.handles[11].serial = "77777777"
			rig, x := polarisRig(t, s, forms[i%2], []protocol.Tool{{Name: "A", Number: 10, Serial: c.serial}, {Name: "B", Number: 11}})
			eventually(t, "poses of B", func() bool { return near(x("B"), -0.25) })
			if c.refused == 1 {
				if v := x("A"); v == v {
					t.Errorf("A is at %v", v)
				}
			} else {
				eventually(t, "poses of A", func() bool { return near(x("A"), 0.5) })
			}
			if c.then != "" {
				s.Lock()
				s.handles[10] = &polarisPort{wired: true, serial: c.then, x: "+030000"}
				s.occupied = 1 << 6
				s.Unlock()
				eventually(t, "a new start", func() bool { return stats(rig).DeviceRestarts == 1 })
				eventually(t, "poses of B again", func() bool { return near(x("B"), -0.25) })
				if c.refused == 0 {
					eventually(t, "poses of A again", func() bool { return near(x("A"), 0.3) })
				} else {
					eventually(t, "A is gone", func() bool { v := x("A"); return v != v })
					s.Lock()
					if s.handles[10].ready {
						t.Error("the other tool is enabled")
					}
					s.Unlock()
				}
			}
			if (stats(rig).Refusals > 0) != (c.refused > 0) || !strings.Contains(trouble(rig), c.because) {
				t.Errorf("%d refusals: %q, want %q", stats(rig).Refusals, trouble(rig), c.because)
			}
			s.Lock()
			defer s.Unlock()
			if enabled := slices.Contains(s.heard, "PENA:0AD"); c.refused == 1 && enabled {
				t.Errorf("a tool that was refused is enabled: %q", s.heard)
			}
		})
	}
}

// Replies that are damaged one behind the other are counted each, and cost their own sample, not the time-out of the question.
func TestPolarisDamaged(t *testing.T) {
	for _, form := range forms {
		s := &polaris{handles: map[int]*polarisPort{10: {wired: true, serial: "34801403", x: "+050000"}}}
		rig, x := polarisRig(t, s, form, []protocol.Tool{{Name: "A", Number: 10}})
		eventually(t, "poses", func() bool { return near(x("A"), 0.5) })
		before := stats(rig)
		s.Lock()
		s.rubbish = 6
		s.Unlock()
		eventually(t, "poses again", func() bool { return stats(rig).Frames > before.Frames+10 })
		if after := stats(rig); after.Malformed-before.Malformed != 6 || after.Timeouts != before.Timeouts {
			t.Errorf("%v: %d damaged replies counted, %d questions timed out; want 6, 0", form, after.Malformed-before.Malformed,
				after.Timeouts-before.Timeouts)
		}
	}
}
