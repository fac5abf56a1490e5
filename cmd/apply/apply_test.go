package apply

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/friction"
	fits "hilrig/identify"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// par is a parameter of a made-up result.
type par struct {
	name       string
	value, err float64 // err 0: known beforehand
}

// made is a result of a rotary axis of the demo, as hil identify -o writes it.
func made(law string, pars ...par) identify.Identification {
	r := &fits.Result{Verdict: fits.Identified, Chain: fits.Chain{"lugre", "kalman"}, Stages: []fits.Stage{{}},
		Data:  record.Info{File: "runs/a/run.mcap", SHA256: "0123456789abcdef"},
		Model: fits.Subject{Rotary: true, Law: law}}
	for _, p := range pars {
		q := fits.Parameter{Estimate: fit.Estimate{Name: p.name, Value: p.value}, Fixed: p.err == 0, Worth: "known"}
		if err := p.err; err > 0 {
			q.Error, q.CI, q.Worth = &err, &[2]float64{p.value - 2*err, p.value + 2*err}, "identified"
		}
		r.Parameters = append(r.Parameters, q)
	}
	return identify.Identification{Name: "motor", Rig: "motor", Axis: "shaft", Result: r}
}

// lugre is a result with every digit of its numbers used.
func lugre() identify.Identification {
	return made("lugre", par{"J", 7.012345678901234e-05, 1.1e-7}, par{"sigma0", 10.893285424069090, 0.068},
		par{"sigma1", 0.01755791819531661, 6.5e-4},
		par{"sigma2", 1.5074308846009307e-4, 2.3e-6}, par{"Fc", 0.014947006301293175, 1.9e-5}, par{"Fs", 0.021319642070514018, 3.3e-4},
		par{"vs", 0.49185613580990695, 0.012},
		par{"offset", 4.155614096675244e-4, 9.5e-6}, par{"vd", 0.3, 0})
}

// applied runs hil config apply on a result and a rig file.
func applied(t *testing.T, r identify.Identification, rig string, more ...func(*Options)) (text, errs string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "result.json")
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	f := Options{rig: rig}
	for _, m := range more {
		m(&f)
	}
	var out, said bytes.Buffer
	err = Run(path, f, &out, &said)
	return out.String(), said.String(), err
}

const demo = "../../configs/motor.yaml"

