package wire

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// motor is the table of a small drive: a 16-bit encoder, current, supply and winding temperature, status.
var motor = []Field{
	{"axis.position", "rad", I32, 2 * math.Pi / 65536, 0, nil},
	{"motor.current", "A", I16, 0.001, 0, nil},
	{"supply.voltage", "V", U16, 0.001, 0, nil},
	{"winding.temperature", "K", I8, 1, 313.15, nil},
	{"torque", "N·m", F32, 1, 0, nil},
	{"time.fine", "s", F64, 1, 0, nil},
	{"status", "", U8, 1, 0, nil},
	{"counts", "", U32, 1, 0, nil},
	{"sense", "V", I16, -0.0005, 2.5, nil},
}

func ExampleLinkEncoder() {
	fields := []Field{{"axis.position", "rad", I32, 0.001, 0, nil}, {"motor.current", "A", I16, 0.001, 0, nil}}
	enc, _ := NewLinkEncoder(fields)
	dec, _ := NewLinkDecoder(fields, Measurement)

	// one frame: 1.234 rad and −0.5 A, taken at 1.5 s of the device's clock
	b, _ := enc.Append(nil, Header{Kind: Measurement, Seq: 7, Time: 1_500_000_000, FreshFields: AllFields(2)}, []float64{1.234, -0.5})
	fmt.Printf("% x\n", b)

	var f Frame
	_, st := dec.Next(b, &f)
	fmt.Println(st, f.Seq, f.Time, f.V[0], f.V[1])
	// Output:
	// 06 01 07 60 e3 16 03 d2 04 01 05 0c fe c4 df 00
	// good 7 1500000000 1.234 -0.5
}

// drawFields and drawValues make tables and values of every type.
func drawFields(t *rapid.T, text bool) []Field {
	last := F64
	if text {
		last = Text
	}
	n := rapid.IntRange(1, MaxFields).Draw(t, "fields")
	fields := make([]Field, n)
	for i := range fields {
		fields[i] = Field{
			Name:   fmt.Sprintf("s%d", i),
			Type:   Type(rapid.IntRange(int(U8), int(last)).Draw(t, "type")),
			Scale:  rapid.SampledFrom([]float64{1, 0.001, -0.5, 2 * math.Pi / 65536, 1e6, 3}).Draw(t, "scale"),
			Offset: rapid.SampledFrom([]float64{0, 273.15, -4}).Draw(t, "offset"),
		}
	}
	return fields
}

// drawValue is a value whose raw number fits the field, or sometimes far outside it.
func drawValue(t *rapid.T, f *Field) float64 {
	ty := types[f.Type]
	lo, hi := math.Max(ty.lo, -1e12), math.Min(ty.hi, 1e12)
	return rapid.Float64Range(lo-0.2*(hi-lo), hi+0.2*(hi-lo)).Draw(t, "raw")*f.Scale + f.Offset
}

// What went in comes out: to half a count, clamped to the range of the type.
func checkValue(t *rapid.T, f *Field, v, got float64) {
	ty := types[f.Type]
	a, b := ty.lo*f.Scale+f.Offset, ty.hi*f.Scale+f.Offset
	want := math.Min(math.Max(v, math.Min(a, b)), math.Max(a, b))
	tol := math.Abs(f.Scale)/2*(1+1e-9) + 4e-15*(math.Abs(v)+math.Abs(f.Offset)) // float64 rounding of v−offset
	switch f.Type {
	case F32:
		// half a unit of the 24-bit mantissa; twice that in a line, whose shortest decimal is read as float64
		tol = math.Abs(want-f.Offset)*1.25e-7 + 4e-15*(math.Abs(v)+math.Abs(f.Offset)) + 1e-45*math.Abs(f.Scale)
	case F64, Text:
		tol = 4e-15*(math.Abs(v)+math.Abs(f.Offset)) + 1e-320
	}
	if !(math.Abs(got-want) <= tol) {
		t.Fatalf("%v scale %v offset %v: %v came back as %v, want %v ± %v", f.Type, f.Scale, f.Offset, v, got, want, tol)
	}
}

func TestLinkRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, false)
		enc, err := NewLinkEncoder(fields)
		if err != nil {
			t.Fatal(err)
		}
		dec, _ := NewLinkDecoder(fields, Measurement, Safe)
		v := make([]float64, len(fields))
		for i := range v {
			v[i] = drawValue(t, &fields[i])
		}
		h := Header{Kind: Safe, Seq: rapid.Uint8().Draw(t, "seq"), HasTime: true,
			FreshFields: rapid.Uint64().Draw(t, "fresh") & AllFields(len(v))}
		if rapid.Bool().Draw(t, "whole") {
			h.FreshFields = AllFields(len(v))
		}
		h.Time = int64(rapid.Uint32().Draw(t, "µs")) * 1000
		b, ok := enc.Append(nil, h, v)
		if !ok || len(b) > enc.MaxLen() {
			t.Fatalf("ok %v, %d bytes of at most %d", ok, len(b), enc.MaxLen())
		}
		var f Frame
		n, st := dec.Next(b, &f)
		if n != len(b) || st != Good {
			t.Fatalf("%d of %d bytes, %v", n, len(b), st)
		}
		same(t, "headers", f.Header, h)
		for i := range v {
			if h.FreshFields>>i&1 == 1 {
				checkValue(t, &fields[i], v[i], f.V[i])
			} else if f.V[i] != 0 {
				t.Fatalf("absent field %d was written", i)
			}
		}
	})
}

// drawStream is frames with faults between and inside them.
func drawStream(t *rapid.T, fields []Field, enc Encoder) (stream []byte) {
	seq := rapid.Uint8().Draw(t, "first seq")
	v := make([]float64, len(fields))
	for range rapid.IntRange(1, 12).Draw(t, "frames") {
		for i := range v {
			v[i] = drawValue(t, &fields[i])
		}
		h := Header{Kind: Measurement, Seq: seq, HasTime: true, Time: int64(rapid.Uint32().Draw(t, "µs")) * 1000,
			FreshFields: rapid.Uint64().Draw(t, "fresh")}
		at := len(stream)
		stream, _ = enc.Append(stream, h, v)
		seq++
		pick := func(what string) int { return at + rapid.IntRange(0, len(stream)-at-1).Draw(t, what) }
		switch rapid.SampledFrom([]string{"none", "none", "drop", "flip", "double", "insert", "repeat", "lose", "restart", "echo"}).Draw(t,
			"fault") {
		case "drop":
			i := pick("at")
			stream = append(stream[:i], stream[i+1:]...)
		case "flip":
			stream[pick("at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case "double":
			i := pick("at")
			stream = append(stream[:i+1], stream[i:]...)
		case "insert":
			i := pick("at")
			junk := rapid.SliceOfN(rapid.Byte(), 1, 700).Draw(t, "junk")
			stream = append(stream[:i:i], append(junk, stream[i:]...)...)
		case "repeat":
			stream = append(stream, stream[at:]...)
		case "lose":
			seq += uint8(rapid.IntRange(1, 100).Draw(t, "lost"))
		case "restart":
			seq = rapid.Uint8().Draw(t, "seq")
		case "echo":
			h.Kind = Command
			stream, _ = enc.Append(stream, h, v)
		}
	}
	return stream
}

// Faulty streams, cut anywhere, give the frames and the counters of the slow reader.
func TestLinkFaultsAndCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, false)
		enc, _ := NewLinkEncoder(fields)
		stream := drawStream(t, fields, enc)
		stream = stream[rapid.IntRange(0, len(stream)-1).Draw(t, "start"):]
		want, counts := slowLink(fields, Measurement, enc.MaxLen()-1, stream)
		dec, _ := NewLinkDecoder(fields, Measurement)
		got := collect(dec, stream, rapid.SliceOf(rapid.IntRange(1, 40)).Draw(t, "cuts"))
		same(t, "frames", got, want)
		same(t, "counters", *dec.Counters(), counts)
	})
}

