package schema

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Problem is one thing wrong with a file: what, where, why and how to go on.
type Problem struct {
	File    string // as the user named it; "" for a configuration that came from no file
	Line    int    // 1-based; 0: unknown
	Col     int    // 1-based, in characters; 0: unknown
	Path    string // key, "devices.drive.measure[0].scale"
	Msg     string
	Hint    string // what to do about it; "" if the message says it all
	Excerpt string // the line before, the line itself and a caret; ends with a newline, or empty
}

// Error gives one line with place and message, then the excerpt.
func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File + ":")
		if p.Line > 0 {
			fmt.Fprintf(&b, "%d:", p.Line)
			if p.Col > 0 {
				fmt.Fprintf(&b, "%d:", p.Col)
			}
		}
		b.WriteByte(' ')
	}
	b.WriteString(p.Msg)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	if p.Excerpt != "" {
		b.WriteByte('\n')
		b.WriteString(strings.TrimSuffix(p.Excerpt, "\n"))
	}
	return b.String()
}

// maxShown problems are printed; whoever has more will fix these first.
const maxShown = 50

// Errors are all problems of a file, in the order of its lines.
type Errors struct{ List []Problem }

func (e *Errors) Error() string {
	if len(e.List) == 1 {
		return e.List[0].Error()
	}
	head := fmt.Sprintf("%d problems in %s\n", len(e.List), cmp.Or(e.List[0].File, "the configuration"))
	return head + strings.Join(e.Texts(), "\n")
}

// Texts are the problems that are printed, each for itself, and how many there are beyond.
func (e *Errors) Texts() (texts []string) {
	for i, p := range e.List {
		if i == maxShown {
			return append(texts, fmt.Sprintf("… and %d more", len(e.List)-i))
		}
		texts = append(texts, p.Error())
	}
	return texts
}

// Unwrap lets errors.As find a single Problem.
func (e *Errors) Unwrap() []error {
	out := make([]error, len(e.List))
	for i, p := range e.List {
		out[i] = p
	}
	return out
}

// Report collects problems and warnings while a file is decoded and checked. It knows where each key stands, so a check
// names the key and the reader sees the line.
type Report struct {
	file     string
	lines    []string
	places   map[string]Place // key path → place in the file
	problems []Problem
	warnings []Problem
	reported map[string]bool   // repeated reports (an anchor used twice) are dropped
	guessed  map[string]bool   // what misspelt keys were probably meant to be: reported once, as the misspelling
	copied   map[string]string // sections taken over from others, where their problems are reported
	spelt    map[string]string // units of numbers as the file has them

	unit func(tag string) string // what a unit tag means in this file; nil: what it says
}

// NewReport is a report without a file, for values that were changed after loading: units tells what a unit tag means, nil
// what it says.
func NewReport(units func(tag string) string) *Report {
	return &Report{unit: units, places: map[string]Place{}, reported: map[string]bool{}, guessed: map[string]bool{},
		copied: map[string]string{}, spelt: map[string]string{}}
}

// reportOn is a report on a file.
func reportOn(name string) *Report {
	r := NewReport(nil)
	r.file = name
	return r
}

// Place is where something stands in a file. The zero place is nowhere.
type Place struct{ line, col int }

// UnitOf is the unit that a tag stands for, with its other spellings after |.
func (r *Report) UnitOf(tag string) string { return r.Units()(tag) }

// UnitIn is the first spelling of the unit that a tag stands for.
func (r *Report) UnitIn(tag string) string {
	u, _, _ := strings.Cut(r.UnitOf(tag), "|")
	return u
}

// Units tells what unit tags mean at the place that is being read.
func (r *Report) Units() func(tag string) string {
	if r.unit == nil {
		return func(tag string) string { return tag }
	}
	return r.unit
}

// WithUnits gives unit tags another meaning, nil what they say, until the function that it returns is called.
func (r *Report) WithUnits(units func(tag string) string) (restore func()) {
	outer := r.unit
	r.unit = units
	return func() { r.unit = outer }
}

// WithQuantity gives #, #/s and #/s² the meaning of a unit and of its rates, until the function that it returns is called. The unit is that
// of the tag when it is asked for: a word of the section itself may decide it.
func (r *Report) WithQuantity(unit string) (restore func()) {
	outer := r.Units()
	return r.WithUnits(func(tag string) string {
		if of := quantity(outer(unit))(tag); of != tag || tag == "rad" { // of a phase, also on a linear axis
			return of
		}
		return outer(tag)
	})
}

// Problems are the problems found so far.
func (r *Report) Problems() []Problem { return r.problems }

// Warnings are the remarks made so far.
func (r *Report) Warnings() []Problem { return r.warnings }

// Mark says where a key stands.
func (r *Report) Mark(path string, at Place) { r.places[path] = at }

// Copied says that the section to was taken over from another one, where its problems are reported.
func (r *Report) Copied(to, from string) { r.copied[to] = from }

// Pass adds a problem of another file as it is.
func (r *Report) Pass(p Problem) { r.problems = append(r.problems, p) }

// SectionError adds what a section says of itself: path leads from the section on; "": all of it.
func (r *Report) SectionError(section, path, text string) {
	if path != "" {
		section += "." + path
	}
	r.KeyErrorf(section, "%s", text)
}

// Errorf adds a problem with the value at path, unless it only follows from another: from a misspelt key that was
// probably meant to be this one, or from a section that was copied.
func (r *Report) Errorf(path, format string, args ...any) {
	for g := range r.guessed {
		if PathWithin(path, g) {
			return
		}
	}
	if r.original(path) != path {
		return
	}
	r.add(&r.problems, path, r.PlaceOf(path), fmt.Sprintf(format, args...), "")
}

