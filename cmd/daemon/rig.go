package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/plant"
	"hilrig/hil"
	"hilrig/hil/daemon"
	"hilrig/hil/device"
	"hilrig/hil/protocol"
	"hilrig/hil/rt"
)

// RigReady is printed on stdout once the virtual rig's ports can be opened.
type RigReady struct {
	Ports []string `json:"ports"` // in the order of the devices
	PID   int      `json:"pid"`
	Page  string   `json:"page,omitempty"`
	MQTT  string   `json:"mqtt,omitempty"`
	Run   string   `json:"run,omitempty"`
}

// RigOptions are the flags of a virtual rig.
type RigOptions struct {
	RunOptions // those of a run that a rig has too
	Link       string
	Sockets    string // folder: the ports are sockets there, instead of pseudo-terminals
	Seeded     bool
	Bare, Life bool
}

// PlayRig plays the virtual rig of a file until ctx ends; without a file that of the demo.
func PlayRig(parent context.Context, out io.Writer, file string, o RigOptions) error {
	screen, outlets := openScreen(&out)
	defer outlets.Close(logWait)
	realTime := false
	if o.Bare && !o.NoRT {
		refused, err := rt.Raise(rt.PlantPriority) // first: it begins this program anew
		if err != nil {
			return err
		}
		realTime = refused == ""
	}
	log, err := report.NewLogger(screen, o.logFormat(), o.Verbose, o.Quiet)
	if err != nil {
		return err
	}
	// hil run, beside it, has the addresses of the file
	o.Web, o.Mqtt = cmp.Or(o.Web, "localhost:0"), cmp.Or(o.Mqtt, "localhost:0")
	seed := o.Seed
	o.Seed = 0
	cfg, err := runConfig(file, o.RunOptions, log)
	if err != nil {
		return err
	}
	if cfg.Virtual == nil {
		return report.ExitWith(report.Invalid, fmt.Errorf("%s has no section virtual: it describes what stands behind the ports", file))
	}
	if o.Seeded {
		cfg.Virtual.Seed = seed
	}
	if o.Life { // whoever tells all processes of a service or a group to end means the parent, which stops the rig last
		signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	} else {
		ctx, _, stop := report.UntilInterrupt(parent)
		defer stop()
		parent = ctx
	}
	ctx := parent
	if o.Life {
		// the parent holds the other end of stdin: its end ends this program
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		go func() { io.Copy(io.Discard, os.Stdin); cancel() }()
	}
	if !o.Bare {
		return daemonRig(ctx, out, screen, cfg, &eventBus{log: log, outlets: outlets}, o)
	}
	if rt.DisableGC(); !realTime { // else it has begun so
		runtime.GOMAXPROCS(8)           // more than the threads in system calls, or the runtime's monitor never sleeps (rt.Rest)
		debug.SetMemoryLimit(256 << 20) // the loop allocates nothing; should anything else, collect at 256 MiB
		rt.Prefer()                     // a starved rig is a rig that stopped sending
	}
	if o.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Duration)
		defer cancel()
	}
	w := &plantWatch{Outside: Nobody{}, period: int64(1e9 / cfg.PlantRate()), realTime: realTime}
	defer w.report(ctx, json.NewEncoder(out))()
	return RunRig(ctx, out, cfg, RigPorts{Link: o.Link, Sockets: o.Sockets}, o.Flood, w)
}

