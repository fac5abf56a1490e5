package report

import (
	"encoding/json"
	"errors"
	"io"
	"math"

	ordered "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	standard "github.com/go-json-experiment/json/v1"
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

// EncodeJSON prints v, indented. A number that is NaN or infinite is null, wherever it stands.
func EncodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v) // writes nothing when it fails
	if bad := (*json.UnsupportedValueError)(nil); errors.As(err, &bad) {
		return encodeNull(w, v)
	}
	return err
}

// encodeNull writes what encoding/json would, with null for the numbers that it refuses.
func encodeNull(w io.Writer, v any) error {
	null := ordered.MarshalToFunc(func(enc *jsontext.Encoder, x float64) error {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return enc.WriteToken(jsontext.Null)
		}
		return ordered.SkipFunc
	})
	text, err := ordered.Marshal(v, standard.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(true),
		jsontext.WithIndent("  "), ordered.WithMarshalers(null))
	if err == nil {
		_, err = w.Write(append(text, '\n'))
	}
	return err
}
