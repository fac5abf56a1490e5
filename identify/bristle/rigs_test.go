package bristle

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/identify/independent"
	"hilrig/identify/record"
)

// bench is an experiment with a known truth, integrated apart from the code under test. Every draw has noise of its own.
type bench struct {
	name      string
	truth     theta
	amplitude []float64 // N, of the drive; of a servo m, of its reference
	frequency []float64 // Hz
	seconds   float64
	count     float64 // m, of the encoder
	white     float64 // m, rms error of the position besides
	sensor    float64 // N, rms error of the recorded force
	push      float64 // N, rms force on the mass that is not recorded, held from sample to sample
	between   independent.Between
	servo     [2]float64 // gains kp (1/s), kv (N·s/m); zero: no loop
	means     bool       // the forces are means, with half of the error of the sensor at either end
}

// draw makes one record at 1 kHz.
func (b *bench) draw(seed uint64) *record.Record {
	const dt = 1e-3
	t := b.truth
	n := int(b.seconds/dt) + 1
	axis := independent.Axis{M: t[inertia], Friction: independent.Friction{Sigma0: t[sigma0], Sigma1: t[sigma1], Sigma2: t[sigma2],
		Fc: t[coulomb], Fs: t[breakout], Vs: t[stribeck], Vd: t[fading]}}
	if t[offset] != 0 {
		axis.Load = func(_, _, _ float64) float64 { return t[offset] }
	}
	drive := independent.Sines(7, b.amplitude, b.frequency)
	run := independent.Run{Dt: dt, N: n, Force: drive, Intersample: b.between, Seed: seed}
	if b.push > 0 {
		run.Push = func(_ int, r *rand.Rand) float64 { return b.push * r.NormFloat64() }
	}
	// the controller sees what is recorded
	r := rand.New(rand.NewPCG(seed, 31))
	seen := make([]float64, 0, n)
	shift := b.count * r.Float64()
	see := func(_ int, x float64) float64 {
		x += b.white * r.NormFloat64()
		if b.count > 0 {
			x = b.count * math.Floor((x+shift)/b.count)
		}
		seen = append(seen, x)
		return x
	}
	run.Sensor = see
	if b.servo[0] > 0 {
		loop := independent.Cascade(b.servo[0], b.servo[1], 0, dt, drive)
		run.Sampled = loop
	}
	tr := axis.Simulate(run)
	u := make([]float64, n)
	last := b.sensor * r.NormFloat64()
	for k := range u {
		u[k] = tr.U[k] + last
		if last = b.sensor * r.NormFloat64(); b.means {
			u[k] += (last - (u[k] - tr.U[k])) / 2
		}
	}
	return &record.Record{Dt: dt, Position: seen, Force: u, ForceMeans: b.means}
}

// three contacts apart in stiffness, damping, levels and weight.
var (
	soft   = theta{0.2, 5e3, 12, 0.8, 0.5, 0.62, 0.03, 0.05}
	medium = theta{1, 4e4, 200, 2, 1, 1.5, 0.01, 0.1}
	stiff  = theta{30, 4e6, 5000, 120, 40, 52, 0.02, -3}
)

func benches() []*bench {
	return []*bench{
		{name: "soft, fine encoder", truth: soft, amplitude: []float64{0.6, 0.4, 0.25, 0.12}, frequency: []float64{0.8, 2.1, 5.9, 19},
			seconds: 5, count: 1.5e-6, sensor: 0.005},
		{name: "medium, fine encoder", truth: medium, amplitude: []float64{1.3, 0.9, 0.6, 0.25}, frequency: []float64{0.6, 1.7, 4.3, 23},
			seconds: 5, count: 6e-7, sensor: 0.01},
		{name: "stiff, fine encoder", truth: stiff, amplitude: []float64{45, 30, 22, 10}, frequency: []float64{0.45, 1.3, 3.7, 31}, seconds: 5,
			count: 1.2e-6, sensor: 0.3},
		{name: "medium, noisy force sensor", truth: medium, amplitude: []float64{1.3, 0.9, 0.6, 0.25}, frequency: []float64{0.6, 1.7, 4.3, 23},
			seconds: 5, count: 1e-7, sensor: 0.1},
		{name: "medium, disturbed", truth: medium, amplitude: []float64{1.3, 0.9, 0.6, 0.25}, frequency: []float64{0.6, 1.7, 4.3, 23},
			seconds: 5, count: 1e-7, push: 0.1},
		{name: "soft, white position noise", truth: soft, amplitude: []float64{0.6, 0.4, 0.25, 0.12}, frequency: []float64{0.8, 2.1, 5.9, 19},
			seconds: 5, white: 5e-6, sensor: 0.01},
		{name: "medium, servo, noisy force sensor", truth: medium, amplitude: []float64{0.01, 0.004, 0.001}, frequency: []float64{0.5, 1.7, 6},
			seconds: 5, count: 1e-6, sensor: 0.05, servo: [2]float64{40, 100}},
		{name: "medium, servo, disturbed", truth: medium, amplitude: []float64{0.01, 0.004, 0.001}, frequency: []float64{0.5, 1.7, 6},
			seconds: 5, count: 1e-6, push: 0.05, servo: [2]float64{40, 100}},
		{name: "stiff, servo, noisy force sensor", truth: stiff, amplitude: []float64{0.01, 0.004, 0.002}, frequency: []float64{0.5, 1.7, 6},
			seconds: 5, count: 1e-6, sensor: 3, servo: [2]float64{40, 3000}},
		{name: "soft, servo, coarse encoder", truth: soft, amplitude: []float64{0.01, 0.004, 0.001}, frequency: []float64{0.5, 1.7, 6},
			seconds: 5, count: 1e-5, sensor: 0.01, servo: [2]float64{40, 20}},
	}
}

// fine are the experiments in which a fit has all that it wants: ten seconds, a 16-bit encoder and a good force sensor.
func fine() (out []*bench) {
	for _, b := range benches()[:3] {
		b.seconds = 10
		out = append(out, b)
	}
	out[0].count, out[1].count, out[2].count = 0.1/65536, 0.04/65536, 0.08/65536
	out[2].truth[sigma0], out[2].truth[sigma1] = 2e6, 4000
	return out
}

// named is one of the benches.
func named(t *testing.T, name string) *bench {
	for _, b := range benches() {
		if b.name == name {
			return b
		}
	}
	t.Fatalf("no bench %q", name)
	return nil
}
