package study

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The file of a task is JSON, a line each: first which task of which manifest it is, then every run in order, then how many of
// them failed and the SHA-256 of all lines before. While the task is under way the file has a name of its own that ends in .part, which
// only the program that writes it writes to. It gets its name when it is whole and on the disk. Parts that killed programs have left behind
// are a journal: the runs in them are taken over.

type taskHead struct {
	Format   int    `json:"hil_task"`
	Manifest string `json:"manifest"`
	Task     int    `json:"task"`
}

type taskEnd struct {
	FailedRuns int    `json:"failed_runs"`
	SHA256     string `json:"sha256"`
}

const taskFormat = 1

func (f *Folder) taskPath(task int) string {
	return filepath.Join(f.dir, TaskFolder, fmt.Sprintf("%06d.jsonl", task))
}

func (f *Folder) head(task int) taskHead { return taskHead{taskFormat, f.digest, task} }

// Read gives the outcomes of a finished task. The error is fs.ErrNotExist where it is not finished, and *Foreign where the file
// is damaged or not of this study: such a task is done again.
func (f *Folder) Read(task int) ([]Outcome, error) {
	path := f.taskPath(task)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	bad := func(why string) ([]Outcome, error) { return nil, &Foreign{path, why} }
	body, last, ok := cutLastLine(text)
	var end taskEnd
	if !ok || strictly(last, &end) != nil || end.SHA256 != fmt.Sprintf("%x", sha256.Sum256(body)) {
		return bad("is damaged")
	}
	list, mine := f.parse(bytes.NewReader(body), task)
	switch {
	case !mine:
		return bad("belongs to another plan")
	case len(list) != f.Manifest.Tasks[task].Runs:
		return bad("is damaged")
	}
	return list, nil
}

// Finished tells by one reading of the folder which tasks have a file, whole or damaged, and how many names there are.
func (f *Folder) Finished() (done []bool, names int, err error) {
	dir, err := os.Open(filepath.Join(f.dir, TaskFolder))
	if err != nil {
		return nil, 0, err
	}
	defer dir.Close()
	list, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, 0, err
	}
	done = make([]bool, len(f.Manifest.Tasks))
	for _, name := range list {
		number, ended := strings.CutSuffix(name, ".jsonl")
		if k, err := strconv.Atoi(number); ended && err == nil && k >= 0 && k < len(done) {
			done[k] = true
		}
	}
	return done, len(list), nil
}

// tasksWithFile is Finished; of a folder that is away no task has a file.
func (f *Folder) tasksWithFile() (done []bool, err error) {
	if done, _, err = f.Finished(); errors.Is(err, fs.ErrNotExist) {
		return make([]bool, len(f.Manifest.Tasks)), nil
	}
	return done, err
}

// cutLastLine takes the last line off; ok is false where the text does not end with one.
func cutLastLine(text []byte) (body, last []byte, ok bool) {
	if len(text) == 0 || text[len(text)-1] != '\n' {
		return nil, nil, false
	}
	at := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	return text[:at], text[at:], at > 0
}

// parse reads the outcomes of a task as far as they are whole and in order; mine is false for the file of another task or manifest.
func (f *Folder) parse(r io.Reader, task int) (list []Outcome, mine bool) {
	in, span := bufio.NewReaderSize(r, 1<<16), f.Manifest.Tasks[task]
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return list, mine // what stands here has no end: torn
		}
		if !mine {
			var got taskHead
			if strictly(line, &got) != nil || got != f.head(task) {
				return nil, false
			}
			mine = true
			continue
		}
		var o Outcome
		if strictly(line, &o) != nil || o.Run != span.FirstRun+len(list) || !o.valid() || len(list) == span.Runs {
			return list, true
		}
		list = append(list, o)
	}
}

// parts are the files that programs under way, or killed ones, have for a task.
func (f *Folder) parts(task int) []string {
	list, _ := filepath.Glob(strings.TrimSuffix(f.taskPath(task), ".jsonl") + ".*.part")
	return list
}

// HasPart tells whether a program is at work on a task, or was.
func (f *Folder) HasPart(task int) bool { return len(f.parts(task)) > 0 }

