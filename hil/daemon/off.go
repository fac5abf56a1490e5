package daemon

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"hilrig/hil"
)

// notOff says what tells that a drive is not off that should be.
func notOff(r *hil.Row, s *hil.Schema) string {
	if r.Cause == hil.CauseNotOff || r.Cause == hil.CauseRefused {
		return r.CauseText(s)
	}
	var parts []string
	switch {
	case r.Flags&hil.FlagCommandRefused != 0:
		parts = append(parts, "a device refuses the safe command")
	case r.Flags&hil.FlagCommandLost != 0:
		parts = append(parts, "a device does not answer the safe command")
	}
	for _, name := range s.Axes() {
		for _, c := range []struct {
			block hil.Block
			role  hil.ChannelRole
		}{{hil.Measured, hil.RoleCurrent}, {hil.Measured, hil.RoleVoltage}, {hil.Estimated, hil.RoleVelocity}} {
			if at := s.Find(c.block, name, c.role); at >= 0 {
				parts = append(parts, fmt.Sprintf("%s %.3g %s", s.Channels()[at].Name, r.X[at], s.Channels()[at].Unit))
			}
		}
	}
	return "the drive should be off, and is not as far as anybody can tell, or a load pulls the axis: " + strings.Join(parts,
		", ") + ". Take the energy off at the rig"
}

// offNews is what the newest rows tell of the drives.
type offNews struct {
	lastEnergised atomic.Int64            // ns  time of the newest row of a driven rig
	time          atomic.Int64            // ns  of the newest row
	notOffRow     atomic.Pointer[hil.Row] // the newest, if a drive is not off in it
}

func (o *offNews) row(r *hil.Row) {
	if r.Mode.Energised() {
		o.lastEnergised.Store(r.T)
	}
	if r.Flags&hil.FlagNotOff != 0 {
		kept := *r
		o.notOffRow.Store(&kept)
	} else if o.notOffRow.Load() != nil {
		o.notOffRow.Store(nil)
	}
	o.time.Store(r.T)
}

// Whether a drive is off shows some time after it was driven: currents die away, commands are on their way.
const (
	offAfter  = 300e6                  // ns  of the rows
	offWait   = 600 * time.Millisecond // until such a row has come
	offLately = 50e6                   // ns  so long before a stop a rig was driven that is stopped by it
)

// confirm is what tells that the drives are not off after a stop that the tick took with the row r; "": nothing does.
func (o *offNews) confirm(ctx context.Context, r *hil.Row, s *hil.Schema) string {
	if o.lastEnergised.Load() > r.T-offLately {
		wait, cancel := context.WithTimeout(ctx, offWait)
		defer cancel()
		for o.time.Load() < r.T+offAfter && o.lastEnergised.Load() < r.T && wait.Err() == nil {
			select {
			case <-wait.Done():
			case <-time.After(2 * time.Millisecond):
			}
		}
	}
	if bad := o.notOffRow.Load(); bad != nil {
		return notOff(bad, s)
	}
	return ""
}
