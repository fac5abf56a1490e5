package axis

import (
	"math"

	"hilrig/engine/friction"
)

// Where a record begins in motion, so does the contact: not relaxed, as after a long rest, but as after a long slide at the
// same speed. Whether a small speed is a motion, or the noise of a mass at rest, only its size tells. Bristles begin with the
// share
//
//	1 − exp(−(v/vs)⁸)
//
// of their steady deflection, vs the Stribeck velocity: nothing well below it and all of it above, and smooth in between,
// since vs is searched. Laws with a mode of sliding begin in it above vs and above a fiftieth of the largest speed.

// moved is that share at r = v/vs.
func moved(r float64) float64 {
	r *= r
	r *= r
	return -math.Expm1(-r * r)
}

// slidesFrom is the share of the largest speed from which a mode of sliding is believed.
const slidesFrom = 0.02

// path is for how many deflections at break-away, and time constants of the law, a contact slides until it is steady.
const path = 50

// start puts the body at the beginning of a piece at x (m) and v (m/s).
func (b *body) start(x, v float64) {
	b.x[0], b.x[1] = x, v
	z := b.x[2:]
	b.law.Reset(z)
	speed := math.Abs(v)
	if len(z) == 0 || speed == 0 {
		return
	}
	k := b.whole.Stiffness()
	if s, ok := b.law.(friction.Sliding); ok {
		if speed > max(k.Speed, slidesFrom*b.top) {
			s.ResetSliding(z, v)
		}
		return
	}
	share := moved(v / k.Speed)
	level := math.Abs(b.whole.Steady(v))
	if b.switched || !(k.K > 0 && level > 0 && share > 0) {
		return
	}
	long := path * level / k.K / speed
	for _, tau := range b.taus {
		long += path * *tau
	}
	copy(b.steady, z)
	b.whole.Step(b.steady, friction.Input{Dt: long, V: v})
	for i, q := range b.steady {
		if i != b.travel { // a displacement counts from the beginning of the record
			z[i] += share * (q - z[i])
		}
	}
}
