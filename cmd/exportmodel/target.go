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

// ability is what a target can express of a contact. What a contact does not hold goes to none of them.
type ability struct {
	target Target
	title  string // for people
	text   string // its template; "": it is JSON

	allContacts bool // every contact
	symmetric   bool // … but that a rigid one has one set of levels
	lugre       bool // a bristle with constant damping
	exponential bool // an exponential fall
	offset      bool // a constant force
	inertia     bool // has a body
}

// abilities are the targets.
var abilities = []ability{
	{target: C, title: "C99 header for firmware", text: "c.tmpl", allContacts: true},
	{target: URDF, title: "URDF robot", text: "urdf", inertia: true},
	{target: MJCF, title: "MuJoCo model", text: "mjcf", lugre: true, offset: true, inertia: true},
	{target: BAM, title: "set of BAM parameters", exponential: true},
	{target: Modelica, title: "Modelica package", text: "modelica.tmpl", allContacts: true, symmetric: true, inertia: true},
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
	name, lost := friction.NameOf(law), slices.Clone(c.lossTexts)
	say := func(format string, args ...any) { lost = append(lost, fmt.Sprintf(format, args...)) }
	refuse := func(format string, args ...any) (contact, []string, error) {
		return c, nil, fmt.Errorf("the law %s does not go to %s: %s", name, a.target, fmt.Sprintf(format, args...))
	}
	if !a.allContacts {
		dry := c.Fore.Fc != 0 || c.Back.Fc != 0
		if c.Curve != nil {
			say("the steady curve where it is below the formula of the common Stribeck curve")
		}
		switch curved := c.Power != 1 && (c.Fore.Fv != 0 || c.Back.Fv != 0); {
		case forms[name].curveOnly != "":
			return refuse("it is %s, which a %s has not", forms[name].curveOnly, a.title)
		case c.Root != 0:
			return refuse("its curve falls with the root of the speed, which a %s has not", a.title)
		case curved && !dry:
			return refuse("viscous friction with the exponent %g is all that it has, and a %s has linear friction only", c.Power, a.title)
		case curved:
			say("the viscous friction, %s times the speed to the power of %g", u.num(c.Fore.Fv, u.Damping), c.Power)
			c.Fore.Fv, c.Back.Fv = 0, 0
		}
	}
	if c.Bristle != nil && !a.allContacts {
		b := *c.Bristle
		c.Bristle = &b
		if !a.lugre {
			say("the bristle before break-away: %s stiff, damped with %s", u.num(b.Sigma0, u.Stiffness), u.num(b.Sigma1, u.Damping))
			c.Bristle = nil
		}
		if a.lugre && b.Vd != 0 && b.Sigma1 != 0 {
			say("that the damping of the bristle falls with speed (vd = %s); it keeps its value at rest", u.num(b.Vd, u.Speed))
		}
		if a.lugre && b.Path != 0 {
			say("that the contact relaxes over the same path %s at every speed; a LuGre bristle with its stiffness at rest is written",
				u.num(b.Path, u.Length))
		}
	}
	if c.peaked() && !a.allContacts && !(a.exponential && c.Fall == exponential) && c.Bristle == nil {
		if c.Fall == none {
			say("the break-away friction, %s; the Coulomb friction stands for it", u.num(c.Fore.Fs, u.Force))
		} else {
			say("the fall from the break-away friction %s to the Coulomb friction within the Stribeck velocity %s", u.num(c.Fore.Fs, u.Force),
				u.num(c.Vs, u.Speed))
		}
		c.flatten()
	}
	if c.Sided() && (!a.allContacts || a.symmetric && c.Bristle == nil) {
		say("that friction depends on the direction: the mean is written, forward %s, backward %s", u.side(c.Fore), u.side(c.Back))
		mean := side{(c.Fore.Fc + c.Back.Fc) / 2, (c.Fore.Fs + c.Back.Fs) / 2, (c.Fore.Fv + c.Back.Fv) / 2}
		c.Fore, c.Back = mean, mean
	}
	if c.Offset != 0 && !a.allContacts && !a.offset {
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