// KeyErrorf is Errorf of a text that the path stands before: "path: text", or "path is missing" where the text begins with is.
func (r *Report) KeyErrorf(path, format string, args ...any) {
	r.Errorf(path, "%s", keyText(path, format, args))
}

// KeyWarnf is Warnf likewise.
func (r *Report) KeyWarnf(path, format string, args ...any) {
	r.Warnf(path, "%s", keyText(path, format, args))
}

// ErrorIf is KeyErrorf where bad holds.
func (r *Report) ErrorIf(bad bool, path, format string, args ...any) {
	if bad {
		r.KeyErrorf(path, format, args...)
	}
}

// FirstErrorIf is ErrorIf unless something is wrong at path already.
func (r *Report) FirstErrorIf(bad bool, path, format string, args ...any) {
	r.ErrorIf(bad && !r.HasProblem(path), path, format, args...)
}

// WarnIf is KeyWarnf where bad holds.
func (r *Report) WarnIf(bad bool, path, format string, args ...any) {
	if bad {
		r.KeyWarnf(path, format, args...)
	}
}

func keyText(path, format string, args []any) string {
	if !strings.HasPrefix(format, "is ") {
		path += ":"
	}
	return path + " " + fmt.Sprintf(format, args...)
}

// Warnf adds a remark about the value at path: legal, but worth a thought.
func (r *Report) Warnf(path, format string, args ...any) {
	if r.original(path) != path {
		return
	}
	r.add(&r.warnings, path, r.PlaceOf(path), fmt.Sprintf(format, args...), "")
}

// original is the path where a section stands that was taken over from there.
func (r *Report) original(path string) string {
	for to, from := range r.copied {
		if PathWithin(path, to) {
			return from + path[len(to):]
		}
	}
	return path
}

// HasKey tells whether the file contains the key; without a file nothing is given.
func (r *Report) HasKey(path string) bool { _, ok := r.places[path]; return ok }

// HasProblem tells whether something is wrong at path or below it, so that follow-up checks can be left out.
func (r *Report) HasProblem(path string) bool {
	path = r.original(path)
	for _, p := range r.problems {
		if PathWithin(p.Path, path) {
			return true
		}
	}
	for g := range r.guessed {
		if PathWithin(g, path) || PathWithin(path, g) {
			return true
		}
	}
	return false
}

// PathWithin tells whether inner is outer or a key below it.
func PathWithin(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// ErrorAt adds a problem that stands at a place of the file, with what to do about it.
func (r *Report) ErrorAt(path string, at Place, hint, format string, args ...any) {
	r.add(&r.problems, path, at, fmt.Sprintf(format, args...), hint)
}

func (r *Report) add(to *[]Problem, path string, at Place, msg, hint string) {
	key := fmt.Sprintf("%d:%d:%s", at.line, at.col, msg)
	if r.reported[key] {
		return
	}
	r.reported[key] = true
	*to = append(*to, Problem{File: r.file, Line: at.line, Col: at.col, Path: path, Msg: msg, Hint: hint, Excerpt: r.excerpt(at)})
}

// PlaceOf gives the place of a key, or of the nearest key above it that is in the file.
func (r *Report) PlaceOf(path string) Place {
	for path != "" {
		if at, ok := r.places[path]; ok {
			return at
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			break
		}
		path = path[:cut]
	}
	return Place{}
}

const maxExcerpt = 160 // characters of a line that are shown

// excerpt shows the line before, the line and a caret below the column.
func (r *Report) excerpt(at Place) string {
	if at.line < 1 || at.line > len(r.lines) {
		return ""
	}
	var b strings.Builder
	width := len(fmt.Sprint(at.line))
	if at.line > 1 {
		fmt.Fprintf(&b, "  %*d | %s\n", width, at.line-1, clip(r.lines[at.line-2]))
	}
	text := r.lines[at.line-1]
	fmt.Fprintf(&b, "> %*d | %s\n", width, at.line, clip(text))
	if at.col < 1 || at.col > maxExcerpt {
		return b.String()
	}
	// tabs are kept so that the caret stays below its character
	before := []rune(text)
	pad := strings.Map(func(c rune) rune {
		if c != '\t' {
			c = ' '
		}
		return c
	}, string(before[:min(at.col-1, len(before))]))
	fmt.Fprintf(&b, "%s%s^\n", strings.Repeat(" ", width+5), pad)
	return b.String()
}

var secretLine = regexp.MustCompile(`(?i)(password["']?\s*:\s*)[^\s$].*`)

// clip shortens a long line, makes control characters visible and hides passwords.
func clip(s string) string {
	s = secretLine.ReplaceAllString(s, "${1}…")
	s = strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' || c == 0x7f {
			return '·'
		}
		return c
	}, s)
	if utf8.RuneCountInString(s) <= maxExcerpt {
		return s
	}
	return string([]rune(s)[:maxExcerpt]) + "…"
}

// result is what was found, in the order of the lines. The error is nil without a problem, else *Errors.
func (r *Report) result() (warnings []Problem, err error) {
	inOrder(r.warnings)
	if len(r.problems) == 0 {
		return r.warnings, nil
	}
	inOrder(r.problems)
	return r.warnings, &Errors{List: r.problems}
}

// inOrder sorts by place in the file.
func inOrder(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int {
		// what stands nowhere in the file comes last
		return cmp.Or(cmp.Compare(uint(a.Line-1), uint(b.Line-1)), cmp.Compare(a.Col, b.Col))
	})
}
