package exportmodel

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// urdf writes a robot of one joint.
func (f *file) urdf() error {
	f.xmlHead()
	f.printf("<robot name=\"%s\">\n  <link name=\"base\"/>\n  <link name=\"body\">\n    <inertial>\n      <origin xyz=\"0 0 0\" rpy=\"0 0 0\"/>\n", f.name)
	mass, around, kind := f.Inertia, 1e-3*f.Inertia, "prismatic"
	if f.Rotary {
		mass, around, kind = 1, f.Inertia, "continuous"
		f.printf("      <!-- the inertia about the axis is identified; the mass and the inertia across the axis are not -->\n")
	} else {
		f.printf("      <!-- the mass is identified; its inertia when turned is not -->\n")
	}
	f.printf("      <mass value=\"%s\"/>\n      <inertia ixx=\"%[2]s\" ixy=\"0\" ixz=\"0\" iyy=\"%[2]s\" iyz=\"0\" izz=\"%[2]s\"/>\n    </inertial>\n  </link>\n", exact(mass), exact(around))
	f.printf("  <joint name=\"axis\" type=\"%s\">\n    <parent link=\"base\"/>\n    <child link=\"body\"/>\n    <axis xyz=\"0 0 1\"/>\n", kind)
	if !f.Rotary {
		f.printf("    <!-- the limits are no part of the result: set those of the axis -->\n    <limit lower=\"-1000\" upper=\"1000\" effort=\"1e9\" velocity=\"1e9\"/>\n")
	}
	f.printf("    <!-- %s and %s -->\n    <dynamics damping=\"%s\" friction=\"%s\"/>\n  </joint>\n</robot>\n", f.damping, f.force, exact(f.fore.fv), exact(f.fore.fc))
	return nil
}

// xmlHead writes the declaration and the notes, in which XML forbids two dashes in a row.
func (f *file) xmlHead() {
	f.printf("%s<!--\n", xml.Header)
	for _, l := range f.notes() {
		for strings.Contains(l, "--") {
			l = strings.ReplaceAll(l, "--", "- -")
		}
		f.printf("  %s\n", l)
	}
	f.printf("-->\n")
}

// exact is a number without loss.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
