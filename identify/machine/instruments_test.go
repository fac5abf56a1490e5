package machine

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"hilrig/identify/fit"
)

// white is a record with white noise of positions (rad) and torques.
func (s *simulated) white(clean Recording, seed uint64, position float64) (out Recording) {
	rng := rand.New(rand.NewPCG(seed, 78))
	for i, d := range clean {
		c := *d
		c.Position, c.Force = slices.Clone(d.Position), slices.Clone(d.Force)
		for k := range c.Position {
			c.Position[k] += position * rng.NormFloat64()
			c.Force[k] += 0.3 * s.torque[i] * rng.NormFloat64()
		}
		out = append(out, &c)
	}
	return out
}

// noisyPosition is a deviation (rad) that draws least squares visibly away at 8 Hz: a hundredth of a degree is 0.17 mrad.
const noisyPosition = 2e-3

// instrumentCoverage fits seeds by both, and gives the shares of 95 % intervals that hold the truth, and how wide those of instruments
// are beside ±1.96 times the scatter of the values.
func instrumentCoverage(t *testing.T, s *simulated, seeds int) (iv, ls, wide float64) {
	truth := s.truth(t)
	m := s.model(t, 0.2)
	held := [2]int{}
	of, seen := 0, 0
	values, half := make([][]float64, len(truth)), make([]float64, len(truth))
	for seed := range seeds {
		rec := []Recording{s.white(s.clean, uint64(seed), noisyPosition)}
		for i, use := range []Use{UseEstimate, UseNone} {
			spec := s.spec()
			spec.Instruments = use
			r, err := Fit(t.Context(), m, spec, rec, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if use == UseEstimate {
				a, err := fit.Assess(r.Solution)
				if err != nil {
					t.Fatal(err)
				}
				r.Spread(a)
				for j, k := range r.FreeParams {
					ci := a.Estimates[j].Interval(a.Residual.White)
					values[k], half[k] = append(values[k], r.Values[k]), half[k]+(ci[1]-ci[0])/2/float64(seeds)
				}
			}
			h, n, _ := r.covered(t, truth)
			held[i] += h
			if of += n * (1 - i); use == UseEstimate && len(r.IV.Biased) > 0 {
				seen++
			}
		}
	}
	for k, x := range values { // geometric mean over the parameters
		wide += math.Log(half[k]/1.96/stat.StdDev(x, nil)) / float64(len(values))
	}
	wide = math.Exp(wide)
	t.Logf("%s: of %d intervals of %d seeds, %.1f %% of instruments, %.2f times the scatter, and %.1f %% of least squares hold the truth; "+
		"%d records show that they disagree", s.name, of, seeds,
		100*float64(held[0])/float64(of), wide, 100*float64(held[1])/float64(of), seen)
	if float64(seen) < 0.95*float64(seeds) {
		t.Errorf("%s: only %d of %d noisy records show that least squares is off", s.name, seen, seeds)
	}
	return float64(held[0]) / float64(of), float64(held[1]) / float64(of), wide
}

// Noise of the position draws least squares away, not instruments: their intervals hold; 50 seeds: coverage_soak_test.go.
func TestInstrumentsHold(t *testing.T) {
	s := simulatedArms(t)[0]
	iv, ls, wide := instrumentCoverage(t, s, 10)
	if iv < 0.9 || ls > 0.8 || wide > 1.3 {
		t.Errorf("%.1f %% of the intervals of instruments hold the truth, and %.1f %% of least squares; those of instruments are %.2f times "+
			"the scatter", 100*iv, 100*ls, wide)
	}
}

// Noise makes all that least squares finds smaller: together that shows on records on which no single parameter shows it, and not on
// records without noise.
func TestNoiseMakesLeastSquaresSmaller(t *testing.T) {
	s := simulatedArms(t)[0]
	spec := s.spec()
	spec.Instruments = UseCheck
	check := func(rec Recording) *Instruments {
		r, err := Fit(t.Context(), s.model(t, 0.2), spec, []Recording{rec}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.IV
	}
	if iv := check(s.noisy(s.clean, 3, 1)); math.Abs(iv.Smaller) > apartSurely || len(iv.Biased) > 0 {
		t.Errorf("without noise: smaller by %.2g standard errors, biased %v", iv.Smaller, iv.Biased)
	}
	open := cleanRecord(t, "open-1", 2)
	for _, seed := range []uint64{10, 13} {
		iv := check(s.white(open, seed, noisyPosition))
		for _, a := range iv.Differences {
			if math.Abs(a) > apartSurely {
				t.Errorf("seed %d: a parameter shows it alone, by %.2g standard errors", seed, a)
			}
		}
		if iv.Smaller < apartSurely || len(iv.Biased) == 0 {
			t.Errorf("seed %d: smaller by %.2g standard errors, biased %v", seed, iv.Smaller, iv.Biased)
		}
	}
}

// A record whose noise is that of encoders gives both the same values.
func TestInstrumentsAgreeWithoutNoise(t *testing.T) {
	s := simulatedArms(t)[0]
	spec := s.spec()
	spec.Instruments = UseCheck
	r, err := Fit(t.Context(), s.model(t, 0.2), spec, []Recording{s.noisy(s.clean, 3, 1)}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.IV.Failure != "" || len(r.IV.Biased) > 0 || r.IV.Rounds > 4 || r.IV.Weakest < 0.8 {
		t.Errorf("%+v", r.IV)
	}
	for j, k := range r.FreeParams {
		if r.Values[k] != r.IV.LSValues[j] {
			t.Errorf("%s: a check changed the value", r.Base.Name(k))
		}
		if d := math.Abs(r.IV.Values[j] - r.Values[k]); d > 0.02*math.Abs(r.Values[k]) && d/math.Abs(r.Values[k])*r.Share[j] > 0.3 {
			t.Errorf("%s: %g and %g", r.Base.Name(k), r.Values[k], r.IV.Values[j])
		}
	}
}

// References take the place of positions where every joint has them. Here they are the exact positions: the estimate is as good.
func TestInstrumentsFollowReferences(t *testing.T) {
	s := simulatedArms(t)[0]
	rec := s.white(s.clean, 1, noisyPosition)
	for i := range rec {
		rec[i].Reference = s.clean[i].Position
	}
	spec := s.spec()
	spec.Instruments, spec.Bandwidth = UseEstimate, 8
	r, err := Fit(t.Context(), s.model(t, 0.2), spec, []Recording{rec}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.IV.Reference || r.IV.Bandwidth != 8 {
		t.Errorf("%+v", r.IV)
	}
	truth := s.truth(t)
	for j, k := range r.FreeParams {
		size := math.Abs(truth[k])
		if size == 0 { // a lag: by the torques that it makes
			size = math.Abs(r.Values[k])
		}
		if off := math.Abs(r.Values[k] - truth[k]); off > 0.02*size && off*r.Share[j] > size {
			t.Errorf("%s = %g, true %g", r.Base.Name(k), r.Values[k], truth[k])
		}
	}
}

// A machine that cannot move like the record gives no instruments, and the reason.
func TestInstrumentsMissing(t *testing.T) {
	s := simulatedArms(t)[0]
	spec := s.spec()
	spec.Instruments = UseCheck
	rec := slices.Clone(s.clean)
	for i := range rec { // torques of the wrong sign: negative inertia
		c := *rec[i]
		c.Force = slices.Clone(c.Force)
		for k := range c.Force {
			c.Force[k] = -c.Force[k]
		}
		rec[i] = &c
	}
	r, err := Fit(t.Context(), s.model(t, 0.2), spec, []Recording{rec}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.IV.Failure, "its inertia is not positive") {
		t.Errorf("%q", r.IV.Failure)
	}
	spec.Instruments = UseEstimate
	if _, err := Fit(t.Context(), s.model(t, 0.2), spec, []Recording{rec}, nil, nil); err == nil ||
		!strings.Contains(err.Error(), "no estimate by instrumental variables: the machine with these estimates does not follow the record") ||
		errors.Is(err, ErrMachine) {
		t.Errorf("%v", err)
	}
}
