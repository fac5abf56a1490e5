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

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Generator is a desired motion. At returns position (rad), velocity (rad/s) and acceleration (rad/s²) at t (s), allocates
// nothing and may be called in any order of t.
type Generator interface {
	At(t float64) (pos, vel, acc float64)
}

// Kinds lists what Spec.Kind may say.
var Kinds = []string{"constant", "step", "ramp", "trapezoid", "sine", "multisine", "chirp", "file", "levels"}

// Tone is one sine of a multisine: Amplitude·sin(2π·Frequency·t + Phase).
type Tone struct {
	Amplitude float64 // rad
	Frequency float64 // Hz
	Phase     float64 // rad
}

// Spec describes a motion by numbers; which of them matter depends on Kind. The fields mirror the reference section of the
// configuration file.
type Spec struct {
	Kind      string
	Offset    float64 // rad     added to every kind, the file included
	Amplitude float64 // rad     step, sine, chirp: amplitude; trapezoid: travel (negative: backwards first)
	Frequency float64 // Hz      sine; first frequency of a chirp; repetition of step and trapezoid (0: once)
	FreqEnd   float64 // Hz      chirp: last frequency
	Sweep     float64 // s       chirp: duration of one sweep
	Velocity  float64 // rad/s   ramp; trapezoid: cruising speed
	Accel     float64 // rad/s²  trapezoid
	Tones     []Tone  // multisine
	File      string  // file: path of the table
	Levels    []Level // levels
	Rise      float64 // s       levels: time of every change; 0: jumps
	Loop      bool    // file, levels: start again at the end
	Fade      float64 // s       smooth start; 0: none
	From      float64 // rad     where the axis is at t = 0; the fade leads from here to the motion
}

// New builds the generator that s describes. The error lists every number that does not make sense, each with its key.
func New(s Spec) (Generator, error) {
	var bad []error
	finite := func(key string, v float64) bool {
		ok := !math.IsNaN(v) && !math.IsInf(v, 0)
		if !ok {
			bad = append(bad, fmt.Errorf("reference.%s: %g is not a finite number", key, v))
		}
		return ok
	}
	positive := func(key string, v float64, unit, why string) {
		if finite(key, v) && v <= 0 {
			bad = append(bad, fmt.Errorf("reference.%s: %g %s, want > 0: %s", key, v, unit, why))
		}
	}
	notNegative := func(key string, v float64, unit string) {
		if finite(key, v) && v < 0 {
			bad = append(bad, fmt.Errorf("reference.%s: %g %s, want ≥ 0", key, v, unit))
		}
	}
	finite("offset", s.Offset)
	finite("from", s.From)
	notNegative("fade", s.Fade, "s")

	var g Generator
	switch s.Kind {
	case "constant":
		g = Constant(s.Offset)

	case "step":
		finite("amplitude", s.Amplitude)
		notNegative("frequency", s.Frequency, "Hz")
		g = Step{Offset: s.Offset, Amplitude: s.Amplitude, Frequency: s.Frequency}

	case "ramp":
		finite("velocity", s.Velocity)
		g = Ramp{Offset: s.Offset, Velocity: s.Velocity}

	case "trapezoid":
		finite("amplitude", s.Amplitude)
		notNegative("frequency", s.Frequency, "Hz")
		positive("velocity", s.Velocity, "rad/s", "it is the cruising speed of the trapezoid")
		positive("acceleration", s.Accel, "rad/s²", "the trapezoid speeds up and slows down with it")
		if len(bad) > 0 {
			break
		}
		tr := NewTrapezoid(s.Offset, s.Amplitude, s.Velocity, s.Accel, s.Frequency)
		if half := 0.5 / s.Frequency; s.Frequency > 0 && tr.Duration() > half {
			bad = append(bad, fmt.Errorf("reference.frequency: %g Hz leaves %.4g s for a move that takes %.4g s; want at most %.4g Hz, or a higher velocity or acceleration",
				s.Frequency, half, tr.Duration(), 0.5/tr.Duration()))
		}
		g = tr

	case "sine":
		finite("amplitude", s.Amplitude)
		positive("frequency", s.Frequency, "Hz", "a sine needs it")
		g = Sine{Offset: s.Offset, Tone: Tone{Amplitude: s.Amplitude, Frequency: s.Frequency}}

	case "multisine":
		if len(s.Tones) == 0 {
			bad = append(bad, errors.New("reference.tones: empty, want at least one {amplitude, frequency, phase}"))
		}
		for i, tone := range s.Tones {
			finite(fmt.Sprintf("tones[%d].amplitude", i), tone.Amplitude)
			finite(fmt.Sprintf("tones[%d].phase", i), tone.Phase)
			positive(fmt.Sprintf("tones[%d].frequency", i), tone.Frequency, "Hz", "a constant part belongs in offset")
		}
		g = Multisine{Offset: s.Offset, Tones: append([]Tone(nil), s.Tones...)}

	case "chirp":
		finite("amplitude", s.Amplitude)
		notNegative("frequency", s.Frequency, "Hz")
		notNegative("frequency_end", s.FreqEnd, "Hz")
		positive("sweep", s.Sweep, "s", "it is the duration of one sweep from frequency to frequency_end")
		if s.Frequency == 0 && s.FreqEnd == 0 {
			bad = append(bad, errors.New("reference.frequency_end: both frequencies are zero, the chirp would not move"))
		}
		g = Chirp{Offset: s.Offset, Amplitude: s.Amplitude, F0: s.Frequency, F1: s.FreqEnd, Sweep: s.Sweep}

	case "file":
		if s.File == "" {
			bad = append(bad, errors.New("reference.file: empty, want the path of a CSV with columns time_s, position_rad[, velocity_rad_s]"))
			break
		}
		table, err := LoadTable(s.File, s.Loop)
		if err != nil {
			bad = append(bad, fmt.Errorf("reference.file: %w", err))
			break
		}
		table.Offset = s.Offset
		g = table

	case "levels":
		if len(s.Levels) == 0 {
			bad = append(bad, errors.New("reference.levels: empty, want at least one {value, hold}"))
		}
		notNegative("rise", s.Rise, "s")
		for i, l := range s.Levels {
			finite(fmt.Sprintf("levels[%d].value", i), l.Value)
			hold := fmt.Sprintf("levels[%d].hold", i)
			positive(hold, l.Hold, "s", "a level is held for a time")
			if l.Hold > 0 && l.Hold < s.Rise {
				bad = append(bad, fmt.Errorf("reference.%s: %g s are over before the rise of %g s is", hold, l.Hold, s.Rise))
			}
		}
		if len(bad) > 0 {
			break
		}
		g = NewLevels(s.Offset, s.Levels, s.Rise, s.Loop)

	default:
		bad = append(bad, fmt.Errorf("reference.kind: %q is unknown, want one of %s", s.Kind, strings.Join(Kinds, ", ")))
	}
	if len(bad) > 0 {
		return nil, errors.Join(bad...)
	}
	if s.Fade > 0 {
		g = NewFade(g, s.Fade, s.From)
	}
	return g, nil
}
