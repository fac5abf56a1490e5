package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/multibody"
)

// FullParams is a set of all parameters with the base parameters beta that differs least from that of the file:
//
//	θ = θ0 + S·Bᵀ·(B·S·Bᵀ)⁻¹·(β − B·θ0)
//
// with S the squares of the sizes of the parameters: a mass, that mass times the size of the body, and times its square.
func (b *Base) FullParams(m *multibody.Model, beta []float64) []float64 {
	n, p := len(b.Columns), len(b.Pivot)
	theta := b.Start()
	size := b.sizes(m)
	bs := mat.NewDense(p, n, nil)
	for i := range p {
		for k := range n {
			bs.Set(i, k, b.B[i*n+k]*size[k])
		}
	}
	miss := b.Of(theta)
	for i := range miss {
		miss[i] = beta[i] - miss[i]
	}
	// rows to length one: parameters of metres and of millimetres have one condition
	for i := range p {
		if l := mat.Norm(bs.RowView(i), 2); l > 0 {
			for k := range n {
				bs.Set(i, k, bs.At(i, k)/l)
			}
			miss[i] /= l
		}
	}
	var lq mat.LQ
	lq.Factorize(bs)
	var x mat.Dense
	if lq.SolveTo(&x, false, mat.NewDense(p, 1, miss)) != nil {
		return theta // a base parameter of nothing: there is none
	}
	for k := range n {
		if !slices.Contains(b.Unseen, k) { // what no torque feels stays to the last digit
			theta[k] += size[k] * x.At(k, 0)
		}
	}
	return theta
}

// rotorSize is the armature of a joint without one in the file, as a share of the inertia of its body.
const rotorSize = 1e-3

// sizes are what a parameter of each column may change by.
func (b *Base) sizes(m *multibody.Model) []float64 {
	nb := m.Bodies()
	mass, arm := make([]float64, nb+1), make([]float64, nb+1)
	all, far, bodies := 0.0, 0.0, 0.0
	for j := 1; j <= nb; j++ {
		i := m.InertiaOf(j)
		o := i.Params()
		mass[j] = i.Mass
		if i.Mass > 0 {
			arm[j] = math.Max(math.Sqrt((o[4]+o[7]+o[9])/(2*i.Mass)), r3.Norm(i.Com))
			all, far, bodies = all+i.Mass, far+arm[j], bodies+1
		}
	}
	for j := 1; j <= nb; j++ { // bodies of which the file says nothing are as the others
		if mass[j] == 0 {
			mass[j], arm[j] = 1, 0.1
			if bodies > 0 {
				mass[j], arm[j] = all/bodies, far/bodies
			}
		}
		if arm[j] == 0 {
			arm[j] = 0.1
		}
	}
	out := make([]float64, len(b.Columns))
	for k := range b.Columns {
		c := &b.Columns[k]
		j := bodyOf(m, c.Joint)
		l := arm[j]
		switch {
		case c.Inertial == 0:
			out[k] = mass[j]
		case c.Inertial > 3:
			out[k] = mass[j] * l * l
		case c.Inertial > 0:
			out[k] = mass[j] * l
		case c.Term == Armature && c.Value == 0 && !slices.Contains(b.Pivot, k):
			// the file has no rotor, and the torques do not ask for one
		case c.Term == Armature:
			out[k] = math.Max(c.Value, rotorSize*mass[j]*l*l)
		default:
			out[k] = 1
		}
	}
	return out
}

// Inertias are those of the bodies 1 … of a set of parameters, without what was not fitted.
func (b *Base) Inertias(m *multibody.Model, theta []float64) []multibody.Inertia {
	p := make([][multibody.InertialParams]float64, m.Bodies()+1)
	for j := 1; j <= m.Bodies(); j++ {
		p[j] = m.InertiaOf(j).Params()
	}
	for k := range b.Columns {
		if c := &b.Columns[k]; c.Inertial >= 0 {
			p[bodyOf(m, c.Joint)][c.Inertial] = theta[k]
		}
	}
	out := make([]multibody.Inertia, 0, m.Bodies())
	for j := 1; j <= m.Bodies(); j++ {
		out = append(out, multibody.InertiaOf(p[j]))
	}
	return out
}

// Impossible says, of every parameter or body that no machine has, why.
func (b *Base) Impossible(m *multibody.Model, theta []float64) (out []string) {
	for j, i := range b.Inertias(m, theta) {
		if err := i.Check(); err != nil {
			name, _, _, _ := m.JointOf(j + 1)
			out = append(out, name+": "+err.Error())
		}
	}
	for k := range b.Columns {
		c := &b.Columns[k]
		if c.Inertial < 0 && c.Term != Offset && c.Term != Lag && theta[k] < 0 {
			out = append(out, c.Name+" is negative")
		}
	}
	return out
}
