package record

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/peer"
)

// servo is a sound record: 10 s at 1 kHz of an axis with M = 20 kg, Fc = 12 N, Fv = 60 N·s/m and 3 N of offset on a sum of
// sines, its encoder counting 0.6 µm, force noise 0.2 N.
func servo(seed uint64) *Record {
	r := rand.New(rand.NewPCG(seed, 1))
	d := &Record{Dt: 1e-3, Clock: Clock{Median: 1e-3, Shortest: 1e-3, Longest: 1e-3}}
	phase := 2 * math.Pi * r.Float64()
	for k := range 10000 {
		t := float64(k) * d.Dt
		x, v, a := 0.0, 0.0, 0.0
		for i, f := range []float64{0.3, 0.9, 2.3, 4.1} {
			w, amp := 2*math.Pi*f, 0.05/float64(1+i*i)
			s, c := math.Sincos(w*t + float64(i)*phase)
			x, v, a = x+amp*s, v+amp*w*c, a-amp*w*w*s
		}
		d.Position = append(d.Position, math.Round(x/0.6e-6)*0.6e-6)
		d.Velocity = append(d.Velocity, v+1e-4*r.NormFloat64())
		d.Force = append(d.Force, 20*a+60*v+12*math.Tanh(v/1e-3)+3+0.2*r.NormFloat64())
		d.Reference = append(d.Reference, x+1e-5*r.NormFloat64())
		d.Current = append(d.Current, d.Force[k]/35+1e-3*r.NormFloat64())
	}
	return d
}

// crank is the same for a rotary axis with gravity: J = 0.05 kg·m², 1.2 N·m of gravity, Fc = 0.3 N·m.
func crank(seed uint64) *Record {
	r := rand.New(rand.NewPCG(seed, 2))
	d := &Record{Dt: 2e-3, Clock: Clock{Median: 2e-3, Shortest: 2e-3, Longest: 2e-3}}
	for k := range 6000 {
		t := float64(k) * d.Dt
		w1, w2 := 2*math.Pi*0.25, 2*math.Pi*1.1
		x := 2.2*math.Sin(w1*t) + 0.4*math.Sin(w2*t+1)
		v := 2.2*w1*math.Cos(w1*t) + 0.4*w2*math.Cos(w2*t+1)
		a := -2.2*w1*w1*math.Sin(w1*t) - 0.4*w2*w2*math.Sin(w2*t+1)
		d.Position = append(d.Position, math.Round(x/3.8e-4)*3.8e-4)
		d.Velocity = append(d.Velocity, math.Round((v+0.02*r.NormFloat64())/0.03)*0.03)
		d.Force = append(d.Force, 0.05*a+0.02*v+0.3*math.Tanh(v/0.05)+1.2*math.Sin(x)+0.01*r.NormFloat64())
	}
	return d
}

func times(x []float64, f float64) {
	for k := range x {
		x[k] *= f
	}
}

func kinds(found []Finding, least Severity) string {
	var out []string
	for _, f := range found {
		if f.Severity == Fatal || f.Severity == Warning && least != Fatal || least == Note {
			out = append(out, f.Kind+" "+f.Channel+" "+string(f.Severity))
		}
	}
	return strings.Join(out, ", ")
}

// Sound records, of other seeds each, raise nothing above a note.
func TestSoundRecords(t *testing.T) {
	for seed := range uint64(6) {
		for name, c := range map[string]struct {
			d *Record
			o CheckOptions
		}{
			"servo": {servo(seed), CheckOptions{Presliding: 2e-5}},
			"crank": {crank(seed), CheckOptions{Rotary: true}},
		} {
			if bad := kinds(Check([]*Record{c.d}, c.o), Warning); bad != "" {
				t.Errorf("%s, seed %d: %s", name, seed, bad)
				for _, f := range Check([]*Record{c.d}, c.o) {
					t.Logf("   %s: %s", f.Kind, f.Text)
				}
			}
		}
	}
}

