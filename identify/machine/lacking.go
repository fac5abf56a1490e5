package machine

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
)

// suspects are what a machine may lack, and what may be wrong with its records, joint by joint, for fit.Unmodelled. Inertia shows in the torques of
// several joints: a gain or a zero that is wrong at one of them makes these disagree.
func (r *Result) suspects(recs []Recording) ([]fit.Suspect, error) {
	l := &lack{r: r, recs: recs, f: r.Spec.filters(recs[0][0].Dt)}
	for i := range r.sys.blocks {
		l.from = append(l.from, l.rows)
		l.rows += len(r.sys.blocks[i].y)
	}
	for j := range r.Model.NV() {
		if l.look(j) {
			l.drive(j)
			l.motion(j)
			l.turns(j)
			if err := l.zero(j); err != nil {
				return nil, err
			}
		}
	}
	return l.list, nil
}

// lack are the suspects under way.
type lack struct {
	r    *Result
	recs []Recording
	f    filters
	rows int   // of the solution
	from []int // first row of each block
	list []fit.Suspect

	// of the joint that is looked at, by recording
	time, position, velocity [][]float64
	mid, top, last           float64 // of its position, its speed, the time
	way                      float64 // between two reversals
}

// look takes in the motion of a joint; false: it has no rows.
func (l *lack) look(joint int) bool {
	n := len(l.recs)
	l.time, l.position, l.velocity = make([][]float64, n), make([][]float64, n), make([][]float64, n)
	lo, hi := math.Inf(1), math.Inf(-1)
	l.top, l.last, l.way = 0, 0, 0
	turns := 1
	for i := range l.r.sys.blocks {
		b := &l.r.sys.blocks[i]
		if b.joint != joint || len(b.y) == 0 {
			continue
		}
		x := l.recs[b.rec][joint]
		q, v, _ := l.f.sampled(x.Dt).motion(x.Position)
		t := make([]float64, len(q))
		for k := range t {
			t[k] = x.Start + float64(k)*x.Dt
			l.way += math.Abs(v[k]) * x.Dt
			if k > 0 && v[k]*v[k-1] < 0 {
				turns++
			}
		}
		l.time[b.rec], l.position[b.rec], l.velocity[b.rec] = t, q, v
		lo, hi = math.Min(lo, slices.Min(b.q)), math.Max(hi, slices.Max(b.q))
		l.top = math.Max(l.top, math.Max(slices.Max(b.v), -slices.Min(b.v)))
		l.last = math.Max(l.last, t[len(t)-1])
	}
	l.mid, l.way = (lo+hi)/2, l.way/float64(turns)
	return hi > lo
}

// add takes a torque of one joint, by recording at all samples. rough: it passes the low-pass as the signs of velocity do.
func (l *lack) add(joint int, rough bool, kind, what, advice string, torque func(rec int) []float64) {
	c := make([]float64, l.rows)
	for i := range l.r.sys.blocks {
		b := &l.r.sys.blocks[i]
		if b.joint != joint || len(b.y) == 0 {
			continue
		}
		x := torque(b.rec)
		if rough {
			x = l.f.smooth.ZeroPhase(x)
		}
		x = l.f.side(x)
		for k, at := range b.at {
			c[l.from[i]+k] = x[at] / l.r.sys.sigma[joint]
		}
	}
	l.take(kind, what, advice, c)
}

// take adds a column.
func (l *lack) take(kind, what, advice string, c []float64) {
	l.list = append(l.list, fit.Suspect{Kind: kind, What: what, Advice: advice, Columns: []func(int) float64{func(k int) float64 { return c[k] }}})
}

// of is a torque as a function of position and velocity.
func (l *lack) of(f func(q, v float64) float64) func(rec int) []float64 {
	return func(rec int) []float64 {
		x := make([]float64, len(l.position[rec]))
		for k, q := range l.position[rec] {
			x[k] = f(q, l.velocity[rec][k])
		}
		return x
	}
}

// drive: a torque that the drive did not give, or not at that time.
func (l *lack) drive(joint int) {
	if l.r.Spec.Passive[joint] {
		return
	}
	name := JointName(l.r.Model, joint)
	l.late(joint)
	if slices.Index(l.r.Spec.Passive, false) == joint && !slices.Contains(l.r.Spec.Passive[joint+1:], false) {
		return // the gain of the only drive scales all parameters alike
	}
	c := make([]float64, l.rows)
	for i := range l.r.sys.blocks { // what the model makes of it: the measured torque holds the residual
		b := &l.r.sys.blocks[i]
		for k, theta := range l.r.Values {
			if w := b.column(k); b.joint == joint && w != nil {
				floats.AddScaled(c[l.from[i]:l.from[i]+len(b.y)], theta/l.r.sys.sigma[joint], w)
			}
		}
	}
	l.take("gain", "a torque of "+name+" that is larger or smaller than its gain says", "Check the gain of this torque: its unit, the constant of the motor, the ratio of the gear.", c)
}

