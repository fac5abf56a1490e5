package sink

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
	"hilrig/hil"
)

// boardRun is a board that samples by its own clock, and a daemon that looks at it once a tick.
type boardRun struct {
	rate, period float64             // Hz of the ticks, s between samples
	delay        func(k int) float64 // s  from the sampling of sample k to its arrival
	clocked      bool                // the age is that of the sampling instant, not of the arrival
	uneven       float64             // s  by which the board's sampling times scatter, known to it
	shift        func(k int) float64 // s  of the raster by which a device is asked; nil: it is not asked
	step         float64             // rad  of the encoder; 0: none
	awake        func(tick int) bool
	mode         func(t float64) hil.Mode
	seconds      float64
}

const boardTone = 2 * math.Pi * 2.3 // rad/s

// angle is the motion of the board's axis, rad.
func boardAngle(t float64) float64 { return 0.6 * math.Sin(boardTone*t+0.4) }

func boardSchema(rate float64) hil.Schema {
	s := hil.Schema{Rig: "board", Rate: rate,
		Meas: hil.Of("drive", engine.Signal{Name: "motor.angle", Unit: "rad"}, engine.Signal{Name: "age", Unit: "s"}),
		Est:  hil.Of("shaft", engine.Signal{Name: "est.position", Unit: "rad"}),
		Cmd:  hil.Of("drive", engine.Signal{Name: "voltage", Unit: "V"}),
	}
	s.Meas[0].Age, s.Meas[1].Role = "drive.age", hil.RoleAge
	return s
}

// rows are what the daemon records.
func (b boardRun) rows() (rows []hil.Row) {
	rng := rand.New(rand.NewPCG(5, 11))
	type sample struct{ at, arrived float64 }
	var sent []sample
	for k := 0; float64(k)*b.period < b.seconds; k++ {
		at := float64(k)*b.period + b.uneven*(2*rng.Float64()-1)
		if b.shift != nil {
			at += b.shift(k)
		}
		sent = append(sent, sample{at, at + b.delay(k)})
	}
	seen, skipped := -1, uint32(0)
	for i := 1; float64(i)/b.rate < b.seconds; i++ {
		if b.awake != nil && !b.awake(i) {
			skipped++
			continue
		}
		t := float64(i) / b.rate
		r := hil.Row{Seq: uint64(len(rows) + 1), T: int64(math.Round(t*1e9)) + 17e9, Lateness: 20e3, BusyTime: 30e3, Mode: hil.Run, Epoch: 1,
			Skip: skipped}
		skipped = 0
		if b.mode != nil {
			r.Mode = b.mode(t)
		}
		n := seen
		for n+1 < len(sent) && sent[n+1].arrived <= t {
			n++
		}
		if n > seen {
			r.FreshSignals, seen = hil.Fresh{3}, n
		}
		if seen >= 0 {
			r.X[0], r.X[1] = boardAngle(sent[seen].at), t-sent[seen].arrived
			if b.step > 0 {
				r.X[0] = b.step * math.Round(r.X[0]/b.step)
			}
			if b.clocked {
				r.X[1] = t - sent[seen].at
			}
		}
		r.X[2], r.X[3] = boardAngle(t), t
		rows = append(rows, r)
	}
	return rows
}

// read records the rows and reads them back as samples.
func (b boardRun) read(t *testing.T, opt SampleOptions, names ...string) ([][]float64, []string, error) {
	t.Helper()
	s, x, err := b.samples(t, opt, names...)
	return x, s.Notes(), err
}

