package axis

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// sliding is what is known of the axis before any simulation.
type sliding struct {
	m, fc, s2, offset float64 // kg, N, N·s/m, N
	plus, minus       side
	vmax              float64 // m/s
	linear            bool    // by the linear fit, not by ranges alone
}

// guess fits inertia and friction of sliding to the longest piece by inverse dynamics, each direction with friction of its
// own. A record that does not support this leaves the ranges of force and motion.
func (l *Loop) guess() sliding {
	longest := 0
	for i, d := range l.pieces {
		if len(d.Position) > len(l.pieces[longest].Position) {
			longest = i
		}
	}
	return inverse(*l.pieces[longest], l.pulses[longest].drive, l.spec.Rotary)
}

// inverse is the guess for a record under a force.
func inverse(d record.Record, drive []float64, rotary bool) sliding {
	d.Force, d.Disturbance = drive, nil
	d.Position = despiked(d.Position)
	h, q := d.Dt, d.Position
	g := byRange(q, h, drive)

	s := linear.DefaultSpec()
	s.Rotary = rotary
	rate := 1 / h
	s.Cutoff = min(s.Cutoff, 0.2*rate)
	s.Decimate = max(1, min(s.Decimate, int(0.4*rate/s.Cutoff), len(q)/200))
	s, _ = s.Asymmetric()
	line, err := linear.InverseDynamics(&d, s)
	if err != nil {
		return g
	}
	by := map[string]float64{}
	for _, e := range line.Estimates {
		by[e.Symbol] = e.Value
	}
	m := by["M"] + by["J"]
	if !(m > 0) {
		return g
	}
	// a direction with less than nothing has the friction of the other; a drive that pushes more than it brakes is an offset
	mean := (by["Fc+"] + by["Fc-"]) / 2
	if !(mean > 0) {
		return g
	}
	g.m, g.fc, g.s2, g.linear = m, mean, (by["Fv+"]+by["Fv-"])/2, true
	g.offset = (by["Fc+"] - by["Fc-"]) / 2
	least := 0.05 * mean
	g.plus = side{fc: max(by["Fc+"], least), s2: by["Fv+"]}
	g.minus = side{fc: max(by["Fc-"], least), s2: by["Fv-"]}
	return g
}

// byRange is the guess by the ranges of force and motion alone: their largest values, but for the one in a thousand that may
// be no motion at all.
func byRange(q []float64, h float64, drive []float64) sliding {
	const half, most = 4, 0.999 // samples: a difference over eight is above the steps of the encoder
	var v, a []float64
	for k := half; k < len(q)-half; k++ {
		v = append(v, math.Abs(q[k+half]-q[k-half])/(2*half*h))
		a = append(a, math.Abs(q[k+half]-2*q[k]+q[k-half])/(half*half*h*h))
	}
	force := max(math.Abs(slices.Max(drive)), math.Abs(slices.Min(drive)))
	if force == 0 { // a free run: its deceleration is all there is
		force = 1
	}
	var g sliding
	g.vmax = max(quantile(v, most), span(q)*h)
	g.m = force / max(quantile(a, most), g.vmax*h)
	g.fc, g.s2 = 0.2*force, 0.1*force/g.vmax
	g.plus, g.minus = side{fc: g.fc, s2: g.s2}, side{fc: g.fc, s2: g.s2}
	return g
}

// interval of a draw, even in the number or in its logarithm.
type interval struct {
	lo, hi float64
	log    bool
}

// at is the number at the share u (0 … 1) of the interval.
func (i interval) at(u float64) float64 {
	if i.log {
		return i.lo * math.Pow(i.hi/i.lo, u)
	}
	return i.lo + u*(i.hi-i.lo)
}

func (i interval) mid() float64 { return i.at(0.5) }

// box is where the numbers of a bristle are drawn from [theory §9.6].
type box struct{ rise, vs, sigma0, zeta interval }

// Deflections at which bristles may give way: in metres those of the source, in radians a guess.
const (
	bendLo, bendHi = 1e-6, 1e-4 // m
	turnLo, turnHi = 1e-5, 1e-2 // rad
)

func (g *sliding) box(rotary bool) box {
	lo, hi := bendLo, bendHi
	if rotary {
		lo, hi = turnLo, turnHi
	}
	return box{
		rise:   interval{lo: -0.5 * g.fc, hi: 0.5 * g.fc},
		vs:     interval{lo: 0.01 * g.vmax, hi: 0.4 * g.vmax, log: true},
		sigma0: interval{lo: g.fc / hi, hi: g.fc / lo, log: true},
		zeta:   interval{lo: 0.03, hi: 0.3, log: true},
	}
}

