package wire

import (
	"bytes"
	"strings"
	"testing"
)

// Frames that come whole and do not fit the table are counted, with their width; broken ones are not.
func TestMisfits(t *testing.T) {
	table := func(n int) []Field {
		f := make([]Field, n)
		for i := range f {
			f[i] = Field{Name: string(rune('a' + i)), Type: U16, Scale: 1}
		}
		return f
	}
	frame := func(n int) []byte {
		e, err := NewLinkEncoder(table(n))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := e.Append([]byte{0}, Header{Kind: Measurement, FreshFields: AllFields(n)}, make([]float64, n))
		return b
	}
	broken := frame(3)
	broken[9] ^= 0x40
	link, err := NewLinkDecoder(table(4), Measurement)
	if err != nil {
		t.Fatal(err)
	}
	text := func(f Format) Decoder {
		fields := table(3)
		for i := range fields {
			fields[i].Type = Text
		}
		d, err := NewLineDecoder(fields, f, Measurement)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		name  string
		dec   Decoder
		in    []byte
		count uint64
		width uint64
		line  string
	}{
		{"fits", link, frame(4), 0, 0, ""},
		{"shorter", link, frame(3), 1, 6, ""},
		{"longer than any of the table", link, frame(20), 1, 40, ""},
		{"broken", link, broken, 0, 0, ""},
		{"rubbish without an end", link, append(bytes.Repeat([]byte{7}, 5000), 0), 0, 0, ""},
		{"lines fit", text(Format{}), []byte("\n1,2,3\n"), 0, 0, ""},
		{"a column less", text(Format{}), []byte("\n1,2\n"), 1, 2, "1,2"},
		{"two columns more", text(Format{}), []byte("\n1,2,3,4,5\n"), 1, 5, "1,2,3,4,5"},
		{"a word", text(Format{}), []byte("\n1,on,3\n"), 1, 3, "1,on,3"},
		{"a header", text(Format{}), []byte("\nx,y,z\n"), 0, 0, ""},
		{"a wrong checksum", text(Format{Checksum: "xor"}), []byte("\n1,2,3*00\n"), 0, 0, ""},
		{"a long line", text(Format{}), []byte("\n" + strings.Repeat("1,", 40) + "\n"), 1, 41, strings.Repeat("1,", TextLen/2)},
	} {
		before := c.dec.Misfit().Count
		var f Frame
		for in := c.in; len(in) > 0; {
			n, _ := c.dec.Next(in, &f)
			in = in[n:]
		}
		m := c.dec.Misfit()
		if got := m.Count - before; got != c.count {
			t.Errorf("%s: %d misfits, want %d", c.name, got, c.count)
		}
		if line, _, _ := bytes.Cut(m.Text[:], []byte{0}); c.count > 0 && (m.Width != c.width || string(line) != c.line) {
			t.Errorf("%s: width %d, line %q, want %d, %q", c.name, m.Width, line, c.width, c.line)
		}
	}
}
