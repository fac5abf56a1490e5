package friction

import "math"

// The natural logarithm, for laws that creep: a step on a mass waits for one logarithm after the other, as it does for the
// exponentials of exp.go.
//
// Tang's method once more: with x = 2^k·z, 0.6875 ≤ z < 1.375, and c the middle of the one of 128 intervals that z lies in,
// ln x = k·ln 2 + ln c + ln(1 + r), r = (z − c)/c. The difference is exact, and |r| < 2^−7. Next to 1 the intervals have
// c = 1, so ln x keeps its digits there. The first neglected term of the series is r⁹/9, 2^−59 of r.

const (
	lnBits  = 7
	lnStart = 0x3fe6000000000000 // 0.6875
	// ln 2 in two parts; the first has 42 bits, so k times it is exact
	ln2Hi = 0x1.62e42fefa38p-1
	ln2Lo = 0x1.ef35793c7673p-45
)

// centre is the middle c of an interval, its reciprocal and its logarithm.
type centre struct{ c, over, ln float64 }

var centres = func() (t [1 << lnBits]centre) {
	const width = 1 << (52 - lnBits)
	for i := range t {
		bits := lnStart + uint64(i)*width
		// the intervals begin at 0.6875 and, from the one where the power of two is passed, at 1
		c := math.Float64frombits(bits + width/2)
		if lo, hi := math.Float64frombits(bits), math.Float64frombits(bits+width); lo == 1 || hi == 1 {
			c = 1
		}
		t[i] = centre{c, 1 / c, math.Log(c)}
	}
	return t
}()

// ln is the natural logarithm of x, within two units in the last place. Zero, subnormal and negative numbers, infinity and
// NaN are legal and take the longer way through math.Log.
func ln(x float64) float64 {
	b := math.Float64bits(x)
	if b-1<<52 >= 0x7fe<<52 {
		return math.Log(x)
	}
	d := b - lnStart
	k := float64(int64(d) >> 52)
	t := &centres[d>>(52-lnBits)%(1<<lnBits)]
	r := (math.Float64frombits(b-d&^(1<<52-1)) - t.c) * t.over
	r2 := r * r
	p := (r*(1.0/3) - 1.0/2) + r2*((r*(1.0/5)-1.0/4)+r2*((r*(1.0/7)-1.0/6)-r2*(1.0/8)))
	head := k*ln2Hi + t.ln
	sum := head + r
	return sum + ((head - sum) + r + (k*ln2Lo + r2*p))
}
