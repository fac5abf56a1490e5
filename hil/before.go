package hil

// Before is what the core before, or the run before, leaves to the next: what was latched stays latched, and a hot winding hot.
type Before struct {
	Mode         Mode // Trip or Estop; Init: nothing is latched
	Cause        Cause
	CauseSignal  uint16 // index of the signal in Row.X plus 1; 0: none
	Value, Limit float64
	Heat         [MaxAxes]float64 // used share of the i²t budget of each axis
}

// Latched tells whether a mode is only left by a reset.
func (m Mode) Latched() bool { return m == Trip || m == Estop }
