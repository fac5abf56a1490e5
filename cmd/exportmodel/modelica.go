package exportmodel

import (
	"fmt"
	"strings"
)

// mechanics are the names of the Modelica Standard Library for a rotary or a linear axis.
type mechanics struct {
	lib, position, speed, flange                  string // the library, and types of its signals
	body, inertia, s, v, f                        string // the component with inertia, and names of its variables
	drive, input, constant, value, rigid, sliding string
}

var (
	rotational = mechanics{"Modelica.Mechanics.Rotational", "Angle", "AngularVelocity", "Torque", "Inertia", "J", "phi", "w", "tau",
		"Torque", "tau", "ConstantTorque", "tau_constant", "BearingFriction", "tau_pos"}
	translational = mechanics{"Modelica.Mechanics.Translational", "Position", "Velocity", "Force", "Mass", "m", "s", "v", "f",
		"Force", "f", "ConstantForce", "f_constant", "SupportFriction", "f_pos"}
)

// modelica writes a package: the friction, the axis with it, and an example to run. A bristle is written as its equations; a rigid
// contact is the friction component of the Standard Library with a table of the steady curve, which holds a body at rest.
func (f *file) modelica() error {
	m, name := translational, strings.ToUpper(f.name[:1])+f.name[1:]+"_package"
	if f.Rotary {
		m = rotational
	}
	for _, l := range f.notes() {
		f.printf("// %s\n", l)
	}
	f.printf("package %s %q\n", name, f.Model.Name+": axis with identified friction")
	friction := "Friction friction;"
	if f.bristle != nil {
		f.bristleModel(m)
	} else {
		friction = f.rigidContact(m)
	}

	f.printf("  model Axis \"Body under the %s of a drive, with friction\"\n", f.forceName)
	f.printf("    Modelica.Blocks.Interfaces.RealInput u(unit=%q) \"The %s of the drive\";\n", ascii(f.force), f.forceName)
	f.printf("    %s.Sources.%s drive;\n", m.lib, m.drive)
	f.printf("    %s.Components.%s body(%s=%s, %s(start=0, fixed=true), %s(start=0, fixed=true));\n", m.lib, m.body, m.inertia, exact(f.Inertia), m.s, m.v)
	f.printf("    %s\n", friction)
	if f.bristle == nil && f.offset != 0 {
		f.printf("    %s.Sources.%s offset(%s=%s);\n", m.lib, m.constant, m.value, exact(-f.offset))
	}
	f.printf("  equation\n    connect(u, drive.%s);\n    connect(drive.flange, body.flange_a);\n    connect(body.flange_b, friction.flange_a);\n", m.input)
	if f.bristle == nil && f.offset != 0 {
		f.printf("    connect(offset.flange, body.flange_a);\n")
	}
	f.printf("  end Axis;\n\n")

	top := 2*max(f.fore.fs, f.fore.fc, f.back.fs, f.back.fc) + f.fore.fv
	f.printf("  model Example \"The axis under a sine\"\n    Axis axis;\n    Modelica.Blocks.Sources.Sine sine(amplitude=%s, f=1);\n  equation\n    connect(sine.y, axis.u);\n", exact(top))
	f.printf("    annotation (experiment(StopTime=5, Tolerance=1e-8));\n  end Example;\n  annotation (uses(Modelica(version=\"4.0.0\")));\nend %s;\n", name)
	return nil
}

// bristleModel writes the equations of a bristle.
func (f *file) bristleModel(m mechanics) {
	b := f.bristle
	f.printf("  model Friction \"Bristles between a flange and the ground\"\n    %s.Interfaces.Flange_a flange_a;\n", m.lib)
	parameter := func(name string, x float64, unit, doc string) {
		f.printf("    parameter Real %s(unit=%q) = %s %q;\n", name, ascii(unit), exact(x), doc)
	}
	pick := func(name string) string { return name }
	if f.sided() {
		pick = func(name string) string { return fmt.Sprintf("(if v >= 0 then %s else %s_back)", name, name) }
		parameter("Fc_back", f.back.fc, f.force, "Coulomb friction, backward")
		parameter("Fs_back", f.back.fs, f.force, "Break-away friction, backward")
		parameter("Fv_back", f.back.fv, f.damping, "Viscous friction, backward")
	}
	parameter("Fc", f.fore.fc, f.force, "Coulomb friction")
	parameter("Fs", f.fore.fs, f.force, "Break-away friction")
	parameter("Fv", f.fore.fv, f.damping, "Viscous friction")
	parameter("offset", f.offset, f.force, "Constant "+f.forceName+" against the positive direction")
	parameter("sigma0", b.sigma0, f.stiffness, "Stiffness of the bristles")
	parameter("sigma1", b.sigma1, f.damping, "Damping of the bristles at rest")
	share, damping, relaxed := "0", "sigma1", "sigma0*abs(v)/g*z"
	if f.fall != none {
		parameter("vs", f.vs, f.speed, "Stribeck velocity")
		share = "exp(-(v/vs)^2)" // of all laws with a bristle
	}
	if b.vd != 0 {
		parameter("vd", b.vd, f.speed, "Velocity at which sigma1 has faded to 1/e")
		damping = "sigma1*exp(-(v/vd)^2)"
	}
	rate := "v - " + relaxed
	if b.path != 0 {
		parameter("path", b.path, f.length, "Path over which the bristles relax")
		rate = "(v*g/sigma0 - abs(v)*z)/path"
	}
	for _, x := range [][3]string{{"v", f.speed, "Speed"}, {"g", f.force, "Friction without its viscous part"}, {"F", f.force, "Friction"}} {
		f.printf("    Real %s(unit=%q) %q;\n", x[0], ascii(x[1]), x[2])
	}
	f.printf("    Real z(unit=%q, start=0, fixed=true, nominal=%s) \"Deflection of the bristles\";\n", ascii(f.length), exact(f.fore.fs/b.sigma0))
	f.printf("  equation\n    v = der(flange_a.%s);\n    flange_a.%s = F;\n", m.s, m.f)
	f.printf("    g = %s + (%s - %s)*%s;\n", pick("Fc"), pick("Fs"), pick("Fc"), share)
	f.printf("    der(z) = %s;\n    F = sigma0*z + %s*der(z) + %s*v + offset;\n  end Friction;\n\n", rate, damping, pick("Fv"))
}

// rigidContact is the declaration of the component of the Standard Library.
func (f *file) rigidContact(m mechanics) string {
	rows, peak := []string{}, 1.0
	if straight := f.fall == none && f.power == 1 && f.curve == nil && f.root == 0; straight {
		rows = append(rows, fmt.Sprintf("0, %s; 1, %s", exact(f.fore.fc), exact(f.fore.fc+f.fore.fv)))
		if f.peaked() && f.fore.fc > 0 {
			peak = f.fore.fs / f.fore.fc
		}
	} else {
		speeds, forward, _, _ := f.table(f.top())
		for i, v := range speeds {
			rows = append(rows, fmt.Sprintf("%.9g, %.9g", v, forward[i]))
		}
	}
	return fmt.Sprintf("%s.Components.%s friction(\n      %s=[%s],\n      peak=%s);", m.lib, m.rigid, m.sliding, strings.Join(rows, ";\n        "), exact(peak))
}

// ascii is a unit as Modelica spells it.
func ascii(unit string) string { return strings.ReplaceAll(unit, "·", ".") }
