// Package machine finds the parameters of a machine, a tree of rigid bodies with driven revolute and prismatic joints, from recorded
// positions and torques.
//
// # Problem
//
// The torques of the joints are linear in the inertial parameters of the bodies and in the armature and friction of the joints
// [AAH86]:
//
//	τ = Y(q, dq, ddq)·θ
//
// with Y the regressor of package multibody. The columns of Y depend on each other: a joint never feels some parameters, and feels
// others in sums only. Base finds the smallest set of sums that the torques determine, β = B·θ, and what each is made of, by the
// rank of Y at random motions [KD04] ch. 9, [G91]. This is a property of the machine, whatever was recorded.
//
// # Method
//
//	q → zero-phase low-pass → differences → columns of the base parameters and the signs of velocity
//	signs and τ → the same low-pass;   both sides → zero-phase decimation filter → rows
//	β by least squares, the rows of a joint weighted by one over the rms of its residual, which is repeated until it settles
//
// Standard errors are those of package fit, for residuals that depend on their neighbours; that the residuals of the joints at
// one time go together is added. What the rows cannot tell apart is left at the value of the file and named. Essential picks
// the base parameters for which the record says more than the file does; FullParams puts them into the parameters of all bodies with the
// least change, and Possible into those of real bodies.
//
// A joint that no drive acts on has rows too, with a torque of zero: they tie its parameters to those of the joints that are driven.
// Noise of the position that survives the low-pass draws the estimates towards zero, for least squares takes the columns as exact;
// Instruments do not. Suspects are what the machine may lack, and what may be wrong with the records of one joint.
//
// The lag of each torque is a parameter where the record tells it, as for an axis: timing.
//
// # Assumptions
//
// Sampling is even, and the joints are sampled together. The torque is what the gain says, later by its lag. Friction is that of sliding.
//
// Quantities are SI; references resolve in docs/reference/references.md.
package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"hilrig/engine/multibody"
	"hilrig/identify/record"
)

// Term is a group of columns of the regressor.
type Term string

// The terms, of every joint.
const (
	Inertia   Term = "inertia"   // ten parameters of the body that the joint moves
	Armature  Term = "armature"  // of the rotor, as the joint feels it
	Viscous   Term = "viscous"   // friction ∝ velocity
	Coulomb   Term = "coulomb"   // friction against the sense of motion
	Offset    Term = "offset"    // a constant torque, an error of its measurement
	Stiffness Term = "stiffness" // of a spring at the joint
	Lag       Term = "lag"       // by which the torque acts later than its stamp, where the record tells it
)

// Terms are all of them.
var Terms = []Term{Inertia, Armature, Viscous, Coulomb, Offset, Stiffness, Lag}

// Words are the terms.
func (Term) Words() []string {
	var out []string
	for _, t := range Terms {
		out = append(out, string(t))
	}
	return out
}

// FromRecord as trim or least speed has it found in the record.
const FromRecord = -1.0

// Spec says what is fitted and how the records are prepared.
type Spec struct {
	Terms       []Term  `json:"terms"`
	ByDirection bool    `json:"by_direction"`     // friction of its own for each direction, in place of an offset
	Order       int     `json:"filter_order"`     // of the low-pass
	Cutoff      float64 `json:"filter_cutoff_hz"` // Hz, its corner; 0: 10 Hz, or a fifth of a lower sampling rate
	Decimate    int     `json:"decimate"`         // every n-th sample is a row; 0: four rows in a period of the cutoff
	// the signs of velocity do not pass the low-pass, as in much that is published: Coulomb friction comes out smaller
	RawSigns bool    `json:"raw_signs"`
	Trim     float64 `json:"trim_s"` // s, left out at each end of a record; FromRecord: two periods of the cutoff
	// rad/s or m/s by joint, slower rows do not count for it; FromRecord: what the position cannot tell from rest
	MinVelocity []float64 `json:"min_velocity"`
	Passive     []bool    `json:"passive"` // by joint: no drive acts on it, its torque is zero; shorter: the others are driven
	Instruments Use       `json:"instruments"`
	Bandwidth   float64   `json:"instruments_bandwidth_hz"` // Hz, of what instruments take from the record; 0: a quarter of the cutoff
	Uncertain   Uncertain `json:"uncertainty"`

	halfBandDirection []bool // by joint: the direction of motion is taken from half the band
}

// DefaultSpec has all terms but the springs.
func DefaultSpec() Spec {
	return Spec{Terms: []Term{Inertia, Armature, Viscous, Coulomb, Offset, Lag}, Order: 4, Trim: FromRecord, Instruments: UseCheck}
}

