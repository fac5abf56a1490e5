package ball

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
)

// MachineSpec describes a ball in front of a camera.
type MachineSpec struct {
	Name   string // in front of its signals; "": ball
	Params Params
	Start  Start
	Camera Camera
	Seed   uint64 // of the camera's noise
}

// Start is how each trial begins.
type Start struct {
	Position      [2]float64 `yaml:"position" unit:"m" doc:"x and y of the centre on the plane"`
	Orientation   [4]float64 `yaml:"orientation" doc:"w, x, y and z of the unit quaternion from the body to the plane"`
	Velocity      [3]float64 `yaml:"velocity" unit:"rad/s" doc:"angular velocity in axes of the body; the centre moves so that the ball rolls"`
	RestartPeriod float64    `yaml:"every" unit:"s" want:">=0" doc:"the ball is put back and starts again after this time; 0: it starts once"`
	Unseen        float64    `yaml:"unseen" unit:"s" want:">=0" doc:"the last part of that time, in which it is carried back and nothing is seen"`
}

// SetDefaults of a ball that does not move.
func (s *Start) SetDefaults() { s.Orientation[0] = 1 }

// offUnit is how far the length of a quaternion may be from one.
const offUnit = 1e-3

// Check tells what is wrong with the start.
func (s *Start) Check() []engine.Problem {
	var errs []error
	q := quat.Number{Real: s.Orientation[0], Imag: s.Orientation[1], Jmag: s.Orientation[2], Kmag: s.Orientation[3]}
	if n := quat.Abs(q); !(math.Abs(n-1) <= offUnit) {
		errs = append(errs, engine.Problemf("orientation", "a quaternion of length %.4g, want 1: w, x, y, z of a rotation", n))
	}
	for _, v := range [...]float64{s.Position[0], s.Position[1], s.Velocity[0], s.Velocity[1], s.Velocity[2]} {
		if v-v != 0 {
			errs = append(errs, engine.Problemf("", "%g, want finite numbers", v))
			break
		}
	}
	if !(s.RestartPeriod >= 0) || math.IsInf(s.RestartPeriod, 0) {
		errs = append(errs, engine.Problemf("every", "%g s, want ≥ 0", s.RestartPeriod))
	}
	if !(s.Unseen >= 0) || s.Unseen > 0 && s.Unseen >= s.RestartPeriod {
		errs = append(errs, engine.Problemf("unseen", "%g s, want less than the time from start to start, %g s", s.Unseen, s.RestartPeriod))
	}
	return engine.Problems(errors.Join(errs...))
}

// State is that of the start.
func (s *Start) State() State {
	return State{
		Q: quat.Number{Real: s.Orientation[0], Imag: s.Orientation[1], Jmag: s.Orientation[2], Kmag: s.Orientation[3]},
		X: s.Position[0], Y: s.Position[1], W: vec(s.Velocity),
	}
}

// Machine is a ball in front of a camera as a plant of a virtual rig: each step is a frame. x is that of a System and the time since
// the start of the trial (s); there are no inputs. Outputs are those of a System, what else is true of the ball, and what the
// camera sees, NaN where it sees nothing. Not for concurrent use.
type Machine struct {
	s     MachineSpec
	ball  System
	start [States]float64
	lens  *lens
	trial float64
}

// Outputs of a Machine, behind those of a System.
const (
	OutZ           = iota + Outputs // m  of the geometric centre
	OutWX                           // rad/s  in axes of the body
	OutWY                           //
	OutWZ                           //
	OutTrial                        // starts so far
	OutSeenX                        // m
	OutSeenY                        //
	OutSeenZ                        //
	OutSeenQW                       // real part ≥ 0
	OutSeenQX                       //
	OutSeenQY                       //
	OutSeenQZ                       //
	OutSeenError                    // m  root mean square distance of the markers from the body
	OutSeenMissing                  // 1: there is no pose
	OutMarkers                      // m  x, y, z of the first marker, then of the others
)

