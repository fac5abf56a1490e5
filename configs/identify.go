package configs

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/identify"
	"hilrig/identify/axis"
	"hilrig/identify/bristle"
	"hilrig/identify/curve"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
)

// Identify describes an identification: measured records, a model, and the methods that find its parameters, each starting
// from what the one before found. Numbers follow the rules of Config. Columns of a record are numbers without unit; what they
// measure is said by unit, and by gain where the column is not the wanted quantity itself (a command in V that a drive turns
// into a force, encoder counts).
type Identify struct {
	Version       int                 `yaml:"version" doc:"format of this file, 1"`
	Name          string              `yaml:"name" doc:"name of the axis"`
	Description   string              `yaml:"description,omitempty" doc:"one line for people"`
	Axis          string              `yaml:"axis" enum:"linear,rotary" doc:"linear: position in m, force in N; rotary: position in rad, torque in N·m"`
	Data          IdentifyData        `yaml:"data" doc:"the record that is fitted"`
	Loop          *IdentifyData       `yaml:"loop,omitempty" doc:"joint: the presliding loop that belongs to the static map in data"`
	Validate      string              `yaml:"validate,omitempty" doc:"a second record with the same columns, explained by the parameters but not used to find them"`
	Method        identify.Chain      `yaml:"method" doc:"what is done, in order; the last one gives the result"`
	Model         IdentifyModel       `yaml:"model" doc:"what is simulated, for aep, lm and multishoot; the law also for static, lugre and kalman"`
	Parameters    IdentifyParams      `yaml:"parameters" doc:"by name: a number is known and stays, {start, min, max, fixed, log} is searched, {start, assumed: true} stays, and intervals hold its doubt; {start, error} is known with that standard uncertainty, {start, prior} is searched, and was known before the record with that"`
	Terms         []linear.Term       `yaml:"terms" doc:"regress: what is fitted"`
	Form          linear.Form         `yaml:"form" doc:"regress: differences of the filtered position; weak: integrals against test functions; instrumental: with simulated regressors; total: noise on both sides"`
	Interpolation linear.Between      `yaml:"between" doc:"regress, two-joint: what the force does between two samples. auto: as it explains the record better; hold: it stays as it is, as the command of a computer; line: it changes evenly, as what was measured with filters"`
	NoiseRatio    float64             `yaml:"noise_ratio" want:">=0" doc:"regress with form total: standard deviation of the position noise, m or rad, over that of the force, N or N·m"`
	Filter        IdentifyFilter      `yaml:"filter" doc:"regress: the zero-phase Butterworth low-pass of the position"`
	Decimate      int                 `yaml:"decimate" want:">=0 <=1000" doc:"regress: every n-th sample is kept, after a zero-phase filter of both sides; 1: all, 0: one every 10 ms"`
	Trim          *float64            `yaml:"trim,omitempty" unit:"s" want:">=0" doc:"regress: left out at each end of the record; without it ten periods of the cutoff"`
	MinVelocity   *float64            `yaml:"min_velocity,omitempty" unit:"m/s|rad/s" want:">=0" doc:"regress: slower samples are left out of the fit; 0: none; left out: found in the record"`
	Static        identify.Static     `yaml:"static" doc:"static, joint: how means at constant speed are taken"`
	Presliding    curve.LoopOptions   `yaml:"presliding" doc:"presliding, joint: how the loop was recorded"`
	Joints        linear.JointOptions `yaml:"joints" doc:"two-joint: how the arm was recorded"`
	Steps         curve.StepOptions   `yaml:"velocity_step" doc:"velocity-step: how the steps were recorded"`
	Bristle       bristle.Options     `yaml:"noise" doc:"lugre, kalman: what is known of the noise"`
	AEP           fit.AEP             `yaml:"aep" doc:"accelerated evolutionary programming"`
	LM            identify.LM         `yaml:"lm" doc:"Levenberg–Marquardt"`
	Shooting      int                 `yaml:"segments" want:">=0 <=1000" doc:"multishoot: pieces into which every record is cut; 0: two for every swing or slip"`
	Bootstrap     int                 `yaml:"bootstrap" want:">=0 <=10000" doc:"refits to resampled residuals; 0: none"`
	Seed          int                 `yaml:"seed" want:">=0" doc:"of everything random"`
	TimeLimit     float64             `yaml:"time_limit" unit:"s" want:">=0" doc:"best so far after this; 0: none"`
	GainErr       float64             `yaml:"gain_error" unit:"%" want:">=0 <=100" doc:"standard uncertainty of the gain of the force; intervals of what is in proportion to the force hold it"`
	RequireFit    float64             `yaml:"require_fit" unit:"%" want:">=0 <=100" doc:"a fit below this is a missed quality gate; 0: no gate"`
	Compare       []Variant           `yaml:"compare,omitempty" doc:"hil compare: models that are fitted side by side"`
}

