package identify

import (
	"context"
	"math"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// heldOrStraight is a record in open loop of a force that is smooth, or held over its samples, at so many samples a second.
func heldOrStraight(seed uint64, rate float64, held bool, noise float64) (*record.Record, independent.Axis) {
	a := independent.Axis{M: 3, Friction: independent.Friction{Fc: 2, Sigma2: 4}}
	run := independent.Run{Dt: 1 / rate, N: int(8 * rate), Force: independent.Sines(seed, []float64{9, 4, 3}, []float64{0.55, 1.7, 3.9}),
		Intersample: independent.Exact}
	if held {
		run.Intersample = independent.Held
	}
	return a.Simulate(run).Record(independent.Sensors{Count: 5e-7, Velocity: -1, Force: noise, Seed: seed}, nil), a
}

// Whether a force is held or straight between its samples is taken from the record: by every method that simulates, and by regress.
// Values hold then, which the other way would have moved by more than their errors.
func TestHoldIsTakenFromTheRecord(t *testing.T) {
	methods := []Chain{{"regress"}, {"lm"}, {"multishoot"}}
	rates, seeds := []float64{200, 1000}, 2
	if soak {
		methods, rates, seeds = append(methods, Chain{"aep", "lm"}), append(rates, 100, 2000), 10
	}
	for _, methods := range methods {
		for _, rate := range rates {
			if !soak && methods[0] == "multishoot" && rate > rates[0] {
				continue // it has many states
			}
			for _, held := range []bool{false, true} {
				in, of := 0, 0
				for seed := range uint64(seeds) {
					rec, a := heldOrStraight(seed, rate, held, 0.01)
					plan := Plan{Methods: methods, Regress: linear.DefaultSpec(), Seed: 1,
						Model: axis.Spec{Law: "coulomb", Terms: []string{"viscous", "offset"}, Drive: axis.Force, Output: axis.Position, Initial: axis.Free,
							Hold: axis.Either}}
					r, err := Run(context.Background(), plan, Records{Fit: []*record.Record{rec}}, nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					if methods[0] != "regress" {
						if got, want := r.Settings.(map[string]any)["hold"], map[bool]string{true: "held", false: "linear"}[held]; got != want {
							t.Errorf("%v, %g Hz, held %v, seed %d: taken for %v", methods, rate, held, seed, got)
						}
					}
					for name, truth := range map[string]float64{"M": a.M, "Fc": a.Friction.Fc} {
						p, _ := r.Param(name)
						ci := r.Interval(p)
						if ci == nil {
							t.Errorf("%v, %g Hz, held %v, seed %d: no interval of %s: %s %v", methods, rate, held, seed, name, r.Verdict, r.Reasons)
							continue
						}
						off := 2 * math.Abs(p.Value-truth) / (ci[1] - ci[0])
						if of++; off <= 1 {
							in++
						}
						if off > 1.6 {
							t.Errorf("%v, %g Hz, held %v, seed %d: %s %.5g in %.5g, truth %.5g; %s", methods, rate, held, seed, name, p.Value, *ci, truth,
								r.Verdict)
						}
					}
				}
				t.Logf("%v, %g Hz, held %v: %d of %d in their intervals", methods, rate, held, in, of)
			}
		}
	}
}
