package fit

import (
	"fmt"
	"slices"
	"strings"
)

// Level is what a reason does to a verdict.
type Level string

// Levels, from the lightest.
const (
	Remark Level = "remark" // worth knowing, takes nothing from the verdict
	Weaken Level = "weak"   // usable with this reservation
	Reject Level = "reject" // the numbers contradict physics, explain little, or are not those of an optimum
)

// Code names a kind of reason, for programs: a code stays where a text changes. What is found in a residual has the kind of the suspect
// as its code (CodeOf).
type Code string

// Codes of reasons. docs/reference/identify-result.md lists them.
const (
	PoorFit           Code = "poor-fit"           // the model leaves too much over
	AboveNoise        Code = "above-noise"        // what is left over is many times the noise of what was recorded
	Validation        Code = "validation"         // records that were not fitted are explained worse
	RecordCheck       Code = "record-check"       // a check of the record fails
	Rounding          Code = "rounding"           // the force rests on few levels, which are rounded
	Unfinished        Code = "unfinished"         // the method was interrupted, or ended before it converged
	MethodDoubt       Code = "method-doubt"       // the method says so of itself
	LateForce         Code = "late-force"         // force and motion are not of one time
	CoarseSteps       Code = "coarse-steps"       // the steps of the simulation have a part in the values
	FewRows           Code = "few-rows"           // rows depend on each other so much that they count as fewer than the parameters
	Alternative       Code = "alternative"        // something else explains the record as well, with other values
	Forms             Code = "two-forms"          // direct and weak form differ
	FilterSets        Code = "filter"             // values depend on the filter
	Instruments       Code = "instruments"        // least squares and instrumental variables differ
	NotTold           Code = "not-told"           // the record does not tell this value
	Loose             Code = "loose"              // half of the interval is more than a fifth of the value
	NearZero          Code = "near-zero"          // cannot be told from zero
	Negative          Code = "negative"           // below zero, where that contradicts physics
	NegativeViscous   Code = "negative-viscous"   // viscous friction below zero
	AtBound           Code = "at-bound"           // the bound has the last word
	Indistinguished   Code = "not-told-apart"     // parameters that the record does not tell apart
	DrivingFriction   Code = "driving-friction"   // friction would drive the axis
	OneDirection      Code = "one-direction"      // friction and a constant force are one number
	OverFitted        Code = "over-fitted"        // a bristle that no contact has
	Innovation        Code = "innovation"         // the errors of prediction are not those that the filter expects
	NoBodies          Code = "no-bodies"          // no real body has the parameters
	Slip              Code = "slip"               // the contact slips
	Lift              Code = "lift"               // the ball would have to be held down
	Coupled           Code = "coupled"            // other axes move this one
	LiveDiffers       Code = "live-differs"       // the live estimate of the run is another
	Assumed           Code = "assumed"            // numbers that were given, not found, widen the intervals
	Prior             Code = "prior"              // a value rests on what was known before the record
	PriorContradicted Code = "prior-contradicted" // the record and what was known before are far apart
	Failed            Code = "program-failed"     // an error of the program
)

// CodeOf is the code of something that a residual holds.
func CodeOf(kind string) Code { return Code(strings.ReplaceAll(kind, " ", "-")) }

// Reason is why a verdict is what it is.
type Reason struct {
	Code   Code     `json:"code"`
	Level  Level    `json:"level"`
	Params []string `json:"parameters"` // that it concerns; empty: all
	Text   string   `json:"text"`
}

// Concerns tells whether the reason takes something from what is said of a parameter. A doubt of a method that names no parameter is about
// the method.
func (r Reason) Concerns(name string) bool {
	if len(r.Params) > 0 {
		return slices.Contains(r.Params, name)
	}
	return r.Level == Reject || r.Code != MethodDoubt
}

// Doubt is a reason that weakens, and concerns all parameters.
func Doubt(code Code, format string, args ...any) Reason {
	return Reason{Code: code, Level: Weaken, Text: fmt.Sprintf(format, args...)}
}

// Against is a reason that rejects.
func Against(code Code, format string, args ...any) Reason {
	return Reason{Code: code, Level: Reject, Text: fmt.Sprintf(format, args...)}
}

// String is the text.
func (r Reason) String() string { return r.Text }
