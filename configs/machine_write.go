package configs

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/configs/schema"
	"hilrig/engine/multibody"
	"hilrig/engine/multibody/robot"
	"hilrig/engine/rotation"
)

// WriteMachine writes a robot that was read from the file of another program as a machine file, with all its digits. Friction losses become
// Coulomb's law.
func WriteMachine(w io.Writer, r *robot.Robot, source string) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# From %s, %s.\n", strings.ReplaceAll(source, "\n", " "), r.Format)
	for _, i := range r.Ignored {
		fmt.Fprintf(b, "# not taken: %s\n", i)
	}
	for _, a := range r.Assumed {
		fmt.Fprintf(b, "# assumed: %s\n", strings.ReplaceAll(a, "\n", " "))
	}
	name := cmp.Or(r.Name, "robot")
	fmt.Fprintf(b, "version: 1\nname: %s\nmachine:\n  gravity: %s\n  bodies:\n", schema.QuoteYAML(name), list(r.Spec.Gravity))
	for i := range r.Spec.Bodies {
		writeBody(b, &r.Spec.Bodies[i], r.Joints)
	}
	if len(r.Spec.Frames) > 0 {
		b.WriteString("  frames:\n")
	}
	for _, f := range r.Spec.Frames {
		fmt.Fprintf(b, "    %s: {body: %s", schema.QuoteYAML(f.Name), schema.QuoteYAML(onGround(f.Body)))
		writePose(b, ", ", f.Pose)
		b.WriteString("}\n")
	}
	if len(r.Spec.Cuts) > 0 {
		b.WriteString("  loops:\n")
	}
	for _, c := range r.Spec.Cuts {
		fmt.Fprintf(b, "    %s: {kind: %v, a: %s, b: %s}\n", schema.QuoteYAML(c.Name), c.Kind, schema.QuoteYAML(c.A), schema.QuoteYAML(c.B))
	}
	if len(r.Spec.Couplings) > 0 {
		b.WriteString("  couplings:\n")
	}
	for _, c := range r.Spec.Couplings {
		terms := listOf(c.Terms, func(t multibody.Term) string { return schema.QuoteYAML(t.Joint) + ": " + digits(t.Factor) })
		fmt.Fprintf(b, "    %s: {of: {%s}, offset: %s}\n", schema.QuoteYAML(c.Name), strings.Join(terms, ", "), digits(c.Offset))
	}
	b.WriteString("duration: 1 s\n")
	if _, _, err := MachineBytes(name, []byte(b.String())); err != nil {
		return fmt.Errorf("the machine file of it would be refused: %w", err)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeBody(b *strings.Builder, s *multibody.Body, joints map[string]string) {
	fmt.Fprintf(b, "    %s:", schema.QuoteYAML(s.Name))
	if j := joints[s.Name]; j != "" && j != s.Name {
		fmt.Fprintf(b, " # joint %s", strings.ReplaceAll(j, "\n", " "))
	}
	fmt.Fprintf(b, "\n      parent: %s\n", schema.QuoteYAML(onGround(s.Parent)))
	writePose(b, "      ", s.Place)
	j := &s.Joint
	fmt.Fprintf(b, "      joint: {kind: %v", j.Kind)
	if j.Axis != (r3.Vec{}) {
		fmt.Fprintf(b, ", axis: %s", list(j.Axis))
	}
	for _, p := range []struct {
		key string
		x   float64
	}{{"armature", j.Armature}, {"damping", j.Damping}, {"stiffness", j.Stiffness}, {"rest", j.Rest}} {
		if p.x != 0 {
			fmt.Fprintf(b, ", %s: %s", p.key, digits(p.x))
		}
	}
	if j.Coulomb != 0 {
		fmt.Fprintf(b, ", friction: {law: coulomb, Fc: %s}", digits(j.Coulomb))
	}
	b.WriteString("}\n")
	if i := &s.Inertia; i.Mass != 0 {
		m := &i.I
		fmt.Fprintf(b, "      mass: %s\n      com: %s\n      inertia: %s\n", digits(i.Mass), list(i.Com),
			list(r3.Vec{X: m[0][0], Y: m[1][1], Z: m[2][2]}))
		if p := (r3.Vec{X: m[0][1], Y: m[0][2], Z: m[1][2]}); written(p) {
			fmt.Fprintf(b, "      products: %s\n", list(p))
		}
	}
}

// writePose writes at and turn; before stands in front of each: indentation, or a comma on one line.
func writePose(b *strings.Builder, before string, p multibody.Pose) {
	end := ""
	if strings.TrimSpace(before) == "" {
		end = "\n"
	}
	if written(p.P) {
		fmt.Fprintf(b, "%sat: %s%s", before, list(p.P), end)
	}
	if phi := rotation.Log(p.R); p.R.Real != 0 || p.R.Imag != 0 || p.R.Jmag != 0 || p.R.Kmag != 0 {
		if written(phi) {
			fmt.Fprintf(b, "%sturn: %s%s", before, list(phi), end)
		}
	}
}

func onGround(body string) string { return cmp.Or(body, groundName) }

// digits is a number as a machine file takes it: one that is too small for any quantity, the rounding of a product with 0, is 0.
func digits(x float64) string {
	if math.Abs(x) < schema.Smallest {
		x = 0
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// written tells a vector that is not 0 in a file.
func written(v r3.Vec) bool {
	return max(math.Abs(v.X), math.Abs(v.Y), math.Abs(v.Z)) >= schema.Smallest
}

func list(v r3.Vec) string { return "[" + digits(v.X) + ", " + digits(v.Y) + ", " + digits(v.Z) + "]" }
