package multibody

import (
	"math"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// BodyParams is how many parameters a body and its joint have in which the torques are linear.
const BodyParams = InertialParams + 5

var bodyParams = [BodyParams]struct{ name, linear, angular, doc string }{
	{"mass", "kg", "kg", "mass"},
	{"mcx", "kg·m", "kg·m", "mass times centre of mass, x"},
	{"mcy", "kg·m", "kg·m", "mass times centre of mass, y"},
	{"mcz", "kg·m", "kg·m", "mass times centre of mass, z"},
	{"ixx", "kg·m²", "kg·m²", "moment of inertia about the origin"},
	{"ixy", "kg·m²", "kg·m²", "element xy of the inertia about the origin"},
	{"ixz", "kg·m²", "kg·m²", "element xz of the inertia about the origin"},
	{"iyy", "kg·m²", "kg·m²", "moment of inertia about the origin"},
	{"iyz", "kg·m²", "kg·m²", "element yz of the inertia about the origin"},
	{"izz", "kg·m²", "kg·m²", "moment of inertia about the origin"},
	{"armature", "kg", "kg·m²", "inertia of the rotor seen at the joint"},
	{"damping", "N·s/m", "N·m·s/rad", "viscous friction"},
	{"coulomb", "N", "N·m", "Coulomb friction"},
	{"stiffness", "N/m", "N·m/rad", "spring of the joint"},
	{"preload", "N", "N·m", "stiffness times relaxed position"},
}

// Params are the parameters of the columns of the regressor, body by body, with the values of the model.
func (m *Model) Params() []engine.Param {
	list := make([]engine.Param, 0, BodyParams*m.Bodies())
	for j := 1; j < len(m.body); j++ {
		b := &m.body[j]
		inertial := b.inertia.Params()
		t := &b.joint
		values := append(inertial[:], t.Armature, t.Damping, t.Coulomb, t.Stiffness, t.Stiffness*t.Rest)
		for i, p := range bodyParams {
			unit := p.angular
			if b.kind == Prismatic {
				unit = p.linear
			}
			lo := math.Inf(-1)
			if i == 0 || i >= InertialParams && i < BodyParams-1 {
				lo = 0
			}
			list = append(list, engine.Param{Name: b.name + "." + p.name, Unit: unit, Doc: p.doc, Value: values[i], Lo: lo, Hi: math.Inf(1)})
		}
	}
	return list
}

// Regressor writes to y, nv×(BodyParams·bodies) with rows first, the matrix with Tau = y·Params for the motion q, v, a without external
// wrenches and springs between bodies, of a machine of rigid bodies: the torques are linear in the inertial parameters of the bodies
// [AAH86] and in those of the joints. Coulomb, stiffness and preload of joints with several axes have columns of zeros. Valid afterwards:
// all of Velocities.
func Regressor(m *Model, d *Data, q, v, a, y []float64) {
	m.check("Regressor", q, v, a)
	if m.modal {
		panic("multibody: Regressor: a flexible body has no inertial parameters")
	}
	cols := BodyParams * m.Bodies()
	if len(y) != m.nv*cols {
		panic("multibody: Regressor: matrix of another size")
	}
	clear(y)
	for j := 1; j < len(m.body); j++ {
		m.place(d, j, q)
		m.move(d, j, v)
	}
	m.accelerate(d, a)
	for j := 1; j < len(m.body); j++ {
		b, s := &m.body[j], &d.body[j]
		// motion in body axes; g is the acceleration of the origin less gravity
		w, dw := turnBack(&s.rot, s.vel.ang), turnBack(&s.rot, s.acc.ang)
		g := turnBack(&s.rot, r3.Add(s.acc.lin, r3.Cross(s.vel.ang, s.vel.lin)))
		var f [InertialParams]spatial // moment and force for a unit of each parameter
		inertialColumns(w, dw, g, &f)
		at := BodyParams * (j - 1)
		for i := m.lastVelocity(j); i >= 0; i = m.dof[i].parent {
			sa, sl := turnBack(&s.rot, d.column[i].ang), turnBack(&s.rot, m.columnAt(d, i, s.pos))
			row := y[i*cols+at : i*cols+at+InertialParams]
			for k := range row {
				row[k] = r3.Dot(sa, f[k].ang) + r3.Dot(sl, f[k].lin)
			}
		}
		for i := b.iv; i < b.iv+b.nv; i++ {
			row := y[i*cols+at+InertialParams : i*cols+at+BodyParams]
			row[0], row[1] = a[i], v[i]
			if b.nv == 1 {
				if v[i] != 0 {
					row[2] = math.Copysign(1, v[i])
				}
				row[3], row[4] = q[b.iq], -1
			}
		}
	}
}

// inertialColumns are M = Io·dω + ω×Io·ω + mc×g and F = m·g + dω×mc + ω×(ω×mc), a column for each parameter.
func inertialColumns(w, dw, g r3.Vec, f *[InertialParams]spatial) {
	f[0].lin = g
	for k, e := range [3]r3.Vec{{X: 1}, {Y: 1}, {Z: 1}} {
		f[1+k] = spatial{ang: r3.Cross(e, g), lin: r3.Add(r3.Cross(dw, e), r3.Cross(w, r3.Cross(w, e)))}
	}
	product := func(i, k int) r3.Vec {
		pick := func(v r3.Vec) r3.Vec {
			x, to := [3]float64{v.X, v.Y, v.Z}, [3]float64{}
			to[i] = x[k]
			to[k] = x[i]
			return r3.Vec{X: to[0], Y: to[1], Z: to[2]}
		}
		return r3.Add(pick(dw), r3.Cross(w, pick(w)))
	}
	for n, at := range [6][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}} {
		f[4+n].ang = product(at[0], at[1])
	}
}
