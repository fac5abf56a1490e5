package main

import (
	"strings"

	"github.com/spf13/cobra"

	"hilrig/cmd/report"
	"hilrig/cmd/simulate"
)

func newScenarioCmd() *cobra.Command {
	f, names := simulate.Public(), simulate.ScenarioNames()
	c := &cobra.Command{
		Use:   "scenario " + strings.Join(names, "|"),
		Short: "The comparison scenarios of friction laws, with figures and a table",
		Long: `Puts friction laws through the comparisons of the literature: stick-slip of a drawn mass, crossing zero velocity,
hysteresis of friction over velocity, spring-like stiction, response to a step, a position held by PD and PID. Without --law the five models of the
chapter run with one public set of parameters; figures then carry the chapter's numbers 6.4 to 6.42. Laws with parameters
of your own come from the friction section of a simulation file (--laws).

DIR receives the figures, a comparison of the laws for every scenario, and metrics.md, metrics.csv, metrics.json.
docs/reference/scenarios.md says what every number means.

Exit codes: 0 done; 2 wrong usage; 3 a law that cannot be used, or a step without a finite result; 4 DIR cannot be written;
130 interrupted.`,
		Example: `  hil scenario all
  hil scenario stick-slip --law lugre,gms,elasto-plastic -o compare
  hil scenario hysteresis --laws configs/compare-laws.yaml --step 0.1ms --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, _, stop := report.UntilInterrupt(c.Context())
			defer stop()
			return simulate.Scenario(ctx, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.Flags(c.Flags())
	return c
}