func (b boardRun) samples(t *testing.T, opt SampleOptions, names ...string) (*Samples, [][]float64, error) {
	t.Helper()
	info := benchInfo(1)
	info.Schema, info.Mono = boardSchema(b.rate), 17e9
	rec, err := NewRecorder(t.TempDir(), info, RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Run(finished(), &rowSlice{rows: b.rows()}); err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(rec.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	opt.Period, opt.Clocked, opt.Polled = b.period, b.clocked, b.shift != nil
	s := run.Samples(opt)
	x, err := s.Columns(context.Background(), names)
	return s, x, err
}

// Samples that are filled in hide the step of the encoder, so it is told; where none are filled in, they show it themselves.
func TestStepOfFilledSamples(t *testing.T) {
	const step, angle = 2 * math.Pi / 65536, "drive.motor.angle"
	b := boardRun{rate: 1000, period: 1e-3, clocked: true, delay: func(int) float64 { return 0.4e-3 }, step: step, seconds: 6}
	s, x, err := b.samples(t, SampleOptions{}, SampleTime, angle)
	if err != nil || s.Step(angle) != 0 || math.Abs(numeric.EncoderStep(x[1])/step-1) > 1e-3 {
		t.Errorf("nothing lost: %g, the samples show %g, %v", s.Step(angle), numeric.EncoderStep(x[1]), err)
	}
	b.awake = func(i int) bool { return i%7 != 3 && i%11 != 5 } // one in five
	s, x, err = b.samples(t, SampleOptions{}, SampleTime, angle)
	if err != nil || math.Abs(s.Step(angle)/step-1) > 1e-3 {
		t.Errorf("one in five lost: %g, want %g, %v", s.Step(angle), step, err)
	}
	if shown := numeric.EncoderStep(x[1]); math.Abs(shown/step-1) < 0.1 {
		t.Errorf("the filled samples show the step %g themselves: this test says nothing", shown)
	}
	if s.Step(SampleTime) != 0 {
		t.Error("time has a step")
	}
}

// Every sample comes once, at the time at which it was taken, whatever the ticks did: late, skipped, without news.
func TestSamplesInTheirOwnTime(t *testing.T) {
	even := func(int) float64 { return 0.4e-3 }
	rng := rand.New(rand.NewPCG(3, 9))
	jitter := make([]float64, 1<<14)
	for k := range jitter {
		jitter[k] = 0.3e-3 + 0.4e-3*rng.ExpFloat64()
	}
	for _, c := range []struct {
		name   string
		b      boardRun
		pieces int
		within float64 // s  of the sampling time; a constant delay of arrival counts as none
	}{
		{"one for one", boardRun{rate: 1000, period: 0.99997e-3, clocked: true, delay: even}, 1, 1e-7},
		{"slower than the ticks", boardRun{rate: 1000, period: 5.0003e-3, clocked: true, delay: even}, 1, 1e-7},
		{"faster than the ticks", boardRun{rate: 200, period: 4.6e-3, clocked: true, delay: even}, 1, 1e-7},
		{"skipped ticks", boardRun{rate: 1000, period: 0.99997e-3, clocked: true, delay: even,
			awake: func(i int) bool { return i%97 > 4 }}, 1, 1e-7},
		{"a stop of the host", boardRun{rate: 1000, period: 0.99997e-3, clocked: true, delay: even,
			awake: func(i int) bool { return i%1000 > 40 }}, 4, 1e-7},
		{"no clock of the device", boardRun{rate: 200, period: 5.001e-3,
			delay: func(k int) float64 { return jitter[k] }}, 1, 0.2e-3},
		{"no clock, and frames held up for more than a period", boardRun{rate: 200, period: 5.001e-3,
			delay: func(k int) float64 { return jitter[k] + map[bool]float64{true: 7e-3}[k%50 == 49] }}, 1, 0.4e-3},
		{"asked, and the raster jumps", boardRun{rate: 1000, period: 5e-3, delay: func(k int) float64 { return jitter[k] },
			shift: func(k int) float64 {
				return map[bool]float64{true: 3.4e-3}[k > 300] - map[bool]float64{true: 1.9e-3}[k > 520]
			}}, 1, 0.6e-3},
		{"a clock, and uneven samples", boardRun{rate: 200, period: 5e-3, clocked: true, uneven: 1e-3, delay: even}, 1, 1e-7},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.b.seconds = 4
			x, notes, err := c.b.read(t, SampleOptions{}, SampleTime, SamplePiece, "drive.motor.angle", "shaft.est.position", "drive.voltage")
			if err != nil {
				t.Fatal(err)
			}
			// the constant part of the delay of arrival cannot be seen by anybody: the mean lag of the angle
			lag, speed := 0.0, 0.0
			tick := float64(c.b.rows()[0].T-17e9) * 1e-9 // of the first row, from which times count
			for k, at := range x[0] {
				v := 0.6 * boardTone * math.Cos(boardTone*(at+tick)+0.4)
				lag += (boardAngle(at+tick) - x[2][k]) * v
				speed += v * v
			}
			if lag /= speed; c.b.clocked && math.Abs(lag) > 1e-7 || math.Abs(lag) > 2e-3 {
				t.Errorf("times are %.3g s late", lag)
			}
			worst, est, cmd := 0.0, 0.0, 0.0
			for k, at := range x[0] {
				at += tick
				worst = max(worst, math.Abs(x[2][k]-boardAngle(at-lag)))
				est = max(est, math.Abs(x[3][k]-boardAngle(at)))
				if age := at - x[4][k]; age < 45e-6 || age > 1/c.b.rate+55e-6 {
					cmd = max(cmd, age)
				}
			}
			if limit := c.within * 0.6 * boardTone; worst > limit+2e-5 {
				t.Errorf("an angle is off by %.3g rad, %.3g s: %v", worst, worst/0.6/boardTone, notes)
			}
			if h := 1 / c.b.rate; c.b.awake == nil && c.b.clocked && est > 0.6*boardTone*boardTone*h*h/8*1.01 {
				t.Errorf("the estimate at a sample's time is off by %.3g rad", est)
			}
			if c.b.awake == nil && cmd > 0 {
				t.Errorf("a command is %.3g s old at the sample it acts on", cmd)
			}
			if last := x[1][len(x[1])-1]; int(last) != c.pieces {
				t.Errorf("%g pieces, want %d: %v", last, c.pieces, notes)
			}
			want := c.b.seconds / c.b.period
			if n := float64(len(x[0])); n > want+1 || n < 0.93*want && c.b.uneven == 0 {
				t.Errorf("%g samples of %.0f", n, want)
			}
		})
	}
}

