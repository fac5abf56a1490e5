package tracker

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"os"
	"testing"

	"hilrig/hil/wire"
)

// No published frame was found of these. They were put together from the documents by Python's struct and a bit-by-bit CRC, not by an
// encoder of this package.
var computed = []published{
	{kind: "ndi", source: "[NDI11] BX 0001: handle 0A with a pose, 0B missing and out of the volume, 0C disabled", name: "BX", device: 10,
		hex: "c4a539003f43030a010000003f000000bf0000003f000000bf0080c842008048c30084bbc40000003e31000000d20400000b0271000000d20400000c044000282c",
		wants: []want{{QW, 0.5, 1, 0}, {QX, -0.5, 1, 0}, {QZ, -0.5, 1, 0}, {X, 100.25, 1e-3, 1e-9}, {Y, -200.5, 1e-3, 1e-9},
			{Z, -1500.125, 1e-3, 1e-9}, {Error, 0.125, 1e-3, 1e-9}, {Count, 1234, 1, 0}, {OutOfVolume, 0, 1, 0}, {System, 0x40, 1, 0}}},
	{kind: "ndi", source: "[NDI11] BX 0009: handle 01 with a pose and two markers", name: "BX", device: 1,
		hex:   "c4a547001ee30101010000003f000000bf0000003f000000bf0080c842008048c30084bbc40000003e310000004d00000002000000803f0000004000004040000080400000a0400000c0400000b4cc",
		wants: []want{{QY, 0.5, 1, 0}, {X, 100.25, 1e-3, 1e-9}, {Count, 77, 1, 0}, {Missing, 0, 1, 0}}},
	{kind: "vectornav", source: "the published VNYMR of vnproglib with the checksum of 16 bits, by the C function of [VN19] §3.8.3 in Python",
		name:  "VNYMR",
		text:  "$VNYMR,+100.949,-007.330,+000.715,-00.0049,-00.2449,+00.5397,-01.258,-00.100,-09.701,-00.000018,+00.001122,-00.000551*C251\r\n",
		wants: []want{{Yaw, 100.949, deg, 1e-12}, {WY, 0.001122, 1, 1e-12}}},
	{kind: "fastrak", source: "[Pol02] items 2,4,1, inches and degrees", name: "FASTRAK", device: 2,
		hex: "303220000020410000a0c10000f0410000b442000034c2000034430d0a",
		wants: []want{{X, 10, 0.0254, 1e-9}, {Y, -20, 0.0254, 1e-9}, {Z, 30, 0.0254, 1e-9}, {Yaw, 90, deg, 1e-9}, {Pitch, -45, deg, 1e-9},
			{Roll, 180, deg, 1e-9}, {Status, ' ', 1, 0}}},
	{kind: "fastrak", source: "[Pol02] items 2,11,0", name: "FASTRAK", device: 1,
		hex:   "3031200000803f00000040000040400000003f0000003f000000bf0000003f20",
		wants: []want{{X, 1, 0.0254, 1e-9}, {QW, 0.5, 1, 0}, {QY, -0.5, 1, 0}, {Status, ' ', 1, 0}}},
	{kind: "polhemus", source: "[Pol12] PATRIOT, items 2,7", name: "PATRIOT", device: 2,
		hex:   "5041024320001c000000803f00000040000040400000003f0000003f000000bf0000003f",
		wants: []want{{X, 1, 0.0254, 1e-9}, {Z, 3, 0.0254, 1e-9}, {QW, 0.5, 1, 0}, {QY, -0.5, 1, 0}, {QZ, 0.5, 1, 0}}},
}

func init() {
	publishedFrames = append(publishedFrames, computed...)
}

// A reply to BX2, a container of version 1 with one frame of no tool (header of 12 bytes each, by Python's struct), is none to BX.
func TestNDIContainerIsNoBX(t *testing.T) {
	b, err := hex.DecodeString("c4a5300039130100010001002c000000000001000000010000" +
		"0003000000e8030000000000000100010002000c000000000000000000c016")
	if err != nil {
		t.Fatal(err)
	}
	for _, option := range []int{0, NDITransforms} {
		d, f := NewNDI(), new(Frame)
		d.Option = option
		if _, st := d.Next(b, f); st != wire.Good || f.Role != Other || d.Counters().Foreign != 1 {
			t.Errorf("option %d: %v, %v with %d devices", option, st, f.Role, f.N)
		}
	}
}

