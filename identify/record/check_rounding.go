package record

import (
	"math"
	"slices"

	"hilrig/engine/numeric"
)

// A force that rests on levels, as a drive that is told whole per mille of its rated torque makes it, is rounded by the same amount as
// long as it rests there: what is cut off does not average out, and on few levels it is a wrong gain. A force that passes from level to
// level is rounded up as often as down.

const (
	restingRun    = 5     // samples of one value between two jumps of more than a step that are a rest
	restingShare  = 0.2   // of the samples, from which on rests have a say
	fewLevels     = 64    // that a force rests on; more of them average out
	levelRounding = 1e-6  // of a step, by which floating-point numbers are off their level
	finestLevel   = 2e-4  // of the largest level: a finer step does no harm
	minRounding   = 0.001 // gain error that is worth a word
)

// levelsOf are the sizes of the values that a series rests on, from jump to jump, with the number of samples at each; known: the step of
// the series, 0 if it is not known. all are the sizes of all its values.
func levelsOf(x []float64, step float64) (rests map[float64]int, all []float64, resting int) {
	rests = map[float64]int{}
	sizes := map[float64]bool{}
	last := 0.0 // the jump into the run
	for from := 0; from < len(x); {
		to := from + 1
		for to < len(x) && x[to] == x[from] {
			to++
		}
		jump := math.Inf(1)
		if to < len(x) {
			jump = math.Abs(x[to] - x[from])
		}
		if len(sizes) <= 4*fewLevels {
			sizes[math.Abs(x[from])] = true
		}
		if to-from >= restingRun && x[from] != 0 && from > 0 && to < len(x) && min(last, jump) > 1.5*step {
			rests[math.Abs(x[from])] += to - from
			resting += to - from
		}
		from, last = to, jump
	}
	for v := range sizes {
		all = append(all, v)
	}
	slices.Sort(all)
	return rests, all, resting
}

// stepOfLevels is the largest step that all sizes are multiples of; 0: there is none above finestLevel of the largest.
func stepOfLevels(sizes []float64) float64 {
	step := 0.0
	for _, v := range sizes {
		for a, b := max(step, v), min(step, v); ; a, b = b, math.Abs(a-b*math.Round(a/b)) { // Euclid
			if b <= levelRounding*sizes[len(sizes)-1] {
				step = a
				break
			}
		}
	}
	if step < finestLevel*sizes[len(sizes)-1] {
		return 0
	}
	return step
}

// rounding reports a force that rests on few levels.
func (c *checker) rounding(s signal) {
	if s.name == "force" {
		c.restingLevels(s.name, s.unit, s.x, c.d.ForceStep, s.q())
	}
}

// restingLevels reports a series that rests on few levels, and by how much its gain may be wrong: all levels rounded the same way, by
// half a step. given and seen are the step as the file says it and as the values show it, 0: not.
func (c *checker) restingLevels(name, unit string, x []float64, given, seen float64) {
	rests, all, resting := levelsOf(x, seen)
	if float64(resting) < restingShare*float64(len(x)) || len(rests) > fewLevels {
		return
	}
	step, known := given, true
	if step == 0 {
		if step = seen; step == 0 && len(all) <= 4*fewLevels {
			step, known = stepOfLevels(all), false
		}
	}
	var one, two float64
	for v, n := range rests {
		one, two = one+float64(n)*v, two+float64(n)*v*v
	}
	gain := step / 2 * one / two
	if !(gain > minRounding) {
		return
	}
	what := "its step is"
	if !known {
		what = "its step is not known, and at most"
	}
	c.addFinding("rounding", Note, name, gain, "", "Give the step of this column, a finer one, or one that passes over many levels.",
		"the %s rests on %d levels, and %s %.4g %s: if they are rounded, its gain is wrong by up to %.2g %%", name, len(rests), what, step, unit,
		100*gain)
}

// CheckInput looks at what drives a machine, whatever it is: the positions of the pieces hold it.
func CheckInput(pieces []*Record, name, unit string) []Finding {
	c := checker{}
	for _, c.d = range pieces {
		c.restingLevels(name, unit, c.d.Position, 0, numeric.EncoderStep(c.d.Position))
	}
	return merge(c.findings, len(pieces))
}
