package main

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	cmdidentify "hilrig/cmd/identify"
	"hilrig/cmd/report"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/hil"
	"hilrig/hil/protocol"
	"hilrig/hil/sink"
	"hilrig/hil/wire"
	"hilrig/identify"
)

// slowBoard is a device that samples more rarely than the loop ticks, with its motor behind it. It is the clock, the device and the outside of a
// loop: a run of seconds takes no time.
type slowBoard struct {
	motor   motorTruth
	rate    float64 // Hz  of its samples
	takes   float64 // s   from the sending of a command to its action; once: of the period of a sample, when it takes the newest
	once    bool    // it takes one command a sample
	way     float64 // s   from a sample to its arrival …
	tremble float64 // s   … and up to so much more
	clocked bool    // frames carry the time of the sample

	rng             *rand.Rand
	x               [4]float64
	now, next, take float64 // s
	u, newest       float64
	sent            [][2]float64 // commands on their way: when they act, and what
	frames          [][3]float64 // angle, current, when it was taken
	arrives         []float64
	y               [3]float64 // the newest frame that arrived
	arrived         float64
	fields, age     int
	ticks, end      int
	rows            []hil.Row
}

func (b *slowBoard) Wait() (t, late int64, ok bool) {
	b.ticks++
	return int64(b.ticks) * 1e6, 20e3, b.ticks < b.end
}
func (b *slowBoard) Now() int64                      { return int64(b.ticks)*1e6 + 60e3 }
func (b *slowBoard) Signals() (m, c []engine.Signal) { return nil, nil }
func (b *slowBoard) Start(context.Context) error     { return nil }
func (b *slowBoard) Close() error                    { return nil }
func (b *slowBoard) Flags() hil.Flags                { return 0 }
func (b *slowBoard) Silence() float64                { return 0 }
func (b *slowBoard) Away() int                       { return -1 }
func (b *slowBoard) Before() hil.Before              { return hil.Before{} }
func (b *slowBoard) Change() *hil.Change             { return nil }
func (b *slowBoard) Seen(r *hil.Row)                 { b.rows = append(b.rows, *r) }
func (b *slowBoard) Order() (id uint32, q hil.Request) {
	switch b.ticks {
	case 1500:
		return 1, hil.ReqArm
	case 1600:
		return 2, hil.ReqRun
	}
	return 0, hil.ReqNone
}

func (b *slowBoard) Send(u []float64) {
	b.newest = u[0]
	if !b.once {
		b.sent = append(b.sent, [2]float64{float64(b.Now())*1e-9 + b.takes, u[0]})
	}
}

func (b *slowBoard) Poll(now int64, y []float64) (fresh hil.Fresh) {
	const count = 2 * math.Pi / 65536
	for end := float64(now) * 1e-9; b.now < end; {
		stop := min(end, b.next, b.take)
		if len(b.sent) > 0 {
			stop = min(stop, max(b.sent[0][0], b.now))
		}
		if stop > b.now {
			b.x = b.motor.advance(b.u, stop-b.now, b.x)
		}
		b.now = stop
		if len(b.sent) > 0 && b.sent[0][0] <= b.now {
			b.u, b.sent = b.sent[0][1], b.sent[1:]
		}
		if b.now >= b.next {
			b.frames = append(b.frames, [3]float64{math.Round(b.x[0]/count) * count, math.Round((b.x[2]+0.02*b.rng.NormFloat64())*1e3) / 1e3, b.now})
			b.arrives = append(b.arrives, b.now+b.way+b.tremble*b.rng.Float64())
			b.next, b.take = b.now+(1+1e-4)/b.rate, math.Inf(1)
			if b.once {
				b.take = b.now + b.takes/b.rate
			}
		}
		if b.now >= b.take {
			b.u, b.take = b.newest, math.Inf(1)
		}
	}
	for len(b.frames) > 0 && b.arrives[0] <= float64(now)*1e-9 {
		b.y, b.arrived = b.frames[0], b.arrives[0]
		b.frames, b.arrives, fresh = b.frames[1:], b.arrives[1:], hil.Fresh{1<<b.fields - 1 | 1<<b.age}
	}
	y[0], y[1], y[b.age] = b.y[0], b.y[1], float64(now)*1e-9-b.arrived
	if b.clocked {
		y[b.age] = float64(now)*1e-9 - b.y[2]
	}
	return fresh
}

