package record

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hilrig/engine/numeric"
)

// bench is a mapping in which every unit differs from SI.
var bench = Mapping{
	Time:     Column{Name: "t", Unit: "ms", Scale: 1e-3},
	Position: Column{Name: "pos", Unit: "mm", Scale: 1e-3},
	Force:    Column{Name: "u", Unit: "V", Scale: 2}, // N/V
}

// read is readOne on an open stream.
func read(name string, raw *bufio.Reader, m Mapping) (*Record, error) {
	t, err := open(name, raw, &m)
	if err != nil {
		return nil, err
	}
	pieces, err := FromTable(t, m)
	if err != nil {
		return nil, err
	}
	return one(pieces)
}

// piecesOf is Read on a text.
func piecesOf(text string, m Mapping) ([]*Record, error) {
	t, err := open("bench.csv", bufio.NewReader(strings.NewReader(text)), &m)
	if err != nil {
		return nil, err
	}
	return FromTable(t, m)
}

func fromText(text string, m Mapping) (*Record, error) {
	return read("bench.csv", bufio.NewReader(strings.NewReader(text)), m)
}

func TestReadDialects(t *testing.T) {
	semicolon := bench
	semicolon.DecimalComma = true
	noTime := bench
	noTime.Time, noTime.Rate = Column{}, 1000
	for _, c := range []struct {
		name, text string
		m          Mapping
	}{
		{"plain", "t,pos,u\n0,10,1\n1,11.5,2\n2,12,-3\n", bench},
		{"columns in another order, one that is not used", "u,extra,pos,t\n1,x,10,0\n2,,11.5,1\n-3,y,12,2\n", bench},
		{"comments, blanks, no final line end, DOS line ends", "# made by hand\r\nt, pos, u\r\n0, 10, 1\r\n\r\n# pause\r\n1, 11.5, " +
			"2\r\n2, 12, -3", bench},
		{"byte order mark", "\ufefft,pos,u\n0,10,1\n1,11.5,2\n2,12,-3\n", bench},
		{"unit row", "t,pos,u\nms,mm,V\n0,10,1\n1,11.5,2\n2,12,-3\n", bench},
		{"unit row as comment", "t,pos,u\n# ms,mm,V\n0,10,1\n1,11.5,2\n2,12,-3\n", bench},
		{"units in the header", "t [ms],pos (mm),u [V]\n0,10,1\n1,11.5,2\n2,12,-3\n", bench},
		{"semicolons and decimal commas", "t;pos;u\n0;10,0;1\n1;11,5;2\n2;12;-3\n", semicolon},
		{"tabs", "t\tpos\tu\n0\t10\t1\n1\t11.5\t2\n2\t12\t-3\n", bench},
		{"quotes", "\"t\",\"pos\",\"u\"\n\"0\",10,1\n1,\"11.5\",2\n2,12,-3\n", bench},
		{"rate instead of time", "pos,u\n10,1\n11.5,2\n12,-3\n", noTime},
	} {
		d, err := fromText(c.text, c.m)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d.Len() != 3 || math.Abs(d.Dt-1e-3) > 1e-15 || d.Position[1] != 11.5*1e-3 || d.Force[2] != -6 {
			t.Errorf("%s: read %+v", c.name, d)
		}
	}
}

