// Command hil is the hardware-in-the-loop daemon for friction and everything around it: one program, many verbs.
//
//	hil run [FILE]      the daemon; without a file a virtual rig is started and driven
//	hil identify FILE   friction parameters from measured data
//	hil compare FILE    models side by side
//
// A verb turns flags into a configuration, wires packages together and runs them. There is no physics and no protocol here.
package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hilrig/cmd/check"
	"hilrig/cmd/daemon"
	"hilrig/cmd/report"
	"hilrig/cmd/verbs"
	"hilrig/engine/failure"
)

func main() {
	report.StartedAs(os.Args[0])
	os.Exit(Main())
}

// Main runs the program and returns its exit code; tests call it in place of main.
func Main() int {
	defer failure.Report()
	if len(os.Args) > 1 && os.Args[1] == daemon.CoreVerb {
		return daemon.RunCore() // before anything else: the core re-executes itself with its scheduling class
	}
	return report.ExitPrint(os.Stderr, report.Answer(newRoot().Execute))
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
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       report.VersionLine(),
		PersistentPreRunE: func(c *cobra.Command, files []string) error {
			return check.Kinds(c.ErrOrStderr(), strings.TrimPrefix(c.CommandPath(), c.Root().DisplayName()+" "), files)
		},
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: report.StartName},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(newRunCmd(), newRigCmd(), newReplayCmd(), newRunsCmd(), newViewCmd(), newExportCmd(), newExportModelCmd(), newImportCmd(),
		newDecodeCmd(), newIdentifyCmd(), newCompareCmd(), newSimulateCmd(), newScenarioCmd(), newLawsCmd(), newLCPCmd(), newStudyCmd(),
		newCheckCmd(), newConfigCmd(), newPortsCmd(), newLatencyCmd(), newVersionCmd())
	verbs.Finish(root)
	return root
}
