package drivetrain

import "hilrig/engine"

// Beside is two mechanics that know nothing of each other, the coordinates of A first: rotors beside the bodies whose joints they turn
// through gears, for instance. Rows and parts tie them together.
type Beside struct {
	A, B   Mechanics
	na, nb int
	ma, mb []float64
	ja     []float64
}

// NewBeside makes one of two.
func NewBeside(a, b Mechanics) *Beside {
	s := &Beside{A: a, B: b, na: len(a.Coordinates()), nb: len(b.Coordinates())}
	s.ma, s.mb = make([]float64, s.na*s.na), make([]float64, s.nb*s.nb)
	s.ja = make([]float64, max(loopsOf(a)*s.na, loopsOf(b)*s.nb))
	return s
}

func loopsOf(m Mechanics) int {
	if l, ok := m.(Looped); ok {
		return l.Loops()
	}
	return 0
}

func (s *Beside) validate() error {
	for _, m := range [2]Mechanics{s.A, s.B} {
		if v, ok := m.(interface{ validate() error }); ok {
			if err := v.validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Beside) numbers() (all []number) {
	for _, m := range [2]Mechanics{s.A, s.B} {
		if v, ok := m.(numbered); ok {
			all = append(all, v.numbers()...)
		}
	}
	return all
}

// Coordinates are those of A, then of B.
func (s *Beside) Coordinates() []engine.Signal {
	return append(append([]engine.Signal(nil), s.A.Coordinates()...), s.B.Coordinates()...)
}

// Mass has two blocks.
func (s *Beside) Mass(q, m []float64) {
	s.A.Mass(q[:s.na], s.ma)
	s.B.Mass(q[s.na:], s.mb)
	clear(m)
	n := s.na + s.nb
	for i := range s.na {
		copy(m[i*n:], s.ma[i*s.na:(i+1)*s.na])
	}
	for i := range s.nb {
		copy(m[(s.na+i)*n+s.na:], s.mb[i*s.nb:(i+1)*s.nb])
	}
}

// Bias is that of A, then of B.
func (s *Beside) Bias(q, v, c []float64) {
	s.A.Bias(q[:s.na], v[:s.na], c[:s.na])
	s.B.Bias(q[s.na:], v[s.na:], c[s.na:])
}

// Energy is that of both.
func (s *Beside) Energy(q, v []float64) float64 {
	return s.A.Energy(q[:s.na], v[:s.na]) + s.B.Energy(q[s.na:], v[s.na:])
}

// Loops are those of A, then of B.
func (s *Beside) Loops() int { return loopsOf(s.A) + loopsOf(s.B) }

// Closed takes both.
func (s *Beside) Closed(q, v, jac, rho []float64) engine.Status {
	clear(jac)
	worst, row, n := engine.OK, 0, s.na+s.nb
	for k, m := range [2]Mechanics{s.A, s.B} {
		l, ok := m.(Looped)
		if !ok || l.Loops() == 0 {
			continue
		}
		from, to := 0, s.na
		if k == 1 {
			from, to = s.na, n
		}
		own := to - from
		worst = worse(worst, l.Closed(q[from:to], v[from:to], s.ja[:l.Loops()*own], rho[row:row+l.Loops()]))
		for i := range l.Loops() {
			copy(jac[(row+i)*n+from:], s.ja[i*own:(i+1)*own])
		}
		row += l.Loops()
	}
	return worst
}

// Project moves both to their loops. Rows that tie them are not asked: speeds that a projection changes by what a step leaves are taken
// up by the next step.
func (s *Beside) Project(q, v []float64) engine.Status {
	worst := engine.OK
	if l, ok := s.A.(Looped); ok && l.Loops() > 0 {
		worst = worse(worst, l.Project(q[:s.na], v[:s.na]))
	}
	if l, ok := s.B.(Looped); ok && l.Loops() > 0 {
		worst = worse(worst, l.Project(q[s.na:], v[s.na:]))
	}
	return worst
}
