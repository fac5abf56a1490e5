package configs

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hilrig/configs/schema"
)

// A file that went through the tree gives the same run as the file itself: anchors, merge keys, quotes, lists, null.
func TestTreeKeepsTheMeaningOfFiles(t *testing.T) {
	top, _ := filepath.Glob("*.yaml")
	inner, _ := filepath.Glob("identify/*.yaml")
	seen := 0
	same := func(name string, data []byte) {
		root, err := schema.ParseTree(name, data)
		if err != nil {
			t.Fatal(err)
		}
		load := func(text []byte) (any, error) {
			if kindOf(text) == ContactFile {
				c, _, err := ContactRunBytes(name, text)
				return c, err
			}
			c, _, err := SimulateBytes(name, text)
			if err == nil {
				out, merr := schema.Marshal(c)
				return string(out), merr
			}
			return nil, err
		}
		want, err := load(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := load(root.YAML())
		if err != nil {
			t.Errorf("%s: %v in\n%s", name, err, root.YAML())
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		seen++
	}
	for _, name := range append(top, inner...) {
		if k := KindOf(name); k == SimulateFile || k == ContactFile {
			data, err := schema.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			same(name, data)
		}
	}
	if seen < 10 {
		t.Errorf("looked at %d files only", seen)
	}
	same("odd.yaml", []byte(`name: 'it''s: "odd" # no comment'
plant: {kind: imposed-velocity}
friction:
  - &law {law: lugre, sigma0: 1e5 N/m, sigma1: +3.5e2, sigma2: .4, Fc: 1, Fs: 1.5, vs: 1e-3, vd: 0}
  - {<<: *law, label: "second", Fs: 2 N}
input: {kind: levels, levels: [{value: 1, hold: 1}, {value: -2 mm/s, hold: 0.5 s}]}
description: |
  two
  lines
events:
normal: ~
duration: 1
`))
}

func TestChangesByPath(t *testing.T) {
	root, err := schema.ParseTree("", []byte("a: {b: 1, c: [x, {d: 2}]}\ne:\nf: word\n"))
	if err != nil {
		t.Fatal(err)
	}
	before := string(root.YAML())
	for _, c := range []struct{ path, want, err string }{
		{"a.b", "a:\n  b: 7\n", ""},
		{"a.c[0]", "  c:\n    - 7\n", ""},
		{"a.c[1].d", "      d: 7\n", ""},
		{"e.new.deep", "e:\n  new:\n    deep: 7\n", ""},
		{"g", "f: \"word\"\ng: 7\n", ""},
		{"a", "a: 7\n", ""},
		{"a.c.d", "", `a.c is a list of 2: say which entry, as in a.c[0].d`},
		{"a.c[2]", "", "a.c is a list of 2; the last entry is a.c[1]"},
		{"a.b.x", "", `a.b is "1" in the file, it has no keys`},
		{"f.x", "", `f is "word" in the file`},
		{"a[0]", "", "a is a section, no list"},
		{"g[0].x", "", "the file has no list g"},
		{"", "", "is no path"}, {"a..b", "", "is no path"}, {"a.c[x]", "", "is no path"}, {"a.c[0", "", "is no path"},
		{"a.c[-1]", "", "is no path"}, {"a.c[0]d", "", "is no path"},
	} {
		got, err := root.WithValue(c.path, schema.Bare("7"))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.path, err, c.err)
			}
		case err != nil:
			t.Errorf("%q: %v", c.path, err)
		case !strings.Contains(string(got.YAML()), c.want):
			t.Errorf("%q: %q not in\n%s", c.path, c.want, got.YAML())
		}
	}
	if string(root.YAML()) != before {
		t.Error("a change reached the tree it was laid over")
	}
}

