package sink

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
	"hilrig/hil/axis"
)

// benchSchema has n signals, spread over the four blocks.
func benchSchema(n int) hil.Schema {
	s := hil.Schema{Rig: "bench", Rate: 1000}
	units := []string{"rad", "rad/s", "A", "N·m", ""}
	for i := range n {
		sig := hil.Of(fmt.Sprintf("block%d", i%4), engine.Signal{Name: fmt.Sprintf("signal%d", i), Unit: units[i%len(units)]})[0]
		switch {
		case i < n/4:
			s.Meas = append(s.Meas, sig)
		case i < n/2:
			s.Est = append(s.Est, sig)
		case i < 3*n/4:
			s.Model = append(s.Model, sig)
		default:
			s.Cmd = append(s.Cmd, sig)
		}
	}
	return s
}

// wildFloat draws from all bit patterns and from the ones that break encoders.
func wildFloat(r *rand.Rand) float64 {
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat64,
		-2.2250738585072011e-308, math.MaxFloat64, 1e21, 1e-7, 1 << 53, 0.1, 5e-324, 123456789012345680,
		math.Float64frombits(0xFFF8000000000000), math.Float64frombits(0x7FF0000000000001)}
	switch r.IntN(3) {
	case 0:
		return special[r.IntN(len(special))]
	case 1:
		return math.Float64frombits(r.Uint64())
	}
	return r.NormFloat64()
}

func wildRow(r *rand.Rand, n int) hil.Row {
	row := hil.Row{Seq: r.Uint64() >> r.IntN(64), T: int64(r.Uint64()) >> r.IntN(64),
		FreshSignals: hil.Fresh{r.Uint64() >> r.IntN(64), r.Uint64() * uint64(r.IntN(2)) >> r.IntN(64)}, Lateness: int32(r.Uint32()),
		BusyTime: int32(r.Uint32()) >> r.IntN(31), Flags: hil.Flags(r.Uint32()), Gen: r.Uint32(), Cmd: r.Uint32(), Skip: r.Uint32(),
		Epoch: uint16(r.Uint32()), Req: uint8(r.IntN(256)), Res: uint8(r.IntN(256)), Mode: hil.Mode(r.IntN(256)), Cause: hil.Cause(r.IntN(256)),
		CauseSignal: uint16(r.Uint32()), Value: r.NormFloat64(), Limit: r.NormFloat64()}
	for i := range n {
		row.X[i] = wildFloat(r)
	}
	return row
}

// sameBits compares rows down to the payload of a NaN.
func sameBits(a, b *hil.Row) bool {
	x, y := *a, *b
	for i := range x.X {
		if math.Float64bits(x.X[i]) != math.Float64bits(y.X[i]) {
			return false
		}
		x.X[i], y.X[i] = 0, 0
	}
	return x == y
}

func TestRowSurvivesJSONBitForBit(t *testing.T) {
	for _, n := range []int{0, 1, 7, 35, 111, 112, hil.MaxSignals - 1, hil.MaxSignals} {
		s := benchSchema(n)
		c, err := NewRowCodec(&s, 1795221000e9)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, uint64(n)))
		for k := range 3000 {
			row := wildRow(r, n)
			if k == 0 {
				row.T, row.Lateness, row.BusyTime = math.MinInt64, math.MinInt32, math.MaxInt32
			}
			data := c.Append(nil, &row)
			if !json.Valid(data) {
				t.Fatalf("not JSON: %s", data)
			}
			var back hil.Row
			back.X[hil.MaxSignals-1] = 1 // must be cleared
			if err := c.Decode(data, &back); err != nil {
				t.Fatalf("%v in %s", err, data)
			}
			if !sameBits(&row, &back) {
				t.Fatalf("%d signals, row %d:\n%s\nwrote %+v\nread  %+v", n, k, data, row, back)
			}
		}
	}
}

