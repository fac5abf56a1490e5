// Package cameras shows a ball as cameras see it: a simulated recording of the markers on it.
//
// A marker at b in the body is seen, in the frame of the cameras, at
//
//	p = (x, y, h + R) + Q·b + e
//
// with the centre at x, y, the orientation Q, the plane at the height h and noise e that is normal, white and alike in all coordinates.
package cameras

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine"
	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
)

// Cameras and the markers that they follow.
type Cameras struct {
	Rate    float64  // Hz
	Noise   float64  // m   standard deviation of a coordinate
	Hidden  float64  //     share of the frames in which a marker is not seen, each for itself
	Height  float64  // m   of the plane in the frame of the cameras
	Markers []r3.Vec // m   from the geometric centre, in axes of the body
	Seed    uint64   //     of noise and of what is hidden
}

// Recording is what was seen, and what was true. The slices are as long as Times.
type Recording struct {
	Times   []float64  // s
	Points  [][]r3.Vec // m  by frame and marker, in the frame of the cameras
	Visible [][]bool
	States  []ball.State // in the frame of the plane
	Accels  []ball.Accel // what the equations of motion say of them
	Pulled  int          // frames in whose step the plane would have to pull: the ball would lift off
}

// Record simulates a ball from a state that is consistent (Model.Place) over duration (s).
func Record(ctx context.Context, m *ball.Model, radius float64, s ball.State, duration float64, c Cameras) (*Recording, error) {
	rng := rand.New(rand.NewPCG(c.Seed, 200))
	n := int(duration*c.Rate+1e-9) + 1
	r := &Recording{}
	for k := range n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t := float64(k) / c.Rate
		if k > 0 {
			switch _, st := m.Step(t-r.Times[k-1], &s); st {
			case engine.OK:
			case engine.Limited:
				r.Pulled++
			default:
				return nil, fmt.Errorf("at %.6g s the simulation of the ball has no finite result (%v): parameters or start are out of any range", t,
					st)
			}
		}
		points, visible := make([]r3.Vec, len(c.Markers)), make([]bool, len(c.Markers))
		for j, b := range c.Markers {
			at := r3.Add(r3.Vec{X: s.X, Y: s.Y, Z: c.Height + radius}, rotation.Rotate(s.Q, b))
			points[j] = r3.Add(at, r3.Scale(c.Noise, r3.Vec{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}))
			visible[j] = c.Hidden == 0 || rng.Float64() >= c.Hidden
		}
		r.Times, r.Points, r.Visible = append(r.Times, t), append(r.Points, points), append(r.Visible, visible)
		r.States, r.Accels = append(r.States, s), append(r.Accels, m.Accel(&s))
	}
	return r, nil
}
