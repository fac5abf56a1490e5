package sink

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"time"

	"hilrig/hil"
)

// RunSummary is what the events of a run and the rows beside them tell, without reading the rest of it.
type RunSummary struct {
	Info          hil.Info
	Rows          bool          // there is one at least
	Duration      time.Duration // from the first row to the newest
	RunTime       time.Duration // in mode RUN
	EndMode       hil.Mode
	Trips         int
	TripCause     string   // of the last one
	Verdicts      []string // of fits beside the loop
	Warnings      int      // events, by their level
	Errors        int
	IsCut         bool // was not closed: it ended by force, or is still being recorded
	drivesNothing bool
}

// Usable tells whether something can be identified: rows of a rig that ran, or of one that has nothing to drive.
func (s *RunSummary) Usable() bool { return s.rank() == usableRank }

// Ranks of a run, for those who want the newest useful one.
const (
	unreadable = iota
	emptyDryRun
	emptyRun
	dryRank
	neverRan
	usableRank
)

func (s *RunSummary) rank() int {
	switch {
	case !s.Rows && s.Info.DryRun:
		return emptyDryRun
	case !s.Rows:
		return emptyRun
	case s.Info.DryRun:
		return dryRank
	case s.RunTime == 0 && !s.drivesNothing:
		return neverRan
	}
	return usableRank
}

// State says in words what kind of run it is.
func (s *RunSummary) State() string {
	if s.rank() == usableRank && s.drivesNothing {
		return "recorded"
	}
	return [...]string{"unreadable", "empty", "empty", "dry run", "never ran", "ran"}[s.rank()]
}

// Summary reads the events, and of the rows the first, the last and those in which the mode changed.
func (r *Run) Summary() (RunSummary, error) {
	s := RunSummary{Info: r.Info, drivesNothing: len(r.Info.Schema.Block(hil.Commanded)) == 0}
	s.IsCut, _ = r.Truncated()
	var row hil.Row
	rows := r.Iter()
	if !rows.Next(&row) {
		return s, rows.Err()
	}
	first, last, err := r.ends()
	if err != nil {
		return s, err
	}
	s.Rows, s.Duration = true, time.Duration(last-first)
	events, err := collect(r, chEvents, func(data []byte) (e eventJSON, err error) { return e, json.Unmarshal(data, &e) })
	if err != nil {
		return s, err
	}
	mode, since := row.Mode, first
	change := func(to hil.Mode, t int64) {
		if mode == hil.Run {
			s.RunTime += time.Duration(t - since)
		}
		mode, since = to, t
	}
	for _, e := range events {
		switch e.Level {
		case "warn":
			s.Warnings++
		case "error":
			s.Errors++
		}
		switch e.Code {
		case "IDENTIFIED", "NOT_IDENTIFIED":
			s.Verdicts = append(s.Verdicts, e.Text)
		case "MODE":
			t, ok := parseDecimal([]byte(e.Timestamp), 9)
			for it := r.RowsBetween(t-r.wall-int64(time.Second), math.MaxInt64); ok && it.Next(&row); {
				if row.Seq < e.Seq {
					continue
				}
				change(row.Mode, row.T)
				if row.Mode == hil.Trip || row.Mode == hil.Estop {
					s.Trips, s.TripCause = s.Trips+1, row.CauseText(&r.Info.Schema)
				}
				break
			}
		}
	}
	change(mode, last)
	s.EndMode = mode
	return s, nil
}

// PickedRun is which run of a folder is taken for it, and why newer ones are not.
type PickedRun struct {
	Dir     string
	Skipped []string // newer ones: their names and what they are
}

// PickRun is the newest run below dir that can be identified; where there is none, the newest of those that tell most. ok: there is one.
func PickRun(dir string) (p PickedRun, ok bool) {
	runs, err := listRuns(dir)
	if err != nil {
		return p, false
	}
	best := -1
	var names []string
	slices.Reverse(runs)
	for _, d := range runs {
		rank, state := unreadable, "unreadable"
		if run, err := OpenRun(d.path); err == nil {
			if s, err := run.Summary(); err == nil {
				rank, state = s.rank(), s.State()
			}
			run.Close()
		}
		if rank > best {
			best, p = rank, PickedRun{d.path, slices.Clone(names)}
		}
		if rank == usableRank {
			break
		}
		names = append(names, filepath.Base(d.path)+" ("+state+")")
	}
	return p, best >= 0
}
