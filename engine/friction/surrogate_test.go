package friction

import (
	"math"
	"testing"
)

// A curve of the family itself comes back with its parameters and without error.
func TestSurrogateOfItselfIsExact(t *testing.T) {
	want := LinearSurrogate{Alpha0: 1.5, Alpha1: 2.5, Alpha2: 4}
	p, q, err := FitSurrogate(want.SteadyForce, 1e-6, 0.2, 50)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range []float64{p.Alpha0/want.Alpha0 - 1, p.Alpha1/want.Alpha1 - 1, p.Alpha2/want.Alpha2 - 1, q.RMS, q.Worst, q.Index - 1} {
		if math.Abs(x) > 1e-10 {
			t.Errorf("number %d off by %g", i, x)
		}
	}
	t.Logf("%+v %+v", p, q)
}

// The surrogate of the common curves: about 85 % in the slow range and no better beyond (theory §2). Fitted from rest to four
// times vs it is nowhere more than 20 % off. The least squares are checked by their own condition, an error orthogonal to 1,
// √v and v, and by the loss of a changed parameter.
func TestSurrogateOfStribeckCurves(t *testing.T) {
	for _, c := range []struct {
		name         string
		index, worst float64 // at least, at most
	}{{"stribeck-hess-soom", 0.80, 0.12}, {"stribeck-bo-pavelescu", 0.70, 0.18}, {"stribeck-tustin", 0.85, 0.08}} {
		info, _ := Find(c.name)
		law := info.NewLaw()
		const lo, hi, n = 1e-4, 0.2, 400
		p, q, err := FitSurrogate(law.SteadyForce, lo, hi, n)
		if err != nil || p.Validate() != nil {
			t.Fatalf("%s: %v, %v", c.name, err, p.Validate())
		}
		t.Logf("%s: %+v %+v", c.name, p, q)
		if q.Index < c.index || q.Worst > c.worst {
			t.Errorf("%s: %+v, want an index of %g and at most %g off", c.name, q, c.index, c.worst)
		}
		loss := func(p LinearSurrogate) (sum float64, dots [3]float64, worst float64) {
			for i := range n {
				v := lo + (hi-lo)*float64(i)/(n-1)
				e := p.SteadyForce(v) - law.SteadyForce(v)
				sum += e * e
				for j, col := range []float64{1, math.Sqrt(v), v} {
					dots[j] += e * col
				}
				worst = max(worst, math.Abs(e)/law.SteadyForce(v))
			}
			return sum, dots, worst
		}
		best, dots, worst := loss(p)
		for j, d := range dots {
			if math.Abs(d) > 1e-9 {
				t.Errorf("%s: error · column %d = %g, want 0", c.name, j, d)
			}
		}
		if math.Abs(q.RMS-math.Sqrt(best/n)) > 1e-12 || math.Abs(q.Worst-worst) > 1e-12 {
			t.Errorf("%s: reports %+v, measured %g N and %g", c.name, q, math.Sqrt(best/n), worst)
		}
		for _, other := range []LinearSurrogate{{Alpha0: p.Alpha0 + 0.01, Alpha1: p.Alpha1, Alpha2: p.Alpha2},
			{Alpha0: p.Alpha0, Alpha1: p.Alpha1 - 0.1, Alpha2: p.Alpha2}} {
			if l, _, _ := loss(other); l <= best {
				t.Errorf("%s: %+v fits better", c.name, other)
			}
		}
		// outside the range it is of no use
		if far := p.SteadyForce(20)/law.SteadyForce(20) - 1; math.Abs(far) < 0.5 {
			t.Errorf("%s: only %g off at a hundred times the range", c.name, far)
		}
	}
	// the default law is the fit of the default Tustin curve to three digits
	tustin, _ := Find("stribeck-tustin")
	p, _, _ := FitSurrogate(tustin.NewLaw().SteadyForce, 1e-4, 0.2, 400)
	info, _ := Find("linear-surrogate")
	for i, want := range []float64{p.Alpha0, p.Alpha1, p.Alpha2} {
		if got := info.NewLaw().Params()[i].Value; math.Abs(got/want-1) > 5e-3 {
			t.Errorf("default %d: %g, fit %g", i, got, want)
		}
	}
}

func TestSurrogateRefuses(t *testing.T) {
	line := func(v float64) float64 { return 1 + v }
	for _, c := range []struct {
		lo, hi float64
		n      int
	}{{-1, 1, 9}, {1, 1, 9}, {0, math.Inf(1), 9}, {0, 1, 2}} {
		if _, _, err := FitSurrogate(line, c.lo, c.hi, c.n); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
	if _, _, err := FitSurrogate(func(float64) float64 { return math.NaN() }, 0, 1, 9); err == nil {
		t.Error("a curve that is no number was accepted")
	}
}
