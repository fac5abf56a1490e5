package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// What voltage and current tell of a speed, by hand: R 1 Ω, K 0.5 V·s, brushes of 0.4 V; 0.2 V and a quarter of R·i may be wrong.
func TestBackEMF(t *testing.T) {
	for _, c := range []struct{ volts, amps, speed float64 }{
		{10, 2, (7.6 - 0.7) / 0.5}, {10, 7, (2.6 - 1.95) / 0.5}, {10, 8, 0}, {10, 11, 0}, {10, -1, 0}, {10, 0, (10 - 0.2) / 0.5}, {0, 0, 0},
		{0.15, 0, 0},
	} {
		for _, side := range []float64{1, -1} {
			e := backEMF{m: &plant.Motor{R: 1, K: 0.5, BrushDrop: 0.4, DropScale: 1e-6}, floor: 0.2, share: 0.25}
			for range 1000 {
				e.add(side*c.volts, side*c.amps, 1e-3)
			}
			if got := e.speed(); math.Abs(got-side*c.speed) > 1e-6 {
				t.Errorf("%g V and %g A: %g rad/s, want %g", side*c.volts, side*c.amps, got, side*c.speed)
			}
		}
	}
	// only a voltage drive has a winding whose voltage is known; the effort at a speed is that of what the back-emf leaves
	for drive, want := range map[plant.DriveKind]bool{plant.VoltageDrive: true, plant.CurrentDrive: false, plant.EffortDrive: false,
		plant.VelocityDrive: false} {
		s := frozenSpec()
		s.Drive, s.Motor = drive, plant.Motor{R: 2, K: 0.5, J: 1}
		s.Sampling.Groups = []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
		if f := newFrozen(s, countNoise); f.current != want || f.emf.share != 0.25 {
			t.Errorf("drive %v: current %v, share %g", drive, f.current, f.emf.share)
		}
	}
	s := frozenSpec()
	s.Drive, s.Motor = plant.VoltageDrive, plant.Motor{R: 2, K: 0.5, J: 1, BrushDrop: 1}
	f := newFrozen(s, countNoise)
	// N·m: 0.25 of what is left beyond 1 V
	for _, c := range []struct{ volts, speed, effort float64 }{{9, 0, 2}, {9, 4, 1.5}, {9, -4, 2.5}, {1, 4, 0}, {0, 10, -1}, {0.5, 0, 0}} {
		for _, side := range []float64{1, -1} {
			if got := f.effortAt(side*c.volts, side*c.speed); math.Abs(got-side*c.effort) > 1e-12 {
				t.Errorf("%g V at %g rad/s: %g N·m, want %g", side*c.volts, side*c.speed, got, side*c.effort)
			}
		}
	}
	// the position is right where the winding leaves over less than a third of what the missing speed would; without a current nobody knows
	for _, c := range []struct {
		left, missing float64 // V, rad/s
		right         bool
	}{{0.33, 2, true}, {0.34, 2, false}, {0, 0.1, true}, {0, 0, false}, {math.NaN(), 2, false}} {
		for side := range 4 {
			a, b := float64(1-side%2*2), float64(1-side/2*2)
			for _, f.current = range []bool{true, false} {
				if f.balance = a * c.left; f.positionIsRight(b*c.missing) != (c.right && f.current) {
					t.Errorf("%g V are left, %g rad/s missing, current %v: right %v", f.balance, b*c.missing, f.current, !c.right)
				}
			}
		}
	}
	// a shaft that stands leaves no voltage over: 5 % of the command and a tenth of the drop; one that must have turned at 2.2 rad/s
	// leaves more
	f.current = true
	for _, c := range []struct {
		left, speed float64
		stands      bool
	}{{1.09, 9, true}, {1.11, 9, false}, {1.19, 9, false}, {2, 9, false}, {0, 2.21, true}, {0, 2.19, false}, {0, 0, false}} {
		for _, side := range []float64{1, -1} {
			if f.emf.unseen, f.v = side*c.left, side*c.speed; f.standsStill(side*20) != c.stands {
				t.Errorf("%g V of %g V are left: stands %v", side*c.left, side*20, !c.stands)
			}
		}
	}
}

