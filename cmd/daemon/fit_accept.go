package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/identify"
)

// replacedModel is the model of an axis before one was accepted.
type replacedModel struct {
	axis   string
	block  axis.Block
	result string // id of the result that took its place
}

const (
	maxReplacedModels = 16 // accepted models that can be gone back from
	// s  from the end of a record after which its numbers are those of another day: an axis warms up, wears in and is oiled
	resultAge = 30 * 60.
)

// record is the part of the run that a result was found in, and what has become of the run since.
type record struct {
	startTime, endTime float64     // s  after the first row; startTime: with the check before the window
	newestTime         float64     // s  of the newest row
	broken             interrupted // the newest
}

// interrupted is when rows of the run ceased to be of one rig that stands as it stood.
type interrupted struct {
	time  float64 // s  after the first row; with cause "": never
	cause string
}

// refusals say why a result may not be handed over now; nil: it may. The rule, beside what identify says of a result as such
// (identify.Result.Acceptable):
//
//   - no number that was searched cannot be told from zero where it must not be zero, or is what its bound made of it;
//   - the record is not older than resultAge;
//   - since it began the port was not away and the core not another one: behind a plug may be another rig, another zero, another sign.
func refusals(r *identify.Result, rec record) (why []string) {
	if err := r.Acceptable(); err != nil {
		why = append(why, err.Error())
	}
	for i := range r.Parameters {
		p := &r.Parameters[i]
		switch {
		case p.Fixed || p.State() || p.Worth == string(identify.Identified):
		case p.CI != nil && p.CI[0] <= 0 && p.CI[1] >= 0:
			why = append(why, fmt.Sprintf("%s cannot be told from zero (95 %% interval %.3g to %.3g %s)", p.Name,
				report.Number(p.CI[0]), report.Number(p.CI[1]), p.Unit))
		case p.AtBound != "":
			why = append(why, fmt.Sprintf("%s is on its %s bound: the bound has the last word, not the data", p.Name, p.AtBound))
		}
	}
	if age := rec.newestTime - rec.endTime; age > resultAge {
		why = append(why, fmt.Sprintf("its record is %.0f min old, and %.0f min are the most: fit again", age/60, resultAge/60))
	}
	if b := rec.broken; b.cause != "" && b.time >= rec.startTime {
		why = append(why, fmt.Sprintf("%s at %.1f s of the run, after its record began (%.1f s): what is there now may be another rig; "+
			"fit again", b.cause, b.time, rec.startTime))
	}
	return why
}

// judge says whether a result may be put in force now, and as what.
func (f *fitter) judge(a *configs.Axis, res *fitResult) {
	res.Acceptable, res.Refusal, res.Adopt = false, "", nil
	why := refusals(res.identified, f.d.recordNow(res.part))
	if len(why) == 0 {
		set, left, err := f.model(a, res.identified)
		if res.LeftOut = left; err == nil {
			res.Acceptable, res.Adopt = true, &hil.Adopt{Axis: a.Name, Set: *set}
			return
		}
		why = []string{err.Error()}
	}
	res.Refusal = strings.Join(why, "; ")
}

// model is what a result makes of the model in force, if the rig can run it; left is what the law has no place for.
func (f *fitter) model(a *configs.Axis, r *identify.Result) (set *axis.Set, left []string, err error) {
	c, err := r.Contact()
	if err != nil {
		return nil, nil, err
	}
	p := *f.d.block.Load()
	i := slices.Index(f.d.a.Schema.Axes(), a.Name)
	set, err = handover(a, modelInForce(a, &p.Sets[i]), c)
	if err == nil {
		err = p.Sets[i].Encode(set)
	}
	if err == nil {
		err = f.d.a.Check(&p)
	}
	return set, c.Omitted, err
}

// accept puts the newest result in force. What it may be handed over to is judged now, not when it was found.
func (f *fitter) accept(ctx context.Context, c hil.Command) error {
	f.mu.Lock()
	r := f.result
	f.mu.Unlock()
	switch {
	case r == nil:
		return errors.New("there is no result yet")
	case c.Accept != r.ID:
		return fmt.Errorf("there is no result %q, or a newer one: the newest is %s", c.Accept, r.ID)
	}
	i := slices.Index(f.d.a.Schema.Axes(), r.Axis)
	now := *r
	f.judge(&f.d.cfg.Axes[i], &now)
	if !now.Acceptable {
		f.replace(r, &now)
		return fmt.Errorf("%s may not be put in force: %s", r.ID, now.Refusal)
	}
	was, next := replacedModel{r.Axis, f.d.block.Load().Sets[i], r.ID}, axis.Block{}
	if err := next.Encode(&now.Adopt.Set); err != nil {
		return err
	}
	if next == was.block {
		return fmt.Errorf("%s is in force already: nothing was changed, and rollback goes back to what was before it", r.ID)
	}
	if err := f.adopt(ctx, c, now.Adopt); err != nil {
		return err
	}
	now.Accepted = true
	f.mu.Lock()
	f.replacedModels = append(f.replacedModels, was)
	f.replacedModels = f.replacedModels[max(0, len(f.replacedModels)-maxReplacedModels):]
	f.mu.Unlock()
	f.replace(r, &now)
	return nil
}

