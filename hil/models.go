package hil

import (
	"fmt"

	"hilrig/engine"
)

// Model is what is computed beside the rig and only watched: it runs when the command has left, and has no way back to one. It is
// driven by estimates and measurements alone.
type Model interface {
	// Signals are what it shows, without its name.
	Signals() []engine.Signal
	// Step advances the model by a tick and writes its signals into y, which keeps what it held where the step writes nothing. It
	// allocates nothing. level is how the step was done: 0 in full, higher is cheaper.
	Step(in *ModelInput, y []float64) (st engine.Status, level uint8)
}

// ModelInput is what a model gets in a tick. A model that decides by nothing else decides the same in a replay.
type ModelInput struct {
	Dt       float64  // s  a period of the loop
	Skip     uint32   // ticks that were left out just before this one
	Axes     []Motion // in the order of the file
	Room     float64  // s  the share of the period that is the model's
	StepTime float64  // s  what its step before took by the clock; 0: none yet

	T            int64     // ns  when the tick is due
	Meas         []float64 // the measured block, read only
	FreshSignals Fresh     // … what of it came in this tick
}

// Estimating is a model whose signals hold parameters and their standard errors.
type Estimating interface {
	// Roles are those of its signals: RoleParameter, and RoleStdErr in the same order, among RolePlain.
	Roles() []ChannelRole
}

// Motion is what models know of an axis in a tick. Without a measurement, current and effort are 0.
type Motion struct {
	Position     float64 // rad     estimated
	Velocity     float64 // rad/s   estimated
	Acceleration float64 // rad/s²  estimated
	Friction     float64 // N·m     estimated: all that opposes the motion beside inertia and drive
	Current      float64 // A       measured
	Effort       float64 // N·m     measured
	Command      float64 //         as it left in this tick, in the unit of the drive
	Lag          float64 // s       by which the estimated friction follows a change, on average
	Energised    bool    // the drive acts on commands
}

// ModelSpec is a model of the list.
type ModelSpec struct {
	Name  string
	Axis  string  // that it belongs to; "": to the rig
	Share float64 // of the period
	Build func() (Model, error)
}

// ModelStatusTexts say what a model of a machine does, by the number in its channel of RoleStatus, where that is not as it should be.
var ModelStatusTexts = [...]string{
	2: "lost: its loops cannot be closed where the axes are; its numbers stay as they were",
	3: "the equations of its step were not met; its numbers are the best so far",
	4: "a motion of an axis is no finite number; its numbers stay as they were",
	6: "its tip has left the beam; it waits until the drive is switched on",
	7: "lost in a singular position of its loops, from which more than one motion is possible; its numbers stay as they were until a " +
		"drive is switched on",
}

// Limits of the list.
const (
	MaxModels     = 8
	MaxShares     = 0.5 // of the period, all models together
	DefaultShares = 0.3 // … in equal parts, where a file says nothing
)

// Every model shows how long its last step took, and how that was done, before its own signals.
var modelOwn = []Channel{{Signal: engine.Signal{Name: "busy", Unit: "s"}, Role: RoleBusy},
	{Signal: engine.Signal{Name: "level"}, Role: RoleLevel}}

// sideModels are the models beside a rig. They run one after the other, in the order of the file.
type sideModels struct {
	list  []sideModel
	input ModelInput
}

// sideModel is one of them: its channels are channelRange[0] … channelRange[1] of the modelled block.
type sideModel struct {
	Model
	room         float64 // s
	channelRange [2]int
}

// newSideModels builds the models for ticks of dt (s) and this many axes. Their channels follow first others in the modelled block.
func newSideModels(specs []ModelSpec, dt float64, axes, first int) (*sideModels, []Channel, error) {
	if len(specs) > MaxModels {
		return nil, nil, fmt.Errorf("%d models, want at most %d", len(specs), MaxModels)
	}
	l := &sideModels{input: ModelInput{Dt: dt, Axes: make([]Motion, axes)}}
	var all []Channel
	sum := 0.0
	for _, s := range specs {
		if sum += s.Share; !(s.Share > 0 && sum <= MaxShares+1e-9) {
			return nil, nil, fmt.Errorf("model %s: share %g of the period, want > 0, and all models together at most %g", s.Name, s.Share, MaxShares)
		}
		m, err := s.Build()
		if err != nil {
			return nil, nil, fmt.Errorf("model %s: %w", s.Name, err)
		}
		channels := Of(s.Name, append(Signals(modelOwn), m.Signals()...)...)
		for i := range channels {
			channels[i].Axis = s.Axis
		}
		for i, own := range modelOwn {
			channels[i].Role = own.Role
		}
		if e, ok := m.(Estimating); ok {
			for i, role := range e.Roles() {
				channels[len(modelOwn)+i].Role = role
			}
		}
		channels[0].Range = [2]float64{0, s.Share * dt}
		from := first + len(all)
		all = append(all, channels...)
		l.list = append(l.list, sideModel{m, s.Share * dt, [2]int{from, first + len(all)}})
	}
	return l, all, nil
}

// instead says what would make room in a row.
func instead(specs []ModelSpec, channels []Channel) (text string) {
	for _, s := range specs {
		n := 0
		for _, c := range channels {
			if c.Owner == s.Name {
				n++
			}
		}
		text += fmt.Sprintf(", or leave out the model %s, which has %d", s.Name, n)
	}
	return text
}

// step runs every model through a tick; y is the modelled block. What a step took is in the row, and the next step is told from there:
// a replay tells it the same.
func (l *sideModels) step(r *Row, y []float64, watch Stopwatch) {
	l.input.Skip, l.input.T, l.input.FreshSignals = r.Skip, r.T, r.FreshSignals
	for i := range l.list {
		m := &l.list[i]
		own := y[m.channelRange[0]:m.channelRange[1]]
		l.input.Room, l.input.StepTime = m.room, own[0]
		watch.Begin()
		st, level := m.Step(&l.input, own[len(modelOwn):])
		own[0], own[1] = watch.Took(m.channelRange[0]), float64(level)
		if st == engine.NonFinite || st == engine.Limited {
			r.Flags |= FlagEstimator
		}
	}
}