func TestDataErrors(t *testing.T) {
	const head = "t,pos,u\n0,10,1\n"
	steady := func(n int, special map[int]string) string {
		var b strings.Builder
		b.WriteString("t,pos,u\n")
		for k := range n {
			if s, ok := special[k]; ok {
				b.WriteString(s)
			} else {
				fmt.Fprintf(&b, "%d,%d,1\n", k, k)
			}
		}
		return b.String()
	}
	jitter := func() string {
		var b strings.Builder
		b.WriteString("t,pos,u\n")
		for k := range 100 {
			fmt.Fprintf(&b, "%.2f,1,1\n", float64(k)+0.2*float64(k%2))
		}
		return b.String()
	}
	comma := bench
	comma.DecimalComma, comma.Separator = true, ','
	for _, c := range []struct {
		name, text string
		m          Mapping
		line       int
		want       []string
	}{
		{"empty", "", bench, 0, []string{"empty file"}},
		{"header only", "t,pos,u\n", bench, 0, []string{"0 rows of numbers"}},
		{"truncated last row", head + "1,11,2\n2,1", bench, 4, []string{"2 cells, the header has 3", "cut short"}},
		{"decimal commas in a comma file", head + "1,11,5,2\n", bench, 3, []string{"4 cells", "decimal: comma"}},
		{"a number of programs", head + "1,0x1p3,2\n", bench, 3, []string{`"0x1p3" in column pos is not a number`}},
		{"a number with an underscore", head + "1,1_000,2\n", bench, 3, []string{`"1_000" in column pos is not a number`}},
		{"no number", head + "1,abc,2\n", bench, 3, []string{`"abc" in column pos is not a number`}},
		{"decimal comma not declared", "t;pos;u\n0;10,5;1\n", bench, 2, []string{`"10,5" in column pos`, "data.decimal: comma"}},
		{"comma twice", "t,pos,u\n", comma, 1, []string{"cannot both use the comma"}},
		{"NaN", head + "1,NaN,2\n", bench, 3, []string{"NaN in column pos is not a usable number"}},
		{"infinite", head + "1,2,1e999\n", bench, 3, []string{"1e999 in column u"}},
		{"empty cell", head + "1,,2\n", bench, 3, []string{"empty cell in column pos"}},
		{"time back", steady(9, map[int]string{5: "1.5,5,1\n"}), bench, 7, []string{"time goes back by 0.0025 s", "line 6", "Two recordings"}},
		{"time stands", steady(9, map[int]string{5: "4,5,1\n"}), bench, 7, []string{"time stands still at 0.004 s since line 6"}},
		{"gap", steady(30, map[int]string{10: "", 11: "", 12: ""}), bench, 12, []string{"gap of 0.004 s after line 11", "about 3 are missing"}},
		{"jitter", jitter(), bench, 0, []string{"uneven sampling", "20.0 % rms"}},
		{"column missing", "t,posn,u\n0,1,2\n", bench, 1, []string{`no column "pos"`, `Did you mean "posn"?`, "Columns here: t, posn, u"}},
		{"case", "T,Pos,U\n0,1,2\n", bench, 1, []string{`no column "t"`, `Did you mean "T"?`}},
		{"no header", "0,1,2\n1,2,3\n", bench, 1, []string{"add a header row"}},
		{"column twice", "t,pos,pos,u\n", bench, 1, []string{`column "pos" exists twice (columns 2 and 3)`}},
		{"wrong unit in the header", "t [ms],pos [m],u\n", bench, 1, []string{`column "pos" is in m, the configuration says mm`}},
		{"wrong unit in the unit row", "t,pos,u\ns,mm,V\n0,1,2\n", bench, 2, []string{`column "t" is in s, the configuration says ms`}},
		{"stray quote", head + "1,\"2,3\n4,5,6\n", bench, 3, []string{`quote (") that is not closed`}},
	} {
		_, err := fromText(c.text, c.m)
		var de *Error
		if !errors.As(err, &de) {
			t.Errorf("%s: %v, want a *Error", c.name, err)
			continue
		}
		if de.Hint == "" {
			t.Errorf("%s: no word of how to go on: %v", c.name, err)
		}
		if de.Line != c.line {
			t.Errorf("%s: line %d, want %d (%v)", c.name, de.Line, c.line, err)
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: …%s… is missing in\n%v", c.name, w, err)
			}
		}
	}
}

