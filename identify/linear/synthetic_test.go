package linear

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/reference"
	"hilrig/identify/record"
)

// motion is a record with exact position: sines with known derivatives, and the force of the given law plus noise.
type motion struct {
	n     int
	dt    float64      // s
	tones [][3]float64 // amplitude m, frequency Hz, phase rad
	drift float64      // m/s, added constant velocity
	noise float64      // N
	step  float64      // m, resolution of the position; 0: exact
	seed  uint64
}

var swing = motion{n: 20000, dt: 1e-3, tones: [][3]float64{{0.2, 0.3, 0}, {0.05, 1.1, 1}, {0.01, 3.2, 2}}}

func (m motion) data(force func(q, v, a float64) float64) *record.Record {
	rng := rand.New(rand.NewPCG(m.seed, 7))
	q, f := make([]float64, m.n), make([]float64, m.n)
	for k := range q {
		t := float64(k) * m.dt
		p, v, a := m.drift*t, m.drift, 0.0
		for _, s := range m.tones {
			w := 2 * math.Pi * s[1]
			sin, cos := math.Sincos(w*t + s[2])
			p, v, a = p+s[0]*sin, v+s[0]*w*cos, a-s[0]*w*w*sin
		}
		q[k], f[k] = p, force(p, v, a)+m.noise*rng.NormFloat64()
		if m.step > 0 {
			q[k] = m.step * math.Round(q[k]/m.step)
		}
	}
	d := &record.Record{Dt: m.dt, Position: q, Force: f}
	return d
}

func axis(q, v, a float64) float64 { return 12*a + 30*v + 5*numeric.Sign(v) - 1.5 }

var axisTruth = []float64{12, 30, 5, -1.5, 0} // kg, N·s/m, N, N, s

// What was put in comes out, for every term.
func TestRecoversParameters(t *testing.T) {
	for _, c := range []struct {
		name   string
		rotary bool
		law    func(q, v, a float64) float64
		terms  []Term
		truth  []float64
	}{
		{"symmetric", false, axis, DefaultSpec().Terms, axisTruth},
		{"asymmetric", false, func(q, v, a float64) float64 {
			return 12*a + 30*math.Max(v, 0) + 40*math.Min(v, 0) + 5*math.Max(numeric.Sign(v), 0) + 7*math.Min(numeric.Sign(v), 0)
		}, []Term{Inertia, ViscousPlus, ViscousMinus, CoulombPlus, CoulombMinus}, []float64{12, 30, 40, 5, 7}},
		{"spring", false, func(q, v, a float64) float64 { return axis(q, v, a) + 80*q },
			[]Term{Inertia, Viscous, Coulomb, Offset, Stiffness}, append(slices.Clone(axisTruth[:4]), 80)},
		{"arm", true, func(q, v, a float64) float64 { return axis(5*q, v, a) + 20*math.Sin(q) - 3*math.Cos(q) },
			[]Term{Inertia, Viscous, Coulomb, Offset, GravitySin, GravityCos}, append(slices.Clone(axisTruth[:4]), 20, -3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := swing
			if c.rotary {
				m.tones = [][3]float64{{1.5, 0.3, 0}, {0.4, 1.1, 1}, {0.1, 3.2, 2}} // rad
			}
			s := DefaultSpec()
			s.Terms, s.Rotary = c.terms, c.rotary
			r, err := InverseDynamics(m.data(c.law), s)
			if err != nil {
				t.Fatal(err)
			}
			for j, e := range r.Estimates {
				if e.Symbol == "lag" {
					if math.Abs(e.Value) > 1e-6 {
						t.Errorf("lag %.2g s, put in none", e.Value)
					}
				} else if math.Abs(e.Value-c.truth[j]) > 2e-3*math.Abs(c.truth[j]) {
					t.Errorf("%s = %.6g %s, put in %g", e.Symbol, e.Value, e.Unit, c.truth[j])
				}
			}
			if *r.Fit.Percent < 99.5 {
				t.Errorf("fit %.2f %%", *r.Fit.Percent)
			}
		})
	}
}

