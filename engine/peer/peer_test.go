package peer

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// what a test ends as.
type fake struct {
	testing.TB
	skipped, failed bool
}

func (f *fake) Helper()                           {}
func (f *fake) Skipf(format string, args ...any)  { f.skipped = true; runtime.Goexit() }
func (f *fake) Fatalf(format string, args ...any) { f.failed = true; runtime.Goexit() }
func (f *fake) run(test func(testing.TB)) (s, bad bool) {
	done := make(chan bool)
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.skipped, f.failed
}

func TestAbsentPeers(t *testing.T) {
	for name, test := range map[string]func(testing.TB){
		"program": func(t testing.TB) { Program(t, "no-such-program-here", "nothing") },
		"module":  func(t testing.TB) { Python(t, "no_such_module_here") },
	} {
		t.Setenv("CI", "")
		if s, bad := (&fake{}).run(test); !s || bad {
			t.Errorf("%s: skipped %v, failed %v; want a skip", name, s, bad)
		}
		t.Setenv("CI", "true")
		if s, bad := (&fake{}).run(test); s || !bad {
			t.Errorf("%s, CI=true: skipped %v, failed %v; want a failure", name, s, bad)
		}
	}
	if s, bad := (&fake{}).run(func(t testing.TB) { SharedRecord(t, "no/such/record.csv") }); !s || bad {
		t.Errorf("record, CI=true: skipped %v, failed %v; want a skip", s, bad)
	}
}

// A record is found from any depth of folders below the checkout.
func TestSharedFromAnyDepth(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"shared/data/rig", "checkout/a/b/c"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"shared/data/rig/run.csv", "checkout/go.mod"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"checkout", "checkout/a", "checkout/a/b/c"} {
		t.Chdir(filepath.Join(dir, d))
		if _, err := os.Stat(SharedRecord(t, "rig/run.csv")); err != nil {
			t.Error(d, err)
		}
	}
}

func TestAsk(t *testing.T) {
	var out []float64
	Ask(t, "json", []float64{1, 2}, &out, "-c", "import json, sys; print(json.dumps([2*x for x in json.load(sys.stdin)]))")
	if len(out) != 2 || out[1] != 4 {
		t.Error(out)
	}
}
