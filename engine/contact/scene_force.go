package contact

import (
	"fmt"
	"math"
)

type sceneSpring struct {
	SpringSpec
	a, b   int // bodies, the last one is the world
	l0     float64
	row    []float64 // dl/dq of a small spring, else nil
	driven [2][3]float64
}

type sceneMount struct {
	MountSpec
	body int
}

type sceneForce struct {
	ForceSpec
	body int
}

// connect resolves names and sums the linear parts. Bodies are at their start.
func (s *Scene) connect(index map[string]int) error {
	f := s.dof
	s.k, s.c = make([]float64, f*f), make([]float64, f*f)
	world := len(s.spec.Bodies)
	find := func(name string) int {
		if name == "" {
			return world
		}
		return index[name]
	}
	add := func(row []float64, stiffness, damping float64) {
		for i, ri := range row {
			for j, rj := range row {
				s.k[i*f+j] += stiffness * (ri * rj)
				s.c[i*f+j] += damping * (ri * rj)
			}
		}
	}
	for i, p := range s.spec.Springs {
		sp := sceneSpring{SpringSpec: p, a: find(p.A), b: find(p.B)}
		dx, dy, jac := s.span(&sp)
		sp.l0 = math.Hypot(dx, dy)
		if p.Small {
			if sp.l0 == 0 {
				return fmt.Errorf("springs[%d]: a small spring needs a direction, its ends are at one point", i)
			}
			sp.row = make([]float64, f)
			for side, b := range []int{sp.a, sp.b} {
				for j := range axes {
					if k := s.coordinate(b, j); k >= 0 {
						sp.row[k] += jac[side][j]
					}
				}
			}
			sp.driven = jac
			add(sp.row, p.Stiffness, p.Damping)
		}
		s.springs = append(s.springs, sp)
	}
	row := make([]float64, f)
	for _, p := range s.spec.Mounts {
		mo := sceneMount{MountSpec: p, body: index[p.Body]}
		s.mounts = append(s.mounts, mo)
		for j := range axes {
			if k := s.coordinate(mo.body, j); k >= 0 {
				clear(row)
				row[k] = 1
				add(row, p.Stiffness[j], p.Damping[j])
			}
		}
	}
	for _, p := range s.spec.Forces {
		s.forces = append(s.forces, sceneForce{p, index[p.Body]})
	}
	return nil
}

// coordinate is the place of an axis of a body in q, −1 when it is prescribed.
func (s *Scene) coordinate(body, axis int) int {
	if body == len(s.index) {
		return -1
	}
	return s.index[body][axis]
}

// span is the vector from end B to end A of a spring, with the derivatives of its length by the coordinates of A and B.
func (s *Scene) span(p *sceneSpring) (dx, dy float64, jac [2][3]float64) {
	a, b := &s.body[p.a], &s.body[p.b]
	ax, ay := a.world(p.PA.X, p.PA.Y)
	bx, by := b.world(p.PB.X, p.PB.Y)
	dx, dy = ax-bx, ay-by
	l := math.Hypot(dx, dy)
	if l == 0 {
		return dx, dy, jac
	}
	ex, ey := dx/l, dy/l
	jac[0] = [3]float64{ex, ey, (ax-a.p[0])*ey - (ay-a.p[1])*ex}
	jac[1] = [3]float64{-ex, -ey, (by-b.p[1])*ex - (bx-b.p[0])*ey}
	return dx, dy, jac
}

// Force fills the forces other than contact.
func (s *Scene) Force(t float64, q, u, f []float64) {
	s.move(t, q, u)
	for i := range s.spec.Bodies {
		m := s.spec.Bodies[i].Mass
		s.load[i] = [3]float64{m * s.spec.Gravity[0], m * s.spec.Gravity[1], 0}
	}
	for i := range s.springs {
		p := &s.springs[i]
		dx, dy, jac := s.span(p)
		stretch := math.Hypot(dx, dy) - p.l0
		a, b := &s.body[p.a], &s.body[p.b]
		if p.Small {
			jac, stretch = p.driven, 0
			for side, end := range [2]int{p.a, p.b} {
				for j := range axes {
					stretch += jac[side][j] * (s.body[end].p[j] - s.start(end, j))
				}
			}
		}
		rate := 0.0
		for j := range axes {
			rate += jac[0][j]*a.v[j] + jac[1][j]*b.v[j]
		}
		pull := p.Tension + p.Stiffness*stretch + p.Damping*rate
		for j := range axes {
			s.load[p.a][j] -= pull * jac[0][j]
			s.load[p.b][j] -= pull * jac[1][j]
		}
	}
	for i := range s.mounts {
		p := &s.mounts[i]
		b := &s.body[p.body]
		for j := range axes {
			s.load[p.body][j] -= p.Stiffness[j]*(b.p[j]-s.start(p.body, j)) + p.Damping[j]*b.v[j]
		}
	}
	for i := range s.forces {
		p := &s.forces[i]
		b := &s.body[p.body]
		sin := math.Sin(p.Omega * t)
		var v [3]float64
		for j := range axes {
			v[j] = p.Constant[j] + p.Amplitude[j]*sin
		}
		x, y := b.world(p.At.X, p.At.Y)
		v[2] += (x-b.p[0])*v[1] - (y-b.p[1])*v[0]
		for j := range axes {
			s.load[p.body][j] += v[j]
		}
	}
	for i, at := range s.index {
		for j, k := range at {
			if k >= 0 {
				f[k] = s.load[i][j]
			}
		}
	}
}

// start is a coordinate of a body at t = 0.
func (s *Scene) start(body, axis int) float64 {
	if body == len(s.spec.Bodies) {
		return 0
	}
	return s.spec.Bodies[body].Pose[axis]
}
