package configs

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/study"
)

// Study describes many runs of one file to simulate, each with other numbers in some places, and what is made of the results.
type Study struct {
	Version     int                   `yaml:"version" doc:"format of this file, 1"`
	Name        string                `yaml:"name" doc:"name of the study, and of its folder unless output says another"`
	Description string                `yaml:"description,omitempty" doc:"one line for people"`
	Base        StudyBase             `yaml:"base" doc:"the file to simulate, relative to this one, or its contents in place"`
	Records     string                `yaml:"records,omitempty" doc:"base of an identification: the recordings that are fitted together, a pattern such as logs/*.csv from the folder of base; in place of data.file and data.more"`
	Set         map[string]StudyValue `yaml:"set,omitempty" doc:"changes to that file for all runs: path: value"`
	Vary        []StudyVary           `yaml:"vary" doc:"what changes from run to run"`
	Design      StudyDesign           `yaml:"design" doc:"how the runs are spread"`
	Metrics     []string              `yaml:"metrics" doc:"results that are reported, by name; empty: all"`
	MaxFailed   float64               `yaml:"max_failed" unit:"%" want:">=0 <=100" doc:"share of failed runs above which the study counts as failed"`
	RunLimit    float64               `yaml:"run_time_limit,omitempty" unit:"s" want:">=0 <=1e7" doc:"longest time of a run; one that takes longer has failed, and the study goes on. Left out: none. Which runs fail by it depends on the machine"`
	Output      string                `yaml:"output,omitempty" doc:"folder of manifest, tasks, tables and figures, from where the program is started; left out: runs/ and the name"`
	Figures     []StudyFigure         `yaml:"figures" doc:"what --plot draws"`

	name        string       // of the file
	recordFiles []string     // Records, from the folder of base
	floor       *schema.Tree // the file to simulate, with set
}

// StudyVary is a factor: a place in the file to simulate and what it may be.
type StudyVary struct {
	Path   string       `yaml:"path" doc:"key in the file to simulate, such as friction.sigma1 or scene.pairs[0].mu"`
	Name   string       `yaml:"name,omitempty" doc:"in tables and figures; left out: the path"`
	Range  StudyRange   `yaml:"range,omitempty" doc:"[low, high] or ±value, numbers with or without unit"`
	Scale  string       `yaml:"scale" enum:"linear,log,whole" doc:"even in the number or in its logarithm; whole: whole numbers only"`
	Levels int          `yaml:"levels" want:">=0 <=100000" doc:"grid: how many values of the range, ends included"`
	Values []StudyValue `yaml:"values" doc:"in place of range: these values, numbers or words"`
	Files  string       `yaml:"files,omitempty" doc:"in place of range: the files of a pattern such as logs/*.csv, from the folder of base"`

	numbers []StudyNumber // of Values; nil if one of them is a word
}

// SetDefaults says what a factor starts from.
func (v *StudyVary) SetDefaults() { v.Scale = "linear" }

// StudyDesign says how the runs are spread.
type StudyDesign struct {
	Kind       study.Design `yaml:"kind" doc:"latin-hypercube: one run in each of as many strata of every factor; grid: all combinations; random: independent draws; sobol: Sobol's sequence, as even as can be for powers of two; list: the n-th values of all factors together; bootstrap: records drawn with replacement, run 0 as they are; islands: one evolution, a task for every island and round"`
	Runs       int          `yaml:"runs" want:">=0 <=10000000" doc:"settings of the factors; a grid and a list count their own"`
	Islands    int          `yaml:"islands,omitempty" want:">=0 <=1000" doc:"islands: populations that exchange their best, in place of aep.islands of base"`
	Rounds     int          `yaml:"rounds,omitempty" want:">=0 <=10000" doc:"islands: from one exchange to the next, aep.migrate generations each"`
	Seed       int          `yaml:"seed" want:">=0" doc:"of the design and of the seeds that runs get; islands: left out, that of base"`
	Replicates int          `yaml:"replicates" want:">=1 <=100000" doc:"runs of every setting, each with a seed of its own"`
	SeedPath   StudyPaths   `yaml:"seed_path,omitempty" doc:"keys that receive the seed of a run, a path or a list of paths"`
	Seeds      string       `yaml:"seeds" enum:"own,common" doc:"own: every run has another seed; common: the n-th replicates of all settings share theirs, so that settings are compared on the same draws"`
}

// StudyFigure is a drawing.
type StudyFigure struct {
	Name    string                `yaml:"name" doc:"of the file, without .svg"`
	Title   string                `yaml:"title,omitempty" doc:"above the drawing"`
	Kind    string                `yaml:"kind" enum:"scatter,phase,correlations" doc:"scatter: y of all runs over x; phase: y over x along one run; correlations: of y with every factor"`
	X       string                `yaml:"x,omitempty" doc:"scatter: a factor or result; phase: a column of the trace"`
	Y       string                `yaml:"y" doc:"scatter, correlations: a result; phase: a column of the trace"`
	LogX    bool                  `yaml:"log_x,omitempty" doc:"logarithmic axis"`
	LogY    bool                  `yaml:"log_y,omitempty" doc:"logarithmic axis"`
	Median  bool                  `yaml:"median,omitempty" doc:"scatter: with a running median"`
	Changes map[string]StudyValue `yaml:"at,omitempty" doc:"phase: changes to the file for this run: path: value"`
	BoundsX [2]float64            `yaml:"bounds_x" doc:"marked on the x axis, SI"`
	BoundsY [2]float64            `yaml:"bounds_y" doc:"marked on the y axis, SI"`
	Bounds  string                `yaml:"bounds,omitempty" doc:"what the marks are, for the legend"`
}

