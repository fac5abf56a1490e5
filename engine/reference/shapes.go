package reference

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

// Kind is the name of a shape.
type Kind string

// Words lists the kinds.
func (Kind) Words() (kinds []string) {
	for _, s := range Shapes {
		kinds = append(kinds, string(s.Kind))
	}
	return kinds
}

// Shape is a form of motion: what describes it, and how it is built.
type Shape struct {
	Kind    Kind
	Needs   []Need   // keys without which there is no such motion
	Takes   []string // other keys that are read; every kind takes offset and fade
	Example string   // a section of a file, in radians
	build   func(s *Spec, c *check) Generator
}

// Need is a key that must be given, and what it says of the motion.
type Need struct{ Key, What string }

// Uses tells whether a key is read.
func (s *Shape) Uses(key string) bool {
	return slices.Contains([]string{"kind", "offset", "fade"}, key) || slices.Contains(s.Takes, key) ||
		slices.ContainsFunc(s.Needs, func(n Need) bool { return n.Key == key })
}

// Find gives the shape of a kind.
func Find(k Kind) (*Shape, bool) {
	i := slices.IndexFunc(Shapes, func(s Shape) bool { return s.Kind == k })
	if i < 0 {
		return nil, false
	}
	return &Shapes[i], true
}

// Shapes are all forms of motion.
var Shapes = []Shape{
	{Kind: "constant", Example: "{kind: constant, offset: 1}", build: func(s *Spec, _ *check) Generator { return Constant(s.Offset) }},
	{Kind: "step", Needs: []Need{{"amplitude", "the height of the step"}}, Takes: []string{"frequency"},
		Example: "{kind: step, amplitude: 2, frequency: 0.5 Hz}", build: func(s *Spec, _ *check) Generator {
			return Step{Offset: s.Offset, Amplitude: s.Amplitude, Frequency: s.Frequency}
		}},
	{Kind: "ramp", Needs: []Need{{"velocity", "a speed"}}, Example: "{kind: ramp, velocity: -3}", build: func(s *Spec, _ *check) Generator {
		return Ramp{Offset: s.Offset, Velocity: s.Velocity}
	}},
	{Kind: "trapezoid", Needs: []Need{{"amplitude", "the travel"}, {"velocity", "the cruising speed"}, {"acceleration", "the acceleration"}},
		Takes:   []string{"frequency"},
		Example: "{kind: trapezoid, amplitude: -1, velocity: 5, acceleration: 4}", build: trapezoid},
	{Kind: "sine", Needs: []Need{{"amplitude", "an amplitude"}, {"frequency", "a frequency"}}, Takes: []string{"phase"},
		Example: "{kind: sine, amplitude: -0.5, frequency: 2 Hz, phase: 90 deg}", build: func(s *Spec, c *check) Generator {
			c.positive("frequency", s.Frequency, "Hz", "a sine needs it")
			return Sine{Offset: s.Offset, Tone: Tone{s.Amplitude, s.Frequency, s.Phase}}
		}},
	{Kind: "multisine", Needs: []Need{{"tones", "at least one tone"}},
		Example: "{kind: multisine, tones: [{amplitude: 1, frequency: 1 Hz}, {amplitude: 0.5, frequency: 3 Hz, phase: 1}]}", build: multisine},
	{Kind: "chirp", Needs: []Need{{"amplitude", "an amplitude"}, {"sweep", "the duration of a sweep"}},
		Takes:   []string{"frequency", "frequency_end"},
		Example: "{kind: chirp, amplitude: 1, frequency: 4 Hz, frequency_end: 1 Hz, sweep: 10 s}", build: chirp},
	{Kind: "file", Needs: []Need{{"file", "the name of a CSV file"}}, Takes: []string{"loop"}, Example: "{kind: file, file: motion.csv}",
		build: file},
	{Kind: "levels", Needs: []Need{{"levels", "at least one level"}}, Takes: []string{"rise", "loop"},
		Example: "{kind: levels, levels: [{value: 1, hold: 1 s}, {value: -1, hold: 1 s}], rise: 0.5 s}", build: levels},
}

