package capture

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/identify/record"
)

// ballSet are five markers on a ball of radius 35 mm, in its own axes, not in one plane.
var ballSet = []Place{
	{"b1", r3.Vec{X: 0.035}}, {"b2", r3.Vec{Y: 0.035}}, {"b3", r3.Vec{Z: 0.035}}, {"b4", r3.Vec{X: -0.021, Y: -0.028}},
	{"b5", r3.Vec{X: 0.021, Z: -0.028}},
}

// rollingBall is that ball on its way along x, turning about two axes, seen with noise (m, standard deviation) among two markers of the
// room; every length times scale, y times sense.
func rollingBall(frames int, noise, scale, sense float64) *Capture {
	rng := rand.New(rand.NewPCG(7, 7))
	c := &Capture{File: "ball", Format: Table, Rate: 200}
	for _, p := range ballSet {
		c.Markers = append(c.Markers, Marker{Name: p.Name})
	}
	c.Markers = append(c.Markers, Marker{Name: "wall"}, Marker{Name: "hand"})
	for k := range frames {
		c.Frame, c.Time = append(c.Frame, k+1), append(c.Time, float64(k)/200)
		a := 0.01 * float64(k)
		turn := r3.NewRotation(a, r3.Vec{Y: 1})
		spin := r3.NewRotation(0.3*a, r3.Vec{X: 0.6, Z: 0.8})
		at := func(i int, p r3.Vec) {
			p = r3.Add(p, r3.Vec{X: noise * rng.NormFloat64(), Y: noise * rng.NormFloat64(), Z: noise * rng.NormFloat64()})
			p.Y *= sense
			c.Markers[i].add(r3.Scale(scale, p), true)
		}
		for i, p := range ballSet {
			at(i, r3.Add(r3.Vec{X: 0.035 * a, Z: 0.035}, turn.Rotate(spin.Rotate(p.Position))))
		}
		at(5, r3.Vec{X: 0.5, Y: 0.4})
		at(6, r3.Vec{X: 0.1 + 0.1*math.Sin(3*a), Y: 0.2, Z: 0.3})
	}
	return c
}

// The five markers of the ball are one body, neither the wall nor the hand are of it; its size is the largest chord of the five.
func TestGroupsFindTheBall(t *testing.T) {
	c := rollingBall(800, 0.1e-3, 1, 1)
	for k := 100; k < 300; k++ { // hidden for a while
		c.Markers[2].Visible[k], c.Markers[2].Path[k] = false, nowhere
	}
	groups := Groups(c)
	if len(groups) != 1 || len(groups[0].Markers) != 5 || groups[0].Markers[4] != 4 {
		t.Fatalf("%+v", groups)
	}
	chord := 0.0
	for i := range ballSet {
		for j := range i {
			chord = max(chord, r3.Norm(r3.Sub(ballSet[i].Position, ballSet[j].Position)))
		}
	}
	// 5 to 95 % of a difference of two normal deviations are 2·1.645·√2·σ = 0.465 mm
	if g := groups[0]; math.Abs(g.Size-chord) > 0.05e-3 || g.Scatter < 0.35e-3 || g.Scatter > 0.6e-3 || g.Travel < 0.2 {
		t.Errorf("%+v, chord %g", g, chord)
	}
	if f := Check(c, Known{Radius: 0.035, Set: ballSet}); len(f) != 0 {
		t.Errorf("a sound recording: %+v", f)
	}
	if f := Check(c, Known{}); len(f) != 0 {
		t.Errorf("a sound recording: %+v", f)
	}
}

// Two bodies that move by themselves, and three markers of the room that rest, are three groups.
func TestGroupsOfTwoBodies(t *testing.T) {
	one, two := rollingBall(300, 0, 1, 1), rollingBall(300, 0, 1, 1)
	for i := range 4 {
		m := Marker{Name: "second " + two.Markers[i].Name}
		for k := range two.Time {
			p := two.Markers[i].Path[299-k]
			m.add(r3.Vec{X: p.Y, Y: p.X + 0.3, Z: -p.Z}, true)
		}
		one.Markers = append(one.Markers, m)
	}
	for i := range 2 {
		m := Marker{Name: "wall"}
		for range one.Time {
			m.add(r3.Vec{X: 0.7, Y: 0.1 * float64(i), Z: 0.2}, true)
		}
		one.Markers = append(one.Markers, m)
	}
	groups := Groups(one)
	if len(groups) != 3 || len(groups[0].Markers) != 5 || len(groups[1].Markers) != 4 || groups[1].Markers[0] != 7 ||
		len(groups[2].Markers) != 3 {
		t.Fatalf("%+v", groups)
	}
	if groups[0].Travel == 0 || groups[1].Travel == 0 || groups[2].Travel != 0 {
		t.Errorf("%+v", groups)
	}
}

