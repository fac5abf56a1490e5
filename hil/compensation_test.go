package hil

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
	"hilrig/hil/axis"
)

const count = 2 * math.Pi / 65536 // rad  of the bench's encoder

var everyComp = []axis.CompKind{axis.CompFeedForward, axis.CompObserver, axis.CompStatic, axis.CompDisturbance, axis.CompGain,
	axis.CompLuGre}

// compOf is a compensation as cmd/hil fills it in for the demo.
func compOf(kind axis.CompKind) axis.CompSpec {
	return axis.CompSpec{Kind: kind, Scale: 0.95, Inertia: true, LeadTime: 2e-3, Bandwidth: 20, Order: 1, DeadBand: 4 * count,
		Adapt: axis.Adapt{Time: 1, Range: [2]float64{0.5, 2}}, Resolution: count, Rest: 0.05, Slew: 10}
}

// frictionTimes makes a plant whose friction is a multiple of what the model says.
func frictionTimes(factor float64) func(*plant.AxisSpec) {
	return func(s *plant.AxisSpec) {
		law := s.Friction.(*friction.LuGre).Scaled(factor)
		s.Friction = &law
	}
}

// column is one signal of the rows.
func (b *bench) column(tb testing.TB, rows []Row, name string) []float64 {
	tb.Helper()
	s := b.controller.Schema()
	k := s.Index(name)
	if k < 0 {
		tb.Fatalf("no signal %s", name)
	}
	out := make([]float64, len(rows))
	for i := range rows {
		out[i] = rows[i].X[k]
	}
	return out
}

// withinLimits checks every tick: torque, voltage, and size and slope of the compensation.
func (b *bench) withinLimits(t *testing.T, rows []Row, c axis.CompSpec) {
	t.Helper()
	law := demoLaw()
	comp, tau, u := b.column(t, rows, "shaft.comp.friction"), b.column(t, rows, "shaft.ctl.effort"), b.column(t, rows, "drive.voltage")
	v, vd := b.column(t, rows, "shaft.est.velocity"), b.column(t, rows, "shaft.ref.velocity")
	for i := range rows {
		top := 1.2*law.Fs + law.Sigma2*max(math.Abs(v[i]), math.Abs(vd[i]))
		switch {
		case math.Abs(comp[i]) > top*(1+1e-12):
			t.Fatalf("tick %d: compensation %g N·m, limit %g", i, comp[i], top)
		case i > 0 && c.Slew > 0 && math.Abs(comp[i]-comp[i-1]) > c.Slew*1e-3*(1+1e-9):
			t.Fatalf("tick %d: compensation jumps by %g N·m", i, comp[i]-comp[i-1])
		case math.Abs(tau[i]) > 0.4 || math.Abs(u[i]) > 24:
			t.Fatalf("tick %d: %g N·m, %g V", i, tau[i], u[i])
		}
	}
}

// Every kind makes the tracking error of the same PD several times smaller, with friction 10 % below and above the model, and
// stays within its limits in every tick. What is left without learning is the share that the scale and the model leave; a
// learning kind finds the factor, divided by the scale.
func TestEveryCompensationImproves(t *testing.T) {
	for _, factor := range []float64{0.9, 1.1} {
		rms := func(comp axis.CompSpec) (float64, *bench, []Row) {
			b := newBench(t, benchOptions{seed: 3, comp: comp, ref: slowSine, truth: frictionTimes(factor), fade: 0.5})
			rows := b.run(t, 6000)
			b.withinLimits(t, rows, comp)
			return b.rms(rows[2000:], "shaft.ctl.error"), b, rows
		}
		alone, _, _ := rms(compOf(axis.CompNone))
		for _, kind := range everyComp {
			t.Run(kind.String(), func(t *testing.T) {
				e, b, rows := rms(compOf(kind))
				t.Logf("friction × %g: rms error alone %.1f mrad, with %.2f mrad: %.1f times smaller", factor, 1e3*alone, 1e3*e, alone/e)
				if want := map[axis.CompKind]float64{axis.CompGain: 15, axis.CompLuGre: 15}[kind]; alone < max(5, want)*e {
					t.Errorf("friction × %g: only %.1f times smaller", factor, alone/e)
				}
				if name := map[axis.CompKind]string{axis.CompGain: "shaft.comp.theta", axis.CompLuGre: "shaft.comp.theta0"}[kind]; name != "" {
					theta := b.column(t, rows, name)
					if got := theta[len(theta)-1] * 0.95 / factor; math.Abs(got-1) > 0.03 {
						t.Errorf("friction × %g: learned %.4f, times the scale %.4f of it", factor, theta[len(theta)-1], got)
					}
				}
			})
		}
	}
}

