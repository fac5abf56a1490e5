package main

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
	"time"

	"github.com/spf13/cobra"

	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/engine/plant/brush"
	"hilrig/hil"
	"hilrig/hil/device"
	"hilrig/hil/rt"
)

// rigReady is printed on stdout once the virtual rig's port can be opened.
type rigReady struct {
	Port string `json:"port"`
	PID  int    `json:"pid"`
}

func newRigCmd() *cobra.Command {
	rig := &cobra.Command{
		Use:   "rig",
		Short: "Virtual rigs on a pseudo-terminal",
		Long:  "A virtual rig is a separate program on a real pseudo-terminal: whatever opens that port talks to it as to a board.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	rig.AddCommand(rigVerb("motor", "Brushed motor with LuGre friction, encoder and current sensor",
		`Plays the rig described under virtual: in FILE (without a file: the demo's). Prints the name of its port as JSON.

	hil rig motor --link /tmp/rig      then, elsewhere:      hil run my.yaml     with device.port: /tmp/rig`, configs.Demo, motorMachine))
	rig.AddCommand(rigVerb("brush", "Motor whose two brushes are simulated: contact, friction torque, drop, commutation",
		`Plays the rig described under virtual: and virtual.brush: in FILE (without a file: configs/brush-rig.yaml). The friction torque and
the drop of its brushes come from the contact of rough surfaces with 11 coordinates, and the passing of the bars shows in the
current. Prints the name of its port as JSON.

	hil rig brush --link /tmp/rig      then, elsewhere:      hil run my.yaml     with device.port: /tmp/rig`, configs.BrushDemo, brushMachine))
	return rig
}

// rigVerb is the verb of one kind of virtual rig.
func rigVerb(kind, short, long string, demo func() *configs.Config, build func(*configs.Config) (rigMachine, int, error)) *cobra.Command {
	var (
		link  string
		seed  uint64
		flood float64
		life  bool
	)
	c := &cobra.Command{
		Use:   kind + " [FILE]",
		Short: short,
		Long:  long,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg := demo()
			if len(args) == 1 {
				var err error
				if cfg, err = configs.Load(args[0]); err != nil {
					return exitWith(exitInvalid, err)
				}
			}
			switch v := cfg.Virtual; {
			case v == nil:
				return exitWith(exitInvalid, fmt.Errorf("%s has no section virtual: it describes the motor behind the port", args[0]))
			case kind == "brush" && v.Brush == nil:
				return exitWith(exitInvalid, fmt.Errorf("%s has no section virtual.brush: it describes the brushes of the motor", args[0]))
			}
			if c.Flags().Changed("seed") {
				cfg.Virtual.Seed = seed
			}
			ctx, _, stop := interrupted(c.Context())
			defer stop()
			if life {
				// the parent holds the other end of stdin: its end ends this program
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				go func() { io.Copy(io.Discard, os.Stdin); cancel() }()
			}
			runtime.GOMAXPROCS(8) // more than the threads in system calls, or the runtime's monitor never sleeps (rt.Rest)
			return runRig(ctx, c.OutOrStdout(), cfg, build, link, flood, nobody{})
		},
	}
	f := c.Flags()
	f.StringVar(&link, "link", "", "also make this symbolic link to the port")
	f.Uint64Var(&seed, "seed", 1, "seed of the noise")
	f.Float64Var(&flood, "flood", 0, "also send this many random bytes per second (a broken line)")
	f.BoolVar(&life, "with-parent", false, "end when standard input ends")
	return c
}

// rigMachine is the model of a virtual rig with its start.
type rigMachine interface {
	hil.Machine
	NewState() []float64
}

