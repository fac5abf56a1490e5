package record

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Records of other experiments than a servo run, all of them sound. What is allowed besides notes belongs to the experiment.
func TestSoundExperiments(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 3))
		for _, c := range []struct {
			name  string
			d     *Record
			o     CheckOptions
			allow string
		}{
			{"presliding loop", loop(r), CheckOptions{Presliding: 2e-5, Static: true}, ""},
			{"presliding loop, not declared quasi-static", loop(r), CheckOptions{Presliding: 2e-5}, ""},
			{"free swing", swing(r), CheckOptions{Rotary: true}, ""},
			{"stick-slip on a spring", stickSlip(r), CheckOptions{}, ""},
			{"vertical axis", vertical(r), CheckOptions{}, ""},
			{"run-down", runDown(r), CheckOptions{Rotary: true}, "one-direction  warning"},
			{"bristles under a sum of sines", bristles(r), CheckOptions{Presliding: 1.5e-5}, ""},
			{"torque in steps", relay(r), CheckOptions{Rotary: true}, ""},
		} {
			if bad := kinds(Check([]*Record{c.d}, c.o), Warning); bad != c.allow {
				t.Errorf("%s, seed %d: %q, want %q", c.name, seed, bad, c.allow)
				for _, f := range Check([]*Record{c.d}, c.o) {
					t.Logf("   %s %s: %s", f.Kind, f.Severity, f.Text)
				}
			}
		}
	}
}

// loop is a Dahl contact, σ0 = 2 N/µm and FS = 10 N, on a table of 1 kg that moves by a few micrometres.
func loop(r *rand.Rand) *Record {
	d := &Record{Dt: 1e-3}
	const sigma, fs = 2e6, 10.0
	f, phase := 0.0, 2*math.Pi*r.Float64()
	was := 0.0
	for k := range 8000 {
		s := float64(k) * d.Dt
		x := 8e-6*math.Sin(2*math.Pi*0.4*s) + 2e-6*math.Sin(2*math.Pi*1.1*s+phase)
		if k > 0 {
			dx := x - was
			f += sigma * dx * (1 - f/fs*math.Copysign(1, dx))
		}
		was = x
		d.Position = append(d.Position, math.Round((x+1e-9*r.NormFloat64())/1e-9)*1e-9)
		d.Force = append(d.Force, f+0.02*r.NormFloat64())
	}
	return d
}

// swing is a pendulum that is let go.
func swing(r *rand.Rand) *Record {
	d := &Record{Dt: 1e-3}
	x, v := 1.4+0.2*r.Float64(), 0.0
	for range 12000 {
		for range 4 {
			v += (-60*math.Sin(x) - 0.06*v - 0.3*math.Tanh(v/0.01)) * d.Dt / 4
			x += v * d.Dt / 4
		}
		d.Position, d.Velocity = append(d.Position, math.Round(x/1e-4)*1e-4), append(d.Velocity, v+0.01*r.NormFloat64())
	}
	return d
}

// stickSlip is a mass of 1 kg drawn at 2 cm/s by a spring of 100 N/m, 8 N to break away and 4 N in sliding.
func stickSlip(r *rand.Rand) *Record {
	d := &Record{Dt: 1e-3}
	x, v := 0.0, 0.0
	for k := range 15000 {
		pull := 100 * (0.02*float64(k)*d.Dt - x)
		if v <= 0 && pull < 8 {
			v = 0
		} else {
			v = max(0, v+(pull-4-2*v)*d.Dt)
		}
		x += v * d.Dt
		d.Position, d.Reference = append(d.Position, x+2e-5*r.NormFloat64()), append(d.Reference, 0.02*float64(k)*d.Dt)
	}
	return d
}

// vertical is the servo axis with its weight.
func vertical(r *rand.Rand) *Record {
	d := servo(r.Uint64())
	for k := range d.Force {
		d.Force[k] += 20 * 9.81
	}
	d.Current = nil
	return d
}

// runDown is a wheel without drive.
func runDown(r *rand.Rand) *Record {
	d := &Record{Dt: 1e-2}
	v := 60.0
	for range 4000 {
		v = max(0, v-(1.1+0.02*v)*d.Dt)
		d.Velocity = append(d.Velocity, v+0.05*r.NormFloat64())
	}
	return d
}

// relay is an inertia of 0.01 kg·m² under a torque that takes three values.
func relay(r *rand.Rand) *Record {
	d := &Record{Dt: 1e-3}
	x, v, u := 0.0, 0.0, 0.5
	for k := range 10000 {
		if k%400 == 0 {
			u = []float64{0.5, -0.5, 0, -0.5, 0.5, 0}[k/400%6]
		}
		d.Position, d.Force = append(d.Position, x+1e-5*r.NormFloat64()), append(d.Force, u)
		was := v
		v += (u - 0.1*math.Tanh(v/0.01) - 0.02*v) / 0.01 * d.Dt
		x += (was + v) / 2 * d.Dt
	}
	return d
}

// bristles is a LuGre axis, M = 1 kg, σ0 = 0.1 N/µm, FC = 1 N, FS = 1.5 N, in open loop, its encoder counting 0.6 µm.
func bristles(r *rand.Rand) *Record {
	d := &Record{Dt: 1e-3}
	var phase [6]float64
	for i := range phase {
		phase[i] = 2 * math.Pi * r.Float64()
	}
	x, v, z := 0.0, 0.0, 0.0
	for k := range 10000 {
		u := 0.1
		for i, p := range phase {
			f := 0.3 * math.Pow(1.8, float64(i))
			u += 1.1 * math.Sin(2*math.Pi*f*float64(k)*d.Dt+p)
		}
		d.Position, d.Force = append(d.Position, math.Round(x/0.6e-6)*0.6e-6), append(d.Force, u+0.02*r.NormFloat64())
		for range 50 {
			h := d.Dt / 50
			g := 1 + 0.5*math.Exp(-(v/0.01)*(v/0.01))
			dz := v - 1e5*math.Abs(v)/g*z
			v += (u - 1e5*z - 300*dz - 0.4*v) * h
			x, z = x+v*h, z+dz*h
		}
	}
	return d
}
