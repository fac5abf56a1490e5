package study

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/spelling"
	"hilrig/engine/study"
)

// parameterStudy is a study of a file and its results.
type parameterStudy struct {
	name          string // as the user names it
	cfg           *configs.Study
	changes       []study.Change // flags over the file
	plan          *study.Plan
	seeds         []int64 // by run; nil: runs have none
	dir           string
	folder        *study.Folder
	replacesStudy bool // what was in the folder was of a study, and is removed
	outcomes      []study.Outcome
}

// load reads a study that comes with the program, or that of a file, with flags over it.
func load(name string, changes []study.Change) (*parameterStudy, []schema.Problem, error) {
	s := &parameterStudy{name: name, changes: changes}
	path, err := name, error(nil)
	if !slices.Contains(configs.BuiltInStudies(), name) {
		if path, err = filepath.Abs(name); err != nil { // what goes wrong in a run reads the same from everywhere
			return nil, nil, report.ExitWith(report.Unavailable, err)
		}
	}
	cfg, warnings, err := configs.LoadStudy(path)
	if errors.Is(err, fs.ErrNotExist) && filepath.Base(name) == name && filepath.Ext(name) == "" {
		return nil, nil, report.Exitf(report.Usage, "study: %q is neither a study that comes with the program nor a file%s; there "+
			"are %s", name, spelling.DidYouMean(name, append(Names(), stepNames...)), BuiltIn())
	}
	if err != nil {
		return nil, nil, err
	}
	s.cfg = cfg
	for _, c := range changes {
		switch c.Key {
		case "runs":
			if k := cfg.Design.Kind; cfg.Design.Counts() {
				return nil, nil, report.Exitf(report.Usage, "study: --runs: kind %s counts its own runs; change the file", k)
			}
			cfg.Design.Runs = c.Value
		case "seed":
			cfg.Design.Seed = c.Value
		default:
			return nil, nil, report.Exitf(report.Invalid, "study: the manifest changes %s, which this program does not know", c.Key)
		}
	}
	if s.plan, err = PlanOf(cfg); err != nil {
		return nil, nil, report.Exitf(report.Invalid, "study: %w", err)
	}
	s.drawSeeds()
	return s, warnings, nil
}

// PlanOf turns the factors of a file into a plan. The order of draws follows the paths, not the names.
func PlanOf(c *configs.Study) (*study.Plan, error) {
	var factors []study.Factor
	for i := range c.Vary {
		v := &c.Vary[i]
		f := study.Factor{Name: v.Path, Lo: v.Range.Lo, Hi: v.Range.Hi, Log: v.Scale == "log", Levels: v.Levels, Values: v.Numbers()}
		if v.Words() {
			f.Values = nil
			for k := range v.Values {
				f.Values = append(f.Values, float64(k))
			}
		}
		factors = append(factors, f)
	}
	points := c.Design.Runs
	if c.Design.Kind == study.Islands {
		points = (c.Design.Rounds+1)*c.Design.Islands + 1 // random members, rounds, and one to end it
	}
	return study.NewPlan(c.Design.Kind, factors, points, c.Design.Replicates, uint64(c.Design.Seed))
}

// drawSeeds gives every run its seed.
func (s *parameterStudy) drawSeeds() {
	d := &s.cfg.Design
	if len(d.SeedPath) == 0 {
		return
	}
	n := s.plan.Runs()
	if d.Seeds == "common" {
		n = d.Replicates
	}
	drawn := study.Seeds(uint64(d.Seed), n)
	s.seeds = make([]int64, s.plan.Runs())
	for run := range s.seeds {
		s.seeds[run] = drawn[run%n]
	}
}

// seed of a run; −1: it has none.
func (s *parameterStudy) seed(run int) int64 {
	if s.seeds == nil {
		return -1
	}
	return s.seeds[run]
}

// file is the file to simulate of a run.
func (s *parameterStudy) file(run int) ([]byte, error) {
	x := make([]float64, len(s.cfg.Vary))
	point, _ := s.plan.Run(run)
	s.plan.Point(point, x)
	var more map[string]configs.StudyValue
	switch s.cfg.Design.Kind {
	case study.Bootstrap:
		more = s.cfg.Resampled(func(n int) []int { return study.Draw(uint64(s.cfg.Design.Seed), point, n) })
	case study.Islands:
		more = s.cfg.Evolving()
	}
	return s.cfg.Simulation(x, s.seed(run), more)
}

