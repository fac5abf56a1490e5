package report

import (
	"io"

	"github.com/spf13/pflag"
)

// Output is where the answer of a verb goes: one JSON value with --json, else a text for people. Warnings are text on Stderr in both.
type Output struct {
	Stdout, Stderr io.Writer
	JSON           bool
}

// Flags are those that an answer has.
func (o *Output) Flags(fl *pflag.FlagSet) {
	fl.BoolVar(&o.JSON, "json", false, "print the answer as JSON")
}

// AlwaysJSON is --json of a verb that prints nothing else.
func AlwaysJSON(fl *pflag.FlagSet) { fl.Bool("json", true, "JSON is what is printed in any case") }

// To is the same answer on other writers.
func (o Output) To(stdout, stderr io.Writer) *Output {
	o.Stdout, o.Stderr = stdout, stderr
	return &o
}

// Give prints the answer.
func (o *Output) Give(answer any, text func(w io.Writer)) error {
	if o.JSON {
		return EncodeJSON(o.Stdout, answer)
	}
	text(o.Stdout)
	return nil
}
