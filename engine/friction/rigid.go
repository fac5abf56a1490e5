package friction

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// The machine that moves a mass under a contact with a rigid stick mode. While the body sticks, v = 0 exactly and friction
// is whatever holds it, F = u, up to a break-away level. While it slips,
//
//	M·dv/dt = u − s·f(|v|),   s = ±1 the direction of slip,
//
// which the midpoint rule solves for the mean velocity w of a part of the step (work balance exact, second order):
//
//	2M(w − v)/h = u½ − s·f(|w|),   v⁺ = 2w − v,   x⁺ = x + h·w.
//
// The modes change inside the step, and the rest of it is done in the new mode:
//
//   - arrest where v⁺ would have passed zero, at θ = v/(v − v⁺) of the part; x moves on by v·θh/2. The body then sticks if
//     |u| is within the level of that instant, otherwise it slips at once in the direction of u;
//   - release where |u| crosses the level, found by interpolation between the ends of the part. The direction of the slip
//     is kept in a variable, not read off u again: on the level itself rounding would decide.
//
// No dead zone, no test speed, no regularised sign: the mode is v == 0, so a stuck body needs no state of its own and does
// not creep.
//
// Every part is announced to the load. The last question about a part is asked in its middle with the final velocity, as
// loads with a state of their own (a winding) expect.

// contact is what the machine asks of a law whose friction is not simply a level and a straight line.
type contact interface {
	// sliding is the mean friction (N, ≥ 0) over a part of in.Dt (s) that starts at the speed s0 ≥ 0 and has the mean
	// speed in.V ≥ 0 (m/s), and its derivative with respect to in.V (N·s/m, may be rough).
	sliding(z []float64, s0 float64, in Input) (f, slope float64)
	// level is the break-away friction (N) of a body at rest after a further rest of the given length (s).
	level(z []float64, rest float64) float64
	// advanceState advances z by a part of h (s) that ended at velocity v (m/s): at rest all the time, or slipping. A
	// slip that ends with v = 0 is an arrest.
	advanceState(z []float64, h, v float64, stuck bool)
}

// straight is the simplest contact: break-away level fs and sliding friction fc + fv·|v|. It has a closed form and no state.
type straight struct{ fs, fc, fv float64 }

// slidingForce is the sliding friction (N) at the velocity v (m/s); 0 at rest, where it is whatever holds the body.
func (l straight) slidingForce(v float64) float64 {
	if v == 0 {
		return 0
	}
	return math.Copysign(l.fc, v) + l.fv*v
}

// checkLevels reports every parameter outside its range, and a break-away level, the field of the given name, below the
// sliding friction fc: the body would be released and held again at once.
func checkLevels(law string, fs []field, name string, fc float64) error {
	err := checkFields(law, fs)
	for _, f := range fs {
		if f.name == name && *f.value < fc {
			err = errors.Join(err, fmt.Errorf("%s: %s: %g N, want at least Fc, %g N", law, name, *f.value, fc))
		}
	}
	return err
}

// imposed is the friction (N) of a part of a given motion at the velocity in.V (m/s) for in.Dt (s): exact on a curve, the
// sliding friction at in.V. At rest it balances in.Fa, up to the break-away level in the middle of the part.
func imposed(c contact, line straight, z []float64, in Input) float64 {
	var f float64
	v, h := in.V, max(in.Dt, 0)
	if v == 0 {
		top := line.fs
		if c != nil {
			top = c.level(z, h/2)
		}
		f = max(-top, min(top, in.Fa))
	} else {
		s := math.Abs(v)
		f = line.fc + line.fv*s
		if c != nil {
			in.V = s
			f, _ = c.sliding(z, s, in)
		}
		f = math.Copysign(f, v)
	}
	if c != nil && h > 0 {
		c.advanceState(z, h, v, v == 0)
	}
	return f
}

// rigid is what the memoryless laws with a rigid stick mode have in common: no state, nothing stored, and friction that
// opposes the motion at every instant.
type rigid struct{}

// StateDim is 0: a body is stuck when its velocity is zero.
func (rigid) StateDim() int { return 0 }

// Reset does nothing.
func (rigid) Reset([]float64) {}

// States is empty.
func (rigid) States() []engine.Signal { return nil }

// Energy is zero: a rigid contact stores none (J).
func (rigid) Energy([]float64) float64 { return 0 }

// Passive is true: F·v ≥ 0 at every instant.
func (rigid) Passive() (ok bool, speed float64) { return true, 0 }

// jump is the speed (m/s) that stands for the change of sgn v in Stiffness: friction changes within any speed, however
// small.
const jump = 1e-3
