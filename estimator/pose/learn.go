package pose

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/numeric"
	"hilrig/engine/rotation"
)

// Learned is a body found from a recording of its markers.
type Learned struct {
	Offsets []r3.Vec // m  body axes: those of the world in the first frame used; the origin is the mean of the markers
	Noise   float64  // m  standard deviation of each coordinate of a marker, from the residuals
	Used    int      // frames
	Refused int      // frames with all markers whose distances are not those of the others: exchanged labels, outliers
	Partial int      // frames in which a marker is missing
}

// LearnBody finds the offsets of the markers from frames in which all are seen (NaN: not seen): the shape that all frames have in common. The
// distances between markers do not depend on the pose; frames in which one of them lies six deviations from its median are left out.
func LearnBody(frames [][]r3.Vec) (l Learned, err error) {
	if len(frames) == 0 || len(frames[0]) < 3 {
		return l, errors.New("learn the body: want frames of at least three markers")
	}
	n := len(frames[0])
	var whole [][]r3.Vec
	for k, w := range frames {
		if len(w) != n {
			return l, fmt.Errorf("learn the body: frame %d has %d markers, those before it %d", k, len(w), n)
		}
		seen := 0
		for _, p := range w {
			if !math.IsNaN(p.X + p.Y + p.Z) {
				seen++
			}
		}
		if seen == n {
			whole = append(whole, w)
		}
	}
	l.Partial = len(frames) - len(whole)
	if len(whole) < fewestFrames {
		return l, fmt.Errorf("learn the body: all %d markers are seen in %d frames of %d, want at least %d: give the offsets, or record longer", n, len(whole), len(frames), fewestFrames)
	}
	good := rigid(whole, n)
	l.Used, l.Refused = len(good), len(whole)-len(good)
	if l.Used < fewestFrames || l.Used < l.Refused {
		return l, fmt.Errorf("learn the body: the distances between markers agree in only %d frames of %d: labels are exchanged, or the markers do not sit on one body", l.Used, len(whole))
	}

	// the mean of the frames, each turned on the mean before: it settles in a few rounds
	shape := centred(good[0])
	var squares float64
	for range 20 {
		mean := make([]r3.Vec, n)
		squares = 0
		for _, w := range good {
			f, err := rotation.Align(shape, w, nil)
			if err != nil {
				return l, fmt.Errorf("learn the body: %w", err)
			}
			squares += f.Rms * f.Rms * float64(n)
			for i, p := range w {
				mean[i] = r3.Add(mean[i], r3.Scale(1/float64(len(good)), rotation.Unrotate(f.R, r3.Sub(p, f.P))))
			}
		}
		mean = centred(mean)
		moved := 0.0
		for i := range mean {
			moved = max(moved, r3.Norm(r3.Sub(mean[i], shape[i])))
		}
		shape = mean
		if moved < 1e-12 {
			break
		}
	}
	l.Offsets = shape
	// of 3n coordinates a frame, six go into its pose; all frames share 3n − 6 of the shape
	free := float64((len(good) - 1) * (3*n - 6))
	l.Noise = math.Sqrt(squares / free)
	return l, nil
}

// fewestFrames from which a body is learnt.
const fewestFrames = 20

// rigid are the frames in which all distances are those of most frames.
func rigid(frames [][]r3.Vec, n int) (good [][]r3.Vec) {
	bad := make([]bool, len(frames))
	d := make([]float64, len(frames))
	off := make([]float64, len(frames))
	for i := range n {
		for j := range i {
			for k, w := range frames {
				d[k] = r3.Norm(r3.Sub(w[i], w[j]))
			}
			middle := numeric.Median(d)
			for k := range d {
				off[k] = math.Abs(d[k] - middle)
			}
			limit := 6 * 1.4826 * numeric.Median(off) // median absolute deviation → standard deviation
			for k := range off {
				bad[k] = bad[k] || off[k] > limit
			}
		}
	}
	for k, w := range frames {
		if !bad[k] {
			good = append(good, w)
		}
	}
	return good
}

// centred are points from their mean.
func centred(p []r3.Vec) []r3.Vec {
	var c r3.Vec
	for _, v := range p {
		c = r3.Add(c, r3.Scale(1/float64(len(p)), v))
	}
	out := make([]r3.Vec, len(p))
	for i, v := range p {
		out[i] = r3.Sub(v, c)
	}
	return out
}

// Centre is the centre of a ball that moves on a level plane, in body axes.
type Centre struct {
	At     r3.Vec  // m  from the origin of the body
	Error  r3.Vec  // m  standard errors
	Height float64 // m  above the z = 0 of the world
	Rms    float64 // m  by which the height of the centre varies
}

// leastTilt is how far the vertical has to leave every plane of the body (rms, of a unit vector), an order above the noise of an
// orientation by markers, which would pass for a motion.
const leastTilt = 0.03

// FindCentre finds the point of a body whose height stays the same while it rolls: (R·c + P, ẑ) = h. It takes poses that differ in the
// direction of the vertical seen from the body, by a swing or a turn.
func FindCentre(r []quat.Number, p []r3.Vec) (c Centre, err error) {
	const unknowns = 4
	if len(r) < 2*unknowns {
		return c, fmt.Errorf("find the centre: %d poses, want at least %d", len(r), 2*unknowns)
	}
	f := numeric.NewFactor(unknowns)
	var mean r3.Vec
	var second rotation.Matrix
	for k := range r {
		g := rotation.Unrotate(r[k], r3.Vec{Z: 1})
		f.Add([]float64{g.X, g.Y, g.Z, -1}, -p[k].Z)
		mean = r3.Add(mean, r3.Scale(1/float64(len(r)), g))
		second = second.Add(1/float64(len(r)), rotation.Outer(g, g))
	}
	values, _ := second.Add(-1, rotation.Outer(mean, mean)).Eigen()
	if spread := math.Sqrt(math.Max(0, values[0])); spread < leastTilt {
		return c, fmt.Errorf("find the centre: the vertical, seen from the body, keeps to a plane within %.3g (rms), want at least %g: roll it about more than one axis", spread, leastTilt)
	}
	var x, se [unknowns]float64
	if err := f.Solve(x[:]); err != nil {
		return c, fmt.Errorf("find the centre: %w", err)
	}
	f.Errors(se[:])
	free := float64(len(r) - unknowns)
	c.Rms = math.Sqrt(f.SumSquares() / free)
	c.At, c.Height = r3.Vec{X: x[0], Y: x[1], Z: x[2]}, x[3]
	c.Error = r3.Scale(c.Rms, r3.Vec{X: se[0], Y: se[1], Z: se[2]})
	return c, nil
}
