package main

import (
	"errors"
	"fmt"
)

// Exit codes are part of the interface: scripts and schedulers rely on them (docs/errors.md).
const (
	exitOK          = 0
	exitInternal    = 1   // a bug or an unexpected failure
	exitUsage       = 2   // wrong verb, flag or argument
	exitInvalid     = 3   // configuration or data that cannot be used
	exitUnavailable = 4   // device or broker not there, or not permitted
	exitTrip        = 5   // the safety guard tripped
	exitQuality     = 6   // a quality gate was missed: unidentifiable parameter, --require-fit, latency verdict, contacts not solved
	exitInterrupted = 130 // interrupted, after a clean stop to the safe state
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

// exitWith gives err an exit code; a nil err ends silently with that code.
func exitWith(code int, err error) error { return &exitError{code: code, err: err} }

// exitCode finds the code of an error: its own, or internal.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitInternal
}
