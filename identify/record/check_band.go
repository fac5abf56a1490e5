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
	movesAt     = 3.0  // times the coherence of white noise, from which on a position follows a force
)

// eachStretch calls f with the spectra of the fourth differences of some series of one length in stretches from all over them; false: they
// are too short.
func eachStretch(series [][]float64, f func(spectra [][]complex128)) bool {
	n := len(series[0]) - 4
	count := min(bandMost, 2*n/bandStretch-1)
	if count < bandLeast {
		return false
	}
	fft := fourier.NewFFT(bandStretch)
	part, spectra := make([]float64, bandStretch), make([][]complex128, len(series))
	for i := range count {
		from := int(float64(i) * float64(n-bandStretch) / float64(max(count-1, 1)))
		for s, x := range series {
			for k := range part {
				y := x[from+k : from+k+5]
				window := 0.5 - 0.5*math.Cos(2*math.Pi*(float64(k)+0.5)/bandStretch)
				part[k] = window * (y[0] - 4*y[1] + 6*y[2] - 4*y[3] + y[4])
			}
			spectra[s] = fft.Coefficients(spectra[s], part)
		}
		f(spectra)
	}
	return true
}

// followsForce tells whether a position follows a force in the octave above a corner, a share of the sampling rate: what of a force
// moves the axis is no noise of its sensor. The coherence of white noise is one over the number of stretches, and stretches overlap by
// half.
func followsForce(position, force []float64, corner float64) bool {
	from, to := int(corner*bandStretch), min(int(2*corner*bandStretch), bandStretch/2)
	both, x, f, count := make([]complex128, to), make([]float64, to), make([]float64, to), 0.0
	power := func(c complex128) float64 { return real(c)*real(c) + imag(c)*imag(c) }
	eachStretch([][]float64{position, force}, func(of [][]complex128) {
		count++
		for j := from; j < to; j++ {
			both[j] += of[0][j] * cmplx.Conj(of[1][j])
			x[j], f[j] = x[j]+power(of[0][j]), f[j]+power(of[1][j])
		}
	})
	coherence := 0.0
	for j := from; j < to; j++ {
		coherence += power(both[j]) / math.Max(x[j]*f[j], math.SmallestNonzeroFloat64) / float64(to-from)
	}
	return coherence > movesAt*2/count
}

// noiseSpectrum is the median power of a series over the frequencies i/bandStretch of the sampling rate; nil: it is too short.
func noiseSpectrum(x []float64) []float64 {
	power := make([][]float64, bandStretch/2)
	if !eachStretch([][]float64{x}, func(spectra [][]complex128) {
		for j, c := range spectra[0][:bandStretch/2] {
			a := cmplx.Abs(c)
			power[j] = append(power[j], a*a)
		}
	}) {
		return nil
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
	if s.name == "force" && len(c.d.Position) == len(s.x) && followsForce(c.d.Position, s.x, corner) {
		return
	}
	corner /= c.d.Dt
	text := "the noise of %s falls above %.3g Hz, and has no floor up to half the sampling rate: it passed a low-pass, or was computed from " +
		"what did"
	if !plateau {
		text = "the noise of %s falls from %.3g Hz on or below, and has no floor up to half the sampling rate: it passed a low-pass, or was " +
			"computed from what did"
	}
	c.addFinding("filtered", Note, s.name, corner, "Hz", "Record force and position without a filter, or behind the same one.", text, s.name,
		corner)
}
