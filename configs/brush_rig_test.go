package configs

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hilrig/configs/schema"
	"hilrig/hil/models"
	"hilrig/hil/wire"
)

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// brushDemo is the example with simulated brushes.
func brushDemo(t *testing.T) *Config {
	t.Helper()
	c, err := LoadBytes("brush-rig.yaml", readFile(t, "brush-rig.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each case changes one thing of the rig with brushes.
func TestCheckBrushes(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(c *Config)
		want, warn string
	}{
		{"the example", func(*Config) {}, "", ""},
		{"no share", func(c *Config) { c.Models[0].Share = 0 }, "models.brushes.share is missing", ""},
		{"more than the period", func(c *Config) { c.Models[0].Share = 1.2 }, "models.brushes.share: 1.2, want > 0 and ≤ 0.5", ""},
		{"long sub-step", func(c *Config) { c.Models[0].Step = 1e-3 }, "models.brushes.step: 0.001 s", ""},
		{"a step that does not resolve the joints", func(c *Config) { c.Models[0].Step = 60e-6 }, "", "does not resolve the brush on its face"},
		{"negative clearance", func(c *Config) { c.Models[0].Parameters.Holder.Clearance = -1e-4 },
			"models.brushes.parameters.holder.clearance: -0.0001 m, want", ""},
		{"out of the holder", func(c *Config) { c.Virtual.Plant.Brush.Parameters.Brush.Length = 4e-3 },
			"virtual.plant.brush.parameters.brush.length: 0.004 m leaves 0.002 m of the brush in the holder", ""},
		{"spring beside the brush", func(c *Config) { c.Models[0].Parameters.Spring.Arm = 0.03 },
			"models.brushes.parameters: brush: spring.pivot_x", ""},
		{"true slots", func(c *Config) { c.Models[0].Parameters.Commutator.TrueSlots = true },
			"true slots need steps that a loop has no time for", ""},
		{"another plant", func(c *Config) { c.Virtual.Plant.Kind = motorPlant }, "", "virtual.plant.brush: not used by kind motor"},
		{"no friction of the bearings", func(c *Config) { c.Virtual.Plant.Axes[0].Friction = Friction{} },
			"axes.shaft.friction: Coulomb friction of 0.019 N·m, of which the brushes of virtual.plant.brush alone have", ""},
		{"as many signals as there is room for", func(c *Config) { more(c, 58) }, "", ""},
		{"one signal too many", func(c *Config) { more(c, 59) }, "devices.drive.measure: 64, at most 63", ""},
		{"an axis that is not there", func(c *Config) { c.Models[0].Axis = "shift" },
			`models.brushes.axis: "shift" is no axis (did you mean "shaft"?)`, ""},
		{"a name of the program", func(c *Config) { c.Models[0].Name = "plant" }, "the name plant belongs to the program", ""},
		{"the name of the axis", func(c *Config) { c.Models[0].Name = "shaft" }, "models.shaft: axes.shaft has that name too", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := brushDemo(t)
			cfg.Devices[0].Baud = 3000000
			c.change(cfg)
			problems, warnings := cfg.Validate()
			text := func(list []schema.Problem) string {
				var all []string
				for _, p := range list {
					all = append(all, p.Error())
				}
				return strings.Join(all, "\n")
			}
			if p := text(problems); (c.want == "") != (p == "") || !strings.Contains(p, c.want) {
				t.Errorf("problems %q, want %q", p, c.want)
			}
			if w := text(warnings); c.warn != "" && !strings.Contains(w, c.warn) || c.warn == "" && c.want == "" && w != "" {
				t.Errorf("warnings %q, want %q", w, c.warn)
			}
		})
	}
}

// more adds measurements.
func more(c *Config, n int) {
	for range n {
		c.Devices[0].Measure = append(c.Devices[0].Measure, Measure{Field: wire.Field{Name: fmt.Sprint("n", len(c.Devices[0].Measure)),
			Type: wire.U8, Scale: 1}})
	}
}

// A file with several mistakes in its brushes hears of all of them, each at its line.
func TestBrushFileWithSeveralMistakes(t *testing.T) {
	text := string(readFile(t, "brush-rig.yaml"))
	for from, to := range map[string]string{
		"contact: auto ":    "contact: atuo ",
		"face: {seed: 2}  ": "face: {seed: 2.5, vertices: 5}  ",
		"brush: {length: 32 mm}": "brush: {lenght: 32 mm}\n        holder: {clearance: 0.1 V}\n        motor: {resistance: 2}\n " +
			"       commutator: {speed: 3000 rpm}",
		"pair: false             # tr": "pair: no thanks         # tr",
	} {
		if !strings.Contains(text, from) {
			t.Fatalf("the example has no %q", from)
		}
		text = strings.Replace(text, from, to, 1)
	}
	_, err := LoadBytes("bad.yaml", []byte(text))
	var list *schema.Errors
	if !errors.As(err, &list) || len(list.List) != 7 {
		t.Fatalf("want 7 problems:\n%v", err)
	}
	for _, want := range []string{`models.brushes.contact: "atuo"`, "models.brushes.parameters.face.seed: 2.5, want a whole number",
		`unknown key "lenght" under virtual.plant.brush.parameters.brush (did you mean "length"?)`,
		"virtual.plant.brush.parameters.holder.clearance: 0.1 V is in V (voltage), want m (length)",
		`unknown key "resistance" under virtual.plant.brush.parameters.motor`,
		`unknown key "speed" under virtual.plant.brush.parameters.commutator`, "virtual.plant.brush.pair"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("lacks %q:\n%v", want, err)
		}
	}
}

