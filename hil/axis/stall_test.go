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
