package manipulator

import (
	"fmt"

	"hilrig/engine"
)

// Machine is a manipulator on a beam as an engine.System in real time: it starts in equilibrium, driven joints follow their drives, and
// there are no inputs. x = [joints | beam | their speeds | time, element, open, left, dependent joint, friction force, law], outputs as
// Layout names them. A tip that leaves the beam stops it: Step says Limited and the output left is 1. Not for concurrent use.
type Machine struct {
	p     *stepper
	start []float64
}

// Where the rest of x begins with what, behind joints, beam and their speeds.
const (
	restTime = iota
	restElement
	restOpen
	restLeft
	restDependent
	restForce
	restLambda
	restLaw
)

// NewMachine finds the equilibrium. Errors are those of Equilibrium.
func (m *Model) NewMachine() (*Machine, error) {
	at, err := m.Equilibrium()
	if err != nil {
		return nil, err
	}
	k := &Machine{p: m.newStepper()}
	p := k.p
	p.s.setMotion(at)
	p.inContact = true
	p.w.place(&p.s, 0, true)
	if p.e, err = m.beam.ElementAt(p.w.pose.tip.X); err != nil {
		return nil, err
	}
	p.w.place(&p.s, p.e, true)
	if p.dep, err = p.w.choose(-1); err != nil {
		return nil, err
	}
	var drive joints
	for _, d := range m.drivenJoints {
		_, drive[d], _ = m.p.Joints[d].Drive.At(0)
	}
	if _, err := p.w.impulse(&p.s, &drive); err != nil {
		return nil, err
	}
	if err := k.balance(); err != nil {
		return nil, err
	}
	p.lambda[stages-1] = p.endAccel.lambda
	k.start = make([]float64, k.states())
	k.pack(k.start)
	return k, nil
}

// balance solves for accelerations, λ and drive torques at the state itself.
func (k *Machine) balance() error {
	p := k.p
	m := p.w.m
	var da joints
	for _, d := range m.drivenJoints {
		_, _, da[d] = p.motion(d, p.t)
	}
	p.w.place(&p.s, p.e, true)
	err := p.w.accelerate(&p.w.elimination, &p.s, &da, p.inContact, &p.endAccel)
	if err == nil {
		p.a[stages-1] = p.endAccel.a
	}
	return err
}

func (k *Machine) states() int { return 2*(k.p.w.m.n+k.p.w.m.beam.N) + restLaw + len(k.p.s.z) }

// NewState is the equilibrium.
func (k *Machine) NewState() []float64 { return append([]float64(nil), k.start...) }

// Layout names states and outputs.
func (k *Machine) Layout() engine.Layout {
	m := k.p.w.m
	l := engine.Layout{NQ: m.n + m.beam.N, NV: m.n + m.beam.N, NA: restLaw + len(k.p.s.z)}
	unit := func(i int) string { return engine.UnitOn(m.p.Joints[i].Kind == Revolute, "m") }
	for _, rate := range []string{"", "/s"} {
		mark := map[string]string{"": "", "/s": "d"}[rate]
		for i := range m.n {
			l.States = append(l.States, engine.Signal{Name: fmt.Sprintf("%sq%d", mark, i+1), Unit: unit(i) + rate})
		}
		beamStates := make([]engine.Signal, m.beam.N)
		for node := range m.beam.Nodes() {
			w, s := m.beam.Node(node)
			if w >= 0 {
				beamStates[w] = engine.Signal{Name: fmt.Sprintf("%sw%d", mark, node+1), Unit: "m" + rate}
			}
			if s >= 0 {
				beamStates[s] = engine.Signal{Name: fmt.Sprintf("%sslope%d", mark, node+1), Unit: "rad" + rate}
			}
		}
		l.States = append(l.States, beamStates...)
	}
	l.States = append(l.States, engine.Signal{Name: "time", Unit: "s"}, engine.Signal{Name: "element"}, engine.Signal{Name: "open"},
		engine.Signal{Name: "left"},
		engine.Signal{Name: "dependent"}, engine.Signal{Name: "friction", Unit: "N"}, engine.Signal{Name: "lambda", Unit: "N"})
	if m.p.Friction != nil {
		l.States = append(l.States, m.p.Friction.States()...)
	}
	for i := range m.n {
		l.Outputs = append(l.Outputs, engine.Signal{Name: fmt.Sprintf("q%d", i+1), Unit: unit(i)})
	}
	l.Outputs = append(l.Outputs, engine.Signal{Name: "tip.x", Unit: "m"}, engine.Signal{Name: "tip.y", Unit: "m"},
		engine.Signal{Name: "lambda", Unit: "N"},
		engine.Signal{Name: "friction", Unit: "N"}, engine.Signal{Name: "element"}, engine.Signal{Name: "open"}, engine.Signal{Name: "left"})
	for _, d := range m.drivenJoints {
		l.Outputs = append(l.Outputs, engine.Signal{Name: fmt.Sprintf("tau%d", d+1), Unit: engine.UnitOn(m.p.Joints[d].Kind == Revolute, "N")})
	}
	for node := range m.beam.Nodes() {
		l.Outputs = append(l.Outputs, engine.Signal{Name: fmt.Sprintf("w%d", node+1), Unit: "m"})
	}
	return l
}