// Only samples of the drive as wanted count, and none from before it was so.
func TestSamplesByMode(t *testing.T) {
	b := boardRun{rate: 1000, period: 1e-3, clocked: true, seconds: 4, delay: func(int) float64 { return 0.4e-3 },
		mode: func(t float64) hil.Mode {
			switch {
			case t < 1:
				return hil.Ready
			case t < 2:
				return hil.Run
			case t < 2.5:
				return hil.Trip
			case t < 3:
				return hil.Run
			case t < 3.5:
				return hil.Hold
			}
			return hil.Ready
		}}
	for _, c := range []struct {
		still  bool
		pieces [][2]float64
	}{
		{false, [][2]float64{{1, 2}, {2.5, 3}, {3, 3.5}}},
		{true, [][2]float64{{0, 1}, {2, 2.5}, {3.5, 4}}},
	} {
		x, _, err := b.read(t, SampleOptions{DriveOff: c.still}, SampleTime, SamplePiece, "drive.motor.angle")
		if err != nil {
			t.Fatal(err)
		}
		for k, at := range x[0] {
			p := int(x[1][k]) - 1
			if at += 1e-3; p >= len(c.pieces) || at < c.pieces[p][0]-1e-6 || at > c.pieces[p][1] {
				t.Fatalf("still %v: a sample of %g s in piece %d", c.still, at, p+1)
			}
		}
		if got := int(slices.Max(x[1])); got != len(c.pieces) {
			t.Errorf("still %v: %d pieces, want %d", c.still, got, len(c.pieces))
		}
	}
	b.mode = func(float64) hil.Mode { return hil.Ready }
	if _, _, err := b.read(t, SampleOptions{}, SampleTime, "drive.motor.angle"); !errors.Is(err, errNoSamples) ||
		!strings.Contains(err.Error(), "never on") {
		t.Errorf("a drive that was never on: %v", err)
	}
	if _, _, err := b.read(t, SampleOptions{}, SampleTime, "drive.motor.angel"); !errors.Is(err, ErrChannel) ||
		!strings.Contains(err.Error(), "drive.motor.angle") {
		t.Errorf("a wrong name: %v", err)
	}
}

