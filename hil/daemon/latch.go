package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"hilrig/hil"
)

// handOver is what the next core must know of the rows so far: what is latched, and how hot the windings are.
type handOver struct {
	mu       sync.Mutex
	state    hil.Before
	heatTime time.Time // of state.Heat
	heat     []int     // place in X of the heat of each axis; −1: none
	cool     []float64 // s  time constant of each axis; 0: it keeps no budget
}

func newHandOver(a *Assembly, before hil.Before) *handOver {
	h := &handOver{state: before, heatTime: time.Now(), cool: a.Thermal}
	for _, name := range a.Schema.Axes() {
		h.heat = append(h.heat, a.Schema.Find(hil.Modelled, name, hil.RoleHeat))
	}
	return h
}

// row keeps the newest row's. It tells whether something latched, or was reset.
func (h *handOver) row(r *hil.Row) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := hil.Before{}
	if r.Mode.Latched() {
		next.Mode, next.Cause, next.CauseSignal, next.Value, next.Limit = r.Mode, r.Cause, r.CauseSignal, r.Value, r.Limit
	}
	for i, at := range h.heat {
		if at >= 0 {
			next.Heat[i] = r.X[at]
		}
	}
	changed = next.Mode != h.state.Mode || next.Cause != h.state.Cause
	h.state, h.heatTime = next, time.Now()
	return changed
}

// estop latches an emergency stop while no core runs.
func (h *handOver) estop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = hil.Before{Mode: hil.Estop, Cause: hil.CauseEstop, Heat: h.state.Heat}
}

// snapshot is what is handed over at this moment: windings have cooled since.
func (h *handOver) snapshot() hil.Before {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.state
	cooled(&b, h.cool, time.Since(h.heatTime))
	return b
}

// cooled lets windings cool for a time, whose rig is off as far as anybody knows.
func cooled(b *hil.Before, constants []float64, since time.Duration) {
	for i := range b.Heat {
		if i < len(constants) && constants[i] > 0 {
			b.Heat[i] *= math.Exp(-max(0, since.Seconds()) / constants[i])
		} else {
			b.Heat[i] = 0
		}
	}
}

// Latch is a small file beside the recordings by which TRIP, ESTOP and the heat of the windings outlive the daemon. It is written when
// something latches or is reset, and as windings get warm or cold.
type Latch struct {
	path string
	a    *Assembly
	mu   sync.Mutex
	file latchFile
}

type latchFile struct {
	Mode   string             `json:"mode"` // trip, estop; "": nothing is latched
	Cause  string             `json:"cause,omitempty"`
	Signal string             `json:"signal,omitempty"`
	Value  float64            `json:"value,omitempty"`
	Limit  float64            `json:"limit,omitempty"`
	Time   time.Time          `json:"time"`           // of the heat
	Heat   map[string]float64 `json:"heat,omitempty"` // used share of the i²t budget, by axis
}

// OpenLatch reads what the run before left of a rig. text tells of it, "" where there is nothing to tell; what cannot be read counts as a
// trip.
func OpenLatch(dir, rig string, a *Assembly) (l *Latch, before hil.Before, text string) {
	l = &Latch{path: filepath.Join(dir, "."+rig+".latch"), a: a}
	data, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, before, ""
	}
	if err == nil {
		err = json.Unmarshal(data, &l.file)
	}
	f := &l.file
	if err == nil && f.Mode != "" && f.Mode != hil.Trip.String() && f.Mode != hil.Estop.String() {
		err = fmt.Errorf("mode %q is not known", f.Mode)
	}
	if err != nil {
		l.file = latchFile{}
		return l, hil.Before{Mode: hil.Trip, Cause: hil.CauseStart}, fmt.Sprintf("what the run before left in %s cannot be read (%v): the rig "+
			"begins in TRIP. See that it is sound, then reset", l.path, err)
	}
	for i, name := range a.Schema.Axes() {
		if i < hil.MaxAxes {
			before.Heat[i] = min(max(0, f.Heat[name]), maxHeat)
		}
	}
	cooled(&before, a.Thermal, time.Since(f.Time))
	if f.Mode == "" {
		return l, before, ""
	}
	before.Mode = hil.Trip
	if f.Mode == hil.Estop.String() {
		before.Mode = hil.Estop
	}
	before.Cause, before.CauseSignal, before.Value, before.Limit = hil.CauseNamed(f.Cause), uint16(a.Schema.Index(f.Signal)+1), f.Value,
		f.Limit
	return l, before, fmt.Sprintf("the run before ended in %s (%s), %s: so this one begins. Find out why, then reset", f.Mode,
		causeText(&before, &a.Schema), f.Time.Format(time.RFC3339))
}

// maxHeat bounds what a file may claim.
const maxHeat = 100

// causeText is the cause in words.
func causeText(b *hil.Before, s *hil.Schema) string {
	r := hil.Row{Mode: b.Mode, Cause: b.Cause, CauseSignal: b.CauseSignal, Value: b.Value, Limit: b.Limit}
	return r.CauseText(s)
}

// Save writes what the next run must know, if that is news: another mode or cause, or a heat that changed by a hundredth.
func (l *Latch) Save(b hil.Before) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := latchFile{Time: time.Now(), Heat: map[string]float64{}}
	if b.Mode.Latched() {
		next.Mode, next.Cause, next.Value, next.Limit = b.Mode.String(), b.Cause.String(), b.Value, b.Limit
		if all := l.a.Schema.Channels(); b.CauseSignal > 0 && int(b.CauseSignal) <= len(all) {
			next.Signal = all[b.CauseSignal-1].Name
		}
	}
	news := next.Mode != l.file.Mode || next.Cause != l.file.Cause
	for i, name := range l.a.Schema.Axes() {
		if i < hil.MaxAxes && b.Heat[i] > 0 {
			next.Heat[name] = b.Heat[i]
		}
		news = news || i < hil.MaxAxes && math.Abs(b.Heat[i]-l.file.Heat[name]) > 0.01
	}
	if !news {
		return nil
	}
	data, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o755); err != nil {
		return err
	}
	if err := replaceFile(l.path, append(data, '\n')); err != nil {
		return err
	}
	l.file = next
	return nil
}

// replaceFile writes a file that is either the old one or the new one, whatever happens meanwhile.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
