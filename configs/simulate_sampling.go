package configs

import (
	"math"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/experiment"
	"hilrig/engine/reference"
)

// checkSampling looks at what the step does to the run: how much of it is kept, where it ends, whether the signals survive.
func (c *Simulate) checkSampling(r *schema.Report) {
	steps := math.Round(c.Duration / c.Step)
	if every, ok := c.Decimation(); ok && float64(every) > steps && steps >= 1 {
		key := "outputs.decimate"
		if c.Outputs.RowInterval > 0 {
			key = "outputs.every"
		}
		r.KeyErrorf(key, "one row in %d steps, but the run has %s: none would be kept", every, schema.Short(steps))
	}
	end := steps * c.Step
	r.WarnIf(math.Abs(end-c.Duration) > 1e-6*c.Step && steps >= 1, "duration",
		"%s s is no whole number of steps of %s s; the run ends at %.9g s", schema.Short(c.Duration), schema.Short(c.Step), end)
	// the load of a step is that of its middle: half the rate of the steps is the highest frequency that can be told
	limit := 0.5 / c.Step
	for _, s := range []struct {
		key string
		*Signal
	}{{"input", &c.Input}, {"normal", c.Normal}, {"current", c.Current}} {
		if s.Signal == nil || s.gen == nil {
			continue
		}
		f, _ := reference.Fastest(s.gen)
		r.WarnIf(f > limit, s.key, "%s Hz is beyond half the rate of the steps, %s Hz: a slower signal will be seen in its place; take a step "+
			"below %s s", schema.Short(f), schema.Short(limit), short3(0.5/f))
	}
	c.checkUnused(r)
}

// checkUnused warns about a normal load or a current that no law looks at.
func (c *Simulate) checkUnused(r *schema.Report) {
	var names []string
	normal, current := c.Normal == nil, c.Current == nil
	for i := range c.Friction {
		l := &c.Friction[i]
		names = append(names, l.Label)
		normal = normal || l.param("N0") > 0 || l.param("mu") > 0
		current = current || !math.IsNaN(l.param("aJ"))
	}
	if len(names) == 0 {
		return
	}
	who := strings.Join(names, ", ")
	r.WarnIf(!normal, "normal", "not used by %s; N0 or mu, where a law has them, make friction follow the normal load", who)
	if !current && c.Plant.Kind != experiment.MotorAxis { // there the check of the plant speaks
		r.KeyWarnf("current", "not used by %s", who)
	}
}
