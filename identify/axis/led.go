package axis

import (
	"math"

	"gonum.org/v1/gonum/floats"

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

//
// That noise is in the force that is seen as well, so that rows with fixed weights would fit a smaller answer to it, a mass too
// large by (w/force)². Here S is that of the mass tried: Σ e²·R/S is then the least Σ (x − seen)² + (force − recorded)²·R/w² over
// all forces [Söderström, Errors-in-Variables Methods in System Identification, 2018, ch. 8], which tends to no such bias.

// gain is by how much a row leads position and velocity back, per unit of its residual, and its weight.
type gain struct{ x, v, weight float64 }

// weightTol is the change of the weights, over all rows, below which they stay.
const weightTol = 1e-6

// leading is what the leading back of all pieces goes by: the standard deviations of the force (N) and of the sensor (m or m/s).
type leading struct {
	noise, sensor float64
	heldMass      float64 // kg, of the gains; 0: the mass tried
}

// gains appends to out those of n rows h (s) apart for noises of the force w (N, at samples dt apart) and of the sensor (m or m/s).
// The last goes on for the rows behind it. A force that runs straight from sample to sample brings half of the noise of a sample
// into the interval before it and half into the one behind: what a row tells of the noise of its sample is taken from the interval
// to come.
func (l *leading) gains(out []gain, n int, h, dt, mass float64, output Output, straight bool) []gain {
	w, sensor := l.noise, l.sensor
	a := math.Sqrt(h/dt) * dt / mass // m/s per N
	// state: position, velocity, noise of the sample; next = [1 h nx; 0 1 nv; 0 0 0]
	nx, nv, fresh := 0.0, 0.0, [3]float64{h * a / 2, a, 0}
	if straight = straight && h == dt; straight {
		nx, nv, fresh = h*a/3, a/2, [3]float64{h * a / 6, a / 2, 1}
	}
	var p [3][3]float64
	p[2][2] = 8 * w * w // where it begins is known, or a parameter
	seen := 0
	if output == Velocity {
		seen = 1
	}
	first := len(out)
	for range n {
		s := p[seen][seen] + sensor*sensor
		var k [3]float64
		for i := range k {
			k[i] = p[i][seen] / s
		}
		g := gain{k[0], k[1], sensor / math.Sqrt(s)}
		if straight {
			g.x, g.v = g.x-h*a/6*k[2], g.v+a/2*k[2]
		}
		if i := len(out) - first; i > 10 && math.Abs(g.weight-out[len(out)-1].weight) < weightTol*g.weight/float64(n) {
			break
		}
		out = append(out, g)
		for i := range p {
			for j := range p {
				p[i][j] -= s * k[i] * k[j]
			}
		}
		var q [3][3]float64 // next·p
		for j := range p {
			q[0][j] = p[0][j] + h*p[1][j] + nx*p[2][j]
			q[1][j] = p[1][j] + nv*p[2][j]
		}
		for i := range p {
			p[i] = [3]float64{q[i][0] + h*q[i][1] + nx*q[i][2], q[i][1] + nv*q[i][2], 0}
			for j := range p {
				p[i][j] += w * w * fresh[i] * fresh[j]
			}
		}
	}
	return out
}

// leads are the gains of the pieces for a mass.
type leads struct {
	mass   float64 // 0: none yet
	pieces [][]gain
}

// set finds the gains of mass.
func (l *leads) set(m *Model, mass float64) {
	if m.leading.heldMass > 0 {
		mass = m.leading.heldMass
	}
	if mass == l.mass {
		return
	}
	if l.pieces == nil {
		l.pieces = make([][]gain, len(m.pieces))
	}
	l.mass = mass
	for i, p := range m.pieces {
		n := (p.n-1)/m.spec.Decimate + 1
		if cap(l.pieces[i]) < n {
			l.pieces[i] = make([]gain, 0, n)
		}
		l.pieces[i] = m.leading.gains(l.pieces[i][:0], n, p.dt*float64(m.spec.Decimate), p.dt, mass, m.spec.Output, m.spec.Hold == Linear)
	}
}

// at is the gain of row k of piece i.
func (l *leads) at(i, k int) gain { return l.pieces[i][min(k, len(l.pieces[i])-1)] }

// leadBack leads the simulation back at row k of piece i, where it is off by d, and returns the weighted row.
func (e *evaluator) leadBack(i, k int, d float64) float64 {
	g := e.gains.at(i, k)
	e.b.x[0] -= g.x * d
	e.b.x[1] -= g.v * d
	return d * g.weight
}

// WithLeading is the model whose simulation is led back along the record against the noise of its force, for an inertia as in params, and
// the standard deviation of that noise, N. nil: the record shows none, or nothing is simulated under a recorded force.
func (m *Model) WithLeading(params []fit.Param) (*Model, float64) {
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
	led.leading = &leading{noise: w, sensor: sensor}
	return &led, w
}

// WithFixedGains is a led model with the weights of the inertia in params, whatever mass is tried: biased, and steeper far from the
// record, where an evolution comes from.
func (m *Model) WithFixedGains(params []fit.Param) *Model {
	led, by := *m, *m.leading
	by.heldMass = params[fit.Index(params, m.names.inertia)].Value
	led.leading = &by
	return &led
}

// WithNoise is a led model with another noise of the force, N.
func (m *Model) WithNoise(w float64) *Model {
	led, by := *m, *m.leading
	by.noise = w
	led.leading = &by
	return &led
}

// IsLed tells whether the simulation is led back along the record.
func (m *Model) IsLed() bool { return m.leading != nil }

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

// Where noise of the force explains what a simulation leaves over.
const (
	plainer   = 20.0 // by how much the logarithm of the likelihood rises at least
	explained = 2.0  // mean square of a row, of the noises' own, at most: what is more is no noise
)

// Noisy tells whether a solution of this led model explains the record by the noises of force and sensor, and better than one
// that is not led.
func (m *Model) Noisy(led, plain *fit.Solution) bool {
	var logs float64
	var of leads
	of.set(m, led.Params[fit.Index(led.Params, m.names.inertia)].Value)
	for i, from := range led.Pieces {
		to := len(led.Residual)
		if i+1 < len(led.Pieces) {
			to = led.Pieces[i+1]
		}
		for k := from; k < to; k++ {
			logs += math.Log(of.at(i, k-from).weight)
		}
	}
	one, other, n := floats.Dot(led.Residual, led.Residual), floats.Dot(plain.Residual, plain.Residual), float64(len(led.Residual))
	return n/2*math.Log(other/one)+logs > plainer && m.Explains(led)
}

// Explains tells whether the noises of force and sensor explain what a solution of this led model leaves over.
func (m *Model) Explains(led *fit.Solution) bool {
	return floats.Dot(led.Residual, led.Residual)/2 < m.NoiseCost(len(led.Residual))
}

// NoiseCost is the cost of so many rows of this led model from which on it is no longer that of the noises.
func (m *Model) NoiseCost(rows int) float64 {
	sensor := m.noise()
	return explained / 2 * float64(rows) * sensor * sensor
}

// slope is over how many samples on either side the slope of a noisy force is found.
const slope = 12

// WithShiftedForce is a led model under a force that acts half a sample earlier, as one does that runs straight between its samples instead
// of being held, or later; nothing else of the force changes, its noise least of all. nil: the model is not led.
func (m *Model) WithShiftedForce(early bool) *Model {
	if m.leading == nil {
		return nil
	}
	half := -0.5
	if early {
		half = 0.5
	}
	return m.withForce(func(_ int, p *piece) []float64 {
		d, _ := parabolas(p.force, p.dt, slope)
		return floats.AddScaledTo(d, p.force, half*p.dt, d)
	})
}
