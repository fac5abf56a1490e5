package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// withCurrent is a motor of 2 Ω and 0.5 V·s at 20 V whose position and current are sampled in every tick of 1 ms.
func withCurrent() *Spec {
	groups := []estimator.Group{{SamplePeriod: 1e-3, Quantities: []estimator.Quantity{estimator.Position, estimator.Current}}}
	return &Spec{Tick: 1e-3, SamplePeriod: 1e-3, TopCommand: 20, Motor: plant.Motor{R: 2, K: 0.5},
		Sampling: estimator.AxisSpec{Groups: groups}}
}

// Without a measured current the acceleration stands in for it, of every drive: a mass that swings, its effort by hand. Encoder or drive
// the other way round breaks the balance, to both sides; that of a voltage is beyond doubt, the others are hints.
func TestSignsByAcceleration(t *testing.T) {
	const j = 0.01 // kg·m²
	for _, c := range []struct {
		drive   plant.DriveKind
		command func(speed, acceleration float64) float64
	}{
		{plant.VoltageDrive, func(v, a float64) float64 { return 2*j*a/0.5 + 0.5*v }},
		{plant.CurrentDrive, func(_, a float64) float64 { return j * a / 0.5 }},
		{plant.EffortDrive, func(_, a float64) float64 { return j * a }},
		{plant.VelocityDrive, func(v, _ float64) float64 { return v }},
	} {
		for _, phase := range []float64{0, 1, 2, 3, 4, 5} {
			for _, turned := range []float64{1, -1} {
				s := newSigns(&Spec{Tick: 1e-3, SamplePeriod: 1e-3, TopCommand: 20, Motor: plant.Motor{R: 2, K: 0.5, J: j},
					Law: &friction.LuGre{Fc: 1e-3, Fs: 1e-3, Sigma0: 1e3}}, c.drive, 5)
				var bad, hint Finding
				for k := range 1000 {
					x := 10*1e-3*float64(k) + phase
					u := c.command(20*math.Cos(x-10*0.5e-3), -200*math.Sin(x-10*0.5e-3))
					b, h := s.step(Tick{Energised: true}, true, false, u, u, [2]float64{turned * 2 * math.Sin(x), 0})
					if b.Fault != Fine {
						bad = b
					}
					if h.Fault != Fine && k > 100 { // an axis that is energised in motion needs so long for its means
						hint = h
					}
				}
				wantBad, wantHint := Fine, Fine
				if turned < 0 {
					wantHint = Direction
					if c.drive == plant.VoltageDrive {
						wantBad = Direction
					}
				}
				if bad.Fault != wantBad || hint.Fault != wantHint {
					t.Errorf("drive %v, phase %g, turned %+g: %+v, hint %+v", c.drive, phase, turned, bad, hint)
				}
			}
		}
	}
}

// What is summed up for slopes and delays: samples up to three periods apart, and for delays those whose balance is broken as one of a
// hint is, by an eighth of the tolerance of 1 V and a quarter of the terms.
func TestSignsSumsUp(t *testing.T) {
	for every, want := range map[int]bool{1: true, 3: true, 4: false} {
		s := newSigns(withCurrent(), plant.VoltageDrive, 20)
		for k := range 600 {
			s.step(Tick{Energised: true}, k%every == 0, false, 8, 8, [2]float64{0, 4 + 1e-3*float64(k%2)})
		}
		if got := s.scale.duration > 0.5; got != want {
			t.Errorf("a sample every %d ms: slopes of %g s", every, s.scale.duration)
		}
	}
	for _, c := range []struct {
		u, i   float64 // V, A at rest
		broken bool
	}{{0.124, 0, false}, {0.126, 0, true}, {0.07, 0, false}, {10.2, 4, true}, {10, 4, false}} { // 0.125 + 8/4 V
		for _, side := range []float64{1, -1} {
			s, hint := newSigns(withCurrent(), plant.VoltageDrive, 20), Finding{}
			for k := range 300 {
				i := c.i + 1e-6*float64(k%2)
				_, hint = s.step(Tick{Energised: true}, true, false, side*c.u, side*c.u, [2]float64{0, side * i})
			}
			if broken := s.delays.signSquares[0] > 0; broken != c.broken || (hint.Fault != Fine) != c.broken {
				t.Errorf("%+g V, %g A: for delays %v, hint %+v", side*c.u, c.i, broken, hint)
			}
		}
	}
}

