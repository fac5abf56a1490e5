package identify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/axis"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// termsOf is the linear fit of the file.
func termsOf(cfg *configs.Identify) linear.Spec {
	s := linear.Spec{
		Rotary: cfg.Axis == "rotary", Terms: cfg.Terms, Order: cfg.Filter.Order, Cutoff: cfg.Filter.Cutoff,
		Decimate: cfg.Decimate, Trim: linear.FromRecord, MinVelocity: linear.FromRecord, Lag: cfg.Model.Lag, Intersample: cfg.Interpolation,
	}
	if cfg.Trim != nil {
		s.Trim = *cfg.Trim
	}
	if cfg.MinVelocity != nil {
		s.MinVelocity = *cfg.MinVelocity
	}
	return s
}

// PlanOf translates the file for identify.
func PlanOf(cfg *configs.Identify, workers int) identify.Plan {
	spec := cfg.Model.Spec
	spec.Rotary = cfg.Axis == "rotary"
	if c := cfg.Model.Controller; c != nil {
		kv, limit, _ := cfg.ControllerGains() // checked by the loader
		spec.Controller = &axis.Controller{Kp: c.Kp, Kv: kv, Limit: limit, Gain: 1, Mean: c.Mean, Delay: c.Delay}
	}
	p := identify.Plan{
		Methods: cfg.Method, Model: spec, LagFree: cfg.Model.Lag == linear.LagFree,
		Regress: termsOf(cfg), Form: cfg.Form, NoiseRatio: cfg.NoiseRatio,
		Static: cfg.Static, Loop: cfg.Presliding, Joints: cfg.Joints, Steps: cfg.Steps, Bristle: cfg.Bristle, AEP: cfg.AEP, LM: cfg.LM,
		Segments: cfg.Shooting, Bootstrap: cfg.Bootstrap, Seed: uint64(cfg.Seed), Workers: workers,
		TimeLimit: time.Duration(cfg.TimeLimit * float64(time.Second)), GainErr: cfg.GainErr / 100,
	}
	p.Static.Whole = cfg.Data.Columns.Group != ""
	p.Loop.NoiseX, p.Loop.NoiseU = cfg.Bristle.Noise, cfg.Bristle.ForceNoise
	p.Steps.Coefficient = cfg.Coefficient()
	p.Bristle.Workers = workers
	if cfg.Data.Winding != nil {
		p.ExactNumbers = append(p.ExactNumbers, "R, L and K of the winding")
	}
	for _, g := range cfg.Parameters {
		p.GivenParams = append(p.GivenParams, g.Given)
	}
	return p
}

// readRecords reads everything the file names.
func readRecords(ctx context.Context, cfg *configs.Identify, bar *report.Progress) (identify.Records, error) {
	var out identify.Records
	for _, file := range append([]string{cfg.Data.File}, cfg.Data.FurtherFiles...) {
		f, err := readForced(ctx, file, cfg, &cfg.Data, bar)
		if err != nil {
			return out, err
		}
		out.Fit = append(out.Fit, f.recs...)
		if f.doubt != "" {
			out.Doubt = f.doubt
		}
		if out.WithoutAssumed = append(out.WithoutAssumed, f.alternatives...); f.alternatives == nil {
			out.WithoutAssumed = append(out.WithoutAssumed, f.recs...)
		}
		if out.Second, err = secondJoint(ctx, file, cfg, &cfg.Data, out.Second, bar); err != nil {
			return out, err
		}
	}
	if out.Doubt == "" {
		out.WithoutAssumed = nil
	}
	if cfg.Loop != nil {
		recs, err := readRecord(ctx, cfg.Loop.File, cfg, cfg.Loop, bar)
		if err != nil {
			return out, err
		}
		out.Loop = recs
	}
	if cfg.Validate != "" {
		whole := wholeOf(&cfg.Data)
		recs, err := readRecord(ctx, cfg.Validate, cfg, whole, bar)
		if err != nil {
			return out, fmt.Errorf("validation: %w", err)
		}
		out.Validation = recs
		if out.SecondVal, err = secondJoint(ctx, cfg.Validate, cfg, whole, nil, bar); err != nil {
			return out, fmt.Errorf("validation: %w", err)
		}
	}
	return out, nil
}

// secondJoint adds the second joint of a file, if it has one.
func secondJoint(ctx context.Context, file string, cfg *configs.Identify, d *configs.IdentifyData, to []*record.Record,
	bar *report.Progress) ([]*record.Record, error) {
	other := secondOf(d)
	if other == nil {
		return to, nil
	}
	recs, err := readRecord(ctx, file, cfg, other, bar)
	return append(to, recs...), err
}

