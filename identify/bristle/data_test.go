package bristle

import (
	"context"
	"errors"
	"math"
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
	still := small(0.2, true)
	still.seconds = 2
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
		{"presliding only", still.draw(1), "of the samples only"},
		{"zero force", wave(3000, sine(0.01), func(float64) float64 { return 0 }), "the force never changes: it is 0"},
		{"wrong sign", turned(-1, 0), "the force has the wrong sign"},
		{"friction that drives", turned(1, 1.3), "friction comes out negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, method := range methods {
				_, err := method(context.Background(), []*record.Record{c.rec}, Params(false), Options{}, nil)
				var data *record.Error
				if !errors.As(err, &data) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: error %v, want one about the data with %q", name, err, c.want)
				}
			}
		})
	}
}

// turned is a good record whose force is multiplied, and has more than its friction taken off.
func turned(factor, less float64) *record.Record {
	b := benches()[1]
	b.seconds = 2
	rec := b.draw(1)
	for k := range rec.Force {
		v := 0.0
		if k > 4 && k+5 < len(rec.Position) {
			v = rec.Position[k+5] - rec.Position[k-5]
		}
		rec.Force[k] = factor*rec.Force[k] - less*b.truth[coulomb]*math.Tanh(v/2e-5)
	}
	return rec
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
	b := benches()[1]
	b.count = 2e-5 // against a break-away deflection of 37 µm
	s, err := Separable(context.Background(), []*record.Record{b.draw(1)}, Params(false), Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Unidentifiable) != 2 || s.Unidentifiable[0].Names[0] != "sigma0" || s.Unidentifiable[1].Names[0] != "sigma1" {
		t.Errorf("refused %v, want sigma0 and sigma1", s.Unidentifiable)
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
