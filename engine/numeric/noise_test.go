package numeric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Motions whose differences are known: none of them has noise of its own.
var motions = map[string]func(t float64) float64{
	"sine":       func(t float64) float64 { return 0.3 * math.Sin(2*math.Pi*0.7*t) },
	"two sines":  func(t float64) float64 { return 0.2*math.Sin(7*t) + 0.01*math.Sin(41*t+1) },
	"polynomial": func(t float64) float64 { return 0.1*t - 0.03*t*t + 0.02*t*t*t },
	"off zero":   func(t float64) float64 { return 100 + 0.2*math.Sin(3*t) },
}

func samples(n int, dt float64, f func(t float64) float64) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = f(float64(k) * dt)
	}
	return x
}

// rounded to multiples of q, with the float error of a multiplication.
func rounded(x []float64, q float64) []float64 {
	out := make([]float64, len(x))
	for k, v := range x {
		out[k] = math.Round(v/q) * q
	}
	return out
}

func plusNoise(x []float64, s float64, rng *rand.Rand) []float64 {
	out := make([]float64, len(x))
	for k, v := range x {
		out[k] = v + s*rng.NormFloat64()
	}
	return out
}

// White noise of a known size on a smooth motion comes back within the scatter of its estimate, with a wild sample, cut into
// pieces and rounded as in a text file as well.
func TestNoiseIsThatOfWhiteNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for name, f := range motions {
		for _, s := range []float64{1e-5, 1e-3} {
			x := plusNoise(samples(5000, 1e-3, f), s, rng)
			wild := append([]float64(nil), x...)
			wild[777] = 1e4
			for how, got := range map[string]float64{
				"plain":   Noise(x),
				"wild":    Noise(wild),
				"pieces":  Noise(x[:1000], x[1000:2500], x[2500:]),
				"missing": Noise(append(append(append([]float64(nil), x[:2000]...), math.NaN()), x[2000:]...)),
				"decimal": Noise(rounded(x, s/10)),
			} {
				if math.Abs(got/s-1) > 0.07 {
					t.Errorf("%s, %s: noise %.3g, want %.3g", name, how, got, s)
				}
			}
			if q := EncoderStep(x); q != 0 {
				t.Errorf("%s: noise of %g has a step of %g", name, s, q)
			}
		}
	}
}

// The estimate is that of all samples where there are more than are looked at.
func TestNoiseOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	x := plusNoise(samples(1_000_000, 1e-3, motions["sine"]), 1e-4, rng)
	if got := Noise(x); math.Abs(got/1e-4-1) > 0.02 {
		t.Errorf("noise %.4g, want 1e-4", got)
	}
	q := 2 * math.Pi / 8192
	if got := EncoderStep(rounded(x, q)); math.Abs(got/q-1) > 1e-3 {
		t.Errorf("step %g, want %g", got, q)
	}
}

// The order matters where the motion is sampled coarsely: ten samples a period are noise to third differences.
func TestNoiseOfFastMotion(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	x := plusNoise(samples(4000, 0.05, func(t float64) float64 { return math.Sin(2 * math.Pi * t) }), 0.01, rng)
	if got := Noise(x); math.Abs(got/0.01-1) > 0.1 {
		t.Errorf("noise %.4g, want 0.01", got)
	}
}

// The step of an encoder, slow and fast, of a file with few decimals, with float rounding, with a wild sample, in pieces
// that begin at zero each.
func TestEncoderStep(t *testing.T) {
	q := 2 * math.Pi / 4096
	slow := func(t float64) float64 { return 20 * q * t } // one count in 50 samples of a millisecond
	cases := map[string][]float64{
		"slow ramp, 20 counts": samples(1000, 1e-3, slow),
		"slow swing, 6 counts": samples(3000, 1e-3, func(t float64) float64 { return 3 * q * math.Sin(3*t) }),
		"late motion":          samples(40000, 1e-3, func(t float64) float64 { return 100 * q * max(0, t-38) }),
	}
	for name, f := range motions {
		cases[name] = samples(5000, 1e-3, f)
	}
	cases["fast"] = samples(3000, 1e-3, func(t float64) float64 { return 40 * math.Sin(2*math.Pi*5.03*t) }) // 800 counts a sample
	rng := rand.New(rand.NewPCG(3, 7))
	for name, motion := range cases {
		x := rounded(motion, q)
		noisy := rounded(plusNoise(motion, 0.7*q, rng), q)
		wild := append([]float64(nil), x...)
		wild[len(x)/3] += 1234.567
		other := append([]float64(nil), x[len(x)/2:]...)
		for k := range other {
			other[k] -= 0.3 * q
		}
		for how, got := range map[string]float64{
			"plain":       EncoderStep(x),
			"noisy":       EncoderStep(noisy),
			"float noise": EncoderStep(plusNoise(x, 1e-16*(1+math.Abs(x[0])), rng)),
			"float32":     EncoderStep(single(x)),
			"wild":        EncoderStep(wild),
			"decimals":    EncoderStep(rounded(x, 1e-4)),
			"both":        EncoderStep(rounded(wild, 1e-4)),
			"pieces":      EncoderStep(x[:len(x)/2], other),
		} {
			if math.Abs(got/q-1) > 0.03 {
				t.Errorf("%s, %s: step %.6g, want %.6g", name, how, got, q)
			}
		}
		if got := EncoderStep(rounded(motion, 1e-4)); math.Abs(got/1e-4-1) > 1e-3 {
			t.Errorf("%s, four decimals alone: step %.6g", name, got)
		}
	}
}

