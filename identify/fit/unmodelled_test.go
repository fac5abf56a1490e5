package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// axisRows is M·a + Fv·v + Fc·sgn v + offset = y, rows every 10 ms, with a force that the model lacks and noise that depends on
// its past by rho.
func axisRows(seed uint64, rho float64, extra func(t, x, v, a float64) float64) *Solution {
	const n, dt, m, fv, fc = 1500, 0.01, 2.0, 5.0, 3.0
	r := rand.New(rand.NewPCG(seed, 8))
	s := &Solution{Dt: dt, Unit: "N", Quantity: "force", FreeParams: []int{0, 1, 2, 3}}
	for i, name := range []string{"M", "Fv", "Fc", "offset"} {
		s.Params = append(s.Params, Param{Param: engine.Param{Name: name, Value: []float64{m, fv, fc, 0}[i], Lo: math.Inf(-1), Hi: math.Inf(1)}})
	}
	p1, p2, p3 := 6*r.Float64(), 6*r.Float64(), 6*r.Float64()
	e := 0.0
	for k := range n {
		t := float64(k) * dt
		x, v, a := 0.0, 0.0, 0.0
		for _, c := range [][3]float64{{0.1, 2.1, p1}, {0.03, 5.7, p2}, {0.01, 13.3, p3}} {
			sin, cos := math.Sincos(c[1]*t + c[2])
			x, v, a = x+c[0]*sin, v+c[0]*c[1]*cos, a-c[0]*c[1]*c[1]*sin
		}
		e = rho*e + math.Sqrt(1-rho*rho)*0.1*r.NormFloat64()
		y := m*a + fv*v + fc*numeric.Sign(v) + e
		if extra != nil {
			y += extra(t, x, v, a)
		}
		s.Jac = append(s.Jac, a, v, numeric.Sign(v), 1)
		s.Measured, s.Velocity, s.Position = append(s.Measured, y), append(s.Velocity, v), append(s.Position, x)
	}
	// least squares by the basis of the test's own
	x := (&Solution{Residual: s.Measured, Jac: s.Jac, FreeParams: s.FreeParams, Params: s.Params}).explained(count(n))
	s.Residual = x.e
	return s
}

func count(n int) []int {
	out := make([]int, n)
	for k := range out {
		out[k] = k
	}
	return out
}

var tenth = map[string]float64{"M": 0.02, "Fv": 0.05, "Fc": 0.03, "offset": 0.03}

// What a record holds beyond the model is found and called by its name, whatever the noise.
func TestUnmodelledForcesAreNamed(t *testing.T) {
	for _, c := range []struct {
		kind  string
		extra func(t, x, v, a float64) float64
	}{
		{"drag", func(_, _, v, _ float64) float64 { return 6 * v * math.Abs(v) }},
		{"direction", func(_, _, v, _ float64) float64 { return math.Abs(v) }},
		{"stiffness", func(_, x, _, _ float64) float64 { return 10 * x }},
		{"cogging", func(_, x, _, _ float64) float64 { return math.Sin(2 * math.Pi * x / 0.05) }},
		{"drift", func(t, _, v, _ float64) float64 { return 0.1 * t * numeric.Sign(v) }},
		{"along the way", func(_, x, v, _ float64) float64 { return 10 * x * numeric.Sign(v) }},
		{"late force", func(_, _, v, a float64) float64 { return 0.02 * 5 * a }}, // Fv·v(t + 20 ms), as far as it is no mass
		{"Stribeck", func(_, _, v, _ float64) float64 { return 2 * numeric.Sign(v) * math.Exp(-v*v/0.01) }},
		{"saturation", func(_, _, v, a float64) float64 { f := 2*a + 5*v + 3*numeric.Sign(v); return -2e-3 * f * f * f }},
	} {
		if c.kind == "late force" {
			continue // tested on whole records, see TestSuiteOfCleanAndFlawedRecords
		}
		for seed := range uint64(4) {
			s := axisRows(seed, 0.6*float64(seed%2), c.extra)
			found, _ := Unmodelled(s, Suspects(s, false, true), tenth)
			if len(found) == 0 || found[0].Kind != c.kind {
				t.Errorf("%s, seed %d: %+v", c.kind, seed, found)
			}
		}
	}
}

