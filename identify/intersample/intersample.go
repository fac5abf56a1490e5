// Package intersample tells what the force of a drive did between two samples of it, from the commands that were sent meanwhile.
//
// A force (or the current of a motor) is sampled every h seconds; fits take it for a smooth signal and its samples for points of it. It is
// not: a command steps, as often as the loop ticks or as the device takes one, and the force follows. Points of the smooth signal that does
// the same to the axis are
//
//	P_k = f_k + b·(p_k − y_k)
//
// f_k the sample, y the force that a model of the drive makes of the commands, y_k its value at the sample, and p_k the point of the smooth
// signal with the same slow part as y:
//
//	T_k = ∫ y(t)·Λ((t − t_k)/h) dt/h,   p = T − δ²T/12 + δ⁴T/90 − δ⁶T/560 + δ⁸T/3150,   Λ the hat of width ±1
//
// T has the slow part of y times sinc² (ωh/2), which the differences δ give back: (arcsin s)²/s² is their series in s = sin (ωh/2),
// and off by 0.08·s¹⁰. The second difference alone left the force of a motion with 10 samples a turn 0.2 % too small. So the sensor
// says how large the force is, and the model what lies between the samples only: an error of the model counts by its share of p − y.
//
// The model is the winding of a motor, L·di/dt = u − R·i − drop(i) − K·ω, ω from the recorded positions, or a force that
// follows its command within a time τ. When a device takes a command is not recorded. Two ways are tried: as it comes, after a delay; or
// once a sample, at a phase of the sampling period. The samples tell which command acted at a sample, so the delay for every phase, and b
// and τ: how they change is explained best. They hardly tell the phase where the winding is fast. But force and position of a frame are
// of one time: with the right phase, the motion answers the points at once, neither earlier nor later. What answers as well is the doubt.
package intersample

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/identify/filter"
)

// Steps are the commands that were sent: Value[i] from Time[i] (s) to the next.
type Steps struct{ Time, Value []float64 }

// Record is a piece of a recording on an even grid of time.
type Record struct {
	Start, Dt float64   // s
	Position  []float64 // rad or m
	Force     []float64 // in the unit of the samples times Gain
}

// Drive is what makes the force.
type Drive struct {
	Winding *plant.Motor // a command is the voltage on it; nil: the force follows the command
	Tick    float64      // s  from command to command
	Noise   float64      // of a sample of the force; 0: as it shows
	// s  by which a command may act before it is sent: of a simulation in which it acts from the sample before; a tick is always allowed
	Early float64
}

// Way is when a device takes a command.
type Way uint8

const (
	AsTheyCome Way = iota
	OnceASample
)

func (w Way) String() string {
	return [...]string{"taken as they come", "taken once a sample"}[w]
}

// timing is what is searched.
type timing struct {
	mode  Way
	delay float64 // s  from the sending of a command to its action
	phase float64 // OnceASample: of the sampling period, 0 … 1
	tau   float64 // s  without a winding: in which the force follows
}

// Course is how the force runs between its samples.
type Course struct {
	Mode        Way
	Delay       float64     // s
	Phase       float64     // of the period, OnceASample
	Tau         float64     // s
	Gain        float64     // b
	Doubt       float64     // share of the correction that may be wrong
	Points      [][]float64 // by record
	Means       [][]float64 // over the intervals behind the samples
	Alternative [][]float64 // the points with twice that share of the correction less
}

// Samples of a force that is not sampled with the positions: at these times (s), in the unit of Record.Force. The forces of the records are
// straight lines between them then.
type Samples struct{ Time, Value []float64 }

// Lag tells by how much the motion answers earlier (< 0) or later than forces at the points of the records say (s), and the standard
// error of that; ok is false where the records do not tell it.
type Lag func(points [][]float64) (lag, err float64, ok bool)

const (
	searched = 40000   // steps of the model, about, in one trial
	minRows  = 100     // changes of the force, below which nothing is told
	explains = 0.5     // share of the changes, rms, that an error of the model may be; above it says nothing
	lineTime = 3e-3    // s  mean time that a line takes to carry a command, before anything is known of it
	longest  = 20e-3   // s  longest delay of a command that is taken as it comes, or two samples
	finest   = 1. / 64 // of the step of a search, where it ends
	phases   = 20      // that are tried
	// of the least mean square of the changes that is left over: a timing that leaves less is possible, for the model has its errors too
	likelyRatio = 1.2
	barely      = 3 // and of it where none of these is answered at once
	unlikely    = 3 // standard errors of the lag
	unsure      = 4 // of −2·ln of both likelihoods: the doubt holds a timing that is worse by less; two standard errors
)

