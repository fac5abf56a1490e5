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
	fields := []Field{{"a", "", U8, 1, 0}, {"b", "", U16, 1, 0}}
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
		{"a byte less", frameOf(1, 2), Corrupt, Counters{Bad: 1, Resync: 11 + 1}, Misfit{Count: 1, Width: 2}},
		{"a byte more, within the longest partial frame", frameOf(1, 4), Corrupt, Counters{Bad: 1, Resync: 13 + 1}, Misfit{Count: 1, Width: 4}},
		{"longer than any", frameOf(1, 5), Corrupt, Counters{Oversize: 1, Resync: 14 + 1}, Misfit{Count: 1, Width: 5}},
		{"longer than any, checksum wrong", append(append([]byte(nil), frameOf(1, 5)[:13]...), 1, 0), Corrupt, Counters{Oversize: 1, Resync: 14 + 1}, Misfit{}},
		{"no data, no head", cut([]byte{1, 2, 3, 4, 5}), Corrupt, Counters{Bad: 1, Resync: 8 + 1}, Misfit{}},
		{"head and no data", frameOf(1, 0), Corrupt, Counters{Bad: 1, Resync: 9 + 1}, Misfit{Count: 1, Width: 0}},
		{"presence bits missing", part(), Corrupt, Counters{Bad: 1, Resync: 9 + 1}, Misfit{}},
		{"nothing present", part(0), Good, Counters{Frames: 1}, Misfit{}},
		{"the first present", part(1, 7), Good, Counters{Frames: 1}, Misfit{}},
		{"the second present, a byte short", part(2, 7), Corrupt, Counters{Bad: 1, Resync: 11 + 1}, Misfit{Count: 1, Width: 1}},
		{"a field present that the table has not", part(4, 7), Corrupt, Counters{Bad: 1, Resync: 11 + 1}, Misfit{}},
		{"rubbish as long as the longest", append(long[:13:13], 0), Corrupt, Counters{Bad: 1, Resync: 13 + 1}, Misfit{}},
		{"rubbish a byte longer", append(long[:14:14], 0), Corrupt, Counters{Oversize: 1, Resync: 14 + 1}, Misfit{}},
		{"rubbish beyond any frame", append(long[:maxPayload+1:maxPayload+1], 0), Corrupt, Counters{Oversize: 1, Resync: maxPayload + 1 + 1}, Misfit{}},
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
	if _, err := NewLinkDecoder([]Field{{"a", "", Text, 1, 0}}, Measurement); err == nil {
		t.Error("a decoder of link frames took a text field")
	}
}

// What is thrown away is counted to the byte, however long it is and however it comes.
func TestLinkLongRubbish(t *testing.T) {
	d, _ := NewLinkDecoder([]Field{{"a", "", U8, 1, 0}}, Measurement)
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
	fields := []Field{{"a", "", U8, 1, 0}}
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
	if c := d.Counters(); c.Bad != 0 || c.Gaps != 0 || c.Restarts != 0 || c.Repeats != 0 || c.Frames != 2 {
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
	fields := []Field{{"a", "", Text, 1, 0}, {"b", "", Text, 1, 0}}
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
			if k := d.Counters(); st != c.want || (k.Frames == 1) != good || (k.Oversize == 1) == good || k.Resync != map[bool]uint64{true: 1, false: 1 + uint64(len(line))}[good] {
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
		if c := d.Counters(); c.Bad != 0 || c.Oversize != 0 {
			t.Errorf("%+v", *c)
		}
	}
}

// The checksum of a line: both digits count, in either case, each of the sixteen; what is refused is counted to the byte.
func TestLineChecksumDigits(t *testing.T) {
	fields := []Field{{"a", "", Text, 1, 0}}
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
		for text, want := range map[string]bool{digits: true, strings.ToLower(digits): true, string(hi) + other(lo): false, other(hi) + string(lo): false} {
			d, _ := NewLineDecoder(fields, Format{Checksum: "xor"}, Measurement)
			var f Frame
			line := body + "*" + text + "\n"
			_, st := d.Next([]byte("\n"+line), &f)
			c := d.Counters()
			if (st == Good) != want || want && f.V[0] != float64(v) || !want && (c.Bad != 1 || c.Resync != uint64(1+len(line))) {
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
	fields := []Field{{"a", "", Text, 1, 0}}
	for _, c := range []struct {
		unit float64
		bits int
		text string
		want int64
		has  bool
	}{
		{1e-6, 32, "1", 1000, true}, {1e-6, 32, "4294967295", 4294967295000, true}, {1e-6, 32, "4294967296", 0, true}, {1e-6, 32, "4294967297", 1000, true},
		{1e-6, 32, "-1", 4294967295000, true}, {1e-6, 0, "-1", -1000, true}, {1e-9, 0, "2.4", 2, true}, {1e-9, 0, "2.5", 3, true}, {1e-9, 0, "-2.5", -3, true}, {1e-9, 0, "-2.4", -2, true},
		{1, 0, "4e9", 4e18, true}, {1, 0, "5e9", 0, false}, {1, 0, "-5e9", 0, false}, {1, 0, "nan", 0, false}, {1, 0, "inf", 0, false}, {1, 0, "", 0, false},
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
