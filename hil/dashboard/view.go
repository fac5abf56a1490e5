package dashboard

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"

	"hilrig/hil/sink"
)

// recordingJSON is the recording that a view shows.
type recordingJSON struct {
	Run       string  `json:"run"`
	File      string  `json:"file"`
	FirstTime float64 `json:"first"`             // s since 1970, its first row
	LastTime  float64 `json:"last"`              // s since 1970, its newest row
	Problem   string  `json:"problem,omitempty"` // what of it cannot be read
}

// NewView opens the page on a recording in place of a rig: a run's folder, its .mcap file, or a folder of runs. Rows, modes and events
// are those on file, and times count from its first row; it takes no command, not even a stop, since there is nothing to stop. Of opt
// the view takes Web.Listen, Hosts, Axes, SteadyCurve, Identify and Log; Identify may answer {"results": [newest, …]}. The caller prints
// Addr; Run must follow.
func NewView(path string, opt Options) (*Server, error) {
	run, err := sink.OpenRun(path)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	first, last, err := run.Span()
	switch {
	case err != nil:
		return nil, fmt.Errorf("view: %w", err)
	case first.IsZero():
		return nil, fmt.Errorf("view: %s holds no rows", run.Path)
	}
	events, err := run.EventsJSON()
	_, cut := run.Truncated()
	if err != nil {
		cut = err.Error() // those before the damaged place are shown
	}
	opt = Options{Web: Web{Listen: cmp.Or(opt.Listen, "localhost:0")}, Hosts: opt.Hosts, Axes: opt.Axes, SteadyCurve: opt.SteadyCurve,
		Identify: opt.Identify, Log: cmp.Or(opt.Log, slog.Default()), Info: run.Info, Events: func() []byte { return events },
		History: sink.NewHistory(run.Path)}
	s, err := New(opt)
	if err != nil {
		return nil, errors.Join(err, opt.History.Close())
	}
	s.recording = opt.History
	s.info.Recording = &recordingJSON{Run: run.Info.Run, File: run.Path, FirstTime: float64(first.UnixMicro()) / 1e6,
		LastTime: float64(last.UnixMicro()) / 1e6, Problem: cut}
	return s, nil
}
