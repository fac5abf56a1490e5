package fit

import (
	"slices"
	"strings"
)

// experiment is which measurement tells parameters apart, for a group that holds all of the names. A name without sign
// stands for both directions, every piece of the data and other parametrisations: Fc for Fc+ and Fc-, x0 for x0[2], Fs
// for the increment dFs.
type experiment struct {
	names  string
	advice string
}

// experiments are searched from the top; groups of many names come before those of few.
var experiments = []experiment{
	{"Fc+ Fc- offset", "In motion, a constant force and a difference of Coulomb friction between the directions look the same: keep Fc+ and " +
		"Fc- without offset, or one Fc with offset."},
	{"sigma0 sigma1 M", "The bristle and the mass are seen only through their natural frequency √(σ0/M): take M from motion with strong " +
		"acceleration, and σ0 from a slow presliding loop."},
	{"Fc Fs Fv", "One speed cannot split the level of friction from its slope: use at least two pull speeds, better a map of constant " +
		"velocities from vs/10 to the largest."},
	{"Fc Fs sigma2", "One speed cannot split the level of friction from its slope: use a map of constant velocities from vs/10 to the " +
		"largest, both directions."},
	{"Fc Fs vs", "The dip of the Stribeck curve is hardly visited: record constant velocities from vs/10 to 10·vs, spaced evenly in the " +
		"logarithm."},
	{"sigma0 sigma1", "Below √(σ0/M) a bristle is felt through its stiffness alone: excite presliding near that frequency by a " +
		"small chirp " +
		"or a tap, or fix σ1."},
	{"sigma1 sigma2", "Both are damping: take σ2 from constant velocities far above vs, and σ1 from small oscillations in presliding near " +
		"√(σ0/M)."},
	{"sigma0 Fs", "A small loop is a straight line whose end is not reached: drive presliding slowly up to 0.9 of break-away and beyond, " +
		"from a relaxed contact."},
	{"sigma0 Fc", "A small loop is a straight line whose end is not reached: drive presliding slowly from rest into sliding, with a " +
		"resolution far below Fc/σ0."},
	{"sigma0 M", "Only √(σ0/M) is seen: take M from motion with strong acceleration, and σ0 from a slow presliding loop."},
	{"sigma0 k", "Within presliding the bristle is a spring like any other: add slow motion far beyond Fs/σ0."},
	{"Fs vs", "The peak of the Stribeck curve and its width trade off where slow motion is missing: record constant velocities down to " +
		"vs/10, or take Fs from slow break-away."},
	{"Fc vs", "The level and the width of the dip trade off: add constant velocities well above the Stribeck velocity."},
	{"Fc Fs", "Sliding and break-away friction are not both visited: add steady sliding above the Stribeck velocity and break-away " +
		"from rest."},
	{"Fc Fv", "Level and slope need a spread of speeds: add constant velocities a decade apart, both directions."},
	{"Fc sigma2", "Level and slope need a spread of speeds: add constant velocities a decade apart, both directions."},
	{"Fs Fv", "Break-away and slope trade off where little is recorded in between: add steady sliding at several speeds."},
	{"vs sigma2", "The dip reaches into the viscous range: extend the map to faster motion, and take σ2 from its fastest third."},
	{"vs Fv", "The dip reaches into the viscous range: extend the map to faster motion, and take Fv from its fastest third."},
	{"Fs gamma", "Break-away grows with the time at rest: record stops of very different length, from γ/10 to 10·γ."},
	{"tauL vs", "Lag and width of the dip both smear it: record slow constant velocities for vs, and fast changes of speed for τL."},
	{"tauL kt", "Both shift the force by little in time: take kt from slow loading at rest, and τL from changes of speed while sliding."},
	{"tauL gamma", "Both are times of the contact: vary the time at rest for γ, and the speed while sliding for τL."},
	{"kt M", "Only √(kt/M) is seen: take kt from slow loading at rest, and M from motion with strong acceleration."},
	{"M k", "Under a single sine the acceleration is proportional to the position: record several frequencies."},
	{"J k", "Under a single sine the acceleration is proportional to the position: record several frequencies."},
	{"M mgs", "A small swing of one frequency shows only the ratio of gravity to inertia: record several frequencies and wide angles."},
	{"J mgs", "A small swing of one frequency shows only the ratio of gravity to inertia: record several frequencies and wide angles."},
	{"offset mgc", "Over a small angle gravity is constant: record a wider motion, or fix one of them."},
	{"offset Fc", "In motion in one direction friction and a constant force look the same: record both directions, or fix offset."},
	{"offset k", "The position hardly leaves one place: record a wider motion, or fix one of them."},
	{"lag M", "A lag of the input times the rate of the force acts like inertia: add motion at several frequencies, or measure the lag on " +
		"its own."},
	{"lag J", "A lag of the input times the rate of the force acts like inertia: add motion at several frequencies, or measure the lag on " +
		"its own."},
	{"lag Fv", "A lag turns part of the inertial force into a viscous one: add steady sliding, where the lag does not matter."},
	{"lag sigma2", "A lag turns part of the inertial force into a viscous one: add steady sliding, where the lag does not matter."},
	{"lag sigma1", "Lag and bristle damping both shift the phase in presliding: measure the lag on fast sliding motion."},
	{"A B", "Steady friction shows only A − B: record jumps of speed, up and down, over at least five ratios, and sample the peak."},
	{"B L", "The decay after a jump is not recorded to its end: slide at least 5·L after every jump."},
	{"A L", "The peak after a jump is blurred by the machine: use a stiffer drive, and extrapolate the decay back to the jump."},
	{"mu N0", "Only their product is seen: fix the load, or vary it."},
	{"M v0", "The beginning of a piece may stand for a wrong inertia: begin at rest, or record longer."},
	{"J v0", "The beginning of a piece may stand for a wrong inertia: begin at rest, or record longer."},
	{"x0 v0", "The beginning of a piece is too short to show both: begin at rest, or record longer."},
	{"sigma1", "Bristle damping shows only in presliding near √(σ0/M): excite there by a small chirp or a tap, or fix σ1."},
	{"sigma0", "Bristle stiffness shows only before break-away: load slowly to 0.3 … 0.9 of it, with a resolution far below Fs/σ0, or " +
		"fix σ0."},
	{"kt", "Stiffness at rest shows only before break-away: load slowly from rest and resolve the displacement."},
	{"vs", "The Stribeck velocity shows only in slow sliding: record constant velocities from vs/10 to 10·vs."},
	{"vd", "Fading of the bristle damping shows only where presliding turns into sliding fast: fix vd."},
	{"Fs", "Break-away friction shows only on leaving rest: record slow loading up to break-away."},
	{"Fc-", "The axis hardly moves backward: record motion in both directions."},
	{"Fc+", "The axis hardly moves forward: record motion in both directions."},
	{"tauL", "Frictional lag shows only where the speed changes fast while sliding: add such motion, or fix τL."},
	{"gamma", "Rising static friction shows only after rests of different length: record stops from γ/10 to 10·γ, or fix γ."},
	{"sigma2", "Viscous friction shows only in fast motion: add steady sliding at the largest speeds."},
	{"Fv", "Viscous friction shows only in fast motion: add steady sliding at the largest speeds."},
	{"M", "Inertia shows only in acceleration: add fast reversals."},
	{"J", "Inertia shows only in acceleration: add fast reversals."},
	{"lag", "A lag shows only where the force changes fast: add steps or a chirp, or fix lag."},
}

