package configs

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"hilrig/configs/schema"
	"hilrig/engine/contact"
)

const goodBrush = `version: 1
name: worn
system: brush
brush:
  commutator: {speed: 3000 rpm, seed: 7}
  brush: {length: 12 mm}
  contact: {face: {mu: 0.3}}
engine: {step: 20 us, end_of_step: true}
duration: 1 s
discard: 0.2 s
`

const goodScene = `version: 1
name: drop
system: scene
scene:
  bodies:
    - {name: floor, shape: half-plane, fixed: true}
    - {name: ball, shape: disc, mass: 1 kg, radius: 5 cm, position: [0, 1 m]}
  pairs: [{a: ball, b: floor, mu: 0.3, eps_n: 0.8}]
engine: {kind: event-driven}
duration: 2 s
`

const goodToy = `version: 1
name: woodpecker
system: toy
toy: {kind: woodpecker}
engine: {kind: event-driven}
duration: 2 s
`

// What is left out is a default; what is written with a unit is SI.
func TestContactRunIsRead(t *testing.T) {
	c, warnings, err := ContactRunBytes("worn.yaml", []byte(goodBrush))
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	b := &c.Brush.Params
	if got := []float64{b.Brush.Length, b.Commutator.Speed, b.Commutator.Seed, b.Contact.Face.Mu, b.Contact.Holder.Mu}; got[0] != 0.012 ||
		got[1] < 314.159 || got[1] > 314.16 || got[2] != 7 || got[3] != 0.3 || got[4] != 0.15 {
		t.Errorf("length, speed, seed, mu of face and holder: %v", got)
	}
	if c.Engine.Impact != contact.Newton || c.Engine.Theta != 0.5 || !c.Engine.EndOfStep {
		t.Errorf("engine: %+v", c.Engine)
	}
	if c, _, err = ContactRunBytes("drop.yaml", []byte(goodScene)); err != nil {
		t.Fatal(err)
	}
	if ball := c.Scene.Bodies[1]; ball.Radius != 0.05 || ball.Position != [2]float64{0, 1} || c.Scene.Gravity != [2]float64{0, -9.81} ||
		c.Engine.Impact != contact.Poisson {
		t.Errorf("ball %+v, gravity %v, impact %s", ball, c.Scene.Gravity, c.Engine.Impact)
	}
}

