package filter

import (
	"math"
	"math/cmplx"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
)

// Decimator gives every step-th sample of what ZeroPhase makes of a record. Behind the filter, run forward and backward, a sample is a sum
// over the poles p of the filter,
//
//	y_r = g·x_r + Σ_p R_p·(C_p + A_p),   C_p = Σ_{n≥1} pⁿ·x_{r−n},   A_p = Σ_{n≥1} pⁿ·x_{r+n},
//
// in which C and A go from one wanted sample to the next at once, by two sums over the samples between these. The weights of one sum are
// those of the other in the opposite order: with the sums and differences of opposite samples both take as many products as one.
type Decimator struct {
	lowpass Lowpass
	step    int
	direct  float64 // g
	poles   []pole  // one of each conjugate pair
	rooms   sync.Pool
}

// pole is a pole of a filter.
type pole struct {
	p                       complex128
	conjugates              float64      // 2 for a pair, which stands for both
	residue                 complex128   // of the filter in one direction …
	zeroPhaseResidue        complex128   // … and in both, R, times conjugates
	mirrorGain              complex128   // of the filter in the other direction, at the pole
	stepPower               complex128   // p to the power of step
	steadySum               complex128   // C and A of a record that is 1: p/(1 − p)
	middleWeight            complex128   // of the sample in the middle between two wanted ones
	evenWeights, oddWeights []complex128 // of the sums and the differences of opposite samples
}

// decimatorRoom is memory for a record while it is filtered.
type decimatorRoom struct {
	sums, differences [][]float64  // of opposite samples, by block of samples from one wanted place to the next
	middles, samples  []float64    // samples in the middle of the blocks, and at the wanted places
	evenRe, evenIm    []float64    // parts of what a block adds: their sum to A …
	oddRe, oddIm      []float64    // … and the difference, even less odd, to C
	output            []float64    // of the poles, at the wanted places
	backRe, backIm    []float64    // what a block adds to A, by pole and block
	forward, backward []complex128 // C and A by pole
}

// chunkBlocks is how many blocks are filtered at once: few enough for the nearest cache.
const chunkBlocks = 200

// NewDecimator decimates by step behind a low-pass.
func NewDecimator(low Lowpass, step int) *Decimator {
	d := &Decimator{lowpass: low, step: step, direct: 1}
	for i, s := range low {
		var p pole
		if p.conjugates = 1; s.a2 == 0 {
			p.p = complex(-s.a1, 0)
		} else {
			p.p, p.conjugates = complex(-s.a1/2, math.Sqrt(s.a2-s.a1*s.a1/4)), 2
		}
		p.residue, p.mirrorGain = 1, 1
		for k, t := range low {
			p.mirrorGain *= t.numerator(p.p) / t.denominator(p.p)
			if p.residue *= t.numerator(1 / p.p); k != i {
				p.residue /= t.denominator(1 / p.p)
			} else if p.conjugates == 2 {
				p.residue /= 1 - cmplx.Conj(p.p)/p.p
			}
		}
		p.zeroPhaseResidue = complex(p.conjugates, 0) * p.residue * p.mirrorGain
		p.steadySum = p.p / (1 - p.p)
		d.direct -= 2 * real(p.zeroPhaseResidue*p.steadySum) // gain 1 at zero frequency
		power := []complex128{1}
		for range step {
			power = append(power, power[len(power)-1]*p.p)
		}
		if p.stepPower = power[step]; step%2 == 0 {
			p.middleWeight = power[step/2]
		}
		for n := 1; n < (step+1)/2; n++ {
			p.evenWeights = append(p.evenWeights, (power[n]+power[step-n])/2)
			p.oddWeights = append(p.oddWeights, (power[n]-power[step-n])/2)
		}
		d.poles = append(d.poles, p)
	}
	return d
}

// numerator and denominator are those of a section, at u = 1/z.
func (s biquad) numerator(u complex128) complex128 {
	return complex(s.b0, 0) + u*(complex(s.b1, 0)+u*complex(s.b2, 0))
}

func (s biquad) denominator(u complex128) complex128 {
	return 1 + u*(complex(s.a1, 0)+u*complex(s.a2, 0))
}

