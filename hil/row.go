package hil

import "unsafe"

// MaxSignals bounds the flat array of a row; a fixed size lets the same struct live in shared memory, in the recording,
// in replay and in tests.
const MaxSignals = 192

// Row is everything known about one tick. It holds no pointer. X is cut into [measured | estimated | modelled | command]
// by the Schema that travels once beside the rows.
type Row struct {
	Seq          uint64  // number of the tick, from 1, without gaps within an epoch
	T            int64   // ns  deadline of the tick on the loop's clock (CLOCK_MONOTONIC for the wall clock)
	FreshSignals Fresh   // measured signals that arrived since the last tick
	Lateness     int32   // ns  wake-up after the deadline, saturated
	BusyTime     int32   // ns  from the wake-up to the row being complete, saturated
	Flags        Flags   // what happened in this tick
	Gen          uint32  // generation of the parameter block in force
	Cmd          uint32  // id of the command taken in this tick, 0 for none
	Skip         uint32  // ticks skipped just before this one
	Epoch        uint16  // incarnation of the core that made the row
	Req          uint8   // the request taken in this tick (Request)
	Res          uint8   // what became of it (Refusal, 0 = accepted)
	Mode         Mode    // state of the guard after this tick
	Cause        Cause   // why the guard is in that state
	CauseSignal  uint16  // the signal behind the cause: its index in X plus 1; 0: none
	Value        float64 // what that signal, or the quantity that the cause names, was; 0 with Limit 0: nothing to tell
	Limit        float64 // … and what it should have stayed within
	X            [MaxSignals]float64
}

// The layout of a row is fixed, on 32-bit machines too: both subtractions fail to compile when the size is another.
const rowSize = 80 + 8*MaxSignals

const (
	_ = uint(unsafe.Sizeof(Row{}) - rowSize)
	_ = uint(rowSize - unsafe.Sizeof(Row{}))
)

// Fresh has a bit for each of up to 128 measured signals: bit i of the two words tells that signal i arrived since the last tick. An alias:
// a device need not import this package.
type Fresh = [2]uint64

// MaxMeasured is the number of measured signals that have such a bit.
const MaxMeasured = 128

// IsFresh is bit i; a signal that is not there (−1) is never fresh.
func IsFresh(f *Fresh, i int) bool { return i >= 0 && f[i>>6]>>(i&63)&1 != 0 }

// SetFresh sets bit i.
func SetFresh(f *Fresh, i int) { f[i>>6] |= 1 << (i & 63) }

// Flags are the bits of Row.Flags.
type Flags uint32

const (
	FlagStale        Flags = 1 << iota // a watched measurement is older than its limit
	FlagRange                          // a measurement is outside its declared range
	FlagNonFinite                      // a measurement, estimate or command was not finite
	FlagDiverged                       // the model or the estimator left its bounds
	FlagClamped                        // the command was cut to its limit
	FlagSlewed                         // the command was cut to its slew rate
	FlagThermal                        // the i²t budget is used up
	FlagLate                           // the tick woke later than one period
	FlagSkipped                        // ticks were skipped before this one
	FlagCatchUp                        // this tick repeats a missed deadline at once
	FlagOverrun                        // the tick itself took longer than a period
	FlagLinkDown                       // the device is not connected
	FlagSupLost                        // the supervisor died or stopped beating
	FlagDryRun                         // nothing is sent to the device
	FlagUnprivileged                   // the core runs without real-time scheduling
	FlagTripIn                         // the core ends while it drives
	FlagLateModel                      // cause of the lateness: the tick before was busy for most of its period
	FlagLateDevice                     // cause of the lateness: the device's frame came late (device-paced clock)
	FlagLateHost                       // cause of the lateness: the host took the CPU away (steal), set by the supervisor
	FlagUnexcited                      // the recursive estimator is frozen for lack of excitation
	FlagEstimator                      // the estimator or the model reported a status other than ok
	FlagLocked                         // the command line does not allow arming
	// a sample of position or current is not taken: out of range, without a time, or nothing an axis could do
	FlagRefused
	FlagJump           // the position jumped, and is taken anew
	FlagCommandRefused // a device says no to the newest command
	FlagCommandLost    // a device has not answered the newest command in time
	FlagNotOff         // the drive should be off, and something tells that it is not, or that nobody knows
	FlagLatched        // first tick: the core, or the run, before ended in TRIP or ESTOP, and so this one begins
)
