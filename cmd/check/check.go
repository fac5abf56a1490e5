// Package check says what is wrong with files before anything runs, to which verb a file belongs, and what files look like: hil check,
// hil config.
package check

import (
	"fmt"
	"io"

	"hilrig/cmd/daemon"
	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/hil"
)

// File reports on one file and tells whether it can be used.
func File(out, errOut io.Writer, name string) bool {
	switch configs.KindOf(name) {
	case configs.SimulateFile:
		cfg, warnings, err := configs.LoadSimulate(name)
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		for _, l := range cfg.Friction {
			fmt.Fprintf(out, "law            %s, %s\n", l.Label, l.Title)
		}
		fmt.Fprintf(out, "next: %s simulate %s\n", report.StartName, name)
		return true
	case configs.BallFile:
		_, warnings, err := configs.LoadBallRun(name)
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		fmt.Fprintf(out, "next: %s simulate %s\n", report.StartName, name)
		return true
	case configs.ManipulatorFile:
		_, warnings, err := configs.LoadManipulatorRun(name)
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		fmt.Fprintf(out, "next: %s simulate %s\n", report.StartName, name)
		return true
	case configs.MachineFile:
		cfg, warnings, err := configs.LoadMachine(name)
		said := ""
		if err == nil {
			said, err = cfg.Assembled()
		}
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		fmt.Fprintf(out, "start          %s\nnext: %s simulate %s\n", said, report.StartName, name)
		return true
	case configs.BallFitFile:
		cfg, warnings, err := configs.LoadBallFit(name)
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		describeBall(out, name, cfg)
		return true
	case configs.MachineFitFile:
		cfg, warnings, err := configs.LoadMachineFit(name)
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		describeMachineFit(out, name, cfg)
		return true
	case configs.ResponseFile:
		cfg, warnings, err := configs.LoadResponseFit(name)
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		describeResponse(out, name, cfg)
		return true
	case configs.ContactFile:
		_, warnings, err := configs.LoadContactRun(name)
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		fmt.Fprintf(out, "next: %s simulate %s\n", report.StartName, name)
		return true
	case configs.IdentifyFile:
		cfg, warnings, err := configs.CheckIdentify(name)
		var said map[string]string
		if err == nil {
			said, err = identify.CheckRecords(cfg)
		}
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		describeIdentify(out, name, cfg, said)
		return true
	case configs.StudyFile:
		cfg, warnings, err := configs.LoadStudy(name)
		if ok := printChecked(out, errOut, name, warnings, err); !ok {
			return false
		}
		describeStudy(out, name, cfg)
		return true
	}
	return checkRig(out, errOut, name)
}

// printChecked prints problems and warnings of a file, or that there are none.
func printChecked(out, errOut io.Writer, name string, warnings []schema.Problem, err error) bool {
	if err != nil {
		report.PrintProblems(errOut, "hil: ", err)
		out = errOut
	} else {
		fmt.Fprintf(out, "%s: ok\n", name)
	}
	for _, w := range warnings {
		fmt.Fprintf(out, "warning: %v\n", w)
	}
	return err == nil
}

// printUnwatched says what the drive of an axis can do before the guard can tell that its position shows nothing.
func printUnwatched(out io.Writer, a *hil.AxisSpec) {
	turn := "rad"
	if a.Linear {
		turn = "m"
	}
	if time, way, speed := a.Unwatched(); time > 0 {
		fmt.Fprintf(out, "unwatched      %s: a position that shows nothing is told after %.0f ms or later; "+
			"at full effort the axis goes %.3g %s and gets to %.3g %s/s meanwhile\n",
			a.Name, 1e3*time, way, turn, speed, turn)
	}
}

// checkRig reports on a rig file.
func checkRig(out, errOut io.Writer, name string) bool {
	cfg, warnings, err := configs.Check(name)
	if err == nil { // what hil run would find when it builds controller and virtual rig
		if err = daemon.Buildable(cfg); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	if err != nil {
		report.PrintProblems(errOut, "hil: ", err)
		for _, w := range warnings {
			fmt.Fprintf(errOut, "warning: %v\n", w)
		}
		return false
	}
	fmt.Fprintf(out, "%s: ok\n", name)
	fmt.Fprintf(out, "rig            %s, %g ticks/s\n", cfg.Rig.Name, cfg.Loop.Rate)
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		fmt.Fprintf(out, "device         %s, %s protocol on %s at %d baud\n%s", d.Name, d.Protocol, d.Port, d.Baud, cfg.Budget(d))
	}
	if spec, err := daemon.ControllerSpec(cfg); err == nil {
		for i := range spec.Axes {
			printUnwatched(out, &spec.Axes[i])
		}
	}
	for _, w := range warnings {
		fmt.Fprintf(out, "warning: %v\n", w)
	}
	next := "hil run " + name + " --dry-run      reads, never sends a command"
	if cfg.IsVirtual() {
		next = "hil run " + name
	}
	fmt.Fprintf(out, "next: %s\n", report.AsStarted(next))
	return true
}