// Over records with white force noise, 95 % intervals of both kinds hold the truth in about 95 of 100 cases, and the
// residual is not called correlated more often than the decimation filter (flat to 80 % of the band only) explains.
func TestIntervalCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("100 fits: left out with -short")
	}
	const records = 100
	var classic, robust [5]int
	m := swing
	m.noise, m.n = 20, 10000
	for seed := range uint64(records) {
		m.seed = seed
		r, err := InverseDynamics(m.data(axis), DefaultSpec())
		if err != nil {
			t.Fatal(err)
		}
		for j, e := range r.Estimates {
			if e.CI95[0] <= axisTruth[j] && axisTruth[j] <= e.CI95[1] {
				classic[j]++
			}
			if e.RobustCI95[0] <= axisTruth[j] && axisTruth[j] <= e.RobustCI95[1] {
				robust[j]++
			}
		}
	}
	t.Logf("truth inside the 95 %% interval in %d records: classical %v, robust %v", records, classic, robust)
	for j, name := range []string{"M", "Fv", "Fc", "offset"} {
		// binomial(100, 0.95): 3.3 standard deviations; the filter's roll-off takes a little from the classical one
		if classic[j] < 86 || robust[j] < 86 {
			t.Errorf("%s: coverage %d %% classical, %d %% robust, want about 95", name, classic[j], robust[j])
		}
	}
}

// What the record cannot tell apart is refused by name, with advice.
func TestRefusals(t *testing.T) {
	forward := swing
	forward.drift = 2 // faster than any swing back
	single := motion{n: 20000, dt: 1e-3, tones: [][3]float64{{0.2, 0.7, 0}}}
	rest := motion{n: 20000, dt: 1e-3}
	for _, c := range []struct {
		name  string
		m     motion
		terms []Term
		want  []string
	}{
		{"direction-dependent Coulomb and offset", swing, []Term{Inertia, Viscous, CoulombPlus, CoulombMinus, Offset},
			[]string{"coulomb+ − coulomb- − offset = 0", "without offset"}},
		{"both forms of Coulomb", swing, []Term{Inertia, Coulomb, CoulombPlus, CoulombMinus},
			[]string{"coulomb − coulomb+ − coulomb- = 0", "keep one of the two forms"}},
		{"both forms of viscous", swing, []Term{Viscous, ViscousPlus, ViscousMinus}, []string{"viscous − viscous+ − viscous- = 0"}},
		{"one direction only", forward, DefaultSpec().Terms, []string{"coulomb − offset = 0", "record both directions"}},
		{"never backward", forward, []Term{Inertia, ViscousPlus, ViscousMinus, Offset}, []string{"viscous- is zero", "never moves backward"}},
		{"inertia and spring under one sine", single, []Term{Inertia, Viscous, Stiffness},
			[]string{"inertia", "stiffness", "several frequencies"}},
		{"at rest", rest, DefaultSpec().Terms, []string{"inertia is zero", "viscous is zero", "coulomb is zero"}},
		{"two at once", swing, []Term{Viscous, ViscousPlus, ViscousMinus, CoulombPlus, CoulombMinus, Offset},
			[]string{"Keep coulomb+ and coulomb- without offset"}},
	} {
		s := DefaultSpec()
		s.Terms, s.Trim = c.terms, 1 // s, so that no trace of the ends is left
		r, err := InverseDynamics(c.m.data(axis), s)
		var u *Unidentifiable
		if !errors.As(err, &u) || r != nil {
			t.Errorf("%s: error %v, want a refusal and no result", c.name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: …%s… is missing in\n%v", c.name, w, err)
			}
		}
	}
}

