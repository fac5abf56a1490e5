package axis

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/identify/record"
)

// Coulomb friction with the viscous term is the law that has both, in the same and in both directions; without the term there
// is nothing viscous.
func TestViscousTermIsThatOfLaws(t *testing.T) {
	u := multisine(400, 5e-3, 8, 3)
	run := func(spec Spec, values map[string]float64) []float64 {
		spec.Drive = Force
		return simulated(t, spec, 5e-3, u, values)
	}
	for _, c := range []struct {
		law, term map[string]float64
		by        bool
	}{
		{map[string]float64{"M": 3, "Fc": 2, "Fs": 2, "Fv": 1.5}, map[string]float64{"M": 3, "Fc": 2, "Fv": 1.5}, false},
		{map[string]float64{"M": 3, "Fc+": 2, "Fc-": 3, "dFs": 0, "Fv+": 1.5, "Fv-": 0.5},
			map[string]float64{"M": 3, "Fc+": 2, "Fc-": 3, "Fv+": 1.5, "Fv-": 0.5}, true},
	} {
		a := run(Spec{Law: "static-coulomb-viscous", Asymmetric: c.by}, c.law)
		b := run(Spec{Law: "coulomb", Terms: []string{"viscous"}, Asymmetric: c.by}, c.term)
		if off := apart(a, b); off > 1e-5*numeric.RMS(a) { // arrests are cut a little differently
			t.Errorf("by direction %v: the two differ by %.2g m of %.2g m", c.by, off, numeric.RMS(a))
		}
		dry := map[string]float64{}
		for name, x := range c.term {
			if !strings.HasPrefix(name, "Fv") {
				dry[name] = x
			}
		}
		if off := apart(a, run(Spec{Law: "coulomb", Asymmetric: c.by}, dry)); off < 0.01*numeric.RMS(a) {
			t.Errorf("by direction %v: without the term the motion is the same", c.by)
		}
	}
	// a free mass with nothing but viscous friction has a closed form
	coast := Spec{Drive: Coast, Terms: []string{"viscous"}}
	x := make([]float64, 200)
	for k := range x {
		x[k] = 2 * (1 - math.Exp(-0.5*float64(k)*0.01)) / 0.5
	}
	_, _, pr := problemOf(t, coast, []*record.Record{{Dt: 0.01, Position: x}}, nil)
	if _, at := fitted(t, pr); math.Abs(at["Fv"]-0.5) > 1e-4 {
		t.Errorf("Fv/M = %.6g 1/s, want 0.5", at["Fv"])
	}
}

// A law that has viscous friction itself refuses the term and names its parameter.
func TestViscousTwiceIsRefused(t *testing.T) {
	d := made(t, empsContact, sweep(0.3), nil)
	for law, own := range map[string]string{"viscous": "Fv", "static-coulomb-viscous": "Fv", "lugre": "sigma2", "gms": "sigma2",
		"dahl-modified": "alpha2"} {
		for _, drive := range []Drive{Servo, Force} {
			spec := servoSpec(law, false)
			spec.Terms = []string{"viscous"}
			if spec.Drive = drive; drive == Force {
				spec.Output = Position
			}
			want := law + " has viscous friction itself, " + own
			if _, err := New(spec, []*record.Record{d}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("model: %v, want …%s…", err, want)
			}
		}
	}
	for _, law := range []string{"", "coulomb", "dahl", "bouc-wen"} {
		if _, err := New(Spec{Law: law, Terms: []string{"viscous"}, Asymmetric: true}, []*record.Record{d}); err != nil {
			t.Errorf("%q: %v", law, err)
		}
	}
}
