package pose

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
)

// motion is a run of testdata/roll.py.
type motion struct {
	Mu, Spin, Quadratic float64
	Rows                [][]float64 // t, q, x, y, ω body, force world
}

func (m *motion) at(k int) (t float64, q quat.Number, p, w, force r3.Vec) {
	r := m.Rows[k]
	return r[0], quat.Number{Real: r[1], Imag: r[2], Jmag: r[3], Kmag: r[4]}, r3.Vec{X: r[5], Y: r[6], Z: radius},
		r3.Vec{X: r[7], Y: r[8], Z: r[9]}, r3.Vec{X: r[10], Y: r[11], Z: r[12]}
}

const radius = 0.035

// five markers of the source's ball, 25 to 30 mm from its centre.
var five = []r3.Vec{{X: 0.03}, {Y: 0.028, Z: 0.004}, {X: -0.02, Y: -0.015, Z: 0.01}, {X: 0.01, Y: -0.02, Z: -0.016},
	{X: -0.012, Y: 0.016, Z: -0.019}}

func load(t testing.TB, name string) *motion {
	t.Helper()
	var m motion
	b, err := os.ReadFile("testdata/roll_" + name + ".json")
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return &m
}

// markers are those of a frame with noise (m).
func markers(to []r3.Vec, q quat.Number, p r3.Vec, rng *rand.Rand, noise float64) []r3.Vec {
	for i, b := range five {
		e := r3.Vec{X: noise * rng.NormFloat64(), Y: noise * rng.NormFloat64(), Z: noise * rng.NormFloat64()}
		to[i] = r3.Add(r3.Add(p, rotation.Rotate(q, b)), e)
	}
	return to
}

func paperSpec(t testing.TB) RollingSpec {
	return RollingSpec{
		Ball:  ball.Paper(),
		Prior: Friction{Roll: 1e-3, Spin: 1e-3}, SlipWalk: 2e-3, HeightWalk: 1e-4, RadiusError: 0.005,
	}
}

// sample is a frame by the tracker of markers.
func sample(t testing.TB, tr *Tracker, at float64, w []r3.Vec) Sample {
	p := tr.Frame(at, w)
	if p.Verdict > Misfit && p.Verdict != Jump {
		t.Fatalf("t %g: %v", at, p.Verdict)
	}
	return Sample{T: at, R: p.R, P: p.P, Turn: p.Turn, Place: p.Place}
}

// poses of a run with marker noise.
func poses(t testing.TB, m *motion, noise float64, seed uint64) []Sample {
	rng := rand.New(rand.NewPCG(seed, 17))
	tr, err := NewTracker(Body{Offsets: five, Noise: noise, Acceleration: 300})
	if err != nil {
		t.Fatal(err)
	}
	w := make([]r3.Vec, len(five))
	z := make([]Sample, len(m.Rows))
	for k := range m.Rows {
		at, q, p, _, _ := m.at(k)
		z[k] = sample(t, tr, at, markers(w, q, p, rng, noise))
	}
	return z
}

// Over seeds of the noise, on motions integrated by SciPy: μ ± σ holds the truth as often as it says, the innovations are χ², nothing
// is doubted, and forces and angular velocity are those of the motion.
func TestRollingHoldsTheTruth(t *testing.T) {
	const noise, seeds = 1e-4, 50
	var one, two, spinOne, n, nisCount int
	var nis, square float64
	spec := paperSpec(t)
	spec.SlipWalk, spec.HeightWalk = 1e-4, 1e-6 // the motion has neither: with more, the innovations are smaller than expected
	for _, name := range []string{"paper", "glass"} {
		m := load(t, name)
		for seed := range uint64(seeds) {
			f, err := NewRolling(spec)
			if err != nil {
				t.Fatal(err)
			}
			for k, z := range poses(t, m, noise, seed) {
				f.Step(&z)
				r := f.Result()
				if r.Soundness > Learning {
					t.Fatalf("%s, seed %d, t %g: %v (slip %.1fσ, noise %.2f)", name, seed, z.T, r.Soundness, r.SlipOver, r.Noise)
				}
				if k > 40 {
					nis += r.NIS
					nisCount++
				}
				if k == 400 {
					_, _, _, w, force := m.at(k)
					if d := r3.Norm(r3.Sub(r.Omega, w)); d > 0.05 {
						t.Errorf("%s, seed %d: ω is %g rad/s off", name, seed, d)
					}
					if d := r3.Norm(r3.Sub(r.Force, force)); d > 0.005 {
						t.Errorf("%s, seed %d: the contact force is %g N off", name, seed, d)
					}
				}
			}
			r := f.Result()
			e := (r.Roll.Mean - m.Mu) / r.Roll.Sd
			s := (r.Spin.Mean - m.Spin) / r.Spin.Sd
			square += e * e
			n++
			if math.Abs(e) < 1 {
				one++
			}
			if math.Abs(e) < 2 {
				two++
			}
			if math.Abs(s) < 1 {
				spinOne++
			}
			if math.Abs(r.Roll.Mean-m.Mu) > 0.01*m.Mu {
				t.Errorf("%s, seed %d: μ %.4g ± %.2g, want %.4g within 1 %%", name, seed, r.Roll.Mean, r.Roll.Sd, m.Mu)
			}
			if seed == 0 {
				t.Logf("%s: μ_roll %.5g ± %.2g (%.5g), μ_spin %.4g ± %.2g (%.4g)", name, r.Roll.Mean, r.Roll.Sd, m.Mu, r.Spin.Mean, r.Spin.Sd, m.Spin)
			}
		}
	}
	t.Logf("of %d: %d within 1σ, %d within 2σ, spin %d within 1σ; mean square %.2f; NIS/6 %.4f", n, one, two, spinOne, square/float64(n),
		nis/6/float64(nisCount))
	// 100 draws: 68.3 ± 4.7 within 1σ, 95.4 ± 2.1 within 2σ, mean square 1 ± 0.14
	if one < 55 || one > 82 || two < 88 || spinOne < 55 || spinOne > 82 {
		t.Errorf("the intervals do not hold the truth at their rate")
	}
	if mean := nis / 6 / float64(nisCount); mean < 0.99 || mean > 1.01 {
		t.Errorf("mean of the normalised innovations %.4f, want 1 ± 0.01 (standard error 0.002)", mean)
	}
}

