package models

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
	"hilrig/estimator/pose"
	"hilrig/hil"
)

// BallSpec is what a model of kind ball is built from.
type BallSpec struct {
	BallKeys
	// places in the measured block
	Position    [3]int
	Orientation [4]int // w, x, y, z
	Age         int    // of the samples of that device (s); −1: a sample is as old as its tick
}

// BallKeys are those of kind ball beside the names of its signals.
type BallKeys struct {
	Body          ball.Params `yaml:"body" doc:"the ball, as of the plant; its friction is what the filter finds, and is not looked at"`
	PositionNoise float64     `yaml:"position_noise" unit:"m" want:">0" doc:"standard deviation of each coordinate of the tracker"`
	TurnNoise     float64     `yaml:"turn_noise" unit:"rad" want:">0" doc:"standard deviation of the tracker's orientation about each axis"`
	Lever         [3]float64  `yaml:"lever" unit:"m" doc:"from the centre of the ball to the point whose position the tracker gives, in axes of the ball"`
	Mount         [3]float64  `yaml:"mount" unit:"rad" doc:"rotation vector of the tracker's body axes against those of the ball"`
	Prior         float64     `yaml:"prior" unit:"N·m·s" want:">0" doc:"standard deviation of both coefficients before the first frame, about zero"`
	Quadratic     float64     `yaml:"quadratic" unit:"N·m·s²" want:">=0" doc:"the same of a part of the rolling friction that grows with the square of the speed; 0: there is none"`
	Walk          float64     `yaml:"walk" unit:"N·m·s/√s" want:">=0" doc:"random walk of the coefficients"`
	Disturbance   float64     `yaml:"disturbance" unit:"rad/(s²·√s)" want:">=0" doc:"white noise of the angular acceleration: what the equations leave out"`
	SlipWalk      float64     `yaml:"slip_walk" unit:"m/(s·√s)" want:">0" doc:"random walk of the velocity of the contact"`
	HeightWalk    float64     `yaml:"height_walk" unit:"m/√s" want:">=0" doc:"random walk of the height of the centre: how level the plane is"`
	RadiusError   float64     `yaml:"radius_error" want:">=0 <1" doc:"share of the radius that is not known: it passes for no slip"`
	Sliding       float64     `yaml:"sliding" want:">=0" doc:"coefficient of sliding friction that the contact is sure to have; 0: the lean of its force is not checked"`
}

// SetDefaults of a ball.
func (k *BallKeys) SetDefaults() {
	k.Body.InertiaAbout, k.Body.Gravity = ball.AboutCenter, 9.81
	k.PositionNoise, k.TurnNoise = 1e-4, 3e-3
	k.Prior, k.SlipWalk, k.HeightWalk, k.RadiusError = 1e-3, 2e-3, 1e-4, 0.005
}

// Ball follows a rolling ball by the poses of a tracker and finds its friction: package pose has the filter. A frame is taken when all
// its seven numbers came in one tick; it is as old as its device says.
type Ball struct {
	s      BallSpec
	filter *pose.Rolling
	sample pose.Sample
	lever  r3.Vec
	mount  quat.Number
	parts  int // ticks with some of the numbers of a frame, but not all
}

// What a ball shows.
const (
	oRoll = iota
	oRollSe
	oSpin
	oSpinSe
	oQuadratic
	oQuadraticSe
	oReason
	oX
	oY
	oZ
	oQW
	oQX
	oQY
	oQZ
	oWX
	oWY
	oWZ
	oNormal
	oTangential
	oSlip
	oNoise
	oBad
	nBall
)

// BallSignals are what a ball shows, in the order of its signals.
var BallSignals = [nBall]engine.Signal{
	{Name: "roll", Unit: "N·m·s"}, {Name: "roll_se", Unit: "N·m·s"}, {Name: "spin", Unit: "N·m·s"}, {Name: "spin_se", Unit: "N·m·s"},
	{Name: "quadratic", Unit: "N·m·s²"}, {Name: "quadratic_se", Unit: "N·m·s²"}, {Name: "reason"},
	{Name: "x", Unit: "m"}, {Name: "y", Unit: "m"}, {Name: "z", Unit: "m"}, {Name: "qw"}, {Name: "qx"}, {Name: "qy"}, {Name: "qz"},
	{Name: "wx", Unit: "rad/s"}, {Name: "wy", Unit: "rad/s"}, {Name: "wz", Unit: "rad/s"},
	{Name: "normal", Unit: "N"}, {Name: "tangential", Unit: "N"}, {Name: "slip", Unit: "m/s"}, {Name: "noise"}, {Name: "bad"},
}

