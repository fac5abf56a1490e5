package hil

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/hil/axis"
)

// A motor with its load, written here from the equations alone: Coulomb friction, a winding that is open, shorted, or at a voltage.
type looseMotor struct {
	speed, current float64 // rad/s, A
	volts          float64 // V  of a drive that is on
	on, shorted    bool
	torque         float64 // N·m  of a hand or a weight
	held           float64 // rad/s  a hand turns it just so
}

const (
	looseR, looseK, looseJ, looseF = 1.2, 0.042, 7e-5, 15e-3
)

func (m *looseMotor) ms() {
	for range 20 {
		const h = 1e-3 / 20
		switch {
		case m.on:
			m.current = (m.volts - looseK*m.speed) / looseR
		case m.shorted:
			m.current = -looseK * m.speed / looseR
		default:
			m.current = 0
		}
		if m.held != 0 {
			m.speed = m.held
			continue
		}
		drive := looseK*m.current + m.torque
		if m.speed == 0 && math.Abs(drive) <= looseF {
			continue
		}
		next := m.speed + h/looseJ*(drive-math.Copysign(looseF, m.speed))
		if next*m.speed < 0 {
			next = 0
		}
		m.speed = next
	}
}

// A drive that is on though it should be off is told within a quarter of a second by its current, within the time that friction would have needed
// by its speed, in READY and in ESTOP alike, and keeps the rig from being ready. A motor that coasts, is braked by its winding, or is turned
// by a hand or a weight is none.
func TestOffIsConfirmed(t *testing.T) {
	blocked := func(amps float64) func(*looseMotor) {
		return func(m *looseMotor) { m.on, m.volts, m.held = true, amps*looseR, 1e-12 }
	}
	for _, c := range []struct {
		name   string
		driven float64                   // rad/s  at the stop
		then   func(m *looseMotor)       // from then on
		at     map[int]func(*looseMotor) // ms later
		told   int                       // ms until it must be told; 0: never
	}{
		{"coasts", 40, func(*looseMotor) {}, nil, 0},
		{"braked by its winding", 40, func(m *looseMotor) { m.shorted = true }, nil, 0},
		{"a hand turns it", 40, func(*looseMotor) {}, map[int]func(*looseMotor){800: func(m *looseMotor) { m.held = 12 }}, 0},
		{"a hand turns it, winding shorted", 40, func(m *looseMotor) { m.shorted = true }, map[int]func(*looseMotor){800: func(m *looseMotor) { m.held = -25 }}, 0},
		{"a weight pulls it back", 40, func(m *looseMotor) { m.torque = -0.02 }, map[int]func(*looseMotor){1500: func(m *looseMotor) { m.torque = 0 }}, 0},
		{"never driven, a weight", 0, func(m *looseMotor) { m.torque = 0.0151 }, nil, 0},
		{"stays on", 40, func(m *looseMotor) { m.on, m.volts = true, looseK*40+looseF/looseK*looseR }, nil, 900},
		{"stays on, the other way", -40, func(m *looseMotor) { m.on, m.volts = true, -looseK*40-looseF/looseK*looseR }, nil, 900},
		{"8 A in a blocked shaft", 0, blocked(8), nil, 250},
		{"-8 A in a blocked shaft", 0, blocked(-8), nil, 250},
		{"1.1 A", 0, blocked(1.1), nil, 400},
		{"0.9 A", 0, blocked(0.9), nil, 0},
		{"-0.9 A", 0, blocked(-0.9), nil, 0},
		{"turns and draws 3 A from rest", 0, func(*looseMotor) {}, map[int]func(*looseMotor){500: func(m *looseMotor) { m.held, m.on, m.volts = 30, true, 3*looseR+looseK*30 }}, 800},
		{"brakes with 5 A while it turns slowly", 0, func(m *looseMotor) { m.held, m.on, m.volts = 20, true, -5*looseR+looseK*20 }, nil, 250},
	} {
		for _, order := range []Request{ReqStop, ReqEstop} {
			spec := axis.Spec{Drive: plant.VoltageDrive, TopCommand: 24, Motor: plant.Motor{R: looseR, K: looseK, J: looseJ}, Law: demoLaw()}
			g := newRigged(t, func(s *GuardSpec) {
				s.Axes[0].AxisLimits = AxisLimits{}
				s.Axes[0].Driven, s.Axes[0].Off = true, spec.Off(true)
				s.Meas[0].Lo, s.Meas[0].Hi = -1e6, 1e6
			})
			m := &looseMotor{}
			tick := func(q Request) {
				g.meas[0], g.meas[1] = m.speed, m.current
				g.tick(1, q)
				m.ms()
			}
			for range 30 {
				tick(ReqNone)
			}
			if c.driven != 0 {
				tick(ReqArm)
				tick(ReqRun)
				m.held, m.on, m.volts = c.driven, true, looseK*c.driven+looseF/looseK*looseR
				for range 500 {
					tick(ReqNone)
				}
				if g.row.Mode != Run {
					t.Fatalf("%s: %v (%v)", c.name, g.row.Mode, g.row.Cause)
				}
				*m = looseMotor{speed: c.driven}
			}
			tick(order)
			c.then(m)
			told := 0
			for ms := 1; ms <= 3000; ms++ {
				if do := c.at[ms]; do != nil {
					do(m)
				}
				tick(ReqNone)
				if g.row.Flags&FlagNotOff != 0 && told == 0 {
					told = ms
				}
			}
			t.Logf("%s, %v: told after %d ms, %v (%v %.3g of %.3g)", c.name, order, told, g.row.Mode, g.row.Cause, g.row.Value, g.row.Limit)
			if c.told == 0 && told != 0 || c.told > 0 && (told == 0 || told > c.told) {
				t.Errorf("%s, %v: told after %d ms, want %d", c.name, order, told, c.told)
			}
			want := map[Request][2]Mode{ReqStop: {Ready, SelfTest}, ReqEstop: {Estop, Estop}}[order][min(1, c.told)]
			if g.row.Mode != want || want == SelfTest && g.row.Cause != CauseNotOff {
				t.Errorf("%s, %v: %v (%v), want %v", c.name, order, g.row.Mode, g.row.Cause, want)
			}
			for _, q := range []Request{ReqArm, ReqReset} {
				if c.told > 0 && g.tick(1, q) == Taken {
					t.Errorf("%s: %v is taken after %v", c.name, q, order)
				}
			}
			// the energy is taken off: ready again, or to be reset
			if c.told > 0 {
				*m = looseMotor{}
				for range 400 {
					tick(ReqNone)
				}
				if g.row.Flags&FlagNotOff != 0 || order == ReqStop && g.row.Mode != Ready || order == ReqEstop && g.tick(1, ReqReset) != Taken {
					t.Errorf("%s, %v: off again, and %v (%v)", c.name, order, g.row.Mode, g.row.Cause)
				}
			}
		}
	}
}

