package record

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// run is a mapping of every channel.
var run = Mapping{
	Time: Column{Name: "t"}, Position: Column{Name: "x", Unit: "mm", Scale: 1e-3}, Velocity: Column{Name: "v"},
	Force:     Column{Name: "f", Scale: -2},
	Reference: Column{Name: "r", Shift: 1}, Load: Column{Name: "n"}, Current: Column{Name: "i"},
}

func pieces(t *testing.T, text string, m Mapping) []*Record {
	t.Helper()
	out, err := piecesOf(text, m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// timed writes rows of time and a number.
func timed(times []float64, y func(float64) float64) string {
	var b strings.Builder
	b.WriteString("t,x\n")
	for _, s := range times {
		fmt.Fprintf(&b, "%.17g,%.17g\n", s, y(s))
	}
	return b.String()
}

func TestEveryChannel(t *testing.T) {
	d := pieces(t, "note,i,n,r,f,v,x,t\nstart,1,2,3,4,5,6,10\n,2,2,3,4,5,6,11\n", run)[0]
	got := []float64{d.Start, d.Dt, d.Current[1], d.Load[0], d.Reference[0], d.Force[0], d.Velocity[0], d.Position[0]}
	for i, want := range []float64{10, 1, 2, 2, 4, -8, 5, 6e-3} {
		if got[i] != want {
			t.Errorf("%d: %g, want %g", i, got[i], want)
		}
	}
	m := Mapping{Time: run.Time, Velocity: run.Velocity, Force: run.Force}
	if d := pieces(t, "t,v,f\n0,1,2\n1,2,3\n", m)[0]; d.Position != nil || d.Len() != 2 {
		t.Errorf("channels without a name are read: %+v", d)
	}
}

func TestPieces(t *testing.T) {
	m := Mapping{Time: Column{Name: "t"}, Velocity: Column{Name: "v"}, Piece: "run"}
	got := pieces(t, "run,t,v\nup,0,1\nup,1,2\ndown,0,3\ndown,0.5,4\ndown,1,5\nup,7,6\nup,8,7\n", m)
	if len(got) != 3 || got[0].Piece != "run up" || got[1].Piece != "run down" || got[2].Piece != "run up (2)" {
		t.Fatalf("pieces %+v", got)
	}
	if got[1].Dt != 0.5 || got[1].Len() != 3 || got[2].Start != 7 {
		t.Errorf("second %+v, third %+v", got[1], got[2])
	}
	m.Span = [2]float64{0.5, 7.5} // one sample of the first piece, two of the second, one of the third
	got = pieces(t, "run,t,v\nup,0,1\nup,1,2\ndown,0,3\ndown,0.5,4\ndown,1,5\nup,7,6\nup,8,7\n", m)
	if len(got) != 1 || got[0].Piece != "run down" || len(got[0].Warnings) != 2 {
		t.Errorf("span: %+v", got)
	}
	for _, c := range []struct{ name, text, want string }{
		{"label missing", "run,t,v\nup,0,1\n,1,2\n", "empty cell in column run"},
		{"changes in every row", "run,t,v\n1,0,1\n2,1,2\n", "really change only between pieces"},
		{"time restarts without a change of the label", "run,t,v\na,0,1\na,1,2\na,0,3\n", "data.columns.group"},
	} {
		m := Mapping{Time: m.Time, Velocity: m.Velocity, Piece: m.Piece}
		if _, err := piecesOf(c.text, m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", c.name, err, c.want)
		}
	}
}

// The last of a record ends with its last sample, whatever the pieces before it.
func TestLast(t *testing.T) {
	const text = "run,t,v\na,0,1\na,1,2\na,2,3\nb,3,4\nb,4,5\nb,5,6\n"
	m := Mapping{Time: Column{Name: "t"}, Velocity: Column{Name: "v"}, Piece: "run"}
	for _, c := range []struct {
		last  float64
		first float64
		n     int
	}{{1, 4, 1}, {2.5, 3, 1}, {4, 1, 2}, {99, 0, 2}} {
		m.TailDuration = c.last
		if got := pieces(t, text, m); len(got) != c.n || got[0].Start != c.first || got[c.n-1].Start+float64(got[c.n-1].Len()-1) != 5 {
			t.Errorf("last %g s: %+v", c.last, got)
		}
	}
	m.Time, m.Piece, m.Rate, m.TailDuration = Column{}, "", 2, 1
	if got := pieces(t, text, m); got[0].Len() != 3 || got[0].Velocity[0] != 4 {
		t.Errorf("without a time: %+v", got[0])
	}
}

// Rows and spans choose a part; what is wrong outside of it does not matter, inside it does.
func TestSelection(t *testing.T) {
	const text = "t,x\n0,1\n1,abc\n2,3\n3,4\n4,5\n5,\n"
	base := Mapping{Time: Column{Name: "t"}, Position: Column{Name: "x"}}
	for _, c := range []struct {
		name string
		rows [2]int
		span [2]float64
		n    int
		want string
	}{
		{"rows", [2]int{3, 5}, [2]float64{}, 3, ""},
		{"rows to the end", [2]int{3, 0}, [2]float64{}, 0, ":7: empty cell"},
		{"rows from the beginning", [2]int{0, 5}, [2]float64{}, 0, `:3: "abc"`},
		{"span", [2]int{}, [2]float64{1.5, 4}, 3, ""},
		{"span to the end", [2]int{}, [2]float64{1.5, 0}, 0, ":7: empty cell"},
		{"both", [2]int{2, 5}, [2]float64{2, 3}, 2, ""},
		{"one row", [2]int{3, 3}, [2]float64{}, 0, "rows 3:3 of the 6"},
		{"outside", [2]int{9, 12}, [2]float64{}, 0, "rows 9:12 of the 6"},
		{"span outside", [2]int{}, [2]float64{8, 9}, 0, "Time there runs from 0 to 5 s"},
	} {
		m := base
		m.Rows, m.Span = c.rows, c.span
		got, err := piecesOf(text, m)
		switch {
		case c.want == "" && (err != nil || got[0].Len() != c.n || got[0].Position[0] != 3):
			t.Errorf("%s: %v, %v", c.name, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want …%s…", c.name, err, c.want)
		}
	}
}

// Halving the interval divides the error of the cubic by 16 and of the line by 4.
func TestResamplingOrder(t *testing.T) {
	worst := func(h float64, cubic bool) float64 {
		var s []float64
		for k := range int(10 / h) {
			s = append(s, h*(float64(k)+0.3*math.Sin(float64(k)*1.7)))
		}
		m := Mapping{Time: Column{Name: "t"}, Position: Column{Name: "x"}, Resample: true, ResampleRate: 1 / h, Cubic: cubic}
		d := pieces(t, timed(s, math.Sin), m)[0]
		e := 0.0
		for i := 3; i < d.Len()-3; i++ {
			e = max(e, math.Abs(d.Position[i]-math.Sin(d.Start+float64(i)*d.Dt)))
		}
		return e
	}
	for cubic, order := range map[bool]float64{false: 2, true: 4} {
		a, b := worst(0.1, cubic), worst(0.05, cubic)
		if p := math.Log2(a / b); math.Abs(p-order) > 0.4 {
			t.Errorf("cubic %v: errors %.3g and %.3g, order %.2f, want %g", cubic, a, b, p, order)
		}
	}
}

// Interpolated samples do not show the step of the encoder, so the record keeps it, in the unit of the position.
func TestStepOfResampled(t *testing.T) {
	const step = 1e-3
	counts := func(x float64) float64 { return math.Round(math.Sin(x) / step) }
	uneven := func(by float64) *Record {
		var s []float64
		for k := range 4000 {
			s = append(s, 5e-3*(float64(k)+by*math.Sin(float64(k)*1.7)))
		}
		return pieces(t, timed(s, counts), Mapping{Time: Column{Name: "t"}, Position: Column{Name: "x", Scale: -step}, Resample: true,
			Cubic: true})[0]
	}
	if d := uneven(0.3); math.Abs(d.PositionStep/step-1) > 1e-3 || !d.Clock.Resampled {
		t.Errorf("step %g, want %g", d.PositionStep, step)
	}
	if d := uneven(0); d.PositionStep != 0 {
		t.Errorf("step %g of samples that were not interpolated", d.PositionStep)
	}
}

// unevenBoard is a board that samples a sine whenever it likes, under a command that jumps every 7 ms.
type unevenBoard struct{ at []float64 }

func (b unevenBoard) Signals() []engine.Signal {
	return []engine.Signal{{Name: "t", Unit: "s"}, {Name: "x", Unit: "rad"}, {Name: "u", Unit: "V"}}
}

func (b unevenBoard) Columns(_ context.Context, names []string) (columns [][]float64, err error) {
	for _, name := range names {
		var x []float64
		for _, at := range b.at {
			x = append(x, map[string]float64{"t": at, "x": math.Sin(9 * at), "u": jumps(at)}[name])
		}
		columns = append(columns, x)
	}
	return columns, nil
}

func (b unevenBoard) Notes() []string     { return nil }
func (b unevenBoard) Step(string) float64 { return 0 }

func (b unevenBoard) CommandTimes(name string) (time, value []float64) {
	for at := 0.0; name == "u" && at < 2; at += 7e-3 {
		time, value = append(time, at), append(value, jumps(at+1e-9))
	}
	return time, value
}

func jumps(at float64) float64 { return math.Floor(10 * math.Sin(5*math.Floor(at/7e-3))) }

// On the even grid of a board that samples unevenly a command is what acted then, between no two of its values; the motion is its curve.
func TestCommandOfAnUnevenBoard(t *testing.T) {
	var b unevenBoard
	for k := range 400 {
		b.at = append(b.at, 0.02+2e-3*(float64(k)+0.4*math.Sin(float64(k)*1.7)))
	}
	recs, err := ReadSource(t.Context(), "run", "", b, Mapping{Time: Column{Name: "t", Unit: "s"}, Position: Column{Name: "x", Unit: "rad"},
		Force: Column{Name: "u", Unit: "V", Scale: 0.5, Shift: 3}, Resample: true, Cubic: true})
	if err != nil {
		t.Fatal(err)
	}
	d := recs[0]
	if !d.Clock.Resampled {
		t.Fatal("the samples are even")
	}
	for k, f := range d.Force {
		at := d.Start + float64(k)*d.Dt
		if math.Abs(math.Remainder(at, 7e-3)) > 1e-9 && math.Abs(f-0.5*jumps(at)-3) > 1e-12 {
			t.Errorf("at %.6g s the force is %v, the command made %v", at, f, 0.5*jumps(at)+3)
		}
		if k > 1 && k < d.Len()-2 && math.Abs(d.Position[k]-math.Sin(9*at)) > 1e-5 {
			t.Errorf("at %.6g s the position is %v, want %v", at, d.Position[k], math.Sin(9*at))
		}
	}
}

func TestUnevenTime(t *testing.T) {
	var even, jitter, gap, wide []float64
	for k := range 200 {
		x := float64(k) * 1e-3
		even = append(even, x)
		jitter = append(jitter, x+1e-4*math.Sin(float64(k*k)))
		if k < 100 || k >= 104 {
			gap = append(gap, x)
		}
		if k < 100 || k >= 110 {
			wide = append(wide, x)
		}
	}
	square := func(s float64) float64 { return s * s }
	base := Mapping{Time: Column{Name: "t"}, Position: Column{Name: "x"}}
	fill, split, both := base, base, base
	fill.Resample, split.SplitGaps = true, true
	both.Resample, both.SplitGaps = true, true

	if _, err := piecesOf(timed(jitter, square), base); err == nil || !strings.Contains(err.Error(), "data.resample") {
		t.Errorf("jitter: %v", err)
	}
	d := pieces(t, timed(jitter, square), fill)[0]
	if !d.Clock.Resampled || d.Clock.Jitter < 0.05 || len(d.Warnings) != 1 || math.Abs(d.Dt-1e-3) > 1e-4 {
		t.Errorf("resampled %+v, warnings %q", d.Clock, d.Warnings)
	}
	for i, x := range d.Position {
		s := d.Start + float64(i)*d.Dt
		if math.Abs(x-s*s) > 1.3e-6/8*2*1.2 { // h²·|x″|/8, widest interval 1.2 ms
			t.Fatalf("sample %d: %g, want %g", i, x, s*s)
		}
	}
	if d := pieces(t, timed(even, square), fill)[0]; d.Clock.Resampled || d.Position[77] != square(even[77]) {
		t.Errorf("even samples are changed: %+v", d.Clock)
	}
	if _, err := piecesOf(timed(gap, square), base); err == nil || !strings.Contains(err.Error(), "gap of 0.005 s after line 101") {
		t.Errorf("gap: %v", err)
	}
	if d := pieces(t, timed(gap, square), fill)[0]; d.Len() != 200 || d.Clock.Bridged != 1 || d.Clock.Invented != 4 {
		t.Errorf("bridged %d samples, %+v", d.Len(), d.Clock)
	}
	for name, m := range map[string]Mapping{"split": split, "split what is too long to bridge": both} {
		got := pieces(t, timed(wide, square), m)
		if len(got) != 2 || got[0].Len() != 100 || got[1].Len() != 90 || got[1].Piece != "part 2" || math.Abs(got[1].Start-0.11) > 1e-12 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := piecesOf(timed(wide, square), fill); err == nil || !strings.Contains(err.Error(), "data.split_gaps") {
		t.Errorf("too long to bridge: %v", err)
	}
	fill.ResampleRate = 1e9
	if _, err := piecesOf(timed(jitter, square), fill); err == nil || !strings.Contains(err.Error(), "does not suit") {
		t.Errorf("absurd rate: %v", err)
	}
}

func TestNamesAgainstUnits(t *testing.T) {
	m := Mapping{Time: Column{Name: "time_ms", Unit: "s"}, Position: Column{Name: "position_mm", Unit: "mm"},
		Velocity: Column{Name: "speed_rpm", Unit: "rad/s"}}
	d := pieces(t, "time_ms,position_mm,speed_rpm\n0,1,2\n1,2,3\n", m)[0]
	if len(d.Warnings) != 2 || !strings.Contains(d.Warnings[0], "its name says ms") || !strings.Contains(d.Warnings[1], "its name says rpm") {
		t.Errorf("warnings %q", d.Warnings)
	}
	if _, err := piecesOf("time_ms,position_mm [mm],speed_rpm\n,m,\n0,1,2\n1,2,3\n", m); err == nil ||
		!strings.Contains(err.Error(), "in mm by its header and in m by the row of units") {
		t.Errorf("two units: %v", err)
	}
}

// A table that another reader filled: no lines, any columns.
func TestFromTable(t *testing.T) {
	table := func() *Table {
		return &Table{File: "run.mcap", SHA256: "ab", Names: []string{"t", "axis.position", "axis.force", "note"},
			Units:   []string{"s", "m", "N", ""},
			Columns: [][]float64{{0, 1, 2, 3}, {1, 2, 3, 4}, {5, 6, 7, 8}, nil}}
	}
	m := Mapping{Time: Column{Name: "t", Unit: "s"}, Position: Column{Name: "axis.position", Unit: "m"},
		Force: Column{Name: "axis.force", Unit: "N", Scale: 10}}
	got, err := FromTable(table(), m)
	if err != nil || len(got) != 1 || got[0].Force[3] != 80 || got[0].SHA256 != "ab" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		spoil func(*Table, *Mapping)
		want  string
	}{
		{func(x *Table, _ *Mapping) { x.Columns[2][1] = math.NaN() }, "NaN in column axis.force is not a usable number (row 2)"},
		{func(x *Table, _ *Mapping) { x.Columns[0][2] = math.Inf(1) }, "+Inf in column t"},
		{func(x *Table, _ *Mapping) { x.Columns[0][2] = 0.5 }, "time goes back by 0.5 s, from 1 s in row 2"},
		{func(x *Table, _ *Mapping) { x.Columns[1] = x.Columns[1][:3] }, "column axis.position has 3 numbers, t has 4"},
		{func(x *Table, _ *Mapping) { x.Units[1] = "mm" }, `column "axis.position" is in mm, the configuration says m`},
		{func(_ *Table, m *Mapping) { m.Force.Name = "axis.froce" }, `Did you mean "axis.force"?`},
		{func(_ *Table, m *Mapping) { m.Force.Name = "note" }, "column note has 0 numbers"},
		{func(_ *Table, m *Mapping) { m.Time.Name = "" }, "no time"},
		{func(_ *Table, m *Mapping) { m.Position.Name, m.Force.Name = "", "" }, "no column is wanted"},
		{func(x *Table, _ *Mapping) { clear(x.Columns) }, "0 rows of numbers"},
	} {
		x, m := table(), m
		c.spoil(x, &m)
		if _, err := FromTable(x, m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want …%s…", err, c.want)
		}
	}
}

// Whatever the text, pieces are finite and even, and no larger than the text allows.
func FuzzPieces(f *testing.F) {
	f.Add("run;t;v\na;0;1\na;1;2\na;1.7;2\nb;0;3\nb;3;4\nb;4;5\n", 0.0)
	f.Add("run,t,v\na,0,1\na,0.001,2\na,0.0021,3\na,0.003,1\n", 250.0)
	f.Fuzz(func(t *testing.T, text string, rate float64) {
		m := Mapping{Time: Column{Name: "t"}, Velocity: Column{Name: "v"}, Piece: "run", Resample: true, ResampleRate: rate, Cubic: true,
			SplitGaps: true}
		got, err := piecesOf(text, m)
		if err != nil {
			var de *Error
			if !errors.As(err, &de) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		total := 0
		for _, d := range got {
			total += d.Len()
			for k, v := range d.Velocity {
				if !numeric.IsFinite(v) || !(d.Dt > 0) {
					t.Fatalf("piece %s, sample %d: %g, interval %g", d.Piece, k, v, d.Dt)
				}
			}
		}
		if total > 200*len(text) {
			t.Fatalf("%d samples from %d bytes", total, len(text))
		}
	})
}
