package contact

// ImpactLaw is how velocities jump when a contact closes with some speed.
type ImpactLaw uint8

const (
	ByEngine   ImpactLaw = iota // Newton in Moreau, Poisson in EventDriven
	Newton                      // one phase, ġ_N⁺ = −ε_N·ġ_N⁻ [M88b]; cheap, may gain energy when friction reverses
	Poisson                     // compression, then expansion with ε_N times its impulse [PG96]
	Sequential                  // one pair at a time, each by Poisson; tells more of a chain of balls than the two above
)

// Words are the names of the laws by number; the first stands for the choice of the engine.
func (ImpactLaw) Words() []string { return []string{"", "newton", "poisson", "sequential"} }

func (l ImpactLaw) String() string { return l.Words()[l] }
