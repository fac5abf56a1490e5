package record

import (
	"math"
	"slices"
	"testing"
)

// sledge is a mass of 3 kg on dry and viscous friction under two sines of force, integrated here at 1/20 of a sample, whose times are
// read scale times too long.
func sledge(dt, scale float64) *Record {
	const mass, fv, fc = 3.0, 2.0, 1.5
	d := &Record{Dt: dt * scale}
	x, v := 0.0, 0.0
	h := dt / 20
	for k := range min(int(20/dt), 100000) * 20 {
		t := float64(k) * h
		f := 6*math.Sin(5*t) + 3*math.Sin(13*t)
		if k%20 == 0 {
			d.Position, d.Force = append(d.Position, math.Round(x*1e6)*1e-6), append(d.Force, f)
		}
		v += h * (f - fv*v - fc*math.Tanh(v/1e-3)) / mass
		x += h * v
	}
	d.Clock = Clock{Median: d.Dt, Shortest: d.Dt, Longest: d.Dt}
	return d
}

// rotor is a small motor under two sines of torque, on dry friction, at 2 kHz.
func rotor(scale float64) *Record {
	const inertia, dt, h = 7e-5, 5e-4, 5e-5
	d := &Record{Dt: dt * scale}
	x, v := 0.0, 0.0
	for k := range 160000 {
		t := float64(k) * h
		f := 0.03*math.Sin(9*t) + 0.02*math.Sin(31*t)
		if k%10 == 0 {
			d.Position, d.Force = append(d.Position, math.Round(x*1e4)*1e-4), append(d.Force, f)
		}
		v += h * (f - 1e-4*v - 0.008*math.Tanh(v/0.05)) / inertia
		x += h * v
	}
	d.Clock = Clock{Median: d.Dt, Shortest: d.Dt, Longest: d.Dt}
	return d
}

func TestTimeUnit(t *testing.T) {
	for _, c := range []struct {
		name      string
		dt, scale float64
		want      bool
	}{
		{"1 kHz", 1e-3, 1, false}, {"50 Hz", 20e-3, 1, false}, {"12 Hz", 1. / 12, 1, false},
		{"ms as s, 1 kHz", 1e-3, 1e3, true}, {"ms as s, 200 Hz", 5e-3, 1e3, true}, {"ms as s, 5 kHz", 2e-4, 1e3, true},
		{"µs as s, 1 kHz", 1e-3, 1e6, true}, {"µs as s, 50 Hz", 20e-3, 1e6, true},
		{"20 kHz", 5e-5, 1, false}, {"5 kHz", 2e-4, 1, false}, {"ms as s, 10 kHz", 1e-4, 1e3, true}, {"ms as s, 20 kHz", 5e-5, 1e3, true},
		{"µs as s, 20 kHz", 5e-5, 1e6, true}, {"ns as s, 20 kHz", 5e-5, 1e9, true}, {"ns as µs, 1 kHz", 1e-3, 1e3, true},
		{"samples as s, 200 Hz", 5e-3, 200, true}, {"samples as s, 20 kHz", 5e-5, 2e4, true},
		{"s as ms, 50 Hz", 20e-3, 1e-3, true}, {"s as ms, 1 kHz", 1e-3, 1e-3, true}, {"s as ms, 20 kHz", 5e-5, 1e-3, true},
		{"s as µs, 1 kHz", 1e-3, 1e-6, true},
		{"ms as µs, 10 kHz", 1e-4, 1e-3, true}, {"s as ns, 50 Hz", 20e-3, 1e-9, true},
	} {
		found := Check([]*Record{sledge(c.dt, c.scale)}, CheckOptions{})
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Kind == "time-unit" })
		if (i >= 0) != c.want || i >= 0 && found[i].Severity != Fatal {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
	// neither is what turns, whose accelerations are larger numbers
	for _, scale := range []float64{1, 1e3, 1e-3} {
		found := Check([]*Record{rotor(scale)}, CheckOptions{Rotary: true})
		if doubted := slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == "time-unit" }); doubted != (scale != 1) {
			t.Errorf("rotor, times %g: %+v", scale, found)
		}
	}
	// minutes are possible for a small motor: no more than a question
	for _, scale := range []float64{1. / 60, 1} {
		found := Check([]*Record{rotor(scale)}, CheckOptions{Rotary: true})
		asked := slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == "time-unit" && f.Severity == Warning })
		if asked != (scale != 1) {
			t.Errorf("rotor, times %g: %+v", scale, found)
		}
	}
	// levels of constant speed may be taken as slowly as one likes, and so may a creep that shows no inertia
	if found := Check([]*Record{sledge(1e-3, 1e3)}, CheckOptions{Static: true}); slices.ContainsFunc(found,
		func(f Finding) bool { return f.Kind == "time-unit" }) {
		t.Errorf("plateaus: %+v", found)
	}
	creep := &Record{Dt: 1}
	for k := range 2000 {
		v := 1e-5 * math.Sin(float64(k)/100)
		creep.Position = append(creep.Position, 1e-3*(1-math.Cos(float64(k)/100)))
		creep.Force = append(creep.Force, 2*math.Tanh(v/1e-7)+100*v+0.01*math.Sin(float64(k*k)))
	}
	if found := Check([]*Record{creep}, CheckOptions{}); slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == "time-unit" }) {
		t.Errorf("creep: %+v", found)
	}
}