// NewBall checks the description.
func NewBall(s *BallSpec) (*Ball, error) {
	if s == nil {
		return nil, errors.New("ball: no description")
	}
	f, err := pose.NewRolling(pose.RollingSpec{
		Ball: s.Body, Prior: pose.Friction{Roll: s.Prior, Spin: s.Prior, Quadratic: s.Quadratic}, Walk: pose.Friction{Roll: s.Walk, Spin: s.Walk},
		Disturbance: s.Disturbance, SlipWalk: s.SlipWalk, HeightWalk: s.HeightWalk, RadiusError: s.RadiusError, Sliding: s.Sliding,
	})
	if err != nil {
		return nil, err
	}
	if !(s.PositionNoise > 0 && s.TurnNoise > 0) || math.IsInf(s.PositionNoise+s.TurnNoise, 0) {
		return nil, fmt.Errorf("ball: noise of the tracker %g m and %g rad, want > 0", s.PositionNoise, s.TurnNoise)
	}
	m := &Ball{s: *s, filter: f, lever: vec(s.Lever), mount: rotation.Exp(vec(s.Mount))}
	m.sample.Place = rotation.Eye.Scale(s.PositionNoise * s.PositionNoise)
	return m, nil
}

func vec(a [3]float64) r3.Vec { return r3.Vec{X: a[0], Y: a[1], Z: a[2]} }

// Signals are the same with and without a quadratic part.
func (m *Ball) Signals() []engine.Signal { return BallSignals[:] }

// Roles are those of the coefficients.
func (m *Ball) Roles() []hil.ChannelRole {
	r := make([]hil.ChannelRole, nBall)
	for _, at := range []int{oRoll, oSpin, oQuadratic} {
		r[at], r[at+1] = hil.RoleParameter, hil.RoleStdErr
	}
	return r
}

// Step takes a frame if one came. A coefficient that is not known, or not to be trusted, is NaN, and reason says why: it is that of
// pose.Soundness.
func (m *Ball) Step(in *hil.ModelInput, y []float64) (engine.Status, uint8) {
	came := 0
	for _, at := range m.s.Position {
		if hil.IsFresh(&in.FreshSignals, at) {
			came++
		}
	}
	for _, at := range m.s.Orientation {
		if hil.IsFresh(&in.FreshSignals, at) {
			came++
		}
	}
	switch {
	case came == len(m.s.Position)+len(m.s.Orientation):
		m.addFrame(in)
	case came > 0:
		m.parts++
	}
	m.show(y)
	return engine.OK, 0
}

func (m *Ball) addFrame(in *hil.ModelInput) {
	z, x := &m.sample, in.Meas
	z.T = float64(in.T) * 1e-9
	jitter := 0.0
	if m.s.Age >= 0 {
		z.T -= x[m.s.Age]
	} else {
		jitter = in.Dt / math.Sqrt(12)
	}
	p, q := &m.s.Position, &m.s.Orientation
	turn, ok := rotation.Unit(quat.Number{Real: x[q[0]], Imag: x[q[1]], Jmag: x[q[2]], Kmag: x[q[3]]})
	if !ok {
		turn = quat.NaN() // counted by the filter
	}
	z.R = quat.Mul(turn, quat.Conj(m.mount))
	z.P = r3.Sub(r3.Vec{X: x[p[0]], Y: x[p[1]], Z: x[p[2]]}, rotation.Rotate(z.R, m.lever))

	// a time that is off by the jitter turns and moves the ball
	w := r3.Scale(jitter, m.filter.Result().Omega)
	v := r3.Scale(m.s.Body.Radius, w)
	z.Turn = rotation.Eye.Scale(m.s.TurnNoise*m.s.TurnNoise).Add(1, rotation.OuterProduct(w, w))
	z.Place = rotation.Eye.Scale(m.s.PositionNoise*m.s.PositionNoise + r3.Norm2(v))
	// the orientation swings the lever
	if a := m.s.TurnNoise * r3.Norm(m.lever); a > 0 {
		z.Place = z.Place.Add(a*a, rotation.Eye)
	}
	m.filter.Step(z)
}

func (m *Ball) show(y []float64) {
	r := m.filter.Result()
	y[oRoll], y[oRollSe], y[oSpin], y[oSpinSe], y[oQuadratic], y[oQuadraticSe] = r.Roll.Mean, r.Roll.Sd, r.Spin.Mean, r.Spin.Sd,
		r.Quadratic.Mean, r.Quadratic.Sd
	if !r.SpinKnown {
		y[oSpin], y[oSpinSe] = math.NaN(), math.NaN()
	}
	if !r.QuadraticKnown {
		y[oQuadratic], y[oQuadraticSe] = math.NaN(), math.NaN()
	}
	y[oReason] = float64(r.Soundness)
	y[oX], y[oY], y[oZ] = r.P.X, r.P.Y, r.P.Z
	y[oQW], y[oQX], y[oQY], y[oQZ] = r.R.Real, r.R.Imag, r.R.Jmag, r.R.Kmag
	y[oWX], y[oWY], y[oWZ] = r.Omega.X, r.Omega.Y, r.Omega.Z
	y[oNormal], y[oTangential] = r.Force.Z, math.Hypot(r.Force.X, r.Force.Y)
	y[oSlip], y[oNoise] = r3.Norm(r.Slip), r.Noise
	y[oBad] = float64(m.filter.Counts().BadFrames + m.parts)
}