// at is s with what it leaves to the record, for n joints sampled at fs (Hz).
func (s Spec) at(fs float64, n int) Spec {
	if s.Cutoff == 0 {
		s.Cutoff = math.Min(10, fs/5)
	}
	if s.Decimate == 0 {
		s.Decimate = max(1, int(fs/(4*s.Cutoff)+1e-9))
	}
	if s.Trim == FromRecord {
		s.Trim = 2 / s.Cutoff
	}
	s.MinVelocity = slices.Clone(s.MinVelocity)
	for len(s.MinVelocity) < n {
		s.MinVelocity = append(s.MinVelocity, FromRecord)
	}
	s.Passive = slices.Clone(s.Passive)
	for len(s.Passive) < n {
		s.Passive = append(s.Passive, false)
	}
	return s
}

// check tells what is wrong with s.
func (s Spec) check(fs float64) error {
	switch {
	case len(s.Terms) == 0:
		return errors.New("terms: empty, want at least one")
	case s.ByDirection && slices.Contains(s.Terms, Offset) && slices.Contains(s.Terms, Coulomb):
		return errors.New("by_direction: Coulomb friction of each direction and an offset are the same in motion; leave offset out of the terms")
	case s.Order < 1:
		return fmt.Errorf("filter.order: %d, want 1 or more", s.Order)
	case !(s.Cutoff > 0 && s.Cutoff < fs/2):
		return fmt.Errorf("filter.cutoff: %g Hz, want less than half the sampling rate of %.6g Hz", s.Cutoff, fs)
	case s.Decimate < 1 || fs/float64(s.Decimate) < 2*s.Cutoff:
		return fmt.Errorf("decimate: every %dth of %.6g Hz are rows at %.4g Hz, want twice the cutoff of %g Hz or more", s.Decimate, fs,
			fs/float64(s.Decimate), s.Cutoff)
	case !(s.Trim >= 0):
		return fmt.Errorf("trim: %g s, want 0 or more", s.Trim)
	}
	return nil
}

// Recording is one piece of a record: a Record for each velocity of the machine in its order, on one grid of time, with position and
// force.
type Recording []*record.Record

// withoutSpikes are the recordings with a curve in place of samples that no motion makes; checks of the records name these.
func withoutSpikes(recs []Recording) (out []Recording) {
	for _, r := range recs {
		out = append(out, record.WithoutSpikes(r))
	}
	return out
}

// check tells whether the records go together and what the machine wants.
func (r Recording) check(m *multibody.Model) error {
	if len(r) != m.NV() {
		return &record.Error{Msg: fmt.Sprintf("records of %d joints, the machine has %d", len(r), m.NV())}
	}
	a := r[0]
	for i, b := range r {
		switch {
		case len(b.Position) == 0 || len(b.Position) != len(b.Force):
			return b.Fail(0, "Name both columns.", "joint %s: %d positions and %d torques, want both, sample by sample", JointName(m, i),
				len(b.Position), len(b.Force))
		case a.Len() != b.Len() || math.Abs(a.Dt-b.Dt) > 1e-9*a.Dt || a.Start != b.Start:
			return b.Fail(0, "Read all joints from the same rows of the same file.",
				"joint %s has %d samples every %g s from %g s, joint %s has %d every %g s from %g s",
				JointName(m, 0), a.Len(), a.Dt, a.Start, JointName(m, i), b.Len(), b.Dt, b.Start)
		}
	}
	return nil
}

// JointName is the name of the joint with velocity i, and Joint its body.
func JointName(m *multibody.Model, i int) string {
	name, _, _, _ := m.JointOf(bodyOf(m, i))
	return name
}

func bodyOf(m *multibody.Model, i int) int {
	for j := 1; j <= m.Bodies(); j++ {
		if _, kind, _, iv := m.JointOf(j); i >= iv && i < iv+kind.NV() {
			return j
		}
	}
	panic("machine: no such velocity")
}

// ErrMachine is a machine that the regression does not describe.
var ErrMachine = errors.New("machine")

// Check refuses machines with other joints, and loops.
func Check(m *multibody.Model) error {
	if m.NV() == 0 {
		return fmt.Errorf("%w: no joint moves", ErrMachine)
	}
	for j := 1; j <= m.Bodies(); j++ {
		if name, kind, _, _ := m.JointOf(j); kind != multibody.Revolute && kind != multibody.Prismatic {
			return fmt.Errorf("%w: joint %s is %v, want revolute or prismatic joints: the regression takes one position and one torque for each",
				ErrMachine, name, kind)
		}
	}
	if err := m.Rigid(); err != nil {
		return fmt.Errorf("%w: %w", ErrMachine, err)
	}
	if m.NC() > 0 {
		return fmt.Errorf("%w: %s closes a loop or ties joints together: the torques of a tree are linear in its parameters, those of a loop "+
			"hold forces that were not recorded", ErrMachine, m.Constraints()[0].Name)
	}
	return nil
}
