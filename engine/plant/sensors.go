package plant

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Reading is what one sensor makes of an output of the plant.
type Reading struct {
	Output int     // number of the output; −1: nothing of the plant, Read leaves the number alone
	Count  float64 // the reading is rounded to whole multiples of it, in the unit of the output; 0: not
	Noise  float64 // standard deviation, white
	Offset float64
}

// SensorSpec describes the sensors of a plant.
type SensorSpec struct {
	Readings []Reading // in the order of the readings
	Seed     uint64    // the same seed gives the same noise
	Period   float64   // s  from Read to Read where Clock does not say otherwise; only a Delay asks for it
	Longest  float64   // s  longest Delay that will be asked for
}

// Fault is what is wrong with a sensor.
type Fault uint8

const (
	Healthy Fault = iota
	Stuck         // says what it said when the fault began
	Lost          // says nothing: the reading is NaN, and nothing is to be sent
	Shifted       // says so much more
	Delayed       // says what was right so many seconds ago
)

// Words are the faults by number.
func (Fault) Words() []string { return []string{"none", "stuck", "lost", "offset", "delay"} }

func (f Fault) String() string { return f.Words()[f] }

// Sensors turns the outputs of a plant into readings.
type Sensors struct {
	s       SensorSpec
	rng     *rand.Rand
	state   []sensor
	history []float64 // of all sensors, one time behind the other, as a ring
	times   []float64 // s  those times
	room    int       // number of them
	head    int       // place of the newest
	t       float64   // s
}

// sensor is the state of one.
type sensor struct {
	fault       Fault
	faultSize   float64 // of the fault, in the unit of the reading
	lastReading float64 // the last reading
}

// NewSensors checks the description.
func NewSensors(s SensorSpec) (*Sensors, error) {
	var errs []error
	for i, r := range s.Readings {
		if !(r.Count >= 0) || math.IsInf(r.Count, 0) {
			errs = append(errs, fmt.Errorf("sensors: reading %d: count %g, want ≥ 0", i, r.Count))
		}
		if !(r.Noise >= 0) || math.IsInf(r.Noise, 0) {
			errs = append(errs, fmt.Errorf("sensors: reading %d: noise %g, want ≥ 0", i, r.Noise))
		}
		if math.IsNaN(r.Offset) || math.IsInf(r.Offset, 0) {
			errs = append(errs, fmt.Errorf("sensors: reading %d: offset %g, want a finite number", i, r.Offset))
		}
	}
	if s.Longest > 0 && !(s.Period > 0) {
		errs = append(errs, fmt.Errorf("sensors: a delay of %g s asks for the period of the readings", s.Longest))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	n := &Sensors{s: s, rng: rand.New(rand.NewPCG(s.Seed, 0x6d6f746f72)), state: make([]sensor, len(s.Readings))}
	if s.Longest > 0 {
		n.room = int(math.Ceil(s.Longest/s.Period)) + 1
		n.history = make([]float64, n.room*len(s.Readings))
		for i := range n.history {
			n.history[i] = math.NaN() // nothing was said before the first Read
		}
		n.times = make([]float64, n.room)
		for i := range n.times {
			n.times[i] = math.Inf(-1)
		}
	}
	return n, nil
}

// Fail makes a sensor faulty, or healthy again. by is the shift in the unit of the reading, or the delay in s.
func (n *Sensors) Fail(k int, f Fault, by float64) {
	s := &n.state[k]
	s.fault, s.faultSize = f, by
}

// Clock says when the next Read is (s).
func (n *Sensors) Clock(t float64) { n.t = t - n.s.Period }

// ago is the place of the newest reading that is at least so old (s), or of the oldest there is room for.
func (n *Sensors) ago(by float64) int {
	lo, hi := 0, n.room-1 // Reads ago
	for limit := n.t - by + n.s.Period/2; lo < hi; {
		if mid := (lo + hi) / 2; n.times[(n.head-mid+n.room)%n.room] <= limit {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return (n.head - lo + n.room) % n.room
}

// Read fills one reading per sensor from the outputs y of the plant; a lost one is NaN. It allocates nothing; noise and past advance
// with every call.
func (n *Sensors) Read(y, readings []float64) {
	width := len(n.state)
	if n.t += n.s.Period; n.room > 0 {
		n.head = (n.head + 1) % n.room
		n.times[n.head] = n.t
	}
	for k := range n.s.Readings {
		r, s := &n.s.Readings[k], &n.state[k]
		if r.Output < 0 {
			continue
		}
		v := y[r.Output] + r.Offset
		if r.Noise > 0 {
			v += r.Noise * n.rng.NormFloat64()
		}
		if n.room > 0 {
			n.history[n.head*width+k] = round(v, r.Count) // what a healthy one says
		}
		switch s.fault {
		case Stuck:
			readings[k] = s.lastReading
			continue
		case Lost:
			readings[k] = math.NaN()
			continue
		case Shifted:
			v += s.faultSize
		case Delayed:
			if n.room > 0 { // else nothing is ever late
				v = n.history[n.ago(s.faultSize)*width+k]
			}
		}
		s.lastReading = round(v, r.Count)
		readings[k] = s.lastReading
	}
}

// round is v as a whole multiple of count; 0: as it is.
func round(v, count float64) float64 {
	if count == 0 {
		return v
	}
	return math.Round(v/count) * count
}
