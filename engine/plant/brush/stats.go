package brush

import (
	"math"

	"hilrig/engine/contact"
	"hilrig/engine/lcp"
)

// Stats is what a run shows, without its discarded beginning. A run that degrades says so here.
type Stats struct {
	Time float64 // s   that the figures cover

	MeanRate float64 // rad/s   mean of |φ̇|
	MaxRate  float64 // rad/s   largest |φ̇|
	Tilt     float64 // rad     mean of φ
	TiltLow  float64 // rad     0.5 % of the time below
	TiltHigh float64 // rad     0.5 % of the time above

	FaceForce     float64 // N      mean normal force of the face
	HolderForce   float64 // N      mean sum of the normal forces of the holder
	SpringForce   float64 // N      mean normal force of the tip
	Torque        float64 // N·m    mean of the moment on the commutator against its rotation
	Friction      float64 // N·m    part of the tangential forces in it; the rest is what the slopes of the surface lean on the face
	Loss          float64 //        share of steps without face force
	Interruptions float64 // 1/s    gaps of the face force that last at least RunOptions.Interruption
	Longest       float64 // s      the longest such gap

	FacePenetration   float64 // m   largest, likewise
	HolderPenetration float64
	SpringPenetration float64

	Steps          int64
	MeanClosed     float64  // closed contacts per step, mean
	MaxClosed      int      // closed contacts in one step, most
	Unverified     int64    // steps whose contact problem was not verified
	Methods        [8]int64 // solves by lcp.FrictionMethod
	Unproven       [8]int64 // unverified ones by the same
	Eased          int64    // steps verified after contacts that exclude each other went without restitution and β
	Dropped        int64    // contacts that found no room
	Gains          int64    // steps in which the contacts did work on the bodies
	Gained         float64  // J   in those
	Dissipated     float64  // J   in the others
	WarmStartShare float64  // share of solves whose contact states were those expected
}

// Share of steps that were not verified.
func (s *Stats) UnverifiedShare() float64 { return float64(s.Unverified) / max(1, float64(s.Steps)) }

// Figure is one number of a run with its name and unit, for tables and studies.
type Figure struct {
	Name, Unit, Doc string
	Value           float64
}

// Figures lists the numbers of s in a fixed order.
func (s *Stats) Figures() []Figure {
	return []Figure{
		{"mean_rate", "rad/s", "mean of |dphi/dt|", s.MeanRate},
		{"max_rate", "rad/s", "largest |dphi/dt|", s.MaxRate},
		{"tilt", "rad", "mean tilt", s.Tilt},
		{"tilt_low", "rad", "0.5 % quantile of the tilt", s.TiltLow},
		{"tilt_high", "rad", "99.5 % quantile of the tilt", s.TiltHigh},
		{"tilt_band", "rad", "width between these quantiles", s.TiltHigh - s.TiltLow},
		{"face_force", "N", "mean normal force on the commutator", s.FaceForce},
		{"holder_force", "N", "mean sum of normal forces of the holder", s.HolderForce},
		{"spring_force", "N", "mean normal force of the spring", s.SpringForce},
		{"torque", "N·m", "mean moment of this brush on the commutator, against its rotation", s.Torque},
		{"friction_torque", "N·m", "part of the friction forces in it", s.Friction},
		{"loss", "", "share of steps without face force", s.Loss},
		{"interruptions", "1/s", "gaps of the face force longer than the stated time", s.Interruptions},
		{"longest_interruption", "s", "longest of them", s.Longest},
		{"face_penetration", "m", "largest at the face", s.FacePenetration},
		{"holder_penetration", "m", "largest at the holder", s.HolderPenetration},
		{"spring_penetration", "m", "largest at the spring", s.SpringPenetration},
		{"closed", "", "closed contacts per step", s.MeanClosed},
		{"most_closed", "", "closed contacts in one step, most", float64(s.MaxClosed)},
		{"unverified", "", "share of steps whose contact problem was not verified", s.UnverifiedShare()},
		{"eased", "", "share of steps in which contacts excluded each other and went without restitution and give-back",
			float64(s.Eased) / max(1, float64(s.Steps))},
		{"dropped", "", "contacts that found no room", float64(s.Dropped)},
		{"energy_gains", "", "share of steps in which contacts did work on the bodies", float64(s.Gains) / max(1, float64(s.Steps))},
		{"energy_gained", "", "that work over what the other steps dissipated", s.Gained / max(math.SmallestNonzeroFloat64, s.Dissipated)},
	}
}

// tally collects a run in constant memory. Quantiles of the tilt come from a histogram with linear interpolation in a bin.
type tally struct {
	s                Stats
	weight           float64
	lo, perBin, bin  float64
	count            []float64
	minTilt, maxTilt float64 // of φ
	gap              float64 // s   how long the face has had no force
	interruption     float64 // s
}

const bins = 8192

func (b *Brush) newTally(interruption float64) *tally {
	width := max(4*b.p.Holder.Clearance/b.p.Engagement(), 1e-3)
	t := &tally{interruption: interruption, count: make([]float64, bins), minTilt: math.Inf(1), maxTilt: math.Inf(-1)}
	t.lo, t.bin = b.rake-width, 2*width/bins
	t.perBin = 1 / t.bin
	return t
}

