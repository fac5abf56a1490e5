package drivetrain

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
	"hilrig/engine/circuit"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
)

// Bearing is the friction between two coordinates, or of one against Ground, after any law of package friction.
//
// A law of bristles or of another smooth form is taken as it is, with its states. A law with a stick mode moves its mass itself, which
// a machine of several coordinates does not let it do: it needs a Speed, and its steady curve F(v) is then taken with a smoothed sign,
//
//	F = |F(v)|·tanh(v/Speed),
//
// under which what should stick creeps. Coulomb friction smoothed over Speed is the law coulomb with one.
//
// What bristles store counts as lost until they return it, so the loss of an instant may be negative.
type Bearing struct {
	Label string
	Twist // v = v_A/Ratio − v_B
	Law   friction.Model
	Speed float64 // rad/s  0: the law as it is
	Load  float64 // times which the law is taken; 0: once. May change between steps

	smoothLaw friction.Smooth
	flow      friction.Flow
}

// Name is the label.
func (b *Bearing) Name() string { return b.Label }

func (b *Bearing) check(n int) error {
	errs := []error{b.checkTwist(n), atLeast("speed", b.Speed, "rad/s", false)}
	if b.Law == nil {
		return errors.Join(append(errs, errors.New("law: missing"))...)
	}
	errs = append(errs, b.Law.Validate())
	b.smoothLaw, b.flow = nil, nil
	if b.Speed == 0 {
		b.smoothLaw, _ = b.Law.(friction.Smooth)
		b.flow, _ = b.Law.(friction.Flow)
		if _, switched := b.Law.(friction.Switched); switched || b.smoothLaw == nil {
			errs = append(errs, fmt.Errorf("law: %T has a stick mode, which a machine of several coordinates cannot give it: set a speed over "+
				"which its sign is smoothed, or take a law of bristles (lugre, dahl)", b.Law))
		}
	}
	return errors.Join(errs...)
}

// States are those of the law.
func (b *Bearing) States() []engine.Signal {
	if b.Speed > 0 {
		return nil
	}
	var s []engine.Signal
	for _, z := range b.Law.States() {
		unit := engine.RotaryUnit(z.Unit)
		s = append(s, engine.Signal{Name: b.Label + "." + z.Name, Unit: unit})
	}
	return s
}

// Reset is relaxed, at rest for ever.
func (b *Bearing) Reset(z []float64) {
	if b.Speed == 0 {
		b.Law.Reset(z)
	}
}

// load is the factor of the law.
func (b *Bearing) load() float64 {
	if b.Load == 0 {
		return 1
	}
	return b.Load
}

// level is the size of the steady friction, with its load, at the size of a speed. It has a jump at v = 0: its sides are taken, and the
// smallest speed that is one.
func (b *Bearing) level(v float64) (level, at float64) {
	at = max(math.Abs(v), 1e-6*b.Speed)
	return b.load() * math.Abs(b.Law.SteadyForce(at)), at
}

// Friction is the smoothed friction at a speed, with its load.
func (b *Bearing) Friction(v float64) float64 {
	level, _ := b.level(v)
	return level * math.Tanh(v/b.Speed)
}

// Curve is Friction and its slope.
func (b *Bearing) Curve(v float64) (f, df float64) {
	level, at := b.level(v)
	d := 1e-4 * at
	next, _ := b.level(at + d)
	s := math.Tanh(v / b.Speed)
	return level * s, level*(1-s*s)/b.Speed + (next-level)/d*math.Abs(s)
}

// Flow adds the friction of the instant.
func (b *Bearing) Flow(t float64, q, v, z, dz, tau []float64) (circuit.Power, engine.Status) {
	rate := b.of(v)
	var f float64
	switch {
	case b.Speed > 0:
		f = b.Friction(rate)
	case b.flow == nil:
		return circuit.Power{}, engine.NotConverged
	default:
		f = b.flow.Flow(z, dz, friction.Input{V: rate}) * b.load()
	}
	if !numeric.IsFinite(f) {
		return circuit.Power{}, engine.NonFinite
	}
	return circuit.Power{Loss: f * rate, Output: b.exert(f, v, tau)}, engine.OK
}

// Trial adds the mean friction of the step.
func (b *Bearing) Trial(t, h float64, q, v, w, z, zn, tau, slope []float64) (circuit.Power, engine.Status) {
	rate := b.of(w)
	var f, df float64
	if b.Speed > 0 {
		f, df = b.Curve(rate)
	} else {
		f, df = b.smoothLaw.Trial(friction.Midpoint, z, zn, friction.Input{Dt: h, V: rate})
		f, df = f*b.load(), df*b.load()
	}
	if !numeric.IsFinite(f) {
		return circuit.Power{}, engine.NonFinite
	}
	b.steepen(df, len(w), slope)
	return circuit.Power{Loss: f * rate, Output: b.exert(f, w, tau)}, engine.OK
}

// StoredEnergy is nothing.
func (b *Bearing) StoredEnergy(q, z []float64) float64 { return 0 }
