package hil

import (
	"hilrig/estimator"
	"hilrig/hil/axis"
)

// GuardSpec is what the guard watches. Lengths follow the schema: Meas the measured signals, Cmd the commands. A limit holds on
// both sides and its edge is still good.
type GuardSpec struct {
	GuardLimits
	Axes []AxisGuard

	Dt    float64 // s
	Meas  []MeasLimit
	Cmd   []CmdLimit
	Ages  []int   // of each measured signal: index of the age of its samples in Meas; nil: the next age behind it
	CmdAt int     // index of the first command in Row.X
	Beat  float64 // s  silence of the supervisor that is tolerated

	Overrun      OverrunPolicy
	OverrunMax   int   // misses tolerated in a window of 100 ticks (hold, trip)
	OverrunLimit int64 // ns  a single miss longer than this trips; 0: none
}

// AxisGuard is what the guard watches of an axis.
type AxisGuard struct {
	AxisLimits
	MaxResidual                            float64                   // N·m  slow mean of the effort that the model leaves unexplained; 0: none
	Measured                               [estimator.Quantities]int // index in Meas, by estimator.Quantity; −1: not measured
	HasDrive                               bool                      // there is a drive …
	OffLimits                              axis.OffLimits            // … and this is what the axis may show when it is off
	SamplePeriod                           float64                   // s  between samples of its slowest reading
	DriveStopTime                          float64                   // s  a velocity drive stops within this time; 0: it is none
	Position, Speed, Error, Residual, Heat uint16                    // where these stand in Row.X, plus 1; 0: nowhere
	Command                                uint16                    // … and its command
}

// GuardLimits is the section of what the guard does for the whole rig.
type GuardLimits struct {
	HoldTime float64 `yaml:"hold_time" unit:"s" want:">=0 <=10" doc:"HOLD for a sick sensor becomes TRIP when all its instalments of the last second are together longer than this; hil run --arm refuses more than 1 s"`
	SelfTest float64 `yaml:"selftest_time" unit:"s" want:">=0 <=60" doc:"every watched sensor must be alive and in range for this long before READY"`
	Armed    float64 `yaml:"armed_time" unit:"s" want:">=0 <=86400" doc:"ARMED becomes READY again after this time without run; 0: never"`
}

// AxisLimits is the section of what the guard watches of an axis.
type AxisLimits struct {
	MaxSpeed      float64    `yaml:"max_speed" unit:"rad/s" want:">=0 <=1e9" doc:"estimated speed that trips; 0: no limit"`
	MaxError      float64    `yaml:"max_error" unit:"rad" want:">=0 <=1e9" doc:"tracking error that trips; 0: no limit"`
	Travel        [2]float64 `yaml:"travel,omitempty" unit:"rad" doc:"an estimated position outside it trips; [0, 0]: no limit"`
	Stop          [2]float64 `yaml:"stop,omitempty" unit:"rad" doc:"the reference stays within it, and an effort or command without feedback pushes no further out; [0, 0]: no limit"`
	Approach      float64    `yaml:"approach,omitempty" unit:"rad/s" want:">=0 <=1e9" doc:"a start, and a change of scale or offset, adds no more than this to the speed of the reference: fade takes longer where it must; 0: a tenth of max_speed, or of the speed that the largest command of a voltage or velocity drive can make"`
	MaxInertia    float64    `yaml:"max_inertia,omitempty" unit:"kg·m²|N·m·s²/rad" want:">=0 <=1e6" doc:"the true inertia of all that moves is no larger: a position must show the motion of such an axis. Left out: ten times that of the file, and a position that shows a part of the motion is found late or never"`
	MaxLimitCycle float64    `yaml:"max_limit_cycle" unit:"Hz" want:">=0 <=1e5" doc:"a command that is at its limits for more than half of the time and runs from one to the other and back more often than this, beyond what the reference asks for, trips; 0: not watched"`
	MaxCurrent    float64    `yaml:"max_current" unit:"A" want:">=0 <=1e9" doc:"measured current that trips; 0: no limit"`
	RatedI        float64    `yaml:"rated_current" unit:"A" want:">=0 <=1e9" doc:"continuous current of the i²t budget; 0: no budget"`
	Thermal       float64    `yaml:"thermal_time" unit:"s" want:">=0.001 <=1e6" doc:"time constant of the i²t budget"`
}

// MeasLimit bounds one measured signal. Stale 0: its age is not watched. Lo ≥ Hi: any finite value will do.
type MeasLimit struct {
	Stale            float64 // s
	Lo, Hi           float64
	Hot              float64 // of a temperature: above it the rig trips; 0: none
	Status           bool    // a device status word: anything but 0 is a fault of the device once the drive is on
	Needed           bool    // no drive is energised unless the age of this signal is watched
	RequiredForReady bool    // the rig is not READY before it came once, whether its age is watched or not
	Age              bool    // the age (s) that the newest sample of a device had when it arrived; behind the signals of the device
}

// CmdLimit bounds one command.
type CmdLimit struct {
	Lo, Hi float64
	Slew   float64 // units per second; 0: none
	Safe   float64
	Enable bool // the drive's enable line: 1 in RUN and HOLD, else 0
	Drives bool // an axis
	Hold   axis.Hold
}

// OverrunPolicy says what missed deadlines mean.
type OverrunPolicy uint8

const (
	OverrunSkip    OverrunPolicy = iota // counted only; the clock skips them
	OverrunCatchUp                      // counted only; the clock runs some of them at once
	OverrunHold
	OverrunTrip
)

// Words are the policies by number.
func (OverrunPolicy) Words() []string { return []string{"skip", "catch-up", "hold", "trip"} }

// Refusal is why a request was not taken; 0 means it was.
type Refusal = uint8

const (
	Taken       Refusal = iota
	WrongMode           // the table has no such transition from here
	TooEarly            // nothing was looked at yet: the first tick
	DryRunOnly          // nothing may be armed in a dry run
	NotAllowed          // started without --arm
	Unwatched           // a signal that must be watched is not
	NoDrive             // there is nothing to energise
	StillFades          // parameters: a change before it still fades in
	NotPrepared         // parameters: the block of the order is not there

	stillWrong Refusal = 0x80 // and above: this plus the cause that is there now
)

// StillWrong is the refusal for a cause that is there now, be it that of the trip or another one.
func StillWrong(c Cause) Refusal { return stillWrong + Refusal(c) }

// RefusalText explains a refusal.
func RefusalText(r Refusal, q Request, m Mode) string {
	switch r {
	case Taken:
		return ""
	case WrongMode:
		return q.String() + " is not possible in mode " + m.String()
	case TooEarly:
		return "the rig has just begun: nothing was looked at yet. Send it again"
	case DryRunOnly:
		return "this is a dry run: nothing is sent to the device; start with --arm to drive it"
	case NotAllowed:
		return "the daemon was started without --arm: it may not drive this rig"
	case StillFades:
		return "not taken, and will not be: a change before it still fades in (compensation.ramp). Send it again when that is over"
	case NotPrepared:
		return "not taken, and will not be: the loop has no such block of parameters. Send it again"
	case NoDrive:
		return "no axis of this rig has a drive: it measures and records as it is, there is nothing to arm"
	case Unwatched:
		return "the file switches off the watch over a signal that driving needs (stale: 0): give it a time, or leave stale out"
	}
	if r >= stillWrong {
		c := Cause(r - stillWrong)
		return "a cause is still there: " + c.String() + ". " + c.Advice()
	}
	return "refused"
}
