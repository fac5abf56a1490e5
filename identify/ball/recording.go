// Package ball identifies rolling and spinning friction of a sphere [KKK17] from the markers on it that cameras see: the model is that of
// engine/plant/ball.
//
// The levels stand side by side, each with what it can and cannot do:
//
//	moduli      |M| over |ω| of smoothed motion, the source's (2.2): biased upward by noise, for comparison only
//	projection  Σ(M, φ)/Σ|φ|² of smoothed motion, φ the direction of friction: a first value, biased by the window
//	energy      loss of energy over the work of a unit coefficient
//	weak        the equations of motion integrated against smooth functions of time: no second derivative
//	shooting γ  motion from one start, compared with the vertical in the body, the source's fit
//	markers     motion from one start, compared with all markers; everything may be free: the value to report
//
// The frame of the recording is that of the cameras: z along the normal of the plane, but for lean, and the plane at height. SI.
package ball

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/numeric"
	"hilrig/engine/rotation"
)

// Recording is what cameras saw of the markers.
type Recording struct {
	Times   []float64  // s, rising
	Points  [][]r3.Vec // m  by frame and marker, in the frame of the cameras
	Visible [][]bool   // alike; a marker that is not visible is not looked at
}

// Check tells what makes a recording none.
func (r *Recording) Check(markers int) error {
	if len(r.Points) != len(r.Times) || len(r.Visible) != len(r.Times) {
		return fmt.Errorf("recording: %d times, %d frames of points and %d of their visibility, want as many of each", len(r.Times),
			len(r.Points), len(r.Visible))
	}
	if len(r.Times) < minFrames {
		return fmt.Errorf("recording: %d frames, want at least %d", len(r.Times), minFrames)
	}
	for k, t := range r.Times {
		if !numeric.IsFinite(t) || k > 0 && !(t > r.Times[k-1]) {
			return fmt.Errorf("recording: frame %d is at %g s, want times that rise: sort the frames, and drop those that stand twice", k, t)
		}
		if len(r.Points[k]) != markers || len(r.Visible[k]) != markers {
			return fmt.Errorf("recording: frame %d has %d markers, want %d", k, len(r.Points[k]), markers)
		}
		for j, p := range r.Points[k] {
			if r.Visible[k][j] && !numeric.AllFinite(p.X, p.Y, p.Z) {
				return fmt.Errorf("recording: frame %d, marker %d: %v is no position of a visible marker", k, j, p)
			}
		}
	}
	return nil
}

const minFrames = 20

// step is the median time between frames (s).
func (r *Recording) step() float64 {
	d := make([]float64, len(r.Times)-1)
	for k := range d {
		d[k] = r.Times[k+1] - r.Times[k]
	}
	return numeric.Median(d)
}

// poses are position and orientation of the ball by frame, as the markers tell them one frame at a time.
type poses struct {
	times         []float64
	q             []quat.Number // NaN: not known
	center        []r3.Vec      // m  geometric centre in the frame of the cameras; NaN
	sigma         float64       // m  noise of a coordinate of a marker, from their distances
	turn          float64       // rad  noise of the orientation, mean of the axes
	place         float64       // m  noise of a coordinate of the centre
	missingFrames int           // frames with fewer than three markers in view
	odd           int           // frames whose markers do not fit the body

	cleanRecording *Recording // with labels put right; what does not fit the body is not visible
	exchanges      []Exchange
	strays         []Stray
}

// What a set of markers must not be.
const (
	oddFrame = 4.0  // times the noise: root mean square of the residuals of a frame that is left out
	oddShare = 0.5  // of the frames: the markers are not those of the body
	rigid    = 0.03 // of the radius, above which the noise of the markers is no noise
	minNoise = 1e-6 // of the radius: simulated recordings may have none
)

// posesOf aligns the markers with the body, frame by frame.
func posesOf(r *Recording, markers []r3.Vec, radius float64) (*poses, error) {
	n := len(r.Times)
	p := &poses{times: r.Times, q: make([]quat.Number, n), center: make([]r3.Vec, n)}
	rms := make([]float64, n) // per coordinate, with the degrees of freedom of a rigid body taken off
	var seen []float64
	var mirrored int
	var turn, place, spread float64
	for k := range n {
		p.q[k], p.center[k], rms[k] = quat.NaN(), r3.Vec{X: math.NaN(), Y: math.NaN(), Z: math.NaN()}, math.NaN()
		f, err := alignSeen(r.Points[k], r.Visible[k], markers)
		switch {
		case errors.Is(err, rotation.ErrMirrored):
			mirrored++
			rms[k] = math.Inf(1)
			continue
		case err != nil:
			p.missingFrames++
			continue
		}
		if f.Rms > 1e-3*radius && f.Mirror < f.Rms/10 {
			mirrored++
		}
		p.q[k], p.center[k] = f.R, f.P
		dof := float64(3*f.Count - 6)
		rms[k] = perCoordinate(&f)
		seen = append(seen, rms[k]/math.Pow(1-2/(9*dof), 1.5)) // by the median of χ² [WH31]
		if inv, ok := f.Inertia.InverseSPD(); ok {
			turn += (inv[0][0] + inv[1][1] + inv[2][2]) / 3
			arm := r3.Sub(f.P, f.Centre)
			place += 1/f.Weight + r3.Norm2(arm)*2/3*(inv[0][0]+inv[1][1]+inv[2][2])/3
			spread++
		}
	}
	if mirrored > n/2 {
		return nil, errors.New("markers: they are mirror images of those of the body: one of the two has left-handed axes, exchange two of its " +
			"coordinates")
	}
	if len(seen) < minFrames {
		return nil, fmt.Errorf("markers: only %d of %d frames show three markers or more that are not in a line, want at least %d", len(seen), n,
			minFrames)
	}
	p.sigma = max(numeric.Median(seen), minNoise*radius)
	if p.sigma > rigid*radius {
		return nil, fmt.Errorf("markers: their distances miss those of the body by %.3g m, the radius is %.3g m: the offsets belong to other "+
			"markers, or units differ (lengths are metres)", p.sigma, radius)
	}
	p.putRight(r, markers, rms)
	p.leaveOutJumps()
	last := rotation.Identity
	for k := range n {
		if p.hasPose(k) {
			p.q[k] = rotation.NearestSign(p.q[k], last)
			last = p.q[k]
		}
	}
	if float64(p.odd) > oddShare*float64(n) {
		return nil, fmt.Errorf("markers: in %d of %d frames they do not fit the body: their order changes, or they moved on it", p.odd, n)
	}
	p.turn, p.place = p.sigma*math.Sqrt(turn/spread), p.sigma*math.Sqrt(place/spread)
	return p, nil
}

// hasPose tells whether the pose of a frame is.
func (p *poses) hasPose(k int) bool { return !quat.IsNaN(p.q[k]) }
