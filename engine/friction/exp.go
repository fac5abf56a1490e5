package friction

import (
	"math"
	"math/big"
)

// Exponentials of the relaxations. Every bristle, memory and temperature of the package decays as e^{−a} with a ≥ 0 over a
// step, and a step on a mass waits for one exponential after the other, so what counts is the latency of one call.
//
// Tang's method: with N = 128 and k = round(−a·N/ln 2), e^{−a} = 2^{k/N}·e^r, |r| ≤ ln 2/(2N) = 0.0027. The power comes from
// a table, e^r − 1 from a polynomial of degree five whose first neglected term is r⁶/720 < 6e-19. Nothing is lost in
// 1 − e^{−a} either, (1 − 2^{k/N}) − 2^{k/N}·(e^r − 1): for k = 0 it is the polynomial alone.

const (
	expBits  = 7
	expN     = 1 << expBits
	expShift = 3 << 51 // adding it rounds to an integer, which stands in the low bits of the sum
	expInv   = expN / math.Ln2
	// ln 2/N in two parts; the first has 33 bits, so k·expHi is exact for |k| < 2²⁰
	expHi = 0x1.62e42fefp-8
	expLo = 0x1.473de6af278edp-41
	// e^{−708} is the last normal power of the fast range
	expTop = 708.0
)

// power is 2^{j/N}: bits of the rounded number, less j shifted so that adding k gives the exponent at once, and the relative
// error of the rounding.
type power struct {
	tail float64
	bits uint64
}

// powers is filled once from square roots of 120 bits.
var powers = func() (t [expN]power) {
	const prec = 120
	root := big.NewFloat(2).SetPrec(prec)
	for range expBits {
		root.Sqrt(root)
	}
	p := big.NewFloat(1).SetPrec(prec)
	for j := range t {
		hi, _ := p.Float64()
		rest, _ := new(big.Float).SetPrec(prec).Sub(p, big.NewFloat(hi)).Float64()
		t[j] = power{rest / hi, math.Float64bits(hi) - uint64(j)<<(52-expBits)}
		p.Mul(p, root)
	}
	return t
}()

// expNeg is e^{−a} for a ≥ 0, within one unit in the last place, subnormal results included: expNeg(0) = 1,
// expNeg(+Inf) = 0, NaN stays NaN. A negative a is legal and takes the longer way through math.Exp.
func expNeg(a float64) float64 {
	// one unsigned comparison sends negative numbers, NaN and everything beyond the normal range away
	if math.Float64bits(a) >= math.Float64bits(expTop) {
		if a > 746 { // far in the tail of a bell curve: below half the smallest number
			return 0
		}
		return math.Exp(-a)
	}
	kd := expShift - a*expInv
	k := math.Float64bits(kd)
	kd -= expShift
	r := -a - kd*expHi - kd*expLo
	q := powers[k%expN]
	scale := math.Float64frombits(q.bits + k<<(52-expBits))
	r2 := r * r
	p := (q.tail + r) + r2*(1.0/2) + (r*r2)*((1.0/6+r*(1.0/24))+r2*(1.0/120))
	return scale + scale*p
}

// ExpNeg is e^{−a} for a ≥ 0 within one unit in the last place, in half the time of math.Exp. A negative a takes the longer way.
func ExpNeg(a float64) float64 { return expNeg(a) }

// decay returns e^{−a} and 1 − e^{−a} for a ≥ 0, both within a few units in the last place, also where one of them is tiny
// (for a → 0 the second is a − a²/2 + …, not 0). Special cases as for expNeg.
func decay(a float64) (left, gone float64) {
	if math.Float64bits(a) >= math.Float64bits(expTop) {
		return math.Exp(-a), -math.Expm1(-a)
	}
	kd := expShift - a*expInv
	k := math.Float64bits(kd)
	kd -= expShift
	r := -a - kd*expHi - kd*expLo
	q := powers[k%expN]
	scale := math.Float64frombits(q.bits + k<<(52-expBits))
	r2 := r * r
	p := (q.tail + r) + r2*(1.0/2) + (r*r2)*((1.0/6+r*(1.0/24))+r2*(1.0/120))
	return scale + scale*p, (1 - scale) - scale*p
}

// bell is the Gauss curve exp(−(v/width)²) and its derivative, the fall of most Stribeck curves and the fade of a damping.
func bell(v, width float64) (b, slope float64) {
	over := 1 / width
	r := v * over
	if b = expNeg(r * r); b != 0 { // else r may be infinite
		slope = -2 * r * over * b
	}
	return b, slope
}
