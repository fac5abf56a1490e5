package brush

import (
	"math"

	"hilrig/engine"
	"hilrig/engine/contact"
	"hilrig/engine/lcp"
	"hilrig/engine/plant"
)

// Step advances x by dt (s) with u held. A non-finite input or state leaves x alone and says so. NotConverged: a step of
// the brush was not verified; Limited: a brush was started anew.
func (m *Machine) Step(dt float64, x, u, y []float64) engine.Status {
	sum := dt + u[0] + u[1]
	for _, v := range x {
		sum += v
	}
	if !(dt > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return engine.NonFinite
	}
	m.Counts.Steps++
	m.inputs = [2]float64{0, u[1]}
	if u[1] != 0 {
		m.inputs[0] = min(m.supply[1], max(m.supply[0], u[0]))
	}
	n := min(m.s.MaxSubSteps, max(1, int(math.Ceil(dt/m.s.SubStep*(1-1e-9)))))
	h := dt / float64(n)
	if m.choose(h, x[plant.Omega]) { // the brushes go on from where they stood, at rest
		for k := range m.side {
			clear(x[atBrush+2*dof*k+dof : atBrush+2*dof*(k+1)])
		}
	}
	p := &m.s.Params
	density := math.Abs(x[plant.Current]) / (p.Brush.Width * p.Brush.Depth)
	temp := x[plant.Temperature] + zeroC
	if p.Material.drifts() && !m.averagedActive {
		for _, s := range m.side {
			s.b.Heat(temp, density)
		}
	}

	status := engine.OK
	var sums stepSums
	for range n {
		st := m.sub(h, x, temp, density, &sums)
		if st == engine.NonFinite {
			return st
		}
		status = max(status, st)
	}
	m.Counts.Sub += n

	// heat of one brush: half of both drops and of the friction
	if th := &m.s.Thermal; th.Capacity > 0 {
		end := th.Ambient + sums.heat/2/dt*th.Resistance
		x[plant.Temperature] += (end - x[plant.Temperature]) * -math.Expm1(-dt/(th.Resistance*th.Capacity))
	}
	s := m.side[0]
	y[plant.OutPosition], y[plant.OutVelocity], y[plant.OutCurrent], y[plant.OutFriction] = x[plant.Theta], x[plant.Omega], x[plant.Current],
		sums.torque/dt
	y[plant.OutEffort], y[plant.OutApplied] = sums.effort/dt, m.inputs[0]
	y[plant.OutTemperature], y[OutTilt], y[OutForce] = x[plant.Temperature], x[atBrush+2], s.force
	if dt > m.s.Window {
		y[OutForce] = sums.force / dt
	}
	y[OutDrop] = sums.volts / dt / 2
	y[OutLoss], y[OutAveraged] = s.win.Loss, 0
	if m.averagedActive {
		y[OutAveraged] = 1
	}
	y[OutDegraded], y[OutSparking], y[OutInterrupted] = float64(m.Counts.Degraded), m.comm.Index, float64(s.win.Interruptions)
	return status
}

// stepSums are the integrals of one step.
type stepSums struct {
	torque, force, heat, volts, effort float64 // N·m·s, N·s, J, V·s, N·m·s
}

// choose decides between the full and the averaged contact; it is true when the full one takes over.
func (m *Machine) choose(h, omega float64) bool {
	p := &m.s.Params
	was := m.averagedActive
	limit, _, _ := p.resolved()
	step := math.Abs(omega) * p.Commutator.Radius * h
	switch {
	case m.s.AlwaysAveraged || step > limit:
		m.averagedActive = true
	case step < 0.9*limit:
		m.averagedActive = false
	}
	if m.averagedActive == was {
		return false
	}
	m.Counts.Switches++
	m.switchAge = 0
	return was
}

