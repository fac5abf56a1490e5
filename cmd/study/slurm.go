package study

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
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

// waitFor is how long a task by Slurm waits for those before it: these are over, but files of another node may come late.
const waitFor = 2 * time.Minute

// queue is a study in the queue of Slurm, in blocks of tasks that follow one another, an array each. Its jobs are known by their name,
// which has the digest of the manifest: so another program, on another machine, finds them too.
type queue struct {
	folder    *study.Folder
	dir       string // absolute
	extra     []string
	atOnce    int   // tasks that may run at a time; 0: any number
	firstTask []int // task of every block
	block     []int // of every task
	size      int   // tasks of an array that Slurm takes at present
}

// newQueue makes blocks of at most arraySize tasks that need not wait for one another.
func newQueue(folder *study.Folder, dir string, extra []string, atOnce int) *queue {
	q := &queue{folder: folder, dir: dir, extra: extra, atOnce: atOnce, size: arraySize}
	rounds := folder.Manifest.Rounds()
	for k, r := range rounds {
		if k == 0 || r != rounds[k-1] || k-q.firstTask[len(q.firstTask)-1] == arraySize {
			q.firstTask = append(q.firstTask, k)
		}
		q.block = append(q.block, len(q.firstTask)-1)
	}
	return q
}

func (q *queue) name(block int) string { return fmt.Sprintf("hil-%.12s-%d", q.folder.Digest(), block) }

// scancel is the command that takes all tasks out of the queue.
func (q *queue) scancel() string {
	if len(q.firstTask) == 1 {
		return "scancel --name=" + q.name(0)
	}
	return fmt.Sprintf("squeue --me --noheader --format='%%F %%j' | grep hil-%.12s | cut -d' ' -f1 | xargs scancel", q.folder.Digest())
}

func (q *queue) logs() string { return filepath.Join(q.dir, "slurm") }

// retries is what sbatch says before it waits by itself, for minutes: it is ended then, since there is more to look after.
const retries = "unable to accept job"

// errorText keeps what a command says, and ends it when it begins to wait.
type errorText struct {
	text       []byte
	endCommand func()
}

func (w *errorText) Write(p []byte) (int, error) {
	if w.text = append(w.text, p...); bytes.Contains(w.text, []byte(retries)) {
		w.endCommand()
	}
	return len(p), nil
}

// slurmRun runs a command of Slurm. The error has what the command says.
func slurmRun(ctx context.Context, stdin, name string, args ...string) (string, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	c := exec.CommandContext(ctx, name, args...)
	errs := &errorText{endCommand: end}
	var out bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(errs.text))
	}
	return out.String(), nil
}

// queueFull tells whether Slurm refused tasks because there are too many already, and why; tooLong whether one array was too large.
func queueFull(err error) (why string, ok bool) {
	switch text := err.Error(); {
	case strings.Contains(text, retries):
		return "MaxJobCount: as many jobs as the controller takes", true
	case strings.Contains(text, "MaxSubmit"):
		_, limit, _ := strings.Cut(text, "error: ")
		limit, _, _ = strings.Cut(limit, "\n")
		return limit + ": as many jobs as you may have", true
	}
	return "", false
}

func arrayTooLong(err error) bool {
	return strings.Contains(err.Error(), "Invalid job array specification")
}

// submit puts tasks into the queue, an array for every block, each after the arrays with tasks that it begins from. jobs are the numbers
// of the arrays in the queue, by block; new ones are added. After any end of those: if one has failed, its own end says so, and the next
// ones say what they miss. left are the tasks that Slurm does not take now, with the reason.
func (q *queue) submit(ctx context.Context, open []int, jobs map[int][]string) (left []int, why string, err error) {
	if err := os.MkdirAll(q.logs(), 0o755); err != nil {
		return nil, "", err
	}
	for len(open) > 0 {
		b, n := q.block[open[0]], 1
		for n < min(len(open), q.size) && q.block[open[n]] == b {
			n++
		}
		if q.atOnce > 0 && len(jobs) > 0 {
			return open, "the tasks before them", nil
		}
		switch err := q.array(ctx, b, open[:n], jobs); {
		case err == nil:
			open, q.size = open[n:], min(2*q.size, arraySize)
			continue
		case n > 1 && arrayTooLong(err):
			q.size = n / 2
			continue
		default:
			why, ok := queueFull(err)
			if !ok {
				return nil, "", err
			}
			if n == 1 {
				return open, why, nil
			}
			q.size = n / 2
		}
	}
	return nil, "", nil
}

