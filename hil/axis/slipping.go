package axis

import (
	"math"

	"hilrig/engine/plant"
	"hilrig/estimator"
)

// slipping finds a position that shows a fixed share of the motion: a coupling that slips, an encoder of another scale. A loop that is
// closed by such a position drives the axis far beyond its reference, and its effort goes with the motion shown as no friction and no load
// does. Two explanations of the effort are compared, both by least squares:
//
//	sound     effort = constant + k·x + a·J·x″ + b·v(x′),   0 ≤ a ≤ inertia, 0 ≤ b ≤ soundViscous
//	slipping  effort = constant + n·(J·x″ + v(x′))
//
// x, x′ and x″ are those that are shown. v is what the law says of viscous friction and, of a voltage, what the back-emf takes of the
// effort of a winding that stands, K²/R·x′. The constant is friction and load, which no file need know; k is a spring, or a pendulum
// that hangs or stands. The inertia is that of momentum, in units of that of the file. The position slips where n is far from 1, and the
// second explanation leaves a tenth of what the best of the first one leaves. It has two numbers where the first has four: a hand or a load
// that moves by itself is told by neither.
//
// Friction is constant only while the axis moves to one side. So a window begins where the position begins to move, and again where the
// contact has given way, and ends where the position turns; in a long motion one ends every windowEvery and begins anew. There are many:
// the jump of the speed where a fault begins spoils those that hold it. A window in which the contact gave way must show more than a
// friction that turns its sign explains. In one where the effort hardly changes nothing is told: the load may be any.
//
// Where samples are missing for longer than the means are, the way alone is known. The speed in between is left out, until it is out of the
// means; the effort before and behind it tells as it does without a gap.
type slipping struct {
	f             *frozen
	scale                       // of the motion shown, and of the effort at standstill: net[0]
	brake         float64       // N·m·s/rad  K²/R of a voltage
	effort        float64       // N·m  of the sample before: it shows in this one
	ran, clock    float64       // rad, s  gone to that side, and how long
	side          float64       // to which the position moves; 0: it stands
	windows       [9]slipWindow // so many side by side at most …
	windowCount   int           // … these in fact …
	windowSpacing float64       // s  … one begins after the other
	oldestWindow  int           // of them
	stride        int           // each of them takes one sample of so many while nothing slips …
	turn          int           // … in turn
	windowAge     float64       // s  one began
	interpolated  bool          // the newest speed is one between samples, for longer than the means are …
	settling      float64       // s  … and for so long it is still in them
}

// slipWindow is a part of a motion to one side.
type slipWindow struct {
	early            bool          // it began before the contact gave way
	startSpeed       float64       // rad/s  speed at its beginning
	ran, clock       float64       // rad, s  of slipping, at the newest sample that it took
	travel, duration float64       // rad, s  gone, and how long …
	sampledTime      float64       // s       … without what is left out
	mean             [4]float64    // of x (rad), J·x″, v and the effort (N·m)
	cov              [4][4]float64 // of the same, the upper half
	time             float64       // s  the position slips
	hint             Finding       // when it was judged last
}

const (
	windowEvery   = 0.05 // s
	windowStep    = 4e-3 // s  each takes a sample so often: the means are of 10 ms at least
	maxSlipRatio  = 100  // times the motion that is shown: beyond that the position stands, which frozen tells
	slippingFits  = 0.1  // of the variance that a sound axis leaves
	slippingFloor = 0.05 // of hold (rms), that a sound axis leaves at least: friction is no constant …
	earlyFloor    = 0.25 // … where it turns its sign: 2·Fs, a fifth of which no spring explains
	soundInertia  = 1.25 // K and the inertia may be so far off
	soundViscous  = 2    // times what the file says
)

func newSlipping(f *frozen) slipping {
	s := slipping{f: f, scale: scale{tau: max(10e-3, 3*f.s.SamplePeriod)}}
	s.windowSpacing = max(windowEvery, 2*minSamples*f.s.SamplePeriod)
	s.windowCount = max(3, int(math.Ceil(windowEvery*float64(len(s.windows))/s.windowSpacing)))
	s.stride = max(1, min(len(s.windows), int(math.Round(windowStep/f.s.SamplePeriod))))
	if m := &f.s.Motor; f.s.Drive == plant.VoltageDrive {
		s.brake = m.K * m.K / m.R
	}
	return s
}

