package configs

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// steadyStart is the state of a machine at its start in equilibrium, by names.
func steadyStart(t *testing.T, text string) (map[string]float64, error) {
	t.Helper()
	c, _, err := MachineBytes("m.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, x, _, err := c.Begin()
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for i, col := range m.Columns()[:len(x)] {
		out[col.Name] = x[i]
	}
	return out, nil
}

// A start in equilibrium has the currents of its windings: a motor against a spring with and without inductance stands at K·U/(R·k).
func TestEquilibriumOfMotor(t *testing.T) {
	for _, l := range []string{"0", "2 mH", "0.5 H"} {
		for _, u := range []float64{6, -6} {
			text := `{version: 1, duration: 1 s, start: {equilibrium: true}, machine: {bodies: {arm: {joint: {kind: revolute, stiffness: 2}, inertia_z: 0.1, mass: 1}},
  motors: {drive: {joint: arm, K: 0.3, R: 1.5, L: ` + l + `, voltage: ` + strconv.FormatFloat(u, 'g', -1, 64) + `}}}}`
			got, err := steadyStart(t, text)
			if want := 0.3 * u / 1.5 / 2; err != nil || math.Abs(got["arm.q"]-want) > 1e-9 || l != "0" && math.Abs(got["drive.i"]-u/1.5) > 1e-9 {
				t.Errorf("L %s, %g V: %v %v, want %.9g rad", l, u, got, err, want)
			}
		}
	}
}

// A magnet pulls its anchor to where (U/R)²·c/(2·(x + x0)²) = k·(rest − x).
func TestEquilibriumOfMagnet(t *testing.T) {
	const r, c, x0, k, rest, u = 4.0, 5e-7, 2e-4, 1000.0, 2e-3, 6.0
	text := `{version: 1, duration: 1 s, start: {equilibrium: true}, machine: {gravity: [0, 0, 0], bodies: {anchor: {joint: {kind: prismatic, axis: [1, 0, 0], stiffness: 1000 N/m, rest: 2 mm, position: 2 mm}, mass: 0.02}},
  magnets: {coil: {joint: anchor, R: 4, L_inf: 5 mH, c: 5e-7, x0: 0.2 mm, voltage: 6 V}}}}`
	got, err := steadyStart(t, text)
	pull := func(x float64) float64 { return u * u / r / r * c / 2 / (x + x0) / (x + x0) }
	lo, hi := 1.6e-3, rest // of the two equilibria the one that is stable, near the rest of the spring
	for range 80 {
		if mid := (lo + hi) / 2; pull(mid) < k*(rest-mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if err != nil || math.Abs(got["anchor.q"]-lo) > 1e-9 || math.Abs(got["coil.i"]-u/r) > 1e-8 {
		t.Errorf("%v %v, want %.9g m, %.9g A", got, err, lo, u/r)
	}
}

// A capacitor beside a motor is charged to the voltage of the motor; an inductor without resistance on a source has no current that
// stays, and that is said.
func TestEquilibriumOfCircuit(t *testing.T) {
	text := `{version: 1, duration: 1 s, start: {equilibrium: true}, machine: {bodies: {arm: {joint: {kind: revolute, stiffness: 2}, inertia_z: 0.1, mass: 1}},
  motors: {drive: {joint: arm, K: 0.3, R: 1.5, L: 1 mH, nodes: [n, ground]}},
  circuit: {u: {kind: voltage-source, from: p, to: ground, voltage: 10 V}, r: {kind: resistor, from: p, to: n, R: 1}, c: {kind: capacitor, from: n, to: ground, C: 1 mF}}}}`
	got, err := steadyStart(t, text)
	if err != nil || math.Abs(got["drive.i"]-4) > 1e-9 || math.Abs(got["c.u"]-6) > 1e-9 || math.Abs(got["arm.q"]-0.6) > 1e-9 {
		t.Errorf("%v %v, want 4 A, 6 V, 0.6 rad", got, err)
	}
	text = strings.Replace(text, "r: {kind: resistor, from: p, to: n, R: 1}, c: {kind: capacitor, from: n, to: ground, C: 1 mF}",
		"r: {kind: resistor, from: p, to: n, R: 1}, l: {kind: inductor, from: p, to: ground, L: 1 mH}", 1)
	if _, err := steadyStart(t, text); err == nil || !strings.Contains(err.Error(), "no steady state") {
		t.Errorf("inductor on a source: %v", err)
	}
}
