package ball

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
)

// start is a tilted ball with a spin and a push.
func tiltedStart(angle float64, w r3.Vec) ball.State {
	a := (math.Pi - angle) / 2
	return ball.State{Q: quat.Number{Real: math.Cos(a), Imag: math.Sin(a)}, W: w}
}

// Friction of several kinds at once, on a tilted plane, from motions of the plant: each is found.
func TestCombinedFriction(t *testing.T) {
	p := ball.Paper()
	p.Roll, p.Spin = ball.Friction{Linear: 1e-4, Arm: 1e-4}, ball.Friction{Linear: trueSpin}
	p.Tilt = [2]float64{0.004, -0.003}
	rec := recorded(simulated(t, p, tiltedStart(0.9, r3.Vec{Z: 4}), 2), 1e-4, 1)
	r := mustFit(t, Spec{FreeParams: []string{"mu_roll", "roll_arm", "mu_spin", "height", "tilt_x", "tilt_y"}}, rec)
	within(t, r, "mu_roll", 1e-4, 0.03)
	within(t, r, "roll_arm", 1e-4, 0.02)
	within(t, r, "tilt_x", 0.004, 0.05)
	if v, se := value(t, r, "tilt_y"); math.Abs(v+0.003) > 4*se || se > 2e-4 {
		t.Errorf("tilt_y = %g ± %.2g, want −0.003", v, se)
	}
	if !r.Accepted {
		t.Error(r.Reasons)
	}
}

// Markers whose places are known to some millimetres only, and a frame of the cameras that leans: friction all the same.
func TestFreeMarkers(t *testing.T) {
	m := scipy(t, "spun", 2)
	rec := recorded(m, 1e-4, 5)
	off := make([]r3.Vec, len(fiveMarkers))
	for j, b := range fiveMarkers {
		off[j] = r3.Add(b, r3.Vec{X: 2e-4 * float64(j%3-1), Y: -2e-4 * float64(j%2), Z: 1e-4 * float64(j-2)})
	}
	r := mustFit(t, Spec{Markers: off, FreeParams: []string{"mu_roll", "mu_spin", "height", "markers"}}, rec)
	within(t, r, "mu_roll", trueRoll, 0.01)
	if v, se := value(t, r, "marker4_z"); math.Abs(v-fiveMarkers[3].Z) > 4*se || se > 1e-4 {
		t.Errorf("marker4_z = %g ± %.2g m, want %g", v, se, fiveMarkers[3].Z)
	}
	// the wrong places taken for true leave more than the noise that the cameras are known to have
	if r := mustFit(t, Spec{Markers: off, Noise: 1e-4}, recorded(scipy(t, "tilted", 1), 1e-4, 5)); r.Accepted {
		t.Errorf("markers off by 0.3 mm went unnoticed: %+v", r.Slip)
	}
}

// A centre of mass that is far from the one given: shooting over all of the record from one start ends in a wrong valley, from several
// starts it finds the way.
func TestColdStart(t *testing.T) {
	body := guess()
	body.Center[2] = 0.004
	r := mustFit(t, Spec{Body: body, FreeParams: []string{"mu_roll", "height", "cz"}}, recorded(scipy(t, "tilted", 2), 1e-4, 6))
	within(t, r, "mu_roll", trueRoll, 0.01)
	within(t, r, "cz", 0.0109, 0.01)
	if !r.Accepted {
		t.Error(r.Reasons)
	}
}