// daemonRig plays a virtual rig with the sinks of a run: its rows, with the truth in them, are recorded, published and shown as those of
// a rig called <rig>-plant. It ticks at ordinary priority, wherever there is room.
func daemonRig(ctx context.Context, out io.Writer, screen *report.Redrawn, cfg *configs.Config, bus *eventBus, o RigOptions) error {
	if o.Flood > 0 {
		return report.ExitWith(report.Usage, errors.New("--flood: for a rig that is --bare"))
	}
	cfg.Rig.Name += "-plant"
	cfg.MQTT.Commands, cfg.Web.Commands = "none", false
	dir, err := os.MkdirTemp("", "hil-rig-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	hand := Handover{Plant: true, CPU: -1, ReservedCPU: -1}
	for _, d := range cfg.Devices {
		hand.Ports = append(hand.Ports, filepath.Join(dir, d.Name))
	}
	if o.Link != "" {
		hand.Ports[0] = o.Link
	}
	a, err := AssembleRig(cfg, hand)
	if err != nil {
		return err
	}
	rt.Prefer() // a starved rig is a rig that stopped sending; the core has it from here
	// the core makes the ports: they are there once it ticks
	lines, in := io.Pipe()
	go func() {
		var r ReadyLine
		if json.NewDecoder(lines).Decode(&r) == nil {
			json.NewEncoder(out).Encode(RigReady{Ports: hand.Ports, PID: os.Getpid(), Page: r.Page, MQTT: r.MQTT, Run: r.Run})
		}
		io.Copy(io.Discard, lines)
	}()
	defer in.Close()
	o.ReadyLine = true
	_, err = play(ctx, in, screen, bus, cfg, a, hand, ReadyLine{CoreTicking: true}, o.RunOptions, rigFile{})
	if errors.Is(err, daemon.ErrDevice) {
		return report.ExitWith(report.Unavailable, err)
	}
	return err
}

// AssembleRig is Assemble for the virtual rig of a configuration.
func AssembleRig(cfg *configs.Config, h Handover) (*daemon.Assembly, error) {
	spec, err := rigSpec(cfg)
	if err != nil {
		return nil, err
	}
	a := &daemon.Assembly{
		Schema: hil.NewPlant(*spec).Schema(),
		NewRole: func() hil.Role {
			s, err := rigSpec(cfg)
			if err != nil {
				panic("hil: a plant that was good is bad: " + err.Error())
			}
			return hil.NewPlant(*s)
		},
		NewRig: func(func(int, *device.Options)) (daemon.Rig, error) {
			_, far, err := farEnds(cfg, func(i int, o *device.FirmwareOptions) { o.Link = h.Ports[i] })
			return far, err
		},
		Period: int64(1e9/spec.Rate + 0.5), CPU: h.CPU, ReservedCPU: h.ReservedCPU, Beat: int64(cfg.Loop.Beat * 1e9),
	}
	for i, d := range cfg.Devices {
		a.Ports = append(a.Ports, daemon.Port{Name: d.Name, Path: h.Ports[i], Optional: true})
	}
	return a, nil
}

// RigPorts says what the ports of a virtual rig are.
type RigPorts struct {
	Link    string // a link to the first pseudo-terminal; "": none
	Sockets string // folder of Unix sockets in place of pseudo-terminals, named for their devices; "": none
}

// RunRig runs the loop in the plant role, without sinks, until ctx ends; outside sees its rows.
func RunRig(ctx context.Context, out io.Writer, cfg *configs.Config, at RigPorts, flood float64, outside hil.Outside) error {
	spec, err := rigSpec(cfg)
	if err != nil {
		return err
	}
	boards, far, err := farEnds(cfg, func(i int, o *device.FirmwareOptions) {
		if at.Sockets != "" {
			o.Socket = filepath.Join(at.Sockets, cfg.Devices[i].Name)
		} else if i == 0 {
			o.Link = at.Link
		}
	})
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

	// absolute sleep, no spin, nothing to collect
	period := int64(1e9/spec.Rate + 0.5)
	clock := hil.NewWallClock(period, 0, rt.Now()+10e6, hil.Missed{}, func() bool { return ctx.Err() != nil })
	loop := hil.NewLoop(clock, far, outside, role, 1)
	loop.Run()
	return nil
}

// rigSpec is the plant of a configuration with its sensors, its script and the drives that its devices command. One plant stands behind
// all devices.
func rigSpec(cfg *configs.Config) (*hil.PlantSpec, error) {
	rate := cfg.PlantRate()
	machine, inner, err := cfg.Machine()
	if err != nil {
		return nil, report.ExitWith(report.Invalid, err)
	}
	rig, err := plant.NewRig(machine, plant.SensorSpec{Readings: cfg.Readings(), Seed: cfg.Virtual.Seed, Period: 1 / rate}, cfg.Events()...)
	if err != nil {
		return nil, report.ExitWith(report.Invalid, err)
	}
	spec := &hil.PlantSpec{Name: cfg.Rig.Name, Rate: rate, Substeps: inner, Machine: rig, State: rig.NewState(), Owners: cfg.Owners(),
		Truth: truthChannels(cfg, machine)}
	for k, a := range cfg.Virtual.Plant.Axes {
		if cfg.Virtual.Plant.Machine == nil { // a machine starts where its file says
			spec.State[k] = a.Start
		}
		spec.Drives = append(spec.Drives, hil.PlantDrive{Command: -1, Enable: -1, Status: -1})
	}
	for i := range cfg.Devices {
		dev := &cfg.Devices[i]
		for k, a := range cfg.Virtual.Plant.Axes {
			axis := cfg.ModelOf(a.Name)
			if axis == nil {
				continue
			}
			if command, enable := cfg.Driving(dev, axis); command >= 0 {
				d := hil.PlantDrive{Command: len(spec.Recv) + command, Enable: -1, Status: -1, Watchdog: cfg.Firmware(dev).Watchdog}
				if enable >= 0 {
					d.Enable = len(spec.Recv) + enable
				}
				if at := dev.StatusAt(); at >= 0 {
					d.Status = len(spec.Send) + at
				}
				spec.Drives[k] = d
			}
		}
		ages := hil.Of(dev.Name, device.Ages(make([]protocol.Group, 1))...) // of its commands
		for k := range ages {
			ages[k].Role = hil.RoleAge
		}
		spec.Recv = append(append(spec.Recv, cfg.CommandedChannels(dev)...), ages...)
		spec.Send = append(spec.Send, cfg.MeasuredChannels(dev)...)
	}
	return spec, nil
}

// farEnds are the boards of a virtual rig, not yet started: the far ends of its devices; place names the port of each. Those that are
// slower than the plant send more rarely.
func farEnds(cfg *configs.Config, place func(i int, o *device.FirmwareOptions)) ([]*device.Firmware, *device.Set, error) {
	var parts []device.Part
	var boards []*device.Firmware
	fail := func(code int, err error) ([]*device.Firmware, *device.Set, error) {
		for _, b := range boards {
			b.Close()
		}
		return nil, nil, report.ExitWith(code, err)
	}
	for i := range cfg.Devices {
		dev := &cfg.Devices[i]
		own := cfg.Firmware(dev)
		section, t := cfg.Protocol(dev)
		o := device.FirmwareOptions{Baud: t.Baud, Pace: own.Pacing, DriftPPM: own.ClockPPM, Protocol: section, Recv: t.Command, Send: t.Measure}
		place(i, &o)
		fw, err := device.NewFirmware(o)
		if err != nil {
			return fail(report.Unavailable, err)
		}
		boards = append(boards, fw)
		parts = append(parts, device.Part{Name: dev.Name, Member: fw, Optional: true,
			SendEvery: cfg.SendEvery(dev)})
	}
	far, err := device.NewSet(0, parts...)
	if err != nil {
		return fail(report.Invalid, err)
	}
	return boards, far, nil
}

// truthChannels are the outputs of a machine as channels of a row.
func truthChannels(cfg *configs.Config, m plant.Machine) (out []hil.Channel) {
	roles := [plant.Outputs]hil.ChannelRole{hil.RolePosition, hil.RoleVelocity, hil.RoleCurrent, hil.RoleFriction, hil.RoleTemperature,
		hil.RoleEffort, hil.RoleCommand}
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
func (Nobody) AbsentDevice() int            { return -1 }
func (Nobody) PreviousRun() hil.Before      { return hil.Before{} }
func (Nobody) Order() (uint32, hil.Request) { return 0, hil.ReqNone }
func (Nobody) Change() *hil.Change          { return nil }
func (Nobody) OnRow(*hil.Row)               {}

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
