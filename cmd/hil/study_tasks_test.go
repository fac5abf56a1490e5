package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/report"
	engine "hilrig/engine/study"
)

// collected are the results of a study that was planned, done and collected: by do.
func collected(t *testing.T, file, dir string, plan []string, do func()) map[string]string {
	t.Helper()
	if out, errs, code := execute(t, append([]string{"study", "plan", file, "--out", dir}, plan...)...); code != report.OK {
		t.Fatalf("plan: exit %d\n%s%s", code, out, errs)
	}
	do()
	if out, errs, code := execute(t, "study", "collect", dir, "--plot", "--report"); code != report.OK {
		t.Fatalf("collect: exit %d\n%s%s", code, out, errs)
	}
	return folder(t, dir)
}

var studyCell = regexp.MustCompile(`<tr><th>study</th>.*`)

func sameResults(t *testing.T, name string, got, want map[string]string) {
	t.Helper()
	for file, text := range want {
		if file == "report.html" { // it says where the study is from the folder, too
			text, got[file] = studyCell.ReplaceAllString(text, ""), studyCell.ReplaceAllString(got[file], "")
		}
		if file != "summary.json" && got[file] != text || got[file] == "" {
			t.Errorf("%s: %s differs", name, file)
		}
	}
	plain := func(text string) string { // but for where the study is from the folder
		var s map[string]any
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		delete(s, "study")
		out, _ := json.Marshal(s)
		return string(out)
	}
	if plain(got["summary.json"]) != plain(want["summary.json"]) {
		t.Errorf("%s: summary.json differs", name)
	}
}

// In one go, by tasks of any length on one or two workers, task by task under the variables of all schedulers, in any order and twice: the
// same bytes.
func TestStudyByTasks(t *testing.T) {
	t.Parallel()
	file, dir := studyFile(t, "1 s"), t.TempDir()
	whole := filepath.Join(dir, "whole")
	if _, errs, code := execute(t, "study", file, "--out", whole, "--plot", "--report"); code != report.OK {
		t.Fatal(errs)
	}
	want := folder(t, whole)
	for _, part := range []string{"<svg", `<figure id="over-speed"`, `<section id="correlations"`, "velocity_max"} {
		if !strings.Contains(want["report.html"], part) {
			t.Errorf("%s is not in report.html", part)
		}
	}
	for workers, chunk := range map[string]string{"1": "1", "2": "0"} {
		d := filepath.Join(dir, "local"+workers)
		sameResults(t, workers+" workers", collected(t, file, d, []string{"--chunk", chunk}, func() {
			if out, errs, code := execute(t, "study", "run", d, "--workers", workers); code != report.OK || !strings.Contains(out, "60 of 60 runs") {
				t.Errorf("exit %d\n%s%s", code, out, errs)
			}
		}), want)
	}
	d := filepath.Join(dir, "tasks")
	sameResults(t, "schedulers", collected(t, file, d, []string{"--chunk", "25"}, func() {
		for _, c := range []struct {
			args []string
			env  []string
			code int
			want string
		}{
			{[]string{"--index", "1"}, []string{"SLURM_ARRAY_TASK_ID=0"}, report.OK, "task 1 of 3: 25 runs, 25 done now"},
			{nil, []string{"SLURM_ARRAY_TASK_ID=1", "SGE_TASK_ID=1"}, report.OK, "task 1 of 3: 25 runs, 0 done now"},
			{nil, []string{"PBS_ARRAY_INDEX=2"}, report.OK, "task 2 of 3: 10 runs, 10 done now"},
			{nil, []string{"SGE_TASK_ID=undefined", "JOB_COMPLETION_INDEX=2"}, report.OK, "0 done now"},
			{nil, []string{"SGE_TASK_ID=4"}, report.Usage, "task 3: the study has 3 tasks, 0 to 2"},
			{nil, []string{"SGE_TASK_ID=0"}, report.Usage, "SGE_TASK_ID is 0, and its tasks are counted from 1"},
			{nil, []string{"SLURM_ARRAY_TASK_ID=-1"}, report.Usage, "SLURM_ARRAY_TASK_ID is -1, and its tasks are counted from 0"},
			{nil, []string{"SGE_TASK_ID=x"}, report.Usage, `SGE_TASK_ID is "x"`},
			{nil, nil, report.Usage, "SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, SGE_TASK_ID, JOB_COMPLETION_INDEX are not set"},
			{nil, []string{"SGE_TASK_ID=1"}, report.OK, "task 0 of 3: 25 runs, 25 done now"},
		} {
			p := program(t, append([]string{"study", "task", d}, c.args...)...)
			p.Env = append(p.Env, c.env...)
			out, _ := p.CombinedOutput()
			if code := p.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.want) {
				t.Errorf("%v %v: exit %d\n%s", c.env, c.args, code, out)
			}
			if c.want == "0 done now" { // not the first task yet
				out, errs, code := execute(t, "study", "collect", d)
				if code != report.Invalid || !strings.Contains(errs, "2 of 3 tasks are done: 35 of 60 runs") ||
					!strings.Contains(errs, "missing are the tasks 0.") {
					t.Errorf("collect: exit %d\n%s%s", code, out, errs)
				}
				if out, errs, code := execute(t, "study", "collect", d, "--partial"); code != report.OK ||
					!strings.Contains(out, "25 runs are not done yet") {
					t.Errorf("collect --partial: exit %d\n%s%s", code, out, errs)
				}
				if text := folder(t, d)["results.csv"]; strings.Count(text, engine.NotDone) != 25 || strings.Count(text, "\n") != 61 {
					t.Errorf("%s", text)
				}
				var st struct {
					Done, Tasks int
					Open, Begun []int
				}
				if out, errs, code := execute(t, "study", "status", d, "--json"); code != report.OK || json.Unmarshal([]byte(out), &st) != nil ||
					fmt.Sprint(st) != "{35 3 [0] []}" {
					t.Errorf("status: exit %d, %v\n%s%s", code, st, out, errs)
				}
			}
		}
	}), want)
}