// The handles without a pose of the reply computed above.
func TestNDIStates(t *testing.T) {
	d, f := NewNDI(), new(Frame)
	d.Next(computed[0].bytes(t), f)
	b, c := f.Find(0x0B), f.Find(0x0C)
	if f.N != 3 || b == nil || b.V[Missing] != 1 || b.V[OutOfVolume] != 1 || b.Present.Contains(X) || c == nil || c.V[Missing] != 1 ||
		c.Present.Contains(X) {
		t.Errorf("%d samples; %+v %+v", f.N, b, c)
	}
}

// Recordings of an MTi-G-710 in five settings, with the values that the tests of einride/xsens-go (testdata/N/output.golden) expect of
// them.
func TestXsensRecorded(t *testing.T) {
	for _, c := range []struct {
		file  string
		nth   int // message
		wants []want
	}{
		{"xsens1.bin", 0, []want{{Count, 43398, 1, 0}, {Time, 51703123, 1e-4, 1e-3}, {AX, -0.017374228686094284, 1, 0},
			{AY, -7.255744934082031, 1, 0}, {DVZ, -0.012093370780348778, 1, 0},
			{WX, -0.002965700812637806, 1, 0}, {DQW, 1.0000001192092896, 1, 0}, {DQZ, 8.612854799139313e-06, 1, 0}, {Status, 0x01800007, 1, 0}}},
		{"xsens2.bin", 0, []want{{Count, 43498, 1, 0}, {AX, 0.03061389923095703, 1, 0}, {AY, -7.268850326538086, 1, 0},
			{WX, -0.0011949539184570312, 1, 0}, {DQW, 1.0000009536743164, 1, 0}, {Status, 5, 1, 0}}},
		{"xsens3.bin", 0, []want{{AX, 0.04618605226278305, 1, 0}, {AY, -7.263570785522461, 1, 0}, {WZ, -0.0037502634804695845, 1, 0},
			{DQW, 1.0000000002328306, 1, 0}, {DQZ, -1.875101588666439e-05, 1, 0}}},
		{"xsens4.bin", 0, []want{{AX, 0.004198981914669275, 1, 0}, {AZ, -1.2127814292907715, 1, 0}, {WX, 7.860166806494818e-05, 1, 0},
			{DQX, 3.9300832099797844e-07, 1, 0}}},
		{"xsens4.bin", 1, []want{{Roll, -99.4968032836914, deg, 1e-12}, {Pitch, -0.033391352742910385, deg, 1e-12},
			{Yaw, 179.8058624267578, deg, 1e-12}}},
		{"xsens5.bin", 0, []want{{Pressure, 101389, 1, 0}, {Status, 0x01800005, 1, 0}}},
		{"xsens5.bin", 1, []want{{Temperature, 36.8125, 1, 0}, {FieldX, 0.06534180045127869, 1, 0}, {FieldZ, 0.15100254118442535, 1, 0}}},
		// the rotation matrix comes first; the quaternion is the one that was sent
		{"xsens5.bin", 2, []want{{QW, 0.0038471566513180733, 1, 0}, {QX, -0.003237534314393997, 1, 0}, {QY, -0.764083743095398, 1, 0},
			{FreeX, 0.0028199325315654278, 1, 0}, {FreeY, -0.010802523232996464, 1, 0}}},
	} {
		b, err := os.ReadFile("testdata/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		d, f := NewXsens(), new(Frame)
		for range c.nth + 1 {
			n, st := d.Next(b, f)
			if b = b[n:]; st != wire.Good {
				t.Fatalf("%s: %v", c.file, st)
			}
		}
		for _, w := range c.wants {
			if s := &f.S[0]; !s.Present.Contains(w.q) || math.Abs(s.V[w.q]/w.scale-w.v) > w.tol {
				t.Errorf("%s, message %d: %v is %v, want %v", c.file, c.nth, w.q, s.V[w.q]/w.scale, w.v)
			}
		}
	}
}

// The rotation matrix of a recorded message is the one of the quaternion in the same message (both in its output.golden).
func TestXsensMatrix(t *testing.T) {
	a := []float64{-0.9999493360519409, 0.009911076165735722, 0.0017020497471094131, -1.608673483133316e-05, 0.167677640914917,
		-0.9858417510986328,
		-0.01005614921450615, -0.9857919216156006, -0.16766905784606934} // column by column
	q := fromMatrix(a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8])
	for i, d := range []float64{q.Real - 0.0038471566513180733, q.Imag + 0.003237534314393997, q.Jmag + 0.764083743095398} {
		if math.Abs(d) > 1e-6 {
			t.Errorf("component %d is off by %v", i, d)
		}
	}
	for k, v := range columns(q) {
		if math.Abs(v-a[k]) > 1e-6 {
			t.Errorf("element %d: %v, want %v", k, v, a[k])
		}
	}
}