// A reversed current that is an eighth of the tolerance, rms, is told by its slope in A, and a smaller one is not; an encoder of another
// scale in V.
func TestSlopesAreTold(t *testing.T) {
	for _, c := range []struct {
		name         string
		amps         float64 // of the winding, amplitude
		sensor, gear float64 // what current and position read
		fault        Fault
		of           estimator.Quantity
		value        float64
	}{
		{"0.07 A reversed: 0.1 V", 0.07, -1, 1, Fine, 0, 0},
		{"0.11 A reversed: 0.156 V", 0.11, -1, 1, Disagree, estimator.Current, 2 * 0.11 / math.Sqrt2},
		{"a scale of three", 2, 1, 3, Scale, estimator.Position, 2. / 3 * 12 / math.Sqrt2}, // a slope of 1/3 of what 12 V are taken for
		{"right", 2, 1, 1, Fine, 0, 0},
	} {
		for _, side := range []float64{1, -1} {
			s, found, k := newSigns(withCurrent(), plant.VoltageDrive, 20), Finding{}, 0
			s.floor = 1
			for ; k < 4000 && found.Fault == Fine; k++ {
				x := 1e-3 * float64(k)
				i, speed := c.amps*math.Sin(5*x), 8*math.Cos(7*x)
				s.brokenBalance, s.hint = lasting{}, lasting{} // slopes alone
				u := side * (2*i + 0.5*speed)
				found, _ = s.step(Tick{Energised: true}, true, false, u, u,
					[2]float64{side * c.gear * 8 / 7 * math.Sin(7*x), side * (c.sensor*i + 1e-9*float64(k%2))})
			}
			if found.Fault != c.fault || c.fault != Fine &&
				(found.Quantity != c.of || math.Abs(found.Value-c.value) > 0.25*c.value || found.Limit > found.Value) {
				t.Errorf("%s, %+g: %+v, want %g", c.name, side, found, c.value)
			}
			if found.Fault != Fine && (k < 1300 || k > 1400 && c.amps > 1) { // 30 ms to settle, 1 s of motion, and 0.3 s of the same verdict
				t.Errorf("%s, %+g: found after %d ms", c.name, side, k)
			}
		}
	}
	// two motions that go together in part: 0.6 of the one is in the other
	for _, c := range []struct {
		a, b  float64
		fault Fault
	}{{1, 1, Fine}, {0.3, 1, Disagree}, {1, 0.3, Scale}, {0.5, 1, Fine}, {1, 2, Fine}, {1, 2.8, Scale}, {1, -0.6, Direction}} {
		s := scaling{}
		for k := range 4000 {
			x := 2 * math.Pi * 1e-3 * float64(k)
			ri := math.Sin(5 * x)
			emf := 0.6*ri + 0.8*math.Sin(7*x)
			s.add(c.a*ri+c.b*emf, ri, emf, 1e-3)
		}
		if f := s.judge(0.05); f.Fault != c.fault {
			t.Errorf("slopes of %g and %g that go together: %+v", c.a, c.b, f)
		}
	}
}

// A current that stays one number breaks a balance as a bad sign does. Whatever that looks like, it is told in V: what is left over, and
// what may be.
func TestFrozenCurrentInVolts(t *testing.T) {
	for _, c := range []struct {
		name         string
		i, sound     float64 // A, and the speed at which they are right
		u, speed     float64 // V, rad/s  later
		value, limit float64 // V
	}{
		{"no motion that shows: 8 V, 0 A", 0, 0, 8, 0, 8, 1},
		{"more current than voltage: 5.1 A under 2 V", 5.1, 0, 2, 0, -8.2, 6.1},
		{"turned: 12 V, 3 A and −12 rad/s", 3, 12, 12, -12, 12, 7},
	} {
		for _, side := range []float64{1, -1} {
			s, found, x := newSigns(withCurrent(), plant.VoltageDrive, 20), Finding{}, 0.0
			n := 0
			for ; n < 600 && found.Fault == Fine; n++ {
				u, speed, i := 2*c.i+0.5*c.sound, c.sound, c.i
				if n >= 230 {
					u, speed = c.u, c.speed
				}
				if n < 200 { // it is alive
					i += 1e-6 * float64(n%2)
				}
				x += 1e-3 * speed
				found, _ = s.step(Tick{Energised: true}, true, false, side*u, side*u, [2]float64{side * x, side * i})
			}
			if found.Fault != FrozenCurrent || found.Quantity != estimator.Current || n < 250 || n > 300 ||
				math.Abs(found.Value-side*c.value) > 0.25*math.Abs(c.value) || math.Abs(found.Limit-c.limit) > 0.25*c.limit {
				t.Errorf("%s, %+g: %+v after %d ms, want %g V of %g V", c.name, side, found, n, side*c.value, c.limit)
			}
		}
	}
}

