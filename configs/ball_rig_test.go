package configs

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hilrig/engine/plant"
	"hilrig/engine/plant/ball"
)

// Each case changes the text of the example.
func TestCheckBallRig(t *testing.T) {
	text := string(readFile(t, "ball.yaml"))
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"  plant:\n    kind: ball\n", "  plant:\n    kind: ball\n    axes: {spin: {inertia: 1}}\n", "virtual.plant.axes: a ball has no axes"},
		{"        radius: 35 mm", "        radius: 3.5 mm", "virtual.plant.ball.body.center_of_mass: it lies 0.0109 m from the centre"},
		{"        radius: 35 mm", "        radius: 0 mm", "virtual.plant.ball.body.radius"},
		{"        orientation: [0.2588", "        orientation: [0.5", "virtual.plant.ball.start.orientation: a quaternion of length " +
			"1.088, want 1"},
		{"        orientation: [0.2588, 0.9659, 0, 0]", "        orientation: [1, 0, 0]",
			"virtual.plant.ball.start.orientation: want 4 values, got 3"},
		{"unseen: 0.5 s", "unseen: 6 s", "virtual.plant.ball.start.unseen: 6 s, want less than"},
		{"every: 6 s", "every: 9 ms", "virtual.plant.ball.start.every: 0.009 s, want at least two frames, 0.01 s"},
		{"every: 6 s\n        unseen: 0.5 s", "every: 10 ms", ""},
		{"noise: 0.1 mm\n        hidden", "noise: -1 mm\n        hidden", "virtual.plant.ball.camera.noise"},
		{"hidden: 0.02", "hidden: 2", "virtual.plant.ball.camera.hidden"},
		{"lost: 0.005", "lost: 0.005\n        markers: [[35 mm, 0, 0], [-35 mm, 0, 0]]", "virtual.plant.ball.camera.markers: 2, want 3 to 16"},
		{"lost: 0.005", "lost: 0.005\n        markers: [[35 mm, 0, 0], [-35 mm, 0, 0], [0, 35, 0]]",
			"virtual.plant.ball.camera.markers[2]: 35 m from the centre of a ball of radius 0.035 m"},
		{"lost: 0.005", "lost: 0.005\n        markers: [[35 mm, 0, 0], [-35 mm, 0, 0], [0, 35 mm, 0]]", ""},
		{"  - {name: z, unit: m}", "  - {name: z, unit: m}\n      - {name: q.v}", `"q.v" is no quantity of a tracker`},
		{"  - {name: z, unit: m}", "  - {name: z, unit: m}\n      - {name: a.z, unit: m/s²}",
			"nothing of the ball is a.z; want virtual.sensors: {tracker.a.z: {of: …}} with one of ball.x"},
		{"  - {name: z, unit: m}", "  - {name: z, unit: m}\n      - {name: v.x, unit: m/s}",
			"devices.tracker.measure[3].name: nothing of the ball is v.x"},
		{"items: [9, 8, 2, 7]", "items: [9, 8, 2, 7], stations: [{name: B, number: 1}]", `"x" is no part of the tracker`},
		{"  tracker: {clock", "  traker: {clock", "tracker"},
		{"  tracker:\n    port", "  ball:\n    port", "devices.ball: a plant of kind ball calls its own numbers ball.x"},
		{"models:\n", "axes: {path: {kind: linear, position: tracker.x, drive: {kind: none}, estimator: {position_noise: 0.1 mm, " +
			"acceleration_walk: 10 m/(s²·√s)}}}\nmodels:\n", ""},
		{"kind: ball\n    ball:\n      body: {", "kind: rival-laws\n    ball:\n      body: {", "axes: there is none"},
	} {
		if !strings.Contains(text, c.from) {
			t.Fatalf("the example has no %q", c.from)
		}
		switch _, err := LoadBytes("ball.yaml", []byte(strings.Replace(text, c.from, c.to, 1))); {
		case c.want == "" && err != nil:
			t.Errorf("%q:\n%v", c.to, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q:\n%v\nwant %q", c.to, err, c.want)
		}
	}
}

// A tracker that is given parts: the body under any name, and the markers under theirs.
func TestBallReadings(t *testing.T) {
	text := string(readFile(t, "ball.yaml"))
	i, j := strings.Index(text, "    protocol: polhemus"), strings.Index(text, "# ---- the friction")
	text = text[:i] + `    protocol: ndi
    rate: 200 Hz
    ndi: {tools: [{name: B, number: 10}, {name: m2, number: 11}]}
    measure:
      - {name: B.x, unit: m}
      - {name: B.q.w}
      - {name: B.q.x}
      - {name: B.q.y}
      - {name: B.q.z}
      - {name: B.y, unit: m}
      - {name: B.z, unit: m}
      - {name: B.error, unit: m}
      - {name: B.missing}
      - {name: B.count}
      - {name: m2.z, unit: m}
` + text[j:]
	text = strings.NewReplacer("baud: 230400", "baud: 921600", "tracker.x", "tracker.B.x", "tracker.y", "tracker.B.y", "tracker.z",
		"tracker.B.z", "tracker.q.", "tracker.B.q.").Replace(text)
	c, err := LoadBytes("ball.yaml", []byte(text+"  sensors:\n    tracker.B.y: {of: ball.y, offset: 1 mm}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, r := range c.Readings() {
		got = append(got, r.Output)
	}
	want := []int{ball.OutSeenX, ball.OutSeenQW, ball.OutSeenQX, ball.OutSeenQY, ball.OutSeenQZ, ball.OutY, ball.OutSeenZ, ball.OutSeenError,
		ball.OutSeenMissing, -1, ball.OutMarkers + 5}
	if !slices.Equal(got, want) {
		t.Errorf("outputs %v, want %v", got, want)
	}
	if r := c.Readings()[5]; r.Offset != 1e-3 {
		t.Errorf("offset %g m", r.Offset)
	}
	m, inner, err := c.Machine()
	if err != nil || inner != 1 {
		t.Fatalf("%d steps in a tick, %v", inner, err)
	}
	if names := m.Layout().Outputs; names[ball.OutMarkers+5].Name != "ball.m2.z" || names[ball.OutSeenQW].Name != "ball.seen.qw" {
		t.Errorf("outputs %v", names)
	}
}

// What is left out is the body of the source with five markers; a file that is written has the markers, and says the same when it is read.
func TestBallRigIsWritten(t *testing.T) {
	text := string(readFile(t, "ball.yaml"))
	i, j := strings.Index(text, "    ball:\n      body:\n"), strings.Index(text, "  devices:\n    tracker: {clock")
	c, err := LoadBytes("ball.yaml", []byte(text[:i]+text[j:]))
	if err != nil {
		t.Fatal(err)
	}
	if b := c.Virtual.Plant.Ball; b.Body != ball.Paper() || len(b.Camera.Markers) != 5 || b.Camera.Noise != 1e-4 {
		t.Errorf("%+v", b)
	}
	if c.Truth("none") != (plant.AxisSpec{}) || len(c.Virtual.settings()) > 0 {
		t.Error("a ball has axes or settings")
	}
	data, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := LoadBytes("again.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(c.Virtual.Plant.Ball, back.Virtual.Plant.Ball); d != "" {
		t.Error(d)
	}
}
