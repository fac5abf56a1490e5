package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/hil"
	"hilrig/hil/daemon"
	"hilrig/hil/rt"
)

// coreVerb is the hidden first argument with which the program re-executes itself as the real-time core.
const coreVerb = "core"

func runCore() int {
	return daemon.Core(func(config []byte) (*daemon.Assembly, error) {
		cfg, hand, err := unpackHandover(config)
		if err != nil {
			return nil, err
		}
		return assemble(cfg, hand)
	})
}

// runFlags are the flags of hil run.
type runFlags struct {
	dryRun, arm, single, noRT, untilTrip, quiet, verbose, readyLine bool
	noMQTT, noWeb, noRecord                                         bool
	duration                                                        time.Duration
	rate, record, web, mqtt, summary, logFormat                     string
	cpu, keepOff                                                    int
	seed                                                            uint64
	flood, ballast                                                  float64
}

func newRunCmd() *cobra.Command {
	var o runFlags
	c := &cobra.Command{
		Use:   "run [FILE]",
		Short: "The daemon: run beside a rig; without a file, beside a virtual one",
		Long: `Without FILE a virtual rig is started on a pseudo-terminal and driven: the page is at http://localhost:8080.

With FILE the rig described there is opened. A real port is never driven unless --arm is given; look first with --dry-run,
which reads and estimates but never writes a byte to the device. Every few seconds it shows each channel (on a terminal in place): value, rate, age, noise,
the share of samples that repeat the one before, and which way it moved.`,
		Example: "  hil run\n  hil run rig.yaml --dry-run\n  hil run rig.yaml --arm --duration 60s",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			return run(c, file, o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "read and estimate, never send a command")
	f.BoolVar(&o.arm, "arm", false, "arm and run as soon as the self-test has passed (real ports; the virtual rig arms itself)")
	f.DurationVar(&o.duration, "duration", 0, "stop after this time")
	f.BoolVar(&o.untilTrip, "until-trip", false, "end the run at the first safety trip (exit code 5)")
	f.StringVar(&o.rate, "rate", "", "override loop.rate, e.g. \"2 kHz\"")
	f.IntVar(&o.cpu, "cpu", -2, "override loop.cpu")
	f.StringVar(&o.record, "record", "", "override record.dir")
	f.BoolVar(&o.noRecord, "no-record", false, "do not record")
	f.StringVar(&o.web, "web", "", "override web.listen; localhost:0 takes any free port")
	f.BoolVar(&o.noWeb, "no-web", false, "no page")
	f.StringVar(&o.mqtt, "mqtt", "", "override mqtt.listen of the embedded broker")
	f.BoolVar(&o.noMQTT, "no-mqtt", false, "no MQTT at all")
	f.BoolVar(&o.single, "single-process", false, "loop and everything else in one process: not real time")
	f.BoolVar(&o.noRT, "no-realtime", false, "do not ask for real-time scheduling and locked memory")
	f.Uint64Var(&o.seed, "seed", 0, "override virtual.seed")
	f.StringVar(&o.summary, "summary", "", "write timing figures of the run to this file (JSON)")
	f.BoolVar(&o.readyLine, "ready-line", false, "print one line of JSON on standard output once the core ticks")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "more log lines")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "errors only")
	f.Float64Var(&o.flood, "flood", 0, "virtual rig: random bytes per second on the line")
	f.Float64Var(&o.ballast, "ballast", 0, "bytes per second the supervisor allocates and drops")
	f.IntVar(&o.keepOff, "keep-off", -1, "processor that ordinary work leaves free, instead of the tick's")
	f.MarkHidden("keep-off")
	f.MarkHidden("flood")
	f.MarkHidden("ballast")
	return c
}

