package estimator

import (
	"errors"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/engine/numeric"
)

// Contact is a friction law carried along a motion that is given: measured, estimated or desired. Nothing acts back on the motion.
type Contact struct {
	law        friction.Model
	lugre      *friction.LuGre // the law once more if it is this one, whose bristle an observer corrects
	z          []float64       // state of the law
	trialState []float64       // … after a step that may turn out to be no number
	bend       int             // place of a deflection among the states; −1: there is none
}

// NewContact checks the law.
func NewContact(law friction.Model) (*Contact, error) {
	if err := checkLaw(law); err != nil {
		return nil, err
	}
	n := law.StateDim()
	c := &Contact{law: law, z: make([]float64, n), trialState: make([]float64, n)}
	c.lugre, _ = law.(*friction.LuGre)
	c.bend = slices.IndexFunc(law.States(), func(s engine.Signal) bool { return s.Unit == "m" })
	c.Reset()
	return c, nil
}

// Renew begins anew when the numbers of the law were changed where they are: as a new contact does, in the memory that there is.
func (c *Contact) Renew() {
	n := c.law.StateDim()
	if cap(c.z) < n || cap(c.trialState) < n { // another number of elements
		c.z, c.trialState = make([]float64, n), make([]float64, n)
	}
	c.z, c.trialState = c.z[:n], c.trialState[:n]
	clear(c.z)
	c.Reset()
}

// checkLaw refuses a law that is not there or has numbers that make no sense.
func checkLaw(law friction.Model) error {
	if law == nil {
		return errors.New("friction: there is no law")
	}
	return law.Validate()
}

// Reset relaxes the contact.
func (c *Contact) Reset() { c.law.Reset(c.z) }

// Bends tells whether the law has a deflection.
func (c *Contact) Bends() bool { return c.bend >= 0 }

// Bristle is the deflection of the contact (rad or m); 0 for a law that has none.
func (c *Contact) Bristle() float64 {
	if c.bend < 0 {
		return 0
	}
	return c.z[c.bend]
}

// Step advances the contact over dt (s) for a displacement dx (rad or m), and returns the mean friction over the step (N·m or N).
// Limited: the force or the bristle was cut to its bound. NonFinite: input or result is not a finite number; the state stays as it was,
// and the force is zero.
func (c *Contact) Step(dt, dx float64) (force float64, st engine.Status) { return c.step(dt, dx, 0) }

// step is Step with a correction of the bristle of LuGre (rad/s or m/s), which is constant over the step.
func (c *Contact) step(dt, dx, correction float64) (force float64, st engine.Status) {
	if !(dt > 0) || !numeric.IsFinite(dx+correction) {
		return 0, engine.NonFinite
	}
	if c.lugre != nil {
		return c.bristle(dt, dx, correction)
	}
	copy(c.trialState, c.z)
	force = c.law.Step(c.trialState, friction.Input{Dt: dt, V: dx / dt})
	sum := force
	for _, z := range c.trialState {
		sum += z - z // NaN where a state is none
	}
	if !numeric.IsFinite(sum) {
		return 0, engine.NonFinite
	}
	c.z, c.trialState = c.trialState, c.z
	return force, engine.OK
}

// bristle is the exact step of LuGre. |F̂ − σ2·v| never exceeds 1.2 times the larger of Fs and Fc, plus the offset.
func (c *Contact) bristle(dt, dx, correction float64) (force float64, st engine.Status) {
	law := c.lugre
	zn, _, f := law.StepDx(c.z[0], dx, dt)
	if correction != 0 {
		// the correction is a second, constant input of the same linear equation: its h·φ1(a) at the end, and its share of the mean
		// and of the rate
		end, mean := law.Relax(dx, dt)
		push := correction * dt
		zn += push * end
		f += law.Sigma0*push*mean + law.Damping(dx/dt)*push*end/dt
	}
	if !numeric.IsFinite(zn + f) { // a speed beyond all reason
		return 0, engine.NonFinite
	}
	most := max(law.Fs, law.Fc)
	if top := most / law.Sigma0; math.Abs(zn) > top {
		zn, st = math.Copysign(top, zn), engine.Limited
	}
	c.z[0] = zn
	dry, viscous := f-law.Offset, law.Sigma2*dx/dt
	dry -= viscous
	if lim := 1.2 * most; math.Abs(dry) > lim {
		dry, st = math.Copysign(lim, dry), engine.Limited
	}
	return dry + viscous + law.Offset, st
}
