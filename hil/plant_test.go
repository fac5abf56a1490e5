package hil

import (
	"math"
	"slices"
	"testing"

	"hilrig/engine"
)

// twoDrives is a machine of two drives that notes what it is told: its outputs are the inputs of the last step, how often it was
// stepped, and the time of its script.
type twoDrives struct {
	u     [4]float64
	steps float64
	at    float64
	st    engine.Status
}

func (m *twoDrives) Layout() engine.Layout       { return engine.Layout{} }
func (m *twoDrives) Play(t float64, _ []float64) { m.at = t }
func (m *twoDrives) Read(y, sensors []float64)   { copy(sensors, y[:2]) }
func (m *twoDrives) Step(_ float64, _, u, y []float64) engine.Status {
	copy(m.u[:], u)
	m.steps++
	y[0], y[1] = u[0], u[2]
	return m.st
}

// Two drives on two boards: each has its own watchdog, enable line and status word, and one that is silent does not switch off the
// other. The sensors of one board follow those of the other, its status word behind them.
func TestPlantOfTwoDrives(t *testing.T) {
	const rate = 100.0
	m := &twoDrives{}
	recv := append(Of("a", engine.Signal{Name: "u"}, engine.Signal{Name: "on"}), Of("b", engine.Signal{Name: "u"})...)
	send := Of("b", engine.Signal{Name: "x"}, engine.Signal{Name: "y"}, engine.Signal{Name: "status a"}, engine.Signal{Name: "status b"})
	p := NewPlant(PlantSpec{Rate: rate, Substeps: 3, Machine: m, Recv: recv, Send: send,
		Truth:  Of("plant", engine.Signal{Name: "x"}, engine.Signal{Name: "y"}),
		Drives: []PlantDrive{{Command: 0, Enable: 1, Status: 2, Watchdog: 0.025}, {Command: 2, Enable: -1, Status: 3, Watchdog: 0.045}}})
	s := p.Schema()
	var r Row
	var b Blocks
	b.Meas, b.Est, b.Model, b.Cmd = s.Blocks(&r)
	tick := func(fresh uint64, u, on, v float64) {
		r.FreshSignals = Fresh{fresh}
		copy(b.Meas, []float64{u, on, v})
		p.Decide(&r, &b)
		p.Compute(&r, &b)
		p.Guard(&r, &b)
	}
	for i, c := range []struct {
		fresh    uint64
		u, on, v float64
		want     [4]float64 // what the machine is told
		status   [2]float64
		mode     Mode
	}{
		{0, 5, 1, 7, [4]float64{}, [2]float64{3, 3}, Ready},                  // no command yet
		{7, 5, 0, 7, [4]float64{0, 0, 7, 1}, [2]float64{2, 0}, Run},          // a is not enabled
		{3, 5, 1, 7, [4]float64{5, 1, 7, 1}, [2]float64{0, 0}, Run},          //
		{3, 6, 1, 8, [4]float64{6, 1, 7, 1}, [2]float64{0, 0}, Run},          // b's command is not fresh: the old one holds
		{0, 9, 1, 8, [4]float64{6, 1, 7, 1}, [2]float64{0, 0}, Run},          // 10 ms of a, 30 ms of b
		{0, 9, 1, 8, [4]float64{6, 1, 7, 1}, [2]float64{0, 0}, Run},          // 20 ms, 40 ms
		{4, 9, 1, 8, [4]float64{0, 0, 8, 1}, [2]float64{3, 0}, Run},          // 30 ms: a's watchdog
		{3, math.NaN(), 1, 8, [4]float64{0, 0, 8, 1}, [2]float64{0, 0}, Run}, // a number that is none drives nothing
		{3, 4, 0.5, 8, [4]float64{0, 0, 8, 1}, [2]float64{2, 0}, Run},        // an enable line is 1 or off
		{0, 4, 1, 8, [4]float64{0, 0, 8, 1}, [2]float64{2, 0}, Run}, {0, 4, 1, 8, [4]float64{0, 0, 8, 1}, [2]float64{2, 0}, Run},
		{0, 4, 1, 8, [4]float64{}, [2]float64{3, 3}, Ready},
	} {
		tick(c.fresh, c.u, c.on, c.v)
		if m.u != c.want || b.Cmd[2] != c.status[0] || b.Cmd[3] != c.status[1] || r.Mode != c.mode {
			t.Errorf("tick %d: told %v, status %v, %v; want %v, %v, %v", i, m.u, b.Cmd[2:], r.Mode, c.want, c.status, c.mode)
		}
		if b.Cmd[0] != m.u[0] || b.Model[1] != m.u[2] {
			t.Errorf("tick %d: sensors %v, truth %v of %v", i, b.Cmd, b.Model, m.u)
		}
	}
	if m.steps != 36 || math.Abs(m.at-0.12) > 1e-12 {
		t.Errorf("%g steps, script at %g s; want 36, 0.12", m.steps, m.at)
	}
	// skipped ticks are made up for: neither the plant nor its script stands still, and the watchdog counts them
	tick(7, 1, 1, 1)
	r.Skip = 4
	tick(0, 1, 1, 1)
	if m.steps != 36+3+15 || math.Abs(m.at-0.18) > 1e-12 || m.u != [4]float64{} {
		t.Errorf("after a gap %g steps, script at %g s, told %v", m.steps, m.at, m.u)
	}
	// a machine that is lost is a fault of every board, as long as it is; one whose step was not met goes on
	for _, c := range []struct {
		st     engine.Status
		status float64
	}{{engine.NotConverged, 0}, {engine.Lost, 4}, {engine.OK, 0}} {
		m.st, r.Skip, r.Flags = c.st, 0, 0
		tick(7, 1, 1, 1)
		if b.Cmd[2] != c.status || b.Cmd[3] != c.status || r.Flags&FlagEstimator != 0 != (c.st != engine.OK) {
			t.Errorf("%v: status %v, flags %v", c.st, b.Cmd[2:4], r.Flags)
		}
	}
	if names := Signals(s.Channels()); !slices.Equal(names[:3], Signals(recv)) || s.Len() != 9 {
		t.Errorf("schema %v", names)
	}
}

