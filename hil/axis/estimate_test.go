package axis

import (
	"math"
	"testing"

	"hilrig/engine"
	"hilrig/engine/plant"
	"hilrig/engine/reference"
	"hilrig/estimator"
)

// sampled is a tick with this position and current.
func sampled(position, current float64) *estimator.Inputs {
	return &estimator.Inputs{Position: estimator.Sample{Value: position, Updated: true},
		Current: estimator.Sample{Value: current, Updated: true}, DriveActive: true}
}

// The heat of the motor counts the newest current that was believed: one beyond twice 24 V/1.2 Ω never, one that the filter does not
// need at once.
func TestHeatingCurrent(t *testing.T) {
	needed := motorSpec(t, reference.Spec{Kind: "constant"})
	other := motorSpec(t, reference.Spec{Kind: "constant"})
	other.Sampling.Groups[0].Quantities = other.Sampling.Groups[0].Quantities[:1]
	for _, c := range []struct {
		name string
		s    Spec
		next float64
		want float64 // A, behind 2 A
	}{{"needed", needed, -3, -3}, {"needed, out of range", needed, 50, 2}, {"needed, out of range the other way", needed, -50, 2},
		{"needed, no number", needed, math.NaN(), 2}, {"not needed", other, -3, -3}, {"not needed, no number", other, math.Inf(1), 2}} {
		b, m := newBed(t, c.s), State{}
		for k, i := range []float64{2, 2, c.next} {
			in := sampled(0, i)
			b.Estimate(int64(k+1)*1e6, 0, in, b.x)
			b.Watch(b.k, false, in, 0, b.x, b.y, &m)
		}
		if m.Heating != c.want {
			t.Errorf("%s, %g A: heated by %g A, want %g", c.name, c.next, m.Heating, c.want)
		}
	}
}

// A filter whose numbers are none any more says so, once, and begins anew from the next position.
func TestFilterThatFailedIsTold(t *testing.T) {
	b := newBed(t, motorSpec(t, reference.Spec{Kind: "constant"}))
	told := 0
	for k := range 20 {
		in := sampled(1, 0)
		if k == 10 {
			in.Command = math.NaN()
		}
		if st := b.Estimate(int64(k+1)*1e6, 0, in, b.x); st == engine.NonFinite {
			told++
		} else if st != engine.OK {
			t.Errorf("tick %d: %v", k, st)
		}
	}
	if told != 1 || math.Abs(b.x[estimator.XPos]-1) > 1e-3 {
		t.Errorf("told %d times; %g rad in the end, want 1", told, b.x[estimator.XPos])
	}
}

// What the least squares have not found yet stands in the block as such from the first sample on, and not as what was there before.
func TestLeastSquaresBeforeTheFirstWindow(t *testing.T) {
	s := motorSpec(t, reference.Spec{Kind: "constant"})
	s.Sampling.RLS = &estimator.RLSSpec{Dt: 1e-3, K: s.Motor.K, Window: 0.1, MinVel: 5}
	b := newBed(t, s)
	for i := range b.x {
		b.x[i] = 12345
	}
	b.Estimate(1e6, 0, sampled(0, 0), b.x)
	l := b.Filter().RLS()
	var values, errs [4]float64
	l.Values(values[:])
	l.StdErrs(errs[:])
	for i := range values {
		if at := b.layout.rls + i; b.x[at] != values[i] || b.x[at+4] != errs[i] && !math.IsNaN(errs[i]) || b.x[at] == 12345 ||
			b.x[at+4] == 12345 {
			t.Errorf("%s: %g ± %g, want %g ± %g", b.layout.est[at].Name, b.x[at], b.x[at+4], values[i], errs[i])
		}
	}
	if b.x[b.layout.rls+8] != 0 {
		t.Errorf("%g windows, want 0", b.x[b.layout.rls+8])
	}
}

// A reading that is doubted, and a position that jumped, each begin the comparison of the signs anew: 8 V on a winding without current and
// motion are found after 50 samples, and not sooner behind either.
func TestDoubtBeginsTheSignsAnew(t *testing.T) {
	found := func(doubt, jump int) (anew, found int) {
		s := motorSpec(t, reference.Spec{Kind: "constant"})
		s.Motor = plant.Motor{R: 2, L: 1e-3, K: 0.5, J: 7e-5}
		s.Kalman.Motor = s.Motor
		b, m := newBed(t, s), State{}
		b.momentum = nil // it is sooner
		for k := 1; k < 300; k++ {
			in := sampled(1.5e-4*float64(k%2), 1e-6*float64(k%2)) // it shakes: no frozen number
			if k >= jump && jump > 0 {
				in.Position.Value += 1000
			}
			b.Estimate(int64(k)*1e6, 0, in, b.x)
			b.Watch(b.k, k == doubt, in, 8, b.x, b.y, &m)
			switch {
			case k == doubt || m.Finding.Fault == Jump:
				anew = k
			case m.Finding.Fault == Frozen:
				return anew, k
			}
		}
		return anew, 0
	}
	// a jump is one when it lasts
	for _, c := range []struct{ doubt, jump, anew, found int }{{0, 0, 0, 50}, {30, 0, 30, 79}, {0, 30, 34, 83}} {
		if anew, k := found(c.doubt, c.jump); anew != c.anew || k != c.found {
			t.Errorf("doubted in tick %d, jumped in tick %d: anew from tick %d, found in tick %d; want %d and %d", c.doubt, c.jump, anew, k, c.anew,
				c.found)
		}
	}
}

// With the largest command the filter of a drive of efforts or currents knows the largest effort: a position that the axis cannot have
// reached is refused. Where it is not known, nothing is.
func TestLargestEffortScreens(t *testing.T) {
	for _, c := range []struct {
		drive plant.DriveKind
		top   float64
		want  bool
	}{{plant.EffortDrive, 0.2, true}, {plant.CurrentDrive, 5, true}, {plant.EffortDrive, 0, false}, {plant.CurrentDrive, 0, false}} {
		s := motorSpec(t, reference.Spec{Kind: "constant"})
		s.Drive, s.TopCommand, s.Sampling.Groups[0].Quantities = c.drive, c.top, []estimator.Quantity{estimator.Position}
		s.Mechanical = estimator.MechanicalSpec{Inertia: 7e-5, PositionNoise: 1e-4, Walk: 0.1, TopSpeed: 100}
		b := newBed(t, s)
		for k := range 50 {
			in := &estimator.Inputs{Position: estimator.Sample{Updated: true}, DriveActive: true}
			if k == 49 {
				in.Position.Value = 1000
			}
			b.Estimate(int64(k+1)*1e6, 0, in, b.x)
		}
		if refused := b.Outcome().Rejected[estimator.Position]; refused != c.want || b.positionAccepted == c.want {
			t.Errorf("%v, largest command %g: 1000 rad in a tick refused: %v, taken: %v", c.drive, c.top, refused, b.positionAccepted)
		}
	}
}

// Of the voltage that was sent and the one that the drive says it applied, the one that does less counts, to both signs; where they are
// against each other, or one is none, nothing does.
func TestSmallerVoltage(t *testing.T) {
	for _, c := range [][3]float64{{10, 4, 4}, {4, 10, 4}, {-10, -4, -4}, {-4, -10, -4}, {-10, 4, 0}, {10, -4, 0}, {10, 0, 0}, {0, -4, 0}} {
		if got := smaller(c[0], c[1]); got != c[2] {
			t.Errorf("sent %g, applied %g: %g, want %g", c[0], c[1], got, c[2])
		}
	}
}
