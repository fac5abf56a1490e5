package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// Imports point one way, from the verbs down to the engine; between the folders of a line there are no arrows but the ones named. A few
// libraries live in one place.
func TestImportDirection(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "hilrig/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	below := []string{"hilrig/configs", "hilrig/hil", "hilrig/identify", "hilrig/estimator", "hilrig/engine"} // verbs may use all of it
	layers := []struct {
		prefix string
		may    []string // hilrig packages it may import, by prefix
	}{
		{"hilrig/engine/numeric", nil},
		{"hilrig/engine", []string{"hilrig/engine"}},
		{"hilrig/estimator", []string{"hilrig/engine", "hilrig/estimator"}},
		{"hilrig/identify", []string{"hilrig/engine", "hilrig/identify"}},
		{"hilrig/hil/wire", []string{"hilrig/engine", "hilrig/hil/wire"}},
		{"hilrig/hil/protocol", []string{"hilrig/engine", "hilrig/hil/wire"}},
		{"hilrig/hil/ring", nil},
		{"hilrig/hil/rt", nil},
		{"hilrig/hil", []string{"hilrig/engine", "hilrig/estimator", "hilrig/hil"}},
		{"hilrig/configs/schema", []string{"hilrig/engine/spelling"}}, // how files are read, without any physics
		{"hilrig/configs", below},
		{"hilrig/cmd/plot", nil},
		{"hilrig/cmd/table", nil},
		{"hilrig/cmd/report", []string{"hilrig/configs/schema", "hilrig/engine/failure", "hilrig/engine/spelling"}}, // knows no domain
		{"hilrig/cmd/fitreport", append(below, "hilrig/cmd/report", "hilrig/cmd/plot")},
		{"hilrig/cmd/daemon", append(below, "hilrig/cmd/report", "hilrig/cmd/table")},
		{"hilrig/cmd/recordings", append(below, "hilrig/cmd/report")},
		{"hilrig/cmd/daemontest", []string{"hilrig/cmd/daemon"}}, // starts it, for tests
		{"hilrig/cmd/simulate", append(below, "hilrig/cmd/report", "hilrig/cmd/plot")},
		{"hilrig/cmd/study", append(below, "hilrig/cmd/report", "hilrig/cmd/plot", "hilrig/cmd/table", "hilrig/cmd/simulate",
			"hilrig/cmd/identify")}, // it runs both
		{"hilrig/cmd/identify", append(below, "hilrig/cmd/report", "hilrig/cmd/plot", "hilrig/cmd/fitreport")},
		{"hilrig/cmd/apply", append(below, "hilrig/cmd/report", "hilrig/cmd/daemon", "hilrig/cmd/identify")},
		{"hilrig/cmd/decode", append(below, "hilrig/cmd/report")},
		{"hilrig/cmd/exportmodel", append(below, "hilrig/cmd/report", "hilrig/cmd/identify")},
		{"hilrig/cmd/contents", append(below, "hilrig/cmd/report")},
		{"hilrig/cmd/check", append(below, "hilrig/cmd/report", "hilrig/cmd/daemon", "hilrig/cmd/study", "hilrig/cmd/identify")},
		{"hilrig/cmd/verbs", append(below, "hilrig/cmd")},                   // words of all of them
		{"hilrig/cmd/hil", []string{"hilrig/cmd", "hilrig/engine/failure"}}, // flags and help, and the one line of a panic
		{"hilrig/cmd", nil},
		{"hilrig/contrib", nil}, // tests alone
	}
	only := map[string][]string{
		"go.bug.st/serial":                    {"hilrig/hil/device"},
		"github.com/eclipse/paho.mqtt.golang": {"hilrig/hil/sink"},
		"golang.org/x/sys/unix":               {"hilrig/hil/rt", "hilrig/hil/ring", "hilrig/hil/device"},
		"golang.org/x/sys/cpu":                {"hilrig/engine/population"},
		"github.com/mochi-mqtt":               {"hilrig/hil/sink"},
		"github.com/spf13/cobra":              {"hilrig/cmd/hil", "hilrig/cmd/verbs"},
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
			if strings.HasPrefix(p.ImportPath, "hilrig/engine") && strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") &&
				!strings.HasPrefix(imp, "gonum.org/v1/gonum") && imp != "golang.org/x/sys/cpu" {
				t.Errorf("%s imports %s: engine takes the standard library, gonum and the flags of the processor only", p.ImportPath, imp)
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