// Each kind of damage is found, named, and nothing else is claimed beside it.
func TestDamagedRecords(t *testing.T) {
	for _, c := range []struct {
		name   string
		rotary bool
		spoil  func(d *Record, o *CheckOptions)
		kind   string
		s      Severity
		text   string
		also   string // kinds that follow from the same damage
	}{
		{"velocity in mm/s", false, func(d *Record, _ *CheckOptions) { times(d.Velocity, 1000) }, "velocity-scale", Fatal, "thousand", ""},
		{"position in mm", false, func(d *Record, o *CheckOptions) { times(d.Position, 1000); times(d.Reference, 1000) }, "velocity-scale",
			Fatal, "one over thousand", "resolution range"},
		{"position and velocity in mm", false, func(d *Record, o *CheckOptions) {
			times(d.Position, 1000)
			times(d.Velocity, 1000)
			d.Reference, *o = nil, CheckOptions{}
		}, "range", Warning, "position runs over", ""},
		{"load that pulls", false, func(d *Record, _ *CheckOptions) {
			for k := range d.Position {
				d.Load = append(d.Load, 5+6*math.Sin(float64(k)/500))
			}
		}, "load-sign", Warning, "-1 N", ""},
		{"time in ms", false, func(d *Record, _ *CheckOptions) { d.Dt = 1; d.Force, d.Current = nil, nil }, "velocity-scale", Fatal,
			"a factor of thousand", ""},
		{"velocity in r/min", true, func(d *Record, _ *CheckOptions) { times(d.Velocity, 60/(2*math.Pi)) }, "velocity-scale", Fatal, "60/2π", ""},
		{"velocity in deg/s", true, func(d *Record, _ *CheckOptions) { times(d.Velocity, 180/math.Pi) }, "velocity-scale", Fatal, "180/π", ""},
		{"position in deg", true, func(d *Record, _ *CheckOptions) { times(d.Position, 180/math.Pi) }, "velocity-scale", Fatal, "one over 180/π",
			"*"},
		{"velocity in turns", true, func(d *Record, _ *CheckOptions) { times(d.Velocity, 1/(2*math.Pi)) }, "velocity-scale", Fatal,
			"one over 2π", ""},
		{"velocity reversed", false, func(d *Record, _ *CheckOptions) { times(d.Velocity, -1) }, "velocity-scale", Fatal, "opposite sign", ""},
		{"velocity 5 % too large", false, func(d *Record, _ *CheckOptions) { times(d.Velocity, 1.05) }, "velocity-scale", Warning, "1.05", ""},
		{"velocity of another axis", false, func(d *Record, _ *CheckOptions) {
			d.Velocity = crank(1).Velocity
			d.Velocity = append(d.Velocity, d.Velocity[:4000]...)
		}, "velocity-scale", Fatal, "does not follow", ""},
		{"velocity 5 samples late", false, func(d *Record, _ *CheckOptions) { copy(d.Velocity[5:], slices.Clone(d.Velocity)) }, "velocity-lag",
			Warning, "5.0 samples, later", ""},
		{"velocity 3 samples early", true, func(d *Record, _ *CheckOptions) { copy(d.Velocity, d.Velocity[3:]) }, "velocity-lag", Warning,
			"samples, earlier", ""},
		{"force reversed", false, func(d *Record, _ *CheckOptions) { times(d.Force, -1); times(d.Current, -1) }, "force-sign", Fatal,
			"wrong sign", ""},
		{"torque reversed", true, func(d *Record, _ *CheckOptions) { times(d.Force, -1) }, "force-sign", Fatal, "wrong sign", ""},
		{"force limited", false, func(d *Record, _ *CheckOptions) {
			for k := range d.Force {
				d.Force[k] = max(-60, min(60, d.Force[k]))
			}
			d.Current = nil
		}, "saturation", Warning, "-60 or 60 N", ""},
		{"velocity at 250 Hz", false, func(d *Record, _ *CheckOptions) {
			for k := range d.Velocity {
				d.Velocity[k] = d.Velocity[k/4*4]
			}
		}, "held", Warning, "renewed at about 250 Hz", "velocity-lag"},
		{"force at 400 Hz", false, func(d *Record, _ *CheckOptions) {
			was := slices.Clone(d.Force)
			for k := range d.Force {
				d.Force[k] = was[(k*2/5*5+1)/2]
			}
			d.Current = nil
		}, "held", Warning, "renewed at about 400 Hz", ""},
		{"a single spike", false, func(d *Record, _ *CheckOptions) { d.Position[5000] += 0.02 }, "outliers", Warning, "1 samples", ""},
		{"position drops to zero", true, func(d *Record, _ *CheckOptions) { clear(d.Position[4500:4510]) }, "outliers", Warning, "10 samples",
			"velocity-lag"},
		{"force drops to zero", false, func(d *Record, _ *CheckOptions) {
			for k := 100; k < 9900; k += 333 {
				d.Force[k] = 0
			}
			d.Current = nil
		}, "outliers", Warning, "drop to zero", ""},
		{"coarse encoder", false, func(d *Record, _ *CheckOptions) {
			for k := range d.Position {
				d.Position[k] = math.Round(d.Position[k]/2e-3) * 2e-3
			}
			d.Velocity = nil
		}, "resolution", Warning, "steps of 0.002 m", "*"},
		{"presliding below the encoder", false, func(_ *Record, o *CheckOptions) { o.Presliding = 1e-6 }, "resolution", Warning,
			"cannot be seen", ""},
		{"encoder counts", false, func(d *Record, _ *CheckOptions) {
			for k := range d.Position {
				d.Position[k] = math.Round(d.Position[k] / 0.6e-6)
			}
			d.Velocity, d.Reference = nil, nil
		}, "counts", Warning, "whole number", "resolution"},
		{"angle that begins anew", true, func(d *Record, _ *CheckOptions) {
			for k := range d.Position {
				d.Position[k] = math.Remainder(d.Position[k]+2.5, 2*math.Pi)
			}
		}, "wrapped", Fatal, "whole turn", ""},
		{"sensor not connected", false, func(d *Record, _ *CheckOptions) { times(d.Position, 0); d.Velocity = nil }, "constant", Fatal,
			"position is 0 m throughout", ""},
		{"force constant", false, func(d *Record, _ *CheckOptions) { times(d.Force, 0); d.Current = nil }, "constant", Warning, "force is 0 N",
			""},
		{"one direction", true, func(d *Record, _ *CheckOptions) {
			for k := range d.Velocity {
				d.Velocity[k] = 5 + 2*math.Sin(float64(k)/300)
				d.Force[k] = 0.3 + 0.02*d.Velocity[k]
			}
			d.Position = nil
		}, "one-direction", Warning, "100.0 %", "one-speed"},
		{"one speed", true, func(d *Record, _ *CheckOptions) {
			for k := range d.Velocity {
				d.Velocity[k] = 5 * math.Copysign(1, math.Sin(float64(k)/300))
				d.Force[k] = 0.3 * d.Velocity[k]
			}
			d.Position = nil
		}, "one-speed", Warning, "viscous", ""},
		{"mostly at rest", false, func(d *Record, _ *CheckOptions) {
			for _, x := range [][]float64{d.Position, d.Velocity, d.Reference} {
				for k := 1000; k < 10000; k++ {
					x[k] = x[1000]
				}
			}
			clear(d.Velocity[1000:])
			d.Force, d.Current, d.Reference = nil, nil, nil
		}, "rest", Warning, "rests 90 %", "*"},
		{"not a number", false, func(d *Record, _ *CheckOptions) { d.Force[77] = math.NaN() }, "non-finite", Fatal, "sample 77", "motion"},
		{"channels of two lengths", false, func(d *Record, _ *CheckOptions) { d.Force = d.Force[1:] }, "length", Fatal, "9999", "motion"},
		{"jitter", false, func(d *Record, _ *CheckOptions) { d.Clock.Jitter = 0.03 }, "jitter", Warning, "3 % rms", ""},
		{"clock that slows down", false, func(d *Record, _ *CheckOptions) { d.Clock.Drift = 5e-3 }, "clock-drift", Warning, "5.0 samples", ""},
	} {
		d, o := servo(7), CheckOptions{Presliding: 2e-5}
		if c.rotary {
			d, o = crank(7), CheckOptions{Rotary: true}
		}
		c.spoil(d, &o)
		found := Check([]*Record{d}, o)
		hit := slices.IndexFunc(found, func(f Finding) bool { return f.Kind == c.kind && f.Severity == c.s && strings.Contains(f.Text, c.text) })
		if hit < 0 {
			t.Errorf("%s: not found: %s", c.name, kinds(found, Warning))
			for _, f := range found {
				t.Logf("   %s %s: %s", f.Kind, f.Severity, f.Text)
			}
			continue
		}
		for _, f := range found {
			if f.Severity != Note && f.Kind != c.kind && !strings.Contains(c.also, f.Kind) && c.also != "*" {
				t.Errorf("%s: also %s (%s): %s", c.name, f.Kind, f.Severity, f.Text)
			}
		}
		if _, err := json.Marshal(found); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Pieces are judged together: forward and backward runs at constant speeds make a good static map.
func TestPiecesTogether(t *testing.T) {
	var all []*Record
	r := rand.New(rand.NewPCG(1, 1))
	for _, v := range []float64{-8, -2, -0.5, 0.5, 2, 8} {
		d := &Record{Dt: 0.01, Piece: "speed"}
		for range 300 {
			w := v + 0.05*r.NormFloat64()
			d.Velocity, d.Force = append(d.Velocity, w), append(d.Force, math.Copysign(0.3, v)+0.02*w+0.01*r.NormFloat64())
		}
		all = append(all, d)
	}
	o := CheckOptions{Rotary: true, Static: true}
	if found := Check(all, o); kinds(found, Warning) != "" {
		t.Errorf("together: %s", kinds(found, Warning))
	}
	if found := Check(all[:1], o); !strings.Contains(kinds(found, Warning), "one-direction") {
		t.Errorf("alone: %s", kinds(found, Warning))
	}
}

// The same record gives the same findings, word by word.
func TestCheckRepeats(t *testing.T) {
	a, _ := json.Marshal(Check([]*Record{servo(3)}, CheckOptions{}))
	b, _ := json.Marshal(Check([]*Record{servo(3)}, CheckOptions{}))
	if string(a) != string(b) {
		t.Errorf("%s\n%s", a, b)
	}
}

// Whatever finite numbers a record holds, the check ends with findings that can be written as JSON.
func TestCheckSurvives(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for n := range 400 {
		size := math.Pow(10, 200*r.Float64()-100)
		channel := func() []float64 {
			x := make([]float64, 2+n*n/120)
			for k := range x {
				switch n % 5 {
				case 0:
					x[k] = size * r.NormFloat64()
				case 1:
					x[k] = size * float64(k%3)
				case 2:
					x[k] = size
				case 3:
					x[k] = math.Sin(float64(k)/9) * size
				case 4:
					x[k] = float64(k/20) + 1e-9*r.Float64()
				}
			}
			return x
		}
		d := &Record{Dt: 1e-3, Position: channel(), Velocity: channel(), Force: channel(), Current: channel(), Reference: channel()}
		if n%2 == 1 {
			d.Position = nil
		}
		found := Check([]*Record{d, d}, CheckOptions{Rotary: n%3 == 0, Presliding: 1e-6})
		if _, err := json.Marshal(found); err != nil {
			t.Errorf("record %d, size %g: %v: %+v", n, size, err, found)
		}
	}
	if found := Check(nil, CheckOptions{}); kinds(found, Fatal) == "" {
		t.Error("no record is no error")
	}
	if found := Check([]*Record{{Dt: 1}}, CheckOptions{}); kinds(found, Fatal) == "" {
		t.Error("an empty record is no error")
	}
}

// measured reads one of the shared records, or skips.
func measured(t *testing.T, file string, m Mapping) []*Record {
	t.Helper()
	pieces, err := Read(peer.SharedRecord(t, file), m)
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

// What two of three recordings show is said once, with the name of the worst.
func TestCheckNamesTheRecording(t *testing.T) {
	var recs []*Record
	for i, limit := range []float64{3, 0.9, 0.7} {
		d := &Record{File: fmt.Sprintf("log%d.csv", i), Dt: 1e-3}
		for k := range 2000 {
			s := 2 * math.Pi * float64(k) / 500
			d.Position = append(d.Position, -math.Sin(s)/100)
			d.Force = append(d.Force, min(max(math.Sin(s), -limit), limit))
		}
		recs = append(recs, d)
	}
	var said []string
	for _, f := range Check(recs, CheckOptions{}) {
		if f.Kind == "saturation" {
			said = append(said, f.Text)
			if f.Pieces != 2 || f.File != "log2.csv" {
				t.Errorf("%d pieces, %s: want 2, log2.csv", f.Pieces, f.File)
			}
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "(log2.csv, the worst of 2 pieces") {
		t.Errorf("said %q", said)
	}
}