func trapezoid(s *Spec, c *check) Generator {
	c.positive("velocity", s.Velocity, "rad/s", "it is the cruising speed of the trapezoid")
	c.positive("acceleration", s.Accel, "rad/s²", "the trapezoid speeds up and slows down with it")
	if len(c.bad) > 0 {
		return nil
	}
	tr := NewTrapezoid(s.Offset, s.Amplitude, s.Velocity, s.Accel, s.Frequency)
	if half := 0.5 / s.Frequency; s.Frequency > 0 && tr.Duration() > half {
		c.fault("frequency", "%g Hz leaves %.4g s for a move that takes %.4g s; want at most %.4g Hz, or a higher velocity or acceleration",
			s.Frequency, half, tr.Duration(), 0.5/tr.Duration())
	}
	return tr
}

func multisine(s *Spec, c *check) Generator {
	if len(s.Tones) == 0 {
		c.fault("tones", "empty, want at least one {amplitude, frequency, phase}")
	}
	for i, tone := range s.Tones {
		c.requireFinite(fmt.Sprintf("tones[%d].amplitude", i), tone.Amplitude)
		c.requireFinite(fmt.Sprintf("tones[%d].phase", i), tone.Phase)
		c.positive(fmt.Sprintf("tones[%d].frequency", i), tone.Frequency, "Hz", "a constant part belongs in offset")
	}
	return Multisine{Offset: s.Offset, Tones: slices.Clone(s.Tones)}
}

func chirp(s *Spec, c *check) Generator {
	c.positive("sweep", s.Sweep, "s", "it is the duration of one sweep from frequency to frequency_end")
	if s.Frequency == 0 && s.FreqEnd == 0 {
		c.fault("frequency_end", "both frequencies are zero, the chirp would not move")
	}
	return Chirp{Offset: s.Offset, Amplitude: s.Amplitude, F0: s.Frequency, F1: s.FreqEnd, Sweep: s.Sweep}
}

func file(s *Spec, c *check) Generator {
	if s.File == "" {
		c.fault("file", "empty, want the path of a CSV with columns time_s, position_rad[, velocity_rad_s]")
		return nil
	}
	table, err := LoadTable(s.File, s.Loop)
	if err != nil {
		c.fault("file", "%v", err)
		return nil
	}
	table.Offset = s.Offset
	return table
}

func levels(s *Spec, c *check) Generator {
	if len(s.Levels) == 0 {
		c.fault("levels", "empty, want at least one {value, hold}")
	}
	for i, l := range s.Levels {
		c.requireFinite(fmt.Sprintf("levels[%d].value", i), l.Value)
		hold := fmt.Sprintf("levels[%d].hold", i)
		c.positive(hold, l.Hold, "s", "a level is held for a time")
		if l.Hold > 0 && l.Hold < s.Rise {
			c.fault(hold, "%g s are over before the rise of %g s is", l.Hold, s.Rise)
		}
	}
	if len(c.bad) > 0 {
		return nil
	}
	return NewLevels(s.Offset, s.Levels, s.Rise, s.Loop)
}

// Tone is one sine of a multisine: Amplitude·sin(2π·Frequency·t + Phase).
type Tone struct {
	Amplitude float64 `yaml:"amplitude" unit:"#" doc:"peak"`
	Frequency float64 `yaml:"frequency" unit:"Hz" want:">0" doc:"of this sine"`
	Phase     float64 `yaml:"phase" unit:"rad" doc:"at the start"`
}

// Level is a value that is held for a time, its rise included.
type Level struct {
	Value float64 `yaml:"value" unit:"#" doc:"what is held"`
	Hold  float64 `yaml:"hold" unit:"s" want:">=0" doc:"for how long"`
}

