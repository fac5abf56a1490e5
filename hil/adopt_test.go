package hil

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/hil/axis"
)

// adoptable is the parameter block of a bench with a set for its axis.
func adoptable(t testing.TB, b *bench, gen uint32, set *axis.Set) Params {
	t.Helper()
	p := b.controller.Params()
	p.Gen = gen
	if set == nil {
		return p
	}
	if err := p.Sets[0].Encode(set); err != nil {
		t.Fatal(err)
	}
	return p
}

// weaker is the law of the demo with other numbers.
func weaker(times float64) *axis.Set {
	law := demoLaw()
	scaled := law.Scaled(times)
	return axis.SetOf(&scaled)
}

// handOver runs to full speed, hands a set over, and goes on; it gives the rows of the second behind the hand-over and of all.
func handOver(t *testing.T, seed uint64, comp axis.CompSpec, truth func(*plant.AxisSpec), set *axis.Set) (b *bench, after, all []Row) {
	b = newBench(t, benchOptions{seed: seed, comp: comp, ref: reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.9 + 0.01*float64(seed)},
		fade: 0.5, truth: truth})
	b.out.keep = &all
	for k := range 2600 {
		switch k {
		case 200:
			b.out.req = ReqArm
		case 210:
			b.out.req = ReqRun
		case 1500:
			if set != nil {
				p := adoptable(t, b, 1, set)
				b.out.params = &p
			}
		}
		b.step()
	}
	return b, all[1500:2500], all
}

// A law handed over at full speed, 8 seeds (20 in the soak): the largest change of the command from tick to tick in the second after it is at most 1.1
// times the largest without, nothing trips, and the rows are replayed bit for bit. (The largest of a single run is a matter of luck: it
// is where the drop of the brushes turns its sign between two ticks.)
func TestHandOver(t *testing.T) {
	steepest := func(b *bench, rows []Row) (most float64) {
		u := b.column(t, rows, "drive.voltage")
		for i := 1; i < len(u); i++ {
			most = max(most, math.Abs(u[i]-u[i-1]))
		}
		return most
	}
	for name, c := range map[string]struct {
		set   *axis.Set
		truth func(*plant.AxisSpec)
	}{
		"less friction":   {weaker(0.92), frictionTimes(0.92)},
		"more friction":   {weaker(1.08), frictionTimes(1.08)},
		"another inertia": {withMotor(weaker(1), map[string]float64{"J": 7.5e-5}), func(d *plant.AxisSpec) { d.Motor.J = 7.5e-5 }},
		"another law":     {axis.SetOf(elastoPlastic()), nil},
	} {
		set := c.set
		var most [2]float64 // V  with the hand-over, and without
		for seed := range seeds(20) {
			comp := compOf(axis.CompFeedForward)
			comp.Ramp = 1
			b, with, all := handOver(t, seed, comp, c.truth, set)
			if b.ctl.row.Mode != Run || b.ctl.row.Gen != 1 {
				t.Fatalf("%s, seed %d: %v, generation %d: %s", name, seed, b.ctl.row.Mode, b.ctl.row.Gen, b.ctl.row.CauseText(&b.controller.schema))
			}
			_, without, _ := handOver(t, seed, comp, c.truth, nil)
			most[0], most[1] = max(most[0], steepest(b, with)), max(most[1], steepest(b, without))
			if seed > 0 {
				continue
			}
			sameAgain(t, b.controller.s, all, adoptable(t, b, 1, set))
		}
		t.Logf("%s: the command changes by up to %.3f V from tick to tick, %.3f V without the hand-over", name, most[0], most[1])
		if most[0] > 1.1*most[1] {
			t.Errorf("%s: the command changes by up to %.3f V from tick to tick, %.3f V without the hand-over", name, most[0], most[1])
		}
	}
}

// elastoPlastic is another law with the numbers of the demo's.
func elastoPlastic() friction.Model {
	law, err := friction.Build("elasto-plastic", map[string]float64{"sigma0": 11, "sigma1": 0.02, "sigma2": 1.5e-4, "Fc": 15e-3, "Fs": 21e-3,
		"vs": 0.5, "vd": 0.3, "offset": 0, "N0": 0, "zba_ratio": 0.7})
	if err != nil {
		panic(err)
	}
	return law
}

func withMotor(s *axis.Set, motor map[string]float64) *axis.Set {
	s.Motor = motor
	return s
}

