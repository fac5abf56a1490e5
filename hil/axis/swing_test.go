package axis

import (
	"math"
	"testing"

	"hilrig/estimator"
)

// Commands and motions by formula, of 5 Hz and 2 N·m, sampled every 2 ms: the delay of a motion that follows its command later is told
// within half a step, whatever the inertia in the file, beside a steady load, and to both sides. No delay is told of a motion that
// follows at once, of a wrong sign or a spring, of viscous friction, of what is too small, of a drive that is quick enough, and of a
// motion that has nothing to do with the command.
func TestSwing(t *testing.T) {
	const every, w = 2e-3, 2 * math.Pi * 5
	for _, c := range []struct {
		name   string
		motion func(t float64) float64
		size   float64 // N·m
		want   float64 // s  0: none
	}{
		{"35 ms", func(t float64) float64 { return math.Sin(w * (t - 0.035)) }, 2, 0.035},
		{"45 ms", func(t float64) float64 { return math.Sin(w * (t - 0.045)) }, 2, 0.045},
		{"50 ms", func(t float64) float64 { return math.Sin(w * (t - 0.05)) }, 2, 0.05},
		{"60 ms", func(t float64) float64 { return math.Sin(w * (t - 0.06)) }, 2, 0.06},
		{"40 ms, a tenth of the inertia in the file", func(t float64) float64 { return 0.1 * math.Sin(w*(t-0.04)) }, 2, 0.04},
		{"40 ms, ten times of it", func(t float64) float64 { return 10 * math.Sin(w*(t-0.04)) }, 2, 0.04},
		{"40 ms beside a load", func(t float64) float64 { return 5 + math.Sin(w*(t-0.04)) }, 2, 0.04},
		{"40 ms, hardly too small", func(t float64) float64 { return math.Sin(w * (t - 0.04)) }, 1.3, 0},
		{"40 ms, hardly enough", func(t float64) float64 { return math.Sin(w * (t - 0.04)) }, 1.8, 0.04},
		{"at once", func(t float64) float64 { return math.Sin(w * t) }, 2, 0},
		{"15 ms", func(t float64) float64 { return math.Sin(w * (t - 0.015)) }, 2, 0},
		{"a wrong sign, a spring", func(t float64) float64 { return -math.Sin(w * t) }, 2, 0},
		{"a wrong sign, 12 ms late", func(t float64) float64 { return -math.Sin(w * (t - 0.012)) }, 2, 0},
		{"viscous friction", func(t float64) float64 { return math.Cos(w * t) }, 2, 0},
		{"another motion", func(t float64) float64 { return math.Sin(1.37*w*t) + math.Sin(0.71*w*t) }, 2, 0},
		{"none", func(t float64) float64 { return 0 }, 2, 0},
	} {
		for _, side := range []float64{1, -1} {
			var s swing
			told, late := 0, 0.0
			for k := range 1000 {
				at := every * float64(k)
				s.add(side*c.size*math.Sin(w*at), side*c.motion(at), every, delaySpacing, 1)
				if f := s.judge(every); f.Fault != Fine {
					told++
					if late = f.Value; math.Abs(late-c.want) > 6e-3 {
						t.Errorf("%s, %+g: %v at %g s, want %g s", c.name, side, f, at, c.want)
						break
					}
				}
			}
			if c.want > 0 && told < 600 || c.want == 0 && told > 0 {
				t.Errorf("%s, %+g: told %d times of 1000, %g s", c.name, side, told, late)
			}
		}
	}
}

// Where samples are 20 ms apart three of them are no delay, and four are.
func TestSwingOfASlowLine(t *testing.T) {
	const every, w = 20e-3, 2 * math.Pi * 2.5
	for late, want := range map[float64]bool{0.04: false, 0.06: false, 0.08: true, 0.1: true} {
		var s swing
		told := false
		for k := range 200 {
			at := every * float64(k)
			s.add(2*math.Sin(w*at), math.Sin(w*(at-late)), every, every, 1)
			told = told || s.judge(every).Fault == Delay
		}
		if told != want {
			t.Errorf("%g s late: told %v", late, told)
		}
	}
}