// A message with the long form of the length, put together here: 0xFA 0xFF 0x36 0xFF, two bytes of length, 90 times the item 0x0810 with
// 36.8125 as float32, the checksum.
func TestXsensExtended(t *testing.T) {
	item, _ := hex.DecodeString("08100442134000")
	b := []byte{0xFA, 0xFF, 0x36, 0xFF, 0, 0}
	for range 90 {
		b = append(b, item...)
	}
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)-6))
	s := byte(0)
	for _, c := range b[1:] {
		s += c
	}
	b = append(b, -s)
	d, f := NewXsens(), new(Frame)
	if n, st := d.Next(b, f); st != wire.Good || n != len(b) || f.S[0].V[Temperature] != 36.8125 || f.S[0].Extra != 89 {
		t.Errorf("%v after %d of %d: %v, %d extra", st, n, len(b), f.S[0].V[Temperature], f.S[0].Extra)
	}
}

// Every CRC and every sum of the published frames is checked: any bit that flips is found, but where a protocol has no checksum.
func TestFlippedBits(t *testing.T) {
	for _, p := range publishedFrames {
		if p.kind == "polhemus" || p.kind == "fastrak" {
			continue
		}
		good := p.bytes(t)
		for bit := range 8 * len(good) {
			b := append([]byte(nil), good...)
			b[bit/8] ^= 1 << (bit % 8)
			if v := b[bit/8] ^ good[bit/8]; v == 0x20 && p.kind != "witmotion" && p.kind != "bno08x" && p.text != "" {
				continue // a hexadecimal digit in small letters is the same number
			}
			d, f := kind(t, p.kind).NewDecoder(), new(Frame)
			got, _ := decodeAll(d, f, b, len(b))
			for _, g := range got {
				if len(g.raw) == len(good) {
					t.Errorf("%s: bit %d flipped, and taken", p.source, bit)
				}
			}
		}
	}
}

// xsensFrames are the messages of the recordings.
func xsensFrames(t testing.TB) (out [][]byte) {
	for _, name := range []string{"xsens1.bin", "xsens2.bin", "xsens3.bin", "xsens4.bin", "xsens5.bin"} {
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		d, f := NewXsens(), new(Frame)
		for {
			n, st := d.Next(b, f)
			if b = b[n:]; st == wire.More {
				break
			}
			out = append(out, append([]byte(nil), f.Raw...))
		}
	}
	return out
}

// Angles and quaternion are each other's inverse, in the order yaw, pitch, roll: scipy.spatial.transform.Rotation.from_euler("ZYX", [40,
// −25, 110], degrees=True).as_quat() is (x y z w) as below.
func TestAngles(t *testing.T) {
	q := FromAngles(40*deg, -25*deg, 110*deg)
	for i, d := range []float64{q.Real - 0.4655703061714797, q.Imag - 0.7939649312273412, q.Jmag - 0.1568676116694766,
		q.Kmag - 0.35812920908754753} {
		if math.Abs(d) > 1e-12 {
			t.Errorf("component %d is off by %v", i, d)
		}
	}
	for _, a := range [][3]float64{{40, -25, 110}, {-179, 89, 3}, {0, 0, 0}, {12, -89.9, -170}, {33, 90, 0}, {33, -90, 0}} {
		q := FromAngles(a[0]*deg, a[1]*deg, a[2]*deg)
		y, p, r := Angles(q)
		b := FromAngles(y, p, r)
		if dot := math.Abs(q.Real*b.Real + q.Imag*b.Imag + q.Jmag*b.Jmag + q.Kmag*b.Kmag); dot < 1-1e-12 {
			t.Errorf("%v becomes %v %v %v", a, y/deg, p/deg, r/deg)
		}
		if math.Abs(p/deg-a[1]) > 1e-5 {
			t.Errorf("pitch %v becomes %v", a[1], p/deg)
		}
	}
}

