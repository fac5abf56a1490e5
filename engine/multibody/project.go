package multibody

import "math"

const (
	closedTol  = 1e-12 // m, rad  |g| that is as good as zero
	projection = 8     // steps of Newton at most: from an integration step's error two are enough
	failTol    = 1e-9  // m, rad  |g| with which a projection is said to have failed
	frozen     = 1e-4  // m, rad  step by the angle between equations after which their Delassus matrix is taken anew
)

// Project moves q, v the least way, measured by the kinetic energy, to where the constraints hold: Newton's method for g(q) = 0, then
// v − H⁻¹Jacᵀ(Jac·H⁻¹·Jacᵀ)⁻¹·dg/dt [E98]. The drives must be set for the time of q. In singular positions the step of
// least norm is taken. The status is OK, or NotConverged, NotPositive, NonFinite with q, v as far as they came. Valid afterwards:
// Positions, G, GRate.
func Project(m *Model, d *Data, q, v []float64) Status {
	m.check("Project", q, v, nil)
	if m.loops.n == 0 {
		return OK
	}
	left := math.Inf(1)
	factored := false
	for k := 0; ; k++ {
		if st := m.closing(d, q, v, k == 0); st != OK {
			return st
		}
		if !factored {
			m.delassus(d)
		}
		size := 0.0
		for _, g := range d.G {
			size = math.Max(size, math.Abs(g))
		}
		if size-size != 0 {
			return NonFinite
		}
		if size <= closedTol || k == projection || size <= failTol && size >= left {
			left = size
			break
		}
		left = size
		for r, g := range d.G {
			d.right[r] = -g
		}
		m.respond(d)
		Integrate(m, q, d.y, 1, q)
		// a step that is short against the angle between equations leaves them as they are
		factored = d.Rank == d.FullRank && largestOf(d.y) <= frozen*math.Sqrt(d.gram.minPivot)
	}
	m.rates(d, v)
	for k := 0; ; k++ {
		for r, g := range d.GRate {
			d.right[r] = -g
		}
		m.respond(d)
		for i, x := range d.y {
			v[i] += x
		}
		m.rates(d, v)
		if !factored || k == 3 || largestOf(d.GRate) <= closedTol*(1+largestOf(v)) {
			break
		}
	}
	if flat := m.plane; flat != nil && flat.coversAll {
		flat.lift(d)
	}
	switch {
	case finiteStatus(v) != OK:
		return NonFinite
	case left > failTol:
		return NotConverged
	}
	return OK
}

// closing finds the constraints at q, and with inertia H and its factor.
func (m *Model) closing(d *Data, q, v []float64, inertia bool) Status {
	flat := m.plane
	if flat != nil && !flat.coversAll {
		flat = nil
	}
	if flat != nil {
		flat.stand(d, q)
	} else {
		Positions(m, d, q)
	}
	switch {
	case !inertia:
	case flat != nil:
		flat.composite(d, m.nv)
	default:
		for j := 1; j < len(m.body); j++ {
			m.weigh(d, j, q, nil)
		}
		m.composite(d)
	}
	if inertia {
		if st := Factor(m, d); st != OK {
			return st
		}
	}
	d.crossing.prepare(d)
	if flat != nil {
		flat.close(m, d, q, v, false)
	} else {
		m.constrain(d, q, v, false)
	}
	d.crossing.replace(d, q, v)
	return OK
}

// respond puts H⁻¹·Jacᵀ·(Jac·H⁻¹·Jacᵀ)⁺·right into y; right is lost.
func (m *Model) respond(d *Data) {
	d.gram.solve(d.right)
	clear(d.y)
	m.addMultipliers(d, d.right, d.y)
	m.restSolve(d, d.y)
}
