package multibody

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"
)

// ErrAssembly is what Assemble refuses.
var ErrAssembly = errors.New("the constraints cannot be met")

// Assembly says how initial conditions are made consistent.
type Assembly struct {
	Hold  []string // joints whose position and velocity stay as given
	Limit float64  // rad, m  how far another coordinate may be moved; 0: any way
}

// Assembled is what Assemble did and found.
type Assembled struct {
	Gap, GapRate                   float64 // largest |g| (m, rad) and |dg/dt| as given
	PositionChange, VelocityChange float64 // largest change of a coordinate (rad, m) and of a velocity
	DOF                            int     // degrees of freedom: velocities less independent equations
	Redundant                      []string
	Singular                       bool // fewer equations are independent here than nearby: the motion is not determined
	Unstable                       bool // it begins in a static equilibrium that a small push ends
}

// String is a line about it.
func (a Assembled) String() string {
	s := fmt.Sprintf("%d degrees of freedom; constraints missed by %.3g, positions moved by %.3g at most", a.DOF, a.Gap, a.PositionChange)
	if a.VelocityChange > 0 {
		s += fmt.Sprintf("; rates missed by %.3g, velocities changed by %.3g", a.GapRate, a.VelocityChange)
	}
	if len(a.Redundant) > 0 {
		s += "; redundant: " + strings.Join(a.Redundant, ", ")
	}
	if a.Singular {
		s += "; singular position"
	}
	if a.Unstable {
		s += "; the equilibrium is unstable"
	}
	return s
}

// Assemble makes q, v consistent with the constraints by the shortest way of the coordinates (rad, m) that are not held, and finds out
// which equations are redundant: they say what others say already, here and nearby, and their multipliers are not determined one by one.
// Drives must be set for the initial time. It sets FullRank of d. The error, an ErrAssembly, names the equations that stay open; q, v are
// then unchanged.
func Assemble(m *Model, d *Data, q, v []float64, how Assembly) (a Assembled, err error) {
	m.check("Assemble", q, v, nil)
	free := make([]bool, m.nv)
	for i := range free {
		free[i] = true
	}
	for _, name := range how.Hold {
		j, err := m.Joint(name)
		if err != nil {
			return a, fmt.Errorf("held joint: %w", err)
		}
		for i := range m.body[j].nv {
			free[m.body[j].iv+i] = false
		}
	}
	s := assembler{m: m, d: d, freeVelocity: free, q: append([]float64(nil), q...), v: append([]float64(nil), v...)}
	s.evaluate()
	m.rates(d, v)
	a.Gap, a.GapRate = d.Residual()
	if a.Gap-a.Gap != 0 || a.GapRate-a.GapRate != 0 {
		return a, fmt.Errorf("%w: positions or velocities that are no finite numbers", ErrAssembly)
	}
	if left := s.close(); left > failTol {
		return a, fmt.Errorf("%w: %s: start nearer to an assembled position, hold fewer joints, or check the lengths", ErrAssembly, s.open(d.G))
	}
	for i := range m.loops.cuts {
		c := &m.loops.cuts[i]
		for _, u := range c.upright {
			if r3.Dot(turn(&d.body[c.a].rot, u[0]), turn(&d.body[c.b].rot, u[1])) < 0 {
				return a, fmt.Errorf("%w: %s: the axes of its frames point against each other: turn one frame by half a turn, or start nearer",
					ErrAssembly, c.name)
			}
		}
	}
	moved := make([]float64, m.nv)
	Difference(m, q, s.q, moved)
	for i, x := range moved {
		if a.PositionChange = math.Max(a.PositionChange, math.Abs(x)); how.Limit > 0 && math.Abs(x) > how.Limit {
			return a, fmt.Errorf("%w without moving joint %q by %.4g, more than the limit of %g: %s open as given", ErrAssembly,
				m.body[m.dof[i].body].name, x, how.Limit, s.openAt(q))
		}
	}
	if left := s.closeRates(); left > failTol*(1+largestOf(v)) {
		return a, fmt.Errorf("%w by the velocities: %s: hold fewer joints", ErrAssembly, s.open(d.GRate))
	}
	for i := range v {
		a.VelocityChange = math.Max(a.VelocityChange, math.Abs(s.v[i]-v[i]))
	}
	s.count(&a)
	copy(q, s.q)
	copy(v, s.v)
	return a, nil
}

// learn finds FullRank from a position that may miss the constraints a little.
func (m *Model) learn(d *Data, q, v []float64) {
	if m.loops.n > 0 {
		// an error leaves FullRank as it was
		_, _ = Assemble(m, d, append([]float64(nil), q...), append([]float64(nil), v...), Assembly{})
	}
}

// assembler is the workspace of Assemble.
type assembler struct {
	m            *Model
	d            *Data
	freeVelocity []bool
	q, v         []float64
}

func largestOf(x []float64) (top float64) {
	for _, x := range x {
		top = math.Max(top, math.Abs(x))
	}
	return top
}

