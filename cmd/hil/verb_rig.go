package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
)

func newRigCmd() *cobra.Command {
	o := daemon.RigOptions{RunOptions: daemon.RunOptions{Cpu: -2, KeepOff: -1}}
	c := &cobra.Command{
		Use:   "rig [FILE]",
		Short: "Play a virtual rig on pseudo-terminals: plant, drives, sensors, script",
		Long: `Plays the rig described under virtual: in FILE (without a file: the demo's): its plant, its drives and sensors, and the far end of every
device on a pseudo-terminal. Whatever opens a port talks to it as to a board. Prints the names of the ports as JSON.

It is the same daemon as hil run with the plant in place of the controller, at ordinary priority: rows with the truth in them are recorded,
published under the topics of <rig>-plant, and shown on a page, both on free ports unless --web and --mqtt say otherwise.

	hil rig my.yaml --link /tmp/rig      then, elsewhere:      hil run other.yaml     with port: /tmp/rig`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Seeded = c.Flags().Changed("seed")
			return daemon.PlayRig(c.Context(), c.OutOrStdout(), strings.Join(args, ""), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Link, "link", "", "also make this symbolic link to the first port")
	f.BoolVar(&o.Bare, "bare", false, "the rig alone: no recording, no MQTT, no page")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the noise")
	f.DurationVar(&o.Duration, "duration", 0, "stop after this time")
	f.StringVar(&o.Record, "record", "", "override record.dir")
	f.BoolVar(&o.NoRecord, "no-record", false, "do not record")
	f.StringVar(&o.Web, "web", "", "address of the page; left out: any free port")
	f.BoolVar(&o.NoWeb, "no-web", false, "no page")
	f.StringVar(&o.Mqtt, "mqtt", "", "address of the embedded broker; left out: any free port")
	f.BoolVar(&o.NoMQTT, "no-mqtt", false, "no MQTT at all")
	f.StringVar(&o.LogFormat, "log-format", "text", "text or json")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "more log lines")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "errors only")
	f.Float64Var(&o.Flood, "flood", 0, "with --bare: also send this many random bytes per second (a broken line)")
	f.BoolVar(&o.NoRT, "no-rt", false, "do not ask for real-time scheduling")
	f.BoolVar(&o.Life, "with-parent", false, "end when standard input ends")
	f.StringVar(&o.Sockets, "sockets", "", "with --bare: folder for Unix sockets in place of pseudo-terminals")
	f.MarkHidden("with-parent")
	f.MarkHidden("sockets")
	return c
}
