// Command hil is the hardware-in-the-loop daemon for friction and everything around it: one program, many verbs.
//
//	hil run [FILE]      the daemon; without a file a virtual rig is started and driven
//	hil identify FILE   friction parameters from measured data
//	hil compare FILE    models side by side
//
// A verb turns flags into a configuration, wires packages together and runs them. There is no physics and no protocol here.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func main() {
	startedAs(os.Args[0])
	os.Exit(Main())
}

// Main runs the program and returns its exit code; tests call it in place of main.
func Main() int {
	if len(os.Args) > 1 && os.Args[1] == coreVerb {
		return runCore() // before anything else: the core re-executes itself with its scheduling class
	}
	root := newRoot()
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	var e *exitError
	if !errors.As(err, &e) && isUsage(err) {
		code = exitUsage
		fmt.Fprintf(os.Stderr, "hil: %s\nSee %s --help.\n", asStarted(err.Error()), startName)
	} else if e == nil || e.err != nil {
		fmt.Fprintf(os.Stderr, "hil: %s\n", asStarted(err.Error()))
	}
	return code
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "hil",
		Short: "Hardware-in-the-loop daemon for friction, motor and brush rigs",
		Long: `hil runs beside a motor or brush test rig: it reads the sensors, estimates the state, compensates friction,
publishes everything, records it, and identifies friction parameters from live or recorded data.

Try it without hardware:   hil run            then open http://localhost:8080
Identify what it recorded: hil identify runs
Before your own rig:       hil check FILE; hil run FILE --dry-run; hil run FILE --arm`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: checkKinds,
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: startName},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return exitWith(exitUsage, fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
	})
	root.AddCommand(newRunCmd(), newRigCmd(), newReplayCmd(), newExportCmd(), newIdentifyCmd(), newCompareCmd(), newSimulateCmd(), newScenarioCmd(), newLawsCmd(), newLCPCmd(), newStudyCmd(), newCheckCmd(), newConfigCmd(),
		newPortsCmd(), newLatencyCmd(), newVersionCmd())
	helpAsStarted(root)
	return root
}

// isUsage recognises what cobra says about unknown verbs and wrong numbers of arguments.
func isUsage(err error) bool {
	s := err.Error()
	for _, p := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "invalid argument"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
