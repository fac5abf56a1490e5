package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/study"
)

// Plan is hil study plan: it writes the manifest of a study and runs nothing but one trial.
func Plan(ctx context.Context, interrupted func() bool, name string, f Options, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return report.Exitf(report.Usage, "study plan: %w", err)
	}
	if findSingle(name) != nil {
		return report.Exitf(report.Usage, "study plan: %s is one computation, not many runs; hil study %[1]s does it", name)
	}
	s, err := f.load(name, stderr)
	if err != nil {
		return err
	}
	if err := s.resume(f); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(s.dir, study.ManifestName)); err == nil { // nothing to try
		f.Chunk = max(f.Chunk, 1)
	}
	if s.islands() {
		if f.Chunk > 1 {
			return report.Exitf(report.Usage, "study plan: --chunk: a task is a round of one island; change aep.migrate of the "+
				"base, the generations of a round")
		}
		f.Chunk = 1
	}
	each, one := f.Chunk, time.Duration(0)
	if each == 0 {
		var misnamed *misnamedError
		switch each, one, err = s.sensible(ctx); {
		case errors.As(err, &misnamed):
			return report.ExitWith(report.Invalid, err)
		case err != nil && interrupted():
			return report.Exitf(report.Interrupted, "study plan: interrupted; nothing was written")
		case err != nil:
			return report.Exitf(report.Internal, "study plan: %w", err)
		}
	}
	if err := s.open(each, stderr); err != nil {
		return err
	}
	m := s.folder.Manifest
	length := ""
	switch {
	case one >= trialTime:
		length = fmt.Sprintf(", more than %v each", trialTime)
	case one > 0:
		length = fmt.Sprintf(", about %.2g s each", one.Seconds()*float64(m.Tasks[0].Runs))
	}
	most := ""
	if m.Tasks[0].Runs > m.Tasks[max(len(m.Tasks)-2, 0)].Runs { // not the last one alone: as hil study FILE cuts them
		most = "at most "
	}
	if f.Json {
		return report.EncodeJSON(stdout,
			map[string]any{"folder": s.dir, "runs": m.Runs, "tasks": len(m.Tasks), "runs_of_a_task": m.Tasks[0].Runs})
	}
	fmt.Fprintf(stdout, "%s: %d runs in %d tasks of %s%d%s\n", s.dir, m.Runs, len(m.Tasks), most, m.Tasks[0].Runs, length)
	fmt.Fprintf(stdout, "next: %s study run %s      or anywhere: %[1]s study task %[2]s --index 0 … %[3]d, then %[1]s study collect %[2]s\n",
		report.StartName, report.ShellWord(s.dir), len(m.Tasks)-1)
	return nil
}

// openPlanned finds a study by its folder. strict refuses what has changed since it was planned; otherwise another program may have done
// the runs.
func openPlanned(verb, dir string, strict bool, stderr io.Writer) (*parameterStudy, error) {
	bad := func(err error) error {
		return report.Exitf(report.Invalid, "study %s: %w", verb, err)
	}
	folder, err := study.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err != nil && isFile(dir):
		return nil, bad(fmt.Errorf("%s: no planned study there; hil study plan FILE --out %[1]s makes one", dir))
	case err != nil:
		return nil, bad(err)
	}
	m := folder.Manifest
	name := m.Study
	if !slices.Contains(configs.BuiltInStudies(), name) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if arch := runtime.GOARCH; strict && m.Program.Arch != arch { // said before anything is read: the files may be elsewhere too
		program, _ := m.Changed(&study.Manifest{Program: study.Program{Arch: arch}, Runs: m.Runs})
		return nil, bad(fmt.Errorf("%s: %s; run it on %s, or plan it anew here", dir, program, m.Program.Arch))
	}
	s, _, err := load(name, m.Changes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bad(fmt.Errorf("%s: its study file %s is not there: folder and file were planned together, and stay where they are to "+
			"each other", dir, name))
	}
	if err != nil {
		return nil, refuse(stderr, err)
	}
	s.dir, s.folder = dir, folder
	now, err := s.manifest(m.Tasks[0].Runs)
	if err != nil {
		return nil, bad(err)
	}
	program, inputs := m.Changed(now)
	if strict && program != "" {
		inputs = append([]string{program}, inputs...)
	} else if program != "" {
		fmt.Fprintf(stderr, "warning: %s: %s; all runs are from then\n", dir, program)
	}
	if program == "" && len(inputs) == 0 && m.Altered(now) {
		return nil, bad(fmt.Errorf("%s: %s was changed by hand: its seeds or tasks are not those of the study. Plan it anew into another "+
			"folder, or put back what was there", dir, study.ManifestName))
	}
	if len(inputs) > 0 {
		return nil, bad(fmt.Errorf("%s: since it was planned, %s. Plan it anew into another folder, or put back what was there", dir,
			strings.Join(inputs, "; ")))
	}
	s.seeds = m.Seeds()
	return s, nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.IsDir()
}

