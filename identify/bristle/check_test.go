package bristle

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// What the data cannot tell is refused with a reason.
func TestRefusedRecords(t *testing.T) {
	wave := func(n int, x, u func(t float64) float64) *record.Record {
		rec := &record.Record{Dt: 1e-3, Position: make([]float64, n), Force: make([]float64, n)}
		for k := range n {
			rec.Position[k], rec.Force[k] = x(float64(k)/1000), u(float64(k)/1000)
		}
		return rec
	}
	sine := func(a float64) func(float64) float64 { return func(t float64) float64 { return a * math.Sin(9*t) } }
	flat := func(float64) float64 { return 0.5 }
	broken := wave(3000, sine(0.01), sine(1))
	broken.Force[77] = math.NaN()
	for _, c := range []struct {
		name string
		rec  *record.Record
		want string
	}{
		{"no force", &record.Record{Dt: 1e-3, Position: make([]float64, 3000)}, "needs position and force"},
		{"short", wave(100, sine(0.01), sine(1)), "at least 200"},
		{"not finite", broken, "sample 77"},
		{"no motion", wave(3000, flat, sine(1)), "never changes"},
		{"constant force", wave(3000, sine(0.01), flat), "the force never changes"},
		{"one way", wave(3000, func(t float64) float64 { return 0.01 * t * t }, sine(1)), "turns round 0 times"},
		{"only counts", wave(3000, func(t float64) float64 { return 1e-6 * math.Round(1.4*math.Sin(9*t)) }, sine(1)), "nothing can be told"},
		{"presliding only", small(0.2, true).record(1), "of the samples only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Separable(context.Background(), c.rec, Params(false), Options{}, nil)
			var data *record.Error
			if !errors.As(err, &data) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about the data with %q", err, c.want)
			}
		})
	}
}

func TestRefusedParameters(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func([]fit.Param) []fit.Param
		want string
	}{
		{"missing", func(p []fit.Param) []fit.Param { return p[1:] }, "M is missing"},
		{"unknown", func(p []fit.Param) []fit.Param {
			return append(p, fit.Param{Param: engine.Param{Name: "gamma", Value: 1, Hi: 2}})
		}, "gamma: not a parameter"},
		{"start outside", func(p []fit.Param) []fit.Param { p[0].Value = -1; return p }, "outside its bounds"},
		{"all fixed", func(p []fit.Param) []fit.Param {
			for i := range p {
				p[i].Fixed = true
			}
			return p
		}, "nothing to fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newModel(c.edit(Params(false)))
			var bad *fit.ParamError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// An encoder too coarse for the contact: stiffness and damping are refused, the rest stands.
func TestCoarseEncoder(t *testing.T) {
	g := rigs()[0]
	g.range_ *= 32 // 20 µm against a break-away deflection of 37
	g.run(1)
	s, err := Separable(context.Background(), g.record(1), Params(false), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Refused) != 2 || s.Refused[0].Names[0] != "sigma0" || s.Refused[1].Names[0] != "sigma1" {
		t.Errorf("refused %v, want sigma0 and sigma1", s.Refused)
	}
}

// The count is found among rounded numbers, and not where there is none.
func TestQuantum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	n := 4000
	fine, text, none := make([]float64, n), make([]float64, n), make([]float64, n)
	const q = 0.04 / 65536
	for k := range n {
		x := 0.01*math.Sin(float64(k)/200) + 1e-7*r.NormFloat64()
		fine[k] = q * math.Round(x/q)
		text[k] = 1e-9 * math.Round(fine[k]/1e-9)
		none[k] = x
	}
	if got := quantum(fine); math.Abs(got/q-1) > 1e-9 {
		t.Errorf("count %g, want %g", got, q)
	}
	if got := quantum(text); math.Abs(got/q-1) > 1e-3 {
		t.Errorf("count %g in a text with nine decimals, want %g", got, q)
	}
	if got := quantum(none); got > 1e-8 {
		t.Errorf("count %g, want none", got)
	}
}

// A rotary axis has the inertia J, and only one inertia.
func TestRotary(t *testing.T) {
	m, err := newModel(Params(true))
	if err != nil {
		t.Fatal(err)
	}
	p, free := m.answer(theta{inertia: 0.25, sigma0: 7})
	if p[free[0]].Name != "J" || p[free[0]].Value != 0.25 || m.unit[1] != "N·m" {
		t.Errorf("inertia %v in a model of %v", p[free[0]], m.unit)
	}
	if _, err := newModel(append(Params(true), Params(false)[0])); err == nil || !strings.Contains(err.Error(), "same parameter") {
		t.Errorf("J and M together: %v", err)
	}
}
