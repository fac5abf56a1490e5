package bristle

import (
	"fmt"
	"math"
	"slices"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// span is one piece of a recording within the samples of all: from … to−1, at intervals of h.
type span struct {
	start, stop int
	h           float64 // s
}

// data are records that were looked through, their samples one behind the other.
type data struct {
	y, u     []float64 // position and force
	spans    []span
	h        float64 // s, the longest sampling interval
	reach    float64 // of the position, in the piece where it is largest
	quantum  float64 // of the encoder, 0: none found
	maxForce float64 // N, largest force
	noise    float64 // rms of the position error as the record shows it
	explains bool    // the noise is that of the quantum, or given
	means    bool    // forces are means, and each error of the sensor is in two of them
	notes    []string
}

// shortest is the least number of samples that is worth a fit of eight parameters, fragment the least of a piece of several.
const shortest, fragment = 200, 50

// minValues is the least number of values of a position that shows motion.
const minValues = 20

// UsableRecords are the records that a fit rests on: of several, those that are long enough.
func UsableRecords(recs []*record.Record) (used []*record.Record) {
	for _, rec := range recs {
		if len(recs) == 1 || len(rec.Position) >= fragment {
			used = append(used, rec)
		}
	}
	return used
}

// newData refuses records that cannot tell friction.
func newData(recs []*record.Record, o *Options) (*data, error) {
	d := &data{quantum: o.Quantum}
	for _, rec := range recs {
		n := len(rec.Position)
		switch {
		case rec.Position == nil || rec.Force == nil:
			return nil, rec.Fail(0, "Name the columns of position and force in data.columns.",
				"a bristle fit needs position and force, and the record lacks one")
		case len(rec.Force) != n:
			return nil, rec.Fail(0, "", "%d positions but %d forces", n, len(rec.Force))
		case !(rec.Dt > 0):
			return nil, rec.Fail(0, "", "sampling interval %g s, want > 0", rec.Dt)
		}
		for k := range n {
			if !numeric.AllFinite(rec.Position[k], rec.Force[k]) {
				return nil, rec.Fail(0, "Cut the record there.", "sample %d: position %g, force %g: want finite numbers", k, rec.Position[k],
					rec.Force[k])
			}
		}
	}
	used := UsableRecords(recs)
	for _, rec := range used {
		n := len(rec.Position)
		d.spans = append(d.spans, span{len(d.y), len(d.y) + n, rec.Dt})
		d.h, d.means = max(d.h, rec.Dt), rec.ForceMeans
		d.y, d.u = append(d.y, rec.Position...), append(d.u, rec.Force...)
	}
	if left := len(recs) - len(used); left > 0 {
		d.notes = append(d.notes, fmt.Sprintf("%d pieces of less than %d samples were left out.", left, fragment))
	}
	rec := recs[0]
	if len(d.y) < shortest {
		return nil, rec.Fail(0, "Record longer: ten seconds at 1 kHz are usual.", "%d samples, want at least %d", len(d.y), shortest)
	}
	pieces := d.pieces(d.y)
	for _, y := range pieces {
		d.reach = max(d.reach, slices.Max(y)-slices.Min(y))
	}
	if d.reach == 0 {
		return nil, rec.Fail(0, "Drive the axis harder, until it slides to and fro.",
			"the position never changes: without motion there is no friction to be seen")
	}
	if values := len(slices.Compact(slices.Sorted(slices.Values(d.y)))); values < minValues {
		return nil, rec.Fail(0, "Drive the axis harder, or use a finer encoder.",
			"the position takes %d values in all: nothing can be told from that", values)
	}
	d.maxForce = max(slices.Max(d.u), -slices.Min(d.u))
	if lo := slices.Min(d.u); slices.Max(d.u) == lo {
		return nil, rec.Fail(0, "Is this the right column?", "the force never changes: it is %g throughout", lo)
	}
	if d.quantum == 0 {
		d.quantum = numeric.EncoderStep(pieces...)
	}
	for _, rec := range recs { // interpolated ones do not show it
		d.quantum = max(d.quantum, rec.PositionStep)
	}
	rounding := d.quantum / math.Sqrt(12)
	if o.Noise > 0 {
		d.noise, d.explains = math.Hypot(rounding, o.Noise), true
	} else if d.noise = numeric.Noise(pieces...); d.quantum > 0 && d.noise < 1.4*rounding {
		d.noise, d.explains = rounding, true
	}
	if d.noise == 0 { // a simulation without noise: what a double can hold
		d.noise = 1e-9 * d.reach
	}
	if d.reach < 20*d.noise {
		return nil, rec.Fail(0, "Drive the axis harder, or use a finer encoder.",
			"the axis moves by %.3g in all and the position is uncertain by %.2g: nothing can be told from that", d.reach, d.noise)
	}
	n := d.reversals()
	if n < 2 {
		return nil, rec.Fail(0, "Let the axis go to and fro, slowly and fast: ten reversals and more.",
			"the axis turns round %d times: stiffness and damping of the contact show at reversals only", n)
	}
	return d, nil
}

// starts are the first samples of the pieces.
func (d *data) starts() (first []int) {
	for _, p := range d.spans {
		first = append(first, p.start)
	}
	return first
}

// pieces cuts a signal.
func (d *data) pieces(x []float64) [][]float64 {
	var out [][]float64
	for _, p := range d.spans {
		out = append(out, x[p.start:p.stop])
	}
	return out
}

// path is the length of the motion, to and fro, without what the noise of the position adds.
func (d *data) path() (sum float64) {
	for _, y := range d.pieces(d.y) {
		last := y[0]
		for _, v := range y {
			if math.Abs(v-last) > 6*d.noise {
				sum += math.Abs(v - last)
				last = v
			}
		}
	}
	return sum
}

// reversals counts those of the motion.
func (d *data) reversals() (n int) {
	for _, y := range d.pieces(d.y) {
		n += turns(y, max(4*d.noise, 0.02*d.reach))
	}
	return n
}

// turns counts the reversals of a position by more than the given distance.
func turns(y []float64, by float64) (n int) {
	lo, hi := y[0], y[0]
	up := 0
	for _, v := range y {
		lo, hi = min(lo, v), max(hi, v)
		switch {
		case v > lo+by && up <= 0:
			if up < 0 {
				n++
			}
			up, hi = 1, v
		case v < hi-by && up >= 0:
			if up > 0 {
				n++
			}
			up, lo = -1, v
		}
		if up > 0 {
			lo = v
		} else if up < 0 {
			hi = v
		}
	}
	return n
}

// fineness is how many counts of the encoder, or deviations of its noise times √12, the break-away deflection Fs/σ0 must
// have for the stiffness and damping of the bristles to be seen.
const fineness = 3

// Where there is no bristle.
const (
	noBristle    = "no bristle in this record"
	takeDryLaw   = "Take a dry law, such as --law stribeck-bo-pavelescu or coulomb; or "
	finerSensor  = "record with a finer sensor of position"
	sampleFaster = "sample faster, or record slower reversals"
)

// betweenSamplesText says that samples are too far apart to tell a contact.
func betweenSamplesText(way float64, unit string) string {
	return fmt.Sprintf("at a reversal the axis goes %.2g %s from sample to sample, and a contact that breaks away within that is not seen",
		way, unit)
}

// reversalStep is the way from sample to sample at a turn of the recorded position, as a rule; 0: it does not turn.
func (d *data) reversalStep() float64 {
	var steps []float64
	for _, y := range d.pieces(d.y) {
		for k := 1; k+1 < len(y); k++ {
			if before, after := y[k]-y[k-1], y[k+1]-y[k]; before*after < 0 {
				steps = append(steps, math.Max(math.Abs(before), math.Abs(after)))
			}
		}
	}
	if steps == nil {
		return 0
	}
	return numeric.QuantileInPlace(steps, 0.5)
}

// resolved refuses σ0 and σ1 where the encoder does not resolve presliding. Where the contact breaks away within a single count of it,
// there is no bristle to be seen at all.
func resolved(m *model, d *data, t *theta, s *fit.Solution) {
	count := math.Max(d.quantum, math.Sqrt(12)*d.noise)
	reach := math.Max(t[coulomb], t[breakout]) / t[sigma0]
	if !m.isFree[sigma0] && !m.isFree[sigma1] || reach >= fineness*count {
		return
	}
	var names []string
	for _, i := range []int{sigma0, sigma1} {
		if m.isFree[i] {
			names = append(names, m.name(i))
		}
	}
	apart := fmt.Sprintf("the contact breaks away after about %.2g %s, the position is known to %.2g %s", reach, m.unit[0], count, m.unit[0])
	if m.isFree[sigma0] && reach < count {
		advice := finerSensor
		if way := d.reversalStep(); way > count {
			apart, advice = betweenSamplesText(way, m.unit[0]), sampleFaster
		}
		s.Unidentifiable = append(s.Unidentifiable, fit.Indistinct{Names: names, Absent: true, Reason: noBristle + ": " + apart,
			Advice: takeDryLaw + advice})
		return
	}
	for _, name := range names {
		s.Unidentifiable = append(s.Unidentifiable, fit.Indistinct{Names: []string{name}, Reason: "presliding is not represented: " + apart,
			Advice: fmt.Sprintf("use a sensor with a count below %.2g %s, or fix the parameter: levels and inertia need it only roughly", reach/10,
				m.unit[0])})
	}
}

// Samples of a reversal, in the mean, that tell a contact: where the bristles bend, twice as many where the force is said to be held,
// which makes means of one that is not, and where the contact slides more slowly than the Stribeck velocity. Beside means of a force
// stiffness was 2 to 4 % off with 12 to 24 where they bend, and 22 % with 7.
const bentSamples, slowSamples = 6.0, 1.0

// sampled refuses σ0 and σ1, or Fs and vs, where the contact passes presliding, or the dip, between two samples: the motion there is
// that of a force that nobody recorded.
func (f *smoothed) sampled(m *model, d *data, hold Hold, s *fit.Solution) {
	t, minBent := m.start, bentSamples
	if hold == Held {
		minBent *= 2
	}
	for i, k := range m.places {
		if k >= 0 {
			t[i] = s.Params[k].Value
		}
	}
	p := newProjector(f.mo, m)
	p.bristleForce(&t, p.zeta, p.rate)
	bent, slow := 0.0, 0.0
	for _, k := range p.rows {
		r := p.v[k] / t[stribeck]
		if math.Abs(p.zeta[k]) < 0.9*(t[coulomb]+(t[breakout]-t[coulomb])*math.Exp(-r*r)) {
			bent++
		}
		if math.Abs(r) < 1 {
			slow++
		}
	}
	turns := float64(d.reversals())
	for _, c := range []struct {
		places     [2]int
		samples    float64
		minSamples float64
		phase      string
	}{
		{[2]int{sigma0, sigma1}, bent / turns, minBent, "presliding"},
		{[2]int{breakout, stribeck}, slow / turns, slowSamples, "the dip of friction at slow sliding"},
	} {
		if c.samples >= c.minSamples {
			continue
		}
		for _, i := range c.places {
			name := m.name(i)
			known := slices.ContainsFunc(s.Unidentifiable, func(x fit.Indistinct) bool { return slices.Contains(x.Names, name) })
			if m.isFree[i] && !known {
				s.Unidentifiable = append(s.Unidentifiable, fit.Indistinct{Names: []string{name},
					Reason: fmt.Sprintf("%s passes between the samples: %.2g of them lie in it at a reversal, in the mean, of %g that tell it",
						c.phase, c.samples, c.minSamples),
					Advice: "sample faster, or record slower reversals; levels at speed and inertia do not need it"})
			}
		}
	}
}

// slides refuses a record in which the contact hardly slides under the parameters that were found.
func (f *smoothed) slides(rec *record.Record, m *model) error {
	p := newProjector(f.mo, m)
	p.bristleForce(&f.theta, p.zeta, p.rate)
	sliding := 0
	for _, k := range p.rows {
		r := p.v[k] / f.theta[stribeck]
		g := f.theta[coulomb] + (f.theta[breakout]-f.theta[coulomb])*math.Exp(-r*r)
		if math.Abs(p.zeta[k]) > 0.9*g {
			sliding++
		}
	}
	if share := float64(sliding) / float64(len(p.rows)); share < 0.02 {
		return rec.Fail(0, "Fit it with the presliding-linear method, or drive the axis until it slides.",
			"the contact slides in %.1f %% of the samples only: its levels cannot be told", 100*share)
	}
	return nil
}

// belongs is the share of the squared force that the smoothed motion explains where force and motion belong together.
const belongs = 0.9

// checkBristle tells that the motion goes with the force, so that it is the bristle that the filter cannot follow; nil: it does not go
// with it.
func (f *smoothed) checkBristle(rec *record.Record, d *data, m *model) error {
	mean, square := 0.0, 0.0
	for _, u := range d.u {
		mean, square = mean+u/float64(len(d.u)), square+u*u/float64(len(d.u))
	}
	if share := 1 - f.variance()/(square-mean*mean); !m.presliding && m.isFree[sigma0] && share > belongs {
		said := noBristle + fmt.Sprintf(": the motion explains %.1f %% of the force, but ", 100*share)
		if way := d.reversalStep(); way > math.Max(d.quantum, math.Sqrt(12)*d.noise) {
			return rec.Fail(0, takeDryLaw+sampleFaster+".", "%s%s", said, betweenSamplesText(way, m.unit[0]))
		}
		bend := math.Max(f.theta[coulomb], f.theta[breakout]) / f.theta[sigma0]
		return rec.Fail(0, takeDryLaw+finerSensor+".", "%sthe filter finds no bristle that gives way (the smoothed motion points to %.2g %s, "+
			"and the position is known to %.2g %s)", said, bend, m.unit[0], math.Max(d.quantum, d.noise), m.unit[0])
	}
	return nil
}
