package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/identify/machine"
)

// The keys at the end of docs/reference/identify-machine.md are made from the tags.
func TestMachineFitDocs(t *testing.T) {
	keysAtEnd(t, "identify-machine.md", DefaultMachineFit())
}

// keysAtEnd looks at the tables of keys behind a mark at the end of a page.
func keysAtEnd(t *testing.T, page string, defaults any) {
	t.Helper()
	text, err := os.ReadFile("../docs/reference/" + page)
	if err != nil {
		t.Fatal(err)
	}
	mark := "<!-- made from the source by make docs -->\n"
	head, _, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("docs/reference/%s: no line %s", page, mark)
	}
	current(t, page, head+mark+strings.TrimRight(strings.ReplaceAll(Tables(defaults), "\n## ", "\n### "), "\n")+"\n")
}

// fitOf writes the example with changes beside a machine with changes, and loads it.
func fitOf(t *testing.T, change func(fit, arm string) (string, string)) (*MachineFit, string, error) {
	t.Helper()
	dir := t.TempDir()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	fit, arm := change(strings.Replace(read("identify/machine-arm.yaml"), "../machine/arm.yaml", "arm.yaml", 1), read("machine/arm.yaml"))
	for name, text := range map[string]string{"fit.yaml": fit, "arm.yaml": arm} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err := LoadMachineFit(filepath.Join(dir, "fit.yaml"))
	return c, dir, err
}

// Bad files are refused with their place: file, line, key.
func TestBadMachineFits(t *testing.T) {
	for _, c := range []struct{ in, old, new, want string }{
		{"fit", "machine: arm.yaml", "machine: none.yaml", "none.yaml"},
		{"fit", "machine: arm.yaml\n", "", "machine is missing"},
		{"fit", "  file: data/machine-arm-1.csv.gz\n", "", "data.file is missing"},
		{"fit", "  time: {name: t, unit: s}\n", "", "data.time is missing"},
		{"fit", "time: {name: t, unit: s}", "time: {name: t, unit: N}", "data.time"},
		{"fit", "    fore:\n      position: {name: q3, unit: rad}\n      torque: {name: torque3, unit: N·m}\n", "",
			"data.joints.fore is missing"},
		{"fit", "    fore:\n", "    fora:\n", "did you mean \"fore\""},
		{"fit", "{name: q3, unit: rad}", "{name: q3, unit: mm}", "fit.yaml:21"},
		{"fit", "{name: torque3, unit: N·m}", "{name: torque3, unit: A}", "data.joints.fore.torque"},
		{"fit", "{name: torque3, unit: N·m}", "{unit: N·m}", "data.joints.fore.torque.name is missing"},
		{"fit", "filter: {order: 4,", "filter: {order: 13,", "fit.yaml:24"},
		{"fit", "filter: {order: 4,", "filter: {order: 0,", "filter.order"},
		{"fit", "filter: {order: 4,", "filters: {order: 4,", "unknown key"},
		{"fit", "filter: {", "terms: []\nfilter: {", "terms: empty"},
		{"fit", "filter: {", "terms: [inertia, mass]\nfilter: {", "mass"},
		{"fit", "filter: {", "by_direction: true\nfilter: {", "give terms without offset"},
		{"fit", "version: 1", "version: 2", "fit.yaml:5"},
		{"arm", "mass: 3.6 kg", "mass: -3.6 kg", "arm.yaml:19"},
		{"arm", "duration: 1 s", "  loops:\n    pin: {kind: point, a: fore, b: ground, at_b: [1, 0, 0]}\nduration: 1 s", "loops.pin"},
		{"arm", "duration: 1 s", "  shafts:\n    shaft: {a: base, b: upper, stiffness: 1}\nduration: 1 s", "shafts.shaft"},
		{"arm", "duration: 1 s", "  springs:\n    coil: {a: ground, b: upper, at_a: [1, 0, 0], stiffness: 1}\nduration: 1 s", "springs.coil"},
		{"arm", "turn: [0, 0.7 rad, 0]\n      joint: {kind: revolute,", "turn: [0, 0.7 rad, 0]\n      joint: {kind: spherical,", "joint fore of"},
	} {
		_, _, err := fitOf(t, func(fit, arm string) (string, string) {
			text := map[string]*string{"fit": &fit, "arm": &arm}[c.in]
			if !strings.Contains(*text, c.old) {
				t.Fatalf("no %q in %s.yaml", c.old, c.in)
			}
			*text = strings.Replace(*text, c.old, c.new, 1)
			return fit, arm
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q → %q: %v, want %q", c.old, c.new, err, c.want)
		}
	}
}

// A machine that is written is read again, with the parameters that went in: those of the columns come back to all digits.
func TestMachineIsWritten(t *testing.T) {
	c, dir, err := fitOf(t, func(fit, arm string) (string, string) {
		return fit, strings.Replace(arm, "  bodies:\n", "  bodies:\n    hand:\n      parent: fore\n      at: [0.3, 0, 0]\n      joint: {kind: "+
			"fixed}\n      mass: 0.5 kg\n", 1)
	})
	if err != nil {
		t.Fatal(err)
	}
	m, coulomb, err := c.Model()
	if err != nil {
		t.Fatal(err)
	}
	b := machine.NewBase(m, c.Spec(m), coulomb)
	theta := b.Start()
	for k := range theta {
		theta[k] = theta[k]*(1+0.01*float64(k%7)) + 1e-4*float64(k%3)
	}
	text, remarks, err := c.Identified(b, m, theta)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(remarks)
	path := filepath.Join(dir, "arm.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	again, _, err := LoadMachineFit(filepath.Join(dir, "fit.yaml"))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	m, coulomb, err = again.Model()
	if err != nil {
		t.Fatal(err)
	}
	b = machine.NewBase(m, again.Spec(m), coulomb)
	for k, x := range b.Start() {
		if want := theta[k]; b.Columns[k].Term != machine.Offset && (x-want > 1e-12 || want-x > 1e-12) {
			t.Errorf("%s = %.15g, written was %.15g", b.Columns[k].Name, x, want)
		}
	}
}
