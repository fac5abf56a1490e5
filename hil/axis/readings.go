package axis

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// readings compares every channel of an axis with the command or with another channel. A comparison is an entry of a list: two means, what
// one is of the other, and how far they may be apart. It finds a reading that is zero, reversed, or of another scale, and one that stays
// the same number while the other changes. What the winding tells of voltage, current and speed is the affair of signs.
type readings struct {
	s      *Spec
	tau    float64 // s  of the means
	weight average // of a sample in them

	primed       bool
	lastValue    [numbers]float64    // newest number of each
	sampleAge    [numbers]float64    // s  since then
	constantTime [numbers]float64    // s  it has been the same in every sample …
	samples      [numbers]int        // … and in how many
	mean         [numbers]float64    // of Position the speed (rad/s)
	sum          float64             // of command times time …
	pending      float64             // s  … since the newest position
	history      [numbers][3]float64 // the last three of a quantity: a single wild one is none
	list         []comparison
	responses    []response
}

// The numbers that are compared: the quantities, what is commanded, the current that voltage and speed leave the winding, and the one that
// the voltage would make that current and speed show, were the axis at rest.
const (
	commanded = estimator.Quantities + iota
	windingCurrent
	windingResponse
	numbers
)

// comparison says that the number a is factor times the number b.
type comparison struct {
	a, b         estimator.Quantity
	factor       float64 // 0: a changes with b, by how much is not known
	floor        float64 // in the unit of a: so far they may be apart …
	share        float64 // … and by this share of both
	frozenLimit  float64 // in the unit of a, or of b where there is no factor: no larger change of b leaves a the same number
	limited      bool    // a may be smaller than b, but not reversed
	excess       bool    // a may be smaller than b in any way
	minApartTime float64 // s  they must be apart for so long; 0: apartFor
	follows      bool    // a comes nearer to b only as fast as it can, whatever b does meanwhile …
	against      bool    // … and only what is against b counts, where both are above the floor

	delays *delays // what is commanded is compared as it was some time before, too; nil: b is no command, or a speed

	apartTime  float64 // s  they are; where the command may be late, less the time that they are not
	startShare float64 // … by such a share of b when that began
	farthest   float64 // … and a where it was farthest from b since then
	finding    Finding // … by so much
	lo, hi     float64 // of b while a is the same number
}

const (
	apartFor      = 0.1  // s  two numbers must be apart for so long: longer than the means need
	sameSamples   = 10   // a number may be the same in so many samples, and for sameFor
	unsureReading = 0.03 // of the largest command: offsets of sensors
	nearer        = 0.25 // 1/s  of the larger speed: what comes nearer to its command so fast follows it
	fasterShare   = 0.25 // of both speeds: a drive that overshoots
	shownShare    = 0.1  // of the motion: what shows less shows none
	unsureTacho   = 2e-3 // of the largest velocity: offset of a tacho
	sigmaFactor   = 5    // standard deviations
)

