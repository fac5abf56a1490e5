package contrib

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/engine/peer"
)

// debian packs the program as make deb does.
func debian(t *testing.T, binary, arch, version string) string {
	t.Helper()
	peer.Program(t, "dpkg-deb", "dpkg")
	out := filepath.Join(t.TempDir(), fmt.Sprintf("hil_%s_%s.deb", version, arch))
	c := exec.Command("deb/build", binary, arch, version, out)
	c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1795000000")
	if text, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// dpkgRoot is a system of its own for dpkg.
type dpkgRoot struct {
	t    *testing.T
	path string
}

func newDpkgRoot(t *testing.T) dpkgRoot {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"info", "updates", "triggers", "alternatives"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644)
	return dpkgRoot{t, root}
}

func (r dpkgRoot) dpkg(args ...string) {
	r.t.Helper()
	all := append([]string{"--root=" + r.path, "--force-script-chrootless", "--force-not-root", "--force-architecture",
		"--log=/dev/null"}, args...)
	if out, err := exec.Command("dpkg", all...).CombinedOutput(); err != nil {
		r.t.Fatalf("dpkg %v: %v\n%s", args, err, out)
	}
}

// files are those of the system but dpkg's own.
func (r dpkgRoot) files() (all []string) {
	filepath.WalkDir(r.path, func(path string, e os.DirEntry, _ error) error {
		name := strings.TrimPrefix(path, r.path+"/")
		if e != nil && !e.IsDir() && !strings.HasPrefix(name, "var/lib/dpkg") {
			all = append(all, name)
		}
		return nil
	})
	return all
}

// A package is installed, upgraded, removed and purged: changes of the operator's files and his recordings stay, nothing of the package
// does; the service is not enabled by itself. The same program gives the same bytes, whatever the time and the umask.
func TestPackage(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho one\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	first := debian(t, program, "amd64", "1.0")
	a, _ := os.ReadFile(first)
	os.Chtimes(program, time.Unix(1, 0), time.Unix(1, 0))
	b, _ := os.ReadFile(debian(t, program, "amd64", "1.0"))
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Error("packed twice, the bytes differ")
	}
	second := debian(t, program, "amd64", "1.1")

	root := newDpkgRoot(t)
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(root.path, name)); return err == nil }
	write := func(name, text string) {
		path := filepath.Join(root.path, name)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root.dpkg("-i", first)
	for _, name := range []string{"usr/bin/hil", "lib/systemd/system/hil.service", "etc/default/hil", "usr/share/man/man1/hil.1.gz",
		"usr/share/doc/hil/examples/grafana.json", "usr/share/doc/hil/examples/rigs/bench-usb.yaml", "usr/share/doc/hil/copyright", "etc/hil"} {
		if !exists(name) {
			t.Errorf("%s is not installed", name)
		}
	}
	if exists("etc/systemd/system/multi-user.target.wants/hil.service") {
		t.Error("the service is enabled by itself")
	}
	write("etc/default/hil", "HIL_OPTIONS=--verbose\n")
	write("etc/hil/rig.yaml", "rig: {}\n")
	write("var/lib/private/hil/runs/one/run.mcap", "rows")
	write("etc/systemd/system/multi-user.target.wants/hil.service", "")
	root.dpkg("-i", "--force-confold", second)
	if text, _ := os.ReadFile(filepath.Join(root.path, "etc/default/hil")); string(text) != "HIL_OPTIONS=--verbose\n" {
		t.Errorf("the upgrade changed the operator's file: %s", text)
	}
	root.dpkg("-r", "hil")
	if exists("usr/bin/hil") || !exists("etc/default/hil") || !exists("etc/hil/rig.yaml") {
		t.Errorf("after the removal: %v", root.files())
	}
	root.dpkg("-P", "hil")
	want := []string{"etc/hil/rig.yaml", "var/lib/private/hil/runs/one/run.mcap"} // the operator's own
	if got := root.files(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("after the purge: %v", got)
	}
}

// systemd reads the unit without a complaint, and finds it well enclosed.
func TestUnit(t *testing.T) {
	analyze := peer.Program(t, "systemd-analyze", "systemd")
	text, err := os.ReadFile("hil.service")
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "hil.service") // with a program that is there
	text = bytes.ReplaceAll(text, []byte("ExecStart=/usr/bin/hil"), []byte("ExecStart=/bin/true"))
	text = bytes.ReplaceAll(text, []byte("Documentation="), []byte("#"))
	if err := os.WriteFile(unit, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(analyze, "verify", unit).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=25", unit).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
