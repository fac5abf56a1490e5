package axis

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/identify/record"
)

// pulses are forces on the axis that the controller did not ask for: a known force beside the drive, or something added to
// the command before it was recorded, as is done to test a model on another motion. Either way the simulation has to get
// them too.
type pulses struct {
	force []float64 // N, nil: none
	drive []float64 // N, what acts on the axis in all: the recorded force, and the pulses where it does not contain them
	asked []float64 // N, what is compared in closed loop: the recorded command without them
	note  string
}

// addedFrom is the share of the recorded command, rms, from which what the controller did not ask for counts as added. Below
// it are the steps of the encoder and filters that are not modelled.
const addedFrom = 0.01

// lastingFrom is the correlation from sample to sample above which a departure is a force that somebody added; below it is the
// noise of the recorded command, which belongs to the residual.
const lastingFrom = 0.5

// pulsesOf finds the pulses of a record. In closed loop the controller is run on the recorded motion:
//
//	departure = recorded command − what the controller asks for there
//
// and the departure says whether a recorded pulse is part of the command, or, where no pulse was recorded, is the pulse.
func (s *Spec) pulsesOf(d *record.Record) pulses {
	n := len(d.Force)
	p := pulses{drive: d.Force, asked: d.Force}
	given := len(d.Disturbance) == n
	if s.Drive != Servo {
		if given {
			p.drive = floats.AddTo(make([]float64, n), d.Force, d.Disturbance)
		}
		return p
	}
	c := s.Controller
	mean := max(c.Mean, 1)
	departure := make([]float64, n)
	limit := math.Inf(1)
	if c.Limit > 0 {
		limit = c.Limit
	}
	var all, gone, left, next float64
	for k := c.Delay + mean; k < n; k++ {
		v := (d.Position[k-c.Delay] - d.Position[k-c.Delay-mean]) / (float64(mean) * d.Dt)
		asked := c.Gain * min(max(c.Kv*(c.Kp*(d.Reference[k]-d.Position[k])-v), -limit), limit)
		departure[k] = d.Force[k] - asked
		all += d.Force[k] * d.Force[k]
		gone += departure[k] * departure[k]
		next += departure[k] * departure[k-1]
		if given {
			left += (departure[k] - d.Disturbance[k]) * (departure[k] - d.Disturbance[k])
		}
	}
	switch {
	case given && left < gone: // part of the command
		p.force, p.asked = d.Disturbance, floats.SubTo(make([]float64, n), d.Force, d.Disturbance)
	case given:
		p.force, p.drive = d.Disturbance, floats.AddTo(make([]float64, n), d.Force, d.Disturbance)
	case gone > addedFrom*addedFrom*all && next > lastingFrom*gone:
		rms := math.Sqrt(gone / float64(n))
		p.force, p.asked = departure, floats.SubTo(make([]float64, n), d.Force, departure)
		p.note = fmt.Sprintf("the recorded command departs by %.3g %s rms, %.1f %%, from what the controller asks for along the recorded motion; the difference is added in the simulation too, and the residual is smaller for it. If nothing was added on purpose, the gains or the filter of the controller are wrong",
			rms, namesOf(s.Rotary).unitF, 100*math.Sqrt(gone/all))
	}
	return p
}
