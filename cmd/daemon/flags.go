package daemon

import (
	"time"

	"github.com/spf13/pflag"

	"hilrig/cmd/report"
)

// Flags are those of hil run.
func (o *RunOptions) Flags(f *pflag.FlagSet) {
	f.BoolVar(&o.DryRun, "dry-run", false, "read and estimate, never send a command")
	f.BoolVar(&o.Arm, "arm", false, "arm and run as soon as the self-test has passed (real ports; the virtual rig arms itself)")
	f.Var(report.Duration(&o.Duration, 0), "duration", "stop this long after the first tick")
	f.BoolVar(&o.UntilTrip, "until-trip", false, "end the run at the first safety trip (exit code 5)")
	f.BoolVar(&o.Reset, "reset", false, "reset what the run before left in TRIP or ESTOP, once its cause is gone")
	f.StringVar(&o.Rate, "rate", "", "override loop.rate, e.g. \"2 kHz\"")
	f.IntVar(&o.Cpu, "cpu", -2, "override loop.cpu")
	f.StringVar(&o.Record, "record", "", "override record.dir")
	f.BoolVar(&o.NoRecord, "no-record", false, "do not record")
	f.StringVar(&o.Web, "web", "", "override web.listen; localhost:0 takes any free port")
	f.BoolVar(&o.NoWeb, "no-web", false, "no page")
	f.StringVar(&o.Mqtt, "mqtt", "", "override mqtt.listen of the embedded broker")
	f.BoolVar(&o.NoMQTT, "no-mqtt", false, "no MQTT at all")
	f.BoolVar(&o.Single, "single-process", false, "loop and everything else in one process: not real time")
	f.BoolVar(&o.NoRT, "no-realtime", false, "do not ask for real-time scheduling and locked memory")
	f.Uint64Var(&o.Seed, "seed", 0, "override virtual.seed")
	f.StringVar(&o.Summary, "summary", "", "write timing figures of the run to this file (JSON)")
	f.BoolVar(&o.ReadyLine, "ready-line", false, "print one line of JSON on standard output once the core ticks")
	f.StringVar(&o.LogFormat, "log-format", "text", "text or json")
	f.BoolVar(&o.Json, "json", false, "the log as JSON, and at the end the timing figures of the run on standard output")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "more log lines")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "errors only")
	f.Float64Var(&o.Flood, "flood", 0, "virtual rig: random bytes per second on the line")
	f.Float64Var(&o.Ballast, "ballast", 0, "bytes per second the supervisor allocates and drops")
	f.IntVar(&o.KeepOff, "keep-off", -1, "processor that ordinary work leaves free, instead of the tick's")
	f.IntVar(&o.Parent, "with-parent", 0, "end when this process, which started the program, has ended")
	_ = f.MarkHidden("with-parent")
	_ = f.MarkHidden("keep-off")
	_ = f.MarkHidden("flood")
	_ = f.MarkHidden("ballast")
}

// Flags are those of hil rig.
func (o *RigOptions) Flags(f *pflag.FlagSet) {
	f.StringVar(&o.Link, "link", "", "also make this symbolic link to the first port")
	f.BoolVar(&o.Bare, "bare", false, "the rig alone: no recording, no MQTT, no page")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the noise")
	f.Var(report.Duration(&o.Duration, 0), "duration", "stop this long after the first tick")
	f.StringVar(&o.Record, "record", "", "override record.dir")
	f.BoolVar(&o.NoRecord, "no-record", false, "do not record")
	f.StringVar(&o.Web, "web", "", "address of the page; left out: any free port")
	f.BoolVar(&o.NoWeb, "no-web", false, "no page")
	f.StringVar(&o.Mqtt, "mqtt", "", "address of the embedded broker; left out: any free port")
	f.BoolVar(&o.NoMQTT, "no-mqtt", false, "no MQTT at all")
	f.StringVar(&o.LogFormat, "log-format", "text", "text or json")
	f.BoolVar(&o.Json, "json", false, "the log as JSON; what stands on standard output is JSON in any case")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "more log lines")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "errors only")
	f.Float64Var(&o.Flood, "flood", 0, "with --bare: also send this many random bytes per second (a broken line)")
	f.BoolVar(&o.NoRT, "no-realtime", false, "do not ask for real-time scheduling")
	f.BoolVar(&o.Life, "with-parent", false, "end when standard input ends")
	f.StringVar(&o.Sockets, "sockets", "", "with --bare: folder for Unix sockets in place of pseudo-terminals")
	_ = f.MarkHidden("with-parent")
	_ = f.MarkHidden("sockets")
}

// Flags are those of hil latency.
func (o *LatencyOptions) Flags(f *pflag.FlagSet) {
	f.BoolVar(&o.Pair, "pair", false, "compare with cyclictest, in turn on the same processor")
	f.IntVar(&o.Blocks, "blocks", 10, "valid blocks wanted of the loop, and as many of the reference")
	f.Var(report.Duration(&o.BlockDuration, 10*time.Second), "each", "length of a block")
	f.Float64Var(&o.Rate, "rate", 1000, "ticks per second")
	f.StringVar(&o.Load, "load", "full", "idle: daemon alone; full: page polled, subscriber; garbage: also noise on the serial line; heap: "+
		"also 1 GB/s allocated in the supervisor")
	f.BoolVar(&o.Json, "json", false, "print JSON")
}