// A ball that slips is never given a coefficient while it slips, and one that rolls is never refused, with the walks that a rig has.
func TestRollingTellsSlip(t *testing.T) {
	slip, roll := load(t, "slip"), load(t, "paper")
	for seed := range uint64(50) {
		f, err := NewRolling(paperSpec(t))
		if err != nil {
			t.Fatal(err)
		}
		worst, doubts := 0.0, 0
		for _, z := range poses(t, slip, 1e-4, seed) {
			f.Step(&z)
			r := f.Result()
			if r.Soundness == Slips || r.Soundness == Contradicts {
				doubts++
			}
			if r.Soundness == Sound {
				worst = max(worst, math.Abs(r.Roll.Mean-slip.Mu)/r.Roll.Sd)
			}
		}
		// it slips for 0.6 s, then rolls: what is said later is right
		if worst > 5 || doubts == 0 {
			t.Errorf("seed %d: a ball that slipped was given a coefficient %.1fσ off (%d frames doubted)", seed, worst, doubts)
		}
		f.Reset()
		sound := 0
		for _, z := range poses(t, roll, 1e-4, seed) {
			f.Step(&z)
			switch r := f.Result(); {
			case r.Soundness > Learning:
				t.Fatalf("seed %d: a ball that rolls is refused at %g s: %v (slip %.1fσ, noise %.2f)", seed, z.T, r.Soundness, r.SlipOver, r.Noise)
			case r.Soundness == Sound:
				sound++
			}
		}
		if sound < 700 {
			t.Errorf("seed %d: only %d of 801 frames have a coefficient", seed, sound)
		}
	}
}

