package lcp

import "math"

const (
	maxRounds    = 8     // of flipped states before a path is followed
	polishRounds = 4     // of flipped states after a path or sweeps
	flipAll      = 4     // rounds that flip all violated states; later ones flip the first alone
	tinyPivot    = 1e-11 // of a diagonal number: the row depends on those before it
)

// system is the linear system of the closed contacts: v_N = 0 of every one and v_T = 0 of those that stick, for p_N of every
// one and p_T of those that stick; p_T = −μ·sgn(v_T)·p_N is put in where a contact slides.
type system struct {
	a    []float64 // k×(k+1), right side last; L and U after elimination
	row  []int32   // row of D of each unknown
	fac  []float64 // p_T = fac·p_N of a sliding contact, 0 of a sticking one
	drop []bool    // the row depended on earlier ones: the unknown keeps the impulse it had
	act  []int32   // closed contacts
	k    int
	x    []float64
	flip []State // what a violated state should be
	any  bool    // one was violated
	rank bool    // a row was dropped
}

func newSystem(contacts int) system {
	k := 2 * contacts
	return system{
		a: make([]float64, k*(k+1)), row: make([]int32, k), fac: make([]float64, k), drop: make([]bool, k),
		act: make([]int32, contacts), x: make([]float64, k), flip: make([]State, contacts),
	}
}

// update assumes the states f.st, solves, and flips the states that turn out to be violated: an open contact that approaches
// slides or sticks, a closed one that pulls opens, a sticking one beyond its cone slides, a sliding one that runs the wrong way
// sticks. All at once for some rounds, then one at a time by the least index, which ends many a cycle.
func (f *Frictional) update(rounds int, count *int) {
	for round := 0; ; round++ {
		f.equations()
		if f.judge(); f.bestR <= FrictionTol {
			return
		}
		if round == rounds || !f.sys.any {
			return
		}
		*count++
		for i, s := range f.sys.flip[:f.n] {
			if s != f.st[i] {
				f.st[i] = s
				if round >= flipAll {
					break
				}
			}
		}
	}
}

// equations fills f.p with the impulses of the states f.st.
func (f *Frictional) equations() {
	s, n, w := &f.sys, f.n, 2*f.n
	k, na := 0, 0
	act := s.act[:cap(s.act)]
	for i, st := range f.st[:n] {
		f.p[2*i], f.p[2*i+1] = 0, 0
		if st == Open {
			continue
		}
		act[na] = int32(i)
		na++
		s.row[k], s.fac[k] = int32(2*i), -f.mu[i]*st.sense()
		k++
		if st == Stick {
			s.row[k], s.fac[k] = int32(2*i+1), 0
			k++
		}
	}
	s.act = act[:na]
	s.k = k
	// rows of D with the columns of sliding contacts joined
	kw := k + 1
	row, fac := s.row[:k], s.fac[:k]
	for u, r := range row {
		to, from := s.a[u*kw:u*kw+kw], f.d[int(r)*w:int(r)*w+w]
		for c, j := range row {
			x := from[j]
			if g := fac[c]; g != 0 {
				x += g * from[j+1]
			}
			to[c] = x
		}
		to[k] = -f.b[r]
	}
	s.eliminate(f)
	f.back(f.p, false)
}

// eliminate brings the system to L and U without interchanges: D is positive semidefinite, so that a pivot that is all but
// gone says that the row depends on the rows before it. Such an unknown stays at the impulse it had at the start.
func (s *system) eliminate(f *Frictional) {
	k := s.k
	kw := k + 1
	s.rank = false
	for c := range k {
		top := s.a[c*kw : c*kw+kw]
		d := top[c]
		r := s.row[c]
		s.drop[c] = !(math.Abs(d) > tinyPivot*f.dg[r])
		if s.drop[c] {
			s.rank = true
			x := f.keep[r]
			for i := c + 1; i < k; i++ {
				s.a[i*kw+k] -= s.a[i*kw+c] * x
				s.a[i*kw+c] = 0
			}
			continue
		}
		inv := 1 / d
		tail := top[c+1:]
		for i := c + 1; i < k; i++ {
			row := s.a[i*kw+c : i*kw+kw]
			g := row[0] * inv
			row[0] = g
			if g == 0 {
				continue
			}
			low := row[1:]
			low = low[:len(tail)]
			for j, t := range tail {
				low[j] -= g * t
			}
		}
	}
}

// back substitutes the right side and adds the result to p, or puts it there; a correction leaves the dropped unknowns alone.
func (f *Frictional) back(p []float64, correct bool) {
	s := &f.sys
	k := s.k
	kw := k + 1
	x := s.x[:k]
	for c := k - 1; c >= 0; c-- {
		row := s.a[c*kw : c*kw+kw]
		if s.drop[c] {
			x[c] = 0
			if !correct {
				x[c] = f.keep[s.row[c]]
			}
			continue
		}
		v := row[k]
		for j := c + 1; j < k; j++ {
			v -= row[j] * x[j]
		}
		x[c] = v / row[c]
	}
	for c, r := range s.row[:k] {
		if correct {
			p[r] += x[c]
		} else {
			p[r] = x[c]
		}
		if g := s.fac[c]; g != 0 {
			p[r+1] = g * p[r]
		}
	}
}

