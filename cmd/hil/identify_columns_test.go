package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	cmdidentify "hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
)

// slide is a moved mass in closed form: two sines, and the force that they take with M = 2 kg, Fv = 5 N·s/m, Fc = 3 N and 0.4 N besides.
func slide(seed uint64) (rows [][3]float64) {
	rng := rand.New(rand.NewPCG(seed, 5))
	for k := range 6000 {
		t := float64(k) * 1e-3
		x, v, a := 0.0, 0.0, 0.0
		for _, s := range [][2]float64{{0.1, 2 * math.Pi * 0.7}, {0.02, 2 * math.Pi * 2.9}} {
			x += s[0] * math.Sin(s[1]*t)
			v += s[0] * s[1] * math.Cos(s[1]*t)
			a -= s[0] * s[1] * s[1] * math.Sin(s[1]*t)
		}
		rows = append(rows, [3]float64{t, x, 2*a + 5*v + math.Copysign(3, v) + 0.4 + 0.01*rng.NormFloat64()})
	}
	return rows
}

// A table needs no file where its columns are named, by a flag or by themselves, and units stand in the head or behind the column.
func TestIdentifyColumns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := slide(1)
	write := func(name, head, sep string, scale [3]float64, only int) string {
		t.Helper()
		var b strings.Builder
		b.WriteString(head + "\n")
		for _, r := range rows {
			cells := []string{}
			for i := 3 - only; i < 3; i++ {
				cell := fmt.Sprintf("%.9g", r[i]*scale[i])
				if sep == ";" {
					cell = strings.ReplaceAll(cell, ".", ",")
				}
				cells = append(cells, cell)
			}
			b.WriteString(strings.Join(cells, sep) + "\n")
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	si := [3]float64{1, 1, 1}
	identified := func(args ...string) cmdidentify.Identification {
		t.Helper()
		out, errs, code := execute(t, append([]string{"identify", "--json"}, args...)...)
		var r cmdidentify.Identification
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != report.OK {
			t.Fatalf("%v: code %d, %v\n%s", args, code, err, errs)
		}
		return r
	}
	amps := write("amps.csv", "t,q,i", ",", [3]float64{1, 1, 1 / 2.5}, 3)
	for _, args := range [][]string{
		{write("units.csv", "time [s],pos [mm],f [N]", ",", [3]float64{1, 1e3, 1}, 3)},
		{write("words.csv", "time_s,position_mm,force_N", ",", [3]float64{1, 1e3, 1}, 3)},
		{write("row.csv", "t,x,force\n# ms,µm,kN", ",", [3]float64{1e3, 1e6, 1e-3}, 3)},
		{write("comma.csv", "t [s];x [mm];force [N]", ";", [3]float64{1, 1e3, 1}, 3)},
		{write("dotted.csv", "t [s],stage.position [m],stage.force [N]", ",", si, 3)},
		{amps, "--columns", "position=q:m,force=i:A:2.5 N/A"},
		{write("odd.csv", "t [s],a:x,force [N]", ",", si, 3), "--columns", "position=a:x:m"},
		{write("untimed.csv", "x [m],force [N]", ",", si, 2), "--rate", "1 kHz"},
	} {
		r := identified(args...)
		for name, want := range map[string]float64{"M": 2, "Fv": 5, "Fc": 3, "offset": 0.4} {
			p, ok := r.Param(name)
			if !ok || math.Abs(p.Value-want) > 4*(*p.RobustErr)+1e-4*want {
				t.Errorf("%v: %s %+v, want %g", args, name, p, want)
			}
		}
		if len(r.Assumed) == 0 {
			t.Errorf("%v: what was taken is not said", args)
		}
	}

	// what is said to come next repeats what was said
	if out, _, _ := execute(t, "identify", amps, "--columns", "position=q:m,force=i:A:2.5 N/A"); !strings.Contains(out,
		"--columns 'position=q:m,force=i:A:2.5 N/A' --validate OTHER.csv") {
		t.Error(out)
	}

	// a rotary axis is told by its unit
	if r := identified(amps, "--columns", "position=q:rad,force=i:A:2.5 N·m/A"); r.Parameters[0].Name != "J" {
		t.Errorf("%v", r.Parameters[0])
	}

	// the file that was assumed gives the same result to all digits, wherever it stands
	file := filepath.Join(dir, "deeper", "axis.yaml")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{amps, "--columns", "position=q:m,force=i:A:2.5 N/A"},
		{amps, "--columns", "position=q:m,force=i:A:2.5 N/A", "--law", "stribeck-tustin", "--last", "1s", "--seed", "3"},
		{filepath.Join(dir, "comma.csv"), "--asymmetric", "--span", "1,4"},
	} {
		first := identified(append(args, "--write-config", file, "--force")...)
		sameResult(t, first, identified(file))
		checkComments(t, file, args)
	}

	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{amps, "--columns", "position=angle:m,force=i:A:1N/A"}, `no column "angle" (columns here: t, q, i)`, report.Invalid},
		{[]string{write("long.csv", "t,position_of_slide,force [N]", ",", si, 3), "--columns", "position=position_of_slid:m"},
			`did you mean "position_of_slide"?`, report.Invalid},
		{[]string{amps, "--columns", "position=q:V,force=i:A:1N/A"}, "the column is in V (voltage), want m (length); if something else was " +
			"recorded, give gain: how much of it one V is; or rad on a rotary axis", report.Invalid},
		{[]string{amps, "--columns", "position=q:furlong,force=i:A:1N/A"}, "furlong", report.Invalid},
		{[]string{amps, "--columns", "position=q:rad,force=i:A:2.5 N/A"}, "the axis is rotary, since the position is in rad", report.Invalid},
		{[]string{amps, "--columns", "position=q:m"}, "i is a current: give the constant of the motor", report.Invalid},
		{[]string{filepath.Join(dir, "units.csv"), "--columns", "position=pos:m"}, `column "pos" is in mm, the configuration says m`,
			report.Invalid},
		{[]string{write("bare.csv", "t,x,force", ",", si, 3)}, "no unit of the position and the force is stated: give it behind the column, " +
			"such as --columns position=x:mm,force=force:N", report.Invalid},
		{[]string{filepath.Join(dir, "untimed.csv")}, "no time: name its column with --columns time=NAME:s, or give --rate (columns here: " +
			"x, force)", report.Invalid},
		{[]string{write("twice.csv", "t,pos [m],x [m]", ",", si, 3)}, "pos and x could each be the position; say which: --columns position=pos",
			report.Invalid},
		{[]string{write("blind.csv", "t,a,force [N]", ",", si, 3)}, "no column of the position, which method regress needs: name it with " +
			"--columns position=NAME:UNIT", report.Invalid},
		{[]string{write("bald.csv", "1,2,3", ",", si, 3)}, "the first line holds numbers", report.Invalid},
		{[]string{filepath.Join(dir, "units.csv"), "--method", "lm"}, "lm simulates a friction law: name it with --law", report.Invalid},
		{[]string{filepath.Join(dir, "units.csv"), "--method", "two-joint"}, "needs a position2", report.Invalid},
		{[]string{filepath.Join(dir, "none.csv")}, "no such file", report.Invalid},
		{[]string{amps, "--columns", "position=q:m,position=i"}, "the position is given twice", report.Usage},
		{[]string{amps, "--columns", "position=q:m,torque=i,force=i"}, "the force is given twice", report.Usage},
		{[]string{amps, "--columns", "posiition=q"}, `did you mean "position"?`, report.Usage},
		{[]string{amps, "--columns", "q"}, "want what=column[:unit[:gain]]", report.Usage},
		{[]string{amps, "--rate", "1 ms"}, "want a frequency above zero", report.Usage},
		{[]string{amps, "--axis", "rotary"}, "--axis names the axis of a recording", report.Usage},
		{[]string{amps, "--data", amps}, "is a record itself", report.Usage},
		{[]string{file, "--columns", "position=q"}, "says its columns itself", report.Usage},
		{[]string{file, "--write-config", "x.yaml"}, "is such a file", report.Usage},
		{[]string{amps, "--write-config", file}, "--force writes over it", report.Usage},
	} {
		if _, errs, code := execute(t, append([]string{"identify"}, c.args...)...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%v: code %d, want %d …%s…\n%s", c.args, code, c.code, c.want, errs)
		}
	}
	empty := filepath.Join(dir, "empty.csv")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := execute(t, "identify", empty); code != report.Invalid || !strings.Contains(errs, "empty file") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// sameResult compares two results but for where they come from.
