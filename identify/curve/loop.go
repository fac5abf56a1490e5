package curve

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// LoopOptions say how a presliding record is taken.
type LoopOptions struct {
	Rotary bool `yaml:"-"` // the axis turns: units are N·m and rad

	// The measured stiffness k has 1/k = 1/σ0 + 1/Rig.
	Rig float64 `yaml:"rig_stiffness" unit:"N/m" want:">=0" doc:"of what lies between the contact and the sensor of displacement; 0: rigid"`

	// Otherwise that force is estimated.
	Relaxed bool `yaml:"relaxed" doc:"the bristles carry no force at the first sample"`

	NoiseX, NoiseU float64 `yaml:"-"` // m and N, standard deviation of one sample; 0: from the record
}

const (
	loopRows  = 20000 // above, neighbours are averaged
	partRows  = 8     // fewer samples between reversals are an error
	swingPart = 0.02  // of the range of the force: the least swing between two reversals
)

// loop is a presliding record in pieces.
type loop struct {
	branches
	u           []float64 // N
	v, udot     []float64 // m/s and N/s, smoothed
	rig         float64   // N/m, 0: rigid
	pieceStarts []int     // first row of every piece
	relaxed     bool      // ζ_0 is zero
	turnX       []float64 // m, displacement of the reversals as measured
	reach, span float64   // m and N, ranges
	dt          float64   // s, between rows
	noiseX      float64   // m, of one row
	noiseU      float64   // N
	turns       rotary
}

// newLoop prepares a record: noise, reversals of u, pieces, smoothed velocity within them.
func newLoop(d *record.Record, o LoopOptions) (*loop, error) {
	n, turn := len(d.Force), rotary(o.Rotary)
	if n == 0 || len(d.Position) != n {
		return nil, d.Fail(0, "Name both columns in data.columns.", "a presliding loop needs position and force of equal length, here %d and %d",
			len(d.Position), n)
	}
	if err := sane(d, d.Position, d.Force); err != nil {
		return nil, err
	}
	span := slices.Max(d.Force) - slices.Min(d.Force)
	reach := slices.Max(d.Position) - slices.Min(d.Position)
	if !(span > 0) || !(reach > 0) {
		return nil, d.Fail(0, "Draw the axis to and fro by a slow triangle of force, to 0.3 … 0.9 of break-away.",
			"force spans %g and displacement %g: no loop", span, reach)
	}
	l := &loop{rig: o.Rig, reach: reach, span: span, turns: turn, relaxed: o.Relaxed}
	l.noiseX = cmp.Or(o.NoiseX, numeric.Noise(d.Position))
	l.noiseU = cmp.Or(o.NoiseU, max(numeric.Noise(d.Force), 1e-7*span))
	if l.noiseX > 0.1*reach {
		return nil, d.Fail(0, "Use a finer encoder or an interferometer: 1/100 of the break-away displacement is wanted.",
			"the noise of the displacement, %.2g %s, drowns the whole loop of %.2g %[2]s", l.noiseX, turn.unit("m"), reach)
	}

	turns, err := reversals(d, l.noiseU, span)
	if err != nil {
		return nil, err
	}
	every := (n + loopRows - 1) / loopRows
	// a few samples before the first reversal or after the last are no branch
	from, least := 0, partRows*every
	if len(turns) > 0 && turns[0].start < least {
		from, turns, l.relaxed = turns[0].stop, turns[1:], false
	}
	start := from
	if k := len(turns) - 1; k >= 0 && n-turns[k].stop < least {
		n, turns = turns[k].start, turns[:k]
	}
	for p := 0; p <= len(turns); p++ {
		to, next := n, n
		if p < len(turns) {
			to, next = turns[p].start, turns[p].stop
			l.turnX = append(l.turnX, stat.Mean(d.Position[turns[p].start:turns[p].stop], nil))
			l.dir = append(l.dir, turns[p].dir)
		} else if p > 0 {
			l.dir = append(l.dir, -turns[p-1].dir)
		} else {
			l.dir = append(l.dir, math.Copysign(1, d.Force[n-1]-d.Force[from]))
		}
		if to-from < least {
			return nil, d.Fail(0, "Sample faster or draw slower.", "%d samples between two reversals of the force, want at least %d", to-from,
				partRows)
		}
		l.pieceStarts = append(l.pieceStarts, len(l.u))
		v, rate := slopeOf(d.Position[from:to], d.Dt), slopeOf(d.Force[from:to], d.Dt)
		for k := from; k+every <= to; k += every {
			l.x = append(l.x, stat.Mean(d.Position[k:k+every], nil))
			l.u = append(l.u, stat.Mean(d.Force[k:k+every], nil))
			l.v = append(l.v, stat.Mean(v[k-from:k-from+every], nil))
			l.udot = append(l.udot, stat.Mean(rate[k-from:k-from+every], nil))
			l.part = append(l.part, p)
		}
		from = next
	}
	// the deflection of the rig is no displacement of the contact
	if o.Rig > 0 {
		floats.AddScaled(l.x, -1/o.Rig, l.u)
		for j, t := range turns {
			l.turnX[j] -= stat.Mean(d.Force[t.start:t.stop], nil) / o.Rig
		}
	}
	root := math.Sqrt(float64(every))
	l.noiseX, l.noiseU, l.dt = l.noiseX/root, l.noiseU/root, d.Dt*float64(every)
	l.firstX = d.Position[start] // where the record begins, not the mean of its first samples
	if o.Rig > 0 {
		l.firstX -= d.Force[start] / o.Rig
	}
	l.at0 = slices.Clone(l.x)
	l.tangentForce, l.zdot = make([]float64, len(l.x)), make([]float64, len(l.x))
	return l, nil
}

