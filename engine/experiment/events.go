package experiment

import "math"

// Kind of an event.
type Kind uint8

const (
	BreakAway Kind = iota // the speed rises through the threshold
	Arrest                // the speed falls below the threshold, and stays there
	Reversal              // the velocity changes sign without a rest
)

func (k Kind) String() string { return [...]string{"break-away", "arrest", "reversal"}[k] }

// Event is something that happened to the motion.
type Event struct {
	T    float64 // s    interpolated between the middles of two steps
	Kind Kind
	X    float64 // m    position there, to first order
	F    float64 // N    BreakAway: largest friction since the last rest; else friction there
	Dir  float64 // +1 or −1: direction of the motion after a break-away or reversal, before an arrest
}

// Watch finds events in a run of samples. The speed is the mean speed of the steps: it belongs to their middles and does not
// show the alternation of the velocity at the ends that a very stiff contact may have.
type Watch struct {
	Threshold float64 // m/s  below it the body counts as resting
	Rest      float64 // s    shorter rests are passages through zero

	hasSample bool
	isMoving  bool
	t, w      float64 // last middle
	peak      float64 // largest |F| while at rest
	dir       float64 // of the last motion
	restStart float64 // s  when the speed fell below the threshold
	pending   bool    // an arrest is not yet confirmed
	arrest    Event
	crossed   float64 // s  zero of the velocity during a pending arrest
	hasCross  bool
}

// DefaultRest is the default of Watch.Rest.
const DefaultRest = 0.01 // s

// See takes the next sample and calls found for every event that it makes certain.
func (o *Watch) See(q *Sample, found func(Event)) {
	t, w, v0 := q.TMid, q.W, o.Threshold
	if !o.hasSample {
		// the motion before the first sample is not known: a body that moves has broken away before
		o.hasSample, o.t, o.w = true, t, w
		o.isMoving = math.Abs(w) >= v0
		o.dir = math.Copysign(1, w)
		o.peak = math.Abs(q.F)
		return
	}
	cross := func(level float64) float64 { return o.t + (t-o.t)*(level-o.w)/(w-o.w) }
	now := math.Abs(w) >= v0
	s := math.Copysign(1, w)
	switch {
	case o.isMoving && now && s != o.dir:
		// through zero within one step
		found(Event{T: cross(0), Kind: Reversal, X: q.X, F: q.F, Dir: s})
		o.dir = s
	case o.isMoving && !now:
		o.isMoving, o.pending, o.hasCross = false, true, false
		at := t
		if w != o.w {
			at = cross(o.dir * v0)
		}
		o.arrest = Event{T: at, Kind: Arrest, X: q.X, F: q.F, Dir: o.dir}
		o.restStart, o.peak = at, math.Abs(q.F)
		if w*o.dir < 0 {
			o.crossed, o.hasCross = cross(0), true
		}
	case !o.isMoving:
		if o.pending && !o.hasCross && w*o.dir < 0 {
			o.crossed, o.hasCross = cross(0), true
		}
		if o.pending && t-o.restStart > o.Rest {
			o.pending = false
			found(o.arrest)
		}
		if !now {
			o.peak = max(o.peak, math.Abs(q.F))
			break
		}
		o.isMoving = true
		if o.pending {
			// too short for a rest: a passage through zero, or nothing at all
			o.pending = false
			if s != o.dir {
				found(Event{T: o.crossed, Kind: Reversal, X: q.X, F: q.F, Dir: s})
			}
		} else {
			at := t
			if w != o.w {
				at = cross(s * v0)
			}
			found(Event{T: at, Kind: BreakAway, X: q.X, F: max(o.peak, math.Abs(q.F)), Dir: s})
		}
		o.dir = s
	}
	o.t, o.w = t, w
}

// End confirms an arrest that the run was too short to confirm.
func (o *Watch) End(found func(Event)) {
	if o.pending {
		o.pending = false
		found(o.arrest)
	}
}
