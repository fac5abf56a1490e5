package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// Imports point one way: engine ← estimator ← hil ← configs ← cmd and engine ← identify ← configs; a few libraries live in one place.
func TestImportDirection(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "hilrig/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	layers := []struct {
		prefix string
		may    []string // hilrig packages it may import, by prefix
	}{
		{"hilrig/engine/numeric", nil},
		{"hilrig/engine", []string{"hilrig/engine"}},
		{"hilrig/estimator", []string{"hilrig/engine", "hilrig/estimator"}},
		{"hilrig/identify", []string{"hilrig/engine", "hilrig/identify"}},
		{"hilrig/configs/schema", []string{"hilrig/engine/spelling"}},                                                               // how files are read, without any physics
		{"hilrig/configs", []string{"hilrig/engine", "hilrig/estimator", "hilrig/identify", "hilrig/hil", "hilrig/configs/schema"}}, // words and sections come from their owners
		{"hilrig/hil/wire", []string{"hilrig/engine", "hilrig/hil/wire"}},
		{"hilrig/hil/ring", nil},
		{"hilrig/hil/rt", nil},
		{"hilrig/hil", []string{"hilrig/engine", "hilrig/estimator", "hilrig/hil"}},
		{"hilrig/cmd", []string{"hilrig/"}},
	}
	only := map[string][]string{
		"go.bug.st/serial":                    {"hilrig/hil/device"},
		"github.com/eclipse/paho.mqtt.golang": {"hilrig/hil/sink"},
		"golang.org/x/sys":                    {"hilrig/hil/rt", "hilrig/hil/ring", "hilrig/hil/device"},
		"github.com/mochi-mqtt":               {"hilrig/hil/sink"},
		"github.com/spf13/cobra":              {"hilrig/cmd/hil"},
		"github.com/goccy/go-yaml":            {"hilrig/configs"},
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		seen++
		var layer *struct {
			prefix string
			may    []string
		}
		for i := range layers {
			if within(p.ImportPath, layers[i].prefix) {
				layer = &layers[i]
				break
			}
		}
		if layer == nil {
			t.Errorf("%s belongs to no layer", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "hilrig/") && !anyPrefix(imp, layer.may) {
				t.Errorf("%s imports %s: against the direction", p.ImportPath, imp)
			}
			if strings.HasPrefix(p.ImportPath, "hilrig/engine") && strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") && !strings.HasPrefix(imp, "gonum.org/v1/gonum") {
				t.Errorf("%s imports %s: engine takes the standard library and gonum only", p.ImportPath, imp)
			}
			for lib, homes := range only {
				if within(imp, lib) && !anyPrefix(p.ImportPath, homes) {
					t.Errorf("%s imports %s, which belongs in %v", p.ImportPath, lib, homes)
				}
			}
		}
	}
	if seen < 10 {
		t.Fatalf("looked at %d packages only", seen)
	}
}

func within(path, prefix string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }

func anyPrefix(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if within(path, strings.TrimSuffix(p, "/")) {
			return true
		}
	}
	return false
}