// secondOf is a data section of the second joint as that of a first; nil: there is none.
func secondOf(d *configs.IdentifyData) *configs.IdentifyData {
	if d.Columns.Position2.Name == "" {
		return nil
	}
	other := *d
	other.Columns = configs.IdentifyColumns{Time: d.Columns.Time, Position: d.Columns.Position2, Force: d.Columns.Force2,
		Group: d.Columns.Group}
	return &other
}

// wholeOf is a data section without a selection, which belongs to the first record.
func wholeOf(d *configs.IdentifyData) *configs.IdentifyData {
	whole := *d
	whole.Rows, whole.Span, whole.TailDuration = [2]float64{}, [2]float64{}, 0
	return &whole
}

// readRecord is readForced without doubts.
func readRecord(ctx context.Context, path string, cfg *configs.Identify, d *configs.IdentifyData, bar *report.Progress) ([]*record.Record,
	error) {
	f, err := readForced(ctx, path, cfg, d, bar)
	return f.recs, err
}

// CheckRecords looks at the heads of the records of a file that are there: whether the columns are, in these units, with numbers and an
// even time below them. It says what was looked at, by path. A recording of this program tells its columns without being read.
func CheckRecords(cfg *configs.Identify) (said map[string]string, err error) {
	said = map[string]string{}
	look := func(path string, d *configs.IdentifyData) {
		if _, missing := os.Stat(path); path == "" || missing != nil {
			return
		}
		text, bad := checkRecord(path, cfg, d)
		said[path], err = text, errors.Join(err, bad)
		if second := secondOf(d); bad == nil && second != nil {
			_, bad = checkRecord(path, cfg, second)
			err = errors.Join(err, bad)
		}
	}
	for _, path := range append([]string{cfg.Data.File}, cfg.Data.FurtherFiles...) {
		look(path, &cfg.Data)
	}
	if cfg.Loop != nil {
		look(cfg.Loop.File, cfg.Loop)
	}
	look(cfg.Validate, wholeOf(&cfg.Data))
	return said, err
}

func checkRecord(path string, cfg *configs.Identify, d *configs.IdentifyData) (string, error) {
	m, err := mappingOf(cfg, d)
	if err != nil {
		return "", err
	}
	if _, ok := sink.FindRun(path); ok {
		r, err := openColumns(path, m, d.Command, cfg.Model.Drive == axis.Coast)
		if err != nil {
			return "", err
		}
		defer r.run.Close()
		return "is a recording with these columns", record.CheckSource(r.run.Path, r.samples, ofSamples(m))
	}
	recs, whole, err := record.ReadHead(path, m)
	if err != nil {
		return "", err
	}
	rows := 0
	for _, d := range recs {
		rows += d.Len()
	}
	text := fmt.Sprintf("has these columns, looked at: the first %d rows", rows)
	if whole {
		text = fmt.Sprintf("has these columns and %d rows", rows)
	}
	if recs[0].Dt > 0 {
		text += fmt.Sprintf(", at %.6g Hz", 1/recs[0].Dt)
	}
	return text, nil
}

// mappingOf are the columns of a data section with what else it says of the file.
func mappingOf(cfg *configs.Identify, d *configs.IdentifyData) (record.Mapping, error) {
	m := mappingOfFiles(&d.Records)
	m.Piece, m.Rows, m.TailDuration, m.SteadyLevels = d.Columns.Group, [2]int{int(d.Rows[0]), int(d.Rows[1])}, d.TailDuration, d.SteadyTable
	to := map[string]*record.Column{
		"time": &m.Time, "position": &m.Position, "velocity": &m.Velocity, "force": &m.Force,
		"reference": &m.Reference, "disturbance": &m.Disturbance, "load": &m.Load, "current": &m.Current,
		"deviation": &m.Deviation, "count": &m.Count,
	}
	for _, ch := range cfg.Channels(d) {
		c, err := columnOf(ch.Column, ch.SI)
		if err != nil {
			return m, err
		}
		if to[ch.Key] != nil { // those of the second joint are read by themselves
			*to[ch.Key] = c
		}
	}
	return m, nil
}

// mappingOfFiles is what a data section says of its files, without columns.
func mappingOfFiles(d *configs.Records) record.Mapping {
	return record.Mapping{
		Rate: d.Rate, DecimalComma: d.Decimal == "comma", SameUnit: SameUnit, Span: d.Span, Resample: d.Resample > 0, ResampleRate: d.Resample,
		SplitGaps: d.SplitGaps,
		Separator: map[string]rune{"comma": ',', "semicolon": ';', "tab": '\t'}[d.Separator], // auto: 0
	}
}

