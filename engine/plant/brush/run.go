package brush

import (
	"context"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
)

// RunOptions says how a brush is run on its own, at constant speed. The zero value of a field stands for its default.
type RunOptions struct {
	contact.MoreauOptions         // Step: default 20 µs; Theta: with EndOfStep default 0.5
	Time                  float64 // s   default 2
	Discard               float64 // s   beginning that statistics leave out; default 0.2, negative: nothing
	Interruption          float64 // s   shortest gap of the face force that counts; default 1e-4
	AllowUnresolved       bool    //     go on although the step does not resolve the surface

	AdjustStart func(q, u []float64) // changes the start; nil: as Start gives it

	TraceInterval int               // steps between calls of Trace; default 1
	Trace         func(s *Snapshot) //     sees the run from t = 0 on; what it is given is valid during the call
}

// Snapshot is the run at a time.
type Snapshot struct {
	T             float64 // s
	Q, U          []float64
	ContactForces []contact.ContactForce // what closed contacts do at T, or in the step before

	// means since the last snapshot, impacts included
	Face, Holder, Spring float64 // N     sums of normal forces
	Torque, Friction     float64 // N·m   on the commutator against its rotation, and the part of the tangential forces in it
}

// resolved is how far (m) the surface may move in a step at most, a fifth of its shortest wave, and that wave with its key: the
// correlation length of the roughness, or the dip at a slot, or a true slot. A smooth commutator without dips has none. A measured
// surface has its own correlation length, in which its slots have a share.
func (p *Params) resolved() (way, wave float64, key string) {
	c := &p.Commutator
	wave = math.Inf(1)
	if !c.SmoothOutline {
		wave, key = c.Correlation, "commutator.correlation"
	}
	if c.Profile != nil {
		wave, key = c.Profile.Correlation, "the correlation length of commutator.profile,"
	}
	if f := p.Face.Profile; f != nil && f.Correlation < wave {
		wave, key = f.Correlation, "the correlation length of face.profile,"
	}
	dip, of := c.SlotWidth+2*c.EdgeLength, "commutator.slot_width and two of commutator.edge_length together,"
	deep := c.DipDepth
	if c.TrueSlots && c.SlotDepth > 0 {
		dip, of, deep = c.SlotWidth, "commutator.slot_width", c.SlotDepth
	}
	if deep > 0 && dip > 0 && dip < wave && c.Profile == nil {
		wave, key = dip, of
	}
	return wave / 5 * (1 + 1e-9), wave, key
}

// Resolvable refuses a step h (s) in which the surface moves by more than a fifth of its shortest wave: a rigid point on an
// outline of straight edges then meets another outline at every step. The averaged contact is for such speeds.
func (b *Brush) Resolvable(h float64) error {
	v := math.Abs(b.speed) * b.p.Commutator.Radius
	way, wave, key := b.p.resolved()
	if v*h <= way {
		return nil
	}
	return fmt.Errorf("brush: the surface moves %.3g m at %.4g m/s in a step of %g s, more than a fifth of %s %.4g m: not resolved; a step "+
		"of %.3g s, a length of %.3g m or the averaged contact would do",
		v*h, v, h, key, wave, wave/5/v, 5*v*h)
}

// Warnings names what makes results at the step h (s) doubtful.
func (b *Brush) Warnings(h float64) []string {
	var w []string
	k, _ := b.p.Stiffness()
	if r := h * math.Sqrt(3*k/b.p.Mass()); r > 1 {
		w = append(w, fmt.Sprintf("a step of %g s does not resolve the brush on its face: h·√(3·k_a/m) = %.2g, want at most 1: results "+
			"depend "+
			"on theta; k_a up to %.3g N/m or a step of %.3g s would do",
			h, r, b.p.Mass()/(3*h*h), h/r))
	}
	v := math.Abs(b.speed) * b.p.Commutator.Radius
	if _, wave, key := b.p.resolved(); (b.p.Commutator.Profile != nil || b.p.Face.Profile != nil) && v*h > wave/7 {
		w = append(w, fmt.Sprintf("a step of %g s moves the surface by %.3g m, more than a seventh of %s %.3g m: results depend on the step; "+
			"one of %.3g s would do", h, v*h, key, wave, wave/7/v))
	}
	if b.outOfTable {
		w = append(w, "temperature or current density went beyond a table of material: its nearest row was held")
	}
	if r := b.p.Holder.Rake; math.Abs(r) > 5e-3 {
		w = append(w, fmt.Sprintf("holder.rake: %g rad puts the face on its edge, which hides other trends", r))
	}
	return w
}

