package contact

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// dense is the linear algebra of a System that brings none: M̂ is factored by Cholesky in every step.
type dense struct {
	sys   System
	f     int
	k, c  []float64 // nil: not Stiff, or zero
	mass  []float64
	lower []float64 // Cholesky factor of M̂, lower triangle
	inv   []float64 // 1/diagonal of lower
	diag  bool      // M̂ is diagonal
	nz    []int32   // columns of a row that are not zero
	spans []span    // of the rows of Project
}

// span is where a row is not zero: in columns first to last.
type span struct{ first, last int32 }

// dynamicsOf is the linear algebra of a system.
func dynamicsOf(sys System) Dynamics {
	if d, ok := sys.(Dynamics); ok {
		return d
	}
	return newDense(sys)
}

// makeRoom makes room in d for n contacts at once where it is that of this file.
func makeRoom(d Dynamics, n int) {
	if d, ok := d.(*dense); ok {
		d.spans = make([]span, 2*n)
	}
}

// addRows adds the rows of x, each as long as v, times the numbers of p.
func addRows(v, p, x []float64) {
	for i, pi := range p {
		if pi == 0 {
			continue
		}
		for j, xj := range x[i*len(v):][:len(v)] {
			v[j] += pi * xj
		}
	}
}

func newDense(sys System) *dense {
	f := sys.DOF()
	d := &dense{sys: sys, f: f, mass: make([]float64, f*f), lower: make([]float64, f*f), inv: make([]float64, f), nz: make([]int32, 0, f)}
	if s, ok := sys.(Stiff); ok {
		d.k, d.c = make([]float64, f*f), make([]float64, f*f)
		s.Linear(d.k, d.c)
		if acts := func(v float64) bool { return v != 0 }; !slices.ContainsFunc(d.k, acts) && !slices.ContainsFunc(d.c, acts) {
			d.k, d.c = nil, nil
		}
	}
	return d
}

// Free is Dynamics.Free.
func (d *dense) Free(t, h, theta float64, q, u, ufree []float64) bool {
	f := d.f
	d.sys.Mass(t, q, d.mass)
	d.sys.Force(t, q, u, ufree)
	if d.k != nil {
		a, b := h*theta, h*h*theta*theta
		for i := range f {
			row, ku := d.k[i*f:(i+1)*f], 0.0
			for j, kij := range row {
				ku += kij * u[j]
				d.mass[i*f+j] += a*d.c[i*f+j] + b*kij
			}
			ufree[i] -= h * theta * ku
		}
	}
	if !d.factor() {
		return false
	}
	d.solve(ufree)
	for i := range ufree {
		ufree[i] = u[i] + h*ufree[i]
	}
	return numeric.AllFinite(ufree...)
}

// Accelerate is Dynamics.Accelerate.
func (d *dense) Accelerate(t float64, q, u, acc []float64) bool {
	d.sys.Mass(t, q, d.mass)
	d.sys.Force(t, q, u, acc)
	if !d.factor() {
		return false
	}
	d.solve(acc)
	return numeric.AllFinite(acc...)
}

// factor factors the mass matrix; false when it is not positive definite or not finite. One that is diagonal has its inverse in inv.
func (d *dense) factor() bool {
	f := d.f
	if d.diag = f > 6 && isDiagonal(d.mass, f); !d.diag { // small ones gain nothing
		return cholesky(d.mass, d.lower, d.inv, f)
	}
	for i := range f {
		m := d.mass[i*(f+1)]
		if d.inv[i] = 1 / m; !(m > 0) || math.IsInf(m, 0) {
			return false
		}
	}
	return true
}

func isDiagonal(a []float64, n int) bool {
	for i := 1; i < n; i++ {
		for _, v := range a[(i-1)*(n+1)+1 : i*(n+1)] { // between two elements of the diagonal
			if v != 0 {
				return false
			}
		}
	}
	return true
}

// projectDiagonal is Project for a diagonal M̂. Rows of contacts are mostly zeros, and most pairs of them have no column in common.
func (d *dense) projectDiagonal(set *Set, chosen []int32, x, dd []float64) {
	f, n := d.f, 2*len(chosen)
	spans := d.spans[:n]
	for k, c := range chosen {
		for l, w := range [2][]float64{set.RowN(int(c)), set.RowT(int(c))} {
			at := 2*k + l
			xk := x[at*f : (at+1)*f]
			d.nz = d.nz[:0]
			for j, wj := range w {
				xk[j] = 0
				if wj != 0 {
					d.nz, xk[j] = append(d.nz, int32(j)), wj*d.inv[j]
				}
			}
			own := span{0, -1}
			if len(d.nz) > 0 {
				own = span{d.nz[0], d.nz[len(d.nz)-1]}
			}
			spans[at] = own
			// symmetric: rows before this one have been seen
			for i := range at + 1 {
				s := 0.0
				if spans[i].first <= own.last && own.first <= spans[i].last {
					row := x[i*f : (i+1)*f]
					for _, j := range d.nz {
						s += w[j] * row[j]
					}
				}
				dd[at*n+i], dd[i*n+at] = s, s
			}
		}
	}
}

// Project is Dynamics.Project.
func (d *dense) Project(set *Set, chosen []int32, x, dd []float64) {
	if d.diag {
		d.projectDiagonal(set, chosen, x, dd)
		return
	}
	f, n := d.f, 2*len(chosen)
	for k, c := range chosen {
		copy(x[2*k*f:], set.RowN(int(c)))
		copy(x[(2*k+1)*f:], set.RowT(int(c)))
	}
	for k := range n {
		d.solve(x[k*f : (k+1)*f])
	}
	for k, c := range chosen {
		wn, wt := set.RowN(int(c)), set.RowT(int(c))
		for l := range n {
			var sn, st float64
			for j, xj := range x[l*f : (l+1)*f] {
				sn += wn[j] * xj
				st += wt[j] * xj
			}
			dd[2*k*n+l], dd[(2*k+1)*n+l] = sn, st
		}
	}
}

// solve replaces b by M̂⁻¹·b.
func (d *dense) solve(b []float64) {
	f := d.f
	if d.diag {
		for i, m := range d.inv {
			b[i] *= m
		}
		return
	}
	for i := range f {
		s := b[i]
		for j, l := range d.lower[i*f : i*f+i] {
			s -= l * b[j]
		}
		b[i] = s * d.inv[i]
	}
	for i := f - 1; i >= 0; i-- {
		s := b[i] * d.inv[i]
		b[i] = s
		for j, l := range d.lower[i*f : i*f+i] {
			b[j] -= l * s
		}
	}
}

// cholesky factors the symmetric part of a as L·Lᵀ; false when a is not positive definite or not finite.
func cholesky(a, low, inv []float64, n int) bool {
	for i := range n {
		ri := low[i*n : (i+1)*n]
		for j := 0; j <= i; j++ {
			rj := low[j*n : (j+1)*n]
			s := 0.5 * (a[i*n+j] + a[j*n+i])
			for k := range j {
				s -= ri[k] * rj[k]
			}
			if j < i {
				ri[j] = s * inv[j]
				continue
			}
			if !(s > 0) || math.IsInf(s, 0) {
				return false
			}
			ri[i] = math.Sqrt(s)
			inv[i] = 1 / ri[i]
		}
	}
	return true
}
