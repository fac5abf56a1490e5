package identify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/estimator"
	"hilrig/hil"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/axis"
	"hilrig/identify/bristle"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// recording is a run opened for identification: in the time of its samples, with the configuration it was made with.
type recording struct {
	trip     trip // in the rows that were read
	run      *sink.Run
	rig      *configs.Config
	axis     *configs.Axis
	samples  *sink.Samples
	liveRows *sink.LiveRows
}

// openRecording opens a run for one of its axes, by its name or that of its position; "": the only one. watch is told how far it is read.
// Samples are those while the drive was on, or, where still says so or nothing drives the axis, while it was off.
// The steps of command are kept ("": none).
func openRecording(path, of, command string, still bool, watch func(read, size int64, rows int)) (*recording, error) {
	run, err := sink.OpenRun(path)
	if err != nil {
		return nil, err
	}
	rig, err := configs.LoadBytes(run.Path+": its configuration", run.Info.Config)
	if err != nil {
		run.Close()
		return nil, err
	}
	axis, err := AxisOf(rig, of)
	if err != nil {
		run.Close()
		return nil, &record.Error{File: run.Path, Msg: err.Error()}
	}
	r := &recording{run: run, rig: rig, axis: axis, liveRows: sink.NewLiveRows(&run.Info.Schema, axis.Name)}
	dev := deviceOf(rig, axis)
	r.samples = run.Samples(sink.SampleOptions{
		Base: axis.Position, Delay: axis.Estimator.Delay, Period: 1 / rig.DeviceRate(dev), Clocked: rig.Clocked(dev),
		Polled:   dev.Protocol.Kind().Asks,
		DriveOff: still || run.Info.DryRun || !rig.HasDrive(), Command: command, Row: r.see, Watch: watch,
	})
	return r, nil
}

// see takes in a row.
func (r *recording) see(row *hil.Row) {
	r.liveRows.See(row)
	r.trip.see(row)
}

// AxisOf is the axis with a name or a position; "": the only one.
func AxisOf(rig *configs.Config, of string) (*configs.Axis, error) {
	var names []string
	for i := range rig.Axes {
		a := &rig.Axes[i]
		if a.Name == of || a.Position == of || strings.HasPrefix(of, a.Name+".") || of == "" && len(rig.Axes) == 1 {
			return a, nil
		}
		names = append(names, a.Name)
	}
	if len(rig.Axes) == 0 {
		return nil, errors.New("the rig of this recording has no axis, and inertia and friction are those of an axis; hil export writes its " +
			"numbers as CSV")
	}
	if device, _, ok := strings.Cut(of, "."); ok { // a column that no axis is named by: it is read beside the position on its board
		for i := range rig.Axes {
			if len(rig.Axes) == 1 || strings.HasPrefix(rig.Axes[i].Position, device+".") {
				return &rig.Axes[i], nil
			}
		}
	}
	if of == "" {
		together := ""
		if rig.Mechanism != nil {
			together = ", or --machine: the bodies of its mechanism, by all axes together"
		}
		return nil, fmt.Errorf("the rig has %d axes; want one: --axis %s%s", len(names), strings.Join(names, " or --axis "), together)
	}
	return nil, fmt.Errorf("the rig has no axis %s; there are %s", of, strings.Join(names, ", "))
}

// originOf is rig and axis of the recording that a file fits; "": it is none.
func originOf(cfg *configs.Identify) (rig, axis string) {
	if _, ok := sink.FindRun(cfg.Data.File); !ok {
		return "", ""
	}
	r, err := openRecording(cfg.Data.File, cfg.Data.Columns.Position.Name, "", false, nil)
	if err != nil {
		return "", ""
	}
	defer r.run.Close()
	return r.rig.Rig.Name, r.axis.Name
}

// deviceOf is the device that measures the position of an axis: its samples are those of a fit.
func deviceOf(rig *configs.Config, axis *configs.Axis) *configs.Device {
	k, _ := rig.Find(axis.Position, false)
	return &rig.Devices[max(0, k)]
}