// islandsFile is an evolution on islands of a mass of 2 kg on 3 N of Coulomb and 5 N·s/m of viscous friction, which moves 0.1 m·sin(5 t),
// 0.02 m·sin(13 t).
func islandsFile(t *testing.T, design string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("t,x,F\n")
	for k := range 2000 {
		at := float64(k) * 2e-3
		x := 0.1*math.Sin(5*at) + 0.02*math.Sin(13*at)
		v := 0.5*math.Cos(5*at) + 0.26*math.Cos(13*at)
		a := -2.5*math.Sin(5*at) - 3.38*math.Sin(13*at)
		fmt.Fprintf(&b, "%.17g,%.17g,%.17g\n", at, x, 2*a+5*v+math.Copysign(3, v))
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.csv": b.String(), "study.yaml": "version: 1\nname: s\nbase: fit.yaml\ndesign: {kind: islands, " + design + "}\nfigures: [{name: descent, kind: scatter, x: generation, y: best_rms}]\n", "fit.yaml": `version: 1
name: slider
axis: linear
data:
  file: a.csv
  columns: {time: {name: t, unit: s}, position: {name: x, unit: m}, force: {name: F, unit: N}}
method: [aep, lm]
model: {law: coulomb, terms: [viscous, offset], output: position, drive: force, hold: linear}
aep: {members: 10, migrate: 2}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "study.yaml")
}

// Interrupted at random times, by Ctrl-C and by SIGKILL, and started again: the same bytes.
func TestStudyInterruptedAtRandom(t *testing.T) {
	t.Parallel()
	times := 4
	if soak {
		times = 20
	}
	for name, file := range map[string]string{"parameters": studyFile(t, "20 s"), "islands": islandsFile(t, "islands: 4, rounds: 6")} {
		dir := t.TempDir()
		whole, cut := filepath.Join(dir, "whole"), filepath.Join(dir, "cut")
		began := time.Now()
		want := collected(t, file, whole, nil, func() { execute(t, "study", "run", whole, "--workers", "2") })
		length := time.Since(began)
		rng, ended := rand.New(rand.NewPCG(5, 6)), 0
		sameResults(t, name+", interrupted", collected(t, file, cut, nil, func() {
			for k := range times {
				c := program(t, "study", "run", cut, "--workers", "2")
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(rng.Float64() * 1.5 * float64(length) / float64(times)))
				_ = c.Process.Signal([]os.Signal{syscall.SIGINT, syscall.SIGKILL}[k%2])
				_ = c.Wait()
				if c.ProcessState.ExitCode() == report.OK {
					ended++
				}
			}
			if _, errs, code := execute(t, "study", "run", cut); code != report.OK {
				t.Errorf("%s: exit %d\n%s", name, code, errs)
			}
		}), want)
		t.Logf("%s, %v: %d of %d starts came to the end", name, length, ended, times)
	}
}

