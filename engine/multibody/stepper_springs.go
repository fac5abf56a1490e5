package multibody

import "gonum.org/v1/gonum/spatial/r3"

// springSteps are the springs between bodies in a step of Midpoint. The mean force of one is that at the mean of its stretch at both ends,
//
//	T = k·(x + h/2·J·v + h²/4·J·a) + c·(J·v + h/2·J·a),   κ = k·h²/4 + c·h/2,
//
// with x at the beginning and the direction J = ∂x/∂q of the middle: linear in the acceleration a, which answers to it by −A·T. So
// (J·A + 1/κ)·T = T₀/κ + J·a₀ for all of them, T₀ being T for a = 0 and a₀ the acceleration without springs. It is the equation of a constraint
// that yields by 1/κ, which a very stiff spring becomes.
type springSteps struct {
	at    []springStep // those that have a stiffness or a damping
	chol  []float64    // factor of J·A + 1/κ, n×n
	force []float64    // T
	work  []float64
}

type springStep struct {
	spring   *spring
	x        float64   // m  stretch at the beginning
	row      []float64 // J, nv
	answer   []float64 // A, nv
	t0, soft float64   // N; 1/κ
	ra, rb   r3.Vec    // m  the ends from the origins of their bodies
	e        r3.Vec    // from A to B
}

func newSpringSteps(m *Model) (s springSteps) {
	for i := range m.springs {
		if p := &m.springs[i]; p.k > 0 || p.c > 0 {
			s.at = append(s.at, springStep{spring: p, row: make([]float64, m.nv), answer: make([]float64, m.nv)})
		}
	}
	n := len(s.at)
	s.chol, s.force, s.work = make([]float64, n*n), make([]float64, n), make([]float64, n)
	return s
}

// begin takes the stretch at the beginning of a step.
func (s *springSteps) begin(m *Model, d *Data, q []float64) {
	if len(s.at) == 0 {
		return
	}
	Positions(m, d, q)
	for i := range s.at {
		p := &s.at[i]
		p.x = p.direct(d) - p.spring.l
	}
}

// direct finds the ends of a spring and its direction, and returns its length.
func (p *springStep) direct(d *Data) (length float64) {
	a, b := &d.body[p.spring.a], &d.body[p.spring.b]
	p.ra, p.rb = turn(&a.rot, p.spring.pa), turn(&b.rot, p.spring.pb)
	gap := r3.Sub(r3.Add(b.pos, p.rb), r3.Add(a.pos, p.ra))
	p.e = r3.Vec{}
	if length = r3.Norm(gap); length > 0 {
		p.e = r3.Scale(1/length, gap)
	}
	return length
}

// prepare takes the directions in the middle of a step of h that begins with v, and what the machine answers to them, after delassus.
func (s *springSteps) prepare(m *Model, d *Data, h float64, v []float64) Status {
	n := len(s.at)
	for i := range s.at {
		p := &s.at[i]
		p.direct(d)
		clear(p.row)
		m.wrenchRow(d, &cut{a: p.spring.a, b: p.spring.b}, p.e, r3.Vec{}, r3.Add(d.body[p.spring.b].pos, p.rb), p.row)
		rate := dot(p.row, v)
		p.t0 = p.spring.k*(p.x+h/2*rate) + p.spring.c*rate
		p.soft = 1 / (p.spring.k*h*h/4 + p.spring.c*h/2)
		copy(p.answer, p.row)
		m.answer(d, p.answer)
		for k := range i + 1 {
			s.chol[i*n+k] = dot(s.at[k].row, p.answer)
		}
		s.chol[i*n+i] += p.soft
	}
	if !choleskyFactor(s.chol, n) {
		return NotPositive
	}
	return OK
}

// pull finds the forces for the accelerations QDD without springs; false: there are none.
func (s *springSteps) pull(d *Data) bool {
	n := len(s.at)
	for i := range s.at {
		p := &s.at[i]
		s.force[i] = p.t0*p.soft + dot(p.row, d.QDD)
	}
	lowerSolve(s.chol, n, n, s.force)
	upperSolve(s.chol, n, n, s.force)
	return n > 0
}

// act adds the torques of the forces to QDD, and the forces to what Loads finds.
func (s *springSteps) act(m *Model, d *Data) {
	clear(d.passive)
	for i := range s.at {
		p, t := &s.at[i], s.force[i]
		for k, x := range p.row {
			d.QDD[k] -= t * x
		}
		f := r3.Scale(t, p.e)
		d.passive[p.spring.a].push(Wrench{r3.Cross(p.ra, f), f})
		d.passive[p.spring.b].push(Wrench{r3.Cross(f, p.rb), r3.Scale(-1, f)})
	}
}

// yield makes of the answer a to a torque that with the springs.
func (s *springSteps) yield(a []float64) {
	n := len(s.at)
	if n == 0 {
		return
	}
	for i := range s.at {
		s.work[i] = dot(s.at[i].row, a)
	}
	lowerSolve(s.chol, n, n, s.work)
	upperSolve(s.chol, n, n, s.work)
	for i := range s.at {
		for k, x := range s.at[i].answer {
			a[k] -= s.work[i] * x
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
