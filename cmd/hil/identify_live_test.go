package main

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/identify"
)

// modelOff writes the demo with limits of a crowded machine, in which what the controller believes of friction is 30 % below the truth.
func modelOff(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(tolerant(t, virtualPort))
	if err != nil {
		t.Fatal(err)
	}
	believed, truth, ok := strings.Cut(string(text), "# ---- the truth")
	for _, c := range [][2]string{{"sigma0: 11 N", "sigma0: 7.7 N"}, {"sigma2: 1.5e-4", "sigma2: 1.05e-4"}, {"Fc: 15 mN", "Fc: 10.5 mN"},
		{"Fs: 21 mN", "Fs: 14.7 mN"}} {
		if !ok || !strings.Contains(believed, c[0]) {
			t.Fatalf("the demo has no %q", c[0])
		}
		believed = strings.ReplaceAll(believed, c[0], c[1])
	}
	path := filepath.Join(t.TempDir(), "off.yaml")
	if err := os.WriteFile(path, []byte(believed+"# ---- the truth"+truth), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// liveFit is what the page is told.
type liveFit struct {
	Status identify.Status
	Result *struct {
		identify.Published
		Adopt *struct {
			Law    string
			Params map[string]float64
			Motor  map[string]float64
		}
		Accepted bool
	}
}

// fit asks for an identification and waits for its end.
func (d *daemonUnderTest) fit(body string) (f liveFit) {
	d.t.Helper()
	if r := d.command("identify", body); !r.OK {
		d.t.Fatalf("identify %s: %s", body, r.Error)
	}
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		f = liveFit{}
		text, _ := json.Marshal(d.ask("/api/identify"))
		if err := json.Unmarshal(text, &f); err != nil {
			d.t.Fatal(err)
		}
		if s := f.Status.State; s == "done" || s == "failed" || s == "idle" {
			return f
		}
	}
	d.t.Fatalf("no end: %+v", f.Status)
	return f
}

// models are those in force, as the page shows them.
func (d *daemonUnderTest) model() (m struct {
	Law, Source string
	Params      map[string]float64
	Motor       map[string]float64
}) {
	d.t.Helper()
	text, _ := json.Marshal(d.ask("/api/params")["models"].(map[string]any)["shaft"])
	if err := json.Unmarshal(text, &m); err != nil {
		d.t.Fatal(err)
	}
	return m
}

// A rig whose model of friction is 30 % off: fits beside the loop find the truth, say what they may not do, come into force by a command,
// and go again. What they say is what hil identify says of the same rows when the run is over, and the run replays bit for bit.
func TestDaemonIdentifyBesideTheLoop(t *testing.T) {
	d := startRun(t, modelOff(t), "--record", t.TempDir())
	d.awaitMode("run")
	for _, c := range []struct{ name, body, want string }{
		{"identify", `{"identify":{"axis":"elbow"}}`, "want one of shaft"},
		{"identify", `{"identify":{"way":"magic"}}`, "least-squares, lugre, output-error, aep"},
		{"identify", `{"identify":{"way":"lugre","law":"dahl"}}`, "does not find the parameters"},
		{"identify", `{"identify":{"law":"stribek-tustin","way":"aep"}}`, "stribeck-tustin"},
		{"identify", `{"identify":{"window_s":1}}`, "window_s"},
		{"identify", `{"identify":{"every_s":-1}}`, "every_s"},
		{"accept", `{"accept":"0001"}`, "no result yet"},
		{"rollback", `{}`, "nothing to go back to"},
		{"cancel", `{}`, "nothing runs"},
	} {
		if r := d.command(c.name, c.body); r.OK || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s %s: %+v, want %q", c.name, c.body, r, c.want)
		}
	}
	if f := d.ask("/api/identify"); f["result"] != nil || f["status"].(map[string]any)["state"] != "idle" {
		t.Errorf("before any fit: %v", f)
	}
	truth := map[string]float64{"J": 7e-5, "Fc": 0.015, "Fs": 0.021, "sigma0": 11, "vs": 0.5}
	near := func(f liveFit, within map[string]float64) {
		t.Helper()
		if f.Result == nil || f.Status.State != "done" {
			t.Fatalf("%+v", f.Status)
		}
		seen := 0
		for _, p := range f.Result.Parameters {
			if limit, ok := within[p.Name]; ok {
				seen++
				if off := math.Abs(p.Value/truth[p.Name] - 1); off > limit {
					t.Errorf("%s: %s = %.4g, off by %.1f %%", f.Result.Trigger, p.Name, p.Value, 100*off)
				}
			}
		}
		if seen != len(within) {
			t.Errorf("%s: %+v", f.Result.Trigger, f.Result.Parameters)
		}
	}

	// Coulomb and viscous friction: the observer of the demo wants a contact that yields
	first := d.fit(`{"identify":{"way":"least-squares","window_s":4}}`)
	near(first, map[string]float64{"J": 0.03, "Fc": 0.03})
	if first.Result.Acceptable || !strings.Contains(first.Result.Refusal, "observer") {
		t.Errorf("acceptable %v: %q", first.Result.Acceptable, first.Result.Refusal)
	}
	if r := d.command("accept", `{"accept":"`+first.Result.ID+`"}`); r.OK || !strings.Contains(r.Error, "observer") {
		t.Errorf("%+v", r)
	}

	before := d.model()
	go func() {
		time.Sleep(500 * time.Millisecond)
		if r := d.command("identify", `{}`); r.OK || !strings.Contains(r.Error, "cancel it first") {
			t.Errorf("a second fit: %+v", r)
		}
	}()
	f := d.fit(`{"identify":{"way":"lugre","window_s":6}}`)
	near(f, map[string]float64{"J": 0.02, "Fc": 0.02, "Fs": 0.06, "sigma0": 0.08, "vs": 0.2})
	r := f.Result
	if !r.Acceptable || r.Adopt == nil || r.Validation == nil || *r.Validation < 80 {
		t.Fatalf("acceptable %v: %q; validation %v", r.Acceptable, r.Refusal, r.Validation)
	}
	if a := d.command("accept", `{"accept":"`+first.Result.ID+`"}`); a.OK || !strings.Contains(a.Error, "the newest is "+r.ID) {
		t.Errorf("an older result: %+v", a)
	}
	if a := d.command("accept", `{"accept":"`+r.ID+`"}`); !a.OK {
		t.Fatal(a.Error)
	}
	if m := d.model(); m.Source != "command" || m.Law != "lugre" || !maps.Equal(m.Params, r.Adopt.Params) ||
		m.Motor["J"] != r.Adopt.Motor["J"] {
		t.Errorf("in force: %+v, accepted %+v", m, r.Adopt)
	}
	time.Sleep(2 * time.Second) // it fades in
	if a := d.command("rollback", `{}`); !a.OK {
		t.Fatal(a.Error)
	}
	if m := d.model(); !reflect.DeepEqual(m, before) {
		t.Errorf("after the rollback %+v, before it was accepted %+v", m, before)
	}
	if a := d.command("rollback", `{}`); a.OK {
		t.Error("a second rollback")
	}
	time.Sleep(1500 * time.Millisecond)

	// one that is cancelled leaves the result before it
	d.command("identify", `{"identify":{"window_s":300}}`)
	if a := d.command("cancel", `{}`); !a.OK {
		t.Error(a.Error)
	}
	for end := time.Now().Add(10 * time.Second); d.ask("/api/identify")["status"].(map[string]any)["state"] != "idle"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not cancelled")
		}
	}
	if got := d.ask("/api/identify")["result"].(map[string]any)["id"]; got != r.ID {
		t.Errorf("after the cancel the result is %v", got)
	}
	if code := d.stop(); code != 130 {
		t.Errorf("exit code %d", code)
	}

	for _, r := range []*identify.Published{&first.Result.Published, &f.Result.Published} {
		var kept, again struct{ identify.Result }
		text, err := os.ReadFile(r.File)
		if err == nil {
			err = json.Unmarshal(text, &kept)
		}
		if err != nil {
			t.Fatal(err)
		}
		out, errs, code := execute(t, append(strings.Fields(r.Command)[1:], "--json")...)
		if err := json.Unmarshal([]byte(out), &again); err != nil || code != 0 {
			t.Fatalf("%s: exit code %d, %v\n%s", r.Command, code, err, errs)
		}
		// it was not closed then, and the fit took its time
		kept.Warnings, kept.Findings, kept.Compute, again.Warnings, again.Findings, again.Compute = nil, nil, 0, nil, nil, 0
		for i := range kept.Stages {
			kept.Stages[i].Compute, again.Stages[i].Compute = 0, 0
		}
		if !reflect.DeepEqual(kept, again) {
			t.Errorf("%s: beside the loop %+v, afterwards %+v", r.ID, kept.Parameters, again.Parameters)
		}
	}
	if _, errs, code := execute(t, "replay", d.ready.Run); code != 0 {
		t.Errorf("replay: exit code %d\n%s", code, errs)
	}
}