func (s *assembler) evaluate() float64 {
	Positions(s.m, s.d, s.q)
	s.m.constrain(s.d, s.q, s.v, false)
	return largestOf(s.d.G)
}

// shortestChange is the shortest change of the free velocities with Jac·x = −b.
func (s *assembler) shortestChange(b []float64) []float64 {
	n, k, d := s.m.nv, s.m.loops.n, s.d
	for r := range k {
		for t := range r + 1 {
			x := 0.0
			for i, free := range s.freeVelocity {
				if free {
					x += d.Jac[r*n+i] * d.Jac[t*n+i]
				}
			}
			d.gram.a[r*k+t] = x
		}
	}
	d.gram.maxRank = k
	d.gram.factor()
	lambda := make([]float64, k)
	for r := range lambda {
		lambda[r] = -b[r]
	}
	d.gram.solve(lambda)
	x := make([]float64, n)
	for r, l := range lambda {
		for i, free := range s.freeVelocity {
			if free {
				x[i] += d.Jac[r*n+i] * l
			}
		}
	}
	return x
}

// close is Newton's method with steps halved until the gap shrinks; it returns the gap that is left.
func (s *assembler) close() float64 {
	left := s.evaluate()
	last := make([]float64, len(s.q))
	for range 100 {
		if left <= closedTol {
			break
		}
		x := s.shortestChange(s.d.G)
		// no step turns a joint by more than half a radian
		if top := largestOf(x); top > 0.5 {
			for i := range x {
				x[i] *= 0.5 / top
			}
		}
		copy(last, s.q)
		before, step := s.sum(), 1.0
		for ; step > 1e-4; step /= 2 {
			Integrate(s.m, last, x, step, s.q)
			left = s.evaluate()
			if s.sum() < before {
				break
			}
		}
		if step <= 1e-4 {
			copy(s.q, last)
			return s.evaluate()
		}
	}
	// in a machine of millimetres met is far above rounding
	if left > 0 && left <= closedTol {
		copy(last, s.q)
		Integrate(s.m, last, s.shortestChange(s.d.G), 1, s.q)
		if better := s.evaluate(); better <= 0.5*left {
			return better
		}
		copy(s.q, last)
		left = s.evaluate()
	}
	return left
}

// sum is the sum of squares of g.
func (s *assembler) sum() (sum float64) {
	for _, g := range s.d.G {
		sum += g * g
	}
	return sum
}

func (s *assembler) closeRates() float64 {
	for range 2 {
		s.m.rates(s.d, s.v)
		for i, x := range s.shortestChange(s.d.GRate) {
			s.v[i] += x
		}
	}
	s.m.rates(s.d, s.v)
	return largestOf(s.d.GRate)
}

// count finds rank and redundant equations here and, as a singular position has more, at places nearby.
func (s *assembler) count(a *Assembled) {
	m, d := s.m, s.d
	for i := range s.freeVelocity {
		s.freeVelocity[i] = true
	}
	q := append([]float64(nil), s.q...)
	look := func() (rank int, redundant []string) {
		s.evaluate()
		s.shortestChange(d.G)
		for _, r := range d.gram.perm[d.gram.rank:] {
			redundant = append(redundant, m.loops.rows[r].Name)
		}
		return d.gram.rank, redundant
	}
	rank, names := look()
	here := rank
	if rank < m.loops.n {
		for try := range 4 {
			// away along a velocity that the constraints allow
			copy(s.q, q)
			s.evaluate()
			x := make([]float64, m.nv)
			for i := range x {
				x[i] = 0.05 * math.Sin(float64(7*i+3*try)+1)
			}
			b := make([]float64, m.loops.n)
			for r := range b {
				for i := range x {
					b[r] += d.Jac[r*m.nv+i] * x[i]
				}
			}
			for i, y := range s.shortestChange(b) {
				x[i] += y
			}
			Integrate(m, q, x, 1, s.q)
			if s.close() > failTol {
				continue
			}
			if there, list := look(); there > rank {
				rank, names = there, list
			}
		}
		copy(s.q, q)
		s.evaluate()
		s.shortestChange(d.G)
	}
	a.DOF, a.Redundant, a.Singular = m.nv-rank, names, here < rank
	d.FullRank, d.Rank = rank, here
}

// open names the equations that are not met.
func (s *assembler) open(g []float64) string {
	var list []string
	for r, x := range g {
		if math.Abs(x) > failTol {
			list = append(list, fmt.Sprintf("%s off by %.3g", s.m.loops.rows[r].Name, x))
		}
	}
	if n := len(list); n > 6 {
		list = append(list[:6], fmt.Sprintf("and %d more", n-6))
	}
	return strings.Join(list, ", ")
}

func (s *assembler) openAt(q []float64) string {
	copy(s.q, q)
	s.evaluate()
	return s.open(s.d.G)
}