// run is the verb: configuration, rig, sinks, supervisor, and what to say at the end.
func run(c *cobra.Command, file string, o runFlags) error {
	screen := newRedrawn(c.OutOrStdout(), os.Stderr)
	log, err := newLogger(screen, o.logFormat, o.verbose, o.quiet)
	if err != nil {
		return err
	}
	cfg, err := runConfig(file, o, log)
	if err != nil {
		return err
	}
	virtual := cfg.IsVirtual()
	if o.dryRun && o.arm {
		return exitWith(exitUsage, errors.New("--dry-run and --arm exclude each other"))
	}
	if err := cfg.MayDrive(); err != nil && (virtual || o.arm) && !o.dryRun {
		return exitWith(exitInvalid, err)
	}
	ctx, wasInterrupted, stop := interrupted(c.Context())
	defer stop()
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}

	// the events go to the log at once and to the sinks as they come up
	bus := &eventBus{log: log}

	// the virtual rig first: it makes the port
	hand := handover{DryRun: o.dryRun, RealTime: !o.noRT && !o.single, Port: cfg.Device.Port, Locked: !virtual && !o.arm}
	ready := readyLine{Ready: true}
	if virtual {
		rig, err := startRig(ctx, cfg, o.flood, func(text string) { bus.emit(hil.Event{Time: time.Now(), Level: "error", Code: "RIG_LOST", Text: text}) })
		if err != nil {
			return err
		}
		defer rig.stop()
		hand.Port, ready.Rig = rig.port, rig.pid
	}
	// a processor for the tick; ordinary work stays off it. The rig is not ours to starve
	if !o.single {
		claim := rt.ClaimCPU(cfg.Loop.CPU)
		defer claim.Release()
		if claim.Shared > 0 {
			log.Warn(fmt.Sprintf("process %d ticks on processor %d too: both will be late. Stop one, or set loop.cpu", claim.Shared, claim.CPU))
		}
		hand.CPU, hand.Free = claim.CPU, claim.CPU
		if o.keepOff >= 0 {
			hand.Free = o.keepOff
		}
		if !o.noRT {
			if err := rt.KeepOff(hand.Free); err != nil {
				log.Warn(err.Error())
			}
		}
		rt.OwnSession()
		rt.Prefer()
	}
	a, err := assemble(cfg, hand)
	if err != nil {
		return exitWith(exitInvalid, err)
	}
	config, err := cfg.Redacted().Marshal() // recorded and handed to the core, neither of which needs a password
	if err != nil {
		return err
	}
	info := hil.Info{Version: programVersion(), ConfigHash: cfg.Hash(), Config: config, Schema: a.Schema, Start: time.Now(), Mono: rt.Now(), DryRun: o.dryRun}

	d := &parts{cfg: cfg, info: &info, bus: bus, log: log, a: a, live: newLiveRows(&a.Schema)}
	defer d.close()
	if err := d.open(ctx, &ready); err != nil {
		return err
	}
	if o.dryRun {
		d.channels = newChannels(&a.Schema)
	}
	sup := daemon.New(a, &info, daemon.Options{
		Config: packHandover(config, hand), Log: d.coreLog(), SingleProcess: o.single, Arm: virtual || o.arm, UntilTrip: o.untilTrip,
		Sinks: d.sinks, Emit: bus.emit, Kept: d.kept, Row: d.row, Up: func(pid int, fifo bool) { d.up(c.OutOrStdout(), o.readyLine, ready, pid, fifo) },
	})
	d.sup.Store(sup)
	if o.ballast > 0 {
		go ballast(ctx, o.ballast)
	}
	go d.ledgerLoop(ctx)
	go d.arrivalsLoop(ctx)
	if o.dryRun {
		go d.channels.run(ctx, screen)
		log.Info("dry run: reading and estimating, nothing is sent to the device")
	} else if !virtual && !o.arm {
		log.Info("not armed: safe commands are sent, and arming is refused; pass --arm to drive the rig")
	}

	err = sup.Run(ctx)
	if o.dryRun {
		screen.show(d.channels.table())
	}
	d.finish(o.summary)
	return d.outcome(err, (virtual || o.arm) && !o.dryRun, wasInterrupted())
}

// outcome is how a run ended that its supervisor ended with err; arm: it was to drive the rig.
func (d *parts) outcome(err error, arm, interrupted bool) error {
	sup := d.sup.Load()
	switch {
	case errors.Is(err, daemon.ErrDevice):
		return exitWith(exitUnavailable, err)
	case errors.Is(err, daemon.ErrTrip):
		return exitWith(exitTrip, err)
	case err != nil:
		return err
	case sup.Lost():
		return exitWith(exitTrip, errors.New("the core was lost, and the rig was made safe; CORE_LOST above says how"))
	case interrupted:
		d.log.Info("stopped in the safe state")
		return exitWith(exitInterrupted, nil)
	case arm && !sup.Ran():
		return exitWith(exitTrip, fmt.Errorf("the rig never ran: the run ended in mode %s (%s)", sup.Mode(), d.newest.Why(&d.a.Schema)))
	}
	return nil
}

// runConfig loads the file, or the demo, and lays the flags over it.
func runConfig(file string, o runFlags, log *slog.Logger) (*configs.Config, error) {
	cfg := configs.Demo()
	if file != "" {
		var err error
		if cfg, err = configs.Load(file); err != nil {
			return nil, exitWith(exitInvalid, err)
		}
	}
	if o.rate != "" {
		rate, err := schema.ParseValue(o.rate, "Hz")
		if err != nil || rate < 10 || rate > 20000 {
			return nil, exitWith(exitUsage, fmt.Errorf("--rate %q: want 10 Hz to 20 kHz", o.rate))
		}
		scaleToRate(cfg, rate)
	}
	if o.cpu != -2 {
		cfg.Loop.CPU = o.cpu
	}
	if o.record != "" {
		cfg.Record.Dir = o.record
	}
	if o.web != "" {
		cfg.Web.Listen = o.web
	}
	if o.mqtt != "" {
		cfg.MQTT.Listen = o.mqtt
	}
	if o.seed != 0 && cfg.Virtual != nil {
		cfg.Virtual.Seed = o.seed
	}
	cfg.Record.Enabled = cfg.Record.Enabled && !o.noRecord
	cfg.MQTT.Enabled = cfg.MQTT.Enabled && !o.noMQTT
	cfg.Web.Enabled = cfg.Web.Enabled && !o.noWeb
	problems, warnings := cfg.Validate() // the flags may have asked for something the file alone would not
	if len(problems) > 0 {
		return nil, exitWith(exitInvalid, &schema.Errors{List: problems})
	}
	for _, w := range warnings {
		log.Warn(w.Error())
	}
	return cfg, nil
}

// eventBus logs every event and hands it to whoever has subscribed by then.
type eventBus struct {
	log  *slog.Logger
	subs atomic.Pointer[[]func(hil.Event)]
}

func (b *eventBus) emit(e hil.Event) {
	logEvent(b.log, e)
	if subs := b.subs.Load(); subs != nil {
		for _, s := range *subs {
			s(e)
		}
	}
}

func (b *eventBus) subscribe(f func(hil.Event)) {
	var all []func(hil.Event)
	if old := b.subs.Load(); old != nil {
		all = append(all, *old...)
	}
	all = append(all, f)
	b.subs.Store(&all)
}