// Two people who start the same study at the same moment both come to its end, and their tables are those of one.
func TestStudyStartedTwice(t *testing.T) {
	t.Parallel()
	file, dir := studyFile(t, "1 s"), t.TempDir()
	alone := filepath.Join(dir, "alone")
	if _, errs, code := execute(t, "study", file, "--out", alone); code != report.OK {
		t.Fatal(errs)
	}
	for k := range 3 {
		both := filepath.Join(dir, fmt.Sprintf("both %d.x", k)) // a name that a shell would take apart
		var said [2]syncBuffer
		var started [2]*exec.Cmd
		for i := range started {
			started[i] = program(t, "study", file, "--out", both)
			started[i].Stderr = &said[i]
			if err := started[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range started {
			if err := started[i].Wait(); err != nil {
				t.Errorf("%v\n%s", err, said[i].String())
			}
		}
		sameResults(t, "started twice", folder(t, both), folder(t, alone))
	}
	// a folder that went elsewhere without its file
	copied := filepath.Join(dir, "far", "off")
	if err := os.CopyFS(copied, os.DirFS(alone)); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := execute(t, "study", "collect", copied); code != report.Invalid ||
		!strings.Contains(errs, "is not there: folder and file were planned together") {
		t.Errorf("copied elsewhere: exit %d\n%s", code, errs)
	}
}

// What has changed since planning is refused, and said. A disk that takes no more fails the task, and with room again it goes on.
func TestStudyRefusesWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	base := simulateFile(t, "stick-slip.yaml", "duration: 20 s", "duration: 1 s")
	file := studyFile(t, "1 s", "runs: 60, seed: 3", "runs: 40, seed: 3, seed_path: sensors.seed", "set: {",
		"set: {sensors: {position: {noise: 1e-6 m}}, ")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	lines[2] = "base: " + base
	good := strings.Join(lines, "\n")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(file, good)
	d := filepath.Join(dir, "d")
	if out, errs, code := execute(t, "study", "plan", file, "--out", d, "--chunk", "10"); code != report.OK ||
		!strings.Contains(out, "40 runs in 4 tasks of 10") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	manifest := filepath.Join(d, engine.ManifestName)
	planned, _ := os.ReadFile(manifest)
	simulated, _ := os.ReadFile(base)
	var m engine.Manifest
	if err := json.Unmarshal(planned, &m); err != nil {
		t.Fatal(err)
	}
	restore := func() { write(file, good); write(base, string(simulated)); write(manifest, string(planned)) }
	for _, c := range []struct {
		name   string
		change func()
		want   string // "": no refusal
	}{
		{"range", func() { write(file, strings.Replace(good, "500 N·s/m", "501 N·s/m", 1)) },
			"since it was planned, the design or a factor has changed"},
		{"runs", func() { write(file, strings.Replace(good, "runs: 40", "runs: 41", 1)) }, "it had 40 runs then and has 41 now"},
		{"simulated file", func() {
			write(base, strings.Replace(string(simulated), "duration: 1 s", "duration: 1.5 s\nscheme: implicit", 1))
		}, filepath.Base(base) + ", with set, has changed"},
		{"remark and figure", func() { write(file, "# a remark\n"+strings.Replace(good, "log_x: true, ", "", 1)) }, ""},
		{"build", func() { write(manifest, strings.Replace(string(planned), m.Program.Build, strings.Repeat("0", 64), 1)) },
			"was built anew since (00000000… then"},
		{"version", func() {
			write(manifest, strings.NewReplacer(m.Program.Build, "1", `"`+m.Program.Version+`"`, `"v0.1"`).Replace(string(planned)))
		}, "the program was v0.1 then, and is " + m.Program.Version + " now"},
		{"architecture", func() {
			write(manifest, strings.Replace(string(planned), `"arch": "`+m.Program.Arch, `"arch": "mips`, 1))
		}, "it was planned for mips, and this is " + m.Program.Arch + ": results of the two differ"},
		{"damaged", func() { write(manifest, string(planned[:len(planned)/2])) }, "manifest.json: is "},
		{"not planned", func() { os.Remove(manifest) }, "no planned study there; hil study plan FILE --out"},
	} {
		c.change()
		for _, verb := range [][]string{{"task", d, "--index", "0"}, {"run", d}} {
			out, errs, code := execute(t, append([]string{"study"}, verb...)...)
			if c.want == "" && code != report.OK || c.want != "" && (code != report.Invalid || !strings.Contains(errs, c.want)) {
				t.Errorf("%s, %s: exit %d\n%s%s", c.name, verb[0], code, out, errs)
			}
		}
		restore()
		if c.want == "" {
			os.RemoveAll(filepath.Join(d, engine.TaskFolder))
		}
	}
	// files of at most 8 KB: a task cannot be written whole
	limited := program(t, "study", "run", d)
	limited.Args = append([]string{"sh", "-c", `ulimit -f 16; exec "$0" "$@"`, limited.Path}, limited.Args[1:]...)
	limited.Path = "/bin/sh"
	out, _ := limited.CombinedOutput()
	if code := limited.ProcessState.ExitCode(); code != report.Unavailable || !strings.Contains(string(out), "file too large") ||
		!strings.Contains(string(out), "the same command goes on") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if out, errs, code := execute(t, "study", "run", d); code != report.OK || !strings.Contains(out, "40 of 40 runs") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	left, _ := filepath.Glob(filepath.Join(d, engine.TaskFolder, "*.part"))
	if len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no folder", []string{"run", filepath.Join(dir, "none")}, report.Invalid, "no planned study there"},
		{"a file", []string{"status", file}, report.Invalid, "no planned study there"},
		{"executor", []string{"run", d, "--executor", "condor"}, report.Usage, "want local or slurm"},
		{"one computation", []string{"plan", "beam-figures"}, report.Usage, "is one computation"},
		{"misnamed", []string{"plan", studyFile(t, "1 s", "velocity_max, first", "velocity_mex, first"), "--out", filepath.Join(dir, "m")},
			report.Invalid, `no run gives "velocity_mex"`},
		{"planned already", []string{"plan", file, "--out", d}, report.OK, "40 runs in 4 tasks of 10"},
		{"wrong file", []string{"plan", base}, report.Invalid, "describes a simulation"},
	} {
		out, errs, code := execute(t, append([]string{"study"}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: exit %d\n%s%s", c.name, code, out, errs)
		}
	}
}