// DefaultStudy is what a study file starts from.
func DefaultStudy() *Study {
	return &Study{Version: 1, MaxFailed: 1, Design: StudyDesign{Seed: 1, Replicates: 1, Seeds: "own"}}
}

//go:embed *.yaml study/*.yaml
var examples embed.FS

const builtIn = "study/" // where the studies that come with the program are

// BuiltInStudies names the studies that come with the program.
func BuiltInStudies() []string {
	list, _ := examples.ReadDir(strings.TrimSuffix(builtIn, "/"))
	return listOf(list, func(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), ".yaml") })
}

// LoadStudy reads and checks a study: one that comes with the program by its name, or a file. The file to simulate is read and
// checked with it, with every factor at the ends of what it may be. The error is *Errors and holds every problem.
func LoadStudy(name string) (c *Study, warnings []schema.Problem, err error) {
	if slices.Contains(BuiltInStudies(), name) {
		data, err := examples.ReadFile(builtIn + name + ".yaml")
		if err != nil {
			return nil, nil, err
		}
		return studyBytes(builtIn+name+".yaml", data, func(p string) ([]byte, error) {
			return examples.ReadFile(path.Clean(filepath.ToSlash(p)))
		})
	}
	return fromFile(name, func(name string, data []byte) (*Study, []schema.Problem, error) {
		return studyBytes(name, data, schema.ReadFile)
	})
}

func studyBytes(name string, data []byte, read func(string) ([]byte, error)) (c *Study, warnings []schema.Problem, err error) {
	c = DefaultStudy()
	c.name = name
	return load(name, data, c, func(r *schema.Report) {
		c.Check(r)
		c.checkBase(r, read)
	})
}

