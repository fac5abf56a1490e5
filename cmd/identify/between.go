package identify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/plant"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/axis"
	"hilrig/identify/bristle"
	"hilrig/identify/intersample"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// forced are records whose forces stand for what the drive did between the samples too.
type forced struct {
	recs            []*record.Record
	alternatives    []*record.Record // the same with another answer to that: intervals hold half of what it does; nil: no other is likely
	doubt           string           // what doubted are
	timingFound     bool             // the commands tell what the force did between the samples
	intersampleText string           // what was found of it, for people; "": nothing was looked for
}

// readForced reads one file with the columns of a data section: text, a MAT file, or a recording of this program.
func readForced(ctx context.Context, path string, cfg *configs.Identify, d *configs.IdentifyData, bar *report.Progress) (f forced,
	err error) {
	m, err := mappingOf(cfg, d)
	if err != nil {
		return f, err
	}
	m.Watch = bar.Reading(path)
	if _, ok := sink.FindRun(path); ok {
		r, err := openColumns(path, m, d.Command, cfg.Model.Drive == axis.Coast)
		if err != nil {
			return f, err
		}
		defer r.run.Close()
		return r.forced(ctx, m, d, asHeld(cfg))
	}
	if _, missing := os.Stat(path); errors.Is(missing, fs.ErrNotExist) && d.Source != "" {
		return f, &record.Error{File: path, Msg: "is not there", Hint: FromWhere(cfg, d)}
	}
	if d.Command != "" {
		return f, &record.Error{File: path, Msg: "data.command: only a recording of this program holds what was sent between samples",
			Hint: "Leave data.command out."}
	}
	return readAssumed(d, m, func(m record.Mapping) ([]*record.Record, error) { return record.Read(path, m) })
}

// asHeld tells that the methods take the force between samples for held: they want its means there, and others points of a smooth force.
func asHeld(cfg *configs.Identify) bool {
	return simulates(cfg.Method) && cfg.Model.Hold != axis.Linear || filters(cfg.Method) && cfg.Bristle.Hold == bristle.Held
}

// filters tells that a chain has a method that finds bristles by smoothing or filtering the motion.
func filters(chain identify.Chain) bool {
	return slices.Contains(chain, "lugre") || slices.Contains(chain, "kalman")
}

// forced reads the columns of m from a recording; held: with the means of forces between samples where they are found.
func (r *recording) forced(ctx context.Context, m record.Mapping, d *configs.IdentifyData, held bool) (f forced, err error) {
	read := func(m record.Mapping) ([]*record.Record, error) { return r.read(ctx, m) }
	if d.Command == "" || m.Force.Name == "" {
		return readAssumed(d, m, read)
	}
	if f.recs, err = read(m); err != nil {
		return f, err
	}
	found, same := r.findCourse(f.recs, m, d)
	if found != nil {
		f.alternatives, f.doubt = slices.Clone(f.recs), "with the commands between samples explaining less"
		for i, rec := range f.recs {
			other := *rec
			rec.Force, other.Force = found.Points[i], found.Alternative[i]
			if f.alternatives[i] = &other; held {
				floats.AddTo(other.Force, floats.SubTo(other.Force, other.Force, rec.Force), found.Means[i])
				rec.Force, rec.ForceMeans, other.ForceMeans = found.Means[i], true, true
			}
		}
		f.timingFound, f.intersampleText = true, courseText(found, d)
		return f, nil
	}
	if !same { // sampled oftener than the position, and averaged
		return f, nil
	}
	plain := m
	if plain.Force.Delay += d.Doubt; d.Winding == nil && d.Doubt > 0 {
		f.intersampleText = fmt.Sprintf("the commands do not tell what the force does between samples: it is taken %.3g ms earlier, as much "+
			"in doubt", 1e3*d.Doubt)
	}
	between := f.intersampleText
	f, err = readAssumed(d, plain, read)
	f.intersampleText = between
	return f, err
}

