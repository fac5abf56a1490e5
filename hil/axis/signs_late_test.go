package axis

import (
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/plant"
	"hilrig/estimator"
)

// Of 64 and of 32 samples a second, two that are broken alike tell a wrong sign and a current that takes too much; what a mean that
// changes its sign passes by, a position that stands or shows too little, takes five. The means settle within 15 samples. To both sides.
func TestSignsOfASlowLine(t *testing.T) {
	for _, c := range []struct {
		name        string
		u, i, speed float64 // V, A, rad/s
		fault       Fault
		samples     int
	}{
		{"it stands", 8, 0, 0, Frozen, 5},
		{"it shows too little", 12, 3, 1, Scale, 5},
		{"it goes the other way", 8, 2, -8, Direction, 2},
		{"more current than voltage", 4, 8, 0, Disagree, 2},
		{"as it should be", 8, 2, 8, Fine, 0},
	} {
		for _, line := range [][2]float64{{1. / 64, 1}, {1. / 64, -1}, {1. / 32, 1}, {1. / 32, -1}} {
			every, side := line[0], line[1] // s
			spec := withCurrent()
			spec.Tick, spec.SamplePeriod = every, every
			s, at, found := newSigns(spec, plant.VoltageDrive, 20), 0, Finding{}
			for k := 0; k < 60 && found.Fault == Fine; k++ {
				at = k
				i := side * (c.i + 1e-6*float64(k%2))
				found, _ = s.step(Tick{Energised: true}, true, false, side*c.u, side*c.u, [2]float64{side * c.speed * every * float64(k), i})
			}
			if found.Fault != c.fault || c.fault != Fine && at != 14+c.samples {
				t.Errorf("%s, %g s, %+g: %+v in sample %d", c.name, every, side, found, at)
			}
		}
	}
}

// A command of ±8 V may need three samples to show in current and speed, half of it in each; six are too many. To both sides.
func TestSignsOfALagInSamples(t *testing.T) {
	const every = 1. / 64 // s
	for late, sound := range map[int]bool{0: true, 3: true, 6: false} {
		for _, side := range []float64{1, -1} {
			spec := withCurrent()
			spec.Tick, spec.SamplePeriod = every, every
			s, x, found := newSigns(spec, plant.VoltageDrive, 20), 0.0, Finding{}
			volts := func(k int) float64 { return side * (8 - 16*float64(max(0, k)/20%2)) }
			for k := 0; k < 200 && found.Fault == Fine; k++ {
				answer := volts(k - late)
				x += every * answer
				s.swing = swing{} // the balance alone
				found, _ = s.step(Tick{Energised: true}, true, false, volts(k), volts(k),
					[2]float64{x, (answer+volts(k-late+1))/8 + 1e-6*float64(k%2)})
			}
			if (found.Fault == Fine) != sound {
				t.Errorf("%d samples late, %+g: %+v", late, side, found)
			}
		}
	}
}

// A swing counts above what friction may take of the command: twice the break-away, of a voltage twice the drop and 2 % of the largest
// beside it, of a current or an effort 1 % of the largest. Where the current is measured the tolerance of the balance takes its place.
func TestSignsLeastSwing(t *testing.T) {
	const fs = 21e-3 // N·m  of demoLaw
	for _, c := range []struct {
		drive   plant.DriveKind
		current bool
		want    float64 // V, A, N·m
	}{
		{plant.VoltageDrive, false, 2*fs*2/0.5 + 2*0.25 + 0.4},
		{plant.VoltageDrive, true, 1 + 2*0.25},
		{plant.CurrentDrive, false, 2*fs/0.5 + 0.2},
		{plant.EffortDrive, false, 2*fs + 0.2},
	} {
		s := withCurrent()
		s.Law, s.Motor.BrushDrop = demoLaw(), 0.25
		if !c.current {
			s.Sampling.Groups = nil
		}
		if got := newSigns(s, c.drive, 20).rest; math.Abs(got-c.want) > 1e-12 {
			t.Errorf("drive %v, current %v: %g, want %g", c.drive, c.current, got, c.want)
		}
	}
}