// The least delay, the longest one, and how well it must fit, of other swings: a delay of 20 ms is told and one of 12 ms is not, one of
// 150 ms is. Noise of 100 Hz takes from the correlation: 0.97 is enough, 0.85 is not.
func TestSwingLimits(t *testing.T) {
	for _, c := range []struct {
		name            string
		every, hz, late float64 // s, Hz, s
		noise           float64
		least, most     int // of 1000 samples in which it is told
	}{
		{"20 ms", 2e-3, 9, 20e-3, 0, 600, 1000},
		{"12 ms", 4e-3, 14, 12e-3, 0, 0, 0},
		{"150 ms", 2e-3, 2, 150e-3, 0, 150, 1000},
		{"40 ms, a correlation of 0.97", 2e-3, 5, 40e-3, 0.25, 300, 1000},
		{"40 ms, a correlation of 0.85", 2e-3, 5, 40e-3, 0.62, 0, 0},
	} {
		for _, side := range []float64{1, -1} {
			var s swing
			told := 0
			for k := range 1000 {
				at := c.every * float64(k)
				w := 2 * math.Pi * c.hz
				motion := math.Sin(w*(at-c.late)) + c.noise*math.Sqrt2*math.Sin(2*math.Pi*100*at+1)
				s.add(2*side*math.Sin(w*at), side*motion, c.every, max(delaySpacing, c.every), 1)
				if f := s.judge(c.every); f.Fault != Fine {
					if told++; math.Abs(f.Value-c.late) > 11e-3 {
						t.Fatalf("%s, %+g: %+v at %g s", c.name, side, f, at)
					}
				}
			}
			if told < c.least || told > c.most {
				t.Errorf("%s, %+g: told %d times of 1000", c.name, side, told)
			}
		}
	}
}

// What a swing makes of another finding: a position that follows an older command is late, whatever it looks like; a finding of another
// reading, or none, stays. A motion against the command is a wrong sign unless it fits an older command better. To both sides.
func TestSwingNames(t *testing.T) {
	const w = 2 * math.Pi * 5
	direction := Finding{Direction, estimator.Position, 3, 1}
	for _, c := range []struct {
		name    string
		every   float64 // s
		late    float64 // s
		gain    float64
		found   Finding
		delay   bool
		against bool
	}{
		{"late", 2e-3, 0.04, 1, direction, true, false},
		{"late, nothing found", 2e-3, 0.04, 1, Finding{}, false, false},
		{"late, another reading", 2e-3, 0.04, 1, Finding{Disagree, estimator.Current, 3, 1}, false, false},
		{"at once", 2e-3, 0, 1, direction, false, false},
		{"late by nearly half a period", 2e-3, 0.08, 1, direction, false, false},
		{"the other way", 2e-3, 0, -1, direction, false, true},
		{"the other way, a little late", 2e-3, 0.012, -1, direction, false, true},
		{"late by three samples of a slow line", 20e-3, 0.06, 1, direction, false, false},
		{"late by four samples of a slow line", 20e-3, 0.08, 1, direction, true, false},
	} {
		pace := w
		if c.every > 10e-3 {
			pace /= 2
		}
		for _, side := range []float64{1, -1} {
			var s swing
			if s.against() {
				t.Error("against a command that never came")
			}
			for k := range 500 {
				at := c.every * float64(k)
				s.add(2*side*math.Sin(pace*at), side*c.gain*math.Sin(pace*(at-c.late)), c.every, max(delaySpacing, c.every), 1)
			}
			got := s.named(c.found, c.every)
			if want := c.found; !c.delay && got != want {
				t.Errorf("%s, %+g: %+v, want %+v", c.name, side, got, want)
			} else if c.delay && (got.Fault != Delay || got.Quantity != estimator.Position || math.Abs(got.Value-c.late) > 6e-3 ||
				got.Limit != 10e-3) {
				t.Errorf("%s, %+g: %+v, want a delay of %g s", c.name, side, got, c.late)
			}
			if s.against() != c.against {
				t.Errorf("%s, %+g: against the command: %v", c.name, side, s.against())
			}
		}
	}
}