// Compressed files are known by their content; a cut one is an error, not a short record.
func TestCompressed(t *testing.T) {
	var text strings.Builder
	text.WriteString("t,pos,u\n")
	for k := range 5000 {
		fmt.Fprintf(&text, "%d,%d,%d\n", k, k*k%977, k*7919%1013)
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte(text.String())); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "data.csv")
	write := func(b []byte) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(z.Bytes())
	d, err := readOne(path, bench)
	if err != nil || d.Len() != 5000 || len(d.SHA256) != 64 {
		t.Fatalf("%v, error %v", d, err)
	}
	write(z.Bytes()[:z.Len()/2])
	if _, err := readOne(path, bench); err == nil || !strings.Contains(err.Error(), "cut short or damaged") {
		t.Errorf("half a file: %v", err)
	}
	damaged := bytes.Clone(z.Bytes())
	damaged[z.Len()-6] ^= 1 // checksum
	write(damaged)
	if _, err := readOne(path, bench); err == nil || !strings.Contains(err.Error(), "cut short or damaged") {
		t.Errorf("wrong checksum: %v", err)
	}
	for at := z.Len() / 10; at < z.Len()-8; at += z.Len() / 10 { // whatever the rows read like there
		damaged := bytes.Clone(z.Bytes())
		damaged[at] ^= 0x55
		write(damaged)
		if _, err := readOne(path, bench); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
	var de *Error
	if _, err := readOne(path+".missing", bench); !errors.As(err, &de) || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("missing file: %v", err)
	}
	if _, err := readOne(t.TempDir(), bench); !errors.As(err, &de) {
		t.Errorf("a folder: %v", err)
	}
}

// Numbers are rounded as strconv does, bit by bit, whatever way they are read.
func TestNumbersAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	cells := []string{"0", "-0", "+1", ".5", "-.5", "5.", "1e3", "-1E-3", "9007199254740991", "9007199254740992", "9007199254740993",
		"0.000000000000000001", "123456789012345678", "1234567890.12345678", "4.9e-324"}
	for range 100000 {
		x := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(12)-4))
		cells = append(cells, strconv.FormatFloat(x, "eEfgG"[r.IntN(5)], r.IntN(19)-1, 64))
	}
	for range 100000 { // all digits, and what lies in the middle between two numbers or next to it
		digits := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10)
		if m := r.Uint64() >> 11; r.IntN(2) == 0 {
			digits = strconv.FormatUint((2*m+1)<<r.IntN(8)+uint64(r.IntN(3))-1, 10)
		}
		at := r.IntN(len(digits) + 1)
		cells = append(cells, "-+"[:r.IntN(2)]+digits[:at]+"."+digits[at:], strings.Repeat("0", r.IntN(4))+digits[:at]+"."+digits[at:])
	}
	reader := textReader{t: &Table{heads: []string{"x"}}, m: &Mapping{}}
	quick := 0
	for _, s := range cells {
		want, _ := strconv.ParseFloat(s, 64)
		got, err := reader.number([]byte(s), 0, 1)
		if err != nil || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q is read as %g, %v", s, got, err)
		}
		if _, n := decimalAt([]byte(s), '.'); n == len(s) {
			quick++
		}
	}
	if quick < len(cells)/4 {
		t.Errorf("only %d of %d numbers were read the quick way", quick, len(cells))
	}
	for _, s := range []string{"", "-", ".", "+.", "1.2.3", "1-2", "--1", "1 2", "0x10", "1_0", "nan", "inf", "1,5"} {
		if x, err := reader.number([]byte(s), 0, 1); err == nil {
			t.Errorf("%q is read as %g", s, x)
		}
	}
}

