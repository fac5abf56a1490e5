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
	text   string // its template; "": it is JSON

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
	{target: C, title: "C99 header for firmware", text: "c.tmpl",
		atRest: true, falls: []fall{lorentz, exponential}, bristle: true, fade: true, path: true, power: true, curves: true, offset: true, sided: true, sets: true},
	{target: URDF, title: "URDF robot", text: "urdf", inertia: true},
	{target: MJCF, title: "MuJoCo model", text: "mjcf", gauss: true, bristle: true, offset: true, inertia: true},
	{target: BAM, title: "set of BAM parameters", falls: []fall{exponential}},
	{target: Modelica, title: "Modelica package", text: "modelica.tmpl",
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

	if c.Root != 0 && !a.curves {
		return c, nil, fmt.Errorf("the law %s does not go to %s: its curve falls with the root of the speed, which a %s has not", name, a.target, a.title)
	}
	if c.Power != 1 && !a.power {
		if c.Fore.Fv != 0 || c.Back.Fv != 0 {
			if c.Fore.Fc == 0 && c.Back.Fc == 0 {
				return c, nil, fmt.Errorf("the law %s does not go to %s: viscous friction with the exponent %g is all that it has, and a %s has linear friction only", name, a.target, c.Power, a.title)
			}
			say("the viscous friction, %s times the speed to the power of %g", u.num(c.Fore.Fv, u.Damping), c.Power)
		}
		c.Fore.Fv, c.Back.Fv = 0, 0
	}
	if c.Bristle != nil {
		b := *c.Bristle
		c.Bristle = &b
		switch {
		case !a.bristle:
			say("the bristle before break-away: %s stiff, damped with %s", u.num(b.Sigma0, u.Stiffness), u.num(b.Sigma1, u.Damping))
			c.Bristle = nil
		case b.Vd != 0 && b.Sigma1 != 0 && !a.fade:
			say("that the damping of the bristle falls with speed (vd = %s); it keeps its value at rest", u.num(b.Vd, u.Speed))
			b.Vd = 0
		}
		if b.Path != 0 && !a.path && c.Bristle != nil {
			say("that the contact relaxes over the same path %s at every speed; a LuGre bristle with its stiffness at rest is written", u.num(b.Path, u.Length))
			c.Bristle.Path = 0
		}
	}
	if c.peaked() {
		switch {
		case c.Fall == none && a.atRest, slices.Contains(a.falls, c.Fall), a.gauss && c.Bristle != nil:
		case c.Fall == none:
			say("the break-away friction, %s; the Coulomb friction stands for it", u.num(c.Fore.Fs, u.Force))
			c.flatten()
		default:
			say("the fall from the break-away friction %s to the Coulomb friction within the Stribeck velocity %s", u.num(c.Fore.Fs, u.Force), u.num(c.Vs, u.Speed))
			c.flatten()
		}
	}
	if c.Sided() && (!a.sided || !a.sets && c.Bristle == nil) {
		say("that friction depends on the direction: the mean is written, forward %s, backward %s", u.side(c.Fore), u.side(c.Back))
		mean := side{(c.Fore.Fc + c.Back.Fc) / 2, (c.Fore.Fs + c.Back.Fs) / 2, (c.Fore.Fv + c.Back.Fv) / 2}
		c.Fore, c.Back = mean, mean
	}
	if c.Offset != 0 && !a.offset {
		say("the constant %s of %s against the positive direction", u.ForceName, u.num(c.Offset, u.Force))
		c.Offset = 0
	}
	return c, lost, nil
}

// flatten takes the peak away.
func (c *contact) flatten() {
	c.Fall, c.Vs, c.Fore.Fs, c.Back.Fs = none, 0, c.Fore.Fc, c.Back.Fc
}

// units are those of a rotary or a linear axis.
type units struct {
	Length, Speed, Force, Damping, Stiffness, Inertia string
	ForceName, inertiaName                            string
}

func unitsOf(rotary bool) units {
	if rotary {
		return units{"rad", "rad/s", "N·m", "N·m·s/rad", "N·m/rad", "kg·m²", "torque", "inertia"}
	}
	return units{"m", "m/s", "N", "N·s/m", "N/m", "kg", "force", "mass"}
}

func (u units) num(x float64, unit string) string { return fmt.Sprintf("%.6g %s", x, unit) }

func (u units) side(s side) string {
	return fmt.Sprintf("Fc %.6g, Fs %.6g %s, Fv %.6g %s", s.Fc, s.Fs, u.Force, s.Fv, u.Damping)
}