// Every column that is offered can be read, and none of a sound run is NaN.
func TestEverySampleColumn(t *testing.T) {
	b := boardRun{rate: 1000, period: 1e-3, clocked: true, seconds: 0.2, delay: func(int) float64 { return 0.4e-3 }}
	schema := boardSchema(b.rate)
	var names []string
	for _, s := range (&Samples{run: &Run{Info: hil.Info{Schema: schema}}}).Signals() {
		names = append(names, s.Name)
	}
	x, _, err := b.read(t, SampleOptions{}, names...)
	if err != nil {
		t.Fatal(err)
	}
	for j, name := range names {
		if !numeric.AllFinite(x[j]...) || len(x[j]) == 0 {
			t.Errorf("%s: %v", name, x[j])
		}
	}
	if _, _, err := b.read(t, SampleOptions{}, "mode"); !errors.Is(err, ErrChannel) {
		t.Errorf("mode is no number: %v", err)
	}
}

// Columns of two boards: the samples are those of the base; the other is taken at their times, between its own samples, and what falls
// into a gap of it is left out.
func TestSamplesOfTwoBoards(t *testing.T) {
	schema := boardSchema(1000)
	schema.Meas = append(schema.Meas, hil.Of("table", engine.Signal{Name: "torque", Unit: "N·m"}, engine.Signal{Name: "age", Unit: "s"})...)
	schema.Meas[2].Age, schema.Meas[3].Role = "table.age", hil.RoleAge
	info := benchInfo(1)
	info.Schema, info.Mono = schema, 17e9
	rec, err := NewRecorder(t.TempDir(), info, RecorderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// the angle comes each 5 ms, 0.4 ms old; the torque each 1.7 ms, 0.25 ms old, and not at all from 2.0 to 2.1 s
	torque := func(at float64) float64 { return math.Sin(2 * math.Pi * 3 * at) }
	var rows []hil.Row
	angleAt, torqueAt := -1.0, -1.0
	nextAngle, nextTorque := 0.0, 0.0
	for k := range 4000 {
		now := float64(k) * 1e-3
		r := hil.Row{Seq: uint64(k + 1), T: 20e9 + int64(k)*1e6, Mode: hil.Run, Epoch: 1}
		for nextAngle+0.4e-3 <= now {
			angleAt, nextAngle = nextAngle, nextAngle+5e-3
			hil.SetFresh(&r.FreshSignals, 0)
			hil.SetFresh(&r.FreshSignals, 1)
		}
		for nextTorque+0.25e-3 <= now {
			if nextTorque < 2 || nextTorque > 2.1 {
				torqueAt = nextTorque
				hil.SetFresh(&r.FreshSignals, 2)
				hil.SetFresh(&r.FreshSignals, 3)
			}
			nextTorque += 1.7e-3
		}
		r.X[0], r.X[1], r.X[2], r.X[3] = boardAngle(angleAt), now-angleAt, torque(torqueAt), now-torqueAt
		rows = append(rows, r)
	}
	if err := rec.Run(finished(), &rowSlice{rows: rows}); err != nil {
		t.Fatal(err)
	}
	run, err := OpenRun(rec.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	s := run.Samples(SampleOptions{Base: "drive.motor.angle", Period: 5e-3, Clocked: true})
	x, err := s.Columns(context.Background(), []string{"table.torque", SampleTime, "drive.motor.angle", SamplePiece})
	if err != nil {
		t.Fatal(err)
	}
	n, pieces := len(x[0]), x[3][len(x[3])-1]
	if n < 750 || n > 785 || pieces != 2 || len(s.Notes()) == 0 || !strings.Contains(s.Notes()[0], "table.torque is sampled at other times "+
		"than drive.motor.angle") {
		t.Fatalf("%d samples in %g pieces, notes %q", n, pieces, s.Notes())
	}
	for i, at := range x[1] {
		if at > 2.001 && at < 2.1 {
			t.Errorf("a sample at %g s, where no torque came", at)
		}
		// a mean over T loses the share (ω·T)²/24 of a sine, a straight line over h at most (ω·h)²/8; the shift is none
		const w = 2 * math.Pi * 3
		if e := x[0][i] - torque(at)*(1-math.Pow(w*5e-3, 2)/24); math.Abs(e) > math.Pow(w*1.7e-3, 2)/8+1e-6 ||
			math.Abs(x[2][i]-boardAngle(at)) > 1e-6 {
			t.Fatalf("at %g s: torque off by %g, angle by %g", at, e, x[2][i]-boardAngle(at))
		}
	}
}
