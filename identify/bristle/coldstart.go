package bristle

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// guess is the cold start: Coulomb and viscous friction by regression on the fast part of the motion, the break-away level
// from the largest friction seen, and a grid of stiffness and Stribeck velocity in which every point is solved for the
// linear parameters. It returns the best points first.
func (s *search) guess(ctx context.Context) ([]theta, error) {
	mo := s.mo
	speeds := make([]float64, 0, mo.last-mo.first)
	for k := mo.first; k < mo.last; k++ {
		speeds = append(speeds, math.Abs(mo.v[k]))
	}
	slices.Sort(speeds)
	vmax := speeds[len(speeds)-1-len(speeds)/1000] // a thousandth for outliers

	// u ≈ M·a + Fc·sgn v + σ2·v + offset
	var g [16]float64
	var b [4]float64
	for k := mo.first; k < mo.last; k++ {
		if math.Abs(mo.v[k]) < 0.3*vmax {
			continue
		}
		c := [4]float64{mo.a[k], math.Copysign(1, mo.v[k]), mo.v[k], 1}
		for i := range 4 {
			for j := range 4 {
				g[4*i+j] += c[i] * c[j]
			}
			b[i] += c[i] * mo.u[k]
		}
	}
	if !solve4(&g, &b) {
		return nil, fmt.Errorf("regression on the fast part of the motion is singular")
	}
	mass, fc, off := b[0], b[1], b[3]
	friction := make([]float64, 0, len(speeds))
	for k := mo.first; k < mo.last; k++ {
		friction = append(friction, math.Abs(mo.u[k]-mass*mo.a[k]-off))
	}
	slices.Sort(friction)
	fs := friction[len(friction)*995/1000]
	if !(fc > 0.02*fs) { // a viscous axis, or one that hardly slides
		fc = 0.3 * fs
	}
	fs = max(fs, 1.05*fc)

	// deflections at break-away from what the encoder resolves to a part of the range
	lo, hi := slices.Min(mo.x), slices.Max(mo.x)
	var points []theta
	for z := 10 * s.d.noise; len(points) < 128 && z < (hi-lo)/8; z *= 4 {
		for _, share := range []float64{0.02, 0.06, 0.2, 0.6} {
			for _, level := range []float64{fs, 0.6 * fc} { // weaker in motion, or stronger
				t := s.m.start
				for i, v := range map[int]float64{inertia: max(mass, 0), sigma0: fs / z, coulomb: fc, breakout: level, stribeck: share * vmax, offset: off} {
					if s.m.isFree[i] {
						t[i] = v
					}
				}
				if level == fs && s.m.isFree[coulomb] && t[coulomb] >= t[breakout] {
					t[coulomb] = 0.7 * t[breakout]
				}
				s.m.clip(&t)
				if t[breakout] < t[coulomb] && !s.m.isFree[breakout] {
					continue
				}
				points = append(points, t)
			}
		}
	}
	p := newProjector(mo, s.m)
	cost := make([]float64, len(points))
	order := make([]int, len(points))
	for i := range points {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cost[i], order[i] = p.solve(&points[i]), i
	}
	s.trials += len(points)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost[a], cost[b]) })
	best := make([]theta, len(points))
	for i, k := range order {
		best[i] = points[k]
	}
	return best, nil
}

// solve4 solves a system of four equations by elimination with pivots; false if it is singular.
func solve4(g *[16]float64, b *[4]float64) bool {
	for i := range 4 {
		at := i
		for k := i + 1; k < 4; k++ {
			if math.Abs(g[4*k+i]) > math.Abs(g[4*at+i]) {
				at = k
			}
		}
		if g[4*at+i] == 0 {
			return false
		}
		for j := range 4 {
			g[4*i+j], g[4*at+j] = g[4*at+j], g[4*i+j]
		}
		b[i], b[at] = b[at], b[i]
		for k := i + 1; k < 4; k++ {
			f := g[4*k+i] / g[4*i+i]
			for j := i; j < 4; j++ {
				g[4*k+j] -= f * g[4*i+j]
			}
			b[k] -= f * b[i]
		}
	}
	for i := 3; i >= 0; i-- {
		for j := i + 1; j < 4; j++ {
			b[i] -= g[4*i+j] * b[j]
		}
		b[i] /= g[4*i+i]
	}
	return finite(b[0]) && finite(b[1]) && finite(b[2]) && finite(b[3])
}