// sub is one sub-step.
func (m *Machine) sub(h float64, x []float64, temp, density float64, sums *stepSums) engine.Status {
	p := &m.s.Params
	theta, omega := x[plant.Theta], x[plant.Omega]
	v := omega * p.Commutator.Radius
	status := engine.OK

	// brushes: force, torque and how they touch
	mu := p.FaceMu(temp, density, v)
	fit := m.mean.At(v)
	mean := p.Commutator.Radius * mu * m.mean.Force * fit.Rise
	mean *= math.Tanh(omega / max(smoothingSpeed, 4*h*mean/m.j))
	gone := 0.0
	if m.averagedActive {
		gone = m.mean.Turn(h, &fit)
	}
	torque := 0.0
	var touch [2]Touch
	for k, s := range m.side {
		if m.averagedActive {
			s.win.Hold(h, m.mean.Force, fit.Loss)
			s.force, s.subForce = m.mean.Force, m.mean.Force
			s.torque = mean + (m.fullTorque-mean)*math.Exp(-m.switchAge/blend)
			touch[k] = Touch{Force: s.force / (1 - fit.WindowLoss) * fit.Weak, OpenShare: gone}
			if gone == 1 {
				touch[k] = Touch{}
			}
		} else {
			st := m.brush(s, k, h, theta, omega, x)
			if st == engine.Limited {
				s.torque = mean
			}
			status = max(status, st)
			if share := m.switchAge / blend; share < 1 {
				s.torque = mean + share*(s.torque-mean)
			}
			touch[k] = Touch{Force: s.force, Gap: s.gap}
		}
		torque += s.torque
	}
	if len(m.side) == 1 {
		torque *= 2
		touch[1] = touch[0]
	}
	if m.averagedActive {
		m.Counts.AveragedSubSteps++
	} else {
		m.fullTorque += (torque/2 - m.fullTorque) * min(1, h/blend)
	}
	m.switchAge += h

	// coils under the brushes, at the resistance of the whole face
	i := x[plant.Current]
	r := m.circ.Drop.faceResistance(i, touch[0].Force)
	m.comm.Step(h, theta+omega*h-math.Pi/2, i, r)
	touch[0].Crowd, touch[1].Crowd = m.comm.Crowd, m.comm.Crowd

	// circuit
	var flow Flow
	diode := 0.0
	volts := m.line.Mean(h, m.inputs[0])
	if m.inputs[1] == 0 {
		diode = m.s.Freewheel
	}
	if st := m.circ.Step(h, i, volts, omega+h/2*m.accel, diode, &touch, &flow); st != engine.OK {
		return st
	}
	x[plant.Current] = flow.I

	// shaft
	m.drive = flow.Torque - torque - m.s.LoadTorque
	w, end := omega, omega
	if m.mass != nil {
		m.xm[0], m.xm[1] = theta, omega
		bearing := x[len(x)-len(m.xm)+2:]
		copy(m.xm[2:], bearing)
		m.mass.I, m.mass.M = i, m.j
		res := m.mass.Step(h, m.xm, m)
		if res.Status == engine.NonFinite {
			return res.Status
		}
		x[plant.Theta], end, w = m.xm[0], m.xm[1], res.W
		copy(bearing, m.xm[2:])
	} else {
		fan := p.Motor.Fan
		end = omega + h*(m.drive-fan*omega*math.Abs(omega))/(m.j+h*fan*math.Abs(omega))
		w = (omega + end) / 2
		x[plant.Theta] = theta + h*w
	}
	m.accel = (end - omega) / h
	x[plant.Omega] = end

	sums.torque += h * torque
	sums.effort += h * flow.Torque
	sums.force += h * m.side[0].subForce
	sums.volts += flow.Volts
	sums.heat += flow.Contact + flow.Arc + math.Abs(torque*w)*h
	return status
}

const smoothingSpeed = 0.05 // rad/s  the averaged friction is smooth below it, and below what a step can resolve

// Span belongs to the load of the shaft.
func (m *Machine) Span(_, _, _ float64) {}

// At is the load of the shaft besides the bearing: held torques and the fan.
func (m *Machine) At(_, _, w float64) (torque, dx, slope float64) {
	k := m.s.Params.Motor.Fan
	return m.drive - k*w*math.Abs(w), 0, -2 * k * math.Abs(w)
}

// brush advances one brush. The second one touches the far side of the commutator.
func (m *Machine) brush(s *brushSide, k int, h, theta, omega float64, x []float64) engine.Status {
	at := atBrush + 2*dof*k
	st := s.advance(h, theta+math.Pi*float64(k), omega, x[at:at+dof], x[at+dof:at+2*dof])
	switch st {
	case engine.Limited:
		m.Counts.Restarts++
	case engine.NotConverged:
		m.Counts.Degraded++
	}
	return st
}

// advance is one step of the brush over a commutator at the angle theta. NotConverged: it was not verified; Limited:
// something was not finite, and the brush started anew.
func (s *brushSide) advance(h, theta, omega float64, q, u []float64) engine.Status {
	s.b.Drive(theta, omega, 0)
	if h != s.m.StepLength() {
		s.m.SetStep(h)
	}
	res := s.m.Step(0, q, u)
	if res.Status == engine.NonFinite {
		copy(q, s.q0[:])
		copy(u, s.u0[:])
		s.m.Reset()
		s.force, s.subForce, s.gap = s.win.Push(h, 0), 0, 0
		return engine.Limited
	}
	force, moment := face(s.m)
	s.torque = moment / h
	s.subForce = force / h
	if s.force, s.gap = s.win.Push(h, s.subForce), 0; s.force == 0 {
		s.gap = s.b.Lift(q, u)
	}
	if res.Status != engine.OK {
		return engine.NotConverged
	}
	return engine.OK
}

// face sums up the impulses between face and commutator: Σ P_N (N·s), and the moment of all of them about the axis (N·m·s),
// positive against positive rotation.
func face(m *contact.Moreau) (force, moment float64) {
	set := m.Set
	for k, c := range m.ClosedPlaces {
		if set.ID[c] >= idHolder || m.State[k] == lcp.Open {
			continue
		}
		n, t := m.Impulse[2*k], m.Impulse[2*k+1]
		nx, ny := set.NX[c], set.NY[c]
		fx, fy := n*nx+t*ny, n*ny-t*nx
		force += n
		moment += set.X[c]*fy - set.Y[c]*fx
	}
	return force, moment
}

func (m *Material) drifts() bool {
	return m.MuTemperature != 0 || m.MuCurrent != 0 || m.MuSpeed != 0 || m.StiffnessTemperature != 0 || m.EpsSpeed != 0 ||
		m.Factors != Material{}.Factors
}
