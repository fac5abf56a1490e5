package daemon

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hilrig/engine"
	"hilrig/hil"
	"hilrig/hil/device"
)

// A stop and an emergency stop are answered with what is known of the drives some time later: where something tells that one is not off,
// the answer is not ok, with the numbers; an order that stops nothing is answered at once. A core that falls silent meanwhile is not waited
// for.
func TestStopIsConfirmed(t *testing.T) {
	for _, c := range []struct {
		name  string
		order string
		runs  bool // before
		flags hil.Flags
		dumb  bool // no more rows
		from  string
		ok    bool
		says  string
		quick bool
	}{
		{"off", "stop", true, 0, false, "mqtt", true, "", false},
		{"on", "stop", true, hil.FlagNotOff, false, "mqtt", false, "taken, but not in effect", false},
		{"on", "estop", true, hil.FlagNotOff, false, "web", false, "drive.current 8.2 A, shaft.est.velocity 13.3 rad/s", false},
		{"refused", "estop", true, hil.FlagNotOff | hil.FlagCommandRefused, false, "web", false, "a device refuses the safe command", false},
		{"off already", "stop", false, 0, false, "web", true, "", true},
		{"on already", "stop", false, hil.FlagNotOff, false, "web", false, "taken, but", true},
		{"hold", "hold", true, 0, false, "web", true, "", true},
		{"the end of the daemon does not wait", "stop", true, hil.FlagNotOff, false, "local", true, "", true},
		{"a silent core", "stop", true, 0, true, "web", true, "", false},
	} {
		d := newCommands(testAssembly())
		d.a.Schema.Meas = []hil.Channel{{Signal: engine.Signal{Name: "drive.current", Unit: "A"}, Axis: "shaft", Role: hil.RoleCurrent}}
		d.a.Schema.Est = []hil.Channel{{Signal: engine.Signal{Name: "shaft.est.velocity", Unit: "rad/s"}, Axis: "shaft", Role: hil.RoleVelocity}}
		tick, stopped := int64(1e9), int64(0)
		var dumb atomic.Bool
		end := ticking(d, func(*hil.Params) {}, func(r *hil.Row) {
			for dumb.Load() {
				time.Sleep(time.Millisecond)
			}
			tick += 1e6
			r.T, r.Mode = tick, hil.Ready
			r.X[0], r.X[1] = 8.2, 13.3
			if c.runs && stopped == 0 {
				r.Mode = hil.Run
			}
			if r.Cmd != 0 && c.order != "hold" {
				r.Mode, stopped = hil.Ready, tick
				dumb.Store(c.dumb)
			}
			if !c.runs || stopped != 0 && tick > stopped+200e6 {
				r.Flags = c.flags
			}
		})
		time.Sleep(20 * time.Millisecond)
		before := time.Now()
		r := d.Do(context.Background(), hil.Command{Name: c.order, Source: c.from})
		passed := time.Since(before)
		dumb.Store(false)
		end()
		if r.OK != c.ok || r.Accepted == r.OK && c.says != "" || !strings.Contains(r.Error, c.says) {
			t.Errorf("%s, %s: %+v", c.name, c.order, r)
		}
		if c.quick && passed > 200*time.Millisecond {
			t.Errorf("%s, %s: answered after %v", c.name, c.order, passed)
		}
	}
}

// What a device says to commands is a flag of the tick, with the device's place; one that is away is that and nothing else.
func TestOutsideTellsConfirmations(t *testing.T) {
	rig := &confirmingRig{setRig: setRig{away: -1}}
	o := &outside{rig: rig, devices: 3}
	for _, c := range []struct {
		said [3]device.Confirmation
		away int
		want hil.Flags
		at   int
	}{
		{[3]device.Confirmation{}, -1, 0, -1},
		{[3]device.Confirmation{device.Confirmed, device.Unsent, device.NeverConfirms}, -1, 0, -1},
		{[3]device.Confirmation{device.Confirmed, device.RefusedCommand, device.Confirmed}, -1, hil.FlagCommandRefused, 20},
		{[3]device.Confirmation{device.UnansweredCommand, device.Confirmed, device.Confirmed}, -1, hil.FlagCommandLost, 10},
		{[3]device.Confirmation{device.UnansweredCommand, device.Confirmed, device.RefusedCommand}, -1,
			hil.FlagCommandLost | hil.FlagCommandRefused, 30},
		{[3]device.Confirmation{device.RefusedCommand, device.Confirmed, device.Confirmed}, 7, hil.FlagLinkDown, 7},
	} {
		rig.said, rig.away = c.said, c.away
		if f := o.Flags(); f != c.want || o.AbsentDevice() != c.at {
			t.Errorf("%v: flags %b, place %d; want %b, %d", c.said, f, o.AbsentDevice(), c.want, c.at)
		}
	}
	if a := testing.AllocsPerRun(100, func() { o.Flags() }); a != 0 {
		t.Errorf("%g allocations a tick", a)
	}
}

type confirmingRig struct {
	setRig
	said [3]device.Confirmation
}

func (r *confirmingRig) Confirmation(i int) (device.Confirmation, uint64) { return r.said[i], 0 }
