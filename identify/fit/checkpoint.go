package fit

import (
	"fmt"
	"slices"
)

// Checkpoint is all that a search by AEP needs to go on as if it had never stopped. It marshals to JSON without loss.
type Checkpoint struct {
	Version int       `json:"version"`
	Seed    uint64    `json:"seed"`
	Islands int       `json:"islands"`
	Names   []string  `json:"parameters"`
	Lo      []float64 `json:"lower"`
	Hi      []float64 `json:"upper"`
	Log     []bool    `json:"log"`

	Generation int     `json:"generation"`
	Simulated  int     `json:"simulations"`
	Mean       float64 `json:"mean_first_cost"`

	Island  *int               `json:"island,omitempty"` // the only one that it is of; nil: it is of all
	Members []CheckpointMember `json:"members"`          // island by island, the best first
}

// CheckpointMember is one individual [MOGI] (6.24).
type CheckpointMember struct {
	Birth  int       `json:"birth"` // its number, that of its random numbers
	Place  []float64 `json:"place"` // in the box, 0 … 1
	Dir    []int8    `json:"direction"`
	Age    int       `json:"age"`
	Cost   float64   `json:"cost"`
	Random []byte    `json:"random"` // state of its generator
}

// Values are the parameters of all members, island by island, the best first.
func (c *Checkpoint) Values() (all [][]float64) {
	box := make(unitBox, len(c.Names))
	for j := range box {
		box[j].Lo, box[j].Hi, box[j].Log = c.Lo[j], c.Hi[j], c.Log[j]
	}
	for _, m := range c.Members {
		theta := make([]float64, len(box))
		box.theta(m.Place, theta)
		all = append(all, theta)
	}
	return all
}

const checkpointVersion = 1

// Checkpoint is the state of the population after its last complete generation.
func (pop *Population) Checkpoint() *Checkpoint {
	c := &Checkpoint{
		Version: checkpointVersion, Seed: pop.seed, Islands: len(pop.islands), Generation: pop.Generation, Simulated: pop.Simulated,
		Mean: pop.mean,
	}
	for _, p := range pop.box {
		c.Names, c.Lo, c.Hi, c.Log = append(c.Names, p.Name), append(c.Lo, p.Lo), append(c.Hi, p.Hi), append(c.Log, p.Log)
	}
	for _, island := range pop.islands {
		for _, m := range island {
			state, err := m.source.MarshalBinary()
			if err != nil {
				panic(fmt.Sprintf("fit: state of a random generator: %v", err)) // it never fails
			}
			c.Members = append(c.Members, CheckpointMember{
				Birth: m.birth, Place: slices.Clone(m.u), Dir: slices.Clone(m.dir), Age: m.age, Cost: m.cost, Random: state,
			})
		}
	}
	return c
}

// restore puts a population, or one of its islands, into the state of a checkpoint, which must come from the same problem, seed and size.
func (pop *Population) restore(c *Checkpoint) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("aep: the checkpoint does not belong to this search: "+format+"; start afresh, or with the settings it was "+
			"written with", args...)
	}
	mine, size := pop.Checkpoint(), len(pop.individuals)/len(pop.islands)
	first := 0 // island
	if c.Island != nil {
		if first = *c.Island; first < 0 || first >= len(pop.islands) {
			return refuse("it is of island %d, here there are %d", first, len(pop.islands))
		}
		mine.Members = mine.Members[:size]
	}
	switch {
	case c.Version != checkpointVersion:
		return refuse("its version is %d, this program reads %d", c.Version, checkpointVersion)
	case !slices.Equal(c.Names, mine.Names):
		return refuse("its parameters are %v, here they are %v", c.Names, mine.Names)
	case !slices.Equal(c.Lo, mine.Lo) || !slices.Equal(c.Hi, mine.Hi) || !slices.Equal(c.Log, mine.Log):
		return refuse("its bounds are %v to %v, here they are %v to %v", c.Lo, c.Hi, mine.Lo, mine.Hi)
	case c.Islands != mine.Islands || len(c.Members) != len(mine.Members):
		return refuse("it has %d members on %d islands, here there are %d on %d", len(c.Members), c.Islands, len(mine.Members), mine.Islands)
	case c.Seed != mine.Seed:
		return refuse("its seed is %d, here it is %d", c.Seed, mine.Seed)
	case c.Generation < 1 || c.Simulated < len(c.Members) || !(c.Mean >= 0):
		return refuse("its counters make no sense: generation %d, %d simulations", c.Generation, c.Simulated)
	}
	seen := make([]bool, len(pop.individuals))
	for i, s := range c.Members {
		island := first + i/size
		if s.Birth/size != island || s.Birth < 0 || seen[s.Birth] || len(s.Place) != len(pop.box) || len(s.Dir) != len(pop.box) || s.Age < 1 ||
			!(s.Cost >= 0) {
			return refuse("member %d is damaged", i)
		}
		seen[s.Birth] = true
		m := pop.individuals[s.Birth]
		for j, u := range s.Place {
			if !(u >= 0 && u <= 1) || s.Dir[j] != 1 && s.Dir[j] != -1 {
				return refuse("member %d is damaged", i)
			}
		}
		copy(m.u, s.Place)
		copy(m.dir, s.Dir)
		m.age, m.cost = s.Age, s.Cost
		if err := m.source.UnmarshalBinary(s.Random); err != nil {
			return refuse("member %d is damaged: %v", i, err)
		}
		pop.islands[island][i%size] = m
	}
	pop.Generation, pop.Simulated, pop.mean = c.Generation, c.Simulated, c.Mean
	pop.sort()
	return nil
}
