package brush

import (
	"math"
	"math/rand/v2"
	"testing"

	"hilrig/engine/contact"
)

// The rows are the derivative of the gap, V_N and A_N the rest of its first two derivatives along a motion; ġ_T is checked by
// its own derivative.
func TestContactRowsAgainstDifferences(t *testing.T) {
	for _, c := range []struct {
		name   string
		chain  bool
		change func(*Params)
	}{
		{"new brush", false, nil},
		{"worn brush, its top in the holder", false, func(p *Params) { p.Brush.Length = 0.012; p.Holder.X, p.Holder.Offset = 1e-3, 2e-3 }},
		{"chain", true, func(p *Params) { p.Holder.Rake = 0.02 }},
		{"tip on a corner", false, nil},
		{"true slots", false, func(p *Params) { p.Commutator.TrueSlots = true }},
		{"true slots under a chain", true, func(p *Params) { p.Commutator.TrueSlots = true }},
		{"smooth", false, func(p *Params) { p.Commutator.SmoothOutline = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := build(t, c.chain, c.change)
			r := rand.New(rand.NewPCG(6, 1))
			if c.name == "tip on a corner" {
				b.pivotX = -0.0144
			}
			set, other := contact.NewSet(512, dof), contact.NewSet(512, dof)
			kinds := map[uint32]bool{}
			for range 40 {
				q, u := somewhere(b, r)
				a := make([]float64, dof)
				for j := range a {
					a[j] = 100 * u[j] * r.NormFloat64()
				}
				t0 := r.Float64()
				move := func(s float64) map[uint32][4]float64 {
					z, v := make([]float64, dof), make([]float64, dof)
					for j := range z {
						z[j], v[j] = q[j]+s*u[j]+s*s/2*a[j], u[j]+s*a[j]
					}
					b.Contacts(t0+s, z, v, math.Inf(1), other)
					m := map[uint32][4]float64{}
					for i := range other.N {
						vn, vt := other.Rate(i, v)
						m[other.ID[i]] = [4]float64{other.Gap[i], vn, vt, float64(other.Feature[i])}
					}
					return m
				}
				b.Contacts(t0, q, u, math.Inf(1), set)
				const s = 1e-7
				now, hi, lo := move(0), move(s), move(-s)
				for i := range set.N {
					id := set.ID[i]
					h, okh := hi[id]
					l, okl := lo[id]
					if !okh || !okl || h[3] != l[3] {
						continue // another edge, another feature
					}
					kinds[id] = true
					vn, vt := set.Rate(i, u)
					an, at := set.AN[i], set.AT[i]
					for j := range a {
						an += set.RowN(i)[j] * a[j]
						at += set.RowT(i)[j] * a[j]
					}
					check := func(what string, have, want, scale float64) {
						if math.Abs(have-want) > 2e-6*scale {
							t.Errorf("contact %d: %s = %.9g, by differences %.9g", id, what, have, want)
						}
					}
					check("ġ_N", vn, (h[0]-l[0])/(2*s), 10)
					check("g̈_N", an, (h[1]-l[1])/(2*s), 1e5)
					check("g̈_T", at, (h[2]-l[2])/(2*s), 1e5)
					if now[id][2] != vt {
						t.Errorf("contact %d: ġ_T differs between calls", id)
					}
				}
				if t.Failed() {
					return
				}
			}
			if len(kinds) < 18 {
				t.Errorf("only %d kinds of contact were seen", len(kinds))
			}
		})
	}
}

// ġ_T is the velocity of material points: the work of a force along t on both bodies is λ_T·ġ_T. Checked for the face by the
// place of the vertex and the surface ω×p, in numbers.
func TestTangentialVelocityOfTheFace(t *testing.T) {
	b := build(t, false, nil)
	r := rand.New(rand.NewPCG(7, 1))
	q, u := somewhere(b, r)
	set := contact.NewSet(24, dof)
	b.Contacts(0, q, u, math.Inf(1), set)
	const s = 1e-7
	for i := range 15 {
		place := func(s float64) (float64, float64) {
			z := make([]float64, dof)
			for j := range z {
				z[j] = q[j] + s*u[j]
			}
			o := contact.NewSet(24, dof)
			b.Contacts(0, z, u, math.Inf(1), o)
			return o.X[i], o.Y[i]
		}
		hx, hy := place(s)
		lx, ly := place(-s)
		vx, vy := (hx-lx)/(2*s)+b.speed*set.Y[i], (hy-ly)/(2*s)-b.speed*set.X[i]
		tx, ty := set.NY[i], -set.NX[i]
		if _, vt := set.Rate(i, u); math.Abs(vt-(vx*tx+vy*ty)) > 1e-7*math.Abs(vt) {
			t.Errorf("vertex %d: ġ_T = %g, by the places %g m/s", i, vt, vx*tx+vy*ty)
		}
	}
}