// Rows are the samples first, first + step … of x behind the filter, of which there are as many as rows. Samples that are not kept count
// as zero; kept nil: all are. x must be longer than the padding of the filter.
func (d *Decimator) Rows(x []float64, kept []bool, first int, rows []float64) {
	pad, end := d.lowpass.Padding(), len(x)-1
	sample := func(i int) float64 {
		if kept != nil && !kept[i] {
			return 0
		}
		return x[i]
	}
	padded := func(i int) float64 { // odd reflections beyond the ends, as for ZeroPhase
		switch {
		case i < 0:
			return 2*sample(0) - sample(-i)
		case i > end:
			return 2*sample(end) - sample(2*end-i)
		}
		return sample(i)
	}
	before, at := first/d.step, first%d.step // wanted places before the first row, and the first of all
	blocks := (end - at) / d.step
	room := d.room(blocks)
	defer d.rooms.Put(room)

	// forward, from the steady state of the first sample
	c, a := room.forward, room.backward
	for j := range d.poles {
		c[j] = d.poles[j].steadySum * complex(padded(-pad), 0)
	}
	for i := -pad; i < at; i++ {
		d.advance(c, padded(i))
	}
	for done := 0; done < blocks; done += chunkBlocks {
		count := min(chunkBlocks, blocks-done)
		room.fold(x, kept, at, d.step, count)
		for j := range d.poles {
			c[j] = d.poles[j].forward(c[j], room, count, room.backRe[j*blocks+done:], room.backIm[j*blocks+done:])
		}
		for k := max(before-done, 0); k < min(count, before-done+len(rows)); k++ {
			rows[done+k-before] = d.direct*room.samples[k] + room.output[k]
		}
		at += count * d.step
	}
	last, final := end+pad, padded(end+pad)
	copy(a, c)
	for i := at; i < last; i++ {
		d.advance(a, padded(i))
	}
	d.turn(a, final)

	// backward
	for i := last; i > at; i-- {
		d.advance(a, padded(i))
	}
	if row := blocks - before; row < len(rows) { // at the last place
		rows[row] = d.direct * sample(at)
		for j := range c {
			rows[row] += real(d.poles[j].zeroPhaseResidue * (c[j] + a[j]))
		}
	}
	for j := range d.poles {
		d.poles[j].backward(a[j], room.backRe[j*blocks:][before:blocks], room.backIm[j*blocks:][before:blocks], rows)
	}
}

// forward takes C from one wanted place to the next over some blocks, adds what it makes of the wanted samples to the output, and writes
// the sums for A.
func (p *pole) forward(c complex128, room *decimatorRoom, count int, backRe, backIm []float64) complex128 {
	evenRe, evenIm, oddRe, oddIm := room.evenRe[:count], room.evenIm[:count], room.oddRe[:count], room.oddIm[:count]
	floats.ScaleTo(evenRe, real(p.middleWeight), room.middles[:count])
	floats.ScaleTo(evenIm, imag(p.middleWeight), room.middles[:count])
	clear(oddRe)
	clear(oddIm)
	for n := range p.evenWeights {
		sums, differences := room.sums[n][:count], room.differences[n][:count]
		floats.AddScaled(evenRe, real(p.evenWeights[n]), sums)
		floats.AddScaled(evenIm, imag(p.evenWeights[n]), sums)
		floats.AddScaled(oddRe, real(p.oddWeights[n]), differences)
		floats.AddScaled(oddIm, imag(p.oddWeights[n]), differences)
	}
	re, im, powerRe, powerIm := real(c), imag(c), real(p.stepPower), imag(p.stepPower)
	residueRe, residueIm := real(p.zeroPhaseResidue), imag(p.zeroPhaseResidue)
	output, samples, backRe, backIm := room.output[:count], room.samples[:count+1], backRe[:count], backIm[:count]
	for k := range output {
		output[k] += residueRe*re - residueIm*im
		v, w, odd := samples[k], samples[k+1], oddRe[k]
		backRe[k], backIm[k] = evenRe[k]+odd+powerRe*w, evenIm[k]+oddIm[k]+powerIm*w
		re += v
		re, im = evenRe[k]-odd+powerRe*re-powerIm*im, evenIm[k]-oddIm[k]+powerRe*im+powerIm*re
	}
	return complex(re, im)
}

