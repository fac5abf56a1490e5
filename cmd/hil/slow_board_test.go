package main

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"hilrig/cmd/daemon"
	"hilrig/configs"
	"hilrig/configs/schema"
	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/hil"
	hildaemon "hilrig/hil/daemon"
	"hilrig/hil/protocol"
	"hilrig/hil/sink"
	"hilrig/hil/wire"
)

// slowBoard is a device that samples more rarely than the loop ticks, with its motor behind it. It is the clock, the device and the
// outside of a loop: a run of seconds takes no time.
type slowBoard struct {
	motor   motorTruth
	drive   plant.DriveKind // voltage, current or effort
	lag     float64         // s   in which current or torque of such a drive follow, first order
	rate    float64         // Hz  of its samples
	takes   float64         // s   from the sending of a command to its action; once: of the period of a sample, when it takes the newest
	once    bool            // it takes one command a sample
	way     float64         // s   from a sample to its arrival …
	tremble float64         // s   … and up to so much more
	clocked bool            // frames carry the time of the sample
	// s   > 0: a Modbus slave. It samples when it is asked; a question and its reply take so long, and so does a command
	turn    float64
	hiccup  float64 // s   by which the thread that asks is late at most, once in a hundred times
	paced   bool    // the loop is as slow as the samples; else it has 1 kHz
	late    float64 // s   what the file says of the way
	applied bool    // frames carry the voltage that acts when the sample is taken

	rng             *rand.Rand
	x               [4]float64
	now, next, take float64 // s
	free, due       float64 // s  when the line of a slave is free again, and when it is to be asked
	wrote           float64 // the command that it was told last
	tick            float64 // s  of the loop
	u, newest       float64
	sent            [][2]float64 // commands on their way: when they act, and what
	frames          [][4]float64 // angle, current, when it was taken, command in force
	arrives         []float64
	y               [4]float64 // the newest frame that arrived
	arrived         float64
	fields, age     int
	ticks, end      int
	rows            []hil.Row
}

func (b *slowBoard) Wait() (t, late int64, ok bool) {
	b.ticks++
	return int64(math.Round(float64(b.ticks) * b.tick * 1e9)), 20e3, b.ticks < b.end
}
func (b *slowBoard) Now() int64                      { return int64(math.Round(float64(b.ticks)*b.tick*1e9)) + 60e3 }
func (b *slowBoard) Signals() (m, c []engine.Signal) { return nil, nil }
func (b *slowBoard) Start(context.Context) error     { return nil }
func (b *slowBoard) Close() error                    { return nil }
func (b *slowBoard) Flags() hil.Flags                { return 0 }
func (b *slowBoard) Silence() float64                { return 0 }
func (b *slowBoard) AbsentDevice() int               { return -1 }
func (b *slowBoard) PreviousRun() hil.Before         { return hil.Before{} }
func (b *slowBoard) Change() *hil.Change             { return nil }
func (b *slowBoard) OnRow(r *hil.Row)                { b.rows = append(b.rows, *r) }
func (b *slowBoard) Order() (id uint32, q hil.Request) {
	switch b.ticks {
	case int(math.Round(1.5 / b.tick)):
		return 1, hil.ReqArm
	case int(math.Round(1.6 / b.tick)):
		return 2, hil.ReqRun
	}
	return 0, hil.ReqNone
}

func (b *slowBoard) Send(u []float64) {
	b.newest = u[0]
	if !b.once && b.turn == 0 {
		b.sent = append(b.sent, [2]float64{float64(b.Now())*1e-9 + b.takes, u[0]})
	}
}

