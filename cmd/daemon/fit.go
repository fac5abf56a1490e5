package daemon

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hilrig/configs"
	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/sink"
	"hilrig/identify"
)

// way is a chain that an identification beside the loop has a word for.
type way struct {
	name    string
	methods identify.Chain
	law     string // "": that of the rig
}

// ways are all of them. Where nothing is said it is lugre.
var ways = []way{
	{"least-squares", identify.Chain{"regress"}, ""},
	{"lugre", identify.Chain{"lugre", "kalman"}, "lugre"},
	{"output-error", identify.Chain{"lm"}, ""},
	{"aep", identify.Chain{"aep", "lm"}, ""},
}

const (
	fitWindow      = 20.0  // s, what is fitted where nothing is said
	minFitWindow   = 2.0   // s
	maxFitWindow   = 600.0 // s
	checkShare     = 0.25  // of the window, before it: explained, not fitted …
	minCheckWindow = 3.0   // s, … and so much at least
	fitPoll        = 200e6 // ns  between two looks whether there is enough to fit
)

// fitter identifies axes of the running rig in a process of its own, at the lowest priority and off the processor of the tick: it is
// `hil identify` on a part of the recording that is being written, so that what it says can be repeated when the run is over. What it finds
// is published, and put in force only when somebody accepts it.
type fitter struct {
	d           *services
	ctx         context.Context // of the run
	dir         string          // of results
	carry       hil.Commander   // to the tick; nil: not there yet
	wg          sync.WaitGroup
	turn        sync.Mutex // of commands: a rollback waits for the accept before it
	mu          sync.Mutex
	resultCount int // results so far

	stop            context.CancelFunc // ends what runs; nil: nothing does
	status          identify.Status
	result          *fitResult      // the newest; nil: none yet
	replacedModels  []replacedModel // what accepted results replaced, the newest last
	text            [2][]byte       // status and result as they were published last
	publishedStatus identify.Status
}

// fitResult is the topic identify/result.
type fitResult struct {
	identify.Published
	Model    *axis.Set  `json:"model"`    // the law with all its numbers; null: the result makes no law
	Adopt    *hil.Adopt `json:"adopt"`    // what acceptance puts in force; null: nothing may
	LeftOut  []string   `json:"left_out"` // of the result, for which the law has no place
	Accepted bool       `json:"accepted"`

	identified *identify.Result
	part       [2]float64 // s after the first row of the run: from the check before the window to its end
}

// newFitter makes the fitter of a run; ctx is that of the run.
func newFitter(ctx context.Context, d *services) (*fitter, error) {
	f := &fitter{d: d, ctx: ctx, status: identify.Status{State: "idle"}}
	if d.recorder != nil {
		f.dir = filepath.Join(d.recorder.Dir(), sink.FitDir)
	}
	f.publishState()
	return f, nil
}

// close ends what runs and waits for it.
func (f *fitter) close() {
	f.mu.Lock()
	if f.stop != nil {
		f.stop()
	}
	f.mu.Unlock()
	f.wg.Wait()
}

// publishState publishes status and result where they are new; f.mu is held, or nobody else has f yet.
func (f *fitter) publishState() {
	if now := f.status; f.text[0] == nil || now != f.publishedStatus {
		f.publishedStatus = now
		now.Timestamp = identify.Stamp(time.Now())
		f.publish(0, sink.RetainedFitStatus, &now)
	}
	f.publish(1, sink.RetainedFitResult, f.result)
}

// publish puts a message on its topic, unless it is there.
func (f *fitter) publish(i int, topic sink.RetainedTopic, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		f.d.log.Error("identification: " + err.Error())
		return
	}
	if string(body) == string(f.text[i]) {
		return
	}
	f.text[i] = body
	f.d.publish(topic, body)
}

// texts are status and result as JSON.
func (f *fitter) texts() (status, result []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text[0], f.text[1]
}

// command carries out one of hil.FitCommands, one after the other.
func (f *fitter) command(ctx context.Context, c hil.Command) hil.Reply {
	f.turn.Lock()
	defer f.turn.Unlock()
	var err error
	switch c.Name {
	case "identify":
		o := hil.Identify{}
		if c.Identify != nil {
			o = *c.Identify
		}
		err = f.start(o)
	case "cancel":
		err = f.cancel()
	case "accept":
		err = f.accept(ctx, c)
	case "rollback":
		err = f.rollback(ctx, c)
	case "keep":
		err = f.keepResult(c)
	}
	if err != nil {
		var question *questionError
		return hil.Reply{ID: c.ID, Error: err.Error(), Confirm: errors.As(err, &question)}
	}
	return hil.Reply{ID: c.ID, OK: true}
}

// fitJob is one identification, repeated or not.
type fitJob struct {
	axis         *configs.Axis
	methodName   string
	methods      identify.Chain
	law          string
	sided        bool          // friction that depends on the direction
	window       float64       // s
	repeatPeriod time.Duration // 0: once
}

