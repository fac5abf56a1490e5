package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine/study"
)

// Following tasks in the queue must cost the file system and the controller next to nothing, however many tasks there are: files are
// counted by their names in one reading of the folder, and read once, at the end.
const (
	filesEvery   = time.Second     // at first; longer while nothing comes
	queueEvery   = 3 * time.Second // at the shortest
	callsByTime  = 4               // calls to the file system in a second, at most
	namesByCall  = 150             // names that a call reads, at least
	goneFor      = 3               // questions in which a task is not in the queue, until it is taken for gone: its file may be on its way
	doneFor      = 20              // … if Slurm says that it completed
	submitsAgain = 3               // times that a task is submitted again
)

// SlurmOptions are how tasks are submitted and followed.
type SlurmOptions struct {
	Sbatch []string      // further options of sbatch
	AtOnce int           // tasks that run at a time; 0: any number
	Poll   time.Duration // longest time between two looks
}

// slurm submits what is neither done nor in the queue, and follows it. A controller that does not answer is waited for.
func (s *parameterStudy) slurm(ctx context.Context, interrupted func() bool, o SlurmOptions, again string, stderr io.Writer) error {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return report.ExitWith(report.Unavailable, err)
	}
	q := newQueue(s.folder, dir, o.Sbatch, o.AtOnce)
	fail := func(err error) error {
		if interrupted() {
			return report.Exitf(report.Interrupted, "study run: no longer followed; tasks in the queue go on. %s follows them "+
				"again; this ends them: %s", again, q.scancel())
		}
		return report.Exitf(report.Unavailable, "study run: %w; the same command goes on: %s", err, again)
	}
	p, err := s.folder.Progress()
	if err != nil {
		return fail(err)
	}
	s.warnDamaged(p, stderr)
	if len(p.OpenTasks) == 0 {
		return nil
	}
	queued, jobs, _, _, err := q.waiting(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return report.Exitf(report.Unavailable, "study run: there is no squeue here; --executor slurm works where jobs are submitted")
	}
	if err != nil {
		return fail(err)
	}
	missing := slices.DeleteFunc(slices.Clone(p.OpenTasks), func(k int) bool { return queued[k] })
	if len(queued) > 0 {
		fmt.Fprintf(stderr, "%d tasks are in the queue already\n", len(queued))
	}
	if len(missing) > 0 {
		q.extra = append(s.timeLimit(ctx, missing, o.Sbatch, stderr), q.extra...)
		warnLocalDisk(dir, stderr)
	}
	f := &follower{
		s: s, q: q, stderr: stderr, damaged: p.Damaged, openTasks: p.OpenTasks, st: p.State,
		missed: map[int]int{}, resubmissions: map[int]int{}, endStates: map[int]string{},
	}
	if err := f.submit(ctx, missing, jobs); err != nil {
		return fail(err)
	}
	if err := f.follow(ctx, o.Poll); err != nil {
		return fail(err)
	}
	return nil
}

// timeLimit is the option of sbatch for the time that a task may take, ten times what a trial of the first run says, where nobody chose
// one, but no more than run_time_limit gives its runs. None, where there is no such limit and the trial does not end soon.
func (s *parameterStudy) timeLimit(ctx context.Context, tasks []int, chosen []string, stderr io.Writer) []string {
	if slices.ContainsFunc(chosen, func(o string) bool { return strings.HasPrefix(o, "--time=") || strings.HasPrefix(o, "-t") }) ||
		s.islands() {
		return nil
	}
	runs := 0
	for _, k := range tasks {
		runs = max(runs, s.folder.Manifest.Tasks[k].Runs)
	}
	_, one, err := s.sensible(ctx)
	longest, why := 10*one, fmt.Sprintf("a run takes about %.2g s here", one.Seconds())
	if limit := s.runLimit(); limit > 0 && (one >= trialTime || limit < longest) {
		longest, why = limit, fmt.Sprintf("a run takes %v at most (run_time_limit)", limit)
	} else if one >= trialTime {
		return nil
	}
	if err != nil {
		return nil
	}
	minutes := int(math.Ceil(1 + float64(runs)*longest.Minutes()))
	const text = "%s: tasks of %d runs are submitted with --time=%d, in minutes; --sbatch=--time=… for another limit\n"
	fmt.Fprintf(stderr, text, why, runs, minutes)
	return []string{fmt.Sprintf("--time=%d", minutes)}
}

// follower waits for tasks in the queue.
type follower struct {
	s         *parameterStudy
	q         *queue
	stderr    io.Writer
	damaged   []int // at the start: their files are there, and do not count until they are written anew
	openTasks []int
	st        study.State
	note      string

	unsubmitted   []int          // tasks that Slurm did not take yet
	refusal       string         // … for this reason
	refusalQueue  int            // tasks that were in the queue then
	missed        map[int]int    // questions in which an open task was not in the queue
	resubmissions map[int]int    // times that it was submitted again
	endStates     map[int]string // how tasks ended that are not submitted again
}

// submit hands tasks to the queue, and notes what it does not take.
func (f *follower) submit(ctx context.Context, tasks []int, jobs map[int][]string) (err error) {
	was := f.refusal
	f.unsubmitted, f.refusal, err = f.q.submit(ctx, tasks, jobs)
	if len(f.unsubmitted) > 0 && f.refusal != was {
		fmt.Fprintf(f.stderr, "%d tasks wait here, and are submitted as others end: %s\n", len(f.unsubmitted), f.refusal)
	}
	return err
}

