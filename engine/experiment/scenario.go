package experiment

import (
	"context"
	"fmt"
	"math"

	"hilrig/engine/control"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/engine/reference"
)

// Subject is a law that goes through the scenarios.
type Subject struct {
	Name  string // of the law in the registry
	Label string // for people
	Law   friction.Model
	Force bool // the law takes the applied force: its step response is one to a force
}

// Conditions are the numbers of the scenarios. The zero value of a field is the public one (Public).
type Conditions struct {
	Step   float64 // s
	Scheme friction.Scheme
	Mass   float64 // kg
	Spring float64 // N/m    stick-slip and zero crossing
	Pull   float64 // m/s    stick-slip: speed of the spring's end
	Swing  float64 // m/s    zero crossing: amplitude of the speed of the spring's end
	Omega  float64 // rad/s  zero crossing: its frequency
	Bias   float64 // m/s    hysteresis: mean speed
	Ripple float64 // m/s    hysteresis: amplitude of the speed
	Push   float64 // N      stiction: amplitude of the force; step response: two and four times this are the steps of force
	Jump   float64 // m/s    step response: the speed
	Kp     float64 // N/m      hunting: gains of the position controller
	Ki     float64 // N/(m·s)
	Kd     float64 // N·s/m
	Move   float64 // m      hunting: how far the mass is sent
}

// Public are the conditions under which the five models of the chapter show what is claimed of them.
func Public() Conditions {
	return Conditions{Step: 1e-3, Mass: 1, Spring: 100, Pull: 0.02, Swing: 1, Omega: 2, Bias: 0.06, Ripple: 0.04, Push: 0.5, Jump: 1,
		Kp: 3, Ki: 4, Kd: 6, Move: 1}
}

// Metric is a number that a scenario reads off.
type Metric struct {
	Key   string // stable name, such as "period"
	Title string // for people
	Unit  string // SI; the printer chooses the prefix
	Value float64
}

// Part is one experiment of a scenario with its record.
type Part struct {
	Name  string // "0.1 Hz"
	Spec  Spec
	Trace *Trace
}

// Outcome is what a law did in a scenario.
type Outcome struct {
	Scenario string
	Subject  Subject
	Parts    []Part
	Metrics  []Metric
}

// Scenario is a comparison of the literature.
type Scenario struct {
	Name  string
	Title string
	run   func(*trial) error
}

// Scenarios lists them in the order of the chapter.
var Scenarios = []Scenario{
	{"stick-slip", "stick-slip of a mass drawn over a spring", (*trial).stickSlip},
	{"zero-crossing", "crossing zero velocity", (*trial).zeroCrossing},
	{"hysteresis", "hysteresis of friction over velocity", (*trial).hysteresis},
	{"stiction", "spring-like behaviour in stiction", (*trial).stiction},
	{"step-response", "response to a step", (*trial).stepResponse},
	{"hunting", "a position held by PD and by PID", (*trial).hunting},
}

// Run puts a law through the scenario.
func (s Scenario) Run(ctx context.Context, who Subject, c Conditions) (*Outcome, error) {
	t := &trial{ctx: ctx, c: c, outcome: &Outcome{Scenario: s.Name, Subject: who}}
	if err := s.run(t); err != nil {
		return nil, fmt.Errorf("scenario %s, law %s: %w", s.Name, who.Label, err)
	}
	return t.outcome, nil
}

// trial is a scenario under way.
type trial struct {
	ctx     context.Context
	c       Conditions
	outcome *Outcome
}

func (t *trial) metric(key, title, unit string, v float64) {
	t.outcome.Metrics = append(t.outcome.Metrics, Metric{key, title, unit, v})
}

// numbers are the metrics by key.
func (t *trial) numbers() map[string]float64 {
	got := map[string]float64{}
	for _, m := range t.outcome.Metrics {
		got[m.Key] = m.Value
	}
	return got
}

// record runs one experiment and adds it to the outcome. Every step is kept: the numbers are read off the record.
func (t *trial) record(name string, s Spec) (*Trace, error) { return t.recordRows(name, s, 1) }

// recordRows is record with one row in every steps.
func (t *trial) recordRows(name string, s Spec, every int) (*Trace, error) {
	s.Law, s.Mass, s.Scheme, s.Step, s.Substep = t.outcome.Subject.Law, t.c.Mass, t.c.Scheme, t.c.Step, true
	tr, err := Record(t.ctx, s, Recording{Stride: every})
	if err != nil {
		return nil, err
	}
	t.outcome.Parts = append(t.outcome.Parts, Part{name, s, tr})
	return tr, nil
}

// slidingState is the state of a contact that has been sliding at v; nil: relaxed, for laws that get there by themselves.
func (t *trial) slidingState(v float64) []float64 {
	s, ok := t.outcome.Subject.Law.(friction.Sliding)
	if !ok {
		return nil
	}
	z := make([]float64, t.outcome.Subject.Law.StateDim())
	s.ResetSliding(z, v)
	return z
}