// A finding of the momentum is a delay where the command of 20 to 140 ms before leaves a tenth of what that of now leaves, and less than
// a sign turned round; else it stays what it is. What found nothing finds no delay.
func TestLateOrNot(t *testing.T) {
	f := Finding{Disagree, estimator.Position, 5, 3}
	run := func(late int, ri, emf, rest float64) *delays {
		var d delays
		for k := range 3000 {
			u := func(k int) float64 {
				x := 2 * math.Pi * 1e-3 * float64(k)
				return 3*math.Sin(2.3*x) + 2*math.Sin(3.7*x)
			}
			other := rest * math.Sin(2*math.Pi*1e-3*9.1*float64(k))
			d.add(u(k), ri*u(k-late)+other, emf*u(k-late), 1e-3, delaySpacing, true)
		}
		return &d
	}
	for _, c := range []struct {
		name string
		d    *delays
		want Fault
		time float64 // s
	}{
		{"60 ms", run(60, 0.4, 0.6, 0), Delay, 0.06},
		{"140 ms", run(140, 0.4, 0.6, 0), Delay, 0.14},
		{"160 ms: any time may be", run(160, 0.4, 0.6, 0), Disagree, 0},
		{"300 ms", run(300, 0.4, 0.6, 0), Disagree, 0},
		{"nothing came", &delays{}, Disagree, 0},
		{"turned round", run(0, -0.4, 0.6, 0), Disagree, 0},
		{"60 ms, and turned round", run(60, -0.4, -0.6, 0), Disagree, 0},
	} {
		got := c.d.orLate(f)
		if got.Fault != c.want || c.want == Disagree && got != f || c.want == Delay &&
			(math.Abs(got.Value-c.time) > 1e-9 || got.Quantity != f.Quantity || got.Limit != 10e-3) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if got := c.d.orLate(Finding{}); got != (Finding{}) {
			t.Errorf("%s: nothing was found, and %+v is made of it", c.name, got)
		}
		if got := c.d.named(Finding{}, true); got != (Finding{}) {
			t.Errorf("%s: nothing was found, and it is named %+v", c.name, got)
		}
	}
	var mean delays // over 0.1 s
	for range 100 {
		mean.add(5, 1, 2, 1e-3, delaySpacing, true)
	}
	if whole := 1 - math.Pow(0.99, 100); math.Abs(mean.termSquare-9*whole) > 1e-9 || math.Abs(mean.signSquares[0]-4*whole) > 1e-9 {
		t.Errorf("after 0.1 s %+v", mean)
	}
	// the tenth, by hand: what the delay leaves as a share of what the command of now leaves
	for share, want := range map[float64]Fault{0.09: Delay, 0.06: Delay, 0.11: Disagree} {
		d := delays{spacing: delaySpacing, samples: minSamples, termSquare: 1, signSquares: [4]float64{1, 1, 1, 1},
			delaySquares: [delaySteps]float64{1, 1, share, 1, 1, 1, 1, 1}}
		if got := d.orLate(f); got.Fault != want {
			t.Errorf("%g is left: %+v", share, got)
		}
		for turned := 1; turned < 4; turned++ {
			d.signSquares = [4]float64{1, 1, 1, 1}
			d.signSquares[turned] = share
			if got := d.orLate(f); got.Fault != Disagree {
				t.Errorf("%g is left, and no more with sign %d turned: %+v", share, turned, got)
			}
		}
		// of four samples, or where current and speed take next to nothing, no delay is told
		for _, few := range []delays{{samples: minSamples - 1, termSquare: 1}, {samples: minSamples, termSquare: 0.09},
			{samples: minSamples, termSquare: 0.11}} {
			few.spacing, few.signSquares, few.delaySquares = delaySpacing, [4]float64{1, 1, 1, 1}, d.delaySquares
			want := want
			if few.termSquare < 0.1 || few.samples < minSamples {
				want = Disagree
			}
			if got := few.orLate(f); got.Fault != want {
				t.Errorf("%g is left of %d samples, %g of its own: %+v", share, few.samples, few.termSquare, got)
			}
		}
	}
}

