package axis

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
)

// A simulation adds up the noise of the force that drives it: it runs off the recorded motion, further and further, and rows of
// the residual repeat each other. So the simulation may be led back at every row, as a Kalman filter does that knows the noise of
// the force and of the sensor and looks at the mass alone,
//
//	x⁺ = x + h·v,   v⁺ = v + (h/M)·w,   seen = x + sensor   (v + sensor where the velocity is compared).
//
// A row is then what the rows before it did not foretell, weighted by √(R/S) to the variance R of the sensor.

// gain is by how much a row leads position and velocity back, per unit of its residual, and its weight.
type gain struct{ x, v, weight float64 }

// settled is the change of the weights, over all rows, below which they stay.
const settled = 1e-6

// leading is the leading back of all pieces.
type leading struct {
	mass, noise float64 // kg, N
	gains       [][]gain
}

// gains of n rows h (s) apart for noises of the force w (N, at samples dt apart) and of the sensor (m or m/s). The last goes on
// for the rows behind it. A force that runs straight from sample to sample brings half of the noise of a sample into the interval
// before it and half into the one behind: what a row tells of the noise of its sample is taken from the interval to come.
func gains(n int, h, dt, mass, w, sensor float64, output Output, straight bool) (out []gain) {
	a := math.Sqrt(h/dt) * dt / mass // m/s per N
	next, fresh := mat.NewDense(3, 3, []float64{1, h, 0, 0, 1, 0, 0, 0, 0}), mat.NewVecDense(3, []float64{h * a / 2, a, 0})
	if straight = straight && h == dt; straight {
		next, fresh = mat.NewDense(3, 3, []float64{1, h, h * a / 3, 0, 1, a / 2, 0, 0, 0}), mat.NewVecDense(3, []float64{h * a / 6, a / 2, 1})
	}
	p := mat.NewDense(3, 3, []float64{8: w * w}) // of position, velocity and noise; where it begins is known, or a parameter
	seen := 0
	if output == Velocity {
		seen = 1
	}
	for range n {
		s := p.At(seen, seen) + sensor*sensor
		var k mat.VecDense
		k.ScaleVec(1/s, p.ColView(seen))
		g := gain{k.AtVec(0), k.AtVec(1), sensor / math.Sqrt(s)}
		if straight {
			g.x, g.v = g.x-h*a/6*k.AtVec(2), g.v+a/2*k.AtVec(2)
		}
		if i := len(out); i > 10 && math.Abs(g.weight-out[i-1].weight) < settled*g.weight/float64(n) {
			break
		}
		out = append(out, g)
		p.RankOne(p, -s, &k, &k)
		p.Product(next, p, next.T())
		p.RankOne(p, w*w, fresh, fresh)
	}
	return out
}

// lead leads the simulation back at row k of piece i, where it is off by d, and returns the weighted row.
func (e *evaluator) lead(i, k int, d float64) float64 {
	g := e.q.m.gain(i, k)
	e.b.x[0] -= g.x * d
	e.b.x[1] -= g.v * d
	return d * g.weight
}

func (m *Model) gain(i, k int) *gain { return &m.led.gains[i][min(k, len(m.led.gains[i])-1)] }

// Led is the model whose simulation is led back along the record against the noise of its force, for an inertia as in params, and
// the standard deviation of that noise, N. nil: the record shows none, or nothing is simulated under a recorded force.
func (m *Model) Led(params []fit.Param) (*Model, float64) {
	sensor, mass := m.noise(), m.spec.Known[m.names.inertia]
	if i := fit.Index(params, m.names.inertia); i >= 0 {
		mass = params[i].Value
	}
	var forces [][]float64
	for _, p := range m.pieces {
		forces = append(forces, p.force)
	}
	if m.spec.Drive != Force || sensor == 0 || !(mass > 0) {
		return nil, 0
	}
	w := numeric.Noise(forces...)
	if w == 0 {
		return nil, 0
	}
	led := *m
	led.lead(mass, w)
	return &led, w
}

// IsLed tells whether the simulation is led back along the record.
func (m *Model) IsLed() bool { return m.led != nil }

// adrift is how many times the noise of the sensor the noise of the force may move a simulation until it is led back.
const adrift = 10

// Adrift tells whether noise of the force w (N) takes a simulation of a record far off, where nothing but the inertia in params holds
// the axis: by (w·dt/M)·√(n³/3)·dt after n samples.
func (m *Model) Adrift(params []fit.Param, w float64) bool {
	mass, far := params[fit.Index(params, m.names.inertia)].Value, 0.0
	for _, p := range m.pieces {
		n := float64(p.n)
		off := w * p.dt / mass * math.Sqrt(n)
		if m.spec.Output != Velocity {
			off *= n * p.dt / math.Sqrt(3)
		}
		far = max(far, off)
	}
	return far > adrift*m.noise()
}

// lead makes the leading back for the noise of the force w (N).
func (m *Model) lead(mass, w float64) {
	m.led = &leading{mass: mass, noise: w}
	for _, p := range m.pieces {
		h := p.dt * float64(m.spec.Decimate)
		m.led.gains = append(m.led.gains, gains((p.n-1)/m.spec.Decimate+1, h, p.dt, mass, w, m.noise(), m.spec.Output, m.spec.Hold == Linear))
	}
}

// Where noise of the force explains what a simulation leaves over.
const (
	plainer   = 20.0 // by how much the logarithm of the likelihood rises at least
	explained = 2.0  // mean square of a row, of the noises' own, at most: what is more is no noise
)

// Noisy tells whether a solution of this led model explains the record by the noises of force and sensor, and better than one
// that is not led.
func (m *Model) Noisy(led, plain *fit.Solution) bool {
	var one, other, logs float64
	for i, from := range led.Pieces {
		to := len(led.Residual)
		if i+1 < len(led.Pieces) {
			to = led.Pieces[i+1]
		}
		for k := from; k < to; k++ {
			one, other = one+led.Residual[k]*led.Residual[k], other+plain.Residual[k]*plain.Residual[k]
			logs += math.Log(m.gain(i, k-from).weight)
		}
	}
	n, sensor := float64(len(led.Residual)), m.noise()
	return n/2*math.Log(other/one)+logs > plainer && one < explained*n*sensor*sensor
}

// slope is over how many samples on either side the slope of a noisy force is found.
const slope = 12

// Ahead is a led model under a force that acts half a sample earlier, as one does that runs straight between its samples instead
// of being held, or later; nothing else of the force changes, its noise least of all. nil: the model is not led.
func (m *Model) Ahead(early bool) *Model {
	if m.led == nil {
		return nil
	}
	half := -0.5
	if early {
		half = 0.5
	}
	return m.under(func(_ int, p *piece) []float64 {
		d, _ := parabolas(p.force, p.dt, slope)
		return floats.AddScaledTo(d, p.force, half*p.dt, d)
	})
}
