package multibody

import "math"

// Partition is forward dynamics in independent velocities: of rank-many dependent ones, v_d = −B⁻¹(B_u·v_u + rate) with Jac = [B_u B]
// in independent rows, so that constraints at velocity level hold by construction and those of position after Close [WH82]. It chooses
// by elimination with complete pivoting of Jac, columns in the unit of their inertia, and chooses anew where the least pivot of the
// best choice is more than twice that of the present one. It belongs to one goroutine.
type Partition struct {
	Dependent, Independent []int // velocities
	Switches               int   // choices after the first

	m        *Model
	rows     []int // independent equations, pivot by pivot with Dependent
	dep      []bool
	work     []float64 // nc×nv  Jac under elimination
	freeRows []int
	x        []float64 // nd×(ni+1): B⁻¹·[B_u | bias]
	hr       []float64 // nv×ni  H·R
	mass     []float64 // ni×ni
	acc      []float64 // nv     what the dependent velocities do for dv_u/dt = 0
	b        []float64
	dv       []float64
}

// NewPartition makes a partition without a choice.
func NewPartition(m *Model) *Partition {
	n, k := m.nv, m.loops.n
	return &Partition{
		m: m, Dependent: make([]int, 0, min(n, k)), Independent: make([]int, 0, n), rows: make([]int, 0, k), dep: make([]bool, n),
		work: make([]float64, k*n), freeRows: make([]int, k), x: make([]float64, k*(n+1)), hr: make([]float64, n*n),
		mass: make([]float64, n*n), acc: make([]float64, n), b: make([]float64, max(n, k)), dv: make([]float64, n),
	}
}

// pivots eliminates Jac and returns the least pivot; only velocities with allow (nil: all) are taken. With keep they become the choice.
func (p *Partition) pivots(d *Data, allow []bool, keep bool) (rank int, least float64) {
	m := p.m
	n, k := m.nv, m.loops.n
	for r := range k {
		p.freeRows[r] = r
		for i := range n {
			p.work[r*n+i] = d.Jac[r*n+i] / math.Sqrt(d.H[i*n+i])
		}
	}
	if keep {
		p.Dependent, p.rows = p.Dependent[:0], p.rows[:0]
	}
	first := 0.0
	for ; rank < min(n, k); rank++ {
		at, col, top := -1, -1, 0.0
		for s := rank; s < k; s++ {
			row := p.work[p.freeRows[s]*n : p.freeRows[s]*n+n]
			for i, x := range row {
				if (allow == nil || allow[i]) && math.Abs(x) > top {
					at, col, top = s, i, math.Abs(x)
				}
			}
		}
		if first = max(first, top); top <= 1e-9*first || top == 0 {
			break
		}
		least = top
		p.freeRows[rank], p.freeRows[at] = p.freeRows[at], p.freeRows[rank]
		pivot := p.work[p.freeRows[rank]*n : p.freeRows[rank]*n+n]
		for _, s := range p.freeRows[rank+1:] {
			row := p.work[s*n : s*n+n]
			if f := row[col] / pivot[col]; f != 0 {
				for i := range row {
					row[i] -= f * pivot[i]
				}
				row[col] = 0
			}
		}
		if keep {
			p.Dependent, p.rows = append(p.Dependent, col), append(p.rows, p.freeRows[rank])
		}
	}
	return rank, least
}

// Choose looks whether the choice is still good, or makes one, for the Jac and H of the last evaluation.
func (p *Partition) Choose(d *Data) Status {
	if len(p.Dependent) > 0 {
		rank, now := p.pivots(d, p.dep, false)
		_, best := p.pivots(d, nil, false)
		if rank == len(p.Dependent) && best <= 2*now {
			return p.status(d, rank)
		}
		p.Switches++
	}
	rank, _ := p.pivots(d, nil, true)
	clear(p.dep)
	for _, i := range p.Dependent {
		p.dep[i] = true
	}
	p.Independent = p.Independent[:0]
	for i, dep := range p.dep {
		if !dep {
			p.Independent = append(p.Independent, i)
		}
	}
	return p.status(d, rank)
}

func (p *Partition) status(d *Data, rank int) Status {
	if d.Rank = rank; rank < d.FullRank {
		return Singular
	}
	return OK
}

// solveBlock puts B⁻¹·[B_u | last] into x; last has an entry for each equation.
func (p *Partition) solveBlock(d *Data, last []float64) bool {
	n, nd, ni := p.m.nv, len(p.Dependent), len(p.Independent)
	w := ni + 1
	b := p.work[:nd*nd]
	for r, row := range p.rows {
		for c, i := range p.Dependent {
			b[r*nd+c] = d.Jac[row*n+i]
		}
		for c, i := range p.Independent {
			p.x[r*w+c] = d.Jac[row*n+i]
		}
		p.x[r*w+ni] = last[row]
	}
	for k := range nd {
		at := k
		for r := k + 1; r < nd; r++ {
			if math.Abs(b[r*nd+k]) > math.Abs(b[at*nd+k]) {
				at = r
			}
		}
		if !(math.Abs(b[at*nd+k]) > 0) {
			return false
		}
		if at != k {
			for c := range nd {
				b[k*nd+c], b[at*nd+c] = b[at*nd+c], b[k*nd+c]
			}
			for c := range w {
				p.x[k*w+c], p.x[at*w+c] = p.x[at*w+c], p.x[k*w+c]
			}
		}
		for r := range nd {
			f := b[r*nd+k] / b[k*nd+k]
			if r == k || f == 0 {
				continue
			}
			for c := k; c < nd; c++ {
				b[r*nd+c] -= f * b[k*nd+c]
			}
			for c := range w {
				p.x[r*w+c] -= f * p.x[k*w+c]
			}
		}
	}
	for k := range nd {
		f := 1 / b[k*nd+k]
		for c := range w {
			p.x[k*w+c] *= f
		}
	}
	return true
}

