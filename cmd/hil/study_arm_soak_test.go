//go:build soak

package main

import (
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
)

// The program for arm64, run by qemu, refuses tasks that were planned on this machine, and this one its; the results of the two differ in
// the last digits and nowhere else.
func TestStudyOnArmSoak(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the other architecture is the one here")
	}
	qemu, dir := peer.Program(t, "qemu-aarch64-static", "qemu-user-static"), t.TempDir()
	other := filepath.Join(dir, "hil-arm64")
	build := exec.Command("go", "build", "-o", other, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	arm := func(args ...string) (string, int) {
		c := exec.Command(qemu, append([]string{other}, args...)...)
		out, _ := c.CombinedOutput()
		return string(out), c.ProcessState.ExitCode()
	}
	must := func(said string, code int) {
		t.Helper()
		if code != report.OK {
			t.Fatalf("exit %d\n%s", code, said)
		}
	}
	refused := func(said string, code int, planned, here string) {
		t.Helper()
		if code != report.Invalid || !strings.Contains(said, "it was planned for "+planned+", and this is "+here) {
			t.Errorf("exit %d\n%s", code, said)
		}
	}
	file, here, there := studyFile(t, "1 s"), filepath.Join(dir, "amd64"), filepath.Join(dir, "arm64")
	out, errs, code := execute(t, "study", file, "--out", here)
	must(out+errs, code)
	must(arm("study", "plan", file, "--out", there, "--chunk", "30"))
	out, errs, code = execute(t, "study", "task", there, "--index", "0")
	refused(out+errs, code, "arm64", "amd64")
	said, code := arm("study", "task", here, "--index", "0")
	refused(said, code, "amd64", "arm64")
	for _, k := range []string{"0", "1"} {
		must(arm("study", "task", there, "--index", k))
	}
	must(arm("study", "collect", there))

	read := func(dir string) [][]string {
		text, err := os.ReadFile(filepath.Join(dir, "results.csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	a, b := read(here), read(there)
	if len(a) != 61 || len(b) != 61 {
		t.Fatalf("%d and %d rows", len(a), len(b))
	}
	differ, worst := 0, 0.0
	for i := range a {
		for k := range a[i] {
			if a[i][k] == b[i][k] {
				continue
			}
			x, errX := strconv.ParseFloat(a[i][k], 64)
			y, errY := strconv.ParseFloat(b[i][k], 64)
			if errX != nil || errY != nil {
				t.Errorf("row %d, %s: %q and %q", i, a[0][k], a[i][k], b[i][k])
				continue
			}
			differ++
			worst = math.Max(worst, math.Abs(x-y)/math.Max(math.Abs(x), math.Abs(y)))
		}
	}
	t.Logf("%d of %d numbers differ, by %.2g of themselves at most", differ, 60*len(a[0]), worst)
	if differ == 0 || worst > 1e-8 {
		t.Errorf("%d numbers differ, by %.2g at most: want some, by less than 1e-8", differ, worst)
	}
}
