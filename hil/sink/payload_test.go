package sink

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hilrig/hil"
)

func testRow(info *hil.Info) *hil.Row {
	r := &hil.Row{Seq: 42, T: info.Mono + 1_250_000, Lateness: 3210, BusyTime: 1900, Mode: hil.Run, Epoch: 2}
	for i := range r.X {
		r.X[i] = 0.1 * float64(i+1)
	}
	return r
}

// What is written is read back by encoding/json to nine digits, for every kind of number there is.
func TestNumbersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Uint64(), math.Float64frombits),
			rapid.Map(rapid.Int32(), func(i int32) float64 { return float64(i) })).Draw(t, "v")
		b := appendNumber(nil, v)
		var got *float64
		if err := json.Unmarshal(b, &got); err != nil {
			// beyond the range of a float64 after rounding to nine digits
			if math.Abs(v) < 1.79769e308 {
				t.Fatalf("%v is written %s: %v", v, b, err)
			}
			return
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if got != nil {
				t.Fatalf("%v is written %s, want null", v, b)
			}
			return
		}
		if got == nil || math.Abs(*got-v) > 5e-9*math.Abs(v)+5e-324 {
			t.Fatalf("%v is written %s", v, b)
		}
	})
}

func TestSecondsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(0, 4e18).Draw(t, "ns")
		whole, frac, _ := strings.Cut(string(appendSeconds(nil, ns)), ".")
		d, err := time.ParseDuration("0." + frac + "s")
		if err != nil || len(frac) != 6 {
			t.Fatal(whole, frac, err)
		}
		var sec int64
		if err := json.Unmarshal([]byte(whole), &sec); err != nil {
			t.Fatal(err)
		}
		if diff := ns - sec*1e9 - int64(d); diff < -500 || diff > 500 {
			t.Fatalf("%d ns is written %s.%s, off by %d ns", ns, whole, frac, diff)
		}
	})
	if got := string(appendSeconds(nil, -1_500_000)); got != "-0.001500" {
		t.Errorf("before 1970: %s", got)
	}
}

// The state is one flat object: Grafana takes numbers, strings and booleans at the top level and nothing else.
func TestStateIsFlat(t *testing.T) {
	info := testInfo()
	enc, err := newEncoder(info)
	if err != nil {
		t.Fatal(err)
	}
	r := testRow(info)
	r.X[1], r.X[2] = math.NaN(), math.Inf(-1)
	var m map[string]any
	decode(t, enc.state(nil, r), &m)
	for k, v := range m {
		switch v.(type) {
		case float64, string, bool, nil:
		default:
			t.Errorf("%s is a %T", k, v)
		}
	}
	want := map[string]any{"seq": 42.0, "mode": "run", "armed": true, "late_us": 3.21, "busy_us": 1.9, "epoch": 2.0,
		"drive.motor.angle": 0.1, "drive.motor.current": nil, "shaft.est.velocity": nil, "drive.voltage": 0.8, "run": "20261123T000000Z"}
	for k, v := range want {
		if m[k] != v {
			t.Errorf("%s is %v, want %v", k, m[k], v)
		}
	}
	if len(m) != len(info.Schema.Signals())+8 {
		t.Errorf("%d keys: %v", len(m), m)
	}
	wall := float64(info.Wall(r.T).UnixNano()) * 1e-9
	if got := m["timestamp"].(float64); math.Abs(got-wall) > 1e-6 {
		t.Errorf("timestamp %.7f, want %.7f", got, wall)
	}
}

