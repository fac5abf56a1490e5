package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// residentKB is the memory of a process that is in place, in kB, as the kernel counts it.
func residentKB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip(err)
	}
	kb := 0
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "VmRSS: %d kB", &kb)
	}
	return kb
}

// Orders that a rig must not take: null, a gain beyond the schema, a gain that hil check warns of, a factor, a model without a word. Then
// 300 models, 10 000 with -tags soak, are handed to one core: its memory stays as it is, and health counts them. The run replays bit for
// bit.
func TestDaemonOrders(t *testing.T) {
	d := startRun(t, "--record", t.TempDir())
	d.awaitMode("run")
	kp := func() float64 {
		return d.ask("/api/params")["params"].(map[string]any)["shaft.control.kp"].(map[string]any)["value"].(float64)
	}
	was := kp()
	model := func(fc, inertia string) string {
		return `"adopt":{"axis":"shaft","law":"lugre","params":{"sigma0":11,"sigma1":0.02,"sigma2":1.5e-4,"Fc":` + fc + `,"Fs":0.021,"vs":0.5,"vd":0.3,"offset":0,"N0":0},"motor":{"J":` + inertia + `}}`
	}
	for _, c := range []struct {
		name, body, want string
		question         bool
	}{
		{"set", `{"set":{"shaft.control.kp":null}}`, "set.shaft.control.kp: null", false},
		{"set", `{"set":{"shaft.control.kp":1e11}}`, "to 1e+09", false},
		{"set", `{"set":{"shaft.control.kp":1e11},"confirm":true}`, "to 1e+09", false},
		{"set", `{"set":{"shaft.control.kp":-0.25},"confirm":true}`, "from 0", false},
		{"set", `{"set":{"shaft.control.kp":0}}`, "kp would be 0", true},
		{"set", `{"set":{"shaft.control.kp":2.6}}`, "times as much", true},
		{"set", `{"set":{"shaft.control.kp":0.02}}`, "times less", true},
		{"set", `{"set":{"shaft.compensation.scale":0.99}}`, "above 0.95", true},
		{"adopt", `{` + model("null", "7e-5") + `}`, "adopt.params.Fc: null", false},
		{"adopt", `{` + model("0.015", "null") + `}`, "adopt.motor.J: null", false},
		{"adopt", `{` + model("0.0049", "7e-5") + `}`, "Coulomb friction", true},
		{"adopt", `{` + model("0.015", "2.2e-4") + `}`, "the inertia", true},
	} {
		if r := d.command(c.name, c.body); r.OK || r.Confirm != c.question || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s %s: %+v, want %q, a question: %v", c.name, c.body, r, c.want, c.question)
		}
	}
	if now := kp(); now != was {
		t.Errorf("kp %g, %g before", now, was)
	}
	if r := d.command("set", `{"set":{"shaft.control.kp":0.02},"confirm":true}`); !r.OK || kp() != 0.02 {
		t.Errorf("confirmed: %+v, kp %g", r, kp())
	}
	d.command("set", fmt.Sprintf(`{"set":{"shaft.control.kp":%g},"confirm":true}`, was))

	// while one fades the next is refused, and is not in force when it is over
	if r := d.command("adopt", `{`+model("0.0151", "7e-5")+`}`); !r.OK {
		t.Error(r.Error)
	}
	if r := d.command("adopt", `{`+model("0.0149", "7e-5")+`}`); r.OK || !strings.Contains(r.Error, "will not be") {
		t.Errorf("while another one fades: %+v", r)
	}
	time.Sleep(1500 * time.Millisecond)
	if fc := d.model().Params["Fc"]; fc != 0.0151 {
		t.Errorf("Fc %g in force, want 0.0151", fc)
	}

	d.command("stop", "")
	d.awaitMode("ready")
	hand := func(n int) {
		for k := range n {
			if r := d.command("adopt", `{`+model(fmt.Sprintf("%g", 0.015+1e-5*float64(k%50)),
				fmt.Sprintf("%g", 7e-5+1e-8*float64(k%30)))+`}`); !r.OK {
				t.Fatal(r.Error)
			}
		}
	}
	hand(20)
	before, handOvers, limit := residentKB(t, d.ready.Core), 300, 300*5 // kB  it was 154 to 179 kB each
	if soak {
		hand(280) // with the garbage of the first ones
		before, handOvers, limit = residentKB(t, d.ready.Core), 10_000, 2000
	}
	hand(handOvers)
	after := residentKB(t, d.ready.Core)
	t.Logf("the core has %d kB, %d kB before %d hand-overs", after, before, handOvers)
	if after-before > limit {
		t.Errorf("the core has %d kB, %d kB before %d hand-overs", after, before, handOvers)
	}
	time.Sleep(1200 * time.Millisecond)
	if h := d.health(); h["hand_overs"].(float64) < float64(handOvers+22) || !(h["core_heap_bytes"].(float64) > 1e5) {
		t.Errorf("health: hand_overs %v, core_heap_bytes %v", h["hand_overs"], h["core_heap_bytes"])
	}
	d.stop()
	if _, errs, code := execute(t, "replay", d.ready.Run); code != 0 {
		t.Errorf("replay: exit code %d\n%s", code, errs)
	}
}