func sameResult(t *testing.T, a, b cmdidentify.Identification) {
	t.Helper()
	if len(a.Parameters) == 0 || !reflect.DeepEqual(a.Parameters, b.Parameters) || !reflect.DeepEqual(a.Fit, b.Fit) ||
		!reflect.DeepEqual(a.Correlation, b.Correlation) || a.Data.SHA256 != b.Data.SHA256 {
		t.Errorf("the file gives %+v\nwithout it %+v", b.Parameters, a.Parameters)
	}
}

// checkComments wants a reason behind what nobody gave, and a file without warnings.
func checkComments(t *testing.T, file string, args []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// sections, and what the flags and the record say
	given := "data parameters noise columns time position force file name unit gain last span law asymmetric model terms seed"
	if slices.Contains(args, "--method") {
		given += " method"
	}
	for line := range strings.Lines(string(text)) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if !strings.Contains(line, " # ") && !strings.HasPrefix(line, "#") && !strings.Contains(" "+given+" ", " "+key+" ") {
			t.Errorf("%s: no reason for %s", file, line)
		}
	}
	if _, warnings, err := configs.CheckIdentify(file); err != nil || len(warnings) > 0 {
		t.Errorf("%v, %v\n%s", warnings, err, text)
	}
}

// The file that a recording stands for gives the same result to all digits.
func TestWriteConfigOfRecording(t *testing.T) {
	t.Parallel()
	m := &motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	run := m.record(t, truthRun{rate: 1000, clocked: true, seconds: 6})
	file := filepath.Join(t.TempDir(), "axis.yaml")
	for _, args := range [][]string{nil, {"--law", "lugre", "--last", "2s"}, {"--law", "coulomb", "--method", "regress,lm", "--span", "1,3"}} {
		var r [2]cmdidentify.Identification
		for i, args := range [][]string{append([]string{"identify", run, "--json", "--write-config", file, "--force"}, args...),
			{"identify", file, "--json"}} {
			out, errs, code := execute(t, args...)
			if err := json.Unmarshal([]byte(out), &r[i]); err != nil || code != report.OK {
				t.Fatalf("%v: code %d, %v\n%s", args, code, err, errs)
			}
		}
		sameResult(t, r[0], r[1])
		checkComments(t, file, args)
	}
	if out, errs, code := execute(t, "check", file); code != report.OK || !strings.Contains(out, "is a recording with these columns") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}