// A foreign JSON library sees the same numbers, and the fields may come in any order.
func TestRowAgainstEncodingJSON(t *testing.T) {
	s := benchSchema(35)
	c, _ := NewRowCodec(&s, 1795221000e9)
	r := rand.New(rand.NewPCG(2, 2))
	sigs := s.Signals()
	for range 300 {
		row := wildRow(r, 35)
		row.T = r.Int64N(1e15)
		data := c.Append(nil, &row)
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		for i, sig := range sigs {
			x := row.X[i]
			if v := m[sig.Name]; x-x != 0 && v != nil || x-x == 0 && math.Float64bits(v.(float64)) != math.Float64bits(x) {
				t.Fatalf("%s: wrote %v, encoding/json reads %v", sig.Name, x, v)
			}
		}
		want := float64(time.Unix(0, row.T).Add(1795221000*time.Second).UnixMicro()) * 1e-6
		if ts := m["timestamp"].(float64); math.Abs(ts-want) > 1e-6 {
			t.Fatalf("timestamp %v, want %v", ts, want)
		}
		if m["mode"] != row.Mode.String() && !strings.HasPrefix(m["mode"].(string), "#") {
			t.Fatalf("mode %v, want %v", m["mode"], row.Mode)
		}

		// a map comes out of encoding/json in alphabetical order, numbers kept as they were written
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		var raw map[string]any
		if err := dec.Decode(&raw); err != nil {
			t.Fatal(err)
		}
		raw["a foreign field"] = []any{map[string]any{"x": nil, "y": "}\"]"}, true, 1}
		shuffled, _ := json.MarshalIndent(raw, " ", "\t")
		var back hil.Row
		if err := c.Decode(shuffled, &back); err != nil {
			t.Fatalf("%v in %s", err, shuffled)
		}
		if !sameBits(&row, &back) {
			t.Fatalf("other order, other row: %s", shuffled)
		}
	}
}

// No integer in a row exceeds what a number of JavaScript holds, for rows as they occur (today's clock, a year of ticks).
func TestRowFitsJavaScript(t *testing.T) {
	s := benchSchema(3)
	c, _ := NewRowCodec(&s, time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC).UnixNano())
	row := hil.Row{Seq: 365 * 86400 * 10000, T: 365 * 86400e9, FreshSignals: hil.Fresh{math.MaxUint64, math.MaxUint64}, Flags: math.MaxUint32,
		Gen: math.MaxUint32}
	dec := json.NewDecoder(strings.NewReader(string(c.Append(nil, &row))))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatal(err)
	}
	for k, v := range m {
		if n, ok := v.(json.Number); ok {
			if i, err := n.Int64(); err == nil && (i > 1<<53 || i < -1<<53) {
				t.Errorf("%s = %v is beyond 2^53", k, n)
			}
		}
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	s := benchSchema(4)
	c, _ := NewRowCodec(&s, 0)
	row := hil.Row{Seq: 5, T: 123456789, X: [hil.MaxSignals]float64{1, 2, 3, 4}}
	good := string(c.Append(nil, &row))
	edit := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%s has no %s", good, old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for _, tc := range []struct{ name, data, want string }{
		{"empty", "", "not a JSON object"},
		{"cut", good[:len(good)-9], "row:"},
		{"missing signal", edit(`,"block1.signal1":2`, ""), `"block1.signal1" is missing`},
		{"missing field", edit(`"seq":5,`, ""), `"seq" is missing`},
		{"number too big", edit(`"gen":0`, `"gen":4294967296`), `"gen"`},
		{"late beyond int32", edit(`"late_us":0.000`, `"late_us":2147483.648`), `"late_us"`},
		{"too many digits", edit(`0.123456789`, `0.1234567891`), `"t"`},
		{"unknown mode", edit(`"init"`, `"gallop"`), `"mode"`},
		{"not a number", edit(`:2,`, `:"2",`), `"block1.signal1"`},
		{"trailing", good + "x", "behind the object"},
		{"unknown nonfinite", edit(`:4}`, `:null,"nonfinite":{"block3.signal3":"big"}}`), "nonfinite"},
	} {
		var back hil.Row
		if err := c.Decode([]byte(tc.data), &back); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.name, err, tc.want)
		}
	}
}

