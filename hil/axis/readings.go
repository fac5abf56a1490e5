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
	s   *Spec
	tau float64 // s  of the means

	on      bool
	last    [numbers]float64    // newest number of each
	came    [numbers]float64    // s  since then
	same    [numbers]float64    // s  it has been the same in every sample …
	samples [numbers]int        // … and in how many
	mean    [numbers]float64    // of Position the speed (rad/s)
	sum     float64             // of command times time …
	pending float64             // s  … since the newest position
	newest  [numbers][3]float64 // the last three of a quantity: a single wild one is none
	list    []comparison
}

// The numbers that are compared: the quantities, what is commanded, and the current that voltage and speed leave the winding.
const (
	commanded = estimator.Quantities + iota
	windingCurrent
	numbers
)

// comparison says that the number a is factor times the number b.
type comparison struct {
	a, b    estimator.Quantity
	factor  float64 // 0: a changes with b, by how much is not known
	floor   float64 // in the unit of a: so far they may be apart …
	share   float64 // … and by this share of both
	fixed   float64 // in the unit of a, or of b where there is no factor: no larger change of b leaves a the same number
	limited bool    // a may be smaller than b, but not reversed
	excess  bool    // a may be smaller than b in any way
	patient float64 // s  they must be apart for so long; 0: apartFor
	follows bool    // a comes nearer to b only as fast as it can, whatever b does meanwhile …
	against bool    // … and only what is against b counts, where both are above the floor

	delays *delays // what is commanded is compared as it was some time before, too; nil: b is no command, or a speed

	apart    float64 // s  they are; where the command may be late, less the time that they are not
	far      float64 // … by such a share of b when that began
	farthest float64 // … and a where it was farthest from b since then
	found    Finding // … by so much
	lo, hi   float64 // of b while a is the same number
}

const (
	apartFor      = 0.1  // s  two numbers must be apart for so long: longer than the means need
	sameSamples   = 10   // a number may be the same in so many samples, and for sameFor
	unsureReading = 0.03 // of the largest command: offsets of sensors
	nearer        = 0.25 // 1/s  of the larger speed: what comes nearer to its command so fast follows it
	fasterShare   = 0.25 // of both speeds: a drive that overshoots
	shownShare    = 0.1  // of the motion: what shows less shows none
	unsureTacho   = 2e-3 // of the largest velocity: offset of a tacho
	sure          = 5    // standard deviations
)

// newReadings lists what can be compared.
func newReadings(s *Spec) readings {
	r := readings{s: s, tau: max(20e-3, 5*s.Every)}
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
	add := func(c comparison) {
		if s.Channels[c.a] && (c.b >= estimator.Quantities || s.Channels[c.b]) && (c.floor > 0 || c.factor == 0 && c.fixed > 0) {
			if c.b == commanded && c.factor != 0 && !c.follows {
				c.delays = new(delays)
			}
			r.list = append(r.list, c)
		}
	}
	add(comparison{a: estimator.Velocity, b: estimator.Position, factor: 1, floor: sure*velocityNoise + 2*count/r.tau + unsureTacho*topSpeed, share: 0.25 + velocityShare,
		fixed: sure*velocityNoise + 10*count/r.tau + 2*unsureTacho*topSpeed})
	switch s.Drive {
	case plant.VoltageDrive:
		add(comparison{a: estimator.Voltage, b: commanded, factor: 1, floor: 0.05 * top, share: 0.25, fixed: 0.1 * top, limited: true})
		add(comparison{a: estimator.Effort, b: estimator.Current, factor: m.K, floor: sure*(effortNoise+m.K*currentNoise) + unsureEffort*top*m.K/m.R, share: 0.25, fixed: sure*(effortNoise+m.K*currentNoise) + unsureEffort*top*m.K/m.R})
		add(comparison{a: estimator.Effort, b: windingCurrent, factor: m.K, floor: sure*effortNoise + (0.05*top+2*m.BrushDrop)*m.K/m.R, share: 0.5, fixed: sure*effortNoise + 0.1*top*m.K/m.R})
		add(comparison{a: estimator.Current, b: windingCurrent, factor: 1, floor: sure*currentNoise + (0.05*top+2*m.BrushDrop)/m.R, share: 0.5, fixed: math.Inf(1), excess: true})
	case plant.CurrentDrive:
		add(comparison{a: estimator.Current, b: commanded, factor: 1, floor: unsureReading*top + sure*currentNoise, share: 0.25, fixed: unsureEffort*top + sure*currentNoise})
		add(comparison{a: estimator.Effort, b: commanded, factor: m.K, floor: unsureReading*top*m.K + sure*effortNoise, share: 0.25, fixed: unsureEffort*top*m.K + sure*effortNoise})
	case plant.EffortDrive:
		add(comparison{a: estimator.Effort, b: commanded, factor: 1, floor: unsureReading*top + sure*effortNoise, share: 0.25, fixed: unsureEffort*top + sure*effortNoise})
		c := comparison{a: estimator.Current, b: commanded, fixed: unsureEffort * top}
		if m.K > 0 {
			c.factor, c.floor, c.share, c.fixed = 1/m.K, unsureReading*top/m.K+sure*currentNoise, 0.25, unsureEffort*top/m.K+sure*currentNoise
		}
		add(c)
	case plant.VelocityDrive:
		add(comparison{a: estimator.Position, b: commanded, factor: 1, floor: 0.1*top + 10*count/r.tau, share: 1.0 / 3, fixed: math.Inf(1), patient: 0.2, follows: true})
		add(comparison{a: estimator.Position, b: commanded, factor: 1, floor: unsureReading*top + 10*count/r.tau, share: 0.6, fixed: math.Inf(1), patient: 0.2, follows: true}) // a quarter of it
		add(comparison{a: estimator.Position, b: commanded, factor: 1, floor: unsureEffort*top + 10*count/r.tau, fixed: math.Inf(1), patient: apartFor, follows: true, against: true})
		add(comparison{a: estimator.Current, b: estimator.Position, fixed: 0.1 * top})
		add(comparison{a: estimator.Effort, b: estimator.Position, fixed: 0.1 * top})
		if m.K > 0 {
			add(comparison{a: estimator.Effort, b: estimator.Current, factor: m.K, floor: sure*(effortNoise+m.K*currentNoise) + s.levels().Top(), share: 0.25, fixed: math.Inf(1)})
		}
	}
	return r
}

