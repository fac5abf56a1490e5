package population

import "math"

// The exponential of the bell curve, 2^{−t} for t ≥ 0: with k = round(t) and f = k − t, |f| ≤ ½, it is 2^f·2^{−k}. The power
// 2^f is a polynomial of degree eleven, interpolated at the zeros of a Chebyshev polynomial, relative error 2e-17 before
// rounding; even and odd powers are summed apart and by pairs, which shortens the chain. The factor 2^{−k} goes into the exponent as an
// integer. Beyond bellEnd, about the smallest normal number, the bell stays where it is. Package friction has another one, from a table:
// in scalar code, where one call waits for the one before, it takes 0.8 to 0.9 of the time of this, but vectors cannot look into a table
// without a gather, and every lane has to have the bits of the vectors.
const (
	magic   = 3 << 51 // adding it rounds to an integer, which stands in the low bits of the sum
	bellEnd = 1021

	c1  = 0x1.62e42fefa39efp-1
	c2  = 0x1.ebfbdff82c598p-3
	c3  = 0x1.c6b08d704a0c2p-5
	c4  = 0x1.3b2ab6fba1ddap-7
	c5  = 0x1.5d87fe78a5276p-10
	c6  = 0x1.430913096fd9fp-13
	c7  = 0x1.ffcbfc670dcd4p-17
	c8  = 0x1.62bfd47773353p-20
	c9  = 0x1.b524fae627834p-24
	c10 = 0x1.e6063f7217bc6p-28
	c11 = 0x1.e9d3fe3952179p-32
)

// bell is 2^{−s·c} for s, c ≥ 0 and s·c ≤ bellEnd, relative error below 5e-16: the product is not rounded.
func bell(s, c float64) float64 {
	k := math.FMA(s, c, magic)
	f := math.FMA(-s, c, k-magic)
	q := f * f
	qq := q * q
	e := math.FMA(math.FMA(c10, q, c8), qq, math.FMA(c6, q, c4))
	o := math.FMA(math.FMA(c11, q, c9), qq, math.FMA(c7, q, c5))
	e = math.FMA(e, qq, math.FMA(c2, q, 1))
	o = math.FMA(o, qq, math.FMA(c3, q, c1))
	return math.Float64frombits(math.Float64bits(math.FMA(f, o, e)) - math.Float64bits(k)<<52)
}

// stepPortable is the stepper in Go. Lane after lane does a step, so that the processor, which looks a few lanes ahead, has
// other work while it waits for the exponential and the division of one. Products are rounded where they stand or are part
// of an explicit FMA: compilers must not fuse others. What hangs on the new velocity is short:
//
//	v⁺ = [v + h/M·(u − offset − σ2·v − ζ)] − q·[(g·sgn v − ζ)·h/M·(1 + σ1/(hσ0))],   q = n/(g² + n)
func stepPortable(oct []octet, n int, rows []row, errs []float64, stride int) {
	for at := range rows {
		r := rows[at]
		out := errs[at*stride:]
		for first := 0; first < n; first += 8 {
			o, lanes := &oct[first/8], min(n-first, 8)
			err := out[first : first+8]
			for l := 0; l < lanes && l < 8; l++ {
				v, z := o.v[l], o.z[l]
				s := float64(v * v)
				h := float64(s * o.hq[l])
				if s > o.cap[l] {
					s = o.cap[l]
				}
				g := math.FMA(bell(s, o.bell[l]), o.df[l], o.fc[l])
				m := math.FMA(math.Abs(v)*o.hs0[l], g, h)
				q := m / math.FMA(g, g, m)
				miss := math.Copysign(g, v) - z
				free := math.FMA(math.FMA(-o.s2[l], v, r.u-o.off[l])-z, o.hm[l], v)
				vn := math.FMA(-q, float64(miss*o.hk[l]), free)
				e := math.FMA(o.x[l], r.wx, math.FMA(v+vn, r.wv, r.my))
				o.v[l], o.z[l] = vn, math.FMA(q, miss, z)
				o.x[l] = math.FMA(o.h[l], vn, o.x[l])
				o.cost[l] = math.FMA(e, e, o.cost[l])
				err[l] = e
			}
		}
	}
}
