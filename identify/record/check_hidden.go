package record

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
)

// What no single channel shows: limits behind noise, and play of the sensor. Both make values untrustworthy whatever is fitted
// afterwards.

// clipped reports a force that stays at a level while the motion needs more, or that exceeds a level at which what moves the
// axis stays. Noise may hide it: no two samples need be equal.
//
// The balance is fitted to rows below the level; where it asks for more, the other force hardly rises.
func (c *checker) clipped(all *balanceRows) {
	n := len(all.force)
	if n < 200 {
		return
	}
	below := func(limit float64) *balanceRows {
		return all.selectRows(func(i int) bool { return math.Abs(all.force[i]) < limit })
	}
	size := func(x []float64) float64 {
		return numeric.Quantile(x, 0.98) - numeric.Quantile(x, 0.02)
	}
	limit := func(x []float64) float64 {
		return numeric.QuantileOf(n, 0.99, func(k int) float64 { return math.Abs(x[k]) })
	}
	// asked is what the balance asks for, fitted to some rows; noise is what those leave. Friction alone is no witness: it is
	// as flat as a limit
	inertia := slices.Index(all.names, "M")
	balanced := func(fit *balanceRows) (asked []float64, noise float64) {
		if len(fit.force) < 100 || len(fit.force) < n/4 {
			return nil, 0
		}
		coef, rest := solve(factorOf(fit.cols, fit.force))
		asked = make([]float64, n)
		for j, x := range coef {
			if !math.IsNaN(x) {
				floats.AddScaled(asked, x, all.cols[j])
			}
		}
		if inertia < 0 || !(math.Abs(coef[inertia])*size(all.cols[inertia]) > 0.3*size(asked)) {
			return nil, 0
		}
		return asked, math.Sqrt(rest / float64(len(fit.force)))
	}
	judge := func(a, b []float64, noise, least float64, text, advice string) {
		// rows in which b asks for more than a ever reaches
		top, over, count := limit(a), 0.0, 0
		when := map[int]bool{} // tenths of the record
		var x, y []float64
		for i := range b {
			if math.Abs(b[i]) > top && a[i]*b[i] > 0 {
				x, y = append(x, math.Abs(b[i])), append(y, math.Abs(a[i]))
				over += math.Abs(b[i]) - math.Abs(a[i])
				when[10*i/n] = true
				count++
			}
		}
		if share := float64(count) / float64(n); count < 20 || share < least || len(when) < 3 || noise > 0.05*size(a) {
			return
		}
		over /= float64(count)
		r := relate(x, y)
		if share := float64(count) / float64(n); over > max(3*noise, 0.02*size(a)) && math.Copysign(r.lo, r.scale) < 0.35 {
			c.addFinding("saturation", Fatal, "force", share, "", advice, text, 100*share, top, c.o.unit("N"), over)
		}
	}
	asked, noise := balanced(below(0.9 * limit(all.force)))
	if asked == nil {
		return
	}
	judge(all.force, asked, noise, 0.005, "in %.1f %% of the samples the force stays near %.4g %s while the motion needs %.3g more on "+
		"average: a limit of its sensor, or of its range",
		"Record with a larger range, or leave these parts out.")
	// the other way round: the limit shows in what moves the axis
	if asked, _ = balanced(all); asked == nil {
		return
	}
	for range 2 {
		if asked, noise = balanced(below(0.9 * limit(asked))); asked == nil {
			return
		}
	}
	judge(asked, all.force, noise, 0.02, "in %.1f %% of the samples the axis moves as if the force stayed near %.4g %s, while %.3g more is "+
		"recorded on average: the drive gives less than the command",
		"Record the force behind the limit of the drive, or keep the command below it.")
}

// play reports a position that stands still behind its reversals and then jumps to a speed, as behind a gap: a mass that
// sticks begins to move from rest, v² = 2·a·s over the way s, but behind a gap g it is v² = 2·a·(s + g). Both v at the end
// of the rest and a are found in the time after it that is as long as the rest.
func (c *checker) play(m *motion) {
	if m.x == nil || m.noise == 0 {
		return
	}
	x, dt, n := m.x, m.d.Dt, len(m.x)
	tol := max(4*m.noise, 1.5*m.q)
	fast := max(0.1*m.topSpeed, m.rest)
	var gaps, waits []float64
	turns, last, side := 0, 0, 0.0
	for k, v := range m.v {
		if math.Abs(v) < fast {
			continue
		}
		if now := math.Copysign(1, v); side != 0 && now != side {
			turns++
			// the extreme between the two motions, and the rest at it
			peak := last
			for i := last; i <= k; i++ {
				if side*(x[i]-x[peak]) > 0 {
					peak = i
				}
			}
			from, to := peak, peak
			for from > 0 && side*(x[peak]-x[from-1]) < tol {
				from--
			}
			for to < n-1 && side*(x[peak]-x[to+1]) < tol {
				to++
			}
			if g, v, a, ok := leaving(x, side, peak, to, min(to-from, (k-to)*3), dt); ok && a > 0 {
				gaps, waits = append(gaps, g), append(waits, float64(to-from)*dt*a/max(v, 1e-300))
			}
		}
		last, side = k, math.Copysign(1, v)
	}
	if len(gaps) < 6 || 4*len(gaps) < turns {
		return
	}
	// one gap, by nearly all reversals, and rests as long as it takes to cross it
	gap := numeric.Median(gaps)
	spread := numeric.Quantile(gaps, 0.75) - numeric.Quantile(gaps, 0.25)
	wait := numeric.Median(waits)
	if gap < 4*tol || spread > 0.5*gap || wait < 0.5 || wait > 3 {
		return
	}
	c.addFinding("play", Fatal, "position", gap, c.o.unit("m"), "Measure behind the play, or remove it; leave out what follows a reversal.",
		"at %d reversals the position stands still and then moves at once: play of about %.2g %s before the sensor", len(gaps), gap,
		c.o.unit("m"))
}

// leaving fits the way from an extreme, s = s0 + v·t + a·t²/2, to the samples after to, and gives the gap that v² = 2·a·(s0 + g)
// says, with v and a at to.
func leaving(x []float64, side float64, peak, to, count int, dt float64) (gap, v, a float64, ok bool) {
	if count < 6 || to+count >= len(x) {
		return 0, 0, 0, false
	}
	f := numeric.NewFactor(3)
	for i := 1; i <= count; i++ {
		t := float64(i) * dt
		f.Add([]float64{1, t, t * t / 2}, side*(x[peak]-x[to+i]))
	}
	coef, _ := solve(f)
	if math.IsNaN(coef[0]) || math.IsNaN(coef[1]) || math.IsNaN(coef[2]) || coef[2] <= 0 || coef[1] <= 0 {
		return 0, max(coef[1], 0), coef[2], !math.IsNaN(coef[2]) // moves from rest: no gap
	}
	return coef[1]*coef[1]/(2*coef[2]) - coef[0], coef[1], coef[2], true
}
