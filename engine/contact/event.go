package contact

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// EventDriven integrates the smooth motion of a System between events, and settles each event by itself: closing contacts by
// an impact, forces at the edge of the friction cone or at zero by the problem of stick, slip and detachment [PG96], [SNB06] 1.1.
// It is the reference for engines with a fixed step; its work is not bounded.
//
// Events are found on the continuous solution, at the first time known to be beyond
//
//	g_N = 0 of an open contact, λ_N = 0 of a held one, |λ_T| = μ·λ_N while it sticks, ġ_T = 0 while it slides with one sign,
//	another Feature under a held contact
//
// the forces by 1e-9 of those that act, so that what follows is never in doubt, and ġ_T by TolT. At an event the held contacts
// are put back on g_N = 0 and on their velocities (weighted by the masses), closing contacts collide until none closes, then
// the forces on I_N decide who sticks, slides, separates, after which the next smooth motion begins.
//
// Impacts too slow to matter do not rebound: approaches below VTh, those that leave slower than VChatter, and a second
// impact of a pair within TChatter whose bodies moved against each other by less than 10·TolGap since. A ball that would bounce for a
// further 2·VChatter/(g·(1−ε)) therefore rests that much too early: the defaults keep that below 1e-6 s on earth up to ε = 0.97, and
// larger values save events. An impact that would make energy is repeated with less restitution, and counted.
//
// Where a sliding contact has A = G_NN − μ·σ·G_NT ≤ 0 (Painlevé), forces may not exist: then an impulse without approach
// stops the sliding, as in an impact with ε = 0 (Inconsistent). If they exist nevertheless, so may others (Indeterminate): the
// smaller are taken. Contacts that are redundant share forces that are not unique; there the problem of all forces is solved
// at each point looked at, and the mode ends when its accelerations are no longer those of the mode.
//
// One goroutine at a time may use an EventDriven.
type EventDriven struct {
	T float64 // s  time reached
	EventStats

	sys System
	swp Sweeper // nil: does not know
	opt EventOptions
	f   int
	x   []float64 // q, u at T
	sm  *smooth
	set sets
	dp  *engine.DormandPrince
	im  *Impact
	cor *corner

	heldBefore  []held    // held before the event
	p, v        []float64 // impulses or forces, velocities of chosen contacts
	w           []float64
	laws        []Law
	lastImpact  map[uint32]float64 // s  last impact of each pair
	event       Event              // the last one, for visits: nothing is decided by it
	byLCP       bool               // the mode is held together by the problem of all forces
	initialized bool

	a, b, probe *sample
	foundCauses []Cause
	buf         []float64
	levels      []level
	knownForces knownForces
	jams        *Impact // compression alone
	nKept       []int32
	hKept       []int32
	idsN        []uint32
	idsH        []uint32
	wedged      []int32 // room for sliding contacts with A ≤ 0

	stormT     float64
	stormN     int
	bridgedTo  float64 // s  end of the last bridge
	bridgeTime float64 // s  its length
}

// Why an event-driven run cannot go on. A *EventError carries one of these, or one of the integrator.
var (
	ErrPenetration = errors.New("bodies overlap")
	ErrFull        = errors.New("more contacts than there is room for")
	ErrMass        = errors.New("mass matrix is not positive definite, or something is not finite")
	ErrNoImpulses  = errors.New("no impulses end this impact")
	ErrNoForces    = errors.New("no forces hold these contacts")
	ErrStorm       = errors.New("events come too fast")
	ErrMaxEvents   = errors.New("more events than allowed")
)

// EventError says where a run ended early, at which contacts, and why.
type EventError struct {
	T      float64  // s
	IDs    []uint32 // contacts concerned
	Bodies string   // their bodies
	Cause  error
}

func (e *EventError) Error() string {
	if e.Bodies == "" {
		return fmt.Sprintf("at t = %.12g s: %v", e.T, e.Cause)
	}
	return fmt.Sprintf("at t = %.12g s, %s: %v", e.T, e.Bodies, e.Cause)
}

// Unwrap makes errors.Is work.
func (e *EventError) Unwrap() error { return e.Cause }

// storm: so many events are too many when they take less than 10 ns each.
const (
	stormEvents = 1000
	stormTime   = stormEvents * 1e-8
)

