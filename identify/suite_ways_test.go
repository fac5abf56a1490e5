package identify

import (
	"slices"
	"strings"
	"testing"

	"hilrig/identify/axis"
	"hilrig/identify/bristle"
)

// some kinds of records for methods that take longer.
var some = []string{
	"sines", "faster sines", "moves to and fro", "velocity recorded", "noisy force", "constant load",
	"pauses", "coarse encoder", "force recorded 3 samples late", "force recorded 8 samples late", "force acts 4 ms later",
	"sensor of force clips, noisy",
	"quadratic drag", "backlash at the sensor", "friction falls by a third", "cogging", "spring", "wrong sign of force", "one direction",
	"Stribeck dip",
	"viscous by direction", "presliding", "force sensor drifts", "wild samples", "load changes halfway", "motor constant falls with current",
	"short record", "noise fed back",
	"brake on for a second", "slow filter on the position", "friction grows with position",
}

// contact gives the axis a bristle and moves it by little, where bristles show.
func contact(b *bench) {
	m := b.axis.M
	f := &b.axis.Friction
	f.Sigma0, f.Sigma1 = m*(3e4+4e4*b.rng.Float64()), m*(100+150*b.rng.Float64())
	f.Fs, f.Vs = 1.4*f.Fc, 0.02
	b.sines(0.004, 0.9)
	b.sensors.Count = 1e-8
	b.sensors.Position = 2e-8
}

func contactPlan(method ...Method) func(b *bench, p *Plan) {
	return func(b *bench, p *Plan) {
		*p = Plan{Methods: method, Seed: 1, Bristle: bristle.Options{},
			Model: axis.Spec{Law: "lugre", Terms: []string{"offset"}, Drive: axis.Force, Output: axis.Position, Initial: axis.Free,
				Rotary: b.rotary}}
	}
}

// everyday is hil identify as it comes.
var everyday = way{name: "regress", seconds: 10}

// ways besides the everyday command.
var ways = []way{
	{name: "weak", seconds: 10, plan: func(_ *bench, p *Plan) { p.Form = "weak" }},
	{name: "lm in open loop", seconds: 4, kinds: some, prepare: func(b *bench) { b.sensors.Force = 0 }, plan: func(b *bench, p *Plan) {
		*p = Plan{Methods: Chain{"regress", "lm"}, Regress: p.Regress, Seed: 1,
			Model: axis.Spec{Law: "coulomb", Terms: []string{"viscous", "offset"}, Drive: axis.Force, Output: axis.Position, Initial: axis.Free,
				Rotary: b.rotary}}
	}},
	{name: "lm in the servo", seconds: 6, kinds: some, plan: func(b *bench, p *Plan) {
		*p = Plan{Methods: Chain{"lm"}, Seed: 1, Model: axis.Spec{Law: "coulomb", Terms: []string{"viscous", "offset"}, Drive: axis.Servo,
			Output: axis.Command, Initial: axis.Measured, Rotary: b.rotary,
			Controller: &axis.Controller{Kp: b.kp, Kv: b.kv, Limit: b.limit, Gain: 1, Mean: 2}}}
	}},
	{name: "lugre", strict: true, seconds: 3, kinds: some, prepare: contact, plan: contactPlan("lugre")},
	// a noise of 0.15·M is above the viscous force, 0.1·M: in 3000 rows it leaves sigma2 open by a tenth or more, whatever the method
	{name: "lugre, kalman", slow: true, seconds: 3, longer: map[string]float64{"noisy force": 20}, kinds: some, prepare: contact,
		plan: contactPlan("lugre", "kalman")},
}

// A simulation that is led back along the record hardly moves with a constant force. What harms an offset is measured by the forces of the
// model there, not by the motion: viscous friction of 1 and 1.4 by direction moves it by 13 % of Coulomb friction.
func TestOffsetOfASimulationLedBack(t *testing.T) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == "viscous by direction" })
	w := ways[slices.IndexFunc(ways, func(w way) bool { return w.name == "lm in open loop" })]
	for seed := range uint64(3) {
		b := newBench(seed+1, w.seconds)
		w.prepare(b)
		tr := kinds[i].make(b)
		w.plan(b, &tr.plan)
		o := attempt(kinds[i], tr)
		if o.result == nil {
			t.Fatal(o.reason)
		}
		p, _ := o.result.Param("offset")
		if o.verdict == Identified || p.Worth == string(Identified) || !strings.HasPrefix(o.reason, "direction") {
			t.Errorf("seed %d: %s (%s), offset %s", seed, o.verdict, o.reason, p.Worth)
		}
	}
}