func (s *slipping) forget() {
	*s = slipping{f: s.f, scale: scale{tau: s.tau}, brake: s.brake, windowCount: s.windowCount, windowSpacing: s.windowSpacing,
		stride: s.stride}
}

// step takes the speed (rad/s) that a sample shows, span (s) after the one before, its age (s), the command since then, what the mechanism
// takes of its effort (N·m), and the share of the motion that must be shown. It is the verdict so far, and what it will be if the axis
// leaves its limits sooner.
func (s *slipping) step(omega, command, carried, span, age, share float64) (bad, hint Finding) {
	f := s.f
	s.add(omega, [2]float64{f.effort(command) - carried}, span)
	effort := s.effort
	s.effort = s.slowNet[0]
	side := 0.0
	if math.Abs(s.slowOmega) > patientWay*f.counts/patientTime {
		side = math.Copysign(1, s.slowOmega)
	}
	if s.windowAge += span; side == 0 || side != s.side {
		s.side, s.windows, s.windowAge, s.ran, s.clock = side, [len(s.windows)]slipWindow{}, 0, 0, 0
		for i := range s.windows {
			s.windows[i].early = f.axisModel.gives > 0
		}
		return
	}
	before := math.Abs(s.ran)
	s.ran += span * s.slowOmega
	s.clock += span
	late := math.Abs(s.ran) >= f.axisModel.gives
	if s.windowAge >= s.windowSpacing*(1-1e-9) || late && before < f.axisModel.gives {
		s.windows[s.oldestWindow], s.windowAge = slipWindow{early: !late, ran: s.ran - span*s.slowOmega, clock: s.clock - span}, 0
		s.oldestWindow = (s.oldestWindow + 1) % s.windowCount
	}
	viscous := s.brake * s.slowOmega
	if f.s.hasLaw() {
		viscous += f.s.Law.Viscous(s.slowOmega)
	}
	if s.settling = max(0, s.settling-span); s.interpolated {
		s.settling = s.tau
	}
	shown := [4]float64{0, f.axisModel.j * s.acceleration(), viscous, effort}
	for i := range s.windows[:s.windowCount] {
		w := &s.windows[i]
		if s.settling == 0 && (w.time > 0 || i%s.stride == s.turn) {
			if span = w.addNewest(s, shown); w.sampledTime >= 3*s.tau {
				var found Finding
				if found, w.hint = w.judge(f, span, age, soundInertia/share); found.Fault != Fine && bad.Fault == Fine {
					bad, hint = found, found
				}
			}
		}
		if hint.Fault == Fine {
			hint = w.hint
		}
	}
	s.turn = (s.turn + 1) % s.stride
	return bad, hint
}

// addNewest takes the newest sample, what goes into the means, for a time (s): that since the one before, or that of a raster where
// samples are missing.
func (w *slipWindow) addNewest(s *slipping, shown [4]float64) (span float64) {
	if span = s.clock - w.clock; !(span > 0) {
		return 0
	}
	speed, every := (s.ran-w.ran)/span, float64(s.stride)*s.f.s.SamplePeriod
	if span > 1.5*every { // samples were missing
		w.pass(speed, span-every)
		span = every
	}
	w.add(speed, shown, span)
	w.ran, w.clock = s.ran, s.clock
	return span
}

// pass takes span (s) of a speed (rad/s).
func (w *slipWindow) pass(speed, span float64) {
	if w.duration == 0 {
		w.startSpeed = speed
	}
	w.duration += span
	w.travel += span * speed
}