// suspect is the comparison that has been broken for a while: what is told when it makes the axis leave its limits.
func (r *readings) suspect() (found Finding) {
	for i := range r.list {
		switch c := &r.list[i]; {
		case r.stuck(c, max(signsFor, leastSamples*r.s.Every)):
			return c.stuck()
		case c.apart >= max(signsFor, c.patient/2):
			return c.found
		}
	}
	return found
}

// step takes a tick and tells the first comparison that has been broken for long enough; f knows how long the position is the same number.
func (r *readings) step(k Tick, in *estimator.Inputs, command float64, f *frozen) Finding {
	dt := r.s.Tick * (1 + float64(k.Skip))
	for q := range estimator.Quantities {
		r.came[q] += dt
		p := in.Of(q)
		if !r.s.Channels[q] || !p.Fresh || !numeric.Finite(p.Value) {
			continue
		}
		r.newest[q] = [3]float64{r.newest[q][1], r.newest[q][2], p.Value}
		r.same[q], r.samples[q] = r.same[q]+r.came[q], r.samples[q]+1
		if p.Value != r.last[q] || !r.on {
			r.same[q], r.samples[q] = 0, 0
		}
		if r.came[q] = 0; q != estimator.Position {
			r.last[q] = p.Value
		}
	}
	if len(r.list) == 0 {
		return Finding{}
	}
	if !k.On || !numeric.Finite(command) {
		r.on = false
		return Finding{}
	}
	p := &in.Position
	if !r.on {
		if r.came[estimator.Position] > 0 {
			return Finding{}
		}
		r.begin(p.Value, command)
		return Finding{}
	}
	r.sum += dt * command
	r.pending += dt
	if r.came[estimator.Position] > 0 {
		return Finding{}
	}
	dt, command = r.pending, r.sum/r.pending
	r.sum, r.pending = 0, 0
	r.advance(p.Value, command, dt)
	if dt > 3*r.s.Every { // what happened in a gap is not known
		return Finding{}
	}
	for i := range r.list {
		if found := r.judge(&r.list[i], dt, f); found.Fault != Fine {
			return found
		}
	}
	return Finding{}
}

// begin starts the means at what is.
func (r *readings) begin(position, command float64) {
	r.on, r.sum, r.pending = true, 0, 0
	r.last[estimator.Position], r.last[commanded] = position, command
	r.mean = r.last
	for q := estimator.Current; q < estimator.Quantities; q++ {
		r.newest[q] = [3]float64{r.last[q], r.last[q], r.last[q]}
	}
	r.mean[estimator.Position], r.mean[windingCurrent] = 0, 0
	for i := range r.list { // what swung before swings no reading of now
		c := &r.list[i]
		if c.apart, c.lo, c.hi = 0, math.Inf(1), math.Inf(-1); c.delays != nil {
			*c.delays = delays{}
		}
	}
}

