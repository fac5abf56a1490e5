package multibody

// CutKind is what a cut joint, which closes a loop of the tree, lets frame B do as seen from frame A.
type CutKind uint8

const (
	CutFixed       CutKind = iota // 6 equations: nothing
	CutRevolute                   // 5: turn about z
	CutPrismatic                  // 5: slide along z
	CutCylindrical                // 4: both
	CutSpherical                  // 3: turn any way
	CutPoint                      // 2: its origin stays on z of A: the joint of a machine that moves in the plane of x and y
	CutDistance                   // 1: its origin stays at a distance
)

var cutNames = [...]string{"fixed", "revolute", "prismatic", "cylindrical", "spherical", "point", "distance"}

func (k CutKind) String() string {
	if int(k) < len(cutNames) {
		return cutNames[k]
	}
	return "unknown kind of cut"
}

// Cut closes a loop: a joint that the tree has been cut at.
type Cut struct {
	Name   string
	Kind   CutKind
	A, B   string  // frames
	Length float64 // m  of CutDistance
}

// Coupling is Σ factor·q = Offset over joints with one axis: gears, belts, differentials. θ1 = n·θ2 has the factors 1 and −n.
type Coupling struct {
	Name   string
	Terms  []Term
	Offset float64 // rad, m
}

// Term is a part of a Coupling.
type Term struct {
	Joint  string
	Factor float64
}

// Drive prescribes the motion of a joint with one axis; Data.Drive says which. Its multiplier is the torque of the drive.
type Drive struct {
	Name  string
	Joint string
}

// Relation is any other equation between positions, g(q, t) = 0.
type Relation struct {
	Name    string
	Rows    []string // a name for each equation
	Relater Relater
}

// Relater evaluates the equations of a Relation. It is called with valid Velocities and allocates nothing; goroutines share it.
type Relater interface {
	Relate(m *Model, d *Data, q, v []float64, to Equations)
}

// Equations are g(q, t) = 0 with dg/dt = Jac·v + Rate and d²g/dt² = Jac·dv/dt + Bias.
type Equations struct {
	G    []float64 // n
	Rate []float64 // n
	Bias []float64 // n
	Jac  []float64 // n×nv, rows first
}
