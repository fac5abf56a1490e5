package curve

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/identify/fit"
	"hilrig/identify/record"
)

func (c rig) presliding(t testing.TB, o LoopOptions, recs ...*record.Record) *fit.Solution {
	t.Helper()
	params := PreslidingParams(recs)
	s, err := Presliding(context.Background(), recs, params, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A loop without noise gives back what was put in, whatever its shape: a virgin curve alone, one reversal, many; with the
// deflection of a rig in the displacement; relaxed or not.
func TestPreslidingExact(t *testing.T) {
	for _, c := range rigs {
		c.noiseX, c.noiseU, c.quantum = 0, 0, 0
		for _, cycles := range []float64{0.24, 0.7, 1, 2.3} {
			for _, soft := range []float64{0, 3 * c.sigma0} {
				for _, relaxed := range []bool{false, true} {
					d := c.closed(800, cycles, 1)
					if soft > 0 {
						for k := range d.Position {
							d.Position[k] += d.Force[k] / soft
						}
					}
					o := LoopOptions{Rig: soft, Relaxed: relaxed}
					s := c.presliding(t, o, d)
					oneWay := cycles < 0.25 && !relaxed
					if refused(s, "offset") != oneWay || refused(s, "Fs") != oneWay || refused(s, "sigma0") != oneWay {
						t.Errorf("%s, %g cycles, rig %g, relaxed %v: refused %v", c.name, cycles, soft, relaxed, s.Unidentifiable)
					}
					if oneWay { // then the offset has to be given
						params := PreslidingParams([]*record.Record{d})
						params[2].Value, params[2].Fixed = c.offset, true
						var err error
						if s, err = Presliding(context.Background(), []*record.Record{d}, params, o, nil); err != nil {
							t.Fatal(err)
						}
					}
					for name, want := range map[string]float64{"sigma0": c.sigma0, "Fs": c.fs, "offset": c.offset} {
						if got := estimate(t, s, name); math.Abs(got-want) > 2e-5*max(math.Abs(want), c.fs) {
							t.Errorf("%s, %g cycles, rig %g, relaxed %v: %s = %.8g, want %g", c.name, cycles, soft, relaxed, name, got, want)
						}
					}
					if len(s.Loops) != 1 || len(s.Loops[0].Displacement) < 700 {
						t.Fatalf("%d loops", len(s.Loops))
					}
					for k, f := range s.Loops[0].Model { // the force of the record is exact
						if math.Abs(f-s.Loops[0].Force[k]) > 1e-4*c.fs {
							t.Fatalf("%s, %g cycles, rig %g, relaxed %v: row %d of the loop is %g, want %g", c.name, cycles, soft, relaxed, k, f,
								s.Loops[0].Force[k])
						}
					}
				}
			}
		}
	}
}

// With noise in both channels neither parameter is biased, and the standard errors are those of the scatter. A fit of the
// noisy force through the logarithm, or along the noisy path, is off by far more.
func TestPreslidingIsNotBiasedByNoise(t *testing.T) {
	const seeds = 12
	coarse := rigs[0]
	coarse.name, coarse.noiseX = "coarse displacement", 0.02*coarse.fs/coarse.sigma0
	noisy := rigs[1]
	noisy.name, noisy.noiseX, noisy.noiseU = "noisy", 0.01*noisy.fs/noisy.sigma0, 0.02*noisy.fs
	for _, c := range append([]rig{coarse, noisy}, rigs[:4]...) {
		names := []string{"sigma0", "Fs", "offset"}
		want := []float64{c.sigma0, c.fs, c.offset}
		sum, square, covered := [3]float64{}, [3]float64{}, [3]int{}
		for seed := range uint64(seeds) {
			s := c.presliding(t, LoopOptions{}, c.closed(800, 1.5, seed))
			for i, name := range names {
				e := (estimate(t, s, name) - want[i]) / standardError(t, s, name)
				sum[i] += e / seeds
				square[i] += e * e / seeds
				if math.Abs(e) < 1.96 {
					covered[i]++
				}
			}
			if !refused(s, "sigma1") {
				t.Error("sigma1 is not refused")
			}
		}
		for i, name := range names {
			if math.Abs(sum[i]) > 4/math.Sqrt(seeds) || square[i] > 1+4*math.Sqrt(2.0/seeds) || covered[i] < seeds*75/100 {
				t.Errorf("%s: %s is off by %.2f standard errors on the average, mean square %.2f, covered %d of %d", c.name, name, sum[i], square[i],
					covered[i], seeds)
			}
		}
		t.Logf("%s: mean error %.2f, mean square %.2f standard errors, covered %d of %d", c.name, sum, square, covered, seeds)
	}
}

// Derivatives along the chain of branches agree with differences, and the evaluator allocates nothing.
func TestLoopDerivatives(t *testing.T) {
	c := rigs[1]
	ps, d := c.points(9, 1), c.closed(300, 2.2, 1)
	for _, relaxed := range []bool{false, true} {
		params := JointParams(ps, []*record.Record{d}, "lugre", false)
		e, err := newStatic(ps, params, StaticOptions{})
		if err != nil {
			t.Fatal(err)
		}
		l, err := newLoop(d, LoopOptions{Relaxed: relaxed, Rig: 5 * c.sigma0})
		if err != nil {
			t.Fatal(err)
		}
		x, err := tie(e, []*loop{l}, params)
		if err != nil {
			t.Fatal(err)
		}
		x.params[x.rate].Fixed, x.params[x.rate].Value, x.params[x.rate].Hi = false, c.sigma1, c.sigma1*1e3
		copyValues(x.params, map[string]float64{"sigma0": c.sigma0, "Fs": c.fs})
		x.place()
		checkDerivatives(t, "joint", &x.system)
	}
}

func copyValues(params []fit.Param, to map[string]float64) {
	for i, p := range params {
		if v, ok := to[p.Name]; ok {
			params[i].Value = v
		}
	}
}

// A given sigma1 is taken into account; a free one keeps its start and is refused.
func TestPreslidingWithSigma1(t *testing.T) {
	c := rigs[0]
	c.period /= 20
	d := c.moved(1500, 1.5, 3)
	params := slices.Insert(PreslidingParams([]*record.Record{d}), 1, fit.Param{})
	params[1].Name, params[1].Value, params[1].Hi = "sigma1", 100, 1e4
	for _, fixed := range []bool{false, true} {
		params[1].Fixed = fixed
		if fixed {
			params[1].Value = c.sigma1
		}
		s, err := Presliding(context.Background(), []*record.Record{d}, params, LoopOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := estimate(t, s, "sigma1"); got != params[1].Value || refused(s, "sigma1") == fixed {
			t.Errorf("fixed %v: sigma1 = %g, refused %v", fixed, got, s.Unidentifiable)
		}
		for _, k := range s.FreeParams {
			if s.Params[k].Name == "sigma1" {
				t.Error("sigma1 is among the free")
			}
		}
		if got := estimate(t, s, "sigma0"); math.Abs(got-c.sigma0) > 0.01*c.sigma0 {
			t.Errorf("fixed %v: sigma0 = %g ± %.2g, want %g", fixed, got, standardError(t, s, "sigma0"), c.sigma0)
		}
		if len(s.Params) != 4 || s.Params[1].Name != "sigma1" || len(s.Jac) != len(s.Residual)*len(s.FreeParams) {
			t.Errorf("parameters %v, free %v", s.Params, s.FreeParams)
		}
	}
}

// What a loop cannot show is refused, and bad records are told.
func TestPreslidingTellsBadInput(t *testing.T) {
	c := rigs[2]
	c.reach = 0.02 // almost straight
	s := c.presliding(t, LoopOptions{}, c.closed(1000, 1.5, 1))
	if !refused(s, "Fs") {
		t.Errorf("Fs = %g from a loop to 2 %% of it is not refused", estimate(t, s, "Fs"))
	}
	good := rigs[0].closed(1000, 1.5, 1)
	still := &record.Record{Dt: 1, Position: make([]float64, 100), Force: make([]float64, 100)}
	half := &record.Record{Dt: 1, Force: good.Force}
	coarse := rigs[0]
	coarse.noiseX = 1e-4
	nan := &record.Record{Dt: 1, Position: slices.Clone(good.Position), Force: good.Force}
	nan.Position[7] = math.NaN()
	for _, b := range []struct {
		name string
		d    *record.Record
		want string
	}{
		{"at rest", still, "no loop"},
		{"no position", half, "needs position and force"},
		{"noise", coarse.closed(1000, 1.5, 1), "drowns"},
		{"nan", nan, "finite"},
	} {
		_, err := Presliding(context.Background(), []*record.Record{b.d}, PreslidingParams([]*record.Record{good}), LoopOptions{}, nil)
		if err == nil || !strings.Contains(err.Error(), b.want) {
			t.Errorf("%s: %v, want it to say %q", b.name, err, b.want)
		}
	}
	if _, err := Presliding(context.Background(), nil, nil, LoopOptions{}, nil); err == nil {
		t.Error("no record is no error")
	}
}
