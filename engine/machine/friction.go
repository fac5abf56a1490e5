package machine

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/circuit/drivetrain"
	"hilrig/engine/friction"
)

// Friction is a law on a joint with one coordinate, of the tree or one that closes a loop.
//
// A law with a stick mode and no memory (Sticks) sticks: while the joint does so, friction is the torque that keeps its acceleration
// zero; beyond the break-away level it slips, and friction is that of the steady curve in the direction of slip. Run locates the instants
// of arrest and release, and begins anew there. With a Speed the steady curve has a smoothed sign instead, see drivetrain.Bearing; laws
// of bristles are taken as they are.
//
// With a Lever the law is taken times Lever·N, N (N) being the force that the joint carries across its motion: of a revolute one the whole
// force on its bearing. So a law whose level is the coefficient µ makes µ·N of a prismatic joint with Lever 1, and µ·r·N of a
// journal bearing with Lever r. The force depends on the friction in turn; both are solved together.
type Friction struct {
	Joint string
	Law   friction.Model
	Speed float64 // rad/s, m/s  over which the sign is smoothed; 0: the law as it is
	Lever float64 // 1/N, or m with µ for a law  0: the load of the joint has no effect
}

// Sticks tells whether a law has a level and a curve without states.
func Sticks(law friction.Model) bool {
	_, smooth := law.(friction.Smooth)
	_, switched := law.(friction.Switched)
	_, sided := law.(*friction.TwoSidedStick)
	return (switched || sided) && !smooth && law.StateDim() == 0
}

// What friction and load of a joint are called, behind the name of the joint.
const (
	frictionSuffix = ".friction"
	loadSuffix     = ".load"
)

func (f *Friction) sticks() bool { return f.Speed == 0 && Sticks(f.Law) }

// loaded is friction that the load of its joint acts on.
type loaded struct {
	axis, body int // body of a joint of the tree
	lever      float64
	force      float64 // N
	pressed    r3.Vec  // N  of which force is the size; world axes
	scale      float64 // of the law
	bearing    *drivetrain.Bearing
}

// addFriction lays out the friction of all joints. Axes for cuts are there already.
func (m *Machine) addFriction(list []Friction) error {
	var errs []error
	for i := range list {
		f := &list[i]
		k, err := m.Axis(f.Joint)
		if err != nil {
			errs = append(errs, fmt.Errorf("friction: %w", err))
			continue
		}
		if !(f.Lever >= 0 && f.Lever < math.Inf(1)) {
			errs = append(errs, fmt.Errorf("friction of joint %q: lever %g, want a number ≥ 0", f.Joint, f.Lever))
		}
		var by *loaded
		if f.Lever > 0 {
			by = &loaded{axis: k, lever: f.Lever, scale: 1}
			if a := &m.axes[k]; a.cutIndex < 0 {
				by.body, _ = m.Model.Joint(f.Joint)
			}
			m.loads = append(m.loads, by)
		}
		if f.sticks() {
			m.dryJoints = append(m.dryJoints, dry{axis: k, law: f.Law, rest: f.Law.Levels().Rest, load: by})
			continue
		}
		b := &drivetrain.Bearing{Label: f.Joint + frictionSuffix, Twist: drivetrain.Twist{A: k, B: drivetrain.Ground}, Law: f.Law, Speed: f.Speed}
		if by != nil {
			by.bearing, b.Load = b, by.scale
		}
		m.bearings = append(m.bearings, b)
	}
	m.roomOfLoads()
	return errors.Join(errs...)
}

// set is the factor of the law.
func (l *loaded) set(scale float64) {
	l.scale = scale
	if l.bearing != nil {
		l.bearing.Load = max(scale, math.SmallestNonzeroFloat64) // 0 would be the law as it is
	}
}