// dwell is the largest travel of the error within a dwell of the reference, from half a second after its start, and the
// largest error there.
func (b *bench) dwell(t *testing.T, rows []Row) (travel, top float64) {
	t.Helper()
	e, vd, ad := b.column(t, rows, "shaft.ctl.error"), b.column(t, rows, "shaft.ref.velocity"), b.column(t, rows, "shaft.ref.acceleration")
	n, lo, hi := 0, 0.0, 0.0
	for i := range rows {
		if n++; vd[i] != 0 || ad[i] != 0 {
			n = 0
		}
		switch {
		case n == 500:
			lo, hi = e[i], e[i]
		case n > 500:
			lo, hi = min(lo, e[i]), max(hi, e[i])
			travel, top = max(travel, hi-lo), max(top, math.Abs(e[i]))
		}
	}
	return travel, top
}

// Moves with rests, friction 10 % below the model: what is compensated is 1.06 times the friction. The observer hunts in the
// rests for ever; with a resolution it rests. No kind leaves the axis far from its goal or swinging by more than two
// presliding travels, 2·Fs/σ0 = 3.8 mrad.
func TestOverCompensatedAxisComesToRest(t *testing.T) {
	moves := reference.Spec{Kind: "trapezoid", Amplitude: 1, Velocity: 3, Accel: 20, Frequency: 0.25}
	rest := func(comp axis.CompSpec) (travel, top float64) {
		b := newBench(t, benchOptions{seed: 3, comp: comp, ref: moves, truth: frictionTimes(0.9), fade: 0.5})
		rows := b.run(t, 6000)
		b.withinLimits(t, rows, comp)
		return b.dwell(t, rows)
	}
	never := compOf(axis.CompObserver)
	never.Resolution = 0
	hunts, _ := rest(never)
	for _, kind := range everyComp {
		travel, top := rest(compOf(kind))
		t.Logf("%v: moves by %.3f mrad in a rest, error up to %.2f mrad", kind, 1e3*travel, 1e3*top)
		if travel > 3.8e-3 || top > 8e-3 {
			t.Errorf("%v: moves by %.3f mrad in a rest, error up to %.2f mrad", kind, 1e3*travel, 1e3*top)
		}
		if kind == axis.CompObserver && (hunts < 3.8e-3 || travel > 0.05*hunts) {
			t.Errorf("the observer hunts by %.3f mrad without a resolution and moves by %.3f mrad with it", 1e3*hunts, 1e3*travel)
		}
	}
}

// A PD axis without compensation sticks on the way to its goal; each dither brings it closer.
func TestDitherFreesAnAxis(t *testing.T) {
	goal := reference.Spec{Kind: "constant", Offset: 0.06}
	last := func(d estimator.DitherSpec) float64 {
		comp := compOf(axis.CompNone)
		comp.Dither = d
		b := newBench(t, benchOptions{seed: 3, comp: comp, ref: goal, fade: 0.5})
		rows := b.run(t, 4000)
		b.withinLimits(t, rows, comp)
		mean := 0.0 // the dither itself averages out over whole periods
		for _, e := range b.column(t, rows, "shaft.ctl.error")[3000:] {
			mean += e / 1000
		}
		return math.Abs(mean)
	}
	stuck := last(estimator.DitherSpec{})
	for _, c := range []struct {
		name string
		d    estimator.DitherSpec
		want float64 // share of the error that is left
	}{
		{"velocity", estimator.DitherSpec{Kind: estimator.DitherVelocity, Velocity: 1.5, Frequency: 60}, 0.2},
		{"force", estimator.DitherSpec{Kind: estimator.DitherForce, Amplitude: 0.06, Frequency: 60}, 0.2},
		{"pulse", estimator.DitherSpec{Kind: estimator.DitherPulse, Amplitude: 0.06, Frequency: 10}, 0.05},
	} {
		e := last(c.d)
		t.Logf("%s: error %.2f mrad stuck, %.3f mrad with dither", c.name, 1e3*stuck, 1e3*e)
		if e > c.want*stuck {
			t.Errorf("%s: error %.2f mrad stuck, %.3f mrad with dither", c.name, 1e3*stuck, 1e3*e)
		}
	}
}

// No kind allocates in the tick, and rows of a learning, dithered run are replayed bit for bit.
func TestEveryCompensationTicksCleanly(t *testing.T) {
	for _, kind := range append(everyComp, axis.CompNone) {
		comp := compOf(kind)
		comp.Dither = estimator.DitherSpec{Kind: estimator.DitherKind(1 + int(kind)%3), Velocity: 0.5, Amplitude: 0.05, Frequency: 50}
		b := newBench(t, benchOptions{seed: 1, comp: comp, ref: slowSine, fade: 0.5})
		rows := b.run(t, 300)
		_ = rows
		if n := testing.AllocsPerRun(300, b.step); n != 0 {
			t.Errorf("%v: %g allocations in a tick", kind, n)
		}
	}
	comp := compOf(axis.CompLuGre)
	comp.Dither = estimator.DitherSpec{Kind: estimator.DitherVelocity, Velocity: 0.5, Frequency: 50}
	b := newBench(t, benchOptions{seed: 4, comp: comp, ref: slowSine, fade: 0.2})
	var rows []Row
	b.out.keep = &rows
	for k := range 1500 {
		switch k {
		case 200:
			b.out.req = ReqArm
		case 210:
			b.out.req = ReqRun
		}
		b.step()
	}
	sameAgain(t, b.controller.s, rows)
}
