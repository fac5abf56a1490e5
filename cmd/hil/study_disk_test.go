package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/cmd/report"
	engine "hilrig/engine/study"
)

// A disk of its own, which is too small, is full in the middle of a study: every verb ends with 4 and names what it could not write; with
// room again the same commands go on, to the same bytes. Where mounting is not permitted there is no such disk.
func TestStudyOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("no disk may be mounted here: %v: %s", err, out)
	}
	file, whole := studyFile(t, "1 s"), filepath.Join(dir, "whole")
	want := collected(t, file, whole, []string{"--chunk", "6"}, func() {
		if _, errs, code := execute(t, "study", "run", whole, "--workers", "1"); code != report.OK {
			t.Fatal(errs)
		}
	})
	// a shell has the disk to itself; $0 is this program, every step says its exit code
	script := `mount -t tmpfs -o size=64k tmpfs "$2" || exit 9
say() { code=$?; echo "== $1 exit $code"; }
"$0" study plan "$1" --out "$2/d" --chunk 6; say plan
dd if=/dev/zero of="$2/ballast" bs=1024 count=24 2>/dev/null; say ballast
"$0" study run "$2/d" --workers 2; say run
"$0" study run "$2/d" --workers 2; say again
ls "$2/d/tasks" | grep -c jsonl; say list
rm "$2/ballast"
dd if=/dev/zero of="$2/ballast" bs=1024 2>/dev/null
"$0" study task "$2/d" --index 9; say task
rm "$2/ballast"
mount -o remount,size=10m "$2" || exit 9
"$0" study run "$2/d" --workers 2; say more
dd if=/dev/zero of="$2/ballast" bs=1024 2>/dev/null
"$0" study collect "$2/d" --plot --report; say collect
rm "$2/ballast"
"$0" study collect "$2/d" --plot --report; say whole
cp -r "$2/d" "$3"`
	p := program(t)
	got := filepath.Join(dir, "d")
	shell := exec.Command("unshare", "-rm", "sh", "-c", script, p.Path, file, disk, got)
	shell.Env = p.Env
	text, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, c := range []struct{ step, want string }{
		{"plan", "exit 0"}, {"run", "exit 4"}, {"again", "exit 4"}, {"task", "exit 4"}, {"more", "exit 0"}, {"collect", "exit 4"},
		{"whole", "exit 0"},
	} {
		if !strings.Contains(string(text), "== "+c.step+" "+c.want) {
			t.Errorf("%s: want %s\n%s", c.step, c.want, text)
		}
	}
	if n := strings.Count(string(text), "no space left on device"); n < 4 || !strings.Contains(string(text), "the same command goes on") {
		t.Errorf("%d times said\n%s", n, text)
	}
	sameResults(t, "after a full disk", folder(t, got), want)
	if left, _ := filepath.Glob(filepath.Join(got, engine.TaskFolder, "*.part")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
