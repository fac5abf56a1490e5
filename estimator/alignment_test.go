package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// seen is a motion in closed form, seen by an exact first sensor at 1 kHz and by a second one.
type seen struct {
	motion             func(t float64) float64
	offset, shift, age float64 // age: stated by the sample
	gain, noise, wrap  float64
	every, seconds     float64
	speed              func(t float64) float64
}

// turnTo is 3 sin 2.5t + 0.6 sin 14t (rad): it passes ±π.
func turnTo(t float64) float64    { return 3*math.Sin(2.5*t) + 0.6*math.Sin(14*t) }
func turnSpeed(t float64) float64 { return 7.5*math.Cos(2.5*t) + 8.4*math.Cos(14*t) }

func (c seen) run(t *testing.T, spec AlignmentSpec, seed uint64) (*Alignment, Aligned) {
	t.Helper()
	a, err := NewAlignment(spec)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 7))
	next := 0.0
	for now := 0.0; now < c.seconds; now += spec.Dt {
		a.Motion(now, c.motion(now), c.speed(now))
		if now < next {
			continue
		}
		next += c.every
		at := now - c.age*(0.5+r.Float64()) // the age differs from sample to sample, and is stated
		y := c.offset + c.gain*c.motion(at-c.shift) + c.noise*r.NormFloat64()
		if c.wrap > 0 {
			y -= c.wrap * math.Round(y/c.wrap)
		}
		a.Sample(at, y)
	}
	return a, a.Result()
}

var aligning = AlignmentSpec{Dt: 1e-3, Memory: 60, Depth: 0.3}

// A second sensor in closed form: offset, shift and gain come back within four standard errors, and these are those of many draws.
func TestAlignmentFindsTheTruth(t *testing.T) {
	for _, c := range []struct {
		name string
		seen
		period float64
	}{
		{"late", seen{offset: 0.7, shift: 0.012, gain: 1}, 0},
		{"early", seen{offset: -0.2, shift: -0.004, age: 0.01, gain: 1}, 0},
		{"early, and its device says no age", seen{offset: -0.2, shift: -0.004, gain: 1}, 0},
		{"very early", seen{offset: 0.1, shift: -0.11, gain: -1}, 0},
		{"very late", seen{offset: 0.1, shift: 0.11, gain: 1}, 0},
		{"other unit, other direction", seen{offset: 40, shift: 0.005, age: 0.01, gain: -57.3}, 0},
		{"heading", seen{offset: 2.9, shift: 0.02, gain: 1, wrap: 2 * math.Pi}, 2 * math.Pi},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.motion, c.speed, c.every, c.seconds, c.noise = turnTo, turnSpeed, 0.01, 20, 2e-3*math.Abs(c.gain)
			spec := aligning
			spec.Period = c.period
			inside, n := 0, 40
			for seed := range uint64(n) {
				a, r := c.run(t, spec, seed)
				if !r.Valid {
					t.Fatalf("nothing is known: %+v, %+v", r, a.Counts())
				}
				for _, p := range [][3]float64{{r.Offset, c.offset, r.OffsetSE}, {r.Shift, c.shift, r.ShiftSE}, {r.Gain, c.gain, r.GainSE}} {
					switch off := math.Abs(p[0] - p[1]); {
					case off > 4.5*p[2]:
						t.Errorf("seed %d: %g ± %g, truth %g", seed, p[0], p[2], p[1])
					case off < 1.96*p[2]:
						inside++
					}
				}
				if math.Abs(r.Noise/c.noise-1) > 0.1 || r.ShiftSE > 5e-4 {
					t.Errorf("seed %d: %+v", seed, r)
				}
				if k := a.Counts(); k.OutlierSamples+k.Restart > 0 || k.LateSamples > 10 {
					t.Errorf("seed %d: %+v", seed, k)
				}
			}
			if share := float64(inside) / float64(3*n); share < 0.89 || share > 0.995 { // 120 draws of 95 %
				t.Errorf("intervals of 95 %% hold in %.1f %%", 100*share)
			}
		})
	}
}