// late: y(t − λ) = w·θ, to first order in λ. Friction that builds up behind a reversal looks like a torque that is early: which of them explains
// more is seen where all suspects are.
func (l *lack) late(joint int) {
	slope := func(rec int) []float64 {
		return filter.Derivative(l.f.smooth.ZeroPhase(l.recs[rec][joint].Force), l.recs[rec][joint].Dt)
	}
	var dd, de float64
	for i := range l.r.sys.blocks {
		b := &l.r.sys.blocks[i]
		if b.joint != joint || len(b.y) == 0 {
			continue
		}
		d, e := l.f.side(slope(b.rec)), b.residual(l.r.Values)
		for row, at := range b.at {
			dd, de = dd+d[at]*d[at], de+d[at]*e[row]
		}
	}
	if dd == 0 {
		return
	}
	lag, how := 1e3*de/dd, "later"
	if lag < 0 {
		how = "earlier"
	}
	l.add(joint, false, "late torque", fmt.Sprintf("a torque of %s that acts about %.2g ms %s than its stamp", JointName(l.r.Model, joint), math.Abs(lag), how),
		fmt.Sprintf("If that is known to be so, say it by torque.delay: %.2g ms.", -lag), slope)
}

// motion: torques that depend on position, velocity or time.
func (l *lack) motion(joint int) {
	name := JointName(l.r.Model, joint)
	if !slices.Contains(l.r.Spec.Terms, Stiffness) {
		l.add(joint, false, "spring", "a torque of "+name+" that grows with its position (a spring, a cable)", "Add stiffness to the terms.", l.of(func(q, _ float64) float64 { return q - l.mid }))
	}
	l.add(joint, false, "drag", "a torque of "+name+" that grows with the square of its speed", "Record slower motion.", l.of(func(_, v float64) float64 { return v * math.Abs(v) }))
	if !l.r.Spec.ByDirection {
		l.add(joint, true, "direction", "a friction of "+name+" that differs between its directions", "Ask for it: by_direction: true, and terms without offset.", l.of(func(_, v float64) float64 { return math.Abs(v) }))
	}
	l.add(joint, false, "drift", "a torque of "+name+" that drifts over the record", "Warm the machine up, or check the zero of this torque.", func(rec int) []float64 {
		x := slices.Clone(l.time[rec])
		floats.AddConst(-l.last/2, x)
		return x
	})
	if !slices.Contains(l.r.Spec.Terms, Offset) {
		l.add(joint, false, "constant torque", "a constant torque of "+name, "Add offset to the terms.", l.of(func(_, _ float64) float64 { return 1 }))
	}
}

// turns: friction that is another at low speeds, or behind a reversal.
func (l *lack) turns(joint int) {
	name := JointName(l.r.Model, joint)
	const advice = "Leave slow rows out with min_velocity, or record faster motion."
	for _, share := range []float64{0.05, 0.1, 0.2, 0.4} {
		vs := share * l.top
		l.add(joint, true, "Stribeck", fmt.Sprintf("a friction of %s that differs below %.3g of its top speed", name, share), advice,
			l.of(func(_, v float64) float64 { return numeric.Sign(v) * math.Exp(-v*v/(vs*vs)) }))
	}
	for _, share := range []float64{0.001, 0.003, 0.01, 0.03, 0.1} {
		length := share * l.way
		l.add(joint, true, "presliding", "a friction of "+name+" that builds up behind every reversal", advice, func(rec int) []float64 {
			v := l.velocity[rec]
			x := make([]float64, len(v))
			since, side := math.Inf(1), 0.0
			for k := range v {
				if now := numeric.Sign(v[k]); now != 0 && now != side {
					if side != 0 {
						since = 0
					}
					side = now
				}
				since += math.Abs(v[k]) * l.recs[rec][joint].Dt
				x[k] = side * math.Exp(-since/length)
			}
			return x
		})
		// beside all others where the motion is fast, for a torque that is late looks like it there; and by itself where it turns, where most of it is
		alone := l.list[len(l.list)-1]
		alone.Turn = true
		l.list = append(l.list, alone)
	}
}

// shift is a position error (rad, m) for derivatives.
const shift = 1e-3

// zero: a position that is counted from elsewhere than the machine file says changes the torques of all joints.
func (l *lack) zero(joint int) error {
	moved := make([]Recording, len(l.recs))
	for i, rec := range l.recs {
		moved[i] = slices.Clone(rec)
		x := *rec[joint]
		x.Position = slices.Clone(x.Position)
		floats.AddConst(shift, x.Position)
		moved[i][joint] = &x
	}
	p, err := l.r.Base.prepare(l.r.Model, l.r.Spec, moved, l.r.rest)
	if err != nil {
		return err
	}
	c := make([]float64, l.rows)
	for i := range l.r.sys.blocks {
		b, m := &l.r.sys.blocks[i], &p.blocks[i]
		if len(m.y) != len(b.y) {
			return nil // a row at the limit of rest
		}
		e := m.residual(l.r.Values)
		floats.Sub(e, b.residual(l.r.Values))
		floats.AddScaled(c[l.from[i]:l.from[i]+len(e)], 1/(shift*l.r.sys.sigma[b.joint]), e)
	}
	l.take("zero of position", "what a position of "+JointName(l.r.Model, joint)+" that is counted from elsewhere would make", "Compare zero and sign of this position with the machine file.", c)
	return nil
}
