package check

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"hilrig/configs"
	"hilrig/engine/failure"
)

// damages are what happens to a value of a file, besides that it is left out.
var damages = []struct {
	name string
	to   any
}{{"null", nil}, {"an empty list", []any{}}, {"an empty map", yaml.MapSlice{}}, {"empty", ""}, {"a word", "word"}, {"negative", -1},
	{"huge", 1e300}}

// damaged is a version of a file with one thing in it changed.
type damaged struct {
	what string
	file any
}

// damagedVersions are all of a value at a path, with each value in it left out, and changed in the ways of damages.
func damagedVersions(v any, path string) (out []damaged) {
	visit := func(key string, inner any, without any, with func(x any) any) {
		at := path + key
		out = append(out, damaged{at + " left out", without})
		for _, d := range damages {
			out = append(out, damaged{at + " is " + d.name, with(d.to)})
		}
		for _, d := range damagedVersions(inner, at) {
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

// checked tells what is wrong with the answer of hil check.
func checked(file string) (bad string) {
	defer func() {
		if v := recover(); v != nil {
			bad = "panic: " + failure.Of(v).Error()
		}
	}()
	var errs strings.Builder
	if !File(io.Discard, &errs, file) && strings.TrimSpace(errs.String()) == "" {
		return "refused without a word"
	}
	return ""
}

// Whatever of an example is missing or of another kind, hil check answers. Every section of rig files, whose devices, axes and limits rest
// on each other, is left out once; of all else one change in 500 is tried, and all with HIL_SOAK=1.
func TestDamagedExamplesAreAnswered(t *testing.T) {
	t.Setenv("LAB_MQTT_PASSWORD", "x")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../configs")); err != nil {
		t.Fatal(err)
	}
	every, tried, n := 500, 0, 0
	if os.Getenv("HIL_SOAK") != "" {
		every = 1
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() && e.Name() == "testdata" {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var v any
		if err := yaml.UnmarshalWithOptions(text, &v, yaml.UseOrderedMap()); err != nil {
			return err
		}
		rig := configs.KindOf(path) == configs.RigFile
		for _, d := range damagedVersions(v, "") {
			if n++; n%every != 0 && !(rig && strings.HasSuffix(d.what, "left out") && strings.Count(d.what, ".") <= 3 &&
				!strings.Contains(d.what, "[")) {
				continue
			}
			text, err := yaml.Marshal(d.file)
			if err != nil {
				return err
			}
			file := strings.TrimSuffix(path, ".yaml") + "-damaged.yml"
			if err := os.WriteFile(file, text, 0o644); err != nil {
				return err
			}
			tried++
			if bad := checked(file); bad != "" {
				t.Errorf("%s: %s: %s", filepath.Base(path), d.what, bad)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d versions tried", tried, n)
}
