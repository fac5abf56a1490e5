package daemon

import (
	"context"
	"strings"
	"testing"

	"hilrig/configs"
	"hilrig/engine/friction"
	"hilrig/hil"
	"hilrig/hil/axis"
	"hilrig/hil/sink"
	"hilrig/identify"
	"hilrig/identify/fit"
)

// foundResult is a result that is near the model of the demo.
func foundResult(times float64) *identify.Result {
	r := &identify.Result{Verdict: identify.Identified, Model: identify.Subject{Rotary: true, Law: "lugre"}}
	add := func(name string, v float64) {
		se, ci := 0.01*v, [2]float64{0.98 * v, 1.02 * v}
		r.Parameters = append(r.Parameters, identify.Parameter{Estimate: fit.Estimate{Name: name, Value: v}, Error: &se, CI: &ci,
			Worth: string(identify.Identified)})
	}
	for name, v := range friction.Values(configs.Demo().Axes[0].Friction.Model) {
		if name != "offset" && name != "N0" {
			if strings.HasPrefix(name, "F") {
				v *= times
			}
			add(name, v)
		}
	}
	add("J", 7.1e-5)
	for i := range r.Parameters {
		if p := &r.Parameters[i]; p.Value == 0 {
			p.Fixed = true
		}
	}
	return r
}

func withParam(r *identify.Result, name string, edit func(p *identify.Parameter)) *identify.Result {
	for i := range r.Parameters {
		if r.Parameters[i].Name == name {
			edit(&r.Parameters[i])
		}
	}
	return r
}

// Each entry of the rule, on both sides of its limit.
func TestRefusals(t *testing.T) {
	good := record{startTime: 100, endTime: 120, newestTime: 130}
	weak := func(lo, hi float64, worth string) func(p *identify.Parameter) {
		return func(p *identify.Parameter) { p.CI, p.Worth = &[2]float64{lo, hi}, worth }
	}
	at := func(edit func(r *record)) record {
		r := good
		edit(&r)
		return r
	}
	for _, c := range []struct {
		name string
		r    *identify.Result
		rec  record
		want []string
	}{
		{"good", foundResult(1), good, nil},
		{"rejected", func() *identify.Result {
			r := foundResult(1)
			r.Verdict, r.Reasons = identify.Rejected, []fit.Reason{fit.Against(fit.PoorFit, "poor fit")}
			return r
		}(), good, []string{"rejected: poor fit"}},
		{"not to be told from zero", withParam(foundResult(1), "vs", weak(-0.1, 1, string(identify.Weak))), good,
			[]string{"vs cannot be told from zero"}},
		{"zero at the edge of the interval", withParam(foundResult(1), "vs", weak(0, 1, string(identify.Weak))), good,
			[]string{"vs cannot be told from zero"}},
		{"… and of the other one", withParam(foundResult(1), "vs", weak(-1, 0, string(identify.Weak))), good,
			[]string{"vs cannot be told from zero"}},
		{"weak, but not zero", withParam(foundResult(1), "vs", weak(0.01, 1, string(identify.Weak))), good, nil},
		{"zero, which is an answer", withParam(foundResult(1), "sigma2", weak(-1e-5, 1e-4, string(identify.Identified))), good, nil},
		{"on its bound", withParam(foundResult(1), "vs", func(p *identify.Parameter) { p.AtBound, p.Worth = "upper", string(identify.Weak) }),
			good, []string{"vs is on its upper bound"}},
		{"half an hour old", foundResult(1), at(func(r *record) { r.newestTime = r.endTime + 1800 }), nil},
		{"older", foundResult(1), at(func(r *record) { r.newestTime = r.endTime + 1800.1 }), []string{"30 min old"}},
		{"the port went in the record", foundResult(1), at(func(r *record) { r.broken = interrupted{110, "the port was away"} }),
			[]string{"the port was away at 110.0 s"}},
		{"… after it", foundResult(1), at(func(r *record) { r.broken = interrupted{125, "the core was started anew"} }),
			[]string{"the core was started anew at 125.0 s"}},
		{"… as it began", foundResult(1), at(func(r *record) { r.broken = interrupted{100, "the port was away"} }),
			[]string{"the port was away"}},
		{"… before it", foundResult(1), at(func(r *record) { r.broken = interrupted{99.9, "the port was away"} }), nil},
		{"everything", withParam(foundResult(1), "vs", weak(-1, 1, string(identify.Weak))),
			record{startTime: 1, endTime: 2, newestTime: 5000, broken: interrupted{3, "the port was away"}},
			[]string{"vs cannot", "83 min old", "the port was away"}},
	} {
		got := refusals(c.r, c.rec)
		text := strings.Join(got, "; ")
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q, want %q", c.name, got, want)
			}
		}
	}
}

