package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hilrig/configs"
	"hilrig/engine/plant/manipulator"
)

// runOther runs a machine, a chain on a beam or a ball. A run that hil simulate calls not to be trusted is an error here.
func runOther(ctx context.Context, name string, c configs.Simulation) (*results, error) {
	switch {
	case c.Machine != nil:
		s := &machineRun{results: results{path: name}, cfg: c.Machine}
		var err error
		if s.model, s.x, s.assembly, err = c.Machine.Begin(); err == nil {
			err = s.run(ctx)
		}
		if err != nil {
			return nil, err
		}
		s.measure()
		if err := s.doubts(); err != nil {
			return nil, fmt.Errorf("not to be trusted: %s", s.warnings[len(s.warnings)-1])
		}
		return &s.results, nil
	case c.Manipulator != nil:
		s := &manipulatorRun{results: results{path: name}, cfg: c.Manipulator}
		var err error
		if s.model, err = manipulator.New(c.Manipulator.Params()); err == nil {
			err = s.run(ctx)
		}
		if err != nil && !errors.As(err, &s.leaveError) || s.runResult == nil {
			return nil, err
		}
		s.tabulate()
		s.doubts()
		return &s.results, nil
	case c.Ball != nil:
		s := &ballRun{results: results{path: name}, cfg: c.Ball}
		if err := s.run(ctx); err != nil {
			return nil, err
		}
		if err := s.doubts(); err != nil {
			return nil, fmt.Errorf("not to be trusted: %s", s.warnings[len(s.warnings)-1])
		}
		return &s.results, nil
	}
	return nil, errors.New("there is nothing to simulate")
}

// extremes are least, largest and last number of every column.
func extremes(columns []column) (out []Metric) {
	for _, c := range columns {
		if c.name == "time" || len(c.x) == 0 {
			continue
		}
		out = append(out, Metric{c.name + ".min", c.unit, slices.Min(c.x)}, Metric{c.name + ".max", c.unit, slices.Max(c.x)},
			Metric{c.name + ".end", c.unit, c.x[len(c.x)-1]})
	}
	return out
}
