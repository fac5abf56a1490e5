package hil

import (
	"math"

	"hilrig/engine"
)

// Plant is the role of a virtual rig: commands come in from somebody else's controller, the model of the rig is stepped
// many times inside one tick, sensor readings go out. It behaves like the firmware of a small drive: without a fresh
// command within Watchdog seconds, or without its enable line, it takes the voltage off the motor.
type Plant struct {
	s      PlantSpec
	dt     float64 // s  inner step
	x, y   []float64
	u      [2]float64
	schema Schema
	silent float64 // s   since the last command
	alive  bool
	volts  float64
	enable bool
}

// Machine is the model inside a virtual rig with its sensors: Step advances it with u = [V, enable], Read fills the
// sensor readings.
type Machine interface {
	engine.System
	Read(x, y, sensors []float64)
}

// PlantSpec describes the virtual rig. Drive and Enable are indices into the received commands; Enable −1: no such line.
type PlantSpec struct {
	Name          string
	Rate          float64 // Hz  ticks
	Inner         int     // steps of the machine per tick
	Machine       Machine
	State         []float64
	Recv          []engine.Signal // what the device delivers: commands and their age
	Send          []engine.Signal // sensors, in the order of the frame, as Machine.Read fills them
	Drive, Enable int
	Status        int        // index of the status word in Send; −1: none
	Voltage       int        // index of the applied voltage in Send; −1: none
	Watchdog      float64    // s
	Supply        [2]float64 // V
}

// Bits of the drive's status word.
const (
	StatusWatchdog = 1 // no command came in time
	StatusDisabled = 2 // the enable line is low
)

// NewPlant prepares the role.
func NewPlant(s PlantSpec) *Plant {
	p := &Plant{s: s, dt: 1 / (s.Rate * float64(s.Inner)), x: s.State}
	lay := s.Machine.Layout()
	p.y = make([]float64, len(lay.Outputs))
	p.schema = Schema{Rig: s.Name, Rate: s.Rate, Meas: Of("plant", s.Recv...), Model: Of("plant", lay.Outputs...), Cmd: Of("plant", s.Send...)}
	return p
}

func (p *Plant) Schema() Schema { return p.schema }

// Decide takes the newest command and lets the watchdog judge.
func (p *Plant) Decide(r *Row, b *Blocks) {
	dt := float64(1+r.Skip) / p.s.Rate
	if IsFresh(&r.Fresh, p.s.Drive) {
		p.silent, p.alive = 0, true
		p.volts = b.Meas[p.s.Drive]
		p.enable = p.s.Enable < 0 || b.Meas[p.s.Enable] == 1
	} else {
		p.silent += dt
	}
	if p.silent > p.s.Watchdog {
		p.alive, p.enable, p.volts = false, false, 0
	}
	r.Mode = Ready
	if p.alive && p.enable {
		r.Mode = Run
	}
}

// Compute runs the machine through the tick, and through ticks that were skipped: the plant's time never stands still.
func (p *Plant) Compute(r *Row, b *Blocks) {
	p.u = [2]float64{}
	if r.Mode == Run && !math.IsNaN(p.volts) {
		p.u[0] = min(p.s.Supply[1], max(p.s.Supply[0], p.volts))
		p.u[1] = 1
	}
	const most = 1000 // after a long stop of the host the plant does not try to catch up more than this many ticks
	for range p.s.Inner * (1 + int(min(r.Skip, most))) {
		if st := p.s.Machine.Step(p.dt, p.x, p.u[:], p.y); st != engine.OK {
			r.Flags |= FlagEstimator
		}
	}
	copy(b.Model, p.y)
}

// Guard turns the state into what the sensors say.
func (p *Plant) Guard(r *Row, b *Blocks) {
	p.s.Machine.Read(p.x, p.y, b.Cmd)
	if p.s.Voltage >= 0 {
		b.Cmd[p.s.Voltage] = p.u[0]
	}
	if p.s.Status >= 0 {
		st := 0.0
		if !p.alive {
			st += StatusWatchdog
		}
		if !p.enable {
			st += StatusDisabled
		}
		b.Cmd[p.s.Status] = st
	}
}
