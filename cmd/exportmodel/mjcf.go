package exportmodel

import "math"

// mjcf writes a MuJoCo model of one joint. A bristle is the LuGre friction of a dcmotor element without control input and without
// back-EMF to speak of; Coulomb friction is the frictionloss of the joint. Viscous friction is the damping of the joint.
func (f *file) mjcf() error {
	f.xmlHead()
	kind, mass, around := "slide", f.Inertia, 1e-3*f.Inertia
	if f.Rotary {
		kind, mass, around = "hinge", 1, f.Inertia
	}
	loss := f.fore.fc
	if f.bristle != nil {
		loss = 0
	}
	f.printf("<mujoco model=\"%s\">\n  <compiler angle=\"radian\"/>\n", f.name)
	f.printf("  <!-- without gravity: put the body into your own tree and the elements of the joint with it -->\n")
	f.printf("  <option timestep=\"%s\" gravity=\"0 0 0\" integrator=\"implicitfast\"/>\n  <worldbody>\n    <body name=\"body\">\n", exact(f.timestep()))
	f.printf("      <joint name=\"axis\" type=\"%s\" axis=\"0 0 1\" damping=\"%s\"", kind, exact(f.fore.fv))
	if loss > 0 {
		// the friction is a soft constraint: with the default 0.02 kg·m² under 0.9·Fc creep by 0.47 rad in 10 s, with this by 0.45 mrad
		f.printf(" frictionloss=\"%s\" solimpfriction=\"0.9999 0.9999 0.001 0.5 2\"", exact(loss))
	}
	f.printf("/>\n")
	if f.Rotary {
		f.printf("      <!-- the inertia about the axis is identified; the mass and the inertia across the axis are not -->\n")
	} else {
		f.printf("      <!-- the mass is identified; its inertia when turned is not -->\n")
	}
	f.printf("      <inertial pos=\"0 0 0\" mass=\"%s\" diaginertia=\"%[2]s %[2]s %[2]s\"/>\n    </body>\n  </worldbody>\n  <actuator>\n", exact(mass), exact(around))
	f.printf("    <!-- its control is the %s of the drive in %s -->\n    <motor name=\"drive\" joint=\"axis\"/>\n", f.forceName, f.force)
	if b := f.bristle; b != nil {
		vs := f.vs
		if !f.peaked() {
			vs = 1 // of no effect
		}
		f.printf("    <!-- stiffness (%s), damping (%s), Coulomb and break-away friction (%s), Stribeck velocity (%s). MuJoCo asks for a motor:\n"+
			"         this one has no control and brakes with 1e-12 %s -->\n", f.stiffness, f.damping, f.force, f.speed, f.damping)
		f.printf("    <dcmotor name=\"friction\" joint=\"axis\" input=\"none\" motorconst=\"1e-6\" resistance=\"1\" lugre=\"%s %s %s %s %s\"/>\n",
			exact(b.sigma0), exact(b.sigma1), exact(f.fore.fc), exact(f.fore.fs), exact(vs))
	}
	if f.offset != 0 {
		f.printf("    <!-- constant %s in %s; its control does nothing -->\n", f.forceName, f.force)
		f.printf("    <general name=\"offset\" joint=\"axis\" gainprm=\"0\" biastype=\"affine\" biasprm=\"%s 0 0\"/>\n", exact(-f.offset))
	}
	f.printf("  </actuator>\n</mujoco>\n")
	return nil
}

// timestep is a step (s) that resolves the swing of the mass on the bristle with about sixty steps and its decay with ten, at most 1 ms: 1, 2 or
// 5 times a power of ten.
func (f *file) timestep() float64 {
	h := 1e-3
	if b := f.bristle; b != nil {
		h = min(h, 0.1*math.Sqrt(f.Inertia/b.sigma0), 0.1*f.Inertia/(b.sigma1+f.fore.fv))
	}
	ten := math.Pow(10, math.Floor(math.Log10(h)+1e-9))
	for _, k := range []float64{5, 2} {
		if k*ten <= h {
			return k * ten
		}
	}
	return ten
}
