// Package apply writes an identified axis into a rig file: hil config apply.
package apply

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hilrig/cmd/daemon"
	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine/friction"
	"hilrig/hil/sink"
	fits "hilrig/identify"
)

// Options are what the user chose.
type Options struct {
	rig, axis, outputPath string
	force, json           bool
	checkChanged          func(changed *configs.Config, plantToo bool) error // may refuse what would be written; nil: nothing is refused
}

// KeepResult writes a result over a rig file in the name of the daemon that runs it: see daemon.ResultWriter.
func KeepResult(result, file string, before func(changed *configs.Config, plantToo bool) error) (string, error) {
	var out, remarks strings.Builder
	err := Run(result, Options{rig: file, outputPath: file, force: true, checkChanged: before}, &out, &remarks)
	said := func(b *strings.Builder) string {
		return strings.Join(strings.Split(strings.TrimSpace(b.String()), "\n"), "; ")
	}
	if err != nil {
		return "", errors.New(strings.TrimPrefix(strings.TrimSpace(err.Error()+" "+said(&remarks)), "config apply: "))
	}
	changes, _, _ := strings.Cut(out.String(), "next: ")
	out.Reset()
	out.WriteString(changes)
	return said(&out), nil
}

// Flags are those of hil config apply.
func (f *Options) Flags(fl *pflag.FlagSet) {
	fl.StringVar(&f.rig, "rig", "", "rig file to change; default: the configuration in the recording that the result was made of")
	fl.StringVar(&f.axis, "axis", "", "axis of the rig; default: that of the result, or the only one")
	fl.StringVarP(&f.outputPath, "output", "o", "", "rig file to write; default: standard output")
	fl.BoolVar(&f.json, "json", false, "print what was changed as JSON, without -o with the file")
	fl.BoolVar(&f.force, "force", false, "write over an existing file")
}

// Run writes law, parameters and inertia of a result into a rig file.
func Run(path string, f Options, stdout, stderr io.Writer) error {
	fail := func(code int, format string, args ...any) error {
		return report.ExitWith(code, fmt.Errorf("config apply: "+format, args...))
	}
	if _, err := os.Lstat(f.outputPath); f.outputPath != "" && err == nil && !f.force {
		return fail(report.Usage, "%s exists; --force writes over it", f.outputPath)
	}
	r, err := identify.ReadResult(path)
	if err != nil {
		return fail(report.Invalid, "%w", err)
	}
	if why := r.Acceptable(); why != nil {
		return fail(report.Quality, "%s: %w", path, why)
	}
	contact, err := r.Contact()
	if err != nil {
		return fail(report.Invalid, "%s: %w", path, err)
	}
	base, name, err := f.base(r)
	if err != nil {
		return fail(report.Invalid, "%w", err)
	}
	rig, err := configs.LoadBytes(name, base)
	if err != nil {
		return report.Refuse(stderr, err)
	}
	if r.Rig != "" && r.Rig != rig.Rig.Name {
		return fail(report.Invalid, "%s is of the rig %s, and %s describes the rig %s", path, r.Rig, name, rig.Rig.Name)
	}
	axis, err := identify.AxisOf(rig, cmp.Or(f.axis, r.Axis))
	if err != nil {
		return fail(report.Invalid, "%s: %w", name, err)
	}
	kinds := map[bool]string{true: "rotary", false: "linear"}
	switch kind := kinds[contact.Rotary]; {
	case r.Axis != "" && r.Axis != axis.Name:
		return fail(report.Invalid, "%s is of the axis %s, not of %s", path, r.Axis, axis.Name)
	case kind != axis.Kind:
		return fail(report.Invalid, "%s is of a %s axis, and %s of %s is %s: its numbers have other units", path, kind, axis.Name, name,
			axis.Kind)
	}
	if r.Rig == "" {
		fmt.Fprintf(stderr, "warning: %s does not say of which rig it is; it was made of %s\n", path, r.Data.File)
	}

	st, err := os.Stat(path)
	if err != nil {
		return fail(report.Invalid, "%w", err)
	}
	c := change{Edit: schema.NewEdit(base), rig: rig, axis: axis, contact: contact, source: source(r, st.ModTime()),
		method: r.Chain[len(r.Chain)-1]}
	if why := axis.ZeroOfCurrent(); why != "" {
		old := 0.0
		if m := axis.Friction.Model; m != nil {
			old = friction.Values(m)["offset"]
		}
		contact.KeepOffset(old, why)
	}
	c.law()
	c.inertia()
	text, err := c.Text()
	if err != nil {
		return fail(report.Invalid, "%s: %w", name, err)
	}
	changed, err := configs.LoadBytes(name, text)
	if err == nil { // what hil run would find
		_, err = daemon.Assemble(changed, daemon.Handover{})
	}
	if err != nil {
		fmt.Fprintf(stderr, "hil: config apply: %s cannot work with this result:\n", name)
		return report.Refuse(stderr, err)
	}
	elsewhere, err := c.verify(changed)
	if err != nil {
		return fail(report.Invalid, "%s: %w", name, err)
	}
	if f.checkChanged != nil {
		if err := f.checkChanged(changed, elsewhere); err != nil {
			return fail(report.Quality, "%w", err)
		}
	}
	if moved, err := configs.LoadBytes(cmp.Or(f.outputPath, name), text); err != nil || !sameRig(moved, changed) {
		return fail(report.Invalid, "paths in %s start at its folder: write the changed file beside it, or make them whole", name)
	}
	if elsewhere {
		c.warn("the plant of the virtual rig has no friction or inertia of its own: it takes the new numbers too")
	}
	for _, left := range contact.Omitted {
		c.warn("not in the rig file: %s", left)
	}
	if f.rig == "" && strings.Contains(string(text), ": redacted") {
		c.warn("a recording holds no passwords: set those that say redacted")
	}
	for _, s := range c.warnings {
		fmt.Fprintf(stderr, "warning: %s\n", s)
	}
	answer := applyAnswer{Rig: name, Axis: axis.Name, File: f.outputPath, Changes: c.changes, Warnings: append([]string{}, c.warnings...)}
	switch {
	case f.outputPath != "":
		write := func(w io.Writer) error { _, err := w.Write(text); return err }
		if err := report.WriteWhole(f.outputPath, f.force, write); err != nil {
			return fail(report.Unavailable, "%w", err)
		}
		answer.Next = report.AsStarted("hil check " + f.outputPath)
	case f.json:
		answer.Text = string(text)
	default:
		_, err = stdout.Write(text)
		return err
	}
	out := report.Output{Stdout: stdout, JSON: f.json}
	return out.Give(answer, func(w io.Writer) {
		for _, d := range c.changes {
			fmt.Fprintln(w, d)
		}
		fmt.Fprintf(w, "next: %s\n", answer.Next)
	})
}

