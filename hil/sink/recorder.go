package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/rt"
)

// RecorderOptions tune a recorder; the zero value is usable.
type RecorderOptions struct {
	Chunk time.Duration   // longest time between writes, what a crash may cost; 0: 0.5 s
	Mono  func() int64    // ns  the loop's clock; nil: rt.Now
	Event func(hil.Event) // told at once when rows are lost or the disk fails; must not block; may be nil
}

// Record is the section of the recording.
type Record struct {
	Enabled  bool    `yaml:"enabled" doc:"record every run"`
	Dir      string  `yaml:"dir" doc:"each run makes a folder of its own below it; relative to the working directory"`
	Chunk    float64 `yaml:"chunk" unit:"s" want:">=0.05 <=10" doc:"a recording cut short by a crash loses at most this much"`
	MaxBytes float64 `yaml:"keep" unit:"B" want:">=0 <=1e15" doc:"oldest runs are removed above this size; 0: keep all"`
}

// RecorderStats are running totals.
type RecorderStats struct {
	Rows     uint64 // on file
	LostRows uint64 // dropped by the ring, or taken after the disk failed
	Notes    uint64 // events and parameter blocks that found the queue full, or came too late
	Bytes    uint64 // on file
	Chunks   uint64 // on file
}

const (
	pollEvery  = 5 * time.Millisecond
	chunkSpare = 64      // chunks that may wait for the disk before rows stay in the ring: ≥ 30 s at 1 kHz, ≤ 70 MiB
	noteRoom   = 1024    // events and parameter blocks waiting to be gathered
	lastDrain  = 5 * 1e9 // ns  for what is left in the ring when the run ends
)

// Channels of a recording; the ids are fixed.
const (
	chRows = 1 + iota
	chEvents
	chParams
	chClock
	nChannels = chClock
)

var runTopics = [nChannels + 1]string{chRows: "rows", chEvents: "events", chParams: "params", chClock: "clock"}

// Recorder writes a run to disk. One goroutine gathers rows from the ring into chunks, another compresses and writes them,
// so that an fsync that takes seconds costs nothing until chunkSpare chunks wait. Neither is ever near the tick.
//
//	rec, err := sink.NewRecorder("runs", info, sink.RecorderOptions{})
//	go rec.Run(ctx, ring.Reader())
//	rec.Event(e); rec.Params(p, names, t)
type Recorder struct {
	opt  RecorderOptions
	dir  string
	path string
	info hil.Info
	w    *mcapWriter // of the disk goroutine, while that runs
	file *os.File    // behind w

	newestParams atomic.Pointer[note] // of the parameter blocks: a file that begins later needs it

	codec *RowCodec
	wall  int64 // ns  time since 1970 minus the loop's clock, at the start

	// gatherer
	cur        *mcapChunk
	opened     time.Time // when cur got its first message
	seq        [nChannels + 1]uint32
	chunkCount int  // chunks that exist
	finishing  bool // the run is over: wait for the disk rather than leave rows behind
	fullChunks chan *mcapChunk
	freeChunks chan *mcapChunk
	notes      chan note

	// shared counters
	diskError atomic.Pointer[error]
	stopped   atomic.Bool
	rows      atomic.Uint64
	lostRows  atomic.Uint64
	ringLost  atomic.Uint64
	lostNotes atomic.Uint64
	bytes     atomic.Uint64
	chunks    atomic.Uint64
	diskDone  chan struct{}
}

// note is a message that is not a row, encoded by whoever made it.
type note struct {
	channel uint16
	time    uint64 // ns since 1970
	data    []byte
}

// NewRecorder makes the run's folder below dir, dir/<start>_<rig>, and starts run.mcap and run.yaml in it. Nothing that
// exists is written over: a second run in the same second gets "-2". The error says what to do about it.
func NewRecorder(dir string, info hil.Info, opt RecorderOptions) (*Recorder, error) {
	if opt.Chunk <= 0 {
		opt.Chunk = 500 * time.Millisecond
	}
	if opt.Mono == nil {
		opt.Mono = rt.Now
	}
	rec := &Recorder{opt: opt, info: info, wall: info.Start.UnixNano() - info.Mono, fullChunks: make(chan *mcapChunk, chunkSpare),
		freeChunks: make(chan *mcapChunk, chunkSpare), notes: make(chan note, noteRoom), diskDone: make(chan struct{})}
	var err error
	if rec.codec, err = NewRowCodec(&info.Schema, rec.wall); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	name := info.Schema.Rig
	if info.DryRun {
		name += dryRun
	}
	if rec.dir, err = makeRunDir(dir, info.Start, name); err != nil {
		return nil, fmt.Errorf("record: %w. Choose another folder (record.dir or --record), make it writable, or switch recording off", err)
	}
	rec.path = filepath.Join(rec.dir, runFile)
	if err := rec.create(); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	rec.bytes.Store(uint64(rec.w.offset))
	return rec, nil
}

