package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	cmdidentify "hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/hil"
	"hilrig/hil/protocol"
	"hilrig/hil/sink"
	"hilrig/hil/wire"
	"hilrig/identify"
)

// motorTruth is a brushed motor on LuGre friction, stated here from its equations alone:
//
//	L·di/dt = V − R·i − K·ω,   J·dω/dt = K·i − F,   dz/dt = ω − σ0·|ω|/g(ω)·z,   F = σ0·z + σ1·dz/dt + Fv·ω
type motorTruth struct{ R, L, K, J, Sigma0, Sigma1, Fv, Fc, Fs, Vs float64 }

func (m *motorTruth) flow(u float64, x [4]float64) [4]float64 {
	w, i, z := x[1], x[2], x[3]
	g := m.Fc + (m.Fs-m.Fc)*math.Exp(-(w/m.Vs)*(w/m.Vs))
	dz := w - m.Sigma0*math.Abs(w)/g*z
	f := m.Sigma0*z + m.Sigma1*math.Exp(-(w/0.3)*(w/0.3))*dz + m.Fv*w
	return [4]float64{w, (m.K*i - f) / m.J, (u - m.R*i - m.K*w) / m.L, dz}
}

// advance integrates over a time in which the voltage is held, by RK4 in steps of at most 50 µs.
func (m *motorTruth) advance(u, span float64, x [4]float64) [4]float64 {
	n := math.Ceil(span / 50e-6)
	h := span / n
	add := func(a, k [4]float64, h float64) [4]float64 {
		for i := range a {
			a[i] += h * k[i]
		}
		return a
	}
	for range int(n) {
		k1 := m.flow(u, x)
		k2 := m.flow(u, add(x, k1, h/2))
		k3 := m.flow(u, add(x, k2, h/2))
		k4 := m.flow(u, add(x, k3, h))
		for i := range x {
			x[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
	}
	return x
}

// truthRun is a recording of the motor as the daemon would have made it.
type truthRun struct {
	rate    float64             // Hz  of device and ticks
	drift   float64             // of the device's clock against ours
	tremble float64             // share of a period by which each differs, and so does their mean over some seconds
	clocked bool                // frames carry the device's time
	awake   func(tick int) bool // false: the tick was skipped
	lost    func(k int) bool    // sample k never came
	seconds float64
	seed    uint64
}

const currentOffset = 0.01 // A

func (m *motorTruth) record(t *testing.T, c truthRun) string {
	t.Helper()
	cfg := configs.Demo()
	daemon.ScaleToRate(cfg, c.rate)
	if !c.clocked {
		cfg.Devices[0].Protocol = protocol.LineChoice
		for i := range cfg.Devices[0].Measure {
			cfg.Devices[0].Measure[i].Type = wire.Text
		}
		for i := range cfg.Devices[0].Command {
			cfg.Devices[0].Command[i].Type = wire.Text
		}
	}
	cfg.Axes[0].Motor.R, cfg.Axes[0].Motor.L, cfg.Axes[0].Motor.K = m.R, m.L, m.K
	a, err := daemon.Assemble(cfg, daemon.Handover{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := schema.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}

	// the device: voltage held from sample to sample, a controller that knows the state
	rng := rand.New(rand.NewPCG(c.seed, 7))
	const count = 2 * math.Pi / 65536
	period := (1 + c.drift) / c.rate
	type sample struct{ at, arrived, angle, current float64 }
	var sent []sample
	x := [4]float64{}
	span := period
	for k, at := 0, 0.0; at < c.seconds; k, at = k+1, at+span {
		if c.tremble > 0 { // a delay in a loop, not a timer
			span = period * (1 + c.tremble*(rng.NormFloat64()+math.Sin(at/2.7)))
		}
		arrived := at + 0.1e-3 + 0.05e-3*rng.ExpFloat64()
		if k%200 == 150 { // the host looked away
			arrived += 1.3 * period
		}
		if len(sent) > 0 {
			arrived = max(arrived, sent[len(sent)-1].arrived)
		}
		if c.lost == nil || !c.lost(k) {
			sent = append(sent, sample{at, arrived, math.Round(x[0]/count) * count,
				math.Round((x[2]+currentOffset+0.02*rng.NormFloat64())*1e3) / 1e3})
		}
		r, dr := 3*math.Sin(2*math.Pi*0.4*at)+0.6*math.Sin(2*math.Pi*2.3*at),
			3*2*math.Pi*0.4*math.Cos(2*math.Pi*0.4*at)+0.6*2*math.Pi*2.3*math.Cos(2*math.Pi*2.3*at)
		torque := 0.25*(r-x[0]) + 6e-3*(dr-x[1]) + m.Fc*math.Tanh(dr/0.5)
		x = m.advance(m.R*torque/m.K+m.K*x[1], span, x)
	}

	rows, seen := []hil.Row{}, -1
	age := a.Schema.Index("drive.age")
	for i := 1; float64(i)/c.rate < c.seconds; i++ {
		if c.awake != nil && !c.awake(i) {
			continue
		}
		at := float64(i) / c.rate
		r := hil.Row{Seq: uint64(len(rows) + 1), T: int64(math.Round(at * 1e9)), Lateness: 20e3, BusyTime: 30e3, Mode: hil.Run, Epoch: 1}
		n := seen
		for n+1 < len(sent) && sent[n+1].arrived <= at {
			n++
		}
		if n > seen {
			r.FreshSignals = hil.Fresh{1<<len(a.Schema.Meas) - 1}
		}
		if seen = n; n >= 0 {
			r.X[0], r.X[1], r.X[age] = sent[n].angle, sent[n].current, at-sent[n].arrived
			if c.clocked {
				r.X[age] = at - sent[n].at - 0.1e-3
			}
		}
		rows = append(rows, r)
	}
	rec, err := sink.NewRecorder(t.TempDir(), hil.Info{Version: "test", Config: config, Schema: a.Schema,
		Start: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)}, sink.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := rec.Run(ended, &givenRows{rows}); err != nil {
		t.Fatal(err)
	}
	return rec.Dir()
}

// givenRows hands rows to a recorder.
type givenRows struct{ rows []hil.Row }

func (s *givenRows) Pop(r *hil.Row) bool {
	if len(s.rows) == 0 {
		return false
	}
	*r, s.rows = s.rows[0], s.rows[1:]
	return true
}

func (s *givenRows) Dropped() uint64 { return 0 }

// hil identify RUN finds what was put in, from rows with ages, skipped ticks, frames that came late, too often or never.
func TestIdentifyRecordingFindsTheTruth(t *testing.T) {
	t.Parallel()
	m := &motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	truth := map[string]float64{"J": m.J, "Fv": m.Fv, "Fc": m.Fc, "offset": m.K * currentOffset}
	skips := func(i int) bool { return i%701 > 3 && i%7000 > 60 }
	for _, c := range []struct {
		name string
		truthRun
	}{
		{"1 kHz", truthRun{rate: 1000, clocked: true}},
		{"1 kHz, skipped ticks", truthRun{rate: 1000, clocked: true, drift: 3e-5, awake: skips}},
		{"1 kHz, lost frames", truthRun{rate: 1000, clocked: true, drift: -3e-5, lost: func(k int) bool { return k%150 < 3 || k%9000 < 40 }}},
		{"text lines at 200 Hz, with a time", truthRun{rate: 200, clocked: true, drift: 2e-4}},
		{"text lines at 200 Hz, without", truthRun{rate: 200, drift: -2e-4, awake: func(i int) bool { return i%97 != 0 }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(1) {
				c.seconds, c.seed = 25, seed
				r, err := identifyForTest(m.record(t, c.truthRun))
				if err != nil {
					t.Fatal(err)
				}
				for name, want := range truth {
					p, ok := r.Param(name)
					if !ok {
						t.Fatalf("no %s", name)
					}
					ci := r.Interval(p)
					se := (ci[1] - ci[0]) / 2 / 1.96
					t.Logf("%s %.5g ± %.2g, truth %.5g, %.1f", name, p.Value, se, want, (p.Value-want)/se)
					if math.Abs(p.Value-want) > 4*se || se > 0.06*math.Abs(want) {
						t.Errorf("seed %d: %s %.5g ± %.2g, truth %.5g", seed, name, p.Value, se, want)
					}
				}
				if r.Verdict != identify.Identified {
					t.Errorf("seed %d: %s: %v", seed, r.Verdict, r.Reasons)
				}
			}
		})
	}
}

// A board without a hardware timer, whose period trembles and wanders by 0.1 to 1 %: each of 13 windows of its run, fitted as the daemon
// fits the one that is being recorded, with the time before it as a check, is taken, and finds the truth.
func TestIdentifyWindowsOfUnevenBoard(t *testing.T) {
	t.Parallel()
	m := &motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	const windows, window, check = 13, 3.0, 3.0 // s
	for _, c := range []truthRun{{tremble: 0.01}} {
		c.rate, c.seconds, c.seed = 200, windows*window+check+0.5, 3
		c.lost = func(k int) bool { return k%350 < 40 } // a window is several pieces
		run, taken := m.record(t, c), 0
		for k := range windows {
			from := check + window*float64(k)
			span := func(from, to float64) string { return fmt.Sprintf("%.4f,%.4f", from, to) }
			out, errs, code := execute(t, "identify", run, "--axis", "shaft", "--method", "regress", "--span", span(from, from+window),
				"--validate", run,
				"--validate-span", span(from-check, from), "--json")
			var r cmdidentify.Identification
			if err := json.Unmarshal([]byte(out), &r); err != nil || code != report.OK {
				t.Errorf("%+v, window %d: code %d, %v: %s", c, k, code, err, errs)
				continue
			}
			taken++
			for name, want := range map[string]float64{"J": m.J, "Fc": m.Fc} {
				if p, ok := r.Result.Param(name); !ok || math.Abs(p.Value-want) > 0.1*want {
					t.Errorf("%+v, window %d: %s %.4g, truth %g", c, k, name, p.Value, want)
				}
			}
		}
		t.Logf("a period that trembles by %g, clock %v: %d of %d windows taken", c.tremble, c.clocked, taken, windows)
	}
}

// identifyForTest is hil identify RUN without printing.
func identifyForTest(run string) (*identify.Result, error) {
	cfg, recs, _, err := cmdidentify.PlanRun(context.Background(), run, cmdidentify.RunOptions{}, report.NewProgress(io.Discard))
	if err != nil {
		return nil, err
	}
	return identify.Run(context.Background(), cmdidentify.PlanOf(cfg, 0), identify.Records{Fit: recs}, nil, nil)
}

// A law and methods for a run: the chain that suits the law finds its parameters, and only the part asked for is looked at. The truth has
// a bristle damping that fades with speed, at the vd of the rig.
func TestIdentifyRecordingWithLaw(t *testing.T) {
	t.Parallel()
	m := &motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	run := m.record(t, truthRun{rate: 1000, clocked: true, seconds: 12})
	result := func(want int, args ...string) *identify.Result {
		t.Helper()
		out, errs, code := execute(t, append([]string{"identify", run, "--json"}, args...)...)
		var r cmdidentify.Identification
		if err := json.Unmarshal([]byte(out), &r); err != nil || code != want {
			t.Fatalf("%v: code %d, %v\n%s", args, code, err, errs)
		}
		return r.Result
	}
	near := func(r *identify.Result, truth map[string]float64, share float64) {
		t.Helper()
		for name, want := range truth {
			if p, ok := r.Param(name); !ok || math.Abs(p.Value-want) > share*want {
				t.Errorf("%s: %+v, truth %g", name, p, want)
			}
		}
	}
	r := result(report.OK, "--law", "lugre", "--last", "6s")
	if r.Chain.String() != "lugre, kalman" || math.Abs(r.Data.Duration-6) > 0.01 {
		t.Errorf("%s on %g s", r.Chain, r.Data.Duration)
	}
	near(r, map[string]float64{"J": m.J, "Fc": m.Fc, "sigma2": m.Fv, "sigma0": m.Sigma0, "Fs": m.Fs}, 0.05)
	near(r, map[string]float64{"vs": m.Vs, "sigma1": m.Sigma1}, 0.2)
	r = result(report.OK, "--law", "coulomb", "--span", "2,5")
	if r.Chain.String() != "regress" || math.Abs(r.Data.Duration-3) > 0.01 {
		t.Errorf("%s on %g s", r.Chain, r.Data.Duration)
	}
	near(r, map[string]float64{"J": m.J, "Fc": m.Fc}, 0.05)
	near(result(report.OK, "--law", "stribeck-hess-soom", "--method", "regress,lm", "--last", "2s"), map[string]float64{"J": m.J, "Fc": m.Fc},
		0.3)
	if r = result(report.Quality, "--method", "lm", "--span", "9,9.5"); r.Settings.(map[string]any)["law"] != "lugre" {
		t.Errorf("%v, want the law of the rig", r.Settings)
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--law", "lugr"}, `did you mean "lugre"?`}, {[]string{"--law", "dahl", "--method", "kalman"}, "kalman does not find the " +
			"parameters of law dahl; these do: aep, lm, multishoot"},
		{[]string{"--span", "7"}, "want two times"}, {[]string{"--span", "9,7"}, "want two times"},
		{[]string{"--span", "1,2", "--last", "3s"}, "no --span beside it"}, {[]string{"--last", "-1s"}, "above zero"},
	} {
		if _, errs, code := execute(t, append([]string{"identify", run}, c.args...)...); code != report.Usage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: code %d, %s", c.args, code, errs)
		}
	}
	if _, errs, code := execute(t, "identify", run, "--span", "20,30"); code != report.Invalid ||
		!strings.Contains(errs, "no rows from 20 to 30 s") {
		t.Errorf("behind the end: code %d, %s", code, errs)
	}
}

// A run without a live estimate says so, and why.
func TestIdentifyRunWithoutLiveEstimate(t *testing.T) {
	t.Parallel()
	m := &motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	run := m.record(t, truthRun{rate: 1000, clocked: true, seconds: 5})
	if out, errs, code := execute(t, "identify", run); code != report.OK || !strings.Contains(out, "live         none: the recursive "+
		"estimate of the run never had an error") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	out, _, code := execute(t, "identify", run, "--json")
	var r cmdidentify.Identification
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != report.OK || r.Run.LiveEstimate != nil || r.Run.NoLive == "" {
		t.Errorf("code %d, %v, %+v", code, err, r.Run)
	}
}

// What the daemon itself recorded: hil identify RUN agrees with the live estimate at the end of the run and with the truth behind the
// port, on the demo, on text lines, paced by the device, and with a core that is stopped now and then.
func TestDaemonIdentifyOwnRun(t *testing.T) {
	inPairs(t)
	if testing.Short() {
		t.Skip("drives a rig for a while")
	}
	long := 14 * time.Second
	if soak {
		long = 60 * time.Second
	}
	tolerate := func(c *configs.Config) {
		for i := range c.Devices[0].Measure {
			if c.Devices[0].Measure[i].Stale > 0 {
				c.Devices[0].Measure[i].Stale = 0.5
			}
		}
		c.Guard.HoldTime, c.Axes[0].Guard.MaxError, c.Axes[0].Guard.MaxSpeed = 1, 50, 5000
		c.Loop.Overrun.Limit, c.Loop.Beat, c.Virtual.Devices[0].Watchdog = 2, 10, 1
	}
	for _, c := range []struct {
		name   string
		change func(c *configs.Config)
		stops  bool
		dies   bool // the core, at the end of the run
	}{
		{"demo", nil, false, false},
		{"text lines at 200 Hz", func(c *configs.Config) {
			daemon.ScaleToRate(c, 200)
			c.Devices[0].Protocol, c.Devices[0].Line = protocol.LineChoice,
				wire.Format{Separator: "comma", Decimal: "point", Checksum: "none", Time: "t_us", TimeUnit: 1e-6, TimeBits: 32, LineEnd: "lf"}
			for i := range c.Devices[0].Measure {
				c.Devices[0].Measure[i].Type = wire.Text
			}
			for i := range c.Devices[0].Command {
				c.Devices[0].Command[i].Type = wire.Text
			}
			c.Axes[0].Control.Kp, c.Axes[0].Control.Kd, c.Axes[0].Compensation.Scale = 0.05, 2e-3, 0.5
		}, false, false},
		{"paced by the device, core restarted at the end", func(c *configs.Config) { daemon.ScaleToRate(c, 500); c.Loop.Clock = "drive" }, false,
			true},
		{"skipped ticks", func(c *configs.Config) { daemon.ScaleToRate(c, 500) }, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := configs.Demo()
			tolerate(cfg)
			if c.change != nil {
				c.change(cfg)
			}
			text, err := schema.Marshal(cfg)
			if err != nil {
				t.Fatal(err)
			}
			file, dir := filepath.Join(t.TempDir(), "rig.yaml"), t.TempDir()
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
			var r cmdidentify.Identification
			for try := 1; ; try++ {
				why := driveFor(t, long, c.stops, c.dies, file, "--record", dir)
				out, errs, code := execute(t, "identify", dir, "--json")
				if err := json.Unmarshal([]byte(out), &r); why == "" && (err != nil || code != report.OK || r.Run == nil) {
					t.Fatalf("code %d, %v\n%s", code, err, errs)
				}
				if why == "" && r.Run.LiveEstimate == nil {
					why = "there is no live estimate"
				}
				if why == "" {
					break
				}
				if t.Logf("try %d: %s", try, why); try == 3 {
					t.Fatal("the machine is too crowded for a run")
				}
			}
			v := cfg.Truth("shaft")
			kept := r.Data.Duration
			for i, d := range r.Records {
				if i == 0 {
					kept = 0
				}
				kept += d.Duration
			}
			missing := missingShare(t, r.Warnings, kept)
			t.Logf("%.2g %% of the samples are missing", 100*missing)
			truth := map[string]float64{"J": v.Motor.J + v.LoadJ, "Fv": v.Friction.Viscous(1), "Fc": v.Friction.Levels().Sliding.Forward,
				"offset": v.Motor.K * cfg.CurrentOffset("shaft")}
			for _, live := range r.Run.LiveEstimate.Parameters {
				p, ok := r.Param(live.Name)
				if !ok || live.NormalizedDifference == nil {
					t.Fatalf("no %s to compare", live.Name)
				}
				ci := r.Interval(p)
				se, want := (ci[1]-ci[0])/2/1.96, truth[p.Name]
				t.Logf("%s %.5g ± %.2g, live %.5g ± %.2g, truth %.5g: %.1f joint errors apart, %.1f and %.1f errors from the truth", p.Name, p.Value,
					se, live.Value, live.StdErr, want,
					*live.NormalizedDifference, (p.Value-want)/se, (live.Value-want)/live.StdErr)
				// 3.5: one run in a thousand of four parameters. On a host that stops the loop all the time the live estimate misses the
				// truth by more than its errors; then the program has to notice
				missed := math.Abs(live.Value-want) > 3*live.StdErr
				if math.Abs(*live.NormalizedDifference) > 3.5 && (!missed || r.Verdict == identify.Identified || r.Run.LiveEstimate.Agrees) {
					t.Errorf("%s: %.5g is %.1f joint errors from the live %.5g", p.Name, p.Value, *live.NormalizedDifference, live.Value)
				}
				// how well it is known depends on the samples that the host lost
				most := 0.1 * want
				if missing > 0.01 {
					most = 0.3 * want
				}
				if missing > 0.02 {
					most = 0.5 * want
					if p.Name == "offset" {
						most = 0.5 * truth["Fc"]
					}
				}
				if math.Abs(p.Value-want) > 4*se || se > most {
					t.Errorf("%s: %.5g ± %.2g, truth %.5g", p.Name, p.Value, se, want)
				}
			}
			t.Logf("%s, %v; %v", r.Verdict, r.Reasons, r.Warnings)
			if r.Verdict == identify.Rejected {
				t.Errorf("%s: %v", r.Verdict, r.Reasons)
			}
			if c.stops && !strings.Contains(strings.Join(r.Warnings, " "), "missing samples") {
				t.Errorf("no sample was lost: %v", r.Warnings)
			}
		})
	}
}