// ofSamples is a mapping in the time of the samples.
func ofSamples(m record.Mapping) record.Mapping {
	m.Time = record.Column{Name: sink.SampleTime, Unit: "s"}
	m.Piece = cmp.Or(m.Piece, sink.SamplePiece)
	m.Resample, m.SplitGaps, m.Cubic = true, true, true // of devices that sample unevenly; an even raster stays as it is
	return m
}

// read gives the records of the columns of m.
func (r *recording) read(ctx context.Context, m record.Mapping) ([]*record.Record, error) {
	m = ofSamples(m)
	part := m.TailDuration > 0 || m.Span != [2]float64{}
	sum, err := "", error(nil)
	if part {
		m.Span, err = r.samples.LimitTo(m.Span, m.TailDuration)
		m.TailDuration = 0
	} else {
		sum, err = hashOf(r.run.Path)
	}
	if err != nil {
		return nil, err
	}
	recs, err := record.ReadSource(ctx, r.run.Path, sum, r.samples, m)
	if err != nil {
		return nil, err
	}
	if part { // the file may still grow
		for _, d := range recs {
			d.SHA256 = hashOfSamples(d)
		}
	}
	if cut, lost := r.run.Truncated(); cut {
		recs[0].Warnings = append(recs[0].Warnings, lost)
	}
	if text := r.trip.text(r.run); text != "" {
		recs[0].Warnings = append(recs[0].Warnings, text)
	}
	for _, p := range r.run.Problems() {
		recs[0].Warnings = append(recs[0].Warnings, fmt.Sprint(p))
	}
	return recs, nil
}

// openColumns opens a recording for the columns of m.
func openColumns(path string, m record.Mapping, command string, still bool) (*recording, error) {
	if !slices.Contains([]string{"", "timestamp", "t", sink.SampleTime}, m.Time.Name) {
		return nil, &record.Error{File: path, Msg: fmt.Sprintf("data.columns.time: %s: a recording is read in the time of its samples",
			m.Time.Name), Hint: "Leave data.columns.time out."}
	}
	return openRecording(path, m.Position.Name, command, still, m.Watch)
}

// readRecording reads the columns of m from a recording of this program, where it lies.
func readRecording(ctx context.Context, path string, m record.Mapping, still bool) ([]*record.Record, error) {
	r, err := openColumns(path, m, "", still)
	if err != nil {
		return nil, err
	}
	defer r.run.Close()
	return r.read(ctx, m)
}

