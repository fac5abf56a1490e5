package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/hil"
)

// Keep writes what was accepted and is in force, over the file that was loaded and no other, and not what would change the run.
func TestKeep(t *testing.T) {
	f, _, accept, rollback, inForce := acceptBench(t)
	f.d.bus.log = slog.New(slog.DiscardHandler)
	file := filepath.Join(t.TempDir(), "rig.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const old, changed = "# the rig\n", "# the rig, changed\n"
	makes := func(*configs.Config) {} // what the written file makes besides the model in force
	plantToo := false
	writer := func(result, path string, before func(*configs.Config, bool) error) (string, error) {
		if path != file {
			t.Errorf("writes %s", path)
		}
		c := configs.Demo()
		law, err := friction.Build(inForce().Law, inForce().Params)
		if err != nil {
			t.Fatal(err)
		}
		a := &c.Axes[0]
		a.Friction.Model, a.Motor.J = law, inForce().Motor["J"]
		makes(c)
		if err := before(c, plantToo); err != nil {
			return "", err
		}
		write(changed)
		return "Fc: 1 → 2", nil
	}
	want := func(what, source, says string) {
		t.Helper()
		before, _ := os.ReadFile(file)
		r := f.command(context.Background(), hil.Command{Name: "keep", Source: source})
		after, _ := os.ReadFile(file)
		if r.OK != (says == "") || !strings.Contains(r.Error, says) {
			t.Errorf("%s: %+v, want %q", what, r, says)
		}
		if !r.OK && string(before) != string(after) {
			t.Errorf("%s: the file was written", what)
		}
	}
	want("without a file", "web", "without one")
	write(old)
	f.d.file.open(file, writer)
	want("nothing found", "web", "accepted")
	f.find("0001", foundResult(1.2))
	want("not accepted", "web", "accepted")
	if r := accept("0001"); !r.OK {
		t.Fatal(r)
	}
	want("over MQTT", "mqtt", "on the page")
	makes = func(c *configs.Config) { c.Axes[0].Motor.J *= 1.001 }
	want("another inertia", "web", "the motor of shaft would not be")
	makes = func(c *configs.Config) {
		p := friction.Values(c.Axes[0].Friction.Model)
		p["Fs"] *= 1.001
		law, err := friction.Build("lugre", p)
		if err != nil {
			t.Fatal(err)
		}
		c.Axes[0].Friction.Model = law
	}
	want("another law", "web", "the friction law of shaft would not be")
	makes, plantToo = func(*configs.Config) {}, true
	want("the plant too", "web", "the plant of the virtual rig")
	plantToo = false
	write("# edited by hand\n")
	want("edited since", "web", "was changed since it was loaded")
	write(old)
	want("in force", "web", "")
	if text, _ := os.ReadFile(file); string(text) != changed {
		t.Errorf("the file is %q", text)
	}
	want("twice", "web", "") // the file is what keep left
	f.d.file.write = func(string, string, func(*configs.Config, bool) error) (string, error) {
		return "", errors.New("disk full")
	}
	want("no room", "web", "disk full")
	f.d.file.write = writer
	if r := rollback(); !r.OK {
		t.Fatal(r)
	}
	want("rolled back", "web", "accepted")
}
