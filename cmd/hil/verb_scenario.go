package main

import (
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
docs/scenarios.md says what every number means.

Exit codes: 0 done; 2 wrong usage; 3 a law that cannot be used, or a step without a finite result; 4 DIR cannot be written;
130 interrupted.`,
		Example: `  hil scenario all
  hil scenario stick-slip --law lugre,gms,elasto-plastic -o compare
  hil scenario hysteresis --laws configs/compare-laws.yaml --step 0.1ms --json`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			return simulate.Scenario(ctx, args[0], f, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&f.Laws, "law", nil, "laws by name, or law:preset, separated by commas; see hil laws (default: the five of the chapter)")
	c.RegisterFlagCompletionFunc("law", cobra.FixedCompletions(simulate.LawChoices(), cobra.ShellCompDirectiveNoFileComp))
	fl.StringVar(&f.From, "laws", "", "take the laws and their parameters from the friction section of this simulation file")
	fl.StringVarP(&f.Out, "output", "o", "scenarios", "directory of the results")
	fl.StringSliceVar(&f.Formats, "format", []string{"svg", "png"}, "formats of the figures")
	fl.BoolVar(&f.NoFigures, "no-figures", false, "metrics only")
	fl.StringVar(&f.Scheme, "scheme", "midpoint", "scheme of the smooth laws: "+simulate.SchemeNames())
	quantityVar(fl, &f.C.Step, "step", "s", "time step")
	quantityVar(fl, &f.C.Mass, "mass", "kg", "drawn mass")
	quantityVar(fl, &f.C.Spring, "spring", "N/m", "spring of stick-slip and zero crossing")
	quantityVar(fl, &f.C.Pull, "pull", "m/s", "stick-slip: speed of the drawn end")
	quantityVar(fl, &f.C.Swing, "swing", "m/s", "zero crossing: amplitude of the speed of the end")
	quantityVar(fl, &f.C.Omega, "omega", "rad/s", "zero crossing: frequency")
	quantityVar(fl, &f.C.Bias, "bias", "m/s", "hysteresis: mean speed")
	quantityVar(fl, &f.C.Ripple, "ripple", "m/s", "hysteresis: amplitude of the speed")
	quantityVar(fl, &f.C.Push, "push", "N", "stiction: amplitude of the force; steps of force are two and four times this")
	quantityVar(fl, &f.C.Jump, "jump", "m/s", "step response: the speed")
	quantityVar(fl, &f.C.Kp, "kp", "N/m", "hunting: proportional gain")
	quantityVar(fl, &f.C.Ki, "ki", "N/(m·s)", "hunting: integral gain")
	quantityVar(fl, &f.C.Kd, "kd", "N·s/m", "hunting: derivative gain")
	quantityVar(fl, &f.C.Move, "move", "m", "hunting: how far the mass is sent")
	fl.BoolVar(&f.Json, "json", false, "print the metrics as JSON")
	fl.BoolVar(&f.Force, "force", false, "write over existing files")
	return c
}

// quantityVar adds such a flag.
func quantityVar(fl *pflag.FlagSet, v *float64, name, unit, usage string) {
	fl.Var(simulate.QuantityOf(v, unit), name, usage)
}