func TestCodecRefusesNames(t *testing.T) {
	for _, tc := range []struct{ a, b, want string }{
		{"seq", "x", "taken by the row itself"},
		{"nonfinite", "x", "taken by the row itself"},
		{"x", "x", "occurs twice"},
		{"\xff", "x", "UTF-8"},
		{"", "x", "UTF-8"},
	} {
		s := hil.Schema{Rate: 1, Meas: []hil.Channel{{Signal: engine.Signal{Name: tc.a}}},
			Cmd: []hil.Channel{{Signal: engine.Signal{Name: tc.b}}}}
		if _, err := NewRowCodec(&s, 0); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q, %q: error %v, want one with %q", tc.a, tc.b, err, tc.want)
		}
	}
	odd := hil.Schema{Rate: 1, Meas: []hil.Channel{{Signal: engine.Signal{Name: `a "quoted" <σ> \name`}}}}
	c, err := NewRowCodec(&odd, 0)
	if err != nil {
		t.Fatal(err)
	}
	row := hil.Row{X: [hil.MaxSignals]float64{math.Inf(-1)}}
	var back hil.Row
	if err := c.Decode(c.Append(nil, &row), &back); err != nil || !sameBits(&row, &back) {
		t.Errorf("odd name: %v, %v", err, back.X[0])
	}
}

func TestParamsSurviveJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	all := []string{"kp", "kd", "sigma0", "Fc"}
	for range 500 {
		p := hil.Params{Gen: r.Uint32()}
		for i := range p.V {
			if r.IntN(2) == 0 {
				p.V[i] = wildFloat(r)
			}
		}
		for i := range p.Sets {
			if r.IntN(2) == 0 {
				p.Sets[i].Encode(&axis.Set{Law: "coulomb", Params: map[string]float64{"Fc": r.Float64(), "mu": 0, "N0": 0},
					Motor: map[string]float64{"J": r.Float64()}})
			}
		}
		names, at := all[:r.IntN(5)], r.Int64N(1e15)
		data := encodeParams(p, names, at, 1795221000e9)
		if !json.Valid(data) {
			t.Fatalf("not JSON: %s", data)
		}
		back, err := decodeParams(data)
		if err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		for i := range p.V {
			if math.Float64bits(p.V[i]) != math.Float64bits(back.V[i]) {
				t.Fatalf("entry %d: wrote %v, read %v: %s", i, p.V[i], back.V[i], data)
			}
		}
		if back.Sets != p.Sets {
			t.Fatalf("models: wrote %+v, read %+v", p.Sets[0].Set(), back.Sets[0].Set())
		}
		if back.Gen != p.Gen || back.T != at || len(names) > 0 && !reflect.DeepEqual(back.Names, names) {
			t.Fatalf("wrote %v %v %v, read %+v", p.Gen, at, names, back)
		}
	}
}

func TestRowCodecAllocatesNothing(t *testing.T) {
	s := benchSchema(35)
	c, _ := NewRowCodec(&s, 1795221000e9)
	row := wildRow(rand.New(rand.NewPCG(4, 4)), 35)
	buf := make([]byte, 0, 8192)
	if n := testing.AllocsPerRun(200, func() { buf = c.Append(buf[:0], &row) }); n != 0 {
		t.Errorf("Append allocates %v times", n)
	}
	var back hil.Row
	if n := testing.AllocsPerRun(200, func() {
		if err := c.Decode(buf, &back); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Decode allocates %v times", n)
	}
}

func FuzzDecodeRow(f *testing.F) {
	s := benchSchema(3)
	c, _ := NewRowCodec(&s, 0)
	r := rand.New(rand.NewPCG(5, 5))
	for range 4 {
		row := wildRow(r, 3)
		f.Add(c.Append(nil, &row))
	}
	f.Add([]byte(`{"seq":1,"x":[{},[1,"\"}"]]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var row, back hil.Row
		if c.Decode(data, &row) != nil {
			return
		}
		// whatever was accepted writes and reads as itself
		if err := c.Decode(c.Append(nil, &row), &back); err != nil || !sameBits(&row, &back) {
			t.Fatalf("%v: %+v became %+v", err, row, back)
		}
	})
}

func BenchmarkRowAppend(b *testing.B) {
	s := benchSchema(35)
	c, _ := NewRowCodec(&s, 1795221000e9)
	row := benchRow(1, 35)
	buf := c.Append(nil, &row)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = c.Append(buf[:0], &row)
	}
}

func BenchmarkRowDecode(b *testing.B) {
	s := benchSchema(35)
	c, _ := NewRowCodec(&s, 1795221000e9)
	row := benchRow(1, 35)
	buf := c.Append(nil, &row)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Decode(buf, &row); err != nil {
			b.Fatal(err)
		}
	}
}