// motion adds dt seconds at the tilt phi turning at rate.
func (t *tally) motion(dt, phi, rate float64) {
	a := math.Abs(rate)
	t.weight += dt
	t.s.MeanRate += dt * a
	t.s.MaxRate = max(t.s.MaxRate, a)
	t.s.Tilt += dt * phi
	t.minTilt, t.maxTilt = min(t.minTilt, phi), max(t.maxTilt, phi)
	t.count[int(min(max((phi-t.lo)*t.perBin, 0), bins-1))] += dt
}

// forces of one step, from its impulses.
type forces struct{ face, holder, spring, torque, friction float64 }

// sum adds the impulses of the last step of m up, divided by h: the torque is that of the brush on the commutator, against
// counter-clockwise rotation.
func sum(m *contact.Moreau, h float64) (f forces) {
	set := m.Set
	for k, c := range m.ClosedPlaces {
		f.add(set.ID[c], m.Impulse[2*k]/h, m.Impulse[2*k+1]/h, set.X[c], set.Y[c], set.NX[c], set.NY[c])
	}
	return f
}

// add is one contact at (x, y) with the unit normal (nx, ny).
func (f *forces) add(id uint32, pn, pt, x, y, nx, ny float64) {
	switch {
	case onFace(id):
		f.face += pn
		friction := -pt * (x*nx + y*ny)
		f.friction += friction
		f.torque += pn*(x*ny-y*nx) + friction
	case id < idSpring:
		f.holder += pn
	default:
		f.spring += pn
	}
}

// step adds one step of m with its forces.
func (t *tally) step(dt float64, m *contact.Moreau, r *contact.StepResult, f *forces) {
	t.s.Steps++
	t.load(dt, f)
	if f.face > 0 {
		t.reunite()
	} else {
		t.lose(dt)
	}
	set := m.Set
	for i, g := range set.Gap[:set.N] {
		if g >= 0 {
			continue
		}
		switch id := set.ID[i]; {
		case onFace(id):
			t.s.FacePenetration = max(t.s.FacePenetration, -g)
		case id < idSpring:
			t.s.HolderPenetration = max(t.s.HolderPenetration, -g)
		default:
			t.s.SpringPenetration = max(t.s.SpringPenetration, -g)
		}
	}
	if r.ClosedCount > 0 {
		t.s.MeanClosed += float64(r.ClosedCount)
		t.s.MaxClosed = max(t.s.MaxClosed, r.ClosedCount)
		t.s.Methods[r.Solve.Method&7]++
		if r.Solve.Status != lcp.Verified {
			t.s.Unverified++
			t.s.Unproven[r.Solve.Method&7]++
		} else if r.Solve.Eased > 0 {
			t.s.Eased++
		}
	}
}

// load adds dt seconds of forces.
func (t *tally) load(dt float64, f *forces) {
	t.s.FaceForce += dt * f.face
	t.s.HolderForce += dt * f.holder
	t.s.SpringForce += dt * f.spring
	t.s.Torque += dt * f.torque
	t.s.Friction += dt * f.friction
}

// lose adds dt seconds without face force.
func (t *tally) lose(dt float64) {
	t.s.Loss += dt
	t.gap += dt
}

// reunite ends a gap of the face force.
func (t *tally) reunite() {
	// a hair less: gaps are sums of steps
	if t.gap >= t.interruption*(1-1e-9) && t.gap > 0 {
		t.s.Interruptions++
		t.s.Longest = max(t.s.Longest, t.gap)
	}
	t.gap = 0
}

// stats are the means over all that was added.
func (t *tally) stats() Stats {
	t.reunite()
	s := t.s
	w := t.weight
	if w == 0 {
		return s
	}
	s.Time = w
	for _, p := range []*float64{
		&s.MeanRate, &s.Tilt, &s.FaceForce, &s.HolderForce, &s.SpringForce, &s.Torque, &s.Friction, &s.Loss, &s.Interruptions,
	} {
		*p /= w
	}
	s.TiltLow, s.TiltHigh = t.quantile(0.005), t.quantile(0.995)
	if s.Steps > 0 {
		s.MeanClosed /= float64(s.Steps)
	}
	var solves int64
	for _, n := range s.Methods {
		solves += n
	}
	s.WarmStartShare = float64(s.Methods[lcp.ByWarm]) / max(1, float64(solves))
	return s
}

// quantile is the tilt below which the share p of the time lies.
func (t *tally) quantile(p float64) float64 {
	want, have := p*t.weight, 0.0
	for i, c := range t.count {
		if have+c >= want && c > 0 {
			v := t.lo + (float64(i)+(want-have)/c)*t.bin
			return min(max(v, t.minTilt), t.maxTilt)
		}
		have += c
	}
	return t.maxTilt
}

// gather adds dt seconds of g.
func (f *forces) gather(g *forces, dt float64) {
	f.face += dt * g.face
	f.holder += dt * g.holder
	f.spring += dt * g.spring
	f.torque += dt * g.torque
	f.friction += dt * g.friction
}