// IdentifyData are records of an axis.
type IdentifyData struct {
	Records
	Columns      IdentifyColumns `yaml:"columns" doc:"which column is what"`
	TailDuration float64         `yaml:"last,omitempty" unit:"s" want:">=0" doc:"only this time of the record, up to its last sample; 0: all"`
	Rows         [2]float64      `yaml:"rows" doc:"only these rows of numbers, [first, last], counted from 1; last 0: the end"`
	SteadyTable  bool            `yaml:"steady" doc:"a table of steady friction: every row is a level of constant speed with its velocity, mean force and deviation; there is no time"`
	Command      string          `yaml:"command,omitempty" doc:"of a recording: the command of the drive. What was sent between two samples tells what the force did there; with winding it is the voltage on that"`
	Winding      *Winding        `yaml:"winding,omitempty" doc:"of the motor whose current is the force, where its voltage is held from command to command, or, without command, from sample to sample: the current is not straight between samples then. Without command, intervals hold half of what this does"`
	Doubt        float64         `yaml:"delay_doubt,omitempty" unit:"s" want:">=0" doc:"by how much the delay of the force may be wrong either way: intervals hold what that does. With command, where that tells nothing: the force is taken so much earlier, and as much is in doubt"`
}

// Winding is that of a motor on a held voltage.
type Winding struct {
	R         float64 `yaml:"R" unit:"ohm" want:">0 <=10000" doc:"armature resistance"`
	L         float64 `yaml:"L" unit:"H" want:">0 <=10" doc:"armature inductance"`
	K         float64 `yaml:"K" unit:"N/A|N·m/A" want:">0 <=10000" doc:"force or torque constant"`
	BrushDrop float64 `yaml:"brush_drop,omitempty" unit:"V" want:">=0 <=10" doc:"voltage drop of both brushes"`
	DropScale float64 `yaml:"drop_current,omitempty" unit:"A" want:">=0 <=100" doc:"current at which the brush drop is 76 % developed"`
}

// IdentifyColumns are the signals that a fit may need; which ones depends on the method.
type IdentifyColumns struct {
	Time        IdentifyColumn `yaml:"time" doc:"may be left out if rate is given"`
	Position    IdentifyColumn `yaml:"position" doc:"of the axis"`
	Velocity    IdentifyColumn `yaml:"velocity" doc:"of the axis, as measured; static and velocity-step need it, others check it"`
	Force       IdentifyColumn `yaml:"force" doc:"force or torque of the drive on the axis, positive in the direction of positive position; velocity-step: friction, or its coefficient"`
	Reference   IdentifyColumn `yaml:"reference" doc:"what the controller was told, or the far end of the drawing spring"`
	Disturbance IdentifyColumn `yaml:"disturbance" doc:"known force on the axis besides the drive"`
	Load        IdentifyColumn `yaml:"load" doc:"normal load of the contact"`
	Current     IdentifyColumn `yaml:"current" doc:"through the contact or the motor"`
	Position2   IdentifyColumn `yaml:"position2" doc:"two-joint: of the second joint, against the first link"`
	Force2      IdentifyColumn `yaml:"force2" doc:"two-joint: of the drive of the second joint"`
	Deviation   IdentifyColumn `yaml:"deviation" doc:"data.steady: standard deviation of the force of a level; of its samples if count is named, else of their mean"`
	Count       IdentifyColumn `yaml:"count" doc:"data.steady: number of samples in the mean of a level"`
	Group       string         `yaml:"group,omitempty" doc:"column whose changing value cuts the file into pieces: a set point, a trial"`
}

// Coefficient tells whether the force column holds a coefficient of friction: a pure number.
func (c *Identify) Coefficient() bool {
	f := c.Data.Columns.Force
	return c.Method.ContainsFunc(func(m *identify.MethodInfo) bool { return m.Coefficient }) && f.Unit == "" && f.Gain == ""
}

