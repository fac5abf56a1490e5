package models

import (
	"errors"
	"math"

	"hilrig/engine"
	"hilrig/estimator"
	"hilrig/hil"
)

// SensorSpec is what a model of kind second-sensor is built from.
type SensorSpec struct {
	Axis int
	SensorKeys
	// places in the measured block
	Reading int
	Age     int     // of the samples of that device (s); −1: a sample is as old as its tick
	Wire    float64 // s  that the reading spends on its line, less that of the position: no age holds it
	WireErr float64 // s  standard uncertainty of the time from either sensor to its line, which no device states
	Dt      float64 // s  of the loop
	Unit    string  // of the reading and of the axis
}

// SensorKeys are those of kind second-sensor beside the name of its signal.
type SensorKeys struct {
	Memory float64 `yaml:"memory" unit:"s" want:">=0" doc:"time after which a sample counts 1/e; 0: all count the same"`
	Wraps  bool    `yaml:"wraps" doc:"the reading begins anew after a turn, as a heading does"`
	Depth  float64 `yaml:"depth" unit:"s" want:">0 <=5" doc:"the oldest that a sample may be, its shift included"`
}

// SetDefaults of a second sensor.
func (k *SensorKeys) SetDefaults() { k.Memory, k.Depth = 60, 0.5 }

// Sensor finds offset, time shift and gain of a second sensor against the position of an axis (estimator.Alignment).
type Sensor struct {
	s     SensorSpec
	align *estimator.Alignment
}

// What a second sensor shows.
const (
	sOffset = iota
	sOffsetSe
	sShift
	sShiftSe
	sGain
	sGainSe
	sNoise
	sDifference
	sLeft
	sRestarts
	nSensor
)

// NewSensor checks the description.
func NewSensor(s *SensorSpec) (*Sensor, error) {
	if s == nil {
		return nil, errors.New("second sensor: no description")
	}
	spec := estimator.AlignmentSpec{Dt: s.Dt, Memory: s.Memory, Depth: s.Depth}
	if s.Wraps {
		spec.Period = 2 * math.Pi
	}
	a, err := estimator.NewAlignment(spec)
	if err != nil {
		return nil, err
	}
	return &Sensor{s: *s, align: a}, nil
}

// Signals of a second sensor whose reading has the unit of its axis; the gain then is a number.
func (m *Sensor) Signals() []engine.Signal {
	u := m.s.Unit
	return []engine.Signal{
		{Name: "offset", Unit: u}, {Name: "offset_se", Unit: u}, {Name: "shift", Unit: "s"}, {Name: "shift_se", Unit: "s"}, {Name: "gain"},
		{Name: "gain_se"},
		{Name: "noise", Unit: u}, {Name: "difference", Unit: u}, {Name: "left_out"}, {Name: "restarts"},
	}
}

// Roles are those of offset, shift and gain.
func (m *Sensor) Roles() []hil.ChannelRole {
	r := make([]hil.ChannelRole, nSensor)
	for _, at := range []int{sOffset, sShift, sGain} {
		r[at], r[at+1] = hil.RoleParameter, hil.RoleStdErr
	}
	return r
}

// Step takes the motion of the tick, and the reading if one came. What is not known is NaN.
func (m *Sensor) Step(in *hil.ModelInput, y []float64) (engine.Status, uint8) {
	now := float64(in.T) * 1e-9
	axis := &in.Axes[m.s.Axis]
	m.align.Motion(now, axis.Position, axis.Velocity)
	if hil.IsFresh(&in.FreshSignals, m.s.Reading) {
		now -= m.s.Wire
		if m.s.Age >= 0 {
			now -= in.Meas[m.s.Age]
		}
		m.align.Sample(now, in.Meas[m.s.Reading])
	}
	r, n := m.align.Result(), m.align.Counts()
	y[sOffset], y[sOffsetSe], y[sShift], y[sShiftSe], y[sGain], y[sGainSe] = r.Offset, r.OffsetSE, r.Shift,
		math.Hypot(r.ShiftSE, m.s.WireErr), r.Gain, r.GainSE
	y[sNoise], y[sDifference], y[sLeft], y[sRestarts] = r.Noise, r.Difference, float64(n.LateSamples+n.OutlierSamples), float64(n.Restart)
	return engine.OK, 0
}