// hashOfSamples is the SHA-256 of the samples of a record, as 64-bit numbers, low byte first: start, interval, position, force.
func hashOfSamples(d *record.Record) string {
	h := sha256.New()
	for _, x := range [][]float64{{d.Start, d.Dt}, d.Position, d.Force} {
		_ = binary.Write(h, binary.LittleEndian, x) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashOf is the SHA-256 of a file, in hexadecimal.
func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// ownRun is what a recording says of itself when it is identified without a file.
type ownRun struct {
	LiveEstimate *sink.LiveEstimate `json:"live"`              // null: the run has none
	NoLive       string             `json:"no_live,omitempty"` // why there is none
	assumptions
	coupled         []string         // axes that move this one
	doubt           string           // what was taken for granted of the force between samples; "": nothing was
	alternatives    []*record.Record // the records without it
	intersampleText string           // what was found of it, for people
}

// Records are those of the fit with the doubts about them.
func (o *ownRun) Records(fit []*record.Record) identify.Records {
	return identify.Records{Fit: fit, WithoutAssumed: o.alternatives, Doubt: o.doubt}
}

// IntersampleText is what was found of the force between samples; "": nothing was looked for.
func (o *ownRun) IntersampleText() string { return o.intersampleText }

// jointLimit is the distance within which two estimates of four parameters agree, in joint standard errors: all four are within it
// in 95 of 100 cases, 1 − (1 − 0.95)/4 two-sided.
const jointLimit = 2.498

// RunOptions say what of a recording is fitted, and how. Zero: its only axis, all of it, inertia, Coulomb and viscous friction.
type RunOptions struct {
	Axis         string         // by its name or that of its position; "": the only one
	Law          string         // a friction law; "": inertia, Coulomb and viscous friction
	Methods      identify.Chain // nil: those that suit the law
	Span         [2]float64     // s  after the first row; [from, 0]: to the end
	TailDuration float64        // s  up to the last sample; 0: all
}

// PlanRun makes of a recording what an identification file says, and reads it.
func PlanRun(ctx context.Context, path string, o RunOptions, bar *report.Progress) (*configs.Identify, []*record.Record, *ownRun, error) {
	r, err := openRecording(path, o.Axis, "", false, bar.Reading(path))
	if err != nil {
		return nil, nil, nil, err
	}
	defer r.run.Close()
	cfg, assumed, err := PlanAxis(r.rig, r.axis, o)
	if err != nil {
		return nil, nil, nil, &record.Error{File: r.run.Path, Msg: err.Error()}
	}
	cfg.Data.File = r.run.Path
	m, err := mappingOf(cfg, &cfg.Data)
	if err != nil {
		return nil, nil, nil, err
	}
	r.samples.SelectCommand(cfg.Data.Command)
	f, err := r.forced(ctx, m, &cfg.Data, asHeld(cfg))
	if err != nil {
		return nil, nil, nil, err
	}
	if !f.timingFound && asHeld(cfg) {
		if simulates(cfg.Method) {
			cfg.Model.Hold = axis.Linear
		}
		cfg.Bristle.Hold = bristle.Auto
	}
	if f.timingFound && slices.Contains(cfg.Method, "regress") {
		cfg.Interpolation = linear.BetweenLine
		if asHeld(cfg) {
			cfg.Interpolation = linear.BetweenHold
		}
		assumed.because("between", "the torque between samples is known by the commands")
	}
	recs := f.recs
	own := &ownRun{assumptions: assumed, coupled: coupledTo(r.rig, r.axis), doubt: f.doubt, alternatives: f.alternatives,
		intersampleText: f.intersampleText}
	if f.intersampleText != "" {
		own.add("between", "%s", f.intersampleText)
	}
	if own.LiveEstimate = r.liveRows.Estimate(); own.LiveEstimate == nil {
		own.NoLive = "the recursive estimate of the run " + sink.NoLive
		if !r.axis.Estimator.RLS.Enabled {
			own.NoLive = "estimator.rls is off in this run"
		}
	}
	return cfg, recs, own, nil
}

// PlanAxis is the identification file of an axis of a rig, whose samples are called as in a recording: columns, motor constant, law,
// methods, band. What was taken for granted comes with it.
func PlanAxis(rig *configs.Config, ax *configs.Axis, o RunOptions) (*configs.Identify, assumptions, error) {
	var a assumptions
	dev := deviceOf(rig, ax)
	motor, unit := ax.MotorModel(), ax.Unit
	current := ax.Current
	if motor.K == 0 {
		current = ""
	}
	if current == "" && ax.Effort == "" {
		return nil, a, fmt.Errorf("the run holds neither a current nor a torque or force: axis %s has no current: with its constant, and no "+
			"effort:\n     %s", ax.Name,
			"Without the torque of the drive there is no inertia and no friction. To take a command for it, write a file with data.columns.force "+
				"and its gain: docs/reference/identify.md.")
	}

	cfg := configs.DefaultIdentify()
	cfg.Name, cfg.Description, cfg.Axis = rig.Rig.Name, rig.Rig.Description, ax.Kind
	a.because("name", "of the rig")
	a.because("description", "of the rig")
	a.because("axis", "axis %s of the rig", ax.Name)
	cfg.Data.Span, cfg.Data.TailDuration = o.Span, o.TailDuration
	columns := &cfg.Data.Columns
	columns.Time = configs.IdentifyColumn{Name: sink.SampleTime, Unit: "s"}
	columns.Position = configs.IdentifyColumn{Name: ax.Position, Unit: unit("rad")}
	a.add("position", "%s", ax.Position)
	a.because("data.columns.position", "that of the axis")
	every, together := 1/rig.DeviceRate(dev), false // current and position are sampled in every tick, by one device
	if current != "" {
		columns.Force = configs.IdentifyColumn{Name: current, Unit: "A", Gain: fmt.Sprintf("%g %s", motor.K, unit("N·m/A"))}
		a.add("torque", "%s · %s (K of the motor)", columns.Force.Gain, current)
		a.because("data.columns.force", "the measured current")
		a.because("data.columns.force.gain", "K of the motor in the rig")
		k, _ := rig.Find(current, false)
		switch together = rig.EveryTick(dev) && dev == &rig.Devices[k] && !dev.Protocol.Kind().Asks; {
		case together && ax.Drive.Kind == plant.CurrentDrive:
			// a slow drive's current runs straight from sample to sample, a fast one's is there right after a sample and held
			columns.Force.Delay, cfg.Data.Doubt = every/4, every/4
			a.add("current", "of a drive told at every sample: a quarter of a sample earlier, as much in doubt")
			a.because("data.columns.force.delay", "s; a quarter of a sample, between a current that runs straight and one that is held from right "+
				"after a sample")
			a.because("data.delay_doubt", "s; either may be")
		case ax.Motor != nil && (together || ax.Drive.Kind == plant.VoltageDrive):
			cfg.Data.Winding = &configs.Winding{R: motor.R, L: motor.L, K: motor.K}
			if motor.BrushDrop > 0 {
				cfg.Data.Winding.BrushDrop, cfg.Data.Winding.DropScale = motor.BrushDrop, motor.DropScale
			}
			a.because("data.winding", "the motor of the rig; its voltage is held from command to command")
			if together {
				c, extra := estimator.HeldVoltage(motor, every, 0)
				a.add("winding", "R, L and brush drop of the motor between held voltages: current %.2f samples earlier, inertia + %.3g kg·m²", c-0.5,
					extra)
				a.because("data.winding", "the motor of the rig; its voltage is held from sample to sample")
			}
		}
	} else {
		columns.Force = configs.IdentifyColumn{Name: ax.Effort, Unit: unit("N·m")}
		a.add("torque", "%s, taken for that of the drive", ax.Effort)
		a.because("data.columns.force", "the measured one, taken for that of the drive")
	}
	if !together && ax.Drive.Command != "" && ax.Drive.Kind.Forces() { // else each command lasts from sample to sample
		cfg.Data.Command = ax.Drive.Command
		a.because("data.command", "that of the drive of the axis")
	}
	if cfg.Data.Winding == nil && cfg.Data.Doubt == 0 && ax.Drive.Kind != plant.NoDrive {
		cfg.Data.Doubt = every / 4
		a.because("data.delay_doubt", "s; where the commands tell nothing: a force may run straight from sample to sample, or be held from "+
			"right after one")
	}
	clock := "the time of arrival: the device sends none"
	if rig.Clocked(dev) {
		clock = "the clock of the device"
	}
	a.add("time", "of the samples, by %s", clock)
	a.because("data.columns.time", "of the samples, by %s", clock)

	a.chain(cfg, o.Methods, o.Law)
	if slices.Contains(cfg.Method, "regress") {
		cfg.Form = "weak" // no derivative of data; a window that is slow somewhere is left out as a whole
		trim := max(0.05, 25*every)
		cfg.Trim = &trim
		a.because("form", "needs no derivative of the position, and leaves a window that is slow somewhere out as a whole")
		a.because("trim", "s; five periods of the corner at each end")
		if slow := cmp.Or(ax.Estimator.RLS.MinVel, 3*ax.Friction.StribeckSpeed()); slow > 0 {
			cfg.MinVelocity = &slow
			a.add("left out", "what is near speeds below %g %s", slow, unit("rad/s"))
			a.because("min_velocity", "%s; as in the live estimate, or three Stribeck velocities of the rig", unit("rad/s"))
		}
	}
	if law := o.Law; law != "" || simulates(cfg.Method) {
		if law == "" && ax.Friction.Model != nil {
			law = friction.NameOf(ax.Friction.Model)
			a.add("law", "%s, that of the rig", law)
			a.because("model.law", "that of the rig")
		}
		if a.law(cfg, law); simulates(cfg.Method) {
			cfg.Model.Hold = axis.Linear
			a.because("model.hold", "a current runs from sample to sample")
			if cfg.Data.Command != "" {
				cfg.Model.Hold = axis.Held
				a.because("model.hold", "the mean force between samples, by the commands")
			}
		}
	}
	if filters(cfg.Method) && cfg.Data.Command != "" {
		cfg.Bristle.Hold = bristle.Held
		a.because("noise.hold", "the mean force between samples, by the commands")
	}
	if of := cfg.Method.Law(cfg.Model.Law); ax.Friction.Model != nil && of == friction.NameOf(ax.Friction.Model) {
		for _, p := range ax.Friction.Model.Params() {
			if taken := p; slices.Contains(ofRig, p.Name) && p.Value != 0 {
				cfg.Parameters = append(cfg.Parameters, configs.IdentifyParam{Given: identify.Given{Name: p.Name, Start: &taken.Value, Assumed: true}})
				a.add(p.Name, "%g%s, assumed: that of the rig", report.Number(p.Value), schema.UnitSuffix(unit(p.Unit)))
				a.because("parameters."+p.Name, "%sthat of the rig: a motion rarely tells it",
					strings.TrimLeft(schema.UnitSuffix(unit(p.Unit))+"; ", " ;"))
			}
		}
	}
	return cfg, a, nil
}

// ofRig are parameters of laws that a motion rarely tells: a recording takes those of its rig.
var ofRig = []string{"vd", "exponent", "elements", "ratio", "m", "n", "reach", "zba_ratio"}

// hold compares the fit with the live estimate. Where they differ, one of them is wrong, and the verdict says so.
func (o *ownRun) hold(res *identify.Result) {
	if o == nil || o.LiveEstimate == nil {
		return
	}
	var differ []string
	compared := 0
	for i := range o.LiveEstimate.Parameters {
		p := &o.LiveEstimate.Parameters[i]
		q, ok := res.Param(p.Name)
		if !ok || q.Fixed {
			continue
		}
		ci := res.Interval(q)
		if ci == nil {
			continue
		}
		apart := (q.Value - p.Value) / math.Hypot((ci[1]-ci[0])/2/1.96, p.StdErr)
		p.NormalizedDifference, compared = &apart, compared+1
		if !(math.Abs(apart) <= jointLimit) {
			differ = append(differ, fmt.Sprintf("%s %.4g, live %.4g", p.Name, report.Number(q.Value), report.Number(p.Value)))
		}
	}
	o.LiveEstimate.Agrees = compared > 0 && differ == nil
	if differ != nil {
		res.AddReason(fit.LiveDiffers, fit.Weaken, nil, "the live estimate of the run differs by more than both errors allow: %s",
			strings.Join(differ, "; "))
	}
}

// remarks are the live estimate beside the fit, or why there is none.
func (o *ownRun) remarks() (lines []string) {
	l := o.LiveEstimate
	if l == nil {
		return []string{"none: " + o.NoLive}
	}
	for _, p := range l.Parameters {
		apart := "not in this fit"
		if p.NormalizedDifference != nil {
			apart = fmt.Sprintf("%.1f joint errors away", math.Abs(*p.NormalizedDifference))
		}
		show := report.Digits(p.Value, &p.StdErr)
		lines = append(lines, fmt.Sprintf("%-6s %s ± %s, %s", p.Name, show(p.Value), show(p.StdErr), apart))
	}
	if l.Agrees {
		lines = append(lines, fmt.Sprintf("the live estimate (%d windows) agrees within joint 95 %% intervals", l.Windows))
	}
	if l.Stale > 0 {
		lines = append(lines, fmt.Sprintf("it is the live estimate of t = %.4g s; the run goes on for %.4g s without one: the core began anew",
			l.Time, l.Stale))
	}
	return lines
}