// check is how much before the window is explained, s.
func (j *fitJob) check() float64 { return max(minCheckWindow, checkShare*j.window) }

// start begins an identification, unless one runs.
func (f *fitter) start(o hil.Identify) error {
	j, err := f.plan(o)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.dir == "":
		return errors.New("the run is not recorded, and a fit reads the recording: switch record.enabled on")
	case f.stop != nil:
		return fmt.Errorf("a fit of %s runs (%s): cancel it first", f.status.Axis, f.status.Trigger)
	case f.ctx.Err() != nil:
		return errors.New("the run ends")
	}
	var ctx context.Context
	ctx, f.stop = context.WithCancel(f.ctx)
	every := j.repeatPeriod.Seconds()
	f.status = identify.Status{State: "waiting", Axis: j.axis.Name, Trigger: j.methodName, Law: j.methods.Law(j.law), Window: &j.window,
		Interval: &every}
	f.publishState()
	f.wg.Go(func() {
		defer failure.Report()
		f.run(ctx, j)
	})
	return nil
}

// plan checks what is asked for.
func (f *fitter) plan(o hil.Identify) (*fitJob, error) {
	j := &fitJob{methodName: o.Procedure, law: o.Law, sided: o.Sided, window: cmp.Or(o.Window, fitWindow)}
	var names []string
	for i := range f.d.cfg.Axes {
		a := &f.d.cfg.Axes[i]
		if names = append(names, a.Name); a.Name == o.Axis || o.Axis == "" && len(f.d.cfg.Axes) == 1 {
			j.axis = a
		}
	}
	if j.axis == nil {
		return nil, fmt.Errorf("there is no axis %q; want one of %s", o.Axis, strings.Join(names, ", "))
	}
	if !(j.window >= minFitWindow && j.window <= maxFitWindow) {
		return nil, fmt.Errorf("window_s %g: want %g to %g s", o.Window, minFitWindow, maxFitWindow)
	}
	if !(o.Interval >= 0 && o.Interval <= 86400) {
		return nil, fmt.Errorf("every_s %g: want 0 (once) to 86400 s", o.Interval)
	}
	j.repeatPeriod = time.Duration(o.Interval * 1e9)
	var err error
	switch i := slices.IndexFunc(ways, func(w way) bool { return w.name == cmp.Or(o.Procedure, "lugre") }); {
	case len(o.Methods) > 0:
		if o.Procedure != "" {
			return nil, errors.New("want a way or methods, not both")
		}
		if j.methods, err = identify.ParseChain(o.Methods); err != nil {
			return nil, err
		}
		j.methodName = j.methods.String()
	case i >= 0:
		j.methodName, j.methods, j.law = ways[i].name, ways[i].methods, cmp.Or(o.Law, ways[i].law)
	default:
		var known []string
		for _, w := range ways {
			known = append(known, w.name)
		}
		return nil, fmt.Errorf("there is no way %q; want one of %s, or methods", o.Procedure, strings.Join(known, ", "))
	}
	if last := j.methods[len(j.methods)-1]; o.Sided && !identify.FindMethod(last).Sided {
		return nil, fmt.Errorf("asymmetric: %s finds friction that is the same in both directions", last)
	}
	if o.Law != "" {
		if _, err := configs.PublicLaw(o.Law); err != nil {
			return nil, err
		}
		if err := j.methods.CheckLaw(o.Law); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// cancel ends what runs.
func (f *fitter) cancel() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		return errors.New("nothing runs")
	}
	f.stop()
	return nil
}

// run fits once, or again and again, until ctx ends.
func (f *fitter) run(ctx context.Context, j *fitJob) {
	defer func() {
		f.mu.Lock()
		if ctx.Err() != nil {
			f.status.State, f.status.Where, f.status.Reason = "idle", identify.Where{}, "cancelled"
		}
		f.stop()
		f.stop = nil
		f.publishState()
		f.mu.Unlock()
	}()
	for {
		begin := time.Now()
		r, err := f.attempt(ctx, j)
		if ctx.Err() != nil {
			return
		}
		f.mu.Lock()
		f.status.Where = identify.Where{}
		if f.status.State, f.status.Reason = "done", ""; err != nil {
			f.status.State, f.status.Reason = "failed", err.Error()
		} else {
			f.result = r
		}
		f.publishState()
		f.mu.Unlock()
		f.emitOutcome(j, r, err)
		if j.repeatPeriod == 0 {
			return
		}
		select {
		case <-time.After(time.Until(begin.Add(j.repeatPeriod))):
		case <-ctx.Done():
			return
		}
	}
}

// attempt waits for what is to be fitted, and fits it. A panic is a fit that failed.
func (f *fitter) attempt(ctx context.Context, j *fitJob) (r *fitResult, err error) {
	defer failure.Catch(&err)
	part, err := f.await(ctx, j)
	if err != nil {
		return nil, err
	}
	return f.fit(ctx, j, part)
}