// A mass that swings at 5 Hz as its commands of 40 ms before make it, by hand: a delay, on every drive whose command is not the speed. It
// is none where they act at once, and of a commanded velocity.
func TestSignsOfLateCommands(t *testing.T) {
	const j, w = 0.01, 2 * math.Pi * 5 // kg·m², rad/s
	for _, c := range []struct {
		drive   plant.DriveKind
		command func(speed, acceleration float64) float64
		delay   bool
	}{
		{plant.VoltageDrive, func(v, a float64) float64 { return 2*j*a/0.5 + 0.5*v }, true},
		{plant.CurrentDrive, func(_, a float64) float64 { return j * a / 0.5 }, true},
		{plant.EffortDrive, func(_, a float64) float64 { return j * a }, true},
		{plant.VelocityDrive, func(v, _ float64) float64 { return v }, false},
	} {
		for _, side := range []float64{1, -1} {
			for _, late := range []float64{0, 40e-3} {
				spec := &Spec{Tick: 1e-3, SamplePeriod: 1e-3, TopCommand: 20, Motor: plant.Motor{R: 2, K: 0.5, J: j},
					Law: &friction.LuGre{Fc: 1e-3, Fs: 1e-3, Sigma0: 1e3}}
				s, told := newSigns(spec, c.drive, 20), 0
				for k := range 1000 {
					at := 1e-3 * float64(k)
					before := w * (at - 0.5e-3 + late)
					u := side * c.command(w*math.Cos(before), -w*w*math.Sin(before))
					bad, _ := s.step(Tick{Energised: true}, true, false, u, u, [2]float64{side * math.Sin(w*at), 0})
					if bad.Fault == Delay {
						if told++; math.Abs(bad.Value-late) > 6e-3 {
							t.Fatalf("drive %v, %g s late, %+g: %+v at %g s", c.drive, late, side, bad, at)
						}
					}
				}
				if want := c.delay && late > 0; told > 600 != want || !want && told > 0 {
					t.Errorf("drive %v, %g s late, %+g: a delay in %d of 1000 ticks", c.drive, late, side, told)
				}
			}
		}
	}
}

// A voltage that the device tells is as late as its readings: the balance is kept under it, and under the command as it was sent it is
// that of 60 ms before. That is a hint of a delay. A command that was sent three times as large is no delay.
func TestSignsOfALateDevice(t *testing.T) {
	for _, c := range []struct {
		name string
		late int     // ms
		gain float64 // of the command that was sent
		hint Fault
	}{{"60 ms late", 60, 1, Delay}, {"at once", 0, 1, Fine}, {"another command", 0, 3, Fine}} {
		for _, side := range []float64{1, -1} {
			s, hinted := newSigns(withCurrent(), plant.VoltageDrive, 20), 0
			volts := func(ms float64) float64 {
				x := 2 * math.Pi * 1e-3 * ms
				return side * (3*math.Sin(2.3*x) + 2*math.Sin(3.7*x))
			}
			x := 0.0
			for k := range 3000 {
				u := volts(float64(k))
				s.swing = swing{}         // the balance alone
				x += 1e-3 * 0.6 * u / 0.5 // 0.6 of the voltage are those of the motion, 0.4 those of the winding
				i := 0.4*(u+volts(float64(k)+1))/4 + 1e-9*float64(k%2)
				bad, hint := s.step(Tick{Energised: true}, true, false, u, c.gain*volts(float64(k+c.late)), [2]float64{x, i})
				if bad.Fault != Fine || hint.Fault != Fine && (hint.Fault != c.hint || math.Abs(hint.Value-60e-3) > 1e-9) {
					t.Fatalf("%s, %+g: %+v, hint %+v after %d ms", c.name, side, bad, hint, k)
				}
				if hint.Fault != Fine {
					hinted++
				}
			}
			if (hinted > 500) != (c.hint != Fine) {
				t.Errorf("%s, %+g: a hint in %d of 3000 ticks", c.name, side, hinted)
			}
		}
	}
}

