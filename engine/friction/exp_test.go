package friction

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// bigExpNeg is e^{−a} to 200 bits: Taylor's series of a/2^m, squared m times.
func bigExpNeg(a float64) *big.Float {
	const prec, m = 260, 20
	x := new(big.Float).SetPrec(prec).SetMantExp(big.NewFloat(-a).SetPrec(prec), -m)
	sum, term := big.NewFloat(1).SetPrec(prec), big.NewFloat(1).SetPrec(prec)
	for k := 1; k < 40; k++ {
		term.Mul(term, x).Quo(term, big.NewFloat(float64(k)))
		sum.Add(sum, term)
	}
	for range m {
		sum.Mul(sum, sum)
	}
	return sum
}

// ulps is the distance of got from want in units of the last place of want.
func ulps(got float64, want *big.Float) float64 {
	w, _ := want.Float64()
	ulp := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
	d, _ := new(big.Float).Sub(want, big.NewFloat(got)).Float64()
	return math.Abs(d) / ulp
}

// Both exponentials against arithmetic of 260 bits, over the whole range of a.
func TestExpAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	one := big.NewFloat(1).SetPrec(260)
	worst, worstLeft, worstGone := 0.0, 0.0, 0.0
	for k := range 30000 {
		var a float64
		switch k % 3 {
		case 0:
			a = 708 * rng.Float64()
		case 1:
			a = math.Exp(-30 + 36*rng.Float64())
		case 2:
			a = 3 * rng.Float64()
		}
		want := bigExpNeg(a)
		left, gone := decay(a)
		worst = max(worst, ulps(expNeg(a), want))
		worstLeft = max(worstLeft, ulps(left, want))
		worstGone = max(worstGone, ulps(gone, new(big.Float).SetPrec(260).Sub(one, want)))
	}
	t.Logf("e^−a within %.3f and %.3f ulp, 1 − e^−a within %.3f ulp", worst, worstLeft, worstGone)
	// half a unit is rounding; the sum p may lose another 2⁻⁸ of its own units, and 1 − scale up to two units by cancellation
	if worst > 0.6 || worstLeft > 0.6 || worstGone > 2.5 {
		t.Errorf("e^−a off by %.3f and %.3f ulp, want ≤ 0.6; 1 − e^−a off by %.3f ulp, want ≤ 2.5", worst, worstLeft, worstGone)
	}
}

// Millions of points against the standard library, which is good to about one unit itself.
func TestExpAgainstMath(t *testing.T) {
	n := 4_000_000
	if testing.Short() {
		n /= 20
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for k := range n {
		a := 708 * rng.Float64()
		if k%2 == 1 {
			a = math.Exp(-40 + 46.5*rng.Float64())
		}
		left, gone := decay(a)
		e, want, want1 := expNeg(a), math.Exp(-a), -math.Expm1(-a)
		if math.Abs(e-want) > 2.3e-16*2*want || left != e || math.Abs(gone-want1) > 2.3e-16*3*want1 {
			t.Fatalf("a = %g: %g, %g and %g, want %g and %g", a, e, left, gone, want, want1)
		}
	}
}

func TestExpEdges(t *testing.T) {
	for _, a := range []float64{0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, 1e-310, 1e-17, 708, math.Nextafter(708, 0),
		709.5, 730, 745, 746, 1e9, math.MaxFloat64, math.Inf(1), -1e-3, -1, -700, -800, math.Inf(-1), math.NaN()} {
		same := func(x, y float64) bool {
			return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 2.3e-16*2*math.Abs(y)
		}
		left, gone := decay(a)
		if e, w, w1 := expNeg(a), math.Exp(-a), -math.Expm1(-a); !same(e, w) || !same(left, w) || !same(gone, w1) {
			t.Errorf("a = %g: %g, %g and %g, want %g and %g", a, e, left, gone, w, w1)
		}
	}
}

// A chain of calls, each waiting for the last: what a step on a mass pays.
func BenchmarkExp(b *testing.B) {
	for _, c := range []struct {
		name string
		f    func(float64) float64
	}{
		{"math", func(a float64) float64 { return math.Exp(-a) }},
		{"own", expNeg},
		{"decay", func(a float64) float64 { e, g := decay(a); return e + 1e-3*g }},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := 0.5
			for b.Loop() {
				for range 1000 {
					a = c.f(a)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/call")
		})
	}
}
