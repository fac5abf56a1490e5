package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// usage is what a process holds for longer than a fifth of a second: a connection of the page, or a file that is looked into, is open for a
// moment.
type usage struct {
	files, threads int
	anonymous      int // kB of memory of its own
}

func usageOf(t *testing.T, pid int) usage {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d", pid)
	count := func(name string) int {
		list, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	u := usage{files: count("fd"), threads: count("task")}
	for range 20 {
		time.Sleep(10 * time.Millisecond)
		u.files = min(u.files, count("fd"))
	}
	text, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		t.Skip(err)
	}
	for l := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(l, "RssAnon: %d kB", &u.anonymous); err == nil {
			return u
		}
	}
	t.Skip("this kernel does not tell anonymous memory")
	return u
}

// A board that comes and goes costs nothing that stays: no descriptor, no thread, and no memory in the core, which never
// collects.
func TestDaemonReplugs(t *testing.T) {
	inPairs(t)
	cycles, away := 15, 2*time.Second
	if soak {
		cycles, away = 1000, 30*time.Second
	}
	rig := startWatchedRig(t)
	d := startRun(t, tolerant(t, rig.port), "--record", t.TempDir())
	d.awaitMode("ready")
	again := func(n int) {
		for range n {
			was := d.health()["drive.reconnects"].(float64)
			rig.unplug()
			rig.plug()
			for end := time.Now().Add(10 * time.Second); d.health()["drive.reconnects"].(float64) <= was ||
				d.health()["drive.connected"] != 1.0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("the daemon does not come back: %v", d.health())
				}
			}
		}
	}
	look := func(what string) (core, supervisor usage) {
		core, supervisor = usageOf(t, d.ready.Core), usageOf(t, d.cmd.Process.Pid)
		t.Logf("%s: core %+v, supervisor %+v", what, core, supervisor)
		return core, supervisor
	}
	again(20) // what is made once exists from here: memory of the runtime is touched for the first time for as long
	core, sup := look("at the start")
	again(cycles)
	core1, sup1 := look(fmt.Sprintf("after %d replugs", cycles))
	rig.unplug()
	time.Sleep(away)
	core2, sup2 := look(fmt.Sprintf("after %v unplugged", away))
	if core1.files != core.files || sup1.files > sup.files || core1.threads > core.threads+2 || sup1.threads > sup.threads+4 {
		t.Error("descriptors or threads are left behind by replugs")
	}
	if core2.files > core.files || sup2.files > sup.files || core2.threads > core.threads+2 || sup2.threads > sup.threads+4 {
		t.Error("descriptors or threads are left behind while unplugged")
	}
	if grown := core1.anonymous - core.anonymous; grown > 300+2*cycles {
		t.Errorf("the core grew by %d kB in %d replugs", grown, cycles)
	}
	if grown := core2.anonymous - core1.anonymous; grown > 300 {
		t.Errorf("the core grew by %d kB while the board was away", grown)
	}
	d.stop()
}
