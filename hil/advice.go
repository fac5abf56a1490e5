package hil

// advice is where to look after a trip of a cause, and the page that explains it.
var advice = map[Cause]string{
	CauseEstop: "Make sure that its reason is gone",
	CauseStale: "Its samples came too late or not at all: look at the board, the line and the load of this computer " +
		"(docs/howto/realtime.md), or raise stale of the sensor and guard.hold_time",
	CauseRange:     "Look at the sensor, its wiring and scale, and the range in the file",
	CauseNonFinite: "Look at the sensor and its scale: it gave no number (docs/reference/link.md)",
	CauseLink:      "Look at the cable, the supply of the board and the USB port; hil ports lists what is there",
	CauseDevice: "Look up the status word in the manual of the drive. A board of the sketch switches off when commands stay out " +
		"(docs/reference/link.md)",
	CauseSupervisor: "The program beside the loop ended or was stopped: look at the log, and at what else runs on this computer " +
		"(docs/howto/realtime.md)",
	CauseStarved:   "This computer was too busy: look at its load and at docs/howto/realtime.md, or raise loop.beat",
	CauseOverrun:   "This computer was too busy: look at its load and at docs/howto/realtime.md, or raise loop.overrun.limit",
	CauseLateTicks: "This computer was too busy: look at its load and at docs/howto/realtime.md, or raise loop.overrun.max",
	CauseSpeed:     "Is the reference faster than max_speed, is the controller unstable, or has a scale the wrong size? (docs/reference/axes.md)",
	CauseError: "Is the reference faster than the drive, is the axis held, are the gains too low, or has a sign or a scale the " +
		"wrong value? (docs/reference/axes.md)",
	CauseCurrent:     "Is the axis held or the load too large, are the gains too high, or is max_current too low? (docs/reference/axes.md)",
	CauseTemperature: "Let it cool down; a reset is taken below the limit",
	CauseThermal:     "Let the winding cool down; a reset is taken below half of the budget. The motion asks for more than rated_current",
	CauseResidual:    "Look whether something touches the axis; else identify its friction anew (docs/reference/identify.md)",
	CauseDiverged:    "Look at noise and signs of the sensors (docs/explanation/estimation.md)",
	CauseEstimate:    "Look at noise and resolution of the position (docs/explanation/estimation.md)",
	CauseTravel:      "Move the axis back into its travel by hand, and look at the reference and its start",
	CauseDisagree: "Did something hold the axis, or move it? Else compare scale, sign and wiring of the reading with its data sheet " +
		"(docs/reference/safety.md)",
	CauseDelay: "Look how long the drive needs for a command, and at the times of the samples; lower the gains of the controller " +
		"(docs/reference/safety.md)",
	CauseDirection: "Did something throw the axis back? Else turn the shaft by hand: does the position rise the way a positive command " +
		"turns it? Else change the sign of its scale (docs/tutorials/first-motor.md)",
	CauseScale: "Turn the shaft by hand: does the position rise by 2π rad a turn? Then compare R, K and the scale of current and " +
		"drive with their data sheets (docs/tutorials/first-motor.md)",
	CauseFrozen: "Turn the shaft by hand: does the position follow? Look at the coupling, the encoder and its wiring, and whether " +
		"the shaft is held",
	CauseFrozenCurrent: "Look at the current sensor and its wiring",
	CauseJump:          "Look at the coupling, the encoder and its supply; the position is another one now",
	CauseBlocked:       "Look whether the shaft is held, or was moved; then at the coupling, the position sensor and the drive",
}

// Advice says what to do after a trip of this cause, in one sentence.
func (c Cause) Advice() string {
	if text := advice[c]; text != "" {
		return text
	}
	return "docs/reference/safety.md explains the cause"
}