// turn is a reversal of the force: the samples at its extreme, which belong to neither side, and the direction before.
type turn struct {
	start, stop int
	dir         float64
}

// reversals finds where the smoothed force turns round by more than noise and than a small part of its range. A hold at
// the extreme, in which the contact may creep, is left out with it.
func reversals(d *record.Record, noise, span float64) ([]turn, error) {
	u := d.Force
	half := int(math.Ceil(math.Pow(noise/(0.003*span), 2) / 2))
	if noise <= 0.001*span {
		half = 0
	}
	half = min(half, len(u)/50)
	s := numeric.MovingMean(u, half)
	noise /= math.Sqrt(float64(2*half + 1))
	swing := max(swingPart*span, 8*noise)
	hold := max(0.002*span, 3*noise)

	var turns []turn
	hi, lo, dir := 0, 0, 0.0
	for k, a := range s {
		if a > s[hi] {
			hi = k
		}
		if a < s[lo] {
			lo = k
		}
		switch {
		case dir >= 0 && s[hi]-a > swing && (dir > 0 || hi > lo):
			turns = append(turns, turn{start: hi, stop: hi + 1, dir: 1})
			dir, lo = -1, k
		case dir <= 0 && a-s[lo] > swing && (dir < 0 || lo > hi):
			turns = append(turns, turn{start: lo, stop: lo + 1, dir: -1})
			dir, hi = 1, k
		}
	}
	// before the first turn there is a swing as well, or the record begins with it
	if len(turns) > 0 && math.Abs(s[turns[0].start]-s[0]) < swing {
		turns = turns[1:]
	}
	for i := range turns {
		t := &turns[i]
		top := s[t.start]
		left, right := 0, len(s)
		if i > 0 {
			left = turns[i-1].stop
		}
		if i+1 < len(turns) {
			right = turns[i+1].start
		}
		near := func(k int) bool { return math.Abs(s[k]-top) <= hold }
		for t.start-1 > left && near(t.start-1) {
			t.start--
		}
		for t.stop < right && near(t.stop) {
			t.stop++
		}
	}
	if len(turns) > 200 {
		return nil, d.Fail(0, "Use a part of the record, or one with a larger swing.", "%d reversals of the force, at most 200 are followed",
			len(turns))
	}
	return turns, nil
}

// slopeOf is the derivative of a piece, from straight lines through a sixteenth of it on either side. It never looks across
// a reversal.
func slopeOf(x []float64, dt float64) []float64 {
	v := make([]float64, len(x))
	half := max(1, len(x)/16)
	sum, turned := sums(x, 0), sums(x, 1)
	for k := range x {
		a, b := max(0, k-half), min(len(x), k+half+1)
		n, mid := float64(b-a), float64(a+b-1)/2
		// Σ (i − mid)·x_i over Σ (i − mid)²
		v[k] = (turned[b] - turned[a] - mid*(sum[b]-sum[a])) / (n * (n*n - 1) / 12) / dt
	}
	return v
}

