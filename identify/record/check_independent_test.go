package record_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// rig is a servo axis at 1 kHz that is simulated apart from everything here, and how it is recorded.
type rig struct {
	axis    independent.Axis
	seed    uint64
	rng     *rand.Rand
	ref     func(t float64) float64
	kp, kv  float64
	limit   float64
	pulse   func(t float64) float64 // N, added to the command
	sensors independent.Sensors
}

func newRig(seed uint64) *rig {
	r := rand.New(rand.NewPCG(seed, 91))
	m := math.Pow(10, 1.5*r.Float64()-0.3)
	g := &rig{seed: seed, rng: r, kp: 25 + 20*r.Float64(), kv: m * (110 + 80*r.Float64())}
	g.axis = independent.Axis{M: m, Friction: independent.Friction{Fc: m * (0.6 + r.Float64()), Sigma2: m * (1.5 + 2*r.Float64())}}
	g.sensors = independent.Sensors{Count: 5e-7, Velocity: -1, Force: 0.02 * m, Seed: seed}
	g.sines(0.06, 0.5)
	return g
}

func (g *rig) sines(amplitude, frequency float64) {
	f := frequency * (0.9 + 0.2*g.rng.Float64())
	g.ref = independent.Sines(g.seed, []float64{amplitude, amplitude / 2, amplitude / 4}, []float64{f, 2.57 * f, 5.83 * f})
}

func (g *rig) run() (*independent.Trace, *record.Record) {
	control := independent.Cascade(g.kp, g.kv, g.limit, 1e-3, g.ref)
	tr := g.axis.Simulate(independent.Run{Dt: 1e-3, N: 10000, Seed: g.seed, X0: g.ref(0),
		Sampled: func(k int, x []float64) float64 {
			u := control(k, x)
			if g.pulse != nil {
				u += g.pulse(float64(k) * 1e-3)
			}
			return u
		},
		Sensor: func(_ int, x float64) float64 { return g.sensors.Count * math.Floor(x/g.sensors.Count) },
	})
	return tr, tr.Record(g.sensors, g.ref)
}

func serious(found []record.Finding) string {
	var out []string
	for _, f := range found {
		if f.Severity == record.Fatal {
			out = append(out, f.Kind+": "+f.Text)
		}
	}
	return strings.Join(out, " | ")
}

// Sound records of many kinds of axes raise no finding that would spoil a verdict.
func TestIndependentSoundRecords(t *testing.T) {
	alarms, trials := 0, 0
	for name, change := range map[string]func(g *rig){
		"plain":            func(*rig) {},
		"fast":             func(g *rig) { g.sines(0.03, 0.9) },
		"slow, large":      func(g *rig) { g.sines(0.3, 0.17) },
		"one tone":         func(g *rig) { g.ref = func(t float64) float64 { return 0.08 * math.Sin(2*math.Pi*0.7*t) } },
		"noisy force":      func(g *rig) { g.sensors.Force = 0.15 * g.axis.M },
		"Stribeck":         func(g *rig) { f := &g.axis.Friction; f.Fs, f.Vs = 1.5*f.Fc, 0.03 },
		"bristle":          func(g *rig) { f := &g.axis.Friction; f.Sigma0, f.Sigma1 = f.Fc/5e-5, 20*g.axis.M },
		"by direction":     func(g *rig) { f := &g.axis.Friction; f.Split, f.FcBack, f.Sigma2Back = true, 0.8*f.Fc, 1.3*f.Sigma2 },
		"constant load":    func(g *rig) { l := 0.5 * g.axis.Friction.Fc; g.axis.Load = func(_, _, _ float64) float64 { return l } },
		"spring":           func(g *rig) { k := 20 * g.axis.M; g.axis.Load = func(_, x, _ float64) float64 { return k * x } },
		"drive at a limit": func(g *rig) { g.limit = 4 * g.axis.M },
	} {
		for seed := range uint64(2) {
			g := newRig(10*seed + 3)
			change(g)
			_, d := g.run()
			if said := serious(record.Check([]*record.Record{d}, record.CheckOptions{})); said != "" {
				alarms++
				t.Logf("%s, seed %d: %s", name, seed, said)
			}
			trials++
		}
	}
	t.Logf("%d alarms in %d sound records", alarms, trials)
	if 20*alarms > trials {
		t.Errorf("%d alarms in %d sound records, want 5 %% at most", alarms, trials)
	}
}