// IdentifyColumn is one column. SI value = number · gain + add.
type IdentifyColumn struct {
	Name string `yaml:"name" doc:"as in the header row"`
	Unit string `yaml:"unit" doc:"of the numbers in the file; empty: a pure number"`
	Gain string `yaml:"gain,omitempty" doc:"factor with unit, such as 35.15 N/V for a command in V; empty: 1"`
	// Optional says that a file may lack the column.
	Optional bool    `yaml:"optional,omitempty" doc:"a file without this column is read without it"`
	Delay    float64 `yaml:"delay,omitempty" unit:"s" doc:"by which the stamps of this column are later than those of the others: half a sampling interval for a mean over it, say"`
	Step     float64 `yaml:"step,omitempty" want:">=0" doc:"in which the numbers of the file count; 0: what they show. Intervals hold what rounding may do to a force that rests on few levels"`
	Add      string  `yaml:"add,omitempty" doc:"added after the gain, with unit, such as -180 deg for an angle counted from upright"`
}

// IdentifyFilter is a low-pass.
type IdentifyFilter struct {
	Order  int     `yaml:"order" want:">=1 <=12"`
	Cutoff float64 `yaml:"cutoff" unit:"Hz" want:">=0" doc:"−3 dB of one pass, −6 dB of both; 0: 100 Hz, or a fifth of a lower sampling rate"`
}

// DefaultIdentify is what an identification file starts from: the procedure published with the EMPS record.
func DefaultIdentify() *Identify {
	return &Identify{
		Version:       1,
		Axis:          "linear",
		Data:          IdentifyData{Records: defaultRecords()},
		Method:        identify.Chain{"regress"},
		Model:         IdentifyModel{Spec: axis.Spec{Terms: []string{}, Decimate: 1, Hold: axis.Either}, Lag: linear.LagAuto},
		Terms:         linear.DefaultSpec().Terms,
		Interpolation: linear.BetweenAuto,
		Form:          linear.Direct,
		Filter:        IdentifyFilter{Order: 4},
		AEP:           fit.AEP{Members: 30, Generations: 100, Islands: 1, Migrate: 10, Beta1: 0.1, Beta2: 0.05, Survivors: 3},
		Seed:          1,
	}
}

// LoadIdentify reads and checks an identification file. The error is *Errors and holds every problem. Relative paths of
// records come back joined to the folder of the file. also are methods that will run besides those of the file.
func LoadIdentify(path string, also ...identify.Method) (*Identify, error) {
	c, _, err := CheckIdentify(path, also...)
	return c, err
}

// CheckIdentify is LoadIdentify that also returns the warnings.
func CheckIdentify(path string, also ...identify.Method) (c *Identify, warnings []schema.Problem, err error) {
	return fromFile(path, func(name string, data []byte) (*Identify, []schema.Problem, error) {
		return identifyBytes(name, data, also...)
	})
}

// ReadIdentify is LoadIdentify of a text, with the paths of records as they stand.
func ReadIdentify(name string, text []byte) (*Identify, error) {
	c := DefaultIdentify()
	c, _, err := load(name, text, c, func(r *schema.Report) {
		c.Check(r)
		c.checkUnused(r, nil)
	})
	return c, err
}

// Marshal writes a file for a folder: what differs from the defaults, and what has a comment, by its path. The paths of records start at
// the folder.
func (c *Identify) Marshal(folder string, comments map[string]string) ([]byte, error) {
	d := *c
	d.Data.FurtherFiles = slices.Clone(c.Data.FurtherFiles)
	for _, p := range d.files() {
		if whole, err := filepath.Abs(*p); err == nil {
			if rel, err := filepath.Rel(folder, whole); err == nil {
				*p = rel
			}
		}
	}
	return schema.MarshalOver(&d, DefaultIdentify(), comments)
}

// identifyBytes is CheckIdentify for a file that is already in memory.
func identifyBytes(path string, data []byte, also ...identify.Method) (c *Identify, warnings []schema.Problem, err error) {
	c = DefaultIdentify()
	return load(path, data, c, func(r *schema.Report) {
		c.Check(r)
		c.checkUnused(r, also)
		joinPaths(filepath.Dir(path), c.files()...)
	})
}

