package hil

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/engine/plant"
	"hilrig/engine/plant/brush"
	"hilrig/engine/reference"
	"hilrig/hil/axis"
)

// newBrush is the brush of the tests, with as much of the period as the default has.
func newBrush() *BesideSpec {
	return &BesideSpec{Name: "brushes", Axis: "shaft", Params: brush.DefaultParams(), Step: 20e-6, Share: 0.4}
}

// costly is a clock whose ticks take a base and so much per sub-step of the brush, in ns.
type costly struct {
	VirtualClock
	b         *bench
	each, all int64
}

func (c *costly) Now() int64 {
	s := &c.b.controller.plan().last
	return c.T + c.all + c.each*int64(*s)
}

func (c *Controller) plan() *besidePlan { return &c.brush.plan }

// costlyBench is a bench whose ticks take time.
func costlyBench(t *testing.T, o benchOptions) (*bench, *costly) {
	t.Helper()
	b := newBench(t, o)
	clk := &costly{b: b, each: 3000, all: 4000}
	b.ctlClk = &clk.VirtualClock
	clk.Period = 1e6
	b.ctl.clock = clk
	return b, clk
}

var fastSine = reference.Spec{Kind: "sine", Amplitude: 60, Frequency: 0.5} // up to 188 rad/s

// The brush beside the rig shows the torque of both brushes, the spring's force and a tilt to the side that friction pushes it
// to, and changes nothing of what the controller does.
func TestBrushBesideTheRig(t *testing.T) {
	run := func(s *BesideSpec) (*bench, []Row) {
		b := newBench(t, benchOptions{seed: 5, comp: observer, ref: fastSine, fade: 0.5, brush: s})
		return b, b.run(t, 3000)
	}
	before, without := run(nil)
	plain := before.controller.Schema()
	b, rows := run(newBrush())
	s := b.controller.Schema()
	at := func(name string) int { return s.Index(name) }
	if at("brushes.room") < 0 || s.Len() != 2+14+9+len(besideSignals)+2 {
		t.Fatalf("signals %v", s.Signals())
	}
	var torque, force, tilt float64
	n := 0
	for i := range rows {
		r := &rows[i]
		if r.X[at("drive.voltage")] != without[i].X[plain.Index("drive.voltage")] || r.X[at("shaft.est.velocity")] != without[i].X[plain.Index("shaft.est.velocity")] {
			t.Fatalf("tick %d: the brush changed the command", i)
		}
		if r.X[at("brushes.averaged")] != 0 || r.X[at("brushes.substeps")] != 50 {
			t.Fatalf("tick %d: averaged %g with %g sub-steps", i, r.X[at("brushes.averaged")], r.X[at("brushes.substeps")])
		}
		if r.X[at("shaft.est.velocity")] > 60 {
			n++
			torque, force, tilt = torque+r.X[at("brushes.torque")], force+r.X[at("brushes.force")], tilt+r.X[at("brushes.tilt")]
		}
	}
	torque, force, tilt = torque/float64(n), force/float64(n), tilt/float64(n)
	t.Logf("forwards, %d ticks: torque %.4g N·m, force %.4g N, tilt %.3g rad", n, torque, force, tilt)
	if math.Abs(torque/(2*0.011*0.2*2.49)-1) > 0.06 || math.Abs(force/2.49-1) > 0.03 || tilt > -1e-3 || tilt < -8e-3 {
		t.Errorf("torque %g N·m, force %g N, tilt %g rad; want 0.011 N·m, 2.49 N, −7e-3 … 0", torque, force, tilt)
	}
}