// replace publishes another word on a result, unless there is a newer one.
func (f *fitter) replace(old, by *fitResult) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.result == old {
		f.result = by
	}
	f.publishState()
}

// rollback puts in force again what the last accepted result replaced, and the next time what the one before that did.
func (f *fitter) rollback(ctx context.Context, c hil.Command) error {
	f.mu.Lock()
	n := len(f.replacedModels)
	var was replacedModel
	if n > 0 {
		was = f.replacedModels[n-1]
	}
	f.mu.Unlock()
	if n == 0 {
		return errors.New("no result was accepted that is still in force, so there is nothing to go back to")
	}
	i := slices.Index(f.d.a.Schema.Axes(), was.axis)
	if f.d.block.Load().Sets[i] != was.block { // else somebody has gone back by hand
		o := &hil.Adopt{Axis: was.axis}
		if set := was.block.Set(); set != nil {
			o.Set = *set
		}
		c.Confirm = true // it was in force before
		if err := f.adopt(ctx, c, o); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replacedModels = f.replacedModels[:n-1]
	if f.result != nil && f.result.ID == was.result {
		r := *f.result
		r.Accepted = false
		f.result = &r
	}
	f.publishState()
	return nil
}

// questionError is a refusal that "confirm" lifts.
type questionError struct{ text string }

func (e *questionError) Error() string { return e.text }

// adopt carries a model to the tick in the name of a command.
func (f *fitter) adopt(ctx context.Context, c hil.Command, o *hil.Adopt) error {
	if f.carry == nil {
		sup := f.d.sup.Load()
		if sup == nil {
			return errors.New("the core is not running yet")
		}
		f.carry = sup.Command
	}
	r := f.carry(ctx, hil.Command{Name: "adopt", ID: c.ID, Expires: c.Expires, Source: c.Source, Adopt: o, Confirm: c.Confirm})
	switch {
	case r.Confirm:
		return &questionError{r.Error}
	case !r.OK:
		return errors.New(r.Error)
	}
	return nil
}

// farOff is by how much inertia and friction of a model may differ from those in force, either way: more is taken for a mistake.
const farOff = 3

// maxNumberRatio is by how much any other number of a law or a motor may differ from that in force, either way.
const maxNumberRatio = 10

// farFrom says in what a model is too far from the one in force to be taken without a question.
func farFrom(a *configs.Axis, inForce, set *axis.Set) (far []string, err error) {
	old, err := friction.Build(inForce.Law, inForce.Params)
	if err != nil {
		return nil, err
	}
	law, err := friction.Build(set.Law, set.Params)
	if err != nil {
		return nil, err
	}
	near := func(what string, now, then, most float64) {
		if ratio := math.Abs(now / then); then != 0 && !(ratio <= most && ratio >= 1/most) || now*then < 0 {
			far = append(far, fmt.Sprintf("%s would be %.4g in place of %.4g, more than %g times apart", what, report.Number(now),
				report.Number(then), most))
		}
	}
	is, was := law.Levels(), old.Levels()
	near("Coulomb friction", is.Sliding.Max(), was.Sliding.Max(), farOff)
	near("break-away friction", is.Rest.Max(), was.Rest.Max(), farOff)
	now, then := a.MotorModel(), a.MotorModel()
	if now, err = axis.Edited(now, a.Drive.Kind, set.Motor); err == nil {
		then, err = axis.Edited(then, a.Drive.Kind, inForce.Motor)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: motor: %w", a.Name, err)
	}
	near("the inertia", now.J, then.J, farOff)
	near("the torque constant", now.K, then.K, farOff)
	near("the resistance", now.R, then.R, maxNumberRatio)
	near("the inductance", now.L, then.L, maxNumberRatio)
	if set.Law != inForce.Law {
		return far, nil
	}
	for _, name := range slices.Sorted(maps.Keys(set.Params)) {
		if v, there := inForce.Params[name]; there && v != 0 && set.Params[name] != 0 && name != "offset" && !strings.HasPrefix(name, "F") {
			near(name, set.Params[name], v, maxNumberRatio)
		}
	}
	return far, nil
}

// handover is the model that a result makes of the one in force. It is refused where the result is of another kind of axis, or too far from
// what is in force.
func handover(a *configs.Axis, inForce *axis.Set, c *identify.Contact) (*axis.Set, error) {
	if kind := map[bool]string{true: "rotary", false: "linear"}[c.Rotary]; kind != a.Kind {
		return nil, fmt.Errorf("the result is of a %s axis, and %s is %s", kind, a.Name, a.Kind)
	}
	if inForce == nil {
		return nil, fmt.Errorf("the file gives the axis %s no friction law, so there is none to replace", a.Name)
	}
	if why := a.ZeroOfCurrent(); why != "" {
		c.KeepOffset(inForce.Params["offset"], why)
	}
	set := &axis.Set{Law: c.Law, Params: c.Params, Motor: maps.Clone(inForce.Motor)}
	if c.Inertia > 0 && a.MotorModel().J > 0 {
		if set.Motor == nil {
			set.Motor = map[string]float64{}
		}
		set.Motor["J"] = c.Inertia
	}
	far, err := farFrom(a, inForce, set)
	if err == nil && far != nil {
		err = fmt.Errorf("%s: taken for a mistake; look at the result, and write it into the file with hil config apply if it is right",
			strings.Join(far, "; "))
	}
	return set, err
}
