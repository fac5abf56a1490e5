package sink

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hilrig/hil"
)

// Run is a recording opened for reading.
//
//	run, err := sink.OpenRun("runs/2026-11-21T08-00-00Z_motor")
//	defer run.Close()
//	err = run.Rows(func(r *hil.Row) error { … })
//
// A recording that was cut short, or damaged, is readable in its sound parts: Truncated and Problems say what is not.
// One goroutine at a time.
type Run struct {
	Path string   // of run.mcap
	Info hil.Info // as it was when the run started; Config is the YAML in force

	f     *os.File
	m     *mcapReader
	codec *RowCodec
	wall  int64 // ns  time since 1970 minus the loop's clock
}

// OpenRun opens a run: its folder, its .mcap file, or the newest run in a folder of runs.
func OpenRun(path string) (*Run, error) {
	file, _ := FindRun(path)
	f, err := os.Open(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open run %s: %w: %s. A run is a folder with a %s in it", path, fs.ErrNotExist, file, runFile)
		}
		return nil, fmt.Errorf("open run: %w", err)
	}
	run, err := openRun(f, file)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open run %s: %w", file, err)
	}
	return run, nil
}

// FindRun is the recording that a path names: a file *.mcap, a run's folder, or a folder with runs, of which PickRun takes one. ok says
// that the path looks like one of these.
func FindRun(path string) (file string, ok bool) {
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		return path, strings.EqualFold(filepath.Ext(path), ".mcap")
	}
	file = filepath.Join(path, runFile)
	if _, err := os.Stat(file); err == nil {
		return file, true
	}
	if p, ok := PickRun(path); ok {
		return filepath.Join(p.Dir, runFile), true
	}
	return file, false
}

