package check

import (
	"fmt"
	"io"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
)

// Schema prints the JSON Schema of a kind of files.
func Schema(out io.Writer, kind string) error {
	var defaults any
	switch kind {
	case "rig":
		defaults = configs.Default()
	case "simulate":
		defaults = configs.DefaultSimulate()
	case "identify":
		defaults = configs.DefaultIdentify()
	case "study":
		defaults = configs.DefaultStudy()
	case "simulate-ball":
		defaults = configs.DefaultBallRun()
	case "simulate-manipulator":
		defaults = configs.DefaultManipulatorRun()
	case "machine":
		defaults = configs.DefaultMachineRun()
	case "identify-ball":
		defaults = configs.DefaultBallFit()
	case "identify-machine":
		defaults = configs.DefaultMachineFit()
	case "identify-response":
		defaults = configs.DefaultResponseFit()
	default:
		return report.ExitWith(report.Usage, fmt.Errorf("config schema: --kind %q, want rig, simulate, identify, study, machine, "+
			"simulate-ball, simulate-manipulator, identify-ball, identify-machine or identify-response", kind))
	}
	text, err := schema.JSON("hil "+kind+" file", defaults)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// Show prints every key in force of a rig file, or of the demo without one.
func Show(out io.Writer, file string) error {
	cfg, name := configs.Demo(), "the demo"
	if file != "" {
		var err error
		if cfg, err = configs.Load(file); err != nil {
			return report.ExitWith(report.Invalid, err)
		}
		name = file
	}
	text, err := cfg.Redacted().Marshal()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "# %s as it is in force, in SI; hash %s\n%s", name, cfg.Hash(), text)
	return nil
}

// Example prints the commented rig file of the demo.
func Example(out io.Writer) error {
	_, err := out.Write(configs.DemoYAML())
	return err
}