// A ball of 35 m, and one of 35 µm: the finding has the factor that makes it right, and is fatal where the size is known.
func TestWrongUnits(t *testing.T) {
	for _, c := range []struct{ scale, factor float64 }{{1000, 1e-3}, {1e-3, 1000}, {100, 1e-2}} {
		ball := rollingBall(400, 0.1e-3, c.scale, 1)
		for name, known := range map[string]Known{"nothing": {}, "radius": {Radius: 0.035}, "set": {Set: ballSet}} {
			var found *record.Finding
			for _, f := range Check(ball, known) {
				if f.Kind == "units" {
					found = &f
				}
			}
			if c.scale == 100 && name == "nothing" { // 6.6 m: too large, but whether mm or cm is not known
				if found == nil || found.Severity != record.Warning {
					t.Errorf("%g times too large: %+v", c.scale, found)
				}
				continue
			}
			if found == nil || found.Value != c.factor || (found.Severity == record.Fatal) != (name != "nothing") {
				t.Errorf("%g times too large, %s known: %+v", c.scale, name, found)
			}
		}
	}
	// the advice names the unit in which the numbers of the file would be right
	ball := rollingBall(400, 0, 1000, 1)
	for unit, want := range map[string]string{"m": "--unit mm", "": "--unit mm", "km": "--unit m."} {
		ball.Unit = unit
		if f := Check(ball, Known{}); len(f) != 1 || !strings.Contains(f[0].Advice, want) {
			t.Errorf("read in %q: %+v", unit, f)
		}
	}
	far := rollingBall(100, 0, 1, 1) // a marker of the room 199 or 201 m away
	for _, c := range []struct{ x, found float64 }{{199, 0}, {201, 1}} {
		for k := range far.Time {
			far.Markers[5].Path[k].X = c.x
		}
		if f := Check(far, Known{}); float64(len(f)) != c.found || len(f) > 0 && f[0].Value != 1e-3 {
			t.Errorf("%g m: %+v", c.x, f)
		}
	}
	// 2.2 radii are a ball with stems, more are not
	ball = rollingBall(400, 0, 1, 1)
	size := Groups(ball)[0].Size
	for _, c := range []struct {
		radius float64
		fatal  bool
	}{{size / 2.19, false}, {size / 2.21, true}} {
		if f := Check(ball, Known{Radius: c.radius}); (len(f) > 0) != c.fatal {
			t.Errorf("radius %g: %+v", c.radius, f)
		}
	}
	if f := Check(rollingBall(400, 0, 1.05, 1), Known{Set: ballSet}); len(f) != 1 || f[0].Kind != "scale" || math.Abs(f[0].Value-1.05) > 1e-9 {
		t.Errorf("5 %% too large: %+v", f)
	}
}

// Left-handed axes show against a known body, however it is turned; in a plane they cannot.
func TestMirroredAxes(t *testing.T) {
	left := rollingBall(200, 0.1e-3, 1, -1)
	f := Check(left, Known{Set: ballSet})
	if len(f) != 1 || f[0].Kind != "left-handed" || f[0].Severity != record.Fatal || f[0].Value != 200 {
		t.Errorf("%+v", f)
	}
	flat := []Place{{"b1", r3.Vec{X: 1}}, {"b2", r3.Vec{Y: 1}}, {"b3", r3.Vec{X: 1, Y: 1}}, {"b4", r3.Vec{}}}
	c := &Capture{Rate: 100}
	for _, p := range flat {
		c.Markers = append(c.Markers, Marker{Name: p.Name, Path: []r3.Vec{p.Position, p.Position}, Visible: []bool{true, true}})
	}
	c.Frame, c.Time = []int{1, 2}, []float64{0, 0.01}
	if f := Check(c, Known{Set: flat}); len(f) != 1 || f[0].Kind != "flat-set" {
		t.Errorf("%+v", f)
	}
}

