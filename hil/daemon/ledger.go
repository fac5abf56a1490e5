package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Ledger is a small file beside the recordings that tells the next start how this run ended: a supervisor that was
// killed cannot say so itself.
type Ledger struct {
	path  string
	state ledgerState
}

type ledgerState struct {
	PID       int       `json:"pid"`
	StartTime time.Time `json:"started"`
	Updated   time.Time `json:"updated"`
	Run       string    `json:"run"`  // folder of the recording
	Mode      string    `json:"mode"` // of the newest row
	Rows      uint64    `json:"rows"`
	Clean     bool      `json:"clean"` // ended in the safe state, by its own doing
}

// OpenLedger reads what the run before left and starts a new page. The text is "" when that run ended cleanly or there
// was none.
func OpenLedger(dir, rig, run string) (*Ledger, string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, "", fmt.Errorf("folder for recordings: %w", err)
	}
	l := &Ledger{path: filepath.Join(dir, "."+rig+".state")}
	var before string
	if data, err := os.ReadFile(l.path); err == nil {
		var was ledgerState
		if json.Unmarshal(data, &was) == nil && !was.Clean && !alive(was.PID) {
			before = fmt.Sprintf("the run started %s (process %d) ended without a clean stop; last seen %s in mode %s after %d rows; recording: %s",
				was.StartTime.Format(time.RFC3339), was.PID, was.Updated.Format(time.RFC3339Nano), was.Mode, was.Rows, was.Run)
			if words, err := os.ReadFile(CoreLog(was.Run)); err == nil && len(words) > 0 {
				before += "\n" + strings.TrimSpace(string(words))
			}
		}
	}
	l.state = ledgerState{PID: os.Getpid(), StartTime: time.Now(), Run: run}
	return l, before, l.write()
}

// CoreLog is the file in a run's folder into which a core that lost its supervisor writes its last words.
func CoreLog(run string) string { return filepath.Join(run, "core.log") }

// Update notes mode and rows, once a second or so.
func (l *Ledger) Update(mode string, rows uint64) error {
	l.state.Mode, l.state.Rows = mode, rows
	return l.write()
}

// Close marks the run as cleanly ended.
func (l *Ledger) Close(mode string, rows uint64) error {
	l.state.Clean = true
	return l.Update(mode, rows)
}

func (l *Ledger) write() error {
	l.state.Updated = time.Now()
	data, err := json.MarshalIndent(l.state, "", "  ")
	if err != nil {
		return err
	}
	tmp := l.path + ".tmp"
	if err := os.WriteFile(tmp, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, l.path)
}

// alive tells whether a process exists; its number may have been given to another since, which only suppresses a note.
func alive(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return pid > 0 && err == nil
}
