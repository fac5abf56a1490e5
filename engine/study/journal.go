package study

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

// Metric is one number that a run gives.
type Metric struct {
	Name, Unit string
	Value      float64
}

// metricJSON is a metric on disk; what is no finite number is null.
type metricJSON struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit,omitempty"`
	Value *float64 `json:"value"`
}

// MarshalJSON writes a number that is not finite as null.
func (m Metric) MarshalJSON() ([]byte, error) {
	out := metricJSON{Name: m.Name, Unit: m.Unit}
	if m.Value-m.Value == 0 {
		out.Value = &m.Value
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads null as NaN.
func (m *Metric) UnmarshalJSON(data []byte) error {
	var in metricJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*m = Metric{in.Name, in.Unit, math.NaN()}
	if in.Value != nil {
		m.Value = *in.Value
	}
	return nil
}

// Outcome is what became of a run.
type Outcome struct {
	Run     int      `json:"run"`
	Metrics []Metric `json:"metrics,omitempty"`
	Failed  string   `json:"failed,omitempty"` // why there are no metrics
	Seconds float64  `json:"seconds"`          // it took; differs from sitting to sitting
}

// header is the first line of a journal.
type header struct {
	Format int    `json:"hil_study"`
	Key    string `json:"key"`
	Runs   int    `json:"runs"`
	About  string `json:"about"`
}

const journalFormat = 1

// Foreign is the refusal of a journal that belongs to another study.
type Foreign struct{ Path, Why string }

func (e *Foreign) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Why) }

// Journal is a file that remembers finished runs: a line of JSON that says which study it belongs to, then a line for every
// run in the order in which they ended. A line is handed to the system at once, so it outlives a killed program, and forced
// to the disk once a second and at the end. One program at a time has it open.
type Journal struct {
	f       *os.File
	runs    int
	done    map[int]Outcome
	damaged int
	synced  time.Time
}

// OpenJournal opens the journal of a study, or begins it. key is a digest of everything that the results depend on, about
// names the study to people. A journal with another key is refused (*Foreign). A torn last line, which a killed program or
// a power cut leaves behind, is cut off; other unreadable lines are counted and their runs done again.
func OpenJournal(path, key, about string, runs int) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{f: f, runs: runs, done: map[int]Outcome{}, synced: time.Now()}
	if err := lock(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: another program is at work on this study: %w", path, err)
	}
	if err := j.read(path, header{journalFormat, key, runs, about}); err != nil {
		f.Close()
		return nil, err
	}
	return j, nil
}

// read takes in what is there and leaves the file ready for the next line.
func (j *Journal) read(path string, want header) error {
	in := bufio.NewReaderSize(j.f, 1<<16)
	end, first := int64(0), true // of the last whole line
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what stands here has no end: torn
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		end += int64(len(line))
		if first {
			if err := want.fits(path, line); err != nil {
				return err
			}
			first = false
			continue
		}
		var o Outcome
		if strictly(line, &o) != nil || o.Run < 0 || o.Run >= j.runs || len(o.Metrics) == 0 && o.Failed == "" {
			j.damaged++
			continue
		}
		if _, twice := j.done[o.Run]; !twice {
			j.done[o.Run] = o
		}
	}
	if first && end == 0 {
		if size, err := j.f.Seek(0, io.SeekEnd); err != nil || size > 0 && !beginsLikeOne(j.f) {
			return errors.Join(err, &Foreign{path, "is not the journal of a study"})
		}
	}
	if err := j.f.Truncate(end); err != nil {
		return fmt.Errorf("%s: cut off a torn line: %w", path, err)
	}
	if _, err := j.f.Seek(end, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !first {
		return nil
	}
	if err := j.line(want); err != nil {
		return err
	}
	return j.f.Sync()
}

// beginsLikeOne tells a torn first line from another kind of file.
func beginsLikeOne(f *os.File) bool {
	const lead = `{"hil_study":`
	b := make([]byte, len(lead))
	n, _ := f.ReadAt(b, 0)
	return lead[:n] == string(b[:n])
}

// fits tells whether the first line of a journal is that of this study.
func (h header) fits(path string, line []byte) error {
	var got header
	switch {
	case strictly(line, &got) != nil || got.Format == 0:
		return &Foreign{path, "is not the journal of a study"}
	case got.Format != h.Format:
		return &Foreign{path, fmt.Sprintf("was written in format %d, this program reads %d", got.Format, h.Format)}
	case got.Runs != h.Runs:
		return &Foreign{path, fmt.Sprintf("belongs to a study of %d runs (%s); this one has %d", got.Runs, got.About, h.Runs)}
	case got.Key != h.Key:
		return &Foreign{path, fmt.Sprintf("belongs to other settings (%s): the plan, the simulated file, a file that it reads, or the way of computing has changed since", got.About)}
	}
	return nil
}

func strictly(line []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return errors.New("more on the line")
	}
	return nil
}

// line writes one line in a single call.
func (j *Journal) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if _, err := j.f.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// add remembers a finished run.
func (j *Journal) add(o Outcome) error {
	if err := j.line(o); err != nil {
		return err
	}
	j.done[o.Run] = o
	if time.Since(j.synced) < time.Second {
		return nil
	}
	return j.sync()
}

func (j *Journal) sync() error {
	j.synced = time.Now()
	if err := j.f.Sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// Done is the number of runs that are in the journal.
func (j *Journal) Done() int { return len(j.done) }

// Damaged is the number of lines that could not be read.
func (j *Journal) Damaged() int { return j.damaged }

// Close forces the journal to the disk and lets go of it.
func (j *Journal) Close() error { return errors.Join(j.sync(), j.f.Close()) }

// Discard removes a journal; a file that is none, or that another program has open, is left alone and refused.
func Discard(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return fmt.Errorf("%s: another program is at work on this study: %w", path, err)
	}
	if !beginsLikeOne(f) {
		return &Foreign{path, "is not the journal of a study"}
	}
	return f.Truncate(0)
}