// files are the paths of the records that the file names.
func (c *Identify) files() []*string {
	files := c.Data.paths()
	if c.Loop != nil {
		files = append(files, &c.Loop.File)
	}
	if c.Validate != "" {
		files = append(files, &c.Validate)
	}
	return files
}

// checkUnused refuses settings of methods that are not in the chain: who wrote them expects them to act. A constant force that
// is known counts for every method.
func (c *Identify) checkUnused(r *schema.Report, also identify.Chain) {
	chain := slices.Concat(c.Method, also)
	for _, v := range c.Compare {
		chain = append(chain, v.Method...)
	}
	var keys []string
	owners := map[string]identify.Chain{}
	for _, m := range identify.Methods {
		for _, key := range m.Settings {
			if owners[key] == nil {
				keys = append(keys, key)
			}
			owners[key] = append(owners[key], m.Name)
		}
	}
	for _, key := range keys {
		used := slices.ContainsFunc(chain, func(m identify.Method) bool { return slices.Contains(owners[key], m) })
		known := key == "parameters" && !slices.ContainsFunc(c.Parameters,
			func(p IdentifyParam) bool { return p.Name != "offset" || p.Fixed == nil || !*p.Fixed })
		r.ErrorIf(r.HasKey(key) && !used && !known, key, "not used by %s; it belongs to %s", c.Method, owners[key])
	}
}

// Check reports what is wrong with the values. The terms are checked by the fit, which knows them.
func (c *Identify) Check(r *schema.Report) {
	r.FirstErrorIf(c.Version != 1, "version", "%d, this program reads version 1", c.Version)
	r.CheckBounds(c)
	r.FirstErrorIf(len(c.Method) == 0, "method", "empty, want at least one of %s", strings.Join(identify.Method("").Words(), ", "))
	r.FirstErrorIf(len(c.Terms) == 0 && slices.Contains(c.Method, "regress"), "terms", "empty, want at least one")
	c.checkData(r, "data", &c.Data, c.Needs())
	if c.Loop != nil {
		c.checkData(r, "loop", c.Loop, []string{"position", "force"})
	} else if c.Method.ContainsFunc(func(m *identify.MethodInfo) bool { return m.Loop }) && !r.HasProblem("loop") {
		r.KeyErrorf("loop", "is missing: joint ties a presliding loop, in loop, to the static map, in data")
	}
	c.checkModel(r)
}

// Needs are the columns without which no method of the file can work.
func (c *Identify) Needs() []string {
	plan := identify.Plan{Model: c.Model.Spec, Joints: c.Joints}
	return slices.DeleteFunc([]string{"position", "velocity", "force", "position2", "force2"}, func(column string) bool {
		return !c.Method.ContainsFunc(func(m *identify.MethodInfo) bool { return slices.Contains(m.Columns(&plan), column) })
	})
}

// Unit is that of a quantity on the axis of the file.
func (c *Identify) Unit(linear string) string { return engine.UnitOn(c.Axis == "rotary", linear) }

// Channels are the columns in a fixed order, with the unit of the quantity they hold on this axis.
func (c *Identify) Channels(d *IdentifyData) []IdentifyChannel {
	m, speed, force := c.Unit("m"), c.Unit("m/s"), c.Unit("N")
	if c.Coefficient() {
		force = "1"
	}
	cols := &d.Columns
	return []IdentifyChannel{
		{"time", "s", cols.Time}, {"position", m, cols.Position}, {"velocity", speed, cols.Velocity}, {"force", force, cols.Force},
		{"reference", m, cols.Reference}, {"disturbance", force, cols.Disturbance}, {"load", "N", cols.Load}, {"current", "A", cols.Current},
		{"deviation", force, cols.Deviation}, {"count", "1", cols.Count}, {"position2", m, cols.Position2}, {"force2", force, cols.Force2},
	}
}

// IdentifyChannel is a column with what it holds.
type IdentifyChannel struct {
	Key, SI string
	Column  IdentifyColumn
}