func openRun(f *os.File, path string) (*Run, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := openMCAP(f, st.Size())
	if err != nil {
		return nil, bare(err)
	}
	r := &Run{Path: path, f: f, m: m}
	if err = r.readInfo(); err == nil {
		r.wall = r.Info.Start.UnixNano() - r.Info.Mono
		r.codec, err = NewRowCodec(&r.Info.Schema, r.wall)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return r, nil
}

// Close closes the file.
func (r *Run) Close() error {
	r.m.close()
	return r.f.Close()
}

// readInfo turns the metadata record hil.info back into what prologue was given.
func (r *Run) readInfo() error {
	kvs, ok := r.m.meta[infoName]
	if !ok {
		return fmt.Errorf("an MCAP file, but without the record %q: it was not recorded by hil, or its beginning is damaged", infoName)
	}
	val := map[string]string{}
	for _, e := range kvs {
		val[e.key] = e.value
	}
	if f := val["format"]; f != recordFormat {
		return fmt.Errorf("a recording of format %q by version %s of the program; this one reads format %s", cmp.Or(f, "1"), val["version"],
			recordFormat)
	}
	in := &r.Info
	in.Run, in.Version, in.ConfigHash, in.Note = val["run"], val["version"], val["config_hash"], val["note"]
	in.Config, in.DryRun = r.m.attach[runConfig], val["dry_run"] == "true"

	bad := func(key string, err error) error { return fmt.Errorf("record %q: %s: %w", infoName, key, err) }
	var err error
	if in.Start, err = time.Parse(time.RFC3339Nano, val["start"]); err != nil {
		return bad("start", err)
	}
	if in.Mono, err = strconv.ParseInt(val["mono_ns"], 10, 64); err != nil {
		return bad("mono_ns", err)
	}
	s := &in.Schema
	if *s, err = schemaOf(val["schema"]); err != nil {
		return bad("schema", err)
	}
	s.Rig = val["rig"]
	if s.Rate, err = strconv.ParseFloat(val["rate_hz"], 64); err != nil || !(s.Rate > 0) || math.IsInf(s.Rate, 0) {
		return bad("rate_hz", fmt.Errorf("%q is not a rate", val["rate_hz"]))
	}
	if s.Len() > hil.MaxSignals {
		return bad("schema", fmt.Errorf("%d signals, more than %d", s.Len(), hil.MaxSignals))
	}
	return nil
}

// Truncated tells whether the recording was cut short, and what that cost in a sentence; "" if it was not.
func (r *Run) Truncated() (cut bool, lost string) {
	if r.m.indexed {
		return false, ""
	}
	last := "nothing was written"
	if n := len(r.m.chunks); n > 0 {
		last = fmt.Sprintf("readable up to %.3f s after the start", float64(int64(r.m.chunks[n-1].endTime)-r.Info.Start.UnixNano())*1e-9)
	}
	tail := ""
	if n := r.m.size - r.m.dataEnd; n > 0 {
		tail = fmt.Sprintf(", %d bytes at the end are not", n)
	}
	return true, "the recording was not closed (crash, kill or power cut): " + last + tail + "; rows that had not reached the disk are lost"
}

// Problems lists the damaged places found so far; those inside chunks are found when the chunks are read.
func (r *Run) Problems() []Problem { return r.m.problems }

// Rows calls fn for every row in the order of recording. The row is fn's only during the call. An error of fn ends it
// and comes back as it is.
func (r *Run) Rows(fn func(*hil.Row) error) error {
	it := r.Iter()
	var row hil.Row
	for it.Next(&row) {
		if err := fn(&row); err != nil {
			return err
		}
	}
	return it.Err()
}

// RowIter pulls rows one by one, as replay wants them.
type RowIter struct {
	r         *Run
	pass      *messages
	msg       mcapMessage
	err       error
	startTime int64 // ns  the loop's clock; rows outside startTime … endTime are left out
	endTime   int64
}

// Iter starts at the first row.
func (r *Run) Iter() *RowIter { return r.RowsBetween(math.MinInt64/2, math.MaxInt64) }

// RowsBetween starts at the first row whose time is at least from, and ends before the first chunk that lies beyond to;
// times are in ns of the loop's clock. Chunks that lie wholly outside are not even read.
func (r *Run) RowsBetween(from, to int64) *RowIter {
	stamp := func(t int64) uint64 {
		if t > 0 && t > math.MaxInt64-max(0, r.wall) {
			return math.MaxUint64
		}
		return uint64(max(0, t+r.wall))
	}
	return &RowIter{r: r, pass: r.m.pass(r.m.topic(runTopics[chRows], chRows), stamp(from), stamp(to)), startTime: from, endTime: to}
}

// Next gives the next row; false at the end or when Err has something to say.
func (it *RowIter) Next(row *hil.Row) bool {
	for it.err == nil {
		ok, err := it.pass.read(&it.msg)
		if err != nil || !ok {
			it.err = err
			return false
		}
		if err := it.r.codec.Decode(it.msg.data, row); err != nil {
			it.err = fmt.Errorf("%s: row %d of the chunk at byte %d: %w", it.r.Path, it.msg.seq, it.pass.chunkOffset, err)
			return false
		}
		if row.T >= it.startTime && row.T <= it.endTime {
			return true
		}
	}
	return false
}

// Err is what ended the rows before their end; nil if nothing did.
func (it *RowIter) Err() error { return it.err }

// Begin is the time of the first row, ns of the loop's clock; 0: there is none.
func (r *Run) Begin() (int64, error) {
	var row hil.Row
	it := r.Iter()
	if !it.Next(&row) {
		return 0, it.Err()
	}
	return row.T, nil
}

// EventsJSON are all events in the order they were recorded, as an array of JSON.
func (r *Run) EventsJSON() ([]byte, error) {
	all, err := collect(r, chEvents, func(body []byte) (json.RawMessage, error) { return bytes.Clone(body), nil })
	text, bad := json.Marshal(append([]json.RawMessage{}, all...))
	return text, cmp.Or(err, bad)
}

// Span are the times of the first row and of the newest on file; both zero: there is none.
func (r *Run) Span() (first, last time.Time, err error) {
	from, to, err := r.ends()
	if err != nil || from == 0 && to == 0 {
		return first, last, err
	}
	return r.Info.Wall(from), r.Info.Wall(to), nil
}

// ends are the times of the first row and of the newest on file, ns of the loop's clock; both 0: there is none.
func (r *Run) ends() (first, last int64, err error) {
	var row hil.Row
	it := r.Iter()
	if !it.Next(&row) {
		return 0, 0, it.Err()
	}
	first, last = row.T, row.T
	for k := len(r.m.chunks) - 1; k >= 0 && last == first; k-- { // events and parameters lie in chunks too
		c := &r.m.chunks[k]
		for it = r.RowsBetween(int64(c.startTime)-r.wall, math.MaxInt64); it.Next(&row); {
			last = row.T
		}
		if it.Err() != nil {
			return 0, 0, it.Err()
		}
	}
	return first, last, nil
}

// Params lists all parameter blocks in the order they came into force.
func (r *Run) Params() ([]ParamsAt, error) { return collect(r, chParams, decodeParams) }

func collect[T any](r *Run, channel uint16, decode func([]byte) (T, error)) ([]T, error) {
	var all []T
	var msg mcapMessage
	for p := r.m.pass(r.m.topic(runTopics[channel], channel), 0, math.MaxUint64); ; {
		ok, err := p.read(&msg)
		if err != nil || !ok {
			return all, err
		}
		v, err := decode(msg.data)
		if err != nil {
			return all, fmt.Errorf("%s: %s, chunk at byte %d: %w", r.Path, runTopics[channel], p.chunkOffset, err)
		}
		all = append(all, v)
	}
}
