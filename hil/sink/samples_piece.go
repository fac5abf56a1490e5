package sink

import (
	"math"

	"hilrig/engine/numeric"
)

// piece is a stretch of samples without a long gap.
type piece struct {
	g      *gather
	lo, hi int
	place  []int   // of each sample on the device's raster
	mi, mt float64 // mean place and mean time after the first sample, s
	sit    float64 // s   sums of products about the means: the slope is the period
	sii    float64
}

// newPiece gives each sample its place on an even grid of about the given period (s).
//
// The phase of the grid follows the samples slowly, for no device keeps exactly our time. Delay can only make a sample look late:
// one that seems to stand where the next one does came late, and is moved back.
func newPiece(g *gather, lo, hi int, period float64) piece {
	const follow = 0.05 // share of the deviation by which the phase follows
	p := piece{g: g, lo: lo, hi: hi, place: make([]int, hi-lo)}
	time, place := g.time[lo:hi], p.place
	base := time[0]
	for k := 1; k < len(time); k++ {
		n := math.Round((time[k] - base) / period)
		e := time[k] - base - n*period
		base += n*period + follow*min(max(e, -period/10), period/10)
		place[k] = place[k-1] + int(n)
	}
	for k := len(place) - 2; k >= 0; k-- {
		place[k] = min(place[k], place[k+1]-1)
	}
	for k := len(place) - 1; k >= 0; k-- {
		place[k] -= place[0]
	}
	n := float64(len(time))
	for k, i := range place {
		p.mi += float64(i) / n
		p.mt += (time[k] - time[0]) / n
	}
	for k, i := range place {
		d := float64(i) - p.mi
		p.sii += d * d
		p.sit += d * (time[k] - time[0] - p.mt)
	}
	return p
}

// polledTimes are the times (s) of samples of a device that is polledTimes: the raster of the questions, which jumps now and then. The
// median of the deviations nearby follows a jump at once, and takes the noise of arrival away.
func (p *piece) polledTimes(time []float64, period float64) []float64 {
	const near = 5 // samples on either side
	off := make([]float64, len(time))
	for k, t := range time {
		off[k] = t - time[0] - float64(p.place[k])*period
	}
	out := make([]float64, len(time))
	for k := range out {
		around := off[max(0, k-near):min(len(off), k+near+1)]
		out[k] = time[k] - off[k] + numeric.QuantileInPlace(append([]float64(nil), around...), 0.5)
		if k > 0 && !(out[k] > out[k-1]) { // a jump backward
			out[k] = math.Max(time[k], math.Nextafter(out[k-1], math.Inf(1)))
		}
	}
	return out
}

// appendTo appends the piece to the columns: the samples at their own times, or on the raster with the places between filled in. It
// returns how many those are.
func (p *piece) appendTo(out [][]float64, number, period float64, free bool) (filled int) {
	time := p.g.time[p.lo:p.hi]
	place := p.place
	if free {
		if !p.g.s.opt.Clocked {
			time = p.polledTimes(time, period)
		}
		place = make([]int, len(time))
		for k := range place {
			place[k] = k
		}
	} else {
		start := time[0] + p.mt - p.mi*period
		time = make([]float64, place[len(place)-1]+1)
		for i := range time {
			time[i] = start + float64(i)*period
		}
	}
	for j, c := range p.g.cols {
		switch c.kind {
		case 's':
			out[j] = append(out[j], time...)
			continue
		case 't', 'c', 'o':
			out[j] = append(out[j], p.g.lookUp(j, time)...)
			continue
		}
		k := 0
		for i := range time {
			if k+1 < len(place) && place[k+1] <= i {
				k++
			}
			y := number
			if c.kind != 'p' {
				x := p.g.columns[j][p.lo:p.hi]
				y = x[k]
				if place[k] != i && c.kind == 'm' {
					y = cubic(place, x, k, float64(i))
				}
			}
			out[j] = append(out[j], y)
		}
	}
	return len(time) - len(place)
}

// cubic is the value at i, between the samples k and k+1, of the cubic through the two samples on either side.
func cubic(place []int, x []float64, k int, i float64) float64 {
	lo, hi := max(k-1, 0), min(k+3, len(place))
	var at [4]float64
	for a, p := range place[lo:hi] {
		at[a] = float64(p)
	}
	return numeric.Lagrange(at[:hi-lo], x[lo:hi], i)
}