// create makes the two files of the run, which must not exist yet.
func (rec *Recorder) create() error {
	if err := writeNew(filepath.Join(rec.dir, runConfig), rec.info.Config); err != nil {
		return err
	}
	f, err := os.OpenFile(rec.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	w, err := newMCAPWriter(f, "hil "+rec.info.Version, func(w *mcapWriter) { prologue(w, &rec.info) })
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Close()
		return fmt.Errorf("write %s: %w", rec.path, bare(err))
	}
	syncDir(rec.dir)
	rec.w, rec.file = w, f
	return nil
}

// Dir is the folder of the run, Path its run.mcap.
func (rec *Recorder) Dir() string  { return rec.dir }
func (rec *Recorder) Path() string { return rec.path }

// Discard removes the folder of a recording that got no row: of a run that never began. It may hold nothing but a run's own files. To be
// called when Run has returned or was never called.
func (rec *Recorder) Discard() error {
	rec.w.f.Close() // again, where Run was
	return removeRun(rec.dir)
}

// Stats may be asked at any time from any goroutine.
func (rec *Recorder) Stats() RecorderStats {
	return RecorderStats{Rows: rec.rows.Load(), LostRows: rec.lostRows.Load() + rec.ringLost.Load(), Notes: rec.lostNotes.Load(),
		Bytes: rec.bytes.Load(), Chunks: rec.chunks.Load()}
}

// Event records an event. It never blocks; when the queue is full the event is dropped and counted.
func (rec *Recorder) Event(e hil.Event) {
	rec.note(note{chEvents, uint64(max(0, e.Time.UnixNano())), encodeEvent(e, appendDecimal(nil, e.Time.UnixNano(), 9))})
}

// Params records the parameter block that came into force at t (ns, the loop's clock); names belong to the first
// entries of p.V. Replay needs every generation, so each block the tick adopts goes here.
func (rec *Recorder) Params(p hil.Params, names []string, t int64) {
	n := note{chParams, rec.stamp(t), encodeParams(p, names, t, rec.wall)}
	rec.newestParams.Store(&n)
	rec.note(n)
}

func (rec *Recorder) note(n note) {
	if !rec.stopped.Load() {
		select {
		case rec.notes <- n:
			return
		default:
		}
	}
	rec.lostNotes.Add(1)
}

// stamp is the wall-clock time of a time of the loop's clock, ns since 1970.
func (rec *Recorder) stamp(t int64) uint64 { return uint64(max(0, t+rec.wall)) }

// Run records until ctx ends, then takes what is left in the ring, writes the summary and closes the file. If the disk
// fails it keeps draining and counts what is lost; the error then says why, how much, and what is readable.
func (rec *Recorder) Run(ctx context.Context, rows RowSource) error {
	go rec.disk()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	var row hil.Row
	var lastClock, lastLoss time.Time
	for done := false; ; {
		now := time.Now()
		if now.Sub(lastClock) >= time.Second || done {
			lastClock = now
			rec.gatherClock()
		}
		rec.gather(rows, &row, now.Add(lastDrain))
		if now.Sub(lastLoss) >= time.Second || done {
			lastLoss = now
			rec.tellLoss(rows.Dropped())
		}
		rec.gatherNotes()
		if rec.cur != nil && rec.cur.n > 0 && (done || now.Sub(rec.opened) >= rec.opt.Chunk) {
			rec.handOver()
		}
		if done {
			break
		}
		select {
		case <-ctx.Done():
			done, rec.finishing = true, true // once more, for what is left
			rec.stopped.Store(true)
		case <-tick.C:
		}
	}
	close(rec.fullChunks)
	<-rec.diskDone
	for ; len(rec.notes) > 0; rec.lostNotes.Add(1) {
		<-rec.notes // slipped in behind the last pass
	}

	// the summary, even after a failure: it is small and may still fit
	failed := rec.diskError.Load()
	err := rec.w.finish()
	rec.bytes.Store(uint64(rec.w.offset))
	switch {
	case failed != nil:
		err = *failed
	case err == nil:
		return nil
	}
	err = bare(err)
	return fmt.Errorf("record: write %s: %w; the first %d rows are readable, %d are lost. Free space on that disk, or set record.keep or "+
		"another record.dir", rec.path, err, rec.rows.Load(), rec.lostRows.Load()+rec.ringLost.Load())
}

// gather takes all rows there are, as long as there is a chunk to put them in.
func (rec *Recorder) gather(rows RowSource, row *hil.Row, until time.Time) {
	for k := 0; ; k++ {
		c := rec.chunk()
		if c == nil {
			return // the disk is behind: the rows wait in the ring
		}
		if k&1023 == 1023 && time.Now().After(until) {
			return
		}
		if !rows.Pop(row) {
			return
		}
		rec.begin(c, chRows, rec.stamp(row.T))
		c.buf = rec.codec.Append(c.buf, row)
		c.shut()
		if len(c.buf) >= chunkBytes {
			rec.handOver()
		}
	}
}

