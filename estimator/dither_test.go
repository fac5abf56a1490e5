package estimator

import (
	"math"
	"testing"

	"hilrig/engine/friction"
)

// A velocity dither turns Coulomb friction into F̄(v) = (2Fc/π)·asin(v/Vd) [theory §10.5]: the mean force of a bristle law
// without a Stribeck dip, so stiff that its presliding takes 1e-4 of the dither's travel, moved with v + Vd·sin.
func TestVelocityDitherSmoothsCoulomb(t *testing.T) {
	const vd, f, h = 0.3, 50.0, 1e-6
	travel := vd / (math.Pi * f)
	law := friction.LuGre{Sigma0: 2 / (1e-4 * travel), Fc: 2, Fs: 2, Vs: 1}
	if err := law.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{-0.29, -0.15, 0, 0.03, 0.15, 0.27, 0.31} {
		z, mean := 0.0, 0.0
		n := int(math.Round(1 / (f * h)))
		for k := range 2 * n {
			dx := h * (v + vd*math.Sin(2*math.Pi*f*h*(float64(k)+0.5)))
			var force float64
			if z, _, force = law.StepDx(z, dx, h); k >= n {
				mean += force / float64(n)
			}
		}
		if want := SmoothedCoulomb(v, vd, law.Fc); math.Abs(mean-want) > 0.002*law.Fc {
			t.Errorf("at %g m/s: mean force %.4f N, want %.4f", v, mean, want)
		}
	}
	if slope := SmoothedCoulomb(1e-6, vd, 2) / 1e-6; math.Abs(slope/(4/(math.Pi*vd))-1) > 1e-9 {
		t.Errorf("slope %g, want 2Fc/(πVd)", slope)
	}
}

// In the loop of a PD controller a free mass under the velocity dither moves with the velocity asked for.
func TestVelocityDitherMovesTheMass(t *testing.T) {
	s := DitherSpec{Kind: DitherVelocity, Velocity: 0.5, Frequency: 40, Inertia: 7e-5, Kp: 0.25, Kd: 6e-3}
	d, err := NewDither(s)
	if err != nil {
		t.Fatal(err)
	}
	const h = 1e-5
	w := 2 * math.Pi * s.Frequency
	x, v, top := -s.Velocity/w, 0.0, 0.0
	for k := range 50000 {
		u := d.Step(h, x, true, 0) - s.Kp*x - s.Kd*v
		v += h * u / s.Inertia
		x += h * v
		if k > 25000 {
			top = max(top, math.Abs(v))
		}
	}
	if math.Abs(top/s.Velocity-1) > 0.01 {
		t.Errorf("velocity amplitude %.4f rad/s, want %g", top, s.Velocity)
	}
}

// A pulse on rigid Coulomb friction moves a mass by Fp(Fp−Fc)tp²/(2M·Fc), from the equations of motion: acceleration
// (Fp−Fc)/M for tp, then deceleration Fc/M. Rounded to ticks the force is lower and the way the same.
func TestPulseMovesBySoMuch(t *testing.T) {
	const m, fc, fp = 7e-5, 0.015, 0.05
	way := func(f, tp float64) float64 {
		v := (f - fc) / m * tp
		return v*tp/2 + v*v*m/(2*fc)
	}
	for _, dist := range []float64{1e-4, 1e-3, 0.02, 0.3} {
		if got := way(fp, PulseTime(fp, fc, m, dist)); math.Abs(got/dist-1) > 1e-12 {
			t.Errorf("way %g, want %g", got, dist)
		}
		n, f := PulseTicks(fp, fc, m, dist, 1e-3)
		if got := way(f, float64(n)*1e-3); math.Abs(got/dist-1) > 1e-9 || f > fp || f <= fc {
			t.Errorf("%d ticks of %g N·m: way %g, want %g", n, f, got, dist)
		}
		if n > 1 && PulseTime(fp, fc, m, dist) <= float64(n-1)*1e-3 {
			t.Errorf("%d ticks, one less would do", n)
		}
	}
}