// Numbers come out of a range in the unit that means the same behind the key, to the last digit.
func TestFactorsKeepTheirUnits(t *testing.T) {
	for _, c := range []struct {
		text, unit string
		value      float64
	}{
		{"10 mm", "m", 0.01}, {"0.3 mN·m", "N·m", 0.0003}, {"5", "", 5}, {"12 %", "%", 12}, {"40 degC", "degC", 40},
		{"60 rpm", "rad/s", 6.283185307179587}, {"1.5 kHz", "Hz", 1500}, {"-2e-3 rad", "rad", -0.002},
	} {
		n, err := studyNumber(c.text)
		if err != nil || n.Unit != c.unit || n.Value != c.value {
			t.Errorf("%s: %+v, %v", c.text, n, err)
		}
		back, err := studyNumber(strings.TrimSpace((&StudyVary{Range: StudyRange{Unit: n.Unit}}).tree(n.Value).Text))
		if err != nil || back != n {
			t.Errorf("%s comes back as %+v (%v)", c.text, back, err)
		}
	}
}

const inlineStudy = `name: s
base:
  plant: {kind: imposed-velocity}
  friction: {law: lugre, sigma0: 1e5, sigma1: 300, sigma2: 0.4, Fc: 1, Fs: 1.5, vs: 1e-3, vd: 0.1}
  input: 0.1 m/s
  duration: 1 s
vary:
  - {path: friction.Fs, name: Fs, range: [1.1 N, 2000 mN]}
  - {path: friction.law, values: [lugre]}
  - {path: duration, values: [1, 2]}
design: {runs: 10}
`