// Find is what the commands tell of the force between its samples; nil: nothing. own is nil where the force is sampled with the position;
// lag nil: nothing tells it.
func Find(recs []Record, own *Samples, c Steps, d Drive, lag Lag) *Course {
	if len(c.Time) < 2 || len(recs) == 0 {
		return nil
	}
	s := &search{d: d, c: c, deviceSamples: own, allRecords: recs}
	s.choose(recs)
	if s.rows() < minRows {
		return nil
	}
	found := s.likelyTrials(s.candidates(), lag)
	if len(found) == 0 {
		return nil
	}
	best := slices.MinFunc(found, cheaper)
	far, most := best, 0.0
	for _, t := range found {
		d := 0.0
		for i, bows := range t.bows {
			d = math.Hypot(d, floats.Distance(bows, best.bows[i], 2))
		}
		if t.cost < best.cost+unsure && d > most {
			far, most = t, d
		}
	}
	share := s.doubt(best)
	if share > explains {
		return nil
	}
	r := &Course{Mode: best.mode, Delay: best.delay, Phase: best.phase, Tau: best.tau, Gain: best.gain, Points: s.points(best.bows),
		Alternative: s.points(best.bows)}
	r.Means = s.means(best)
	var off, all float64
	for i, bows := range best.bows {
		for k, bow := range bows {
			d := far.bows[i][k] - bow - share*bow
			r.Alternative[i][k] += 2 * d
			off, all = off+d*d, all+bow*bow
		}
	}
	if all > 0 {
		r.Doubt = math.Sqrt(off / all)
	}
	return r
}

// likelyTrials are the candidates that explain the samples, with what the motion says of them. The best phase is refined.
func (s *search) likelyTrials(found []trial, lag Lag) (likely []trial) {
	if len(found) == 0 {
		return nil
	}
	for i := range found {
		found[i].cost += 2 * math.Max(0, found[i].delay) / lineTime
	}
	lowest, speed := slices.MinFunc(found, func(a, b trial) int {
		return cmp.Compare(a.residualMeanSquare,
			b.residualMeanSquare)
	}).residualMeanSquare, 2*s.speedError()
	var rest []trial
	for _, t := range found {
		if t.residualMeanSquare <= likelyRatio*lowest+speed {
			s.move(&t, lag)
			likely = append(likely, t)
		} else if t.residualMeanSquare <= barely*lowest {
			rest = append(rest, t)
		}
	}
	best := slices.MinFunc(likely, cheaper)
	if best.lateness > unlikely { // the model is too coarse to tell: the motion decides alone
		for _, t := range rest {
			s.move(&t, lag)
			likely = append(likely, t)
		}
		for i := range likely {
			likely[i].cost = likely[i].lateness*likely[i].lateness + 2*math.Max(0, likely[i].delay)/lineTime
		}
		best = slices.MinFunc(likely, cheaper)
	}
	phased := best.mode == OnceASample || s.allRecords[0].Dt <= 1.5*s.d.Tick
	for step := 0.5 / phases; phased && lag != nil && step > 0.1/phases; step /= 2 {
		for _, by := range []float64{-step, step} {
			to := best.timing
			if to.delay += by * s.allRecords[0].Dt; to.mode == OnceASample {
				to.phase += by
			}
			if to.phase >= 0 && to.phase < 1 && to.delay >= s.minDelay() {
				t := s.try(to)
				t.cost = best.cost - best.lateness*best.lateness // as likely by its samples
				s.move(&t, lag)
				likely = append(likely, t)
			}
		}
		best = slices.MinFunc(likely, cheaper)
	}
	return likely
}

// move adds to a trial how well the motion answers its points at once.
func (s *search) move(t *trial, lag Lag) {
	t.bows = s.correct(t)
	if lag == nil {
		return
	}
	if late, err, ok := lag(s.points(t.bows)); ok {
		t.lateness = math.Abs(late) / err
		t.cost += t.lateness * t.lateness
	}
}

// cheaper orders trials by their cost.
func cheaper(a, b trial) int { return cmp.Compare(a.cost, b.cost) }

// minDelay is the smallest delay: a command cannot act before it is sent, but a stamp may be off by a tick.
func (s *search) minDelay() float64 { return -1.1 * math.Max(s.d.Tick, s.d.Early) }

// search looks for the timing of the commands.
type search struct {
	d             Drive
	c             Steps
	deviceSamples *Samples
	allRecords    []Record
	recs          []Record // that are looked at
}

