package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/plant"
	"hilrig/engine/plant/brush"
	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/rt"
)

// RigReady is printed on stdout once the virtual rig's ports can be opened.
type RigReady struct {
	Ports []string `json:"ports"` // in the order of the devices
	PID   int      `json:"pid"`
}

// RigOptions are the flags of a virtual rig.
type RigOptions struct {
	Link   string
	Seed   uint64
	Seeded bool
	Flood  float64
	Life   bool
}

// rigKinds are the virtual rigs: what they are without a file, and what makes the machine and its steps per tick.
var rigKinds = map[string]struct {
	demo  func() *configs.Config
	build func(*configs.Config) (plant.Machine, int, error)
}{"motor": {configs.Demo, MotorMachine}, "brush": {configs.BrushDemo, BrushMachine}}

// PlayRig plays a virtual rig until ctx ends; without a file the demo of its kind.
func PlayRig(ctx context.Context, out io.Writer, kind, file string, o RigOptions) error {
	cfg := rigKinds[kind].demo()
	if file != "" {
		var err error
		if cfg, err = configs.Load(file); err != nil {
			return report.ExitWith(report.Invalid, err)
		}
	}
	switch v := cfg.Virtual; {
	case v == nil:
		return report.ExitWith(report.Invalid, fmt.Errorf("%s has no section virtual: it describes the motor behind the port", file))
	case kind == "brush" && v.Brush == nil:
		return report.ExitWith(report.Invalid, fmt.Errorf("%s has no section virtual.brush: it describes the brushes of the motor", file))
	}
	if o.Seeded {
		cfg.Virtual.Seed = o.Seed
	}
	ctx, _, stop := report.UntilInterrupt(ctx)
	defer stop()
	if o.Life {
		// the parent holds the other end of stdin: its end ends this program
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		go func() { io.Copy(io.Discard, os.Stdin); cancel() }()
	}
	runtime.GOMAXPROCS(8) // more than the threads in system calls, or the runtime's monitor never sleeps (rt.Rest)
	return RunRig(ctx, out, cfg, rigKinds[kind].build, o.Link, o.Flood, Nobody{})
}

// RunRig runs the loop in the plant role until ctx ends; outside sees its rows. build gives the machine and its steps per tick. One plant stands
// behind all devices; it ticks with the fastest, and the others send more rarely. The link names the first port.
func RunRig(ctx context.Context, out io.Writer, cfg *configs.Config, build func(*configs.Config) (plant.Machine, int, error), link string, flood float64, outside hil.Outside) error {
	v, rate := cfg.Virtual, cfg.FastestRate()
	machine, inner, err := build(cfg)
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	axis := &cfg.Axes[0]
	spec := hil.PlantSpec{Name: cfg.Rig.Name, Rate: rate, Inner: inner, Owners: cfg.Owners(), Truth: truthChannels(machine, axis.Name)}
	drive := hil.PlantDrive{Command: -1, Enable: -1, Status: -1, Watchdog: v.Watchdog}
	var parts []device.Part
	var ports []string
	var boards []*device.Firmware
	for i := range cfg.Devices {
		dev := &cfg.Devices[i]
		section, t := cfg.Protocol(dev)
		fw, err := device.NewFirmware(device.FirmwareOptions{
			Link: link, Baud: t.Baud, Pace: v.Pacing, DriftPPM: v.ClockPPM, Protocol: section, Recv: t.Command, Send: t.Measure,
		})
		if err != nil {
			return report.ExitWith(report.Unavailable, err)
		}
		defer fw.Close()
		link = ""
		if command, enable := cfg.Driving(dev, axis); command >= 0 {
			drive.Command = len(spec.Recv) + command
			if enable >= 0 {
				drive.Enable = len(spec.Recv) + enable
			}
			if at := dev.StatusAt(); at >= 0 {
				drive.Status = len(spec.Send) + at
			}
		}
		recv, _ := fw.Signals()
		ages := hil.Of(dev.Name, recv[len(t.Command):]...)
		for k := range ages {
			ages[k].Role = hil.RoleAge
		}
		spec.Recv = append(append(spec.Recv, cfg.CommandedChannels(dev)...), ages...)
		spec.Send = append(spec.Send, cfg.MeasuredChannels(dev)...)
		parts = append(parts, device.Part{Name: dev.Name, Member: fw, Every: int(rate/cfg.DeviceRate(dev) + 0.5)})
		ports, boards = append(ports, fw.Name()), append(boards, fw)
	}
	rig, err := plant.NewRig(machine, sensorSpec(cfg))
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	spec.Machine, spec.State = rig, rig.NewState()
	far, err := device.NewSet(0, parts...)
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	if err := far.Start(ctx); err != nil {
		return report.ExitWith(report.Unavailable, err)
	}
	spec.Drives = []hil.PlantDrive{drive}
	role := hil.NewPlant(spec)
	if err := json.NewEncoder(out).Encode(RigReady{Ports: ports, PID: os.Getpid()}); err != nil {
		return err
	}
	if flood > 0 {
		go floodLine(ctx, boards[0], flood, v.Seed)
	}

	rt.Prefer() // a starved rig is a rig that stopped sending

	// ordinary priority, absolute sleep, no spin, nothing to collect
	period := int64(1e9/rate + 0.5)
	clock := hil.NewWallClock(period, 0, rt.Now()+10e6, hil.Missed{}, func() bool { return ctx.Err() != nil })
	loop := hil.NewLoop(clock, far, outside, role, 1)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(256 << 20) // the loop allocates nothing; should anything else, collect at 256 MiB
	loop.Run()
	return nil
}