// PlotJuggler 3.17 takes the time of an array's element from a number called timestamp and gives up embedded time for the
// whole topic when one element lacks it; every other number becomes a curve, strings are ignored.
func TestSamplesSuitPlotJuggler(t *testing.T) {
	info := testInfo()
	p, err := NewPublisher(testOptions("tcp://127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 41 {
		r := testRow(info)
		r.Seq, r.T = uint64(i+1), int64(i)*1e6
		p.drainer.addRow(r)
	}
	var rows []map[string]any
	decode(t, (<-p.queue).buf, &rows)
	if len(rows) != 40 {
		t.Errorf("%d rows in a message of 40 ms at 1 kHz", len(rows))
	}
	last := 0.0
	for _, row := range rows {
		ts, ok := row["timestamp"].(float64)
		if !ok || ts <= last {
			t.Fatalf("timestamp %v after %v", row["timestamp"], last)
		}
		last = ts
		if len(row) != len(info.Schema.Signals())+4 {
			t.Fatalf("keys: %v", row)
		}
	}
}

func TestEstimatesFromTheRow(t *testing.T) {
	info := testInfo()
	enc, err := newEncoder(info)
	if err != nil {
		t.Fatal(err)
	}
	est := newEstimates(&info.Schema)
	r := testRow(info)
	r.X[3], r.X[4], r.X[5] = 7e-5, 1e-6, math.Inf(1) // J, J_se, windows
	r.Flags = hil.FlagUnexcited
	var m map[string]any
	decode(t, est.appendFlat(nil, enc, r), &m)
	if m["shaft.rls.J"] != 7e-5 || m["shaft.rls.J_se"] != 1e-6 || m["shaft.rls.windows"] != nil || m["excited"] != false || len(m) != 5 {
		t.Errorf("%v", m)
	}
	body, err := est.fullReport(r)
	if err != nil {
		t.Fatal(err)
	}
	var rep []struct {
		Axis, Name, Unit string
		Value, SE        float64
		CI95             [2]float64
	}
	decode(t, body, &rep)
	// two-sided 95 % of the normal distribution: ±1.96 standard errors
	if len(rep) != 1 || rep[0].Axis != "shaft" || rep[0].Name != "J" || rep[0].Unit != "kg·m²" ||
		math.Abs(rep[0].CI95[1]-(7e-5+1.96e-6)) > 1e-10 {
		t.Errorf("%s", body)
	}
}

func TestSchemasThatCannotBePublished(t *testing.T) {
	for name, bad := range map[string]struct {
		change func(*PublisherOptions)
		want   string
	}{
		"reserved name": {func(o *PublisherOptions) { o.Info.Schema.Meas[0].Name = "seq" }, `signal "seq"`},
		"same name":     {func(o *PublisherOptions) { o.Info.Schema.Meas[0].Name = "drive.motor.current" }, "two signals"},
		"no name":       {func(o *PublisherOptions) { o.Info.Schema.Meas[0] = hil.Channel{} }, "has no name"},
		"wildcard":      {func(o *PublisherOptions) { o.Prefix = "hil/+" }, "wildcards"},
		"leading slash": {func(o *PublisherOptions) { o.Prefix = "/hil" }, "empty level"},
		"rig with /":    {func(o *PublisherOptions) { o.Info.Schema.Rig = "a/b" }, "separates"},
		"state rate":    {func(o *PublisherOptions) { o.State = 200 }, "mqtt.state: 200 Hz"},
		"commands":      {func(o *PublisherOptions) { o.Commands = "some" }, `"some"`},
		"scheme":        {func(o *PublisherOptions) { o.Broker = "http://host" }, `scheme "http"`},
		"no address":    {func(o *PublisherOptions) { o.Broker = "broker.lab:1883" }, "not an address"},
		"ca without":    {func(o *PublisherOptions) { o.CA = "ca.pem" }, "does not use TLS"},
		"ca missing":    {func(o *PublisherOptions) { o.Broker, o.CA = "ssl://h:8883", "/nowhere/ca.pem" }, "no such file"},
	} {
		o := testOptions("tcp://127.0.0.1:1883")
		bad.change(&o)
		if _, err := NewPublisher(o); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v, want it to name %s", name, err, bad.want)
		}
	}
}

// The draining goroutine allocates nothing once its buffers have grown.
func TestDrainingAllocatesNothing(t *testing.T) {
	o := testOptions("tcp://127.0.0.1:1")
	m := NewMetrics(MetricsOptions{})
	o.OnRow = m.Add
	p, err := NewPublisher(o)
	if err != nil {
		t.Fatal(err)
	}
	r := testRow(o.Info)
	turn := func() {
		for range 100 {
			r.Seq++
			r.T += 1e6
			p.drainer.addRow(r)
		}
		p.setNewest(r)
	}
	for range 100 { // more than the queue holds, so that dropping is measured too
		turn()
	}
	if n := testing.AllocsPerRun(50, turn); n != 0 {
		t.Errorf("%v allocations for 100 rows", n)
	}
	if p.Stats().Dropped == 0 {
		t.Error("the queue never filled")
	}
	buf := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { buf = p.enc.state(buf[:0], r) }); n != 0 {
		t.Errorf("state: %v allocations", n)
	}
}

func BenchmarkState(b *testing.B) {
	info := testInfo()
	info.Schema.Est = nil // four signals: with the condition of the loop nine numbers, as in the example of docs/reference/mqtt.md
	enc, err := newEncoder(info)
	if err != nil {
		b.Fatal(err)
	}
	r := testRow(info)
	for i := range r.X {
		r.X[i] = 1.2345678901 * float64(i+1)
	}
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = enc.state(buf[:0], r)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkDrain(b *testing.B) {
	o := testOptions("tcp://127.0.0.1:1")
	o.OnRow = NewMetrics(MetricsOptions{}).Add
	p, err := NewPublisher(o)
	if err != nil {
		b.Fatal(err)
	}
	r := testRow(o.Info)
	b.ReportAllocs()
	for b.Loop() {
		r.Seq++
		r.T += 1e6
		p.drainer.addRow(r)
	}
}