// leftBehind is the longest beginning of a task that a part holds.
func (f *Folder) leftBehind(task int) (best []Outcome) {
	for _, path := range f.parts(task) {
		file, err := os.Open(path)
		if err != nil {
			continue
		}
		if list, mine := f.parse(file, task); mine && len(list) > len(best) {
			best = list
		}
		file.Close()
	}
	return best
}

// syncEvery is how much work of a task a power cut may take; a killed program loses none.
const syncEvery = 10 * time.Second

// taskWriter writes the part of a task.
type taskWriter struct {
	file       *os.File
	sum        hash.Hash
	failedRuns int
	synced     time.Time
}

func (w *taskWriter) line(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	w.sum.Write(text)
	_, err = w.file.Write(text) // one call: a killed program leaves whole lines, or a torn last one
	return err
}

func (w *taskWriter) add(o Outcome) error {
	if o.Failure != "" {
		w.failedRuns++
	}
	if err := w.line(o); err != nil || time.Since(w.synced) < syncEvery {
		return err
	}
	w.synced = time.Now()
	return w.file.Sync()
}

// Early is the refusal of a task that comes after others that are not done.
type Early struct {
	Task      int
	OpenTasks []int // those
}

func (e *Early) Error() string {
	return fmt.Sprintf("task %d begins from what the tasks %v give, which are not done", e.Task, e.OpenTasks)
}

// CheckOrder tells whether a task can be done; the error is *Early where others have to be done first.
func (f *Folder) CheckOrder(task int) error {
	var open []int
	for _, k := range f.Manifest.Tasks[task].Dependencies {
		if _, err := f.Read(k); err != nil {
			open = append(open, k)
		}
	}
	if open != nil {
		return &Early{task, open}
	}
	return nil
}

// Do does one task unless it is finished; runs that a part holds are not done again. see, if any, is told of every run, fresh if it
// was done now. When ctx ends, the part stays, and the error is that of ctx. The error is *Early where others have to be done first.
// Any other error is that of the disk.
func (f *Folder) Do(ctx context.Context, task int, work Work, see func(o Outcome, fresh bool)) (err error) {
	if _, err := f.Read(task); err == nil {
		return nil
	}
	if err := f.CheckOrder(task); err != nil {
		return err
	}
	if see == nil {
		see = func(Outcome, bool) {}
	}
	old, span := f.leftBehind(task), f.Manifest.Tasks[task]
	stale := f.parts(task)
	file, err := os.CreateTemp(filepath.Join(f.dir, TaskFolder), fmt.Sprintf("%06d.*.part", task))
	if err != nil {
		return fmt.Errorf("task %d: %w", task, err)
	}
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("task %d: %w", task, err)
		}
	}()
	defer file.Close()
	w := &taskWriter{file: file, sum: sha256.New(), synced: time.Now()}
	if err := w.line(f.head(task)); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	for _, o := range old {
		if err := w.add(o); err != nil {
			return errors.Join(err, os.Remove(file.Name())) // the old part still has them
		}
		see(o, false)
	}
	for run := span.FirstRun + len(old); run < span.FirstRun+span.Runs; run++ {
		o, ok := attempt(ctx, run, work)
		if !ok {
			return errors.Join(ctx.Err(), file.Sync())
		}
		if err := w.add(o); err != nil {
			return err
		}
		see(o, true)
	}
	if err := w.line(taskEnd{w.failedRuns, fmt.Sprintf("%x", w.sum.Sum(nil))}); err != nil {
		return err
	}
	place := func() error { return os.Rename(file.Name(), f.taskPath(task)) }
	for _, next := range []func() error{func() error { return file.Chmod(0o644) }, file.Sync, file.Close, place} {
		if err := next(); err != nil {
			if _, done := f.Read(task); done == nil {
				return nil // another program has finished it meanwhile and removed this part
			}
			return err
		}
	}
	return tidy(stale)
}

// syncNames forces the names of finished files to the disk, where folders can be.
func (f *Folder) syncNames() {
	if d, err := os.Open(filepath.Join(f.dir, TaskFolder)); err == nil {
		_ = d.Sync() // some file systems refuse, and need it not
		d.Close()
	}
}

// tidy removes parts whose runs are in a newer file. A program that still writes to one notices at its end.
func tidy(parts []string) error {
	for _, p := range parts {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
