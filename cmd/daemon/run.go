// Package daemon is hil run and what belongs to it: the parts of a daemon built from a rig file, virtual rigs, replay and export of
// recordings, ports, latency.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/failure"
	"hilrig/hil"
	"hilrig/hil/daemon"
	"hilrig/hil/rt"
	"hilrig/hil/sink"
)

// CoreVerb is the hidden first argument with which the program re-executes itself as the real-time core.
const CoreVerb = "core"

// RunCore is the core: the process that ticks. It returns the exit code.
func RunCore() int {
	return daemon.Core(func(config []byte) (*daemon.Assembly, error) {
		cfg, hand, err := unpackHandover(config)
		if err != nil {
			return nil, err
		}
		if hand.Plant {
			return AssembleRig(cfg, hand)
		}
		return Assemble(cfg, hand)
	})
}

// RunOptions are the flags of hil run.
type RunOptions struct {
	DryRun, Arm, Single, NoRT, UntilTrip, Quiet, Verbose, ReadyLine bool
	NoMQTT, NoWeb, NoRecord, Reset, Json                            bool
	Duration                                                        time.Duration
	Rate, Record, Web, Mqtt, Summary, LogFormat                     string
	Cpu, KeepOff, Parent                                            int
	Seed                                                            uint64
	Flood, Ballast                                                  float64
	WriteResult                                                     ResultWriter // for the command keep; nil: it is refused
}

// logFormat is json where all output is.
func (o *RunOptions) logFormat() string {
	if o.Json {
		return "json"
	}
	return o.LogFormat
}

// Run is the verb: configuration, rig, sinks, supervisor, and what to say at the end.
func Run(parent context.Context, out io.Writer, file string, o RunOptions) error {
	screen, outlets := openScreen(&out)
	defer outlets.Close(logWait)
	log, err := report.NewLogger(screen, o.logFormat(), o.Verbose, o.Quiet)
	if err != nil {
		return err
	}
	starter := cmp.Or(o.Parent, rt.StartedBy())
	var loaded rigFile
	if file != "" {
		loaded.open(file, o.WriteResult) // before it is loaded: a change between the two is found by keep
	}
	cfg, err := runConfig(file, o, log)
	if err != nil {
		return err
	}
	virtual := cfg.IsVirtual()
	arm := virtual && cfg.HasDrive() || o.Arm
	if o.DryRun && o.Arm {
		return report.ExitWith(report.Usage, errors.New("--dry-run and --arm exclude each other"))
	}
	if err := cfg.MayDrive(); err != nil && arm && !o.DryRun {
		return report.ExitWith(report.Invalid, err)
	}
	ctx, wasInterrupted, stop := report.UntilInterrupt(parent)
	defer stop()
	watchStarter(ctx, starter, log)

	// the events go to the log at once and to the sinks as they come up
	bus := &eventBus{log: log, outlets: outlets}

	// the virtual rig first: it makes the port
	hand := Handover{DryRun: o.DryRun, RealTime: !o.NoRT && !o.Single, Ports: Ports(cfg), Locked: !virtual && !o.Arm}
	ready := ReadyLine{CoreTicking: true}
	if virtual {
		rig, err := startRig(ctx, cfg, o, bus.emit)
		if err != nil {
			return unlessInterrupted(err, wasInterrupted())
		}
		defer rig.stop()
		hand.Ports, ready.Rig = rig.ports, rig.pid
	}
	// a processor for the tick; ordinary work stays off it. The rig is not ours to starve
	if !o.Single {
		claim := rt.ClaimCPU(cfg.Loop.CPU)
		defer claim.Release()
		if claim.SharerPID > 0 {
			log.Warn(fmt.Sprintf("process %d ticks on processor %d too: both will be late. Stop one, or set loop.cpu", claim.SharerPID, claim.CPU))
		}
		hand.CPU, hand.ReservedCPU = claim.CPU, claim.CPU
		if o.KeepOff >= 0 {
			hand.ReservedCPU = o.KeepOff
		}
		if !o.NoRT {
			if err := rt.KeepOff(hand.ReservedCPU); err != nil {
				log.Warn(err.Error())
			}
		}
		rt.Prefer()
	}
	a, err := Assemble(cfg, hand)
	if err != nil {
		return report.ExitWith(report.Invalid, err)
	}
	o.Arm = arm
	d, err := play(ctx, out, screen, bus, cfg, a, hand, ready, o, loaded)
	if d == nil {
		return unlessInterrupted(err, wasInterrupted())
	}
	return d.outcome(err, arm && !o.DryRun, wasInterrupted())
}

