package configs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/configs/schema"
	"hilrig/engine/beam"
	"hilrig/engine/machine"
	"hilrig/engine/multibody"
)

// MachineBeam makes an elastic beam of a body.
type MachineBeam struct {
	Length       float64      `yaml:"length" unit:"m" want:">0" doc:"from the origin of the body along its x to the tip"`
	Young        float64      `yaml:"young" unit:"Pa" want:">0" doc:"modulus of elasticity E"`
	SecondMoment float64      `yaml:"second_moment" unit:"m⁴" want:">0" doc:"second moment of area I of the section"`
	Area         float64      `yaml:"area" unit:"m²" want:">0" doc:"of the section"`
	Density      float64      `yaml:"density" unit:"kg/m³" want:">0" doc:"of the material: the mass of the body is density·area·length"`
	Bends        string       `yaml:"bends" enum:"y,z" doc:"direction of the body in which it bends; in the other one it is rigid"`
	Elements     int          `yaml:"elements" want:">=1 <=200" doc:"finite elements, of equal length"`
	Modes        int          `yaml:"modes" want:">=1 <=20" doc:"lowest modes of the clamped beam that are taken, at most two for an element"`
	Damping      beam.Damping `yaml:"damping" doc:"Rayleigh's"`
	Places       []BeamPlace  `yaml:"places,omitempty" doc:"further places, by name, on which bodies and frames may stand as on the tip: BODY.NAME"`
}

// SetDefaults is a mesh that shows three modes.
func (f *MachineBeam) SetDefaults() { f.Bends, f.Elements, f.Modes = "y", 8, 3 }

// BeamPlace is a place on an elastic beam.
type BeamPlace struct {
	Name string  `yaml:"-" names:"places"`
	X    float64 `yaml:"x" unit:"m" want:">0" doc:"from the origin of the body"`
}

// flex is the flexible body.
func (f *MachineBeam) flex() (*multibody.Flex, error) {
	b := machine.Bending{Modes: f.Modes, Direction: r3.Vec{Y: 1}, Beam: beam.Params{Length: f.Length, Elements: f.Elements, Young: f.Young,
		SecondMoment: f.SecondMoment, Area: f.Area, Density: f.Density, Damping: f.Damping}}
	if f.Bends == "z" {
		b.Direction = r3.Vec{Z: 1}
	}
	b.Places = listOf(f.Places, func(p BeamPlace) machine.Place { return machine.Place{Name: p.Name, X: p.X} })
	return b.Flex()
}

// nodes are the names of the places of a body on which others may stand, from its origin on.
func (b *MachineBody) nodes() (list []string) {
	if b.Flexible == nil {
		return nil
	}
	places := slices.SortedFunc(slices.Values(b.Flexible.Places), func(p, q BeamPlace) int { return cmp.Compare(p.X, q.X) })
	for _, p := range places {
		list = append(list, b.Name+"."+p.Name)
	}
	return append(list, b.Name+"."+machine.Tip)
}

// checkFlexible looks at the beam of a body at a place of the file.
func (b *MachineBody) checkFlexible(r *schema.Report, at string) {
	f := b.Flexible
	if f == nil || r.HasProblem(at+".flexible") {
		return
	}
	for _, key := range trueKeys([]string{"mass", "com", "inertia", "products", "inertia_z"}, b.Mass != 0, b.Com != [3]float64{},
		b.Inertia != [3]float64{}, b.Products != [3]float64{}, b.InertiaZ != 0) {
		r.KeyErrorf(at+"."+key, "a flexible body has the mass of its beam; hang another body on %s.%s", b.Name, machine.Tip)
	}
	r.ErrorIf(f.Modes > 2*f.Elements, at+".flexible.modes", "%d, and %d elements have %d", f.Modes, f.Elements, 2*f.Elements)
	for i, p := range f.Places {
		place := fmt.Sprintf("%s.flexible.places.%s", at, p.Name)
		switch bad := badName.FindString(p.Name); {
		case bad != "" || p.Name == "":
			r.KeyErrorf(place, "the name holds %q; want letters, digits, - and _", bad)
		case p.Name == machine.Tip:
			r.KeyErrorf(place, "the tip is there already, at %g m", f.Length)
		case p.X > f.Length:
			r.KeyErrorf(place+".x", "%g m, and the beam ends at %g m", p.X, f.Length)
		}
		for _, other := range f.Places[:i] {
			r.ErrorIf(other.Name == p.Name, place, "stands twice")
		}
	}
}

// checkClamps wants that nothing stands on the clamp of an elastic body, where it would not bend it, when one of its places is meant.
func (m *Machine) checkClamps(r *schema.Report) {
	look := func(at, name string) {
		for i := range m.Bodies {
			b := &m.Bodies[i]
			if b.Flexible == nil || b.Name != name || r.HasProblem(at) {
				continue
			}
			r.KeyErrorf(at, "%s is the clamp of an elastic body, and what stands there does not bend it: take %s; what belongs to "+
				"the clamp stands on %s", name, strings.Join(b.nodes(), " or "), b.clamp())
		}
	}
	for i := range m.Bodies {
		look("machine.bodies."+m.Bodies[i].Name+".parent", m.Bodies[i].Parent)
	}
	for i := range m.Frames {
		look("machine.frames."+m.Frames[i].Name+".body", m.Frames[i].Body)
	}
	for i := range m.Loops {
		look("machine.loops."+m.Loops[i].Name+".a", m.Loops[i].A)
		look("machine.loops."+m.Loops[i].Name+".b", m.Loops[i].B)
	}
	for i := range m.Forces {
		look("machine.forces."+m.Forces[i].Name+".on", m.Forces[i].Target)
	}
	for i := range m.Springs {
		look("machine.springs."+m.Springs[i].Name+".a", m.Springs[i].A)
		look("machine.springs."+m.Springs[i].Name+".b", m.Springs[i].B)
	}
}

// clamp says what the clamp of an elastic body moves with.
func (b *MachineBody) clamp() string {
	if b.Joint.Kind == "fixed" {
		return cmp.Or(b.Parent, groundName)
	}
	return "a body of its own, to which the elastic one is fixed"
}

// Bent is by how much of its length the tip of an elastic body is deflected, by the deflections of its modes (m).
func (b *MachineBody) Bent(modes ...float64) (share float64) {
	for _, x := range modes {
		share += x
	}
	return math.Abs(share) / b.Flexible.Length
}
