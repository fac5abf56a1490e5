package axis

import (
	"math"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/control"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// motorSpec is the axis of the demo at 1 kHz with a voltage drive of 24 V.
func motorSpec(t *testing.T, ref reference.Spec) Spec {
	t.Helper()
	gen, err := reference.New(ref)
	if err != nil {
		t.Fatal(err)
	}
	motor := plant.Motor{R: 1.2, L: 0.6e-3, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5}
	return Spec{Tick: 1e-3, Motor: motor, Law: demoLaw(), TopCommand: 24, Ref: gen, Fade: 0.2,
		PID:  control.PID{Kp: 0.25, Kd: 6e-3, Limit: 0.4},
		Comp: CompSpec{Kind: CompObserver, Scale: 0.95, Inertia: true, Slew: 10},
		Sampling: estimator.AxisSpec{Groups: []estimator.Group{{SamplePeriod: 1e-3,
			Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}},
		Kalman: estimator.KalmanSpec{Motor: motor, Count: 2 * math.Pi / 65536, CurrentNoise: 0.02, TorqueWalk: 0.15, VoltageNoise: 0.05},
	}
}

// bed is an axis with its blocks and its command.
type bed struct {
	*Axis
	x, y []float64
	u    float64
	k    Tick
}

func newBed(t *testing.T, s Spec) *bed {
	t.Helper()
	a, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return &bed{Axis: a, x: make([]float64, len(a.Estimated())), y: make([]float64, len(a.Modelled())), k: Tick{Energised: true}}
}

func (b *bed) compute() engine.Status {
	b.Refer(b.k, b.x)
	return b.Compute(b.k, b.x, b.y, &b.u)
}

// Parameters that may change while running are refused beyond their limits.
func TestLive(t *testing.T) {
	s := motorSpec(t, reference.Spec{Kind: "constant"})
	check := func(name string, v float64) error {
		for _, p := range s.LiveParams() {
			if p.Name == name {
				return p.Check(v)
			}
		}
		t.Fatalf("no parameter %s", name)
		return nil
	}
	for _, c := range []struct {
		name string
		v    float64
		ok   bool
	}{
		{"control.kp", 0, true}, {"control.kp", 1e6, true}, {"control.kp", -1e-9, false}, {"control.ki", -1, false}, {"control.kd", 0, true},
		{"compensation.scale", 0, true}, {"compensation.scale", 1, true}, {"compensation.scale", 1.001, false},
		{"compensation.scale", -0.001, false}, {"compensation.gain", 5, true},
		{"reference.scale", 10, true}, {"reference.scale", 10.001, false}, {"reference.offset", -1e6, true}, {"reference.offset", 1e6, true},
		{"control.kp", math.NaN(), false}, {"control.kp", math.Inf(1), false}, {"reference.offset", math.Inf(-1), false},
		{"reference.offset", math.NaN(), false},
	} {
		if err := check(c.name, c.v); (err == nil) != c.ok {
			t.Errorf("%s = %g: %v", c.name, c.v, err)
		}
	}
}

// What an axis writes beside its estimate, and what may change while it runs, belong to its drive and to what its reference is of.
func TestSignalsAndParametersByDrive(t *testing.T) {
	const (
		position = "ref.position m ref.velocity m/s ref.acceleration m/s² ctl.error m "
		model    = "model.friction N model.bristle m"
		gains    = "control.kp N/m control.ki N/(m·s) control.kd N·s/m compensation.scale  compensation.gain 1/s "
	)
	for _, c := range []struct {
		drive   plant.DriveKind
		of      ReferenceOf
		signals string
		live    string
	}{
		{plant.VoltageDrive, OfPosition, position + "ctl.effort N comp.friction N " + model + " heat ",
			gains + "reference.scale  reference.offset m"},
		{plant.EffortDrive, OfPosition, position + "ctl.effort N comp.friction N " + model + " heat ",
			gains + "reference.scale  reference.offset m"},
		{plant.CurrentDrive, OfPosition, position + "ctl.effort N comp.friction N " + model + " heat ",
			gains + "reference.scale  reference.offset m"},
		{plant.EffortDrive, OfEffort, "ref.effort N ctl.effort N " + model + " heat ", "reference.scale  reference.offset N"},
		{plant.CurrentDrive, OfEffort, "ref.effort N ctl.effort N " + model + " heat ", "reference.scale  reference.offset N"},
		{plant.CurrentDrive, OfCommand, "ref.command A " + model + " heat ", "reference.scale  reference.offset A"},
		{plant.VelocityDrive, OfPosition, position + model + " heat ", "control.gain 1/s reference.scale  reference.offset m"},
		{plant.VelocityDrive, OfCommand, "ref.command m/s " + model + " heat ", "reference.scale  reference.offset m/s"},
		{plant.NoDrive, OfPosition, model, ""},
	} {
		s := motorSpec(t, reference.Spec{Kind: "constant"})
		s.Linear, s.Drive, s.RefKind, s.Sampling.Groups[0].Quantities = true, c.drive, c.of, []estimator.Quantity{estimator.Position}
		s.Mechanical = estimator.MechanicalSpec{PositionNoise: 1e-6, Walk: 100}
		var signals, live []string
		for _, sig := range newBed(t, s).Modelled() {
			signals = append(signals, sig.Name+" "+sig.Unit)
		}
		for _, p := range s.LiveParams() {
			live = append(live, p.Name+" "+p.Unit)
		}
		if got := strings.Join(signals, " "); got != c.signals {
			t.Errorf("%v, reference of %v: signals %q, want %q", c.drive, c.of, got, c.signals)
		}
		if got := strings.Join(live, " "); got != c.live {
			t.Errorf("%v, reference of %v: parameters %q, want %q", c.drive, c.of, got, c.live)
		}
	}
}

// Gains that change under way glide over the ramp of the compensation: with a standing error the torque goes to its new value without a
// jump, and ends at it to the last bit. At rest they act at once.
func TestGainsGlide(t *testing.T) {
	s := motorSpec(t, reference.Spec{Kind: "constant"})
	s.Comp = CompSpec{Ramp: 0.5}
	for _, on := range []bool{true, false} {
		b := newBed(t, s)
		b.age = 0
		b.Start(b.x)
		b.x[estimator.XPos] = -0.5
		b.compute()
		values := make([]float64, len(b.liveParams))
		for i := range values {
			values[i] = b.liveParams[i].Start
		}
		from := b.y[b.layout.tau]
		values[0] *= 2 // control.kp
		b.Set(values, on)
		steepest, last := 0.0, from
		for range 2000 {
			b.compute()
			steepest, last = max(steepest, math.Abs(b.y[b.layout.tau]-last)), b.y[b.layout.tau]
			if !on && last != 2*from {
				t.Fatalf("at rest: %g N·m, want %g at once", last, 2*from)
			}
		}
		if last != 2*from || b.glides {
			t.Errorf("driven %v: %g N·m at last, want %g", on, last, 2*from)
		}
		// critically damped with 6/ramp: the steepest slope is 6/(e·ramp) of the way, per second
		if want := 6 / math.E / 0.5 * 1e-3 * math.Abs(from); on && math.Abs(steepest-want) > 0.02*want {
			t.Errorf("the torque changes by up to %g N·m a tick, want %g", steepest, want)
		}
	}
}

// The torque stays within its limit to either side.
func TestEffortIsLimited(t *testing.T) {
	b := newBed(t, motorSpec(t, reference.Spec{Kind: "ramp", Velocity: 5}))
	b.age = 0
	b.Start(b.x)
	for range 1000 {
		b.x[estimator.XPos], b.x[estimator.XVel] = b.y[b.layout.ref], 5
		b.compute()
	}
	for _, c := range []struct {
		error float64
		tau   float64
		held  bool
	}{{1000, 0.4, true}, {-1000, -0.4, true}, {0.1, 0, false}} {
		b.x[estimator.XPos] = b.y[b.layout.ref] - c.error
		b.compute()
		if tau := b.y[b.layout.tau]; b.learningHeld != c.held || c.held && tau != c.tau || !c.held && math.Abs(tau) >= 0.4 {
			t.Errorf("error %g rad: %g N·m, cut: %v", c.error, tau, b.learningHeld)
		}
	}
}

// told is a compensation that keeps what it is told.
type told struct {
	estimator.Motion
	n int
}

func (l *told) Reset() {}

func (l *told) Compensate(_ float64, m estimator.Motion) (float64, engine.Status) {
	l.Motion, l.n = m, l.n+1
	return 0, engine.OK
}

// What learns rests in a tick whose past is not what was asked for: ticks are missing, the sample is too old, the torque was cut by its own
// limit or on its way out in the tick before. It is told the torque that was asked for then.
func TestCompensationIsHeld(t *testing.T) {
	b := newBed(t, motorSpec(t, reference.Spec{Kind: "sine", Amplitude: 0.1, Frequency: 0.8}))
	b.Start(b.x)
	law := &told{}
	b.activePath.comp.law = law
	b.age = 0
	tick := func() bool { b.compute(); return law.LearningHeld }
	for range 300 {
		tick()
	}
	n := law.n
	if asked := b.y[b.layout.tau]; tick() || law.n != n+1 || law.U != asked || asked == 0 {
		t.Errorf("an ordinary tick: held %v, told %g N·m, asked for %g", law.LearningHeld, law.U, asked)
	}
	for _, k := range []struct {
		name string
		skip uint32
		age  float64 // sampling periods
		want bool
	}{{"one tick missing", 1, 0, true}, {"none", 0, 0, false}, {"old sample", 0, 5.001, true}, {"sample of five periods", 0, 4.999, false},
		{"sample of no time", 0, math.NaN(), true}, {"sample from after the tick", 0, -1, false}} {
		b.k.Skip, b.age = k.skip, k.age*b.s.SamplePeriod
		if tick() != k.want {
			t.Errorf("%s: held %v, want %v", k.name, law.LearningHeld, k.want)
		}
	}
	b.k.Skip, b.age = 0, 0
	before := b.x[estimator.XPos]
	for _, side := range []float64{1, -1} {
		b.x[estimator.XPos] = before - 1000*side
		cut := tick()
		b.x[estimator.XPos] = before
		if next := tick(); cut || !next || law.U != 0.4*side || tick() {
			t.Errorf("torque at its limit to side %+g: held %v at once, %v then, told %g N·m; for longer: %v", side, cut, next, law.U,
				law.LearningHeld)
		}
	}
	b.HoldLearning()
	if !tick() || tick() {
		t.Error("a command that was cut on its way out teaches, or rests for longer than a tick")
	}
	b.HoldLearning()
	b.Start(b.x)
	if tick() {
		t.Error("a motion begins with a torque that was cut in the one before")
	}
}

// An axis of a machine that stands against gravity: the estimate of its friction holds the weight, which the machine explains, and friction
// no more.
func TestWeightIsNoResidual(t *testing.T) {
	for _, coupled := range []bool{false, true} {
		s := motorSpec(t, reference.Spec{Kind: "constant"})
		s.Coupled = coupled
		b := newBed(t, s)
		const weight = 1.0 // N·m, far above ten times break-away
		b.x[b.layout.friction] = weight
		b.Load(weight)
		for range 3000 {
			b.compute()
		}
		if over := math.Abs(b.residual) > b.Unexplained(); over == coupled {
			t.Errorf("in a machine %v: residual %g N·m, limit %g N·m", coupled, b.residual, b.Unexplained())
		}
	}
}

// The documented numbers behind the causes model residual and stale: a mean over half a second, ten times break-away, five periods.
func TestResidualAndAge(t *testing.T) {
	b := newBed(t, motorSpec(t, reference.Spec{Kind: "constant"}))
	if got := b.Unexplained(); math.Abs(got-0.21) > 1e-12 {
		t.Errorf("limit %g N·m, want ten times 21e-3", got)
	}
	for _, side := range []float64{1, -1} {
		b.explain(false, 0, 1e-3)
		for range 500 {
			b.explain(true, side*0.1, 1e-3)
		}
		if share := b.residual / (side * 0.1); math.Abs(share-(1-math.Exp(-1))) > 1e-3 {
			t.Errorf("after half a second the mean is %.4f of the residual", share)
		}
	}
	b.explain(false, 0, 1e-3)
	for range 100 { // ticks are missing: each stands for five
		b.explain(true, 0.1, 5e-3)
	}
	if share := b.residual / 0.1; math.Abs(share-(1-math.Exp(-1))) > 1e-3 {
		t.Errorf("after half a second of long ticks the mean is %.4f of the residual", share)
	}
	if b.explain(false, 9, 1e-3); b.residual != 0 {
		t.Errorf("residual %g N·m while nothing is driven", b.residual)
	}
	if b.explain(true, math.NaN(), 1e-3); !b.diverged {
		t.Error("a residual that is no number went unnoticed")
	}
	for age, want := range map[float64]bool{5e-3: false, math.Nextafter(5e-3, 1): true, 0: false, math.NaN(): true, math.Inf(1): true} {
		if b.age = age; b.stale() != want {
			t.Errorf("age %v s: stale %v", age, !want)
		}
	}
}

// Without a drive the inertia is not known and no friction is estimated: the law has nothing to be compared with.
func TestNothingToExplain(t *testing.T) {
	s := motorSpec(t, reference.Spec{Kind: "constant"})
	s.Drive, s.Sampling.Groups[0].Quantities, s.Mechanical = plant.NoDrive, []estimator.Quantity{estimator.Position},
		estimator.MechanicalSpec{PositionNoise: 1e-6, Walk: 100}
	b := newBed(t, s)
	if b.model == nil || b.Unexplained() != 0 {
		t.Errorf("residual limit %g N·m, want none", b.Unexplained())
	}
	if s.Law = nil; newBed(t, s).Unexplained() != 0 {
		t.Error("a residual limit without a law")
	}
}

// A number that is none reaches the loop, wherever it arises: in the model beside the rig, in the compensation, and in either of the two
// that a hand-over has at work.
func TestNonFiniteIsTold(t *testing.T) {
	s := motorSpec(t, reference.Spec{Kind: "constant"})
	quiet := s
	quiet.Drive, quiet.Sampling.Groups, quiet.Mechanical = plant.NoDrive,
		[]estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position}}},
		estimator.MechanicalSpec{PositionNoise: 1e-6, Walk: 100}
	for _, v := range []float64{1, math.NaN(), math.Inf(-1)} {
		b := newBed(t, quiet)
		b.x[estimator.XVel] = v
		want := engine.OK
		if v != 1 {
			want = engine.NonFinite
		}
		if st := b.compute(); st != want {
			t.Errorf("model under a speed of %g rad/s: %v", v, st)
		}
	}
	for _, c := range []struct {
		name     string
		now, old float64 // N·m
		want     engine.Status
	}{{"both are numbers", 0.01, 0.01, engine.OK}, {"the new one is none", math.NaN(), 0.01, engine.NonFinite},
		{"the old one is none", 0.01, math.Inf(1), engine.NonFinite}, {"there is no old one", math.NaN(), 0, engine.NonFinite}} {
		s.Comp.Ramp = 1
		b := newBed(t, s)
		b.age = 0
		b.Start(b.x)
		if c.old != 0 {
			hand(t, b, s)
			b.previousPath.comp.law = &mad{c.old}
		}
		b.activePath.comp.law = &mad{c.now}
		if st := b.compute(); st != c.want || math.IsNaN(b.u) {
			t.Errorf("%s: %v, command %g", c.name, st, b.u)
		}
	}
}