// Friction with a part that grows with the square of the speed: both parts are found, and a filter that knows the linear part only
// says that the poses contradict it, or is off.
func TestRollingQuadratic(t *testing.T) {
	m := load(t, "quadratic")
	spec := paperSpec(t)
	spec.Prior.Quadratic = 2e-4
	f, err := NewRolling(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range poses(t, m, 1e-4, 3) {
		f.Step(&z)
	}
	r := f.Result()
	if r.Soundness != Sound || !r.QuadraticKnown {
		t.Fatalf("%v, quadratic known %v", r.Soundness, r.QuadraticKnown)
	}
	t.Logf("linear %.4g ± %.2g (%.4g), quadratic %.4g ± %.2g (%.4g)", r.Roll.Mean, r.Roll.Sd, m.Mu, r.Quadratic.Mean, r.Quadratic.Sd,
		m.Quadratic)
	for _, c := range []struct {
		name string
		Value
		want float64
	}{{"linear", r.Roll, m.Mu}, {"quadratic", r.Quadratic, m.Quadratic}, {"spin", r.Spin, m.Spin}} {
		if math.Abs(c.Mean-c.want) > 4*c.Sd || c.Sd > 0.1*c.want {
			t.Errorf("%s: %.4g ± %.2g, want %.4g", c.name, c.Mean, c.Sd, c.want)
		}
	}
}

// Frames that are late, uneven, missing for 0.2 s, or no numbers.
func TestRollingBridgesGaps(t *testing.T) {
	m := load(t, "paper")
	rng := rand.New(rand.NewPCG(4, 4))
	f, err := NewRolling(paperSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	bad := 0
	for k, z := range poses(t, m, 1e-4, 9) {
		switch {
		case k > 300 && k < 340, k > 20 && rng.Float64() < 0.3:
			continue
		case k%97 == 50:
			z.P.X = math.NaN()
			bad++
		case k%97 == 60:
			z.T = 0.1 // a clock that was set back
			bad++
		}
		f.Step(&z)
	}
	r, c := f.Result(), f.Counts()
	if c.BadFrames != bad || c.Gaps != 0 || c.Restarts != 0 {
		t.Errorf("counts %+v, want %d bad", c, bad)
	}
	if r.Soundness != Sound || math.Abs(r.Roll.Mean-m.Mu) > 4*r.Roll.Sd {
		t.Errorf("%v: %.4g ± %.2g, want %.4g", r.Soundness, r.Roll.Mean, r.Roll.Sd, m.Mu)
	}

	// a gap on either side of what is bridged
	for _, c := range []struct {
		missing float64
		gaps    int
	}{{0.249, 0}, {0.252, 1}} {
		f.Reset()
		for _, z := range poses(t, m, 1e-4, 9) {
			if z.T > 1 && z.T < 1+c.missing {
				continue
			}
			if z.T >= 1+c.missing-1e-9 && z.T < 1+c.missing+0.004 {
				z.T = 1 + c.missing
			}
			f.Step(&z)
		}
		if got := f.Counts().Gaps; got != c.gaps {
			t.Errorf("a gap of %g s: %d beginnings, want %d", c.missing, got, c.gaps)
		}
	}
}

// Each reason, on both sides of its limit.
func TestRollingReasons(t *testing.T) {
	m := load(t, "paper")
	for _, c := range []struct {
		name   string
		change func(*RollingSpec)
		stated float64 // noise over that of the poses
		want   Soundness
	}{
		{"all is right", func(*RollingSpec) {}, 1, Sound},
		{"noise stated 1.3 times too small", func(*RollingSpec) {}, 1 / 1.3, Sound},
		{"noise stated twice too small", func(*RollingSpec) {}, 0.5, Contradicts},
		{"centre of mass 1 mm off", func(s *RollingSpec) { s.Ball.Center[2] -= 1e-3 }, 1, Contradicts},
		{"T/N reaches 0.208, grip 0.22", func(s *RollingSpec) { s.Sliding = 0.22 }, 1, Sound},
		{"T/N reaches 0.208, grip 0.19", func(s *RollingSpec) { s.Sliding = 0.19 }, 1, NoGrip},
		{"radius 0.3 % off", func(s *RollingSpec) { s.Ball.Radius *= 1.003 }, 1, Sound},
		{"radius 5 % off", func(s *RollingSpec) { s.Ball.Radius *= 1.05 }, 1, Slips},
	} {
		spec := paperSpec(t)
		c.change(&spec)
		f, err := NewRolling(spec)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[Soundness]int{}
		for _, z := range poses(t, m, 1e-4, 5) {
			z.Turn, z.Place = z.Turn.Scale(c.stated*c.stated), z.Place.Scale(c.stated*c.stated)
			f.Step(&z)
			seen[f.Result().Soundness]++
		}
		doubts := 0
		for s, n := range seen {
			if s > Learning && s != Settling {
				doubts += n
			}
		}
		if c.want == Sound && doubts > 0 || c.want != Sound && seen[c.want] == 0 {
			t.Errorf("%s: want %q, frames by reason %v", c.name, c.want, seen)
		}
	}
}

func TestRollingRefuses(t *testing.T) {
	for name, change := range map[string]func(*RollingSpec){
		"no radius": func(s *RollingSpec) { s.Ball.Radius = 0 }, "no prior": func(s *RollingSpec) { s.Prior.Roll = 0 },
		"no spin prior": func(s *RollingSpec) { s.Prior.Spin = math.NaN() }, "negative walk": func(s *RollingSpec) { s.Walk.Roll = -1 },
		"no slip walk": func(s *RollingSpec) { s.SlipWalk = 0 }, "no mass": func(s *RollingSpec) { s.Ball.Mass = 0 },
		"endless disturbance": func(s *RollingSpec) { s.Disturbance = math.Inf(1) },
	} {
		spec := paperSpec(t)
		change(&spec)
		if _, err := NewRolling(spec); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestRollingStepAllocates(t *testing.T) {
	f, err := NewRolling(paperSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	z := poses(t, load(t, "paper"), 1e-4, 1)
	k := 0
	if n := testing.AllocsPerRun(700, func() {
		f.Step(&z[k])
		f.Result()
		k++
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkRollingStep(b *testing.B) {
	f, err := NewRolling(paperSpec(b))
	if err != nil {
		b.Fatal(err)
	}
	z := poses(b, load(b, "paper"), 1e-4, 1)
	b.ReportAllocs()
	k := 0
	for b.Loop() {
		f.Step(&z[k])
		if k++; k == len(z) {
			k = 0
			f.Reset()
		}
	}
}
