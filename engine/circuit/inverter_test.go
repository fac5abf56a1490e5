package circuit

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/reference"
)

// A three-phase inverter of six switches with their diodes on a battery drives the machine of the other tests at constant speed. The
// pulses are those of a sine of the phase voltages; in the mean the machine is the one that ud and uq feed.
func TestInverter(t *testing.T) {
	const (
		battery = 48.0
		r, w    = 0.3, 60.0
		ud, uq  = 1.0, 8.0
		period  = 50e-6
		end     = 0.006
	)
	m := salient
	names := [3]string{"a", "b", "c"}
	elements := []Element{&VoltageSource{Name: "battery", FromNode: "+", ToNode: "0", U: reference.Constant(battery), R: 0.01}}
	for k, n := range names {
		// share of a period on the upper switch: one half and the phase voltage
		duty := reference.Sine{Offset: 0.5, Tone: reference.Tone{Amplitude: math.Hypot(ud, uq) / battery,
			Frequency: m.Pairs * w / 2 / math.Pi, Phase: math.Atan2(ud, -uq) - 2*math.Pi/3*float64(k)}}
		elements = append(elements,
			&Switch{Name: n + ".high", FromNode: "+", ToNode: n, Ron: 5e-3, Roff: 1e6, Control: &PWM{High: 1, Period: period, Duty: duty}},
			&Switch{Name: n + ".low", FromNode: n, ToNode: "0", Ron: 5e-3, Roff: 1e6, Control: &PWM{Low: 1, Period: period, Duty: duty}},
			&Diode{Name: n + ".up", FromNode: n, ToNode: "+", Knee: 0.7, Ron: 5e-3, Roff: 1e6},
			&Diode{Name: n + ".down", FromNode: "0", ToNode: n, Knee: 0.7, Ron: 5e-3, Roff: 1e6})
	}
	c := build(t, 1, append(elements, &ThreePhase{Name: "m", FromNode: names, ToNode: [3]string{"s", "s", "s"},
		Phases: Phases{m, 0.2e-3}, R: r})...)
	q := func(s float64) []float64 { return []float64{w * s} }
	v := func(float64) []float64 { return []float64{w} }
	x, e := integrate(t, c, q, v, end)
	if e.Relative() > 1e-9 {
		t.Errorf("energies close to %.1e", e.Relative())
	}
	// steady state of the machine in d, q with the resistance of a switch and two thirds of the battery's in each phase at most
	dq := build(t, 1, &Synchronous{Name: "m", Rotor: m, R: r + 5e-3, Ud: reference.Constant(ud), Uq: reference.Constant(uq)})
	y, _ := integrate(t, dq, q, v, end)
	park := func(x []float64) (id, iq float64) {
		for k := range 3 {
			sin, cos := math.Sincos(m.Pairs*w*end - 2*math.Pi/3*float64(k))
			id += 2. / 3 * cos * x[k]
			iq -= 2. / 3 * sin * x[k]
		}
		return id, iq
	}
	id, iq := park(x)
	near(t, "id", id, y[0], 0.4)
	near(t, "iq", iq, y[1], 0.4)

	// in fixed steps of a tenth of a millisecond, cut at the edges
	z := make([]float64, len(x))
	c.Reset(z)
	tau, slope := []float64{0}, []float64{0}
	const h = 0.1e-3
	for k := range int(math.Round(end / h)) {
		s := float64(k) * h
		if _, st := c.Trial(s, h, q(s), v(s), v(s), z, z, tau, slope); st != engine.OK {
			t.Fatal(st)
		}
	}
	fd, fq := park(z)
	t.Logf("id %.4f, iq %.4f A offline; %.4f, %.4f in steps of 0.1 ms; %.4f, %.4f with sine voltages", id, iq, fd, fq, y[0], y[1])
	near(t, "id in steps", fd, id, 0.05)
	near(t, "iq in steps", fq, iq, 0.05)
}