// At rest and at constant speed the three cannot be told apart; a sensor that is moved is noticed and found anew; a wild reading stays out.
func TestAlignmentRefuses(t *testing.T) {
	still := seen{motion: func(float64) float64 { return 1 }, speed: func(float64) float64 { return 0 }, offset: 0.3, gain: 1, noise: 1e-3,
		every: 0.01, seconds: 10}
	if _, r := still.run(t, aligning, 1); r.Valid || !math.IsNaN(r.Shift) || math.Abs(r.Difference-0.3) > 0.01 {
		t.Errorf("at rest: %+v", r)
	}
	// a first sensor whose noise is the only motion
	fidget := still
	r := rand.New(rand.NewPCG(5, 5))
	fidget.motion, fidget.speed = func(float64) float64 { return 1 + 1e-5*r.NormFloat64() },
		func(float64) float64 { return 1e-2 * r.NormFloat64() }
	if _, r := fidget.run(t, aligning, 1); r.Valid {
		t.Errorf("at rest, with noise: %+v", r)
	}
	steady := still
	steady.motion, steady.speed, steady.shift = func(t float64) float64 { return 2 * t }, func(float64) float64 { return 2 }, 0.02
	if _, r := steady.run(t, aligning, 1); r.Valid {
		t.Errorf("at constant speed: %+v", r)
	}

	a, err := NewAlignment(aligning)
	if err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(3, 3))
	for k := range 40000 {
		now, moved := float64(k)*1e-3, 0.0
		if k >= 20000 {
			moved = 0.25
		}
		a.Motion(now, turnTo(now), turnSpeed(now))
		if k%10 == 0 {
			y := turnTo(now-0.01) + moved + 1e-3*noise.NormFloat64()
			if k%1000 == 500 {
				y += 1
			}
			a.Sample(now, y)
		}
		if k == 19999 {
			if r, n := a.Result(), a.Counts(); math.Abs(r.Offset) > 1e-3 || n.OutlierSamples < 18 || n.Restart != 0 {
				t.Errorf("before it is moved: %+v, %+v", r, n)
			}
		}
	}
	if r, n := a.Result(), a.Counts(); math.Abs(r.Offset-0.25) > 1e-3 || n.Restart != 1 {
		t.Errorf("after it was moved: %+v, %+v", r, n)
	}
	a.Motion(40, math.NaN(), 0)
	if a.Sample(40, 1) || a.Sample(40, math.NaN()) {
		t.Error("a sample enters without a motion")
	}
}

func TestAlignmentAllocatesNothing(t *testing.T) {
	a, err := NewAlignment(aligning)
	if err != nil {
		t.Fatal(err)
	}
	now := 0.0
	if n := testing.AllocsPerRun(5000, func() {
		now += 1e-3
		a.Motion(now, turnTo(now), turnSpeed(now))
		a.Sample(now-0.003, turnTo(now-0.01))
		a.Result()
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestAlignmentSpec(t *testing.T) {
	for _, s := range []AlignmentSpec{{Depth: 1}, {Dt: 1e-3}, {Dt: 1e-3, Depth: 1, Memory: -1}, {Dt: 1e-3, Depth: 1, Period: math.NaN()},
		{Dt: 1e-9, Depth: 10}} {
		if a, err := NewAlignment(s); err == nil {
			t.Errorf("%+v: %v", s, a)
		}
	}
}

// From rest the second sensor is known as soon as its values are: the first that are said are right on average, however little has moved.
// Of a late sensor they were up to three errors low, since the motion bends between the time about which the equation is straight and the
// shift.
func TestAlignmentFirstValues(t *testing.T) {
	for _, omega := range []float64{4, 9, 20} { // rad/s, swinging from one end
		for _, sign := range []float64{1, -1} {
			c := seen{offset: 0.4, shift: 8e-3 * sign, gain: sign, noise: 3e-3, every: 5e-3}
			c.motion = func(t float64) float64 { return 0.4 * (1 - math.Cos(omega*max(t-0.5, 0))) }
			c.speed = func(t float64) float64 { return 0.4 * omega * math.Sin(omega*max(t-0.5, 0)) }
			const n = 200
			var sum [3]float64
			for seed := range uint64(n) {
				z := c.first(t, seed)
				for i := range z {
					sum[i] += z[i] / n
				}
			}
			for i, of := range []string{"offset", "shift", "gain"} {
				if math.Abs(sum[i]) > 0.5+3/math.Sqrt(n) { // standard errors: those allowed, and those of the mean
					t.Errorf("%g rad/s, %+g: %s is off by %.2f standard errors on average", omega, sign, of, sum[i])
				}
			}
		}
	}
}

// first gives how many standard errors the first values that are said are off: offset, shift, gain.
func (c seen) first(t *testing.T, seed uint64) [3]float64 {
	t.Helper()
	a, err := NewAlignment(aligning)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 11))
	for k := range 3000 {
		now := float64(k) * 1e-3
		a.Motion(now, c.motion(now), c.speed(now))
		if k%5 > 0 {
			continue
		}
		a.Sample(now, c.offset+c.gain*c.motion(now-c.shift)+c.noise*r.NormFloat64())
		if q := a.Result(); q.Valid {
			return [3]float64{(q.Offset - c.offset) / q.OffsetSE, (q.Shift - c.shift) / q.ShiftSE, (q.Gain - c.gain) / q.GainSE}
		}
	}
	t.Fatalf("seed %d, %+v: nothing is known after 3 s: cond %g, lin %g, %v %v", seed, c, a.cond, a.lin, a.theta, a.counts)
	return [3]float64{}
}