func TestStudyMakesFiles(t *testing.T) {
	c, _, err := StudyBytes("dir/s.yaml", []byte(inlineStudy))
	if err != nil {
		t.Fatal(err)
	}
	data, err := c.Simulation([]float64{1.25, 0, 2}, -1, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := SimulateBytes("x", data)
	if err != nil {
		t.Fatal(err)
	}
	if s.Friction[0].param("Fs") != 1.25 || s.Duration != 2 {
		t.Errorf("%s", data)
	}
	if c.Vary[0].Unit() != "N" || c.Vary[0].Range.Hi != 2 || !c.Vary[1].Words() || c.Vary[1].Text(0) != "lugre" ||
		c.Vary[2].Numbers()[1] != 2 {
		t.Errorf("%+v", c.Vary)
	}
	if c.BaseName() != "dir/s.yaml" || c.Folder() != filepath.Join("runs", "s") {
		t.Errorf("%s %s", c.BaseName(), c.Folder())
	}
}

// What is wrong with a study is said by name, at the line where the study says it, all at once, before anything runs.
func TestBadStudies(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"unknown path", "path: friction.Fs", "path: friction.Fz", []string{`s.yaml:8:12: vary[0].path: unknown key "Fz"`}},
		{"unknown section", "path: duration", "path: druation", []string{`vary[2].path: unknown key "druation" (did you mean "duration"?)`}},
		{"wrong unit", "[1.1 N, 2000 mN]", "[1.1 V, 2000 mV]", []string{"s.yaml:8:5: vary[0]: friction.Fs: 1.1 V is in V (voltage), want N " +
			"(force)"}},
		{"two units", "[1.1 N, 2000 mN]", "[1.1 N, 2000 mV]", []string{"vary[0].range: the ends are in different units, N and V"}},
		{"unit and none", "[1.1 N, 2000 mN]", "[1.1, 2000 mN]", []string{"the ends are in different units, a plain number and N"}},
		{"out of range", "values: [1, 2]", "values: [1, -2]", []string{"vary[2]: duration: -2 s, want > 0"}},
		{"falls", "[1.1 N, 2000 mN]", "[3 N, 2000 mN]", []string{"vary[0].range: from 3 to 2, want it to rise"}},
		{"log from zero", "[1.1 N, 2000 mN]}", "[0 N, 1 N], scale: log}", []string{"a logarithmic range begins at 0"}},
		{"not a number", "[1.1 N, 2000 mN]", "[1.1 N, lots]", []string{`"lots" is not a number`}},
		{"three ends", "[1.1 N, 2000 mN]", "[1, 2, 3]", []string{"want 2 values, got 3"}},
		{"wrong word", "values: [lugre]", "values: [lugr]", []string{`vary[1]: `, `"lugr"`}},
		{"neither", ", range: [1.1 N, 2000 mN]", "", []string{"vary[0]: want a range or a list of values"}},
		{"both", "values: [1, 2]", "values: [1, 2], range: [1, 2]", []string{"vary[2]: want a range or a list of values"}},
		{"mixed values", "values: [1, 2]", "values: [1 s, 2]", []string{"1 s and 2 are in different units"}},
		{"twice", "path: duration", "path: friction.Fs", []string{"vary[2].path: friction.Fs is varied twice"}},
		{"no runs", "design: {runs: 10}", "design: {}", []string{"design.runs is missing"}},
		{"kind", "runs: 10", "runs: 10, kind: latin", []string{`"latin" is not one of latin-hypercube, grid, random, sobol, list`}},
		{"grid with runs", "runs: 10", "runs: 10, kind: grid", []string{"kind grid counts its own runs", "vary[0].levels: 0, a grid takes at " +
			"least 2"}},
		{"replicates without seed", "runs: 10", "runs: 10, replicates: 3", []string{"would be the same run; name the key of the seed"}},
		{"seed path", "runs: 10", "runs: 10, seed_path: sead", []string{`design.seed_path: unknown key "sead"`}},
		{"bad base", "input: 0.1 m/s", "input: 0.1 N", []string{"s.yaml:5:10: base: input: 0.1 N is in N (force), want m/s (velocity)"}},
		{"bad base by two", "  duration: 1 s", "  step: -1", []string{"base: step", "base: duration"}},
		{"set", "vary:", "set: {stp: 1}\nvary:", []string{`set.stp: unknown key "stp"`}},
		{"into a word", "path: duration", "path: duration.x", []string{`duration is "1 s" in the file, it has no keys`}},
		{"no list", "path: friction.Fs", `path: "friction[0].Fs"`, []string{"friction is a section, no list"}},
		{"no base file", "base:\n  plant", "base: not-there.yaml\nx:\n  plant", []string{"base: there is no file " +
			"not-there.yaml", `unknown key "x"`}},
		{"figure", "design:", "figures: [{name: a/b, kind: scatter}]\ndesign:", []string{`figures[0].name: "a/b"`}},
		{"list of ranges", "runs: 10", "kind: list", []string{"vary[0].range: a list takes values"}},
		{"list with runs", "runs: 10", "runs: 10, kind: list", []string{"kind list counts its own runs"}},
		{"no such files", "values: [1, 2]", "files: none-*.csv", []string{"vary[2].files: there is no file none-*.csv"}},
		{"files and values", "values: [1, 2]", "values: [1, 2], files: none-*.csv",
			[]string{"vary[2]: want a range, values or files, one of the three"}},
		{"no such records", "vary:", "records: none-*.csv\nvary:", []string{"records: there is no file none-*.csv"}},
		{"bootstrap of a simulation", "runs: 10", "runs: 10, kind: bootstrap", []string{"a bootstrap varies the recordings alone", "name them " +
			"in records"}},
		{"islands of a simulation", "runs: 10", "kind: islands, islands: 2, rounds: 3",
			[]string{"vary: islands are one evolution", "design.kind: islands are those of an evolution: want a base for hil identify"}},
		{"islands elsewhere", "runs: 10", "runs: 10, islands: 2", []string{"design.islands: of kind islands only, and design.kind is " +
			"latin-hypercube"}},
		{"several at once", "path: friction.Fs", "path: friction.Fz, scale: lin", []string{"vary[0]", `"lin" is not one of`}},
	} {
		text := strings.Replace(inlineStudy, c.old, c.new, 1)
		if text == inlineStudy {
			t.Fatalf("%s: nothing to replace", c.name)
		}
		_, _, err := StudyBytes("s.yaml", []byte(text))
		if err == nil {
			t.Errorf("%s: taken", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q is not in\n%v", c.name, w, err)
			}
		}
	}
}

