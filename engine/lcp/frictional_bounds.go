package lcp

import "math"

// Side is what is known of the tangential impulse of a contact before it is solved for.
type Side uint8

const (
	Either   Side = iota // −μ·p_N ≤ p_T ≤ μ·p_N: the contact may stick
	Forward              // slides with v_T > 0, whatever v_T comes out: p_T = −μ·p_N
	Backward             // slides with v_T < 0, whatever v_T comes out: p_T = +μ·p_N
	AtLeast              // R ≤ p_T ≤ μ·p_N, R > 0
	AtMost               // −μ·p_N ≤ p_T ≤ R, R < 0
)

// oneWayState is the state of a contact that slides one way whatever v_T is; Open: v_T decides.
func (s Side) oneWayState() State { return [...]State{Open, SlipPlus, SlipMinus, Open, Open}[s] }

// Bound is what a contact gets beside Coulomb's law: p_N = Base + x, 0 ≤ x ⊥ v_N ≥ 0, and bounds of p_T. The zero value is Coulomb's law.
type Bound struct {
	Side Side
	Base float64 // ≥ 0
	R    float64 // for AtLeast and AtMost, |R| ≤ μ·Base
}

// SolveBounded solves v = D·p + b with bounds that are not those of Coulomb's law for every contact, from all open:
//
//	p_N = Base + x,   0 ≤ x ⊥ v_N ≥ 0,   lower ≤ p_T ≤ upper,   v_T ≥ 0 at lower, ≤ 0 at upper, 0 between
//
// Forces of contacts that slide already are of this kind, and so is the second phase of an impact by Poisson's law. Contacts that slide one
// way may have no solution, or one that no path comes to [PG96]: where the paths fail, all states are tried, up to searchStates of them.
// Degraded here means that no solution was found, and that p is zero; NoSolution that all states were tried.
func (f *Frictional) SolveBounded(d, b, mu []float64, bound []Bound, p []float64) FrictionResult {
	n := len(mu)
	f.check(n, d, b, p)
	if len(bound) != n {
		panic("lcp: Frictional: bound is not of the size of mu")
	}
	if n == 0 {
		return FrictionResult{}
	}
	clear(f.st[:n])
	clear(f.startStates[:n])
	clear(f.guessImpulses[:2*n])
	res := FrictionResult{Status: Failed, Method: BySafe, Residual: math.Inf(1)}
	if f.setProblem(d, b, mu) {
		f.coulombOnly = true
		for i, x := range bound {
			if x.Base > 0 && mu[i] == 0 {
				x.Side = Forward // v_T has no say
			}
			f.base[i], f.r[i], f.side[i] = x.Base, x.R, x.Side
			f.coulombOnly = f.coulombOnly && x == Bound{}
			if x.Base > 0 {
				st := apart | Stick
				if only := x.Side.oneWayState(); only != Open {
					st = apart | only
				}
				f.st[i], f.startStates[i] = st, st
			}
		}
		// what Base alone does counts for σ as b does
		for i, inv := range f.ig[:2*n] {
			v := 0.0
			for j, x := range bound {
				v += math.Abs(d[2*n*i+2*j]*x.Base) + math.Abs(d[2*n*i+2*j+1]*x.R)
			}
			f.sig2 = max(f.sig2, v*v*inv)
		}
		if f.chain(&res); res.Status == Degraded {
			f.search(&res)
		}
		clear(f.base[:n])
		clear(f.side[:n])
		f.coulombOnly = true
	}
	clear(p)
	if res.Status == Verified {
		copy(p, f.bestP)
	}
	f.d, f.b, f.mu = nil, nil, nil
	return res
}

// searchStates is the number of states of all contacts that are tried: twelve contacts that slide, or six that may stick.
const searchStates = 1 << 12

// search tries the states of all contacts, one after another.
func (f *Frictional) search(res *FrictionResult) {
	clear(f.guessImpulses[:2*f.n])
	for i := range f.n {
		f.st[i] = 7
		f.turn(i)
	}
	for range searchStates {
		f.equations()
		if f.judge(); f.bestR <= FrictionTol {
			res.Status, res.Method, res.Residual, res.Clash = Verified, BySearch, f.bestR, false
			return
		}
		res.Rounds++
		i := 0
		for i < f.n && !f.turn(i) {
			i++
		}
		if i == f.n {
			res.NoSolution = true
			return
		}
	}
}

// turn gives contact i its next state; false when that is the first again.
func (f *Frictional) turn(i int) bool {
	for again := false; ; {
		st := (f.st[i] + 1) % (2 * apart)
		again = again || st == 0
		f.st[i] = st
		only, kept := f.side[i].oneWayState(), f.base[i] > 0
		if st&closedState == Open && (kept || st == apart) || st > apart && !kept || only != Open && st&closedState != Open &&
			st&closedState != only {
			continue
		}
		return !again
	}
}

// edge is the bound of p_T at which contact i slides in state st.
func (f *Frictional) edge(i int, st State) edge {
	s := st.sense()
	if side := f.side[i]; side == AtLeast && s > 0 || side == AtMost && s < 0 {
		return edge{0, f.r[i]}
	}
	return edge{-s * f.mu[i], 0}
}
