package axis

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// frozen finds a position whose samples bring the same number although the drive must move the axis: a sensor or a coupling that tells
// nothing any more, a shaft that is blocked, a drive that does nothing. It needs the command alone, so it serves every kind of drive.
//
// A twin of the axis is driven by the command while the number is the same, within one count. It stands below what a sound axis may
// stand at:
//
//	J·v' = push − hold·sgn v,   hold = frozenFs·Fs and what is not known of the effort of a command
//	v    = command − hold·sgn   of a velocity drive, hold = 2 % of the largest command
//
// The push is the effort beyond the declared offset, or beyond the load that the axis carried when it moved last, whichever is smaller;
// none if they point to different sides. A weight that is held, a spring and a hand keep the axis in place against as much effort.
//
// The number is frozen once the twin has moved for 0.1 s and gone 30 counts, or for 30 ms and gone 1000; each time is five samples at
// least, and the age of a sample comes to it.
//
// Below frozenFs·Fs an axis with more friction than the file says stands as well. But no contact is rigid: what sticks gives way by ΔF/K
// where the effort changes by ΔF. So where that has changed by so much that a contact of three times the stiffness of the law must have
// shown three counts, and the number is the same, it is no friction that keeps it. A second twin then needs firmFs·Fs alone, and the
// longer of the two times. A law without a stiffness has no such twin.
type frozen struct {
	s         *Spec
	axisModel twin
	tolerance float64 // rad  numbers no further apart are the same
	counts    float64 // rad  in which a way is counted: a count, or what the noise of the position makes of it
	hold      float64 // N·m; rad/s of a velocity drive
	rest      float64 // N·m  of it the friction

	current bool    // voltage and current of a winding are known
	balance float64 // V  what the balance of that winding leaves over at the speed shown; NaN: not known

	hasPosition bool
	position    float64 // rad  the number …
	stood       float64 // s    … is the same for so long
	load        float64 // N·m  mean of what opposed the motion beside friction, over the last loadMean of motion …
	newestLoad  float64 // N·m  … but for the newest of it: what stops the axis within a sample is no load that it carried
	loadWeight  average // of a sample in it
	motion      float64 // s    since energised
	sum         float64 // of command times time …
	pending     float64 // s    … since the newest sample
	v, travel   float64 // rad/s, rad  of the twin
	travelTime  float64 // s    it moves
	emf         backEMF // while the number is the same
	brushes     brushDrop
	shownWeight average // of the mean push
	meanPush    float64 // N·m  mean of the push since then, over shownMean: no contact follows what is faster …
	minPush     float64 // N·m  … its smallest …
	maxPush     float64 // N·m  … and its largest
	firm        firmTwin
	hint        Finding // of the newest position: see runaway
}

// firmTwin is the second twin: one that no friction keeps.
type firmTwin struct{ v, travel, time float64 } // rad/s, rad, s

const (
	frozenFs     = 2     // break-away that an axis may need, in units of that of its law
	firmFs       = 1.1   // … of one whose contact must have given way, and did not …
	firmCounts   = 9     // counts  … by so much, as the law says: three, of a contact that is three times as stiff
	patientTime  = 0.1   // s       longer than any delay between command and motion …
	patientWay   = 30    // counts
	quickTime    = 30e-3 // s       … and longer than those of a rig that is pushed so hard
	quickWay     = 1000  // counts
	minSamples   = 5     // of each time
	unsureLaw    = 0.05  // of the largest effort: where no law is known
	unsureEffort = 0.01  // of the largest effort: what a drive makes of a command of zero
	shownMean    = 20e-3 // s
)

// newFrozen is nil where nothing tells what a command must do.
func newFrozen(s *Spec, noise float64) *frozen {
	f := &frozen{s: s, balance: math.NaN(), emf: backEMF{m: &s.Motor, floor: s.Motor.BrushDrop/2 + unsureEffort*s.TopCommand, share: 0.25},
		counts: noise * math.Sqrt(12), current: s.Drive == plant.VoltageDrive && s.measured(estimator.Current)}
	f.tolerance, f.emf.brushes = f.counts, &f.brushes
	if c := max(s.Kalman.Count, s.Mechanical.Count); c > 0 {
		f.tolerance = min(c, f.counts)
	}
	t := twin{j: s.Motor.J}
	if s.hasLaw() {
		t = twinOf(s.Motor.J, s.Law)
	}
	f.know(t)
	if !s.hasDrive() || s.Drive != plant.VelocityDrive && !(t.j > 0) || !(f.hold > 0) {
		return nil
	}
	return f
}

