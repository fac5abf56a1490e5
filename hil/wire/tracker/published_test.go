package tracker

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"hilrig/hil/wire"
)

// published are frames from manufacturers' documents and from other projects, as they stand there. wants are in the units of the
// document, with the factor to SI behind them.
type want struct {
	q     Quantity
	v     float64 // in the document's unit
	scale float64 // of that unit; 0: 1
	tol   float64 // in the document's unit; 0: the number is exact
}

type published struct {
	kind, source string
	hex          string // or text
	text         string
	device       int
	name         string
	wants        []want
}

const (
	deg = math.Pi / 180
	mg  = 9.80665e-3
)

var publishedFrames = []published{
	{kind: "bno08x", source: "BNO080 data sheet 1000-3927, §1.3.5.2, with the values that it prints", name: "RVC",
		hex: "AA AA DE 01 00 92 FF 25 08 8D FE EC FF D1 03 00 00 00 E7",
		wants: []want{{Count, 222, 0, 0}, {Yaw, 0.01, deg, 1e-12}, {Pitch, -1.10, deg, 1e-12}, {Roll, 20.85, deg, 1e-12},
			{AX, -371, mg, 1e-9}, {AX, -3.638, 1, 5e-4}, {AY, -20, mg, 1e-9}, {AZ, 977, mg, 1e-9}}},
	{kind: "vectornav", source: "VN-100 User Manual, §5.3.7, case 1: yaw, pitch, roll", name: "binary",
		hex:   "FA 01 08 00 93 50 2E 42 83 3E F1 3F 48 B5 04 BB 92 88",
		wants: []want{{Yaw, 43.578686, deg, 1e-6}, {Pitch, 1.8847202, deg, 1e-7}, {Roll, -2.0249654e-3, deg, 1e-10}}},
	{kind: "vectornav", source: "UWOrbital/OBC-firmware, test_vn100_unpack.cpp: a VN-100 with angles, rate, acceleration, field, " +
		"temperature, pressure", name: "binary",
		hex: "FA 01 28 05 A8 02 C3 3F E7 89 B0 42 3D A9 6A C1 D0 83 54 3A 92 3E 0B BB 1C 25 30 BA 04 7D 1C 41 3B B2 83 3D 4E EA 9C BE F1 BD 93 " +
			"BE A4 55 8C BD 26 C7 77 3E F4 28 E6 41 57 CE C1 42 C0 E9",
		// the floats by Python's struct
		wants: []want{{Yaw, 1.5235185623168945, deg, 1e-12}, {Pitch, 88.26934051513672, deg, 1e-12}, {Roll, -14.666317939758301, deg, 1e-12},
			{WX, 0.0008106799796223640, 1, 1e-12},
			{AX, 9.780521392822266, 1, 1e-12}, {MagX, -0.2885585129261017, 1e-4, 1e-12}, {Temperature, 28.769996643066406, 1, 1e-12},
			{Pressure, 96.90300750732422, 1e3, 1e-12}}},
	{kind: "vectornav", source: "comment in a ROS driver of the VN-100: a line that it received", name: "VNYMR",
		text: "$VNYMR,-165.981,-037.301,+001.245,+00.2901,+00.0720,+00.7482,-05.966,-00.150,-07.836,+00.001373,-00.001533,-00.001054*68\r\n",
		wants: []want{{Yaw, -165.981, deg, 1e-12}, {Pitch, -37.301, deg, 1e-12}, {Roll, 1.245, deg, 1e-12}, {MagX, 0.2901, 1e-4, 1e-12},
			{MagZ, 0.7482, 1e-4, 1e-12},
			{AX, -5.966, 1, 1e-12}, {AZ, -7.836, 1, 1e-12}, {WX, 0.001373, 1, 1e-12}, {WZ, -0.001054, 1, 1e-12}}},
	{kind: "vectornav", source: "vnproglib, unit test with mocked asynchronous data", name: "VNYMR",
		text: "$VNYMR,+100.949,-007.330,+000.715,-00.0049,-00.2449,+00.5397,-01.258,-00.100,-09.701,-00.000018,+00.001122,-00.000551*69\r\n",
		wants: []want{{Yaw, 100.949, deg, 1e-12}, {Pitch, -7.330, deg, 1e-12}, {MagY, -0.2449, 1e-4, 1e-12}, {AZ, -9.701, 1, 1e-12},
			{WY, 0.001122, 1, 1e-12}}},
	{kind: "vectornav", source: "comment in a MATLAB reader of the VN-100: a line that it received (vector first, scalar last)", name: "VNQMR",
		text: "$VNQMR,+0.021375,-0.049923,+0.797361,-0.601055,-0.2354,+0.8029,+1.8875,+00.795,-00.412,-09.709,-00.0201,-00.0055,-00.0149*76\r\n",
		wants: []want{{QX, 0.021375, 1, 1e-12}, {QY, -0.049923, 1, 1e-12}, {QZ, 0.797361, 1, 1e-12}, {QW, -0.601055, 1, 1e-12},
			{MagX, -0.2354, 1e-4, 1e-12},
			{AX, 0.795, 1, 1e-12}, {WZ, -0.0149, 1, 1e-12}}},
	{kind: "polhemus", source: "comment in a reader of a LIBERTY: a record that it received. Its two whole numbers are 254182 frames and " +
		"1059.091 s, 240 a second", name: "LIBERTY", device: 1,
		hex: "4c59014320002200e6e0030013291000c03cb6404c4028c0c93f7e3fc96af6c24d21364096b6d0410d0a",
		wants: []want{{Count, 254182, 1, 0}, {Time, 1059.091, 1, 1e-9}, {X, 5.694915771484375, 0.0254, 1e-12},
			{Y, -2.6289243698120117, 0.0254, 1e-12}, {Z, 0.9931607842445374, 0.0254, 1e-12},
			{Yaw, -123.20856475830078, deg, 1e-9}, {Pitch, 2.845782518386841, deg, 1e-9}, {Roll, 26.089153289794922, deg, 1e-9}}},
	// WitMotion: a dump of a HWT905-TTL in aarushmaddula/bsli-payload-project, README; values by the formulas of the data sheet
	{kind: "witmotion", source: "HWT905-TTL dump", name: "time", hex: "55 50 00 00 00 00 05 28 95 01 68",
		wants: []want{{Time, 340.405, 1, 1e-9}}},
	{kind: "witmotion", source: "HWT905-TTL dump", name: "acceleration", hex: "55 51 0c 00 93 02 6d 08 b7 07 7a",
		wants: []want{{AX, 12.0 / 32768 * 16, 9.80665, 1e-9}, {AY, 659.0 / 32768 * 16, 9.80665, 1e-9}, {AZ, 2157.0 / 32768 * 16, 9.80665, 1e-9},
			{Temperature, 19.75, 1, 1e-9}}},
	{kind: "witmotion", source: "HWT905-TTL dump", name: "angular velocity", hex: "55 52 00 00 00 00 00 00 b7 07 65",
		wants: []want{{WX, 0, 1, 0}, {WZ, 0, 1, 0}}},
	{kind: "witmotion", source: "HWT905-TTL dump", name: "angle", hex: "55 53 04 0c e1 ff 6f f2 cc 46 0b",
		wants: []want{{Roll, 3076.0 / 32768 * 180, deg, 1e-9}, {Pitch, -31.0 / 32768 * 180, deg, 1e-9}, {Yaw, -3473.0 / 32768 * 180, deg, 1e-9}}},
	{kind: "witmotion", source: "HWT905-TTL dump", name: "magnetic field", hex: "55 54 ac f9 3b 0b 86 e7 00 00 01",
		wants: []want{{FieldX, -1620, 1, 0}, {FieldY, 2875, 1, 0}, {FieldZ, -6266, 1, 0}}},
	{kind: "witmotion", source: "HWT905-TTL dump", name: "ports", hex: "55 55 ed 0f a3 0a 57 08 fb 06 b3"},
	{kind: "witmotion", source: "HWT905-TTL dump", name: "pressure", hex: "55 56 00 00 00 00 00 00 00 00 ab",
		wants: []want{{Pressure, 0, 1, 0}, {Altitude, 0, 1, 0}}},
	{kind: "witmotion", source: "HWT905-TTL dump", name: "quaternion", hex: "55 59 23 83 84 ed 5f 03 f1 14 2c",
		wants: []want{{QW, -31965, 1. / 32768, 1e-9}, {QX, -4732, 1. / 32768, 1e-9}, {QY, 863, 1. / 32768, 1e-9}, {QZ, 5361, 1. / 32768, 1e-9}}},
	{kind: "witmotion", source: "HWT905-TTL dump", name: "satellites", hex: "55 5a 00 00 00 00 00 00 00 00 af"},
	// replies that NDI's interfaces check for, with their CRC: PlusToolkit/ndicapi and others
	{kind: "ndi", source: "ndicapi: reply to INIT", name: "OKAY", text: "OKAYA896\r"},
	{kind: "ndi", source: "ndicapi: reply to a serial break", name: "RESET", text: "RESETBE6F\r"},
	{kind: "ndi", source: "IGSTK, igstkNDITracker: WARNING with its constant CRC", name: "WARNING", text: "WARNING7423\r"},
	{kind: "ndi", source: "comment of a Qt reader of a Polaris: reply to BEEP", name: "text", text: "1D4C1\r"},
	{kind: "ndi", source: "the same: reply to PHSR 00, handles 0A 0B 0C", name: "PHSR", device: 10, text: "030A0010B0010C001C254\r",
		wants: []want{{Status, 1, 1, 0}}},
	// two replies to TX 0009 that another project keeps to simulate its tracker; they stand there without the CRC, which is computed here
	{kind: "ndi", source: "a Qt reader of a Polaris, startTrackingSimulate", name: "TX", device: 2,
		text: "0201+07082-04513-01855-05101+041595-057080-190190+02477000000310000014D040+032681-029273-196806+038254-031402-195542+036870-036707-194443+037965-041486-193249\n02+02762-01462-00466+09487+033067-022295-195013+01564000000310000014D040+033067-022310-195004+027787-023550-195330+030728-017309-196164+023842-018192-196965\n0000",
		wants: []want{{QW, 0.2762, 1, 1e-12}, {QX, -0.1462, 1, 1e-12}, {QZ, 0.9487, 1, 1e-12}, {X, 330.67, 1e-3, 1e-9}, {Y, -222.95, 1e-3, 1e-9},
			{Z, -1950.13, 1e-3, 1e-9}, {Error, 0.1564, 1e-3, 1e-9},
			{Status, 0x31, 1, 0}, {Count, 0x14D, 1, 0}, {Missing, 0, 1, 0}, {System, 0, 1, 0}}},
	{kind: "ndi", source: "the same, with a tool that is missing", name: "TX", device: 1,
		text:  "0201MISSING000000310000039300\n02+09771-02075-00066+00445+016351+006174-194689+021770000003100000393040+016339+006186-194670+019622+010498-195074+021434+003880-193975+026270+008889-194547\n0000",
		wants: []want{{Missing, 1, 1, 0}, {Status, 0x31, 1, 0}, {Count, 0x393, 1, 0}}},
}

