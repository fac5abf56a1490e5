package population

import (
	"math"

	"hilrig/engine/numeric"
)

// octet is the state and the constants of eight members, one per lane, in the order and at the distances that the steppers
// know: 64 bytes per field.
type octet struct {
	v    [8]float64 // m/s   at t − h/2
	z    [8]float64 // N     bristle force ζ = σ0·z
	x    [8]float64 // m
	cost [8]float64 // sum of the squared errors so far

	cap  [8]float64 // m²/s²  v² beyond which the bell has vanished
	bell [8]float64 // s²/m²  log2(e)/vs²
	df   [8]float64 // N      Fs − Fc
	fc   [8]float64 // N
	hs0  [8]float64 // N·s/m  h·σ0
	hq   [8]float64 // N²s²/m²  (h·σ0)²/2
	hk   [8]float64 // s/kg   h/M·(1 + σ1/(h·σ0))
	hm   [8]float64 // s/kg   h/M
	s2   [8]float64 // N·s/m
	off  [8]float64 // N
	h    [8]float64 // s

	_ [1][8]float64 // makes it 1024 bytes, so that vectors do not straddle cache lines
}

// bunch is the largest number of lanes that a stepper takes at once because it has to: for n lanes it takes the next power of
// two from 8 to bunch along, beyond that the next multiple of bunch.
const bunch = 32

// stepper advances the first n > 0 lanes of oct over the rows and writes the error of every lane at every row to errs: row
// after row stride numbers apart, or, with stride 0, all on the same place.
type stepper func(oct []octet, n int, rows []row, errs []float64, stride int)

// load puts a member at the first sample into a lane. Parameters without meaning, or beyond the limit of stability
// h²σ0/M + 2h(σ1 + σ2)/M < 4 and h(σ1 + σ2)/M < 2 of the sticking contact, are refused.
func (k *Kernel) load(lane int, theta []float64) bool {
	m, s0, s1, s2 := theta[thM], theta[thSigma0], theta[thSigma1], theta[thSigma2]
	fc, fs, vs, off := theta[thFc], theta[thFs], theta[thVs], theta[thOffset]
	h := k.h
	hm, hs0, c, bell := h/m, h*s0, s1+s2, math.Log2E/(vs*vs)
	hk, hq := hm*(1+s1/hs0), 0.5*hs0*hs0
	switch {
	case !(m > 0 && s0 > 0 && s1 >= 0 && s2 >= 0 && fc > 0 && fs > 0 && vs > 0):
		return false
	case !numeric.IsFinite(hm) || !numeric.IsFinite(bell) || !numeric.IsFinite(hk) || !numeric.IsFinite(hq) || !numeric.IsFinite(fc) ||
		!numeric.IsFinite(fs) || !numeric.IsFinite(off):
		return false
	case !(hm*(hs0+2*c) < 4 && hm*c < 2):
		return false
	}
	// half a step back with the acceleration at the first sample, where the bristles are relaxed and bend with dz/dt = v
	a := (k.u0 - off - c*k.v0) / m

	o, l := &k.oct[lane/8], lane%8
	o.v[l], o.z[l], o.x[l], o.cost[l] = k.v0-0.5*h*a, 0, k.x0, 0
	o.cap[l], o.bell[l], o.df[l], o.fc[l], o.hs0[l], o.hq[l] = bellEnd/bell, bell, fs-fc, fc, hs0, hq
	o.hk[l], o.hm[l], o.s2[l], o.off[l], o.h[l] = hk, hm, s2, off, h
	return true
}

// move copies a member to another lane.
func (k *Kernel) move(to, from int) {
	if to == from {
		return
	}
	k.members[to] = k.members[from]
	a, b, i, j := &k.oct[to/8], &k.oct[from/8], to%8, from%8
	a.v[i], a.z[i], a.x[i], a.cost[i] = b.v[j], b.z[j], b.x[j], b.cost[j]
	a.cap[i], a.bell[i], a.df[i], a.fc[i], a.hs0[i], a.hq[i] = b.cap[j], b.bell[j], b.df[j], b.fc[j], b.hs0[j], b.hq[j]
	a.hk[i], a.hm[i], a.s2[i], a.off[i], a.h[i] = b.hk[j], b.hm[j], b.s2[j], b.off[j], b.h[j]
}

// padLanes puts members that stay where they are into the lanes from n to the end of the bunch.
func (k *Kernel) padLanes(n int) {
	for lane := n; lane < (n+bunch-1)/bunch*bunch; lane++ {
		o, l := &k.oct[lane/8], lane%8
		o.v[l], o.z[l], o.x[l], o.cost[l] = 0, 0, 0, 0
		o.cap[l], o.bell[l], o.df[l], o.fc[l], o.hs0[l], o.hq[l] = 0, 0, 0, 1, 0, 0
		o.hk[l], o.hm[l], o.s2[l], o.off[l], o.h[l] = 0, 0, 0, 0, 0
	}
}
