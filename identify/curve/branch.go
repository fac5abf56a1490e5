package curve

import (
	"math"

	"hilrig/engine"
)

// branches is a presliding loop, theory §3 and §9.2: force over displacement in pieces between reversals of the force. With
// the direction s = ±1 of a piece, its first displacement x_j and bristle force ζ_j,
//
//	f(x) = s·Fs + (ζ_j − s·Fs)·exp(−s·σ0·(x − x_j)/Fs),   u = f + offset,   ζ_{j+1} = f(x_{j+1})
//
// This is the bristle of LuGre and of Dahl as long as speeds are far below vs, so that g = Fs. The displacement counts from
// where the piece begins, with its sign: noise lengthens no path, and no logarithm is taken of a noisy force.
//
// Both channels are noisy. A sample at (x, u) belongs to a point X of the curve, which is estimated between two fits and
// then held; u is compared with the tangent there,
//
//	u ≈ f(X) + f'(X)·(x − X),   variance (1 + f'/k)²·σ_u² + f'²·σ_x²,
//
// which is orthogonal regression. Slope and variance are held with X
// within a fit: x − X goes with the misfit, so a slope that could follow the parameters would be pulled down by the noise.
// k is the stiffness of the rig, whose deflection u/k has been taken from x.
//
// Unknown beside the parameters are the displacements x_j of the reversals and the bristle force ζ_0 at the start.
type branches struct {
	sigma0, offset int
	level          [2]int // Fs forward and backward
	rate           int    // coefficient of the rate of the bristle
	start          int    // ζ_0; behind it the x_j, j = 1 …
	n              int    // parameters

	x, at0       []float64 // m: displacement, X
	tangentForce []float64 // N: f'·(x − X)
	zdot         []float64 // m/s: rate of the bristle
	part         []int     // piece of the sample
	dir          []float64 // of the pieces
	firstX       float64   // m, where the first piece begins

	dz     []float64 // derivatives of ζ at the start of the current piece
	nextDz []float64
}

func (b *branches) copy() *branches {
	c := *b
	c.dz, c.nextDz = make([]float64, b.n), make([]float64, b.n)
	return &c
}

// at writes the forces.
func (b *branches) at(theta, f, j []float64) engine.Status {
	off := theta[b.offset]
	xj, zeta, place, cur := b.firstX, theta[b.start], -1, 0 // place: of x_j, which the first piece does not have
	clear(b.dz)
	b.dz[b.start] = 1
	for k := range f {
		for cur < b.part[k] { // the next piece begins
			turn := b.start + 1 + cur
			g := b.nextDz
			clear(g)
			end, slope := b.force(theta, b.dir[cur], theta[turn], xj, zeta, place, g)
			g[turn] += slope
			zeta, xj, place = end, theta[turn], turn
			b.dz, b.nextDz = g, b.dz
			cur++
		}
		var g []float64
		if j != nil {
			g = j[k*b.n : (k+1)*b.n]
			g[b.offset]++
			g[b.rate] += b.zdot[k]
		}
		val, _ := b.force(theta, b.dir[cur], b.at0[k], xj, zeta, place, g)
		f[k] = val + b.tangentForce[k] + off + theta[b.rate]*b.zdot[k]
	}
	return engine.OK
}

// force is f and f' at x on a piece; derivatives with respect to the parameters at constant x are added to g.
func (b *branches) force(theta []float64, s, x, xj, zeta float64, place int, g []float64) (f, slope float64) {
	lv := b.level[direction(s)]
	sigma0, fs := theta[b.sigma0], theta[lv]
	f, slope = b.branchForce(theta, s, x, xj, zeta)
	if g != nil {
		way := s * (x - xj)
		e := math.Exp(-max(sigma0*way/fs, -30))
		d := (zeta - s*fs) * e
		for i, z := range b.dz {
			g[i] += z * e
		}
		g[lv] += s*(1-e) + d*sigma0*way/(fs*fs)
		g[b.sigma0] -= d * way / fs
		if place >= 0 {
			g[place] -= slope
		}
	}
	return f, slope
}

// branchForce is f and f' at x on the piece with direction s that begins at xj with the bristle force zeta.
func (b *branches) branchForce(theta []float64, s, x, xj, zeta float64) (f, slope float64) {
	sigma0, fs := theta[b.sigma0], theta[b.level[direction(s)]]
	d := (zeta - s*fs) * math.Exp(-max(sigma0*s*(x-xj)/fs, -30)) // kept finite far behind a reversal
	return s*fs + d, -d * s * sigma0 / fs
}
