package daemon

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hilrig/configs"
	"hilrig/engine"
	"hilrig/engine/friction"
	"hilrig/hil"
)

// stepClock is virtual time: a tick for each that is left.
type stepClock struct {
	t, period int64
	left      int
}

func (c *stepClock) Now() int64 { return c.t }
func (c *stepClock) Wait() (t, late int64, ok bool) {
	if c.left == 0 {
		return 0, 0, false
	}
	c.left--
	c.t += c.period
	return c.t, 0, true
}

// nearEnd is one end of lines without delay in memory: what the other end sent last is fresh at every so many polls.
type nearEnd struct {
	meas, cmd []engine.Signal
	sent      []float64
	other     *nearEnd
	from      []int     // place of each measurement in what the other end sends; −1: an age, always 0
	count     []float64 // of each measurement; 0: none
	every     []int
	n         int
}

func (e *nearEnd) Signals() (m, c []engine.Signal) { return e.meas, e.cmd }
func (e *nearEnd) Start(context.Context) error     { return nil }
func (e *nearEnd) Close() error                    { return nil }
func (e *nearEnd) Send(u []float64)                { copy(e.sent, u) }
func (e *nearEnd) Poll(_ int64, y []float64) (fresh hil.Fresh) {
	e.n++
	for i, at := range e.from {
		if at < 0 {
			y[i] = 0
		} else if e.n%e.every[i] == 0 {
			if y[i] = e.other.sent[at]; e.count[i] > 0 {
				y[i] = e.count[i] * math.Round(y[i]/e.count[i])
			}
		} else {
			continue
		}
		hil.SetFresh(&fresh, i)
	}
	return fresh
}

func newEnd(meas, cmd []hil.Channel) *nearEnd {
	return &nearEnd{meas: hil.Signals(meas), cmd: hil.Signals(cmd), sent: make([]float64, len(cmd)), from: make([]int, len(meas)),
		every: make([]int, len(meas)), count: make([]float64, len(meas))}
}

// orders is the outside of a loop; it keeps the newest row.
type orders struct {
	next hil.Request
	row  hil.Row
}

func (o *orders) Flags() hil.Flags        { return 0 }
func (o *orders) Silence() float64        { return 0 }
func (o *orders) AbsentDevice() int       { return -1 }
func (o *orders) PreviousRun() hil.Before { return hil.Before{} }
func (o *orders) Change() *hil.Change     { return nil }
func (o *orders) OnRow(r *hil.Row)        { o.row = *r }
func (o *orders) Order() (uint32, hil.Request) {
	q := o.next
	if o.next = hil.ReqNone; q == hil.ReqNone {
		return 0, q
	}
	return 1, q
}

// Every example that has a virtual rig, in virtual time: a minute of it with HIL_LONG set, or four seconds in which nothing trips,
// nothing holds.
func TestExamplesDoNotTrip(t *testing.T) {
	seconds := 4
	if os.Getenv("HIL_LONG") != "" {
		seconds = 60
	}
	if played := playExamples(t, seconds, nil); played < 15 {
		t.Errorf("%d examples played", played)
	}
}

// The same with a file whose inertia is a third of the true one to three times as large, and whose friction is half to three times the true
// one: six seconds of each with HIL_LONG set. The inertia of a mechanism is not changed, nor that of two links without one: what a joint
// does to the other is a load that rises by more than 2·Fs in 0.1 s (docs/reference/safety.md). What is compensated of the friction stays.
func TestExamplesOfWrongInertia(t *testing.T) {
	if os.Getenv("HIL_LONG") == "" {
		t.Skip("takes minutes: set HIL_LONG")
	}
	for _, inertia := range []float64{1 / 3.0, 1, 3} {
		for _, force := range []float64{0.5, 1, 3} {
			t.Run(fmt.Sprintf("%.2g times the inertia, %g times the friction", inertia, force), func(t *testing.T) {
				playExamples(t, 6, func(s *hil.ControllerSpec) {
					for i := range s.Axes {
						a := &s.Axes[i]
						if s.Mechanism == nil && s.Rig != "two-link" {
							for _, j := range []*float64{&a.Motor.J, &a.Kalman.Motor.J, &a.Mechanical.Inertia, &a.Limits.MaxInertia} {
								*j *= inertia
							}
						}
						if a.Law != nil {
							scaleForces(a.Law, force)
							a.Comp.Scale /= force
						}
					}
				})
			})
		}
	}
}

