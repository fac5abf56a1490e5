// Package reference generates the desired motion of an axis: position, velocity and acceleration as functions of time.
//
// Every generator is a closed formula of t, with its derivatives worked out by hand, not by differences: the tick asks
// for the motion at its own time, may skip ticks, and a replay gets the same bits. At has no state and allocates nothing,
// so one generator may be shared by goroutines.
//
// Units are those of the axis: rad for a rotary one (written below), m for a linear one; seconds for time. A time before
// zero is taken as zero.
//
// Smoothness, because the feed-forward path multiplies acceleration by inertia:
//
//	constant, ramp, sine, multisine   all derivatives continuous for t > 0
//	chirp                             position, velocity continuous (acceleration also, its derivative jumps at the turn)
//	trapezoid, file                   position, velocity continuous
//	levels                            position continuous with a rise, else it jumps like step
//	step                              jumps by nature: velocity and acceleration are zero on both sides of the jump
//	Fade                              adds a start from rest, continuous up to acceleration
//
// Reference: [FB84] for the monotone interpolation of files.
package reference

import "math"

// Generator is a desired motion. At returns position (rad), velocity (rad/s) and acceleration (rad/s²) at t (s), allocates
// nothing and may be called in any order of t.
type Generator interface {
	At(t float64) (pos, vel, acc float64)
}

// Fastest is the highest frequency of the sines in a motion (Hz; 0: it has none) and its top speed (rad/s), both without the start
// that a Fade adds. Zero where the generator does not tell.
func Fastest(g Generator) (frequency, speed float64) {
	if f, ok := g.(interface{ fastest() (float64, float64) }); ok {
		return f.fastest()
	}
	return 0, 0
}

func (r Ramp) fastest() (frequency, speed float64)       { return 0, math.Abs(r.Velocity) }
func (tr Trapezoid) fastest() (frequency, speed float64) { return 0, tr.peak }
func (s Sine) fastest() (frequency, speed float64)       { return s.Tone.fastest() }
func (f *Fade) fastest() (frequency, speed float64)      { return Fastest(f.g) }

func (tone Tone) fastest() (frequency, speed float64) {
	return tone.Frequency, 2 * math.Pi * tone.Frequency * math.Abs(tone.Amplitude)
}

func (m Multisine) fastest() (frequency, speed float64) {
	for _, t := range m.Tones {
		f, v := t.fastest()
		frequency, speed = max(frequency, f), speed+v
	}
	return frequency, speed
}

func (c Chirp) fastest() (frequency, speed float64) {
	return Tone{Amplitude: c.Amplitude, Frequency: max(c.F0, c.F1)}.fastest()
}

func (l *Levels) fastest() (frequency, speed float64) {
	if l.rise == 0 {
		return 0, 0
	}
	n := len(l.value)
	for k, v := range l.value {
		if k > 0 || l.loop {
			speed = max(speed, math.Abs(v-l.value[(k+n-1)%n])/l.rise)
		}
	}
	return 0, speed
}

// fastest takes the ends of each cubic and, where the speed has an extreme between them, that.
func (tab *Table) fastest() (frequency, speed float64) {
	for i := 1; i < len(tab.t); i++ {
		h := tab.t[i] - tab.t[i-1]
		v0, v1, mean := tab.v[i-1], tab.v[i], (tab.p[i]-tab.p[i-1])/h
		speed = max(speed, math.Abs(v0), math.Abs(v1))
		// v(x) = v0 + 2·a·x + 3·b·x² over x = 0…1, with
		a, b := 3*mean-2*v0-v1, v0+v1-2*mean
		if x := -a / (3 * b); x > 0 && x < 1 {
			speed = max(speed, math.Abs(v0+x*(2*a+3*b*x)))
		}
	}
	return 0, speed
}
