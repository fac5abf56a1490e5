package estimator

// The covariance part of the filter: how uncertainty grows over a transition and shrinks with a sample. P is n×n row-major.

// spread is P ← Φ·P·Φᵀ + Q.
func (k *Kalman) spread(t *transition) {
	n := k.n
	var a [nMax * nMax]float64
	for i := range n {
		row := t.phi[i*n : i*n+n]
		for j := range n {
			s := 0.0
			for l, f := range row {
				s += f * k.p[l*n+j]
			}
			a[i*n+j] = s
		}
	}
	for i := range n {
		for j := i; j < n; j++ {
			s := t.q[i*n+j]
			for l := range n {
				s += a[i*n+l] * t.phi[j*n+l]
			}
			k.p[i*n+j], k.p[j*n+i] = s, s
		}
	}
}

// correct takes the samples one after the other, each a scalar update of the covariance in Joseph's form,
// P ← (I − k·hᵀ)·P·(I − k·hᵀ)ᵀ + k·r·kᵀ, which keeps P symmetric and positive whatever rounding does to k.
func (k *Kalman) correct(y [2]float64, mask int) {
	n := k.n
	k.nis, k.used = 0, 0
	for j := range y {
		if mask&(1<<j) == 0 {
			continue
		}
		nu := y[j] - k.predicted(j)
		var ph, g [nMax]float64
		for i := range n {
			ph[i] = k.times(i, j)
		}
		s := k.r[j] + ph[hIndex[j]]
		if j == 1 && n > XBias {
			s += ph[XBias]
		}
		for i := range n {
			g[i] = ph[i] / s
			k.x[i] += g[i] * nu
		}
		// (I − k·hᵀ)·P
		for i := range n {
			for l := range n {
				k.p[i*n+l] -= g[i] * ph[l]
			}
		}
		// · (I − k·hᵀ)ᵀ + k·r·kᵀ
		for i := range n {
			a := k.times(i, j)
			for l := range n {
				k.p[i*n+l] += (g[i]*k.r[j] - a) * g[l]
			}
		}
		for i := range n {
			for l := i + 1; l < n; l++ {
				m := 0.5 * (k.p[i*n+l] + k.p[l*n+i])
				k.p[i*n+l], k.p[l*n+i] = m, m
			}
		}
		k.nis += nu * nu / s
		k.used++
	}
}

var hIndex = [2]int{XPos, XCur}

// predicted is what sensor j should read.
func (k *Kalman) predicted(j int) float64 {
	if j == 1 && k.n > XBias {
		return k.x[XCur] + k.x[XBias]
	}
	return k.x[hIndex[j]]
}

// times is (P·h)[i] for sensor j.
func (k *Kalman) times(i, j int) float64 {
	v := k.p[i*k.n+hIndex[j]]
	if j == 1 && k.n > XBias {
		v += k.p[i*k.n+XBias]
	}
	return v
}