// A board without a status word cannot say that the machine is lost: its sensors are silent, as long as it is.
func TestPlantLostWithoutStatus(t *testing.T) {
	m := &twoDrives{}
	recv := append(Of("a", engine.Signal{Name: "u"}), Of("b", engine.Signal{Name: "u"})...)
	send := Of("b", engine.Signal{Name: "x"}, engine.Signal{Name: "y"}, engine.Signal{Name: "status a"})
	p := NewPlant(PlantSpec{Rate: 100, Substeps: 1, Machine: m, Recv: recv, Send: send,
		Truth:  Of("plant", engine.Signal{Name: "x"}, engine.Signal{Name: "y"}),
		Drives: []PlantDrive{{Command: 0, Enable: -1, Status: 2, Watchdog: 0.025}, {Command: 1, Enable: -1, Status: -1, Watchdog: 0.025}}})
	s := p.Schema()
	var r Row
	var b Blocks
	b.Meas, b.Est, b.Model, b.Cmd = s.Blocks(&r)
	for _, st := range []engine.Status{engine.OK, engine.NotConverged, engine.Lost, engine.Lost, engine.OK} {
		m.st, r.FreshSignals = st, Fresh{3}
		p.Decide(&r, &b)
		p.Compute(&r, &b)
		p.Guard(&r, &b)
		if lost := st == engine.Lost; math.IsNaN(b.Cmd[0]) != lost || math.IsNaN(b.Cmd[1]) != lost ||
			b.Cmd[2] != map[bool]float64{true: StatusLost}[lost] {
			t.Errorf("%v: sensors and status %v", st, b.Cmd)
		}
	}
	m.st = engine.Lost
	if n := testing.AllocsPerRun(10, func() { p.Compute(&r, &b); p.Guard(&r, &b) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