func single(x []float64) []float64 {
	out := make([]float64, len(x))
	for k, v := range x {
		out[k] = float64(float32(v))
	}
	return out
}

// What has no grid: noise, motions, a noiseless ramp and triangle, values held for several samples, two or three levels.
func TestNoGridNoStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	cases := map[string][]float64{
		"nothing":  nil,
		"constant": make([]float64, 100),
		"ramp":     samples(1000, 1e-3, func(t float64) float64 { return 3 * t }),
		"triangle": samples(5000, 1e-3, func(t float64) float64 { return math.Abs(math.Mod(t, 2) - 1) }),
		"parabola": samples(1000, 1e-3, func(t float64) float64 { return t * t }),
		"relay":    samples(1000, 1e-3, func(t float64) float64 { return math.Copysign(5, math.Sin(20*t)) }),
		"period":   samples(4000, 1e-3, func(t float64) float64 { return math.Sin(2 * math.Pi * 25 * t) }),
	}
	for name, f := range motions {
		cases[name] = samples(3000, 1e-3, f)
		held := samples(3000, 1e-3, f)
		for k := range held {
			held[k] = held[k/7*7]
		}
		cases[name+" held"] = held
	}
	for i := range 200 {
		x := make([]float64, 5+rng.IntN(40))
		for k := range x {
			x[k] = rng.NormFloat64()
		}
		cases[fmt.Sprint("noise ", i)] = x
	}
	for name, x := range cases {
		if q := EncoderStep(x); q != 0 {
			t.Errorf("%s: step %g", name, q)
		}
	}
}

// The noise of an encoder is that of its step however slowly it counts, joined by the noise of the sensor behind it.
func TestNoiseOfAnEncoder(t *testing.T) {
	q := 2 * math.Pi / 4096
	least := q / math.Sqrt(12)
	rng := rand.New(rand.NewPCG(4, 7))
	for name, f := range map[string]func(t float64) float64{
		"1 count in 50 samples":  func(t float64) float64 { return 20 * q * t },
		"1 count in 3 samples":   func(t float64) float64 { return 333 * q * t },
		"7 counts in 3 samples":  func(t float64) float64 { return 2333 * q * t },
		"swing from slow to 2":   func(t float64) float64 { return 100 * q * math.Sin(20*t) },
		"swing from slow to 200": func(t float64) float64 { return 1e4 * q * math.Sin(20*t) },
	} {
		motion := samples(6000, 1e-3, f)
		x := rounded(motion, q)
		if got := Noise(x); got < 0.999*least || got > 1.3*least {
			t.Errorf("%s: noise %.3g, want %.3g", name, got, least)
		}
		wild := append([]float64(nil), x...)
		wild[99] = -50
		if got := Noise(wild); got < 0.999*least || got > 1.3*least {
			t.Errorf("%s, a wild sample: noise %.3g, want %.3g", name, got, least)
		}
		if got := Noise(rounded(x, 1e-4)); got < 0.95*least || got > 1.4*least {
			t.Errorf("%s, four decimals: noise %.3g, want %.3g", name, got, least)
		}
		for _, s := range []float64{0.3, 1, 4} {
			want := math.Hypot(s*q, least)
			if got := Noise(rounded(plusNoise(motion, s*q, rng), q)); math.Abs(got/want-1) > 0.1 {
				t.Errorf("%s, noise of %g counts: %.3g, want %.3g", name, s, got, want)
			}
		}
	}
}

// Pairs of samples whose differences have their median between two counts.
func TestNoiseBetweenCounts(t *testing.T) {
	x := []float64{0, 0, 0, 4, 4, 8, 9, 9, 9, 4, 4, 3, 3, 8, 0, 1}
	for n := 4; n <= len(x); n++ {
		if s := Noise(x[:n]); !(s >= 0 && s < 10) {
			t.Errorf("%d samples: noise %g", n, s)
		}
	}
}

// What carries no noise gives none, and not some rest of rounding; values held for several samples give that of the values.
func TestNoNoise(t *testing.T) {
	for name, x := range map[string][]float64{
		"nothing": nil, "three": {1, 2, 3}, "constant": make([]float64, 50),
		"steps": rounded(samples(900, 1e-3, func(t float64) float64 { return t }), 0.5),
	} {
		if s := Noise(x); s != 0 {
			t.Errorf("%s: noise %g", name, s)
		}
	}
	x := make([]float64, 500)
	x[100] = 7
	if s := Noise(x); s != 0 {
		t.Errorf("one wild sample at rest: noise %g", s)
	}
	for name, f := range motions {
		if s := Noise(samples(3000, 1e-3, f)); s > 1e-11 {
			t.Errorf("%s without noise: %g", name, s)
		}
	}
	rng := rand.New(rand.NewPCG(6, 7))
	held := plusNoise(samples(20000, 1e-3, motions["sine"]), 0.01, rng)
	for k := range held {
		held[k] = held[k/5*5]
	}
	if s := Noise(held); math.Abs(s/0.01-1) > 0.05 {
		t.Errorf("noise 0.01 of held values: %g", s)
	}
}

func BenchmarkNoise(b *testing.B) {
	x := rounded(samples(100_000, 1e-3, motions["sine"]), 1e-4)
	for b.Loop() {
		Noise(x)
	}
}