// sums are Σ i^power·(x_i − x_0) over the first 0, 1, 2 … samples.
func sums(x []float64, power int) []float64 {
	s := make([]float64, len(x)+1)
	for i, a := range x {
		a -= x[0]
		if power == 1 {
			a *= float64(i)
		}
		s[i+1] = s[i] + a
	}
	return s
}

// end is the row behind the last of a branch.
func (l *loop) end(p int) int {
	if p+1 < len(l.pieceStarts) {
		return l.pieceStarts[p+1]
	}
	return len(l.u)
}

// nuisance are the unknowns of the loop beside the parameters, with starts as measured: the force of the bristle at the start,
// then the displacements of the reversals.
func (l *loop) nuisance(offset float64) []fit.Param {
	far := 1e6 * max(slices.Max(l.u), -slices.Min(l.u))
	zeta := l.u[0] - offset
	if l.relaxed {
		zeta = 0
	}
	list := []fit.Param{{Param: engine.Param{Name: "start", Unit: l.turns.unit("N"), Value: zeta, Lo: min(zeta, -far), Hi: max(zeta, far)}}}
	for j, x := range l.turnX {
		list = append(list, fit.Param{Param: engine.Param{Name: fmt.Sprintf("turn %d", j+1), Unit: l.turns.unit("m"), Value: x, Lo: x - l.reach,
			Hi: x + l.reach}})
	}
	return list
}

// place moves the points of the curve, their weights and what hangs on them to the parameters theta: the nearest point in
// the measure of both noises. scale multiplies the noise.
func (l *loop) place(theta, w []float64, scale float64) {
	sigma0, off, rate := theta[l.sigma0], theta[l.offset], theta[l.rate]
	vu, vx, soft := l.noiseU*l.noiseU, l.noiseX*l.noiseX, 0.0
	if l.rig > 0 {
		soft = 1 / l.rig
	}
	xj, zeta, cur := l.firstX, theta[l.start], 0
	for k := range l.x {
		for cur < l.part[k] {
			next := theta[l.start+1+cur]
			zeta, _ = l.branchForce(theta, l.dir[cur], next, xj, zeta)
			xj = next
			cur++
		}
		s := l.dir[cur]
		at := l.x[k]
		var slope, variance float64
		for range 4 {
			var f float64
			f, slope = l.branchForce(theta, s, at, xj, zeta)
			slope = max(slope, 0)
			variance = math.Pow(1+slope*soft, 2)*vu + slope*slope*vx
			shared := slope*vx + (slope*soft+1)*soft*vu // covariance of the misfit and the error of x
			misfit := f + slope*(l.x[k]-at) + off + rate*l.udot[k]/sigma0 - l.u[k]
			at = l.x[k] - shared/variance*misfit
		}
		_, slope = l.branchForce(theta, s, at, xj, zeta)
		l.at0[k] = at
		l.tangentForce[k] = slope * (l.x[k] - at)
		l.zdot[k] = l.udot[k] / sigma0 // the force of the bristle is that of the drive
		w[k] = 1 / (scale * math.Sqrt(variance))
	}
}

// course is the loop as measured, and the force of the parameters theta at the same displacements.
func (l *loop) course(theta []float64) fit.Loop {
	out := fit.Loop{Displacement: l.x, Force: l.u, Model: make([]float64, len(l.x))}
	xj, zeta, cur := l.firstX, theta[l.start], 0
	for k, x := range l.x {
		for ; cur < l.part[k]; cur++ {
			next := theta[l.start+1+cur]
			zeta, _ = l.branchForce(theta, l.dir[cur], next, xj, zeta)
			xj = next
		}
		f, _ := l.branchForce(theta, l.dir[cur], x, xj, zeta)
		out.Model[k] = f + theta[l.offset] + theta[l.rate]*l.udot[k]/theta[l.sigma0]
	}
	return out
}