// runRig runs the loop in the plant role until ctx ends; outside sees its rows. build gives the machine and its steps per tick.
func runRig(ctx context.Context, out io.Writer, cfg *configs.Config, build func(*configs.Config) (rigMachine, int, error), link string, flood float64, outside hil.Outside) error {
	rate := cfg.DeviceRate()
	v := cfg.Virtual
	machine, inner, err := build(cfg)
	if err != nil {
		return exitWith(exitInvalid, err)
	}

	fw, err := device.NewFirmware(device.FirmwareOptions{
		Link: link, Baud: cfg.Device.Baud, Pace: v.Pacing, DriftPPM: v.ClockPPM,
		Protocol: cfg.Device.Frames(), Recv: commandFields(cfg), Send: measureFields(cfg),
	})
	if err != nil {
		return exitWith(exitUnavailable, err)
	}
	defer fw.Close()
	if err := fw.Start(ctx); err != nil {
		return exitWith(exitUnavailable, err)
	}
	recv, send := fw.Signals()
	role := hil.NewPlant(hil.PlantSpec{
		Name: cfg.Rig.Name, Rate: rate, Inner: inner, Machine: machine, State: machine.NewState(), Recv: recv, Send: send,
		Drive: commandRole(cfg, "drive"), Enable: commandRole(cfg, "enable"),
		Status: measureRole(cfg, "status"), Voltage: measureRole(cfg, "voltage"),
		Watchdog: v.Watchdog, Supply: v.Supply,
	})
	if err := json.NewEncoder(out).Encode(rigReady{Port: fw.Name(), PID: os.Getpid()}); err != nil {
		return err
	}
	if flood > 0 {
		go floodLine(ctx, fw, flood, v.Seed)
	}

	rt.Prefer() // a starved rig is a rig that stopped sending

	// ordinary priority, absolute sleep, no spin, nothing to collect
	period := int64(1e9/rate + 0.5)
	clock := hil.NewWallClock(period, 0, rt.Now()+10e6, hil.Missed{}, func() bool { return ctx.Err() != nil })
	loop := hil.NewLoop(clock, fw, outside, role, 1)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(256 << 20) // the loop allocates nothing; should anything else, collect at 256 MiB
	loop.Run()
	return nil
}

// nobody is the outside of a loop that takes no orders.
type nobody struct{}

func (nobody) Flags() hil.Flags             { return 0 }
func (nobody) Silence() float64             { return 0 }
func (nobody) Order() (uint32, hil.Request) { return 0, hil.ReqNone }
func (nobody) Params(*hil.Params) bool      { return false }
func (nobody) Seen(*hil.Row)                {}

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

// motorMachine builds the motor with its sensors, in the order of the frame.
func motorMachine(cfg *configs.Config) (rigMachine, int, error) {
	v := cfg.Virtual
	m, err := plant.NewRig(
		plant.DriveSpec{
			Motor: v.Motor, LoadJ: v.LoadJ, Friction: bearings(v), Cogging: v.Cogging, CoggingN: v.CoggingN, LoadTorque: v.LoadTorque,
			Freewheel: v.Supply[1],
			Thermal:   v.Thermal,
		},
		sensorSpec(cfg),
	)
	return m, max(1, int(v.InnerRate/cfg.DeviceRate()+0.5)), err
}

// brushMachine builds the motor with simulated brushes and its sensors. It cuts its steps by itself.
func brushMachine(cfg *configs.Config) (rigMachine, int, error) {
	v := cfg.Virtual
	const longest = 1e-3 // s  of a step: torque and current of the rows are means over it
	period := 1 / cfg.DeviceRate()
	inner := int(math.Ceil(period / longest * (1 - 1e-9)))
	m, err := brush.NewRig(
		brush.MachineSpec{
			Params: v.Brush.Parameters.Of(v.Motor), SubStep: v.Brush.Step, Most: int(math.Ceil(period / float64(inner) / v.Brush.Step)),
			Pair: v.Brush.Pair, Averaged: v.Brush.Averaged, Bearing: bearings(v), LoadJ: v.LoadJ, LoadTorque: v.LoadTorque, Freewheel: v.Supply[1],
			Thermal: plant.Thermal{Resistance: v.Thermal.Resistance, Capacity: v.Thermal.Capacity, Ambient: v.Thermal.Ambient},
		},
		sensorSpec(cfg),
	)
	return m, inner, err
}

// bearings is the friction of a virtual rig beside its brushes.
func bearings(v *configs.Virtual) friction.Model {
	if v.Contact != nil {
		return v.Contact.Model
	}
	lugre := v.Friction.LuGre()
	return &lugre
}

// sensorSpec are the sensors of a virtual rig, in the order of the frame.
func sensorSpec(cfg *configs.Config) plant.SensorSpec {
	v := cfg.Virtual
	channels := make([]plant.Channel, len(cfg.Device.Measure))
	for i, m := range cfg.Device.Measure {
		switch m.Role {
		case "position":
			channels[i] = plant.Encoder
		case "current":
			channels[i] = plant.CurrentSensor
		case "temperature":
			channels[i] = plant.Thermometer
		}
	}
	return plant.SensorSpec{Channels: channels, Counts: v.Counts, CurrentNoise: v.CurrentNoise, CurrentOff: v.CurrentOff, Seed: v.Seed}
}