// unlessInterrupted is why a run could not be begun; a signal that came meanwhile is reason enough.
func unlessInterrupted(err error, interrupted bool) error {
	if interrupted {
		return report.ExitWith(report.Interrupted, errors.New("stopped before the rig was touched"))
	}
	return err
}

// visitors is the share of one processor up to which this process works for those who ask from outside: page, broker.
const visitors = 0.5

// play runs an assembly with its sinks until ctx ends. Without services it did not come so far.
func play(ctx context.Context, out io.Writer, screen *report.Redrawn, bus *eventBus, cfg *configs.Config, a *daemon.Assembly,
	hand Handover, ready ReadyLine, o RunOptions, loaded rigFile) (*services, error) {
	config, err := cfg.Redacted().Marshal() // recorded and handed to the core, neither of which needs a password
	if err != nil {
		return nil, err
	}
	info := hil.Info{Run: RunID(time.Now()), Version: report.Version(), ConfigHash: cfg.Hash(), Config: config, Schema: a.Schema,
		Start: time.Now(), Mono: rt.Now(), DryRun: o.DryRun}

	log := bus.log
	// a panic beside the loop ends the run, the rig in its safe state
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer failure.Handle(func(p *failure.Panic) {
		log.Error(fmt.Sprintf("internal error: %v; the run ends, in the safe state", p))
		end(p)
	})()
	d := &services{cfg: cfg, info: &info, bus: bus, log: log, a: a, plant: hand.Plant, share: rt.NewShare(visitors), file: loaded}
	for _, name := range a.Schema.Axes() {
		d.liveRows = append(d.liveRows, sink.NewLiveRows(&a.Schema, name))
	}
	defer d.close()
	if err := d.open(ctx, &ready); err != nil {
		return nil, err
	}
	if !hand.Plant { // which has none
		d.publishParams(&a.Params, "file")
		fitter, err := newFitter(ctx, d)
		if err != nil {
			return nil, err
		}
		d.fitter.Store(fitter)
		defer fitter.close()
	}
	if o.DryRun {
		d.channels = newChannels(&a.Schema)
	}
	latch := d.keepLatch(cfg.IsVirtual())
	var duration sync.Once
	options := daemon.Options{
		Config: packHandover(config, hand), Log: d.coreLog(), SingleProcess: o.Single, Arm: o.Arm, UntilTrip: o.UntilTrip,
		Sinks: d.sinks, Emit: bus.emit, Offered: d.offered, InForce: d.inForceNow, Row: d.row,
		OnCoreUp: func(pid int, fifo bool) {
			d.coreStarted(out, o.ReadyLine, ready, pid, fifo)
			if o.Duration > 0 { // counts from the first tick of the first core
				duration.Do(func() { time.AfterFunc(o.Duration, func() { end(nil) }) })
			}
		},
		Reset: o.Reset,
	}
	latch.options(&options)
	sup := daemon.New(a, &info, options)
	d.sup.Store(sup)
	keeping, stopKeeping := context.WithCancel(context.Background())
	kept := make(chan struct{})
	go func() {
		defer failure.Report()
		defer close(kept)
		latch.run(keeping, sup.LatchState)
	}()
	if o.Ballast > 0 {
		go ballast(ctx, o.Ballast)
	}
	go d.ledgerLoop(ctx)
	go d.outletLoop(ctx)
	if !hand.Plant { // a virtual rig waits for whoever opens its ports
		go d.arrivalsLoop(ctx)
	}
	if o.DryRun {
		go d.channels.run(ctx, screen)
		log.Info("dry run: reading and estimating, nothing is sent to the device")
	} else if hand.Locked {
		log.Info("not armed: safe commands are sent, and arming is refused; pass --arm to drive the rig")
	}

	stopNotifying := func() {}
	if !hand.Plant { // a virtual rig is a child of the service
		stopNotifying = d.notifyManager(ctx)
	}
	err = sup.Run(ctx)
	stopNotifying()
	stopKeeping()
	<-kept
	if o.DryRun {
		screen.Show(d.channels.table())
	}
	d.finish(o, out)
	var slip *failure.Panic
	if errors.As(context.Cause(ctx), &slip) {
		err = slip
	}
	return d, err
}