// scaleForces multiplies every force of a law.
func scaleForces(law friction.Model, by float64) {
	params := law.Params()
	theta := make([]float64, len(params))
	for i, p := range params {
		if theta[i] = p.Value; strings.HasPrefix(p.Unit, "N") {
			theta[i] *= by
		}
	}
	if err := law.SetParams(theta); err != nil {
		panic(err)
	}
}

// playExamples plays all examples with the controller of a file as it is changed, and tells how many.
func playExamples(t *testing.T, seconds int, change func(*hil.ControllerSpec)) (played int) {
	files, _ := filepath.Glob("../../configs/*.yaml")
	for _, f := range files {
		if text, _ := os.ReadFile(f); !strings.Contains(string(text), "port: virtual") {
			continue
		}
		t.Run(filepath.Base(f), func(t *testing.T) {
			cfg, err := configs.Load(f)
			if err != nil {
				t.Fatal(err)
			}
			plant, err := rigSpec(cfg)
			if err != nil {
				t.Fatal(err)
			}
			spec, err := ControllerSpec(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if change != nil {
				change(&spec)
			}
			role, err := hil.NewController(spec)
			if err != nil {
				t.Fatal(err)
			}
			schema := role.Schema()
			board, near := newEnd(plant.Recv, plant.Send), newEnd(schema.Meas, schema.Cmd)
			board.other, near.other = near, board
			place := func(channels []hil.Channel, name string) int {
				for i := range channels {
					if channels[i].Name == name {
						return i
					}
				}
				return -1
			}
			for i, c := range plant.Recv {
				board.from[i], board.every[i] = place(schema.Cmd, c.Name), 1
			}
			rate := map[string]float64{}
			count := map[string]float64{}
			for i := range cfg.Devices {
				d := &cfg.Devices[i]
				rate[d.Name] = cfg.DeviceRate(d)
				for _, m := range d.Measure {
					if typ := m.Type.String(); typ != "f32" && typ != "f64" && typ != "text" {
						count[d.Name+"."+m.Name] = m.Scale
					}
				}
			}
			for i, c := range schema.Meas {
				near.from[i], near.every[i], near.count[i] = place(plant.Send, c.Name), max(1, int(spec.Rate/rate[c.Owner]+0.5)), count[c.Name]
			}
			far, mine := &stepClock{period: int64(1e9/plant.Rate + 0.5)}, &stepClock{period: int64(1e9/spec.Rate + 0.5)}
			o := &orders{}
			rig, loop := hil.NewLoop(far, board, &orders{}, hil.NewPlant(*plant), 1), hil.NewLoop(mine, near, o, role, 1)
			driven := len(schema.Cmd) > 0
			for mine.t < int64(seconds)*1e9 {
				for far.t <= mine.t {
					far.left = 1
					rig.Run()
				}
				mine.left = 1
				loop.Run()
				switch o.row.Mode {
				case hil.Ready:
					if o.next = hil.ReqArm; !driven {
						o.next = hil.ReqNone
					}
				case hil.Armed:
					o.next = hil.ReqRun
				case hil.Trip, hil.Hold:
					t.Fatalf("after %.3f s: %v: %s", float64(mine.t)*1e-9, o.row.Mode, o.row.CauseText(&schema))
				}
			}
			if driven && o.row.Mode != hil.Run {
				t.Errorf("%v: %s", o.row.Mode, o.row.CauseText(&schema))
			}
			played++
		})
	}
	return played
}
