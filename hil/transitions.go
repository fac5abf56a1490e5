package hil

// The guard's state machine is this table and nothing else: what is not listed does not happen. docs/reference/safety.md draws it;
// a test compares the drawing with the table.

// trigger is what moves the guard: a request, or something the tick noticed.
type trigger uint8

const (
	onBegin       trigger = iota // the loop runs
	onTripBefore                 // … and it had ended tripped
	onEstopBefore                // … or in an emergency stop
	onHealthy                    // every watched sensor alive and in range for the self-test time
	onSick                       // a watched sensor is stale, out of range or not finite
	onWell                       // … and healthy again
	onExpire                     // HOLD for a sick sensor, or ARMED, lasted too long
	onFault                      // overrun, divergence, i²t, limit, supervisor lost or ending: no waiting
	onArm
	onRun
	onHold
	onStop
	onEstop
	onReset
	nTriggers
)

type transition struct {
	from    Mode
	trigger trigger
	to      Mode
}

var transitions = []transition{
	{Init, onBegin, SelfTest},
	{Init, onTripBefore, Trip},
	{Init, onEstopBefore, Estop},

	{SelfTest, onHealthy, Ready},
	{SelfTest, onFault, Trip},
	{SelfTest, onStop, SelfTest},
	{SelfTest, onEstop, Estop},

	{Ready, onArm, Armed},
	{Ready, onSick, SelfTest},
	{Ready, onFault, Trip},
	{Ready, onStop, Ready},
	{Ready, onEstop, Estop},

	{Armed, onRun, Run},
	{Armed, onStop, Ready},
	{Armed, onExpire, Ready},
	{Armed, onSick, Trip},
	{Armed, onFault, Trip},
	{Armed, onEstop, Estop},

	{Run, onHold, Hold},
	{Run, onSick, Hold},
	{Run, onStop, Ready},
	{Run, onFault, Trip},
	{Run, onEstop, Estop},

	{Hold, onRun, Run},
	{Hold, onHold, Hold}, // one that a sick sensor caused is one that was asked for from now on
	{Hold, onWell, Run},  // only out of a HOLD that a sick sensor caused
	{Hold, onExpire, Trip},
	{Hold, onStop, Ready},
	{Hold, onFault, Trip},
	{Hold, onEstop, Estop},

	{Trip, onReset, SelfTest}, // refused while the cause lasts
	{Trip, onStop, Trip},
	{Trip, onEstop, Estop},

	{Estop, onReset, SelfTest}, // refused while the cause lasts
	{Estop, onStop, Estop},
	{Estop, onEstop, Estop},
}

// next is the table as the tick reads it: nowhere where there is no transition.
const nowhere Mode = 255

var next = func() (n [Estop + 1][nTriggers]Mode) {
	for m := range n {
		for t := range n[m] {
			n[m][t] = nowhere
		}
	}
	for _, tr := range transitions {
		n[tr.from][tr.trigger] = tr.to
	}
	return n
}()

// Energised tells whether the command may differ from its safe value in this mode.
func (m Mode) Energised() bool { return m == Run || m == Hold }