// schedulers are the variables in which they say which task of an array this is, and what its first task is called.
var schedulers = []struct {
	name      string
	firstTask int
}{{"SLURM_ARRAY_TASK_ID", 0}, {"PBS_ARRAY_INDEX", 0}, {"SGE_TASK_ID", 1}, {"JOB_COMPLETION_INDEX", 0}}

// taskIndex is the flag, or what the first scheduler says that says something.
func taskIndex(f Options, env func(string) string) (int, error) {
	if f.Changed("index") {
		return f.Index, nil
	}
	var names []string
	for _, s := range schedulers {
		text := env(s.name)
		if text == "" || text == "undefined" { // SGE, for a job that is no array
			names = append(names, s.name)
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%s is %q, want the number of a task", s.name, text)
		}
		if n < s.firstTask {
			return 0, fmt.Errorf("%s is %d, and its tasks are counted from %d; submit them as %d to the number of tasks", s.name, n, s.firstTask,
				s.firstTask)
		}
		return n - s.firstTask, nil
	}
	return 0, fmt.Errorf("which task? Give --index; %s are not set", strings.Join(names, ", "))
}

// Task is hil study task: one task of a planned study, on whatever machine this is.
func Task(ctx context.Context, interrupted func() bool, dir string, f Options, stdout, stderr io.Writer) error {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // a small heap is collected often, a process of a short task over and over
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))   // what a scheduler gives a task, for fits of many starts too
	k, err := taskIndex(f, os.Getenv)
	if err != nil {
		return report.Exitf(report.Usage, "study task: %w", err)
	}
	s, err := openPlanned("task", dir, true, stderr)
	if err != nil {
		return err
	}
	tasks := len(s.folder.Manifest.Tasks)
	if k < 0 || k >= tasks {
		return report.Exitf(report.Usage, "study task: task %d: the study has %d tasks, 0 to %d", k, tasks, tasks-1)
	}
	if err := s.await(ctx, k, f.Wait); err != nil && !interrupted() {
		return err
	}
	p := study.Progress{OpenTasks: []int{k}}
	done, now := 0, 0
	switch err := s.folder.Run(ctx, p, 1, s.work, func(st study.State) { done, now = st.DoneRuns, st.NewRuns }); {
	case err != nil && interrupted():
		return report.Exitf(report.Interrupted, "study task: interrupted in task %d with %d of its %d runs done; the same "+
			"command goes on from there", k, done, s.folder.Manifest.Tasks[k].Runs)
	case err != nil:
		return report.Exitf(report.Unavailable, "study task: %w; the same command goes on from there", err)
	}
	list, err := s.folder.Read(k)
	if err != nil {
		return s.refusal(err)
	}
	if f.Json {
		return report.EncodeJSON(stdout, map[string]int{"task": k, "tasks": tasks, "runs": len(list), "done_now": now, "failed": failures(list)})
	}
	fmt.Fprintf(stdout, "task %d of %d: %d runs, %d done now, %d failed\n", k, tasks, len(list), now, failures(list))
	return nil
}

// failures counts the runs that failed.
func failures(list []study.Outcome) (n int) {
	for i := range list {
		if list[i].Failure != "" {
			n++
		}
	}
	return n
}

// await waits for the tasks that one begins from. NFS shows files of other machines late: looking into the folder makes it look.
func (s *parameterStudy) await(ctx context.Context, task int, most time.Duration) error {
	var early *study.Early
	for began := time.Now(); ; {
		err := s.folder.CheckOrder(task)
		if _, open := s.folder.Read(task); open == nil || !errors.As(err, &early) {
			return nil
		}
		if time.Since(began) >= most {
			return report.Exitf(report.Unavailable, "study task: task %d begins from the tasks %s, which are not done; nothing was "+
				"done. Do these first, or give them time with --wait", task, ranges(early.OpenTasks))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(filesEvery, most)):
		}
		_, _ = os.ReadDir(filepath.Join(s.dir, study.TaskFolder))
	}
}

// RunTasks is hil study run: all tasks of a planned study, here or by a scheduler.
func RunTasks(ctx context.Context, interrupted func() bool, dir string, f Options, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return report.Exitf(report.Usage, "study run: %w", err)
	}
	if f.Executor != "local" && f.Executor != "slurm" {
		return report.Exitf(report.Usage, "study run: --executor %q, want local or slurm", f.Executor)
	}
	s, err := openPlanned("run", dir, true, stderr)
	if err != nil {
		return err
	}
	again := next("run", dir)
	if f.Executor == "slurm" {
		again += " --executor slurm"
		err = s.slurm(ctx, interrupted, f.Slurm, again, stderr)
	} else {
		_, err = s.local(ctx, interrupted, f.Workers, again, stderr)
	}
	if err != nil {
		return err
	}
	p, err := s.folder.Progress()
	if err != nil {
		return s.refusal(err)
	}
	if len(p.OpenTasks) > 0 { // damaged since they were done
		return report.Exitf(report.Unavailable, "study run: %s: %s; not done are the tasks %s. The same command does them "+
			"again: %s", dir, progressText(p, len(s.folder.Manifest.Tasks)), ranges(p.OpenTasks), again)
	}
	if f.Json {
		return report.EncodeJSON(stdout, statusOf(s.folder, dir, p))
	}
	fmt.Fprintf(stdout, "%s: %s\n", dir, progressText(p, len(s.folder.Manifest.Tasks)))
	fmt.Fprintf(stdout, "next: %s\n", next("collect", dir))
	return nil
}