// NewEventDriven checks the options, all of them at once, and makes room.
func NewEventDriven(sys System, opt EventOptions) (*EventDriven, error) {
	f := sys.DOF()
	if err := opt.fill(f); err != nil {
		return nil, err
	}
	e := &EventDriven{
		sys: sys, opt: opt, f: f, x: make([]float64, 2*f), sm: newSmooth(sys, newSet(opt.MaxContacts, 64, f)),
		set:        sets{tolG: opt.TolGap, tolV: opt.TolV, tolT: opt.TolT},
		lastImpact: map[uint32]float64{}, buf: make([]float64, 2*f), a: new(sample), b: new(sample), probe: new(sample),
	}
	e.swp, _ = sys.(Sweeper)
	e.room(cmp.Or(opt.MaxClosed, firstRoom))
	e.dp = engine.NewDormandPrince(e.slope, 2*f)
	e.dp.Rtol, e.dp.Atol, e.dp.MaxSteps = opt.RTol, opt.ATol, math.MaxInt
	if !math.IsInf(opt.MaxStep, 1) {
		e.dp.MaxStep = opt.MaxStep
	}
	return e, nil
}

// room makes room for n closed contacts.
func (e *EventDriven) room(n int) {
	e.sm.room(n)
	e.p, e.v, e.w, e.laws = make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n), make([]Law, n)
	e.im, e.jams, e.cor = NewImpact(e.opt.Law, n), NewImpact(Poisson, n), newCorner(n)
	e.wedged = make([]int32, 0, n)
}

// Start begins at t (s) with q and u, which are copied. Bodies that overlap are refused; closed contacts that close further
// collide at once.
func (e *EventDriven) Start(t float64, q, u []float64) error {
	if len(q) != e.f || len(u) != e.f {
		panic("contact: EventDriven.Start: q or u is not as long as the system has coordinates")
	}
	e.initialized = false
	if !numeric.AllFinite(q...) || !numeric.AllFinite(u...) || !numeric.IsFinite(t) {
		return &EventError{T: t, Cause: engine.ErrNonFinite}
	}
	e.T, e.EventStats = t, EventStats{}
	e.event = e.newEvent(NoEvent, 0)
	copy(e.x, q)
	copy(e.x[e.f:], u)
	e.sm.heldContacts, e.heldBefore = e.sm.heldContacts[:0], e.heldBefore[:0]
	e.stormT, e.stormN = t, 0
	clear(e.lastImpact)
	if err := e.findContacts(); err != nil {
		return err
	}
	var bad []uint32
	for i := range e.sm.set.N {
		if e.sm.set.Gap[i] < -e.opt.TolGap {
			bad = append(bad, e.sm.set.ID[i])
		}
	}
	if len(bad) > 0 {
		return e.fail(ErrPenetration, bad...)
	}
	if err := e.resolveEvent(e.event); err != nil {
		return err
	}
	e.event.HasImpulses, e.initialized = true, true
	return nil
}

// Run integrates to end (s). visit, which may be nil, is called after each step and again after each event; the run stops
// when it returns false, and may be continued. What a visit asks for changes nothing of the run. The error is an *EventError.
func (e *EventDriven) Run(end float64, visit func(*EventDriven) bool) error {
	if !e.initialized {
		return e.fail(errors.New("not started, or stopped by an error"))
	}
	e.initialized = false
	seen := func() bool { return visit == nil || visit(e) }
	for more := true; more && e.T < end; {
		ev, err := e.advance(end)
		if err != nil {
			return err
		}
		if e.event = ev; ev.Kind != Jamming {
			more = seen()
		}
		if ev.Kind == NoEvent && !ev.drift {
			continue
		}
		if err := e.applyEvent(ev); err != nil {
			if err = e.bridge(err, end); err != nil {
				return err
			}
			more = seen() && more
			continue
		}
		if e.event.HasImpulses = true; ev.Kind != NoEvent || len(e.event.Impulses) > 0 {
			more = seen() && more
		}
	}
	e.initialized = true
	return nil
}

// advance makes one step of the integrator, or less where an event comes first.
func (e *EventDriven) advance(end float64) (ev Event, err error) {
	if err := e.dp.Step(end); err != nil {
		wedged := e.findWedged()
		if len(wedged) == 0 {
			return ev, e.fail(err, e.heldIDs()...)
		}
		id := e.sm.heldContacts[wedged[0]].id
		ev = e.newEvent(Jamming, id)
		ev.Causes, ev.wedged = append(ev.Causes, Cause{Jamming, id, -1}), wedged
		return ev, nil
	}
	e.Steps++
	ev = e.locate()
	return ev, e.roomError()
}

