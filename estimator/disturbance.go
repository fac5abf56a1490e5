package estimator

import (
	"errors"
	"fmt"
	"math"

	"hilrig/engine"
)

// DisturbanceSpec describes a disturbance observer.
type DisturbanceSpec struct {
	Inertia   float64 // kg·m²  M̂
	Bandwidth float64 // Hz     −3 dB of Q
	Order     int     // of Q: 1 or 2
	DeadBand  float64 // rad    error below which the estimate is frozen
	Limit     float64 // N·m    largest estimate
}

// DisturbanceObserver is the torque that the known motion leaves unexplained, through a low-pass:
//
//	d̂ = Q(s)·[u − M̂·s·v],   Q = (ω/(s + ω))ⁿ,  n = 1 or 2
//
// Between ticks u is held and v taken as a straight line, for which the step below is exact: what enters Q is
// u − M̂·Δv/h. The bandwidth is that of Q whatever its order, ω = 2πB/√(2^(1/n) − 1).
//
// Against stiction it is integral action, and hunts like it: inside the dead band of the error it is frozen [theory
// §10.4]. The estimate is kept within its limit in the filter itself, so it leaves the limit without delay.
type DisturbanceObserver struct {
	s     DisturbanceSpec
	omega float64    // rad/s
	x     [2]float64 // N·m  stages of Q, the last one is d̂
	v     float64    // rad/s  of the tick before
	set   bool
}

// NewDisturbanceObserver checks the description.
func NewDisturbanceObserver(s DisturbanceSpec) (*DisturbanceObserver, error) {
	err := errors.Join(above0("disturbance observer: inertia", s.Inertia, "kg·m²"),
		above0("disturbance observer: bandwidth", s.Bandwidth, "Hz"),
		atLeast0("disturbance observer: dead band", s.DeadBand, "rad"), above0("disturbance observer: limit", s.Limit, "N·m"))
	if s.Order != 1 && s.Order != 2 {
		err = errors.Join(err, fmt.Errorf("disturbance observer: order: %d, want 1 or 2", s.Order))
	}
	if err != nil {
		return nil, err
	}
	d := new(DisturbanceObserver)
	d.Renew(s)
	return d, nil
}

// Renew begins anew with another description, which is not checked.
func (d *DisturbanceObserver) Renew(s DisturbanceSpec) {
	corner := math.Sqrt(math.Pow(2, 1/float64(s.Order)) - 1) // −3 dB of n equal stages, in units of ω
	*d = DisturbanceObserver{s: s, omega: 2 * math.Pi * s.Bandwidth / corner}
}

// Reset forgets the disturbance and the speed.
func (d *DisturbanceObserver) Reset() { d.x, d.v, d.set = [2]float64{}, 0, false }

// Estimate is d̂ (N·m).
func (d *DisturbanceObserver) Estimate() float64 { return d.x[d.s.Order-1] }

// Compensate advances the estimate and returns it. Limited: it was cut.
func (d *DisturbanceObserver) Compensate(dt float64, m Motion) (float64, engine.Status) {
	if !(dt > 0) || !m.allFinite() {
		d.set = false // the next difference of speeds would span the gap
		return 0, engine.NonFinite
	}
	dv := m.V - d.v
	known := d.set
	d.v, d.set = m.V, true
	if m.LearningHeld || !known || math.Abs(m.E) < d.s.DeadBand {
		return d.Estimate(), engine.OK
	}
	// ẋ1 = ω(r − x1), ẋ2 = ω(x1 − x2) with r held: exact
	r := m.U - d.s.Inertia*dv/dt
	if math.IsNaN(r) || math.IsInf(r, 0) { // two speeds beyond all reason
		d.set = false
		return 0, engine.NonFinite
	}
	a := d.omega * dt
	e := math.Exp(-a)
	x1, x2 := d.x[0]-r, d.x[1]-r
	d.x[0] = r + e*x1
	d.x[1] = r + e*(x2+a*x1)
	st := engine.OK
	for i, x := range d.x {
		if math.Abs(x) > d.s.Limit {
			d.x[i] = math.Copysign(d.s.Limit, x)
			if i == d.s.Order-1 {
				st = engine.Limited
			}
		}
	}
	return d.Estimate(), st
}
