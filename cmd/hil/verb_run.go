package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/apply"
	"hilrig/cmd/daemon"
)

func newRunCmd() *cobra.Command {
	o := daemon.RunOptions{WriteResult: apply.KeepResult}
	c := &cobra.Command{
		Use:   "run [FILE]",
		Short: "The daemon: run beside a rig; without a file, beside a virtual one",
		Long: `Without FILE a virtual rig is started and driven: the page is at http://localhost:8080.

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
			return daemon.Run(c.Context(), c.OutOrStdout(), file, o)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.DryRun, "dry-run", false, "read and estimate, never send a command")
	f.BoolVar(&o.Arm, "arm", false, "arm and run as soon as the self-test has passed (real ports; the virtual rig arms itself)")
	f.DurationVar(&o.Duration, "duration", 0, "stop after this time")
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
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "more log lines")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "errors only")
	f.Float64Var(&o.Flood, "flood", 0, "virtual rig: random bytes per second on the line")
	f.Float64Var(&o.Ballast, "ballast", 0, "bytes per second the supervisor allocates and drops")
	f.IntVar(&o.KeepOff, "keep-off", -1, "processor that ordinary work leaves free, instead of the tick's")
	f.IntVar(&o.Parent, "with-parent", 0, "end when this process, which started the program, has ended")
	f.MarkHidden("with-parent")
	f.MarkHidden("keep-off")
	f.MarkHidden("flood")
	f.MarkHidden("ballast")
	return c
}
