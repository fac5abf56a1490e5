package estimator

import (
	"math"
)

// Ahead carries an estimate from the time of its sample to a later moment, with the voltage held: the age of a sample
// when it reaches the tick wanders as the clocks of device and host drift past one another, so it cannot be built into
// the filter as a constant delay.
//
// The motor's equations are stiff (the brush drop makes the winding's time constant some 40 µs), so the steps are the
// filter's own exact transitions, tabulated in eighths of a period; what is left moves the angle at constant speed.
type Ahead struct {
	k      *Kalman
	period float64 // s
	eighth [8]transition
}

// NewAhead prepares the transitions of the filter described by s.
func NewAhead(s KalmanSpec) (*Ahead, error) {
	k, err := NewKalman(s)
	if err != nil {
		return nil, err
	}
	a := &Ahead{k: k, period: k.s.Dt}
	for j := 1; j < len(a.eighth); j++ {
		a.eighth[j] = discretise(&k.s, k.n, k.s.Dt*float64(j)/8)
	}
	return a, nil
}

// most is the longest way ahead, in periods; what lies beyond it is no estimate any more.
const mostAhead = 50

// Step moves x = [θ ω i T …] by dt (s) under the voltage u (V), in place.
func (a *Ahead) Step(x []float64, u, dt float64) {
	if !(dt > 0) || math.IsNaN(u) {
		return
	}
	n := math.Min(dt/a.period, mostAhead)
	whole := math.Floor(n)
	j := math.Floor((n - whole) * 8)
	rest := (n - whole - j/8) * a.period
	var s [nMax]float64
	copy(s[:a.k.n], x)
	for range int(whole) {
		a.k.whole.step(a.k, &s, u)
	}
	if j > 0 {
		a.eighth[int(j)].step(a.k, &s, u)
	}
	s[XPos] += s[XVel] * rest
	copy(x, s[:min(len(x), a.k.n)])
}
