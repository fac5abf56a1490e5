package brush

import (
	"context"
	"fmt"
	"math"

	"hilrig/engine/contact"
)

// EventRunOptions says how a brush is run from event to event, at constant speed. The zero value of a field stands for its default.
// Those of EventOptions are for the brush: RTol 1e-6, ATol 1e-8, VTh 1 mm/s as in Moreau, VChatter 1 µm/s, Reach 3 µm, more than a gap
// changes between two looks.
type EventRunOptions struct {
	contact.EventOptions
	Time         float64 // s   default 2
	Discard      float64 // s   beginning that statistics leave out; default 0.2, negative: nothing
	Interruption float64 // s   shortest gap of the face force that counts; default 1e-4

	AdjustStart func(q, u []float64) // changes the start, without overlap; nil: as Start gives it

	TraceInterval float64           //     s  time between calls of Trace; default: one call at the end
	Trace         func(s *Snapshot) //     what it is given is valid during the call

	Event func(e *contact.Event) // called after each event, with its impulses; valid during the call
}

func (o *EventRunOptions) fill() {
	for _, f := range []struct {
		v   *float64
		def float64
	}{
		{&o.RTol, 1e-6}, {&o.ATol, 1e-8}, {&o.VTh, 1e-3}, {&o.VChatter, 1e-6}, {&o.Reach, 3e-6},
		{&o.Time, 2}, {&o.Discard, 0.2}, {&o.Interruption, 1e-4},
	} {
		if *f.v == 0 {
			*f.v = f.def
		}
	}
	o.Discard = max(o.Discard, 0)
	if o.MaxEvents == 0 {
		o.MaxEvents = math.MaxInt
	}
}

// RunEvents is Run with the event-driven engine. Steps are those of the integrator; forces are means over time with the impulses
// of impacts in them; Loss is the share of time in which no point of the face is held, so that impacts, which take no time, do not
// count as contact, although they end interruptions.
func (b *Brush) RunEvents(ctx context.Context, opt EventRunOptions) (Stats, contact.EventStats, error) {
	opt.fill()
	if !(opt.Time > opt.Discard) || math.IsInf(opt.Time, 0) || math.IsNaN(opt.Discard) || opt.TraceInterval < 0 {
		return Stats{}, contact.EventStats{}, fmt.Errorf("brush: time: %g s, want more than the %g s that are discarded", opt.Time, opt.Discard)
	}
	e, err := contact.NewEventDriven(b, opt.EventOptions)
	if err != nil {
		return Stats{}, contact.EventStats{}, fmt.Errorf("brush: %w", err)
	}
	q, u, top, err := b.launch(opt.AdjustStart)
	if err != nil {
		return Stats{}, contact.EventStats{}, err
	}
	if err := e.Start(0, q, u); err != nil {
		return Stats{}, contact.EventStats{}, fmt.Errorf("brush: %w", err)
	}
	r := eventful{b: b, e: e, opt: &opt, ctx: ctx, q: q, u: u, maxHeight: top, tally: b.newTally(opt.Interruption)}
	err = r.run()
	s := r.tally.stats()
	s.MeanClosed /= max(s.Time, math.SmallestNonzeroFloat64)
	s.Steps = int64(e.Steps - r.startSteps)
	if b.speed < 0 {
		s.Torque, s.Friction = -s.Torque, -s.Friction
	}
	return s, e.EventStats, err
}

// eventful is such a run under way.
type eventful struct {
	b         *Brush
	e         *contact.EventDriven
	opt       *EventRunOptions
	ctx       context.Context
	tally     *tally
	q, u      []float64
	list      []contact.ContactForce
	maxHeight float64 // m   the brush is out of its holder above it

	// since the last visit
	t, phi, rate   float64
	load           forces
	closedContacts int
	faceClosed     bool // some point of the face
	visits         int
	startSteps     int // steps of the integrator until then
	err            error

	mean   forces // integrals since the last snapshot
	traced float64
}

// run goes from row to row.
func (r *eventful) run() error {
	o := r.opt
	r.sampleState(false)
	counting := o.Discard == 0
	for k := 1; r.e.T < o.Time; {
		end := o.Time
		if o.TraceInterval > 0 {
			if end = float64(k) * o.TraceInterval; end > o.Time*(1-1e-12) {
				end = o.Time
			}
		}
		stop := end
		if !counting {
			stop = min(end, o.Discard)
		}
		if err := r.e.Run(stop, func(*contact.EventDriven) bool { return r.visit(counting) }); err != nil {
			return fmt.Errorf("brush: %w", err)
		}
		if r.err != nil {
			return r.err
		}
		if stop == o.Discard && !counting {
			counting = true
			r.startSteps = r.e.Steps
		}
		if stop == end {
			r.trace()
			k++
		}
	}
	return nil
}

// visit adds what has passed since the last one: a stretch of time, or an event.
func (r *eventful) visit(counting bool) bool {
	phi, rate, load, dt := r.phi, r.rate, r.load, r.e.T-r.t
	held, closed := r.faceClosed, r.closedContacts
	blow := r.sampleState(true)
	half := dt / 2
	for _, f := range []*forces{&load, &r.load} {
		r.mean.gather(f, half)
		if counting {
			r.tally.load(half, f)
		}
	}
	r.mean.gather(blow, 1)
	if counting {
		r.tally.motion(half, phi, rate)
		r.tally.motion(half, r.phi, r.rate)
		r.tally.load(1, blow)
		r.tally.s.MeanClosed += dt * float64(closed)
		r.tally.s.MaxClosed = max(r.tally.s.MaxClosed, r.closedContacts)
		if !held {
			r.tally.lose(dt)
		}
		if r.faceClosed || blow.face > 0 {
			r.tally.reunite()
		}
	}
	if r.visits++; r.visits&1023 == 0 {
		r.err = r.b.watch(r.ctx, r.e.T, r.q, r.maxHeight)
	}
	return r.err == nil
}

// sampleState takes the present state and forces, and returns the impulses of an event that has just been settled.
func (r *eventful) sampleState(event bool) *forces {
	e := r.e
	e.State(r.q, r.u)
	r.t, r.phi, r.rate = e.T, r.q[2], r.u[2]
	sum := func(list []contact.ContactForce) (f forces) {
		for i := range list {
			c := &list[i]
			f.add(c.ID, c.N, c.T, c.X, c.Y, c.NX, c.NY)
		}
		return f
	}
	var blow forces
	if ev := e.Event(); event {
		r.list = append(r.list[:0], ev.Impulses...)
		blow = sum(r.list)
		if ev.HasImpulses && r.opt.Event != nil {
			r.opt.Event(&ev)
		}
	}
	r.list = e.Forces(r.list[:0])
	r.load, r.closedContacts, r.faceClosed = sum(r.list), len(r.list), false
	for i := range r.list {
		r.faceClosed = r.faceClosed || onFace(r.list[i].ID)
	}
	return &blow
}

// trace hands a row out.
func (r *eventful) trace() {
	if r.opt.Trace == nil {
		return
	}
	r.opt.Trace(r.b.snapshot(r.e.T, r.q, r.u, r.list, &r.mean, r.e.T-r.traced))
	r.mean, r.traced = forces{}, r.e.T
}
