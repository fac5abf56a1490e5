package identify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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

// answer is what was found, and how it is shown.
type answer struct {
	Identification
	rotary                  bool
	requireFit              float64         // %
	printBefore, printAfter func(io.Writer) // the result; nil: nothing
	nextStep                func() string   // what makes sense then
	machine                 *machineFile    // nil: none is described
}

// machineFile is the file of a machine, to be written with what was found.
type machineFile struct {
	path       string
	records    []string                                          // of the fit
	identified func() (text []byte, remarks []string, err error) // the file with what was found
	note       string                                            // of that
}

// goesOn is what a fit does after Ctrl-C.
const goesOn = "the best values so far are being evaluated"

// answer runs a fit, which can be interrupted, and writes what it found where it is wanted.
func (f *Options) answer(ctx context.Context, path string, stdout, stderr io.Writer,
	fit func(ctx context.Context, bar *report.Progress) (*answer, error)) error {
	bar := report.NewProgress(stderr)
	defer bar.Finish()
	ctx, _, stop := report.UntilInterrupt(ctx, goesOn)
	defer stop()
	limited := ctx
	if f.timeLimit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, f.timeLimit)
		defer cancel()
	}
	a, err := fit(limited, bar)
	bar.Finish()
	if err != nil || limited.Err() != nil && !a.Interrupted {
		f.display.warnNoResult(stderr)
	}
	switch {
	case limited.Err() != nil && (err != nil || !a.Interrupted):
		return report.ExitWith(report.Interrupted, errors.New("interrupted, by Ctrl-C or by its time limit, before there was a result"))
	case err != nil:
		return f.refuse(ctx, path, err, stdout)
	}
	a.Config = path
	if err := f.give(a, stdout, stderr); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return report.ExitWith(report.Interrupted, errors.New("interrupted: these are the best values so far, not the optimum"))
	}
	return gate(a.Result, max(f.RequireFit, a.requireFit))
}

// give writes an answer where it is wanted.
func (f *Options) give(a *answer, stdout, stderr io.Writer) error {
	a.Program, a.Command = report.Version(), report.CommandLine()
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
		var text strings.Builder
		if a.printBefore != nil {
			a.printBefore(&text)
		}
		printIdentification(&text, a.Identification, a.rotary)
		if a.printAfter != nil {
			a.printAfter(&text)
		}
		fmt.Fprint(stdout, report.Readable(text.String()))
		for _, w := range warnings {
			fmt.Fprintf(stderr, "warning: %s\n", report.Readable(w))
		}
		fmt.Fprintf(stdout, "\nnext: %s\n", report.AsStarted(a.nextStep()))
	}
	return f.display.show(PageOf(a.Identification), f.force, stdout)
}

// writeIdentified writes the file of the machine. The remarks say what it cannot hold; they stand at its head too.
func (f *Options) writeIdentified(a *answer) (remarks []string, err error) {
	text, remarks, err := a.machine.identified()
	if err != nil {
		return nil, err
	}
	head := []string{
		fmt.Sprintf("%s with the parameters that %s found in %s.", a.machine.path, a.Command, strings.Join(a.machine.records, ", ")),
		strings.TrimSpace(fmt.Sprintf("Verdict: %s. %s", a.Verdict, a.machine.note)),
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

// afterMachine is what makes sense after the fit of a machine, which a page of the documentation describes.
func (f *Options) afterMachine(r *identify.Result, page string) string {
	switch {
	case r.Verdict == identify.Rejected:
		return "see " + page + ", section Verdict, for what each reason asks for"
	case f.writeMachine != "":
		return "hil simulate " + f.writeMachine
	case r.Validation == nil:
		return "name further records in validate: they tell what the parameters are worth"
	}
	return report.CommandLine() + " --write-machine identified.yaml      puts the parameters into the file of the machine"
}