// missingShare is the share of the samples of a run that are missing, by what the program says of it; kept is what it fits, s.
func missingShare(t *testing.T, warnings []string, kept float64) (share float64) {
	t.Helper()
	for _, w := range warnings {
		var count int
		var x float64
		switch {
		case strings.Contains(w, "missing samples"):
			if _, err := fmt.Sscanf(w, "%d missing samples (%g", &count, &x); err != nil {
				t.Fatal(err)
			}
			share += x / 100
		case strings.Contains(w, "longer gaps"):
			if _, err := fmt.Sscanf(w, "%d longer gaps, %g", &count, &x); err != nil {
				t.Fatal(err)
			}
			share += x / (kept + x)
		}
	}
	return share
}

// driveFor drives a rig for a while, and stops the core now and then, or kills it at the end, if that is wanted. It returns why the
// run is not whole, "" if it is.
func driveFor(t *testing.T, long time.Duration, stops, dies bool, args ...string) (why string) {
	d := startRun(t, args...)
	mode := func() string { m, _ := d.state()["mode"].(string); return m }
	for end := time.Now().Add(20 * time.Second); mode() != "run"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			d.stop()
			return "it does not run"
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(time.Duration(200+rng.IntN(300)) * time.Millisecond) {
		if stops { // the core sleeps through some ticks
			syscall.Kill(d.ready.Core, syscall.SIGSTOP)
			time.Sleep(time.Duration(1+rng.IntN(12)) * time.Millisecond)
			syscall.Kill(d.ready.Core, syscall.SIGCONT)
		}
	}
	if m := mode(); m != "run" {
		why = "mode " + m
	}
	if dies && why == "" {
		syscall.Kill(d.ready.Core, syscall.SIGKILL)
		for end := time.Now().Add(20 * time.Second); mode() == "run" || mode() == ""; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the core is not restarted")
			}
		}
		time.Sleep(time.Second)
	}
	d.stop()
	return why
}
