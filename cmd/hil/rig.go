package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/engine/plant"
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
	var (
		link  string
		seed  uint64
		flood float64
		life  bool
	)
	motor := &cobra.Command{
		Use:   "motor [FILE]",
		Short: "Brushed motor with LuGre friction, encoder and current sensor",
		Long: `Plays the rig described under virtual: in FILE (without a file: the demo's). Prints the name of its port as JSON.

	hil rig motor --link /tmp/rig      then, elsewhere:      hil run my.yaml     with device.port: /tmp/rig`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg := configs.Demo()
			if len(args) == 1 {
				var err error
				if cfg, err = configs.Load(args[0]); err != nil {
					return exitWith(exitInvalid, err)
				}
			}
			if cfg.Virtual == nil {
				return exitWith(exitInvalid, fmt.Errorf("%s has no section virtual: it describes the motor behind the port", args[0]))
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
			return runMotor(ctx, c.OutOrStdout(), cfg, link, flood, nobody{})
		},
	}
	f := motor.Flags()
	f.StringVar(&link, "link", "", "also make this symbolic link to the port")
	f.Uint64Var(&seed, "seed", 1, "seed of the noise")
	f.Float64Var(&flood, "flood", 0, "also send this many random bytes per second (a broken line)")
	f.BoolVar(&life, "with-parent", false, "end when standard input ends")
	rig.AddCommand(motor)
	return rig
}

// runMotor runs the loop in the plant role until ctx ends; outside sees its rows.
func runMotor(ctx context.Context, out io.Writer, cfg *configs.Config, link string, flood float64, outside hil.Outside) error {
	rate := cfg.Device.Rate
	if rate == 0 {
		rate = cfg.Loop.Rate
	}
	v := cfg.Virtual
	inner := max(1, int(v.InnerRate/rate+0.5))
	machine, err := motorMachine(cfg)
	if err != nil {
		return exitWith(exitInvalid, err)
	}

	recvFields, err := commandFields(cfg)
	if err != nil {
		return exitWith(exitInvalid, err)
	}
	sendFields, err := measureFields(cfg)
	if err != nil {
		return exitWith(exitInvalid, err)
	}
	fw, err := device.NewFirmware(device.FirmwareOptions{
		Link: link, Baud: cfg.Device.Baud, Pace: v.Pacing, DriftPPM: v.ClockPPM,
		Protocol: protocolOf(cfg), Recv: recvFields, Send: sendFields,
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

	preferred() // a starved rig is a rig that stopped sending

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
func motorMachine(cfg *configs.Config) (*plant.Rig, error) {
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
	lugre := v.Friction.LuGre()
	var law friction.Model = &lugre
	if v.Contact != nil {
		law = v.Contact.Model
	}
	return plant.NewRig(
		plant.DriveSpec{
			Motor: motorOf(v.Motor), LoadJ: v.LoadJ, Friction: law, Cogging: v.Cogging, CoggingN: v.CoggingN, LoadTorque: v.LoadTorque,
			Freewheel: v.Supply[1],
			Thermal:   plant.Thermal{Resistance: v.Thermal.Resistance, Capacity: v.Thermal.Capacity, CopperTC: v.Thermal.CopperTC, FrictionTC: v.Thermal.FrictionTC, Ambient: 20},
		},
		plant.SensorSpec{Channels: channels, Counts: v.Counts, CurrentNoise: v.CurrentNoise, CurrentOff: v.CurrentOff, Seed: v.Seed},
	)
}
