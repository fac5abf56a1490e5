package identify

import (
	"math"
	"strings"
	"testing"
)

// Slow motion hardly tells the lag of a force from the inertia, and noise of the position makes the sum of squares the smaller the smaller
// the inertia is. The lag of a joint that an independent arm led went to 55 ms where there was none, and the inertia down to a quarter.
func TestNoiseOfThePositionIsNoLag(t *testing.T) {
	for _, seed := range []uint64{1001, 1101, 1201, 51201, 51401, 52601} {
		b := newArmBench(seed, 1)
		truth, err := b.truth()
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.model(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := fitArm(m, b.spec, armKinds[0].make(b))
		if err != nil {
			t.Fatal(err)
		}
		p, _ := r.Param("l1.izz_R")
		if want := truth[p.Name]; r.Verdict != Identified || math.Abs(p.Value-want) > 0.03*want || p.CI[0] > want || want > p.CI[1] {
			t.Errorf("seed %d: %s, %s is %.4g (%.4g to %.4g), true %.4g: %q", seed, r.Verdict,
				p.Name, p.Value, p.CI[0], p.CI[1], want, r.Because())
		}
	}
}

// A Stribeck dip that is over where the fitted rows begin does no harm. One that is wider than the motion is fast bends friction there so
// little that a straight line explains it, with a Coulomb friction that is too large by most of the dip; the slow rows tell of it.
func TestWideDip(t *testing.T) {
	for _, c := range []struct {
		speed    float64 // m/s
		harmless bool
	}{{0.09, true}, {0.45, false}, {0.75, false}} {
		for _, seed := range []uint64{0, 1, 4} {
			b := newBench(200+seed, 10)
			if seed == 1 {
				b.moves(0)
			}
			fc := b.axis.Friction.Fc
			b.axis.Load = func(_, _, v float64) float64 { return 0.4 * fc * math.Tanh(v/1e-4) * math.Exp(-v*v/(c.speed*c.speed)) }
			o := attempt(kind{}, b.record(nil))
			if o.wrong != nil || (o.verdict == Identified) != c.harmless ||
				!c.harmless && !strings.Contains(strings.Join(o.result.Because(), " "), "Stribeck") {
				t.Errorf("dip of %g m/s, seed %d: %s %v %q", c.speed, seed, o.verdict, o.wrong, o.result.Because())
			}
		}
	}
}