// What is written is read back, to the last digit.
func TestBrushConfigsComeBack(t *testing.T) {
	c := brushDemo(t)
	c.Models[0].Parameters.Holder.Clearance, c.Virtual.Plant.Brush.Parameters.Face.Seed = 1.23456789e-4, 77
	text, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := LoadBytes("back.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c, back, sameFriction); d != "" {
		t.Error(d)
	}
}

// What a file leaves out follows from what it says: the brushes are the model's, and the bearings have the friction that they leave.
func TestBrushDefaults(t *testing.T) {
	text := string(DemoYAML())
	text = text[:strings.Index(text, "# ---- the truth")] + "models:\n  brushes:\nvirtual: {plant: {kind: brush}}\n"
	c, err := LoadBytes("rig.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if b := c.Models[0]; b.Name != "brushes" || b.Axis != "shaft" || b.Kind != models.BrushChoice || b.Contact != models.ContactAuto ||
		b.Step != 20e-6 || b.Share != 0.3 || b.Parameters.Brush.Length != 0.032 || b.Parameters.Motor.Series {
		t.Errorf("brush %+v", c.Models)
	}
	v := &c.Virtual.Plant
	if v.Brush == nil || v.Brush.Step != 20e-6 || v.Brush.Pair || v.Brush.AveragedContact {
		t.Fatalf("virtual %+v", v)
	}
	two := 2 * v.Brush.Parameters.MeanTorque()
	bearings := &v.Axes[0].Friction
	if math.Abs(two/(2*0.011*0.2*2.49)-1) > 0.02 || math.Abs(bearings.param("Fc")-(0.015-two)) > 1e-12 ||
		math.Abs(bearings.param("Fs")-(0.021-two)) > 1e-12 || c.Axes[0].Friction.param("Fc") != 0.015 {
		t.Errorf("brushes %g N·m, bearings Fc %g, Fs %g N·m", two, bearings.param("Fc"), bearings.param("Fs"))
	}
	if p := v.Brush.Parameters.Of(*v.Axes[0].Motor); p.Motor.Resistance != 1.2 || p.Motor.Constant != 0.042 || p.Motor.Inductance != 0.6e-3 ||
		p.Motor.Inertia != 7e-5 {
		t.Errorf("motor %+v", p.Motor)
	}
	_, err = LoadBytes("rig.yaml", []byte(strings.Replace(text, "Fc: 15 mN·m", "Fc: 10 mN·m", 1)))
	if err == nil || !strings.Contains(err.Error(), "the brushes of virtual.plant.brush alone have 0.011") {
		t.Errorf("brushes with more friction than the axis: %v", err)
	}
}