// checkData checks one data section.
func (c *Identify) checkData(r *schema.Report, at string, d *IdentifyData, need []string) {
	cols := &d.Columns
	d.check(r, at)
	if w := d.Winding; w != nil {
		checkBrushes(r, at+".winding", w.BrushDrop, w.DropScale)
	}
	switch {
	case d.SteadyTable:
		c.checkSteady(r, at, d)
	case cols.Deviation.Name != "" || cols.Count.Name != "":
		r.KeyErrorf(at+".columns", "deviation and count belong to a table of steady friction; for one, set %s.steady: true", at)
	default:
		d.checkTime(r, at, at+".columns.time", cols.Time)
	}
	for _, ch := range c.Channels(d) {
		ch.Column.check(r, at+".columns."+ch.Key, ch.SI, slices.Contains(need, ch.Key))
	}
}

// checkSteady checks a table of steady friction, which has no time.
func (c *Identify) checkSteady(r *schema.Report, at string, d *IdentifyData) {
	for _, m := range c.Method {
		if info := identify.FindMethod(m); at != "data" || info != nil && !info.Tabled {
			r.KeyErrorf(at+".steady", "%s needs samples in time; a table of steady friction serves static, and joint in data", m)
			return
		}
	}
	for _, key := range []struct {
		name    string
		present bool
	}{{"columns.time", d.Columns.Time.Name != ""}, {"rate", d.Rate != 0}, {"span", d.Span != [2]float64{}}, {"last", d.TailDuration != 0},
		{"command", d.Command != ""}, {"winding", d.Winding != nil}, {"delay_doubt", d.Doubt != 0}, {"resample", d.Resample != 0},
		{"split_gaps", d.SplitGaps}} {
		r.ErrorIf(key.present, at+"."+key.name, "a table of steady friction has no time; leave it out, or take out %s.steady", at)
	}
	for _, ch := range c.Channels(d) {
		r.ErrorIf(ch.Column.Delay != 0, at+".columns."+ch.Key+".delay", "a table of steady friction has no time; leave it out")
	}
}

// Factors are those of SI value = scale·number + shift, or why there are none. want is the unit (SI).
func (c IdentifyColumn) Factors(want string) (scale, shift float64, err error) {
	if scale, err = c.Scale(want); err == nil && c.Add != "" {
		if shift, err = scaled(c.Add, "", want); err != nil {
			err = fmt.Errorf("add: %w", err)
		}
	}
	return scale, shift, err
}

// scaled is a number with its unit, times a gain, in the unit want (SI).
func scaled(value, gain, want string) (float64, error) {
	num, unit, err := schema.SplitNumber(value)
	if err != nil {
		return 0, err
	}
	scale, err := IdentifyColumn{Unit: unit, Gain: gain}.Scale(want)
	one, _ := schema.ParseUnit("1")
	return one.Parse(num, true) * scale, err
}

// Scale is the factor from the numbers of the column to the unit want (SI), or why there is none.
func (c IdentifyColumn) Scale(want string) (float64, error) {
	w, err := schema.ParseUnit(want)
	if err != nil {
		return 0, err
	}
	text, factor := c.Unit, "1"
	if c.Gain != "" {
		num, unit, err := schema.SplitNumber(c.Gain)
		if err != nil {
			return 0, fmt.Errorf("gain: %w", err)
		}
		if _, err := schema.ParseUnit(unit); err != nil {
			return 0, fmt.Errorf("gain: %w", err)
		}
		switch factor = num; {
		case unit != "" && text != "":
			text = fmt.Sprintf("(%s)·(%s)", unit, text)
		case unit != "":
			text = unit
		}
	}
	if _, err := schema.ParseUnit(c.Unit); err != nil {
		return 0, err
	}
	u, err := schema.ParseUnit(text)
	switch {
	case err != nil:
		return 0, err
	case u.Offset != 0:
		return 0, fmt.Errorf("%s is no unit for this", c.Unit)
	case u.Dim != w.Dim && c.Gain == "":
		return 0, fmt.Errorf("the column is %s, want %s; if something else was recorded, give gain: how much of it one %s is",
			schema.DescribeValue(u), schema.DescribeUnit(w), cmp.Or(c.Unit, "count"))
	case u.Dim != w.Dim:
		return 0, fmt.Errorf("gain %s times a column in %s is %s, want %s", c.Gain, cmp.Or(c.Unit, "pure numbers"), schema.DescribeValue(u),
			schema.DescribeUnit(w))
	}
	scale := u.Parse(factor, true)
	if scale == 0 || math.IsInf(scale, 0) {
		return 0, fmt.Errorf("gain: %s, want a number other than zero", c.Gain)
	}
	return scale, nil
}
