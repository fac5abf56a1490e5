//go:build soak

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
	engine "hilrig/engine/study"
)

// crash follows a study by Slurm, does something to the cluster when a few tasks are done, and compares the results with those of one
// worker.
func crash(t *testing.T, during func(c *slurmCluster)) {
	c := startSlurm(t)
	file, dir := studyFile(t, "200 s"), t.TempDir()
	whole, d := filepath.Join(dir, "whole"), filepath.Join(dir, "slurm")
	want := collected(t, file, whole, nil, func() {
		if _, errs, code := execute(t, "study", "run", whole, "--workers", "1"); code != report.OK {
			t.Fatal(errs)
		}
	})
	finished := func() int {
		list, _ := filepath.Glob(filepath.Join(d, engine.TaskFolder, "*.jsonl"))
		return len(list)
	}
	sameResults(t, "by Slurm", collected(t, file, d, []string{"--chunk", "5"}, func() {
		p := program(t, "study", "run", d, "--executor", "slurm")
		var out syncBuffer
		p.Stdout, p.Stderr = &out, &out
		began := time.Now()
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		c.await("two tasks", func() bool { return finished() >= 2 })
		at := finished()
		during(c)
		err := p.Wait()
		t.Logf("crash with %d of 12 tasks done, all done after %.0f s", at, time.Since(began).Seconds())
		if err != nil || !strings.Contains(out.String(), "60 of 60 runs") {
			t.Errorf("%v\n%s", err, out.String())
		}
	}), want)
}

// The controller is killed and started again from what it saved: Slurm does the tasks that ran then twice.
func TestStudyOutlivesControllerSoak(t *testing.T) {
	crash(t, func(c *slurmCluster) {
		c.kill("slurmctld")
		time.Sleep(5 * time.Second) // the one that follows gets no answer
		c.start("slurmctld", "slurmctld", "-D", "-f", c.conf)
	})
}

// A node is killed with what it runs: its task goes back into the queue and is done on the other one.
func TestStudyOutlivesNodeSoak(t *testing.T) {
	crash(t, func(c *slurmCluster) {
		c.await("something on the node", func() bool { return len(c.steps("n2")) > 0 })
		c.kill("n2")
		c.killSteps("n2")
	})
}

// A controller that takes few jobs gets the tasks as others end, and no more than so many run at a time.
func TestStudyInWindowsSoak(t *testing.T) {
	startSlurm(t, "MaxJobCount=7", "MinJobAge=2")
	file, d := studyFile(t, "1 s"), filepath.Join(t.TempDir(), "windows")
	if _, errs, code := execute(t, "study", "plan", file, "--out", d, "--chunk", "4"); code != report.OK {
		t.Fatal(errs)
	}
	out, errs, code := execute(t, "study", "run", d, "--executor", "slurm", "--poll", "1s")
	if code != report.OK || !strings.Contains(out, "15 of 15 tasks are done: 60 of 60 runs") || !strings.Contains(errs, "tasks wait here") ||
		!strings.Contains(errs, "MaxJobCount") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// Ten thousand tasks in the queue, and nearly all of them done: what the program that follows them asks of the shared folder stays below
// five calls a second, as strace counts them. Tasks that are cancelled on the way stay so.
func TestStudyOfManyTasksSoak(t *testing.T) {
	peer.Program(t, "strace", "strace")
	c := startSlurm(t, "MaxArraySize=20001", "MaxJobCount=20000", "MinJobAge=20",
		"SchedulerParameters=sched_interval=1,bf_interval=30,default_queue_depth=50,defer,sched_min_interval=200000")
	file := studyFile(t, "10 ms", "runs: 60", "runs: 10000", "values: [midpoint, implicit]", "values: [midpoint]")
	d := filepath.Join(t.TempDir(), "many")
	if _, errs, code := execute(t, "study", "plan", file, "--out", d, "--chunk", "1"); code != report.OK {
		t.Fatal(errs)
	}
	if out, code := c.followed(t, d, 300); code != report.Unavailable || !strings.Contains(out, "were cancelled") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if left, _ := exec.Command("squeue", "-h", "--array", "-t", "PD,R").Output(); len(left) > 0 {
		t.Errorf("still in the queue: %.200s", left)
	}
	if _, errs, code := execute(t, "study", "run", d, "--workers", "2"); code != report.OK {
		t.Fatal(errs)
	}
	for task := range 300 {
		if err := os.Remove(filepath.Join(d, engine.TaskFolder, fmt.Sprintf("%06d.jsonl", task))); err != nil {
			t.Fatal(err)
		}
	}
	if out, code := c.followed(t, d, 10000); code != report.OK || !strings.Contains(out, "10000 of 10000 runs") {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// followed follows a study until so many tasks are done, cancels what is left, and counts the calls to the folder. The files of tasks that
// are done before are read once, at the start.
func (c *slurmCluster) followed(t *testing.T, d string, tasks int) (output string, code int) {
	calls := filepath.Join(t.TempDir(), "calls")
	p := program(t, "study", "run", d, "--executor", "slurm")
	args := []string{"-f", "-qq", "-y", "-e", "trace=%file,getdents64", "-o", calls, p.Path}
	follow := exec.Command("strace", append(args, p.Args[1:]...)...)
	follow.Env = p.Env
	var out syncBuffer
	follow.Stdout, follow.Stderr = &out, &out
	finished := func() (n int) {
		list, _ := filepath.Glob(filepath.Join(d, engine.TaskFolder, "*.jsonl"))
		return len(list)
	}
	before, began := finished(), time.Now()
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	for finished() < tasks && time.Since(began) < 10*time.Minute {
		time.Sleep(time.Second)
	}
	while := time.Since(began).Seconds()
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	n := -before
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte(d)) {
			n++
		}
	}
	t.Logf("from %d to %d tasks in %.0f s: %d calls to the shared folder, %.2f a second", before, finished(), while, n, float64(n)/while)
	if float64(n) > 5*while || finished() < tasks {
		t.Errorf("%d calls in %.0f s, want at most 5 a second", n, while)
	}
	if said, err := exec.Command("scancel", "--me").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, said)
	}
	_ = follow.Wait()
	return out.String(), follow.ProcessState.ExitCode()
}