// trial is a timing with how well it explains the records.
type trial struct {
	timing
	cost               float64     // −2·ln of its likelihood, but for a constant
	gain               float64     // b
	share              float64     // of the changes of the force, rms, that the model leaves over
	residualMeanSquare float64     // their mean square
	lateness           float64     // by which the motion answers late or early, in standard errors
	bows               [][]float64 // b·(p − y) of all records
}

// choose takes as much of the records as is needed, longest first.
func (s *search) choose(recs []Record) {
	order := slices.Clone(recs)
	slices.SortStableFunc(order, func(a, b Record) int { return len(b.Force) - len(a.Force) })
	left := searched
	for _, r := range order {
		step := min(r.Dt, s.step())
		n := min(len(r.Force), int(float64(left)*step/r.Dt))
		if n < 10 {
			break
		}
		left -= int(float64(n) * r.Dt / step)
		at := (len(r.Force) - n) / 2
		s.recs = append(s.recs, Record{Start: r.Start + float64(at)*r.Dt, Dt: r.Dt, Position: r.Position[at : at+n], Force: r.Force[at : at+n]})
	}
}

// step is the longest one of the model, s: the drop of brushes bends it.
func (s *search) step() float64 {
	if w := s.d.Winding; w != nil && w.BrushDrop > 0 {
		return s.d.Tick / 4
	}
	return s.d.Tick
}

// samples are those of the force within a record, and the model there.
func (s *search) samples(r *Record, y *run) (f, m []float64) {
	if s.deviceSamples == nil {
		return r.Force, y.force
	}
	lo, hi := s.deviceRange(r)
	return s.deviceSamples.Value[lo:hi], y.deviceForce
}

// deviceRange are the samples of another device that fall into a record.
func (s *search) deviceRange(r *Record) (lo, hi int) {
	lo, _ = slices.BinarySearch(s.deviceSamples.Time, r.Start)
	hi, _ = slices.BinarySearch(s.deviceSamples.Time, r.Start+float64(len(r.Position)-1)*r.Dt)
	return lo, hi
}

// rows is the number of changes that are looked at.
func (s *search) rows() (n int) {
	for i := range s.recs {
		f, _ := s.samples(&s.recs[i], &run{})
		n += max(len(f)-1, 0)
	}
	return n
}

// try tells how well the model with a timing explains how the force changes from sample to sample.
func (s *search) try(t timing) trial {
	var xy, xx, yy float64
	n := 0
	for i := range s.recs {
		f, m := s.samples(&s.recs[i], s.model(&s.recs[i], t))
		for k := 1; k < len(f); k++ {
			df, dm := f[k]-f[k-1], m[k]-m[k-1]
			xy, xx, yy, n = xy+df*dm, xx+dm*dm, yy+df*df, n+1
		}
	}
	out := trial{timing: t, cost: math.Inf(1), share: 1}
	if !(xx > 0 && yy > 0 && xy > 0) {
		return out
	}
	out.gain = xy / xx
	left := math.Max(yy-out.gain*xy, 1e-12*yy)
	out.share, out.residualMeanSquare = math.Sqrt(left/yy), left/float64(n)
	out.cost = float64(n) * math.Log(left)
	return out
}

// candidates are the timings that explain the samples about as well as the best one: at most one of commands that are taken as they come,
// and one for each phase of those that are taken, or sent, once a sample.
func (s *search) candidates() (out []trial) {
	h, tick := s.recs[0].Dt, s.d.Tick
	step := math.Max(tick/2, h/16)
	least := s.minDelay()
	best := trial{cost: math.Inf(1)}
	for _, tau := range s.taus(h) {
		for d := least; d <= math.Max(longest, 2*h); d += step {
			s.better(&best, timing{delay: d, tau: tau})
		}
	}
	best = s.refined(best, step, least)
	out = append(out, best)
	if h > 1.5*tick {
		best = trial{cost: math.Inf(1)}
		for _, tau := range s.taus(h) {
			for d := least; d <= 2*h; d += step {
				s.better(&best, timing{mode: OnceASample, delay: d, phase: 0.5, tau: tau})
			}
		}
		sent := best.phase*h - best.delay // after a sample
		for i := range phases {
			p := float64(i) / phases
			b := trial{cost: math.Inf(1)}
			for turn := -1.; turn <= 1; turn++ { // it may have been sent a sample earlier
				if d := p*h - sent + turn*h; d >= least {
					s.better(&b, timing{mode: OnceASample, delay: d, phase: p, tau: best.tau})
				}
			}
			out = append(out, s.refined(b, step, least))
		}
	} else { // a command a sample: one that acts earlier or later between the same two samples explains them as well
		for d := best.delay - h; d <= best.delay+h; d += h / phases {
			if d >= least {
				out = append(out, s.try(timing{delay: d, tau: best.tau}))
			}
		}
	}
	// what errors of the speed may do counts for none of them
	lowest, speed := slices.MinFunc(out, cheaper).residualMeanSquare, 2*s.speedError()
	for i := range out {
		t := &out[i]
		t.cost += float64(s.rows()) * math.Log(math.Max(lowest, t.residualMeanSquare-speed)/t.residualMeanSquare)
	}
	return slices.DeleteFunc(out, func(t trial) bool { return math.IsInf(t.cost, 0) || math.IsNaN(t.cost) })
}

