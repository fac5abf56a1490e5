package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/hil/axis"
)

// Running is what may differ from the file while a rig runs.
type Running struct {
	Values map[string]float64   // by name: shaft.control.kp, in SI
	Models map[string]*axis.Set // by axis; nil or none: that of the file
}

// Bounds are those of a key of an axis by its want tag, such as control.kp; without one any number will do.
func Bounds(key string) (lo, hi float64, ok bool) {
	f, _, ok := fieldOf(reflect.TypeFor[Axis](), key)
	if !ok {
		return 0, 0, false
	}
	lo, hi = f.Range()
	return lo, hi, true
}

// fieldOf finds a key below a section, and its place.
func fieldOf(t reflect.Type, key string) (f schema.Field, index []int, ok bool) {
	first, rest, deeper := strings.Cut(key, ".")
	for _, f := range schema.FieldsOf(t) {
		switch {
		case f.Key != first:
		case !deeper:
			return f, f.Index, true
		default:
			inner, at, ok := fieldOf(t.FieldByIndex(f.Index).Type, rest)
			return inner, slices.Concat(f.Index, at), ok
		}
	}
	return f, nil, false
}

// WithRunning is the configuration as it runs: Check says of it what it says of a file with these numbers.
func (c *Config) WithRunning(run Running) (*Config, error) {
	out := *c
	out.Axes = slices.Clone(c.Axes)
	for i := range out.Axes {
		a := &out.Axes[i]
		for name, v := range run.Values {
			key, mine := strings.CutPrefix(name, a.Name+".")
			if !mine {
				continue
			}
			switch _, index, ok := fieldOf(reflect.TypeFor[Axis](), key); {
			case ok:
				reflect.ValueOf(a).Elem().FieldByIndex(index).SetFloat(v)
			case key == "reference.scale":
				a.Reference.Times = &v
			}
		}
		set := run.Models[a.Name]
		if set == nil {
			continue
		}
		law, err := friction.Build(set.Law, set.Params)
		if err != nil {
			return nil, err
		}
		a.Friction.Law = Law{Name: set.Law, Label: set.Law, Title: a.Friction.Title, Model: law, path: a.Friction.path}
		m, err := axis.Edited(a.MotorModel(), a.Drive.Kind, set.Motor)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: motor: %w", a.Name, err)
		case a.Motor != nil:
			a.Motor = &m
		default:
			a.Inertia, a.Drive.K = m.J, m.K
		}
	}
	return &out, nil
}

// Review is what Check refuses, and what it warns of, in a rig that runs with next and did not with now: the same rules as those of the
// file.
func (c *Config) Review(now, next Running) (problems, warnings []string, err error) {
	said := func(run Running) (problems, warnings []string, err error) {
		r, err := c.WithRunning(run)
		if err != nil {
			return nil, nil, err
		}
		bad, odd := r.Validate()
		text := func(p schema.Problem) string { return p.Msg }
		return listOf(bad, text), listOf(odd, text), nil
	}
	oldBad, oldOdd, err := said(now)
	if err != nil {
		return nil, nil, err
	}
	if problems, warnings, err = said(next); err != nil {
		return nil, nil, err
	}
	known := func(list []string) func(string) bool {
		return func(m string) bool { return slices.Contains(list, m) }
	}
	return slices.DeleteFunc(problems, known(oldBad)), slices.DeleteFunc(warnings, known(oldOdd)), nil
}