// next is the command of a verb on a folder.
func next(verb, dir string) string {
	return fmt.Sprintf("%s study %s %s", report.StartName, verb, report.ShellWord(dir))
}

// progressText is "58 of 60 tasks are done: 1392 of 1400 runs, 3 failed".
func progressText(p study.Progress, tasks int) string {
	text := fmt.Sprintf("%d of %d tasks are done: %d of %d runs, %d failed",
		tasks-len(p.OpenTasks), tasks, p.DoneRuns, p.TotalRuns, p.FailedRuns)
	if n := len(p.Damaged); n > 0 {
		text += fmt.Sprintf("; %d files of tasks cannot be read, these tasks are to be done again", n)
	}
	return text
}

// statusJSON is what hil study status --json prints.
type statusJSON struct {
	Folder      string        `json:"folder"`
	Description string        `json:"about"`
	Program     study.Program `json:"program"`
	Runs        int           `json:"runs"`
	DoneRuns    int           `json:"done"`
	FailedRuns  int           `json:"failed"`
	Tasks       int           `json:"tasks"`
	OpenTasks   []int         `json:"open"`    // tasks
	BegunTasks  []int         `json:"begun"`   // open ones of which a part is there
	Damaged     []int         `json:"damaged"` // open ones whose file cannot be read
}

// Status is hil study status: how far a planned study is.
func Status(_ context.Context, _ func() bool, dir string, f Options, stdout, _ io.Writer) error {
	folder, err := study.Open(dir)
	if err != nil {
		return report.Exitf(report.Invalid, "study status: %s: no planned study there: %w", dir, err)
	}
	p, err := folder.Progress()
	if err != nil {
		return report.Exitf(report.Unavailable, "study status: %w", err)
	}
	m, st := folder.Manifest, statusOf(folder, dir, p)
	if f.Json {
		return report.EncodeJSON(stdout, st)
	}
	fmt.Fprintf(stdout, "%s: %s, hil %s on %s\n%s\n", dir, m.Description, m.Program.Version, m.Program.Arch, progressText(p, len(m.Tasks)))
	if len(p.OpenTasks) == 0 {
		fmt.Fprintf(stdout, "next: %s\n", next("collect", dir))
		return nil
	}
	fmt.Fprintf(stdout, "begun: %s\nnot finished: %s\nnext: %s\n", ranges(st.BegunTasks), ranges(p.OpenTasks), next("run", dir))
	return nil
}

// statusOf is how far a planned study is.
func statusOf(folder *study.Folder, dir string, p study.Progress) statusJSON {
	m := folder.Manifest
	st := statusJSON{
		dir, m.Description, m.Program, m.Runs, p.DoneRuns, p.FailedRuns, len(m.Tasks),
		append([]int{}, p.OpenTasks...), []int{}, append([]int{}, p.Damaged...),
	}
	for _, k := range p.OpenTasks {
		if folder.HasPart(k) {
			st.BegunTasks = append(st.BegunTasks, k)
		}
	}
	return st
}

// ranges is "0-3,7" as sbatch takes it; "none" for none.
func ranges(list []int) string {
	if len(list) == 0 {
		return "none"
	}
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if parts = append(parts, strconv.Itoa(list[i])); j > i {
			parts[len(parts)-1] += "-" + strconv.Itoa(list[j])
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// Collect is hil study collect: tables, summary and figures of what is done.
func Collect(ctx context.Context, interrupted func() bool, dir string, f Options, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return report.Exitf(report.Usage, "study collect: %w", err)
	}
	s, err := openPlanned("collect", dir, false, stderr)
	if err != nil {
		return err
	}
	p, err := s.folder.Progress()
	if err != nil {
		return s.refusal(err)
	}
	if len(p.OpenTasks) > 0 && !f.Partial {
		return report.Exitf(report.Invalid, "study collect: %s: %s; missing are the tasks %s. %s does them; --partial collects "+
			"what there is", dir, progressText(p, len(s.folder.Manifest.Tasks)), ranges(p.OpenTasks), next("run", dir))
	}
	if p.DoneRuns == 0 {
		return report.Exitf(report.Invalid, "study collect: %s: no task is done yet", dir)
	}
	return s.collect(ctx, interrupted, f, sitting{Folder: dir, Resumed: p.DoneRuns}, next("collect", dir), stdout)
}