// Where the number has been the same for a while, the time begins anew behind a STOP of the estimate, a gap counts as three samples, and
// a twin that comes to rest has gone no way. Ticks that are left out count.
func TestFrozenBeginsAnew(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(k int, f *frozen, tick *Tick, p *estimator.Sample, u *float64)
		from, to float64 // s; 0: nothing is found in 4 s
	}{
		{"13 N·m", func(int, *frozen, *Tick, *estimator.Sample, *float64) {}, 0.1, 0.104},
		{"forgotten after 90 ms", func(k int, f *frozen, _ *Tick, _ *estimator.Sample, _ *float64) {
			if k == 90 {
				f.forget()
			}
		}, 0.189, 0.194},
		{"a sample every 100 ms", func(k int, _ *frozen, _ *Tick, p *estimator.Sample, _ *float64) { p.Updated = k%100 == 0 }, 3.2, 3.6},
		{"20 ms, and half a second of rest", func(k int, _ *frozen, _ *Tick, _ *estimator.Sample, u *float64) {
			if k%560 > 20 {
				*u = 0
			}
		}, 0, 0},
		{"60 ms to each side", func(k int, _ *frozen, _ *Tick, _ *estimator.Sample, u *float64) {
			if k%120 > 60 {
				*u *= -1
			}
		}, 0, 0},
		{"every second tick is left out", func(_ int, _ *frozen, tick *Tick, _ *estimator.Sample, _ *float64) { tick.Skip = 1 }, 0.05, 0.053},
	} {
		for _, side := range []float64{1, -1} {
			f, got := newFrozen(frozenSpec(), countNoise), 0.0
			for k := 0; k < 4000 && got == 0; k++ {
				tick, p, u := Tick{Energised: true}, estimator.Sample{Updated: true}, side*13
				c.change(k, f, &tick, &p, &u)
				if bad, _ := f.step(tick, &p, u, 0, 0); bad.Fault != Fine {
					got = 1e-3 * float64(k)
				}
			}
			if got < c.from || got > c.to {
				t.Errorf("%s, %+g: found after %g s, want %g to %g", c.name, side, got, c.from, c.to)
			}
		}
	}
}

// The load that an axis carried when it moved last is no push, to either side; what is estimated of one that has not moved, or is no
// number, is none.
func TestFrozenBesideALoad(t *testing.T) {
	for _, c := range []struct {
		name         string
		moves        int // ms
		load, effort float64
		from, to     float64 // s  from its rest on; 0: nothing in 1 s
	}{
		{"25 N·m beside 20: 2 beyond the hold, 30 mrad", 500, 20, 25, 0.171, 0.18},
		{"22 N·m beside 20", 500, 20, 22, 0, 0},
		{"25 N·m beside −20: the offset counts", 500, -20, 25, 0.099, 0.104},
		{"25 N·m beside 40: they keep it", 500, 40, 25, 0, 0},
		{"25 N·m beside 40 that nobody saw", 1, 40, 25, 0.099, 0.104},
		{"no number", 500, math.NaN(), 25, 0.099, 0.104},
	} {
		for _, side := range []float64{1, -1} {
			f, got := newFrozen(frozenSpec(), countNoise), 0.0
			for k := 0; k < c.moves+1000 && got == 0; k++ {
				x := math.Min(float64(k), float64(c.moves-1))
				if bad, _ := f.step(Tick{Energised: true}, &estimator.Sample{Value: side * x, Updated: true}, side*c.effort, 0,
					side*c.load); bad.Fault != Fine {
					got = 1e-3 * float64(k-c.moves)
				}
			}
			if got < c.from || got > c.to {
				t.Errorf("%s, %+g: found after %g s, want %g to %g", c.name, side, got, c.from, c.to)
			}
		}
	}
	// an axis that is forgotten must be pushed for the whole time again
	s := newStall(1, &friction.LuGre{Fc: 0.5, Fs: 1, Sigma0: 44.444444444444444}, 0.001)
	n := 0
	for ; n < 5000; n++ {
		if s.step(true, true, 0, 11, 0, 1e-3).Fault != Fine { // 6 N·m beyond 5, 3 rad: 1 s
			break
		}
		if n == 900 {
			s.forget()
		}
	}
	if n < 1890 || n > 1910 {
		t.Errorf("forgotten after 0.9 s: blocked after %d ms", n)
	}
}