func (o *RunOptions) fill() {
	pick := func(v *float64, def float64) {
		if *v == 0 {
			*v = def
		}
	}
	if o.EndOfStep {
		pick(&o.Theta, 0.5) // nearest to the limit of short steps: 0.55 gives an eighth less motion at 20 µs
	}
	pick(&o.Step, 20e-6)
	pick(&o.Time, 2)
	pick(&o.Discard, 0.2)
	pick(&o.Interruption, 1e-4)
	o.Discard = max(o.Discard, 0)
	if o.TraceInterval < 1 {
		o.TraceInterval = 1
	}
}

// Run starts the brush and steps it to the end. The statistics are those of the part that was run even with an error, which
// says why it ended early: not finite, out of the holder, ctx done.
func (b *Brush) Run(ctx context.Context, opt RunOptions) (Stats, error) {
	opt.fill()
	if !(opt.Time > opt.Discard) || math.IsInf(opt.Time, 0) || math.IsNaN(opt.Discard) {
		return Stats{}, fmt.Errorf("brush: time: %g s, want more than the %g s that are discarded", opt.Time, opt.Discard)
	}
	if err := b.Resolvable(opt.Step); err != nil && !opt.AllowUnresolved {
		return Stats{}, err
	}
	m, err := contact.NewMoreau(b, opt.MoreauOptions)
	if err != nil {
		return Stats{}, fmt.Errorf("brush: %w", err)
	}
	q, u, top, err := b.launch(opt.AdjustStart)
	if err != nil {
		return Stats{}, err
	}
	h := opt.Step
	t := b.newTally(opt.Interruption)
	first, last := int(math.Round(opt.Discard/h)), int(math.Round(opt.Time/h))
	var list []contact.ContactForce
	mean, counts, dropped := forces{}, m.MoreauCounts, 0
	for k := range last {
		if k == first {
			counts, dropped = m.MoreauCounts, m.Set.Dropped
		}
		r := m.Step(float64(k)*h, q, u)
		if r.Status == engine.NonFinite {
			err = fmt.Errorf("brush: not finite at t = %g s", float64(k)*h)
			break
		}
		f := sum(m, h)
		if k >= first {
			t.motion(h, q[2], u[2])
			t.step(h, m, &r, &f)
		}
		if opt.Trace != nil {
			mean.gather(&f, 1)
			if (k+1)%opt.TraceInterval == 0 {
				list = m.Forces(list[:0], h)
				opt.Trace(b.snapshot(float64(k+1)*h, q, u, list, &mean, float64(opt.TraceInterval)))
				mean = forces{}
			}
		}
		if k&1023 == 0 {
			if err = b.watch(ctx, float64(k)*h, q, top); err != nil {
				break
			}
		}
	}
	s := t.stats()
	if b.speed < 0 {
		s.Torque, s.Friction = -s.Torque, -s.Friction
	}
	s.Gains, s.Gained, s.Dissipated = m.EnergyGains-counts.EnergyGains, m.Gained-counts.Gained, m.Dissipated-counts.Dissipated
	s.Dropped = m.DroppedContacts - counts.DroppedContacts + int64(m.Set.Dropped-dropped)
	return s, err
}

// launch is the brush at its start. top is the height of its centre above which it is out of its holder (m).
func (b *Brush) launch(adjust func(q, u []float64)) (q, u []float64, top float64, err error) {
	q, u = make([]float64, dof), make([]float64, dof)
	if err := b.Start(q, u); err != nil {
		return nil, nil, 0, fmt.Errorf("brush: %w", err)
	}
	if adjust != nil {
		adjust(q, u)
	}
	return q, u, q[1] + b.p.Holder.CommutatorGap - b.p.Segment.Height, nil
}

// watch is an error where the brush is out of its holder at t (s), or ctx is done.
func (b *Brush) watch(ctx context.Context, t float64, q []float64, top float64) error {
	switch {
	case q[1] > top || math.Abs(q[2]-b.rake) > 2*tiltMost:
		return fmt.Errorf("brush: out of its holder at t = %g s: tilt %.3g rad, %.3g m above its start", t, q[2], q[1]-top)
	case ctx.Err() != nil:
		return fmt.Errorf("brush: %w at t = %g s", context.Cause(ctx), t)
	}
	return nil
}

// snapshot is the run at t with the means of sums over n.
func (b *Brush) snapshot(t float64, q, u []float64, list []contact.ContactForce, sums *forces, n float64) *Snapshot {
	s := &Snapshot{T: t, Q: q, U: u, ContactForces: list, Face: sums.face / n, Holder: sums.holder / n, Spring: sums.spring / n,
		Torque: sums.torque / n, Friction: sums.friction / n}
	if b.speed < 0 {
		s.Torque, s.Friction = -s.Torque, -s.Friction
	}
	return s
}