// Each flaw is found and named, with its size where it has one.
func TestIndependentFlaws(t *testing.T) {
	type flaw struct {
		name, kind string
		spoil      func(g *rig) *record.Record
		value, tol float64 // of the finding; tol 0: any
	}
	flaws := []flaw{
		{"sensor of force clips, noisy", "saturation", func(g *rig) *record.Record {
			tr, d := g.run()
			top := 0.0
			for _, u := range tr.U[100:] {
				top = max(top, math.Abs(u))
			}
			for k := range d.Force {
				d.Force[k] += min(max(tr.U[k], -0.6*top), 0.6*top) - tr.U[k]
			}
			return d
		}, 0, 0},
		{"drive gives less than the command, noisy", "saturation", func(g *rig) *record.Record {
			tr, _ := g.run()
			for _, u := range tr.U[100:] {
				g.limit = max(g.limit, 0.8*math.Abs(u))
			}
			tr, d := g.run()
			for k := 2; k < len(d.Force); k++ { // what the controller asked for
				v := (tr.X[k] - tr.X[k-2]) / 2e-3
				d.Force[k] += g.kv*(g.kp*(g.ref(tr.T[k])-tr.X[k])-v) - tr.U[k]
			}
			return d
		}, 0, 0},
		{"play", "play", func(g *rig) *record.Record {
			_, d := g.run()
			at := d.Position[0]
			for k, p := range d.Position {
				at = min(max(at, p-5e-4), p+5e-4)
				d.Position[k] = at
			}
			return d
		}, 1e-3, 4e-4},
	}
	for _, f := range flaws {
		for seed := range uint64(2) {
			d := f.spoil(newRig(10*seed + 4))
			found := record.Check([]*record.Record{d}, record.CheckOptions{})
			hit := false
			for _, x := range found {
				hit = hit || x.Kind == f.kind && x.Severity == record.Fatal && (f.tol == 0 || math.Abs(x.Value-f.value) < f.tol)
			}
			if !hit {
				t.Errorf("%s, seed %d: not found: %q", f.name, seed, serious(found))
			}
		}
	}
}

// Pulses on a servo axis, in newtons as the force column, in volts under the name of newtons, or not in the command at all.
func TestPulsesInTheWrongUnit(t *testing.T) {
	const gain = 35.15065188248547 // N/V
	g := newRig(5)
	g.sensors.Force = 0
	g.pulse = func(t float64) float64 {
		if math.Mod(t, 1.7) < 0.15 {
			return 0.7 * g.axis.M * math.Copysign(1, math.Sin(t))
		}
		return 0
	}
	tr, d := g.run()
	volts := make([]float64, len(d.Force))
	newtons := make([]float64, len(d.Force))
	for k := range volts {
		newtons[k] = g.pulse(tr.T[k])
		volts[k] = newtons[k] / gain
	}
	d.Disturbance = newtons
	if said := serious(record.Check([]*record.Record{d}, record.CheckOptions{})); said != "" || !d.InCommand() {
		t.Errorf("newtons: %s, in the command: %v", said, d.InCommand())
	}
	d.Disturbance = volts
	found := record.Check([]*record.Record{d}, record.CheckOptions{})
	hit := false
	for _, f := range found {
		hit = hit || f.Kind == "disturbance-scale" && f.Severity == record.Fatal && math.Abs(f.Value-gain) < 0.01*gain
	}
	if !hit {
		t.Errorf("volts: %s", serious(found))
	}
	// a known force besides the drive is no part of the command
	g = newRig(6)
	push := func(t float64) float64 { return 0.5 * g.axis.M * math.Sin(9*t) }
	g.axis.Load = func(t, _, _ float64) float64 { return -push(t) }
	tr, d = g.run()
	for k := range d.Force {
		newtons[k] = push(tr.T[k])
	}
	d.Disturbance = newtons
	if said := serious(record.Check([]*record.Record{d}, record.CheckOptions{})); said != "" || d.InCommand() {
		t.Errorf("besides the drive: %s, in the command: %v", said, d.InCommand())
	}
}