// add takes what goes into the means as well.
func (w *slipWindow) add(speed float64, now [4]float64, span float64) {
	w.pass(speed, span)
	now[0] = w.travel
	w.sampledTime += span
	share := span / w.sampledTime
	for i := range now {
		now[i] -= w.mean[i]
		w.mean[i] += share * now[i]
	}
	for i := range now {
		for k := i; k < len(now); k++ {
			w.cov[i][k] = (1 - share) * (w.cov[i][k] + share*now[i]*now[k])
		}
	}
}

// judge tells a position that slips, from an axis of an inertia of so many times that of the file at most.
func (w *slipWindow) judge(f *frozen, span, age, inertia float64) (bad, hint Finding) {
	n, left := w.slips()
	if w.time += span; !(math.Abs(n)*motionShare > 1 && math.Abs(n) < maxSlipRatio && w.noAxisExplains(f, left, inertia)) {
		w.time = 0
		return
	}
	changed, before := w.travel-w.startSpeed*w.duration, w.startSpeed*w.duration
	if before*n*changed < 0 { // it slows down: what is shown of the speed tells nothing
		before = 0
	}
	missing, every := (n-1)*changed, f.s.SamplePeriod
	if w.time < minBrokenSamples*every || math.Abs(missing) < partWay*f.counts {
		return
	}
	hint = Finding{Disagree, estimator.Position, missing, (1 - motionShare) * math.Abs(n*changed)}
	if math.Abs(changed+before) < shownShare*math.Abs(n*changed+before) {
		hint = Finding{Frozen, estimator.Position, missing, partWay * f.counts}
	}
	least := minSamples * every
	if w.time >= max(patientTime, least)+age || math.Abs(missing) > quickWay*f.counts && w.time >= max(partTime, least)+age {
		bad = hint
	}
	return bad, hint
}

// noAxisExplains tells that what a slipping position leaves (N²·m²) is a small part of what an axis of so many times the inertia of the
// file leaves at least, and that this is much.
func (w *slipWindow) noAxisExplains(f *frozen, left, inertia float64) bool {
	floor := slippingFloor * f.hold
	if w.early {
		floor = earlyFloor * f.hold
	}
	sound := w.soundVariance(inertia, soundViscous)
	return left < slippingFits*sound && sound > floor*floor
}

// slips is how many times as far as it shows the axis goes, if the position slips, and the variance (N²·m²) of the effort that this
// leaves.
func (w *slipWindow) slips() (n, left float64) {
	c := &w.cov
	both := c[1][3] + c[2][3]
	n = both / (c[1][1] + 2*c[1][2] + c[2][2])
	return n, c[3][3] - n*both
}

// soundVariance is the variance (N²·m²) of the effort that an axis leaves at least which shows its motion, and has so many times the
// inertia and the viscous friction of the file at most. The least lies within both limits, or at one of them.
func (w *slipWindow) soundVariance(inertia, viscous float64) float64 {
	var q [4][4]float64 // what no spring explains
	for i := range q {
		for k := i; k < len(q); k++ {
			q[i][k] = w.cov[i][k] - w.cov[0][i]*w.cov[0][k]/w.cov[0][0]
		}
	}
	left := func(a, b float64) float64 {
		return q[3][3] - 2*(a*q[1][3]+b*q[2][3]) + a*a*q[1][1] + 2*a*b*q[1][2] + b*b*q[2][2]
	}
	within := func(x, of, most float64) float64 {
		if !(of > 0) {
			return 0
		}
		return max(0, min(most, x/of))
	}
	if det := q[1][1]*q[2][2] - q[1][2]*q[1][2]; det > 0 {
		a, b := (q[1][3]*q[2][2]-q[2][3]*q[1][2])/det, (q[2][3]*q[1][1]-q[1][3]*q[1][2])/det
		if a >= 0 && a <= inertia && b >= 0 && b <= viscous {
			return left(a, b)
		}
	}
	least := math.Inf(1)
	for _, b := range [2]float64{0, viscous} {
		least = min(least, left(within(q[1][3]-b*q[1][2], q[1][1], inertia), b))
	}
	for _, a := range [2]float64{0, inertia} {
		least = min(least, left(a, within(q[2][3]-a*q[1][2], q[2][2], viscous)))
	}
	return least
}