// hil check of an identification file looks at the heads of its records.
func TestCheckLooksAtRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "axis.yaml")
	check := func(record, change string) (out, errs string, code int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "r.csv"), []byte(record), 0o644); err != nil {
			t.Fatal(err)
		}
		text := "version: 1\ndata:\n  file: r.csv\n  columns:\n    time: {name: t, unit: s}\n    position: {name: x, unit: mm}\n    force: " +
			"{name: F, unit: N}\n" + change
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return execute(t, "check", file)
	}
	var long strings.Builder
	long.WriteString("t,x [mm],F\n")
	for k := range 5000 {
		fmt.Fprintf(&long, "%g,%d,1\n", float64(k)/100, k)
	}
	late := strings.Replace(long.String(), "\n30,3000,1", "\n30,oops,1", 1)
	for _, c := range []struct {
		name, record, change, want string
		code                       int
	}{
		{"long", long.String(), "", "the first 1000 rows, at 100 Hz", report.OK},
		{"what is behind the head is not looked at", late, "", "the first 1000 rows", report.OK},
		{"but where a part is chosen", late, "  span: [10, 40]\n", `3002: "oops" in column x`, report.Invalid},
		{"a second record is not cut", "t,x,F\n0,1,2\n1,2,3\n2,2,3\n", "  span: [1, 5]\nvalidate: r.csv\n", "and 3 rows, at 1 Hz", report.OK},
		{"short", "t,x,F\n0,1,2\n1,2,3\n", "", "and 2 rows, at 1 Hz", report.OK},
		{"unknown column", "t,y,F\n0,1,2\n1,2,3\n", "", `no column "x"`, report.Invalid},
		{"unit", "t,x [m],F\n0,1,2\n1,2,3\n", "", `column "x" is in m, the configuration says mm`, report.Invalid},
		{"time", "t,x,F\n0,1,2\n0,2,3\n", "", "time stands still", report.Invalid},
		{"gap", "t,x,F\n0,1,2\n1,2,3\n2,2,3\n9,2,3\n", "", "gap of 7 s", report.Invalid},
		{"number", "t,x,F\n0,1,2\n1,,3\n", "", "empty cell", report.Invalid},
		{"rows", "t,x,F\n0,1,2\n", "", "1 rows of numbers, want at least 2", report.Invalid},
	} {
		out, errs, code := check(c.record, c.change)
		if code != c.code || !strings.Contains(out+errs, c.want) || code != report.OK && strings.Contains(out, ": ok") {
			t.Errorf("%s: code %d\n%s%s", c.name, code, out, errs)
		}
	}
	os.Remove(filepath.Join(dir, "r.csv"))
	if out, errs, code := execute(t, "check", file); code != report.OK || !strings.Contains(out, "is not there") ||
		!strings.Contains(out, "once the records are there") {
		t.Errorf("missing: code %d\n%s%s", code, out, errs)
	}
}

