package capture

import (
	"math"

	"hilrig/engine/numeric"
	"hilrig/identify/record"
)

// clock collects number and time of the frames of a text as its lines are read.
type clock struct {
	line  []int
	frame []float64 // NaN: the file has none
	time  []float64 // s, NaN: the file has none
}

func (k *clock) add(line int, frame, time float64) {
	k.line, k.frame, k.time = append(k.line, line), append(k.frame, frame), append(k.time, time)
}

// setTimes turns the numbers and times that a file gives into those of the capture. A frame counts 1/rate; a column of time is used
// where there are no numbers or no rate, or where it says otherwise by more than half a frame (columns of time are rounded, often to
// 1 ms). It refuses frames that go back, and keeps the lines that do not repeat the frame before.
func (c *Capture) setTimes(k *clock, rate float64, o Options) (keep []int, err error) {
	n := len(k.line)
	if o.Rate > 0 {
		if rate > 0 && math.Abs(rate-o.Rate) > 1e-6*rate {
			c.addFinding("rate", record.Note, "", o.Rate, "Hz", "", "%g frames/s as asked; the file says %g", o.Rate, rate)
		}
		rate = o.Rate
	}
	hasFrame, hasTime := n > 0 && !math.IsNaN(k.frame[0]), n > 0 && !math.IsNaN(k.time[0])
	for i := range n {
		switch {
		case hasFrame && (math.IsNaN(k.frame[i]) || k.frame[i] != math.Trunc(k.frame[i]) || math.Abs(k.frame[i]) > 1<<52):
			return nil, c.fail(k.line[i], "Remove the line, or export the file again.", "the number of the frame is missing or no whole number")
		case hasTime && math.IsNaN(k.time[i]):
			return nil, c.fail(k.line[i], "Remove the line, or export the file again.", "the time is missing")
		case i > 0 && hasFrame && k.frame[i] < k.frame[i-1]:
			return nil, c.fail(k.line[i], "Are two recordings in one file? Cut it in two.", "frame %.0f follows frame %.0f", k.frame[i],
				k.frame[i-1])
		case i > 0 && !hasFrame && hasTime && k.time[i] < k.time[i-1]:
			return nil, c.fail(k.line[i], "Are two recordings in one file? Cut it in two.", "the time goes back from %g to %g s", k.time[i-1],
				k.time[i])
		case i > 0 && (hasFrame && k.frame[i] == k.frame[i-1] || !hasFrame && hasTime && k.time[i] == k.time[i-1]):
		default:
			keep = append(keep, i)
		}
	}
	k.line, k.frame, k.time = pick(k.line, keep, 0), pick(k.frame, keep, 0), pick(k.time, keep, 0)
	n = len(keep)

	if !hasFrame && hasTime && n > 1 { // numbers from the times, so that what is missing shows as a jump
		step := medianStep(k.time)
		if rate > 0 {
			step = 1 / rate
		}
		k.frame = framesOf(k.time, step)
		if rate == 0 {
			rate = 1 / step
		}
	} else if !hasFrame {
		for i := range k.frame {
			k.frame[i] = float64(i + 1)
		}
	}
	if rate == 0 && hasTime && n > 1 {
		rate = rateOf(k)
	}
	if !(rate > 0) || !usable(rate) {
		return nil, c.fail(0, "Say how many frames a second there are: --rate 200.", "the file has neither a rate nor times")
	}
	c.Rate = rate
	c.Frame, c.Time = make([]int, n), make([]float64, n)
	for i, f := range k.frame {
		c.Frame[i], c.Time[i] = int(f), (f-k.frame[0])/rate
	}
	if hasTime {
		c.preferTimes(k.time, hasFrame, o)
	}
	for i := 1; i < n; i++ {
		if !(c.Time[i] > c.Time[i-1]) {
			return nil, c.fail(k.line[i], "Give the rate with --rate, so that the numbers of the frames count.",
				"frame %d comes %g s after the frame before", c.Frame[i], c.Time[i]-c.Time[i-1])
		}
	}
	return keep, nil
}

// preferTimes takes the times of the file where the numbers of the frames and the rate do not say the same.
func (c *Capture) preferTimes(time []float64, numbered bool, o Options) {
	worst := 0.0
	for i, t := range time {
		worst = max(worst, math.Abs(t-time[0]-c.Time[i]))
	}
	switch {
	case numbered && worst*c.Rate <= 0.5 || o.Rate > 0: // rounded times
		for i := range c.Time {
			c.Time[i] += time[0]
		}
	default:
		copy(c.Time, time)
		if numbered {
			c.addFinding("uneven", record.Warning, "", worst, "s",
				"Say with --rate how many frames a second there are, if the numbers are right and the times are not.",
				"times and numbers of the frames part by up to %.4g s at %g frames/s; the times are used", worst, c.Rate)
		}
	}
}

// medianStep is the usual distance of two times, > 0 where there is one.
func medianStep(time []float64) float64 {
	d := make([]float64, 0, len(time))
	for i := 1; i < len(time); i++ {
		if time[i] > time[i-1] {
			d = append(d, time[i]-time[i-1])
		}
	}
	if len(d) == 0 {
		return 0
	}
	return numeric.Median(d)
}

// framesOf counts frames by the steps between their times; every line is at least one frame behind the one before.
func framesOf(time []float64, step float64) []float64 {
	out := make([]float64, len(time))
	out[0] = 1
	for i := 1; i < len(time); i++ {
		jump := math.Round((time[i] - time[i-1]) / step)
		if !(jump >= 1) || jump > 1e9 {
			jump = 1
		}
		out[i] = out[i-1] + jump
	}
	return out
}

// rateOf is the rate of frames with numbers and times, from their ends, 0: not to be told.
func rateOf(k *clock) float64 {
	last := len(k.time) - 1
	if r := (k.frame[last] - k.frame[0]) / (k.time[last] - k.time[0]); r > 0 && usable(r) {
		return r
	}
	return 0
}

// gapsInTime says which frames are missing.
func (c *Capture) gapsInTime() {
	missing, worst, at, places := 0, 0, 0, 0
	for i := 1; i < len(c.Frame); i++ {
		if jump := c.Frame[i] - c.Frame[i-1] - 1; jump > 0 {
			missing += jump
			places++
			if jump > worst {
				worst, at = jump, i
			}
		}
	}
	if missing > 0 {
		c.addFinding("time-gap", record.Warning, "", float64(missing), "frames",
			"A velocity across a gap is a mean over it; fit the parts before and behind it on their own.",
			"%d frames are missing at %d places, at most %d in a row behind frame %d (%.4g s)", missing, places, worst, c.Frame[at-1], c.Time[at-1])
	}
}