// Nobody is the outside of a loop that takes no orders.
type Nobody struct{}

func (Nobody) Flags() hil.Flags             { return 0 }
func (Nobody) Silence() float64             { return 0 }
func (Nobody) Away() int                    { return -1 }
func (Nobody) Order() (uint32, hil.Request) { return 0, hil.ReqNone }
func (Nobody) Change() *hil.Change          { return nil }
func (Nobody) Seen(*hil.Row)                {}

// floodLine writes random bytes between the frames, as a line with a bad contact does.
func floodLine(ctx context.Context, w io.Writer, rate float64, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0x666c6f6f64))
	t := time.NewTicker(time.Millisecond)
	defer t.Stop()
	buf := make([]byte, max(1, int(rate/1000)))
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for i := range buf {
			buf[i] = byte(rng.Uint32())
		}
		if _, err := w.Write(buf); err != nil && errors.Is(err, os.ErrClosed) {
			return
		}
	}
}

// MotorMachine builds the motor.
func MotorMachine(cfg *configs.Config) (plant.Machine, int, error) {
	v, axis := cfg.Virtual, &cfg.Axes[0]
	m, err := plant.New(plant.Spec{Kind: "motor", Axes: []plant.AxisSpec{{
		Name: axis.Name, Motor: v.Motor, LoadJ: v.LoadJ, Friction: v.Friction.Model, Cogging: v.Cogging, CoggingN: v.CoggingN, LoadTorque: v.LoadTorque,
		Supply: v.Supply, Freewheel: v.Supply[1], Thermal: v.Thermal,
	}}})
	return m, max(1, int(v.InnerRate/cfg.FastestRate()+0.5)), err
}

// BrushMachine builds the motor with simulated brushes. It cuts its steps by itself.
func BrushMachine(cfg *configs.Config) (plant.Machine, int, error) {
	v, axis := cfg.Virtual, &cfg.Axes[0]
	const longest = 1e-3 // s  of a step: torque and current of the rows are means over it
	period := 1 / cfg.FastestRate()
	inner := int(math.Ceil(period / longest * (1 - 1e-9)))
	m, err := brush.NewMachine(brush.MachineSpec{
		Name: axis.Name, Params: v.Brush.Parameters.Of(v.Motor), SubStep: v.Brush.Step, Most: int(math.Ceil(period / float64(inner) / v.Brush.Step)),
		Pair: v.Brush.Pair, Averaged: v.Brush.Averaged, Bearing: v.Friction.Model, LoadJ: v.LoadJ, LoadTorque: v.LoadTorque, Supply: v.Supply, Freewheel: v.Supply[1],
		Thermal: plant.Thermal{Resistance: v.Thermal.Resistance, Capacity: v.Thermal.Capacity, Ambient: v.Thermal.Ambient},
	})
	return m, inner, err
}

// truthChannels are the outputs of a machine as channels of a row.
func truthChannels(m plant.Machine, axis string) (out []hil.Channel) {
	roles := [plant.Outputs]hil.ChannelRole{hil.RolePosition, hil.RoleVelocity, hil.RoleCurrent, hil.RoleFriction, hil.RoleTemperature, hil.RoleEffort, hil.RoleCommand}
	for i, s := range m.Layout().Outputs {
		owner, _, _ := strings.Cut(s.Name, ".")
		c := hil.Channel{Signal: s, Owner: owner}
		if owner == axis {
			c.Axis, c.Role = axis, roles[i]
		}
		out = append(out, c)
	}
	return out
}

// sensorSpec are the sensors of a virtual rig, in the order of the frames.
func sensorSpec(cfg *configs.Config) plant.SensorSpec {
	v := cfg.Virtual
	s := plant.SensorSpec{Seed: v.Seed}
	for i := range cfg.Devices {
		for _, c := range cfg.MeasuredChannels(&cfg.Devices[i]) {
			r := plant.Reading{Output: -1}
			switch {
			case c.Role == hil.RoleTemperature:
				r.Output = plant.OutTemperature
			case c.Axis == "": // of nothing that the plant has
			case c.Role == hil.RolePosition:
				r = plant.Reading{Output: plant.OutPosition, Count: 2 * math.Pi / float64(v.Counts)}
			case c.Role == hil.RoleCurrent:
				r = plant.Reading{Output: plant.OutCurrent, Noise: v.CurrentNoise, Offset: v.CurrentOff}
			case c.Role == hil.RoleVoltage:
				r.Output = plant.OutApplied
			}
			s.Readings = append(s.Readings, r)
		}
	}
	return s
}