// Search is the way from any start to the optimum [theory §9.6]. The cost of a bristle has several dales, and a descent
// ends in the nearest; so inertia and friction of sliding are taken from the linear fit, the bristle is drawn several times,
// and the best draws are refined. What the user starts from is among them. Laws without a bristle need no draws.
type Search struct {
	Starts  int         // descents, each from the best of its own draws; 0: 5
	Draws   int         // 0: 20
	Seed    uint64      // of the draws
	Workers int         // 0: as many as there are processors
	From    [][]float64 // starts, in the free parameters, besides the draws
	LM      fit.LM      // its CostTol, where 0, is 1e-7: the last digits of a bristle are beyond what a record tells
}

// Fit searches the parameters that are not fixed. The solution is complete; its Extra is that of fit.MultiStart.
func (l *Loop) Fit(ctx context.Context, params []fit.Param, s Search, watch fit.Watch) (*fit.Solution, error) {
	p, err := l.Problem(params)
	if err != nil {
		return nil, err
	}
	from, err := l.Starts(params, max(s.Starts, 0), max(s.Draws, 0), s.Seed)
	if err != nil {
		return nil, err
	}
	sol, err := s.descend(ctx, p, from, watch)
	if err != nil {
		return nil, err
	}
	return sol, l.Complete(params, sol)
}

// descend refines the starts.
func (s *Search) descend(ctx context.Context, p *fit.Problem, from [][]float64, watch fit.Watch) (*fit.Solution, error) {
	m := fit.MultiStart{LM: s.LM, Seed: s.Seed, Workers: s.Workers, From: append(from, s.From...)}
	if m.LM.CostTol == 0 {
		m.LM.CostTol = 1e-7
	}
	sol, err := m.Fit(ctx, p, watch)
	if err == nil {
		sol.Notes = append(sol.Notes, scattered(sol)...)
	}
	return sol, err
}

// Starts are points, in the free parameters, from which to descend: for a law with a bristle the best of each of n groups
// of draws (0: 5 of 20), else the linear fit, and the user's start if that is better.
func (l *Loop) Starts(params []fit.Param, n, draws int, seed uint64) ([][]float64, error) {
	all, err := l.merge(params)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		n = 5
	}
	if draws == 0 {
		draws = 20
	}
	g := l.guess()
	b := g.box(l.spec.Rotary)
	free, _ := fit.Free(all)
	at := func(by map[string]float64) []float64 {
		theta := make([]float64, len(free))
		for i, p := range free {
			theta[i] = p.Value
			if x, ok := by[p.Name]; ok {
				theta[i] = min(max(x, p.Lo), p.Hi)
			}
		}
		return theta
	}
	// every group has the user's start and, but for the first, random bristles; the first begins with a middling one
	e := l.evaluator(all, 1)
	own := at(nil)
	ownCost := e.Cost(own, math.Inf(1))
	if !e.bristle {
		// a body that never breaks loose costs less than one that drifts off, but there is no way from it
		out := [][]float64{at(g.start(l.spec, b, [4]float64{}))}
		if ownCost < e.Cost(out[0], math.Inf(1)) {
			out = append(out, own)
		}
		return out, nil
	}
	out := make([][]float64, n)
	for i := range out {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		best, least := own, ownCost
		for d := range draws {
			u := [4]float64{0.5, 0.5, 0.5, 0.5}
			if i+d > 0 {
				u = [4]float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
			}
			if i > 0 && d == 0 && draws > 1 { // one start of the user is enough
				least = math.Inf(1)
			}
			theta := at(g.start(l.spec, b, u))
			if cost := e.Cost(theta, least); cost < least {
				best, least = theta, cost
			}
		}
		out[i] = best
	}
	return out, nil
}

// start is what is known of sliding, with a bristle at the shares u of the box, by the names of the parameters.
func (g *sliding) start(s Spec, b box, u [4]float64) map[string]float64 {
	by := map[string]float64{
		"M": g.m, "J": g.m, "offset": g.offset,
		"Fc": g.fc, "Fv": g.s2, "sigma2": g.s2,
		"Fc+": g.plus.fc, "Fv+": g.plus.s2, "sigma2+": g.plus.s2,
		"Fc-": g.minus.fc, "Fv-": g.minus.s2, "sigma2-": g.minus.s2,
	}
	if s.Law == "lugre" {
		rise, k, z := b.rise.at(u[0]), b.sigma0.at(u[2]), b.zeta.at(u[3])
		by["dFs"], by["Fs"], by["vs"] = rise, g.fc+rise, b.vs.at(u[1])
		by["sigma0"], by["zeta"], by["sigma1"] = k, z, 2*z*math.Sqrt(k*g.m)
	}
	return by
}