// An axis that rests for most of the record, under a force that has nothing to do with its motion: the rest is found and left
// out, whatever the resolution of the position and its noise.
func TestRestingAxis(t *testing.T) {
	for _, noise := range []float64{1e-6, 1e-9, 0} { // m
		rng := rand.New(rand.NewPCG(4, 4))
		tones := []reference.Tone{{Amplitude: 0.2, Frequency: 0.3}, {Amplitude: 0.05, Frequency: 1.1, Phase: 1}}
		g := reference.NewFade(reference.Multisine{Tones: tones}, 1, 0)
		q, f := make([]float64, 20000), make([]float64, 20000)
		for k := range q {
			p, v, a := g.At(float64(k)*1e-3 - 12)
			q[k] = p + noise*rng.NormFloat64()
			if noise > 0 {
				q[k] = noise * math.Round(q[k]/noise)
			}
			if f[k] = axis(p, v, a); v == 0 {
				f[k] = -1.5 + 4*math.Sin(float64(k)*1e-3)
			}
		}
		d := &record.Record{Dt: 1e-3, Position: q, Force: f}
		r, err := InverseDynamics(d, DefaultSpec())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(r.Warnings, "\n"), "left out") {
			t.Errorf("nothing is said of the rest: %q", r.Warnings)
		}
		if fc := r.Estimates[2].Value; math.Abs(fc-5) > 0.02 {
			t.Errorf("noise %g m: Fc = %.4g N, put in 5", noise, fc)
		}
		all, err := InverseDynamics(d, published())
		if err != nil {
			t.Fatal(err)
		}
		if fc := all.Estimates[2].Value; noise > 0 && math.Abs(fc-5) < 0.1 {
			t.Errorf("noise %g m: Fc = %.4g N with the rest: the test shows nothing", noise, fc)
		}
	}
}

func TestSpecErrors(t *testing.T) {
	d := swing.data(axis)
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Terms = nil }, "terms: empty"},
		{func(s *Spec) { s.Terms = []Term{"inertia", "viscus"} }, `terms[1]: "viscus" is unknown (did you mean "viscous"?)`},
		{func(s *Spec) { s.Terms = []Term{Inertia, Inertia} }, "listed twice"},
		{func(s *Spec) { s.Terms = []Term{GravitySin} }, "needs a rotary axis"},
		{func(s *Spec) { s.Cutoff = 600 }, "less than 450 Hz"},
		{func(s *Spec) { s.Cutoff = math.NaN() }, "filter cutoff: NaN"},
		{func(s *Spec) { s.Order = 0 }, "filter order: 0"},
		{func(s *Spec) { s.Decimate = -1 }, "decimate: -1"},
		{func(s *Spec) { s.Trim = -2 }, "trim: -2 s"},
		{func(s *Spec) { s.MinVelocity = math.Inf(1) }, "min_velocity"},
		{func(s *Spec) { s.Decimate = 900 }, "20000 samples leave"},
		{func(s *Spec) { s.MinVelocity = 99 }, "faster than min_velocity 99"},
	} {
		s := DefaultSpec()
		c.change(&s)
		if _, err := InverseDynamics(d, s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want …%s…", s, err, c.want)
		}
	}
}

// Two fits of one record are equal to the last bit, though the columns are prepared by several goroutines.
func TestDeterminism(t *testing.T) {
	d := swing.data(axis)
	var last []byte
	for range 3 {
		r, err := InverseDynamics(d, DefaultSpec())
		if err != nil {
			t.Fatal(err)
		}
		r.Compute = 0
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && !bytes.Equal(text, last) {
			t.Fatalf("%s\n%s", text, last)
		}
		last = text
	}
}

func ExampleInverseDynamics() {
	// a slide of 12 kg with friction, 20 s of motion at 1 kHz
	q, f := make([]float64, 20000), make([]float64, 20000)
	for k := range q {
		t := float64(k) * 1e-3
		var v, a float64
		for _, s := range [][2]float64{{0.2, 2}, {0.05, 7}} { // m, rad/s
			sin, cos := math.Sincos(s[1] * t)
			q[k], v, a = q[k]+s[0]*sin, v+s[0]*s[1]*cos, a-s[0]*s[1]*s[1]*sin
		}
		f[k] = 12*a + 30*v + math.Copysign(5, v)
	}
	d := &record.Record{Dt: 1e-3, Position: q, Force: f}
	r, err := InverseDynamics(d, DefaultSpec())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range r.Estimates[:3] {
		fmt.Printf("%s = %.1f %s\n", e.Symbol, e.Value, e.Unit)
	}
	// Output:
	// M = 12.0 kg
	// Fv = 30.0 N·s/m
	// Fc = 5.0 N
}