// advice says which experiment would tell the named parameters apart.
func advice(group []string) string {
	has := func(want string) bool {
		return slices.ContainsFunc(group, func(name string) bool { return name == want || bare(name) == want })
	}
	for _, x := range experiments {
		want := strings.Fields(x.names)
		if len(want) > 1 == (len(group) > 1) && !slices.ContainsFunc(want, func(w string) bool { return !has(w) }) {
			return x.advice
		}
	}
	if len(group) == 1 {
		return "Record a motion in which this parameter matters, or fix it at a value known from elsewhere."
	}
	return "Record a motion that treats them differently (several speeds, accelerations and amplitudes), or fix one of them at a value " +
		"known from elsewhere."
}

// alias are names under which the same thing goes in other parametrisations.
var alias = map[string]string{"dFs": "Fs", "dFs_inf": "Fs", "Fs_inf": "Fs", "zeta": "sigma1"}

// ofAxis are the names that parameters of a body have on an axis. Which part of the weight is zero by choice of the line from which an
// angle counts, that of mgc, no name tells: Param.Zero does.
var ofAxis = map[string]string{"izz": "J", "izz_R": "J", "armature": "J", "mass": "M", "mass_R": "M", "mcx": "mgs", "mcx_R": "mgs",
	"mcy": "mgs", "mcy_R": "mgs", "stiffness": "k"}

// AxisName is the name of a parameter of the only joint of a machine as that of an axis: J of elbow.izz_R, Fc+ of elbow.Fc+.
func AxisName(name string) string {
	_, own, ofJoint := strings.Cut(name, ".")
	if !ofJoint {
		return name
	}
	if a, ok := ofAxis[own]; ok {
		return a
	}
	return own
}

// bare is a name without direction, piece and parametrisation: Fc of Fc+, x0 of x0[2], Fs of dFs.
func bare(name string) string {
	name, _, _ = strings.Cut(AxisName(name), "[")
	name = strings.TrimRight(name, "+-")
	if a, ok := alias[name]; ok {
		return a
	}
	return name
}
