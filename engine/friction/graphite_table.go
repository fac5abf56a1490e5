package friction

import (
	"errors"
	"fmt"
	"math"
)

// MuTable is a coefficient of friction measured over speed, temperature and current density. Between the nodes it is linear
// in each of the three; outside the axes it keeps the value at the edge. It does not change after NewMuTable.
type MuTable struct {
	v, t, j []float64 // m/s, °C, A/m²
	mu      []float64 // mu[(a·len(t) + b)·len(j) + c] at v[a], t[b], j[c]
}

// Validate reports every axis that does not rise, every coefficient that is not positive, and a wrong number of them.
func (m *MuTable) Validate() error {
	var errs []error
	for _, a := range []struct {
		name string
		x    []float64
		lo   float64
	}{{"speed", m.v, 0}, {"temperature", m.t, -273.15}, {"current density", m.j, 0}} {
		if len(a.x) == 0 {
			errs = append(errs, fmt.Errorf("table of coefficients: %s: no numbers", a.name))
		}
		for i, x := range a.x {
			if math.IsNaN(x) || math.IsInf(x, 0) || x < a.lo || i > 0 && x <= a.x[i-1] {
				errs = append(errs, fmt.Errorf("table of coefficients: %s[%d]: %g, want finite numbers from %g on that rise", a.name, i, x, a.lo))
			}
		}
	}
	if want := len(m.v) * len(m.t) * len(m.j); len(m.mu) != want {
		errs = append(errs, fmt.Errorf("table of coefficients: %d values, want %d × %d × %d = %d", len(m.mu), len(m.v), len(m.t), len(m.j), want))
	}
	for i, mu := range m.mu {
		if !(mu > 0) || math.IsInf(mu, 0) {
			errs = append(errs, fmt.Errorf("table of coefficients: value[%d]: %g, want a finite number > 0", i, mu))
		}
	}
	return errors.Join(errs...)
}

// Mu is the coefficient at speed v (m/s), temperature t (°C) and current density j (A/m²); the signs of v and j do not matter.
func (m *MuTable) Mu(v, t, j float64) float64 {
	mu, _ := m.muSlope(math.Abs(v), t, j)
	return mu
}

// muSlope is the coefficient at a speed v ≥ 0 and its derivative with respect to it.
func (m *MuTable) muSlope(v, t, j float64) (mu, slope float64) {
	a, x := cell(m.v, v)
	b, y := cell(m.t, t)
	c, z := cell(m.j, math.Abs(j))
	nt, nj := len(m.t), len(m.j)
	b1, c1 := min(b+1, nt-1), min(c+1, nj-1)
	at := func(a int) float64 {
		p, q := m.mu[(a*nt+b)*nj:], m.mu[(a*nt+b1)*nj:]
		lo, hi := p[c]+z*(p[c1]-p[c]), q[c]+z*(q[c1]-q[c])
		return lo + y*(hi-lo)
	}
	if a+1 >= len(m.v) || x == 0 && v < m.v[a] {
		return at(a), 0
	}
	lo, hi := at(a), at(a+1)
	return lo + x*(hi-lo), (hi - lo) / (m.v[a+1] - m.v[a])
}

// cell is the interval of a rising axis that holds x, and the place in it from 0 to 1; at the ends and beyond the nearest
// node.
func cell(axis []float64, x float64) (i int, place float64) {
	n := len(axis)
	if !(x > axis[0]) {
		return 0, 0
	}
	if x >= axis[n-1] {
		return n - 1, 0
	}
	lo, hi := 0, n-1
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; x >= axis[mid] {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, (x - axis[lo]) / (axis[lo+1] - axis[lo])
}

// steepest is the narrowest interval of speed (m/s) and the steepest fall of the coefficient with speed (s/m).
func (m *MuTable) steepest() (speed, fall float64) {
	speed = math.Inf(1)
	per := len(m.t) * len(m.j)
	for a := 1; a < len(m.v); a++ {
		d := m.v[a] - m.v[a-1]
		speed = min(speed, d)
		for k := range per {
			fall = max(fall, (m.mu[(a-1)*per+k]-m.mu[a*per+k])/d)
		}
	}
	if math.IsInf(speed, 1) {
		speed = 1
	}
	return speed, fall
}
