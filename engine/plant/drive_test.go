package plant

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/friction"
)

// viscous is friction that is a line through zero.
func viscous(c float64) friction.Model { return &friction.Viscous{Fv: c, Delta: 1} }

// run steps an axis under a constant command and returns its outputs.
func run(t testing.TB, d *Axis, x []float64, command, enable, h float64, n int) (y [Outputs]float64) {
	t.Helper()
	u := []float64{command, enable}
	for k := range n {
		if st := d.Step(h, x, u, y[:]); st != engine.OK {
			t.Fatalf("step %d: %v", k, st)
		}
	}
	return y
}

// A current loop told 2 A drives a mass of 0.5 kg under 3 N·s/m: m·dv/dt = K·i − c·v with i = 2·(1 − e^{−ωt}), in closed form.
func TestCurrentDrive(t *testing.T) {
	const k, m, c, w, amps, end = 4.0, 0.5, 3.0, 200.0, 2.0, 0.1
	closed := func(t float64) float64 { // v(t): the response of two lags in a row
		a := c / m
		return amps * k / c * (1 - (w*math.Exp(-a*t)-a*math.Exp(-w*t))/(w-a))
	}
	errAt := func(h float64) float64 {
		d := must(t, AxisSpec{Linear: true, Drive: Drive{Kind: CurrentDrive, Bandwidth: w, Limit: amps}, Motor: Motor{K: k, J: m},
			Friction: viscous(c)})
		x := d.NewState()
		y := run(t, d, x, 17, 1, h, int(end/h+0.5)) // more than the limit
		if i := amps * (1 - math.Exp(-w*end)); math.Abs(y[OutCurrent]-i) > 1e-12 || math.Abs(y[OutEffort]-k*i) > 1e-12 || y[OutApplied] != amps {
			t.Errorf("h=%g: current %g A, effort %g N, applied %g A; want %g, %g, 2", h, y[OutCurrent], y[OutEffort], y[OutApplied], i, k*i)
		}
		return y[OutVelocity] - closed(end)
	}
	e1, e2 := errAt(1e-3), errAt(5e-4)
	if order := math.Log2(e1 / e2); math.Abs(order-2) > 0.1 || math.Abs(e1) > 1e-3 {
		t.Errorf("errors %g and %g m/s at 1 and 0.5 ms, order %.2f, want 2", e1, e2, order)
	}

	// off: the loop brings the current to zero, whatever the command
	d := must(t, AxisSpec{Drive: Drive{Kind: CurrentDrive, Bandwidth: w}, Motor: Motor{K: k, J: m}, Friction: viscous(c)})
	x := d.NewState()
	x[Current] = 2
	if y := run(t, d, x, 9, 0, 1e-3, 10); math.Abs(y[OutCurrent]-2*math.Exp(-w*0.01)) > 1e-12 {
		t.Errorf("10 ms after switching off %g A, want %g", y[OutCurrent], 2*math.Exp(-w*0.01))
	}
}

// A supply of 12 V across 2 Ω lets a current loop drive no more than (12 − K·ω)/R: the speed ends where that balances the friction,
// and a loop without bandwidth follows J·dω/dt = K·(U − K·ω)/R − c·ω exactly in its means.
func TestCurrentDriveSupply(t *testing.T) {
	const k, r, j, c, volts = 0.1, 2.0, 1e-3, 1e-3, 12.0
	spec := AxisSpec{Drive: Drive{Kind: CurrentDrive}, Motor: Motor{R: r, K: k, J: j}, Friction: viscous(c), Supply: [2]float64{-volts, volts}}
	a, top := (k*k/r+c)/j, k*volts/r/(k*k/r+c) // 1/s, rad/s
	for _, sign := range []float64{1, -1} {
		d := must(t, spec)
		y := run(t, d, d.NewState(), sign*50, 1, 1e-4, 2000)
		if want := sign * top * (1 - math.Exp(-a*0.2)); math.Abs(y[OutVelocity]-want) > 1e-5*top {
			t.Errorf("after 0.2 s at %g rad/s, want %g", y[OutVelocity], want)
		}
		y = run(t, d, d.NewState(), sign*0.4, 1, 1e-4, 20000) // far from the limit: K·i = c·ω in the end
		if i := sign * 0.4; y[OutCurrent] != i {
			t.Errorf("asked for %g A: %g", i, y[OutCurrent])
		}
	}
}

// A force is a force: v = F·t/m, also when it comes from a drive with a constant, whose current is told.
func TestEffortDrive(t *testing.T) {
	d := must(t, AxisSpec{Drive: Drive{Kind: EffortDrive, Limit: 3}, Motor: Motor{K: 0.5, J: 2}, Friction: viscous(0)})
	x := d.NewState()
	y := run(t, d, x, 5, 1, 1e-3, 1000)
	if math.Abs(y[OutVelocity]-1.5) > 1e-12 || y[OutEffort] != 3 || y[OutCurrent] != 6 || math.Abs(y[OutPosition]-0.75) > 1e-12 {
		t.Errorf("after 1 s of 3 N·m on 2 kg·m²: %v", y)
	}
	if l := d.Last(); math.Abs(l.Effort-3) > 1e-12 || math.Abs(l.I-6) > 1e-12 {
		t.Errorf("means %+v", l)
	}
	if y = run(t, d, x, 5, 0, 1e-3, 100); math.Abs(y[OutVelocity]-1.5) > 1e-12 || y[OutEffort] != 0 {
		t.Errorf("switched off: %v, want the same speed without effort", y)
	}
	d = must(t, AxisSpec{Drive: Drive{Kind: NoDrive}, Motor: Motor{J: 2}, Friction: viscous(0)})
	if y = run(t, d, d.NewState(), 5, 1, 1e-3, 100); y[OutVelocity] != 0 {
		t.Errorf("without a drive %g rad/s", y[OutVelocity])
	}
}

