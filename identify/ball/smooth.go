package ball

import (
	"fmt"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
)

// motion is the smoothed motion of a frame.
type motion struct {
	t      float64
	half   float64    // s  of the window
	f      ball.Frame // of the plane in the body
	q      quat.Number
	w, dw  r3.Vec // rad/s, rad/s²  body axes
	p, v   r3.Vec // m, m/s         of the centre, frame of the cameras
	we, ve r3.Vec // their standard errors, of ω in body axes
}

// smooth fits local polynomials to the poses. Frames at the ends and in gaps that leave less than half a window on a side are left out.
func smooth(p *poses, half float64, order int) ([]motion, error) {
	turn := rotation.Polynomial{Half: half, Order: order, Noise: p.turn}
	place := rotation.Polynomial{Half: half, Order: order, Noise: p.place}
	if err := turn.Validate(); err != nil {
		return nil, fmt.Errorf("smoothing: %w", err)
	}
	var out []motion
	n := len(p.times)
	for k := range n {
		t := p.times[k]
		if !p.known(k) || t-p.times[0] < half*(1-1e-9) || p.times[n-1]-t < half*(1-1e-9) {
			continue
		}
		m, err := turn.Turn(t, p.times, p.q)
		if err != nil {
			continue
		}
		c, err := place.Point(t, p.times, p.center)
		if err != nil {
			continue
		}
		out = append(out, motion{
			t: t, half: half, f: ball.FrameOf(m.R), q: m.R, w: m.Omega, dw: m.Alpha, p: c.P, v: c.V, we: m.OmegaError, ve: c.VError,
		})
	}
	if len(out) < fewestFrames {
		return nil, fmt.Errorf("smoothing: only %d frames have enough others within %g s, want at least %d: shorten the window or record longer without gaps", len(out), half, fewestFrames)
	}
	return out, nil
}

// split gives the parts of w along the normal and in the plane.
func split(f *ball.Frame, w r3.Vec) (spin float64, roll r3.Vec) {
	spin = r3.Dot(f.C, w)
	return spin, r3.Sub(w, r3.Scale(spin, f.C))
}
