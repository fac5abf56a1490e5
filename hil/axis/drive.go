package axis

import (
	"slices"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// Hold is what becomes of a command while a sensor is sick: for the few ticks that HOLD may last.
type Hold uint8

const (
	HoldLast Hold = iota // it stays: the back-emf bounds the speed
	HoldZero             // it goes to zero within the time of HOLD: the same effort would go on to accelerate
	HoldSlew             // it goes to zero as fast as its slew lets it
)

// HoldOf is that of a kind of drive.
func HoldOf(k plant.DriveKind) Hold {
	switch k {
	case plant.CurrentDrive, plant.EffortDrive:
		return HoldZero
	case plant.VelocityDrive:
		return HoldSlew
	}
	return HoldLast
}

// effort (N·m) of a command; 0 where it is none.
func (s *Spec) effort(command float64) float64 {
	switch s.Drive {
	case plant.CurrentDrive:
		return s.Motor.K * command
	case plant.EffortDrive:
		return command
	}
	return 0
}

// command is the one that makes the effort tau (N·m) at the desired motion, with this motor.
func (a *Axis) command(motor *plant.Motor, tau, e float64, ref [3]float64) float64 {
	if a.s.RefKind == OfCommand {
		return ref[0]
	}
	switch a.s.Drive {
	case plant.VoltageDrive:
		v := ref[1]
		if a.s.RefKind == OfEffort {
			v = 0
		}
		return motor.Voltage(tau, v)
	case plant.CurrentDrive:
		return tau / motor.K
	case plant.VelocityDrive:
		return a.gain*e + ref[1]
	}
	return tau
}

// measured tells whether a quantity is.
func (s *Spec) measured(q estimator.Quantity) bool {
	return slices.ContainsFunc(s.Sampling.Groups, func(g estimator.Group) bool { return slices.Contains(g.Quantities, q) })
}

// ReferenceOf is what a reference is the wanted value of.
type ReferenceOf uint8

const (
	OfPosition ReferenceOf = iota // followed by the controller
	OfEffort                      // applied as it is, without feedback
	OfCommand                     // sent as it is, in the unit of the drive
)

// Words are what there is.
func (ReferenceOf) Words() []string { return []string{"position", "effort", "command"} }

func (o ReferenceOf) String() string { return o.Words()[o] }

// signals of the reference on a linear axis.
func (o ReferenceOf) signals(drive plant.DriveKind) []engine.Signal {
	switch o {
	case OfEffort:
		return []engine.Signal{{Name: "ref.effort", Unit: "N"}}
	case OfCommand:
		return []engine.Signal{{Name: "ref.command", Unit: drive.Unit()}}
	}
	return []engine.Signal{{Name: "ref.position", Unit: "m"}, {Name: "ref.velocity", Unit: "m/s"}, {Name: "ref.acceleration", Unit: "m/s²"}}
}

// derivatives is the number of those signals.
func (o ReferenceOf) derivatives() int {
	if o == OfPosition {
		return 3
	}
	return 1
}

// base is where a reference begins and rests, with the estimate x.
func (o ReferenceOf) base(x []float64) float64 {
	if o == OfPosition {
		return x[estimator.XPos]
	}
	return 0
}
