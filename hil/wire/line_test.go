package wire

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var scale = []Field{{"force", "N", Text, 0.5, 10, nil}, {"position", "m", Text, 1e-6, 0, nil}}

func ExampleLineDecoder() {
	dec, _ := NewLineDecoder(scale, Format{Separator: "semicolon", Decimal: "comma", Time: "t", TimeUnit: 1e-3, TimeBits: 32}, Measurement)
	stream := "3;99\nt;F;x\n1000;2,5;-3e2\r\n1010;;12\n"
	var f Frame
	for buf := []byte(stream); ; {
		n, st := dec.Next(buf, &f)
		if buf = buf[n:]; st == More {
			break
		}
		fmt.Println(st, f.Time, f.FreshFields, f.V[0], f.V[1])
	}
	fmt.Printf("%+v\n", *dec.Counters())
	// Output:
	// good 1000000000 3 11.25 -0.0003
	// good 1010000000 2 11.25 1.2e-05
	// {Bytes:35 Frames:2 Repeats:0 Malformed:0 Oversize:0 Foreign:0 Gaps:0 Restarts:0 NonFinite:0 Resync:5}
}

// One line each: what it is taken for.
func TestLineCases(t *testing.T) {
	two := []Field{{"a", "", Text, 1, 0, nil}, {"b", "", Text, 1, 0, nil}}
	cs := func(body string) string {
		hi, lo := xorHex([]byte(body))
		return body + "*" + string(hi) + string(lo)
	}
	const none = 12345.0
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		format Format
		line   string
		want   string
		a, b   float64 // none: not fresh
	}{
		{Format{}, "1,2", "good", 1, 2},
		{Format{}, " 1 ,\t2 ", "good", 1, 2},
		{Format{}, "1,2,", "good", 1, 2},
		{Format{}, "1,", "good", 1, none},
		{Format{}, ",", "good", none, none},
		{Format{}, "NaN,-inf", "good", nan, -inf},
		{Format{}, "-nan,+Infinity", "good", nan, inf},
		{Format{}, "1e400,-1e400", "good", inf, -inf},
		{Format{}, "1e-400,9.9e307", "good", 0, 9.9e307},
		{Format{}, "1,-", "corrupt", 0, 0}, // only where a column cannot be empty,
		{Format{}, "1,2,3", "corrupt", 0, 0},
		{Format{}, "1", "corrupt", 0, 0},
		{Format{}, "1,2,,", "corrupt", 0, 0},
		{Format{}, "1,x", "corrupt", 0, 0},
		{Format{}, "1,0x10", "corrupt", 0, 0},
		{Format{}, "1,1_0", "corrupt", 0, 0},
		{Format{}, "1,--1", "corrupt", 0, 0},
		{Format{}, "1,.", "corrupt", 0, 0},
		{Format{}, "1,1e", "corrupt", 0, 0},
		{Format{}, "1,5,2", "corrupt", 0, 0}, // a decimal comma that was not declared
		{Format{}, "angle [°],current [A]", "more", 0, 0},
		{Format{}, "# reset by watchdog", "more", 0, 0},
		{Format{}, "a\x01,b", "corrupt", 0, 0},
		{Format{}, "", "more", 0, 0},
		{Format{Separator: "space"}, "  1 \t  .5  ", "good", 1, 0.5},
		{Format{Separator: "space"}, "1", "corrupt", 0, 0},
		{Format{Separator: "space"}, "- 2", "good", none, 2},
		{Format{Separator: "space"}, "nan -", "good", nan, none},
		{Format{Separator: "tab"}, "1\t", "good", 1, none},
		{Format{Separator: "tab", Decimal: "comma"}, "1,5\t-2,25e1", "good", 1.5, -22.5},
		{Format{Separator: "semicolon", Decimal: "comma"}, "1.5;2", "corrupt", 0, 0},
		{Format{Checksum: "xor"}, cs("1,2"), "good", 1, 2},
		{Format{Checksum: "xor"}, strings.ToLower(cs("1,-200")) + " ", "good", 1, -200},
		{Format{Checksum: "xor"}, "1,2", "corrupt", 0, 0},
		{Format{Checksum: "xor"}, "1,2*00", "corrupt", 0, 0},
		{Format{Checksum: "xor"}, "a,b", "more", 0, 0},
		{Format{}, cs("1,2"), "corrupt", 0, 0}, // a checksum that was not declared
	} {
		dec, err := NewLineDecoder(two, c.format, Measurement)
		if err != nil {
			t.Fatal(err)
		}
		var f Frame
		_, st := dec.Next([]byte("\n"+c.line+"\n"), &f)
		if st.String() != c.want {
			t.Errorf("%q with %+v: %v, want %s", c.line, c.format, st, c.want)
			continue
		}
		if st != Good {
			continue
		}
		for i, want := range []float64{c.a, c.b} {
			if fresh := f.FreshFields>>i&1 == 1; fresh == (want == none) || fresh && math.Float64bits(f.V[i]) != math.Float64bits(want) {
				t.Errorf("%q: field %d is %v (fresh %v), want %v", c.line, i, f.V[i], fresh, want)
			}
		}
	}
}

