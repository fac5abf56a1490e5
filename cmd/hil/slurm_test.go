package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine/peer"
	engine "hilrig/engine/study"
)

// slurmCluster is a Slurm of two nodes with a processor each, all on this machine: a munged, a slurmctld and two slurmd of its own, whose
// files are in one folder. Without systemd and cgroups.
type slurmCluster struct {
	t    *testing.T
	dir  string
	conf string
	on   map[string]*exec.Cmd // by what they are: munged, slurmctld, n1, n2
}

const slurmConf = `ClusterName=hil
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=PORT0
SlurmUser=USER
SlurmdUser=USER
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=DIR/munge.sock
StateSaveLocation=DIR/ctl
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.%n.pid
SlurmdSpoolDir=DIR/spool.%n
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
BatchStartTimeout=10
JobRequeue=1
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmctldTimeout=30
SlurmdTimeout=10
InactiveLimit=0
KillWait=2
MinJobAge=300
RebootProgram=/bin/true
NodeName=n1 NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT1 CPUs=1 RealMemory=500 State=UNKNOWN
NodeName=n2 NodeHostname=HOST NodeAddr=127.0.0.1 Port=PORT2 CPUs=1 RealMemory=500 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
`

// configured is slurmConf with lines in place of those of the same key.
func configured(more []string) string {
	text := slurmConf
	for _, line := range more {
		key, _, _ := strings.Cut(line, "=")
		if at := strings.Index(text, "\n"+key+"="); at >= 0 {
			end := at + 1 + strings.IndexByte(text[at+1:], '\n')
			text = text[:at+1] + line + text[end:]
		} else {
			text += line + "\n"
		}
	}
	return text
}

// startSlurm starts a cluster, with more lines in its configuration that win over those above, and points the programs of this test to it.
func startSlurm(t *testing.T, more ...string) *slurmCluster {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin")
	for _, name := range []string{"slurmctld", "slurmd", "sbatch", "squeue", "sinfo"} {
		peer.Program(t, name, "slurm-wlm")
	}
	peer.Program(t, "munged", "munge")
	if testing.Short() {
		t.Skip("starts a cluster")
	}
	c := &slurmCluster{t: t, dir: t.TempDir(), on: map[string]*exec.Cmd{}}
	c.conf = filepath.Join(c.dir, "slurm.conf")
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"HOST", host, "USER", me.Username, "DIR", c.dir}
	var held []net.Listener // until all ports are known
	for k := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		words = append(words, fmt.Sprintf("PORT%d", k), fmt.Sprint(l.Addr().(*net.TCPAddr).Port))
	}
	for _, l := range held {
		l.Close()
	}
	key := make([]byte, 128)
	rand.Read(key)
	for name, data := range map[string][]byte{"slurm.conf": []byte(strings.NewReplacer(words...).Replace(configured(more))),
		"munge.key": key} {
		if err := os.WriteFile(filepath.Join(c.dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"ctl", "spool.n1", "spool.n2"} {
		if err := os.Mkdir(filepath.Join(c.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SLURM_CONF", c.conf)
	t.Cleanup(c.stop)
	file := func(name string) string { return filepath.Join(c.dir, name) }
	c.start("munged", "munged", "--force", "--foreground", "--key-file="+file("munge.key"), "--socket="+file("munge.sock"),
		"--pid-file="+file("munge.pid"), "--log-file="+file("munge.log"), "--seed-file="+file("munge.seed"))
	c.await("munged", func() bool { _, err := os.Stat(file("munge.sock")); return err == nil })
	c.start("slurmctld", "slurmctld", "-D", "-c", "-f", c.conf) // -c: from nothing
	c.startNode("n1")
	c.startNode("n2")
	c.await("two nodes", func() bool {
		out, _ := exec.Command("sinfo", "-h", "-N", "-o", "%T").Output()
		return strings.Count(string(out), "idle\n") == 2
	})
	return c
}

// start starts a daemon that stays in the foreground, in a group of processes of its own.
func (c *slurmCluster) start(what, name string, args ...string) {
	c.t.Helper()
	p := exec.Command(name, args...)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := os.OpenFile(filepath.Join(c.dir, what+".out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		c.t.Fatal(err)
	}
	defer out.Close()
	p.Stdout, p.Stderr = out, out
	if err := p.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.on[what] = p
}

func (c *slurmCluster) startNode(name string) {
	c.t.Helper()
	c.start(name, "slurmd", "-D", "-c", "-f", c.conf, "-N", name)
}

// await waits up to half a minute.
func (c *slurmCluster) await(what string, ready func() bool) {
	c.t.Helper()
	for began := time.Now(); !ready(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			logs := ""
			for _, name := range []string{"munged.out", "slurmctld.out", "n1.out"} {
				text, _ := os.ReadFile(filepath.Join(c.dir, name))
				logs += name + ":\n" + string(text[max(0, len(text)-2000):])
			}
			c.t.Fatalf("no %s after half a minute\n%s", what, logs)
		}
	}
}

// kill ends a daemon at once, but not what it has started.
func (c *slurmCluster) kill(what string) {
	p := c.on[what]
	if p == nil {
		return
	}
	delete(c.on, what)
	_ = p.Process.Kill()
	_ = p.Wait()
}

// steps are the processes that a node has started, by the variables of Slurm, each behind the slurmstepd that watches it.
func (c *slurmCluster) steps(node string) (pids []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "SLURM_CONF="+c.conf+"\x00") ||
			!strings.Contains(string(text), "SLURMD_NODENAME="+node+"\x00") {
			continue
		}
		var pid, parent int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err != nil {
			continue
		}
		if stat, err := os.ReadFile(filepath.Join(filepath.Dir(path), "stat")); err == nil {
			_, after, _ := strings.Cut(string(stat), ") ")
			fmt.Sscanf(after[min(2, len(after)):], "%d", &parent)
		}
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent)); strings.HasPrefix(string(name), "slurmstepd") {
			pids = append(pids, parent)
		}
		pids = append(pids, pid)
	}
	return pids
}