// rigFile is the demo with something in place of something else.
func rigFile(t *testing.T, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile(demo)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(string(text), pairs[i]) {
			t.Fatalf("no %q in the demo", pairs[i])
		}
		text = bytes.Replace(text, []byte(pairs[i]), []byte(pairs[i+1]), 1)
	}
	path := filepath.Join(t.TempDir(), "rig.yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// numbers are those of an axis as a rig uses them.
func numbers(t *testing.T, text string) (law string, n map[string]float64) {
	t.Helper()
	c, err := configs.LoadBytes("rig.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	n = map[string]float64{"J": c.Axes[0].MotorModel().J}
	for _, p := range c.Axes[0].Friction.Model.Params() {
		n[p.Name] = p.Value
	}
	return c.Axes[0].Friction.Name, n
}

// A comment on the number that was there goes with it, and is said; one on the key stays.
func TestApplyTakesOutOldComments(t *testing.T) {
	for comment, stays := range map[string]bool{"rotor and load": true, "70 g·cm²": false, "from the data sheet": false, "a guess": false,
		"measured by the maker": false, "of rotor": true} {
		rig := rigFile(t, "# rotor and load", "# "+comment)
		text, errs, err := applied(t, lugre(), rig)
		if kept := strings.Contains(text, comment); err != nil || kept != stays || strings.Contains(errs, "taken out: "+comment) == stays {
			t.Errorf("%q: %v, kept %v, want %v\n%s", comment, err, kept, stays, errs)
		}
	}
}

// Comments on the law, or on its numbers as a whole, stand behind and above keys too: what no longer holds is taken out and said, what
// still holds stays.
func TestApplyTakesOutCommentsOnTheLaw(t *testing.T) {
	coulomb := made("static-coulomb-viscous", par{"J", 8e-5, 1e-7}, par{"Fv", 1.5e-4, 1e-6}, par{"Fc", 0.015, 1e-5})
	const header = "    friction:                 # LuGre\n      law: lugre\n      sigma0:"
	for _, c := range []struct {
		section string // in place of the header
		r       identify.Identification
		out     []string // taken out and said
		stays   []string
	}{
		{header, coulomb, []string{"LuGre"}, []string{"    friction:\n      law: static-coulomb-viscous  # identified "}},
		{header, lugre(), nil, []string{"    friction:                 # LuGre\n"}},
		{"    # bearing, with its seal\n    friction:  # of the shaft\n      law: lugre  # any of hil laws\n      sigma0:", coulomb, nil,
			[]string{"# bearing, with its seal", "# of the shaft\n", "; any of hil laws\n"}},
		{"    # LuGre of the worn bearing\n    friction:  # measured in March\n      # bristles: sigma0 by hand\n      law: lugre  # as in the lugre " +
			"paper\n      # slow rotation\n      sigma0:", coulomb,
			[]string{"LuGre of the worn bearing", "measured in March", "bristles: sigma0 by hand", "as in the lugre paper"}, []string{"# slow rotation"}},
		{"    # all numbers ± 20 %\n    friction:  # guessed\n      law: lugre  # see [SAA03]\n      # of 3 runs\n      sigma0:", lugre(),
			[]string{"all numbers ± 20 %", "guessed", "of 3 runs"}, []string{"# see [SAA03]"}},
		{"    friction:\n      law: lugre\n      label: LuGre, old bearing\n      sigma0:", coulomb, []string{"label"}, nil},
	} {
		text, errs, err := applied(t, c.r, rigFile(t, "kind: observer", "kind: feedforward", header, c.section))
		if err != nil {
			t.Errorf("%q: %v\n%s", c.section, err, errs)
			continue
		}
		own, _, _ := strings.Cut(text, "# ---- the truth")
		for _, s := range c.out {
			if strings.Contains(own, "# "+s) || strings.Contains(own, s+":") || s != "label" && !strings.Contains(errs, "taken out: "+s) {
				t.Errorf("%q: %q is left or not said\n%s%s", c.section, s, errs, own)
			}
		}
		for _, s := range c.stays {
			if !strings.Contains(own, s) {
				t.Errorf("%q: %q is gone\n%s%s", c.section, s, errs, own)
			}
		}
	}
}

// The rig uses the numbers of the result to all digits; every other line of the file is what it was.
func TestApplyLuGre(t *testing.T) {
	r := lugre()
	text, errs, err := applied(t, r, demo)
	if err != nil || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "zero of the current sensor") {
		t.Fatalf("%v\n%s", err, errs)
	}
	law, n := numbers(t, text)
	for _, p := range r.Parameters {
		if p.Name == "offset" { // of a voltage drive
			if n[p.Name] != 0 {
				t.Errorf("offset %g", n[p.Name])
			}
			continue
		}
		if law != "lugre" || n[p.Name] != p.Value {
			t.Errorf("%s: the rig has %.17g, the result %.17g", p.Name, n[p.Name], p.Value)
		}
	}
	was, _ := os.ReadFile(demo)
	old, left := strings.Split(string(was), "\n"), strings.Split(text, "\n")
	changed := regexp.MustCompile(`^ +(J|sigma[012]|F[cs]|vs): \S+ \S+  # identified \d{4}-\d\d-\d\d from runs/a/run.mcap \(sha256 01234567\), ± [-.0-9e]+, method kalman(; rotor and load|; total break-away torque)?$`)
	for i, k := 0, 0; i < len(left); i++ {
		switch {
		case k < len(old) && left[i] == old[k]:
			k++
		case !changed.MatchString(left[i]):
			t.Fatalf("line %d: %s", i+1, left[i])
		default:
			k++
		}
	}
	// a second result takes the place of the first, remarks of people stay
	r.Data.File = "runs/b/run.mcap"
	again, _, err := applied(t, r, rigFile(t, string(was), text))
	if err != nil || strings.Replace(text, "runs/a/", "runs/b/", -1) != again {
		t.Errorf("%v\n%s", err, again)
	}
}

// Laws other than that of the file, by direction too: keys of the old law are taken out.
func TestApplyOtherLaws(t *testing.T) {
	forward := rigFile(t, "kind: observer", "kind: feedforward")
	for _, c := range []struct {
		name string
		r    identify.Identification
		rig  string
		law  string
		want map[string]float64
	}{
		{"by direction", made("stribeck-tustin", par{"J", 7e-5, 1e-7}, par{"Fc+", 0.0151, 1e-5}, par{"Fc-", 0.0142, 1e-5},
			par{"dFs", 0.005, 1e-5}, par{"Fv+", 1.6e-4, 1e-6}, par{"Fv-", 1.4e-4, 1e-6}, par{"vs", 0.4, 0.01}),
			forward, "stribeck-tustin", map[string]float64{"Fc": 0.0151, "Fc.backward": 0.0142, "Fs": sum(0.0151, 0.005),
				"Fs.backward": sum(0.0142, 0.005), "Fv": 1.6e-4, "Fv.backward": 1.4e-4, "vs": 0.4}},
		{"Coulomb and viscous", made("static-coulomb-viscous", par{"J", 8e-5, 1e-7}, par{"Fv", 1.5e-4, 1e-6}, par{"Fc", 0.015, 1e-5}), forward,
			"static-coulomb-viscous",
			map[string]float64{"J": 8e-5, "Fc": 0.015, "Fs": 0.015, "Fv": 1.5e-4}},
		{"a law in braces", lugre(), rigFile(t, "friction:                 # LuGre\n      law: lugre\n",
			"friction: {law: dahl, sigma0: 3 N·m/rad, Fc: 7 mN·m, exponent: 1, label: x}  # Dahl\n    unused:\n",
			"    unused:\n      sigma0: 11 N·m/rad\n      sigma1: 0.02 N·m·s/rad\n      sigma2: 1.5e-4 N·m·s/rad\n      Fc: 15 mN·m\n "+
				"     Fs: 21 "+
				"mN·m             # total break-away torque\n      vs: 0.5 rad/s\n      vd: 0.3 rad/s           # sigma1 fades with speed, which "+
				"keeps the law passive\n", ""),
			"lugre", map[string]float64{"Fs": 0.021319642070514018, "vd": 0.3}},
	} {
		text, errs, err := applied(t, c.r, c.rig)
		if err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, errs)
			continue
		}
		law, n := numbers(t, text)
		for name, want := range c.want {
			name = strings.Replace(name, ".backward", friction.Backward, 1)
			if law != c.law || n[name] != want {
				t.Errorf("%s: %s, %s %.17g, want %.17g", c.name, law, name, n[name], want)
			}
		}
		if strings.Contains(text, "sigma1:") && c.law != "lugre" && strings.Index(text, "sigma1:") < strings.Index(text, "virtual:") {
			t.Errorf("%s: keys of the old law are left\n%s", c.name, text)
		}
	}
	// back to one set for both directions
	sided := rigFile(t, "      vd: 0.3 rad/s ", "      backward: {Fc: 14 mN·m}\n      vd: 0.3 rad/s ")
	text, errs, err := applied(t, lugre(), sided)
	if err != nil || strings.Contains(text, "backward") {
		t.Errorf("%v\n%s%s", err, errs, text)
	}
}