// Rows of plain numbers are read as rows with quotes are, which take the other way through the reader, oddities among them.
func TestPlainRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, style := range []struct{ end, comma, point string }{{"\n", ",", "."}, {"\r\n", ";", ","}, {"\n", "\t", "."}} {
		var plain, quoted strings.Builder
		for _, b := range []*strings.Builder{&plain, &quoted} {
			b.WriteString(strings.ReplaceAll("t,note,pos,u", ",", style.comma) + style.end)
		}
		for k := range 5000 {
			number := func(x float64) string {
				s := strconv.FormatFloat(x, "efg"[r.IntN(3)], []int{-1, 3, 9, 17}[r.IntN(4)], 64)
				return strings.Repeat(" ", r.IntN(2)*r.IntN(2)) + strings.Replace(s, ".", style.point, 1)
			}
			cells := []string{strconv.Itoa(k), []string{"", "7", "a b", "-"}[r.IntN(4)], number(r.NormFloat64()), number(1e-5 * r.NormFloat64())}
			plain.WriteString(strings.Join(cells, style.comma) + style.end)
			quoted.WriteString(strings.Join(cells[:3], style.comma) + style.comma + `"` + strings.TrimSpace(cells[3]) + `"` + style.end)
			if r.IntN(500) == 0 {
				// spaces are a cell between tabs
				odd := []string{"", "# a, comment;", strings.Repeat(" ", 3*strings.Count(",;", style.comma))}[r.IntN(3)] + style.end
				plain.WriteString(odd)
				quoted.WriteString(odd)
			}
		}
		m := bench
		m.Time = Column{Name: "t", Unit: "s"}
		m.DecimalComma = style.point == ","
		m.Rows = [2]int{10, 4900}
		var got [2]*Record
		for i, text := range []string{plain.String(), quoted.String()} {
			d, err := read("rows.csv", bufio.NewReader(strings.NewReader(text)), m)
			if err != nil {
				t.Fatal(err)
			}
			got[i] = d
		}
		if !slices.Equal(got[0].Position, got[1].Position) || !slices.Equal(got[0].Force, got[1].Force) || got[0].Len() != 4891 {
			t.Errorf("%q: plain rows are read otherwise than quoted ones", style)
		}
		// an error names its line, which the reader has to have counted
		lines := strings.SplitAfter(plain.String(), style.end)
		at := len(lines) * 3 / 4
		lines[at] = strings.Replace(lines[at], style.comma, style.comma+"x"+style.comma, 1)
		_, err := read("rows.csv", bufio.NewReader(strings.NewReader(strings.Join(lines, ""))), m)
		var de *Error
		if !errors.As(err, &de) || de.Line != at+1 {
			t.Errorf("%q: a row with a cell too many in line %d: %v", style, at+1, err)
		}
	}
}

// Whatever the bytes, reading ends with finite data on an even grid or with a *Error.
func FuzzRead(f *testing.F) {
	f.Add([]byte("t,pos,u\n0,10,1\n1,11.5,2\n2,12,-3\n"))
	f.Add([]byte("\ufefft [ms];pos [mm];u\n# ms;mm;V\n0;1;2\n1;\"2\";3\n"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Add([]byte("t,pos,u\n0,1e308,1e308\n1,-1e308,1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := read("fuzz.csv", bufio.NewReader(bytes.NewReader(text)), bench)
		if err != nil {
			var de *Error
			if !errors.As(err, &de) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if d.Len() < 2 || !(d.Dt > 0) || len(d.Force) != d.Len() {
			t.Fatalf("accepted %+v", d)
		}
		for k := range d.Position {
			if !numeric.IsFinite(d.Position[k]) || !numeric.IsFinite(d.Force[k]) {
				t.Fatalf("sample %d: %g, %g", k, d.Position[k], d.Force[k])
			}
		}
	})
}

// readOne reads a file of one piece.
func readOne(path string, m Mapping) (*Record, error) {
	pieces, err := Read(path, m)
	if err != nil {
		return nil, err
	}
	return one(pieces)
}

// one refuses several pieces.
func one(pieces []*Record) (*Record, error) {
	if len(pieces) > 1 {
		return nil, pieces[0].Fail(0, "", "%d pieces, want a single one", len(pieces))
	}
	return pieces[0], nil
}
