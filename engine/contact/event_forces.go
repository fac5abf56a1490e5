package contact

import "math"

// knownForces are the forces of the held contacts in the equations that were solved last for an output, G·λ + b = 0. Bodies at rest have
// the same ones from row to row: there it spares the elimination, which costs the cube of the contacts.
type knownForces struct {
	g, b, lam []float64
}

// unchanged is by what share of their scale the equations may differ for the forces to count as the same: far below the tolerance of the
// motion, from 1e-9 on, and above the rounding of a stack at rest.
const unchanged = 1e-12

// matches tells whether the gathered equations of s are those of lam.
func (k *knownForces) matches(s *smooth) bool {
	w := 2 * len(s.heldContacts)
	if len(k.lam) != w {
		return false
	}
	for i := range w {
		if math.Abs(s.b[i]-k.b[i])*s.root[i] > unchanged*s.scale {
			return false
		}
		for j, g := range s.g[i*w : i*w+w] {
			if math.Abs(g-k.g[i*w+j])*s.root[i]*s.root[j] > unchanged {
				return false
			}
		}
	}
	return true
}

// store keeps the equations of s and their forces.
func (k *knownForces) store(s *smooth, lam []float64) {
	w := 2 * len(s.heldContacts)
	k.g, k.b, k.lam = append(k.g[:0], s.g[:w*w]...), append(k.b[:0], s.b[:w]...), append(k.lam[:0], lam[:w]...)
}
