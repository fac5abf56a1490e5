//go:build linux

package main

import (
	"strings"
	"testing"
	"time"
)

// A slave that refuses every write: a stop and an emergency stop are not answered with ok, the event says so, and the rig is not READY
// while it refuses. When it takes them again a stop is one.
func TestDaemonRefusedWrites(t *testing.T) {
	t.Parallel()
	var rig boardRig
	for _, r := range boardRigs() {
		if r.wire == "modbus" {
			rig = r
		}
	}
	rig.name = "writes refused"
	c := startColumn(t, rig)
	defer c.d.stop()
	if !c.energise(0) {
		t.Fatalf("never driven: %v", c.d.state())
	}
	c.b.fail(boardFault{refuses: true}, 0)
	for _, order := range []string{"stop", "estop"} {
		reply := c.d.command(order, `{"id":"`+uniqueID()+`"}`)
		if reply.OK || !strings.Contains(reply.Error, "taken, but not in effect") {
			t.Errorf("%s: %+v", order, reply)
		}
		time.Sleep(100 * time.Millisecond)
		mode := c.d.state()["mode"]
		if mode == "ready" || order == "estop" && mode != "estop" {
			t.Errorf("mode %v after %s", mode, order)
		}
		if reset := c.d.command("reset", `{"id":"`+uniqueID()+`"}`); reset.OK {
			t.Errorf("a reset is taken after %s", order)
		}
	}
	c.d.awaitLog("NOT_OFF")
	c.b.heal()
	c.d.awaitLog("nothing tells any more that a drive is not off")
	for end := time.Now().Add(10 * time.Second); c.d.state()["mode"] != "ready"; time.Sleep(50 * time.Millisecond) {
		if c.d.command("reset", `{"id":"`+uniqueID()+`"}`); time.Now().After(end) {
			t.Fatalf("never ready again: %v", c.d.state())
		}
	}
	if reply := c.d.command("stop", `{"id":"`+uniqueID()+`"}`); !reply.OK {
		t.Errorf("stop: %+v", reply)
	}
}