// Our own parser of numbers against strconv, for both decimal signs: same value to the last bit, no allocation.
func TestParseNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(
			rapid.Map(rapid.Float64(), func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }),
			rapid.StringMatching(`[+-]?[0-9]{0,22}\.?[0-9]{0,8}(e[+-]?[0-9]{1,3})?`),
			rapid.StringMatching(`[0-9.,eE+-]{0,8}`),
		).Draw(t, "text")
		want, err := strconv.ParseFloat(s, 64)
		got, ok := ParseNumber([]byte(s), '.')
		switch {
		case err != nil && !math.IsInf(want, 0):
			if ok {
				t.Fatalf("%q is taken for %v", s, got)
			}
		case math.Abs(want) >= 1e308:
			if !ok || !math.IsInf(got, int(math.Copysign(1, want))) {
				t.Fatalf("%q is out of range, got %v", s, got)
			}
		case !ok || math.Float64bits(got) != math.Float64bits(want):
			t.Fatalf("%q: %v (%v), want %v", s, got, ok, want)
		}
		comma, w := ParseNumber([]byte(strings.ReplaceAll(s, ".", ",")), ',')
		if !strings.Contains(s, ",") && (w != ok || math.Float64bits(comma) != math.Float64bits(got)) {
			t.Fatalf("%q with decimal comma: %v, want %v", s, comma, got)
		}
	})
	for _, s := range []string{"12.5", "0.1234567890123456789", "1e999", "1e-999", "--", "nan", "17976931348623157e292"} {
		b := []byte(s)
		if n := testing.AllocsPerRun(100, func() { ParseNumber(b, '.') }); n != 0 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
}

var formats = []Format{
	{}, {Separator: "semicolon", Decimal: "comma", Checksum: "xor", LineEnd: "crlf"}, {Separator: "tab", LineEnd: "cr"},
	{Separator: "space", Checksum: "xor"},
	{Time: "t", TimeUnit: 1e-6, TimeBits: 32}, {Separator: "space", Time: "s0", TimeUnit: 1e-3},
	{Time: "t", TimeUnit: 1.0 / 32768, TimeBits: 24, Checksum: "xor"},
}

func TestLineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, true)
		format := rapid.SampledFrom(formats).Draw(t, "format")
		if format.Time == "s0" { // the time column is a field: its value is the clock
			fields[0] = Field{"s0", "s", Text, 1e-3, 0, nil}
		}
		enc, err := NewLineEncoder(fields, format)
		if err != nil {
			t.Fatal(err)
		}
		dec, _ := NewLineDecoder(fields, format, Measurement)
		v := make([]float64, len(fields))
		for i := range v {
			v[i] = drawValue(t, &fields[i])
		}
		h := Header{Kind: Measurement, FreshFields: rapid.Uint64().Draw(t, "fresh") & AllFields(len(v))}
		if format.Time != "" {
			h.HasTime, h.Time = true, rapid.Int64Range(0, 1<<52).Draw(t, "time")
		}
		if format.Time == "s0" {
			h.FreshFields |= 1
			v[0] = float64(h.Time) * 1e-9
		}
		b, ok := enc.Append([]byte(enc.lineEnd), h, v)
		if !ok {
			if 26*len(v) < MaxLine {
				t.Fatal("refused")
			}
			t.Skip("longer than a line")
		}
		var f Frame
		n, st := dec.Next(b, &f)
		if st != Good || f.FreshFields != h.FreshFields {
			t.Fatalf("%q: %d of %d bytes, %v, fresh %b", b, n, len(b), st, f.FreshFields)
		}
		if h.HasTime {
			d := f.Time - h.Time
			if w := dec.Wrap(); w > 0 {
				d = (d%w + w + w/2) % w
				d -= w / 2
			}
			if half := int64(format.TimeUnit*1e9/2) + 1; d > half || d < -half {
				t.Fatalf("%q: time %d ns came back as %d", b, h.Time, f.Time)
			}
		}
		for i := range v {
			if h.FreshFields>>i&1 == 1 {
				checkValue(t, &fields[i], v[i], f.V[i])
			}
		}
	})
}

// Any bytes cut anywhere give the same frames and counters as in one piece.
func checkLineCuts(t interface{ Fatalf(string, ...any) }, format Format, stream []byte, cuts []int) {
	one, _ := NewLineDecoder(scale, format, Measurement)
	many, _ := NewLineDecoder(scale, format, Measurement)
	same(t, "frames", collect(many, stream, cuts), collect(one, stream, nil))
	same(t, "counters", *many.Counters(), *one.Counters())
	// every complete line beyond the first has been counted in one place; frames can be told by a split of the text
	lines := strings.FieldsFunc(string(stream), func(r rune) bool { return r == '\n' || r == '\r' })
	c := one.Counters()
	if n := c.Frames + c.Malformed + c.Oversize; n > uint64(len(lines)) || c.Bytes != uint64(len(stream)) || c.Resync > c.Bytes {
		t.Fatalf("%d lines, counters %+v", len(lines), *c)
	}
}

func TestLineFaultsAndCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom(formats).Draw(t, "format")
		enc, _ := NewLineEncoder(scale, format)
		var stream []byte
		for range rapid.IntRange(1, 10).Draw(t, "lines") {
			stream, _ = enc.Append(stream, Header{FreshFields: rapid.Uint64Range(0, 3).Draw(t, "fresh"), HasTime: true,
				Time: rapid.Int64Range(0, 1e12).Draw(t, "time")},
				[]float64{rapid.Float64Range(-1e3, 1e3).Draw(t, "a"), rapid.Float64Range(-1, 1).Draw(t, "b")})
			if rapid.IntRange(0, 3).Draw(t, "fault") == 0 {
				stream = append(stream, rapid.SliceOfN(rapid.Byte(), 1, 1500).Draw(t, "junk")...)
			}
		}
		checkLineCuts(t, format, stream, rapid.SliceOf(rapid.IntRange(1, 40)).Draw(t, "cuts"))
	})
}

// With a checksum, a line survives rubbish before it as soon as one end of line has passed.
func TestLineResync(t *testing.T) {
	format := Format{Checksum: "xor"}
	enc, _ := NewLineEncoder(scale, format)
	rapid.Check(t, func(t *rapid.T) {
		dec, _ := NewLineDecoder(scale, format, Measurement)
		stream := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "rubbish")
		for range 3 {
			stream, _ = enc.Append(stream, Header{FreshFields: 3}, []float64{1, 2})
		}
		if got := len(collect(dec, stream, nil)); got < 2 {
			t.Fatalf("%d of 3 lines after rubbish, want at least 2", got)
		}
	})
}

func TestLineFormatErrors(t *testing.T) {
	_, err := NewLineEncoder(scale, Format{Separator: "pipe", Decimal: "dot", Checksum: "crc", LineEnd: "nul", Time: "t", TimeBits: 60})
	for _, want := range []string{`separator "pipe"`, `decimal "dot"`, `checksum "crc"`, `end "nul"`, "time_unit 0", "time_bits 60"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in %v", want, err)
		}
	}
	if _, err = NewLineDecoder(scale, Format{Decimal: "comma"}, Measurement); err == nil ||
		!strings.Contains(err.Error(), "both separator and decimal") {
		t.Errorf("comma twice: %v", err)
	}
}

// Neither lines nor rubbish may allocate: the core runs with its collector off.
func TestLineAllocs(t *testing.T) {
	for _, format := range formats {
		enc, _ := NewLineEncoder(scale, format)
		dec, _ := NewLineDecoder(scale, format, Measurement)
		b := make([]byte, 0, enc.MaxLen()+40)
		var f Frame
		if n := testing.AllocsPerRun(500, func() {
			b, _ = enc.Append(b[:0], Header{FreshFields: 3, HasTime: true, Time: 123456789}, []float64{1.0 / 3, 1e-7})
			b = append(b, "1,--,\xff9e999\n1e999,1e999\n0.12345678901234567890,1\n"...)
			for buf := b; len(buf) > 0; {
				n, _ := dec.Next(buf, &f)
				buf = buf[n:]
			}
		}); n != 0 {
			t.Errorf("%+v: %v allocations", format, n)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte("1,2\n3,4\r\n5,6\n"), uint8(0), uint8(3))
	f.Add([]byte("t,a,b\n\n1,2,3*04\n# x\n,,\n"), uint8(4), uint8(1))
	f.Add([]byte("\n1,5;2,5*7F\r\n1;2*"), uint8(1), uint8(2))
	f.Add([]byte("\n 1 \t2\nnan inf\n1e999 1e-999\n"), uint8(3), uint8(5))
	f.Add([]byte(strings.Repeat("9", 3000)+"\n1,2\n"), uint8(0), uint8(200))
	f.Fuzz(func(t *testing.T, stream []byte, format, cut uint8) {
		cuts := make([]int, len(stream))
		for i := range cuts {
			cuts[i] = 1 + int(cut)
		}
		checkLineCuts(t, formats[int(format)%len(formats)], stream, cuts)
	})
}

func BenchmarkLineDecode(b *testing.B) {
	dec, _ := NewLineDecoder(scale, Format{Time: "t", TimeUnit: 1e-6, TimeBits: 32, Checksum: "xor"}, Measurement)
	enc, _ := NewLineEncoder(scale, Format{Time: "t", TimeUnit: 1e-6, TimeBits: 32, Checksum: "xor"})
	line, _ := enc.Append([]byte("\n"), Header{FreshFields: 3, HasTime: true, Time: 123456789000}, []float64{12.3456, -0.001234})
	var f Frame
	b.ReportAllocs()
	for b.Loop() {
		if _, st := dec.Next(line, &f); st != Good {
			b.Fatal(st)
		}
	}
}