// The values that come with a finding are those of the richer model.
func TestUnmodelledMovesAreThoseOfTheRicherModel(t *testing.T) {
	s := axisRows(3, 0, func(_, _, v, _ float64) float64 { return 6 * v * math.Abs(v) })
	found, _ := Unmodelled(s, Suspects(s, false, true), tenth)
	for _, l := range found {
		if l.Kind != "drag" {
			continue
		}
		// the parameters of the poorer fit are truth + bias, that of the richer one truth: the move is −bias
		bias := lineFit(s, s.Measured)
		for j, name := range []string{"M", "Fv", "Fc"} {
			truth := []float64{2, 5, 3}[j]
			if after := bias[j] + l.ParamMoves[name]; math.Abs(after-truth) > 0.03*truth {
				t.Errorf("%s: %.4g with drag in the model, truth %g (without %.4g)", name, after, truth, bias[j])
			}
		}
		return
	}
	t.Fatal("no drag found")
}

// A spring is relaxed at zero, as the term that takes it is: on a motion that is elsewhere the constant force is that beside it.
func TestSpringIsRelaxedAtZero(t *testing.T) {
	for _, at := range []float64{-2, 2} {
		s := axisRows(5, 0, func(_, x, _, _ float64) float64 { return 10*(x+at) + 1 })
		for k := range s.Position {
			s.Position[k] += at
		}
		found, _ := Unmodelled(s, Suspects(s, false, true), tenth)
		if len(found) == 0 || found[0].Kind != "stiffness" {
			t.Fatalf("at %g m: %+v", at, found)
		}
		if offset := lineFit(s, s.Measured)[3] + found[0].ParamMoves["offset"]; math.Abs(offset-1) > 1 || found[0].Worst != "offset" {
			t.Errorf("at %g m: a constant force of %.3g N with the spring in the model, true 1; worst %s", at, offset, found[0].Worst)
		}
	}
}

// Where no drag shows, the values are those with as much of it in the model as its own 95 % interval allows: the fit with drag, by
// normal equations, gives that.
func TestDragThatIsNotExcluded(t *testing.T) {
	for seed := range uint64(6) {
		s := axisRows(seed, 0, nil)
		found, possible := Unmodelled(s, Suspects(s, false, true), tenth)
		if len(found) != 0 || len(possible) != 1 || possible[0].Kind != "drag" || !possible[0].Possible {
			t.Fatalf("seed %d: found %+v, possible %+v", seed, found, possible)
		}
		richer := *s
		richer.FreeParams, richer.Jac = []int{0, 1, 2, 3, 4}, nil
		drag := make([]float64, len(s.Measured))
		for k, v := range s.Velocity {
			drag[k] = v * math.Abs(v)
			richer.Jac = append(append(richer.Jac, s.Jac[4*k:4*k+4]...), drag[k])
		}
		b := lineFit(&richer, s.Measured)[4]
		own := lineFit(s, drag) // what of drag the columns take
		left := 0.0             // squares of what they do not
		for k, d := range drag {
			for j, c := range own {
				d -= c * s.Jac[4*k+j]
			}
			left += d * d
		}
		half := 1.96 * 0.1 / math.Sqrt(left)
		b += half
		for j, name := range []string{"M", "Fv", "Fc"} {
			// half of the interval is found from the residual; that by cells of the motion may be wider
			if off := (-possible[0].ParamMoves[name]/own[j] - b) / half; off < -0.2 || off > 0.9 {
				t.Errorf("seed %d: %s moves by %.3g, want %.3g: %.2g halves of the interval off", seed, name, possible[0].ParamMoves[name], -b*own[j],
					off)
			}
		}
	}
}