// Spec describes a motion by numbers, in a file too: # in the tags is the unit of the axis, or of whatever else is generated. Which of
// them matter depends on Kind.
type Spec struct {
	Kind      Kind    `yaml:"kind" doc:"form of the motion"`
	Offset    float64 `yaml:"offset" unit:"#" doc:"added to every kind; the value of a constant"`
	Amplitude float64 `yaml:"amplitude" unit:"#" doc:"step, sine, chirp: amplitude; trapezoid: travel, backwards first if negative"`
	Frequency float64 `yaml:"frequency" unit:"Hz" want:">=0" doc:"sine; first frequency of a chirp; repetition of step and trapezoid (0: once)"`
	Phase     float64 `yaml:"phase" unit:"rad" doc:"sine: at t = 0; 90 deg makes a cosine of it"`
	FreqEnd   float64 `yaml:"frequency_end" unit:"Hz" want:">=0" doc:"chirp: last frequency"`
	Sweep     float64 `yaml:"sweep" unit:"s" want:">=0 <=1e6" doc:"chirp: duration of one sweep"`
	Velocity  float64 `yaml:"velocity" unit:"#/s" doc:"ramp; trapezoid: cruising speed"`
	Accel     float64 `yaml:"acceleration" unit:"#/s²" want:">=0" doc:"trapezoid: acceleration and deceleration"`
	Tones     []Tone  `yaml:"tones,omitempty" unit:"#" doc:"multisine: a sum of sines"`
	File      string  `yaml:"file,omitempty" doc:"CSV with columns time_s and position_rad or position_m, and velocity_rad_s or velocity_m_s if there is one; relative to this file"`
	Levels    []Level `yaml:"levels,omitempty" unit:"#" doc:"levels: values that are held one after the other"`
	Rise      float64 `yaml:"rise" unit:"s" want:">=0" doc:"levels: time of every change, at the beginning of a hold; 0: jumps"`
	Loop      bool    `yaml:"loop,omitempty" doc:"file, levels: start again at the end"`
	Fade      float64 `yaml:"fade" unit:"s" want:">=0 <=60" doc:"smooth start from where the axis is; 0: none"`

	StartPos float64 `yaml:"-" doc:"#: where the axis is at t = 0; the fade leads from here to the motion"`
}

// New builds the generator that s describes. The error lists every number that does not make sense, each an engine.Problem with its key.
func New(s Spec) (Generator, error) {
	shape, ok := Find(s.Kind)
	if !ok {
		return nil, engine.Problemf("kind", "%q is unknown, want one of %s", s.Kind, strings.Join(s.Kind.Words(), ", "))
	}
	c := &check{}
	c.requireFinite("offset", s.Offset)
	c.requireFinite("from", s.StartPos)
	c.requireFinite("amplitude", s.Amplitude)
	c.requireFinite("velocity", s.Velocity)
	c.requireFinite("phase", s.Phase)
	for _, n := range []struct {
		key, unit string
		v         float64
	}{{"fade", "s", s.Fade}, {"rise", "s", s.Rise}, {"frequency", "Hz", s.Frequency}, {"frequency_end", "Hz", s.FreqEnd}} {
		if c.requireFinite(n.key, n.v) && n.v < 0 {
			c.fault(n.key, "%g %s, want ≥ 0", n.v, n.unit)
		}
	}
	g := shape.build(&s, c)
	if len(c.bad) > 0 {
		return nil, errors.Join(c.bad...)
	}
	if s.Fade > 0 {
		g = NewFade(g, s.Fade, s.StartPos)
	}
	return g, nil
}

// check collects what is wrong with a Spec.
type check struct{ bad []error }

func (c *check) fault(key, format string, args ...any) {
	c.bad = append(c.bad, engine.Problemf(key, format, args...))
}

func (c *check) requireFinite(key string, v float64) bool {
	ok := numeric.IsFinite(v)
	if !ok {
		c.fault(key, "%g is not a finite number", v)
	}
	return ok
}

func (c *check) positive(key string, v float64, unit, why string) {
	if c.requireFinite(key, v) && v <= 0 {
		c.fault(key, "%g %s, want > 0: %s", v, unit, why)
	}
}
