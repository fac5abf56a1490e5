package main

import (
	"errors"

	"github.com/spf13/cobra"

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
)

func newSimulateCmd() *cobra.Command {
	var f simulate.Options
	c := &cobra.Command{
		Use:   "simulate FILE.yaml",
		Short: "Run friction laws, or bodies in contact, without a rig: numbers, CSV, figure, animation",
		Long:  simulate.Help,
		Example: `  hil simulate configs/stick-slip.yaml
  hil simulate configs/stick-slip.yaml -o run.csv --plot run.png
  hil simulate configs/stick-slip.yaml --law lugre,dahl --step 0.1ms --json
  hil simulate configs/contact/woodpecker.yaml --animate woodpecker.html
  hil simulate configs/identify/ball-rig.yaml -o markers.csv --plot run.png
  hil simulate configs/manipulator.yaml --plot run.svg --animate run.html`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, was, stop := report.UntilInterrupt(c.Context())
			defer stop()
			err := simulate.Run(ctx, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
			if was() {
				return report.ExitWith(report.Interrupted, errors.New("simulate: interrupted; nothing was written"))
			}
			return err
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.OutputPath, "output", "o", "", "write the traces to this CSV file, packed if it ends in .gz")
	fl.StringVar(&f.Plot, "plot", "", "draw the traces to this file, .svg, .pdf or .png")
	fl.StringVar(&f.Animate, "animate", "", "write a page that shows bodies in contact or a machine moving, .html")
	fl.StringVar(&f.Events, "events", "", "write the events of bodies in contact to this file, .csv or .json; for the event-driven engine")
	fl.StringVar(&f.Motion, "motion", "", "write the motion of a ball as it is to this CSV file: pose, speeds, energy, contact force; -o "+
		"writes what cameras see")
	fl.BoolVar(&f.Json, "json", false, "print parameters, events and numbers as JSON")
	fl.BoolVar(&f.Force, "force", false, "write over existing files")
	fl.StringSliceVar(&f.Laws, "law", nil, "laws in place of those of the file: labels of the file, or names with their public numbers or a "+
		"preset (law:preset)")
	fl.Var(report.PositiveSeconds(&f.Step), "step", "step in place of that of the file, such as 0.1ms; "+
		"of a machine: fixed steps, as a loop takes them")
	fl.BoolVar(&f.Modes, "modes", false, "of a machine: eigenvalues, frequencies and damping at its equilibrium, in place of a run")
	fl.Var(report.PositiveSeconds(&f.Duration), "duration", "duration in place of that of the file, such as 30s")
	return c
}