// lineFit is least squares by normal equations and elimination.
func lineFit(s *Solution, y []float64) []float64 {
	p := len(s.FreeParams)
	a := make([][]float64, p)
	for i := range a {
		a[i] = make([]float64, p+1)
		for k, v := range y {
			for j := range p {
				a[i][j] += s.Jac[k*p+i] * s.Jac[k*p+j]
			}
			a[i][p] += s.Jac[k*p+i] * v
		}
	}
	for i := range p {
		for l := range p {
			if f := a[l][i] / a[i][i]; l != i {
				for j := range p + 1 {
					a[l][j] -= f * a[i][j]
				}
			}
		}
	}
	x := make([]float64, p)
	for i := range x {
		x[i] = a[i][p] / a[i][i]
	}
	return x
}

// Noise alone is no structure: at most 3 of 100 records, with and without a past.
func TestNoiseIsNoStructure(t *testing.T) {
	for _, rho := range []float64{0, 0.8} {
		n := 0
		for seed := range uint64(100) {
			s := axisRows(seed, rho, nil)
			found, _ := Unmodelled(s, Suspects(s, false, true), nil)
			for _, l := range found {
				t.Log(seed, rho, l.Kind, l.What, l.Share, l.PValue)
				n++
			}
		}
		if n > 3 {
			t.Errorf("correlation %g: structure in %d of 100 records of noise", rho, n)
		}
	}
}

// Errors that differ from block to block widen the interval; those that do not leave it as it is, but for once in a hundred.
func TestBlocksWidenIntervals(t *testing.T) {
	slow := axisRows(1, 0, func(t, _, v, _ float64) float64 { return numeric.Sign(v) * math.Sin(2*math.Pi*t/15*2) })
	a, err := Assess(slow)
	if err != nil {
		t.Fatal(err)
	}
	if e := a.Estimates[2]; *e.Err(false) < 5**e.StdErr {
		t.Errorf("Fc that swings by a third: ± %g, ± %g from row to row", *e.Err(false), *e.StdErr)
	}
	wide := 0
	for seed := range uint64(100) {
		a, err := Assess(axisRows(seed, 0, nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range a.Estimates {
			if e.BetweenErr != nil {
				wide++
			}
		}
	}
	if wide > 16 {
		t.Errorf("%d of 400 intervals are widened on noise alone", wide)
	}
}

// Of many long pieces those of some are looked at, from first to last; of many short ones all.
func TestLookedRows(t *testing.T) {
	for _, c := range []struct{ pieces, each, from, to, seen int }{
		{1, 3000, 3000, 3000, 1},
		{100, 1200, 3500, 8300, 34},
		{1000, 4, 4000, 4000, 1000},
		{40, 10_000, 4000, 4200, 40},
	} {
		s := &Solution{Residual: make([]float64, c.pieces*c.each)}
		for i := range c.pieces {
			s.Pieces = append(s.Pieces, i*c.each)
		}
		rows, seen := s.Looked(), map[int]bool{}
		for i, k := range rows {
			if seen[k/c.each] = true; i > 0 && k <= rows[i-1] || k >= len(s.Residual) {
				t.Fatalf("%d × %d: row %d behind %d", c.pieces, c.each, k, rows[i-1])
			}
		}
		if len(rows) < c.from || len(rows) > c.to || len(seen) != c.seen {
			t.Errorf("%d × %d: %d rows of %d pieces, want %d to %d of %d", c.pieces, c.each, len(rows), len(seen), c.from, c.to, c.seen)
		}
	}
}

// Viscous friction that differs between the directions has a mean, and is known only as what lies between both where nothing drives the
// motion: larger one way or the other.
func TestDirectionsLieBetween(t *testing.T) {
	for _, sign := range []float64{1, -1} { // 6 and 4 N·s/m
		s := axisRows(3, 0, func(_, _, v, _ float64) float64 { return sign * math.Abs(v) })
		found, _ := Unmodelled(s, Suspects(s, false, false), tenth)
		if len(found) == 0 || found[0].Kind != "direction" || found[0].Worst != "Fv" {
			t.Fatalf("sign %g: found %+v", sign, found)
		}
		if r := found[0].Range["Fv"]; math.Abs(r[0]+1) > 0.15 || math.Abs(r[1]-1) > 0.15 {
			t.Errorf("sign %g: Fv moves by %v, want -1 to 1", sign, r)
		}
	}
}
