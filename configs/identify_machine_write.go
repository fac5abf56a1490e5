package configs

import (
	"fmt"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/engine/multibody"
	"hilrig/identify/machine"
)

// Identified is the file of the machine with the parameters that were found. theta are all of them, in the order of the columns of b;
// remarks is what the file cannot say.
func (c *MachineFit) Identified(b *machine.Base, m *multibody.Model, theta []float64) (text []byte, remarks []string, err error) {
	run := *c.run
	run.Machine.Bodies = slices.Clone(c.run.Machine.Bodies)
	at := func(name string) *MachineBody {
		i := slices.IndexFunc(run.Machine.Bodies, func(b MachineBody) bool { return b.Name == name })
		return &run.Machine.Bodies[i]
	}
	for j := 1; j <= m.Bodies(); j++ {
		name, _, _, iv := m.JointOf(j)
		body := at(name)
		move := make([]float64, multibody.InertialParams)
		level := map[int]float64{}
		for k := range b.Columns {
			p := &b.Columns[k]
			if p.Joint != iv {
				continue
			}
			switch x := theta[k]; {
			case p.Inertial >= 0:
				move[p.Inertial] = x - p.Value
			case p.Term == machine.Armature:
				if body.Joint.Armature += x - p.Value; body.Joint.Armature < 0 {
					remarks = append(remarks, fmt.Sprintf("%s: armature %.4g is below that of the rotor of its motor, which the file has by itself; 0 "+
						"is written", name, x))
					body.Joint.Armature = 0
				}
			case p.Term == machine.Viscous && p.Sense == 0:
				if body.Joint.Damping = x; x < 0 {
					remarks = append(remarks, fmt.Sprintf("%s: damping %.4g is below zero, which no joint has; 0 is written", name, x))
					body.Joint.Damping = 0
				}
			case p.Term == machine.Viscous && p.Sense > 0:
				if body.Joint.Damping = max((x+theta[k+1])/2, 0); x != theta[k+1] {
					remarks = append(remarks, fmt.Sprintf("%s: damping %.4g forward and %.4g backward: the file has one for both, their mean is written",
						name, x, theta[k+1]))
				}
			case p.Term == machine.Coulomb:
				level[p.Sense] = x
			case p.Term == machine.Stiffness:
				body.Joint.Stiffness = max(x, 0)
			case p.Term == machine.Offset && x != 0:
				remarks = append(remarks, fmt.Sprintf("%s: offset %.4g %s is no property of a machine and is not written", name, x, p.Unit))
			}
		}
		if floats.Norm(move, 2) > 0 {
			if err := body.moveInertia(run.Machine.body(body).Inertia, move); err != nil {
				remarks = append(remarks, fmt.Sprintf("%s: %v", name, err))
			}
		}
		if len(level) > 0 {
			remarks = append(remarks, body.Joint.setCoulomb(name, level)...)
		}
	}
	for _, s := range run.signals() {
		if whole, err := filepath.Abs(s.signal.File); s.signal.File != "" && err == nil {
			remarks = append(remarks, fmt.Sprintf("%s: the input file %s is named by its whole path", s.path, whole))
			s.signal.File = whole
		}
	}
	run.Machine.Motors = slices.Clone(run.Machine.Motors)
	for i := range run.Machine.Motors { // a drop of 0 is not written: its current would stand alone
		if k := &run.Machine.Motors[i]; k.BrushDrop == 0 {
			k.DropScale = 0
		}
	}
	text, err = schema.MarshalOver(&run, DefaultMachineRun(), nil)
	return text, remarks, err
}

// moveInertia adds to the ten parameters of a body with the inertia from.
func (b *MachineBody) moveInertia(from multibody.Inertia, by []float64) error {
	p := from.Params()
	for i := range p {
		p[i] += by[i]
	}
	x := multibody.InertiaOf(p)
	b.Mass, b.Com, b.InertiaZ = x.Mass, [3]float64{x.Com.X, x.Com.Y, x.Com.Z}, 0
	b.Inertia, b.Products = [3]float64{x.I[0][0], x.I[1][1], x.I[2][2]}, [3]float64{x.I[0][1], x.I[0][2], x.I[1][2]}
	return x.Check()
}

// setCoulomb makes the friction of a joint that of Coulomb, by direction where there are two levels.
func (j *MachineJoint) setCoulomb(name string, level map[int]float64) (remarks []string) {
	for sense, x := range level {
		if x < 0 {
			remarks = append(remarks, fmt.Sprintf("%s: Coulomb friction %.4g is below zero, which no joint has; 0 is written", name, x))
			level[sense] = 0
		}
	}
	if j.Friction.Model != nil && j.Friction.Name != "coulomb" {
		remarks = append(remarks, fmt.Sprintf("%s: Coulomb's law takes the place of %s, and what that has of viscous friction is in damping",
			name, j.Friction.Name))
	}
	var law friction.Model = &friction.Coulomb{Fc: level[0]}
	if fore, both := level[1]; both {
		law = &friction.Coulomb{Fc: fore}
		if back := level[-1]; back != fore {
			if two, err := friction.NewTwoSided(&friction.Coulomb{Fc: fore}, &friction.Coulomb{Fc: back}, "Fc"); err == nil {
				law = two
			}
		}
	}
	j.Friction = Friction{Law{Name: "coulomb", Label: "coulomb", Model: law}}
	return remarks
}