// sum is one of floating point, not of constants.
func sum(a, b float64) float64 { return a + b }

func TestApplyRefuses(t *testing.T) {
	with := func(change func(r *identify.Identification)) identify.Identification {
		r := lugre()
		change(&r)
		return r
	}
	existing := rigFile(t)
	for _, c := range []struct {
		name string
		r    identify.Identification
		rig  string
		want string
		code int
		more func(*Options)
	}{
		{"rejected", with(func(r *identify.Identification) {
			r.Verdict, r.Reasons = fits.Rejected, []fit.Reason{fit.Against(fit.PoorFit, "nothing fits")}
		}), demo, "rejected: nothing fits", report.Quality, nil},
		{"not identifiable", with(func(r *identify.Identification) { r.Parameters[4].Worth = "not identifiable" }), demo,
			"Fc cannot be told from this record", report.Quality, nil},
		{"interrupted", with(func(r *identify.Identification) { r.Interrupted = true }), demo, "interrupted", report.Quality, nil},
		{"half a law", made("lugre", par{"J", 7e-5, 1e-7}, par{"Fc", 0.015, 1e-5}), demo, "a law is one whole set of numbers", report.Invalid,
			nil},
		{"another rig", with(func(r *identify.Identification) { r.Rig = "crane" }), demo,
			"is of the rig crane, and ../../configs/motor.yaml describes the rig motor", report.Invalid, nil},
		{"another axis", with(func(r *identify.Identification) { r.Axis = "hoist" }), demo, "no axis hoist; there are shaft", report.Invalid,
			nil},
		{"another axis, asked for", with(func(r *identify.Identification) { r.Axis, r.Rig = "hoist", "" }), demo,
			"is of the axis hoist, not of shaft", report.Invalid, func(f *Options) { f.axis = "shaft" }},
		{"linear on rotary", with(func(r *identify.Identification) { r.Model.Rotary = false }), demo,
			"is of a linear axis, and shaft of ../../configs/motor.yaml is rotary", report.Invalid, nil},
		{"a law that the observer cannot use", made("static-coulomb-viscous", par{"J", 8e-5, 1e-7}, par{"Fv", 1.5e-4, 1e-6},
			par{"Fc", 0.015, 1e-5}), demo, "observer: static-coulomb-viscous does not yield", report.Invalid, nil},
		{"numbers of no rig", with(func(r *identify.Identification) { r.Parameters[0].Value = 2e6 }), demo, "J", report.Invalid, nil},
		{"an existing file", lugre(), demo, "exists; --force writes over it", report.Usage, func(f *Options) { f.outputPath = existing }},
		{"no rig file", lugre(), "", "name the rig file with --rig", report.Invalid, nil},
		{"a rig file that is not there", lugre(), "none.yaml", "no such file", report.Invalid, nil},
		{"anchors", with(func(r *identify.Identification) {}), rigFile(t, "    friction: "+
			"                # LuGre", "    friction: &law", "guard:\n  hold_time", "models:\n  laws:\n    kind: rival-laws\n    laws: [*law, "+
			"{law: dahl, sigma0: 11, Fc: 15 mN·m, exponent: 1}]\nguard:\n  hold_time"),
			"other parts of the file take their numbers from this axis", report.Invalid, nil},
	} {
		more := c.more
		if more == nil {
			more = func(*Options) {}
		}
		text, errs, err := applied(t, c.r, c.rig, more)
		said := errs
		if err != nil {
			said += err.Error()
		}
		if text != "" || report.ExitCode(err) != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s: code %d, want %d …%s…\n%s\n%s", c.name, report.ExitCode(err), c.code, c.want, said, text)
		}
	}
	if now, _ := os.ReadFile(existing); !strings.Contains(string(now), "15 mN·m") {
		t.Error("the existing file was changed")
	}
}

