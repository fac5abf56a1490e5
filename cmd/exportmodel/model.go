// Package exportmodel writes an identified axis for other people's tools: hil export-model.
//
// A friction law is taken apart (contact), cut down to what the target can express (ability), and written. What is lost on the
// way is said on stderr and in the file. docs/reference/export-model.md tells users which law goes where; its table is made from forms and
// abilities.
package exportmodel

import (
	"time"

	"hilrig/engine/friction"
	"hilrig/identify/record"
)

// Model is an identified axis.
type Model struct {
	Name    string
	Law     friction.Model
	Offset  float64 // N or N·m, constant force against the positive direction, beside that of the law
	Inertia float64 // kg or kg·m²; 0: not known
	Rotary  bool
	Others  []string // what the result holds besides law, inertia and offset, in words
	Source  Source
}

// Source says where a model comes from.
type Source struct {
	Result  string    // file
	Written time.Time // of the result
	Program string    // that identified it
	Method  string
	Verdict string
	Reasons []string
	Refusal error // why the result may not be used; nil: it may
	Records []record.Info
	Params  []Param
}

// Param is a parameter as it was identified.
type Param struct {
	Name, Unit string
	Value      float64
	Err        *float64 // standard error; nil: infinite, or known
	IsPrior    bool     // beforehand
}
