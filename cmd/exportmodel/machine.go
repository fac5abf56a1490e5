package exportmodel

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
	"hilrig/engine/rotation"
)

// machineFile is a machine that is written for another program: its tree of bodies, joints, frames and what ties joints together.
type machineFile struct {
	path, name string
	run        *configs.MachineRun
	spec       machine.Spec
	friction   map[string]contact // of joints, as far as the target has it
	omitted    []string
	head       []string          // comments of the file of the machine: where its numbers come from
	written    []*multibody.Body // in the order of the file
	b          bytes.Buffer
}

// machineTargets are those that have bodies.
var machineTargets = map[Target]func(*machineFile){URDF: (*machineFile).urdf, MJCF: (*machineFile).mjcf}

// loadMachine reads the file of a machine, such as hil identify --write-machine writes.
func loadMachine(path string) (*machineFile, error) {
	run, _, err := configs.LoadMachine(path)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &machineFile{path: path, name: run.Name, run: run, spec: run.Spec(), friction: map[string]contact{}}
	// ends of springs and points of forces go; those of loops get names that others take
	f.spec.Frames = slices.DeleteFunc(f.spec.Frames, func(k multibody.Frame) bool { return strings.Contains(k.Name, "//") })
	for i := range f.spec.Frames {
		k := &f.spec.Frames[i]
		old := k.Name
		k.Name = f.free(strings.ReplaceAll(old, "/", "_"), old)
		for j := range f.spec.Cuts {
			for _, end := range []*string{&f.spec.Cuts[j].A, &f.spec.Cuts[j].B} {
				if *end == old {
					*end = k.Name
				}
			}
		}
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		f.head = append(f.head, strings.TrimSpace(strings.TrimPrefix(line, "#")))
	}
	return f, nil
}

// free is a name that no body and no frame has, or only one that is named own.
func (f *machineFile) free(name, own string) string {
	for name != own && (slices.ContainsFunc(f.spec.Bodies, func(b multibody.Body) bool { return b.Name == name }) ||
		slices.ContainsFunc(f.spec.Frames, func(k multibody.Frame) bool { return k.Name == name })) {
		name += "_"
	}
	return name
}

func (f *machineFile) lose(format string, a ...any) {
	f.omitted = append(f.omitted, fmt.Sprintf(format, a...))
}

// write makes the file. What the target does not have is in lost.
func (f *machineFile) write(to Target) ([]byte, error) {
	write, ok := machineTargets[to]
	if !ok {
		return nil, fmt.Errorf("a machine goes to %s or %s, not to %s, which has no bodies", URDF, MJCF, to)
	}
	if _, err := f.run.Build(); err != nil {
		return nil, err
	}
	for i := range f.spec.Bodies {
		if b := &f.spec.Bodies[i]; b.Flex != nil {
			return nil, fmt.Errorf("%s bends: %s has rigid bodies only", b.Name, to)
		} else if b.Joint.Kind == multibody.Spherical && to == URDF {
			return nil, fmt.Errorf("the joint of %s is spherical, which %s has not", b.Name, to)
		}
	}
	f.takeFriction(to)
	f.listOmitted(to)
	write(f)
	return f.b.Bytes(), nil
}

// takeFriction takes the friction of joints apart.
func (f *machineFile) takeFriction(to Target) {
	can, _ := find(string(to))
	can.lugre, can.offset = false, false // of a joint itself
	for _, k := range f.spec.Friction {
		i := slices.IndexFunc(f.spec.Bodies, func(b multibody.Body) bool { return b.Name == k.Joint })
		if i < 0 {
			f.lose("the friction of the loop %s", k.Joint)
			continue
		}
		if k.Lever > 0 {
			f.lose("the friction of %s, which the force acts on that the joint carries", k.Joint)
			continue
		}
		c, lost, err := can.express(contactOf(k.Law), k.Law, unitsOf(f.spec.Bodies[i].Joint.Kind != multibody.Prismatic))
		if err != nil {
			f.lose("the friction of %s: %v", k.Joint, err)
			continue
		}
		for _, l := range lost {
			f.lose("friction of %s: %s", k.Joint, l)
		}
		f.friction[k.Joint] = c
	}
}

