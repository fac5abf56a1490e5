package identify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"hilrig/identify/axis"
	"hilrig/identify/fit"
	"hilrig/identify/machine"
	"hilrig/identify/record"
)

// Machine is what stands beside the result of a machine: its joints, its base parameters, and the set of all parameters that can take the
// place of those in the machine file.
type Machine struct {
	Joints         []MachineJoint     `json:"joints"`
	Base           []MachineBase      `json:"base_parameters"`
	Unseen         []string           `json:"unseen"`     // parameters that no torque of this machine feels
	Parameters     []MachineParameter `json:"parameters"` // all of them, with the least change from the file
	Essential      int                `json:"essential"`  // base parameters that are taken from the record
	Grown          float64            `json:"essential_rms_growth"`
	Possible       bool               `json:"possible"`            // real bodies have them
	Impossible     []string           `json:"impossible"`          // what speaks against it in the set of least change
	PossibleGrowth float64            `json:"possible_rms_growth"` // rms with real bodies over that of the set of least change

	Instruments *MachineInstruments `json:"instruments"` // null: they were not asked for
}

// MachineInstruments are the estimates by instrumental variables beside those of least squares.
type MachineInstruments struct {
	Use        machine.Use         `json:"use"`
	Bandwidth  float64             `json:"bandwidth_hz"`
	Reference  bool                `json:"reference"`
	Rounds     int                 `json:"rounds"`
	Failure    string              `json:"missing"` // why there are no estimates; "": there are
	Weakest    float64             `json:"weakest_correlation"`
	Parameters []MachineInstrument `json:"parameters"`
}

// MachineInstrument is a base parameter by both.
type MachineInstrument struct {
	Name       string  `json:"name"`
	Value      float64 `json:"value"`
	LSValue    float64 `json:"least_squares"`
	Difference float64 `json:"apart"`  // the difference over its standard error
	Biased     bool    `json:"biased"` // least squares is off beyond doubt, and by its own standard error at least
}

// MachineJoint is how well the torque of a joint is explained.
type MachineJoint struct {
	machine.Joint
	Valid   *float64 `json:"validation_fit_percent"`
	ValidR2 *float64 `json:"validation_r2"`
	Written float64  `json:"written_fit_percent"` // of the set of all parameters, on the records of the fit
}

// MachineBase is a base parameter, a sum of parameters of bodies and joints.
type MachineBase struct {
	Name      string          `json:"name"`
	Sum       string          `json:"sum"`
	Shares    []machine.Share `json:"shares"`
	Start     float64         `json:"start"`     // by the machine file
	Essential bool            `json:"essential"` // it is taken from the record, not from the file
	Written   float64         `json:"written"`   // what it is with the set of all parameters
}

// MachineParameter is a parameter of a body or joint.
type MachineParameter struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Start float64 `json:"start"` // by the machine file
	Value float64 `json:"value"`
}

// MachineChecks are the records that were not fitted.
type MachineChecks struct {
	Records  []machine.Recording
	Findings []record.Finding
}

// toldApart is the motion that tells base parameters apart.
const toldApart = "record a motion that tells them apart: several speeds and accelerations of all joints, wide angles"

// apartLikely are the standard errors of the difference between instruments and least squares, from which on intervals hold the values of
// both.
const apartLikely = 2