// acceptBench is a fitter whose tick takes what it is given, or refuses it with words.
func acceptBench(t *testing.T) (f *fitter, refuse *string, accept func(id string) hil.Reply, rollback func() hil.Reply,
	inForce func() *axis.Set) {
	t.Helper()
	cfg := configs.Demo()
	a, err := Assemble(cfg, Handover{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	d := &services{cfg: cfg, a: a, bus: &eventBus{}}
	p := a.Params
	d.block.Store(&p)
	d.newestRow = hil.Row{Seq: 1, T: 130e9}
	f = &fitter{d: d}
	refuse = new(string)
	f.carry = func(_ context.Context, c hil.Command) hil.Reply {
		if *refuse != "" {
			return hil.Reply{Error: *refuse}
		}
		next := *d.block.Load()
		set := &c.Adopt.Set
		if set.Law == "" {
			set = nil
		}
		if err := next.Sets[0].Encode(set); err != nil {
			return hil.Reply{Error: err.Error()}
		}
		next.Gen++
		d.block.Store(&next)
		return hil.Reply{OK: true}
	}
	do := func(name, id string) hil.Reply {
		return f.command(context.Background(), hil.Command{Name: name, Accept: id})
	}
	return f, refuse, func(id string) hil.Reply { return do("accept", id) }, func() hil.Reply { return do("rollback", "") },
		func() *axis.Set { return d.block.Load().Sets[0].Set() }
}

// find puts a result where a fit would.
func (f *fitter) find(id string, r *identify.Result) {
	f.result = &fitResult{Published: identify.Published{ID: id, Axis: "shaft"}, identified: r, part: [2]float64{100, 120}}
	f.judge(&f.d.cfg.Axes[0], f.result)
}

// Accepted twice and rolled back is rolled back; each rollback goes one accept back; then there is nothing, and that is said.
func TestRollback(t *testing.T) {
	f, refuse, accept, rollback, inForce := acceptBench(t)
	want := func(what string, r hil.Reply, ok bool, says string, fc float64) {
		t.Helper()
		got := 0.0
		if set := inForce(); set != nil {
			got = set.Params["Fc"] / 0.015
		}
		if r.OK != ok || !strings.Contains(r.Error, says) || got < 0.999*fc || got > 1.001*fc {
			t.Errorf("%s: %+v, Fc %g of the file's; want %v, %q, %g", what, r, got, ok, says, fc)
		}
	}
	want("nothing yet", rollback(), false, "nothing to go back to", 0)
	f.find("0001", foundResult(1.2))
	if !f.result.Acceptable {
		t.Fatal(f.result.Refusal)
	}
	want("accept", accept("0001"), true, "", 1.2)
	want("accept again", accept("0001"), false, "in force already", 1.2)
	want("roll back", rollback(), true, "", 0)
	if f.result.Accepted {
		t.Error("still called accepted")
	}
	want("roll back again", rollback(), false, "nothing to go back to", 0)

	want("accept once more", accept("0001"), true, "", 1.2)
	f.find("0002", foundResult(1.4))
	want("an older one", accept("0001"), false, "the newest is 0002", 1.2)
	*refuse = "not taken, and will not be: a change before it still fades in"
	want("while it fades", accept("0002"), false, "still fades", 1.2)
	if f.result.Accepted || len(f.replacedModels) != 1 {
		t.Errorf("refused, and called accepted: %v, %d to go back to", f.result.Accepted, len(f.replacedModels))
	}
	want("roll back while it fades", rollback(), false, "still fades", 1.2)
	*refuse = ""
	want("the next", accept("0002"), true, "", 1.4)
	want("one back", rollback(), true, "", 1.2)
	want("two back", rollback(), true, "", 0)
	want("three back", rollback(), false, "nothing to go back to", 0)

	// judged when it is accepted: what was good when it was found may be no more
	f.find("0003", foundResult(1.1))
	f.d.newestRow.T += 3600e9
	want("an hour later", accept("0003"), false, "min old", 0)
	if f.result.Acceptable || !strings.Contains(f.result.Refusal, "min old") {
		t.Errorf("published: acceptable %v, %q", f.result.Acceptable, f.result.Refusal)
	}
	f.d.newestRow.T -= 3600e9
	f.d.broken = interrupted{125, "the port was away"}
	want("after a replug", accept("0003"), false, "the port was away", 0)
	f.d.broken = interrupted{}
	want("else", accept("0003"), true, "", 1.1)
	f.find("0004", foundResult(3.5))
	want("far from what is in force", accept("0004"), false, "taken for a mistake", 1.1)
}

// Rows tell when the rig ceased to be known as the same.
func TestInterrupted(t *testing.T) {
	cfg := configs.Demo()
	a, err := Assemble(cfg, Handover{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	d := &services{cfg: cfg, a: a, metrics: sink.NewMetrics(sink.MetricsOptions{Schema: &a.Schema})}
	see := func(at float64, epoch uint16, flags hil.Flags) {
		d.row(&hil.Row{Seq: 1, T: int64(at * 1e9), Epoch: epoch, Flags: flags})
	}
	see(10, 1, 0)
	see(11, 1, hil.FlagStale)
	if d.broken.cause != "" {
		t.Errorf("%+v", d.broken)
	}
	see(12, 1, hil.FlagLinkDown)
	see(13, 1, 0)
	if d.broken != (interrupted{2, "the port was away"}) {
		t.Errorf("%+v", d.broken)
	}
	see(15, 2, 0)
	if d.broken != (interrupted{5, "the core was started anew"}) {
		t.Errorf("%+v", d.broken)
	}
}

// Raw models: near ones are taken, far ones are asked about, on both sides of the limit.
func TestFarFrom(t *testing.T) {
	a := &configs.Demo().Axes[0]
	now := axis.SetOf(a.Friction.Model)
	for _, c := range []struct {
		name   string
		params map[string]float64 // times
		motor  map[string]float64
		want   string
	}{
		{"as it is", nil, nil, ""},
		{"2.9 times the friction", map[string]float64{"Fc": 2.9, "Fs": 2.9}, nil, ""},
		{"3.1 times", map[string]float64{"Fc": 3.1, "Fs": 3.1}, nil, "Coulomb friction"},
		{"a third and a bit", map[string]float64{"Fc": 0.34, "Fs": 0.34}, nil, ""},
		{"less", map[string]float64{"Fc": 0.32, "Fs": 0.32}, nil, "Coulomb friction"},
		{"break-away", map[string]float64{"Fs": 3.1}, nil, "break-away"},
		{"nine times the stiffness", map[string]float64{"sigma0": 9.9}, nil, ""},
		{"eleven times", map[string]float64{"sigma0": 10.1}, nil, "sigma0"},
		{"an eleventh", map[string]float64{"vs": 0.09}, nil, "vs"},
		{"an offset", map[string]float64{"offset": 1}, nil, ""},
		{"inertia", nil, map[string]float64{"J": 7e-5 * 3.1}, "the inertia"},
		{"… within", nil, map[string]float64{"J": 7e-5 * 2.9}, ""},
		{"… below", nil, map[string]float64{"J": 7e-5 / 3.1}, "the inertia"},
		{"torque constant", nil, map[string]float64{"K": 0.042 * 3.1}, "torque constant"},
		{"resistance", nil, map[string]float64{"R": 1.2 * 10.5}, "the resistance"},
		{"inductance", nil, map[string]float64{"L": 0.6e-3 / 11}, "the inductance"},
	} {
		set := axis.SetOf(a.Friction.Model)
		for name, by := range c.params {
			set.Params[name] *= by
		}
		set.Motor = c.motor
		far, err := farFrom(a, now, set)
		if text := strings.Join(far, "; "); err != nil || (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.name, text, err, c.want)
		}
	}
}