// array submits tasks of one block.
func (q *queue) array(ctx context.Context, b int, tasks []int, jobs map[int][]string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	word := report.ShellWord(program)
	script := fmt.Sprintf("#!/bin/sh\n[ -x %[1]s ] || { echo \"there is no %[1]s on $(hostname): put the program on a disk that all nodes "+
		"see\"; exit 127; }\nexec %[1]s study task %s --index $((SLURM_ARRAY_TASK_ID + %d))", word, report.ShellWord(q.dir), q.firstTask[b])
	var inArray []int
	var after []string
	for _, k := range tasks {
		inArray = append(inArray, k-q.firstTask[b])
		for _, t := range q.folder.Manifest.Tasks[k].Dependencies {
			after = append(after, jobs[q.block[t]]...)
		}
	}
	if len(q.folder.Manifest.Tasks[tasks[0]].Dependencies) > 0 {
		script += fmt.Sprintf(" --wait %v", waitFor)
	}
	array := ranges(inArray)
	if q.atOnce > 0 {
		array += fmt.Sprintf("%%%d", q.atOnce)
	}
	args := []string{"--parsable", "--job-name=" + q.name(b), "--ntasks=1", "--cpus-per-task=1", "--requeue", "--open-mode=append",
		"--chdir=" + q.dir, "--output=" + filepath.Join(q.logs(), fmt.Sprintf("%d-%%a.log", b)), "--array=" + array}
	slices.Sort(after)
	if after = slices.Compact(after); len(after) > 0 {
		args = append(args, "--dependency=afterany:"+strings.Join(after, ":"))
	}
	out, err := slurmRun(ctx, script+"\n", "sbatch", append(args, q.extra...)...)
	if err != nil {
		return err
	}
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";") // a cluster may stand behind
	jobs[b] = append(jobs[b], id)
	return nil
}

// waiting are the tasks in the queue with the numbers of their arrays by block, how many of them run, and why the last of the others does
// not.
func (q *queue) waiting(ctx context.Context) (tasks map[int]bool, jobs map[int][]string, running int, why string, err error) {
	tasks, jobs = map[int]bool{}, map[int][]string{}
	err = q.list(ctx, func(b, task int, job, state, reason string) {
		if task < 0 { // an array that is being made
			return
		}
		tasks[task] = true
		if !slices.Contains(jobs[b], job) {
			jobs[b] = append(jobs[b], job)
		}
		switch state {
		case "RUNNING":
			running++
		case "PENDING":
			why = reason
		}
	})
	return tasks, jobs, running, why, err
}

// ends are the states in which tasks have left the queue, as far as the controller remembers them.
func (q *queue) ends(ctx context.Context) (state map[int]string, err error) {
	state = map[int]string{}
	newest, rest := map[int]int{}, map[int]string{} // rest: of blocks, of the tasks of an array that never ran
	err = q.list(ctx, func(b, task int, job, s, _ string) {
		if task < 0 {
			rest[b] = s
		} else if n, _ := strconv.Atoi(job); n >= newest[task] {
			newest[task], state[task] = n, s
		}
	}, "--states=all")
	for k, b := range q.block {
		if _, known := state[k]; !known && rest[b] != "" {
			state[k] = rest[b]
		}
	}
	return state, err
}

// list tells of every task that squeue lists: its block, the number of its array, its state, and why it waits. −1 stands for tasks that
// it does not name.
func (q *queue) list(ctx context.Context, see func(b, task int, job, state, reason string), options ...string) error {
	var names []string
	of := map[string]int{}
	for b := range q.firstTask {
		names = append(names, q.name(b))
		of[q.name(b)] = b
	}
	out, err := slurmRun(ctx, "", "squeue", append(options, "--noheader", "--array", "--name="+strings.Join(names, ","),
		"--format=%j %F %K %T %r")...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 5)
		b, known := of[words[0]]
		if !known || len(words) < 4 {
			continue
		}
		for _, n := range places(words[2]) {
			if k := q.firstTask[b] + n; n < 0 {
				see(b, -1, words[1], words[3], words[len(words)-1])
			} else if k < len(q.block) {
				see(b, k, words[1], words[3], words[len(words)-1])
			}
		}
	}
	return nil
}

// places are the places in an array that squeue names: 7, or 2-5,9; −1: it names none, as of the tasks of an array that never ran.
func places(text string) (list []int) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, _ := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b, errTo := strconv.Atoi(cmp.Or(to, from))
		if err != nil || errTo != nil || b-a > arraySize {
			return []int{-1}
		}
		for ; a <= b; a++ {
			list = append(list, a)
		}
	}
	return list
}

// lastWords is the end of the log of a task.
func (q *queue) lastWords(task int) string {
	b := q.block[task]
	text, _ := os.ReadFile(filepath.Join(q.logs(), fmt.Sprintf("%d-%d.log", b, task-q.firstTask[b])))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return cmp.Or(lines[len(lines)-1], "its log says nothing")
}
