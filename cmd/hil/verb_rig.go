package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
)

func newRigCmd() *cobra.Command {
	var o daemon.RigOptions
	c := &cobra.Command{
		Use:   "rig [FILE]",
		Short: "Play a virtual rig on pseudo-terminals: plant, drives, sensors, script",
		Long: `Plays the rig described under virtual: in FILE (without a file: the demo's): its plant, its drives and sensors, and the far end of every
device on a pseudo-terminal. It is a separate program; whatever opens a port talks to it as to a board. Prints the names of the ports as JSON.

	hil rig --link /tmp/rig      then, elsewhere:      hil run my.yaml     with port: /tmp/rig`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Seeded = c.Flags().Changed("seed")
			return daemon.PlayRig(c.Context(), c.OutOrStdout(), strings.Join(args, ""), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Link, "link", "", "also make this symbolic link to the first port")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the noise")
	f.Float64Var(&o.Flood, "flood", 0, "also send this many random bytes per second (a broken line)")
	f.BoolVar(&o.Life, "with-parent", false, "end when standard input ends")
	return c
}