func (b *slowBoard) Poll(now int64, y []float64) (fresh hil.Fresh) {
	for end := float64(now) * 1e-9; b.now < end; {
		stop := min(end, b.next, b.take)
		if b.turn > 0 {
			stop = min(stop, b.free)
		}
		if len(b.sent) > 0 {
			stop = min(stop, max(b.sent[0][0], b.now))
		}
		if stop > b.now {
			b.x = b.advance(stop - b.now)
		}
		b.now = stop
		if len(b.sent) > 0 && b.sent[0][0] <= b.now {
			b.u, b.sent = b.sent[0][1], b.sent[1:]
		}
		if b.now >= b.next {
			b.sample()
			if b.next, b.take = b.now+(1+1e-4)/b.rate, math.Inf(1); b.turn > 0 {
				b.next = math.Inf(1)
			} else if b.once {
				b.take = b.now + b.takes/b.rate
			}
		}
		if b.now >= b.take {
			b.u, b.take = b.newest, math.Inf(1)
		}
		if b.turn > 0 && b.now >= b.free {
			b.talk(end)
		}
	}
	for len(b.frames) > 0 && b.arrives[0] <= float64(now)*1e-9 {
		b.y, b.arrived = b.frames[0], b.arrives[0]
		b.frames, b.arrives, fresh = b.frames[1:], b.arrives[1:], hil.Fresh{1<<b.fields - 1 | 1<<b.age}
	}
	y[0], y[1], y[b.age] = b.y[0], b.y[1], float64(now)*1e-9-b.arrived
	if b.applied {
		y[2] = b.y[3]
	}
	if b.clocked {
		y[b.age] = float64(now)*1e-9 - b.y[2]
	}
	return fresh
}

// sample takes a frame.
func (b *slowBoard) sample() {
	const count = 2 * math.Pi / 65536
	noise, step := 0.02, 1e-3 // A
	if b.drive == plant.EffortDrive {
		noise, step = 0.02*b.motor.K, 1e-5 // N·m
	}
	b.frames = append(b.frames, [4]float64{math.Round(b.x[0]/count) * count, math.Round((b.x[2]+noise*b.rng.NormFloat64())/step) * step,
		b.now, b.u})
	b.arrives = append(b.arrives, b.now+b.way+b.tremble*b.rng.Float64())
}

// talk begins what the line of a slave carries next, up to the tick at end: a question is due, or a command is new.
func (b *slowBoard) talk(end float64) {
	late := 0.0
	if b.rng.IntN(100) == 0 {
		late = b.hiccup * b.rng.Float64()
	}
	switch {
	case b.due <= b.now:
		b.next, b.free, b.due = b.now+late+0.3*b.turn, b.now+late+b.turn, b.due+1/b.rate
	case b.newest != b.wrote:
		b.wrote, b.free = b.newest, b.now+late+b.turn
		b.sent = append(b.sent, [2]float64{b.now + late + 0.5*b.turn, b.newest})
	default:
		b.free = min(b.due, end)
	}
}

