package pose

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/rotation"
)

// Smooth filters the poses z (times rising) forwards and smooths them backwards: every state uses all poses. Orientations are
// continuous in sign. A gap longer than MaxRest divides the record; states before it know nothing of those behind. used tells which
// poses passed the gate; the states of the others are estimates all the same.
func Smooth(spec MotionSpec, z []Sample) (x []State, used []bool, err error) {
	m, err := NewMotion(spec)
	if err != nil {
		return nil, nil, err
	}
	if len(z) == 0 {
		return nil, nil, errors.New("motion filter: no poses")
	}
	for k := 1; k < len(z); k++ {
		if !(z[k].T > z[k-1].T) {
			return nil, nil, fmt.Errorf("motion filter: pose %d at %g s is not after the one before it at %g s: want times that rise", k, z[k].T, z[k-1].T)
		}
	}
	n := len(z)
	x, used = make([]State, n), make([]bool, n)
	pred := make([]State, n) // before the correction
	for k := range z {
		if m.begun && !(spec.MaxRest > 0 && z[k].T-m.x.T > spec.MaxRest) {
			m.Predict(z[k].T)
			pred[k] = m.x
			used[k] = m.Correct(&z[k])
		} else {
			m.begin(&z[k])
			used[k] = true
		}
		x[k] = m.x
	}
	for k := n - 2; k >= 0; k-- {
		if spec.MaxRest > 0 && z[k+1].T-z[k].T > spec.MaxRest {
			continue
		}
		var phiTurn, phiPlace square
		h := z[k+1].T - z[k].T
		x[k].transition(h, &phiTurn)
		kinematic(&phiPlace, h)
		next, p := &x[k+1], &pred[k+1]
		e := rotation.Between(p.R, next.R)
		var dt, dp [most]float64
		put(&dt, e, r3.Sub(next.Omega, p.Omega), r3.Sub(next.Alpha, p.Alpha))
		put(&dp, r3.Sub(next.P, p.P), r3.Sub(next.V, p.V), r3.Sub(next.A, p.A))
		if !back(&x[k].turn, &phiTurn, &p.turn, &next.turn, &dt) || !back(&x[k].place, &phiPlace, &p.place, &next.place, &dp) {
			return nil, nil, fmt.Errorf("motion filter: the covariance at %g s is not positive definite: a jerk noise that is far too small for the poses, or poses without noise", z[k].T)
		}
		x[k].add(&dt, &dp)
	}
	for k := 1; k < n; k++ {
		x[k].R = rotation.Near(x[k].R, x[k-1].R)
	}
	return x, used, nil
}

func put(d *[most]float64, a, b, c r3.Vec) {
	for i, v := range [3]r3.Vec{a, b, c} {
		d[3*i], d[3*i+1], d[3*i+2] = v.X, v.Y, v.Z
	}
}

// back is one step of Rauch, Tung and Striebel: P the filtered covariance, which becomes the smoothed one, d the difference of the
// next smoothed and predicted states, which becomes the correction of this one.
func back(p, phi, pred, next *square, d *[most]float64) bool {
	const n = nMotion
	var l, g square // g = P·Φᵀ·pred⁻¹
	if !factor(pred, &l, n) {
		return false
	}
	for i := range n {
		for j := range n {
			for k := range n {
				g[i][j] += p[i][k] * phi[j][k]
			}
		}
		solve(&l, &g[i], n)
	}
	var dx [most]float64
	var diff, gd square
	for i := range n {
		for j := range n {
			dx[i] += g[i][j] * d[j]
			diff[i][j] = next[i][j] - pred[i][j]
		}
	}
	for i := range n {
		for j := range n {
			for k := range n {
				gd[i][j] += g[i][k] * diff[k][j]
			}
		}
	}
	for i := range n {
		for j := range i + 1 {
			s := p[i][j]
			for k := range n {
				s += gd[i][k] * g[j][k]
			}
			p[i][j], p[j][i] = s, s
		}
	}
	*d = dx
	return true
}