// Time decides: a dear sub-step, or a small share, averages the contact and says so; a cheap one brings the full contact back. No
// tick trips, and a replay of the rows makes the same of them.
func TestContactFollowsTheTimeThereIs(t *testing.T) {
	b, clk := costlyBench(t, benchOptions{seed: 5, comp: observer, ref: slowSine, fade: 0.5, brush: newBrush()})
	var rows []Row
	b.out.keep = &rows
	go2 := func(n int) {
		for range n {
			b.step()
		}
	}
	go2(150)
	b.out.req = ReqArm
	go2(1)
	b.out.req = ReqRun
	go2(849)
	clk.each = 18000 // 25 sub-steps, the fewest, would take 0.45 of the period
	go2(2000)
	clk.each = 3000
	go2(3000)
	clk.all = 950_000 // one tick that takes too long
	go2(1)
	clk.all = 4000
	go2(999)
	b.out.keep = nil
	schema := b.controller.Schema()
	k := schema.Index("brushes.averaged")
	share := func(from, to int) float64 {
		sum := 0.0
		for i := from; i < to; i++ {
			sum += rows[i].X[k]
		}
		return sum / float64(to-from)
	}
	changes := []int{}
	for i := 1; i < len(rows); i++ {
		if rows[i].X[k] != rows[i-1].X[k] {
			changes = append(changes, i)
		}
		if rows[i].Mode == Trip {
			t.Fatalf("tick %d: tripped: %v", i, rows[i].Cause)
		}
	}
	t.Logf("changes of the contact at the ticks %v", changes)
	// at 18 µs the first tick is overlong, and the one after the rest as well, which is believed
	if share(0, 1001) != 0 || share(1012, 3000) != 1 || share(5000, 6000) != 0 || len(changes) != 6 {
		t.Errorf("averaged %g of the time at 3 µs, %g at 18 µs, %g at 3 µs again; changes at %v", share(0, 1001), share(1012, 3000), share(5000, 6000), changes)
	}
	// a single tick of 0.95 of a period: averaged from the next one on, for 10 ms
	if n := len(changes); n != 6 || changes[4] != 6001 || changes[5] != 6011 {
		t.Errorf("changes at %v, want 6001 and 6011 at the end", changes)
	}

	// the busy times are in the rows, so a replay decides the same
	fresh, err := NewController(b.controller.s)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	rp := NewReplay(fresh.Schema(), func(r *Row) bool {
		if i == len(rows) {
			return false
		}
		*r = rows[i]
		i++
		return true
	}, func(uint32) *Change { return nil })
	NewLoop(rp, rp, rp, fresh, 1).Run()
	if rp.N != uint64(len(rows)) || rp.Diff != 0 {
		t.Fatalf("%d of %d rows differ, first at tick %d:\nrecorded %+v\nreplayed %+v", rp.Diff, rp.N, rp.First.Seq, rp.First, rp.Made)
	}
}

// A share that is too small from the start ends in the averaged contact and stays there.
func TestShareTooSmall(t *testing.T) {
	s := newBrush()
	s.Share = 0.05 // 50 µs, of which 4 are taken: room for 15 sub-steps of 3 µs, and 25 are the fewest
	b, _ := costlyBench(t, benchOptions{seed: 5, comp: observer, ref: slowSine, fade: 0.5, brush: s})
	rows := b.run(t, 4000)
	schema := b.controller.Schema()
	k := schema.Index("brushes.averaged")
	for i := range rows {
		if rows[i].X[k] != 1 {
			t.Fatalf("tick %d: full contact in a share of 5 %%", i)
		}
	}
	if room := rows[3999].X[k+4]; room < 12 || room > 18 {
		t.Errorf("room for %g sub-steps, want about 15", room)
	}
}

