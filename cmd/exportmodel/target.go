package exportmodel

import (
	"fmt"
	"slices"

	"hilrig/engine/friction"
)

// Target is a tool that takes a model.
type Target string

const (
	C        Target = "c"
	URDF     Target = "urdf"
	MJCF     Target = "mjcf"
	BAM      Target = "bam"
	Modelica Target = "modelica"
)

// ability is what a target can express of a contact.
type ability struct {
	target Target
	title  string // for people
	write  func(f *file) error

	atRest  bool   // break-away friction at rest that sliding has nothing of
	falls   []fall // shapes of the fall
	gauss   bool   // the fall with exponent 2 only, and only with a bristle
	bristle bool
	fade    bool // bristle damping that falls with speed
	path    bool // a bristle that relaxes over a path
	power   bool // viscous friction that is not linear
	curves  bool // any curve: the root of the speed, and laws that are no closed form here
	offset  bool
	sided   bool
	sets    bool // … also with a rigid contact
	inertia bool // has a body
}

// abilities are the targets.
var abilities = []ability{
	{target: C, title: "C99 header for firmware", write: (*file).c,
		atRest: true, falls: []fall{lorentz, exponential}, bristle: true, fade: true, path: true, power: true, curves: true, offset: true, sided: true, sets: true},
	{target: URDF, title: "URDF robot", write: (*file).urdf, inertia: true},
	{target: MJCF, title: "MuJoCo model", write: (*file).mjcf, gauss: true, bristle: true, offset: true, inertia: true},
	{target: BAM, title: "set of BAM parameters", write: (*file).bam, falls: []fall{exponential}},
	{target: Modelica, title: "Modelica package", write: (*file).modelica,
		atRest: true, falls: []fall{lorentz, exponential}, bristle: true, fade: true, path: true, power: true, curves: true, offset: true, sided: true, inertia: true},
}

// Targets are the names of all targets.
func Targets() (names []string) {
	for _, a := range abilities {
		names = append(names, string(a.target))
	}
	return names
}

// find is the target of a name.
func find(name string) (ability, bool) {
	i := slices.IndexFunc(abilities, func(a ability) bool { return string(a.target) == name })
	if i < 0 {
		return ability{}, false
	}
	return abilities[i], true
}

// express cuts a contact down to what the target can say, and says what it cannot. An error: nothing of the friction is left.
func (a *ability) express(c contact, law friction.Model, u units) (contact, []string, error) {
	name := friction.NameOf(law)
	if why := forms[name].only; why != "" && !a.curves {
		return c, nil, fmt.Errorf("the law %s does not go to %s: it is %s, which a %s has not", name, a.target, why, a.title)
	}
	lost := slices.Clone(c.beyond)
	say := func(format string, args ...any) { lost = append(lost, fmt.Sprintf(format, args...)) }

	if c.root != 0 && !a.curves {
		return c, nil, fmt.Errorf("the law %s does not go to %s: its curve falls with the root of the speed, which a %s has not", name, a.target, a.title)
	}
	if c.power != 1 && !a.power {
		if c.fore.fv != 0 || c.back.fv != 0 {
			if c.fore.fc == 0 && c.back.fc == 0 {
				return c, nil, fmt.Errorf("the law %s does not go to %s: viscous friction with the exponent %g is all that it has, and a %s has linear friction only", name, a.target, c.power, a.title)
			}
			say("the viscous friction, %s times the speed to the power of %g", u.num(c.fore.fv, u.damping), c.power)
		}
		c.fore.fv, c.back.fv = 0, 0
	}
	if c.bristle != nil {
		b := *c.bristle
		c.bristle = &b
		switch {
		case !a.bristle:
			say("the bristle before break-away: %s stiff, damped with %s", u.num(b.sigma0, u.stiffness), u.num(b.sigma1, u.damping))
			c.bristle = nil
		case b.vd != 0 && b.sigma1 != 0 && !a.fade:
			say("that the damping of the bristle falls with speed (vd = %s); it keeps its value at rest", u.num(b.vd, u.speed))
			b.vd = 0
		}
		if b.path != 0 && !a.path && c.bristle != nil {
			say("that the contact relaxes over the same path %s at every speed; a LuGre bristle with its stiffness at rest is written", u.num(b.path, u.length))
			c.bristle.path = 0
		}
	}
	if c.peaked() {
		switch {
		case c.fall == none && a.atRest, slices.Contains(a.falls, c.fall), a.gauss && c.bristle != nil:
		case c.fall == none:
			say("the break-away friction, %s; the Coulomb friction stands for it", u.num(c.fore.fs, u.force))
			c.flatten()
		default:
			say("the fall from the break-away friction %s to the Coulomb friction within the Stribeck velocity %s", u.num(c.fore.fs, u.force), u.num(c.vs, u.speed))
			c.flatten()
		}
	}
	if c.sided() && (!a.sided || !a.sets && c.bristle == nil) {
		say("that friction depends on the direction: the mean is written, forward %s, backward %s", u.side(c.fore), u.side(c.back))
		mean := side{(c.fore.fc + c.back.fc) / 2, (c.fore.fs + c.back.fs) / 2, (c.fore.fv + c.back.fv) / 2}
		c.fore, c.back = mean, mean
	}
	if c.offset != 0 && !a.offset {
		say("the constant %s of %s against the positive direction", u.forceName, u.num(c.offset, u.force))
		c.offset = 0
	}
	return c, lost, nil
}

// flatten takes the peak away.
func (c *contact) flatten() {
	c.fall, c.fore.fs, c.back.fs = none, c.fore.fc, c.back.fc
}

// units are those of a rotary or a linear axis.
type units struct {
	length, speed, force, damping, stiffness, inertia string
	forceName, inertiaName                            string
}

func unitsOf(rotary bool) units {
	if rotary {
		return units{"rad", "rad/s", "N·m", "N·m·s/rad", "N·m/rad", "kg·m²", "torque", "inertia"}
	}
	return units{"m", "m/s", "N", "N·s/m", "N/m", "kg", "force", "mass"}
}

func (u units) num(x float64, unit string) string { return fmt.Sprintf("%.6g %s", x, unit) }

func (u units) side(s side) string {
	return fmt.Sprintf("Fc %.6g, Fs %.6g %s, Fv %.6g %s", s.fc, s.fs, u.force, s.fv, u.damping)
}