// follow waits until no task is open, or none of the open ones is in the queue or will be.
func (f *follower) follow(ctx context.Context, longest time.Duration) error {
	bar := report.NewProgress(f.stderr)
	defer bar.Finish()
	pause, asked := filesEvery, time.Now()
	f.note = "waiting"
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		before := len(f.openTasks)
		names, err := f.count()
		if err != nil {
			return err
		}
		if len(f.openTasks) == 0 {
			return nil
		}
		if pause = min(pause*3/2, longest); len(f.openTasks) < before {
			pause = filesEvery
		}
		pause = max(pause, time.Duration(3+names/namesByCall)*time.Second/callsByTime)
		if time.Since(asked) >= queueEvery {
			asked = time.Now()
			if err := f.ask(ctx); err != nil {
				return err
			}
		}
		stage := stageOf(f.st)
		stage.Note = f.note
		bar.Watch(stage)
	}
}

// count takes tasks for done whose files are there, and tells how many names were read.
func (f *follower) count() (names int, err error) {
	done, names, err := f.s.folder.Finished()
	if err != nil {
		return 0, err
	}
	for _, k := range f.damaged {
		if done[k] {
			_, err := f.s.folder.Read(k)
			done[k] = err == nil
		}
	}
	f.openTasks = slices.DeleteFunc(f.openTasks, func(k int) bool {
		if done[k] {
			n := f.s.folder.Manifest.Tasks[k].Runs
			f.st.DoneRuns, f.st.NewRuns = f.st.DoneRuns+n, f.st.NewRuns+n
		}
		return done[k]
	})
	return names, nil
}

// ask looks at the queue: it hands over what waits here, submits again what a machine lost, and ends when nothing is left to wait for.
func (f *follower) ask(ctx context.Context) error {
	queued, jobs, running, why, err := f.q.waiting(ctx)
	if err != nil {
		f.note = "the controller of Slurm does not answer"
		return nil
	}
	f.note = fmt.Sprintf("%d running, %d waiting", running, len(queued)-running)
	if running == 0 && why != "" && why != "None" {
		f.note += " (" + why + ")"
	}
	if len(f.unsubmitted) > 0 {
		f.note += fmt.Sprintf(", %d here (%s)", len(f.unsubmitted), f.refusal)
		if f.refusalQueue = max(f.refusalQueue, len(queued)); len(queued) <= f.refusalQueue/2 {
			f.refusalQueue, f.q.size = 0, max(f.refusalQueue-len(queued), 1)
			return f.submit(ctx, f.unsubmitted, jobs)
		}
	}
	gone := f.vanished(queued)
	if len(gone) == 0 {
		return nil
	}
	state, err := f.q.ends(ctx)
	if err != nil {
		return nil // later
	}
	var once []int
	for _, k := range gone {
		switch s := state[k]; {
		case (s == "NODE_FAIL" || s == "PREEMPTED" || s == "BOOT_FAIL") && f.resubmissions[k] < submitsAgain:
			once = append(once, k)
			f.resubmissions[k]++
			delete(f.missed, k)
		case s == "COMPLETED" && f.missed[k] < doneFor: // a file may come late through the network
		default:
			f.endStates[k] = s
		}
	}
	if len(once) > 0 {
		fmt.Fprintf(f.stderr, "the tasks %s have left the queue without a result and are submitted once more: %s\n", ranges(once),
			strings.ToLower(state[once[0]]))
		return f.submit(ctx, slices.Sorted(slices.Values(append(once, f.unsubmitted...))), jobs)
	}
	if len(f.endStates) >= len(f.openTasks) {
		return f.endings()
	}
	return nil
}

// vanished are the open tasks that have been out of the queue for a while, and whose end is not known yet.
func (f *follower) vanished(queued map[int]bool) (list []int) {
	here := map[int]bool{}
	for _, k := range f.unsubmitted {
		here[k] = true
	}
	for _, k := range f.openTasks {
		if _, known := f.endStates[k]; queued[k] || here[k] {
			delete(f.missed, k)
			delete(f.endStates, k)
		} else if f.missed[k]++; f.missed[k] >= goneFor && !known {
			list = append(list, k)
		}
	}
	return list
}

// endWords say what the states of Slurm mean for whoever ordered the study.
var endWords = map[string]string{
	"CANCELLED":     "were cancelled",
	"TIMEOUT":       "ran into their time limit (give more with --sbatch=--time=MINUTES; runs that were done are kept)",
	"OUT_OF_MEMORY": "ran out of memory (give more with --sbatch=--mem=…)",
	"DEADLINE":      "missed their deadline",
	"NODE_FAIL":     "lost their node again and again",
	"PREEMPTED":     "were preempted again and again",
	"BOOT_FAIL":     "had nodes that did not boot, again and again",
	"COMPLETED":     "have completed, and their files are not here: do all nodes see this folder?",
	"":              "have left the queue without a result, and Slurm does not know any more how",
}

// endings says how the open tasks ended, by the state that Slurm gave them.
func (f *follower) endings() error {
	by := map[string][]int{}
	for _, k := range f.openTasks {
		by[f.endStates[k]] = append(by[f.endStates[k]], k)
	}
	var parts []string
	for _, s := range slices.Sorted(maps.Keys(by)) {
		words, known := endWords[s]
		if !known {
			words = "have left the queue without a result (" + strings.ToLower(s) + ")"
		}
		parts = append(parts, fmt.Sprintf("the tasks %s %s; task %d: %s", ranges(by[s]), words, by[s][0], f.q.lastWords(by[s][0])))
	}
	return errors.New(strings.Join(parts, ". "))
}
