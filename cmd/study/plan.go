package study

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/study"
)

// resultsVersion counts the ways of computing: it is raised when a run of the same file gives other numbers than before, so
// that a journal of then is not mixed with runs of now.
const resultsVersion = 1

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
	return study.NewPlan(c.Design.Kind, factors, c.Design.Runs, c.Design.Replicates, uint64(c.Design.Seed))
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
	return s.cfg.Simulation(x, s.seed(run), nil)
}

// key is a digest of everything that the outcomes depend on: factors, design, the file to simulate with what it reads, and
// the way of computing. Comments, names and what is reported do not count.
func (s *parameterStudy) key() (string, error) {
	base, err := s.cfg.Simulation(nil, -1, nil)
	if err != nil {
		return "", err
	}
	type factor struct {
		Path, Scale, Unit string
		Range             configs.StudyRange
		Levels            int
		Values            []string
	}
	k := struct {
		Version int
		Design  configs.StudyDesign
		Factors []factor
		Base    string
		Inputs  []string
	}{Version: resultsVersion, Design: s.cfg.Design, Base: string(base)}
	for i := range s.cfg.Vary {
		v := &s.cfg.Vary[i]
		f := factor{Path: v.Path, Scale: v.Scale, Unit: v.Unit(), Range: v.Range, Levels: v.Levels}
		for _, x := range v.Values {
			f.Values = append(f.Values, x.Text())
		}
		k.Factors = append(k.Factors, f)
	}
	for _, path := range s.cfg.Inputs() {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		k.Inputs = append(k.Inputs, fmt.Sprintf("%x", sha256.Sum256(data)))
	}
	text, err := json.Marshal(k)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}

// JournalName is the file in the folder of results that says what is done.
const JournalName = "journal.jsonl"

// journal opens the journal in the folder of results.
func (s *parameterStudy) journal(f Options, stderr io.Writer) (*study.Journal, error) {
	key, err := s.key()
	if err != nil {
		return nil, report.ExitWith(report.Invalid, fmt.Errorf("study: %w", err))
	}
	path := filepath.Join(s.dir, JournalName)
	_, missing := os.Stat(path)
	switch {
	case missing != nil && f.Resume && f.Changed("resume"):
		return nil, report.ExitWith(report.Invalid, fmt.Errorf("study: --resume, but there is no journal %s", path))
	case missing != nil:
		for _, name := range []string{"results.csv", "results.parquet", "summary.json"} {
			if _, err := os.Lstat(filepath.Join(s.dir, name)); err == nil {
				return nil, report.ExitWith(report.Usage, fmt.Errorf("study: %s is there without a journal: it is not of this study; name another folder with --out", filepath.Join(s.dir, name)))
			}
		}
	case !f.Resume:
		if err := study.Discard(path); err != nil {
			return nil, report.ExitWith(report.Unavailable, fmt.Errorf("study: %w", err))
		}
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, report.ExitWith(report.Unavailable, fmt.Errorf("study: %w", err))
	}
	about := fmt.Sprintf("%s, %s of %d, seed %d", s.cfg.Name, s.cfg.Design.Kind, s.plan.Points(), s.cfg.Design.Seed)
	j, err := study.OpenJournal(path, key, about, s.plan.Runs())
	var foreign *study.Foreign
	switch {
	case errors.As(err, &foreign):
		return nil, report.ExitWith(report.Invalid, fmt.Errorf("study: %w; name another folder with --out, or begin again with --resume=false", err))
	case err != nil:
		return nil, report.ExitWith(report.Unavailable, fmt.Errorf("study: %w", err))
	}
	if n := j.Damaged(); n > 0 {
		fmt.Fprintf(stderr, "warning: %s: %d lines cannot be read; these runs are done again\n", path, n)
	}
	if n := j.Done(); n > 0 && n < s.plan.Runs() {
		fmt.Fprintf(stderr, "going on with %s: %d of %d runs are done\n", path, n, s.plan.Runs())
	}
	return j, nil
}