// speedError is what the error of the speeds at the samples may be in the changes of the force, mean square: as much as two formulas for
// them differ by.
func (s *search) speedError() (sum float64) {
	w, n := s.d.Winding, 0
	if w == nil {
		return 0
	}
	for i := range s.recs {
		r := &s.recs[i]
		last := 0.0
		for k, v := range filter.Derivative(r.Position, r.Dt) {
			d := v
			if k > 1 && k < len(r.Position)-2 {
				d = w.K * w.K / w.R * (v - (r.Position[k+1]-r.Position[k-1])/(2*r.Dt))
				sum, n = sum+(d-last)*(d-last), n+1
			} else {
				d = 0
			}
			last = d
		}
	}
	return sum / float64(max(n, 1))
}

// taus are the times in which a force may follow that are tried first.
func (s *search) taus(h float64) []float64 {
	if s.d.Winding != nil {
		return []float64{0}
	}
	return []float64{0, h / 3}
}

// better takes a timing that explains more.
func (s *search) better(best *trial, t timing) bool {
	c := s.try(t)
	if c.cost < best.cost {
		*best = c
		return true
	}
	return false
}

// refined goes downhill in delay and τ, in steps that are halved.
func (s *search) refined(best trial, step, least float64) trial {
	if math.IsInf(best.cost, 1) {
		return best
	}
	for scale := 0.5; scale > finest; scale /= 2 {
		for moved := true; moved; {
			moved = false
			for _, sign := range []float64{-1, 1} {
				t := best.timing
				if t.delay += sign * scale * step; t.delay >= least {
					moved = s.better(&best, t) || moved
				}
				if s.d.Winding == nil {
					t = best.timing
					t.tau = math.Max(0, t.tau+sign*scale*step)
					moved = t.tau != best.tau && s.better(&best, t) || moved
				}
			}
		}
	}
	return best
}

// correct are the corrections of all records.
func (s *search) correct(t *trial) (out [][]float64) {
	for i := range s.allRecords {
		bows := s.bows(&s.allRecords[i], s.model(&s.allRecords[i], t.timing))
		for k := range bows {
			bows[k] *= t.gain
		}
		out = append(out, bows)
	}
	return out
}

// means are those of the forces over the intervals behind the samples: of the straight lines between these, with what the model has more.
func (s *search) means(t trial) (out [][]float64) {
	for i := range s.allRecords {
		r := &s.allRecords[i]
		y := s.model(r, t.timing)
		m := slices.Clone(r.Force)
		for k := range len(m) - 1 {
			m[k] = (r.Force[k]+r.Force[k+1])/2 + t.gain*(y.fall[k]+y.rise[k]-(s.modelReading(r, y, k)+s.modelReading(r, y, k+1))/2)
		}
		out = append(out, m)
	}
	return out
}

// points are the forces with corrections.
func (s *search) points(bows [][]float64) (out [][]float64) {
	for i := range s.allRecords {
		p := slices.Clone(s.allRecords[i].Force)
		for k, bow := range bows[i] {
			p[k] += bow
		}
		out = append(out, p)
	}
	return out
}

// doubt is the share of the correction that is in doubt since the model leaves over more of the force than the noise of the sensor.
func (s *search) doubt(best trial) float64 {
	var e [][]float64
	for i := range s.recs {
		f, m := s.samples(&s.recs[i], s.model(&s.recs[i], best.timing))
		d := make([]float64, len(f))
		for k := range d {
			d[k] = f[k] - best.gain*m[k]
		}
		e = append(e, d)
	}
	noise := math.Max(s.d.Noise, numeric.Noise(e...))
	lasting := math.Max(0, best.residualMeanSquare-2*noise*noise)
	signal := math.Max(best.residualMeanSquare/(best.share*best.share)-2*noise*noise, lasting) // mean square of the changes without noise
	if signal == 0 {
		return 0
	}
	return math.Sqrt(lasting / signal)
}
