package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/identify/record"
)

// A record cut out of a motion begins with a contact that slides: its first commands need the bristle at its deflection.
// Relaxed, the contact would take milliseconds of travel to get there, with a force that is wrong by all of friction.
func TestContactBeginsInMotion(t *testing.T) {
	truth := map[string]float64{"M": 80, "Fc": 15, "Fs": 19, "sigma2": 150, "vs": 0.01, "sigma0": 2e5, "sigma1": 400, "offset": 2}
	spec := servoSpec("lugre", false)
	d := made(t, truth, sweep(1), nil)
	from := 0
	for k := 300; k < 700; k++ { // fast, and hardly accelerated
		if x := d.Position; math.Abs(x[k+1]-x[k-1]) > math.Abs(x[from+301]-x[from+299]) {
			from = k - 300
		}
	}
	from += 300
	cut := &record.Record{Dt: d.Dt, Position: d.Position[from:], Reference: d.Reference[from:], Force: d.Force[from:]}
	v := (cut.Position[1] - cut.Position[0]) / cut.Dt
	if math.Abs(v) < 3*truth["vs"] {
		t.Fatalf("cut at %.3g m/s, slower than meant", v)
	}
	spec.Decimate = 1
	const n = 60
	off := apart(commandsOf(t, spec, cut, truth)[:n], cut.Force[:n])
	t.Logf("the first %d commands are off by %.3f N rms", n, off)
	if off > 0.5 {
		t.Errorf("the first %d commands are off by %.2f N rms, of %.0f N of friction", n, off, truth["Fc"])
	}
}

// Every law of the registry begins in motion with the force of long sliding, and at rest relaxed.
func TestLawsBeginSliding(t *testing.T) {
	ref := sweep(0.3)
	x := make([]float64, len(ref))
	copy(x, ref)
	u := make([]float64, len(ref))
	for k := range u {
		u[k] = math.Sin(float64(k) / 20)
	}
	for _, info := range friction.Laws() {
		if info.Name == "graphite-brush" { // asks for a current
			continue
		}
		m, err := New(Spec{Law: info.Name, Drive: Force}, []*record.Record{{Dt: 1e-3, Position: x, Force: u}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.newBody(m.Params())
		if err != nil || !b.set() {
			t.Fatalf("%s: %v", info.Name, err)
		}
		relaxed := make([]float64, len(b.x)-2)
		b.law.Reset(relaxed)
		b.start(0, 0)
		for i, z := range b.x[2:] {
			if z != relaxed[i] {
				t.Errorf("%s at rest: state %v, relaxed %v", info.Name, b.x[2:], relaxed)
				break
			}
		}
		if b.switched && b.fullLaw.StateDim() == 0 {
			continue
		}
		v := 20 * b.fullLaw.Stiffness().Speed
		v = max(v, 2*m.roughSizes.v)
		b.start(0, v)
		f := b.law.Step(b.x[2:], friction.Input{Dt: 1e-9, V: v})
		if want := b.fullLaw.SteadyForce(v); math.Abs(f/want-1) > 0.02 {
			t.Errorf("%s at %.3g m/s: %.4g N at the beginning, %.4g N after a long slide", info.Name, v, f, want)
		}
		b.start(0, -v)
		if f := b.law.Step(b.x[2:], friction.Input{Dt: 1e-9, V: -v}); math.Abs(f/b.fullLaw.SteadyForce(-v)-1) > 0.02 {
			t.Errorf("%s at %.3g m/s: %.4g N at the beginning, %.4g N after a long slide", info.Name, -v, f, b.fullLaw.SteadyForce(-v))
		}
	}
}