// A device that says no to commands trips a driven rig, keeps one that is not from being ready, and from a reset; so does one that does not
// answer, after a longer time. One refusal among many is nothing.
func TestCommandsNotTaken(t *testing.T) {
	for _, c := range []struct {
		flag Flags
		ms   int // patience
	}{{FlagCommandRefused, 200}, {FlagCommandLost, 500}} {
		g := newRigged(t, nil)
		g.running()
		for range 5 { // for almost as long, again and again
			g.row.Flags = c.flag
			g.ticks(c.ms-1, 1)
			g.row.Flags = 0
			g.ticks(1, 1)
		}
		g.want(Run, CauseCommand)
		g.row.Flags, g.row.Where = c.flag, 1
		g.ticks(c.ms+2, 1)
		if g.row.Mode != Trip || g.row.Cause != CauseRefused {
			t.Fatalf("flag %b: %v (%v)", c.flag, g.row.Mode, g.row.Cause)
		}
		g.ticks(10, 0)
		if g.row.Flags&FlagNotOff == 0 {
			t.Error("nobody is told that off is not known")
		}
		if g.tick(0, ReqReset) != CauseRemains {
			t.Error("a reset is taken")
		}
		g.row.Flags = 0
		g.tick(0, ReqReset)
		g.ticks(30, 0)
		g.want(Ready, CauseNone)
		g.row.Flags = c.flag
		g.ticks(c.ms+2, 0)
		g.want(SelfTest, CauseRefused)
	}
}

// What an axis may show follows from what is known of it.
func TestOffLimits(t *testing.T) {
	m := plant.Motor{R: 2, K: 0.05, J: 1e-4}
	for _, c := range []struct {
		name   string
		s      axis.Spec
		ends   bool
		limits []float64
		want   axis.OffLimits
	}{
		{"voltage", axis.Spec{Drive: plant.VoltageDrive, TopCommand: 12, Motor: m, Law: demoLaw()}, true, []float64{9}, axis.OffLimits{Current: 0.3, Voltage: 0.6, Braking: 0.025, BackEMF: 0.05, Slows: 150, Fast: 2.4}},
		{"current", axis.Spec{Drive: plant.CurrentDrive, TopCommand: 10, Motor: m, MaxSpeed: 50}, true, []float64{9}, axis.OffLimits{Current: 0.5, Braking: math.Inf(1), Fast: 0.5}},
		{"effort, a limit is known", axis.Spec{Drive: plant.EffortDrive, TopCommand: 10}, true, []float64{0, 8}, axis.OffLimits{Current: 0.4, Braking: math.Inf(1)}},
		{"effort, nothing is known", axis.Spec{Drive: plant.EffortDrive, TopCommand: 10}, true, []float64{0, 0}, axis.OffLimits{Braking: math.Inf(1)}},
		{"velocity without an enable line holds its place", axis.Spec{Drive: plant.VelocityDrive, TopCommand: 10}, false, []float64{8}, axis.OffLimits{Braking: math.Inf(1), Fast: 0.1}},
	} {
		got := c.s.Off(c.ends, c.limits...)
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9*math.Abs(b) }
		if !near(got.Current, c.want.Current) || !near(got.Voltage, c.want.Voltage) || !near(got.Braking, c.want.Braking) || !near(got.BackEMF, c.want.BackEMF) || !near(got.Slows, c.want.Slows) || !near(got.Fast, c.want.Fast) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