// listOmitted says what no target has.
func (f *machineFile) listOmitted(to Target) {
	m := &f.run.Machine
	names := func(what string, n int, name func(i int) string) {
		if n == 0 {
			return
		}
		var list []string
		for i := range n {
			list = append(list, name(i))
		}
		f.lose("%s: %s", what, strings.Join(list, ", "))
	}
	names("springs between places", len(m.Springs), func(i int) string { return m.Springs[i].Name })
	names("forces", len(m.Forces), func(i int) string { return m.Forces[i].Name })
	names("motors, but for the inertia of their rotors", len(m.Motors), func(i int) string { return m.Motors[i].Name })
	names("the circuit", len(m.Circuit), func(i int) string { return m.Circuit[i].Name })
	names("magnets", len(m.Magnets), func(i int) string { return m.Magnets[i].Name })
	names("controllers", len(m.Controllers), func(i int) string { return m.Controllers[i].Name })
	names("rows", len(m.Rows), func(i int) string { return m.Rows[i].Name })
	names("shafts", len(m.Shafts), func(i int) string { return m.Shafts[i].Name })
	names("belts", len(m.Belts), func(i int) string { return m.Belts[i].Name })
	names("stops", len(m.Stops), func(i int) string { return m.Stops[i].Name })
	for i := range m.Bodies {
		b := &m.Bodies[i]
		if b.Joint.Effort != nil {
			f.lose("the effort on %s", b.Name)
		}
		if b.Joint.Motion != nil {
			f.lose("the motion of %s, which is free there", b.Name)
		}
		if to == URDF && (b.Joint.Position != 0 || b.Joint.Velocity != 0 || b.Start != (configs.MachinePlace{})) {
			f.lose("where %s starts: all joints are at 0", b.Name)
		}
	}
}

// comment begins the file.
func (f *machineFile) comment() {
	f.b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--\n")
	line := func(format string, a ...any) {
		fmt.Fprintf(&f.b, "  %s\n", spaceDashes(strings.Join(strings.Fields(fmt.Sprintf(format, a...)), " ")))
	}
	line("%s: machine, written by hil export-model (%s) from %s", f.name, report.Version(), filepath.Base(f.path))
	for _, h := range f.head {
		line("%s", h)
	}
	if len(f.omitted) > 0 {
		line("not in this file:")
		for _, l := range f.omitted {
			line("- %s", l)
		}
	}
	line("units: m, rad, kg, s, N, N·m")
	f.b.WriteString("-->\n")
}

// children are the bodies on a parent, and the frames on it.
func (f *machineFile) children(parent string) (bodies []*multibody.Body, frames []multibody.Frame) {
	ground := func(name string) string {
		if name == "" {
			return multibody.Ground
		}
		return name
	}
	for i := range f.spec.Bodies {
		if b := &f.spec.Bodies[i]; ground(b.Parent) == parent {
			bodies = append(bodies, b)
		}
	}
	for _, k := range f.spec.Frames {
		if ground(k.Body) == parent {
			frames = append(frames, k)
		}
	}
	return bodies, frames
}

// resist is viscous and Coulomb friction of a joint.
func (f *machineFile) resist(b *multibody.Body) (damping, coulomb float64) {
	c := f.friction[b.Name]
	return b.Joint.Damping + c.Fore.Fv, c.Fore.Fc
}

// axis is the direction of a joint with one coordinate.
func axis(j *multibody.Joint) r3.Vec {
	if j.Axis == (r3.Vec{}) {
		return r3.Vec{Z: 1}
	}
	return j.Axis
}

// quoted are numbers without loss, in quotation marks; what rounding leaves of 0 is 0.
func quoted(x ...float64) string {
	var list []string
	for _, v := range x {
		if math.Abs(v) < 1e-30 {
			v = 0
		}
		list = append(list, formatNumber(v))
	}
	return `"` + strings.Join(list, " ") + `"`
}

func vec(v r3.Vec) string { return quoted(v.X, v.Y, v.Z) }

// turned is a unit quaternion; one that turns nothing is not written.
func turned(q quat.Number) (quat.Number, bool) {
	if q == (quat.Number{}) || q == rotation.Identity {
		return rotation.Identity, false
	}
	return q, true
}
