package record

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
)

// A spike is a sample, or two or three, off the curve through their neighbours on both sides by much more than these are: no motion makes
// that, for a mass cannot leave its way and be back on it at once. Counters, converters and radio links make them. A few are left out
// before anything is fitted: the curve stands in their place, and a check names them.

const (
	spikeFence = 4.0 // times what 95 of 100 samples are off the curve through their neighbours, from which on one is looked at
	spikeSteps = 3.0 // and steps of the quantisation: counts flicker
	// times what the neighbours are off their own curve: behind a knee of the motion these are off a third as far as the knee
	spikeClear  = 6.0
	spikeLength = 3    // samples, longest
	spikeMost   = 0.01 // of the samples; more are noise
	spikeLook   = 1 << 16
)

// Spikes are the samples of a channel that are left out, in order.
type Spikes struct {
	Channel string
	Samples []int
	Largest float64 // distance from the curve, SI
}

// WithoutSpikes are the records with a curve through the neighbours in place of spikes of position, velocity and force. Records without any
// are the same ones.
func WithoutSpikes(recs []*Record) []*Record {
	out := slices.Clone(recs)
	for i, d := range recs {
		own, mended := *d, false
		for _, c := range d.spikes() {
			for j, name := range channelNames {
				if name == c.Channel {
					*own.channels()[j], mended = c.mended, true
				}
			}
		}
		if mended {
			out[i] = &own
		}
	}
	return out
}

// despiked is a channel with its spikes, and as it is without them.
type despiked struct {
	Spikes
	mended []float64
}

// spikes finds those of all channels. Pulses of the force that the motion follows are no spikes.
func (d *Record) spikes() (out []despiked) {
	if d.SteadyLevels || d.CheckLengths() != nil {
		return nil
	}
	var way []float64
	for i, x := range d.channels() {
		name := channelNames[i]
		if !slices.Contains([]string{"position", "velocity", "force"}, name) || !numeric.AllFinite(*x...) {
			continue
		}
		mended, at := Despike(*x)
		if name == "position" {
			way = mended
		}
		if at == nil || name == "force" && pulses(*x, mended, at, way, d.Dt) {
			continue
		}
		s := despiked{Spikes{Channel: name, Samples: at}, mended}
		for _, k := range at {
			s.Largest = max(s.Largest, math.Abs((*x)[k]-mended[k]))
		}
		out = append(out, s)
	}
	return out
}

