package contact_test

import (
	"math"
	"testing"

	"hilrig/engine/contact"
	"hilrig/engine/plant/toys"
)

// slidingRod integrates a homogeneous rod (1 kg, 1 m) whose lower end slides on the ground, by Runge and Kutta's fourth order in steps of
// 10 µs: λ_N from the second derivative of the height of that end, friction against its velocity. Each time the end stops it must be unable
// to stick, and goes on with the other sign. It returns the place of the centre, the angle and the number of stops.
func slidingRod(t *testing.T, mu, angle, vx, spin, end float64) (x, phi float64, stops int) {
	const m, l, j, g, h = 1.0, 1.0, 1.0 / 12, 9.81, 1e-5
	sign := 0.0
	// y = (x, φ, ẋ, φ̇); r is from the centre to the lower end
	slope := func(y [4]float64) (d [4]float64, n float64) {
		s, c := math.Sincos(y[1])
		rx, ry := -l/2*c, -l/2*s
		// 0 = ÿ + r̈_y = n/m − g + rx·φ̈ − ry·φ̇²,  J·φ̈ = rx·n − ry·T,  T = −μ·sign·n
		turn := (rx + ry*mu*sign) / j
		n = (g + ry*y[3]*y[3]) / (1/m + rx*turn)
		return [4]float64{y[2], y[3], -mu * sign * n / m, turn * n}, n
	}
	foot := func(y [4]float64) float64 { return y[2] + l/2*math.Sin(y[1])*y[3] }
	step := func(y [4]float64, h float64) [4]float64 {
		add := func(k [4]float64, f float64) (z [4]float64) {
			for i := range z {
				z[i] = y[i] + f*k[i]
			}
			return z
		}
		k1, _ := slope(y)
		k2, _ := slope(add(k1, h/2))
		k3, _ := slope(add(k2, h/2))
		k4, _ := slope(add(k3, h))
		for i := range y {
			y[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
		return y
	}
	y := [4]float64{0, angle, vx, spin}
	sign = math.Copysign(1, foot(y))
	for time := 0.0; time < end-1e-12; {
		dt := min(h, end-time)
		z := step(y, dt)
		if sign*foot(z) < 0 {
			lo, hi := 0.0, dt
			for range 60 {
				if mid := (lo + hi) / 2; sign*foot(step(y, mid)) > 0 {
					lo = mid
				} else {
					hi = mid
				}
			}
			y, time, sign, stops = step(y, hi), time+hi, -sign, stops+1
			if z := step(y, 1e-6); sign*foot(z) <= 0 {
				t.Fatal("the end of the rod sticks")
			}
			continue
		}
		if _, n := slope(z); n <= 0 {
			t.Fatal("the rod takes off")
		}
		y, time = z, time+dt
	}
	return y[0], y[1], stops
}

// lookedAt runs a rod to its end (s), asked for its motion and forces every so many seconds.
func lookedAt(t *testing.T, p toys.RodParams, tol, every, end float64) (e *contact.EventDriven, q, u []float64) {
	t.Helper()
	rod, err := toys.NewRod(p)
	if err != nil {
		t.Fatal(err)
	}
	e = start(t, rod, contact.EventOptions{RTol: tol, ATol: tol / 100})
	row := every
	q, u = make([]float64, 3), make([]float64, 3)
	if err := e.Run(end, func(e *contact.EventDriven) bool {
		for ; row <= e.T; row += every {
			e.At(row, q, u)
			e.ForcesAt(row, nil)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	e.State(q, u)
	return e, q, u
}

// The end of a falling rod slides forward, stops, slides back. What is put back where it has drifted is no stop: the motion is that of an
// integrator without events to settle, whatever is asked for on the way, and as near as the tolerance says.
func TestRodSlidesOnAfterAStop(t *testing.T) {
	for _, c := range []struct{ mu, angle, vx, spin, end float64 }{
		{0.1, 1.2, 1, 0, 0.4}, {0.1, 1.2, 0.3, 0, 0.4}, {0.2, 1.25, 0.6, 0, 0.45}, {0.1, math.Pi - 1.2, -1, 0, 0.4}, {0.05, 1.4, 0.2, 0.5, 0.5},
		{0.02, 1.5, -0.1, 0.3, 0.7},
	} {
		x, phi, stops := slidingRod(t, c.mu, c.angle, c.vx, c.spin, c.end)
		p := toys.DefaultRod()
		p.Law = contact.Law{Mu: c.mu}
		p.Angle, p.Gap, p.VX, p.Spin = c.angle, 0, c.vx, c.spin
		p.VY = 0.5 * math.Cos(c.angle) * c.spin
		var errs []float64
		for _, tol := range []float64{1e-4, 1e-6, 1e-8, 1e-10} {
			var first [6]float64
			for k, every := range []float64{1, 0.05, 0.0101, 1e-3, 1e-4} {
				e, q, u := lookedAt(t, p, tol, every, c.end)
				now := [6]float64{q[0], q[1], q[2], u[0], u[1], u[2]}
				if k == 0 {
					first = now
					errs = append(errs, math.Hypot(q[0]-x, q[2]-phi))
					if e.Stops != stops || e.Slips != 0 {
						t.Errorf("%+v, tolerance %g: %d stops and %d slips, want %d and none", c, tol, e.Stops, e.Slips, stops)
					}
				} else if now != first {
					t.Errorf("%+v, tolerance %g: looked at every %g s %v, otherwise %v", c, tol, every, now, first)
				}
			}
			// a stop is known to TolT, 1e-8 m/s, from where the fall of the rod carries it on
			if off := errs[len(errs)-1]; !(off < 0.2*tol+4e-8) {
				t.Errorf("%+v, tolerance %g: %.2e from Runge and Kutta", c, tol, off)
			}
		}
		if phi <= 0 || phi >= math.Pi || stops == 0 {
			t.Errorf("%+v: ends at an angle of %g rad after %d stops", c, phi, stops)
		}
		t.Logf("%+v: x = %.9f m, φ = %.9f rad, %d stops; off by %.1e", c, x, phi, stops, errs)
	}
}

// rodLands is the fall of the rod of slidingRod in closed form until its lower end meets the ground, and the impact without restitution
// there, in which that end slides on: how long it falls, then the place of the centre, the angle, the velocity of the centre along the
// ground and the turning speed.
func rodLands(t *testing.T, mu, angle, gap, vx, vy, spin float64) (fall, x, phi, vAfter, spinAfter float64) {
	const m, l, j, g = 1.0, 1.0, 1.0 / 12, 9.81
	height := func(s float64) float64 {
		return gap + l/2*math.Sin(angle) + vy*s - g/2*s*s - l/2*math.Sin(angle+spin*s)
	}
	lo, hi := 0.0, 0.0
	for hi = 1e-3; height(hi) > 0; hi += 1e-3 {
		lo = hi
	}
	for range 60 {
		if mid := (lo + hi) / 2; height(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	fall, phi = hi, angle+spin*hi
	s, c := math.Sincos(phi)
	rx, ry := -l/2*c, -l/2*s
	vn, vt := vy-g*fall+rx*spin, vx-ry*spin
	sign := math.Copysign(1, vt)
	n := -vn / (1/m + rx*(rx+ry*mu*sign)/j)
	vAfter, spinAfter = vx-mu*sign*n/m, spin+(rx+ry*mu*sign)*n/j
	if after := vAfter - ry*spinAfter; after*sign <= 0 {
		t.Fatal("the end of the rod stops in the impact")
	}
	return fall, vx * fall, phi, vAfter, spinAfter
}

// A rod falls on one end, which slides on after the impact, stops and slides back: the error against closed forms and Runge and Kutta falls
// with the tolerance, to its order, and nothing depends on how often the motion is looked at. Leaning to either side.
func TestErrorOfImpactAndSlidingFallsWithTheTolerance(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, c := range []struct{ mu, lean, gap, vx, spin, end float64 }{{0.1, 1.2, 0.05, 1.2, 0.3, 0.35}, {0.2, 1.25, 0.02, 1.1, 0, 0.35},
			{0.05, 1.3, 0.03, 0.7, 0.2, 0.4}} {
			angle := math.Pi/2 + side*(c.lean-math.Pi/2)
			fall, x, phi, v, w := rodLands(t, c.mu, angle, c.gap, side*c.vx, 0, side*c.spin)
			slid, phi, stops := slidingRod(t, c.mu, phi, v, w, c.end-fall)
			x += slid
			if phi <= 0 || phi >= math.Pi {
				t.Fatal("the other end lands")
			}
			p := toys.DefaultRod()
			p.Law = contact.Law{Mu: c.mu}
			p.Angle, p.Gap, p.VX, p.VY, p.Spin = angle, c.gap, side*c.vx, 0, side*c.spin
			var errs []float64
			for _, tol := range []float64{1e-4, 1e-6, 1e-8} {
				var first [3]float64
				for k, every := range []float64{1, 1e-3} {
					e, q, _ := lookedAt(t, p, tol, every, c.end)
					if now := [3]float64(q); k == 0 {
						first = now
						errs = append(errs, math.Hypot(q[0]-x, q[2]-phi))
						if e.Impacts == 0 || e.Stops != stops {
							t.Errorf("%+v: %d impacts and %d stops, want some and %d", c, e.Impacts, e.Stops, stops)
						}
					} else if now != first {
						t.Errorf("%+v, tolerance %g: looked at every %g s %v, otherwise %v", c, tol, every, now, first)
					}
				}
				if off := errs[len(errs)-1]; !(off < 0.5*tol+4e-8) {
					t.Errorf("%+v, tolerance %g: off by %.2e", c, tol, off)
				}
			}
			t.Logf("%+v to the side of %g: off by %.1e after %d stops", c, side, errs, stops)
			if !(errs[1] < 0.2*errs[0] && errs[2] < max(0.2*errs[1], 4e-8)) || stops == 0 {
				t.Errorf("%+v: errors %.2e do not fall with the tolerance, or nothing stops: %d", c, errs, stops)
			}
		}
	}
}