// newReadings lists what can be compared.
func newReadings(s *Spec) readings {
	r := readings{s: s, tau: max(20e-3, 5*s.SamplePeriod)}
	m, top, e := &s.Motor, s.TopCommand, &s.Mechanical
	count, velocityNoise, velocityShare, topSpeed := e.Count, e.VelocityNoise, e.VelocityShare, e.TopSpeed
	effortNoise, currentNoise := e.EffortNoise, 0.0
	switch k := &s.Kalman; {
	case s.Drive == plant.VoltageDrive:
		count, velocityNoise, velocityShare, topSpeed = k.Count, k.VelocityNoise, k.VelocityShare, k.TopSpeed
		currentNoise = k.CurrentNoise
		if topSpeed == 0 && m.K > 0 {
			topSpeed = top / m.K
		}
	case m.K > 0:
		currentNoise = effortNoise / m.K
	}
	answerTime := max(apartFor, 2*minSamples*s.SamplePeriod)
	noise := [estimator.Quantities]float64{estimator.Current: currentNoise, estimator.Effort: effortNoise}
	add := func(c comparison) {
		if s.Channels[c.a] && (c.b >= estimator.Quantities || s.Channels[c.b]) && (c.floor > 0 || c.factor == 0 && c.frozenLimit > 0) {
			if c.b == commanded && c.factor != 0 && !c.follows {
				c.delays = new(delays)
				if !c.limited {
					r.responses = append(r.responses, response{answer: c.a, reading: c.a, factor: c.factor, limit: c.floor,
						deadZone: unsureEffort * top * c.factor, resolution: responseSigma * noise[c.a], minTime: answerTime})
				}
			}
			r.list = append(r.list, c)
		}
	}
	add(comparison{a: estimator.Velocity, b: estimator.Position, factor: 1,
		floor: sigmaFactor*velocityNoise + 2*count/r.tau + unsureTacho*topSpeed, share: 0.25 + velocityShare,
		frozenLimit: sigmaFactor*velocityNoise + 10*count/r.tau + 2*unsureTacho*topSpeed})
	switch s.Drive {
	case plant.VoltageDrive:
		add(comparison{a: estimator.Voltage, b: commanded, factor: 1, floor: 0.05 * top, share: 0.25, frozenLimit: 0.1 * top, limited: true})
		add(comparison{a: estimator.Effort, b: estimator.Current, factor: m.K,
			floor: sigmaFactor*(effortNoise+m.K*currentNoise) + unsureEffort*top*m.K/m.R, share: 0.25,
			frozenLimit: sigmaFactor*(effortNoise+m.K*currentNoise) + unsureEffort*top*m.K/m.R})
		add(comparison{a: estimator.Effort, b: windingCurrent, factor: m.K, floor: sigmaFactor*effortNoise + (0.05*top+2*m.BrushDrop)*m.K/m.R,
			share: 0.5, frozenLimit: sigmaFactor*effortNoise + 0.1*top*m.K/m.R})
		add(comparison{a: estimator.Current, b: windingCurrent, factor: 1, floor: sigmaFactor*currentNoise + (0.05*top+2*m.BrushDrop)/m.R,
			share: 0.5, frozenLimit: math.Inf(1), excess: true})
		if s.Channels[estimator.Current] {
			r.responses = append(r.responses, response{answer: windingResponse, reading: estimator.Current, factor: 1 / m.R,
				limit: unsureReading * top / m.R, deadZone: unsureEffort * top / m.R,
				resolution: responseSigma*currentNoise + m.K/m.R*count/r.tau, minTime: answerTime})
		}
	case plant.CurrentDrive:
		add(comparison{a: estimator.Current, b: commanded, factor: 1, floor: unsureReading*top + sigmaFactor*currentNoise, share: 0.25,
			frozenLimit: unsureEffort*top + sigmaFactor*currentNoise})
		add(comparison{a: estimator.Effort, b: commanded, factor: m.K, floor: unsureReading*top*m.K + sigmaFactor*effortNoise, share: 0.25,
			frozenLimit: unsureEffort*top*m.K + sigmaFactor*effortNoise})
	case plant.EffortDrive:
		add(comparison{a: estimator.Effort, b: commanded, factor: 1, floor: unsureReading*top + sigmaFactor*effortNoise, share: 0.25,
			frozenLimit: unsureEffort*top + sigmaFactor*effortNoise})
		c := comparison{a: estimator.Current, b: commanded, frozenLimit: unsureEffort * top}
		if m.K > 0 {
			c.factor, c.floor, c.share, c.frozenLimit = 1/m.K, unsureReading*top/m.K+sigmaFactor*currentNoise, 0.25,
				unsureEffort*top/m.K+sigmaFactor*currentNoise
		}
		add(c)
	case plant.VelocityDrive:
		r.responses = []response{{answer: estimator.Position, reading: estimator.Position, factor: 1, limit: 0.1*top + 50*count/r.tau,
			resolution: count / r.tau, minTime: responseTime}}
		add(comparison{a: estimator.Position, b: commanded, factor: 1, floor: 0.1*top + 10*count/r.tau, share: 1.0 / 3, frozenLimit: math.Inf(1),
			minApartTime: 0.2, follows: true})
		// a quarter of it
		add(comparison{a: estimator.Position, b: commanded, factor: 1, floor: unsureReading*top + 10*count/r.tau, share: 0.6,
			frozenLimit: math.Inf(1), minApartTime: 0.2, follows: true})
		add(comparison{a: estimator.Position, b: commanded, factor: 1, floor: unsureEffort*top + 10*count/r.tau, frozenLimit: math.Inf(1),
			minApartTime: apartFor, follows: true, against: true})
		add(comparison{a: estimator.Current, b: estimator.Position, frozenLimit: 0.1 * top})
		add(comparison{a: estimator.Effort, b: estimator.Position, frozenLimit: 0.1 * top})
		if m.K > 0 {
			add(comparison{a: estimator.Effort, b: estimator.Current, factor: m.K,
				floor: sigmaFactor*(effortNoise+m.K*currentNoise) + s.levels().Max(), share: 0.25, frozenLimit: math.Inf(1)})
		}
	}
	return r
}

