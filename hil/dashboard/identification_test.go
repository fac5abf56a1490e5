package dashboard_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"hilrig/hil"
	"hilrig/hil/sink"
)

const (
	identIdle    = `{"timestamp":1795221000.1,"axis":"shaft","way":"","law":"","state":"idle","phase":"","step":null,"of":null,"best":null,"unit":"","reason":""}`
	identRunning = `{"timestamp":1795221010.1,"axis":"shaft","way":"lugre","law":"lugre","state":"running","phase":"separable fit","step":3,"of":12,"best":0.00123,"unit":"N·m","reason":""}`
	identWaiting = `{"timestamp":1795221010.1,"axis":"shaft","way":"aep","law":"lugre","state":"waiting","phase":"","step":null,"of":null,"best":null,"unit":"","reason":"needs more speed: 0.4 rad/s seen, 5 rad/s wanted"}`
	identAgain   = `{"timestamp":1795221030.1,"axis":"shaft","way":"lugre","law":"lugre","every_s":5,"state":"done","phase":"","step":0,"of":0,"best":null,"unit":"","reason":""}`
	identDone    = `{"timestamp":1795221020.1,"axis":"shaft","way":"lugre","law":"lugre","state":"done","phase":"","step":12,"of":12,"best":0.00043,"unit":"N·m","reason":""}`
)

// identResult is a result with an id.
func identResult(id string, fc float64, acceptable bool, refusal string) string {
	return fmt.Sprintf(`{"timestamp":1795221020.1,"axis":"shaft","way":"lugre","law":"lugre","verdict":"usable","reasons":[{"code":"loose","level":"weak","parameters":["Fs"],"text":"the residual is white within its band"},{"code":"loose","level":"weak","parameters":[],"text":"the top speed is 14 rad/s"}],
		"parameters":[{"name":"Fc","unit":"N·m","value":%[1]g,"se":1e-4,"ci95":[%[2]g,%[3]g],"judgement":"well determined"},
		{"name":"Fs","unit":"N·m","value":0.0305,"se":4e-4,"ci95":[0.0297,0.0313],"judgement":"well determined"},
		{"name":"sigma0","unit":"N·m/rad","value":11.2,"se":null,"ci95":null,"judgement":"not determined"},
		{"name":"sigma1","unit":"N·m·s/rad","value":0.02,"se":0.001,"ci95":[0.018,0.022],"judgement":""},
		{"name":"sigma2","unit":"N·m·s/rad","value":1.1e-3,"se":1e-5,"ci95":[1.08e-3,1.12e-3],"judgement":""},
		{"name":"vs","unit":"rad/s","value":0.81,"se":0.02,"ci95":[0.77,0.85],"judgement":""},
		{"name":"J","unit":"kg·m²","value":2.39e-4,"se":1e-6,"ci95":[2.37e-4,2.41e-4],"judgement":"well determined"}],
		"model":{"law":"lugre","params":{"sigma0":11.2,"sigma1":0.02,"sigma2":1.1e-3,"Fc":%[1]g,"Fs":0.0305,"vs":0.81,"vd":0,"offset":0,"N0":0}},"fit_percent":98.42,"validation_percent":null,"record":{"file":"run.mcap","sha256":"ab12","rows":20000,"from_s":31.2,"to_s":51.2},"acceptable":%[4]v,"refusal":%[5]q,"id":%[6]q}`,
		fc, fc-2e-4, fc+2e-4, acceptable, refusal, id)
}

// The panel of the identification: what runs, how far it is, what came out beside what is in force, and what may be pressed.
func TestIdentificationPanel(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 5")
	if eval[bool](p, "document.getElementById('identification').checkVisibility()") {
		t.Error("a panel of an identification that the daemon does not have")
	}
	tell := func(status, result string) {
		r.stream.PublishRetained(sink.FitStatusTopic, []byte(status))
		r.stream.PublishRetained(sink.FitResultTopic, []byte(result))
	}
	text := func(id string) string { return clean(p.text("ident-" + id)) }
	able := func() string {
		return eval[string](p, "['start', 'cancel', 'accept', 'rollback'].filter((n) => !document.getElementById('ident-' + "+
			"n).disabled).join(' ')")
	}

	// nothing ran yet: no numbers
	tell(identIdle, "null")
	p.until("document.getElementById('identification').checkVisibility()")
	for id, want := range map[string]string{"progress": "", "verdict": "", "what": "no fit yet"} {
		if got := text(id); got != want {
			t.Errorf("before anything ran %s is %q", id, got)
		}
	}
	if got := able(); got != "start" {
		t.Errorf("before anything ran one may %q", got)
	}
	places := func() string {
		return eval[string](p, "[...document.querySelectorAll('.identification button, .choose select, .choose input')].filter((e) => "+
			"e.checkVisibility()).map((e) => { const b = e.getBoundingClientRect(), top = "+
			"document.getElementById('identification').getBoundingClientRect().y; return [e.id, b.x, b.y - top, b.width, b.height].join(' '); "+
			"}).join('\\n')")
	}
	was := places()

	// running, then waiting for motion
	tell(identRunning, "null")
	p.until("document.getElementById('ident-state').textContent === 'running'")
	if got := text("progress"); got != "separable fit · 3 of 12 · best 1.230 mN·m" {
		t.Errorf("progress %q", got)
	}
	if got := eval[string](p, "document.getElementById('ident-bar').style.width"); got != "25%" {
		t.Errorf("bar %s, want 25%%", got)
	}
	if got := able(); got != "cancel" {
		t.Errorf("while one runs one may %q", got)
	}
	tell(identWaiting, "null")
	p.until("document.getElementById('ident-reason').textContent.startsWith('needs more speed')")

	// between two fits of a series nothing can be started, but it can be ended
	tell(identAgain, "null")
	p.until("document.getElementById('ident-state').textContent === 'done'")
	if got := able(); got != "cancel" {
		t.Errorf("between two fits one may %q", got)
	}

	// a result that may not be accepted, and why
	tell(identDone, identResult("r1", 0.0202, false, "the verdict is doubtful"))
	p.until("document.getElementById('ident-refusal').textContent.includes('the verdict is doubtful')")
	if got := able(); got != "start" {
		t.Errorf("with a result that may not be accepted one may %q", got)
	}
	p.until("hil.curves().found === 1")

	// one that may: beside what is in force
	tell(identDone, identResult("r2", 0.0199, true, ""))
	p.until("!document.getElementById('ident-accept').disabled")
	rows := clean(eval[string](p, "[...document.querySelectorAll('#ident-rows tr')].map((e) => [...e.children].map((c) => "+
		"[...c.childNodes].filter((n) => !n.className?.includes('narrow')).map((n) => n.textContent).join(' ')).join(' | ')).join('; ')"))
	for _, want := range []string{"Fc well determined | 24.00 | 19.90 ± 0.20 | 19.70 … 20.10 | mN·m",
		"sigma0 not determined | – | 11.20 | – | N·m/rad", "J well determined | 200.0 | 239.0 ± 2.0 | 237.0 … 241.0 | ×10⁻⁶ kg·m²",
		"vd | – | 0.000 | – | rad/s"} {
		if !strings.Contains(rows, want) {
			t.Errorf("rows lack %q: %s", want, rows)
		}
	}
	if got := text("fit"); got != "fit 98.4 % · from 31.2 to 51.2 s, 20 000 rows" {
		t.Errorf("fit %q", got)
	}
	if got := text("reasons"); !strings.Contains(got, "the residual is white") {
		t.Errorf("reasons %q", got)
	}
	p.until("hil.curves().found === 2 && document.getElementById('curve-found-key').checkVisibility()")
	if now := places(); now != was {
		t.Errorf("buttons of the panel moved:%s", differ(was, now))
	}
	shoot(p, "ident")
}

