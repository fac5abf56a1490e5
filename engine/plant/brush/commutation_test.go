package brush

import (
	"math"
	"testing"
)

func commutator24(t testing.TB, lc, rc float64) *Commutation {
	m, err := NewCommutation(11e-3, 6.3e-3, 0.5e-3, 24, lc, rc, 13)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// turn runs the brush over bars at a constant current, with n steps per bar.
func turn(m *Commutation, rate, i, r float64, bars, n int) (crowd float64) {
	theta, h := 0.0, m.pitch/math.Abs(rate)/float64(n)
	m.Step(h, 0, i, r)
	for range bars * n {
		theta += rate * h
		m.Step(h, theta, i, r)
		crowd += m.Crowd / float64(bars*n)
	}
	return crowd
}

// Without inductance the current density is uniform: coils on the straight line from +a to −a while they are bridged, no
// sparks and no extra loss.
func TestResistanceCommutationIsLinear(t *testing.T) {
	m := commutator24(t, 1e-12, 0)
	crowd := turn(m, 300, 4, 0.5, 48, 40)
	if m.Breaks != 48 {
		t.Errorf("%d bars left in two turns", m.Breaks)
	}
	if m.Index > 1e-4 || crowd > 1+1e-6 {
		t.Errorf("uniform current: %g A broken, crowding %g", m.Index, crowd)
	}
	// place by place: current through the bars before a slot is their share of the area
	for k := range m.Coils() {
		share := 0.0
		total := 0.0
		m.areas(m.theta, 1)
		for j := range m.Coils() + 1 {
			total += m.area[j]
			if j <= k {
				share += m.area[j]
			}
		}
		if want := -2 + 4*share/total; math.Abs(m.Coil(k)-want) > 1e-6 {
			t.Errorf("coil %d: %g A, want %g", k, m.Coil(k), want)
		}
	}
}

// Inductance delays the reversal: more speed, more current and less contact resistance break more of it, up to what an
// uncommutated coil would leave.
func TestSparkingGrowsWithSpeedAndInductance(t *testing.T) {
	index := func(rate, lc, r, i float64) float64 {
		m := commutator24(t, lc, 0.2)
		turn(m, rate, i, r, 240, 40)
		return m.Index
	}
	base := index(314, 60e-6, 0.3, 4)
	for _, c := range []struct {
		name string
		v    float64
	}{
		{"ten times the speed", index(3140, 60e-6, 0.3, 4)},
		{"ten times the inductance", index(314, 600e-6, 0.3, 4)},
		{"ten times the current", index(314, 60e-6, 0.3, 40)},
		{"a tenth of the resistance", index(314, 60e-6, 0.03, 4)},
	} {
		t.Logf("%s: %.3g A broken instead of %.3g", c.name, c.v, base)
		if !(c.v > 1.2*base) {
			t.Errorf("%s: %g A broken, before %g", c.name, c.v, base)
		}
	}
	// a voltage that helps the reversal along lowers what is left
	help := commutator24(t, 60e-6, 0.2)
	help.EMF = 0.25
	turn(help, 3140, 4, 0.3, 240, 40)
	if with, without := help.Index, index(3140, 60e-6, 0.3, 4); !(with < without) {
		t.Errorf("with an aiding voltage %g A broken, without %g", with, without)
	}
}

// Both senses of rotation are mirror images.
func TestCommutationIsTheSameBothWays(t *testing.T) {
	a, b := commutator24(t, 60e-6, 0.2), commutator24(t, 60e-6, 0.2)
	turn(a, 1000, 4, 0.3, 100, 40)
	turn(b, -1000, 4, 0.3, 100, 40)
	if a.Breaks != b.Breaks || math.Abs(a.Index-b.Index) > 1e-9 || math.Abs(a.Crowd-b.Crowd) > 1e-9 {
		t.Errorf("forwards %d breaks, %g A, crowding %g; backwards %d, %g, %g", a.Breaks, a.Index, a.Crowd, b.Breaks, b.Index, b.Crowd)
	}
	// back over the same bars: the chain is not lost
	theta := a.theta
	for range 1000 {
		theta -= 1e-3
		a.Step(1e-5, theta, 4, 0.3)
		if n := a.Coils(); n < 2 || n > 3 {
			t.Fatalf("%d coils bridged", n)
		}
	}
}

func TestCommutationBounds(t *testing.T) {
	if _, err := NewCommutation(11e-3, 6.3e-3, 0.5e-3, 300, 60e-6, 0.2, 13); err == nil {
		t.Error("a brush over 28 bars was accepted")
	}
	m := commutator24(t, 60e-6, 0.2)
	turn(m, 300, 4, 0.3, 10, 40)
	c := m.c
	m.Step(1e-5, math.NaN(), 4, 0.3)
	m.Step(1e-5, m.theta, math.Inf(1), 0.3)
	if m.c != c {
		t.Error("a step with nonsense changed the coils")
	}
	m.Step(1e-3, m.theta+1, 4, 0.3)
	if m.Unstable != 1 || m.Coils() == 0 {
		t.Errorf("a step over four bars: counted %d times", m.Unstable)
	}
	th := m.theta
	if n := testing.AllocsPerRun(100, func() { th += 6e-3; m.Step(2e-5, th, 4, 0.3) }); n != 0 {
		t.Errorf("%g allocations in a step", n)
	}
	narrow, err := NewCommutation(11e-3, 1e-3, 2e-3, 12, 60e-6, 0.2, 13)
	if err != nil {
		t.Fatal(err)
	}
	if turn(narrow, 300, 4, 0.3, 24, 10); narrow.Coils() != 0 || narrow.Breaks != 0 {
		t.Error("a brush narrower than a slot bridges bars")
	}
}

func BenchmarkCommutationStep(b *testing.B) {
	m := commutator24(b, 60e-6, 0.2)
	theta := 0.0
	b.ReportAllocs()
	for b.Loop() {
		theta += 6.28e-3
		m.Step(2e-5, theta, 4, 0.3)
	}
}
