package daemon

import (
	"errors"
	"strings"

	"hilrig/configs"
	"hilrig/hil"
	"hilrig/hil/axis"
)

// liveOf are the parameters that may change while it runs, with the bounds of the file.
func liveOf(c *hil.Controller, cfg *configs.Config) []axis.Param {
	live := c.LiveParams()
	for i := range live {
		p := &live[i]
		for k := range cfg.Axes {
			key, mine := strings.CutPrefix(p.Name, cfg.Axes[k].Name+".")
			if lo, hi, ok := configs.Bounds(key); mine && ok {
				p.Lo, p.Hi = max(p.Lo, lo), min(p.Hi, hi)
			}
		}
	}
	return live
}

// reviewOf says of a change of parameters what hil check says of a file with them: what it refuses is an error; what it warns of, and a
// model that is far from the one in force, has to be confirmed.
func reviewOf(cfg *configs.Config, c *hil.Controller) func(now, next *hil.Params) (doubts []string, err error) {
	live := c.LiveParams()
	running := func(p *hil.Params) configs.Running {
		run := configs.Running{Values: map[string]float64{}, Models: map[string]*axis.Set{}}
		for i, l := range live {
			run.Values[l.Name] = p.V[i]
		}
		for i := range cfg.Axes {
			run.Models[cfg.Axes[i].Name] = p.Sets[i].Set()
		}
		return run
	}
	return func(now, next *hil.Params) ([]string, error) {
		was, will := running(now), running(next)
		problems, doubts, err := cfg.Review(was, will)
		if err != nil {
			return nil, err
		}
		if len(problems) > 0 {
			return nil, errors.New(strings.Join(problems, "; "))
		}
		for i := range cfg.Axes {
			a := &cfg.Axes[i]
			set := will.Models[a.Name]
			if set == nil || next.Sets[i] == now.Sets[i] { // the model of the file has been read and checked
				continue
			}
			inForce := modelInForce(a, &now.Sets[i])
			if inForce == nil {
				continue
			}
			far, err := farFrom(a, inForce, set)
			if err != nil {
				return nil, err
			}
			doubts = append(doubts, far...)
		}
		return doubts, nil
	}
}

// modelInForce is the model of an axis; nil: it has none.
func modelInForce(a *configs.Axis, b *axis.Block) *axis.Set {
	if set := b.Set(); set != nil {
		return set
	}
	if a.Friction.Model != nil {
		return axis.SetOf(a.Friction.Model)
	}
	return nil
}
