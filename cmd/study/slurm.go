package study

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"hilrig/cmd/report"
	"hilrig/engine/study"
)

// arraySize is the number of tasks in one array: one less than what Slurm takes unless it is told otherwise (MaxArraySize).
const arraySize = 1000

// queueEvery is how often the controller is asked; files of tasks are looked at oftener.
const (
	queueEvery = 3 * time.Second
	filesEvery = 500 * time.Millisecond
)

// queue is a study in the queue of Slurm. Its jobs are known by their name, which has the digest of the manifest: so another program, on
// another machine, finds them too.
type queue struct {
	folder *study.Folder
	dir    string // absolute
	extra  []string
}

func (q *queue) name(block int) string { return fmt.Sprintf("hil-%.12s-%d", q.folder.Digest(), block) }

func (q *queue) logs() string { return filepath.Join(q.dir, "slurm") }

// slurmRun runs a command of Slurm. The error has what the command says.
func slurmRun(ctx context.Context, stdin, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// submit puts tasks into the queue, an array for every block of arraySize.
func (q *queue) submit(ctx context.Context, open []int) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(q.logs(), 0o755); err != nil {
		return err
	}
	blocks := map[int][]int{}
	most := 0
	for _, k := range open {
		blocks[k/arraySize] = append(blocks[k/arraySize], k%arraySize)
		most = max(most, k/arraySize)
	}
	for b := range most + 1 {
		if len(blocks[b]) == 0 {
			continue
		}
		script := fmt.Sprintf("#!/bin/sh\nexec %s study task %s --index $((SLURM_ARRAY_TASK_ID + %d))\n", quoted(program), quoted(q.dir), b*arraySize)
		args := append([]string{"--parsable", "--job-name=" + q.name(b), "--array=" + ranges(blocks[b]), "--ntasks=1", "--cpus-per-task=1", "--requeue", "--open-mode=append",
			"--chdir=" + q.dir, "--output=" + filepath.Join(q.logs(), fmt.Sprintf("%d-%%a.log", b))}, q.extra...)
		if _, err := slurmRun(ctx, script, "sbatch", args...); err != nil {
			return err
		}
	}
	return nil
}

// quoted is a word for the shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// waiting are the tasks in the queue, how many of them run, and why the last of the others does not.
func (q *queue) waiting(ctx context.Context) (tasks map[int]bool, running int, why string, err error) {
	tasks = map[int]bool{}
	for b := range (len(q.folder.Manifest.Tasks)-1)/arraySize + 1 {
		out, err := slurmRun(ctx, "", "squeue", "--noheader", "--array", "--name="+q.name(b), "--format=%K %t %r")
		if err != nil {
			return nil, 0, "", err
		}
		for line := range strings.Lines(out) {
			k, state, _ := strings.Cut(strings.TrimSpace(line), " ")
			state, reason, _ := strings.Cut(state, " ")
			n, err := strconv.Atoi(k)
			if err != nil {
				continue // an array that is being made
			}
			tasks[b*arraySize+n] = true
			switch state {
			case "R":
				running++
			case "PD":
				why = reason
			}
		}
	}
	return tasks, running, why, nil
}

// lastWords is the end of the log of a task.
func (q *queue) lastWords(task int) string {
	text, _ := os.ReadFile(filepath.Join(q.logs(), fmt.Sprintf("%d-%d.log", task/arraySize, task%arraySize)))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return "its log says nothing"
}

// slurm submits what is neither done nor in the queue, and follows it. A controller that does not answer is waited for.
func (s *parameterStudy) slurm(ctx context.Context, interrupted func() bool, extra []string, again string, stderr io.Writer) error {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return report.ExitWith(report.Unavailable, err)
	}
	q := &queue{s.folder, dir, extra}
	fail := func(err error) error {
		if interrupted() {
			return report.ExitWith(report.Interrupted, fmt.Errorf("study run: no longer followed; tasks in the queue go on. %s follows them again; scancel --name=%s ends them", again, q.name(0)))
		}
		return report.ExitWith(report.Unavailable, fmt.Errorf("study run: %w; the same command goes on: %s", err, again))
	}
	p, err := s.folder.Look()
	if err != nil {
		return fail(err)
	}
	if len(p.Open) == 0 {
		return nil
	}
	queued, _, _, err := q.waiting(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return report.ExitWith(report.Unavailable, errors.New("study run: there is no squeue here; --executor slurm works where jobs are submitted"))
	}
	if err != nil {
		return fail(err)
	}
	var missing []int
	for _, k := range p.Open {
		if !queued[k] {
			missing = append(missing, k)
		}
	}
	if len(queued) > 0 {
		fmt.Fprintf(stderr, "%d tasks are in the queue already\n", len(queued))
	}
	if err := q.submit(ctx, missing); err != nil {
		return fail(err)
	}
	if err := s.follow(ctx, q, p, stderr); err != nil {
		return fail(err)
	}
	return nil
}

// follow waits until no task is open, or none of the open ones is in the queue any more.
func (s *parameterStudy) follow(ctx context.Context, q *queue, p study.Progress, stderr io.Writer) error {
	bar := report.NewProgress(stderr)
	defer bar.Done()
	open, st, note := p.Open, p.State, "waiting"
	asked, gone := time.Now(), 0
	again := map[int]bool{} // submitted a second time
	tick := time.NewTicker(filesEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		var left []int
		for _, k := range open {
			failed, ok := s.folder.Finished(k)
			if !ok {
				left = append(left, k)
				continue
			}
			n := s.folder.Manifest.Tasks[k].Runs
			st.Done, st.Now, st.Failed = st.Done+n, st.Now+n, st.Failed+failed
		}
		if open = left; len(open) == 0 {
			return nil
		}
		if time.Since(asked) >= queueEvery {
			asked = time.Now()
			switch queued, running, why, err := q.waiting(ctx); {
			case err != nil:
				note = "the controller of Slurm does not answer"
			case lost(open, queued) != nil:
				note = "tasks have left the queue"
				if gone++; gone < 3 { // their files may be on the way through the network
					break
				}
				k := lost(open, queued)
				if !again[k[0]] { // killed with their node, say
					fmt.Fprintf(stderr, "the tasks %s have left the queue without a result and are submitted once more; task %d: %s\n", ranges(k), k[0], q.lastWords(k[0]))
					if err := q.submit(ctx, k); err != nil {
						return err
					}
					for _, k := range k {
						again[k] = true
					}
					gone = 0
					break
				}
				return fmt.Errorf("the tasks %s have left the queue without a result; task %d: %s", ranges(k), k[0], q.lastWords(k[0]))
			default:
				gone = 0
				note = fmt.Sprintf("%d running, %d waiting", running, len(queued)-running)
				if running == 0 && why != "" && why != "None" {
					note += " (" + why + ")"
				}
			}
		}
		stage := stageOf(st)
		stage.Note = note
		bar.Watch(stage)
	}
}

// lost are the open tasks that are not in the queue, once all are; nil while some are, for these may end first.
func lost(open []int, queued map[int]bool) []int {
	if len(queued) > 0 {
		return nil
	}
	return open
}