// emitOutcome makes an event of what came out.
func (f *fitter) emitOutcome(j *fitJob, r *fitResult, err error) {
	e := hil.Event{Time: time.Now(), Level: "info", Code: "IDENTIFIED"}
	if err != nil {
		e.Level, e.Code, e.Text = "warn", "NOT_IDENTIFIED", fmt.Sprintf("%s by %s: %v", j.axis.Name, j.methodName, err)
	} else {
		e.Text = fmt.Sprintf("%s by %s: %s, %s", j.axis.Name, j.methodName, r.Verdict, r.ID)
	}
	f.d.bus.emit(e)
}

// await waits until the run holds as much motion as is wanted, with the drive on, and gives its part: from, and to (s after the first row);
// what is before from is for the check.
func (f *fitter) await(ctx context.Context, j *fitJob) (part [2]float64, err error) {
	want := j.window + j.check()
	for {
		now, on := f.d.driveOnTime()
		reason := ""
		switch {
		case on < 0 && f.d.cfg.HasDrive() && !f.d.info.DryRun:
			reason = "the drive is off"
		case on < want:
			reason = fmt.Sprintf("%.0f s of %.0f s recorded", max(on, 0), want)
		default:
			// what the recorder holds back has to come to the file
			select {
			case <-time.After(2*seconds(f.d.cfg.Record.Chunk) + fitPoll):
			case <-ctx.Done():
			}
			return [2]float64{now - j.window, now}, ctx.Err()
		}
		f.mu.Lock()
		f.status.State, f.status.Reason = "waiting", reason
		f.publishState()
		f.mu.Unlock()
		select {
		case <-time.After(fitPoll):
		case <-ctx.Done():
			return part, ctx.Err()
		}
	}
}

// fit runs the fit of a part of the recording in a process of its own.
func (f *fitter) fit(ctx context.Context, j *fitJob, part [2]float64) (*fitResult, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return nil, err
	}
	run := f.d.recorder.Path()
	span := func(from, to float64) string { return fmt.Sprintf("%.4f,%.4f", from, to) }
	args := []string{"identify", run, "--axis", j.axis.Name, "--method", j.methods.Join(","), "--span", span(part[0], part[1]),
		"--validate", run, "--validate-span", span(part[0]-j.check(), part[0])}
	if j.law != "" {
		args = append(args, "--law", j.law)
	}
	if j.sided {
		args = append(args, "--asymmetric")
	}
	said := append([]string{"hil"}, args...)
	if slices.Contains(j.methods, "aep") {
		args = append(args, "--population", filepath.Join(f.dir, fmt.Sprintf("population-%s-%s.json", j.axis.Name, cmp.Or(j.law, "rig"))))
	}
	cmd := exec.CommandContext(ctx, exe, append(args, "--json", "--beside")...)
	setOwnGroup(cmd) // Ctrl-C is for the daemon
	life, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	defer life.Close()
	var out strings.Builder
	cmd.Stdout = &out
	lines, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the fit: %w", err)
	}
	f.mu.Lock()
	f.status.State, f.status.Reason = "running", ""
	f.publishState()
	f.mu.Unlock()
	var words []string
	for sc := bufio.NewScanner(lines); sc.Scan(); {
		var w identify.Where
		if line := sc.Text(); json.Unmarshal([]byte(line), &w) != nil {
			words = append(words, strings.TrimSpace(line))
			continue
		}
		f.mu.Lock()
		f.status.Where = w
		f.publishState()
		f.mu.Unlock()
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var code *exec.ExitError
	if err != nil && !errors.As(err, &code) {
		return nil, err
	}
	var r struct {
		identify.Result
	}
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || len(r.Stages) == 0 {
		if text, check := strings.CutPrefix(strings.Join(words, " "), "hil: validation: "); check {
			return nil, fmt.Errorf("the %g s before the window cannot check the fit: they hold too little motion, or the drive was off for a part "+
				"of them; try again, or take a longer window (%s)", j.check(), text)
		}
		return nil, errors.New(strings.TrimPrefix(cmp.Or(strings.Join(words, " "), fmt.Sprint("the fit ended without a word: ", code)), "hil: "))
	}
	f.mu.Lock()
	f.resultCount++
	id := fmt.Sprintf("%04d", f.resultCount)
	f.mu.Unlock()
	file := filepath.Join(f.dir, id+".json")
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		return nil, fmt.Errorf("keep the result: %w", err)
	}
	res := &fitResult{Published: identify.Published{Timestamp: identify.Stamp(time.Now()), ID: id, Rig: f.d.cfg.Rig.Name, Axis: j.axis.Name,
		Trigger: j.methodName, Summary: r.Summary(),
		File: file, Command: strings.Join(said, " ")}, identified: &r.Result, part: [2]float64{part[0] - j.check(), part[1]}}
	if c, err := r.Contact(); err == nil {
		res.Model = &axis.Set{Law: c.Law, Params: c.Params}
	}
	f.judge(j.axis, res)
	return res, nil
}