// suspect is the comparison that has been broken for a while: what is told when it makes the axis leave its limits.
func (r *readings) suspect() (found Finding) {
	for i := range r.list {
		switch c := &r.list[i]; {
		case r.isFrozen(c, max(signsFor, minSamples*r.s.SamplePeriod)):
			return c.frozenFinding()
		case c.apartTime >= max(signsFor, c.minApartTime/2):
			return c.finding
		}
	}
	return found
}

// step takes a tick and tells the first comparison that has been broken for long enough; f knows how long the position is the same number.
func (r *readings) step(k Tick, in *estimator.Inputs, command float64, f *frozen) Finding {
	dt := r.s.Tick * (1 + float64(k.Skip))
	for q := range estimator.Quantities {
		r.sampleAge[q] += dt
		p := in.Of(q)
		if !r.s.Channels[q] || !p.Updated || !numeric.IsFinite(p.Value) {
			continue
		}
		r.history[q] = [3]float64{r.history[q][1], r.history[q][2], p.Value}
		r.constantTime[q], r.samples[q] = r.constantTime[q]+r.sampleAge[q], r.samples[q]+1
		if p.Value != r.lastValue[q] || !r.primed {
			r.constantTime[q], r.samples[q] = 0, 0
		}
		if r.sampleAge[q] = 0; q != estimator.Position {
			r.lastValue[q] = p.Value
		}
	}
	if len(r.list) == 0 {
		return Finding{}
	}
	if !k.Energised || !numeric.IsFinite(command) {
		r.primed = false
		return Finding{}
	}
	p := &in.Position
	if !r.primed {
		if r.sampleAge[estimator.Position] > 0 {
			return Finding{}
		}
		r.begin(p.Value, command)
		return Finding{}
	}
	r.sum += dt * command
	r.pending += dt
	if r.sampleAge[estimator.Position] > 0 {
		return Finding{}
	}
	dt, command = r.pending, r.sum/r.pending
	r.sum, r.pending = 0, 0
	r.advance(p.Value, command, dt)
	if dt > 3*r.s.SamplePeriod { // what happened in a gap is not known
		r.forgetResponses()
		return Finding{}
	}
	for i := range r.responses {
		p := &r.responses[i]
		if r.nearDeadZone(p) || r.sampleAge[p.reading] > 2*r.s.SamplePeriod {
			p.forget()
			continue
		}
		if found := p.step(r.mean[p.answer], r.mean[commanded], dt, r.s.SamplePeriod); found.Fault != Fine {
			return found
		}
	}
	for i := range r.list {
		if found := r.judge(&r.list[i], dt, f); found.Fault != Fine {
			return found
		}
	}
	return Finding{}
}

// nearDeadZone tells that a reading is in its dead zone, or goes through it by turns, which its mean does not show.
func (r *readings) nearDeadZone(p *response) bool {
	if p.deadZone == 0 {
		return false
	}
	side := math.Copysign(1, r.mean[p.reading])
	least := side * r.mean[p.reading]
	for _, x := range r.history[p.reading] {
		least = min(least, side*x)
	}
	return least < p.deadZone
}

// begin starts the means at what is.
func (r *readings) begin(position, command float64) {
	r.primed, r.sum, r.pending = true, 0, 0
	r.lastValue[estimator.Position], r.lastValue[commanded] = position, command
	r.mean = r.lastValue
	for q := estimator.Current; q < estimator.Quantities; q++ {
		r.history[q] = [3]float64{r.lastValue[q], r.lastValue[q], r.lastValue[q]}
	}
	r.mean[estimator.Position], r.mean[windingCurrent] = 0, 0
	r.forgetResponses()
	for i := range r.list { // what swung before swings no reading of now
		c := &r.list[i]
		if c.apartTime, c.lo, c.hi = 0, math.Inf(1), math.Inf(-1); c.delays != nil {
			*c.delays = delays{}
		}
	}
}

// advance moves the means on by dt (s).
func (r *readings) advance(position, command, dt float64) {
	w := r.weight.weightFor(dt, r.tau)
	toward := func(q estimator.Quantity, x float64) { r.mean[q] += w * (x - r.mean[q]) }
	toward(estimator.Position, (position-r.lastValue[estimator.Position])/dt)
	r.lastValue[estimator.Position] = position
	for q := estimator.Current; q < estimator.Quantities; q++ {
		toward(q, middle(r.history[q]))
	}
	toward(commanded, command)
	if m := &r.s.Motor; r.s.Drive == plant.VoltageDrive {
		left := r.mean[commanded] - m.K*r.mean[estimator.Position]
		r.mean[windingCurrent] = 1 / m.R * math.Copysign(max(0, math.Abs(left)-m.BrushDrop), left)
		r.mean[windingResponse] = r.mean[estimator.Current] + m.K/m.R*r.mean[estimator.Position]
	}
}

