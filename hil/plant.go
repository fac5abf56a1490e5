package hil

import (
	"math"
	"slices"

	"hilrig/engine"
)

// Plant is the role of a virtual rig: commands come in from somebody else's controller, the model of the rig is stepped
// many times inside one tick, sensor readings go out. It behaves like the firmware of small drives: without a fresh
// command within its Watchdog, or without its enable line, a drive is switched off.
type Plant struct {
	s           PlantSpec
	dt          float64 // s  inner step
	x, y        []float64
	u           []float64 // command and enable of each drive
	drives      []driveState
	schema      Schema
	machineLost bool   // the machine: it stays so
	ticks       uint64 // of the plant's time, skipped ones included
}

// driveState is what a drive knows of its commands.
type driveState struct {
	silent  float64 // s   since the last command
	alive   bool
	command float64
	enable  bool
}

// Machine is the model inside a virtual rig with its sensors and its script: Step advances it with u = [command, enable] of each of
// its drives.
type Machine interface {
	engine.System
	Play(t float64, x []float64) // does what the script says up to t, s since the start
	Read(y, sensors []float64)   // fills the sensor readings from the outputs; NaN: the sensor says nothing
}

// PlantSpec describes the virtual rig.
type PlantSpec struct {
	Name     string
	Rate     float64 // Hz  ticks
	Substeps int     // steps of the machine per tick
	Machine  Machine
	State    []float64
	Owners   []Owner
	Recv     []Channel    // what the devices deliver: commands and their ages
	Send     []Channel    // sensors, in the order of the frames, as Machine.Read fills them
	Truth    []Channel    // the outputs of the machine
	Drives   []PlantDrive // one for each drive of the machine
}

// PlantDrive is where a drive of the machine has its command from. Indices of −1: there is none.
type PlantDrive struct {
	Command, Enable int     // in Recv
	Status          int     // status word of its device in Send; drives of one device share it
	Watchdog        float64 // s
}

// Bits of a drive's status word.
const (
	StatusWatchdog = 1 // no command came in time
	StatusDisabled = 2 // the enable line is low
	StatusLost     = 4 // the machine of the plant is lost: see engine.Lost
)

// NewPlant prepares the role.
func NewPlant(s PlantSpec) *Plant {
	n := len(s.Drives)
	return &Plant{s: s, dt: 1 / (s.Rate * float64(s.Substeps)), x: s.State, y: make([]float64, len(s.Truth)), u: make([]float64, 2*n),
		drives: make([]driveState, n),
		schema: Schema{Rig: s.Name, Rate: s.Rate, Owners: s.Owners, Meas: s.Recv, Model: s.Truth, Cmd: s.Send}}
}

func (p *Plant) Schema() Schema { return p.schema }

// Decide takes the newest commands and lets the watchdogs judge.
func (p *Plant) Decide(r *Row, b *Blocks) {
	dt := float64(1+r.Skip) / p.s.Rate
	r.Mode = Ready
	for k := range p.drives {
		d, at := &p.drives[k], &p.s.Drives[k]
		if IsFresh(&r.FreshSignals, at.Command) {
			d.silent, d.alive = 0, true
			d.command = b.Meas[at.Command]
			d.enable = at.Enable < 0 || b.Meas[at.Enable] == 1
		} else {
			d.silent += dt
		}
		if d.silent > at.Watchdog {
			d.alive, d.enable, d.command = false, false, 0
		}
		p.u[2*k], p.u[2*k+1] = 0, 0
		if d.alive && d.enable {
			r.Mode = Run
			if !math.IsNaN(d.command) {
				p.u[2*k], p.u[2*k+1] = d.command, 1
			}
		}
	}
}

// Compute runs the machine through the tick, and through ticks that were skipped: the plant's time never stands still.
func (p *Plant) Compute(r *Row, b *Blocks) {
	const most = 1000 // after a long stop of the host the plant does not try to catch up more than this many ticks
	p.ticks += 1 + uint64(r.Skip)
	p.s.Machine.Play(float64(p.ticks)/p.s.Rate, p.x)
	for range p.s.Substeps * (1 + int(min(r.Skip, most))) {
		st := p.s.Machine.Step(p.dt, p.x, p.u, p.y)
		if st != engine.OK {
			r.Flags |= FlagEstimator
		}
		p.machineLost = st == engine.Lost
	}
	copy(b.Model, p.y)
}

// Guard turns the state into what the sensors say.
func (p *Plant) Guard(r *Row, b *Blocks) {
	p.s.Machine.Read(p.y, b.Cmd)
	mute := false
	for k := range p.drives {
		if at := p.s.Drives[k].Status; at >= 0 {
			b.Cmd[at] = 0
		} else {
			mute = p.machineLost
		}
	}
	if mute { // no status word says it for this drive: its sensors say nothing
		for k := range b.Cmd {
			if !slices.ContainsFunc(p.s.Drives, func(d PlantDrive) bool { return d.Status == k }) {
				b.Cmd[k] = math.NaN()
			}
		}
	}
	for k := range p.drives {
		d, at := &p.drives[k], p.s.Drives[k].Status
		if at < 0 {
			continue
		}
		st := int(b.Cmd[at])
		if p.machineLost {
			st |= StatusLost
		}
		if !d.alive {
			st |= StatusWatchdog
		}
		if !d.enable {
			st |= StatusDisabled
		}
		b.Cmd[at] = float64(st)
	}
}