// Rubbish of any length costs at most the frame it runs into.
func TestLinkResync(t *testing.T) {
	enc, _ := NewLinkEncoder(motor)
	rapid.Check(t, func(t *rapid.T) {
		dec, _ := NewLinkDecoder(motor, Measurement)
		v := make([]float64, len(motor))
		stream := enc.Resync(nil)
		for range 5 {
			stream, _ = enc.Append(stream, Header{Kind: Measurement, Seq: uint8(len(stream)), FreshFields: AllFields(len(v))}, v)
		}
		stream = append(stream, rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "rubbish")...)
		before := len(stream)
		for k := range 3 {
			stream, _ = enc.Append(stream, Header{Kind: Measurement, Seq: uint8(before + k), FreshFields: AllFields(len(v))}, v)
		}
		if got := len(collect(dec, stream, nil)); got < 5+2 {
			t.Fatalf("%d frames of 5 + 3 after rubbish, want at least 7", got)
		}
	})
}

// Numbers that are not finite are never sent; those that arrive are handed out as what they are, and counted.
func TestLinkNonFinite(t *testing.T) {
	fields := []Field{{"a", "", F32, 1, 0, nil}, {"b", "", F64, 1e300, 0, nil}}
	enc, _ := NewLinkEncoder(fields)
	dec, _ := NewLinkDecoder(fields, Measurement)
	h := Header{Kind: Measurement, FreshFields: AllFields(2)}
	for _, v := range [][]float64{{math.NaN(), 0}, {math.Inf(1), 0}, {0, math.Inf(-1)}} {
		if b, ok := enc.Append([]byte("x"), h, v); ok || string(b) != "x" {
			t.Errorf("%v was encoded: % x", v, b)
		}
	}
	// by hand: a NaN as f32, and an f64 that overflows by its scale
	p := []byte{1, 0, 0, 0, 0, 0, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0, 0xf0, 0x7e}
	crc := slowCRC(p)
	b := append(cobsAppend(nil, append(p, byte(crc), byte(crc>>8))), 0)
	f := Frame{V: [MaxFields]float64{7, 8}}
	if _, st := dec.Next(b, &f); st != Good || f.FreshFields != 3 || !math.IsNaN(f.V[0]) || !math.IsInf(f.V[1], 1) ||
		dec.Counters().NonFinite != 2 {
		t.Errorf("status %v fresh %b values %v counters %+v", st, f.FreshFields, f.V[:2], *dec.Counters())
	}
}

// A safe frame written three times by somebody who cannot know our sequence is obeyed three times and counts as no gap.
func TestLinkSafeAlwaysObeyed(t *testing.T) {
	enc, _ := NewLinkEncoder(motor)
	dec, _ := NewLinkDecoder(motor, Command, Safe)
	v := make([]float64, len(motor))
	var b []byte
	for _, h := range []Header{{Kind: Command, Seq: 9}, {Kind: Safe, Seq: 9}, {Kind: Safe, Seq: 9}, {Kind: Safe, Seq: 200},
		{Kind: Command, Seq: 10}} {
		h.FreshFields = AllFields(len(v))
		b, _ = enc.Append(b, h, v)
	}
	if n := len(collect(dec, b, nil)); n != 5 {
		t.Errorf("%d of 5 frames", n)
	}
	if c := dec.Counters(); c.Gaps+c.Repeats+c.Restarts != 0 {
		t.Errorf("%+v", *c)
	}
}

func TestLinkTableErrors(t *testing.T) {
	_, err := NewLinkEncoder([]Field{{"a", "", Text, 1, 0, nil}, {"a", "", U8, 0, math.NaN(), nil}, {}})
	if err == nil {
		t.Fatal("a table full of mistakes was accepted")
	}
	for _, want := range []string{"type text needs the line protocol", "already taken", "scale 0", "offset NaN", "has no name",
		"has no type"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in:\n%v", want, err)
		}
	}
	if _, err := NewLinkDecoder(make([]Field, 65)); err == nil || !strings.Contains(err.Error(), "65 fields") {
		t.Errorf("65 fields: %v", err)
	}
}