// A rig at rest tells nothing of friction, and the status says why.
func TestDaemonIdentifyBesideALoopAtRest(t *testing.T) {
	text := strings.Replace(string(configs.DemoYAML()), "kind: multisine", "kind: constant", 1)
	a, b, _ := strings.Cut(text, "      tones:\n")
	_, b, _ = strings.Cut(b, "      fade:")
	path := filepath.Join(t.TempDir(), "rest.yaml")
	if err := os.WriteFile(path, []byte(a+"      fade:"+b), 0o644); err != nil {
		t.Fatal(err)
	}
	d := startRun(t, path, "--record", t.TempDir())
	d.awaitMode("run")
	f := d.fit(`{"identify":{"way":"lugre","window_s":3}}`)
	if f.Status.State != "failed" || f.Status.Reason == "" || f.Result != nil {
		t.Errorf("%+v", f.Status)
	}
	t.Log(f.Status.Reason)
	if e := d.errs.String(); !strings.Contains(e, "NOT_IDENTIFIED") {
		t.Errorf("no event:\n%s", e)
	}
	d.stop()
}

// A live fit that is accepted and kept is in the rig file, to all digits; hil check takes the file, and the next run begins with it.
func TestDaemonKeepsALiveFit(t *testing.T) {
	file := modelOff(t)
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "kind: observer") != 1 {
		t.Fatal("no observer in the demo", err)
	}
	// a fit by least squares is of Coulomb and viscous friction, which an observer cannot use
	changed := strings.Replace(string(text), "kind: observer", "kind: feedforward", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startRun(t, file, "--record", t.TempDir())
	d.awaitMode("run")
	r := d.fit(`{"identify":{"way":"least-squares","window_s":4}}`).Result
	if r == nil || !r.Acceptable || r.Adopt == nil {
		t.Fatalf("not acceptable: %+v", r)
	}
	if a := d.command("keep", `{}`); a.OK {
		t.Error("kept before it was accepted")
	}
	if a := d.command("accept", `{"accept":"`+r.ID+`"}`); !a.OK {
		t.Fatal(a.Error)
	}
	if a := d.command("keep", `{}`); !a.OK {
		t.Fatal(a.Error)
	}
	whole := func(law string, params map[string]float64) map[string]float64 { // with what follows from others
		m, err := friction.Build(law, params)
		if err != nil {
			t.Fatal(err)
		}
		return friction.Values(m)
	}
	inForce := d.model()
	d.stop()
	if _, errs, code := execute(t, "check", file); code != report.OK {
		t.Errorf("hil check: %d\n%s", code, errs)
	}
	c, err := configs.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	law := c.Axes[0].Friction
	if law.Name != r.Adopt.Law || c.Axes[0].MotorModel().J != r.Adopt.Motor["J"] {
		t.Errorf("the file has %s with J = %v, accepted was %s with %v", law.Name, c.Axes[0].MotorModel().J, r.Adopt.Law, r.Adopt.Motor["J"])
	}
	if values := friction.Values(law.Model); !maps.Equal(values, whole(r.Adopt.Law, r.Adopt.Params)) {
		t.Errorf("the file has %v, accepted was %v", values, r.Adopt.Params)
	}
	if text, err = os.ReadFile(file); err != nil || strings.Contains(string(text), "friction:                 # LuGre") {
		t.Errorf("%v, a comment names the law before:\n%s", err, text)
	}
	again := startRun(t, file, "--dry-run", "--no-record")
	if m := again.model(); m.Law != inForce.Law || !maps.Equal(whole(m.Law, m.Params), whole(inForce.Law, inForce.Params)) || m.Source != "file" {
		t.Errorf("the next run has %+v, kept was %+v", m, inForce)
	}
	again.stop()
}
