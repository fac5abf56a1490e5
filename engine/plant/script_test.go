package plant

import (
	"math"
	"strings"
	"testing"
)

func mustPlant(t testing.TB, s Spec) *Plant {
	t.Helper()
	p, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A script sets what it says for as long as it says, and everything goes back. Two motors: the second is not touched.
func TestScript(t *testing.T) {
	a, b := demo(), demo()
	a.Name, b.Name = "left", "right"
	a.Supply, b.Supply = [2]float64{-24, 24}, [2]float64{-12, 24}
	p := mustPlant(t, Spec{Kind: "motor", Axes: []AxisSpec{a, b}})
	var names []string
	for _, s := range p.Settings() {
		names = append(names, s.Name+" "+s.Unit)
	}
	if got, want := strings.Join(names, ", "), "supply V, left.load N·m, left.temperature degC, right.load N·m, "+
		"right.temperature degC"; got != want {
		t.Fatalf("settings %s, want %s", got, want)
	}
	r, err := NewRig(p, SensorSpec{Readings: []Reading{{Output: OutPosition}, {Output: Outputs + OutPosition}}, Period: 0.1},
		Event{StartTime: 2, Setting: 1, To: 5e-3},
		Event{StartTime: 1, Duration: 0.5, Setting: 0, To: 6},
		Event{StartTime: 3, Setting: 1, To: 1e-3},
		Event{StartTime: 2, Duration: 1, Setting: 2, To: 90},
		Event{StartTime: 1.5, Duration: 0.3, Setting: -1, Sensor: 0, Fault: Shifted, To: 7},
		Event{StartTime: 1.8, Duration: 0.3, Setting: -1, Sensor: 0, Fault: Lost},
		Event{StartTime: 2.5, Setting: 0, To: 0})
	if err != nil {
		t.Fatal(err)
	}
	x, y, read := p.NewState(), make([]float64, 2*Outputs), make([]float64, 2)
	for k := range 41 { // every 0.1 s
		at := float64(k) / 10
		r.Play(at, x)
		p.Step(1e-4, x, []float64{100, 1, -100, 1}, y)
		y[OutPosition], y[Outputs+OutPosition] = 1, 1
		r.Read(y, read)
		step := func(v ...float64) float64 { // value, time from which it holds, value …
			now := v[0]
			for i := 1; i < len(v); i += 2 {
				if at > v[i]-0.05 {
					now = v[i+1]
				}
			}
			return now
		}
		reading := step(1, 1.5, 8, 1.8, math.NaN(), 2.1, 1)
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"left voltage", y[OutApplied], step(24, 1, 6, 1.5, 24, 2.5, 0)},
			{"right voltage", y[Outputs+OutApplied], -step(24, 1, 6, 1.5, 24, 2.5, 0) / 2},
			{"left load", p.Axis(0).s.LoadTorque, step(0, 2, 5e-3, 3, 1e-3)},
			{"right load", p.Axis(1).s.LoadTorque, 0},
			{"left temperature", x[5], step(20, 2, 90, 3, 20)},
			{"left reading", read[0], reading},
			{"right reading", read[1], 1},
		} {
			if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) && math.Abs(c.got-c.want) > 1e-12 {
				t.Errorf("at %.1f s: %s is %g, want %g", at, c.name, c.got, c.want)
			}
		}
	}
	// what begins and ends between two calls does nothing
	r, err = NewRig(p, SensorSpec{Readings: make([]Reading, 1), Period: 0.1}, Event{StartTime: 1, Duration: 0.5, Setting: 1, To: 7},
		Event{StartTime: 1, Duration: 0.5, Setting: -1, Fault: Lost})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []float64{0.9, 2} {
		r.Play(at, x)
		r.Read(y, read)
		if load := p.Axis(0).s.LoadTorque; load != 1e-3 || read[0] != read[0] {
			t.Errorf("at %g s: load %g N·m, reading %g", at, load, read[0])
		}
	}
	if n := testing.AllocsPerRun(100, func() { r.Play(1.2, x) }); n != 0 {
		t.Errorf("%g allocations in Play", n)
	}

	for _, c := range []struct {
		script []Event
		want   string
	}{
		{[]Event{{StartTime: -1}}, "times ≥ 0"},
		{[]Event{{StartTime: 1, Duration: 2, To: 1}, {StartTime: 2, To: 2}}, "still in force"},
		{[]Event{{StartTime: 1, Setting: -1, Fault: Lost}, {StartTime: 2, Setting: -1, Fault: Stuck}}, "still in force"},
		{[]Event{{Setting: 5}}, "there is none"},
		{[]Event{{Setting: -1, Sensor: 2, Fault: Lost}}, "there is none"},
	} {
		if _, err := NewRig(p, SensorSpec{Readings: make([]Reading, 2)}, c.script...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.script, err, c.want)
		}
	}
}