const stoppedText = "stopped in the safe state"

// outcome is how a run ended that its supervisor ended with err; arm: it was to drive the rig.
func (d *services) outcome(err error, arm, interrupted bool) error {
	sup := d.sup.Load()
	var slip *failure.Panic
	switch {
	case errors.As(err, &slip):
		return slip
	case errors.Is(err, daemon.ErrDevice):
		return report.ExitWith(report.Unavailable, err)
	case errors.Is(err, daemon.ErrTrip):
		if interrupted {
			d.log.Info(stoppedText)
		}
		return report.ExitWith(report.Trip, fmt.Errorf("%w\n     %s", err, report.AsStarted(d.afterTrip(sup.TripCause(), true))))
	case err != nil:
		return err
	case sup.CoreLost():
		return report.ExitWith(report.Trip, errors.New("the core was lost, and the rig was made safe; CORE_LOST above says how"))
	case interrupted:
		d.log.Info(stoppedText)
		return report.ExitWith(report.Interrupted, nil)
	case arm && !sup.Ran():
		return report.ExitWith(report.Trip, fmt.Errorf("the rig never ran: the run ended in mode %s (%s)", sup.Mode(),
			d.newestRow.CauseText(&d.a.Schema)))
	}
	return nil
}

// runConfig loads the file, or the demo, and lays the flags over it.
func runConfig(file string, o RunOptions, log *slog.Logger) (*configs.Config, error) {
	cfg := configs.Demo()
	if file != "" {
		var err error
		if cfg, err = configs.Load(file); err != nil {
			return nil, report.ExitWith(report.Invalid, err)
		}
	}
	if o.Rate != "" {
		rate, err := schema.ParseValue(o.Rate, "Hz")
		if err != nil || rate < 10 || rate > 20000 {
			return nil, report.ExitWith(report.Usage, fmt.Errorf("--rate %q: want 10 Hz to 20 kHz", o.Rate))
		}
		ScaleToRate(cfg, rate)
	}
	if o.Cpu != -2 {
		cfg.Loop.CPU = o.Cpu
	}
	if o.Record != "" {
		cfg.Record.Dir = o.Record
	}
	if o.Web != "" {
		cfg.Web.Listen = o.Web
	}
	if o.Mqtt != "" {
		cfg.MQTT.Listen = o.Mqtt
	}
	if o.Seed != 0 && cfg.Virtual != nil {
		cfg.Virtual.Seed = o.Seed
	}
	cfg.Record.Enabled = cfg.Record.Enabled && !o.NoRecord
	cfg.MQTT.Enabled = cfg.MQTT.Enabled && !o.NoMQTT
	cfg.Web.Enabled = cfg.Web.Enabled && !o.NoWeb
	problems, warnings := cfg.Validate() // the flags may have asked for something the file alone would not
	if len(problems) > 0 {
		return nil, report.ExitWith(report.Invalid, &schema.Errors{List: problems})
	}
	for _, w := range warnings {
		log.Warn(w.Error())
	}
	return cfg, nil
}

// eventBus logs every event and hands it to whoever has subscribed by then.
type eventBus struct {
	log     *slog.Logger
	outlets *report.Outlets // behind the log
	subs    atomic.Pointer[[]func(hil.Event)]
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