// OfMachine is the result of a machine in the form of all results. theta is the set of all parameters that goes into the file, in the
// order of Base.Columns. v has no records where there is no validation.
func OfMachine(b *machine.Result, info []record.Info, findings []record.Finding, v MachineChecks) (r *Result, out *Machine,
	theta []float64, err error) {
	if b.Axis != nil {
		r, err = ofOnlyJoint(b, v)
	} else {
		r, err = ofJoints(b, info, findings)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	out, theta = r.handOver(b)
	if b.Axis != nil { // judged as an axis: of one joint, no real body has what has the wrong sign
		if r.Validation != nil && r.Validation.Fit.Percent != nil {
			percent := *r.Validation.Fit.Percent
			r2 := 1 - (1-percent/100)*(1-percent/100)
			out.Joints[0].Valid, out.Joints[0].ValidR2 = &percent, &r2
		}
		return r, out, theta, nil
	}
	if len(v.Records) > 0 {
		if err := r.validateMachine(b, out, v); err != nil {
			return nil, nil, nil, fmt.Errorf("validation: %w", err)
		}
	}
	out.Instruments = instrumentsOf(b)
	r.instruments = out.Instruments
	r.refuseOf(b)
	for i, j := range out.Joints {
		c := channel{name: "joint " + j.Name, unit: j.Unit, percent: &out.Joints[i].Percent, validation: j.Valid,
			rms: j.RMS, passive: j.Passive, parts: j.Largest}
		if b.Hidden(i, weakShare/100, looseWidth) != nil { // much of one of them may be; it moves the others too
			c.noise, c.hides = j.Noise, b.Hidden(i, weakShare/100, 0)
		}
		r.channels = append(r.channels, c)
	}
	r.judge()
	return r, out, theta, nil
}

// handOver is what stands beside the result, with the set of all parameters that goes into the file.
func (r *Result) handOver(b *machine.Result) (*Machine, []float64) {
	errs := make([]float64, len(b.FreeParams))
	for j, k := range b.FreeParams {
		errs[j] = math.Inf(1)
		if ci := r.Interval(&r.Parameters[k]); ci != nil {
			errs[j] = (ci[1] - ci[0]) / 4
		}
	}
	essential := b.Essential(errs)
	out := &Machine{Grown: essential.Grown, PossibleGrowth: 1, Unseen: []string{}, Impossible: []string{}}
	theta := b.Base.FullParams(b.Model, essential.Values)
	out.Impossible = append(out.Impossible, b.Base.Impossible(b.Model, theta)...)
	unreal := false
	if len(out.Impossible) > 0 && slices.Contains(b.Spec.Terms, machine.Inertia) {
		found := theta
		theta, out.PossibleGrowth = b.Possible(found)
		unreal = b.Unreal(found, theta)
	}
	out.Possible = len(b.Base.Impossible(b.Model, theta)) == 0
	r.bodies = &bodies{out.Possible, unreal, out.PossibleGrowth, out.Impossible}
	written := b.Base.Of(theta)
	for i, k := range b.Base.Pivot {
		if b.Base.Columns[k].Term == machine.Lag { // no parameter of bodies
			continue
		}
		one := MachineBase{Name: b.Base.Name(i), Sum: b.Base.Text(i), Shares: b.Base.Shares(i), Start: b.Start[i],
			Essential: slices.Contains(essential.FreeParams, i), Written: written[i]}
		if out.Base = append(out.Base, one); one.Essential {
			out.Essential++
		}
	}
	for k := range b.Base.Columns {
		if c := &b.Base.Columns[k]; c.Term != machine.Lag {
			out.Parameters = append(out.Parameters, MachineParameter{c.Name, c.Unit, c.Value, theta[k]})
		}
	}
	for _, k := range b.Base.Unseen {
		out.Unseen = append(out.Unseen, b.Base.Columns[k].Name)
	}
	own := b.ExplainFit(written)
	for i, j := range b.Joints {
		out.Joints = append(out.Joints, MachineJoint{Joint: j, Written: own[i].Percent})
	}
	return out, theta
}

// refuseOf takes in what the records of several joints do not tell.
func (r *Result) refuseOf(b *machine.Result) {
	for _, u := range b.Unidentifiable {
		in := fit.Indistinct{Names: u.Names, Weights: u.Weights, Reason: u.Text, Advice: toldApart}
		r.Indistinct = append(r.Indistinct, in)
		r.unidentified = append(r.unidentified, refused{in,
			fmt.Sprintf("%s cannot be identified and is left at %.4g, the value of the machine file: %s. Record a motion that tells it, or leave "+
				"its term out", u.Name, u.FileValue, u.Text)})
	}
	for _, i := range b.OneWay {
		text := fmt.Sprintf("joint %s moves in one direction, where its Coulomb friction and a constant torque are one number. Record both "+
			"directions, or leave offset out of the terms", b.Joints[i].Name)
		for k, at := range b.Base.Pivot {
			if c := &b.Base.Columns[at]; c.Joint == i && (c.Term == machine.Coulomb || c.Term == machine.Offset) {
				r.unidentified = append(r.unidentified, refused{fit.Indistinct{Names: []string{b.Base.Name(k)}}, text})
			}
		}
	}
}

// ofJoints is the result of a machine of several joints, but for what is judged.
func ofJoints(b *machine.Result, info []record.Info, findings []record.Finding) (*Result, error) {
	r := &Result{Method: "inverse dynamics of a machine by weighted linear least squares", Model: Subject{Law: "machine", Terms: []string{}},
		Chain: Chain{}, Settings: b.Spec, Compute: b.Compute.Seconds()}
	if b.Spec.Instruments == machine.UseEstimate {
		r.Method = "inverse dynamics of a machine by instrumental variables"
	}
	for _, t := range b.Spec.Terms {
		r.Model.Terms = append(r.Model.Terms, string(t))
	}
	if err := r.fillFrom(b.Solution, b.Spread, info, findings, b.Warnings, nil); err != nil {
		return nil, err
	}
	r.Indistinct = []fit.Indistinct{}
	r.HalfCutoff, r.halfErr = make([]float64, len(r.Parameters)), make([]float64, len(r.Parameters))
	for i := range r.Parameters {
		r.HalfCutoff[i] = r.Parameters[i].Value
	}
	for j, k := range b.FreeParams {
		p := &r.Parameters[k]
		c := &b.Base.Columns[b.Base.Pivot[k]]
		p.Term, p.Share, p.Start, p.givenErr = string(c.Term), &b.Share[j], &b.Start[k], b.GivenErr[j]
		if b.HalfCutoff != nil {
			r.HalfCutoff[k], r.halfErr[k] = b.HalfCutoff[j], b.HalfErr[j]
		}
	}
	r.givenNumbers = b.Spec.Uncertain.GivenNumbers(b.Model.NV())
	for _, s := range b.ExactScales {
		r.scaledBy(s.Name, s.ParamMoves)
	}
	r.findLacking(b)
	if iv := b.IV; iv != nil && b.Spec.Instruments == machine.UseCheck {
		for j, apart := range iv.Differences { // where they differ beyond chance, intervals hold both values
			if math.Abs(apart) > apartLikely {
				r.Parameters[b.FreeParams[j]].addMove(iv.Values[j]-iv.LSValues[j], false, "instrumental variables")
			}
		}
	}
	last := stageOf(regress, b.Solution)
	last.Converged, last.RMS, last.Iterations, last.Compute = true, r.Fit.RMS, 1, r.Compute
	r.Stages = []Stage{last}
	return r, nil
}

// ofOnlyJoint is the result of a machine of one joint, judged as an axis.
func ofOnlyJoint(b *machine.Result, v MachineChecks) (*Result, error) {
	plan := Plan{Methods: Chain{regress}, Regress: b.AxisSpec, Model: axis.Spec{Rotary: b.AxisSpec.Rotary},
		GainErr: b.Spec.Uncertain.Gain / 100, Unsure: b.Unsure()}
	var recs Records
	for _, d := range b.RawRecords {
		recs.Fit = append(recs.Fit, d[0])
	}
	for _, d := range v.Records {
		recs.Validation = append(recs.Validation, d[0])
	}
	read := recs.Fit
	recs = recs.mapRecords(record.WithoutSpikes)
	j := newJob(plan, recs, nil, nil)
	method := j.begin(regress, recs, recs.withTotalForce())
	j.end(method, j.stageOf(b.Axis))
	r := &Result{Chain: plan.Methods, Findings: []record.Finding{}, Warnings: append([]string{}, b.Warnings...),
		Stages: []Stage{j.lastStage.stage()}}
	r.joint, r.givenNumbers = true, b.Spec.Uncertain.GivenNumbers(1)
	for _, p := range b.Solution.Params {
		if p.Zero {
			r.negligibleParams = append(r.negligibleParams, p.Name)
		}
	}
	if err := r.finish(context.Background(), j, read); err != nil {
		return nil, err
	}
	r.Method, r.Model, r.Settings = "inverse dynamics of a machine of one joint, as of an axis, by linear least squares",
		Subject{Law: "machine", Terms: []string{}}, b.Axis.Spec
	for _, t := range b.Spec.Terms {
		r.Model.Terms = append(r.Model.Terms, string(t))
	}
	for _, k := range b.FreeParams {
		p := &r.Parameters[k]
		p.Term, p.Start = string(b.Base.Columns[b.Base.Pivot[k]].Term), &b.Start[k]
	}
	r.Compute = b.Compute.Seconds()
	return r, nil
}

// findLacking looks for what the machine lacks in the residual. A parameter may move by its interval, by a little of its value, or by what
// changes the torques by little.
func (r *Result) findLacking(b *machine.Result) {
	harm := r.harm(b.Solution)
	for j, k := range b.FreeParams {
		if share := b.Share[j]; share > 0 {
			p := &r.Parameters[k]
			harm[p.Name] = math.Max(harm[p.Name], weakShare/share*math.Abs(p.Value))
		}
	}
	r.findSuspects(b.Solution, b.Suspects, harm, weakRelative)
}

// findSuspects looks for suspects in the residual. Intervals hold what they do.
func (r *Result) findSuspects(s *fit.Solution, suspects []fit.Suspect, harm map[string]float64, minShare float64) {
	r.tolerance = harm
	found, possible := fit.Unmodelled(s, suspects, harm)
	r.lacking(withoutUsualDrag(append(found, possible...)), minShare)
}

func instrumentsOf(b *machine.Result) *MachineInstruments {
	iv := b.IV
	if iv == nil {
		return nil
	}
	out := &MachineInstruments{Use: b.Spec.Instruments, Bandwidth: iv.Bandwidth, Reference: iv.Reference, Rounds: iv.Rounds,
		Failure: iv.Failure, Weakest: iv.Weakest, Parameters: []MachineInstrument{}}
	for j := range iv.Values {
		out.Parameters = append(out.Parameters, MachineInstrument{b.Base.Name(b.FreeParams[j]), iv.Values[j], iv.LSValues[j], iv.Differences[j],
			slices.Contains(iv.Biased, j)})
	}
	return out
}

// validateMachine looks at records that were not fitted.
func (r *Result) validateMachine(b *machine.Result, out *Machine, v MachineChecks) error {
	s, joints, left, err := b.Explain(v.Records, b.Values)
	if err != nil {
		return err
	}
	var info []record.Info
	for _, d := range v.Records {
		info = append(info, d[0].Info())
	}
	if err := r.validated(s, info, v.Findings, left); err != nil {
		return err
	}
	for i := range joints {
		out.Joints[i].Valid, out.Joints[i].ValidR2 = &joints[i].Percent, &joints[i].R2
	}
	return nil
}

// judgeInstruments says where least squares and instrumental variables disagree.
func (r *Result) judgeInstruments(say sayer) {
	iv := r.instruments
	switch {
	case iv == nil:
		return
	case iv.Failure != "":
		say(fit.Instruments, fit.Remark, nil, "least squares is not compared with instrumental variables: %s", iv.Failure)
		return
	}
	var small, large, names []string
	for _, p := range iv.Parameters {
		if !p.Biased {
			continue
		}
		own, ok := r.Param(p.Name)
		if !ok || own.Share == nil {
			continue
		}
		text := fmt.Sprintf("%s (%.4g and %.4g %s)", p.Name, p.LSValue, p.Value, own.Unit)
		if change := math.Abs(p.Value - p.LSValue); change > cutoffDrift*math.Abs(p.Value) && change**own.Share > weakShare*math.Abs(p.Value) {
			large, names = append(large, text), append(names, p.Name)
		} else {
			small = append(small, text)
		}
	}
	const what = "least squares and instrumental variables disagree on %s: noise of the position draws least squares away"
	switch {
	case iv.Use == machine.UseEstimate && large != nil:
		say(fit.Instruments, fit.Remark, names, what+". The values are those of the instruments", list(large))
	case large != nil:
		say(fit.Instruments, fit.Weaken, names, what+". Take instruments.use: estimate, or a lower filter.cutoff", list(large))
	case small != nil:
		say(fit.Instruments, fit.Remark, nil, what+", by little", list(small))
	}
}

// list writes names, the first of many.
func list(names []string) string {
	return cmp.Or(firstOf(names, 8), "none")
}

// firstOf writes the first names, and how many more there are.
func firstOf(names []string, most int) string {
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