func (c *slurmCluster) killSteps(node string) {
	for _, pid := range c.steps(node) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (c *slurmCluster) stop() {
	_ = exec.Command("scancel", "--user="+os.Getenv("USER")).Run()
	for _, what := range []string{"n1", "n2", "slurmctld"} {
		if p := c.on[what]; p != nil {
			_ = p.Process.Signal(syscall.SIGTERM)
		}
	}
	time.Sleep(200 * time.Millisecond)
	for _, what := range []string{"n1", "n2", "slurmctld", "munged"} {
		c.kill(what)
	}
	c.killSteps("n1")
	c.killSteps("n2")
}

// The study by Slurm: the bytes are those of one worker here. A program that follows is interrupted and started again, and another array
// is not submitted for what is in the queue.
func TestStudyOnSlurm(t *testing.T) {
	c := startSlurm(t)
	file, dir := studyFile(t, "4 s"), t.TempDir()
	whole, d := filepath.Join(dir, "whole"), filepath.Join(dir, "slurm")
	want := collected(t, file, whole, nil, func() {
		if _, errs, code := execute(t, "study", "run", whole, "--workers", "1"); code != report.OK {
			t.Fatal(errs)
		}
	})
	sameResults(t, "by Slurm", collected(t, file, d, []string{"--chunk", "8"}, func() {
		first := program(t, "study", "run", d, "--executor", "slurm")
		if err := first.Start(); err != nil {
			t.Fatal(err)
		}
		c.await("first task in the queue", func() bool {
			out, _ := exec.Command("squeue", "-h", "--array").Output()
			return len(out) > 0
		})
		_ = first.Process.Signal(syscall.SIGINT)
		_ = first.Wait()
		if code := first.ProcessState.ExitCode(); code != report.Interrupted {
			t.Errorf("interrupted: exit %d", code)
		}
		out, errs, code := execute(t, "study", "run", d, "--executor", "slurm")
		if code != report.OK || !strings.Contains(out, "8 of 8 tasks are done: 60 of 60 runs") {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}), want)
	logs, _ := filepath.Glob(filepath.Join(d, "slurm", "*.log"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		if strings.Count(string(text), "done now") != 1 {
			t.Errorf("%s: %s", path, text)
		}
	}
	if len(logs) != 8 {
		t.Errorf("%d logs", len(logs))
	}
	// a file that was damaged in its middle is one that is not done: it is submitted again, alone
	path := filepath.Join(d, engine.TaskFolder, "000003.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, code := execute(t, "study", "run", d, "--executor", "slurm")
	if code != report.OK || !strings.Contains(errs, "the files of the tasks 3 cannot be read, and these are done again") ||
		!strings.Contains(out, "8 of 8 tasks are done: 60 of 60 runs") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if out, errs, code := execute(t, "study", "collect", d, "--plot", "--report"); code != report.OK {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	sameResults(t, "damaged", folder(t, d), want)
	// the rounds of islands are arrays, each after the one before
	evolving := islandsFile(t, "islands: 3, rounds: 1")
	alone, round := filepath.Join(dir, "alone"), filepath.Join(dir, "rounds")
	want = collected(t, evolving, alone, nil, func() { execute(t, "study", "run", alone, "--workers", "1") })
	sameResults(t, "islands by Slurm", collected(t, evolving, round, nil, func() {
		out, errs, code := execute(t, "study", "run", round, "--executor", "slurm")
		if code != report.OK || !strings.Contains(out, "7 of 7 tasks are done: 7 of 7 runs, 0 failed") {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}), want)
	if logs, _ := filepath.Glob(filepath.Join(round, "slurm", "*.log")); len(logs) != 7 {
		t.Errorf("%d logs of 7 tasks in 3 arrays", len(logs))
	}
	// tasks that end without a result are said, with their last words
	bad := filepath.Join(dir, "bad")
	if _, errs, code := execute(t, "study", "plan", file, "--out", bad, "--chunk", "30"); code != report.OK {
		t.Fatal(errs)
	}
	out, errs, code = execute(t, "study", "run", bad, "--executor", "slurm", "--sbatch=--partition=none")
	if code != report.Unavailable || !strings.Contains(errs, "invalid partition") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// Tasks that are cancelled stay so, and tasks that fail are not tried again: the command says which, and what their logs say.
func TestStudyEndsOnSlurm(t *testing.T) {
	c := startSlurm(t)
	dir := t.TempDir()
	for _, end := range []struct {
		name, duration, option string
		do                     func(file string)
		says                   []string
	}{
		{"cancelled", "2000 s", "--sbatch=--comment=none", func(string) {
			c.await("a task that runs", func() bool { return len(c.steps("n1"))+len(c.steps("n2")) > 2 })
			if out, err := exec.Command("scancel", "--me").CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
		}, []string{"the tasks 0-3 were cancelled"}},
		{"failed", "4 s", "--sbatch=--begin=now+3", func(file string) { // the study changes before its tasks begin
			c.await("tasks in the queue", func() bool { out, _ := exec.Command("squeue", "-h").Output(); return len(out) > 0 })
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, append(text, "# \n"...), 0o644)
			}
			if err == nil {
				err = os.WriteFile(file, []byte(strings.Replace(string(text), "seed: ", "seed: 1", 1)), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"the tasks 0-3 have left the queue without a result (failed)", "since it was planned"}},
	} {
		file, d := studyFile(t, end.duration), filepath.Join(dir, end.name)
		if _, errs, code := execute(t, "study", "plan", file, "--out", d, "--chunk", "15"); code != report.OK {
			t.Fatal(errs)
		}
		p := program(t, "study", "run", d, "--executor", "slurm", "--poll", "1s", end.option)
		var out syncBuffer
		p.Stdout, p.Stderr = &out, &out
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		end.do(file)
		_ = p.Wait()
		if code := p.ProcessState.ExitCode(); code != report.Unavailable {
			t.Errorf("%s: exit %d\n%s", end.name, code, out.String())
		}
		for _, want := range end.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", end.name, want, out.String())
			}
		}
		if left, _ := exec.Command("squeue", "-h", "--array", "-t", "PD,R").Output(); len(left) > 0 {
			t.Errorf("%s: still in the queue: %s", end.name, left)
		}
	}
}
