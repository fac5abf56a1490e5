package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hilrig/configs/schema"
)

// Simulation is a file that a study runs: one for hil simulate or for hil identify, of any kind. One of them is not nil.
type Simulation struct {
	Contact     *ContactRun
	Laws        *Simulate
	Machine     *MachineRun
	Manipulator *ManipulatorRun
	Ball        *BallRun
	Identify    *Identify
	MachineFit  *MachineFit
	ResponseFit *ResponseFit
	BallFit     *BallFit
	Warnings    []schema.Problem
}

// Fits tells whether it is a file for hil identify.
func (s Simulation) Fits() bool {
	return s.Identify != nil || s.MachineFit != nil || s.ResponseFit != nil || s.BallFit != nil
}

// Files are the files that it reads.
func (s Simulation) Files() (paths []string) {
	switch {
	case s.Laws != nil:
		return s.Laws.Files()
	case s.Machine != nil:
		return s.Machine.Files()
	case s.Identify != nil:
		paths = s.Identify.Files()
	case s.MachineFit != nil:
		paths = s.MachineFit.Files()
	case s.ResponseFit != nil:
		paths = s.ResponseFit.Files()
	case s.BallFit != nil:
		paths = []string{s.BallFit.Data.File}
	case s.Contact != nil:
		if s.Contact.Brush != nil {
			paths = slices.Clone(s.Contact.Brush.Measured)
		}
		if s.Contact.Scene != nil {
			paths = append(paths, listOf(s.Contact.Scene.Bodies, func(b SceneBody) string { return b.File })...)
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return p == "" })
}

// CheckSimulation reads a file that a study runs. The error is *Errors.
func CheckSimulation(name string, data []byte) (s Simulation, err error) {
	switch kindOf(data) {
	case ContactFile:
		s.Contact, s.Warnings, err = ContactRunBytes(name, data)
	case SimulateFile:
		s.Laws, s.Warnings, err = SimulateBytes(name, data)
	case MachineFile:
		s.Machine, s.Warnings, err = MachineBytes(name, data)
	case ManipulatorFile:
		s.Manipulator, s.Warnings, err = ManipulatorRunBytes(name, data)
	case BallFile:
		s.Ball, s.Warnings, err = BallRunBytes(name, data)
	case IdentifyFile:
		if s.Identify, s.Warnings, err = identifyBytes(name, data); err == nil && s.Identify.TimeLimit > 0 {
			err = &schema.Errors{List: []schema.Problem{{File: name, Path: "time_limit",
				Msg: "time_limit: the results of a study must not depend on how fast the machine is; leave it out"}}}
		}
	case MachineFitFile:
		s.MachineFit, s.Warnings, err = MachineFitBytes(name, data)
	case ResponseFile:
		s.ResponseFit, s.Warnings, err = ResponseFitBytes(name, data)
	case BallFitFile:
		s.BallFit, s.Warnings, err = BallFitBytes(name, data)
	default:
		return s, &schema.Errors{List: []schema.Problem{{File: name, Msg: "is no file for hil simulate or hil identify: it has neither plant " +
			"and input nor system, machine, manipulator, ball or data"}}}
	}
	return s, err
}

// checkBase reads the file to simulate and tries what the study would make of it: first as it is, then with set, then with
// every factor alone at the ends and in the middle of what it may be, the others staying what the file says.
func (c *Study) checkBase(r *schema.Report, read func(string) ([]byte, error)) {
	if r.HasProblem("base") {
		return
	}
	base := c.Base.inline
	switch {
	case c.Base.Path != "":
		data, err := read(c.BaseName())
		if err != nil {
			why := err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				why = fmt.Sprintf("there is no file %s", c.BaseName())
			}
			r.KeyErrorf("base", "%s", why)
			return
		}
		if _, err = CheckSimulation(c.BaseName(), data); err == nil {
			base, err = schema.ParseTree(c.BaseName(), data)
		}
		if err != nil {
			c.passOn(r, err)
			return
		}
	case base == nil:
		r.KeyErrorf("base", "is missing: the path of a file to simulate")
		return
	}
	c.floor = base
	if c.Base.Path == "" && !c.try(r, base, nil) {
		return
	}
	ok := c.findFiles(r)
	for _, p := range slices.Sorted(maps.Keys(c.Set)) {
		t, err := c.floor.WithValue(p, c.Set[p].t)
		if err != nil {
			r.KeyErrorf("set."+p, "%v", err)
			ok = false
			continue
		}
		c.floor = t
	}
	if !ok || len(c.Set) > 0 && !c.try(r, c.floor, c.setKeys()) || !c.placeIslands(r) {
		return
	}
	for i := range c.Vary {
		c.tryFactor(r, i)
	}
	for k, p := range c.Design.SeedPath {
		c.tryAt(r, p, schema.Bare("1"), fmt.Sprintf("design.seed_path[%d]", k), "design.seed_path")
	}
	for i, f := range c.Figures {
		for _, p := range slices.Sorted(maps.Keys(f.Changes)) {
			key := fmt.Sprintf("figures[%d].at", i)
			c.tryAt(r, p, f.Changes[p].t, key+"."+p, key)
		}
	}
}