// Writing a file out and reading it again changes nothing.
func TestContactRunSurvivesMarshal(t *testing.T) {
	for _, text := range []string{goodBrush, goodScene, goodToy} {
		c, _, err := ContactRunBytes("a.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out, err := schema.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := ContactRunBytes("b.yaml", out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		again.Description = c.Description
		if c.Scene != nil { // empty lists come back as empty, not as missing
			for i := range again.Scene.Bodies {
				again.Scene.Bodies[i].Points, again.Scene.Bodies[i].Locked = nil, nil
			}
			again.Scene.Springs = nil
		}
		if !reflect.DeepEqual(c, again) {
			t.Errorf("%s changed:\n%+v\n%+v", c.Name, c, again)
		}
	}
}

// Every problem is named with its place.
func TestContactRunBadInput(t *testing.T) {
	for name, c := range map[string]struct{ was, is, want string }{
		"unit":             {"length: 12 mm", "length: 12 N", "brush.brush.length: 12 N is in N"},
		"range":            {"mu: 0.3", "mu: -0.3", "brush.contact.face.mu: -0.3, want 0 to 2"},
		"whole number":     {"seed: 7", "seed: 7.5", "want a whole number"},
		"misspelt":         {"speed: 3000", "speeed: 3000", `did you mean "speed"`},
		"falls out":        {"length: 12 mm", "length: 5 mm", "falls out"},
		"step":             {"step: 20 us", "step: 20 V", "engine.step: 20 V is in V"},
		"no system":        {"system: brush", "", "system is missing"},
		"other section":    {"system: brush", "system: scene", "the system is scene"},
		"theta":            {"step: 20 us", "step: 20 us, theta: 0.3", "engine.theta: 0.3, want 0.5 to 1"},
		"between steps":    {"duration: 1 s", "duration: 1 s\noutputs: {every: 1.00005 ms}", "no whole number of steps"},
		"too many rows":    {"duration: 1 s", "duration: 100 s\noutputs: {every: 20 us}", "5e+06 rows in 100 s"},
		"discards all":     {"discard: 0.2 s", "discard: 1 s", "nothing would be left"},
		"needs the events": {"step: 20 us", "step: 20 us, impact: sequential", "event-driven"},
	} {
		_, _, err := ContactRunBytes("x.yaml", []byte(strings.Replace(goodBrush, c.was, c.is, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, c := range map[string]struct{ was, is, want string }{
		"unknown body": {"{a: ball, b: floor", "{a: bal, b: floor", `did you mean "ball"`},
		"twice":        {"name: floor", "name: ball", "two bodies"},
		"fixed frame":  {"name: floor", "name: ground", "ground is the fixed frame"},
		"every body":   {"name: floor", "name: all", "all is every body"},
		"no name":      {"name: floor, ", "", "scene.bodies[0].name is missing"},
		"pair twice":   {"eps_n: 0.8}]", "eps_n: 0.8}, {a: floor, b: ball}]", `scene.pairs[1]: "floor" and "ball" are given above`},
		"group":        {"radius: 5 cm", "radius: 5 cm, group: floor", `scene.bodies[1].group: "floor" means something else`},
		"group all":    {"radius: 5 cm", "radius: 5 cm, group: all", `scene.bodies[1].group: "all" means something else`},
		"of no two": {"position: [0, 1 m]}\n  pairs: [{a: ball, b: floor", "position: [0, 1 m], group: balls}\n  pairs: [{a: balls, b: " +
			"balls}, {a: ball, b: floor", `"balls" and "balls" have no two bodies that may touch`},
		"near a group": {"position: [0, 1 m]}\n  pairs: [{a: ball,", "position: [0, 1 m], group: stones}\n  pairs: [{a: stone,",
			`scene.pairs[0].a: there is no body or group "stone"; did you mean "stones"?`},
		"spring":   {"  pairs:", "  springs: [{a: all, b: ball}]\n  pairs:", `scene.springs[0].a: there is no body "all"`},
		"no mass":  {"mass: 1 kg, ", "", "mass is missing"},
		"no shape": {"shape: disc, ", "", "shape is missing"},
	} {
		_, _, err := ContactRunBytes("x.yaml", []byte(strings.Replace(goodScene, c.was, c.is, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, c := range map[string]struct{ is, want string }{
		"kind":      {"{kind: woodpeker}", `did you mean "woodpecker"`},
		"range":     {"{kind: ball, mass: 0}", "toy.mass: 0 kg, want > 0 kg: mass"},
		"parameter": {"{kind: woodpecker, colour: 3}", `unknown key "colour"`},
		"no kind":   {"{}", "known: "},
	} {
		_, _, err := ContactRunBytes("x.yaml", []byte(strings.Replace(goodToy, "{kind: woodpecker}", c.is, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Measured files are read in their own units from beside the file that names them; what they stand in place of is refused.
func TestMeasuredFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var deg, arc, face strings.Builder
	deg.WriteString("# outline\nradius_mm, angle_deg\n")
	arc.WriteString("arc_mm,radius_um\n")
	face.WriteString("x_mm,height_um\n")
	for k := range 2000 {
		a := 2 * math.Pi * float64(k) / 2000
		r := 11 + 1e-3*math.Sin(10*a)
		fmt.Fprintf(&deg, "%.9f,%.6f\n", r, a*180/math.Pi)
		fmt.Fprintf(&arc, "%.9f,%.6f\n", 11*a, 1e3*r)
	}
	for k := -330; k <= 330; k++ {
		fmt.Fprintf(&face, "%.2f,%.6f\n", 0.01*float64(k), 2*math.Cos(0.01*float64(k)))
	}
	write("deg.csv", deg.String())
	write("arc.csv", arc.String())
	write("face.csv", face.String())
	write("eps.csv", "factor,temperature_degC\n1.1,20\n0.9,100\n")
	write("damping.csv", "current_density_A_mm2,factor\n0,1\n0.2,3\n")
	write("unitless.csv", "temperature,factor\n300,1\n")
	write("wrong.csv", "temperature_mm,factor\n300,1\n")
	write("text.csv", "temperature_K,factor\n300,one\n")
	write("few.csv", "angle_rad,radius_mm\n0,11\n1,11\n")
	load := func(keys string) (*ContactRun, error) {
		text := "version: 1\nname: x\nsystem: brush\nduration: 1 s\nbrush: {" + keys + "}\n"
		c, _, err := ContactRunBytes(filepath.Join(dir, "run.yaml"), []byte(text))
		return c, err
	}
	for _, outline := range []string{"deg.csv", "arc.csv"} {
		c, err := load("commutator: {profile: " + outline + "}, face: {profile: face.csv}, material: {eps_by_temperature: eps.csv, " +
			"damping_by_current: damping.csv}")
		if err != nil {
			t.Fatal(err)
		}
		p := &c.Brush.Params
		if got, want := p.Commutator.Profile.At(0.1), 0.011+1e-6*math.Sin(1); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: radius %.9g m, want %.9g", outline, got, want)
		}
		if got, want := p.Face.Profile.At(1e-3)-p.Face.Profile.At(0), 2e-6*(math.Cos(1)-1); math.Abs(got-want) > 1e-11 {
			t.Errorf("the face falls by %g m, want %g", got, want)
		}
		eps, damping := p.Material.Factors[0][0], p.Material.Factors[2][1]
		if math.Abs(eps.X[0]-293.15) > 1e-9 || math.Abs(eps.X[1]-373.15) > 1e-9 || eps.Y[0] != 1.1 || damping.X[1] != 2e5 || damping.Y[1] != 3 {
			t.Errorf("tables %+v, %+v", eps, damping)
		}
		if n := len(Simulation{Contact: c}.Files()); n != 4 {
			t.Errorf("%d files, want 4", n)
		}
	}
	for keys, want := range map[string]string{
		"commutator: {profile: nowhere.csv}":                          "no such file",
		"commutator: {profile: few.csv}":                              "at least 8",
		"commutator: {profile: face.csv}":                             "want the columns angle or arc and radius",
		"commutator: {profile: deg.csv, roughness: 1 um}":             "brush.commutator.roughness: not used",
		"commutator: {profile: deg.csv, radius: 12 mm}":               "mean radius",
		"face: {profile: face.csv, seed: 3}":                          "brush.face.seed: not used",
		"face: {profile: face.csv}, brush: {width: 7 mm}":             "the whole width",
		"commutator: {profile: 3 mm, speed: 10}":                      "no such file",
		"commutator: {profile: {a: b}}":                               "want a word",
		"material: {eps_by_temperature: unitless.csv}":                "has no unit",
		"material: {eps_by_temperature: wrong.csv}":                   "column temperature",
		"material: {eps_by_temperature: text.csv}":                    "text.csv:2",
		"material: {eps_by_temperature: eps.csv, temperature: 400 K}": "outside the table",
		"material: {eps_by_speed: eps.csv}":                           "unknown key",
	} {
		if _, err := load(keys); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
	}
}

// Groups stand for each two of their bodies that can touch, and the last entry for two bodies counts.
func TestPairsOfGroups(t *testing.T) {
	const text = `version: 1
name: groups
system: scene
scene:
  bodies:
    - {name: floor, shape: half-plane, fixed: true}
    - {name: wall, shape: half-plane, fixed: true, angle: 1, position: [5, 0]}
    - {name: spirit, mass: 1, shape: none}
    - {name: nail, mass: 1, shape: disc, radius: 1 mm, position: [3, 5], locked: [angle, x, y]}
    - {name: a, mass: 1, shape: disc, radius: 1 cm, position: [0, 1], group: stones}
    - {name: b, mass: 1, shape: disc, radius: 1 cm, position: [1, 1], group: stones}
    - {name: c, mass: 1, shape: disc, radius: 1 cm, position: [2, 1]}
  pairs: PAIRS
duration: 1 s
`
	for _, c := range []struct{ pairs, want string }{
		{"[{a: stones, b: stones}]", "a-b:0"},
		{"[{a: stones, b: floor}]", "a-floor:0 b-floor:0"},
		{"[{a: floor, b: stones}]", "floor-a:0 floor-b:0"},
		{"[{a: c, b: all}, {a: spirit, b: nail}]", "c-floor:0 c-wall:0 c-nail:0 c-a:0 c-b:0 spirit-nail:0"},
		{"[{a: all, b: all}]", "floor-a:0 wall-a:0 nail-a:0 floor-b:0 wall-b:0 nail-b:0 a-b:0 floor-c:0 wall-c:0 nail-c:0 a-c:0 b-c:0"},
		{"[{a: stones, b: stones, mu: 0.1}, {a: a, b: b, mu: 0.2}, {a: stones, b: c, mu: 0.3}]", "a-b:0.2 a-c:0.3 b-c:0.3"},
		{"[{a: a, b: b, mu: 0.2}, {a: stones, b: stones, mu: 0.1}]", "a-b:0.1"},
	} {
		r, _, err := ContactRunBytes("groups.yaml", []byte(strings.Replace(text, "PAIRS", c.pairs, 1)))
		if err != nil {
			t.Errorf("%s: %v", c.pairs, err)
			continue
		}
		var got []string
		for _, p := range r.Scene.ContactPairs(r.Scene.Pairs) {
			got = append(got, fmt.Sprintf("%s-%s:%g", p.A, p.B, p.Mu))
		}
		if list := strings.Join(got, " "); list != c.want {
			t.Errorf("%s: %s, want %s", c.pairs, list, c.want)
		}
	}
}
