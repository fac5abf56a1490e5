package study

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// waitFor is how long a task by Slurm waits for those before it: these are over, but files of another node may come late.
const waitFor = 2 * time.Minute

// queue is a study in the queue of Slurm, in blocks of tasks that follow one another, an array each. Its jobs are known by their name, which has the digest of
// the manifest: so another program, on another machine, finds them too.
type queue struct {
	folder *study.Folder
	dir    string // absolute
	extra  []string
	first  []int // task of every block
	block  []int // of every task
}

// newQueue makes blocks of at most arraySize tasks that need not wait for one another.
func newQueue(folder *study.Folder, dir string, extra []string) *queue {
	q := &queue{folder: folder, dir: dir, extra: extra}
	rounds := folder.Manifest.Rounds()
	for k, r := range rounds {
		if k == 0 || r != rounds[k-1] || k-q.first[len(q.first)-1] == arraySize {
			q.first = append(q.first, k)
		}
		q.block = append(q.block, len(q.first)-1)
	}
	return q
}

func (q *queue) name(block int) string { return fmt.Sprintf("hil-%.12s-%d", q.folder.Digest(), block) }

// scancel is the command that takes all tasks out of the queue.
func (q *queue) scancel() string {
	if len(q.first) == 1 {
		return "scancel --name=" + q.name(0)
	}
	return fmt.Sprintf("squeue --me --noheader --format='%%F %%j' | grep hil-%.12s | cut -d' ' -f1 | xargs scancel", q.folder.Digest())
}

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

// submit puts tasks into the queue, an array for every block, each after the arrays with tasks that it begins from. jobs are the numbers of the arrays in
// the queue, by block; new ones are added. After any end of those: if one has failed, its own end says so, and the next ones say what they miss.
func (q *queue) submit(ctx context.Context, open []int, jobs map[int][]string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(q.logs(), 0o755); err != nil {
		return err
	}
	blocks := map[int][]int{}
	for _, k := range open {
		blocks[q.block[k]] = append(blocks[q.block[k]], k)
	}
	for _, b := range slices.Sorted(maps.Keys(blocks)) {
		script := fmt.Sprintf("#!/bin/sh\nexec %s study task %s --index $((SLURM_ARRAY_TASK_ID + %d))", report.ShellWord(program), report.ShellWord(q.dir), q.first[b])
		args := []string{"--parsable", "--job-name=" + q.name(b), "--ntasks=1", "--cpus-per-task=1", "--requeue", "--open-mode=append",
			"--chdir=" + q.dir, "--output=" + filepath.Join(q.logs(), fmt.Sprintf("%d-%%a.log", b))}
		var places []int
		var after []string
		for _, k := range blocks[b] {
			places = append(places, k-q.first[b])
			for _, t := range q.folder.Manifest.Tasks[k].After {
				after = append(after, jobs[q.block[t]]...)
			}
		}
		slices.Sort(after)
		if after = slices.Compact(after); len(after) > 0 {
			args = append(args, "--dependency=afterany:"+strings.Join(after, ":"))
		}
		if len(q.folder.Manifest.Tasks[blocks[b][0]].After) > 0 {
			script += fmt.Sprintf(" --wait %v", waitFor)
		}
		out, err := slurmRun(ctx, script+"\n", "sbatch", append(append(args, "--array="+ranges(places)), q.extra...)...)
		if err != nil {
			return err
		}
		id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // a cluster may stand behind
		jobs[b] = append(jobs[b], id)
	}
	return nil
}

// waiting are the tasks in the queue with the numbers of their arrays by block, how many of them run, and why the last of the others does not.
func (q *queue) waiting(ctx context.Context) (tasks map[int]bool, jobs map[int][]string, running int, why string, err error) {
	tasks, jobs = map[int]bool{}, map[int][]string{}
	var names []string
	of := map[string]int{}
	for b := range q.first {
		names = append(names, q.name(b))
		of[q.name(b)] = b
	}
	out, err := slurmRun(ctx, "", "squeue", "--noheader", "--array", "--name="+strings.Join(names, ","), "--format=%j %F %K %t %r")
	if err != nil {
		return nil, nil, 0, "", err
	}
	for line := range strings.Lines(out) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 5)
		b, known := of[words[0]]
		if !known || len(words) < 4 {
			continue
		}
		n, err := strconv.Atoi(words[2])
		if err != nil {
			continue // an array that is being made
		}
		tasks[q.first[b]+n] = true
		if !slices.Contains(jobs[b], words[1]) {
			jobs[b] = append(jobs[b], words[1])
		}
		switch words[3] {
		case "R":
			running++
		case "PD":
			why = words[len(words)-1]
		}
	}
	return tasks, jobs, running, why, nil
}

// lastWords is the end of the log of a task.
func (q *queue) lastWords(task int) string {
	b := q.block[task]
	text, _ := os.ReadFile(filepath.Join(q.logs(), fmt.Sprintf("%d-%d.log", b, task-q.first[b])))
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
	q := newQueue(s.folder, dir, extra)
	fail := func(err error) error {
		if interrupted() {
			return report.ExitWith(report.Interrupted, fmt.Errorf("study run: no longer followed; tasks in the queue go on. %s follows them again; this ends them: %s", again, q.scancel()))
		}
		return report.ExitWith(report.Unavailable, fmt.Errorf("study run: %w; the same command goes on: %s", err, again))
	}
	p, err := s.folder.Look()
	if err != nil {
		return fail(err)
	}
	s.warnDamaged(p, stderr)
	if len(p.Open) == 0 {
		return nil
	}
	queued, jobs, _, _, err := q.waiting(ctx)
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
	if err := q.submit(ctx, missing, jobs); err != nil {
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
			list, err := s.folder.Read(k) // a damaged file is one that is not done
			if err != nil {
				left = append(left, k)
				continue
			}
			st.Done, st.Now, st.Failed = st.Done+len(list), st.Now+len(list), st.Failed+failures(list)
		}
		if open = left; len(open) == 0 {
			return nil
		}
		if time.Since(asked) >= queueEvery {
			asked = time.Now()
			switch queued, jobs, running, why, err := q.waiting(ctx); {
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
					if err := q.submit(ctx, k, jobs); err != nil {
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