// With commands: started with what was chosen, cancelled, refused in words, accepted, rolled back; the figure draws what is in force.
func TestIdentificationCommands(t *testing.T) {
	ctx := browser(t)
	r := newRig(t)
	r.with(func() { r.mode = hil.Run })
	p := tab{t, ctx}
	p.do(chromedp.Navigate(r.url))
	p.until("window.hil && hil.counters.batches > 5")
	tell := func(status, result string) {
		r.stream.PublishRetained(sink.FitStatusTopic, []byte(status))
		r.stream.PublishRetained(sink.FitResultTopic, []byte(result))
	}
	last := func() (c hil.Command) {
		r.with(func() { c = r.commands[len(r.commands)-1] })
		return c
	}
	press := func(name, answer string) {
		t.Helper()
		p.do(chromedp.Click(chromedp.CSS("#ident-" + name)))
		p.until(fmt.Sprintf("document.getElementById('answer').textContent.includes(%q)", answer))
	}
	tell(identIdle, "null")
	p.until("!document.getElementById('ident-start').disabled")

	// what was typed wrongly is not asked
	set := func(id, value string) {
		eval[any](p, fmt.Sprintf("(() => { const e = document.getElementById('ident-%s'); e.value = %q; })()", id, value))
	}
	set("window", "soon")
	p.do(chromedp.Click(chromedp.CSS("#ident-start")))
	p.until("document.getElementById('ident-answer').textContent.includes('window: “soon”')")
	set("window", "12,5")
	set("every", "5")
	set("way", "aep")
	set("law", "gms")
	press("start", "Identification: taken")
	if c := last(); c.Name != "identify" || !reflect.DeepEqual(c.Identify,
		&hil.Identify{Axis: "shaft", Procedure: "aep", Law: "gms", Window: 12.5, Interval: 5}) {
		t.Errorf("asked for %+v %+v", c, c.Identify)
	}
	tell(identRunning, "null")
	p.until("!document.getElementById('ident-cancel').disabled")
	press("cancel", "Cancel: taken")

	// the daemon's refusal is shown where the finger is
	tell(identDone, identResult("r7", 0.0199, true, ""))
	p.until("!document.getElementById('ident-accept').disabled && hil.curves().found === 1")
	r.with(func() { r.refuse = "the result is older than what is in force" })
	press("accept", "Accept refused")
	p.until("document.getElementById('ident-answer').textContent === 'the result is older than what is in force'")
	r.with(func() { r.refuse = "" })
	press("accept", "Accept: taken")
	if c := last(); c.Name != "accept" || c.Accept != "r7" {
		t.Errorf("accepted %+v", c)
	}
	// in force: the law of the figure, the column, and the way back
	p.until("!document.getElementById('ident-rollback').disabled && hil.curves().handed")
	if eval[string](p, "document.getElementById('curve-model-key').textContent") != "law, handed over" {
		t.Error("the figure does not say that the law was handed over")
	}
	if got := eval[[]float64](p, "[hil.curves().model, hil.curves().last].map((c) => c.at(-1)[1])"); got[0] != got[1] {
		t.Errorf("the curve in force ends at %g, that of the result at %g", got[0], got[1])
	}
	const column = `[...document.querySelectorAll('#ident-rows tr')].filter((e) => /^(J|Fc)/.test(e.children[0].textContent)).map((e) => e.children[1].textContent).join(' ')`
	p.until(column + " === '19.90 239.0'")
	press("rollback", "Roll back: taken")
	p.until(column + " === '24.00 200.0'")
	p.until("document.getElementById('ident-rollback').disabled && !hil.curves().handed")
}