// forward replaces the right side by −v of the rows of the system and eliminates it with L.
func (f *Frictional) forward() {
	s := &f.sys
	k := s.k
	kw := k + 1
	for i, r := range s.row[:k] {
		row := s.a[i*kw : i*kw+kw]
		v := -f.v[r]
		for c := range i {
			if !s.drop[c] {
				v -= row[c] * s.a[c*kw+k]
			}
		}
		row[k] = v
	}
}

// judge finds what is violated by f.p in the states f.st, and how they should be instead; impulses that leave their cone by
// rounding are put on it. What is admissible is offered as a solution.
func (f *Frictional) judge() {
	s, n := &f.sys, f.n
	for try := 0; ; try++ {
		s.any = false
		// impulses
		for i, st := range f.st[:n] {
			s.flip[i] = st
			if st == Open {
				continue
			}
			pn, pt := f.p[2*i], f.p[2*i+1]
			if !(pn >= 0) {
				if pn*pn*f.dg[2*i] > coneTol*coneTol*f.sig2 || pn != pn {
					s.flip[i], s.any = Open, true
					continue
				}
				pn = 0
			}
			bound := f.mu[i] * pn
			if st != Stick {
				pt = -st.sense() * bound
			} else if over := math.Abs(pt) - bound; over > 0 {
				if over*over*f.dg[2*i+1] > coneTol*coneTol*f.sig2 {
					s.flip[i], s.any = sliding(-pt), true
					continue
				}
				pt = math.Copysign(bound, pt)
			}
			f.p[2*i], f.p[2*i+1] = pn, pt
		}
		cone := !s.any
		f.velocities()
		r := f.wrong()
		if cone {
			f.offer(r)
			// rounding: once more with the rest
			if r > FrictionTol && r < 1e-3 && !s.any && try < 3 {
				f.forward()
				f.back(f.p, true)
				continue
			}
		}
		return
	}
}

// velocities fills f.v with D·p + b.
func (f *Frictional) velocities() {
	w := 2 * f.n
	act := f.sys.act
	for i, v := range f.b {
		row := f.d[i*w : i*w+w]
		for _, j := range act {
			v += row[2*j]*f.p[2*j] + row[2*j+1]*f.p[2*j+1]
		}
		f.v[i] = v
	}
}

// wrong is the residual of f.p and f.v in the states f.st; states of which the velocities ask for others are noted.
func (f *Frictional) wrong() float64 {
	s, worst, big := &f.sys, 0.0, 0.0
	tol := flipTol * flipTol * f.sig2
	for i, st := range f.st[:f.n] {
		vn, vt := f.v[2*i], f.v[2*i+1]
		en, et := vn*vn*f.ig[2*i], vt*vt*f.ig[2*i+1]
		if st == Open {
			if vn < 0 {
				worst = max(worst, en)
				if en > tol && s.flip[i] == Open {
					s.any = true
					if s.flip[i] = sliding(vt); et <= tol {
						s.flip[i] = Stick
					}
				}
			}
			continue
		}
		pn, pt := f.p[2*i], f.p[2*i+1]
		big = max(big, pn*pn*f.dg[2*i], pt*pt*f.dg[2*i+1])
		worst = max(worst, en)
		if st == Stick {
			worst = max(worst, et)
		} else if vt*st.sense() < 0 {
			worst = max(worst, et)
			if et > tol && s.flip[i] == st && f.mu[i] != 0 {
				s.flip[i], s.any = Stick, true
			} else if et > tol && s.flip[i] == st {
				s.flip[i], s.any = sliding(vt), true
			}
		}
	}
	// a row that was dropped and is not satisfied: that contact cannot stay as it is
	if s.rank {
		for c, r := range s.row[:s.k] {
			if i := r / 2; s.drop[c] && s.flip[i] == f.st[i] {
				v := f.v[r]
				if v*v*f.ig[r] <= tol {
					continue
				}
				if r&1 == 1 {
					s.flip[i], s.any = sliding(v), true
				} else if v > 0 {
					s.flip[i], s.any = Open, true
				}
			}
		}
	}
	if worst == 0 {
		return 0
	}
	sigma := math.Sqrt(f.sig2)
	return math.Sqrt(worst) / (sigma + min(1e-4*math.Sqrt(big), 10*sigma))
}

// offer takes f.p and f.st for the solution when they are better than what was found so far.
func (f *Frictional) offer(r float64) {
	if r < f.bestR {
		f.bestR = r
		copy(f.best[:2*f.n], f.p)
		copy(f.bestSt[:f.n], f.st)
	}
}
