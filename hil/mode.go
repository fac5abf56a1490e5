package hil

// Mode is the state of the guard: INIT → SELFTEST → READY → ARMED → RUN → HOLD | TRIP | ESTOP.
type Mode uint8

const (
	Init Mode = iota
	SelfTest
	Ready
	Armed
	Run
	Hold
	Trip
	Estop
)

var modeNames = [...]string{"init", "selftest", "ready", "armed", "run", "hold", "trip", "estop"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return "unknown"
}

// Request is what somebody asks of the guard.
type Request uint8

const (
	ReqNone  Request = iota
	ReqArm           // ready → armed
	ReqRun           // armed, hold → run
	ReqHold          // run → hold
	ReqStop          // armed, run, hold → ready; always accepted
	ReqTrip          // any → trip (a stop with cause, from the supervisor or a test)
	ReqEstop         // any → estop
	ReqReset         // trip, estop → init, once the cause is gone
	ReqSet           // new parameter block; the mode stays
)

var requestNames = [...]string{"none", "arm", "run", "hold", "stop", "trip", "estop", "reset", "set"}

func (q Request) String() string {
	if int(q) < len(requestNames) {
		return requestNames[q]
	}
	return "unknown"
}

// ParseRequest turns the name of a command topic into a request; false if there is none of that name.
func ParseRequest(name string) (Request, bool) {
	for i, n := range requestNames {
		if i > 0 && n == name {
			return Request(i), true
		}
	}
	return ReqNone, false
}

// Cause says why the guard is where it is.
type Cause uint8

const (
	CauseNone       Cause = iota
	CauseStart            // the program just started
	CauseCommand          // somebody asked for it
	CauseStale            // a sensor was older than its limit
	CauseRange            // a sensor was outside its range
	CauseNonFinite        // a number was not finite
	CauseDiverged         // model or estimator diverged
	CauseThermal          // i²t
	CauseOverrun          // the loop missed its deadlines
	CauseLink             // the device went away
	CauseSupervisor       // the supervisor was lost
	CauseSelfTest         // the self-test failed
	CauseDevice           // the device reported a fault
	CauseEstop            // emergency stop
	CauseDone             // the run ended as planned
)

var causeNames = [...]string{"none", "start", "command", "stale sensor", "out of range", "non-finite number", "divergence", "i2t", "overrun",
	"link down", "supervisor lost", "self-test failed", "device fault", "emergency stop", "done"}

func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return "unknown"
}
