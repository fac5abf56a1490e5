package main

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
)

// commands are all that a user can start, without those of cobra.
func commands() (list []*cobra.Command) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Name() == "help" || c.Name() == "completion" || c.Hidden {
			return
		}
		list = append(list, c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	return list
}

// Every verb has --json, and says its exit codes in its help; a flag that is misspelt is named.
func TestEveryVerb(t *testing.T) {
	for _, c := range commands() {
		path := c.CommandPath()
		if c.HasParent() && path != "hil config" && c.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", path)
		}
		if !strings.Contains(c.Long, "Exit codes: 0 ") {
			t.Errorf("%s --help has no exit codes:\n%s", path, c.Long)
		}
		if c.Flags().Lookup("json") == nil {
			continue
		}
		err := c.FlagErrorFunc()(c, c.ParseFlags([]string{"--jsno"}))
		if report.ExitCode(err) != report.Usage || !strings.Contains(err.Error(), `did you mean "--json"?`) {
			t.Errorf("%s --jsno: %v", path, err)
		}
	}
}

// The words of a time are the same for every flag.
func TestTimesOfEveryVerb(t *testing.T) {
	for _, c := range commands() {
		for _, name := range []string{"duration", "last", "time-limit", "wait", "poll", "each", "from", "to", "step"} {
			f := c.Flags().Lookup(name)
			if f == nil || c.Name() == "export-model" && name == "to" { // a format
				continue
			}
			if f.Value.Type() != "duration" {
				t.Errorf("%s --%s takes a %s, want a time", c.CommandPath(), name, f.Value.Type())
			}
			for _, text := range []string{"90", "90s", "1m30s", "1.5 min", "90000 ms"} {
				if err := f.Value.Set(text); err != nil || !strings.HasPrefix(strings.Replace(f.Value.String(), "90s", "1m30s", 1), "1m30s") {
					t.Errorf("%s --%s %s: %s, %v", c.CommandPath(), name, text, f.Value, err)
				}
			}
			if err := f.Value.Set("90 m"); err == nil || !strings.Contains(err.Error(), "is no time") {
				t.Errorf("%s --%s \"90 m\": %v", c.CommandPath(), name, err)
			}
		}
	}
}

// What verbs print with --json is one value of JSON.
func TestJSONOfVerbs(t *testing.T) {
	t.Parallel()
	run, dir := exportRun(t), t.TempDir()
	good := demoFile(t, virtualPort)
	bad := demoFile(t, virtualPort, "rate: 1 kHz", "rate: 1 MHz")
	problem := filepath.Join(dir, "lcp.json")
	if err := os.WriteFile(problem, []byte(`{"M": [[2, 1], [1, 2]], "q": [-5, -6]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string // in the JSON
	}{
		{"version --json", report.OK, `"go": "go1`},
		{"ports --json", report.OK, ""},
		{"check " + good + " --json", report.OK, `"ok": true`},
		{"check " + good + " " + bad + " --json", report.Invalid, `"path": "loop.rate"`},
		{"config show " + good + " --json", report.OK, `"rate": 1000`},
		{"config example --json", report.OK, `"yaml": "`},
		{"config schema --json", report.OK, `"$schema"`},
		{"export " + run + " -o " + filepath.Join(dir, "a.csv") + " --json", report.OK, `"rows": 10`},
		{"runs " + filepath.Dir(run) + " --json", report.OK, `"state": "recorded"`},
		{"runs verify " + run + " --json", report.OK, `"sound": true`},
		{"import " + run + " --json", report.OK, `"rate_hz": 1000`},
		{"lcp " + problem + " --json", report.OK, `"z"`},
		{"laws lugre --json", report.OK, `"sigma0"`},
	} {
		out, errs, code := execute(t, strings.Fields(c.args)...)
		if code != c.code || !json.Valid([]byte(out)) || !strings.Contains(out, c.want) {
			t.Errorf("hil %s: exit code %d, want %d with %s\n%s%s", c.args, code, c.code, c.want, shortOf(out), errs)
		}
	}
}

// A word that is misspelt is answered with the one that was meant, on every level.
func TestMisspeltWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"rnu", "run"},
		{"run --dri-run", `did you mean "--dry-run"?`},
		{"config shw", `did you mean "show"?`},
		{"run --no-rec", `did you mean "--no-record"?`}, // the beginning of a flag
		{"completion bsh", `did you mean "bash"?`},
		{"help runs prun", `did you mean "prune"?`},
		{"help nothing", `no help on "nothing"`},
		{"config schema --kind idenify", `did you mean "identify"?`},
		{"study stik-slip", `did you mean "stick-slip"?`},
		{"study colect", `did you mean "collect"?`},
		{"scenario stik-slip", `did you mean "stick-slip"?`},
		{"laws lugree", `did you mean "lugre"?`},
	} {
		if _, errs, code := execute(t, strings.Fields(c.args)...); code != report.Usage || !strings.Contains(errs, c.want) {
			t.Errorf("hil %s: exit code %d, want %d and %s:\n%s", c.args, code, report.Usage, c.want, errs)
		}
	}
	if out, _, code := execute(t, "--version"); code != report.OK || !regexp.MustCompile(`^hil \S+ \(go\S+ \w+/\w+\)\n$`).MatchString(out) {
		t.Errorf("--version: %d, %q", code, out)
	}
}

