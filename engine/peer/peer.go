// Package peer is for tests: it finds the programs that results are compared with, and the measured records that are no part
// of the repository.
//
// A test whose peer is absent is skipped, and said so. Where CI=true every peer has to be there (.ci/run installs them), so
// that no comparison is lost without notice: there an absent peer is a failure. Measured records are not: they lie in
// ../shared/data beside the checkout, if at all.
package peer

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// python is Debian's own, the one for which apt-get installs modules.
const python = "/usr/bin/python3"

// SkipAbsent ends the test for want of a peer: skipped, or failed where CI=true.
func SkipAbsent(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI=true, and a peer is absent: "+format, args...)
	}
	t.Skipf("a peer is absent: "+format, args...)
}

// Program is the path of a program of a Debian package.
func Program(t testing.TB, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		SkipAbsent(t, "%s is not installed (apt-get install %s)", name, debian)
	}
	return path
}

var imports sync.Map // what Python was asked to import, and whether it could

// Python is Debian's Python, which can import the modules.
func Python(t testing.TB, modules ...string) string {
	t.Helper()
	for _, m := range modules {
		can, known := imports.Load(m)
		if !known {
			can = exec.Command(python, "-c", "import "+m).Run() == nil
			imports.Store(m, can)
		}
		if !can.(bool) {
			top, _, _ := strings.Cut(m, ".")
			SkipAbsent(t, "%s cannot import %s (apt-get install python3-%s)", python, m, strings.ReplaceAll(top, "_", "-"))
		}
	}
	return python
}

// Ask runs Debian's Python, which can import the module, with arguments args and the JSON of in as its input, and decodes the
// JSON that it prints into out.
func Ask(t testing.TB, module string, in, out any, args ...string) {
	t.Helper()
	cmd := exec.Command(Python(t, module), args...)
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(data)), &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatalf("%v in %.200s", err, text)
	}
}

// NodeModules installs npm packages into the user's cache once and returns their folder, for NODE_PATH.
func NodeModules(t testing.TB, packages ...string) string {
	t.Helper()
	Program(t, "node", "nodejs")
	npm := Program(t, "npm", "npm")
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "hilrig-test", strings.NewReplacer("/", "-", "@", "").Replace(strings.Join(packages, "+")))
	modules, done := filepath.Join(dir, "node_modules"), filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return modules
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(npm, append([]string{"install", "--no-save", "--no-audit", "--no-fund", "--prefix", dir}, packages...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		SkipAbsent(t, "npm cannot install %v (%v)\n%s", packages, err, out)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return modules
}

// SharedRecord is the path of a measured record, such as "emps/emps_estimation.csv.gz"; the test is skipped where it is not.
func SharedRecord(t testing.TB, file string) string {
	t.Helper()
	// the root of the checkout has go.mod; tests run in the folder of their package
	root := "."
	for range 8 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	path := filepath.Join(root, "..", "shared", "data", file)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no record %s beside the checkout: measured data is not part of the repository", filepath.Join("../shared/data", file))
	}
	return path
}