// Places of outputs behind the joints; then the torques of the drives and the deflections of the nodes.
const (
	OutTipX = iota
	OutTipY
	OutLambda
	OutFriction
	OutElement
	OutOpen
	OutLeft
	OutTorque
)

// Step advances x by dt (s). It has no inputs, u may be nil. After NotConverged or NonFinite x is that before the step.
func (k *Machine) Step(dt float64, x, _, y []float64) engine.Status {
	p := k.p
	m := p.w.m
	k.unpack(x)
	p.layCubics(dt)
	st := p.Step(dt)
	switch {
	case st == engine.NotConverged || st == engine.NonFinite:
		k.unpack(x)
		p.length = 0
	default:
		k.pack(x)
		p.followers = p.reached()
	}
	if st == engine.NonFinite {
		return st // y as it was
	}
	y = y[:m.n+OutTorque+len(m.drivenJoints)+m.beam.Nodes()]
	copy(y, p.s.q[:m.n])
	rest := y[m.n:]
	p.w.place(&p.s, p.e, true)
	rest[OutTipX], rest[OutTipY] = p.w.pose.tip.X, p.w.pose.tip.Y
	rest[OutLambda], rest[OutFriction] = p.lambda[stages-1], p.force
	rest[OutElement], rest[OutOpen], rest[OutLeft] = float64(p.e+1), flag(!p.inContact), flag(p.offBeam)
	k.torques(rest[OutTorque:])
	m.beam.Deflections(p.s.qc, rest[OutTorque+len(m.drivenJoints):])
	return st
}

// torques are what the drives give at the end of the step, by the accelerations of its last stage.
func (k *Machine) torques(out []float64) {
	p := k.p
	w, m := p.w, p.w.m
	c := &w.c
	a := &p.a[stages-1]
	for at, d := range m.drivenJoints {
		_, _, a[d] = p.motion(d, p.t)
		t := w.pose.h[d] + w.jr[d]*p.lambda[stages-1] + p.force*(w.pose.jx[d]+c.Slope*w.pose.jy[d])/cosine(c)
		for j := range m.n {
			t += w.pose.m[d][j] * a[j]
		}
		out[at] = t
	}
}

// pack writes the state to x.
func (k *Machine) pack(x []float64) {
	p := k.p
	n, nc := p.w.m.n, p.w.m.beam.N
	copy(x, p.s.q[:n])
	copy(x[n:], p.s.qc)
	copy(x[n+nc:], p.s.v[:n])
	copy(x[2*n+nc:], p.s.vc)
	r := x[2*(n+nc):]
	r[restTime], r[restElement], r[restOpen], r[restLeft], r[restDependent] = p.t, float64(p.e+1), flag(!p.inContact), flag(p.offBeam),
		float64(p.w.m.freeJoints[max(0, p.dep)]+1)
	r[restForce], r[restLambda] = p.force, p.lambda[stages-1]
	copy(r[restLaw:], p.s.z)
}

// unpack reads it. The accelerations that Newton's method starts from are those of the last step, if it ended here.
func (k *Machine) unpack(x []float64) {
	p := k.p
	m := p.w.m
	n, nc := m.n, m.beam.N
	copy(p.s.q[:n], x)
	copy(p.s.qc, x[n:])
	copy(p.s.v[:n], x[n+nc:])
	copy(p.s.vc, x[2*n+nc:])
	r := x[2*(n+nc):]
	p.t, p.inContact, p.offBeam = r[restTime], r[restOpen] == 0, r[restLeft] != 0
	p.e = min(max(int(r[restElement])-1, 0), m.p.Beam.Elements-1)
	p.dep = 0
	for at, i := range m.freeJoints {
		if i == int(r[restDependent])-1 {
			p.dep = at
		}
	}
	p.force, p.lambda[stages-1] = r[restForce], r[restLambda]
	copy(p.s.z, r[restLaw:])
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