// columnOf is a column of a quantity with the unit si; none: without a name.
func columnOf(c configs.IdentifyColumn, si string) (record.Column, error) {
	if c.Name == "" {
		return record.Column{}, nil
	}
	scale, shift, err := c.Factors(si)
	if err != nil {
		return record.Column{}, fmt.Errorf("column %s: %w", c.Name, err)
	}
	return record.Column{Name: c.Name, Unit: c.Unit, Scale: scale, Shift: shift, Step: c.Step, Delay: c.Delay, Optional: c.Optional}, nil
}

// FromWhere says how to get a record that is not there.
func FromWhere(cfg *configs.Identify, d *configs.IdentifyData) string {
	if command := strings.TrimSpace(d.Source); strings.HasPrefix(command, "hil ") {
		return "Make it first:\n  " + strings.ReplaceAll(command, "\n", "\n  ")
	}
	var names []string
	for _, ch := range cfg.Channels(d) {
		if n := ch.Column.Name; n != "" && !ch.Column.Optional && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return fmt.Sprintf("It is a public record: %s. Give yours with --data FILE, with the columns %s.", strings.TrimSpace(d.Source),
		strings.Join(names, ", "))
}

// SameUnit compares units by meaning, so that "Nm" and "N·m" are equal. A unit that cannot be read is left to the user.
func SameUnit(a, b string) bool {
	u, errA := schema.ParseUnit(a)
	v, errB := schema.ParseUnit(b)
	if errA != nil || errB != nil {
		return true
	}
	return u.Dim == v.Dim && math.Abs(u.Factor-v.Factor) <= 1e-12*math.Abs(v.Factor)
}

// keeper holds the state of an evolution in a file, with what it belongs to.
type keeper struct {
	path      string
	state     keptState
	lastWrite time.Time
}

// keptState is the content of the file.
type keptState struct {
	Config json.RawMessage            `json:"config"` // model, parameters and settings of the run that wrote it
	Data   []string                   `json:"data_sha256"`
	Stages map[string]json.RawMessage `json:"stages"`
}

// keepEvery is how often the state goes to disk.
const keepEvery = 5 * time.Second

// openKeeper reads the state of an earlier run, if there is one. A state of another model or other data is refused: going
// on from it would give numbers that belong to neither.
func openKeeper(path string, cfg *configs.Identify, recs identify.Records) (*keeper, error) {
	if path == "" {
		return nil, nil
	}
	selection := cfg.Data // the records are told by their content, wherever they lie
	selection.File, selection.FurtherFiles = "", nil
	said, err := json.Marshal(struct {
		Axis                               string
		Model, Parameters, AEP, Seed, Data any
	}{cfg.Axis, cfg.Model, cfg.Parameters, cfg.AEP, cfg.Seed, selection})
	if err != nil {
		return nil, err
	}
	k := &keeper{path: path, state: keptState{Config: said, Stages: map[string]json.RawMessage{}}}
	for _, d := range recs.Fit {
		k.state.Data = append(k.state.Data, d.SHA256)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) { // find out now, and not after hours, that nothing can be written there
		probe, err := os.CreateTemp(filepath.Dir(path), ".hil-*")
		if err != nil {
			return nil, fmt.Errorf("--resume %s: cannot write there: %w", path, err)
		}
		return k, errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	var old keptState
	if err := json.Unmarshal(data, &old); err != nil {
		return nil, fmt.Errorf("--resume %s: no state of an evolution: %w", path, err)
	}
	if string(old.Config) != string(said) || strings.Join(old.Data, " ") != strings.Join(k.state.Data, " ") {
		return nil, fmt.Errorf("--resume %s: the state belongs to another model, other settings or another record; give another file name to "+
			"start anew", path)
	}
	if old.Stages != nil {
		k.state.Stages = old.Stages
	}
	return k, nil
}

func (k *keeper) Load(method string) []byte { return k.state.Stages[method] }

// Save writes the state at most every few seconds.
func (k *keeper) Save(method string, data []byte) {
	k.state.Stages[method] = data
	if time.Since(k.lastWrite) >= keepEvery {
		_ = k.flush() // the last one tells
	}
}

// flush writes the state, if there is one.
func (k *keeper) flush() error {
	k.lastWrite = time.Now()
	if len(k.state.Stages) == 0 {
		return nil
	}
	return report.WriteWhole(k.path, true, func(w io.Writer) error { return json.NewEncoder(w).Encode(k.state) })
}
