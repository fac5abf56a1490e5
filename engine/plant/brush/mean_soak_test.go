//go:build soak

package brush

import "testing"

// The table of the averaged contact, from seed means at steps that resolve the surface.
func TestLossCurveFromSeeds(t *testing.T) {
	for _, c := range []struct{ rpm, h, seconds float64 }{
		{500, 20e-6, 1}, {1000, 20e-6, 0.6}, {2000, 20e-6, 0.6}, {3000, 20e-6, 0.6}, {4000, 10e-6, 0.4}, {6000, 10e-6, 0.4}, {12000, 5e-6, 0.2},
		{30000, 2e-6, 0.1},
	} {
		var f facts
		const seeds = 16
		for seed := range seeds {
			p := DefaultParams()
			p.Commutator.Seed, p.Face.Seed = float64(1+seed), float64(101+seed)
			f.add(observe(t, p, c.rpm, c.h, c.seconds), 1.0/seeds)
		}
		v := c.rpm * 3.14159265 / 30 * 0.011
		t.Logf("%5g rpm, %.4g m/s: force %.4g N, friction %.4g mN·m, torque %.4g mN·m, loss %.3f of steps, %.4f of windows, weak %.3f, "+
			"gaps of "+
			"%.3g ms", c.rpm, v, f.force, 1e3*f.friction, 1e3*f.torque, f.loss, f.lost, f.weak, 1e3*f.gap)
	}
}