// findCourse is what the commands of a recording tell of the force between its samples; nil: nothing. same: samples of the force are no
// closer than those of the position.
func (r *recording) findCourse(recs []*record.Record, m record.Mapping, d *configs.IdentifyData) (found *intersample.Course, same bool) {
	drive := intersample.Drive{Tick: 1 / r.rig.Loop.Rate, Noise: math.Abs(cmp.Or(m.Force.Scale, 1)) * r.axis.Estimator.CurrentNoise}
	if m.Force.Name != r.axis.Current {
		drive.Noise = 0
	}
	if w := d.Winding; w != nil {
		drive.Winding = &plant.Motor{R: w.R, L: w.L, K: w.K, BrushDrop: w.BrushDrop, DropScale: w.DropScale}
	}
	if r.rig.IsVirtual() { // its plant lets a command act from the sample before
		drive.Early = 1 / r.rig.DeviceRate(deviceOf(r.rig, r.axis))
	}
	var pieces []intersample.Record
	for _, rec := range recs {
		if len(rec.Force) != len(rec.Position) || !(rec.Dt > 0) {
			return nil, true
		}
		pieces = append(pieces, intersample.Record{Start: rec.Start, Dt: rec.Dt, Position: rec.Position, Force: rec.Force})
	}
	var own *intersample.Samples
	if t, x := r.samples.OwnSamples(m.Force.Name); len(t) > 1 {
		if period := (t[len(t)-1] - t[0]) / float64(len(t)-1); period < recs[0].Dt/1.5 {
			return nil, false
		}
		own = &intersample.Samples{Value: make([]float64, len(t)), Time: make([]float64, len(t))}
		for k, v := range x {
			own.Time[k], own.Value[k] = t[k]-m.Force.Delay, cmp.Or(m.Force.Scale, 1)*v+m.Force.Shift
		}
	}
	time, value := r.samples.CommandSteps()
	lag := func(points [][]float64) (float64, float64, bool) { return r.lag(recs, points) }
	if own != nil {
		lag = nil // of another clock
	}
	return intersample.Find(pieces, own, intersample.Steps{Time: time, Value: value}, drive, lag), true
}

// lag is the time by which the motion of records answers late to forces at these points, by least squares with inertia, Coulomb and
// viscous friction.
func (r *recording) lag(recs []*record.Record, points [][]float64) (late, err float64, ok bool) {
	const enough = 60.0 // s of the records that are looked at
	var some []*record.Record
	for i, left := 0, enough; i < len(recs) && left > 0; i++ {
		d := *recs[i]
		n := min(d.Len(), int(left/d.Dt)+1)
		left -= float64(n) * d.Dt
		some = append(some, &record.Record{Dt: d.Dt, Position: d.Position[:n], Force: points[i][:n]})
	}
	spec := linear.DefaultSpec()
	spec.Rotary, spec.Lag, spec.Intersample, spec.Trim = r.axis.Kind == "rotary", linear.LagFree, linear.BetweenLine, max(0.05, 25*recs[0].Dt)
	of := func(form linear.Form) (lag, err float64) {
		fit, bad := linear.Fit(some, spec, form, linear.Options{})
		if bad != nil {
			return 0, 0
		}
		for _, e := range fit.Estimates {
			if e.Symbol == "lag" {
				return e.Value, e.RobustErr
			}
		}
		return 0, 0
	}
	late, err = of(linear.Weak)
	other, otherErr := of(linear.Direct) // friction that is none of these terms moves each in its own way
	return late, math.Hypot(err, other-late), err > 0 && otherErr > 0
}

// courseText tells people what was found.
func courseText(r *intersample.Course, d *configs.IdentifyData) string {
	text := fmt.Sprintf("the torque follows %s, %s, %.2g ms after they were sent", d.Command, r.Mode, 1e3*r.Delay)
	if d.Winding != nil {
		text += ", through the winding"
	} else if r.Tau > 0 {
		text += fmt.Sprintf(", within %.2g ms", 1e3*r.Tau)
	}
	return text + fmt.Sprintf("; %.0f %% of what this changes is in doubt", 100*r.Doubt)
}

// readAssumed reads records whose force between samples is only assumed.
func readAssumed(d *configs.IdentifyData, m record.Mapping, read func(record.Mapping) ([]*record.Record, error)) (f forced, err error) {
	if f.recs, err = read(m); err != nil {
		return f, err
	}
	switch other := m; {
	case d.Winding != nil:
		f.doubt = "without the winding between held voltages"
		for _, rec := range f.recs {
			plain := *rec
			plain.Force = slices.Clone(rec.Force)
			f.alternatives = append(f.alternatives, &plain)
		}
		meanCurrent(f.recs, d.Winding)
	case d.Doubt != 0:
		f.doubt = "with the delay of the force less by twice its doubt"
		other.Force.Delay -= 2 * d.Doubt
		f.alternatives, err = read(other)
	}
	return f, err
}
