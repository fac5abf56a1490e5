package record

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"

	"hilrig/engine/numeric"
)

// What a sensor adds has no favourite frequency: its noise, and what a converter rounds off, reach up to half the sampling rate. A
// channel whose noise falls and does not come to a floor passed a low-pass. The spectrum is the median of those of many stretches, which
// jumps and what happens now and then do not reach, of the fourth difference, in which little is left of the motion.

const (
	bandStretch = 512  // samples of a stretch
	bandMost    = 400  // stretches, from all over the record
	bandLeast   = 8    // stretches, below which nothing is said
	floorSlope  = -1.0 // of power over frequency, in decades: flatter is a floor
	bandWidest  = 0.12 // of the sampling rate, above which a corner is no matter
	nearFloor   = 1.0  // decades of power above the noise of rounding, from which on a spectrum bends towards it
	motionSlope = -3.2 // steeper is a motion, unless there is a plateau above it
)

// noiseSpectrum is the median power of a series over the frequencies i/bandStretch of the sampling rate; nil: it is too short.
func noiseSpectrum(x []float64) []float64 {
	n := len(x) - 4
	count := min(bandMost, 2*n/bandStretch-1)
	if count < bandLeast {
		return nil
	}
	fft := fourier.NewFFT(bandStretch)
	power := make([][]float64, bandStretch/2)
	part := make([]float64, bandStretch)
	for i := range count {
		from := int(float64(i) * float64(n-bandStretch) / float64(max(count-1, 1)))
		for k := range part {
			y := x[from+k : from+k+5]
			window := 0.5 - 0.5*math.Cos(2*math.Pi*(float64(k)+0.5)/bandStretch)
			part[k] = window * (y[0] - 4*y[1] + 6*y[2] - 4*y[3] + y[4])
		}
		for j, c := range fft.Coefficients(nil, part)[:bandStretch/2] {
			a := cmplx.Abs(c)
			power[j] = append(power[j], a*a)
		}
	}
	out := make([]float64, bandStretch/2)
	for j := 1; j < len(out); j++ {
		out[j] = numeric.QuantileInPlace(power[j], 0.5) / math.Pow(2*math.Sin(math.Pi*float64(j)/bandStretch), 8)
	}
	return out
}

// cornerOf is the frequency, as a share of the sampling rate, above which the noise of a series falls. plateau: the noise below is flat,
// and so the corner is known; else it is lower. 0: the noise does not fall, or what falls is no noise.
func cornerOf(x []float64) (corner float64, plateau bool) {
	power := noiseSpectrum(x)
	if power == nil {
		return 0, false
	}
	octaves := [][2]int{{8, 12}, {12, 16}, {16, 24}, {24, 32}, {32, 48}, {48, 64}, {64, 96}, {96, 128}, {128, 180}, {180, 240}}
	level := make([]float64, len(octaves)) // decades
	for i, o := range octaves {
		for j := o[0]; j < o[1]; j++ {
			level[i] += math.Log10(math.Max(power[j], math.SmallestNonzeroFloat64)) / float64(o[1]-o[0])
		}
	}
	slope := func(i, by int) float64 { // between bands
		f := func(o [2]int) float64 { return math.Log10(float64(o[0]+o[1]) / 2) }
		return (level[i+by] - level[i]) / (f(octaves[i+by]) - f(octaves[i]))
	}
	last := len(octaves) - 1
	// rounding of floating-point numbers is no floor of a sensor
	size := 0.0
	for _, v := range x {
		size = max(size, math.Abs(v))
	}
	rounding := math.Log10(64 * bandStretch * math.Pow(0x1p-53*size, 2))
	// what is rounded to steps is so behind any filter: near that floor the noise does not fall on
	if step := numeric.EncoderStep(x); step > 0 && level[last]-math.Log10(step*step/12*bandStretch*0.375*math.Ln2) < nearFloor {
		return 0, false
	}
	top := last
	for top > 2 && level[top] < rounding {
		top--
	}
	if top < 3 || top == last && slope(last-2, 2) > floorSlope {
		return 0, false
	}
	// down to where it is flat
	for i := top - 2; i >= 0; i-- {
		if slope(i, 2) > floorSlope && level[i]-level[top] > 0.5 {
			most := max(level[i], level[i+1])
			for j := octaves[i+1][0]; j < len(power)-3; j++ {
				if math.Log10((power[j-1]+power[j]+power[j+1]+power[j+2])/4) < most-math.Log10(2) {
					return float64(j) / bandStretch, true
				}
			}
		}
	}
	if s := slope(top-2, 2); top < last || s < motionSlope || slope(top-4, 4) < motionSlope {
		return 0, false
	}
	return float64(octaves[0][0]) / bandStretch, false
}

// band reports a channel whose noise ends far below half the sampling rate.
func (c *checker) band(s signal) {
	if s.name != "position" && s.name != "velocity" && s.name != "force" {
		return
	}
	corner, plateau := cornerOf(s.x)
	if corner == 0 || corner > bandWidest || s.name == "force" && !plateau { // jumps of a force fall alike
		return
	}
	corner /= c.d.Dt
	text := "the noise of %s falls above %.3g Hz, and has no floor up to half the sampling rate: it passed a low-pass, or was computed from what did"
	if !plateau {
		text = "the noise of %s falls from %.3g Hz on or below, and has no floor up to half the sampling rate: it passed a low-pass, or was computed from what did"
	}
	c.say("filtered", Note, s.name, corner, "Hz", "Record force and position without a filter, or behind the same one.", text, s.name, corner)
}
