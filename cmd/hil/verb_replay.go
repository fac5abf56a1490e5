package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
)

func newReplayCmd() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "replay RUN",
		Short: "Run the recorded inputs through the loop again and compare every row",
		Long: `Feeds the samples, orders and clock readings of a recording through the same controller on a virtual clock, and compares
each row with the recorded one, bit for bit. They are equal on the build that recorded them; another build may differ in
the last digits, and says so. Exit code 6 if rows differ.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			res, err := daemon.Replay(args[0])
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				if err := json.NewEncoder(out).Encode(res); err != nil {
					return err
				}
			} else {
				res.Print(out)
			}
			if res.Differ > 0 {
				return report.ExitWith(report.Quality, fmt.Errorf("%d of %d rows differ", res.Differ, res.Rows))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
