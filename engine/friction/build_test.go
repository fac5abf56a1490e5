package friction

import (
	"maps"
	"strings"
	"testing"
)

// Every law, and every law by direction that there can be, comes back from its name and its numbers.
func TestBuildRoundTrip(t *testing.T) {
	for _, info := range Laws() {
		law := info.NewLaw()
		again, err := Build(info.Name, Values(law))
		if err != nil {
			t.Errorf("%s: %v", info.Name, err)
			continue
		}
		if NameOf(again) != info.Name || !maps.Equal(Values(again), Values(law)) {
			t.Errorf("%s came back as %s %v", info.Name, NameOf(again), Values(again))
		}
	}
	for name, build := range twoSided(t) {
		law := build()
		again, err := Build(NameOf(law), Values(law))
		if err != nil || !maps.Equal(Values(again), Values(law)) {
			t.Errorf("%s by direction: %v, %v", name, err, again)
		}
		for _, v := range []float64{1, -1} {
			if err == nil && again.SteadyForce(v) != law.SteadyForce(v) {
				t.Errorf("%s by direction: %g N at %g m/s, want %g", name, again.SteadyForce(v), v, law.SteadyForce(v))
			}
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	info, _ := Find("lugre")
	good := Values(info.NewLaw())
	change := func(edit func(map[string]float64)) map[string]float64 {
		v := maps.Clone(good)
		edit(v)
		return v
	}
	for _, c := range []struct {
		name   string
		values map[string]float64
		want   string
	}{
		{"lugree", good, `law "lugree" is not known`},
		{"lugre", nil, "sigma0, sigma1"},
		{"lugre", change(func(v map[string]float64) { delete(v, "vs") }), "vs missing"},
		{"lugre", change(func(v map[string]float64) { v["mu"] = 1 }), "mu"},
		{"lugre", change(func(v map[string]float64) { v["sigma0-"] = 1 }), "backward"},
		{"lugre", change(func(v map[string]float64) { v["Fc"] = -1 }), "Fc"},
		{"lugre", change(func(v map[string]float64) { v["Fc-"] = -1 }), "backward"},
	} {
		if law, err := Build(c.name, c.values); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, %v, want %q", c.name, c.values, law, err, c.want)
		}
	}
}