// base is the file to simulate as the study calls it: from the folder of the study.
func (s *parameterStudy) base() string { return s.fromStudy(s.cfg.BaseName()) }

// fromStudy is a path from the folder of the study.
func (s *parameterStudy) fromStudy(path string) string {
	if !filepath.IsAbs(s.cfg.FileName()) { // comes with the program
		return path
	}
	rel, err := filepath.Rel(filepath.Dir(s.cfg.FileName()), path)
	if err != nil {
		return path
	}
	return rel
}

// manifest says what the outcomes depend on, and cuts the runs into tasks of so many each; 0: as suits one machine. Comments, names and
// what is reported do not count.
func (s *parameterStudy) manifest(each int) (*study.Manifest, error) {
	program, err := thisProgram()
	if err != nil {
		return nil, err
	}
	m := &study.Manifest{
		Format: study.ManifestFormat, Study: s.name, Changes: s.changes, Program: program, Runs: s.plan.Runs(),
		Description: fmt.Sprintf("%s, %s of %d, seed %d", s.cfg.Name, s.cfg.Design.Kind, s.plan.Points(), s.cfg.Design.Seed),
	}
	if each == 0 {
		m.Tasks = study.Taper(m.Runs, minTaskRuns(m.Runs), s.seeds)
	} else {
		m.Tasks = study.SplitTasks(m.Runs, each, s.seeds)
	}
	if d := &s.cfg.Design; s.islands() {
		m.Tasks, m.Description = s.ring(), fmt.Sprintf("%s, %d islands, %d rounds, seed %d", s.cfg.Name, d.Islands, d.Rounds, d.Seed)
	}
	if filepath.IsAbs(s.cfg.FileName()) {
		dir, err := filepath.Abs(s.dir)
		if err != nil {
			return nil, err
		}
		if m.Study, err = filepath.Rel(dir, s.cfg.FileName()); err != nil {
			return nil, err
		}
	}
	type factor struct {
		Path, Scale, Unit string
		Range             configs.StudyRange
		Levels            int
		Values            []string
	}
	design := struct {
		Design  configs.StudyDesign
		Factors []factor
	}{Design: s.cfg.Design}
	for i := range s.cfg.Vary {
		v := &s.cfg.Vary[i]
		f := factor{Path: v.Path, Scale: v.Scale, Unit: v.Unit(), Range: v.Range, Levels: v.Levels}
		for _, x := range v.Values {
			f.Values = append(f.Values, x.Text())
		}
		design.Factors = append(design.Factors, f)
	}
	text, err := json.Marshal(design)
	if err != nil {
		return nil, err
	}
	base, err := s.cfg.Simulation(nil, -1, nil)
	if err != nil {
		return nil, err
	}
	add := func(name string, data []byte) {
		m.Inputs = append(m.Inputs, study.Input{Name: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(data))})
	}
	add("the design or a factor", text)
	add(s.base()+", with set,", base)
	for _, path := range s.cfg.Inputs() {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		add(s.fromStudy(path), data)
	}
	return m, nil
}

// Tasks are few enough for one array of Slurm, as it is set up unless told otherwise, and long enough not to be lost in what starting one
// takes.
const (
	maxTasks   = 1000
	taskLength = 3 * time.Minute
	trialTime  = 2 * time.Second // for one run, to see how long it takes
)

// minTaskRuns is the least number of runs a task can have.
func minTaskRuns(runs int) int { return (runs + maxTasks - 1) / maxTasks }