// NewMachine checks the description; errors name its fields.
func NewMachine(s MachineSpec) (*Machine, error) {
	if s.Name == "" {
		s.Name = "ball"
	}
	var errs []error
	take := func(at string, bad []engine.Problem) {
		for i := range bad {
			errs = append(errs, fmt.Errorf("%s: %w", at, &bad[i]))
		}
	}
	take("body", s.Params.Check())
	take("start", s.Start.Check())
	take("camera", s.Camera.Check(s.Params.Radius))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	m := s.Params.Unchecked()
	start := s.Start.State()
	m.Place(&start)
	p := &Machine{s: s, ball: System{&m}, lens: newLens(s.Camera, s.Seed), trial: 1}
	Pack(&start, p.start[:])
	return p, nil
}

// NewState is the ball at its first start.
func (p *Machine) NewState() []float64 { return append(append([]float64(nil), p.start[:]...), 0) }

// Layout names states and outputs.
func (p *Machine) Layout() engine.Layout {
	l := p.ball.Layout()
	l.States = append(l.States, engine.Signal{Name: "time", Unit: "s"})
	l.NA++
	l.Outputs = append(l.Outputs, engine.Signal{Name: "z", Unit: "m"}, engine.Signal{Name: "wx", Unit: "rad/s"},
		engine.Signal{Name: "wy", Unit: "rad/s"}, engine.Signal{Name: "wz", Unit: "rad/s"},
		engine.Signal{Name: "trial"}, engine.Signal{Name: "seen.x", Unit: "m"}, engine.Signal{Name: "seen.y", Unit: "m"},
		engine.Signal{Name: "seen.z", Unit: "m"},
		engine.Signal{Name: "seen.qw"}, engine.Signal{Name: "seen.qx"}, engine.Signal{Name: "seen.qy"}, engine.Signal{Name: "seen.qz"},
		engine.Signal{Name: "seen.error", Unit: "m"}, engine.Signal{Name: "seen.missing"})
	for k := range p.lens.body {
		for _, c := range "xyz" {
			l.Outputs = append(l.Outputs, engine.Signal{Name: fmt.Sprintf("%s.%c", MarkerName(k), c), Unit: "m"})
		}
	}
	for _, all := range [][]engine.Signal{l.States, l.Outputs} {
		for k := range all {
			all[k].Name = p.s.Name + "." + all[k].Name
		}
	}
	return l
}

// MarkerName is that of the marker with this number, from 0 on.
func MarkerName(k int) string { return fmt.Sprintf("m%d", k+1) }

// Settings: nothing can be changed while it runs.
func (p *Machine) Settings() []engine.Signal { return nil }

// Set is not called, for want of settings.
func (p *Machine) Set(int, []float64, float64) float64 { panic("ball: a machine has no settings") }

// Step advances x by dt (s) and takes a frame.
func (p *Machine) Step(dt float64, x, _, y []float64) engine.Status {
	status := p.ball.Step(dt, x[:States], nil, y[:Outputs])
	t := &x[States]
	*t += dt
	if every := p.s.Start.RestartPeriod; every > 0 && *t >= every-dt/2 {
		*t = max(0, *t-every)
		copy(x, p.start[:])
		p.trial++
		status = max(status, p.ball.Step(0, x[:States], nil, y[:Outputs]))
	}
	y[OutZ], y[OutTrial] = p.s.Params.Radius, p.trial
	copy(y[OutWX:OutWZ+1], x[WX:WZ+1])

	s := Unpack(x[:States])
	covered := p.s.Start.Unseen > 0 && *t > p.s.Start.RestartPeriod-p.s.Start.Unseen+dt/2
	see := p.lens.capture(s.Q, r3.Vec{X: s.X, Y: s.Y, Z: p.s.Params.Radius}, covered)
	y[OutSeenX], y[OutSeenY], y[OutSeenZ] = see.P.X, see.P.Y, see.P.Z
	y[OutSeenQW], y[OutSeenQX], y[OutSeenQY], y[OutSeenQZ] = see.R.Real, see.R.Imag, see.R.Jmag, see.R.Kmag
	y[OutSeenError], y[OutSeenMissing] = see.Error, flag(see.NoPose)
	for k, m := range p.lens.observed {
		at := OutMarkers + 3*k
		y[at], y[at+1], y[at+2] = m.X, m.Y, m.Z
	}
	return status
}
