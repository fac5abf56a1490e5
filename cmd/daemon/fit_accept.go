package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/identify"
)

// before is the model of an axis before one was accepted.
type before struct {
	axis string
	hil.SetText
}

// judge says whether a result may be put in force, and as what.
func (f *fitter) judge(a *configs.Axis, r *identify.Result, res *fitResult) {
	if !res.Acceptable {
		return
	}
	no := func(err error) { res.Acceptable, res.Refusal = false, err.Error() }
	c, err := r.Contact()
	if err != nil {
		no(err)
		return
	}
	defer func() { res.Left = c.Left }()
	i := slices.Index(f.d.a.Schema.Axes(), a.Name)
	p := *f.d.block.Load()
	inForce, err := f.inForce(&p, i)
	if err != nil {
		no(err)
		return
	}
	set, err := handover(a, inForce, c)
	if err != nil {
		no(err)
		return
	}
	text, err := json.Marshal(set)
	if err == nil && !p.Sets[i].Put(text) {
		err = fmt.Errorf("%d bytes, too long for a model", len(text))
	}
	if err == nil {
		_, err = f.try.Prepare(&p)
	}
	if err != nil {
		no(err)
		return
	}
	res.Adopt = &hil.Adopt{Axis: a.Name, Set: *set}
}

// inForce is the model of axis i in a block of parameters; nil: it has none.
func (f *fitter) inForce(p *hil.Params, i int) (*axis.Set, error) {
	if text := p.Sets[i].Bytes(); len(text) > 0 {
		set := new(axis.Set)
		return set, json.Unmarshal(text, set)
	}
	if law := f.d.cfg.Axes[i].Friction.Model; law != nil {
		return axis.SetOf(law), nil
	}
	return nil, nil
}

// accept puts the newest result in force.
func (f *fitter) accept(ctx context.Context, c hil.Command) error {
	f.mu.Lock()
	r := f.result
	f.mu.Unlock()
	switch {
	case r == nil:
		return errors.New("there is no result yet")
	case c.Accept != r.ID:
		return fmt.Errorf("there is no result %q, or a newer one: the newest is %s", c.Accept, r.ID)
	case !r.Acceptable:
		return fmt.Errorf("%s may not be put in force: %s", r.ID, r.Refusal)
	}
	i := slices.Index(f.d.a.Schema.Axes(), r.Axis)
	was := before{r.Axis, f.d.block.Load().Sets[i]}
	if err := f.adopt(ctx, c, r.Adopt); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before = &was
	accepted := *r
	accepted.Accepted = true
	if f.result == r {
		f.result = &accepted
	}
	f.tell()
	return nil
}

// rollback puts in force again what the last accepted result replaced.
func (f *fitter) rollback(ctx context.Context, c hil.Command) error {
	f.mu.Lock()
	was := f.before
	f.mu.Unlock()
	if was == nil {
		return errors.New("no result was accepted, so there is nothing to go back to")
	}
	o := &hil.Adopt{Axis: was.axis}
	if text := was.Bytes(); len(text) > 0 {
		if err := json.Unmarshal(text, &o.Set); err != nil {
			return err
		}
	}
	if err := f.adopt(ctx, c, o); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.before = nil; f.result != nil {
		r := *f.result
		r.Accepted = false
		f.result = &r
	}
	f.tell()
	return nil
}

// adopt carries a model to the tick in the name of a command.
func (f *fitter) adopt(ctx context.Context, c hil.Command, o *hil.Adopt) error {
	sup := f.d.sup.Load()
	if sup == nil {
		return errors.New("the core is not running yet")
	}
	if r := sup.Command(ctx, hil.Command{Name: "adopt", ID: c.ID, Expires: c.Expires, From: c.From, Adopt: o}); !r.OK {
		return errors.New(r.Error)
	}
	return nil
}

// farOff is by how much inertia and friction of a result may differ from those in force, either way: more is taken for a mistake.
const farOff = 3

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
	old, err := friction.Build(inForce.Law, inForce.Params)
	if err != nil {
		return nil, err
	}
	law, err := friction.Build(c.Law, c.Params)
	if err != nil {
		return nil, err
	}
	near := func(what string, now, then float64) error {
		if ratio := now / then; then > 0 && !(ratio <= farOff && ratio >= 1./farOff) {
			return fmt.Errorf("%s would be %.4g in place of %.4g: more than %d times apart is taken for a mistake; look at the result, and write it into the file with hil config apply if it is right", what, now, then, farOff)
		}
		return nil
	}
	is, was := law.Levels(), old.Levels()
	err = cmp.Or(near("Coulomb friction", is.Sliding.Max(), was.Sliding.Max()), near("break-away friction", is.Rest.Max(), was.Rest.Max()))
	if then := cmp.Or(inForce.Motor["J"], a.MotorModel().J); c.Inertia > 0 && then > 0 {
		err = cmp.Or(err, near("the inertia", c.Inertia, then))
		if set.Motor == nil {
			set.Motor = map[string]float64{}
		}
		set.Motor["J"] = c.Inertia
	}
	return set, err
}
