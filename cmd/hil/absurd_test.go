package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/check"
	"hilrig/cmd/daemon"
	"hilrig/cmd/simulate"
	"hilrig/configs"
	"hilrig/hil"
)

// absurd are the numbers that are put in place of others. The unit behind the number stays, unless the word is none that
// takes one.
var absurd = []string{"0", "-1", "1e308", "1e-308", ".nan", ".inf", "-1e300", "1e30", "1e-30", "1e15", "1e9", "1e-12"}

const (
	answerWithin = 10 * time.Second // far above a second, because the machine may be busy: a hang lasts for ever
	slowAnswer   = time.Second      // counted and named
)

// numberValue finds a number that is a value, with the unit behind it.
var numberValue = regexp.MustCompile(`([:\[{,±]\s*|-\s+)([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)( ?[^\s,}\]#]*)`)

// mutants lists changes of a file: each line dropped, each section dropped, each number replaced.
func mutants(text string) (out []func() (what, changed string)) {
	lines := strings.SplitAfter(text, "\n")
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " -")) }
	joined := func(a, b int) string { return strings.Join(slices.Concat(lines[:a], lines[b:]), "") }
	for i, l := range lines {
		if s := strings.TrimSpace(l); s == "" || s[0] == '#' {
			continue
		}
		end := i + 1
		for end < len(lines) && (indent(lines[end]) > indent(l) && strings.TrimSpace(lines[end]) != "") {
			end++
		}
		out = append(out, func() (string, string) { return fmt.Sprintf("line %d dropped", i+1), joined(i, i+1) })
		if end > i+1 {
			out = append(out, func() (string, string) { return fmt.Sprintf("lines %d to %d dropped", i+1, end), joined(i, end) })
		}
		code, _, _ := strings.Cut(l, " #")
		for _, m := range numberValue.FindAllStringSubmatchIndex(code, -1) {
			for _, x := range absurd {
				to := m[5]
				if x[0] == '.' {
					to = m[7]
				}
				out = append(out, func() (string, string) {
					return fmt.Sprintf("line %d: %s in place of %s", i+1, x, code[m[4]:m[5]]),
						strings.Join(lines[:i], "") + l[:m[4]] + x + l[to:] + strings.Join(lines[i+1:], "")
				})
			}
		}
	}
	return out
}

// Whatever is missing in an example file, and however absurd a number in it, there is an answer, and what is accepted can be
// started: a rig ticks, a simulation steps and can be interrupted.
func TestAbsurdFilesAreAnswered(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", "secret")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../configs")); err != nil {
		t.Fatal(err)
	}
	each := 15 // mutants of a file
	if soak {
		each = 1 << 30
	}
	tried, refused, slow := 0, 0, 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && e.Name() == "testdata" {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		all := mutants(string(data))
		rng := rand.New(rand.NewPCG(12, uint64(len(all))))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, mutant := range all[:min(each, len(all))] {
			what, text := mutant()
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				return err
			}
			stage, taken, ok := answer(t, path, name+": "+what)
			tried++
			if !ok {
				refused++
			}
			if taken > slowAnswer {
				slow++
				t.Logf("%s: %s: %.1f s to %s", name, what, taken.Seconds(), stage)
			}
		}
		return os.WriteFile(path, data, 0o644) // studies read it
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d mutants, %d refused, %d took more than %v", tried, refused, slow, slowAnswer)
	if refused == 0 || refused == tried {
		t.Error("the mutants are no trial")
	}
}

// answer checks a file and starts what it describes. It names the slowest stage and how long that took.
func answer(t *testing.T, path, what string) (slowest string, taken time.Duration, ok bool) {
	stage := make(chan string, 8)
	go func() {
		defer close(stage)
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: panic: %v", what, p)
			}
		}()
		stage <- "check"
		if !check.File(io.Discard, io.Discard, path) {
			return
		}
		ok = true
		stage <- "start"
		if err := start(path); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%s: an error without words", what)
		}
	}()
	now, since := "", time.Now()
	for {
		select {
		case next, more := <-stage:
			if d := time.Since(since); now != "" && d > taken {
				slowest, taken = now, d
			}
			now, since = next, time.Now()
			if !more {
				return slowest, taken, ok
			}
		case <-time.After(answerWithin):
			t.Fatalf("%s: no answer to %s within %v", what, now, answerWithin)
		}
	}
}

// start begins what a file describes and interrupts it soon.
func start(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	switch configs.KindOf(path) {
	case configs.SimulateFile:
		return simulate.RunLaws(ctx, path, simulate.Options{}, &out, &out)
	case configs.ContactFile:
		return simulate.RunContact(ctx, path, simulate.Options{}, &out, &out)
	case configs.ManipulatorFile:
		return simulate.RunManipulator(ctx, path, simulate.Options{}, &out, &out)
	case configs.RigFile:
		return startRigFile(path)
	}
	return nil
}

// startRigFile ticks the controller of a rig file, and its virtual rig.
func startRigFile(path string) error {
	cfg, err := configs.Load(path)
	if err != nil {
		return err
	}
	a, err := daemon.Assemble(cfg, daemon.Handover{})
	if err != nil {
		return err
	}
	role := a.NewRole()
	var r hil.Row
	schema := role.Schema()
	var b hil.Blocks
	b.Meas, b.Est, b.Model, b.Cmd = schema.Blocks(&r)
	for k := range int64(100) {
		r.Seq, r.T, r.FreshSignals = uint64(k)+1, k*a.Period, hil.Fresh{1<<len(b.Meas) - 1}
		role.Decide(&r, &b)
		role.Compute(&r, &b)
		role.Guard(&r, &b)
	}
	if !cfg.IsVirtual() {
		return nil
	}
	machine, inner, err := cfg.Machine()
	if err != nil {
		return err
	}
	x, y, u := machine.NewState(), make([]float64, len(machine.Layout().Outputs)), make([]float64, len(machine.Layout().Inputs))
	for i := range u {
		u[i] = 1
	}
	for range 5 * inner {
		machine.Step(1/cfg.DeviceRate(&cfg.Devices[0])/float64(inner), x, u, y)
	}
	return nil
}
