package contents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"hilrig/cmd/report"
	"hilrig/identify/capture"
)

// trcFile is a body of four markers, in mm, that slides along x for 40 frames at 100 Hz and is hidden for four of them; lengths times
// scale.
func trcFile(t *testing.T, dir, name string, scale float64, left bool) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "PathFileType\t4\t(X/Y/Z)\t%s\n", name)
	b.WriteString("DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n100\t100\t40\t4\tmm\t100\t1\t40\n")
	b.WriteString("Frame#\tTime\ta\t\t\tb\t\t\tc\t\t\td\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\tX3\tY3\tZ3\tX4\tY4\tZ4\n\n")
	side := 1.0
	if left {
		side = -1
	}
	for k := range 40 {
		fmt.Fprintf(&b, "%d\t%.3f", k+1, float64(k)/100)
		for i, p := range [][3]float64{{1, 0, 0}, {60, 0, 0}, {1, 40, 0}, {1, 0, 30}} {
			if i == 3 && k >= 10 && k < 14 {
				b.WriteString("\t\t\t")
				continue
			}
			fmt.Fprintf(&b, "\t%g\t%g\t%g", scale*(p[0]+5*float64(k)), scale*side*p[1], scale*p[2])
		}
		b.WriteByte('\n')
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// imported runs the verb.
func imported(t *testing.T, path string, args ...string) (out, errs string, err error) {
	t.Helper()
	var f Options
	fl := pflag.NewFlagSet("import", pflag.ContinueOnError)
	f.Flags(fl)
	if err := fl.Parse(args); err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	err = Run(path, f, &o, &e)
	return o.String(), e.String(), err
}

func TestImportShowsWhatIsThere(t *testing.T) {
	path := trcFile(t, t.TempDir(), "slide.trc", 1, false)
	out, _, err := imported(t, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"trc, 40 frames at 100 Hz, 0.39 s from frame 1, lengths in mm", "4 markers", "1.0 … 196.0",
		"one body: a, b, c, d", "4 markers, up to 71.28 mm apart"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out, _, err = imported(t, path, "--json")
	var d description
	if err != nil || json.Unmarshal([]byte(out), &d) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := d.Markers[3]
	if d.Rate != 100 || d.Frames != 40 || m.Name != "d" || m.FramesSeen != 36 || m.Gaps != 1 || math.Abs(m.Longest-0.04) > 1e-12 ||
		math.Abs(m.Max[2]-0.03) > 1e-12 || len(d.Groups) != 1 || math.Abs(d.Groups[0].Travel-0.195) > 1e-12 {
		t.Errorf("%+v", d)
	}
}

// What is known of the body turns a doubt into an error.
func TestImportComparesWithTheBody(t *testing.T) {
	dir := t.TempDir()
	good, metres, left := trcFile(t, dir, "good.trc", 1, false), trcFile(t, dir, "metres.trc", 0.001, false),
		trcFile(t, dir, "left.trc", 1, true)
	for _, c := range []struct {
		path string
		args []string
		want string // of the error
		code int
	}{
		{good, []string{"--radius", "40 mm", "--body", good}, "", report.OK},
		{metres, []string{"--radius", "40mm"}, "times 1000 they would be right", report.Invalid},
		{metres, []string{"--radius", "40mm", "--unit", "m"}, "", report.OK},
		{good, []string{"--radius", "40mm", "--unit", "m"}, "times 0.001 they would be right (mm)", report.Invalid},
		{left, []string{"--body", good}, "left-handed", report.Invalid},
		{good, []string{"--rate", "0"}, "--rate 0: want more than 0", report.Usage},
		{good, []string{"--rate", "5 mm"}, "--rate 5 mm", report.Usage},
		{good, []string{"--unit", "kg"}, `"kg" is no unit of length`, report.Invalid},
		{good, []string{"-o", "out.txt"}, "want a file that ends in .csv", report.Usage},
		{filepath.Join(dir, "none.trc"), nil, "no such file", report.Invalid},
	} {
		_, _, err := imported(t, c.path, c.args...)
		if report.ExitCode(err) != c.code || c.want != "" && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: exit code %d, %v; want %d, %q", filepath.Base(c.path), c.args, report.ExitCode(err), err, c.code, c.want)
		}
	}
}

// The table that is written is read back as what was read, plain and packed; a file that is there stays.
func TestImportWritesATable(t *testing.T) {
	dir := t.TempDir()
	path := trcFile(t, dir, "slide.trc", 1.0/3, false)
	want, err := capture.Read(path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.csv", "out.csv.gz"} {
		file := filepath.Join(dir, name)
		if _, _, err := imported(t, path, "-o", file); err != nil {
			t.Fatal(err)
		}
		got, err := capture.Read(file, capture.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range want.Markers {
			for k := range m.Path {
				if g := got.Markers[i]; g.Visible[k] != m.Visible[k] || m.Visible[k] && g.Path[k] != m.Path[k] || got.Time[k] != want.Time[k] {
					t.Fatalf("%s: %s in frame %d at %v, want %v", name, m.Name, k, g.Path[k], m.Path[k])
				}
			}
		}
		if _, _, err := imported(t, path, "-o", file); report.ExitCode(err) != report.Unavailable || !strings.Contains(err.Error(), "--force") {
			t.Errorf("%v", err)
		}
		if _, _, err := imported(t, path, "-o", file, "--force"); err != nil {
			t.Error(err)
		}
	}
}

// Other tables show their columns; options of motion capture are not for them.
func TestImportOfATable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "axis.csv")
	if err := os.WriteFile(path, []byte("time [s],force [N]\n0,1\n0.1,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, _, err := imported(t, path)
	if err != nil || !strings.Contains(out, "2 columns\n  time   s\n  force  N\n") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, _, err := imported(t, path, "--radius", "1"); report.ExitCode(err) != report.Usage {
		t.Error(err)
	}
	text := filepath.Join(t.TempDir(), "letter.txt")
	if err := os.WriteFile(text, []byte("Dear Sir\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := imported(t, text); report.ExitCode(err) != report.Invalid ||
		!strings.Contains(err.Error(), "no motion-capture recording") {
		t.Error(err)
	}
}
