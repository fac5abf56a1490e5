package axis

import (
	"math"

	"hilrig/engine/plant"
)

// OffLimits are what an axis may still show whose drive is off. 0 of the first two: nothing can be told from it.
type OffLimits struct {
	Current         float64 // A      mean of the measured current beyond what braking makes
	Voltage         float64 // V      mean of the applied voltage beyond the back-emf
	Braking         float64 // A·s/rad  current of a shorted winding per speed, against it; +Inf: not known
	BackEMF         float64 // V·s/rad
	Slows           float64 // rad/s²  by friction alone; 0: not known
	MinBrakingSpeed float64 // rad/s   below it a current against the motion is none
	RestSpeed       float64 // rad/s   below it the axis is at rest; 0: not known
	Loaded          bool    // a mechanism may speed the axis up
}

// offShare is what may be left of the largest command, of what it makes, or of a limit, where the drive is off: offset and noise of a
// sensor.
const offShare = 0.05

// An axis is at rest below this share of its largest speed, and below this many standard deviations of the position in a second.
const (
	restShare = 1e-3
	restNoise = 200 // 1/s  ten of them in 50 ms
)

// OffLimits is what the axis may show when its drive is off. ends tells whether there is an enable line, or the safe command is 0 and
// makes no effort: a velocity drive without such a line goes on holding its place. noise is that of the position (rad). limits are those
// of a current (A), the first that is declared counts.
func (s *Spec) OffLimits(ends bool, noise float64, limits ...float64) OffLimits {
	o := OffLimits{Braking: math.Inf(1), MinBrakingSpeed: 0.01 * s.topSpeed(), Loaded: s.Coupled}
	if o.RestSpeed = max(restShare*s.topSpeed(), restNoise*noise); s.Coupled {
		o.RestSpeed = max(o.RestSpeed, 2*o.MinBrakingSpeed)
	}
	if s.Motor.J > 0 && s.hasLaw() {
		l := s.Law.Levels().Sliding
		o.Slows = min(l.Forward, l.Backward) / s.Motor.J
	}
	if !ends {
		return o
	}
	top := 0.0
	switch {
	case s.Drive == plant.VoltageDrive && s.Motor.R > 0:
		top, o.Voltage = s.TopCommand/s.Motor.R, offShare*s.TopCommand
		o.Braking, o.BackEMF = s.Motor.K/s.Motor.R, s.Motor.K
	case s.Drive == plant.CurrentDrive:
		top = s.TopCommand
	case s.Drive == plant.EffortDrive && s.Motor.K > 0:
		top = s.TopCommand / s.Motor.K
	}
	for _, limit := range limits {
		if top == 0 {
			top = limit
		}
	}
	o.Current = offShare * top
	return o
}