// applyAnswer is the answer of hil config apply.
type applyAnswer struct {
	Rig      string   `json:"rig"` // file that was changed
	Axis     string   `json:"axis"`
	File     string   `json:"file,omitempty"` // that was written
	Changes  []string `json:"changes"`
	Warnings []string `json:"warnings"`
	Text     string   `json:"yaml,omitempty"` // the changed file, where none was written
	Next     string   `json:"next,omitempty"`
}

// base is the rig file that is changed, and its name.
func (f *Options) base(r *identify.Identification) ([]byte, string, error) {
	if f.rig != "" {
		text, err := schema.ReadFile(f.rig)
		return text, f.rig, err
	}
	file := r.Data.File
	if _, ok := sink.FindRun(file); !ok {
		return nil, "", fmt.Errorf("the result was made of %s, which holds no configuration: name the rig file with --rig", file)
	}
	run, err := sink.OpenRun(file)
	if err != nil {
		return nil, "", fmt.Errorf("the configuration in the recording of the result: %w; name the rig file with --rig", err)
	}
	defer run.Close()
	return run.Info.Config, "the configuration in the recording", nil
}

// source says where numbers come from.
func source(r *identify.Identification, written time.Time) string {
	sum := ""
	if r.Data.SHA256 != "" {
		sum = fmt.Sprintf(" (sha256 %.8s)", r.Data.SHA256)
	}
	return fmt.Sprintf("%s from %s%s", written.Format(time.DateOnly), r.Data.File, sum)
}

// change is a rig file under way.
type change struct {
	*schema.Edit
	rig      *configs.Config
	axis     *configs.Axis
	contact  *fits.Contact
	source   string
	method   fits.Method
	warnings []string // warnings
	changes  []string // changes, for people
}

