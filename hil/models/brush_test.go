package models_test

import (
	"math"
	"strings"
	"testing"

	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/plant/brush"
	"hilrig/engine/reference"
	"hilrig/hil"
	"hilrig/hil/models"
)

// withBrush is the demo's rig with a brush beside it, moving as a sine of this amplitude (rad) and frequency (Hz).
func withBrush(amplitude, frequency float64) *configs.Config {
	cfg := configs.Demo()
	cfg.Axes[0].Reference.Spec = reference.Spec{Kind: "sine", Amplitude: amplitude, Frequency: frequency, Fade: 0.5}
	cfg.Axes[0].Guard.MaxError = 100
	m := configs.Model{Name: "brushes", Axis: "shaft", Share: 0.4, Parameters: schema.New[configs.RigBrush]()}
	m.SetDefaults()
	cfg.Models = []configs.Model{m}
	return cfg
}

// demoMotor is the plant of the demo.
func demoMotor(t testing.TB, seed uint64) far {
	v := configs.Demo().Truth("shaft")
	m, err := plant.New(plant.Spec{Kind: "motor", Axes: []plant.AxisSpec{{Motor: v.Motor, Friction: v.Friction,
		Thermal: plant.Thermal{Ambient: 20}}}})
	if err != nil {
		t.Fatal(err)
	}
	return newMachine(t, m, 20, 0, seed)
}

// costly is a brush whose steps take so much time per sub-step and beside them, in ns.
type costly struct {
	*models.Brush
	b         *bench
	each, all int64
}

func (c *costly) Step(in *hil.ModelInput, y []float64) (engine.Status, uint8) {
	st, level := c.Brush.Step(in, y)
	c.b.spent += c.all + c.each*int64(c.Taken())
	return st, level
}

// costlyBench is a bench whose brush takes time.
func costlyBench(t testing.TB, cfg *configs.Config) (*bench, *costly) {
	clk := &costly{each: 3000, all: 4000}
	b := newBench(t, cfg, demoMotor(t, 5), func(b *bench, s *hil.ModelSpec) {
		build := s.Build
		s.Build = func() (hil.Model, error) {
			m, err := build()
			if err != nil {
				return nil, err
			}
			mine := *clk
			mine.b, mine.Brush = b, m.(*models.Brush)
			if clk.Brush == nil {
				*clk = mine
				return clk, nil
			}
			return &mine, nil // of a replay
		}
	})
	return b, clk
}

// The brush beside the rig shows the torque of both brushes, the spring's force and a tilt to the side that friction pushes it
// to, and changes nothing of what the controller does.
func TestBrushBesideTheRig(t *testing.T) {
	cfg := withBrush(60, 0.5) // up to 188 rad/s
	b := newBench(t, cfg, demoMotor(t, 5), nil)
	rows := b.run(3000)
	alone := withBrush(60, 0.5)
	alone.Models = nil
	before := newBench(t, alone, demoMotor(t, 5), nil)
	without := before.run(3000)
	at, plain := b.schema.Index, before.schema.Index
	if n := len(b.schema.Model) - len(before.schema.Model); at("brushes.room") < 0 || at("brushes.level") < 0 || n != 11 {
		t.Fatalf("signals %v", b.schema.Signals())
	}
	var torque, force, tilt float64
	n := 0
	for i := range rows {
		r := &rows[i]
		if r.X[at("drive.voltage")] != without[i].X[plain("drive.voltage")] ||
			r.X[at("shaft.est.velocity")] != without[i].X[plain("shaft.est.velocity")] {
			t.Fatalf("tick %d: the brush changed the command", i)
		}
		if r.X[at("brushes.level")] != 0 || r.X[at("brushes.substeps")] != 50 {
			t.Fatalf("tick %d: level %g with %g sub-steps", i, r.X[at("brushes.level")], r.X[at("brushes.substeps")])
		}
		if r.X[at("shaft.est.velocity")] > 60 {
			n++
			torque, force, tilt = torque+r.X[at("brushes.torque")], force+r.X[at("brushes.force")], tilt+r.X[at("brushes.tilt")]
		}
	}
	torque, force, tilt = torque/float64(n), force/float64(n), tilt/float64(n)
	t.Logf("forwards, %d ticks: torque %.4g N·m, force %.4g N, tilt %.3g rad", n, torque, force, tilt)
	// two brushes, a commutator of 11 mm, mu 0.2, a spring of 2.49 N
	if math.Abs(torque/(2*0.011*0.2*2.49)-1) > 0.06 || math.Abs(force/2.49-1) > 0.03 || tilt > -1e-3 || tilt < -8e-3 {
		t.Errorf("torque %g N·m, force %g N, tilt %g rad; want 0.011 N·m, 2.49 N, −7e-3 … 0", torque, force, tilt)
	}
}

