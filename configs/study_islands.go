package configs

import (
	"strconv"

	"hilrig/configs/schema"
	"hilrig/engine/study"
	"hilrig/identify"
)

// checkIslands looks at what an evolution on islands wants of the design, and at what belongs to nothing else.
func (c *Study) checkIslands(r *schema.Report) {
	d := &c.Design
	if d.Kind != study.Islands {
		for _, key := range []string{"design.islands", "design.rounds"} {
			r.ErrorIf(r.HasKey(key), key, "of kind islands only, and design.kind is %s", d.Kind)
		}
		return
	}
	r.ErrorIf(c.RunLimit > 0, "run_time_limit", "islands are one evolution, which ends where a round fails; leave it out")
	r.FirstErrorIf(d.Islands < 2, "design.islands", "%d, want at least 2 populations", d.Islands)
	r.FirstErrorIf(d.Rounds < 1, "design.rounds", "%d, want at least 1", d.Rounds)
	for key, given := range map[string]bool{"vary": len(c.Vary) > 0, "design.replicates": d.Replicates > 1,
		"design.seed_path": len(d.SeedPath) > 0} {
		r.FirstErrorIf(given, key, "islands are one evolution, in which nothing else varies; leave it out")
	}
}

// placeIslands puts islands and generations into the file to identify.
func (c *Study) placeIslands(r *schema.Report) (ok bool) {
	d := &c.Design
	if d.Kind != study.Islands || r.HasProblem("design.islands") || r.HasProblem("design.rounds") {
		return true
	}
	s, err := CheckSimulation(c.BaseName(), c.floor.YAML())
	if err != nil || s.Identify == nil || !s.Identify.Method.ContainsOnce(identify.EvolutionKey) {
		r.KeyErrorf("design.kind", "islands are those of an evolution: want a base for hil identify whose method has aep, once")
		return false
	}
	if !r.HasKey("design.seed") {
		d.Seed = s.Identify.Seed
	}
	for _, k := range []struct {
		path, key string
		value     int
	}{{"aep.islands", "design.islands", d.Islands}, {"aep.generations", "design.rounds", 1 + d.Rounds*s.Identify.AEP.Migrate}} {
		if !c.setValue(r, k.path, schema.Bare(strconv.Itoa(k.value)), k.key) {
			return false
		}
	}
	return true
}

// setValue changes the file to simulate for all runs, if it can still be loaded then.
func (c *Study) setValue(r *schema.Report, path string, v *schema.Tree, key string) bool {
	t, err := c.floor.WithValue(path, v)
	if err != nil {
		r.KeyErrorf(key, "%v", err)
		return false
	}
	c.floor = t
	return c.try(r, t, map[string]string{path: key})
}

// Evolving are the changes to the file of an evolution on islands: its seed.
func (c *Study) Evolving() map[string]StudyValue {
	return map[string]StudyValue{"seed": {schema.Bare(strconv.Itoa(c.Design.Seed))}}
}

// Evolution is the file to identify of an evolution on islands.
func (c *Study) Evolution() (*Identify, error) {
	data, err := c.Simulation(nil, -1, c.Evolving())
	if err != nil {
		return nil, err
	}
	s, err := CheckSimulation(c.BaseName(), data)
	return s.Identify, err
}