// advance moves the means on by dt (s).
func (r *readings) advance(position, command, dt float64) {
	w := -math.Expm1(-dt / r.tau)
	toward := func(q estimator.Quantity, x float64) { r.mean[q] += w * (x - r.mean[q]) }
	toward(estimator.Position, (position-r.last[estimator.Position])/dt)
	r.last[estimator.Position] = position
	for q := estimator.Current; q < estimator.Quantities; q++ {
		toward(q, middle(r.newest[q]))
	}
	toward(commanded, command)
	if m := &r.s.Motor; r.s.Drive == plant.VoltageDrive {
		left := r.mean[commanded] - m.K*r.mean[estimator.Position]
		r.mean[windingCurrent] = 1 / m.R * math.Copysign(max(0, math.Abs(left)-m.BrushDrop), left)
	}
}

// judge looks at one comparison after dt (s).
func (r *readings) judge(c *comparison, dt float64, f *frozen) Finding {
	if recent := max(apartFor, 5*r.s.Every); r.came[c.a] > recent || c.b < estimator.Quantities && r.came[c.b] > recent {
		c.apart = 0
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
	if r.stuck(c, sameFor) {
		return c.stuck()
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
		least = max(c.patient, 2*leastSamples*r.s.Every)
		faster := false
		switch {
		case c.against: // a way back is no slow way there
			least = max(c.patient, leastSamples*r.s.Every)
			if limit = c.floor; x*y >= 0 || min(math.Abs(x), math.Abs(y)) <= c.floor {
				over = 0
			}
		case x*y >= 0 && math.Abs(x) > math.Abs(y): // nor is a motion that is too fast
			least, faster = max(apartFor, leastSamples*r.s.Every), true
			limit = c.floor + fasterShare*(math.Abs(x)+math.Abs(y))
		}
		// a share may shrink because b grows, and a may change because b does
		away, share := math.Copysign(1, over), math.Abs(over/y)
		c.farthest = away * max(away*c.farthest, away*x)
		approaches := away*(c.farthest-x) > nearer*least*max(math.Abs(x), math.Abs(y))
		if c.apart == 0 || approaches && (faster || share < c.far-nearer*c.patient) {
			c.apart, c.far, c.farthest = 0, share, x
		}
	}
	off := math.Abs(over) > limit
	if c.apart += dt; c.delays != nil {
		c.delays.add(y, x, 0, dt, max(delaySpacing, r.s.Every), off)
		c.apart = c.delays.time
	} else if !off {
		c.apart = 0
	}
	if c.found = (Finding{Disagree, c.a, over, limit}); c.a == estimator.Position { // a way tells more than a speed
		if c.found.Value, c.found.Limit = over*c.apart, limit*c.apart; math.Abs(x) < shownShare*math.Abs(y) {
			c.found = Finding{Frozen, c.a, y * c.apart, math.Abs(y) * shownShare * c.apart}
		} else if x*y < 0 {
			c.found = Finding{Direction, c.a, over, limit}
		}
	}
	if c.delays != nil {
		c.found = c.delays.named(c.found, false)
	}
	if c.apart < least {
		return Finding{}
	}
	if c.b == estimator.Position && f != nil && f.stood >= apartFor/2 && math.Abs(x)*f.stood > patientWay*f.counts { // the position is the one that does not tell
		return Finding{Frozen, estimator.Position, x * f.stood, patientWay * f.counts}
	}
	return c.found
}

// stuck tells whether a is the same number for so long (s) while b changes.
func (r *readings) stuck(c *comparison, long float64) bool {
	return r.same[c.a] >= long && r.samples[c.a] >= sameSamples && c.hi-c.lo > c.fixed
}

func (c *comparison) stuck() Finding {
	if c.factor == 0 {
		return Finding{Fault: FrozenReading, Of: c.a}
	}
	return Finding{FrozenReading, c.a, c.hi - c.lo, c.fixed}
}

// middle of three numbers.
func middle(x [3]float64) float64 { return max(min(x[0], x[1]), min(max(x[0], x[1]), x[2])) }

// speed (rad/s) is of the last three measured velocities the one nearest to zero: a single wild one is none.
func (r *readings) speed() (slowest float64) {
	tacho := &r.newest[estimator.Velocity]
	slowest = tacho[0]
	for _, v := range tacho[1:] {
		if math.Abs(v) < math.Abs(slowest) {
			slowest = v
		}
	}
	return slowest
}