// A relative path in the rig file would lead elsewhere from another folder.
func TestApplyKeepsPaths(t *testing.T) {
	rig := rigFile(t, "  enabled: true\n  prefix: hil\n  listen: localhost:1883",
		"  enabled: true\n  prefix: hil\n  broker: ssl://lab:8883\n  ca: lab.pem\n  #", "commands: all", "#")
	if err := os.WriteFile(filepath.Join(filepath.Dir(rig), "lab.pem"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for folder, code := range map[string]int{t.TempDir(): report.Invalid, filepath.Dir(rig): report.OK} {
		_, errs, err := applied(t, lugre(), rig, func(f *Options) { f.outputPath = filepath.Join(folder, "new.yaml") })
		if report.ExitCode(err) != code || code != report.OK && !strings.Contains(err.Error(), "start at its folder") {
			t.Errorf("code %d, %v\n%s", code, err, errs)
		}
	}
}

// What a result leaves open, and what a virtual rig takes over, is said.
func TestApplySays(t *testing.T) {
	r := lugre()
	r.Rig, r.Axis, r.Data.File = "", "", "table.csv"
	r.Parameters = r.Parameters[1:]
	own := rigFile(t, `        friction:
          law: lugre          # any of hil laws
          sigma0: 11 N·m/rad
          sigma1: 0.02 N·m·s/rad
          sigma2: 1.5e-4 N·m·s/rad
          Fc: 15 mN·m
          Fs: 21 mN·m
          vs: 0.5 rad/s
          vd: 0.3 rad/s
`, "")
	out := filepath.Join(t.TempDir(), "new.yaml")
	text, errs, err := applied(t, r, own, func(f *Options) { f.outputPath = out })
	if err != nil {
		t.Fatal(err, errs)
	}
	for _, want := range []string{"does not say of which rig it is; it was made of table.csv", "holds no inertia",
		"it takes the new numbers too"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not said\n%s", want, errs)
		}
	}
	if !strings.Contains(text, "axes.shaft.friction.Fc: 0.015 → 0.014947 N·m") || !strings.Contains(text, "config") &&
		!strings.Contains(text, "check "+out) {
		t.Error(text)
	}
	if st, err := os.Stat(out); err != nil || st.Size() == 0 {
		t.Error(err)
	}
}
