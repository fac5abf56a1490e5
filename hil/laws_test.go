package hil

import (
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/hil/axis"
)

// On a contact that is not LuGre's, the law of the contact compensates better than LuGre with the same levels, stiffness and viscosity:
// the demo's rig, with elasto-plastic and Maxwell-slip friction, 20 seeds, in motions that turn round slowly. (In the demo's fast motion,
// where reversals are short, what is left over is the delay of the voltage, and LuGre's own error may happen to meet it.)
func TestTheLawOfTheContactCompensatesBest(t *testing.T) {
	seeds := 7
	switch {
	case soak:
		seeds = 20
	case testing.Short():
		seeds = 3
	}
	lugre := func() friction.Model { return demoLaw() }
	contacts := map[string]func() friction.Model{
		"elasto-plastic": func() friction.Model { return &friction.ElastoPlastic{Bristle: *demoLaw(), Zba: 0.7} },
		"gms": func() friction.Model {
			return &friction.GMS{Sigma0: 11, Ratio: 1.5, Elements: 6, C: 1, Sigma2: 1.5e-4, Fc: 15e-3, Fs: 21e-3, Vs: 0.5}
		},
	}
	for name, contact := range contacts {
		for _, m := range []struct {
			name string
			ref  reference.Spec
		}{{"1 rad at 0.25 Hz", slowSine}, {"50 mrad at 0.5 Hz", reference.Spec{Kind: "sine", Amplitude: 0.05, Frequency: 0.5}}} {
			for _, kind := range []axis.CompKind{axis.CompObserver, axis.CompFeedForward, axis.CompGain} {
				n := seeds
				if kind != axis.CompObserver { // hardly depends on the noise
					n = 3
				}
				t.Run(name+"/"+m.name+"/"+kind.String(), func(t *testing.T) {
					t.Parallel()
					median := func(model func() friction.Model) float64 {
						var errors []float64
						for seed := range n {
							b := newBench(t, benchOptions{seed: uint64(seed + 1), comp: compOf(kind), ref: m.ref, fade: 0.5, law: model(),
								truth: func(s *plant.AxisSpec) { s.Friction = contact() }})
							errors = append(errors, b.rms(b.run(t, 5000)[1500:], "shaft.ctl.error"))
						}
						return numeric.Median(errors)
					}
					own, other := median(contact), median(lugre)
					t.Logf("median of %d rms errors: %.2f mrad with its own law, %.2f with lugre", n, 1e3*own, 1e3*other)
					if own > other {
						t.Errorf("its own law: %.3f mrad, lugre: %.3f", 1e3*own, 1e3*other)
					}
				})
			}
		}
	}
}