// What a winding leaves over is u − R·i − drop − K·ω: nothing where the position is right, K·ω of a motion that does not show,
// to both sides. It is not known in the first 30 ms, of a drive that is off, and without a measured current.
func TestSignsOver(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, c := range []struct {
			name         string
			shown        float64 // of a speed of 6 rad/s
			current, off bool
			want         float64 // V
		}{
			{"the position is right", 1, true, false, 0},
			{"half of it shows", 0.5, true, false, 1.5},
			{"it stands", 0, true, false, 3},
			{"it goes the other way", -1, true, false, 6},
			{"no current", 1, false, false, math.NaN()},
			{"off", 1, true, true, math.NaN()},
		} {
			s := newSigns(withCurrent(), plant.VoltageDrive, 20)
			s.s.Motor = plant.Motor{R: 2, K: 0.5, BrushDrop: 1, DropScale: 1e-6}
			s.current = c.current
			for k := range 400 {
				at := 1e-3 * float64(k)
				s.step(Tick{Energised: !c.off}, true, false, side*(2*3+1+0.5*6), side*10, [2]float64{side * c.shown * 6 * at, side * 3})
				if got := s.windingBalance(); k < 30 && !math.IsNaN(got) || k > 31 && math.IsNaN(got) != math.IsNaN(c.want) {
					t.Fatalf("%s, %+g: %g V after %g s", c.name, side, got, at)
				} else if k == 399 && math.Abs(got-side*c.want) > 1e-3 {
					t.Errorf("%s, %+g: %g V, want %g", c.name, side, got, side*c.want)
				}
			}
		}
	}
}

// A controller that chatters beside a coarse encoder drives the current through the drop of its brushes in every sample. The balance takes
// the mean of the drops, which is not the drop at the mean current: that one leaves a slope of 0.3, and tripped a sound rig.
func TestChatterThroughBrushes(t *testing.T) {
	for _, side := range []float64{1, -1} {
		for _, each := range []int{1, 2, 5} { // samples
			spec := withCurrent()
			spec.Tick, spec.SamplePeriod = 2e-3, 2e-3
			spec.Motor = plant.Motor{R: 1.2, L: 6e-4, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5}
			s, found, i := newSigns(spec, plant.VoltageDrive, 24), Finding{}, 0.0
			k := 0
			for ; k < 6000 && found.Fault == Fine; k++ {
				x := 2e-3 * float64(k)
				u := 0.5 + 0.05*math.Sin(44*x)
				if k/each%2 == 1 {
					u = -0.78 - 0.05*math.Sin(25*x+1)
				}
				for range 100 { // of 20 µs
					i += 20e-6 / 6e-4 * (u - 1.2*i - 0.6*math.Tanh(i/0.05))
				}
				found, _ = s.step(Tick{Energised: true}, true, false, side*u, side*u, [2]float64{0.01 * math.Round(2*math.Sin(x)), side * i})
			}
			if found.Fault != Fine {
				t.Errorf("%+g, %d samples each: %+v after %d ms", side, each, found, 2*k)
			}
		}
	}
}

// The balance begins with the drop of the current at which it begins, and goes with the current to the other side.
func TestDropOfTheBalance(t *testing.T) {
	for _, side := range []float64{1, -1} {
		spec := withCurrent()
		spec.Tick, spec.SamplePeriod = 1e-3, 1e-3
		spec.Motor = plant.Motor{R: 1.2, L: 6e-4, K: 0.042, BrushDrop: 0.6, DropScale: 0.05, J: 7e-5}
		s := newSigns(spec, plant.VoltageDrive, 24)
		at := func(i float64, samples int) {
			for range samples {
				s.step(Tick{Energised: true}, true, false, 0, 0, [2]float64{0, side * i})
			}
			if _, ri, _ := s.terms(); math.Abs(ri-side*(1.2*i+0.6*math.Tanh(i/0.05))) > 1e-6 {
				t.Errorf("%+g: %.6g V at %g A behind %d samples", side, ri, side*i, samples)
			}
		}
		at(1, 2)
		at(-0.02, 500)
	}
}
