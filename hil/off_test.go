package hil

import (
	"math"
	"testing"

	"hilrig/engine/plant"
	"hilrig/estimator"
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

// A drive that is on though it should be off is told within a quarter of a second by its current, within the time that friction would
// have needed by its speed, in READY and in ESTOP alike, and keeps the rig from being ready. A motor that coasts, is braked by its
// winding, or is turned by a hand or a weight is none.
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
		{"a hand turns it, winding shorted", 40, func(m *looseMotor) { m.shorted = true },
			map[int]func(*looseMotor){800: func(m *looseMotor) { m.held = -25 }}, 0},
		{"a weight pulls it back", 40, func(m *looseMotor) { m.torque = -0.02 },
			map[int]func(*looseMotor){1500: func(m *looseMotor) { m.torque = 0 }}, 0},
		{"never driven, a weight", 0, func(m *looseMotor) { m.torque = 0.0151 }, nil, 0},
		{"stays on", 40, func(m *looseMotor) { m.on, m.volts = true, looseK*40+looseF/looseK*looseR }, nil, 900},
		{"stays on, the other way", -40, func(m *looseMotor) { m.on, m.volts = true, -looseK*40-looseF/looseK*looseR }, nil, 900},
		{"goes on with little, from 5 to 18", 5, func(m *looseMotor) { m.on, m.volts = true, 1.2 }, nil, 900},
		{"goes on with little, from -5 to -18", -5, func(m *looseMotor) { m.on, m.volts = true, -1.2 }, nil, 900},
		{"goes on with little, from 60 to 18", 60, func(m *looseMotor) { m.on, m.volts = true, 1.2 }, nil, 1600},
		{"goes on with little, from -60 to -18", -60, func(m *looseMotor) { m.on, m.volts = true, -1.2 }, nil, 1600},
		{"rests, and a hand speeds it up", 5, func(*looseMotor) {}, map[int]func(*looseMotor){500: func(m *looseMotor) { m.torque = 0.016 }}, 0},
		{"8 A in a blocked shaft", 0, blocked(8), nil, 250},
		{"-8 A in a blocked shaft", 0, blocked(-8), nil, 250},
		{"5 A that die away", 0, blocked(5), map[int]func(*looseMotor){60: func(m *looseMotor) { *m = looseMotor{} }}, 0},
		{"1.1 A", 0, blocked(1.1), nil, 400},
		{"0.9 A", 0, blocked(0.9), nil, 0},
		{"-0.9 A", 0, blocked(-0.9), nil, 0},
		{"turns and draws 3 A from rest", 0, func(*looseMotor) {},
			map[int]func(*looseMotor){500: func(m *looseMotor) { m.held, m.on, m.volts = 30, true, 3*looseR+looseK*30 }}, 800},
		{"brakes with 5 A while it turns slowly", 0, func(m *looseMotor) { m.held, m.on, m.volts = 20, true, -5*looseR+looseK*20 }, nil, 250},
	} {
		for _, order := range []Request{ReqStop, ReqEstop} {
			spec := axis.Spec{Drive: plant.VoltageDrive, TopCommand: 24, Motor: plant.Motor{R: looseR, K: looseK, J: looseJ}, Law: demoLaw()}
			g := newRigged(t, func(s *GuardSpec) {
				s.Axes[0].AxisLimits = AxisLimits{}
				s.Axes[0].HasDrive, s.Axes[0].OffLimits = true, spec.OffLimits(true, 1e-4)
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

// An applied voltage beyond the back-emf is told a little above its limit, to either side, and not below it, whatever it was until 0.2 s
// after the stop.
func TestOffByVoltage(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, speed := range []float64{0, 50, -50} {
			for _, share := range []float64{0.95, 1.05} {
				g := newRigged(t, func(s *GuardSpec) {
					s.Axes[0].AxisLimits, s.Axes[0].HasDrive = AxisLimits{}, true
					s.Axes[0].Measured = [estimator.Quantities]int{0, -1, -1, -1, -1}
					s.Axes[0].Measured[estimator.Voltage] = 1
					s.Axes[0].OffLimits = axis.OffLimits{Voltage: 1.2, BackEMF: 0.04}
				})
				g.running()
				g.meas[0], g.meas[1] = speed, 9*side
				g.tick(0, ReqStop)
				g.ticks(190, 0)
				g.meas[1] = 1.2 * share * side
				if speed*side > 0 {
					g.meas[1] += 0.04 * speed
				}
				g.ticks(5, 0)
				if g.row.Flags&FlagNotOff != 0 {
					t.Errorf("%+g V at %g rad/s: told before 0.2 s", g.meas[1], speed)
				}
				g.ticks(600, 0)
				if told := g.row.Flags&FlagNotOff != 0; told != (share > 1) || told &&
					(g.row.CauseSignal != 2 || g.row.Limit != 1.2 || g.row.Value*side <= 1.2) {
					t.Errorf("%+g V at %g rad/s: told %v, %v %g of %g", g.meas[1], speed, told, g.row.Cause, g.row.Value, g.row.Limit)
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
		g.row.Flags, g.row.CauseSignal = c.flag, 1
		g.ticks(c.ms+2, 1)
		if g.row.Mode != Trip || g.row.Cause != CauseRefused {
			t.Fatalf("flag %b: %v (%v)", c.flag, g.row.Mode, g.row.Cause)
		}
		g.ticks(10, 0)
		if g.row.Flags&FlagNotOff == 0 {
			t.Error("nobody is told that off is not known")
		}
		if !remains(g.tick(0, ReqReset)) {
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

// A device that refuses some commands and leaves others unanswered is one that refuses: neither hides the other.
func TestCommandsRefusedAndLostByTurns(t *testing.T) {
	g := newRigged(t, nil)
	g.running()
	for k := range 210 {
		g.row.Flags, g.row.CauseSignal = FlagCommandLost, 1
		if k/7%2 == 0 {
			g.row.Flags = FlagCommandRefused
		}
		g.ticks(1, 1)
	}
	if g.row.Mode != Trip || g.row.Cause != CauseRefused || g.row.Limit != refusedTime {
		t.Fatalf("%v (%v), limit %g", g.row.Mode, g.row.Cause, g.row.Limit)
	}
}

// What an axis may show follows from what is known of it.
func TestOffLimits(t *testing.T) {
	m := plant.Motor{R: 2, K: 0.05, J: 1e-4}
	for _, c := range []struct {
		name   string
		s      axis.Spec
		ends   bool
		noise  float64
		limits []float64
		want   axis.OffLimits
	}{
		{"voltage", axis.Spec{Drive: plant.VoltageDrive, TopCommand: 12, Motor: m, Law: demoLaw()}, true, 1e-4, []float64{9},
			axis.OffLimits{Current: 0.3, Voltage: 0.6, Braking: 0.025, BackEMF: 0.05, Slows: 150, MinBrakingSpeed: 2.4, RestSpeed: 0.24}},
		{"current", axis.Spec{Drive: plant.CurrentDrive, TopCommand: 10, Motor: m, MaxSpeed: 50}, true, 1e-3, []float64{9},
			axis.OffLimits{Current: 0.5, Braking: math.Inf(1), MinBrakingSpeed: 0.5, RestSpeed: 0.2}},
		{"effort, a limit is known", axis.Spec{Drive: plant.EffortDrive, TopCommand: 10}, true, 1e-3, []float64{0, 8},
			axis.OffLimits{Current: 0.4, Braking: math.Inf(1), RestSpeed: 0.2}},
		{"effort, nothing is known", axis.Spec{Drive: plant.EffortDrive, TopCommand: 10}, true, 0, []float64{0, 0},
			axis.OffLimits{Braking: math.Inf(1)}},
		{"a machine moves it", axis.Spec{Drive: plant.CurrentDrive, MaxSpeed: 50, Coupled: true}, true, 1e-4, nil,
			axis.OffLimits{Braking: math.Inf(1), MinBrakingSpeed: 0.5, RestSpeed: 1, Loaded: true}},
		{"velocity without an enable line holds its place", axis.Spec{Drive: plant.VelocityDrive, TopCommand: 10}, false, 0, []float64{8},
			axis.OffLimits{Braking: math.Inf(1), MinBrakingSpeed: 0.1, RestSpeed: 0.01}},
	} {
		got := c.s.OffLimits(c.ends, c.noise, c.limits...)
		near := func(a, b float64) bool { return a == b || math.Abs(a-b) < 1e-9*math.Abs(b) }
		if !near(got.Current, c.want.Current) || !near(got.Voltage, c.want.Voltage) || !near(got.Braking, c.want.Braking) ||
			!near(got.BackEMF, c.want.BackEMF) || !near(got.Slows, c.want.Slows) || !near(got.MinBrakingSpeed, c.want.MinBrakingSpeed) ||
			!near(got.RestSpeed, c.want.RestSpeed) || got.Loaded != c.want.Loaded {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// What is left of a current and a voltage when nature has had its share, for a winding of which nothing is known and one that is.
func TestOffWatchMeans(t *testing.T) {
	nan := math.NaN()
	unknown, known := axis.OffLimits{Braking: math.Inf(1), MinBrakingSpeed: 0.5},
		axis.OffLimits{Braking: 0.02, BackEMF: 0.05, MinBrakingSpeed: 0.5}
	for _, c := range []struct {
		l                       axis.OffLimits
		speed, current, voltage float64
		amps, volts             float64 // left after a second
	}{
		{unknown, 10, -4, nan, 0, 0}, {unknown, -10, 4, nan, 0, 0},
		{unknown, 10, 4, nan, 4, 0}, {unknown, -10, -4, nan, -4, 0},
		{unknown, 0.4, -4, nan, -4, 0}, {unknown, -0.4, 4, nan, 4, 0}, {unknown, 0, -4, nan, -4, 0},
		{known, 100, -2, 5, 0, 0}, {known, 100, -3, 6, -1, 1}, {known, 100, 1, -1, 1, -1},
		{known, -100, 2, -5, 0, 0}, {known, -100, 3, -6, 1, -1}, {known, 0, 0, 3, 0, 3}, {known, 100, nan, 6, 0, 1},
	} {
		w := offWatch{}
		for range 1000 {
			w.step(&c.l, c.speed, c.current, c.voltage, true, false, 1e-3)
		}
		if math.Abs(w.current.x-c.amps) > 1e-6 || math.Abs(w.voltage.x-c.volts) > 1e-6 || math.Abs(w.sightTime-1) > 1e-9 {
			t.Errorf("%g rad/s, %g A, %g V: %g A and %g V are left", c.speed, c.current, c.voltage, w.current.x, w.voltage.x)
		}
		// out of sight it may turn to either side, as fast as it did
		if l := c.l; !math.IsNaN(c.current) && !math.IsInf(l.Braking, 0) {
			for range 1000 {
				w.step(&l, 7e3, -math.Abs(c.current), math.NaN(), false, false, 1e-3)
			}
			if want := -max(0, math.Abs(c.current)-l.Braking*math.Abs(c.speed)); math.Abs(w.current.x-want) > 1e-6 {
				t.Errorf("out of sight, %g rad/s, %g A: %g A are left, want %g", c.speed, -math.Abs(c.current), w.current.x, want)
			}
		}
	}
}

// An axis goes on when it keeps more than half of its speed three times as long as friction takes to stop it, at any speed that is one,
// and whatever it slowed down to before; or when it is faster than half as much again as it was at its slowest. One that rests is moved
// by something else.
func TestOffWatchMotion(t *testing.T) {
	const slows = 200.0
	for _, c := range []struct {
		name   string
		went   float64
		speed  func(s float64) float64
		slows  float64
		loaded bool
		idle   float64
		told   float64 // s  at the latest; 0: never
	}{
		{"keeps 40", 40, func(float64) float64 { return 40 }, slows, false, 0, 0.81},
		{"keeps 1.1", 1.1, func(float64) float64 { return 1.1 }, slows, false, 0, 0.42},
		{"keeps 0.4, which is rest", 0.4, func(float64) float64 { return 0.4 }, slows, false, 0, 0},
		{"rests, a hand", 40, func(s float64) float64 { return 40 * math.Floor(min(1, s/0.3)) }, slows, false, 0, 0},
		{"thrown back", 40, func(s float64) float64 { return 40 - 80*min(1, s/0.15) }, slows, false, 0, 0},
		{"slows down to 15 and stays", 60, func(s float64) float64 { return 15 + 45*math.Exp(-s/0.1) }, slows, false, 0, 1.5},
		{"a fifth of the friction", 40, func(s float64) float64 { return max(0, 40-slows/5*s) }, slows, false, 0, 0},
		{"a fifth of the friction, slow", 3, func(s float64) float64 { return max(0, 3-slows/5*s) }, slows, false, 0, 0},
		{"coasts, nothing is known", 40, func(s float64) float64 { return 40 * math.Exp(-s/20) }, 0, false, 0, 0},
		{"a drive of velocity goes on", 40, func(s float64) float64 { return 40 }, 0, false, 1, 1.25},
		{"speeds up, nothing is known", 3, func(s float64) float64 { return 3 + 5*s }, 0, false, 0, 1.5},
		{"5 to 20", 5, func(s float64) float64 { return 20 - 15*math.Exp(-s/0.048) }, slows, false, 0, 0.6},
		{"slows down, then speeds up, nothing is known", 10, func(s float64) float64 { return 4 + 6*math.Exp(-s/0.2) + 5*min(1, max(0, s-1)) },
			0, false, 0, 2},
		{"a little faster than at its slowest", 4, func(s float64) float64 { return 4 + min(2, s) }, 0, false, 0, 0},
		{"swings", 5, func(s float64) float64 { return 5 + 10*math.Max(0, math.Sin(15*s)) - 20*max(0, s-1.5) }, 0, false, 0, 0},
		{"a mechanism speeds it up", 5, func(s float64) float64 { return 5 + 5*s }, 0, true, 0, 0},
	} {
		for _, side := range []float64{1, -1} {
			l := axis.OffLimits{RestSpeed: 0.5, Slows: c.slows, Loaded: c.loaded}
			w := offWatch{}
			w.record(&l, c.went*side, true)
			told := 0.0
			for k := 1; k <= 4000 && told == 0; k++ {
				s := float64(k) * 1e-3
				w.step(&l, c.speed(s)*side, math.NaN(), math.NaN(), true, false, 1e-3)
				if limit, on := w.goesOn(&l, c.idle); on {
					told = s
					if !(math.Abs(w.speed.x) > limit && limit > 0) {
						t.Errorf("%s: %g rad/s, limit %g", c.name, w.speed.x, limit)
					}
				}
			}
			t.Logf("%s, %+g: %g s", c.name, side, told)
			if (told > 0) != (c.told > 0) || told > c.told {
				t.Errorf("%s, %+g: told after %g s, want %g", c.name, side, told, c.told)
			}
		}
	}
}

// Out of sight nothing is judged, nor until 0.2 s after; where rest is not known, never.
func TestOffWatchOutOfSight(t *testing.T) {
	nan := math.NaN()
	for _, side := range []float64{1, -1} {
		l := axis.OffLimits{RestSpeed: 0.5, Slows: 200, BackEMF: 0.05}
		w := offWatch{}
		w.record(&l, 40*side, true)
		step := func(n int, speed, volts float64, sight bool) (on bool) {
			for range n {
				w.step(&l, speed*side, nan, volts*side, sight, false, 1e-3)
				_, now := w.goesOn(&l, 0)
				on = on || now
			}
			return on
		}
		if step(700, 40, 1, true) || step(600, 40, 1, false) || step(195, 90, 1, true) {
			t.Error("judged out of sight, or too soon after")
		}
		if !step(2000, 90, 1, true) {
			t.Error("not told after it was in sight again")
		}
		step(1000, 0, -4.4, false) // it may turn back as fast as it went: 90 rad/s make 4.5 V
		if w.voltage.x != 0 {
			t.Errorf("%g V are left of what the motion may make", w.voltage.x)
		}
		l.RestSpeed = 0
		if w.record(&l, 40*side, true); step(3000, 40, 1, true) {
			t.Error("told, and rest is not known")
		}
	}
}