func (p *published) bytes(t testing.TB) []byte {
	if p.text != "" {
		if p.kind == "ndi" && !strings.HasSuffix(p.text, "\r") {
			return appendNDIReply([]byte(p.text), 0)
		}
		return []byte(p.text)
	}
	b, err := hex.DecodeString(strings.ReplaceAll(p.hex, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func kind(t testing.TB, name string) *Kind {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return &Kinds[i]
		}
	}
	t.Fatalf("no kind %s", name)
	return nil
}

func TestPublished(t *testing.T) {
	for _, p := range publishedFrames {
		d, f := kind(t, p.kind).NewDecoder(), new(Frame)
		b := p.bytes(t)
		n, st := d.Next(b, f)
		if st != wire.Good || n != len(b) || f.Name != p.name || string(f.Raw) != string(b) {
			t.Errorf("%s: %v after %d of %d bytes, %q", p.source, st, n, len(b), f.Name)
			continue
		}
		if len(p.wants) == 0 {
			continue
		}
		s := f.Find(p.device)
		if s == nil {
			t.Errorf("%s: no device %d", p.source, p.device)
			continue
		}
		for _, w := range p.wants {
			scale := w.scale
			if scale == 0 {
				scale = 1
			}
			if !s.Present.Contains(w.q) || math.Abs(s.V[w.q]/scale-w.v) > w.tol {
				t.Errorf("%s: %v is %v (there: %v), want %v", p.source, w.q, s.V[w.q]/scale, s.Present.Contains(w.q), w.v)
			}
		}
		c := d.Counters()
		if c.Frames+c.Foreign != 1 || c.Malformed != 0 || c.Resync != 0 || d.Resyncs() != 0 {
			t.Errorf("%s: %+v", p.source, *c)
		}
	}
}

// A Polhemus record whose direction cosines are all zero, or no rotation, brings a position and no attitude.
func TestPolhemusCosinesThatAreNone(t *testing.T) {
	for name, c := range map[string]struct {
		cosines [9]float32
		has     bool
	}{
		"zeros": {[9]float32{}, false}, "not finite": {[9]float32{float32(math.NaN())}, false},
		"a turn": {[9]float32{0, 1, 0, -1, 0, 0, 0, 0, 1}, true},
	} {
		b := []byte{'L', 'Y', 1, 'C', ' ', 0, 48, 0}
		for _, x := range append([]float32{1, 2, 3}, c.cosines[:]...) {
			b = append(b, byte(math.Float32bits(x)), byte(math.Float32bits(x)>>8), byte(math.Float32bits(x)>>16), byte(math.Float32bits(x)>>24))
		}
		f := new(Frame)
		if _, st := NewPolhemus([]Item{ItemPosition, ItemCosines}).Next(b, f); st != wire.Good || f.N != 1 || !f.S[0].Present.Contains(X) ||
			f.S[0].Present.Contains(QW) != c.has {
			t.Errorf("%s: %v, %+v", name, st, f.S[0].Present)
		}
	}
}

// Items are guessed from the numbers of a record: a count that begins at zero, a place at zero and a quaternion that is none are told
// apart.
func TestPolhemusGuessesWithZeros(t *testing.T) {
	count, at, where, angles := Run(Count, 1), Run(X, 3), []float64{1, 2, 3}, []float64{10, 20, 30}
	for name, c := range map[string]struct {
		whole []uint32
		reals [][]float64
		has   Set
	}{
		"count 0, place, angles":            {[]uint32{0}, [][]float64{where, angles}, count | at | Run(Yaw, 3)},
		"count 0, place":                    {[]uint32{0}, [][]float64{where}, count | at},
		"count 0, place, quaternion":        {[]uint32{0}, [][]float64{where, {0.6, 0.8, 0, 0}}, count | at | Run(QW, 4)},
		"count, place at x = 0, quaternion": {[]uint32{7}, [][]float64{{0, 2, 3}, {0.6, 0.8, 0, 0}}, count | at | Run(QW, 4)},
		"count, place at x = 0":             {[]uint32{7}, [][]float64{{0, 2, 3}}, count | at},
		"count, zeros":                      {[]uint32{7}, [][]float64{{0, 0, 0}, {0, 0, 0}}, count | at | Run(Yaw, 3)},
		"time, count 0, place, angles":      {[]uint32{900, 0}, [][]float64{where, angles}, count | at | Run(Yaw, 3) | Run(Time, 1)},
		"place, quaternion of zeros":        {nil, [][]float64{where, {0, 0, 0, 0}}, at},
		"place, no quaternion":              {nil, [][]float64{where, {0.5, 0, 0, 0}}, at},
	} {
		data := []byte{}
		for _, x := range c.whole {
			data = binary.LittleEndian.AppendUint32(data, x)
		}
		for _, list := range c.reals {
			for _, x := range list {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
			}
		}
		f := new(Frame)
		_, st := NewPolhemus(nil).Next(append([]byte{'L', 'Y', 1, 'C', ' ', 0, byte(len(data)), 0}, data...), f)
		if s := &f.S[0]; st != wire.Good || f.N != 1 || s.Present != c.has|Run(Status, 1) ||
			math.Abs(s.V[Z]-3*inch) > 1e-9 && name != "count, zeros" {
			t.Errorf("%s: %v, %+v", name, st, *s)
		}
	}
}
