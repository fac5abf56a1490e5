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
	o.Flags(c.Flags())
	return c
}
