package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"hilrig/configs"
	"hilrig/configs/schema"
)

func newCheckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Check files: every problem with its line; for a rig, what the serial line has to carry",
		Long: `Reads files for hil run, hil simulate, hil identify or hil study without opening a port or running anything. Prints every problem
with line and caret and ends with 3, or prints warnings, for a rig what the line has to carry, and what to do next.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			bad := false
			for _, name := range files {
				if !checkFile(c.OutOrStdout(), c.ErrOrStderr(), name) {
					bad = true
				}
			}
			if bad {
				return exitWith(exitInvalid, nil)
			}
			return nil
		},
	}
}

// checkFile reports on one file and tells whether it can be used.
func checkFile(out, errOut io.Writer, name string) bool {
	switch configs.KindOf(name) {
	case configs.SimulateFile:
		cfg, warnings, err := configs.LoadSimulate(name)
		if ok := report(out, errOut, name, warnings, err); !ok {
			return false
		}
		for _, l := range cfg.Friction {
			fmt.Fprintf(out, "law            %s, %s\n", l.Label, l.Title)
		}
		fmt.Fprintf(out, "next: %s simulate %s\n", startName, name)
		return true
	case configs.ContactFile:
		_, warnings, err := configs.LoadContactRun(name)
		if ok := report(out, errOut, name, warnings, err); !ok {
			return false
		}
		fmt.Fprintf(out, "next: %s simulate %s\n", startName, name)
		return true
	case configs.IdentifyFile:
		cfg, warnings, err := configs.CheckIdentify(name)
		if ok := report(out, errOut, name, warnings, err); !ok {
			return false
		}
		describeIdentify(out, name, cfg)
		return true
	case configs.StudyFile:
		cfg, warnings, err := configs.LoadStudy(name)
		if ok := report(out, errOut, name, warnings, err); !ok {
			return false
		}
		describeStudy(out, name, cfg)
		return true
	}
	return checkRig(out, errOut, name)
}

// report prints problems and warnings of a file, or that there are none.
func report(out, errOut io.Writer, name string, warnings []schema.Problem, err error) bool {
	if err != nil {
		printProblems(errOut, "hil: ", err)
		out = errOut
	} else {
		fmt.Fprintf(out, "%s: ok\n", name)
	}
	for _, w := range warnings {
		fmt.Fprintf(out, "warning: %v\n", w)
	}
	return err == nil
}

// checkRig reports on a rig file.
func checkRig(out, errOut io.Writer, name string) bool {
	cfg, warnings, err := configs.Check(name)
	if err == nil { // what hil run would find when it builds the controller
		if _, err = assemble(cfg, handover{Port: cfg.Device.Port}); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	if err != nil {
		printProblems(errOut, "hil: ", err)
		for _, w := range warnings {
			fmt.Fprintf(errOut, "warning: %v\n", w)
		}
		return false
	}
	fmt.Fprintf(out, "%s: ok\n", name)
	fmt.Fprintf(out, "rig            %s, %g ticks/s, %s protocol on %s at %d baud\n", cfg.Rig.Name, cfg.Loop.Rate, cfg.Device.Protocol, cfg.Device.Port, cfg.Device.Baud)
	fmt.Fprint(out, cfg.Budget())
	for _, w := range warnings {
		fmt.Fprintf(out, "warning: %v\n", w)
	}
	next := "hil run " + name + " --dry-run      reads, never sends a command"
	if cfg.IsVirtual() {
		next = "hil run " + name
	}
	fmt.Fprintf(out, "next: %s\n", asStarted(next))
	return true
}

// printProblems writes each problem, the first fifty, behind its own "hil: ".
func printProblems(w io.Writer, lead string, err error) {
	var list *schema.Errors
	if !errors.As(err, &list) {
		fmt.Fprintf(w, "%s%v\n", lead, err)
		return
	}
	for i, p := range list.List {
		if i == 50 {
			fmt.Fprintf(w, "%s… and %d more\n", lead, len(list.List)-i)
			return
		}
		fmt.Fprintf(w, "%s%v\n", lead, p)
	}
}
