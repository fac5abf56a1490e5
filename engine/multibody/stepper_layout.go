package multibody

import (
	"fmt"

	"hilrig/engine"
)

// Layout names states, inputs and outputs by joint, constraint and law.
func (s *Stepper) Layout() engine.Layout { return s.layout }

func (s *Stepper) describe() engine.Layout {
	m := s.m
	l := engine.Layout{NQ: m.nq, NV: m.nv, NA: s.na}
	var rates []engine.Signal
	for j := 1; j < len(m.body); j++ {
		b := &m.body[j]
		add := func(to *[]engine.Signal, unit string, names ...string) {
			for _, n := range names {
				*to = append(*to, engine.Signal{Name: b.name + "." + n, Unit: unit})
			}
		}
		switch b.kind {
		case Fixed:
		case Revolute:
			add(&l.States, "rad", "angle")
			add(&rates, "rad/s", "speed")
			add(&l.Inputs, "N·m", "torque")
		case Prismatic:
			add(&l.States, "m", "position")
			add(&rates, "m/s", "speed")
			add(&l.Inputs, "N", "force")
		default:
			add(&l.States, "", "qw", "qx", "qy", "qz")
			add(&rates, "rad/s", "wx", "wy", "wz")
			add(&l.Inputs, "N·m", "torque x", "torque y", "torque z")
			if b.kind == Free {
				add(&l.States, "m", "x", "y", "z")
				add(&rates, "m/s", "vx", "vy", "vz")
				add(&l.Inputs, "N", "force x", "force y", "force z")
			}
		}
		if b.flex != nil {
			for k := range b.flex.n {
				add(&l.States, "m", fmt.Sprint("mode ", k+1))
				add(&rates, "m/s", fmt.Sprint("mode ", k+1, " rate"))
				add(&l.Inputs, "N", fmt.Sprint("mode ", k+1, " force"))
			}
		}
	}
	l.States = append(l.States, rates...)
	l.Outputs = append(l.Outputs, m.loops.rows...)
	for i := range s.joints {
		j := &s.joints[i]
		law := j.law
		unit := "N·m"
		if j.kind == Prismatic {
			unit = "N"
		}
		l.Outputs = append(l.Outputs, engine.Signal{Name: j.name + ".friction", Unit: unit})
		named := law.States()
		for k := range law.StateDim() {
			if k < len(named) {
				l.States = append(l.States, engine.Signal{Name: j.name + ".friction." + named[k].Name, Unit: named[k].Unit})
			} else { // laws with a long memory name its head
				l.States = append(l.States, engine.Signal{Name: fmt.Sprintf("%s.friction.%d", j.name, k)})
			}
		}
	}
	l.Outputs = append(l.Outputs, engine.Signal{Name: "energy.kinetic", Unit: "J"}, engine.Signal{Name: "energy.potential", Unit: "J"},
		engine.Signal{Name: "constraint.gap", Unit: ""}, engine.Signal{Name: "constraint.rate", Unit: ""})
	return l
}
