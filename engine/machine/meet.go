package machine

import (
	"math"

	"hilrig/engine"
)

// meet finds the forces f of the movers, one after the other until none changes: each is a mass that has the mobility of its place, and the
// forces of the others are a part of its load. The mobilities D are positive semidefinite and the movers only resist, so the sweeps
// come nearer whatever the laws; where they do so by an even factor, the rest of the way is taken at once, as Aitken does.
func (s *Stepper) meet(h float64, q []float64) bool {
	p := len(s.p)
	n := len(s.movers)
	tree := s.M.Model.NC() == 0
	for sweep := 0; ; sweep++ {
		change, size := 0.0, 0.0
		step, dot := 0.0, 0.0
		for k := range s.movers {
			b := &s.movers[k]
			axis := &s.M.axes[b.axis]
			own, x := s.d[k*p+b.place], 0.0
			if axis.cutIndex < 0 {
				x = q[axis.iq]
			}
			least := 0.0
			if !tree {
				least = minMobility * s.M.loosest(axis)
			}
			if !(own*2/h > least) {
				// held by the constraints: it moves as they say, and its force has no effect
				b.Move(h, x, b.startSpeed, 1/minMobility, 0)
				b.w, b.endSpeed, b.f, b.step = s.hat[b.place], 2*s.hat[b.place]-b.startSpeed, 0, 0
				continue
			}
			w := s.hat[b.place]
			for l := range s.movers {
				if l != k {
					w += s.d[l*p+b.place] * s.movers[l].f
				}
			}
			b.load = (w - b.startSpeed) / own
			mass := h / (2 * own)
			var st engine.Status
			if b.w, b.endSpeed, st = b.Move(h, x, b.startSpeed, mass, b.load); st == engine.NonFinite {
				s.failedMover = b.name + ": " + st.String()
				b.f = math.NaN()
				return false
			}
			f := mass*(b.endSpeed-b.startSpeed)/h - b.load
			was := b.step
			b.step = f - b.f
			b.f = f
			change, size = max(change, math.Abs(b.step)*own), max(size, math.Abs(b.w), math.Abs(b.startSpeed), math.Abs(w))
			step, dot = step+b.step*was*own*own, dot+was*was*own*own
		}
		if n == 1 || change <= 1e-2*meetRel*size+meetAbs {
			return true
		}
		if sweep == maxSweeps {
			return change <= restTol*size
		}
		if rho := step / dot; sweep%2 == 1 && rho > 0 && rho < 0.95 {
			for k := range s.movers {
				b := &s.movers[k]
				b.f += rho / (1 - rho) * b.step
				b.step = 0
			}
		}
	}
}