// Check looks at what can be known without the file to simulate.
func (c *Study) Check(r *schema.Report) {
	r.CheckBounds(c)
	r.FirstErrorIf(c.Version != 1, "version", "%d, this program reads version 1", c.Version)
	r.FirstErrorIf(c.Name == "" || strings.ContainsAny(c.Name, `/\`) || c.Name[0] == '.', "name",
		"%q, want a name that a folder may have", c.Name)
	r.FirstErrorIf(len(c.Vary) == 0 && c.Design.Kind != study.Bootstrap && c.Design.Kind != study.Islands, "vary",
		"empty, want at least one factor: {path: …, range: [low, high]}")
	for i := range c.Vary {
		c.checkVary(r, i)
	}
	d := &c.Design
	r.ErrorIf(d.Counts() && r.HasKey("design.runs"), "design.runs", "kind %s counts its own runs; leave it out", d.Kind)
	r.FirstErrorIf(!d.Counts() && d.Runs == 0, "design.runs", "is missing: how many settings of the factors")
	r.ErrorIf(d.Replicates > 1 && len(d.SeedPath) == 0 && !r.HasProblem("design.seed_path"), "design.replicates",
		"%d runs of every setting would be the same run; name the key of the seed in design.seed_path", d.Replicates)
	r.FirstErrorIf(d.Kind == study.Bootstrap && len(c.Vary) > 0, "vary", "a bootstrap varies the recordings alone; leave it out")
	r.ErrorIf(d.Kind == study.Bootstrap && c.Records == "" && !r.HasProblem("records"), "design.kind",
		"a bootstrap draws recordings with replacement; name them in records")
	c.checkIslands(r)
	names := map[string]bool{}
	for i := range c.Figures {
		c.checkFigure(r, i, names)
	}
}

// Counts tells whether the runs follow from other keys.
func (d *StudyDesign) Counts() bool {
	return d.Kind == study.Grid || d.Kind == study.List || d.Kind == study.Islands
}

// checkVary checks one factor by itself.
func (c *Study) checkVary(r *schema.Report, i int) {
	v, at := &c.Vary[i], fmt.Sprintf("vary[%d]", i)
	v.Name = cmp.Or(v.Name, v.Path)
	for _, o := range c.Vary[:i] {
		if o.Path == v.Path && v.Path != "" {
			r.KeyErrorf(at+".path", "%s is varied twice", v.Path)
		} else if o.Name == v.Name && v.Path != "" {
			r.KeyErrorf(at+".name", "two factors are called %s", v.Name)
		}
	}
	r.ErrorIf(slices.Contains([]string{"run", "point", "replicate", "seed", "failed"}, v.Name), at+".name",
		"%s is a column of the results already; take another name", v.Name)
	hasRange := r.HasKey(at + ".range")
	if v.Files != "" {
		if hasRange || r.HasKey(at+".values") {
			r.KeyErrorf(at, "want a range, values or files, one of the three")
		} else if v.Path == "" {
			r.Errorf(at, "%s.path is missing: which key of the file to simulate", at)
		}
		return // they are looked for when the folder of base is known
	}
	switch {
	case r.HasProblem(at):
		return
	case v.Path == "":
		r.Errorf(at, "%s.path is missing: which key of the file to simulate", at)
	case hasRange == r.HasKey(at+".values"):
		r.KeyErrorf(at, "want a range or a list of values, one of the two")
	case len(v.Values) > 0:
		v.readValues(r, at)
	case hasRange && c.Design.Kind == study.List:
		r.KeyErrorf(at+".range", "a list takes values")
	case !hasRange:
		r.KeyErrorf(at+".values", "empty, want at least one")
	case !(v.Range.Lo < v.Range.Hi):
		r.KeyErrorf(at+".range", "from %s to %s, want it to rise", schema.Short(v.Range.Lo), schema.Short(v.Range.Hi))
	case v.Scale == "log" && v.Range.Lo <= 0:
		r.KeyErrorf(at+".range", "a logarithmic range begins at %s, want more than 0", schema.Short(v.Range.Lo))
	case v.Scale == "whole" && (v.Range.Unit != "" || !isInteger(v.Range.Lo) || !isInteger(v.Range.Hi) || v.Range.Hi-v.Range.Lo > 1e5):
		r.KeyErrorf(at+".range", "scale whole wants whole numbers without unit, at most 100 000 of them")
	case c.Design.Kind == study.Grid && v.Levels < 2 && v.Scale != "whole":
		r.KeyErrorf(at+".levels", "%d, a grid takes at least 2 values from a range", v.Levels)
	}
	r.WarnIf(c.Design.Kind != study.Grid && v.Levels != 0, at+".levels", "used by a grid only")
}

func isInteger(x float64) bool { return x == float64(int64(x)) }

func (c *Study) checkFigure(r *schema.Report, i int, names map[string]bool) {
	f, at := &c.Figures[i], fmt.Sprintf("figures[%d]", i)
	switch {
	case r.HasProblem(at):
	case f.Name == "" || strings.ContainsAny(f.Name, `/\.`):
		r.KeyErrorf(at+".name", "%q, want the name of a file, without folder and ending", f.Name)
	case names[f.Name]:
		r.KeyErrorf(at+".name", "two figures are called %s", f.Name)
	case f.Kind == "":
		r.KeyErrorf(at+".kind", "is missing: scatter, phase or correlations")
	case f.Y == "":
		r.KeyErrorf(at+".y", "is missing")
	case f.X == "" && f.Kind != "correlations":
		r.KeyErrorf(at+".x", "is missing")
	case len(f.Changes) > 0 && f.Kind != "phase":
		r.KeyWarnf(at+".at", "used by kind phase only")
	}
	names[f.Name] = true
}

// Folder is where the study keeps its files.
func (c *Study) Folder() string { return cmp.Or(c.Output, filepath.Join("runs", c.Name)) }

// FileName is the path by which the study was loaded; for one that comes with the program its name there.
func (c *Study) FileName() string { return c.name }

// BaseName is the name of the file to simulate; of the study if that stands in it.
func (c *Study) BaseName() string {
	switch {
	case c.Base.Path == "":
		return c.name
	case filepath.IsAbs(c.Base.Path):
		return c.Base.Path
	}
	return filepath.Join(filepath.Dir(c.name), c.Base.Path)
}

// Resampled are the changes to the file of a run of a bootstrap: draw gives n numbers below n.
func (c *Study) Resampled(draw func(n int) []int) map[string]StudyValue {
	return recordKeys(listOf(draw(len(c.recordFiles)), func(k int) string { return c.recordFiles[k] }))
}

// Recordings are the files of the pattern in records, from the folder of base.
func (c *Study) Recordings() []string { return c.recordFiles }

// recordKeys are the keys of an identification file that name its recordings.
func recordKeys(list []string) map[string]StudyValue {
	return map[string]StudyValue{"data.file": {schema.Word(list[0])}, "data.more": {schema.Words(list[1:])}}
}

// Simulation is the file to simulate of one run: the base with set, then the factors at x (in their own units, a word by its
// index; nil: left as they are), then the seed at every seed path (negative: none), then more.
func (c *Study) Simulation(x []float64, seed int64, more map[string]StudyValue) ([]byte, error) {
	t := c.floor
	var err error
	put := func(path string, v *schema.Tree) {
		if err == nil {
			if t, err = t.WithValue(path, v); err != nil {
				err = fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	for i := range x {
		put(c.Vary[i].Path, c.Vary[i].tree(x[i]))
	}
	if seed >= 0 {
		for k, p := range c.Design.SeedPath {
			put(p, schema.Bare(strconv.FormatInt(seed+int64(k)<<31, 10))) // different draws at different places
		}
	}
	for _, p := range slices.Sorted(maps.Keys(more)) {
		put(p, more[p].t)
	}
	if err != nil {
		return nil, err
	}
	return t.YAML(), nil
}
