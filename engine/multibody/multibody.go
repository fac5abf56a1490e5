// Package multibody is the dynamics of machines of rigid bodies: trees of bodies and joints, and loops closed by constraints.
//
// A body j = 1…n hangs by one joint on its parent p[j] < j, 0 being the ground. With spatial vectors [angular; linear] the velocity,
// acceleration and force of the bodies follow by recursion [F08] ch. 5–7:
//
//	V_j = V_p + S_j·v_j,   A_j = A_p + S_j·dv_j/dt + V_j × S_j·v_j,   f_j = I_j·A_j + V_j ×* I_j·V_j − f_ext + Σ f_children,
//	τ_j = S_jᵀ·f_j + armature·dv_j/dt + damping·v_j + coulomb·sign v_j + stiffness·(q_j − rest),   A_0 = −gravity,
//
// which is H(q)·dv/dt + h(q,v) = τ. Inside, the spatial vectors of a body refer to its origin and stand in axes parallel to the
// world's: the shift from child to parent needs no turn of a 6×6 inertia then. What goes in and out says its axes.
//
// The recursion ABA is the elimination of layers of [THP02], with its misprints put right and H·dv/dt as the second, independent way:
// the condensed inertia of a flexible body is M0 − M1·M2⁻¹·M1ᵀ, taken after the children were added to M0, M1 and M2. Its cut
// joints and constraint functions are solved by their multipliers here and kept by projection, which it leaves open.
//
// A Model is built from a Spec, checked once, and constant: goroutines share it. Data is the scratch of one goroutine. Algorithms are
// functions of both, one file each, and allocate nothing:
//
//	RNEA            τ of a motion
//	ABA             dv/dt of the tree by recursive elimination
//	CRBA, Factor    H and its factors
//	Regressor       τ as a linear function of the parameters of bodies and joints
//	Accelerate      dv/dt by the shortest way: a tree by ABA, with constraints by H and the multipliers
//	Dynamics        dv/dt and multipliers with the constraints; Partition is the same in independent coordinates
//	Project         q, v back onto the constraints
//	Loads           what the joints carry
//	Positions, Velocities, Jacobian, Momentum, Energy, Integrate, Difference, Rates
//
// For setting up, Assemble finds consistent initial conditions and redundant constraints, Equilibrium a static state. Offline integrates
// to a tolerance and projects, Stabilised does it in the form of index 2, and NewIntegrator makes either by its name. The fixed step of a
// machine is that of package machine; it stands on Accelerate, Answer and Reaccelerate.
//
// Coordinates, in the order of the bodies:
//
//	joint      q                                             v
//	revolute   angle, rad                                    rad/s
//	prismatic  displacement, m                               m/s
//	spherical  unit quaternion w x y z, child → parent       angular velocity relative to the parent, child axes, rad/s
//	free       quaternion, then the position of the child's  angular, then linear velocity relative to the parent, child axes
//	           origin in the joint's axes at the parent, m
//	fixed      none: the body is added to its parent, its frame stays known by name
//
// The modes of a flexible body follow the coordinates of its joint.
//
// A torque τ_j has the unit that makes τ·v a power. SI units.
package multibody

// Status is what an evaluation says about itself. Nothing is ever NaN with OK or Singular.
type Status uint8

const (
	OK           Status = iota
	Singular            // the constraints have lost rank here: the solution of least norm was taken
	NotConverged        // the constraints could not be met; the result is the best so far
	NotPositive         // the inertia matrix is not positive definite
	NonFinite           // an input or a result is no finite number
)

func (s Status) String() string {
	switch s {
	case OK:
		return "ok"
	case Singular:
		return "singular position"
	case NotConverged:
		return "constraints not met"
	case NotPositive:
		return "inertia matrix not positive definite"
	case NonFinite:
		return "non-finite"
	}
	return "unknown status"
}

// Kind is what a joint lets its body do.
type Kind uint8

const (
	Fixed Kind = iota
	Revolute
	Prismatic
	Spherical
	Free
)

var kindNames = [...]string{"fixed", "revolute", "prismatic", "spherical", "free"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown kind of joint"
}

// NQ is how many numbers describe the position of the joint, NV how many its velocity.
func (k Kind) NQ() int { return [...]int{0, 1, 1, 4, 7}[k] }
func (k Kind) NV() int { return [...]int{0, 1, 1, 3, 6}[k] }
