// Package exportmodel writes an identified axis for other people's tools: hil export-model.
//
// A friction law is taken apart (contact), cut down to what the target can express (ability), and written. What is lost on the
// way is said on stderr and in the file. docs/export-model.md tells users which law goes where; its table is made from forms and
// abilities.
package exportmodel

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"hilrig/cmd/report"
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
	Refused error // why the result may not be used; nil: it may
	Records []record.Info
	Params  []Param
}

// Param is a parameter as it was identified.
type Param struct {
	Name, Unit string
	Value      float64
	Err        *float64 // standard error; nil: infinite, or known
	Known      bool     // beforehand
}

// file is a file under way.
type file struct {
	bytes.Buffer
	Model
	contact
	units
	lost []string
	name string // an identifier
}

// Write writes a model for a target. What the target cannot express is in lost.
func Write(w io.Writer, to string, m Model) (lost []string, err error) {
	a, ok := find(to)
	if !ok {
		return nil, fmt.Errorf("there is no target %q (known: %s)", to, strings.Join(Targets(), ", "))
	}
	f := file{Model: m, units: unitsOf(m.Rotary), name: identifier(m.Name)}
	c := contactOf(m.Law)
	c.offset += m.Offset
	if f.contact, f.lost, err = a.express(c, m.Law, f.units); err != nil {
		return nil, err
	}
	f.lost = append(f.lost, m.Others...)
	if a.inertia && m.Inertia == 0 {
		f.Inertia = 1
		f.lost = append(f.lost, fmt.Sprintf("the %s, which the result does not have: 1 %s stands in its place, to be replaced", f.inertiaName, f.units.inertia))
	}
	if err := a.write(&f); err != nil {
		return nil, err
	}
	_, err = w.Write(f.Bytes())
	return f.lost, err
}

// printf adds to the file.
func (f *file) printf(format string, args ...any) { fmt.Fprintf(f, format, args...) }

// notes are the lines of the comment at the head of every file: what it is, where it comes from, what it lacks.
func (f *file) notes() []string {
	s := &f.Source
	lines := []string{
		fmt.Sprintf("%s: friction law %s, written by hil export-model (%s)", f.Model.Name, friction.NameOf(f.Law), report.Version()),
	}
	if s.Result != "" {
		lines = append(lines, fmt.Sprintf("result %s of %s, identified with hil %s: %s", s.Result, s.Written.Format(time.DateOnly), s.Program, s.Method))
	}
	for _, r := range s.Records {
		lines = append(lines, fmt.Sprintf("record %s, SHA-256 %s, %d samples, %.6g s", r.File, r.SHA256, r.Samples, r.Duration))
	}
	if s.Refused != nil {
		lines = append(lines, fmt.Sprintf("NOT TO BE TRUSTED: %v; written because it was forced", s.Refused))
	}
	if s.Verdict != "" {
		lines = append(lines, "verdict: "+s.Verdict)
	}
	lines = append(lines, s.Reasons...)
	for _, p := range s.Params {
		switch text := fmt.Sprintf("%s = %.6g", p.Name, p.Value); {
		case p.Known:
			lines = append(lines, fmt.Sprintf("%s %s, known beforehand", text, p.Unit))
		case p.Err == nil:
			lines = append(lines, fmt.Sprintf("%s %s, without a bounded standard error", text, p.Unit))
		default:
			lines = append(lines, fmt.Sprintf("%s ± %.2g %s (standard error)", text, *p.Err, p.Unit))
		}
	}
	if len(f.lost) > 0 {
		lines = append(lines, "not in this file:")
		for _, l := range f.lost {
			lines = append(lines, "- "+l)
		}
	}
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ") // one line each
	}
	return append(lines, fmt.Sprintf("units: %s, %s, %s, s. Friction opposes the motion and is positive for positive speed.", f.length, f.force, f.units.inertia))
}

// identifier makes a name of letters, digits and underscores, in lower case.
func identifier(name string) string {
	id := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return '_'
	}, name)
	if id = strings.Trim(id, "_"); id == "" || unicode.IsDigit(rune(id[0])) {
		id = strings.TrimRight("axis_"+id, "_")
	}
	return id
}
