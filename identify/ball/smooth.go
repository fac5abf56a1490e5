package ball

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
)

// motion is the smoothed motion of a frame.
type motion struct {
	t          float64
	halfWindow float64    // s  of the window
	f          ball.Frame // of the plane in the body
	q          quat.Number
	w, dw      r3.Vec // rad/s, rad/s²  body axes
	p, v       r3.Vec // m, m/s         of the centre, frame of the cameras
	we, ve     r3.Vec // their standard errors, of ω in body axes
}

// slowest is how many standard errors a speed must be above zero: below, its direction is noise, and so is that of dry friction, which may
// hold the ball with any moment up to its own.
const slowest = 5.0

// directed tells whether the motion has the direction that dry friction among the terms needs.
func (m *motion) directed(p *ball.Params, free []term) bool {
	roll, spin := p.Roll.Moment+p.Roll.Arm > 0, p.Spin.Moment+p.Spin.Arm > 0
	for i := range free {
		isSpin := spins(free[i].name)
		roll, spin = roll || free[i].isDry && !isSpin, spin || free[i].isDry && isSpin
	}
	noise := slowest * math.Sqrt(r3.Norm2(m.we)/3)
	turn, wh := split(&m.f, m.w)
	return !(roll && r3.Norm(wh) < noise) && !(spin && math.Abs(turn) < noise)
}

// smoothPoses fits local polynomials to the poses. Frames at the ends and in gaps that leave less than half a window on a side are left
// out.
func smoothPoses(p *poses, half float64, order int) ([]motion, error) {
	turn := rotation.Polynomial{HalfWindow: half, Order: order, Noise: p.turn}
	place := rotation.Polynomial{HalfWindow: half, Order: order, Noise: p.place}
	if err := turn.Validate(); err != nil {
		return nil, fmt.Errorf("smoothing: %w", err)
	}
	var out []motion
	var why error // the last one
	n := len(p.times)
	for k := range n {
		t := p.times[k]
		if !p.hasPose(k) || t-p.times[0] < half*(1-1e-9) || p.times[n-1]-t < half*(1-1e-9) {
			continue
		}
		m, err := turn.Turn(t, p.times, p.q)
		c, err2 := place.Point(t, p.times, p.center)
		if err = cmp.Or(err, err2); err != nil {
			why = err
			continue
		}
		out = append(out, motion{
			t: t, halfWindow: half, f: ball.FrameOf(m.R), q: m.R, w: m.Omega, dw: m.Alpha, p: c.P, v: c.V, we: m.OmegaError, ve: c.VError,
		})
	}
	if len(out) < minFrames && why != nil {
		return nil, fmt.Errorf("smoothing: only %d frames can be smoothed with a window of %g s and order %d, want at least %d; at others: %w",
			len(out), 2*half, order, minFrames, why)
	}
	if len(out) < minFrames {
		return nil, fmt.Errorf("smoothing: only %d frames have others for %g s on both sides, want at least %d: shorten the window or "+
			"record longer", len(out), half, minFrames)
	}
	return out, nil
}

// split gives the parts of w along the normal and in the plane.
func split(f *ball.Frame, w r3.Vec) (spin float64, roll r3.Vec) {
	spin = r3.Dot(f.C, w)
	return spin, r3.Sub(w, r3.Scale(spin, f.C))
}

// ErrNoRolling is that of a motion in which the way of the centre is not near that of a ball that turns as this one does.
var ErrNoRolling = errors.New("this is not the motion of a ball that rolls")

// checkRadius holds the way of the centre against the turn: v = R·ω×γ, whatever the friction. Slip changes the ratio by less than half.
func checkRadius(ms []motion, radius float64) error {
	var vw, ww, vv float64
	for i := range ms {
		m := &ms[i]
		x, y := r3.Dot(m.f.B, m.w), -r3.Dot(m.f.A, m.w)
		vw, ww, vv = vw+m.v.X*x+m.v.Y*y, ww+x*x+y*y, vv+m.v.X*m.v.X+m.v.Y*m.v.Y
	}
	if ww == 0 || vv == 0 {
		return nil
	}
	path, turn := math.Sqrt(vv/float64(len(ms))), math.Sqrt(ww/float64(len(ms)))
	switch got := vw / ww; {
	case got < -radius/2:
		return fmt.Errorf("%w: the centre moves against its turn, %.3g m/s at %.3g rad/s: axes of the cameras or of the body are "+
			"left-handed, or z points down", ErrNoRolling, path, turn)
	case (got > 2*radius || got < radius/2) && path > radius*turn/10:
		return fmt.Errorf("%w: the centre moves %.3g m for each radian that the ball turns, its radius is %.3g m: units differ "+
			"(lengths are metres), or it slides", ErrNoRolling, got, radius)
	case path <= radius*turn/10:
		return fmt.Errorf("%w: it turns with %.3g rad/s and its centre moves with %.3g m/s only, not the %.3g m/s of its radius, "+
			"%.3g m: units differ (lengths are metres), or it spins on the spot", ErrNoRolling, turn, path, radius*turn, radius)
	}
	return nil
}
