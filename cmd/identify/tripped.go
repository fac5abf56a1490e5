package identify

import (
	"errors"
	"fmt"
	"path/filepath"

	"hilrig/hil"
	"hilrig/hil/sink"
	"hilrig/identify/record"
)

// trip is the last one among the rows of a run.
type trip struct {
	row      hil.Row // in which the rig was tripped first
	lastMode hil.Mode
}

// see takes in a row.
func (t *trip) see(r *hil.Row) {
	if off := r.Mode == hil.Trip || r.Mode == hil.Estop; off && t.lastMode.Energised() {
		t.row = *r
	}
	t.lastMode = r.Mode
}

// text says when and why; "": there was none.
func (t *trip) text(run *sink.Run) string {
	begin, err := run.Begin()
	if t.row.Seq == 0 || err != nil {
		return ""
	}
	return fmt.Sprintf("the run tripped at %.4g s (%s)", float64(t.row.T-begin)*1e-9, t.row.CauseText(&run.Info.Schema))
}

// afterTrip says of a recording that cannot be identified that it tripped, if it did: then that is why it is short.
func afterTrip(path string, err error) error {
	var d *record.Error
	if errors.As(err, &d) && filepath.Ext(d.File) == ".mcap" {
		path = d.File
	}
	if _, isRun := sink.FindRun(path); !isRun {
		return err
	}
	run, bad := sink.OpenRun(path)
	if bad != nil {
		return err
	}
	defer run.Close()
	var t trip
	var row hil.Row
	for rows := run.Iter(); rows.Next(&row); {
		t.see(&row)
	}
	text := t.text(run)
	if text == "" {
		return err
	}
	return fmt.Errorf("%s: %w\n     %s. What was recorded before the trip may be too short to be identified", text, err, t.row.Cause.Advice())
}
