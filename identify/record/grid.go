package record

import (
	"fmt"
	"math"
	"sort"

	"hilrig/engine/numeric"
)

// Limits of what counts as evenly sampled, relative to the sampling interval.
const (
	jitterWarn   = 0.005 // rms, above: worth a remark
	jitterBad    = 0.05  // rms, above: derivatives by differences would be wrong by as much
	gapFactor    = 1.5   // an interval longer than this has lost at least a sample
	bridge       = 5     // median intervals, the longest gap that resampling bridges
	roundedTimes = 1e-6  // between the shortest and the longest interval: all are one, to rounding of the times
	driftBad     = 1     // samples: a grid that is off by more is no description of the recording
)

// Clock says how regular the recorded times were.
type Clock struct {
	Median   float64 `json:"median_s"` // of the intervals between samples
	Shortest float64 `json:"shortest_s"`
	Longest  float64 `json:"longest_s"`
	Jitter   float64 `json:"jitter"`  // scatter of the intervals, rms relative to their mean
	Drift    float64 `json:"drift_s"` // largest distance between a recorded time and the even grid that took its place

	Resampled bool `json:"resampled"`     // values were interpolated
	Bridged   int  `json:"bridged"`       // intervals longer than 1.5 median ones that interpolation spans
	Invented  int  `json:"invented_rows"` // samples within them
}

// stretches checks that the times of the rows lo … hi run forward, and cuts them at gaps if that is wanted. Stretches are
// pairs of rows.
func (t *converted) stretches(lo, hi int) ([][2]int, error) {
	m, s := t.m, t.time
	shortest, longest := math.Inf(1), 0.0
	for k := lo; k < hi-1; k++ {
		step := s[k+1] - s[k]
		switch {
		case step < 0:
			return nil, t.fail(t.line(k+1), "Two recordings in one file? Cut it there, or name the column that tells them apart in "+
				"data.columns.group; if rows were reordered, sort them by time.",
				"time goes back by %.4g s, from %.9g s in %s to %.9g s", -step, s[k], t.place(k), s[k+1])
		case step == 0:
			return nil, t.fail(t.line(k+1), "A row written twice, or a time column with too few digits: export more digits, or leave out "+
				"data.columns.time and give data.rate.",
				"time stands still at %.9g s since %s", s[k], t.place(k))
		}
		shortest, longest = min(shortest, step), max(longest, step)
	}
	if longest <= gapFactor*shortest {
		return [][2]int{{lo, hi}}, nil
	}
	median := medianStep(s[lo:hi])
	limit, how := gapFactor*median, "Cut the file there and use the longer part: a filter cannot run across a gap. Or let data.split_gaps "+
		"cut it into pieces, or data.resample fill short gaps."
	if m.Resample {
		limit, how = bridge*median, "Cut the record into pieces there with data.split_gaps."
	}

	out, first := [][2]int(nil), lo
	for k := lo; k < hi-1; k++ {
		h := s[k+1] - s[k]
		if h <= limit {
			continue
		}
		if !m.SplitGaps {
			return nil, t.fail(t.line(k+1), how, "gap of %.4g s after %s, samples are %.4g s apart: about %.0f are missing",
				h, t.place(k), median, math.Round(h/median)-1)
		}
		out, first = append(out, [2]int{first, k + 1}), k+1
	}
	return append(out, [2]int{first, hi}), nil
}

// commonStep is the median interval between samples of the whole table, s.
func (t *converted) commonStep() float64 {
	if t.step == 0 {
		t.step = medianStep(t.time)
	}
	return t.step
}

// medianStep is the median of the intervals between times, s.
func medianStep(s []float64) float64 {
	step := make([]float64, len(s)-1)
	for k := range step {
		step[k] = s[k+1] - s[k]
	}
	return numeric.QuantileInPlace(step, 0.5)
}

// regular brings the rows lo … hi onto an even grid.
func (t *converted) regular(d *Record, lo, hi int) error {
	m, s := t.m, t.time[lo:hi]
	n := len(s)
	mean := (s[n-1] - s[0]) / float64(n-1)
	if !(mean > 0) || math.IsInf(mean, 0) {
		return t.fail(t.line(lo), "Check the unit of the column of time.", "sampling interval %g s, want > 0", mean)
	}
	d.Start, d.Dt = s[0], mean
	c := &d.Clock
	*c = Clock{Shortest: math.Inf(1)}
	for k := range n - 1 {
		h := s[k+1] - s[k]
		c.Shortest, c.Longest = min(c.Shortest, h), max(c.Longest, h)
		c.Jitter += (h - mean) * (h - mean)
		c.Drift = max(c.Drift, math.Abs(s[k]-s[0]-float64(k)*mean))
	}
	c.Jitter = math.Sqrt(c.Jitter/float64(n-1)) / mean
	if c.Median = (c.Shortest + c.Longest) / 2; c.Longest-c.Shortest > roundedTimes*mean {
		c.Median = medianStep(s)
	}

	even := c.Jitter <= jitterWarn && c.Longest <= gapFactor*c.Median && c.Drift <= 0.01*mean
	if m.Resample && (!even || (m.ResampleRate > 0 && math.Abs(m.ResampleRate*mean-1) > 1e-6)) {
		return t.resample(d, lo, hi)
	}
	if c.Jitter > jitterBad {
		return t.fail(0, "Record with the clock of the device instead of the host's, or let data.resample interpolate the samples at even times.",
			"uneven sampling: intervals from %.4g to %.4g s scatter by %.1f %% rms around %.4g s, at most %.0f %% is accepted",
			c.Shortest, c.Longest, 100*c.Jitter, mean, 100*jitterBad)
	}
	t.fill(d, lo, hi)
	if c.Jitter > jitterWarn {
		d.Warnings = append(d.Warnings, fmt.Sprintf("sampling intervals scatter by %.1f %% rms; they are taken as even, %.6g s", 100*c.Jitter,
			mean))
	}
	if c.Drift > driftBad*mean {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the even grid of %.6g s is up to %.3g s, %.1f samples, away from the recorded times; "+
			"data.resample keeps them", mean, c.Drift, c.Drift/mean))
	}
	return nil
}

