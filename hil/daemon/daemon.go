// Package daemon is the life of `hil run`: a supervisor at ordinary priority and, re-executed from the same binary, the
// real-time core that ticks. They meet in one block of shared memory.
//
// The problem it solves: a Go process that allocates makes a 1 kHz loop late by milliseconds, so recorder, broker, page
// and everything else that allocates live in the supervisor, and the core does nothing but tick. Each watches the other;
// when either is lost the rig is put into its safe state by the one that remains, and by its own firmware when neither
// does. Nothing re-arms by itself.
//
// Read core.go for what happens beside the tick, supervisor.go for everything around it, start.go and pump.go for a core as it sees it.
package daemon

import (
	"context"

	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/device"
	"hilrig/hil/protocol"
	"hilrig/hil/ring"
)

// Rig is the device as the daemon needs it: the loop's device with the extras of a set of devices.
type Rig interface {
	hil.Device
	hil.Pacer
	Connected() (away int, ok bool)
	Reconnects() [device.MaxDevices]uint64
	AgeAt(i int) int
	Confirmation(i int) (said device.Confirmation, since uint64)
	Flush()
	Safe()
	Stats(*[device.MaxDevices]device.Stats)
}

// Port is a device as the supervisor knows it.
type Port struct {
	Name     string              // of the device
	Path     string              // of the port
	Safe     protocol.SafeFrames // what the supervisor writes on a lost core; none in a dry run
	Optional bool
}

// Assembly is one configured rig, built the same way by supervisor and core from the same configuration.
type Assembly struct {
	Schema     hil.Schema
	NewRole    func() hil.Role                                        // a fresh controller in its initial state
	NewRig     func(edit func(i int, o *device.Options)) (Rig, error) // the devices, not started, with what the daemon adds to their options
	Params     hil.Params                                             // the configured parameter block, generation 0
	LiveParams []axis.Param                                           // what may be set while it runs, in the order of the block
	Check      func(*hil.Params) error                                // refuses a block that the rig cannot run
	// … that hil check would refuse in the file, and what has to be confirmed
	Review func(now, next *hil.Params) (doubts []string, err error)

	Period      int64 // ns
	Spin        int64 // ns
	Lag         int64 // ns  device clock: wanted time from frame to tick
	CatchUp     int   // ticks repeated at once after a miss
	DevicePaced bool
	CPU         int   // processor of the tick; −1: any
	ReservedCPU int   // processor that the core's other threads leave free
	Limit       int64 // ns  a miss of the tick that trips; 0: none does
	Beat        int64 // ns  silence of the supervisor that the core tolerates
	DryRun      bool
	Locked      bool      // arming is refused: a real port without --arm
	Ports       []Port    // in the order of the devices
	Thermal     []float64 // s  time constant of the i²t budget of each axis; 0: it has none
	RealTime    bool      // ask for FIFO and locked memory
}

// Names are those of the live parameters.
func (a *Assembly) Names() []string {
	names := make([]string, len(a.LiveParams))
	for i, p := range a.LiveParams {
		names[i] = p.Name
	}
	return names
}

// Sink consumes rows until its context ends and it has drained what was pushed before.
type Sink func(ctx context.Context, rows *ring.Reader[hil.Row]) error
