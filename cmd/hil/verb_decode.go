package main

import (
	"github.com/spf13/cobra"

	"hilrig/cmd/decode"
)

func newDecodeCmd() *cobra.Command {
	var o decode.Options
	c := &cobra.Command{
		Use:   "decode [FILE|-] --protocol NAME",
		Short: "What stands in bytes of a tracker, a board or a bus: one JSON object for each frame",
		Long:  decode.Help,
		Example: `  hil decode capture.bin --protocol xsens
  echo AAAADE010092FF25088DFEECFFD103000000E7 | hil decode - --protocol bno08x
  hil decode line.bin --rig rig.yaml --device drive`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return decode.Run(append(args, "-")[0], o, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	o.Flags(c.Flags())
	return c
}
