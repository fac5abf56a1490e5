package friction

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hilrig/engine"
)

// TwoSided is a smooth law whose levels and viscosity depend on the direction: two sets of parameters on one contact state. At v = 0
// neither set moves the state, so the force is continuous where the direction changes.
//
// It is passive if both sets are. A bristle has its energy from the same stiffness in both directions, and what it brings into
// a reversal pulls against the new motion, whatever the level it was built up to; from there it cannot pass the level of the
// new direction. So the balance of each set (LuGre.Passive) holds along every motion.
type TwoSided struct {
	sides
	foreTrial, backTrial Smooth
}

// TwoSidedStick is TwoSided of a law with a stick mode. It gives its force for a given motion; at rest the sign of the applied force
// tells the direction. It cannot carry a mass.
type TwoSidedStick struct{ sides }

// sides are the sets of the two directions.
type sides struct {
	forward, backward Model
	directional       []int // parameters that the sets have each for themselves, by their place in the law
}

// Backward is the ending of the names of parameters for v < 0.
const Backward = "-"

// Sided are the parameters that may depend on the direction: levels and viscosity, whose values need not agree where v = 0.
var Sided = []string{"Fc", "Fs", "Fs_inf", "Fv", "sigma2"}

// NewTwoSided joins two instances of one law, for v > 0 and for v < 0, that differ in the parameters of these names; without names in
// all of Sided. Sets that differ in more are refused, and so is a law whose state was made with the level of one direction. The result
// is TwoSided, or TwoSidedStick of a law with a stick mode.
func NewTwoSided(fore, back Model, names ...string) (Model, error) {
	l := sides{forward: fore, backward: back}
	if _, seven := fore.(*Seven); seven {
		return nil, errors.New("backward: the spring of this law is set to the level of one direction where a slip ends; it has one set of " +
			"parameters for both")
	}
	p, q := fore.Params(), back.Params()
	if fmt.Sprintf("%T", fore) != fmt.Sprintf("%T", back) || len(p) != len(q) {
		return nil, fmt.Errorf("backward: %T and %T are two laws", fore, back)
	}
	for i := range p {
		if slices.Contains(Sided, p[i].Name) && (names == nil || slices.Contains(names, p[i].Name)) {
			l.directional = append(l.directional, i)
		}
	}
	if l.directional == nil {
		return nil, fmt.Errorf("backward: the law has none of %s", strings.Join(Sided, ", "))
	}
	if err := l.checkShared(p, q); err != nil {
		return nil, err
	}
	ahead, smooth := fore.(Smooth)
	if !smooth {
		return &TwoSidedStick{l}, nil
	}
	return &TwoSided{l, ahead, back.(Smooth)}, nil
}

// checkShared reports parameters that must not depend on the direction and do.
func (l *sides) checkShared(p, q []engine.Param) error {
	var errs []error
	for i := range p {
		if !slices.Contains(l.directional, i) && p[i].Value != q[i].Value {
			errs = append(errs, fmt.Errorf("backward: %s: %g %s backward and %g forward, want one number", p[i].Name, q[i].Value, p[i].Unit,
				p[i].Value))
		}
	}
	return errors.Join(errs...)
}

// sidesOf are the sets of a law by direction; nil: it has one for both.
func sidesOf(m Model) *sides {
	switch l := m.(type) {
	case *TwoSided:
		return &l.sides
	case *TwoSidedStick:
		return &l.sides
	}
	return nil
}

// Sides are the laws of the two directions.
func (l *sides) Sides() (fore, back Model) { return l.forward, l.backward }

// StateDim is that of the law.
func (l *sides) StateDim() int { return l.forward.StateDim() }

// Reset relaxes the contact.
func (l *sides) Reset(z []float64) { l.forward.Reset(z) }

// States are those of the law.
func (l *sides) States() []engine.Signal { return l.forward.States() }

// Step is the step of the set for the direction of in.V; at rest for that of in.Fa.
func (l *sides) Step(z []float64, in Input) float64 {
	if in.V < 0 || in.V == 0 && in.Fa < 0 {
		return l.backward.Step(z, in)
	}
	return l.forward.Step(z, in)
}

// Trial is the trial of the set for the direction of in.V.
func (l *TwoSided) Trial(s Scheme, z, zn []float64, in Input) (force, slope float64) {
	if in.V < 0 {
		return l.backTrial.Trial(s, z, zn, in)
	}
	return l.foreTrial.Trial(s, z, zn, in)
}

// SteadyForce is that of the set for the direction of v.
func (l *sides) SteadyForce(v float64) float64 {
	if v < 0 {
		return l.backward.SteadyForce(v)
	}
	return l.forward.SteadyForce(v)
}

// Stiffness bounds the slopes of both sets.
func (l *sides) Stiffness() Stiffness {
	a, b := l.forward.Stiffness(), l.backward.Stiffness()
	return Stiffness{K: max(a.K, b.K), C: max(a.C, b.C), Fall: max(a.Fall, b.Fall), Speed: min(a.Speed, b.Speed)}
}

// Levels are those of the set of each direction.
func (l *sides) Levels() Levels {
	a, b := l.forward.Levels(), l.backward.Levels()
	a.Rest.Backward, a.Sliding.Backward = b.Rest.Backward, b.Sliding.Backward
	return a
}

// Viscous is that of the set for the direction of v.
func (l *sides) Viscous(v float64) float64 {
	if v < 0 {
		return l.backward.Viscous(v)
	}
	return l.forward.Viscous(v)
}

// Passive is the worse of the two sets.
func (l *sides) Passive() (ok bool, speed float64) {
	okA, a := l.forward.Passive()
	okB, b := l.backward.Passive()
	switch {
	case okA:
		return okB, b
	case okB:
		return false, a
	}
	return false, min(a, b)
}

// Params are those of the law, for v > 0 where the sets differ, and behind them those for v < 0, whose names end with a minus.
func (l *sides) Params() []engine.Param {
	p, q := l.forward.Params(), l.backward.Params()
	for _, i := range l.directional {
		p[i].Doc += ", forward"
		back := q[i]
		back.Name, back.Doc = back.Name+Backward, back.Doc+", backward"
		p = append(p, back)
	}
	return p
}

// SetParams takes the numbers in the order of Params. Both sets are unchanged when they are refused.
func (l *sides) SetParams(theta []float64) error {
	n := len(l.forward.Params())
	if len(theta) != n+len(l.directional) {
		return fmt.Errorf("%d parameters, want %d", len(theta), n+len(l.directional))
	}
	old := make([]float64, n)
	for i, p := range l.forward.Params() {
		old[i] = p.Value
	}
	if err := l.forward.SetParams(theta[:n]); err != nil {
		return err
	}
	back := slices.Clone(theta[:n])
	for k, i := range l.directional {
		back[i] = theta[n+k]
	}
	if err := l.backward.SetParams(back); err != nil {
		return errors.Join(fmt.Errorf("backward: %w", err), l.forward.SetParams(old))
	}
	return nil
}

// Validate reports what is wrong with either set.
func (l *sides) Validate() error {
	err := l.forward.Validate()
	if back := l.backward.Validate(); back != nil {
		err = errors.Join(err, fmt.Errorf("backward: %w", back))
	}
	return errors.Join(err, l.checkShared(l.forward.Params(), l.backward.Params()))
}