// stickSlip draws the mass over a spring whose end moves at constant speed. The period is the mean distance of the upward
// crossings of that speed, of those that end after two seconds; the extremes are those after two seconds. Some laws never
// settle into equal cycles (LuGre): for them the numbers belong to the record of six seconds.
func (t *trial) stickSlip() error {
	const settle, end = 2.0, 6.0 // s
	tr, err := t.record("drawn", Spec{Plant: DrawnMass, Spring: t.c.Spring, Input: reference.Ramp{Velocity: t.c.Pull}, Duration: end})
	if err != nil {
		return err
	}
	up := upward(tr.TMid, tr.W, t.c.Pull)
	first, period := math.NaN(), math.NaN()
	if len(up) > 0 {
		first = up[0]
	}
	for len(up) > 1 && up[1] < settle {
		up = up[1:]
	}
	if n := len(up) - 1; n >= 1 {
		period = (up[n] - up[0]) / float64(n)
	}
	from := index(tr.T, settle)
	lo, hi := extremes(tr.Drive[from:])
	_, vmax := extremes(tr.W[from:])
	fmin, _ := extremes(tr.F[from:])
	t.metric("first_break_away", "first break-away", "s", first)
	t.metric("period", "period", "s", period)
	t.metric("spring_max", "largest spring force", "N", hi)
	t.metric("spring_min", "smallest spring force", "N", lo)
	t.metric("speed_max", "largest speed", "m/s", vmax)
	t.metric("friction_min", "smallest friction", "N", fmin)
	return nil
}

// zeroCrossing moves the end of the spring to and fro for two periods.
func (t *trial) zeroCrossing() error {
	period := 2 * math.Pi / t.c.Omega
	// the speed of the end is A·sin(ωt), its position A/ω·(1 − cos(ωt))
	tone := reference.Tone{Amplitude: t.c.Swing / t.c.Omega, Frequency: 1 / period, Phase: -math.Pi / 2}
	tr, err := t.record("swung", Spec{Plant: DrawnMass, Spring: t.c.Spring, Duration: t.steps(2 * period),
		Input: reference.Sine{Offset: t.c.Swing / t.c.Omega, Tone: tone}})
	if err != nil {
		return err
	}
	const slow = 0.02             // m/s
	from := index(tr.T, period/2) // the last three quarters: the start from rest is left out
	near, signs, crossings := 0.0, 0, 0
	for k := from; k < len(tr.T); k++ {
		near += t.c.Step * bandShare(tr.V[k-1], tr.V[k], slow)
	}
	lastF, lastV := 0.0, 0.0
	for k := range tr.T {
		signs += change(&lastF, tr.F[k], 1e-3)
		crossings += change(&lastV, tr.W[k], 1e-3)
	}
	lo, hi := extremes(tr.F)
	_, vmax := extremes(tr.W)
	t.metric("friction_peak", "largest friction", "N", max(-lo, hi))
	t.metric("near_zero", "time below 0.02 m/s", "s", near)
	t.metric("work", "work against friction", "J", numeric.Interpolate(tr.T, tr.Work, 2*period))
	t.metric("speed_max", "largest forward speed", "m/s", vmax)
	t.metric("sign_changes", "sign changes of friction", "", float64(signs))
	t.metric("crossings", "sign changes of velocity", "", float64(crossings))
	return nil
}

// hysteresis imposes a speed that never reaches zero, slowly and ten times faster, and reads the last period.
func (t *trial) hysteresis() error {
	for _, c := range []struct {
		name string
		f    float64
		n    float64 // periods
	}{{"0.1 Hz", 0.1, 2}, {"1 Hz", 1, 4}} {
		in := reference.Sine{Offset: t.c.Bias, Tone: reference.Tone{Amplitude: t.c.Ripple, Frequency: c.f}}
		tr, err := t.record(c.name, Spec{Plant: ImposedVelocity, Input: in, State: t.slidingState(t.c.Bias), Duration: (c.n + 0.5) / c.f})
		if err != nil {
			return err
		}
		// the last whole period, between rising passages of the mean speed; velocity and friction in the middles of the steps
		t0, t1 := (c.n-1)/c.f, c.n/c.f
		v := make([]float64, len(tr.TMid))
		for k, at := range tr.TMid {
			v[k], _, _ = in.At(at)
		}
		rise, fall := numeric.Interpolate(tr.TMid, tr.F, t1), numeric.Interpolate(tr.TMid, tr.F, t0+0.5/c.f)
		i, j := index(tr.TMid, t0), index(tr.TMid, t1)
		t.metric("lag_"+key(c.name), "F rising − F falling at the mean speed, "+c.name, "N", rise-fall)
		t.metric("area_"+key(c.name), "area of the loop, "+c.name, "W", shoelace(v[i:j], tr.F[i:j]))
	}
	return nil
}

