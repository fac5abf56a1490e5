package multibody

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/spatial/r3"
)

// Spring is a spring and damper between the origins of two frames; Stiffness·(distance − Length) pulls them together.
type Spring struct {
	Name      string
	A, B      string  // frames
	Stiffness float64 // N/m
	Damping   float64 // N·s/m  times the rate of the distance
	Length    float64 // m      relaxed
}

// ErrSpring is what Build finds wrong with a spring.
var ErrSpring = errors.New("spring")

type spring struct {
	name    string
	a, b    int
	pa, pb  r3.Vec
	k, c, l float64
}

func (b *builder) springs() {
	for _, s := range b.spec.Springs {
		fa, errA := b.m.Frame(s.A)
		fb, errB := b.m.Frame(s.B)
		if err := errors.Join(errA, errB); err != nil {
			b.fail("%w %q: %w", ErrSpring, s.Name, err)
			continue
		}
		f, g := &b.m.frames[fa], &b.m.frames[fb]
		if f.body == g.body {
			b.fail("%w %q: frames %q and %q are on the same body", ErrSpring, s.Name, called(s.A), called(s.B))
		}
		for _, x := range [3]struct {
			name  string
			value float64
		}{{"stiffness", s.Stiffness}, {"damping", s.Damping}, {"length", s.Length}} {
			if !(x.value >= 0 && x.value < math.Inf(1)) {
				b.fail("%w %q: %s %g, want a number ≥ 0", ErrSpring, s.Name, x.name, x.value)
			}
		}
		b.m.springs = append(b.m.springs, spring{name: s.Name, a: f.body, b: g.body, pa: f.pose.P, pb: g.pose.P, k: s.Stiffness, c: s.Damping,
			l: s.Length})
	}
}

// pull adds the forces of the springs to the passive wrenches; Velocities must be valid.
func (m *Model) pull(d *Data) {
	clear(d.passive)
	for i := range m.springs {
		s := &m.springs[i]
		a, b := &d.body[s.a], &d.body[s.b]
		ra, rb, e, length := s.direct(d)
		rate := r3.Dot(e, r3.Sub(velocityAt(b, rb), velocityAt(a, ra)))
		f := r3.Scale(s.k*(length-s.l)+s.c*rate, e)
		d.passive[s.a].push(Wrench{r3.Cross(ra, f), f})
		d.passive[s.b].push(Wrench{r3.Cross(f, rb), r3.Scale(-1, f)})
	}
}

// springEnergy is the energy of the springs.
func (m *Model) springEnergy(d *Data) (sum float64) {
	for i := range m.springs {
		s := &m.springs[i]
		_, _, _, length := s.direct(d)
		x := length - s.l
		sum += 0.5 * s.k * x * x
	}
	return sum
}

// Springs is their number.
func (m *Model) Springs() int { return len(m.springs) }

// Spring tells stiffness (N/m) and damping (N·s/m) of spring k, in the order of the specification.
func (m *Model) Spring(k int) (stiffness, damping float64) { return m.springs[k].k, m.springs[k].c }

// SpringRow writes to row (nv) the direction in which spring k stretches: row·v is the rate of its length (m/s), and −T·row the torques
// of a tension T. It returns by how much it is longer than relaxed (m). Positions must be valid.
func (m *Model) SpringRow(d *Data, k int, row []float64) (stretch float64) {
	s := &m.springs[k]
	_, rb, e, length := s.direct(d)
	clear(row)
	m.wrenchRow(d, &cut{a: s.a, b: s.b}, e, r3.Vec{}, r3.Add(d.body[s.b].pos, rb), row)
	return length - s.l
}

// PullSpring notes for the next Loads the tension (N) of spring k, where Springless leaves it out; after Dynamics.
func (m *Model) PullSpring(d *Data, k int, tension float64) {
	s := &m.springs[k]
	ra, rb, e, _ := s.direct(d)
	f := r3.Scale(tension, e)
	d.passive[s.a].push(Wrench{r3.Cross(ra, f), f})
	d.passive[s.b].push(Wrench{r3.Cross(f, rb), r3.Scale(-1, f)})
}

// direct finds the ends of a spring from the origins of their bodies, its direction from A to B, and its length; one of no length has no
// direction.
func (s *spring) direct(d *Data) (ra, rb, e r3.Vec, length float64) {
	a, b := &d.body[s.a], &d.body[s.b]
	ra, rb = turn(&a.rot, s.pa), turn(&b.rot, s.pb)
	gap := r3.Sub(r3.Add(b.pos, rb), r3.Add(a.pos, ra))
	if length = r3.Norm(gap); length > 0 {
		e = r3.Scale(1/length, gap)
	}
	return ra, rb, e, length
}
