package wire

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// cut is the bytes of p as they stand on the line: checksum, COBS, closing zero.
func cut(p []byte) []byte {
	crc := slowCRC(p)
	return append(cobsAppend(nil, append(append([]byte(nil), p...), byte(crc), byte(crc>>8))), 0)
}

// frameOf is an intact frame with so many bytes of data.
func frameOf(seq byte, data int) []byte {
	p := make([]byte, headLen+data)
	p[0], p[1] = byte(Measurement), seq
	for i := range data {
		p[headLen+i] = 7
	}
	return cut(p)
}

// Frames at the edges of what the table allows: each is counted in one place, with every byte of it, in one piece and in two.
func TestLinkEdges(t *testing.T) {
	fields := []Field{{"a", "", U8, 1, 0, nil}, {"b", "", U16, 1, 0, nil}}
	long := make([]byte, maxPayload+1)
	for i := range long {
		long[i] = 9
	}
	part := func(data ...byte) []byte {
		return cut(append([]byte{byte(Measurement) | partial, 0, 0, 0, 0, 0}, data...))
	}
	for _, c := range []struct {
		name   string
		bytes  []byte
		want   Status
		c      Counters // Bytes is filled in
		misfit Misfit
	}{
		{"the table's frame", frameOf(1, 3), Good, Counters{Frames: 1}, Misfit{}},
		{"a byte less", frameOf(1, 2), Corrupt, Counters{Malformed: 1, Resync: 11 + 1}, Misfit{Count: 1, Width: 2}},
		{"a byte more, within the longest partial frame", frameOf(1, 4), Corrupt, Counters{Malformed: 1, Resync: 13 + 1},
			Misfit{Count: 1, Width: 4}},
		{"longer than any", frameOf(1, 5), Corrupt, Counters{Oversize: 1, Resync: 14 + 1}, Misfit{Count: 1, Width: 5}},
		{"longer than any, checksum wrong", append(append([]byte(nil), frameOf(1, 5)[:13]...), 1, 0), Corrupt,
			Counters{Oversize: 1, Resync: 14 + 1}, Misfit{}},
		{"no data, no head", cut([]byte{1, 2, 3, 4, 5}), Corrupt, Counters{Malformed: 1, Resync: 8 + 1}, Misfit{}},
		{"head and no data", frameOf(1, 0), Corrupt, Counters{Malformed: 1, Resync: 9 + 1}, Misfit{Count: 1, Width: 0}},
		{"presence bits missing", part(), Corrupt, Counters{Malformed: 1, Resync: 9 + 1}, Misfit{}},
		{"nothing present", part(0), Good, Counters{Frames: 1}, Misfit{}},
		{"the first present", part(1, 7), Good, Counters{Frames: 1}, Misfit{}},
		{"the second present, a byte short", part(2, 7), Corrupt, Counters{Malformed: 1, Resync: 11 + 1}, Misfit{Count: 1, Width: 1}},
		{"a field present that the table has not", part(4, 7), Corrupt, Counters{Malformed: 1, Resync: 11 + 1}, Misfit{}},
		{"rubbish as long as the longest", append(long[:13:13], 0), Corrupt, Counters{Malformed: 1, Resync: 13 + 1}, Misfit{}},
		{"rubbish a byte longer", append(long[:14:14], 0), Corrupt, Counters{Oversize: 1, Resync: 14 + 1}, Misfit{}},
		{"rubbish beyond any frame", append(long[:maxPayload+1:maxPayload+1], 0), Corrupt, Counters{Oversize: 1, Resync: maxPayload + 1 + 1},
			Misfit{}},
	} {
		for _, at := range []int{0, 1, len(c.bytes) / 2, len(c.bytes) - 1} {
			d, err := NewLinkDecoder(fields, Measurement)
			if err != nil {
				t.Fatal(err)
			}
			var f Frame
			stream := append([]byte{0}, c.bytes...) // the first zero: what follows is a whole frame
			n1, st := d.Next(stream[:at+1], &f)
			if n1 == at+1 && st == More && at > 0 || at == 0 {
				_, st = d.Next(stream[at+1:], &f)
			}
			want := c.c
			want.Bytes = uint64(len(stream))
			got := *d.Counters()
			if d.n != 0 || len(c.bytes) > maxPayload { // in two pieces such a one is thrown away as it comes; one byte may be told apart
				got.Resync, want.Resync = 0, 0
			}
			if st != c.want || got != want {
				t.Errorf("%s, cut at %d: %v, %+v; want %v, %+v", c.name, at, st, got, c.want, want)
			}
			if m := *d.Misfit(); m.Count != c.misfit.Count || m.Width != c.misfit.Width {
				t.Errorf("%s, cut at %d: misfit %d of %d, want %d of %d", c.name, at, m.Count, m.Width, c.misfit.Count, c.misfit.Width)
			}
			// and the decoder is fit for the next one
			if _, st := d.Next(frameOf(9, 3), &f); st != Good {
				t.Errorf("%s, cut at %d: the next frame is %v", c.name, at, st)
			}
		}
	}
	if _, err := NewLinkDecoder([]Field{{"a", "", Text, 1, 0, nil}}, Measurement); err == nil {
		t.Error("a decoder of link frames took a text field")
	}
}