// Time decides: a dear sub-step, or a small share, averages the contact and says so; a cheap one brings the full contact back. No
// tick trips, and a replay of the rows makes the same of them.
func TestContactFollowsTheTimeThereIs(t *testing.T) {
	b, clk := costlyBench(t, withBrush(1, 0.25))
	b.keep = true
	b.tick(700)
	b.req = hil.ReqArm
	b.tick(1)
	b.req = hil.ReqRun
	b.tick(299)
	clk.each = 18000 // 25 sub-steps, the fewest, would take 0.45 of the period
	b.tick(2000)
	clk.each = 3000
	b.tick(3000)
	clk.all = 950_000 // one step that takes too long
	b.tick(1)
	clk.all = 4000
	b.tick(999)
	rows := b.rows
	k := b.schema.Index("brushes.level")
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
	}
	if r := &rows[len(rows)-1]; r.Mode != hil.Run {
		t.Fatalf("%v: %v", r.Mode, r.CauseText(&b.schema))
	}
	t.Logf("changes of the contact at the ticks %v", changes)
	// at 18 µs the first step is overlong, and the one after the rest as well, which is believed
	if share(0, 1001) != 0 || share(1012, 3000) != 1 || share(5000, 6000) != 0 || len(changes) != 6 {
		t.Errorf("averaged %g of the time at 3 µs, %g at 18 µs, %g at 3 µs again; changes at %v", share(0, 1001), share(1012, 3000),
			share(5000, 6000), changes)
	}
	// a single step of 0.95 of a period: averaged from the next one on, for 10 ms
	if n := len(changes); n != 6 || changes[4] != 6001 || changes[5] != 6011 {
		t.Errorf("changes at %v, want 6001 and 6011 at the end", changes)
	}
	b.replay(rows)
}

// A share that is too small from the start ends in the averaged contact and stays there.
func TestShareTooSmall(t *testing.T) {
	cfg := withBrush(1, 0.25)
	cfg.Models[0].Share = 0.05 // 50 µs, of which 4 are taken: room for 15 sub-steps of 3 µs, and 25 are the fewest
	b, _ := costlyBench(t, cfg)
	rows := b.run(4000)
	level, room := b.schema.Index("brushes.level"), b.schema.Index("brushes.room")
	for i := range rows {
		if rows[i].X[level] != 1 {
			t.Fatalf("tick %d: full contact in a share of 5 %%", i)
		}
	}
	if room := rows[3999].X[room]; room < 12 || room > 18 {
		t.Errorf("room for %g sub-steps, want about 15", room)
	}
}

// On a rig with simulated brushes the recursive least squares find the friction of bearings and brushes together, and the brush
// beside it, with another roughness, shows the part of the brushes.
func TestEstimatesOfARigWithBrushes(t *testing.T) {
	cfg := withBrush(1, 1)
	cfg.Axes[0].Reference.Spec = reference.Spec{Kind: "multisine",
		Tones: []reference.Tone{{Amplitude: 45, Frequency: 0.4}, {Amplitude: 5, Frequency: 2.3}}, Fade: 1}
	cfg.Axes[0].Estimator.RLS.Memory = 20
	cfg.Models[0].Parameters.Face.Seed, cfg.Models[0].Parameters.Commutator.Seed = 2, 2
	motor, bearings := cfg.Axes[0].Motor, friction.LuGre{Sigma0: 11, Sigma1: 0.02, Sigma2: 5e-5, Fc: 8e-3, Fs: 11e-3, Vs: 0.5, Vd: 0.3}
	p := brush.DefaultParams()
	p.Motor = brush.Motor{Resistance: motor.R, Inductance: motor.L, Constant: motor.K, Inertia: motor.J, CoilInductance: 60e-6}
	rig, err := brush.NewMachine(brush.MachineSpec{Params: p, Bearing: &bearings})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, cfg, newMachine(t, rig, 1, 0.01, 3), nil)
	rows := b.run(8000)
	r, s := rows[len(rows)-1], b.schema
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
			torque := rows[i].X[s.Index("brushes.torque")]
			sum += math.Copysign(torque, torque*v)
			n++
		}
	}
	t.Logf("brushes.torque against the motion %.4g N·m, nominal %.4g N·m", sum/n, brushes)
	if math.Abs(sum/n/brushes-1) > 0.06 {
		t.Errorf("brushes.torque %g N·m, want about %g", sum/n, brushes)
	}
}