// stiction pushes with a force that does not break the contact and reads the fourth cycle.
func (t *trial) stiction() error {
	period := 2 * math.Pi // at 1 rad/s
	in := reference.Sine{Tone: reference.Tone{Amplitude: t.c.Push, Frequency: 1 / period}}
	tr, err := t.record("pushed", Spec{Plant: ImposedForce, Input: in, Duration: t.steps(4 * period)})
	if err != nil {
		return err
	}
	from := index(tr.T, 3*period)
	lo, hi := extremes(tr.X[from:])
	t.metric("travel", "travel in the fourth cycle", "m", hi-lo)
	t.metric("work", "loop work of the fourth cycle", "J",
		numeric.Interpolate(tr.T, tr.Work, 4*period)-numeric.Interpolate(tr.T, tr.Work, 3*period))
	t.metric("offset", "middle of the travel", "m", (hi+lo)/2)
	return nil
}

// stepResponse imposes a speed from rest; a law whose input is the force gets steps of force.
func (t *trial) stepResponse() error {
	if t.outcome.Subject.Force {
		for _, c := range []struct {
			key string
			u   float64
		}{{"below", 2 * t.c.Push}, {"above", 4 * t.c.Push}} {
			name := fmt.Sprintf("%.3g N", c.u)
			tr, err := t.record(name, Spec{Plant: ImposedForce, Input: reference.Constant(c.u), Duration: 20})
			if err != nil {
				return err
			}
			end := len(tr.T) - 1
			t.metric("friction_end_"+c.key, "friction at the end, "+name, "N", tr.F[end])
			t.metric("speed_end_"+c.key, "speed at the end, "+name, "m/s", tr.W[end])
			tau := math.NaN()
			if up := upward(tr.TMid, tr.W, (1-math.Exp(-1))*tr.W[end]); tr.W[end] > 0 && len(up) > 0 {
				tau = up[0]
			}
			t.metric("time_constant_"+c.key, "time to 63 % of it, "+name, "s", tau)
		}
		return nil
	}
	// what the contact answers before anything has moved: one step of a nanosecond
	z := make([]float64, t.outcome.Subject.Law.StateDim())
	start := t.slidingStart()
	t.outcome.Subject.Law.Reset(z)
	copy(z, start)
	at0 := t.outcome.Subject.Law.Step(z, friction.Input{Dt: 1e-9, V: t.c.Jump})
	tr, err := t.record(fmt.Sprintf("%.3g m/s", t.c.Jump),
		Spec{Plant: ImposedVelocity, Input: reference.Constant(t.c.Jump), State: start, Duration: 0.5})
	if err != nil {
		return err
	}
	_, hi := extremes(tr.F)
	t.metric("friction_start", "friction at once", "N", at0)
	t.metric("friction_max", "largest friction", "N", max(hi, at0))
	t.metric("friction_end", "friction at the end", "N", tr.F[len(tr.F)-1])
	return nil
}

// hunting sends the mass away under a position controller. PD leaves it where friction holds it; with an integral it is let
// go again and again, or arrives, as the law has it. The numbers of PID are read in the last half of the record, off rows of 10 ms:
// nothing here is faster than the poles of the controller.
func (t *trial) hunting() error {
	const settle, end, row = 60.0, 600.0, 0.01 // s
	every := max(1, int(row/t.c.Step))
	c := Control{PID: control.PID{Kp: t.c.Kp, Kd: t.c.Kd}}
	in := reference.Constant(t.c.Move)
	pd, err := t.recordRows("PD", Spec{Plant: ControlledMass, Control: c, Input: in, Duration: t.steps(settle)}, every)
	if err != nil {
		return err
	}
	c.Ki = t.c.Ki
	pid, err := t.recordRows("PID", Spec{Plant: ControlledMass, Control: c, Input: in, Duration: t.steps(end)}, every)
	if err != nil {
		return err
	}
	t.metric("pd_error", "error left by PD", "m", t.c.Move-pd.Summary.XEnd)
	cycle := readCycle(pid.T, pid.X, t.c.Move, end/2)
	t.metric("pid_amplitude", "amplitude under PID", "m", cycle.amplitude)
	t.metric("pid_growth", "amplitude of the last quarter over that of the one before", "", cycle.growth)
	t.metric("pid_period", "period under PID", "s", cycle.period)
	return nil
}

// slidingStart is the state for a step of velocity: a law that knows its mode starts in the sliding one, its history at rest.
func (t *trial) slidingStart() []float64 { return t.slidingState(0) }

// steps rounds a duration up to whole steps.
func (t *trial) steps(d float64) float64 { return math.Ceil(d/t.c.Step-1e-9) * t.c.Step }

// key makes a name usable in a metric's key.
func key(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c == ' ' || c == '.' {
			b[i] = '_'
		}
	}
	return string(b)
}