// sensible is the number of runs that make a task of sensible length, by trying the first run, and how long that took. It may end the
// study: a result that was asked for and that the run does not give is known now.
func (s *parameterStudy) sensible(ctx context.Context) (each int, one time.Duration, err error) {
	inner, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	began := time.Now()
	o, err := s.work(inner, 0)
	one = time.Since(began)
	switch {
	case ctx.Err() != nil:
		return 0, 0, ctx.Err()
	case err == nil:
		if err := s.knows(o.Metrics); err != nil {
			return 0, 0, err
		}
	}
	runs := s.plan.Runs()
	each = int(taskLength / max(one, time.Microsecond))
	if inner.Err() != nil {
		each = 1 // longer than tried
	}
	most := max((runs+15)/16, 1) // all processors have something to do
	return max(min(each, most), minTaskRuns(runs)), one, nil
}

// open finds the folder of the study, or begins it with tasks of so many runs; 0: as suits one machine. What is there and of another plan
// is refused; a folder that lacks nothing may have been made by another program, which is said.
func (s *parameterStudy) open(each int, stderr io.Writer) error {
	m, err := s.manifest(each)
	if err != nil {
		return report.Exitf(report.Invalid, "study: %w", err)
	}
	if s.folder, err = study.Open(s.dir); errors.Is(err, fs.ErrNotExist) {
		begun := s.begin(m)
		if begun == nil {
			return nil
		}
		if s.folder, err = study.Open(s.dir); err != nil { // else another program has planned it in this moment
			return begun
		}
	}
	if err == nil {
		s.seeds = s.folder.Manifest.Seeds()
		err = s.unchanged(m, stderr)
	}
	return s.refusal(err)
}

// refusal gives what is wrong with a folder its exit code and a way out.
func (s *parameterStudy) refusal(err error) error {
	var foreign *study.Foreign
	switch {
	case errors.As(err, &foreign) && s.folder == nil: // what cannot be read is not removed either
		return report.Exitf(report.Invalid, "study: %w; name another folder with --out, or move this one away", err)
	case errors.As(err, &foreign):
		return report.Exitf(report.Invalid, "study: %w; name another folder with --out, or begin again with --resume=false", err)
	case err != nil:
		return report.Exitf(report.Unavailable, "study: %w", err)
	}
	return nil
}

// unchanged compares what was planned with what is there now.
func (s *parameterStudy) unchanged(now *study.Manifest, stderr io.Writer) error {
	path := filepath.Join(s.dir, study.ManifestName)
	program, inputs := s.folder.Manifest.Changed(now)
	if len(inputs) > 0 {
		return &study.Foreign{Path: path, Why: fmt.Sprintf("belongs to other settings (%s): %s", s.folder.Manifest.Description,
			strings.Join(inputs, "; "))}
	}
	if program == "" {
		if s.folder.Manifest.Altered(now) {
			return &study.Foreign{Path: path, Why: "was changed by hand: its seeds or tasks are not those of the study"}
		}
		return nil
	}
	p, err := s.folder.Progress()
	switch {
	case err != nil:
		return err
	case len(p.OpenTasks) > 0:
		return &study.Foreign{Path: path, Why: fmt.Sprintf("%s. %d of %d tasks are still to be done", program, len(p.OpenTasks),
			len(s.folder.Manifest.Tasks))}
	}
	fmt.Fprintf(stderr, "warning: %s: %s; all runs are from then\n", path, program)
	return nil
}

// begin writes the manifest of a new folder.
func (s *parameterStudy) begin(m *study.Manifest) error {
	for _, name := range slices.DeleteFunc([]string{"results.csv", "results.parquet", "results.mat", "summary.json"},
		func(string) bool { return s.replacesStudy }) {
		if _, err := os.Lstat(filepath.Join(s.dir, name)); err == nil {
			return report.Exitf(report.Usage, "study: %s is there without a %s: it is not of this study; name another folder "+
				"with --out", filepath.Join(s.dir, name), study.ManifestName)
		}
	}
	err := os.MkdirAll(s.dir, 0o755)
	if err == nil {
		err = report.WriteWhole(filepath.Join(s.dir, study.ManifestName), false, func(w io.Writer) error { return report.EncodeJSON(w, m) })
	}
	if err == nil {
		s.folder, err = study.Open(s.dir)
	}
	return s.refusal(err)
}

// discard removes what an earlier study has left in the folder.
func (s *parameterStudy) discard() error {
	err := study.Discard(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s.replacesStudy = err == nil
	return s.refusal(err)
}