// The studies that come with the program load, fit their schema, and are told from other files.
func TestBuiltInStudies(t *testing.T) {
	schema, err := schema.JSON("study", DefaultStudy())
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	names := BuiltInStudies()
	if len(names) < 1 {
		t.Fatal("there is none")
	}
	for _, n := range names {
		file := filepath.Join("study", n+".yaml")
		if KindOf(file) != StudyFile {
			t.Errorf("%s does not count as a study", file)
		}
		for _, by := range []string{n, file} { // from the program and from the folder
			if _, _, err := LoadStudy(by); err != nil {
				t.Errorf("%s: %v", by, err)
			}
		}
		if errs := validate(s, decodeAny(t, file), file); len(errs) > 0 {
			t.Error(strings.Join(errs, "\n"))
		}
	}
}

// A limit of time would make results depend on the machine.
func TestStudyRefusesTimeLimits(t *testing.T) {
	text := "version: 1\nname: s\nbase:\n  data: {file: a.csv, columns: {time: {name: t, unit: s}, position: {name: x, unit: m}, force: " +
		"{name: F, unit: N}}}\n  time_limit: 3 s\nvary: [{path: filter.cutoff, values: [10 Hz, 20 Hz]}]\ndesign: {kind: list}\n"
	if _, _, err := StudyBytes("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "must not depend on how fast the "+
		"machine is") {
		t.Errorf("%v", err)
	}
	if _, _, err := StudyBytes("s.yaml", []byte(strings.Replace(text, "  time_limit: 3 s\n", "", 1))); err != nil {
		t.Error(err)
	}
}

// An evolution on islands has its islands, its generations and its seed in the file to identify.
func TestStudyOfIslands(t *testing.T) {
	const text = "version: 1\nname: s\nbase:\n  data: {file: a.csv, columns: {time: {name: t, unit: s}, position: {name: x, unit: m}, " +
		"force: {name: F, unit: N}}}\n" +
		"  method: [aep, lm]\n  model: {law: coulomb, output: position, drive: force}\n  aep: {migrate: 7, members: 9}\n  seed: 4\ndesign: " +
		"{kind: islands, islands: 3, rounds: 5}\n"
	c, _, err := StudyBytes("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.Evolution()
	if err != nil {
		t.Fatal(err)
	}
	if a := id.AEP; a.Islands != 3 || a.Generations != 36 || a.Migrate != 7 || a.Members != 9 || id.Seed != 4 {
		t.Errorf("%+v, seed %d", a, id.Seed)
	}
	if c, _, err = StudyBytes("s.yaml", []byte(strings.Replace(text, "rounds: 5", "rounds: 5, seed: 8", 1))); err != nil {
		t.Fatal(err)
	}
	if id, err = c.Evolution(); err != nil || id.Seed != 8 {
		t.Errorf("seed %d, %v", id.Seed, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"islands: 3", "islands: 1", "design.islands: 1, want at least 2 populations"},
		{"rounds: 5", "rounds: 0", "design.rounds: 0, want at least 1"},
		{"islands: 3", "islands: 1001", "design.islands: 1001"},
		{"[aep, lm]\n  model: {law: coulomb, output: position, drive: force}\n  aep: {migrate: 7, members: 9}", "[regress]",
			"whose method has aep, once"},
		{"[aep, lm]", "[aep, lm, aep]", "whose method has aep, once"},
		{"rounds: 5", "rounds: 5, runs: 7", "kind islands counts its own runs"},
		{"rounds: 5", "rounds: 5, replicates: 2", "design.replicates: 2 runs of every setting"},
		{"migrate: 7", "migrate: 0", "aep.migrate"},
		{"migrate: 7", "migrate: 900000", "design.rounds: aep.generations: 4500001"},
	} {
		if _, _, err := StudyBytes("s.yaml", []byte(strings.Replace(text, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", c.new, err, c.want)
		}
	}
}
