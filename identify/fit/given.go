package fit

import "fmt"

// GivenNumber is a number, or several of a kind, that a result rests on and that a file gives: no record tells it for sure.
type GivenNumber struct {
	Name        string
	Uncertainty float64 // standard, in Unit; 0: not said, and intervals hold no error of it
	Unit        string
}

// Names of gains to which all that is found in the unit of a force is in proportion.
const (
	ForceGain   = "gain of the force"
	TorqueGains = "gains of the torques"
)

// Clock is that of a record: what is found in a unit with a time goes with it.
const Clock = "clock"

// ScaleMove is by how much 1 % of a number that is taken for exact moves the parameters, by name and in their units.
type ScaleMove struct {
	Name       string
	ParamMoves map[string]float64
}

func (g GivenNumber) String() string {
	if g.Uncertainty == 0 {
		return g.Name
	}
	return fmt.Sprintf("%s ±%.2g %s", g.Name, g.Uncertainty, g.Unit)
}