// A loop of speed on an inertia without friction is of second order: J·s² + Kp·s + Ki, here with two real poles −a, −b; after a
// step of its command v = v*·(1 − (a·e^{−at} − b·e^{−bt})/(a − b)). At its limit it accelerates with limit/J, and the integral
// does not run away meanwhile.
func TestVelocityDrive(t *testing.T) {
	const j, a, b, to = 0.02, 30.0, 80.0, 2.0
	drive := Drive{Kind: VelocityDrive, Kp: j * (a + b), Ki: j * a * b}
	errAt := func(h float64) float64 {
		d := must(t, AxisSpec{Drive: drive, Motor: Motor{J: j}, Friction: viscous(0)})
		y := run(t, d, d.NewState(), to, 1, h, int(0.05/h+0.5))
		return y[OutVelocity] - to*(1-(a*math.Exp(-a*0.05)-b*math.Exp(-b*0.05))/(a-b))
	}
	e1, e2 := errAt(1e-3), errAt(5e-4)
	if order := math.Log2(math.Abs(e1 / e2)); math.Abs(order-2) > 0.1 || math.Abs(e1) > 2e-3 {
		t.Errorf("errors %g and %g rad/s, order %.2f, want 2", e1, e2, order)
	}

	drive.Limit = 0.5
	d := must(t, AxisSpec{Drive: drive, Motor: Motor{J: j}, Friction: viscous(0)})
	x := d.NewState()
	y := run(t, d, x, 20, 1, 1e-3, 500)
	if math.Abs(y[OutVelocity]-12.5) > 1e-9 || x[Current] != 0 || y[OutEffort] != 0.5 {
		t.Errorf("half a second at the limit: %g rad/s, integral %g, effort %g; want 12.5, 0, 0.5", y[OutVelocity], x[Current], y[OutEffort])
	}
	top := 0.0
	for range 1000 {
		top = max(top, run(t, d, x, 20, 1, 1e-3, 1)[OutVelocity])
	}
	// from where it leaves the limit the error and its integral, which begins at 0 there, decay with the two poles
	if math.Abs(x[Omega]-20) > 1e-6 || top > 20*1.1 {
		t.Errorf("ends at %g rad/s, went to %g; want 20 and less than 22", x[Omega], top)
	}
	if y = run(t, d, x, 20, 0, 1e-3, 1); y[OutEffort] != 0 || x[Current] != 0 {
		t.Errorf("switched off: effort %g, integral %g", y[OutEffort], x[Current])
	}
}

// Every drive carries every law: from rest through break-away to a reversal and back to rest, all steps converge, nothing is
// allocated, and the friction's work is that of the drive less what is stored.
func TestEveryDriveCarriesEveryLaw(t *testing.T) {
	for _, info := range friction.Laws() {
		for kind := range NoDrive {
			law := info.NewLaw()
			s := AxisSpec{Friction: law, Motor: Motor{R: 1, L: 1e-3, K: 0.5, J: 0.5}, Drive: Drive{Kind: kind, Bandwidth: 500, Kp: 40, Ki: 200}}
			d := must(t, s)
			x, u, y := d.NewState(), []float64{0, 1}, make([]float64, Outputs)
			const h, n = 1e-4, 5000
			fc := math.Abs(law.SteadyForce(1))
			amp := [...]float64{6 * fc, 6 * fc, 3 * fc, 1}[kind] // V, A, N·m, rad/s
			work, spent, bad := 0.0, 0.0, 0
			for k := range n {
				u[0] = amp * math.Sin(2*math.Pi*4*h*(float64(k)+0.5))
				if st := d.Step(h, x, u, y); st == engine.NonFinite {
					t.Fatalf("%s on %v: step %d: %v", info.Name, kind, k, st)
				} else if st != engine.OK {
					bad++
				}
				l := d.Last()
				work, spent = work+h*l.Effort*l.W, spent+l.Work
			}
			kinetic := 0.25 * x[Omega] * x[Omega]
			if miss := math.Abs(work - spent - kinetic); miss > 2e-3*(math.Abs(work)+spent) {
				t.Errorf("%s on %v: work %g J, friction %g J, kinetic %g J: %g J missing", info.Name, kind, work, spent, kinetic, miss)
			}
			if bad > n/1000 {
				t.Errorf("%s on %v: %d of %d steps not converged", info.Name, kind, bad, n)
			}
			if a := testing.AllocsPerRun(50, func() { d.Step(h, x, u, y) }); a != 0 {
				t.Errorf("%s on %v: %g allocations in a step", info.Name, kind, a)
			}
		}
	}
}