// What was handed over acts: the error is that of a run that began with it, and the old set put back gives the old rows to the last bit,
// once it has faded in.
func TestHandOverActs(t *testing.T) {
	comp := compOf(axis.CompStatic) // without a state of its own
	comp.Ramp = 0.2
	ref := reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.5}
	rms := func(truth, first, then float64) float64 {
		b := newBench(t, benchOptions{seed: 2, comp: comp, ref: ref, fade: 0.5, truth: frictionTimes(truth)})
		b.energise(t)
		if first != 1 {
			t.Fatal("the file has the law of the demo")
		}
		p := adoptable(t, b, 1, weaker(then))
		b.out.params = &p
		var rows []Row
		b.out.keep = &rows
		for range 6000 {
			b.step()
		}
		return b.rms(rows[2000:], "shaft.ctl.error")
	}
	if wrong, right := rms(1.4, 1, 1), rms(1.4, 1, 1.4); right > wrong/2 {
		t.Errorf("rms error %g rad with the law of the file, %g with the one handed over", wrong, right)
	}

	other := newBench(t, benchOptions{seed: 2, comp: comp, ref: ref, fade: 0.5})
	same := newBench(t, benchOptions{seed: 2, comp: comp, ref: ref, fade: 0.5})
	other.energise(t)
	same.energise(t)
	for gen, set := range []*axis.Set{weaker(1.05), weaker(1), nil} {
		p := adoptable(t, other, uint32(gen+1), set)
		other.out.params = &p
		for range 300 {
			other.step()
		}
	}
	at := func(b *bench, law friction.Model) float64 {
		return b.controller.s.Axes[0].Law.SteadyForce(1) - law.SteadyForce(1)
	}
	if at(other, demoLaw()) != 0 {
		t.Error("the law of the specification was touched")
	}
	if a, b := other.controller.axes[0].Unexplained(), same.controller.axes[0].Unexplained(); a != b {
		t.Errorf("limit of the residual %g, %g before", a, b)
	}
}