// A PD axis stuck half a break-away from its goal comes within the zone by pulses, on a real contact with presliding and
// Stribeck dip, and stays; without pulses it stays where it is.
func TestPulsesFreeAStuckAxis(t *testing.T) {
	law := demoLaw()
	const m, kp, kd, h, zone = 7e-5, 0.25, 6e-3, 1e-3, 5e-4
	run := func(kind DitherKind) (e float64, pulses int, top float64) {
		d, err := NewDither(DitherSpec{Kind: kind, Amplitude: 0.05, Frequency: 10, Inertia: m, Kp: kp, Kd: kd, Fc: law.Fc,
			Spring: law.Fc / law.Sigma0, Zone: zone})
		if err != nil {
			t.Fatal(err)
		}
		body, err := friction.NewMass(m, &law, friction.Midpoint)
		if err != nil {
			t.Fatal(err)
		}
		x, u, last := body.NewState(), constant{}, 0.0
		x[0] = -0.04 // 0.01 N·m of the spring against 0.021 N·m of break-away
		for k := range 5000 {
			pd := -kp*x[0] - kd*x[1]
			p := d.Step(h, x[0], true, pd)
			if p != 0 && last == 0 {
				pulses++
			}
			last, top = p, max(top, math.Abs(p))
			u.f = pd + p
			body.Step(h, x, &u)
			if k > 4000 {
				e = max(e, math.Abs(x[0]))
			}
		}
		return e, pulses, top
	}
	stuck, none, _ := run(DitherNone)
	e, n, top := run(DitherPulse)
	t.Logf("|e| = %.2f mrad stuck, %.3f mrad after %d pulses of at most %.3f N·m", 1e3*stuck, 1e3*e, n, top)
	if none != 0 || stuck < 0.03 {
		t.Errorf("without pulses: %d pulses, |e| = %g rad", none, stuck)
	}
	if e > 1.1*zone || n == 0 || n > 15 || top > 0.05 {
		t.Errorf("|e| = %g rad after %d pulses of at most %g N·m", e, n, top)
	}
}

// Moving axes get no pulses, and a pulse ends when motion is commanded.
func TestPulsesWait(t *testing.T) {
	d, err := NewDither(DitherSpec{Kind: DitherPulse, Amplitude: 0.05, Frequency: 5, Inertia: 7e-5, Fc: 0.015, Zone: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2000 {
		if f := d.Step(1e-3, -0.1+1e-5*float64(k), true, 0); f != 0 {
			t.Fatalf("a pulse at tick %d while the error moves", k)
		}
		if f := d.Step(1e-3, -0.1, false, 0); f != 0 {
			t.Fatalf("a pulse at tick %d while motion is commanded", k)
		}
	}
	n := 0
	for ; d.Step(1e-3, -0.1, true, 0) == 0; n++ {
		if n > 300 {
			t.Fatal("no pulse")
		}
	}
	if n < 198 || n > 201 {
		t.Errorf("the pulse came after %d ticks, want 200 ms of rest", n)
	}
	if d.Step(1e-3, -0.1, false, 0) != 0 || d.Step(1e-3, -0.1, true, 0) != 0 {
		t.Error("the pulse goes on after motion was commanded")
	}
	if f := d.Step(1e-3, math.NaN(), true, 0); f != 0 {
		t.Errorf("a pulse of %g for an error that is no number", f)
	}
	if n := testing.AllocsPerRun(100, func() { d.Step(1e-3, 0.1, true, 0) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// SmoothedCoulomb is the mean of Coulomb friction fc·sgn over a velocity dither of amplitude vd about v:
// (2fc/π)·asin(v/vd) for |v| < vd, fc·sgn v beyond [theory §10.5].
func SmoothedCoulomb(v, vd, fc float64) float64 {
	return 2 * fc / math.Pi * math.Asin(min(1, max(-1, v/vd)))
}
