package lcp

import (
	"math"
	"slices"
)

const (
	maxRounds    = 3     // of flipped states before a path is followed: two or six take more time on brushes, wedged or not
	polishRounds = 4     // of flipped states after a path or sweeps
	tinyPivot    = 1e-11 // of a diagonal number: the row depends on those before it
)

// system is the linear system of the closed contacts: v_N = 0 of every one and v_T = 0 of those that stick, for p_N of every
// one and p_T of those that stick; p_T = −μ·sgn(v_T)·p_N is put in where a contact slides.
type system struct {
	a        []float64 // k×(k+1), right side last; L and U after elimination
	row      []int32   // row of D of each unknown
	fac      []float64 // p_T = fac·p_N of a sliding contact, 0 of a sticking one
	drop     []bool    // the row depended on earlier ones: the unknown keeps the impulse it had
	act      []int32   // closed contacts
	k        int
	x        []float64
	flip     []State // what a violated state should be
	violated bool    // one was violated
	rank     bool    // a row was dropped
}

func newSystem(contacts int) system {
	k := 2 * contacts
	return system{
		a: make([]float64, k*(k+1)), row: make([]int32, k), fac: make([]float64, k), drop: make([]bool, k),
		act: make([]int32, contacts), x: make([]float64, k), flip: make([]State, contacts),
	}
}

// update assumes the states f.st, solves, and flips all states that turn out to be violated: an open contact that approaches
// slides or sticks, a closed one that pulls opens, a sticking one beyond its cone slides, a sliding one that runs the wrong way
// sticks. It ends when nothing is violated, when states come back that were there before, or after a number of rounds.
func (f *Frictional) update(rounds int, count *int) {
	var seen [max(maxRounds, polishRounds) + 1]uint64
	for round := 0; ; round++ {
		f.equations()
		if f.judge(); f.bestR <= FrictionTol || round == rounds || !f.sys.violated {
			return
		}
		*count++
		seen[round] = mark(f.st[:f.n])
		copy(f.st, f.sys.flip[:f.n])
		if round > 0 && slices.Contains(seen[:round], mark(f.st[:f.n])) {
			return
		}
	}
}

