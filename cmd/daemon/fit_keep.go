package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/hil"
	"hilrig/hil/axis"
)

// ResultWriter writes the result of an identification, a file, into a rig file, as hil config apply does, comments kept. before sees the
// changed file before it takes the place of the old one, and whether it changes the plant of a virtual rig too; its error leaves the old
// one. said are the changes, for people.
type ResultWriter func(result, file string, before func(changed *configs.Config, plantToo bool) error) (said string, err error)

// rigFile is the file of the rig that runs.
type rigFile struct {
	path  string
	text  []byte // as it was loaded, or as keep left it
	write ResultWriter
}

// open remembers a file, with links followed: it is the file itself that keep replaces.
func (r *rigFile) open(path string, write ResultWriter) {
	if whole, err := filepath.EvalSymlinks(path); err == nil {
		path = whole
	}
	text, err := schema.ReadFile(path)
	if err != nil {
		return // loading it says so
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	*r = rigFile{path, text, write}
}

// keepResult writes the newest result into the rig file, if it was accepted and is in force: what runs stays as it is, and is what the file
// says from then on.
func (f *fitter) keepResult(c hil.Command) error {
	f.mu.Lock()
	r, file := f.result, &f.d.file
	f.mu.Unlock()
	switch {
	case c.Source == "mqtt":
		return errors.New("keep writes a file of this computer: press Keep on the page here, or use hil config apply")
	case file.path == "":
		return errors.New("there is no rig file: hil run was started without one")
	case file.write == nil:
		return errors.New("this daemon writes no rig file; use hil config apply")
	case r == nil || !r.Accepted:
		return errors.New("only a result that was accepted is kept, and the newest was not")
	}
	i := slices.Index(f.d.a.Schema.Axes(), r.Axis)
	var accepted axis.Block
	if err := accepted.Encode(&r.Adopt.Set); err != nil {
		return err
	}
	inForce := f.d.block.Load().Sets[i]
	if inForce != accepted {
		return fmt.Errorf("%s is not in force any more: another model of %s was adopted since", r.ID, r.Axis)
	}
	text, err := schema.ReadFile(file.path)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, file.text) {
		return fmt.Errorf("%s was changed since it was loaded, and is not what runs: start again with it, or use hil config apply", file.path)
	}
	said, err := file.write(r.File, file.path, func(changed *configs.Config, plantToo bool) error {
		if plantToo {
			return errors.New("the plant of the virtual rig takes its friction or inertia from this axis and would be another one: give " +
				"virtual.plant numbers of its own")
		}
		return sameModel(changed, r.Axis, inForce.Set())
	})
	if err != nil {
		return err
	}
	if file.text, err = schema.ReadFile(file.path); err != nil {
		return err
	}
	f.d.bus.emit(hil.Event{Time: time.Now(), Level: "info", Code: "KEPT", Text: fmt.Sprintf("%s is in %s: %s", r.ID, file.path, said)})
	return nil
}

// sameModel tells that a file makes the model of an axis that is in force.
func sameModel(c *configs.Config, name string, set *axis.Set) error {
	i := slices.IndexFunc(c.Axes, func(a configs.Axis) bool { return a.Name == name })
	if i < 0 {
		return fmt.Errorf("there would be no axis %s", name)
	}
	a := &c.Axes[i]
	motor, err := axis.Edited(a.MotorModel(), a.Drive.Kind, set.Motor)
	switch {
	case err != nil:
		return err
	case motor != a.MotorModel():
		return fmt.Errorf("the motor of %s would not be the one in force", name)
	case a.Friction.Model == nil:
		return fmt.Errorf("%s would have no friction law", name)
	}
	would, inForce := axis.SetOf(a.Friction.Model), *set
	inForce.Motor = nil
	var b, other axis.Block
	if err := errors.Join(b.Encode(would), other.Encode(&inForce)); err != nil {
		return err
	}
	if b != other {
		return fmt.Errorf("the friction law of %s would not be the one in force", name)
	}
	return nil
}
