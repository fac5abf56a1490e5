package exportmodel

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"
	"unicode"

	"hilrig/cmd/report"
	"hilrig/engine/friction"
)

//go:embed templates
var templates embed.FS

// texts are the templates of the files, with the functions that they call.
var texts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"exact":   formatNumber,
		"num":     single,
		"nums":    singles,
		"minus":   func(x float64) float64 { return -x },
		"over":    func(x, y float64) float64 { return x / y },
		"upper":   strings.ToUpper,
		"title":   func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
		"quote":   strconv.Quote,
		"unit":    func(s string) string { return strings.ReplaceAll(s, "·", ".") }, // as Modelica spells it
		"comment": strings.NewReplacer("*/", "* /", "/*", "/ *").Replace,            // of C
		"dashes":  spaceDashes,
		"pick": func(f *file, name string) map[string]any {
			return map[string]any{"sided": f.Contact.Sided(), "name": name, "up": strings.ToUpper(f.ID) + "_FRICTION"}
		},
	}).ParseFS(templates, "templates/*.tmpl"))
})

// file is what a template is filled with.
type file struct {
	Model
	Contact   contact // as far as the target can express it
	Unit      units
	ID        string // the name of the axis as an identifier
	lossTexts []string
}

// Write writes a model for a target. What the target cannot express is in lost.
func Write(w io.Writer, to string, m Model) (lost []string, err error) {
	a, ok := find(to)
	if !ok {
		return nil, fmt.Errorf("there is no target %q (known: %s)", to, strings.Join(Targets(), ", "))
	}
	f := file{Model: m, Unit: unitsOf(m.Rotary), ID: identifier(m.Name)}
	c := contactOf(m.Law)
	c.Offset += m.Offset
	if f.Contact, f.lossTexts, err = a.express(c, m.Law, f.Unit); err != nil {
		return nil, err
	}
	f.lossTexts = append(f.lossTexts, m.Others...)
	if a.inertia && m.Inertia == 0 {
		f.Inertia = 1
		f.lossTexts = append(f.lossTexts, fmt.Sprintf("the %s, which the result does not have: 1 %s stands in its place, to be replaced",
			f.Unit.inertiaName, f.Unit.Inertia))
	}
	var b bytes.Buffer
	if a.target == BAM {
		err = f.bam(&b)
	} else {
		err = texts().ExecuteTemplate(&b, a.text, &f)
	}
	if big := (*rangeError)(nil); errors.As(err, &big) {
		err = big // without the words of the template
	}
	if err != nil {
		return nil, err
	}
	_, err = b.WriteTo(w)
	return f.lossTexts, err
}

// Notes are the lines of the comment at the head of every file: what it is, where it comes from, what it lacks.
func (f *file) Notes() []string {
	s := &f.Source
	lines := []string{fmt.Sprintf("%s: friction law %s, written by hil export-model (%s)", f.Name, friction.NameOf(f.Law), report.Version())}
	if s.Result != "" {
		lines = append(lines, fmt.Sprintf("result %s of %s, identified with hil %s: %s", s.Result, s.Written.Format(time.DateOnly), s.Program,
			s.Method))
	}
	for _, r := range s.Records {
		lines = append(lines, fmt.Sprintf("record %s, SHA-256 %s, %d samples, %.6g s", r.File, r.SHA256, r.Samples, r.Duration))
	}
	if s.Refusal != nil {
		lines = append(lines, fmt.Sprintf("NOT TO BE TRUSTED: %v; written because it was forced", s.Refusal))
	}
	if s.Verdict != "" {
		lines = append(lines, "verdict: "+s.Verdict)
	}
	lines = append(lines, s.Reasons...)
	for _, p := range s.Params {
		switch text := fmt.Sprintf("%s = %.6g", p.Name, p.Value); {
		case p.IsPrior:
			lines = append(lines, fmt.Sprintf("%s %s, known beforehand", text, p.Unit))
		case p.Err == nil:
			lines = append(lines, fmt.Sprintf("%s %s, without a bounded standard error", text, p.Unit))
		default:
			lines = append(lines, fmt.Sprintf("%s ± %.2g %s (standard error)", text, *p.Err, p.Unit))
		}
	}
	if len(f.lossTexts) > 0 {
		lines = append(lines, "not in this file:")
		for _, l := range f.lossTexts {
			lines = append(lines, "- "+l)
		}
	}
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ") // one line each
	}
	return append(lines, fmt.Sprintf("units: %s, %s, %s, s. Friction opposes the motion and is positive for positive speed.",
		f.Unit.Length, f.Unit.Force, f.Unit.Inertia))
}

// Sides are the levels with the endings of their names: one, or one for each direction.
func (f *file) Sides() []namedSide {
	if !f.Contact.Sided() {
		return []namedSide{{side: f.Contact.Fore}}
	}
	return []namedSide{{side: f.Contact.Fore, Where: ", forward"}, {side: f.Contact.Back, Where: ", backward", Ending: "_back"}}
}

// namedSide is a side as files name it.
type namedSide struct {
	side
	Ending, Where string
}

// formatNumber is a number without loss.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// spaceDashes puts a space between dashes: XML forbids two in a row in a comment.
func spaceDashes(s string) string {
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "- -")
	}
	return s
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