func (r *readings) forgetResponses() {
	for i := range r.responses {
		r.responses[i].forget()
	}
}

// judge looks at one comparison after dt (s).
func (r *readings) judge(c *comparison, dt float64, f *frozen) Finding {
	if recent := max(apartFor, 5*r.s.SamplePeriod); r.sampleAge[c.a] > recent || c.b < estimator.Quantities && r.sampleAge[c.b] > recent {
		c.apartTime = 0
		return Finding{}
	}
	x, y := r.mean[c.a], r.mean[c.b]
	if c.factor != 0 {
		y *= c.factor
	}
	if r.samples[c.a] == 0 {
		c.lo, c.hi = y, y
	}
	c.lo, c.hi = min(c.lo, y), max(c.hi, y)
	if r.isFrozen(c, sameFor) {
		return c.frozenFinding()
	}
	if c.factor == 0 {
		return Finding{}
	}
	over, limit := x-y, c.floor+c.share*(math.Abs(x)+math.Abs(y))
	if c.excess && math.Abs(x) <= math.Abs(y)+limit {
		over = 0
	}
	if c.limited && x*y >= 0 && math.Abs(x) <= math.Abs(y) {
		over = 0
	}
	least := apartFor
	if c.follows {
		least = max(c.minApartTime, 2*minSamples*r.s.SamplePeriod)
		faster := false
		switch {
		case c.against: // a way back is no slow way there
			least = max(c.minApartTime, minSamples*r.s.SamplePeriod)
			if limit = c.floor; x*y >= 0 || min(math.Abs(x), math.Abs(y)) <= c.floor {
				over = 0
			}
		case x*y >= 0 && math.Abs(x) > math.Abs(y): // nor is a motion that is too fast
			least, faster = max(apartFor, minSamples*r.s.SamplePeriod), true
			limit = c.floor + fasterShare*(math.Abs(x)+math.Abs(y))
		}
		// a share may shrink because b grows, and a may change because b does
		away, share := math.Copysign(1, over), math.Abs(over/y)
		c.farthest = away * max(away*c.farthest, away*x)
		approaches := away*(c.farthest-x) > nearer*least*max(math.Abs(x), math.Abs(y))
		if c.apartTime == 0 || approaches && (faster || share < c.startShare-nearer*c.minApartTime) {
			c.apartTime, c.startShare, c.farthest = 0, share, x
		}
	}
	off := math.Abs(over) > limit
	if c.apartTime += dt; c.delays != nil {
		c.delays.add(y, x, 0, dt, max(delaySpacing, r.s.SamplePeriod), off)
		c.apartTime = c.delays.time
	} else if !off {
		c.apartTime = 0
	}
	if c.finding = (Finding{Disagree, c.a, over, limit}); c.a == estimator.Position { // a way tells more than a speed
		if c.finding.Value, c.finding.Limit = over*c.apartTime, limit*c.apartTime; math.Abs(x) < shownShare*math.Abs(y) {
			c.finding = Finding{Frozen, c.a, y * c.apartTime, math.Abs(y) * shownShare * c.apartTime}
		} else if x*y < 0 {
			c.finding = Finding{Direction, c.a, over, limit}
		}
	}
	if c.delays != nil {
		c.finding = c.delays.named(c.finding, false)
	}
	if c.apartTime < least {
		return Finding{}
	}
	// the position is the one that does not tell
	if c.b == estimator.Position && f != nil && f.stood >= apartFor/2 && math.Abs(x)*f.stood > patientWay*f.counts {
		return Finding{Frozen, estimator.Position, x * f.stood, patientWay * f.counts}
	}
	return c.finding
}

// isFrozen tells whether a is the same number for so long (s) while b changes.
func (r *readings) isFrozen(c *comparison, long float64) bool {
	return r.constantTime[c.a] >= long && r.samples[c.a] >= sameSamples && c.hi-c.lo > c.frozenLimit
}

func (c *comparison) frozenFinding() Finding {
	if c.factor == 0 {
		return Finding{Fault: FrozenReading, Quantity: c.a}
	}
	return Finding{FrozenReading, c.a, c.hi - c.lo, c.frozenLimit}
}

// middle of three numbers.
func middle(x [3]float64) float64 { return max(min(x[0], x[1]), min(max(x[0], x[1]), x[2])) }

// speed (rad/s) is of the last three measured velocities the one nearest to zero: a single wild one is none.
func (r *readings) speed() (slowest float64) {
	tacho := &r.history[estimator.Velocity]
	slowest = tacho[0]
	for _, v := range tacho[1:] {
		if math.Abs(v) < math.Abs(slowest) {
			slowest = v
		}
	}
	return slowest
}