// Despike is a series with curves through the neighbours in place of its spikes, and where these are; the series itself and nil where
// there are none, or too many to be spikes.
func Despike(x []float64) (mended []float64, at []int) {
	n := len(x)
	if n < 50 {
		return x, nil
	}
	off := func(x []float64, k int) float64 { // the curve through two neighbours on either side
		return math.Abs(x[k] - (4*(x[k-1]+x[k+1])-x[k-2]-x[k+2])/6)
	}
	stride := max(1, n/spikeLook)
	fence := spikeFence * numeric.QuantileOf((n-4)/stride, 0.95, func(i int) float64 { return off(x, 2+i*stride) })
	known := false // the step
	mended = x
	for range 2 { // the second look is for those next to another
		found := 0
		for k := 2; k < n-2; k++ {
			if off(mended, k) <= fence {
				continue
			}
			if !known {
				known, fence = true, max(fence, spikeSteps*numeric.EncoderStep(x))
				if off(mended, k) <= fence {
					continue
				}
			}
			from, to, curve := runOff(mended, k, fence)
			if to == from {
				continue
			}
			if at == nil {
				mended = slices.Clone(x)
			}
			for i := from; i < to; i++ {
				mended[i] = curve[i-from]
				at = append(at, i)
			}
			found++
			if k = to; float64(len(at)) > spikeMost*float64(n) {
				return x, nil
			}
		}
		if found == 0 {
			break
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	bridgeRuns(mended, at)
	return mended, at
}

// bridgeRuns puts one curve in place of all samples at that are next to each other: the first look found one of them beside another that
// was as far off.
func bridgeRuns(x []float64, at []int) {
	for i := 0; i < len(at); {
		to := i + 1
		for to < len(at) && at[to] == at[to-1]+1 {
			to++
		}
		from, length := at[i], to-i
		i = to
		if length < 2 || length > spikeLength {
			continue
		}
		for _, g := range curvesAround()[length-1] {
			if from < g.side || from+length+g.side > len(x) {
				continue
			}
			for k := range length { // no sample of the run is a neighbour
				x[from+k] = g.at(x, from, k)
			}
			break
		}
	}
}

// runOff finds the shortest run of samples at k or next to it that is clearly off the curve through its neighbours, and that curve. to =
// from: none.
func runOff(x []float64, k int, fence float64) (from, to int, curve []float64) {
	for length := 1; length <= spikeLength; length++ {
		for from := k - length + 1; from <= k+1; from++ {
			for _, g := range curvesAround()[length-1] {
				if from < g.side || from+length+g.side > len(x) {
					continue
				}
				clear := max(fence, spikeClear*g.neighbourStdDev(x, from))
				off := true
				for i := range length {
					off = off && math.Abs(x[from+i]-g.at(x, from, i)) > clear
				}
				if !off {
					continue
				}
				for i := range length {
					curve = append(curve, g.at(x, from, i))
				}
				return from, from + length, curve
			}
		}
	}
	return 0, 0, nil
}

// curveAround is a polynomial through side samples before and behind a run, by its values, which are sums of those of the neighbours.
type curveAround struct {
	side, length, order int
	weights             [][]float64 // of the neighbours, by sample: those of the run, then the neighbours
}

// curvesAround are those of every length of a run, of third order through many neighbours and of second order through few.
var curvesAround = sync.OnceValue(func() (out [spikeLength][2]curveAround) {
	for i := range out {
		out[i] = [2]curveAround{newCurveAround(5, i+1, 3), newCurveAround(3, i+1, 2)}
	}
	return out
})

func newCurveAround(side, length, order int) curveAround {
	g := curveAround{side: side, length: length, order: order}
	var places []float64
	for i := range 2*side + length {
		places = append(places, (float64(i)-float64(2*side+length-1)/2)/float64(side))
	}
	powers := func(t float64) []float64 {
		row := []float64{1}
		for len(row) <= order {
			row = append(row, row[len(row)-1]*t)
		}
		return row
	}
	neighbours := slices.Concat(places[:side], places[side+length:])
	thetas := make([][]float64, len(neighbours)) // of a series that is 1 at one of them
	for j := range neighbours {
		f := numeric.NewFactor(order + 1)
		for i, t := range neighbours {
			y := 0.0
			if i == j {
				y = 1
			}
			f.Add(powers(t), y)
		}
		thetas[j] = make([]float64, order+1)
		_ = f.Solve(thetas[j]) // powers of different samples do not depend on each other
	}
	for _, t := range slices.Concat(places[side:side+length], neighbours) {
		var row []float64
		for j := range neighbours {
			row = append(row, floats.Dot(thetas[j], powers(t)))
		}
		g.weights = append(g.weights, row)
	}
	return g
}

// neighbour is the value of the j-th neighbour of the run from the sample from on.
func (g *curveAround) neighbour(x []float64, from, j int) float64 {
	if j < g.side {
		return x[from-g.side+j]
	}
	return x[from+g.length+j-g.side]
}

// at is the curve at sample i: of the run, then the neighbours.
func (g *curveAround) at(x []float64, from, i int) float64 {
	base, sum := x[from-1], 0.0
	for j, w := range g.weights[i] {
		sum += w * (g.neighbour(x, from, j) - base)
	}
	return base + sum
}

// neighbourStdDev is the standard deviation of the neighbours from the curve.
func (g *curveAround) neighbourStdDev(x []float64, from int) float64 {
	sum := 0.0
	for j := range 2 * g.side {
		e := g.neighbour(x, from, j) - g.at(x, from, g.length+j)
		sum += e * e
	}
	return math.Sqrt(sum / float64(2*g.side-g.order-1))
}

// pulses tells whether the motion x follows the spikes at of a force: by M·Δv = h·dt each changes the velocity by as much as it is high.
func pulses(force, mended []float64, at []int, x []float64, dt float64) bool {
	const side = 10 // samples
	var hh, hv, vv float64
	n := 0
	for _, k := range at {
		if k < side || k+side >= len(x) {
			continue
		}
		f := numeric.NewFactor(5)
		for i := -side; i <= side; i++ {
			t := float64(i) / side
			f.Add([]float64{1, t, t * t, t * t * t, max(0, t)}, x[k+i]-x[k])
		}
		theta := make([]float64, 5)
		_ = f.Solve(theta)
		h, v := (force[k]-mended[k])*dt, theta[4]/(side*dt)
		hh, hv, vv, n = hh+h*h, hv+h*v, vv+v*v, n+1
	}
	if n < 3 || hh == 0 {
		return false
	}
	slope := hv / hh
	return slope > 3*math.Sqrt(max(0, vv-slope*hv)/float64(n-1)/hh)
}