// On a rig with simulated brushes the recursive least squares find the friction of bearings and brushes together, and the brush
// beside it, with another roughness, shows the part of the brushes.
func TestEstimatesOfARigWithBrushes(t *testing.T) {
	p := brush.DefaultParams()
	m, law := demoMotor(), demoLaw()
	law.Fc, law.Fs, law.Sigma2 = 8e-3, 11e-3, 5e-5
	p.Motor = brush.Motor{Resistance: m.R, Inductance: m.L, Constant: m.K, Inertia: m.J, CoilInductance: 60e-6}
	rig, err := brush.NewRig(brush.MachineSpec{Params: p, Bearing: law},
		plant.SensorSpec{Channels: []plant.Channel{plant.Encoder, plant.CurrentSensor}, Counts: 65536, CurrentNoise: 0.02, CurrentOff: 0.01, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	other := newBrush()
	other.Params.Face.Seed, other.Params.Commutator.Seed = 2, 2
	ref := reference.Spec{Kind: "multisine", Tones: []reference.Tone{{Amplitude: 45, Frequency: 0.4}, {Amplitude: 5, Frequency: 2.3}}}
	b := newBench(t, benchOptions{comp: axis.CompSpec{Kind: axis.CompObserver, Scale: 0.9, Inertia: true}, ref: ref, fade: 1, rig: rig, brush: other})
	rows := b.run(t, 12000)
	r, s := rows[len(rows)-1], b.controller.Schema()
	brushes := 2 * p.MeanTorque()
	for _, c := range []struct {
		name       string
		truth, off float64
	}{{"shaft.rls.J", 7e-5, 0.03}, {"shaft.rls.Fc", 8e-3 + brushes, 0.1}} {
		k := s.Index(c.name)
		t.Logf("%s %.5g ± %.2g, truth %.5g", c.name, r.X[k], 1.96*r.X[k+4], c.truth)
		if math.Abs(r.X[k]/c.truth-1) > c.off {
			t.Errorf("%s: %g, truth %g", c.name, r.X[k], c.truth)
		}
	}
	t.Logf("rls.Fv %.3g ± %.2g, truth 5e-5", r.X[s.Index("shaft.rls.Fv")], 1.96*r.X[s.Index("shaft.rls.Fv_se")])
	sum, n := 0.0, 0.0
	for i := range rows {
		if v := rows[i].X[s.Index("shaft.est.velocity")]; math.Abs(v) > 20 {
			sum += math.Copysign(rows[i].X[s.Index("brushes.torque")], rows[i].X[s.Index("brushes.torque")]*v)
			n++
		}
	}
	t.Logf("brush.torque against the motion %.4g N·m, nominal %.4g N·m", sum/n, brushes)
	if math.Abs(sum/n/brushes-1) > 0.06 {
		t.Errorf("brush.torque %g N·m, want about %g", sum/n, brushes)
	}
}

// plans runs a plan for n ticks at a constant cost (ns) and speed, and returns the share of averaged ticks of the last half and
// the sub-steps of the last tick.
func plans(p *besidePlan, n int, base, each, surface float64) (averaged float64, steps int) {
	busy, rested := 0.0, 0
	for k := range n {
		m, probe := p.next(busy, surface)
		busy = 1e-9 * (base + each*float64(m))
		if k >= n/2 && p.averaged {
			rested++
		}
		if steps = m; probe {
			steps = 0
		}
	}
	return float64(rested) / float64(n-n/2), steps
}

// Speed decides too: the surface asks for more sub-steps than find room.
func TestContactFollowsTheSpeed(t *testing.T) {
	p := &besidePlan{period: 1e-3, budget: 0.4e-3, step: 20e-6}
	// 3 µs: at most 133 find room
	for _, c := range []struct {
		surface  float64
		averaged float64
		steps    int
	}{{0, 0, 50}, {40.5, 0, 50}, {90.5, 0, 91}, {128, 0, 128}, {140, 1, 0}, {128, 1, 0}, {115, 0, 115}, {10, 0, 50}, {1e9, 1, 0}, {0, 0, 50}} {
		averaged, steps := plans(p, 2000, 0, 3000, c.surface)
		if averaged != c.averaged || steps != c.steps {
			t.Errorf("%g sub-steps needed: averaged %g of the time, %d sub-steps; want %g, %d", c.surface, averaged, steps, c.averaged, c.steps)
		}
	}
	// choices that leave nothing to decide
	full := &besidePlan{choice: BesideFull, period: 1e-3, budget: 0.4e-3, step: 20e-6}
	if averaged, steps := plans(full, 200, 4000, 3000, 1e4); averaged != 0 || steps < 130 || steps > 134 {
		t.Errorf("full: averaged %g, %d sub-steps", averaged, steps)
	}
	if averaged, steps := plans(full, 400, 4000, 90000, 1e4); averaged != 0 || steps != 25 {
		t.Errorf("full, far too dear: averaged %g, %d sub-steps", averaged, steps)
	}
	mean := &besidePlan{choice: BesideAveraged, period: 1e-3, budget: 0.4e-3, step: 20e-6}
	if averaged, steps := plans(mean, 200, 4000, 3000, 0); averaged != 1 || steps != 0 {
		t.Errorf("averaged: %g of the time, %d sub-steps", averaged, steps)
	}
}

// A host that takes the processor away now and then does not make the model look dear; one that does in every tenth tick does.
func TestHiccupsOfTheHost(t *testing.T) {
	for _, c := range []struct {
		every int
		rest  bool
	}{{200, false}, {10, true}} {
		p := &besidePlan{period: 1e-3, budget: 0.4e-3, step: 20e-6}
		busy, averaged := 0.0, 0
		for k := range 20000 {
			n, _ := p.next(busy, 0)
			busy = 1e-9 * (4000 + 3000*float64(n))
			if k%c.every == c.every-1 {
				busy = 0.8e-3
			}
			if p.averaged {
				averaged++
			}
		}
		if (averaged > 0) != c.rest {
			t.Errorf("0.8 of a period in every %d. tick: averaged in %d of 20000", c.every, averaged)
		}
	}
}

// Numbers that are not finite are flagged and leave brush and signals alone; a brush that is lost starts anew, flagged as well.
func TestBrushWithoutNumbers(t *testing.T) {
	b, err := newBeside(newBrush(), 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, len(besideSignals))
	var r Row
	for k := range 100 {
		b.step(&r, 150e3, []float64{0.1 * float64(k), 100}, 1, y)
	}
	if r.Flags != 0 || y[bForce] == 0 {
		t.Fatalf("flags %b, signals %v", r.Flags, y)
	}
	keep := append([]float64{}, y...)
	for _, est := range [][]float64{{math.NaN(), 100}, {0, math.Inf(1)}} {
		r.Flags = 0
		b.step(&r, 150e3, est, 1, y)
		for k := range y {
			if y[k] != keep[k] || r.Flags != FlagEstimator {
				t.Fatalf("%v: flags %b, signals %v, before %v", est, r.Flags, y, keep)
			}
		}
	}
	r.Flags = 0
	if b.step(&r, 150e3, []float64{10, 100}, math.NaN(), y); r.Flags != 0 || !numeric.Finite(y[bDrop]) {
		t.Errorf("without a current: flags %b, signals %v", r.Flags, y)
	}
}

func TestBrushDescriptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		change func(*BesideSpec)
		want   string
	}{
		{func(s *BesideSpec) { s.Share = 0 }, "share 0"},
		{func(s *BesideSpec) { s.Step = math.NaN() }, "step NaN"},
		{func(s *BesideSpec) { s.Params.Holder.Clearance = -1 }, "holder.clearance"},
	} {
		s := newBrush()
		c.change(s)
		if _, err := newBeside(s, 1e-3); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	b := newBench(t, benchOptions{seed: 1, comp: observer, ref: slowSine, brush: newBrush()})
	spec := b.controller.s
	for len(spec.Meas) < 160 {
		spec.Meas = append(spec.Meas, Of("drive", engine.Signal{Name: strings.Repeat("x", len(spec.Meas))})...)
	}
	if _, err := NewController(spec); err == nil || !strings.Contains(err.Error(), "195 signals, a row holds 192") || !strings.Contains(err.Error(), "leave out the brush, which has 10") {
		t.Errorf("%v", err)
	}
}

// A rig that measures no current runs as well, with and without a brush beside it.
func TestWithoutACurrentSensor(t *testing.T) {
	for _, s := range []*BesideSpec{nil, newBrush()} {
		b := newBench(t, benchOptions{seed: 5, comp: observer, ref: slowSine, fade: 0.5, brush: s, blind: true})
		rows := b.run(t, 2000)
		if rms := b.rms(rows[500:], "shaft.ctl.error"); !(rms < 0.05) {
			t.Errorf("rms error %g rad", rms)
		}
	}
}

func TestTickAllocsWithABrush(t *testing.T) {
	for _, choice := range []BesideContact{BesideAuto, BesideAveraged} {
		s := newBrush()
		s.Contact = choice
		b, _ := costlyBench(t, benchOptions{seed: 1, comp: observer, ref: fastSine, fade: 0.5, brush: s})
		b.run(t, 100)
		if n := testing.AllocsPerRun(300, b.step); n != 0 {
			t.Errorf("contact %d: %g allocations in a tick", choice, n)
		}
	}
}

// One tick of the demo's controller with a brush beside it.
func BenchmarkTickWithABrush(b *testing.B) {
	s := newBench(b, benchOptions{seed: 1, comp: observer, ref: fastSine, fade: 0.5, brush: newBrush()})
	s.run(b, 500)
	b.ReportAllocs()
	for b.Loop() {
		s.ctlClk.N = 1
		t, late, _ := s.ctlClk.Wait()
		s.ctl.tick(t, late)
		s.up.fresh = true
	}
}
