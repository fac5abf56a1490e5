package daemon

import (
	"testing"

	"hilrig/hil"
	"hilrig/hil/device"
)

// setRig is a set whose devices the test unplugs.
type setRig struct {
	Rig
	away       int
	reconnects [device.MaxDevices]uint64
}

func (r *setRig) Connected() (int, bool)                { return r.away, r.away < 0 }
func (r *setRig) Reconnects() [device.MaxDevices]uint64 { return r.reconnects }
func (r *setRig) AgeAt(i int) int                       { return 10 * (i + 1) }

func (r *setRig) Flush() {}

// The link is down in every tick in which a device is away, and in the one after it went and came; the device is named. Asking allocates
// nothing, in a core that never collects.
func TestOutsideNamesWhoIsAway(t *testing.T) {
	rig := &setRig{away: -1}
	o := &outside{rig: rig}
	look := func(down bool, away int) {
		t.Helper()
		if f := o.Flags(); (f&hil.FlagLinkDown != 0) != down || down && o.AbsentDevice() != away {
			t.Errorf("flags %b, away %d; want down %v, %d", f, o.AbsentDevice(), down, away)
		}
	}
	look(false, 0)
	rig.away = 7
	look(true, 7)
	look(true, 7)
	rig.away, rig.reconnects[0] = -1, 1
	look(true, 10) // it came back between two ticks: it was gone all the same
	look(false, 0)
	rig.reconnects[2] = 5
	look(true, 30)
	look(false, 0)
	if a := testing.AllocsPerRun(100, func() { o.Flags() }); a != 0 {
		t.Errorf("%g allocations a tick", a)
	}
}
