package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"hilrig/cmd/daemon"
	"hilrig/configs"
	"hilrig/engine/failure"
	"hilrig/hil"
)

// changedNumbers are all versions of a file in which one key is left out, or one number is another one of the same unit.
func changedNumbers(v any, path string) (out []damaged) {
	visit := func(key string, inner any, without any, with func(x any) any) {
		at := path + key
		out = append(out, damaged{at + " left out", without})
		text := fmt.Sprint(inner)
		if _, isText := inner.(string); inner != nil && (!isText || strings.ContainsAny(text[:min(1, len(text))], "0123456789-±.")) {
			unit := ""
			if i := strings.IndexByte(text, ' '); isText && i > 0 {
				unit = text[i:]
			}
			switch inner.(type) {
			case string, int64, uint64, float64:
				for _, x := range []string{"0", "-1", "1e300", "1e-300", "1e9", "1e-9", "1e6", "1e-4"} {
					out = append(out, damaged{at + " is " + x + unit, with(x + unit)})
				}
			}
		}
		for _, d := range changedNumbers(inner, at) {
			out = append(out, damaged{d.what, with(d.file)})
		}
	}
	switch v := v.(type) {
	case yaml.MapSlice:
		for i, item := range v {
			visit(fmt.Sprint(".", item.Key), item.Value, slices.Delete(slices.Clone(v), i, i+1), func(x any) any {
				c := slices.Clone(v)
				c[i].Value = x
				return c
			})
		}
	case []any:
		for i, item := range v {
			visit(fmt.Sprintf("[%d]", i), item, slices.Delete(slices.Clone(v), i, i+1), func(x any) any {
				c := slices.Clone(v)
				c[i] = x
				return c
			})
		}
	}
	return out
}

// runnable does what a run does with a file that was found good, without a port: hand it over as text, build it there, make the far ends of
// its lines, tick plant and controller.
func runnable(cfg *configs.Config) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = failure.Of(v)
		}
	}()
	text, err := cfg.Redacted().Marshal()
	if err != nil {
		return fmt.Errorf("hand over: %w", err)
	}
	given, err := configs.LoadBytes("as handed over", text)
	if err != nil {
		return err
	}
	a, err := daemon.Assemble(given, daemon.Handover{CPU: -1})
	if err != nil {
		return err
	}
	roles := []hil.Role{a.NewRole()}
	if cfg.Virtual != nil {
		rig, err := daemon.AssembleRig(cfg, daemon.Handover{Ports: make([]string, len(cfg.Devices))})
		if err != nil {
			return err
		}
		far, err := rig.NewRig(nil)
		if err != nil {
			return err
		}
		far.Close()
		roles = append(roles, rig.NewRole())
	}
	for _, role := range roles {
		s, r, b := role.Schema(), hil.Row{}, hil.Blocks{}
		b.Meas, b.Est, b.Model, b.Cmd = s.Blocks(&r)
		for k := range 30 {
			r.Seq, r.T = r.Seq+1, r.T+a.Period
			if k > 3 {
				r.FreshSignals = hil.Fresh{^uint64(0), ^uint64(0)}
			}
			role.Decide(&r, &b)
			role.Compute(&r, &b)
			role.Guard(&r, &b)
		}
	}
	return nil
}

// What hil check finds good, hil run can build and tick, with any number of the examples another one. One in 300 is tried, and all with
// HIL_SOAK=1.
func TestCheckedFilesRun(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", "x")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../configs")); err != nil {
		t.Fatal(err)
	}
	every, tried, good, n := 300, 0, 0, 0
	if os.Getenv("HIL_SOAK") != "" {
		every = 1
	}
	files, _ := filepath.Glob(dir + "/*.yaml")
	for _, path := range files {
		if configs.KindOf(path) != configs.RigFile {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := yaml.UnmarshalWithOptions(text, &v, yaml.UseOrderedMap()); err != nil {
			t.Fatal(err)
		}
		for _, d := range changedNumbers(v, "") {
			if n++; n%every != 0 {
				continue
			}
			tried++
			text, err := yaml.Marshal(d.file)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "changed.yml")
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			cfg, _, err := configs.Check(file)
			if err != nil {
				continue
			}
			if err := daemon.Buildable(cfg); err != nil {
				t.Errorf("%s: %s: hil check knows no key for this: %v", filepath.Base(path), d.what, err)
				continue
			}
			good++
			if err := runnable(cfg); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(path), d.what, err)
			}
		}
	}
	t.Logf("%d of %d versions tried, %d are good", tried, n, good)
}

// What only a run refused, or fell over, by its key.
func TestChecksOfARun(t *testing.T) {
	for _, c := range []struct {
		file, old, new, want string // "" is good, and runs
	}{
		{"motor.yaml", "        min_velocity: 1.5 rad/s", "        # min_velocity: 1.5 rad/s",
			"axes.shaft.estimator.rls.min_velocity is missing"},
		{"two-link.yaml", "inertia: 0.01 kg·m²", "inertia: 0 kg·m²", "inertia is missing: of the motor behind the gear"},
		{"motor-tracker.yaml", "by: 8 ms", "by: 0 ms", ""},
		{"motor.yaml", "    current: drive.motor.current\n", "", ""},
	} {
		text, err := os.ReadFile("../../configs/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if strings.Contains(c.old, "current:") { // without a current, none is limited, and its noise is not there
			for _, key := range []string{"current_noise: 20 mA", "max_current: 15 A", "rated_current: 5 A", "thermal_time: 20 s"} {
				changed = strings.Replace(changed, key, "#", 1)
			}
		}
		if changed == string(text) {
			t.Fatalf("%s has no %q", c.file, c.old)
		}
		cfg, err := configs.LoadBytes("changed.yaml", []byte(changed))
		if err == nil {
			err = daemon.Buildable(cfg)
		}
		if err == nil {
			err = runnable(cfg)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %q: %v, want %q", c.file, c.new, err, c.want)
		}
	}
}
