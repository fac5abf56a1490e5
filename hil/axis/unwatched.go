package axis

import (
	"math"

	"hilrig/engine/plant"
)

// Unwatched is how long (s) a position that tells nothing stays unnoticed at least where the drive does all it can, how far (rad) the axis
// goes meanwhile, and how fast (rad/s) it gets. It is the shorter time of frozen where the way is long enough for it, else the longer one:
// five samples of each at least, and the age of one at its end. Friction and load are left out. 0: not known.
func (s *Spec) Unwatched() (time, way, speed float64) {
	every := s.SamplePeriod
	if every == 0 {
		every = s.Tick
	}
	for _, wait := range []float64{quickTime, patientTime} {
		time = max(wait, minSamples*every) + every
		if way, speed = s.fullEffort(time); way > quickWay*max(s.Kalman.Count, s.Mechanical.Count) {
			break
		}
	}
	if way == 0 {
		time = 0
	}
	return time, way, speed
}

// fullEffort is how far (rad) the axis goes from rest in a time (s) under the largest command or effort, and how fast (rad/s) it is then;
// 0: not known.
func (s *Spec) fullEffort(time float64) (way, speed float64) {
	top, effort := math.Inf(1), math.Abs(s.effort(s.TopCommand))
	switch m := &s.Motor; {
	case s.Drive == plant.VelocityDrive:
		return s.TopCommand * time, s.TopCommand
	case s.Drive == plant.VoltageDrive && m.R > 0 && m.K > 0:
		top, effort = s.TopCommand/m.K, m.K/m.R*max(0, s.TopCommand-m.BrushDrop)
	}
	if s.PID.Limit > 0 {
		effort = min(effort, s.PID.Limit)
	}
	if !(s.Motor.J > 0) || !(effort > 0) {
		return 0, 0
	}
	a := effort / s.Motor.J
	if speed = a * time; speed > top {
		return top*time - top*top/a/2, top
	}
	return speed * time / 2, speed
}
