package brush

import (
	"fmt"
	"math"

	"hilrig/engine/contact"
)

// startGap is the height of the face above contact at the start (m).
const startGap = 20e-6

// Start fills q and u: the brush at rest in the middle of its holder and at the holder's rake, the face 20 µm above contact with
// the commutator at the angle given last, the tip of the arm on the top. The error says which part does not reach the other.
func (b *Brush) Start(q, u []float64) error {
	clear(q[:dof])
	clear(u[:dof])
	q[2] = b.rake
	sin, cos := math.Sincos(b.rake)
	set := contact.NewSet(len(b.point)+8, dof)
	mid := (b.wall[0] + b.wall[1]) / 2
	place := func(up float64) { q[0], q[1] = b.holdX+cos*mid-sin*up, b.holdY+sin*mid+cos*up }
	lowest := func(up float64) float64 {
		place(up)
		set.Clear()
		var s scene
		b.unpack(q, u, &s.state)
		s.x, s.y = q[0], q[1]
		b.onCommutator(b.time0, &s, math.Inf(1), set)
		least := math.Inf(1)
		for _, g := range set.Gap[:set.N] {
			least = min(least, g)
		}
		return least
	}
	// along the holder's axis
	rest := b.p.Commutator.Radius + b.down - b.holdY
	up, ok := root(rest-b.down/2, rest+b.down, func(v float64) float64 { return lowest(v) - startGap })
	if !ok {
		return fmt.Errorf("no place along the holder where the face is %g m above the commutator", startGap)
	}
	place(up)

	// the tip comes down from the side of positive angles
	psin, pcos := math.Sincos(b.rake + b.p.Brush.TopSlope)
	above := func(a float64) float64 {
		ax, ay := math.Cos(a), math.Sin(a)
		ox, oy := b.pivotX+b.reach*ax-q[0]+sin*b.halfHeight, b.pivotY+b.reach*ay-q[1]-cos*b.halfHeight
		return pcos*oy - psin*ox - b.tip
	}
	const most = 1.4 // rad
	angle, ok := root(-most, most, above)
	if !ok {
		return fmt.Errorf("spring.arm: %g m from the pivot at (%g, %g) m does not reach the top face", b.reach, b.pivotX, b.pivotY)
	}
	q[colArm] = angle
	var s scene
	b.unpack(q, u, &s.state)
	s.x, s.y = q[0], q[1]
	set.Clear()
	if b.underSpring(&s, math.Inf(1), set); set.ID[0] != idSpring {
		return fmt.Errorf("spring.pivot_x: %g m puts the tip beside the brush, at x = %.3g m", b.p.Spring.PivotX, set.X[0])
	}
	return nil
}

// root bisects f, which rises from below zero at lo to above it at hi, to the last bit.
func root(lo, hi float64, f func(float64) float64) (float64, bool) {
	if !(f(lo) < 0 && f(hi) > 0) {
		return 0, false
	}
	for {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			return hi, true
		}
		if f(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
}
