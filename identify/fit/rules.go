package fit

import (
	"math"
	"math/rand/v2"
)

// individual is a member of the population [MOGI] (6.24): its place in the box, a direction per parameter, its age. Its random
// numbers are its own, so that they do not depend on who else is computed and when.
type individual struct {
	birth int       // its number, that of its random numbers
	u     []float64 // place, each parameter scaled to 0 … 1
	dir   []int8    // −1 or +1
	age   int       // contests since the last success, from 1
	cost  float64   // f = Σ r²

	child   []float64 // its one child of this generation
	contest float64   // cost of the child

	source           rand.PCG
	generationSource rand.PCG   // source at the beginning of the generation
	normal           *rand.Rand // on source
}

// normals give independent numbers of the standard normal distribution.
type normals interface{ NormFloat64() float64 }

// begin places an individual at random in the box, with random directions (6.27).
func (m *individual) begin() {
	for j := range m.u {
		m.u[j] = m.normal.Float64()
		m.dir[j] = 1
		if m.normal.Uint64()&1 == 0 {
			m.dir[j] = -1
		}
	}
	m.age = 1
}

// bear makes the child by rule 2 (6.26). After a success the step goes on in the direction that brought it; after
// failures it goes anywhere, the farther the longer they last:
//
//	age = 1:  Δu_j = β1·dir_j·|N_j|·S,    else:  Δu_j = β2·age·N_j·S
//
// with a new N_j for every parameter. What leaves the box is reflected at its sides.
func (m *individual) bear(n normals, beta1, beta2, s float64) {
	for j, u := range m.u {
		x := n.NormFloat64()
		if m.age == 1 {
			x = beta1 * float64(m.dir[j]) * math.Abs(x) * s
		} else {
			x = beta2 * float64(m.age) * x * s
		}
		m.child[j] = fold(u + x)
	}
}

// oldestAge is the age after which 2 follows.
const oldestAge = 50

// compete holds the one-to-one contest and applies rule 1 (6.25): a child with less cost takes the place of its parent and
// remembers where it came from, dir = sgn(child − parent), at age 1; else the parent stays and is one older. A coordinate
// that did not move keeps its direction. Beyond the oldest age an individual is as if 2 again: by then its steps cross
// the whole box.
func (m *individual) compete(oldest int) (won bool) {
	if m.contest < m.cost {
		for j, c := range m.child {
			switch {
			case c > m.u[j]:
				m.dir[j] = 1
			case c < m.u[j]:
				m.dir[j] = -1
			}
		}
		m.u, m.child = m.child, m.u
		m.cost, m.age = m.contest, 1
		return true
	}
	if m.age++; m.age > oldest {
		m.age = 2
	}
	return false
}

// fold reflects x at 0 and 1 until it lies between them.
func fold(x float64) float64 {
	x = math.Abs(math.Mod(x, 2))
	if x > 1 {
		x = 2 - x
	}
	return x
}

// spread is S of (6.26): √(f/f̄0), at most 1. An individual far from the goal strides, one close to it looks around.
func spread(f, mean float64) float64 {
	if !(f < mean) {
		return 1
	}
	return math.Sqrt(f / mean)
}

// meanCost is f̄0, given the first members in order. A simulation that fails costs a large number that says nothing about
// distances: what is beyond ten thousand times the cost of the best tenth is left out, or S would be next to nothing for
// all who did not fail.
func meanCost(sorted []*individual) float64 {
	limit := 1e4 * sorted[len(sorted)/10].cost
	sum, n := 0.0, 0
	for _, m := range sorted {
		if m.cost <= limit {
			sum += m.cost
			n++
		}
	}
	return math.Min(sum/float64(n), math.MaxFloat64)
}

// unitBox maps the bounds of parameters to 0 … 1, Log parameters by their logarithms.
type unitBox []Param

func (b unitBox) theta(u, theta []float64) {
	for j := range b {
		p := &b[j]
		var x float64
		if p.Log {
			x = p.Lo * math.Exp(u[j]*math.Log(p.Hi/p.Lo))
		} else {
			x = p.Lo + u[j]*(p.Hi-p.Lo)
		}
		theta[j] = math.Min(math.Max(x, p.Lo), p.Hi)
	}
}

func (b unitBox) from(theta, u []float64) {
	for j := range b {
		p := &b[j]
		if p.Log {
			u[j] = math.Log(theta[j]/p.Lo) / math.Log(p.Hi/p.Lo)
		} else {
			u[j] = (theta[j] - p.Lo) / (p.Hi - p.Lo)
		}
		u[j] = math.Min(math.Max(u[j], 0), 1)
	}
}
