package machine

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
)

// What is left over of a torque is the noise of its sensor, that of the positions, and what the model lacks. The first shows above the band
// of the fit, where the model makes nothing. What it is in the band follows from bands above. White noise and noise behind a filter of
// first order with the corner c have the density
//
//	S(f) = w + s/(c² + f²)
//
// The uppermost band gives w. The second is what noise of the positions makes of the acceleration, by the inertia that the joint feels.

var noiseEdges = []float64{1.5, 3, 6} // of the bands, times the cutoff; the uppermost one goes from there to noiseMost

const (
	noiseMost  = 0.9      // of half the sampling rate
	noiseLeast = 1.3      // times the highest of noiseEdges, which noiseMost must be
	minCorner  = 0.25     // of the cutoff: what is slower is drift, and no noise
	noiseRows  = 64       // at which the inertia is looked at
	median     = 0.674490 // of the size of Gaussian noise over its standard deviation
)

// noise is, by joint, the rms that noise of the records alone would leave over; NaN: not known.
func (l *lack) noise(grid []gridRow, phi []float64, was [][]float64) []float64 {
	r, s := l.r, l.r.Spec
	out := make([]float64, r.Model.NV())
	for i := range out {
		out[i] = math.NaN()
	}
	fs := 1 / l.f.dt
	var edges []float64
	for _, x := range noiseEdges {
		edges = append(edges, x*s.Cutoff)
	}
	if edges = append(edges, noiseMost*fs/2); edges[3] < noiseLeast*edges[2] {
		return out
	}
	var low []filter.Lowpass
	for _, edge := range edges {
		low = append(low, filter.Butterworth(s.Order, edge, fs))
	}
	square := func(gain func(w float64) float64) float64 {
		return filter.Mean(func(w float64) float64 { return gain(w) * gain(w) })
	}
	var above []float64
	for n := range low[1:] {
		above = append(above, square(func(w float64) float64 { return low[n+1].Gain(w) - low[n].Gain(w) }))
	}
	within := square(l.f.positionLowpass.Gain)
	acceleration := math.Sqrt(square(func(w float64) float64 { return l.f.positionLowpass.Gain(w) * math.Pow(filter.Slope(w)/l.f.dt, 2) }))
	var shaken []float64 // rms of the acceleration that noise of each position makes
	for i := range out {
		var x [][]float64
		for _, d := range l.recs {
			x = append(x, d[i].Position)
		}
		shaken = append(shaken, acceleration*numeric.Noise(x...))
	}
	for i := range out {
		if s.Passive[i] { // it has no sensor of torque
			continue
		}
		band := make([][]float64, len(above))
		for k := range r.sys.blocks {
			b := &r.sys.blocks[k]
			if b.joint != i || b.model == nil || len(b.model) <= low[0].Padding() {
				continue
			}
			e := slices.Clone(r.Base.timing.shifted(i, l.recs[b.rec][i]))
			floats.Sub(e, b.model)
			below := low[0].ZeroPhase(e)
			for n := range band {
				upto := low[n+1].ZeroPhase(e)
				for _, at := range b.gridPlaces {
					k := l.f.skip + at*l.f.rowStep
					band[n] = append(band[n], math.Abs(upto[k]-below[k]))
				}
				below = upto
			}
		}
		if band[0] == nil {
			continue
		}
		var density []float64
		for n, x := range band {
			density = append(density, math.Pow(numeric.QuantileOf(len(x), 0.5, func(k int) float64 { return x[k] })/median, 2)/above[n])
		}
		out[i] = math.Sqrt(within * inBand(density, edges, s.Cutoff))
	}
	inertia := l.inertia(grid, phi, was)
	for i := range out {
		for j, a := range shaken {
			out[i] = math.Hypot(out[i], inertia[i][j]*a)
		}
	}
	return out
}

// inBand is the mean density of noise up to the cutoff by those of three bands between the edges above it.
func inBand(density, edges []float64, cutoff float64) float64 {
	white := density[2]
	coloured := density[0] - white
	if coloured <= 0 {
		return density[0]
	}
	f1, f2 := edges[0]*edges[1], edges[1]*edges[2] // squares of the frequencies in their middle
	fall := coloured / math.Max(density[1]-white, coloured*f1/f2)
	corner := minCorner * cutoff
	if fall <= 1 {
		return density[0]
	}
	corner = math.Max(corner, math.Sqrt(math.Max((f2-fall*f1)/(fall-1), 0)))
	return white + coloured*(corner*corner+f1)*math.Atan(cutoff/corner)/(corner*cutoff)
}

// inertia is the rms of the torque of joint i by the acceleration of joint j, over some of the rows.
func (l *lack) inertia(grid []gridRow, phi []float64, was [][]float64) [][]float64 {
	r, nv := l.r, l.r.Model.NV()
	step := max(1, len(grid)/noiseRows)
	out := make([][]float64, nv)
	for i := range out {
		out[i] = make([]float64, nv)
	}
	for j := range nv {
		var some []gridRow
		var before [][]float64
		for k := 0; k < len(grid); k += step {
			g := grid[k]
			g.a = slices.Clone(g.a)
			g.a[j]++
			some, before = append(some, g), append(before, was[k])
		}
		for k, now := range r.torquesAt(r.Model, phi, some) {
			for i := range nv {
				out[i][j] += math.Pow(now[i]-before[k][i], 2) / float64(len(some))
			}
		}
		for i := range nv {
			out[i][j] = math.Sqrt(out[i][j])
		}
	}
	theta := r.Base.FullParams(r.Model, r.Values)
	for k := range r.Base.Columns {
		if c := &r.Base.Columns[k]; c.Term == Armature {
			out[c.Joint][c.Joint] += math.Abs(theta[k])
		}
	}
	return out
}

// Hidden are the free parameters of a joint that make at least least (share) of its torque, and of which what the joint leaves over would
// be more than the share most of the value, if it were all theirs.
func (r *Result) Hidden(joint int, least, most float64) (names []string) {
	size := make([]float64, len(r.Values))
	all := 0.0
	for i := range r.sys.blocks {
		b := &r.sys.blocks[i]
		if b.joint != joint {
			continue
		}
		all += floats.Dot(b.y, b.y)
		for k := range r.Values {
			if w := b.column(k); w != nil {
				size[k] += r.Values[k] * r.Values[k] * floats.Dot(w, w)
			}
		}
	}
	all = math.Max(all, math.Pow(r.Joints[joint].Largest, 2)*float64(r.Joints[joint].Rows))
	left := math.Pow(r.Joints[joint].RMS, 2) * float64(r.Joints[joint].Rows)
	for _, k := range r.FreeParams {
		if c := &r.Base.Columns[r.Base.Pivot[k]]; c.Term != Lag && size[k] >= least*least*all && left > most*most*size[k] {
			names = append(names, r.Base.Name(k))
		}
	}
	return names
}
