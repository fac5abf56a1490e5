//go:build soak

package main

import (
	"bytes"
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
	if code != report.OK || !strings.Contains(out, "15 of 15 tasks are done: 60 of 60 runs") || !strings.Contains(errs, "tasks wait here") || !strings.Contains(errs, "MaxJobCount") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// Ten thousand tasks: what the program that follows them asks of the shared folder stays below five calls a second, as strace counts them, and
// tasks that are cancelled on the way stay so.
func TestStudyOfManyTasksSoak(t *testing.T) {
	peer.Program(t, "strace", "strace")
	startSlurm(t, "MaxArraySize=20001", "MaxJobCount=20000", "MinJobAge=20",
		"SchedulerParameters=sched_interval=1,bf_interval=30,default_queue_depth=50,defer,sched_min_interval=200000")
	file := studyFile(t, "10 ms", "runs: 60", "runs: 10000", "values: [midpoint, implicit]", "values: [midpoint]")
	dir := t.TempDir()
	d, calls := filepath.Join(dir, "many"), filepath.Join(dir, "calls")
	if _, errs, code := execute(t, "study", "plan", file, "--out", d, "--chunk", "1"); code != report.OK {
		t.Fatal(errs)
	}
	p := program(t, "study", "run", d, "--executor", "slurm")
	follow := exec.Command("strace", append([]string{"-f", "-qq", "-y", "-e", "trace=%file,getdents64,read,pread64", "-o", calls, p.Path}, p.Args[1:]...)...)
	follow.Env = p.Env
	var out syncBuffer
	follow.Stdout, follow.Stderr = &out, &out
	began := time.Now()
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	finished := func() int {
		list, _ := os.ReadDir(filepath.Join(d, engine.TaskFolder))
		return len(list)
	}
	for finished() < 300 && time.Since(began) < 10*time.Minute {
		time.Sleep(10 * time.Second)
	}
	while := time.Since(began)
	text, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	n := bytes.Count(text, []byte(d))
	t.Logf("%d tasks after %.0f s, %d calls to the shared folder: %.2f a second", finished(), while.Seconds(), n, float64(n)/while.Seconds())
	if float64(n) > 5*while.Seconds() || finished() < 300 {
		t.Errorf("%d calls in %.0f s, want at most 5 a second", n, while.Seconds())
	}
	if said, err := exec.Command("scancel", "--me").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, said)
	}
	_ = follow.Wait()
	if code := follow.ProcessState.ExitCode(); code != report.Unavailable || !strings.Contains(out.String(), "were cancelled") {
		t.Errorf("exit %d\n%s", code, out.String())
	}
	if left, _ := exec.Command("squeue", "-h", "--array", "-t", "PD,R").Output(); len(left) > 0 {
		t.Errorf("still in the queue: %.200s", left)
	}
}