// findFiles looks for the recordings and for the files of factors.
func (c *Study) findFiles(r *schema.Report) (ok bool) {
	ok = true
	find := func(key, pattern string) (list []string) {
		folder := filepath.Dir(c.BaseName())
		full := pattern
		if !filepath.IsAbs(full) {
			full = filepath.Join(folder, pattern)
		}
		all, err := filepath.Glob(full)
		if err != nil || len(all) == 0 {
			r.KeyErrorf(key, "there is no file %s", full)
			ok = false
		}
		for _, path := range all {
			if rel, err := filepath.Rel(folder, path); err == nil && !filepath.IsAbs(pattern) {
				path = rel
			}
			list = append(list, filepath.ToSlash(path))
		}
		return list
	}
	if c.Records != "" {
		if c.recordFiles = find("records", c.Records); ok {
			keys := recordKeys(c.recordFiles)
			for _, p := range slices.Sorted(maps.Keys(keys)) {
				t, err := c.floor.WithValue(p, keys[p].t)
				if err != nil {
					r.KeyErrorf("records", "%v", err)
					return false
				}
				c.floor = t
			}
		}
	}
	for i := range c.Vary {
		v := &c.Vary[i]
		if v.Files == "" {
			continue
		}
		v.Values = listOf(find(fmt.Sprintf("vary[%d].files", i), v.Files), func(path string) StudyValue { return StudyValue{schema.Word(path)} })
	}
	return ok
}

// setKeys maps the paths that set changes to their keys in the study.
func (c *Study) setKeys() map[string]string {
	m := map[string]string{}
	for p := range c.Set {
		m[p] = "set." + p
	}
	return m
}

// tryFactor tries the ends, the middle and all listed values of a factor.
func (c *Study) tryFactor(r *schema.Report, i int) {
	v, at := &c.Vary[i], fmt.Sprintf("vary[%d]", i)
	if r.HasProblem(at) || v.Path == "" {
		return
	}
	var tries []*schema.Tree
	if len(v.Values) > 0 {
		tries = listOf(v.Values, func(x StudyValue) *schema.Tree { return x.t })
	} else {
		middle := (v.Range.Lo + v.Range.Hi) / 2
		if v.Scale == "whole" {
			middle = v.Range.Lo
		}
		tries = listOf([]float64{v.Range.Lo, v.Range.Hi, middle}, v.tree)
	}
	for _, t := range tries {
		if !c.tryAt(r, v.Path, t, at+".path", at) {
			return
		}
	}
}

// tryAt tries one change; key is where the study names the path, and above the section that says the value.
func (c *Study) tryAt(r *schema.Report, path string, v *schema.Tree, key, above string) bool {
	if r.HasProblem(key) || v == nil {
		return true
	}
	t, err := c.floor.WithValue(path, v)
	if err != nil {
		r.KeyErrorf(key, "%s: %v", path, err)
		return false
	}
	return c.try(r, t, map[string]string{path: above})
}

// try loads a file to simulate and reports what is wrong with it where the study says so: keys maps paths of the file to keys
// of the study. It tells whether nothing was wrong.
func (c *Study) try(r *schema.Report, t *schema.Tree, keys map[string]string) bool {
	_, err := CheckSimulation(c.BaseName(), t.YAML())
	var list *schema.Errors
	if !errors.As(err, &list) {
		r.ErrorIf(err != nil, "base", "%v", err)
		return err == nil
	}
	for _, p := range list.List {
		key := ""
		for path, k := range keys {
			if p.Path != "" && (schema.PathWithin(p.Path, path) || schema.PathWithin(path, p.Path)) {
				key = k
			}
		}
		msg := p.Msg
		if p.Hint != "" {
			msg += " (" + p.Hint + ")"
		}
		switch {
		case key != "" && strings.HasPrefix(p.Msg, "unknown key") && r.HasKey(key+".path"):
			r.KeyErrorf(key+".path", "%s", msg)
		case key != "":
			r.KeyErrorf(key, "%s", msg)
		case c.Base.Path == "" && p.Path != "":
			r.Errorf("base."+p.Path, "base: %s", msg)
		case len(keys) > 0: // the file was fine before this change
			for path, k := range keys {
				r.KeyErrorf(k, "with this %s: %s", path, msg)
			}
		default:
			r.KeyErrorf("base", "%s", msg)
		}
	}
	return false
}

// passOn reports the problems of the file to simulate where they stand in it.
func (c *Study) passOn(r *schema.Report, err error) {
	var list *schema.Errors
	if !errors.As(err, &list) {
		r.KeyErrorf("base", "%v", err)
		return
	}
	for _, p := range list.List {
		p.Path = "base"
		r.Pass(p)
	}
}

// Inputs are the files that the runs read, as paths from where the program was started.
func (c *Study) Inputs() []string {
	data, err := c.Simulation(nil, -1, nil)
	if err != nil {
		return nil
	}
	s, err := CheckSimulation(c.BaseName(), data)
	if err != nil {
		return nil
	}
	paths := s.Files()
	for i := range c.Vary {
		if v := &c.Vary[i]; v.Files != "" {
			for _, x := range v.Values {
				path := x.Text()
				if !filepath.IsAbs(path) {
					path = filepath.Join(filepath.Dir(c.BaseName()), path)
				}
				paths = append(paths, path)
			}
		}
	}
	paths = listOf(paths, filepath.Clean)
	slices.Sort(paths)
	return slices.Compact(paths)
}
