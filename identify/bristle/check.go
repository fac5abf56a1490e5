package bristle

import (
	"math"
	"slices"

	"hilrig/identify/record"
)

// data is a record that was looked through.
type data struct {
	h        float64   // s
	y, u     []float64 // position and force
	quantum  float64   // of the encoder, 0: none found
	most     float64   // N, largest force
	noise    float64   // rms of the position error as the record shows it
	explains bool      // the noise is that of the quantum
}

// shortest is the least number of samples that is worth a fit of eight parameters.
const shortest = 200

// newData refuses records that cannot tell friction.
func newData(rec *record.Record, o *Options) (*data, error) {
	if rec.Position == nil || rec.Force == nil {
		return nil, rec.Fail(0, "Name the columns of position and force in data.columns.", "a bristle fit needs position and force, and the record lacks one")
	}
	n := len(rec.Position)
	switch {
	case len(rec.Force) != n:
		return nil, rec.Fail(0, "", "%d positions but %d forces", n, len(rec.Force))
	case n < shortest:
		return nil, rec.Fail(0, "Record longer: ten seconds at 1 kHz are usual.", "%d samples, want at least %d", n, shortest)
	case !(rec.Dt > 0):
		return nil, rec.Fail(0, "", "sampling interval %g s, want > 0", rec.Dt)
	}
	for k := range n {
		if !finite(rec.Position[k]) || !finite(rec.Force[k]) {
			return nil, rec.Fail(0, "Cut the record there.", "sample %d: position %g, force %g: want finite numbers", k, rec.Position[k], rec.Force[k])
		}
	}
	d := &data{h: rec.Dt, y: rec.Position, u: rec.Force, quantum: o.Quantum}
	reach := slices.Max(d.y) - slices.Min(d.y)
	if reach == 0 {
		return nil, rec.Fail(0, "Drive the axis harder, until it slides to and fro.", "the position never changes: without motion there is no friction to be seen")
	}
	d.most = max(slices.Max(d.u), -slices.Min(d.u))
	if slices.Max(d.u) == slices.Min(d.u) {
		return nil, rec.Fail(0, "Is this the right column?", "the force never changes")
	}
	if d.quantum == 0 {
		d.quantum = quantum(d.y)
	}
	rounding := d.quantum / math.Sqrt(12)
	if o.Noise > 0 {
		d.noise, d.explains = math.Hypot(rounding, o.Noise), true
	} else if d.noise = jitter(d.y); d.quantum > 0 && d.noise < 1.4*rounding {
		d.noise, d.explains = rounding, true
	}
	if d.noise == 0 { // a simulation without noise: what a double can hold
		d.noise = 1e-9 * reach
	}
	if reach < 20*d.noise {
		return nil, rec.Fail(0, "Drive the axis harder, or use a finer encoder.", "the axis moves by %.3g in all and the position is uncertain by %.2g: nothing can be told from that", reach, d.noise)
	}
	if n := turns(d.y, max(4*d.noise, 0.02*reach)); n < 2 {
		return nil, rec.Fail(0, "Let the axis go to and fro, slowly and fast: ten reversals and more.",
			"the axis turns round %d times: stiffness and damping of the contact show at reversals only", n)
	}
	return d, nil
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

// quantum is the count of the encoder: the largest number of which all steps between samples are whole multiples, 0 if
// there is none. A text file rounds its numbers, so a multiple may miss by a little.
func quantum(y []float64) float64 {
	d := make([]float64, 0, len(y))
	top := 0.0
	for k := 1; k < len(y); k++ {
		if s := math.Abs(y[k] - y[k-1]); s > 0 {
			d = append(d, s)
		}
		top = max(top, math.Abs(y[k]))
	}
	slices.Sort(d)
	d = slices.DeleteFunc(d, func(s float64) bool { return s < 1e-9*top })
	if len(d) < 10 {
		return 0
	}
	// from the smallest steps upwards the estimate sharpens: a step of many counts tells more digits
	q := d[0]
	num, den := 0.0, 0.0
	for _, s := range d {
		m := math.Round(s / q)
		if m < 1 || m > 1e4 {
			break
		}
		if math.Abs(s/q-m) > 0.1 {
			return 0
		}
		num += s * m
		den += m * m
		q = num / den
	}
	return q
}

// jitter is the rms of an error that differs from sample to sample, from the fourth difference, which leaves little of a
// motion: Σ C(4,j)² = 70. The median of blocks keeps breakaways out.
func jitter(y []float64) float64 {
	const block = 64
	var rms []float64
	for b := 2; b+block < len(y)-2; b += block {
		sum := 0.0
		for k := b; k < b+block; k++ {
			e := y[k-2] - 4*y[k-1] + 6*y[k] - 4*y[k+1] + y[k+2]
			sum += e * e
		}
		rms = append(rms, math.Sqrt(sum/block/70))
	}
	slices.Sort(rms)
	if len(rms) == 0 {
		return 0
	}
	return rms[len(rms)/2]
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
