package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const ballHead = `# Files of a ball in front of cameras

` + "`hil simulate FILE`" + ` takes a file with the key ` + "`ball`" + ` and rolls the ball: [ball-rig.yaml](../../configs/identify/ball-rig.yaml). ` + "`hil identify FILE`" + ` takes one that also
has the key ` + "`data`" + ` and finds the friction from a recording: [ball.yaml](../../configs/identify/ball.yaml). What the numbers mean stands in
[rolling-friction.md](../explanation/rolling-friction.md) and [ball.md](ball.md). Numbers have units as in [config.md](config.md). This page is made from the source:
` + "`make docs`" + `.

# To simulate
`

// docs/reference/ball-files.md is made from the tags.
func TestBallDocs(t *testing.T) {
	fit := Tables(DefaultBallFit())
	both := strings.Index(fit, "\n## ball\n") // the body stands above
	after := strings.Index(fit, "\n## markers[]")
	want := ballHead + Tables(DefaultBallRun()) + "\n# To identify\n\n`ball` and `markers` are as above; `slide` is a coefficient of " +
		"sliding friction that is sure: a motion that asks for more is refused.\n" + fit[:both] + fit[after:]
	current(t, "ball-files.md", want)
}

// Bad numbers are named with their key, on both sides of their limit.
func TestBadBallFiles(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("identify", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct{ file, old, new, want string }{
		{"ball-rig.yaml", "mass: 54 g", "mass: 0 g", "ball.mass"},
		{"ball-rig.yaml", "mass: 54 g", "mass: 54 mm", "mm is"},
		{"ball-rig.yaml", "36535.4e-9, 22355.6e-9", "36535.4e-6, 22355.6e-9", "ball.inertia"},
		{"ball-rig.yaml", "[0, 0, 10.9 mm]", "[0, 0, 36 mm]", "ball.center_of_mass"},
		{"ball-rig.yaml", "rate: 200 Hz", "rate: 0 Hz", "cameras.rate"},
		{"ball-rig.yaml", "seed: 1", "hidden: 1", "cameras.hidden"},
		{"ball-rig.yaml", "duration: 4 s", "duration: 9000 s", "frames, at most"},
		{"ball-rig.yaml", "start:\n", "start:\n  sliding: [0.1, 0]\n", "start.sliding"},
		{"ball-rig.yaml", "at: [25 mm", "at: [53 mm", "markers.m1"},
		{"ball-rig.yaml", "at: [25 mm", "at: [51 mm", ""},
		{"ball.yaml", "free: [mu_roll", "free: [radius", "free"},
		{"ball.yaml", "mass: 54 g", "mass: 54 g\n  slips: true", "ball.slips"},
		{"ball.yaml", "file: ../../runs/ball.csv", "span: [1, 1]\n  file: a.csv", "data.span"},
		{"ball.yaml", "file: ../../runs/ball.csv", "unit: mm", "data.file is missing"},
		{"ball.yaml", "  - {name: m1, at: [25 mm, 5 mm, 8 mm]}\n  - {name: m2, at: [-12 mm, 24 mm, -2 mm]}\n  - {name: m3, at: [-14 mm, -22 " +
			"mm, 6 mm]}\n", "", "markers: 2, want three"},
		{"ball.yaml", "file: ../../runs/ball.csv", "body: ball\n  file: a.csv", "leave one of them out"},
		{"ball.yaml", "version: 1", "version: 2", "reads version 1"},
	} {
		text := strings.Replace(read(c.file), c.old, c.new, 1)
		if text == read(c.file) {
			t.Fatalf("%q is not in %s", c.old, c.file)
		}
		var err error
		if c.file == "ball.yaml" {
			_, _, err = BallFitBytes(c.file, []byte(text))
		} else {
			_, _, err = BallRunBytes(c.file, []byte(text))
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.new, err, c.want)
		}
	}
}