func TestLinkAllocs(t *testing.T) {
	enc, _ := NewLinkEncoder(motor)
	dec, _ := NewLinkDecoder(motor, Measurement)
	b := make([]byte, 0, enc.MaxLen())
	v := make([]float64, len(motor))
	var f Frame
	seq := uint8(0)
	if n := testing.AllocsPerRun(500, func() {
		seq++
		b, _ = enc.Append(b[:0], Header{Kind: Measurement, Seq: seq, FreshFields: AllFields(len(v))}, v)
		b[3] ^= seq & 1 // half of them are corrupt
		dec.Next(b[:5], &f)
		dec.Next(b[5:], &f)
	}); n != 0 {
		t.Fatalf("%v allocations per frame", n)
	}
}

func FuzzLink(f *testing.F) {
	enc, _ := NewLinkEncoder(motor)
	v := []float64{1, 0.2, 24, 300, 0.01, 3, 0, 99, 2.5}
	var b []byte
	for seq := range uint8(4) {
		b, _ = enc.Append(b, Header{Kind: Measurement, Seq: seq, Time: int64(seq) * 1e6, FreshFields: AllFields(len(v)) >> (seq % 2)}, v)
	}
	f.Add(b, uint16(7))
	f.Add(b[3:], uint16(1))
	f.Add(append(b[:40:40], 0, 0, 255, 1, 2, 0), uint16(64))
	f.Add(make([]byte, 1000), uint16(333))
	f.Add([]byte(strings.Repeat("U", 2000)+"\x00"), uint16(100))
	f.Fuzz(func(t *testing.T, stream []byte, cut uint16) {
		want, counts := slowLink(motor, Measurement, enc.MaxLen()-1, stream)
		dec, _ := NewLinkDecoder(motor, Measurement)
		cuts := make([]int, len(stream))
		for i := range cuts {
			cuts[i] = 1 + int(cut)%97
		}
		same(t, "frames", collect(dec, stream, cuts), want)
		same(t, "counters", *dec.Counters(), counts)
	})
}

func BenchmarkLinkDecode(b *testing.B) {
	// 64 bytes on the wire: 6 header, 13 i32 = 52, 2 CRC, COBS 2, delimiter 1, + one u8
	fields := make([]Field, 0, 14)
	for i := range 13 {
		fields = append(fields, Field{fmt.Sprint("a", i), "", I32, 0.001, 0, nil})
	}
	fields = append(fields, Field{"s", "", U8, 1, 0, nil})
	enc, _ := NewLinkEncoder(fields)
	v := make([]float64, len(fields))
	for i := range v {
		v[i] = float64(i)*1234.567 + 1
	}
	var stream []byte
	for seq := range 256 {
		stream, _ = enc.Append(stream, Header{Kind: Measurement, Seq: uint8(seq), Time: int64(seq) * 1e6, FreshFields: AllFields(len(v))}, v)
	}
	dec, _ := NewLinkDecoder(fields, Measurement)
	var f Frame
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		for at := 0; at < len(stream); {
			n, st := dec.Next(stream[at:], &f)
			if at += n; st != Good && at < len(stream) {
				b.Fatal(st)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/frame")
	b.ReportMetric(float64(len(stream))/256, "B/frame")
}

func BenchmarkLinkEncode(b *testing.B) {
	enc, _ := NewLinkEncoder(motor)
	v := []float64{1, 0.2, 24, 300, 0.01, 3, 0, 99, 2.5}
	dst := make([]byte, 0, enc.MaxLen())
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = enc.Append(dst[:0], Header{Kind: Measurement, Seq: 1, Time: 1e9, FreshFields: AllFields(len(v))}, v)
	}
}
