package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// weighed is a least-squares fit of the torque of a lever with dry and viscous friction and a lag to a torque that is made here: its weight
// and friction, friction by the load, and a lag.
func weighed(seed uint64, efficiency, lag float64) *Solution {
	rng := rand.New(rand.NewPCG(seed, 33))
	const n, dt = 3000, 6e-3
	tones := [][3]float64{{0.5, 0.31, 0}, {0.3, 0.53, 0}, {0.15, 0.97, 0}}
	for i := range tones {
		tones[i][2] = 2 * math.Pi * rng.Float64()
	}
	tour := func(t float64) (q, v, a float64) {
		for _, s := range tones {
			w := 2 * math.Pi * s[1]
			sin, cos := math.Sincos(w*t + s[2])
			q, v, a = q+s[0]*sin, v+s[0]*w*cos, a-s[0]*w*w*sin
		}
		return q, v, a
	}
	torque := func(t float64) float64 {
		q, v, a := tour(t)
		load := 0.6*a + 14*math.Cos(q)
		return load + 0.66*v + math.Copysign(1.86+efficiency*math.Abs(load), v)
	}
	s := &Solution{Quantity: "force", Unit: "N·m", Dt: dt, Params: []Param{{}, {}, {}, {}, {}}, FreeParams: []int{0, 1, 2, 3, 4}}
	for i, name := range []string{"J", "mgc", "Fv", "Fc", "lag"} {
		s.Params[i].Name, s.Params[i].Lo, s.Params[i].Hi = name, math.Inf(-1), math.Inf(1)
	}
	for k := range n {
		t := float64(k) * dt
		q, v, a := tour(t)
		if math.Abs(v) < 0.1 { // slow rows are left out
			continue
		}
		s.Position, s.Velocity = append(s.Position, q), append(s.Velocity, v)
		s.Measured = append(s.Measured, torque(t-lag)+0.05*rng.NormFloat64())
		slope := 0.0
		for _, by := range []float64{-1, 1} { // of the torque but for its jumps
			q, v, a := tour(t + by*dt/2)
			slope += by * (0.6*a + 14*math.Cos(q) + 0.66*v) / dt
		}
		s.Jac = append(s.Jac, a, math.Cos(q), v, math.Copysign(1, v), -slope)
	}
	rows := len(s.Measured)
	x, y := mat.NewDense(rows, 5, s.Jac), mat.NewVecDense(rows, s.Measured)
	var theta mat.VecDense
	if theta.SolveVec(x, y) != nil {
		panic("no solution")
	}
	var model mat.VecDense
	model.MulVec(x, &theta)
	for i := range s.Params {
		s.Params[i].Value = theta.AtVec(i)
	}
	for k := range rows {
		s.Residual = append(s.Residual, s.Measured[k]-model.AtVec(k))
	}
	return s
}

// A friction that grows with the load moves a lag; it is found all the same, and the lag that it made goes to zero with it. A lag that is
// there stays.
func TestLagGivesWayToWhatExplainsMore(t *testing.T) {
	harm := map[string]float64{"J": 0.02, "mgc": 0.1, "Fv": 0.05, "Fc": 0.1, "lag": 2e-4}
	for seed := range uint64(3) {
		for _, lag := range []float64{0, 4e-3, -4e-3} {
			s := weighed(seed, 0, lag)
			if lags := s.rivalled(Suspects(s, true, true)); lags != nil {
				t.Errorf("seed %d: a lag of %g s gives way", seed, lag)
			}
		}
		s := weighed(seed, 0.1, 0)
		found, _ := Unmodelled(s, Suspects(s, true, true), harm)
		if len(found) == 0 || found[0].Kind != "efficiency" {
			t.Errorf("seed %d: lag %.3g s, Fc %.3g: %+v", seed, s.Params[4].Value, s.Params[3].Value, found)
			continue
		}
		l := found[0]
		if fc := l.Values["Fc"]; math.Abs(fc-1.86) > 0.1 || l.Worst == "" || math.Abs(l.ParamMoves["Fc"]-(fc-s.Params[3].Value)) > 1e-9 {
			t.Errorf("seed %d: Fc %.3g by %.3g with it", seed, fc, l.ParamMoves["Fc"])
		}
		if now := l.Values["lag"]; math.Abs(now) > 1e-9 {
			t.Errorf("seed %d: the lag is %g s with it", seed, now)
		}
	}
}