// What a shell is proposed: laws, methods, signals and runs.
func TestCompletion(t *testing.T) {
	t.Parallel()
	run := exportRun(t)
	dir := filepath.Dir(filepath.Dir(run))
	if err := os.Rename(filepath.Dir(run), filepath.Join(dir, "runs")); err != nil {
		t.Fatal(err)
	}
	name := "runs/" + filepath.Base(run)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"identify", "--law", "lug"}, []string{"lugre"}},
		{[]string{"identify", "--method", "regress,pre"}, []string{"regress,presliding"}},
		{[]string{"identify", "ru"}, []string{name, "runs"}},
		{[]string{"export", name, "--channels", "seq,drive.m"}, []string{"seq,drive.motor.angle"}},
		{[]string{"runs", "tag", "runs/"}, []string{name}},
		{[]string{"runs", "remove", name, "runs/"}, []string{name}},
		{[]string{"scenario", "stick"}, []string{"stick-slip"}},
		{[]string{"scenario", "all", "--law", "dahl,lug"}, []string{"dahl,lugre"}},
		{[]string{"study", "brush-l"}, []string{"brush-length"}},
		{[]string{"study", "stick-slip", "--format", "p"}, []string{"parquet"}},
		{[]string{"laws", "gm"}, []string{"gms"}},
		{[]string{"config", "schema", "--kind", "identify-b"}, []string{"identify-ball"}},
		{[]string{"export-model", "a.json", "--to", "ur"}, []string{"urdf"}},
		{[]string{"runs", "pru"}, []string{"prune"}},
	} {
		cmd := program(t, append([]string{"__completeNoDesc"}, c.args...)...)
		cmd.Dir = dir
		out, err := cmd.Output()
		words := strings.Split(string(out), "\n")
		for _, want := range c.want {
			if err != nil || !slices.Contains(words, want) {
				t.Errorf("%q: no %q among %q, %v", c.args, want, words, err)
			}
		}
	}
}

var manDir = flag.String("man", "", "write the manual pages into this folder: make man")

// Every command has a manual page in which man finds no fault.
func TestManualPages(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	report.StartName = "hil"
	root := newRoot()
	root.DisableAutoGenTag = true
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "HIL", Section: "1", Source: report.VersionLine(), Manual: "hil"}, dir); err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "*.1"))
	if len(pages) < 30 {
		t.Fatalf("%d pages", len(pages))
	}
	text, err := os.ReadFile(filepath.Join(dir, "hil-runs-prune.1"))
	if err != nil || !strings.Contains(string(text), "Exit codes") {
		t.Errorf("%v\n%s", err, text)
	}
	man := peer.Program(t, "groff", "groff")
	for _, page := range pages {
		if out, err := exec.Command(man, "-man", "-Tutf8", "-ww", "-z", "-k", page).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", filepath.Base(page), err, shortOf(string(out)))
		}
	}
}