// A wrong direction that the swing is sure of stays one, though a delay fits; no other finding does, and none without that swing.
func TestSignsNames(t *testing.T) {
	swings := swing{square: 1}
	swings.power[0], swings.product[0] = 1, -1
	for _, c := range []struct {
		fault Fault
		swing swing
		want  Fault
	}{
		{Direction, swings, Direction}, {Direction, swing{}, Delay},
		{Disagree, swings, Delay}, {Disagree, swing{}, Delay}, {Fine, swings, Fine},
	} {
		s := signs{current: true, swing: c.swing}
		s.delays = delays{spacing: delaySpacing, samples: minSamples, termSquare: 1, signSquares: [4]float64{1, 1, 1, 1}}
		s.delays.delaySquares = [delaySteps]float64{1, 1, 0.01, 1, 1, 1, 1, 1}
		if got := s.named(Finding{c.fault, estimator.Position, 5, 3}); got.Fault != c.want {
			t.Errorf("%v, against its command %v: %+v", c.fault, c.swing.against(), got)
		}
	}
	// beside a measured current a direction is one where a sign turned round leaves two thirds at most
	for share, want := range map[float64]Fault{0.65: Direction, 0.68: Scale} {
		for turned := 1; turned < 4; turned++ {
			d := delays{spacing: delaySpacing, signSquares: [4]float64{1, 1, 1, 1}}
			d.signSquares[turned] = share
			for _, f := range []Fault{Direction, Disagree} {
				if got := d.named(Finding{Fault: f}, true); got.Fault != want && f == Direction || got.Fault != f && f != Direction {
					t.Errorf("%v, %g is left with sign %d turned: %+v", f, share, turned, got)
				}
				if got := d.named(Finding{Fault: f}, false); got.Fault != f {
					t.Errorf("%v, without a current: %+v", f, got)
				}
			}
		}
	}
}

// The share that a delay may leave: of half a step beside 20, 40 ... 160 ms, and a twentieth, by hand; a fifth at most.
func TestDelayLeaves(t *testing.T) {
	for best, most := range []float64{0.2, 0.14375, 0.0916667, 0.0734375, 0.065, 0.0604167, 0.0576531, 0.0558594} {
		for share, want := range map[float64]Fault{0.99 * most: Delay, 1.01 * most: Disagree} {
			d := delays{spacing: delaySpacing, samples: minSamples, termSquare: 1, signSquares: [4]float64{1, 1, 1, 1}}
			d.delaySquares = [delaySteps]float64{1, 1, 1, 1, 1, 1, 1, 1}
			d.delaySquares[best] = share
			if got := d.named(Finding{Disagree, estimator.Position, 5, 3}, true); got.Fault != want {
				t.Errorf("%d ms leave %g: %+v", 20*(best+1), share, got)
			}
		}
	}
}

// The inductance takes L·di/dt of the voltage: nothing is left over of a current that rises or falls steadily.
func TestSignsOfAnInductance(t *testing.T) {
	const l, rises = 0.2, 10 // H, A/s
	for _, side := range []float64{1, -1} {
		s := newSigns(withCurrent(), plant.VoltageDrive, 20)
		s.s.Motor.L = l
		for k := range 400 {
			at := 1e-3 * float64(k)
			u := side * (2*rises*(at-0.5e-3) + l*rises)
			s.step(Tick{Energised: true}, true, false, u, u, [2]float64{0, side * rises * at})
			if got := s.windingBalance(); k > 200 && !(math.Abs(got) < 1e-3) {
				t.Fatalf("%+g: %g V are left over after %g s", side, got, at)
			}
		}
	}
}