// advance is the state (angle, speed, current or torque, bristle) after a time in which the command is held: RK4 in steps of at most 50
// µs.
func (b *slowBoard) advance(span float64) [4]float64 {
	if b.drive == plant.VoltageDrive {
		return b.motor.advance(b.u, span, b.x)
	}
	m := b.motor
	if b.drive == plant.EffortDrive {
		m.K = 1
	}
	flow := func(x [4]float64) [4]float64 {
		d := m.flow(0, x)
		d[2] = (b.u - x[2]) / b.lag
		return d
	}
	add := func(a, k [4]float64, h float64) [4]float64 {
		for i := range a {
			a[i] += h * k[i]
		}
		return a
	}
	x, n := b.x, math.Ceil(span/50e-6)
	h := span / n
	for range int(n) {
		k1 := flow(x)
		k2 := flow(add(x, k1, h/2))
		k3 := flow(add(x, k2, h/2))
		k4 := flow(add(x, k3, h))
		for i := range x {
			x[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
	}
	return x
}

// setDrive tells the rig of the drive.
func (b *slowBoard) setDrive(cfg *configs.Config) {
	dev, ax := &cfg.Devices[0], &cfg.Axes[0]
	if b.drive == plant.VoltageDrive {
		return
	}
	c := &dev.Command[0]
	ax.Drive.Kind, ax.Inertia = b.drive, ax.Motor.J
	ax.Motor = nil
	if b.drive == plant.CurrentDrive {
		c.Unit, c.Limit, c.Slew, ax.Drive.K = "A", [2]float64{-10, 10}, 5000, b.motor.K
		return
	}
	cfg.Virtual.Sensors = nil
	c.Unit, c.Scale, c.Limit, c.Slew = "N·m", 2e-5, [2]float64{-0.4, 0.4}, 200
	m := &dev.Measure[1]
	m.Unit, m.Scale, m.Range = "N·m", 2e-5, [2]float64{-0.6, 0.6}
	ax.Effort, ax.Current, ax.Estimator.EffortNoise = ax.Current, "", 0.02*b.motor.K
	ax.Guard.MaxCurrent, ax.Guard.RatedI = 0, 0
}

// record is a run of the demo's controller with this board, and what the live least squares knew at its end: values and standard errors
// by name.
func (b *slowBoard) record(t *testing.T, seconds float64, seed uint64) (dir string, live map[string][2]float64) {
	t.Helper()
	a, config, live := b.play(t, seconds, seed)
	rec, err := sink.NewRecorder(t.TempDir(), hil.Info{Version: "test", Config: config, Schema: a.Schema,
		Start: time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)}, sink.RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := rec.Run(ended, &givenRows{b.rows}); err != nil {
		t.Fatal(err)
	}
	b.rows = nil
	return rec.Dir(), live
}

// play runs the demo's controller with this board.
func (b *slowBoard) play(t *testing.T, seconds float64, seed uint64) (a *hildaemon.Assembly, config []byte, live map[string][2]float64) {
	t.Helper()
	cfg := configs.Demo()
	dev, ax := &cfg.Devices[0], &cfg.Axes[0]
	dev.Rate, dev.Status = b.rate, ""
	b.fields = 2
	if b.applied {
		b.fields = 3
	} else {
		ax.Drive.Applied = ""
	}
	dev.Measure = dev.Measure[:b.fields]
	for i := range dev.Measure {
		dev.Measure[i].Stale = 0.5
	}
	if b.turn > 0 {
		dev.Protocol, dev.Baud, dev.Modbus = protocol.ModbusChoice, 921600, new(protocol.Modbus)
		dev.Modbus.SetDefaults()
		dev.Modbus.Delay, dev.Modbus.Latency, dev.Modbus.Silence = 0.5e-3, 0, 0.2e-3
		for i := range dev.Measure {
			register := 2 * i
			dev.Measure[i].Type, dev.Measure[i].Register = wire.F32, &wire.Register{Slave: 1, Register: &register}
		}
		for i := range dev.Command {
			register := 20 + 2*i
			dev.Command[i].Type, dev.Command[i].Register = wire.F32, &wire.Register{Slave: 1, Register: &register}
		}
	} else if !b.clocked {
		dev.Protocol = protocol.LineChoice
		for i := range dev.Measure {
			dev.Measure[i].Type = wire.Text
		}
		for i := range dev.Command {
			dev.Command[i].Type = wire.Text
		}
	}
	ax.Motor.R, ax.Motor.L, ax.Motor.K, ax.Motor.BrushDrop, ax.Motor.DropScale = b.motor.R, b.motor.L, b.motor.K, 0, 0
	b.setDrive(cfg)
	ax.Estimator.Delay = b.late
	if b.rate < 400 {
		ax.Control.Kp, ax.Control.Kd = 0.03, 1.5e-3
	}
	if b.tick = 1e-3; b.paced {
		b.tick = 1 / b.rate
	}
	if cfg.Loop.Rate = 1 / b.tick; b.tick > 10e-3 {
		ax.Control.Kp, ax.Control.Kd = 0.01, 0.8e-3
	}
	cfg.Guard.HoldTime = 1
	a, err := daemon.Assemble(cfg, daemon.Handover{})
	if err != nil {
		t.Fatal(err)
	}
	config, err = schema.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.rng = rand.New(rand.NewPCG(seed, 19))
	b.next, b.take, b.end = b.rng.Float64()/b.rate, math.Inf(1), int(seconds/b.tick)
	if b.turn > 0 {
		b.next, b.due = math.Inf(1), b.next
	}
	b.age = a.Schema.Index("drive.age")
	hil.NewLoop(b, b, b, a.NewRole(), 1).Run()
	last := &b.rows[len(b.rows)-1]
	if last.Mode != hil.Run {
		t.Fatalf("%g Hz: the run ended in %v, %v", b.rate, last.Mode, last.CauseText(&a.Schema))
	}
	live = map[string][2]float64{}
	for _, p := range []string{"J", "Fv", "Fc"} {
		if at := a.Schema.Index("shaft.rls." + p); at >= 0 {
			live[p] = [2]float64{last.X[at], last.X[a.Schema.Index("shaft.rls."+p+"_se")]}
		}
	}
	return a, config, live
}