// roomError is an error when a contact has found no room.
func (e *EventDriven) roomError() error {
	if e.sm.set.Dropped == 0 {
		return nil
	}
	return e.fail(fmt.Errorf("%w: MaxContacts is %d", ErrFull, e.opt.MaxContacts))
}

// State copies the state at T.
func (e *EventDriven) State(q, u []float64) {
	copy(q, e.x[:e.f])
	copy(u, e.x[e.f:])
}

// At fills q and u at a time within the last step; right after an event only T itself.
func (e *EventDriven) At(t float64, q, u []float64) {
	e.dp.At(t, e.buf)
	copy(q, e.buf[:e.f])
	copy(u, e.buf[e.f:])
}

// HeldCount is the number of contacts that are closed and stay so.
func (e *EventDriven) HeldCount() int { return len(e.sm.heldContacts) }

// StepStart is the time at which the last step began, from which on At is known (s).
func (e *EventDriven) StepStart() float64 { return min(e.dp.StepStart, e.T) }

// ContactForce is what a held contact does, or what an impact did there.
type ContactForce struct {
	ID     uint32
	N, T   float64 // N     λ_N, λ_T; of an impact N·s
	X, Y   float64 // m     the point
	NX, NY float64 //       n
}

// Components are those of the force on the body A in the inertial frame.
func (f *ContactForce) Components() (fx, fy float64) { return f.N*f.NX + f.T*f.NY, f.N*f.NY - f.T*f.NX }

// force is what contact i does.
func (s *Set) force(i int, n, t float64) ContactForce {
	return ContactForce{s.ID[i], n, t, s.X[i], s.Y[i], s.NX[i], s.NY[i]}
}

// Event is the last event: in the visit before it is settled without impulses, in the visit after it with them, and after Start that of the
// start. Its Kind is NoEvent in the visit of a plain step. Causes and impulses are to be copied by those who keep them.
func (e *EventDriven) Event() Event { return e.event }

// Forces appends the forces at T to list. Those of redundant contacts are one choice of many.
func (e *EventDriven) Forces(list []ContactForce) []ContactForce { return e.forces(e.T, e.x, list) }

// ForcesAt is Forces at a time within the last step; right after an event only T itself.
func (e *EventDriven) ForcesAt(t float64, list []ContactForce) []ContactForce {
	if t >= e.T || e.StepStart() >= e.T {
		return e.Forces(list)
	}
	e.dp.At(t, e.buf)
	return e.forces(t, e.buf, list)
}

func (e *EventDriven) forces(t float64, x []float64, list []ContactForce) []ContactForce {
	s := e.sm
	if len(s.heldContacts) == 0 {
		return list
	}
	s.findContacts(t, x[:e.f], x[e.f:], e.opt.Reach)
	if !s.gather(t, x[:e.f], x[e.f:]) {
		return list
	}
	if !e.knownForces.matches(s) {
		if !s.hold() {
			return list
		}
		lam := s.lam
		if (s.short || e.byLCP) && e.solveAllForces() {
			lam = e.p
		}
		e.knownForces.store(s, lam)
	}
	for k, h := range s.heldContacts {
		list = append(list, s.set.force(int(h.place), e.knownForces.lam[2*k], e.knownForces.lam[2*k+1]))
	}
	return list
}

// slope is the right-hand side of the integrator.
func (e *EventDriven) slope(t float64, x, dx []float64) {
	f := e.f
	copy(dx[:f], x[f:])
	// held contacts are all that acts, and they are near; where a stage of a long step is not, all are looked at
	if near := 1e3 * e.opt.TolGap; !(near < e.opt.Reach && e.sm.run(t, x[:f], x[f:], near)) && !e.sm.run(t, x[:f], x[f:], e.opt.Reach) &&
		!e.sm.runPastEnd(t, x[:f], x[f:]) {
		dx[f] = math.NaN()
		return
	}
	copy(dx[f:], e.sm.acc)
}

func (e *EventDriven) fail(cause error, ids ...uint32) error {
	return &EventError{T: e.T, IDs: slices.Clone(ids), Bodies: pairs(e.sys, ids), Cause: cause}
}

func (e *EventDriven) heldIDs() (ids []uint32) {
	for _, h := range e.sm.heldContacts {
		ids = append(ids, h.id)
	}
	return ids
}

// findContacts lists the contacts at T.
func (e *EventDriven) findContacts() error {
	s := e.sm
	s.findContacts(e.T, e.x[:e.f], e.x[e.f:], e.opt.Reach)
	return e.roomError()
}
