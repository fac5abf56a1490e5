package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/plant"
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

// PlayRig plays the virtual rig of a file until ctx ends; without a file that of the demo.
func PlayRig(ctx context.Context, out io.Writer, file string, o RigOptions) error {
	cfg := configs.Demo()
	if file != "" {
		var err error
		if cfg, err = configs.Load(file); err != nil {
			return report.ExitWith(report.Invalid, err)
		}
	}
	if cfg.Virtual == nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("%s has no section virtual: it describes what stands behind the ports", file))
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
	return RunRig(ctx, out, cfg, o.Link, o.Flood, Nobody{})
}

// RunRig runs the loop in the plant role until ctx ends; outside sees its rows. The link names the first port.
func RunRig(ctx context.Context, out io.Writer, cfg *configs.Config, link string, flood float64, outside hil.Outside) error {
	spec, boards, far, err := assembleRig(cfg, link)
	if err != nil {
		return err
	}
	defer far.Close()
	if err := far.Start(ctx); err != nil {
		return report.ExitWith(report.Unavailable, err)
	}
	var ports []string
	for _, b := range boards {
		ports = append(ports, b.Name())
	}
	role := hil.NewPlant(*spec)
	if err := json.NewEncoder(out).Encode(RigReady{Ports: ports, PID: os.Getpid()}); err != nil {
		return err
	}
	if flood > 0 {
		go floodLine(ctx, boards[0], flood, cfg.Virtual.Seed)
	}

	rt.Prefer() // a starved rig is a rig that stopped sending

	// ordinary priority, absolute sleep, no spin, nothing to collect
	period := int64(1e9/spec.Rate + 0.5)
	clock := hil.NewWallClock(period, 0, rt.Now()+10e6, hil.Missed{}, func() bool { return ctx.Err() != nil })
	loop := hil.NewLoop(clock, far, outside, role, 1)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(256 << 20) // the loop allocates nothing; should anything else, collect at 256 MiB
	loop.Run()
	return nil
}

// assembleRig makes the plant of a configuration and the boards that look at it: far ends of its devices on pseudo-terminals, not yet
// started. One plant stands behind all of them; it ticks with the fastest, and the others send more rarely.
func assembleRig(cfg *configs.Config, link string) (*hil.PlantSpec, []*device.Firmware, *device.Set, error) {
	rate := cfg.FastestRate()
	machine, inner, err := cfg.Machine()
	if err != nil {
		return nil, nil, nil, report.ExitWith(report.Invalid, err)
	}
	rig, err := plant.NewRig(machine, plant.SensorSpec{Readings: cfg.Readings(), Seed: cfg.Virtual.Seed, Period: 1 / rate}, cfg.Events()...)
	if err != nil {
		return nil, nil, nil, report.ExitWith(report.Invalid, err)
	}
	spec := &hil.PlantSpec{Name: cfg.Rig.Name, Rate: rate, Inner: inner, Machine: rig, State: rig.NewState(), Owners: cfg.Owners(), Truth: truthChannels(cfg, machine)}
	for k, a := range cfg.Virtual.Plant.Axes {
		spec.State[k] = a.Start
		spec.Drives = append(spec.Drives, hil.PlantDrive{Command: -1, Enable: -1, Status: -1})
	}
	var parts []device.Part
	var boards []*device.Firmware
	for i := range cfg.Devices {
		dev := &cfg.Devices[i]
		own := cfg.Firmware(dev)
		section, t := cfg.Protocol(dev)
		fw, err := device.NewFirmware(device.FirmwareOptions{
			Link: link, Baud: t.Baud, Pace: own.Pacing, DriftPPM: own.ClockPPM, Protocol: section, Recv: t.Command, Send: t.Measure,
		})
		if err != nil {
			for _, b := range boards {
				b.Close()
			}
			return nil, nil, nil, report.ExitWith(report.Unavailable, err)
		}
		link = ""
		for k, a := range cfg.Virtual.Plant.Axes {
			axis := cfg.ModelOf(a.Name)
			if axis == nil {
				continue
			}
			if command, enable := cfg.Driving(dev, axis); command >= 0 {
				d := hil.PlantDrive{Command: len(spec.Recv) + command, Enable: -1, Status: -1, Watchdog: own.Watchdog}
				if enable >= 0 {
					d.Enable = len(spec.Recv) + enable
				}
				if at := dev.StatusAt(); at >= 0 {
					d.Status = len(spec.Send) + at
				}
				spec.Drives[k] = d
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
		boards = append(boards, fw)
	}
	far, err := device.NewSet(0, parts...)
	if err != nil {
		return nil, nil, nil, report.ExitWith(report.Invalid, err)
	}
	return spec, boards, far, nil
}

// truthChannels are the outputs of a machine as channels of a row.
func truthChannels(cfg *configs.Config, m plant.Machine) (out []hil.Channel) {
	roles := [plant.Outputs]hil.ChannelRole{hil.RolePosition, hil.RoleVelocity, hil.RoleCurrent, hil.RoleFriction, hil.RoleTemperature, hil.RoleEffort, hil.RoleCommand}
	for i, s := range m.Layout().Outputs {
		owner, _, _ := strings.Cut(s.Name, ".")
		c := hil.Channel{Signal: s, Owner: owner}
		if i < plant.Outputs*len(cfg.Virtual.Plant.Axes) {
			c.Axis, c.Role = owner, roles[i%plant.Outputs]
		}
		out = append(out, c)
	}
	return out
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