// A rig that measures no current carries none through its brush.
func TestBrushWithoutACurrentSensor(t *testing.T) {
	cfg := withBrush(1, 0.25)
	a := &cfg.Axes[0]
	a.Current, a.Guard.MaxCurrent, a.Guard.RatedI = "", 0, 0
	b := newBench(t, cfg, demoMotor(t, 5), nil)
	rows := b.run(2000)
	if x := &rows[1999].X; x[b.schema.Index("brushes.sparking")] != 0 || x[b.schema.Index("brushes.force")] < 2 {
		t.Errorf("sparking %g A, force %g N", x[b.schema.Index("brushes.sparking")], x[b.schema.Index("brushes.force")])
	}
}

// Numbers that are not finite are told and leave brush and signals alone; a current that is none counts as 0.
func TestBrushWithoutNumbers(t *testing.T) {
	m, err := models.NewBrush(&models.Spec{BrushKeys: models.BrushKeys{Step: 20e-6}, Brush: brush.DefaultParams()})
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, len(m.Signals()))
	in := hil.ModelInput{Dt: 1e-3, Room: 0.3e-3, StepTime: 150e-6, Axes: make([]hil.Motion, 1)}
	for k := range 100 {
		in.Axes[0] = hil.Motion{Position: 0.1 * float64(k), Velocity: 100, Current: 1}
		if st, level := m.Step(&in, y); st != engine.OK || level != 0 {
			t.Fatalf("status %v, level %d", st, level)
		}
	}
	keep := append([]float64{}, y...)
	for _, bad := range []hil.Motion{{Position: math.NaN(), Velocity: 100}, {Velocity: math.Inf(1)}, {Velocity: math.NaN()}} {
		in.Axes[0] = bad
		if st, _ := m.Step(&in, y); st != engine.NonFinite {
			t.Errorf("%+v: status %v", bad, st)
		}
		for k := range y {
			if y[k] != keep[k] {
				t.Fatalf("%+v: signals %v, before %v", bad, y, keep)
			}
		}
	}
	in.Axes[0] = hil.Motion{Position: 10, Velocity: 100, Current: math.NaN()}
	if st, _ := m.Step(&in, y); st != engine.OK || !math.IsNaN(y[0]) || !math.IsNaN(y[3]) || !math.IsNaN(y[4]) || !math.IsNaN(y[6]) ||
		y[5] != keep[5] {
		t.Errorf("without a current nothing is known: status %v, signals %v", st, y)
	}
	in.Axes[0].Current = 1
	if st, _ := m.Step(&in, y); st != engine.OK || math.IsNaN(y[3]) {
		t.Errorf("with a current again: status %v, signals %v", st, y)
	}
}

func TestBrushDescriptionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		change func(*models.Spec)
		want   string
	}{
		{func(s *models.Spec) { s.Step = 0 }, "step 0"},
		{func(s *models.Spec) { s.Step = math.NaN() }, "step NaN"},
		{func(s *models.Spec) { s.Brush.Holder.Clearance = -1 }, "holder.clearance"},
	} {
		s := &models.Spec{BrushKeys: models.BrushKeys{Step: 20e-6}, Brush: brush.DefaultParams()}
		c.change(s)
		if _, err := models.NewBrush(s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// Steps of the brush allocate nothing, with the full contact and with the averaged one.
func TestBrushAllocatesNothing(t *testing.T) {
	for _, c := range []models.BrushContact{models.ContactAuto, models.ContactFull, models.ContactAveraged} {
		m, err := models.NewBrush(&models.Spec{BrushKeys: models.BrushKeys{Step: 20e-6, Contact: c}, Brush: brush.DefaultParams()})
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, len(m.Signals()))
		in := hil.ModelInput{Dt: 1e-3, Room: 0.3e-3, Axes: make([]hil.Motion, 1)}
		k := 0
		step := func() {
			k++
			in.StepTime = []float64{100e-6, 900e-6, 5e-6}[k/200%3]
			in.Axes[0] = hil.Motion{Position: 0.1 * float64(k), Velocity: 100, Current: 1}
			m.Step(&in, y)
		}
		if n := testing.AllocsPerRun(2000, step); n != 0 {
			t.Errorf("contact %v: %g allocations in a step", c, n)
		}
	}
}

// One step of the brush with 50 sub-steps, up to 188 rad/s.
func BenchmarkBrush(b *testing.B) {
	m, err := models.NewBrush(&models.Spec{BrushKeys: models.BrushKeys{Step: 20e-6}, Brush: brush.DefaultParams()})
	if err != nil {
		b.Fatal(err)
	}
	y := make([]float64, len(m.Signals()))
	in := hil.ModelInput{Dt: 1e-3, Room: 0.3e-3, StepTime: 100e-6, Axes: make([]hil.Motion, 1)}
	t := 0.0
	b.ReportAllocs()
	for b.Loop() {
		t += in.Dt
		in.Axes[0] = hil.Motion{Position: 60 * math.Sin(math.Pi*t), Velocity: 60 * math.Pi * math.Cos(math.Pi*t), Current: 1}
		m.Step(&in, y)
	}
}