// What is thrown away is counted to the byte, however long it is and however it comes.
func TestLinkLongRubbish(t *testing.T) {
	d, _ := NewLinkDecoder([]Field{{"a", "", U8, 1, 0, nil}}, Measurement)
	var f Frame
	d.Next([]byte{0}, &f)
	rubbish := make([]byte, 700)
	for i := range rubbish {
		rubbish[i] = 3
	}
	for range 3 {
		d.Next(rubbish, &f)
	}
	if _, st := d.Next([]byte{3, 0}, &f); st != Corrupt || d.Counters().Resync != 2102 || d.Counters().Oversize != 1 {
		t.Errorf("%v, %+v", st, *d.Counters())
	}
}

// Reset: what came before is forgotten, half a frame, its length, the counter; the first piece after it is nobody's fault.
func TestLinkReset(t *testing.T) {
	fields := []Field{{"a", "", U8, 1, 0, nil}}
	d, _ := NewLinkDecoder(fields, Measurement)
	var f Frame
	next := func(b []byte, want Status) {
		t.Helper()
		if _, st := d.Next(b, &f); st != want {
			t.Errorf("%v, want %v", st, want)
		}
	}
	next(append([]byte{0}, frameOf(1, 1)...), Good)
	whole := frameOf(50, 1)
	next(whole[:5], More) // half a frame
	d.Reset()
	next(whole[5:], More) // its end: dropped, not counted as bad
	next(frameOf(100, 1), Good)
	if c := d.Counters(); c.Malformed != 0 || c.Gaps != 0 || c.Restarts != 0 || c.Repeats != 0 || c.Frames != 2 {
		t.Errorf("%+v", *c)
	}
	next(make([]byte, 0), More)
	next([]byte{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, More)
	for range 40 { // too long already
		next([]byte{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, More)
	}
	d.Reset()
	next(append([]byte{0}, frameOf(100, 1)...), Good) // the counter begins anew: no repeat
	if c := d.Counters(); c.Oversize != 0 || c.Repeats != 0 {
		t.Errorf("%+v", *c)
	}
	d.Reset()
	next(frameOf(101, 1), Good) // whole, though the piece before the first zero might have been half a frame
}

// Lines as long as may be, and a byte longer, in one piece and in two.
func TestLineEdges(t *testing.T) {
	fields := []Field{{"a", "", Text, 1, 0, nil}, {"b", "", Text, 1, 0, nil}}
	for _, c := range []struct {
		blanks int
		want   Status
	}{{MaxLine - 3, Good}, {MaxLine - 2, Corrupt}} {
		line := []byte("1,2")
		for range c.blanks {
			line = append(line, ' ')
		}
		line = append(line, '\n')
		for _, at := range []int{0, 1, 500, len(line) - 1} {
			d, _ := NewLineDecoder(fields, Format{}, Measurement)
			var f Frame
			d.Next([]byte("\n"), &f)
			_, st := d.Next(line[:at], &f)
			if at == 0 || st == More {
				_, st = d.Next(line[at:], &f)
			}
			good := c.want == Good
			if k := d.Counters(); st != c.want || (k.Frames == 1) != good || (k.Oversize == 1) == good ||
				k.Resync != map[bool]uint64{true: 1, false: 1 + uint64(len(line))}[good] {
				t.Errorf("%d characters, cut at %d: %v, %+v", len(line)-1, at, st, *k)
			}
			if _, st := d.Next([]byte("3,4\n"), &f); st != Good || f.V[0] != 3 {
				t.Errorf("%d characters, cut at %d: the next line is %v", len(line)-1, at, st)
			}
		}
	}
	// Reset in the middle of a line, short or too long: the rest is dropped, and nobody's fault
	for _, n := range []int{1, 2000} {
		d, _ := NewLineDecoder(fields, Format{}, Measurement)
		var f Frame
		d.Next(append([]byte("\n5,"), make([]byte, n)...), &f)
		d.Reset()
		if _, st := d.Next([]byte("6\n"), &f); st != More {
			t.Errorf("the end of a line that was given up: %v", st)
		}
		if _, st := d.Next([]byte("7,8\n"), &f); st != Good || f.V[0] != 7 {
			t.Errorf("the next line: %v, %v", st, f.V[0])
		}
		if c := d.Counters(); c.Malformed != 0 || c.Oversize != 0 {
			t.Errorf("%+v", *c)
		}
	}
}

// The checksum of a line: both digits count, in either case, each of the sixteen; what is refused is counted to the byte.
func TestLineChecksumDigits(t *testing.T) {
	fields := []Field{{"a", "", Text, 1, 0, nil}}
	seen := map[byte]bool{}
	for v := range 3000 {
		body := strconv.Itoa(v)
		hi, lo := xorHex([]byte(body))
		seen[hi], seen[lo] = true, true
		digits := string([]byte{hi, lo})
		other := func(c byte) string { // another digit
			if c == '7' {
				return "8"
			}
			return "7"
		}
		for text, want := range map[string]bool{digits: true, strings.ToLower(digits): true, string(hi) + other(lo): false,
			other(hi) + string(lo): false} {
			d, _ := NewLineDecoder(fields, Format{Checksum: "xor"}, Measurement)
			var f Frame
			line := body + "*" + text + "\n"
			_, st := d.Next([]byte("\n"+line), &f)
			c := d.Counters()
			if (st == Good) != want || want && f.V[0] != float64(v) || !want && (c.Malformed != 1 || c.Resync != uint64(1+len(line))) {
				t.Fatalf("%q: %v, %v, %+v", line, st, f.V[0], *c)
			}
		}
	}
	for _, c := range []byte("0123456789ABCDEF") {
		if !seen[c] {
			t.Errorf("no line had the digit %c", c)
		}
	}
}

// The time column: rounded to the nearest count, wrapped on both sides, refused where it is no time.
func TestLineTime(t *testing.T) {
	fields := []Field{{"a", "", Text, 1, 0, nil}}
	for _, c := range []struct {
		unit float64
		bits int
		text string
		want int64
		has  bool
	}{
		{1e-6, 32, "1", 1000, true}, {1e-6, 32, "4294967295", 4294967295000, true}, {1e-6, 32, "4294967296", 0, true},
		{1e-6, 32, "4294967297", 1000, true},
		{1e-6, 32, "-1", 4294967295000, true}, {1e-6, 0, "-1", -1000, true}, {1e-9, 0, "2.4", 2, true}, {1e-9, 0, "2.5", 3, true},
		{1e-9, 0, "-2.5", -3, true}, {1e-9, 0, "-2.4", -2, true},
		{1, 0, "4e9", 4e18, true}, {1, 0, "5e9", 0, false}, {1, 0, "-5e9", 0, false}, {1, 0, "nan", 0, false}, {1, 0, "inf", 0, false},
		{1, 0, "", 0, false},
	} {
		d, err := NewLineDecoder(fields, Format{Time: "t", TimeUnit: c.unit, TimeBits: c.bits}, Measurement)
		if err != nil {
			t.Fatal(err)
		}
		var f Frame
		if _, st := d.Next([]byte("\n"+c.text+",5\n"), &f); st != Good || f.V[0] != 5 || f.HasTime != c.has || c.has && f.Time != c.want {
			t.Errorf("%q of %g s, %d bits: %v, time %v %d; want %v %d", c.text, c.unit, c.bits, st, f.HasTime, f.Time, c.has, c.want)
		}
	}
	for _, c := range []struct {
		unit float64
		bits int
		ok   bool
	}{{1e-9, 0, true}, {0.99e-9, 0, false}, {3600, 52, true}, {3601, 0, false}, {1, -1, false}, {1, 53, false}, {math.NaN(), 0, false}} {
		if _, err := NewLineDecoder(fields, Format{Time: "t", TimeUnit: c.unit, TimeBits: c.bits}, Measurement); (err == nil) != c.ok {
			t.Errorf("time unit %g s, %d bits: %v", c.unit, c.bits, err)
		}
	}
}

// Numbers at the edges of what is read: the first digit that counts, the largest, the smallest, the exponent.
func TestNumberEdges(t *testing.T) {
	for _, c := range []struct {
		text    string
		decimal byte
		want    float64
		ok      bool
	}{
		{"0.00001e312", '.', 1e307, true}, {"12345e303", '.', 1.2345e307, true}, {"9.999e307", '.', 9.999e307, true},
		{"1e308", '.', math.Inf(1), true}, {"-1e308", '.', math.Inf(-1), true}, {"0.1e309", '.', math.Inf(1), true},
		{"100000e303", '.', math.Inf(1), true},
		{"0e999", '.', 0, true}, {"0.000e-999", '.', 0, true}, {"1e-400", '.', 0, true}, {"5e-324", '.', 5e-324, true},
		{",1234567890123456789", ',', 0.1234567890123456789, true}, {"1,234567890123456789", ',', 1.234567890123456789, true},
		{"12345678901234567890", ',', 12345678901234567890, true},
		{"1e5x", '.', 0, false}, {"1e/", '.', 0, false}, {"1e:", '.', 0, false}, {"1e+", '.', 0, false}, {"1e99999", '.', math.Inf(1), true},
		{"-", '.', 0, false}, {"+", '.', 0, false}, {"", '.', 0, false},
		{"nan", '.', math.NaN(), true}, {"na", '.', 0, false}, {"nano", '.', 0, false}, {"+INF", '.', math.Inf(1), true},
		{"-Infinity", '.', math.Inf(-1), true}, {"infinite", '.', 0, false},
	} {
		got, ok := ParseNumber([]byte(c.text), c.decimal)
		if ok != c.ok || ok && math.Float64bits(got) != math.Float64bits(c.want) {
			t.Errorf("%q: %v, %v; want %v, %v", c.text, got, ok, c.want, c.ok)
		}
	}
	long := strings.Repeat("0", maxDigits-1) + "7"
	if v, ok := ParseNumber([]byte(long), '.'); !ok || v != 7 {
		t.Errorf("%d digits: %v, %v", len(long), v, ok)
	}
	if _, ok := ParseNumber([]byte("0"+long), '.'); ok {
		t.Errorf("%d digits were taken", len(long)+1)
	}
}

// What is sent: never a number that is none, never a line too long, large whole numbers with an exponent, time within its wrap.
func TestLineEncoderEdges(t *testing.T) {
	table := func(n int) (f []Field) {
		for i := range n {
			f = append(f, Field{"f" + strconv.Itoa(i), "", Text, 1, 0, nil})
		}
		return f
	}
	for n, want := range map[int]int{1: 31, 2: 57, 39: 1019, 40: 1026, 64: 1026} {
		e, err := NewLineEncoder(table(n), Format{Checksum: "xor", LineEnd: "crlf"})
		if err != nil {
			t.Fatal(err)
		}
		if e.MaxLen() != want {
			t.Errorf("%d columns: at most %d characters, want %d", n, e.MaxLen(), want)
		}
		v := make([]float64, n)
		for i := range v {
			v[i] = -1.2345678901234567e-300 // 24 characters
		}
		b, ok := e.Append([]byte("x"), Header{FreshFields: AllFields(n)}, v)
		if long := 25*n-1+3 > MaxLine; ok == long || len(b)-1 > want || !ok && string(b) != "x" {
			t.Errorf("%d columns: %v, %d characters", n, ok, len(b)-1)
		}
		v[n-1] = math.NaN()
		if b, ok := e.Append([]byte("x"), Header{FreshFields: AllFields(n)}, v); ok || string(b) != "x" {
			t.Errorf("NaN was sent: %q", b)
		}
	}
	e, _ := NewLineEncoder(table(1), Format{Time: "t", TimeUnit: 1e-6, TimeBits: 32})
	for _, c := range []struct {
		ns   int64
		v    float64
		want string
	}{
		{0, -1e20, "0,-1e+20\n"}, {1000, 1e15, "1,1e+15\n"}, {1000, 999999999999999, "1,999999999999999\n"},
		{1000, -999999999999999, "1,-999999999999999\n"},
		{-1000, 0.5, "4294967295,0.5\n"}, {4294967296000, 1, "0,1\n"}, {4294967295600, 1, "0,1\n"}, {-4294967297000, 1, "4294967295,1\n"},
	} {
		if b, ok := e.Append(nil, Header{HasTime: true, Time: c.ns, FreshFields: 1}, []float64{c.v}); !ok || string(b) != c.want {
			t.Errorf("%d ns, %g: %q, want %q", c.ns, c.v, b, c.want)
		}
	}
}

func TestTypeNames(t *testing.T) {
	for typ := U8; typ <= Text; typ++ {
		if got := typ.Words()[typ]; got != typ.String() || got == "" {
			t.Errorf("type %d is called %v, in files %q", uint8(typ), typ, got)
		}
	}
	for _, typ := range []Type{0, Text + 1} {
		if typ.String() != "unknown type" {
			t.Errorf("type %d is called %v", uint8(typ), typ)
		}
	}
}

// What a type carries is known for integers only, the first and the last of them included; a scale below 0 turns the ends round.
func TestFieldRange(t *testing.T) {
	for _, c := range []struct {
		f      Field
		lo, hi float64
		ok     bool
	}{
		{Field{Type: U8, Scale: 2, Offset: 1}, 1, 511, true},
		{Field{Type: I16, Scale: -1}, -32767, 32768, true},
		{Field{Type: I32, Scale: 1}, math.MinInt32, math.MaxInt32, true},
		{Field{Type: F32, Scale: 1}, 0, 0, false},
		{Field{Type: Text, Scale: 1}, 0, 0, false},
	} {
		if lo, hi, ok := c.f.Range(); ok != c.ok || ok && (lo != c.lo || hi != c.hi) {
			t.Errorf("%+v: %g to %g, %v", c.f, lo, hi, ok)
		}
	}
}

// A number that no count can stand for is not sent, also when it is the scale that makes it infinite.
func TestRawIsFinite(t *testing.T) {
	for _, typ := range []Type{I16, F32, Text} {
		f := Field{Type: typ, Scale: 1e-300}
		if raw, ok := f.raw(1e10); ok {
			t.Errorf("%v: 1e10 at a scale of 1e-300 travels as %g", typ, raw)
		}
		if _, ok := f.raw(math.Inf(1)); ok {
			t.Errorf("%v: infinity travels", typ)
		}
	}
}

// A time column wraps at its bits, unless that is beyond 36 years.
func TestWrapOfTime(t *testing.T) {
	for _, c := range []struct {
		unit float64 // s
		bits int
		want int64 // ns
	}{{1e-6, 32, 1000 << 32}, {1e-6, 0, 0}, {3600, 52, 0}, {1, 30, 1e9 << 30}, {1, 31, 0}} {
		d, err := NewLineDecoder([]Field{{Name: "a", Type: Text, Scale: 1}}, Format{Time: "t", TimeUnit: c.unit, TimeBits: c.bits}, Measurement)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Wrap(); got != c.want {
			t.Errorf("%g s, %d bits: wraps at %d ns, want %d", c.unit, c.bits, got, c.want)
		}
	}
}

// The longest line that is written leaves room for a checksum, and not a byte more. An f32 is written as the shortest number that reads
// back as the same float32.
func TestLongestLine(t *testing.T) {
	for length, want := range map[int]bool{MaxLine - 4: true, MaxLine - 3: true, MaxLine - 2: false, MaxLine + 20: false} {
		var fields []Field
		var v []float64
		for left := length; left > 0; {
			digits := min(20, left) // 1.000…1e-300 or a whole number
			if left-digits == 1 {   // the next column needs its comma and a digit
				digits--
			}
			fields = append(fields, Field{Name: "f" + strconv.Itoa(len(fields)), Type: Text, Scale: 1})
			if left -= digits + 1; digits > 15 {
				x, _ := strconv.ParseFloat("1.1111111111111111"[:digits-5]+"e-300", 64)
				v = append(v, x)
			} else {
				v = append(v, math.Pow10(digits-1))
			}
		}
		e, err := NewLineEncoder(fields, Format{})
		if err != nil {
			t.Fatal(err)
		}
		b, ok := e.Append(nil, Header{FreshFields: AllFields(len(fields))}, v)
		if ok != want || ok && len(strings.TrimRight(string(b), "\r\n")) != length {
			t.Errorf("%d bytes: written %v, %d bytes", length, ok, len(b))
		}
	}
	e, err := NewLineEncoder([]Field{{Name: "a", Type: F32, Scale: 1}, {Name: "b", Type: Text, Scale: 1}}, Format{})
	if err != nil {
		t.Fatal(err)
	}
	tenth := float64(float32(0.1))
	if b, _ := e.Append(nil, Header{FreshFields: 3}, []float64{tenth, tenth}); strings.TrimSpace(string(b)) != "0.1,0.10000000149011612" {
		t.Errorf("%q", b)
	}
}

// Numbers at the edges of what is read without strconv are the nearest float64 too.
func TestNumbersAtTheEdges(t *testing.T) {
	for _, text := range []string{"1e22", "1e-22", "1e23", "1e-23", "1e30", "1e-30", "7e44", "7e45", "999999999999999e22",
		"999999999999999e-22",
		"999999999999999e23", "9007199254740993", "9007199254740993e22", "1234567890123456789", "12345678901234567891", "0.1e23", "9.9e307",
		"1e-308"} {
		want, err := strconv.ParseFloat(text, 64)
		if got, ok := ParseNumber([]byte(text), '.'); err != nil || !ok || got != want {
			t.Errorf("%s: %v %v, want %v", text, got, ok, want)
		}
	}
}
