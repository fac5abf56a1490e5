//go:build linux

package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
)

// The readers of docs/howto/read-run.md read what `hil export` writes. The recording has 0, 0.5 … 4.5 rad.
func TestReadersOfARun(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/howto/read-run.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, errs, code := execute(t, "export", exportRun(t), "-o", filepath.Join(dir, "run.csv")); code != report.OK {
		t.Fatal(errs)
	}
	read := 0
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		var program []string
		switch block[1] {
		case "python":
			program = []string{peer.Python(t, "numpy")}
		case "matlab":
			program = []string{peer.Program(t, "octave-cli", "octave"), "--quiet"}
		default:
			continue
		}
		read++
		file := filepath.Join(dir, "read."+block[1])
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(block[3], "shaft.ctl.error", "drive.motor.angle")), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program[0], append(program[1:], file)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		var unit string
		var rms float64
		if _, scan := fmt.Sscan(string(out), &unit, &rms); err != nil || scan != nil || unit != "rad" || math.Abs(rms-math.Sqrt(7.125)) > 1e-9 {
			t.Errorf("%s: %v, %s", block[1], err, out)
		}
	}
	if read != 2 {
		t.Errorf("%d readers", read)
	}
}
