package configs

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"hilrig/hil/axis"
)

// The bounds of what may be set while it runs are those of the file, both ends.
func TestBounds(t *testing.T) {
	for key, want := range map[string][2]float64{"control.kp": {0, 1e9}, "control.ki": {0, 1e9}, "control.kd": {0, 1e9},
		"control.gain": {0, 1e6}, "compensation.scale": {0, 1}, "compensation.gain": {0, math.Inf(1)}} {
		if lo, hi, ok := Bounds(key); !ok || lo != want[0] || hi != want[1] {
			t.Errorf("%s: %g to %g, %v, want %g", key, lo, hi, ok, want)
		}
	}
	for _, key := range []string{"reference.scale", "control", "control.kpp", "nothing.at.all", ""} {
		if _, _, ok := Bounds(key); ok && key != "control" {
			t.Errorf("%s has bounds", key)
		}
	}
}

// What hil check says of a file with a number it says of a rig that runs with it, and what it says of the file already it does not say
// again.
func TestReview(t *testing.T) {
	cfg := Demo()
	before := Demo()
	law := axis.SetOf(cfg.Axes[0].Friction.Model)
	with := func(edit func(s *axis.Set)) map[string]*axis.Set {
		s := axis.SetOf(cfg.Axes[0].Friction.Model)
		edit(s)
		return map[string]*axis.Set{"shaft": s}
	}
	for _, c := range []struct {
		name         string
		run          Running
		refuse, warn string // "": nothing
	}{
		{"as it is", Running{}, "", ""},
		{"the same law", Running{Models: map[string]*axis.Set{"shaft": law}}, "", ""},
		{"kp a little higher", Running{Values: map[string]float64{"shaft.control.kp": 1.1 * cfg.Axes[0].Control.Kp}}, "", ""},
		{"kp beyond its tag", Running{Values: map[string]float64{"shaft.control.kp": 1.01e9}}, "want 0 to 1e+09", ""},
		{"kp below it", Running{Values: map[string]float64{"shaft.control.kp": -1e-9}}, "want 0 to 1e+09", ""},
		{"kp that no loop bears", Running{Values: map[string]float64{"shaft.control.kp": 1e8}}, "", "shaft.control"},
		{"no gain at all", Running{Values: map[string]float64{"shaft.control.kp": 0, "shaft.control.kd": 0}}, "nothing would follow", ""},
		{"too much compensation", Running{Values: map[string]float64{"shaft.compensation.scale": 0.96}}, "", "above 0.95"},
		{"compensation at the edge", Running{Values: map[string]float64{"shaft.compensation.scale": 0.95}}, "", ""},
		{"a reference beyond max_speed", Running{Values: map[string]float64{"shaft.reference.scale": 40}}, "max_speed trips", ""},
		{"… either way", Running{Values: map[string]float64{"shaft.reference.scale": -40}}, "max_speed trips", ""},
		{"break-away below Coulomb", Running{Models: with(func(s *axis.Set) { s.Params["Fs"] = s.Params["Fc"] / 2 })}, "less than Fc", ""},
		{"a motor beyond its tag", Running{Models: with(func(s *axis.Set) { s.Motor = map[string]float64{"J": 1e12} })}, "motor.J", ""},
	} {
		problems, warnings, err := cfg.Review(Running{}, c.run)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, said := range []struct {
			what string
			list []string
			want string
		}{{"refused", problems, c.refuse}, {"warned", warnings, c.warn}} {
			text := strings.Join(said.list, "; ")
			if (text == "") != (said.want == "") && !(said.what == "warned" && c.refuse != "") || !strings.Contains(text, said.want) {
				t.Errorf("%s: %s %q, want %q", c.name, said.what, text, said.want)
			}
		}
	}
	if !reflect.DeepEqual(cfg.Axes[0].Control, before.Axes[0].Control) || cfg.Axes[0].Motor.J != before.Axes[0].Motor.J ||
		cfg.Axes[0].Reference.Times != nil {
		t.Error("the configuration of the file was changed")
	}
	same := Running{Values: map[string]float64{"shaft.compensation.scale": 0.97}}
	if problems, warnings, err := cfg.Review(same, same); err != nil || len(problems)+len(warnings) > 0 {
		t.Errorf("what runs already: %q %q %v", problems, warnings, err)
	}
}
