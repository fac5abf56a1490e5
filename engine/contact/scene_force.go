package contact

import (
	"fmt"
	"math"
)

type sceneSpring struct {
	SpringSpec
	a, b int           // bodies, the last one is the world
	l0   float64       // m, at the start
	jac  [2][3]float64 // of span, at the start
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
	row := make([]float64, f)
	for i, p := range s.spec.Springs {
		sp := sceneSpring{SpringSpec: p, a: find(p.A), b: find(p.B)}
		sp.l0, sp.jac = s.span(&sp)
		if p.Linearized {
			if sp.l0 == 0 {
				return fmt.Errorf("springs[%d]: a small spring needs a direction, its ends are at one point", i)
			}
			clear(row)
			for side, b := range []int{sp.a, sp.b} {
				for j, k := range s.index[b] {
					if k >= 0 {
						row[k] += sp.jac[side][j]
					}
				}
			}
			add(row, p.Stiffness, p.Damping)
		}
		s.springs = append(s.springs, sp)
	}
	for _, p := range s.spec.Mounts {
		s.mounted = append(s.mounted, index[p.Body])
		for j, k := range s.index[index[p.Body]] {
			if k >= 0 {
				clear(row)
				row[k] = 1
				add(row, p.Stiffness[j], p.Damping[j])
			}
		}
	}
	for _, p := range s.spec.Forces {
		s.forceBodies = append(s.forceBodies, index[p.Body])
	}
	return nil
}

// span is the length of a spring, with its derivatives by the coordinates of A and B.
func (s *Scene) span(p *sceneSpring) (l float64, jac [2][3]float64) {
	a, b := &s.body[p.a], &s.body[p.b]
	ax, ay := a.world(p.PA.X, p.PA.Y)
	bx, by := b.world(p.PB.X, p.PB.Y)
	dx, dy := ax-bx, ay-by
	if l = math.Hypot(dx, dy); l == 0 {
		return l, jac
	}
	ex, ey := dx/l, dy/l
	jac[0] = [3]float64{ex, ey, (ax-a.p[0])*ey - (ay-a.p[1])*ex}
	jac[1] = [3]float64{-ex, -ey, (by-b.p[1])*ex - (bx-b.p[0])*ey}
	return l, jac
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
		l, jac := s.span(p)
		stretch := l - p.l0
		a, b := &s.body[p.a], &s.body[p.b]
		if p.Linearized {
			jac, stretch = p.jac, 0
			for side, end := range [2]int{p.a, p.b} {
				for j := range axes {
					stretch += jac[side][j] * (s.body[end].p[j] - s.body[end].start[j])
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
	for i, body := range s.mounted {
		p, b := &s.spec.Mounts[i], &s.body[body]
		for j := range axes {
			s.load[body][j] -= p.Stiffness[j]*(b.p[j]-b.start[j]) + p.Damping[j]*b.v[j]
		}
	}
	for i, body := range s.forceBodies {
		p, b := &s.spec.Forces[i], &s.body[body]
		sin := math.Sin(p.Omega*t + p.Phase)
		var v [3]float64
		for j := range axes {
			v[j] = p.Constant[j] + p.Amplitude[j]*sin
		}
		x, y := b.world(p.Point.X, p.Point.Y)
		v[2] += (x-b.p[0])*v[1] - (y-b.p[1])*v[0]
		for j := range axes {
			s.load[body][j] += v[j]
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
