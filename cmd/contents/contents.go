// Package contents shows what a file with measurements holds, before anything is done with it: hil import.
package contents

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/hil/sink"
	"hilrig/identify/capture"
	"hilrig/identify/record"
)

// Long and Example are the help of hil import.
const (
	Long = `Shows what a file holds: format, rate, duration, markers with the frames in which they were seen, gaps and extent, markers that move as
one body, poses of bodies, analog channels with units, and what looks wrong. Read are C3D, TRC, the CSV of Vicon and of OptiTrack Motive,
and tables whose columns are named (ball.x, ball.qw). Of a recording of hil run and of other tables it shows rows and columns.

A robot in URDF or MJCF becomes a machine file with -o machine.yaml, for hil simulate: bodies, inertias, joints, friction and loops. What the
file includes is read, and what had to be assumed is said; docs/reference/machine.md.

-o writes the paths of markers and the poses of bodies as a table in SI, which reads back to the last bit. With --radius or --body a unit
that is wrong, axes that are left-handed, or a marker that is missing is an error. docs/reference/motion-capture.md has the formats.

Exit codes: 0 done; 2 wrong usage; 3 a file that cannot be used, or one that contradicts what is known; 4 the file cannot be written.`
	Example = `  hil import roll01.c3d
  hil import roll01.csv --radius "35 mm" -o roll01-si.csv
  hil import roll02.trc --body still.trc --json
  hil import robot.urdf -o machine.yaml`
)

// Options are what the user chose.
type Options struct {
	outputPath, body, radius, rate, unit string
	asJSON, force                        bool
}

// Flags are those of hil import.
func (f *Options) Flags(fl *pflag.FlagSet) {
	fl.StringVarP(&f.outputPath, "output", "o", "", "write the paths of markers and bodies to this file, ending in .csv or .csv.gz, in SI; "+
		"of a robot a machine file, ending in .yaml")
	fl.BoolVar(&f.force, "force", false, "write over an existing file")
	fl.BoolVar(&f.asJSON, "json", false, "print as JSON")
	fl.StringVar(&f.rate, "rate", "", "frames per second, such as 200 Hz, in place of what the file says")
	fl.StringVar(&f.unit, "unit", "", "unit of lengths, mm, cm, m, in or ft, in place of the one that the file names")
	fl.StringVar(&f.radius, "radius", "", "radius of the ball that the markers are on, such as 35 mm: lengths are compared with it")
	fl.StringVar(&f.body, "body", "", "a recording of the body in right-handed axes: markers, lengths and axes are compared with it")
}

// asked are the options as numbers.
type asked struct {
	readOptions capture.Options
	knownBody   capture.Known
}

// Run shows what a file holds.
func Run(path string, f Options, stdout, stderr io.Writer) error {
	if configs.KindOf(path) == configs.RobotFile {
		return f.showRobot(path, stdout)
	}
	if name := strings.ToLower(strings.TrimSuffix(f.outputPath, ".gz")); f.outputPath != "" && filepath.Ext(name) != ".csv" {
		return report.ExitWith(report.Usage, fmt.Errorf("import: -o %s: want a file that ends in .csv or .csv.gz", f.outputPath))
	}
	a, err := f.numbers()
	if err != nil {
		return report.ExitWith(report.Usage, fmt.Errorf("import: %w", err))
	}
	_, isRun := sink.FindRun(path)
	isRun = isRun || configs.KindOf(path) == configs.RunFile
	numbers := !isRun && capture.FormatOf(path) == "" && configs.KindOf(path) == configs.NumbersFile
	if isRun || numbers {
		if f != (Options{asJSON: f.asJSON}) {
			return report.ExitWith(report.Usage, fmt.Errorf("import: %s is no motion-capture recording: only --json is for it. hil export writes "+
				"a recording of hil run as CSV", path))
		}
		if isRun {
			return showRun(path, f.asJSON, stdout)
		}
		return showNumbers(path, f.asJSON, stdout)
	}
	return f.showCapture(path, a, stdout, stderr)
}

// numbers reads the options that have units, and the body to compare with.
func (f *Options) numbers() (a asked, err error) {
	for _, q := range []struct {
		flag, text, unit string
		to               *float64
	}{{"rate", f.rate, "Hz", &a.readOptions.Rate}, {"radius", f.radius, "m", &a.knownBody.Radius}} {
		if q.text == "" {
			continue
		}
		if *q.to, err = schema.ParseValue(q.text, q.unit); err == nil && !(*q.to > 0) {
			err = errors.New("want more than 0")
		}
		if err != nil {
			return a, fmt.Errorf("--%s %s: %w", q.flag, q.text, err)
		}
	}
	a.readOptions.Unit = f.unit
	if f.body != "" {
		c, err := capture.Read(f.body, capture.Options{})
		if err != nil {
			return a, fmt.Errorf("--body: %w", err)
		}
		if a.knownBody.Set = capture.SetOf(c); len(a.knownBody.Set) < 3 {
			return a, fmt.Errorf("--body %s: %d markers, want at least 3", f.body, len(a.knownBody.Set))
		}
	}
	return a, nil
}

// showCapture shows a motion-capture recording and writes it as a table.
func (f *Options) showCapture(path string, a asked, stdout, stderr io.Writer) error {
	c, err := capture.Read(path, a.readOptions)
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	d := describe(c, a.knownBody)
	if f.asJSON {
		err = report.EncodeJSON(stdout, d)
	} else {
		d.print(stdout)
	}
	if err != nil {
		return err
	}
	for _, x := range d.Findings {
		if x.Severity == record.Fatal {
			return report.ExitWith(report.Invalid, fmt.Errorf("%s cannot be used as it is: %s", path, x.Text))
		}
	}
	if f.outputPath == "" {
		return nil
	}
	if len(c.Markers)+len(c.Bodies) == 0 {
		return report.ExitWith(report.Invalid, fmt.Errorf("%s holds neither markers nor bodies: there is nothing for %s", path, f.outputPath))
	}
	if err := report.WriteWhole(f.outputPath, f.force, func(w io.Writer) error { return capture.WriteCSV(w, c) }); err != nil {
		return report.ExitWith(report.Unavailable, fmt.Errorf("import: %w", err))
	}
	said := stdout
	if f.asJSON {
		said = stderr
	}
	fmt.Fprintf(said, "%s: %d frames, %d markers, %d bodies\n", f.outputPath, len(c.Time), len(c.Markers), len(c.Bodies))
	if n := len(c.Analog) + len(c.Events); n > 0 {
		fmt.Fprintf(stderr, "warning: not in %s: %d analog channels, %d events\n", f.outputPath, len(c.Analog), len(c.Events))
	}
	return nil
}
