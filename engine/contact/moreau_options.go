package contact

import "math"

// MoreauOptions says how to step. The zero value of a field stands for its default.
type MoreauOptions struct {
	Step      float64   // s       length h
	Theta     float64   // 1       weight of the end of the step, ½ (neutral) … 1 (damped); default 0.55, with Positions 0.51
	Beta      float64   // 1       share of a penetration that is taken back per step; default 0.2; negative: none
	VTh       float64   // m/s     slower approaches do not rebound; default 1e-3; negative: all of them do
	Positions bool      //         take penetration back by moving q, not through the velocities (moreau_positions.go)
	EndOfStep bool      //         look for contacts at the end of the step instead of its middle
	Impact    ImpactLaw //         Newton (default) or Poisson
	// 1 closed at once. Of more the shallowest are left out, and the step says Limited. 0: as many as there are; a step with more than ever
	// before makes room
	MaxContacts int
	Reach       float64 // m       EndOfStep alone: pairs with a wider gap are not looked at; default: all are
}

// MoreauCounts counts since the start. Degraded steps are finite and bounded, but their contact problem was not verified.
type MoreauCounts struct {
	Steps           int64
	ClosedContacts  int64 // closed contacts, summed over the steps
	Solves          int64 // steps with a closed contact
	Degraded        int64
	NoSolution      int64 // of these, problems known to have no solution
	Eased           int64 // verified after contacts that exclude each other went without restitution and β, see lcp.SolveEased
	Painleve        int64 // steps in which a contact could not slide on as it did, see lcp.FrictionResult.Jams
	NonFiniteSteps  int64 // steps with something that was not finite: nothing was done
	DroppedContacts int64 // closed contacts left out for want of room
	// steps in which bodies close to each other moved too far for contacts to be found for sure, see Sweeper, or were too deep in each other,
	// see deepest
	Overruns int64
	Updates  int64 // solves whose contact states were not those expected
	Pivots   int64
	Lowered  int64 // impacts by Poisson's law with less restitution than asked for, which would have made energy
	Merged   int64 // steps with blows at different times that would leave other velocities one after the other, see sequence
	Blows    int64 // steps in which a contact approached faster than forces explain
	Crowded  int64 // steps with a blow that came at most crowded steps after another one of the scene, or beside another in the step
	// contacts that were open for one step between two in which they carried force, and came back no faster than forces drove them
	Flickers int64
	// contacts at rest that were open in a step with a blow, and which it drove into their surface: it was settled without them
	Unsupported int64
	ByMethod    [8]int64 // solves by lcp.FrictionResult.Method
	EnergyGains int64    // steps in which the contacts did work on the bodies, beyond rounding
	Gained      float64  // J, their sum
	Dissipated  float64  // J, the sum over the other steps
	Exchanged   float64  // J, the sum of the sizes of all work of contacts
}

// Overrun is a step that was too long.
type Overrun struct {
	A, B  string  // the bodies
	T     float64 // s
	Share float64 // the largest quotient of motion and room, or of depth and what impacts explain

	Missed bool // a contact was missed, or may have been: the quotient is one of motion and room
}

// setDefaults puts the defaults in and says all that is wrong, for a system with f coordinates.
func (o *MoreauOptions) setDefaults(f int) error {
	fillIn(&o.Theta, map[bool]float64{false: 0.55, true: 0.51}[o.Positions])
	fillIn(&o.Beta, 0.2)
	fillIn(&o.VTh, 1e-3)
	fillIn(&o.Reach, math.Inf(1))
	o.Beta = max(o.Beta, 0)
	o.VTh = max(o.VTh, 0)
	if o.Impact == ByEngine {
		o.Impact = Newton
	}

	var p problems
	p.addIf(f < 1, "moreau: %d coordinates, want one or more", f)
	p.addIf(!(o.Step > 0) || math.IsInf(o.Step, 0), "moreau: step: %g s, want > 0", o.Step)
	p.addIf(!(o.Theta >= 0.5 && o.Theta <= 1), "moreau: theta: %g, want 0.5 … 1", o.Theta)
	p.addIf(!(o.Beta <= 1), "moreau: beta: %g, want at most 1", o.Beta)
	p.addIf(math.IsNaN(o.VTh), "moreau: vth: %g m/s, want a number", o.VTh)
	p.addIf(!(o.Reach > 0), "moreau: reach: %g m, want > 0", o.Reach)
	p.addIf(o.Positions && o.EndOfStep, "moreau: positions: contacts of the end of the step have no penetration to take back")
	p.addIf(o.MaxContacts < 0, "moreau: max contacts: %d, want one or more, or 0", o.MaxContacts)
	p.addIf(o.Impact != Newton && o.Impact != Poisson, "moreau: impact: %v, want newton or poisson", o.Impact)
	p.addIf(o.Impact == Poisson && o.EndOfStep, "moreau: impact: poisson needs the contacts of the middle of the step")
	return p.err()
}
