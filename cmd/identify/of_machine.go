package identify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"hilrig/cmd/report"
	"hilrig/identify"
)

// refuseForMachine refuses flags that a file to identify a machine has no use for, and a file that would be written over. what is the thing
// that it describes, says what stands in it instead.
func (f *Options) refuseForMachine(what, path, says string) error {
	name := f.foreign()
	for _, other := range []string{"data", "time-limit"} {
		if f.Changed(other) {
			name = other
		}
	}
	if name != "" {
		return report.ExitWith(report.Usage, fmt.Errorf("identify: --%s is not for %s, whose %s %s says", name, what, says, path))
	}
	if _, err := os.Lstat(f.writeMachine); f.writeMachine != "" && err == nil && !f.force {
		return report.ExitWith(report.Usage, fmt.Errorf("identify: %s exists; --force writes over it", f.writeMachine))
	}
	return nil
}

// machineAnswer is what was found of a machine.
type machineAnswer struct {
	Identification
	machine     string                                            // its file
	records     []string                                          // of the fit
	validation  []string                                          //
	requireFit  float64                                           // %
	identified  func() (text []byte, remarks []string, err error) // the file of the machine with what was found
	note        string                                            // of that file
	printBefore func(io.Writer)                                   // printed before and after the result; nil: nothing
	printAfter  func(io.Writer)
	page        string // of the documentation
}

// answer runs a fit of a machine, which can be interrupted, and writes what it found where it is wanted.
func (f *Options) answer(ctx context.Context, path string, stdout, stderr io.Writer,
	fit func(ctx context.Context, bar *report.Progress) (*machineAnswer, error)) error {
	bar := report.NewProgress(stderr)
	defer bar.Finish()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a, err := fit(ctx, bar)
	bar.Finish()
	switch {
	case ctx.Err() != nil:
		return report.ExitWith(report.Interrupted, errors.New("interrupted before there was a result"))
	case err != nil:
		f.display.warnNoResult(stderr)
		return f.refuse(ctx, path, err, stdout)
	}
	a.Config, a.Program, a.Command = path, report.Version(), report.CommandLine()
	return f.give(a, stdout, stderr)
}

// give writes an answer where it is wanted.
func (f *Options) give(a *machineAnswer, stdout, stderr io.Writer) error {
	if f.outputPath != "" {
		if err := writeResult(f.outputPath, a.Identification); err != nil {
			return report.ExitWith(report.Unavailable, err)
		}
	}
	warnings := warningsOf(a.Result)
	if f.writeMachine != "" {
		remarks, err := f.writeIdentified(a)
		if err != nil {
			return report.ExitWith(report.Unavailable, fmt.Errorf("identify: --write-machine: %w", err))
		}
		warnings = append(warnings, remarks...)
	}
	if f.json {
		if err := report.EncodeJSON(stdout, a.Identification); err != nil {
			return err
		}
	} else {
		if a.printBefore != nil {
			a.printBefore(stdout)
		}
		printIdentification(stdout, a.Identification, true)
		a.printAfter(stdout)
		for _, w := range warnings {
			fmt.Fprintf(stderr, "warning: %s\n", w)
		}
		fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted(f.afterMachine(a)))
	}
	if err := f.display.show(PageOf(a.Identification), f.force, stdout); err != nil {
		return err
	}
	return gate(a.Result, max(f.RequireFit, a.requireFit))
}

// writeIdentified writes the file of the machine. The remarks say what it cannot hold; they stand at its head too.
func (f *Options) writeIdentified(a *machineAnswer) (remarks []string, err error) {
	text, remarks, err := a.identified()
	if err != nil {
		return nil, err
	}
	head := []string{
		fmt.Sprintf("%s with the parameters that %s found in %s.", a.machine, a.Command, strings.Join(a.records, ", ")),
		strings.TrimSpace(fmt.Sprintf("Verdict: %s. %s", a.Verdict, a.note)),
	}
	return remarks, report.WriteWhole(f.writeMachine, f.force, func(w io.Writer) error {
		for _, line := range append(head, remarks...) {
			if _, err := fmt.Fprintf(w, "# %s\n", line); err != nil {
				return err
			}
		}
		_, err := w.Write(text)
		return err
	})
}

// afterMachine is what makes sense after an answer.
func (f *Options) afterMachine(a *machineAnswer) string {
	switch {
	case a.Verdict == identify.Rejected:
		return "see docs/" + a.page + ", section Verdict, for what each reason asks for"
	case f.writeMachine != "":
		return "hil simulate " + f.writeMachine
	case len(a.validation) == 0:
		return "name further records in validate: they tell what the parameters are worth"
	}
	return report.CommandLine() + " --write-machine identified.yaml      puts the parameters into the file of the machine"
}