// A marker of the body that the recording does not have, and markers that are hardly or never there.
func TestMissingMarkers(t *testing.T) {
	c := rollingBall(100, 0, 1, 1)
	for k := range 100 {
		c.Markers[1].Visible[k] = k >= 50 // half of the frames are enough
		c.Markers[2].Visible[k] = k > 50
		c.Markers[3].Visible[k] = false
	}
	kinds := ""
	for _, f := range Check(c, Known{Set: append([]Place{{"b9", r3.Vec{X: 0.01, Y: 0.02}}}, ballSet...)}) {
		kinds += f.Kind + " " + f.Channel + ", "
		if f.Kind == "missing-marker" && !strings.Contains(f.Advice, "b1") {
			t.Error(f.Advice)
		}
	}
	if kinds != "never-seen b4, rarely-seen b3 (49 of 100), missing-marker b9, " {
		t.Error(kinds)
	}
}

// What is written is read back bit for bit: paths, poses, gaps, numbers, odd times and names.
func TestWriteAndReadBack(t *testing.T) {
	c := rollingBall(50, 0.1e-3, 1, 1)
	c.Rate = 199.98000199980001
	c.Markers[1].Name, c.Markers[3].Name = `a "b", c.x`, "left force"
	rng := rand.New(rand.NewPCG(1, 2))
	full, turning := Body{Name: "b1"}, Body{Name: "omega"}
	for k := range c.Time {
		c.Frame[k], c.Time[k] = 3*k-7, c.Time[k]*math.Pi+1e5
		q := quat.Number(r3.NewRotation(10*rng.Float64(), r3.Vec{X: rng.Float64(), Y: rng.Float64() - 0.5, Z: 0.1}))
		q = quat.Scale(1/quat.Abs(q), q)
		full.Position, full.Rotation, full.Visible = append(full.Position, r3.Vec{X: rng.NormFloat64() * 1e-300, Y: 0, Z: 1.0 / 3}),
			append(full.Rotation, q), append(full.Visible, true)
		turning.Rotation, turning.Visible = append(turning.Rotation, q), append(turning.Visible, true)
	}
	full.Visible[7], full.Position[7], full.Rotation[7] = false, nowhere, noTurning
	c.Markers[0].Visible[0], c.Markers[0].Path[0] = false, nowhere
	c.Markers[4].Path[9] = r3.Vec{}
	c.Bodies = []Body{full, turning}

	var text strings.Builder
	if err := WriteCSV(&text, c); err != nil {
		t.Fatal(err)
	}
	got := decode(t, []byte(text.String()))
	if got.Rate != c.Rate || len(got.Markers) != len(c.Markers) || len(got.Bodies) != 2 || len(got.Analog) != 0 || len(got.Findings) != 0 ||
		got.Unit != "m" {
		t.Fatalf("%g Hz, %d markers, %d bodies, %v", got.Rate, len(got.Markers), len(got.Bodies), got.Findings)
	}
	bits := math.Float64bits
	for k := range c.Time {
		if got.Frame[k] != c.Frame[k] || bits(got.Time[k]) != bits(c.Time[k]) {
			t.Fatalf("frame %d at %v, want %d at %v", got.Frame[k], got.Time[k], c.Frame[k], c.Time[k])
		}
		for i, m := range c.Markers {
			g := got.Markers[i]
			if g.Name != m.Name || g.Visible[k] != m.Visible[k] || m.Visible[k] && g.Path[k] != m.Path[k] {
				t.Fatalf("%s in line %d: %v, want %v", m.Name, k, g.Path[k], m.Path[k])
			}
		}
		for i, b := range c.Bodies {
			g := got.Bodies[i]
			if g.Name != b.Name || g.Visible[k] != b.Visible[k] || (g.Position == nil) != (b.Position == nil) {
				t.Fatalf("%+v, want %+v", g, b)
			}
			if b.Visible[k] && (g.Rotation[k] != b.Rotation[k] || b.Position != nil && g.Position[k] != b.Position[k]) {
				t.Fatalf("%s in line %d: %v, want %v", b.Name, k, g.Rotation[k], b.Rotation[k])
			}
		}
	}
}
