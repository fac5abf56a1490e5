package simulate

import (
	"github.com/spf13/pflag"

	"hilrig/cmd/report"
)

// Flags are those of hil scenario.
func (f *ScenarioOptions) Flags(fl *pflag.FlagSet) {
	quantity := func(v *float64, name, unit, usage string) { fl.Var(QuantityOf(v, unit), name, usage) }
	fl.StringSliceVar(&f.Laws, "law", nil, "laws by name, or law:preset, separated by commas; see hil laws (default: the five of the chapter)")
	fl.StringVar(&f.LawsFile, "laws", "", "take the laws and their parameters from the friction section of this simulation file")
	fl.StringVarP(&f.OutputFolder, "output", "o", "scenarios", "directory of the results")
	fl.StringSliceVar(&f.Formats, "format", []string{"svg", "png"}, "formats of the figures")
	fl.BoolVar(&f.NoFigures, "no-figures", false, "metrics only")
	fl.StringVar(&f.Scheme, "scheme", "midpoint", "scheme of the smooth laws: "+SchemeNames())
	fl.Var(report.PositiveSeconds(&f.C.Step), "step", "time step")
	quantity(&f.C.Mass, "mass", "kg", "drawn mass")
	quantity(&f.C.Spring, "spring", "N/m", "spring of stick-slip and zero crossing")
	quantity(&f.C.Pull, "pull", "m/s", "stick-slip: speed of the drawn end")
	quantity(&f.C.Swing, "swing", "m/s", "zero crossing: amplitude of the speed of the end")
	quantity(&f.C.Omega, "omega", "rad/s", "zero crossing: frequency")
	quantity(&f.C.Bias, "bias", "m/s", "hysteresis: mean speed")
	quantity(&f.C.Ripple, "ripple", "m/s", "hysteresis: amplitude of the speed")
	quantity(&f.C.Push, "push", "N", "stiction: amplitude of the force; steps of force are two and four times this")
	quantity(&f.C.Jump, "jump", "m/s", "step response: the speed")
	quantity(&f.C.Kp, "kp", "N/m", "hunting: proportional gain")
	quantity(&f.C.Ki, "ki", "N/(m·s)", "hunting: integral gain")
	quantity(&f.C.Kd, "kd", "N·s/m", "hunting: derivative gain")
	quantity(&f.C.Move, "move", "m", "hunting: how far the mass is sent")
	fl.BoolVar(&f.Json, "json", false, "print the metrics as JSON")
	fl.BoolVar(&f.Force, "force", false, "write over existing files")
}