// mark is a number that tells states apart.
func mark(st []State) uint64 {
	m := uint64(0)
	for _, s := range st {
		m = m*0x9e3779b97f4a7c15 + uint64(s) + 1
	}
	return m
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
		slides := edge{-f.mu[i] * st.sense(), 0}
		if !f.coulombOnly && st&closedState != Stick {
			slides = f.edge(i, st)
			f.p[2*i+1] = slides.con
		}
		if st >= apart {
			f.p[2*i], f.p[2*i+1] = f.base[i], slides.at(f.base[i])
		} else {
			s.row[k], s.fac[k] = int32(2*i), slides.slope
			k++
		}
		if st&closedState == Stick {
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
		if !f.coulombOnly {
			for j, x := range f.p[:w] {
				to[k] -= from[j] * x
			}
		}
	}
	s.eliminate(f)
	f.backSubstitute(f.p, false)
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
			x := f.guessImpulses[r]
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

// backSubstitute substitutes the right side and adds the result to p, or puts it there; a correction leaves the dropped unknowns alone.
func (f *Frictional) backSubstitute(p []float64, correct bool) {
	s := &f.sys
	k := s.k
	kw := k + 1
	x := s.x[:k]
	for c := k - 1; c >= 0; c-- {
		row := s.a[c*kw : c*kw+kw]
		if s.drop[c] {
			x[c] = 0
			if !correct {
				x[c] = f.guessImpulses[s.row[c]]
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
		s.violated = false
		// impulses
		for i, st := range f.st[:n] {
			s.flip[i] = st
			if st == Open {
				continue
			}
			pn, pt, base := f.p[2*i], f.p[2*i+1], f.base[i]
			if st < apart && !(pn >= base) {
				if less := pn - base; less*less*f.dg[2*i] > coneTol*coneTol*f.sig2 || pn != pn {
					if s.flip[i], s.violated = Open, true; base > 0 {
						s.flip[i] = apart | st
					}
					continue
				}
				pn = base
			}
			high := f.mu[i] * pn // Coulomb's without a call
			low := -high
			if !f.coulombOnly {
				low, high = f.bounds(i, pn)
			}
			to := confined(st, pt, low, high)
			if over := to - pt; st&closedState == Stick && over*over*f.dg[2*i+1] > coneTol*coneTol*f.sig2 {
				s.flip[i], s.violated = st&apart|sliding(over), true
				continue
			}
			f.p[2*i], f.p[2*i+1] = pn, to
		}
		cone := !s.violated
		f.velocities()
		r := f.stateResidual()
		if cone {
			f.offer(r)
			// rounding: once more with the rest
			if r > FrictionTol && r < 1e-3 && !s.violated && try < 3 {
				f.forward()
				f.backSubstitute(f.p, true)
				continue
			}
		}
		return
	}
}

// bounds of p_T of contact i with p_N = pn.
func (f *Frictional) bounds(i int, pn float64) (low, high float64) {
	if !f.coulombOnly {
		return f.edge(i, SlipPlus).at(pn), f.edge(i, SlipMinus).at(pn)
	}
	high = f.mu[i] * pn
	return -high, high
}

// confined is a bound of p_T for a contact that slides; for one that sticks it is pt, or the bound that pt is beyond.
func confined(st State, pt, low, high float64) float64 {
	switch st &= closedState; {
	case st == SlipPlus, st == Stick && pt < low:
		return low
	case st == SlipMinus, pt > high:
		return high
	}
	return pt
}

// velocities fills f.v with D·p + b. Where impulses are so large that the rounding of this sum could hide a violation it is computed in
// twice the precision.
func (f *Frictional) velocities() {
	w, big := 2*f.n, 0.0
	act := f.sys.act
	for _, j := range act {
		pn, pt := f.p[2*j], f.p[2*j+1]
		if e := pn*pn*f.dg[2*j] + pt*pt*f.dg[2*j+1]; e > big {
			big = e
		}
	}
	if big > largeImpulse*largeImpulse*f.sig2 {
		f.preciseVelocities()
		return
	}
	for i, v := range f.b {
		row := f.d[i*w : i*w+w]
		for _, j := range act {
			v += row[2*j]*f.p[2*j] + row[2*j+1]*f.p[2*j+1]
		}
		f.v[i] = v
	}
}

// preciseVelocities is velocities in twice the precision: the rounding of each product and of each sum is kept and added at the end.
func (f *Frictional) preciseVelocities() {
	w := 2 * f.n
	for i, v := range f.b {
		row, rest := f.d[i*w:i*w+w], 0.0
		for j, x := range f.p[:w] {
			if x == 0 {
				continue
			}
			e := row[j] * x
			s := v + e
			z := s - v
			rest += (v - (s - z)) + (e - z) + math.FMA(row[j], x, -e)
			v = s
		}
		f.v[i] = v + rest
	}
}

// stateResidual is the residual of f.p and f.v in the states f.st; states of which the velocities ask for others are noted.
func (f *Frictional) stateResidual() float64 {
	// plain comparisons are faster than max; sum shows what is not finite
	s, n, worst, big, sum := &f.sys, f.n, 0.0, 0.0, 0.0
	tol := flipTol * flipTol * f.sig2
	v, p, ig, dg, flip := f.v[:2*n], f.p[:2*n], f.ig[:2*n], f.dg[:2*n], s.flip[:n]
	for i, st := range f.st[:n] {
		k := 2 * i
		vn, vt := v[k], v[k+1]
		en, et := vn*vn*ig[k], vt*vt*ig[k+1]
		sum += en + et
		if st == Open {
			if vn < 0 {
				if en > worst {
					worst = en
				}
				if en > tol && flip[i] == Open {
					s.violated = true
					if flip[i] = sliding(vt); et <= tol {
						flip[i] = Stick
					}
					if only := f.side[i].oneWayState(); only != Open {
						flip[i] = only
					}
				}
			}
			continue
		}
		pn, pt := p[k], p[k+1]
		if e := pn*pn*dg[k] + pt*pt*dg[k+1]; e > big {
			big = e
		}
		if st >= apart && vn >= 0 {
			en = 0
		}
		if en > worst {
			worst = en
		}
		if st >= apart && en > tol && flip[i] == st {
			flip[i], s.violated = st&closedState, true
		}
		if st&closedState != Stick && (vt*st.sense() >= 0 || !f.coulombOnly && f.side[i].oneWayState() != Open) {
			continue
		}
		if et > worst {
			worst = et
		}
		if et > tol && st&closedState != Stick && flip[i] == st {
			s.violated = true
			if flip[i] = st&apart | Stick; f.mu[i] == 0 {
				flip[i] = sliding(vt)
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
					s.flip[i], s.violated = f.st[i]&apart|sliding(v), true
				} else if v > 0 {
					if s.flip[i], s.violated = Open, true; f.base[i] > 0 {
						s.flip[i] = apart | f.st[i]
					}
				}
			}
		}
	}
	if sum+big-(sum+big) != 0 {
		return math.Inf(1)
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
		copy(f.bestP[:2*f.n], f.p)
		copy(f.bestSt[:f.n], f.st)
	}
}