// A set is refused whole, with what is wrong, and nothing changes.
func TestAdoptRefuses(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, fade: 0.5})
	rigid, ok := friction.Find("static-coulomb-viscous")
	if !ok {
		t.Fatal("no such law")
	}
	short := weaker(1)
	delete(short.Params, "Fc")
	for name, set := range map[string]*axis.Set{
		"no such law":                           {Law: "lugr", Params: weaker(1).Params},
		"a parameter missing":                   short,
		"a negative level":                      {Law: "lugre", Params: weaker(-1).Params},
		"no stiffness under a measured speed":   axis.SetOf(rigid.NewLaw()),
		"a number of the motor that is not one": withMotor(weaker(1), map[string]float64{"Ra": 1}),
		"no inertia":                            withMotor(weaker(1), map[string]float64{"J": 0}),
	} {
		p := b.controller.Params()
		err := p.Sets[0].Encode(set)
		if err == nil {
			err = b.controller.Check(&p)
		}
		if err == nil {
			t.Errorf("%s: taken", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	p := adoptable(t, b, 1, weaker(1.1))
	if err := b.controller.Check(&p); err != nil {
		t.Errorf("a good set after bad ones: %v", err)
	}
}

// While a change fades in the order of the next one is refused, and then it is not taken unless it is ordered again; at rest a change is in
// force at once.
func TestChangesWait(t *testing.T) {
	comp := compOf(axis.CompFeedForward)
	comp.Ramp = 0.1
	b := newBench(t, benchOptions{seed: 1, comp: comp, ref: slowSine, fade: 0.2})
	first := adoptable(t, b, 1, weaker(0.9))
	b.out.params = &first
	if b.step(); b.ctl.row.Gen != 1 || !b.controller.FadeComplete() {
		t.Errorf("at rest: generation %d, settled %v", b.ctl.row.Gen, b.controller.FadeComplete())
	}
	b.energise(t)
	for range 100 {
		b.step()
	}
	second, third := adoptable(t, b, 2, weaker(0.8)), adoptable(t, b, 3, weaker(0.7))
	b.out.params = &second
	if b.step(); b.ctl.row.Gen != 2 || b.controller.FadeComplete() {
		t.Errorf("under way: generation %d, settled %v", b.ctl.row.Gen, b.controller.FadeComplete())
	}
	b.out.params = &third
	for k := range 150 {
		b.step()
		if want := uint32(2); k < 98 && (b.ctl.row.Gen != want || b.ctl.row.Res != StillFades) {
			t.Fatalf("after %d ticks generation %d, refusal %d, want %d, %d", k, b.ctl.row.Gen, b.ctl.row.Res, want, StillFades)
		}
		if k == 50 { // ordered no more
			b.out.params = nil
			for range 100 {
				if b.step(); b.ctl.row.Gen != 2 || b.ctl.row.Res != Taken {
					t.Fatalf("generation %d came into force without an order, refusal %d", b.ctl.row.Gen, b.ctl.row.Res)
				}
			}
			b.out.params = &second
			second.Gen = 3
			break
		}
	}
	b.step()
	if b.ctl.row.Gen != 3 {
		t.Errorf("generation %d at last, want 3", b.ctl.row.Gen)
	}
}

// What a hand-over costs in the tick: no allocation.
func TestHandOverCost(t *testing.T) {
	b := newBench(t, benchOptions{seed: 1, comp: compOf(axis.CompFeedForward), ref: slowSine, fade: 0.2})
	b.energise(t)
	sets := [2]Params{adoptable(t, b, 1, weaker(0.9)), adoptable(t, b, 2, weaker(1))}
	c, err := b.controller.Prepare(&sets[0])
	if err != nil {
		t.Fatal(err)
	}
	if allocs := testing.AllocsPerRun(200, func() { b.controller.Adopt(c) }); allocs != 0 {
		t.Errorf("%g allocations when a change is adopted", allocs)
	}
}

// Adopting a prepared change.
func BenchmarkAdopt(b *testing.B) {
	s := newBench(b, benchOptions{seed: 1, comp: compOf(axis.CompFeedForward), ref: slowSine, fade: 0.2})
	s.run(b, 100)
	p := adoptable(b, s, 1, weaker(0.9))
	c, err := s.controller.Prepare(&p)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.controller.Adopt(c)
	}
}

// handOvers are models in turn: other numbers, another law, a direction, another motor, and that of the file.
func handOvers(k int) *axis.Set {
	set := weaker(0.9 + 0.01*float64(k%17))
	switch k % 7 {
	case 1:
		set = axis.SetOf(elastoPlastic())
	case 2:
		set.Motor = map[string]float64{"J": 7e-5 * (1 + 0.01*float64(k%5)), "R": 1.2 + 0.01*float64(k%3)}
	case 3:
		set.Params["Fc"+friction.Backward] = 1.1 * set.Params["Fc"]
	case 4:
		set.Motor = map[string]float64{"K": 0.042 * (1 + 0.001*float64(k%4)), "L": 0.7e-3}
	case 5:
		return nil
	}
	return set
}

// everyCompensation are kinds with what they need.
func everyCompensation() map[string]axis.CompSpec {
	all := map[string]axis.CompSpec{"feedforward": compOf(axis.CompFeedForward), "static": compOf(axis.CompStatic), "observer": observer,
		"adaptive gain": compOf(axis.CompGain), "disturbance": compOf(axis.CompDisturbance)}
	for name, c := range all {
		c.Ramp, c.Adapt.Time, c.Adapt.Range, c.Bandwidth, c.Order = 0.03, 5, [2]float64{0.5, 2}, 30, 2
		all[name] = c
	}
	return all
}

// A model that was made in the memory of another one drives bit for bit as one that was made anew, under every compensation.
func TestHandOverInPlace(t *testing.T) {
	for name, comp := range everyCompensation() {
		var runs [2][]Row
		for i := range runs {
			b := newBench(t, benchOptions{seed: 3, comp: comp, ref: reference.Spec{Kind: "sine", Amplitude: 3, Frequency: 0.9}, fade: 0.1})
			b.energise(t)
			b.out.keep = &runs[i]
			for k := range 24 {
				if i == 1 { // nothing is there to be made anew in
					b.controller.changes[0] = axis.NewChanges(&b.controller.s.Axes[0].Spec, b.controller.axes[0].Axis)
				}
				p := adoptable(t, b, uint32(k+1), handOvers(k))
				if k%5 == 4 { // one that nobody ordered
					if _, err := b.controller.Prepare(&p); err != nil {
						t.Fatal(err)
					}
					b.controller.Discard()
					p = adoptable(t, b, uint32(k+1), handOvers(k+1))
				}
				b.out.params = &p
				for range 45 {
					b.step()
				}
			}
			if b.ctl.row.Gen != 24 || b.ctl.row.Mode != Run {
				t.Fatalf("%s: generation %d, %v: %s", name, b.ctl.row.Gen, b.ctl.row.Mode, b.ctl.row.CauseText(&b.controller.schema))
			}
		}
		for k := range runs[0] {
			if !SameRow(&runs[0][k], &runs[1][k]) {
				t.Fatalf("%s: row %d of generation %d:\nin place %+v\nanew     %+v", name, k, runs[0][k].Gen, runs[0][k], runs[1][k])
			}
		}
	}
}

// 10 000 hand-overs in a process that never collects leave its memory as it is: a core is given a model every minute for a week.
func TestHandOversKeepMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, comp := range everyCompensation() {
		comp.Ramp = 0
		b := newBench(t, benchOptions{seed: 1, comp: comp, ref: slowSine, fade: 0.2})
		b.energise(t)
		sets := make([]Params, 7*17)
		for k := range sets {
			sets[k] = adoptable(t, b, uint32(k+1), handOvers(k))
		}
		hand := func(n int) {
			for k := range n {
				c, err := b.controller.Prepare(&sets[k%len(sets)])
				if err != nil {
					t.Fatal(err)
				}
				b.controller.Adopt(c)
			}
		}
		hand(len(sets))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := 10000
		if name != "feedforward" {
			n = 200
		}
		hand(n)
		runtime.ReadMemStats(&after)
		each := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(n)
		t.Logf("%s: %.1f bytes and %.3f allocations a hand-over", name, each, float64(after.Mallocs-before.Mallocs)/float64(n))
		if each > 100 {
			t.Errorf("%s: %.0f bytes a hand-over stay", name, each)
		}
	}
}