// Dynamics is forward dynamics by the reduced equations Rᵀ·H·R·dv_u/dt = Rᵀ(τ − h − H·a₀), R = [1; −B⁻¹·B_u]. Valid afterwards: QDD, H,
// Jac, G, GRate and all of Velocities; there are no multipliers.
func (p *Partition) Dynamics(d *Data, q, v, tau []float64) Status {
	m := p.m
	m.check("Partition.Dynamics", q, v, tau)
	if st := m.prepare(d, q, v); st != OK {
		return st
	}
	st := p.Choose(d)
	if !p.solveBlock(d, d.Bias) {
		return Singular
	}
	n, ni := m.nv, len(p.Independent)
	w := ni + 1
	clear(p.acc)
	for r, i := range p.Dependent {
		p.acc[i] = -p.x[r*w+ni]
	}
	// right side and H·R; H is read from its lower triangle
	at := func(i, k int) float64 {
		if i < k {
			i, k = k, i
		}
		return d.H[i*n+k]
	}
	copy(d.QDD, tau)
	m.losses(q, v, d.QDD, -1)
	for i := range n {
		s := d.QDD[i] - d.Tau[i]
		for _, k := range p.Dependent {
			s -= at(i, k) * p.acc[k]
		}
		p.b[i] = s
		for c, k := range p.Independent {
			x := at(i, k)
			for r, l := range p.Dependent {
				x -= at(i, l) * p.x[r*w+c]
			}
			p.hr[i*ni+c] = x
		}
	}
	for c, k := range p.Independent {
		s := p.b[k]
		for r, l := range p.Dependent {
			s -= p.x[r*w+c] * p.b[l]
		}
		p.dv[c] = s
		for e := range c + 1 {
			x := p.hr[k*ni+e]
			for r, l := range p.Dependent {
				x -= p.x[r*w+c] * p.hr[l*ni+e]
			}
			p.mass[c*ni+e] = x
		}
	}
	if !choleskySolve(p.mass, ni, p.dv[:ni]) {
		return NotPositive
	}
	copy(d.QDD, p.acc)
	p.spread(d.QDD)
	if finiteStatus(d.QDD) != OK {
		return NonFinite
	}
	return st
}

// spread adds R·dv to the velocities.
func (p *Partition) spread(to []float64) {
	w := len(p.Independent) + 1
	for c, i := range p.Independent {
		to[i] = p.dv[c]
	}
	for r, i := range p.Dependent {
		for c := range p.Independent {
			to[i] -= p.x[r*w+c] * p.dv[c]
		}
	}
}

// Close keeps the independent coordinates and velocities and finds the dependent ones by Newton's method. Drives must be set for the
// time of q. Valid afterwards: Positions, G, GRate.
func (p *Partition) Close(d *Data, q, v []float64) Status {
	m := p.m
	m.check("Partition.Close", q, v, nil)
	n, ni := m.nv, len(p.Independent)
	w := ni + 1
	left := math.Inf(1)
	for k := 0; ; k++ {
		Positions(m, d, q)
		m.constrain(d, q, v, false)
		size := 0.0
		for _, r := range p.rows {
			size = math.Max(size, math.Abs(d.G[r]))
		}
		if size-size != 0 {
			return NonFinite
		}
		if size <= closedTol || k == projection || size <= failTol && size >= left {
			left = size
			break
		}
		left = size
		if !p.solveBlock(d, d.G) {
			return Singular
		}
		clear(p.acc)
		for r, i := range p.Dependent {
			p.acc[i] = -p.x[r*w+ni]
		}
		Integrate(m, q, p.acc, 1, q)
	}
	if !p.solveBlock(d, d.rate) {
		return Singular
	}
	for c, i := range p.Independent {
		p.dv[c] = v[i]
	}
	for r, i := range p.Dependent {
		v[i] = -p.x[r*w+ni]
	}
	p.spread(v[:n])
	m.rates(d, v)
	switch {
	case finiteStatus(v) != OK:
		return NonFinite
	case left > failTol:
		return NotConverged
	}
	return OK
}

// choleskySolve replaces b by A⁻¹·b; the lower triangle of A is lost.
func choleskySolve(a []float64, n int, b []float64) bool {
	if !choleskyFactor(a, n) {
		return false
	}
	lowerSolve(a, n, n, b)
	upperSolve(a, n, n, b)
	return true
}

// choleskyFactor replaces the lower triangle of A by its factor.
func choleskyFactor(a []float64, n int) bool {
	for i := range n {
		for j := range i + 1 {
			x := a[i*n+j]
			for k := range j {
				x -= a[i*n+k] * a[j*n+k]
			}
			if i != j {
				a[i*n+j] = x / a[j*n+j]
			} else if !(x > 0) {
				return false
			} else {
				a[i*n+i] = math.Sqrt(x)
			}
		}
	}
	return true
}