// From a recording to a rig file that runs with what was identified: its numbers are those of the JSON to all digits.
func TestConfigApplyRecording(t *testing.T) {
	t.Parallel()
	m := &motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	run := m.record(t, truthRun{rate: 1000, clocked: true, seconds: 12})
	dir := t.TempDir()
	result, rig := filepath.Join(dir, "result.json"), filepath.Join(dir, "rig.yaml")
	for _, args := range [][]string{{"identify", run, "--law", "lugre", "--last", "3s", "-o", result}, {"config", "apply", result, "-o", rig},
		{"check", rig}} {
		if out, errs, code := execute(t, args...); code != report.OK {
			t.Fatalf("%v: code %d\n%s%s", args, code, out, errs)
		}
	}
	r, err := cmdidentify.ReadResult(result)
	if err != nil || r.Rig != "motor" || r.Axis != "shaft" {
		t.Fatalf("%v, rig %q, axis %q", err, r.Rig, r.Axis)
	}
	cfg, err := configs.Load(rig)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]float64{"J": cfg.Axes[0].Motor.J}
	for _, p := range cfg.Axes[0].Friction.Model.Params() {
		used[p.Name] = p.Value
	}
	for _, p := range r.Parameters {
		if p.State() || p.Name == "offset" { // in which the zero of the current sensor is
			continue
		}
		if x, ok := used[p.Name]; !ok || x != p.Value {
			t.Errorf("%s: the rig has %.17g, the result %.17g", p.Name, x, p.Value)
		}
	}
	if _, errs, code := execute(t, "config", "apply", result, "-o", rig); code != report.Usage ||
		!strings.Contains(errs, "--force writes over it") {
		t.Errorf("code %d, %s", code, errs)
	}
	if _, errs, code := execute(t, "config", "apply", result, "--rig", "../../configs/stage.yaml"); code != report.Invalid ||
		!strings.Contains(errs, "is of the rig motor") {
		t.Errorf("code %d, %s", code, errs)
	}
}