// The longest message is taken, one byte more is none: neither holds back the frame behind it.
func TestLongest(t *testing.T) {
	xbus := func(n int) []byte { // a message that means nothing here
		b := append([]byte{0xFA, 0xFF, 0xC1, 0xFF, byte(n >> 8), byte(n)}, make([]byte, n)...)
		s := byte(0)
		for _, c := range b[1:] {
			s += c
		}
		return append(b, -s)
	}
	text := func(n int) []byte { // n bytes with the line end
		b := append([]byte("$VNRRG,"), make([]byte, n-7-5)...)
		for i := 7; i < len(b); i++ {
			b[i] = '1'
		}
		x := byte(0)
		for _, c := range b[1:] {
			x ^= c
		}
		const digits = "0123456789ABCDEF"
		return append(b, '*', digits[x>>4], digits[x&15], '\r', '\n')
	}
	ndi := func(n int) []byte { // n bytes of data that fit no option
		h := []byte{0xC4, 0xA5, byte(n), byte(n >> 8)}
		crc := func(b []byte) []byte {
			r := uint16(0)
			for _, c := range b {
				r ^= uint16(c)
				for range 8 {
					if r&1 != 0 {
						r = r>>1 ^ 0xA001
					} else {
						r >>= 1
					}
				}
			}
			return []byte{byte(r), byte(r >> 8)}
		}
		data := make([]byte, n)
		data[0] = 0xFF
		return append(append(append(h, crc(h)...), data...), crc(data)...)
	}
	for _, c := range []struct {
		kind string
		make func(n int) []byte
		most int
		next []byte
	}{{"xsens", xbus, 2048, xsensFrames(t)[0]}, {"vectornav", text, 256, []byte("$VNRRG,01,VN-200T-CR*31\r\n")},
		{"ndi", ndi, 8192 - 8, []byte("OKAYA896\r")}} {
		for _, over := range []int{0, 1} {
			long := c.make(c.most + over)
			got, _ := decodeAll(kind(t, c.kind).NewDecoder(), new(Frame), append(append([]byte(nil), long...), c.next...), 100)
			last := got[len(got)-1]
			if last.raw != string(c.next) || (got[0].raw == string(long)) != (over == 0) {
				t.Errorf("%s, %d bytes: %d frames, the first of %d, the last of %d bytes", c.kind, c.most+over, len(got), len(got[0].raw),
					len(last.raw))
			}
		}
	}
}

// Sixteen tools are told of, and not one more.
func TestMostTools(t *testing.T) {
	for _, n := range []int{MaxDevices, MaxDevices + 1} {
		data := []byte{byte(n)}
		for i := range n {
			data = append(data, byte(i+1), ndiDisabled)
		}
		f := new(Frame)
		if ok := NewNDI().bx(append(data, 0, 0), f); ok != (n == MaxDevices) || ok && f.N != n {
			t.Errorf("%d tools: %v, %d samples", n, ok, f.N)
		}
	}
}

// A record that its device calls wrong has a status and a count, and no pose; four zeros are no attitude.
func TestNoPose(t *testing.T) {
	for name, c := range map[string]struct {
		kind, hex string
		device    int
		has, not  Set
	}{
		"FASTRAK with a flag": {"fastrak", "3031410000803f00000040000040400000003f0000003f000000bf0000003f20", 1, Of(Status), pose},
		"PATRIOT with a flag": {"polhemus", "5041024361001c000000803f00000040000040400000003f0000003f000000bf0000003f", 2, Of(Status),
			pose},
		"PATRIOT without one": {"polhemus", "5041024300001c000000803f00000040000040400000003f0000003f000000bf0000003f", 2,
			Run(X, 3) | Run(QW, 4), 0},
		"PATRIOT without an attitude": {"polhemus", "5041024320001c000000803f000000400000404000000000000000000000008000000000", 2, Run(X, 3),
			Run(QW, 4)},
	} {
		d, f := kind(t, c.kind).NewDecoder(), new(Frame)
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		if n, st := d.Next(b, f); st != wire.Good || n != len(b) {
			t.Errorf("%s: %v after %d bytes", name, st, n)
			continue
		}
		if s := f.Find(c.device); s == nil || s.Present&c.has != c.has || s.Present&c.not != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
