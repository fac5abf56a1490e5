package identify

import (
	"errors"
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/identify/fit"
)

func param(name string, value, lo, hi float64, log bool) fit.Param {
	return fit.Param{Param: engine.Param{Name: name, Value: value, Lo: lo, Hi: hi}, Log: log}
}

func is[T any](x T) *T { return &x }

// What is given stands over what a model guesses, and bounds follow a start that lies outside them only if they were guessed.
func TestGivenParameters(t *testing.T) {
	base := func() []fit.Param {
		return []fit.Param{param("M", 10, 1, 100, true), param("Fc", 2, 0.1, 20, true), param("offset", 0, -5, 5, false)}
	}
	for _, c := range []struct {
		name  string
		given Given
		want  fit.Param
		err   string
	}{
		{"a start", Given{Name: "M", Start: is(50.0)}, param("M", 50, 1, 100, true), ""},
		{"a start above guessed bounds widens them", Given{Name: "M", Start: is(1000.0)}, param("M", 1000, 1, 10000, true), ""},
		{"a start below guessed bounds widens them", Given{Name: "M", Start: is(0.5)}, param("M", 0.5, 0.05, 100, true), ""},
		{"given bounds that exclude a given start", Given{Name: "M", Start: is(50.0), Hi: is(20.0)}, fit.Param{}, "outside its bounds"},
		{"given bounds move a guessed start", Given{Name: "M", Lo: is(20.0), Hi: is(30.0)}, param("M", 20, 20, 30, true), ""},
		{"a bound at zero ends the logarithm", Given{Name: "Fc", Lo: is(0.0)}, param("Fc", 2, 0, 20, false), ""},
		{"unknown", Given{Name: "Fcc", Start: is(1.0)}, fit.Param{}, `did you mean "Fc"?`},
	} {
		ps := base()
		err := apply(ps, []Given{c.given})
		if c.err != "" {
			var pe *fit.ParamError
			if !errors.As(err, &pe) || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want …%s…", c.name, err, c.err)
			}
			continue
		}
		got := ps[0]
		if c.given.Name == "Fc" {
			got = ps[1]
		}
		if err != nil || got.Value != c.want.Value || math.Abs(got.Lo-c.want.Lo) > 1e-12 || math.Abs(got.Hi-c.want.Hi) > 1e-9 ||
			got.Log != c.want.Log {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
	ps := base()
	if err := apply(ps, []Given{{Name: "sigma0", Start: is(1.0), Optional: true}, {Name: "M", Start: is(50.0)}}); err != nil ||
		ps[0].Value != 50 {
		t.Errorf("a parameter of another model: %+v, %v", ps[0], err)
	}
	ps = base()
	if err := apply(ps, []Given{{Name: "M", Start: is(500.0), Fixed: is(true)}}); err != nil || !ps[0].Fixed || ps[0].Value != 500 {
		t.Errorf("a known value: %+v, %v", ps[0], err)
	}
}

// A method starts from what earlier ones found, under the names of its own model.
func TestChainHandsOver(t *testing.T) {
	f := found{}
	f.note([]fit.Param{param("M", 95, 0, 1, false), param("Fv+", 160, 0, 1, false), param("Fv-", 240, 0, 1, false),
		param("Fc", 20, 0, 1, false)})
	ps := []fit.Param{param("M", 10, 1, 1000, true), param("sigma2", 1, 0, 1e4, false), param("Fc+", 1, 0.1, 100, true),
		param("Fs", 3, 1, 5, true), param("vs", 0.1, 0.01, 1, true)}
	f.start(ps, []Given{{Name: "vs", Start: is(0.1)}})
	want := []float64{95, 200, 20, 3, 0.1} // the mean of both directions for the one, the one for both
	for i, w := range want {
		if ps[i].Value != w {
			t.Errorf("%s starts at %g, want %g", ps[i].Name, ps[i].Value, w)
		}
	}
	ps[0].Value, ps[0].Hi = 10, 50
	if f.start(ps[:1], nil); ps[0].Value != 50 {
		t.Errorf("M starts at %g, want its bound 50", ps[0].Value)
	}
	ps[0].Value = 10
	if f.start(ps[:1], []Given{{Name: "M", Start: is(10.0)}}); ps[0].Value != 10 {
		t.Errorf("a given start was replaced by %g", ps[0].Value)
	}
}