// resample interpolates the channels on an even grid that begins with the first sample.
func (t *converted) resample(d *Record, lo, hi int) error {
	m, s, c := t.m, t.time[lo:hi], &d.Clock
	d.Dt = c.Median
	if all := t.commonStep(); math.Abs(all-c.Median) <= sameRate*c.Median { // pieces of one recording are on one grid
		d.Dt = all
	}
	if m.ResampleRate > 0 {
		d.Dt = 1 / m.ResampleRate
	}
	span := s[len(s)-1] - s[0]
	const finest = 20 // finer grids hold nothing new
	if !(d.Dt*finest >= c.Median) || span/d.Dt < 1 || span/d.Dt > maxNumbers {
		return t.fail(0, fmt.Sprintf("The median interval is %.4g s: choose a rate near %.4g Hz.", c.Median, 1/c.Median),
			"resampling at %g Hz, one sample every %.4g s, does not suit a record of %.4g s", m.ResampleRate, d.Dt, span)
	}
	n := int(math.Floor(span/d.Dt*(1+1e-12)+1e-9)) + 1
	c.Resampled, c.Drift = true, 0
	for k := range len(s) - 1 {
		if h := s[k+1] - s[k]; h > gapFactor*c.Median {
			c.Bridged++
			c.Invented += max(int(math.Round(h/d.Dt))-1, 0)
		}
	}
	for i, ch := range m.channels() {
		if ch.to(d) == &d.Position {
			d.PositionStep = numeric.EncoderStep(t.x[i][lo:hi])
		}
		if steps, held := t.commandSteps[ch.Name]; held {
			*ch.to(d) = heldAt(steps, ch.Column, s[0], d.Dt, n)
			continue
		}
		*ch.to(d) = interpolate(s, t.x[i][lo:hi], d.Dt, n, c.Median, m.Cubic)
	}

	text := fmt.Sprintf("samples are interpolated (%s) on an even grid of %.6g s: recorded intervals scatter by %.1f %% rms, from %.4g "+
		"to %.4g s",
		map[bool]string{false: "linear", true: "cubic"}[m.Cubic], d.Dt, 100*c.Jitter, c.Shortest, c.Longest)
	if c.Bridged > 0 {
		text += fmt.Sprintf("; %d of them are longer than %g median ones", c.Bridged, gapFactor)
	}
	d.Warnings = append(d.Warnings, text)
	if d.Dt > 1.2*c.Median {
		d.Warnings = append(d.Warnings, fmt.Sprintf("the grid is coarser than the recording (%.4g s): what is faster than %.4g Hz folds down "+
			"into slower motion", c.Median, 0.5/d.Dt))
	}
	return nil
}

// heldAt gives a column that keeps its value until the next one at n times from start on, dt apart, in SI.
func heldAt(steps [2][]float64, c Column, start, dt float64, n int) []float64 {
	time, out := steps[0], make([]float64, n)
	k := max(sort.SearchFloat64s(time, start)-1, 0)
	for i := range out {
		for at := start + float64(i)*dt; k+1 < len(time) && time[k+1] <= at; {
			k++
		}
		out[i] = steps[1][k]
	}
	c.toSI(out)
	return out
}

// interpolate gives y(s[0] + i·dt), i < n, of the samples y at the increasing times s. A cubic spans no interval that is
// far longer than the median: it would overshoot there.
func interpolate(s, y []float64, dt float64, n int, median float64, cubic bool) []float64 {
	out := make([]float64, n)
	k := 0
	for i := range out {
		x := min(s[0]+float64(i)*dt, s[len(s)-1])
		for k < len(s)-2 && s[k+1] <= x {
			k++
		}
		w := (x - s[k]) / (s[k+1] - s[k])
		out[i] = y[k] + w*(y[k+1]-y[k])
		if !cubic || k == 0 || k+2 >= len(s) || s[k+2]-s[k-1] > 3*2*median {
			continue
		}
		out[i] = numeric.Lagrange(s[k-1:k+3], y[k-1:k+3], x)
	}
	return out
}