// backward takes A from the last wanted place to the first row, by the sums of the blocks from there on, and adds what it makes of the
// wanted samples to the rows.
func (p *pole) backward(a complex128, sumsRe, sumsIm, rows []float64) {
	re, im, powerRe, powerIm := real(a), imag(a), real(p.stepPower), imag(p.stepPower)
	residueRe, residueIm := real(p.zeroPhaseResidue), imag(p.zeroPhaseResidue)
	sumsIm = sumsIm[:len(sumsRe)]
	for k := len(sumsRe) - 1; k >= 0; k-- {
		re, im = sumsRe[k]+powerRe*re-powerIm*im, sumsIm[k]+powerRe*im+powerIm*re
		if k < len(rows) {
			rows[k] += residueRe*re - residueIm*im
		}
	}
}

// room is for a record with so many blocks.
func (d *Decimator) room(blocks int) *decimatorRoom {
	r, _ := d.rooms.Get().(*decimatorRoom)
	if r == nil {
		some := func() []float64 { return make([]float64, chunkBlocks) }
		r = &decimatorRoom{middles: some(), samples: append(some(), 0), evenRe: some(), evenIm: some(), oddRe: some(), oddIm: some(),
			output: some(), forward: make([]complex128, len(d.poles)), backward: make([]complex128, len(d.poles))}
		for range (d.step - 1) / 2 {
			r.sums, r.differences = append(r.sums, some()), append(r.differences, some())
		}
	}
	n := blocks * len(d.poles)
	r.backRe, r.backIm = slices.Grow(r.backRe[:0], n)[:n], slices.Grow(r.backIm[:0], n)[:n]
	return r
}

// fold makes the sums and differences of opposite samples of the blocks from the place at on.
func (r *decimatorRoom) fold(x []float64, kept []bool, at, step, count int) {
	clear(r.output)
	pick := func(to []float64, i int) {
		for k := range to {
			if to[k] = x[i]; kept != nil && !kept[i] {
				to[k] = 0
			}
			i += step
		}
	}
	pick(r.samples[:count+1], at)
	if step%2 == 0 {
		pick(r.middles[:count], at+step/2)
	}
	for n := range r.sums {
		sums, differences := r.sums[n][:count], r.differences[n][:count]
		for k, i, o := 0, at+1+n, at+step-1-n; k < len(sums); k, i, o = k+1, i+step, o+step {
			u, v := x[i], x[o]
			if kept != nil {
				if !kept[i] {
					u = 0
				}
				if !kept[o] {
					v = 0
				}
			}
			sums[k], differences[k] = u+v, u-v
		}
	}
}

// advance takes C, or A, from the sample v to the next one.
func (d *Decimator) advance(state []complex128, v float64) {
	for j := range state {
		state[j] = d.poles[j].p * (state[j] + complex(v, 0))
	}
}

// turn makes A at the last sample, final, out of C there. ZeroPhase goes on backward as if the output of the forward pass kept its last
// value behind that. Behind n more samples of the value final it would be Σ_q r_q·Z_q·(1 − qⁿ) less, with r the residues in one direction
// and Z what C is above that of rest: A holds the sum of these.
func (d *Decimator) turn(state []complex128, final float64) {
	var end [2 * 16]complex128 // r·Z of all poles, and these
	forward := end[:0]
	for j := range state {
		p := &d.poles[j]
		z := p.residue * (state[j] - p.steadySum*complex(final, 0))
		if forward = append(forward, p.p, z); p.conjugates == 2 {
			forward = append(forward, cmplx.Conj(p.p), cmplx.Conj(z))
		}
	}
	for j := range state {
		p := &d.poles[j]
		sum := complex128(0)
		for i := 0; i < len(forward); i += 2 {
			both := p.p * forward[i]
			sum += forward[i+1] * (p.steadySum - both/(1-both))
		}
		state[j] = p.steadySum*complex(final, 0) + sum/p.mirrorGain
	}
}