// gatherNotes takes the events and parameter blocks that are waiting.
func (rec *Recorder) gatherNotes() {
	for {
		c := rec.chunk()
		if c == nil {
			return
		}
		select {
		case n := <-rec.notes:
			rec.begin(c, n.channel, n.time)
			c.buf = append(c.buf, n.data...)
			c.shut()
		default:
			return
		}
	}
}

// gatherClock records one pair of wall clock and loop clock.
func (rec *Recorder) gatherClock() {
	c := rec.chunk()
	if c == nil {
		return
	}
	a := rec.opt.Mono()
	wall := time.Now().UnixNano()
	b := rec.opt.Mono()
	t := a + (b-a)/2
	rec.begin(c, chClock, uint64(max(0, wall)))
	c.buf = appendClock(c.buf, wall, t, b-a, wall-(t+rec.wall))
	c.shut()
}

func (rec *Recorder) begin(c *mcapChunk, channel uint16, t uint64) {
	if c.n == 0 {
		rec.opened = time.Now()
	}
	c.open(channel, rec.seq[channel], t)
	rec.seq[channel]++
}

// chunk is the chunk being gathered; nil when all are waiting for the disk.
func (rec *Recorder) chunk() *mcapChunk {
	if rec.cur != nil {
		return rec.cur
	}
	select {
	case rec.cur = <-rec.freeChunks:
	default:
		if rec.chunkCount < chunkSpare {
			rec.chunkCount++
			rec.cur = newChunk(nChannels)
		} else if rec.finishing {
			rec.cur = <-rec.freeChunks
		}
	}
	return rec.cur
}

func (rec *Recorder) handOver() {
	rec.fullChunks <- rec.cur // has room for all chunks there are
	rec.cur = nil
}

// disk writes chunks in the order they were gathered. It syncs when it has caught up, at the latest after opt.Chunk.
func (rec *Recorder) disk() {
	defer failure.Report()
	defer close(rec.diskDone)
	synced := time.Now()
	for c := range rec.fullChunks {
		n := c.counts[chRows]
		if rec.diskError.Load() == nil {
			err := rec.present()
			if err == nil {
				err = rec.w.writeChunk(c)
			}
			if err == nil {
				rec.rows.Add(n)
				rec.chunks.Add(1)
				rec.bytes.Store(uint64(rec.w.offset))
				n = 0
				if len(rec.fullChunks) == 0 || time.Since(synced) >= rec.opt.Chunk {
					err = rec.w.f.Sync()
					synced = time.Now()
				}
			}
			if err != nil {
				rec.fail(err)
			}
		}
		rec.lostRows.Add(n)
		c.reset()
		rec.freeChunks <- c
	}
}

// present looks whether the file still has its name. One that was deleted or moved away would take rows that nobody finds: it is ended, and
// a new one is begun in its place.
func (rec *Recorder) present() error {
	mine, err := rec.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(rec.path)
	switch {
	case err == nil && os.SameFile(mine, there):
		return nil
	case err == nil:
		return errors.New("another file has taken its place")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	rec.w.finish() // one that was moved is whole then; of one that was deleted nothing is left to fail
	gone := rec.rows.Swap(0)
	rec.info.Note = "begun after the recording before it was deleted or moved: its rows do not start with the run"
	os.Remove(filepath.Join(rec.dir, runConfig))
	err = os.MkdirAll(rec.dir, 0o755)
	if err == nil {
		err = rec.create()
	}
	if err == nil {
		if n := rec.newestParams.Load(); n != nil {
			c := newChunk(nChannels)
			c.open(n.channel, 0, n.time)
			c.buf = append(c.buf, n.data...)
			c.shut()
			err = rec.w.writeChunk(c)
		}
	}
	text := fmt.Sprintf("%s was deleted or moved under way, with %d rows in it. ", rec.path, gone)
	if err != nil {
		return fmt.Errorf("%sNo new one could be begun: %w", text, bare(err))
	}
	e := hil.Event{Time: time.Now(), Level: "error", Code: "RECORD_GONE", Text: text + "A new one is begun in its place; it cannot be " +
		"replayed, since its rows do not start with the run"}
	rec.Event(e)
	rec.emit(e)
	return nil
}

// fail stops writing for good; what is on file stays.
func (rec *Recorder) fail(err error) {
	err = bare(err)
	rec.diskError.Store(&err)
	rec.emit(hil.Event{Time: time.Now(), Level: "error", Code: "RECORD_FAILED", Text: fmt.Sprintf("recording stopped: write %s: %v. The "+
		"first %d rows are on file; the loop goes on unrecorded", rec.path, err, rec.rows.Load())})
}

// tellLoss reports rows that the ring dropped since the last time.
func (rec *Recorder) tellLoss(dropped uint64) {
	if before := rec.ringLost.Swap(dropped); dropped > before {
		e := hil.Event{Time: time.Now(), Level: "warn", Code: "RECORD_LOST",
			Text: fmt.Sprintf("%d rows are missing from the recording: the disk did not keep up", dropped-before)}
		rec.Event(e)
		rec.emit(e)
	}
}

func (rec *Recorder) emit(e hil.Event) {
	if rec.opt.Event != nil {
		rec.opt.Event(e)
	}
}
