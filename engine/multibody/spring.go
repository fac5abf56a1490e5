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
		b.m.springs = append(b.m.springs, spring{name: s.Name, a: f.body, b: g.body, pa: f.pose.P, pb: g.pose.P, k: s.Stiffness, c: s.Damping, l: s.Length})
	}
}

// pull adds the forces of the springs to the passive wrenches; Velocities must be valid.
func (m *Model) pull(d *Data) {
	clear(d.passive)
	for i := range m.springs {
		s := &m.springs[i]
		a, b := &d.body[s.a], &d.body[s.b]
		ra, rb := turn(&a.rot, s.pa), turn(&b.rot, s.pb)
		gap := r3.Sub(r3.Add(b.pos, rb), r3.Add(a.pos, ra))
		length := r3.Norm(gap)
		if length == 0 {
			continue // no direction
		}
		e := r3.Scale(1/length, gap)
		rate := r3.Dot(e, r3.Sub(velocityAt(b, rb), velocityAt(a, ra)))
		f := r3.Scale(s.k*(length-s.l)+s.c*rate, e)
		d.passive[s.a].push(Wrench{r3.Cross(ra, f), f})
		d.passive[s.b].push(Wrench{r3.Cross(f, rb), r3.Scale(-1, f)})
	}
}

// stored is the energy of the springs.
func (m *Model) stored(d *Data) (sum float64) {
	for i := range m.springs {
		s := &m.springs[i]
		a, b := &d.body[s.a], &d.body[s.b]
		gap := r3.Sub(r3.Add(b.pos, turn(&b.rot, s.pb)), r3.Add(a.pos, turn(&a.rot, s.pa)))
		x := r3.Norm(gap) - s.l
		sum += 0.5 * s.k * x * x
	}
	return sum
}