// record is a run of the demo's controller with this board.
func (b *slowBoard) record(t *testing.T, seconds float64, seed uint64) string {
	t.Helper()
	cfg := configs.Demo()
	dev, ax := &cfg.Devices[0], &cfg.Axes[0]
	dev.Rate, dev.Status = b.rate, ""
	dev.Measure, ax.Drive.Applied = dev.Measure[:2], ""
	for i := range dev.Measure {
		dev.Measure[i].Stale = 0.5
	}
	if !b.clocked {
		dev.Protocol = protocol.LineChoice
		for i := range dev.Measure {
			dev.Measure[i].Type = wire.Text
		}
		for i := range dev.Command {
			dev.Command[i].Type = wire.Text
		}
	}
	ax.Motor.R, ax.Motor.L, ax.Motor.K, ax.Motor.BrushDrop, ax.Motor.DropScale = b.motor.R, b.motor.L, b.motor.K, 0, 0
	if b.rate < 400 {
		ax.Control.Kp, ax.Control.Kd = 0.03, 1.5e-3
	}
	cfg.Guard.HoldTime = 1
	a, err := daemon.Assemble(cfg, daemon.Handover{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := schema.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.rng = rand.New(rand.NewPCG(seed, 19))
	b.next, b.take, b.end = b.rng.Float64()/b.rate, math.Inf(1), int(seconds*1e3)
	b.fields, b.age = 2, a.Schema.Index("drive.age")
	hil.NewLoop(b, b, b, a.NewRole(), 1).Run()
	rec, err := sink.NewRecorder(t.TempDir(), hil.Info{Version: "test", Config: config, Schema: a.Schema, Start: time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)}, sink.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := rec.Run(ended, &givenRows{b.rows}); err != nil {
		t.Fatal(err)
	}
	if last := b.rows[len(b.rows)-1]; last.Mode != hil.Run {
		t.Fatalf("%g Hz: the run ended in %v, %v", b.rate, last.Mode, last.Why(&a.Schema))
	}
	return rec.Dir()
}

// Devices that are slower than the loop, whose drives take every command or one a sample: the inertia lies in its interval, whatever finds it.
func TestIdentifySlowDevices(t *testing.T) {
	t.Parallel()
	motor := motorTruth{R: 1.2, L: 0.6e-3, K: 0.042, J: 7e-5, Sigma0: 11, Sigma1: 0.02, Fv: 1.5e-4, Fc: 0.015, Fs: 0.021, Vs: 0.5}
	boards := []struct {
		name  string
		board slowBoard
	}{
		{"link, commands as they come", slowBoard{takes: 0.4e-3, way: 0.3e-3, tremble: 0.05e-3, clocked: true}},
		{"a bus, a write a turn", slowBoard{takes: 0.6, once: true, way: 1e-3, tremble: 0.1e-3}},
		{"link, a command a sample", slowBoard{takes: 0.02, once: true, way: 0.3e-3, tremble: 0.05e-3, clocked: true}},
		{"text, commands as they come", slowBoard{takes: 1.2e-3, way: 2e-3, tremble: 0.2e-3}},
	}
	regress, simulated := cmdidentify.RunOptions{}, cmdidentify.RunOptions{Law: "lugre", Methods: identify.Chain{"lm"}}
	rates, ways, seeds, seconds := []float64{200}, []cmdidentify.RunOptions{regress}, 1, 14.0
	if soak {
		rates, ways, seeds, seconds = []float64{50, 200, 500, 1000}, append(ways, simulated), 20, 25
	} else {
		boards = boards[:2]
	}
	for _, rate := range rates {
		for _, c := range boards {
			for _, o := range ways {
				in, worst := 0, 0.0
				for seed := range uint64(seeds) {
					b := c.board
					b.motor, b.rate = motor, rate
					b.motor.J *= 1 + 0.1*float64(seed%7)
					cfg, recs, own, err := cmdidentify.PlanRun(context.Background(), b.record(t, seconds, seed), o, report.NewProgress(io.Discard))
					if err != nil {
						t.Fatal(err)
					}
					r, err := identify.Run(context.Background(), cmdidentify.PlanOf(cfg, 0), own.Records(recs), nil, nil)
					if err != nil {
						t.Fatal(err)
					}
					p, _ := r.Param("J")
					ci := r.Interval(p)
					se := (ci[1] - ci[0]) / 2 / 1.96
					off := (p.Value - b.motor.J) / se
					if math.Abs(off) <= 1.96 {
						in++
					}
					worst = max(worst, math.Abs(off))
					t.Logf("%g Hz, %s, %v: J %.5g ± %.2g, truth %.5g, %.1f; %s; %s", rate, c.name, cfg.Method, p.Value, se, b.motor.J, off, r.Verdict, own.Between())
				}
				if in < seeds*9/10 && worst > 3 || seeds > 1 && in < seeds*9/10 {
					t.Errorf("%g Hz, %s, %v: J in its interval %d times of %d, at most %.1f errors off", rate, c.name, o.Methods, in, seeds, worst)
				}
			}
		}
	}
}
