package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
)

func newRigCmd() *cobra.Command {
	rig := &cobra.Command{
		Use:   "rig",
		Short: "Virtual rigs on a pseudo-terminal",
		Long:  "A virtual rig is a separate program on a real pseudo-terminal: whatever opens that port talks to it as to a board.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	rig.AddCommand(newRigKindCmd("motor", "Brushed motor with LuGre friction, encoder and current sensor",
		`Plays the rig described under virtual: in FILE (without a file: the demo's). Prints the name of its port as JSON.

	hil rig motor --link /tmp/rig      then, elsewhere:      hil run my.yaml     with port: /tmp/rig`))
	rig.AddCommand(newRigKindCmd("brush", "Motor whose two brushes are simulated: contact, friction torque, drop, commutation",
		`Plays the rig described under virtual: and virtual.brush: in FILE (without a file: configs/brush-rig.yaml). The friction torque and
the drop of its brushes come from the contact of rough surfaces with 11 coordinates, and the passing of the bars shows in the
current. Prints the name of its port as JSON.

	hil rig brush --link /tmp/rig      then, elsewhere:      hil run my.yaml     with port: /tmp/rig`))
	return rig
}

// newRigKindCmd is the verb of one kind of virtual rig.
func newRigKindCmd(kind, short, long string) *cobra.Command {
	var o daemon.RigOptions
	c := &cobra.Command{
		Use:   kind + " [FILE]",
		Short: short,
		Long:  long,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Seeded = c.Flags().Changed("seed")
			return daemon.PlayRig(c.Context(), c.OutOrStdout(), kind, strings.Join(args, ""), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Link, "link", "", "also make this symbolic link to the port")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the noise")
	f.Float64Var(&o.Flood, "flood", 0, "also send this many random bytes per second (a broken line)")
	f.BoolVar(&o.Life, "with-parent", false, "end when standard input ends")
	return c
}
