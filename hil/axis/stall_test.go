package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
)

// The twin by hand: J 1 kg·m², friction 5 N·m, band 0.1 rad, so that a push of 6 N·m gets 1 rad/s² and passes 3 rad in √6 s.
func TestStallTwin(t *testing.T) {
	law := &friction.LuGre{Fc: 0.5, Fs: 1, Sigma0: 44.444444444444444, Offset: 2}
	type sample struct{ theta, torque, load float64 }
	hold := func(torque float64) func(float64) sample {
		return func(float64) sample { return sample{0, torque, 0} }
	}
	for _, c := range []struct {
		name string
		at   func(t float64) sample
		want float64 // s  0: never
		less float64 // N·m  what of the torque does not push
	}{
		{"6 N·m beyond the offset", hold(8), math.Sqrt(6), 2},
		{"−6 N·m beyond the load, −8 beyond the offset", hold(-6), math.Sqrt(6), 0},
		{"−4 N·m", hold(-4), 0, 0},
		{"5 N·m beyond the offset", hold(7), 0, 0},
		{"105 N·m", hold(107), math.Sqrt(6.0 / 100), 2},
		{"1005 N·m: no sooner than in 0.1 s", hold(1007), 0.1, 2},
		{"at the edge of the band", func(t float64) sample { return sample{0.0999 * math.Copysign(1, math.Sin(10*t)), 8, 0} }, 0, 0},
		{"moved once", func(t float64) sample { return sample{0.2 * math.Round(min(1, t)), 8, 0} }, 0.5 + math.Sqrt(6), 2},
		{"6 N·m to and fro, 0.2 s each", func(t float64) sample { return sample{0, 2 + 6*math.Copysign(1, math.Sin(5*math.Pi*t)), 0} }, 0, 0},
	} {
		s := newStall(1, law, 0.001)
		got, dt := 0.0, 1e-4
		for k := 0; k < 60000 && got == 0; k++ {
			x := c.at(dt * float64(k))
			if r := s.step(true, true, x.theta, x.torque, x.load, dt); r.Fault != Fine {
				got = dt * float64(k)
				if r.Limit != 5 || math.Abs(r.Value-c.at(got).torque+c.less) > 1e-3 {
					t.Errorf("%s: value %g, limit %g", c.name, r.Value, r.Limit)
				}
			}
		}
		if math.Abs(got-c.want) > 2e-3 {
			t.Errorf("%s: after %g s, want %g", c.name, got, c.want)
		}
	}
}

// The push is what neither the offset nor the load of the last motion explains, whichever is smaller, to both sides; none where they
// disagree. The load is the mean over the last 0.1 s of motion: 1 − 1/e of it after as long.
func TestStallPush(t *testing.T) {
	law := &friction.LuGre{Fc: 0.5, Fs: 1, Sigma0: 44.444444444444444}
	const dt = 1e-3
	for _, c := range []struct {
		load, torque float64 // N·m
		push         float64 // N·m  as found; 0: nothing is
	}{{0, 8, 8}, {2, 8, 6}, {-4, 8, 8}, {-4, -8, -4}, {4, -8, -8}, {-2, -8, -6}, {20, 8, 0}, {-20, -8, 0}, {20, 8, 0}} {
		s := newStall(1, law, 0.001)
		for k := range 1000 { // out of its band in every sample
			s.step(true, true, float64(k), 0, c.load, dt)
		}
		if math.Abs(s.load-c.load) > 1e-3*math.Abs(c.load) {
			t.Fatalf("load %g N·m after a second of motion, want %g", s.load, c.load)
		}
		found := Finding{}
		for k := 0; k < 20000 && found.Fault == Fine; k++ {
			found = s.step(true, true, 999, c.torque, 0, dt)
		}
		if want := math.Abs(c.push) > 5; (found.Fault == Blocked) != want || want && math.Abs(found.Value-c.push) > 0.02*math.Abs(c.push) {
			t.Errorf("load %g N·m, torque %g: %+v, want %g", c.load, c.torque, found, c.push)
		}
	}
	s := newStall(1, law, 0.001)
	for k := range 101 {
		s.step(true, true, float64(k), 0, 3, dt)
	}
	if want := 3 * (1 - math.Exp(-1)); math.Abs(s.load-want) > 1e-9 {
		t.Errorf("load %g N·m after 0.1 s of motion, want %g", s.load, want)
	}
}

// What is known of an axis ends with its energy and with a number that is none: the torque has to act for as long again, and the load is
// another.
func TestStallBeginsAnew(t *testing.T) {
	law := &friction.LuGre{Fc: 0.5, Fs: 1, Sigma0: 44.444444444444444}
	const dt = 1e-3
	for _, c := range []struct {
		name         string
		energised    bool
		torque, load float64
	}{{"not energised", false, 8, 0}, {"no torque", true, math.NaN(), 0}, {"no load", true, 8, math.Inf(-1)}} {
		s := newStall(1, law, 0.001)
		for k := range 100 {
			s.step(true, true, float64(k), 0, 1, dt)
		}
		for range 1000 { // 7 N·m beyond the load would need 1.7 s
			s.step(true, true, 99, 8, 1, dt)
		}
		if got := s.step(c.energised, true, 99, c.torque, c.load, dt); got.Fault != Fine || s.load != 0 {
			t.Errorf("%s: %+v, load %g N·m", c.name, got, s.load)
		}
		n := 0
		for n < 5000 && s.step(true, true, 99, 8, 0, dt).Fault == Fine {
			n++
		}
		if want := math.Sqrt(2 * 3 / 3.0); math.Abs(dt*float64(n)-want) > 3e-3 { // 3 rad at 8 − 5 N·m on 1 kg·m²
			t.Errorf("%s: found after %g s, want %g", c.name, dt*float64(n), want)
		}
	}
}