func (c *change) warn(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// ours are comments of an earlier result.
var ours = regexp.MustCompile(`^(identified|not identified, known beforehand)[^;]*(; )?`)

// ofTheOld are comments on the number that was there: one that holds a number, or says where the number came from.
var ofTheOld = regexp.MustCompile(`(?i)\d|\b(guess|assum|estimat|measur|data ?sheet|catalog|typical|roughly|about|default|todo|from|by)`)

// ofOldNumbers are those of them that may stand above a key or behind a section, which say more than a number.
const ofOldNumbers = `(?i:(^|[\s(±<>=~≈])\d|\b(guess|assum|measur|data ?sheet|catalog|todo))`

// ofLaw are comments on a law that another takes the place of: its name, or a parameter that the other does not have.
func ofLaw(old, law string, without []string) *regexp.Regexp {
	alternatives := []string{ofOldNumbers}
	for _, word := range strings.Split(old, "-") {
		if word != "" && !slices.Contains(strings.Split(law, "-"), word) {
			alternatives = append(alternatives, `(?i:\b`+regexp.QuoteMeta(word)+`\b)`)
		}
	}
	for _, name := range without {
		alternatives = append(alternatives, `\b`+regexp.QuoteMeta(name)+`\b`)
	}
	return regexp.MustCompile(strings.Join(alternatives, "|"))
}

// valid is a comment of a person, "" and said where it is on what was there before.
func (c *change) valid(path, comment, subject string, old *regexp.Regexp) string {
	if comment == "" || !old.MatchString(comment) {
		return comment
	}
	c.warn("%s: its comment was on the old %s and is taken out: %s", path, subject, comment)
	return ""
}

// validAbove takes out what stands above a key where it is on what was there before.
func (c *change) validAbove(path, subject string, old *regexp.Regexp) {
	if above := c.Remark(path); above != c.valid(path, above, subject, old) {
		c.DeleteRemark(path)
	}
}

// setNumber writes a number with its source, in front of what the file says of the key itself. was is the number before, NaN: none. What
// the file says of the old number is taken out.
func (c *change) setNumber(path string, value, was, err float64, unit string) {
	comment := "not identified, known beforehand"
	if err > 0 {
		comment = fmt.Sprintf("identified %s, ± %.2g, method %s", c.source, report.Number(err), c.method)
	}
	old := ours.ReplaceAllString(c.Comment(path), "")
	if old == unit {
		old = ""
	}
	if value != was {
		old = c.valid(path, old, "number", ofTheOld)
		c.validAbove(path, "number", regexp.MustCompile(ofOldNumbers))
	}
	if old != "" {
		comment += "; " + old
	}
	c.Set(path, strconv.FormatFloat(value, 'g', -1, 64)+schema.UnitSuffix(unit), comment)
	before := ""
	if !math.IsNaN(was) {
		before = fmt.Sprintf("%.6g → ", report.Number(was))
	}
	c.changes = append(c.changes, fmt.Sprintf("%s: %s%.6g%s", path, before, report.Number(value), schema.UnitSuffix(unit)))
}

// law writes the friction law. Numbers that stay are not touched.
func (c *change) law() {
	at := "axes." + c.axis.Name + ".friction"
	was := map[string]float64{}
	if m := c.axis.Friction.Model; m != nil {
		for _, p := range m.Params() {
			was[p.Name] = p.Value
		}
	}
	law, err := friction.Build(c.contact.Law, c.contact.Params)
	if err != nil {
		panic(err) // Contact has built it
	}
	untouched := len(c.changes)
	subject, outdated := "numbers", regexp.MustCompile(ofOldNumbers)
	if old := c.axis.Friction.Name; old != c.contact.Law {
		for _, p := range law.Params() {
			delete(was, p.Name)
		}
		subject, outdated = "law", ofLaw(old, c.contact.Law, slices.Sorted(maps.Keys(was)))
		was = map[string]float64{}
		comment := "identified " + c.source + ", method " + string(c.method)
		if valid := c.valid(at+".law", ours.ReplaceAllString(c.Comment(at+".law"), ""), subject, outdated); valid != "" {
			comment += "; " + valid
		}
		c.Set(at+".law", schema.QuoteYAML(c.contact.Law), comment)
		c.validAbove(at+".law", subject, outdated)
		c.changes = append(c.changes, fmt.Sprintf("%s.law: %s → %s", at, cmp.Or(old, "none"), c.contact.Law))
		if label := c.axis.Friction.Label; label != old && outdated.MatchString(label) {
			c.Delete(at + ".label")
			c.changes = append(c.changes, fmt.Sprintf("%s.label: taken out, it was %s", at, label))
		}
	}
	keep := []string{"law", "label"}
	for _, p := range law.Params() {
		name, back := strings.CutSuffix(p.Name, friction.Backward)
		section := at
		if back {
			section = at + ".backward"
			keep = append(keep, "backward", "backward."+name)
		} else {
			keep = append(keep, name)
		}
		old, there := was[p.Name]
		if !there {
			old = math.NaN()
		}
		_, found := c.contact.Errors[p.Name]
		there = there && slices.Contains(c.Keys(section), name)
		if there && old == p.Value && !found || !there && p.Value == 0 && !back {
			continue
		}
		c.setNumber(section+"."+name, p.Value, old, c.contact.Errors[p.Name], c.axis.Unit(p.Unit))
	}
	for _, section := range []string{"", "backward."} {
		for _, key := range c.Keys(strings.TrimSuffix(at+"."+section, ".")) {
			if !slices.Contains(keep, section+key) {
				c.validAbove(at+"."+section+key, subject, outdated)
				c.Delete(at + "." + section + key)
				c.changes = append(c.changes, fmt.Sprintf("%s.%s%s: taken out", at, section, key))
			}
		}
		if !slices.Contains(keep, "backward") {
			break
		}
	}
	if len(c.changes) > untouched {
		c.validAbove(at, subject, outdated)
		if comment := c.Comment(at); comment != c.valid(at, comment, subject, outdated) {
			c.SetComment(at, "")
		}
	}
}

// inertia writes what moves, where the result knows it and the rig has a place for it.
func (c *change) inertia() {
	x, at := c.contact, "axes."+c.axis.Name
	switch {
	case x.Inertia == 0:
		c.warn("the result holds no inertia: that of the rig stays")
	case c.axis.Motor != nil:
		c.setNumber(at+".motor.J", x.Inertia, c.axis.Motor.J, x.InertiaErr, c.axis.Unit("kg·m²"))
	case c.axis.Drive.Kind.Forces() || c.axis.Inertia > 0:
		c.setNumber(at+".inertia", x.Inertia, c.axis.Inertia, x.InertiaErr, c.axis.Unit("kg·m²"))
	default:
		c.warn("the inertia %.6g is not in the rig file: drive %s has no place for it", report.Number(x.Inertia), c.axis.Drive.Kind)
	}
}

// verify tells that the changed rig uses the numbers of the result to all digits, and that nothing else has changed but, elsewhere, the
// plant of a virtual rig that takes what it does not have from the axis.
func (c *change) verify(changed *configs.Config) (elsewhere bool, err error) {
	i := slices.IndexFunc(changed.Axes, func(a configs.Axis) bool { return a.Name == c.axis.Name })
	axis := &changed.Axes[i]
	for _, p := range axis.Friction.Model.Params() {
		want, ok := c.contact.Params[p.Name]
		if !ok { // for v < 0 as forward
			want = c.contact.Params[strings.TrimSuffix(p.Name, friction.Backward)]
		}
		if p.Value != want {
			return false, fmt.Errorf("%s would be %g in place of %g; the file gives it a number at another place", p.Name, p.Value, want)
		}
	}
	back := *changed
	back.Axes = slices.Clone(changed.Axes)
	a := &back.Axes[i]
	a.Friction, a.Inertia, a.Motor = c.axis.Friction, c.axis.Inertia, c.axis.Motor
	if want := c.contact.Inertia; want != 0 && axis.MotorModel().J != want && axis.Drive.Kind.Forces() {
		return false, fmt.Errorf("the inertia would be %g in place of %g; the file gives it a number at another place", axis.MotorModel().J, want)
	}
	if sameRig(&back, c.rig) {
		return false, nil
	}
	back.Virtual = c.rig.Virtual
	if !sameRig(&back, c.rig) {
		return false, errors.New("other parts of the file take their numbers from this axis (anchors): give them numbers of their own first")
	}
	return true, nil
}

// sameRig tells that two rigs are alike in every key.
func sameRig(a, b *configs.Config) bool {
	x, errX := a.Marshal()
	y, errY := b.Marshal()
	return errors.Join(errX, errY) == nil && string(x) == string(y)
}
