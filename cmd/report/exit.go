// Package report is what verbs share to speak with people and other programs: exit codes, problems, progress, logs, JSON, whole files,
// the name of the program. It knows no domain.
package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"hilrig/engine/failure"
)

// Exit codes are part of the interface: scripts and schedulers rely on them (docs/reference/errors.md).
const (
	OK          = 0
	Internal    = 1   // a bug or an unexpected failure
	Usage       = 2   // wrong verb, flag or argument
	Invalid     = 3   // configuration or data that cannot be used
	Unavailable = 4   // device or broker not there, or not permitted
	Trip        = 5   // the safety guard tripped
	Quality     = 6   // a quality gate was missed: unidentifiable parameter, --require-fit, latency verdict, contacts not solved
	Interrupted = 130 // interrupted, after a clean stop to the safe state
)

// exitError carries the exit code of an error up to main.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// ExitWith gives err an exit code; a nil err ends silently with that code.
func ExitWith(code int, err error) error { return &exitError{code: code, err: err} }

// Exitf is an error with an exit code; the text is that of fmt.Errorf.
func Exitf(code int, format string, a ...any) error { return ExitWith(code, fmt.Errorf(format, a...)) }

// ExitCode finds the code of an error: its own, or internal.
func ExitCode(err error) int {
	if err == nil {
		return OK
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return Internal
}

// Answer runs a command. A panic in it is an error that says so.
func Answer(command func() error) (err error) {
	defer failure.Catch(&err)
	return command()
}

// ExitPrint says on w what ended a command, if anything did, and returns the exit code.
func ExitPrint(w io.Writer, err error) int {
	code := ExitCode(err)
	var e *exitError
	var slip *failure.Panic
	switch {
	case err == nil:
	case errors.As(err, &slip):
		code = Internal
		fmt.Fprintf(w, "hil: %s\n", slip.Report())
	case !errors.As(err, &e) && isUsage(err):
		code = Usage
		printWithin(w, "hil: %s\nSee %s --help.\n", AsStarted(err.Error()), StartName)
	case e == nil || e.err != nil:
		printWithin(w, "hil: %s%s\n", AsStarted(err.Error()), NearFile(err))
	}
	return code
}

// isUsage recognises what cobra says about unknown verbs and flags.
func isUsage(err error) bool {
	said := []string{"unknown command", "unknown flag", "unknown shorthand", "invalid argument"}
	return slices.ContainsFunc(said, func(p string) bool { return strings.HasPrefix(err.Error(), p) })
}