// know takes what is known of the axis.
func (f *frozen) know(t twin) {
	f.axisModel = t
	top := f.s.TopCommand
	if f.s.Drive == plant.VelocityDrive {
		f.hold = max(unsureEffort*top, patientWay*f.counts/patientTime)
		return
	}
	f.rest = unsureLaw * f.effort(top)
	if f.hold = f.rest; t.friction > 0 {
		f.rest = frozenFs * t.friction / stallFs
		f.hold = f.rest + unsureEffort*f.effort(top)
	}
}

// effort (N·m) that a command has on an axis that stands.
func (f *frozen) effort(command float64) float64 { return f.effortAt(command, 0) }

// effortAt is that at a speed (rad/s).
func (f *frozen) effortAt(command, speed float64) float64 {
	if m := &f.s.Motor; f.s.Drive == plant.VoltageDrive {
		left := command - m.K*speed
		return m.K / m.R * math.Copysign(max(0, math.Abs(left)-m.BrushDrop), left)
	}
	return f.s.effort(command)
}

// forget begins anew, but for the load: the axis may carry it still.
func (f *frozen) forget() {
	f.hasPosition, f.sum, f.pending, f.hint, f.meanPush = false, 0, 0, Finding{}, math.NaN()
}

// step takes a tick: the sample of the position, the command of the tick before, the current (A) where it is measured, and the load
// (N·m) that the estimate and the law tell beside friction. It is the verdict so far, and what it will be if the axis leaves its limits
// sooner.
func (f *frozen) step(k Tick, p *estimator.Sample, command, current, load float64) (bad, hint Finding) {
	if !k.Energised || !numeric.IsFinite(command) {
		f.load, f.newestLoad, f.motion = 0, 0, 0
		f.forget()
		f.meanPush = 0 // what a drive that is off makes
		return
	}
	dt := f.s.Tick * (1 + float64(k.Skip))
	f.sum += dt * command
	f.pending += dt
	if f.current {
		f.emf.add(command, current, dt)
	}
	if !p.Updated || !numeric.IsFinite(p.Value) {
		return Finding{}, f.hint
	}
	dt, command = f.pending, f.sum/f.pending
	f.sum, f.pending, f.hint = 0, 0, Finding{}
	f.stood += dt
	if !f.hasPosition || !(math.Abs(p.Value-f.position) <= f.tolerance*(1+1e-9)) {
		moved := f.hasPosition
		if moved && numeric.IsFinite(load) {
			f.motion += f.stood
			f.load += (f.newestLoad - f.load) * max(f.loadWeight.weightFor(f.stood, loadMean), f.stood/f.motion)
		}
		if numeric.IsFinite(load) {
			f.newestLoad = load
		}
		f.hasPosition, f.position, f.stood, f.v, f.travel, f.travelTime = true, p.Value, 0, 0, 0, 0
		if moved || math.IsNaN(f.meanPush) {
			f.meanPush = f.push(command)
		}
		f.minPush, f.maxPush, f.firm = f.meanPush, f.meanPush, firmTwin{}
		f.emf.forget()
		return
	}
	f.meanPush += (f.push(command) - f.meanPush) * f.shownWeight.weightFor(dt, shownMean)
	f.minPush, f.maxPush = min(f.minPush, f.meanPush), max(f.maxPush, f.meanPush)
	dt = min(dt, 3*f.s.SamplePeriod) // what happened in a gap is not known
	firm := f.stepFirm(command, dt)
	f.v = f.twin(command, dt)
	v := f.v
	if f.current {
		if w := f.emf.speed(); math.Abs(w) > math.Abs(v) {
			v = w
		}
	}
	if v == 0 || v*f.travel < 0 {
		f.travel, f.travelTime = 0, 0
	}
	if v != 0 {
		f.travel += dt * v
		f.travelTime += dt
	}
	found := Finding{Frozen, estimator.Position, f.travel, patientWay * f.counts}
	if f.standsStill(command) {
		found = Finding{Blocked, estimator.Position, f.effort(command), f.hold}
	}
	least, age := minSamples*f.s.SamplePeriod, max(0, p.Age)
	switch way := math.Abs(f.travel); {
	case way > patientWay*f.counts && f.travelTime >= max(patientTime, least)+age, way > quickWay*f.counts &&
		f.travelTime >= max(quickTime, least)+age:
		bad, f.hint = found, found
	case firm && f.firm.time >= max(patientTime, least)+age:
		if found.Fault == Frozen {
			found.Value = f.firm.travel
		} else {
			found.Limit = f.firmHold()
		}
		bad, f.hint = found, found
	case way > patientWay*f.counts && f.travelTime >= least:
		f.hint = found
	}
	return bad, f.hint
}

