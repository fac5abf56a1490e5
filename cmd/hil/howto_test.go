//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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

// Every command of the tutorials and of README.md, in the order of the page, by a shell in a folder with the program and its configs. Blocks
// "yaml FILE" are files. A block "text WORDS" shows of the last output the first line that begins with each word, where + is a space, or with
// * all. Numbers agree to 1 %: processors round differently. -update writes what came out.
func TestTutorials(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/tutorials/*.md")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d tutorials, %v", len(pages), err)
	}
	for _, path := range append(pages, "../../README.md") {
		if filepath.Base(path) == "first-motor.md" {
			continue // TestDaemonFirstMotor
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			commands := 0
			shown := runPage(t, string(page), &commands)
			if commands == 0 {
				t.Error("no command")
			}
			if *update && shown != string(page) {
				if err := os.WriteFile(path, []byte(shown), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !sameText(shown, string(page)) {
				t.Errorf("%s does not show what its commands print: make docs\n%s", path, shown)
			}
		})
	}
}

// runPage runs the commands of a page, and returns the page with what they printed. It counts the blocks of commands.
func runPage(t *testing.T, page string, commands *int) string {
	dir := t.TempDir()
	exe, err1 := os.Executable()
	configs, err2 := filepath.Abs("../../configs")
	err := errors.Join(err1, err2, os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.Symlink(exe, filepath.Join(dir, "bin/hil")),
		os.Symlink(configs, filepath.Join(dir, "configs")))
	if err != nil {
		t.Fatal(err)
	}
	output := ""
	return fence.ReplaceAllStringFunc(page, func(block string) string {
		m := fence.FindStringSubmatch(block)
		switch m[1] {
		case "yaml":
			if err := os.WriteFile(filepath.Join(dir, m[2]), []byte(m[3]), 0o644); err != nil {
				t.Fatal(err)
			}
		case "sh":
			*commands++
			c := exec.Command("bash", "-e", "-o", "pipefail", "-c", m[3])
			c.Dir = dir
			c.Env = append(os.Environ(), "HIL_TEST_MAIN=1", "NO_COLOR=1", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", m[3], err, out)
			}
			output = string(out)
		case "text":
			var kept strings.Builder
			lines := strings.SplitAfter(strings.TrimRight(output, "\n")+"\n", "\n")
			for _, word := range strings.Fields(m[2]) {
				for _, line := range lines {
					if strings.HasPrefix(strings.TrimSpace(line)+" ", strings.ReplaceAll(word, "+", " ")+" ") {
						kept.WriteString(strings.TrimRight(line, " \n") + "\n")
						break
					}
				}
			}
			if m[2] == "*" {
				kept.WriteString(output)
			}
			return "```text " + m[2] + "\n" + kept.String() + "```"
		}
		return block
	})
}

// sameText is whether two texts have the same words, and the same numbers to 1 %.
func sameText(a, b string) bool {
	as, bs := strings.Fields(a), strings.Fields(b)
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		x, err1 := strconv.ParseFloat(as[i], 64)
		y, err2 := strconv.ParseFloat(bs[i], 64)
		if as[i] != bs[i] && (err1 != nil || err2 != nil || math.Abs(x-y) > 0.01*math.Abs(x)) {
			return false
		}
	}
	return true
}

// The lines of docs/howto/electric.md find R, drop, K and zero of a motor whose currents and speeds follow from these, and its motion is one
// that a rig file takes.
func TestElectricNumbersOfAMotor(t *testing.T) {
	t.Parallel()
	page, err1 := os.ReadFile("../../docs/howto/electric.md")
	motor, err2 := os.ReadFile("../../docs/tutorials/first-motor.md")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	const R, drop, K, zero, torque = 0.7, 0.25, 0.05, 0.03, 0.02 // Ω, V, N·m/A, A, N·m
	var table strings.Builder
	table.WriteString("timestamp,mode,drive.position,drive.current,drive.voltage\n# s,,rad,A,V\n")
	at, position := 1e9, 0.0
	for _, u := range []float64{0, 0.4, -0.4, 0.5, -0.5, 2, -2, 4, -4} {
		for k := range 1200 {
			ramp := math.Min(float64(k+1)/200, 1) // V
			sign, speed := math.Copysign(1, u), 0.0
			i := math.Max(math.Abs(u)-drop, 0) / R
			if i*K > torque { // it turns, and the current carries the friction
				i, speed = torque/K, sign*(math.Abs(u)-drop-R*torque/K)/K
			}
			at, position = at+1e-3, position+speed*1e-3
			fmt.Fprintf(&table, "%.6f,run,%.9g,%.9g,%.9g\n", at, position, sign*i+zero, u*ramp)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "volt.csv"), []byte(table.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	rig := ""
	for _, block := range fence.FindAllStringSubmatch(string(motor), -1) {
		if block[1] == "yaml" && block[2] == "rig.yaml" {
			rig += block[3]
		}
	}
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		switch block[1] {
		case "yaml":
			before, rest, _ := strings.Cut(rig, "    reference:")
			_, after, _ := strings.Cut(rest, "    control:")
			file := filepath.Join(dir, "volt.yaml")
			text := before + "    " + strings.ReplaceAll(block[3], "\n", "\n    ") + "control:" + after
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, errs, code := execute(t, "check", file); code != report.OK {
				t.Error(errs)
			}
		case "python":
			cmd := exec.Command(peer.Python(t, "numpy"), "-c", block[3])
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			want := fmt.Sprintf("zero %.4f A, R %.3f ohm, drop %.3f V, K %.5f N·m/A\n", zero, R, drop, K)
			if err != nil || string(out) != want {
				t.Errorf("%v, %s, want %s", err, out, want)
			}
		}
	}
}

// No sentence has more than 42 words in README.md, the tutorials and the how-tos, tables included: many readers are not native speakers.
func TestHowtoSentencesAreShort(t *testing.T) {
	tutorials, err1 := filepath.Glob("../../docs/tutorials/*.md")
	howtos, err2 := filepath.Glob("../../docs/howto/*.md")
	if err := errors.Join(err1, err2); err != nil || len(tutorials) < 5 || len(howtos) < 15 {
		t.Fatalf("%d tutorials, %d how-tos, %v", len(tutorials), len(howtos), err)
	}
	oneWord := regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")
	end := regexp.MustCompile(`[.!?][)*"]*(\s|$)|\||\n\s*(\n|[-*] |\d+\. )`)
	for _, path := range append(append(tutorials, howtos...), "../../README.md") {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := oneWord.ReplaceAllString(fence.ReplaceAllString(string(page), "\n\n"), "x")
		for _, sentence := range end.Split(text, -1) {
			if n := len(strings.Fields(sentence)); n > 42 {
				t.Errorf("%s: %d words: %s", filepath.Base(path), n, strings.TrimSpace(sentence))
			}
		}
	}
}
