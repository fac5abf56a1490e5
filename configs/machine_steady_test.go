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

// What no current changes stays as it is at the start: the charge between capacitors in series, C₁·(u₁ − 2 V) = C₂·u₂ with
// u₁ + u₂ = 12 V; the flux of a loop without resistance, L₁·(i₁ − 2 A) = L₂·i₂ with i₁ + i₂ = 12 A; the sum of currents
// of windings in series, whatever their resistances.
func TestEquilibriumKeepsChargesAndFluxes(t *testing.T) {
	const arm = `{version: 1, duration: 1 s, start: {equilibrium: true}, machine: {
  bodies: {arm: {joint: {kind: revolute, stiffness: 2}, inertia_z: 0.1, mass: 1}},
  motors: {drive: {joint: arm, K: 0.3, R: 1.5, voltage: 3}}, circuit: {
  u: {kind: voltage-source, from: p, to: ground, voltage: 12 V}, `
	for _, c := range []struct {
		name, circuit string
		want          map[string]float64
	}{
		{"capacitors in series", `r: {kind: resistor, from: p, to: a, R: 2}, c1: {kind: capacitor, from: a, to: b, C: 1 mF, start_voltage: 2 V},
		  c2: {kind: capacitor, from: b, to: ground, C: 3 mF}`, map[string]float64{"c1.u": 9.5, "c2.u": 2.5}},
		{"the other way round", `r: {kind: resistor, from: p, to: a, R: 2}, c1: {kind: capacitor, from: b, to: a, C: 1 mF, start_voltage: -2 V},
		  c2: {kind: capacitor, from: b, to: ground, C: 3 mF}`, map[string]float64{"c1.u": -9.5, "c2.u": 2.5}},
		{"three in a star", `r: {kind: resistor, from: p, to: a, R: 2},
		  r2: {kind: resistor, from: p, to: e, R: 50},
		  c1: {kind: capacitor, from: a, to: b, C: 1 mF},
		  c2: {kind: capacitor, from: e, to: b, C: 2 mF}, c3: {kind: capacitor, from: b, to: ground, C: 1 uF}`,
			map[string]float64{"c3.u": 12 * 3 / 3.001, "c1.u": 12 * 0.001 / 3.001, "c2.u": 12 * 0.001 / 3.001}},
		{"a loop of inductors", `r: {kind: resistor, from: p, to: a, R: 1}, l1: {kind: inductor, from: a, to: ground, L: 1 mH, start_current: 2},
		  l2: {kind: inductor, from: a, to: ground, L: 3 mH}`, map[string]float64{"l1.i": 9.5, "l2.i": 2.5}},
		{"inductors in series", `l1: {kind: inductor, from: p, to: a, L: 1 mH, R: 1}, l2: {kind: inductor, from: a, to: ground, L: 30 mH, R: 5}`,
			map[string]float64{"l1.i": 2, "l2.i": 2}},
		{"a slow capacitor beside a fast inductor", `r: {kind: resistor, from: p, to: a, R: 100 kohm},
		  c1: {kind: capacitor, from: a, to: ground, C: 10 mF},
		  l2: {kind: inductor, from: p, to: ground, L: 1 uH, R: 2}`, map[string]float64{"c1.u": 12, "l2.i": 6}},
		{"without losses", `l1: {kind: inductor, from: p, to: a, L: 1 mH}, c1: {kind: capacitor, from: a, to: ground, C: 1 uF}`,
			map[string]float64{"l1.i": 0, "c1.u": 12}},
	} {
		got, err := steadyStart(t, arm+c.circuit+"}}}")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for name, want := range c.want {
			if math.Abs(got[name]-want) > 1e-8 {
				t.Errorf("%s: %s = %.12g, want %.12g", c.name, name, got[name], want)
			}
		}
	}
}

// A pendulum upside down grows by √(g/l) a second: unstable, unless that takes hours. One that hangs, and a body that no force holds or
// drives, alone or beside a current that goes round a loop without resistance, are not.
func TestEquilibriumThatIsUnstable(t *testing.T) {
	pendulum := func(g string, at string) string {
		return `{bodies: {arm: {joint: {kind: revolute, position: ` + at + `}, mass: 1, com: [1, 0, 0], inertia: [1e-6, 1e-6, 1e-6]}},
		  gravity: [` + g + `, 0, 0]}`
	}
	const free = `{gravity: [0, 0, 0], bodies: {m: {joint: {kind: prismatic, axis: [1, 0, 0], damping: 1}, mass: 1}}`
	for _, c := range []struct {
		machine  string
		unstable bool
	}{
		{pendulum("-9.81", "0"), true}, {pendulum("-1e-6", "0"), true}, {pendulum("-1e-10", "0"), false}, {pendulum("9.81", "0"), false},
		{pendulum("1e-10", "0"), false}, {free + `}`, false},
		{free + `, circuit: {a: {kind: inductor, from: p, to: ground, L: 1 mH, start_current: 2 A},
		  b: {kind: inductor, from: p, to: ground, L: 2 mH, start_current: -1 A}, r: {kind: resistor, from: p, to: ground, R: 5}}}`, false},
	} {
		f, _, err := MachineBytes("m.yaml", []byte(`{version: 1, duration: 1 s, start: {equilibrium: true}, machine: `+c.machine+`}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, done, err := f.Begin(); err != nil || done.Unstable != c.unstable {
			t.Errorf("%s: unstable %v, want %v; %v", c.machine, done.Unstable, c.unstable, err)
		}
	}
}