// backEMF tells from voltage and current of a winding how fast its motor turns at least.
type backEMF struct {
	m       *plant.Motor
	brushes *brushDrop // of m; nil: computed anew
	weight  average
	floor   float64 // V  that may be wrong, and the share of R·i
	share   float64
	volts   float64 // V  mean of the voltage …
	unseen  float64 // V  … of what the measured current leaves of it …
	unsure  float64 // V  … and of what may be wrong with that
}

// add takes dt (s) of a voltage and a current (A).
func (e *backEMF) add(voltage, current, dt float64) {
	w := e.weight.weightFor(dt, shownMean)
	e.volts += w * (voltage - e.volts)
	e.unseen += w * (voltage - e.m.R*current - e.brushes.at(e.m, current) - e.unseen)
	e.unsure += w * (e.floor + e.share*e.m.R*math.Abs(current) - e.unsure)
}

func (e *backEMF) forget() { e.volts, e.unseen, e.unsure = 0, 0, 0 }

// speed is that (rad/s) at least of a motor that takes less current than its voltage drives through a winding that stands; 0: none is told.
func (e *backEMF) speed() float64 {
	if e.unseen*e.volts <= 0 || math.Abs(e.unseen) > math.Abs(e.volts) { // more than all of the voltage is no motion
		return 0
	}
	return math.Copysign(max(0, math.Abs(e.unseen)-e.unsure)/e.m.K, e.unseen)
}

// standsStill tells a shaft that stands from a number that does: the current of a shaft that stands leaves no voltage over, and the motion
// that the command makes would leave one that can be seen.
func (f *frozen) standsStill(command float64) bool {
	unsure := 0.05*math.Abs(command) + 0.1*f.s.Motor.BrushDrop
	v := max(math.Abs(f.v), math.Abs(f.firm.v))
	return f.current && math.Abs(f.emf.unseen) < unsure && f.s.Motor.K*v > unsure
}

// positionIsRight tells that the position is right, and something holds or throws the axis: the balance of the winding is kept at the
// speed shown, and would leave over three times as much if the axis had the speed (rad/s) beside it that is missing.
func (f *frozen) positionIsRight(missing float64) bool {
	return f.current && 3*math.Abs(f.balance) < f.s.Motor.K*math.Abs(missing)
}

// stepFirm moves the second twin on by dt (s) of a command, and tells whether it has gone far enough.
func (f *frozen) stepFirm(command, dt float64) bool {
	t, w := &f.axisModel, &f.firm
	if gave := (f.maxPush - f.minPush) * t.gives * stallFs; !(gave > firmCounts*f.tolerance*4*t.friction) || !(t.gives > 0) {
		return false
	}
	w.v = t.nextSpeed(w.v, f.push(command), f.firmHold(), dt)
	if w.v == 0 || w.v*w.travel < 0 {
		w.travel, w.time = 0, 0
	}
	if w.v != 0 {
		w.travel += dt * w.v
		w.time += dt
	}
	return math.Abs(w.travel) > patientWay*f.counts
}

// firmHold (N·m) is what keeps the second twin.
func (f *frozen) firmHold() float64 { return f.rest * firmFs / frozenFs }

// push is the effort (N·m) of a command that neither the declared offset nor the load explains.
func (f *frozen) push(command float64) float64 {
	effort := f.effort(command)
	push := effort - f.axisModel.offset
	if p := effort - f.load; p*push <= 0 {
		return 0
	} else if math.Abs(p) < math.Abs(push) {
		return p
	}
	return push
}

// twin is the speed (rad/s) that it has after dt (s) of a command.
func (f *frozen) twin(command, dt float64) float64 {
	if f.s.Drive == plant.VelocityDrive {
		return math.Copysign(max(0, math.Abs(command)-f.hold), command)
	}
	return f.axisModel.nextSpeed(f.v, f.push(command), f.hold, dt)
}

// nextSpeed is the speed (rad/s) of a twin with speed v, dt (s) later, that is pushed, and held by so much (N·m).
func (t *twin) nextSpeed(v, push, hold, dt float64) float64 {
	v += dt / t.j * push
	return math.Copysign(max(0, math.Abs(v)-dt/t.j*hold), v)
}
