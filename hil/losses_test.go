package hil

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/reference"
	"hilrig/hil/axis"
)

// lossyDevice loses samples: at random, or burst in a row out of forty.
type lossyDevice struct {
	Device
	rng   *rand.Rand
	loss  float64
	burst int
	n     int
	kept  [2]float64
}

func (d *lossyDevice) Poll(now int64, y []float64) Fresh {
	fresh := d.Device.Poll(now, y)
	if fresh != (Fresh{}) {
		if d.n++; d.rng.Float64() < d.loss || d.n%40 < d.burst {
			fresh = Fresh{}
		} else {
			copy(d.kept[:], y)
		}
	}
	copy(y, d.kept[:])
	return fresh
}

func lossyBench(t *testing.T, o benchOptions, loss float64, burst int) *bench {
	b := newBench(t, o)
	b.ctl.dev = &lossyDevice{Device: b.ctl.dev, rng: rand.New(rand.NewPCG(o.seed, 11)), loss: loss, burst: burst}
	return b
}

var losses = []struct {
	name  string
	loss  float64
	burst int
}{{"10 % lost", 0.1, 0}, {"half lost", 0.5, 0}, {"4 of 40 lost", 0, 4}}

// In the closed loop every compensation and every observer bears lost samples: the rig runs on, commands stay within their limits, the
// tracking error stays within 1.6 times that with all samples (the estimate is as old as its newest sample, though this device tells no
// age), and what learns has learnt the same.
func TestLossesInTheLoop(t *testing.T) {
	for _, kind := range append(everyComp, axis.CompNone) {
		comp := compOf(kind)
		run := func(loss float64, burst int) (rms float64, theta []float64) {
			b := lossyBench(t, benchOptions{seed: 3, comp: comp, ref: slowSine, truth: frictionTimes(1.1), fade: 0.5}, loss, burst)
			rows := b.run(t, 5000)
			b.withinLimits(t, rows, comp)
			last := &rows[len(rows)-1]
			_, _, model, _ := b.controller.schema.Blocks(last)
			return b.rms(rows[2000:], "shaft.ctl.error"), model[9:] // behind what every axis has
		}
		all, learnt := run(0, 0)
		for _, l := range losses {
			t.Run(fmt.Sprintf("%v %s", kind, l.name), func(t *testing.T) {
				rms, theta := run(l.loss, l.burst)
				t.Logf("rms error %.2f mrad, with all samples %.2f mrad; learnt %.3f, %.3f", 1e3*rms, 1e3*all, theta, learnt)
				if rms > 1.6*all {
					t.Errorf("rms error %.2f mrad, with all samples %.2f mrad", 1e3*rms, 1e3*all)
				}
				for i := range theta {
					if math.Abs(theta[i]-learnt[i]) > 0.02 {
						t.Errorf("factor %d learnt as %.3f, with all samples %.3f", i, theta[i], learnt[i])
					}
				}
			})
		}
	}
}

// The recursive least squares find the same inertia and friction with samples lost.
func TestLossesInRLS(t *testing.T) {
	ref := reference.Spec{Kind: "multisine", Tones: []reference.Tone{{Amplitude: 3, Frequency: 0.4}, {Amplitude: 0.6, Frequency: 2.3}}}
	for _, l := range losses {
		b := lossyBench(t, benchOptions{seed: 5, comp: observer, ref: ref, fade: 1}, l.loss, l.burst)
		rows := b.run(t, 20000)
		r, s := &rows[len(rows)-1], b.controller.Schema()
		windows := r.X[s.Index("shaft.rls.windows")]
		t.Logf("%s: %g windows, J %.4g ± %.2g, Fc %.4g ± %.2g", l.name, windows, r.X[s.Index("shaft.rls.J")], r.X[s.Index("shaft.rls.J_se")],
			r.X[s.Index("shaft.rls.Fc")], r.X[s.Index("shaft.rls.Fc_se")])
		if windows < 45 {
			t.Errorf("%s: %g windows in 20 s", l.name, windows)
		}
		for _, c := range []struct {
			name  string
			truth float64
		}{{"shaft.rls.J", 7e-5}, {"shaft.rls.Fc", 15e-3}} {
			k := s.Index(c.name)
			if v, se := r.X[k], r.X[k+4]; !(math.Abs(v-c.truth) <= 4*se) {
				t.Errorf("%s: %s is %.5g ± %.2g, truth %.5g", l.name, c.name, v, se, c.truth)
			}
		}
	}
}
