package record

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// moved is a mass under a held force with Coulomb friction, rounded within 0.1 mm/s, by Euler's method in steps of a hundredth of the
// sample: position, velocity and force at 1 kHz.
func moved(seed uint64, n int, force func(k int) float64) (x, v, u []float64) {
	const dt, steps = 1e-3, 100
	r := rand.New(rand.NewPCG(seed, 1))
	fc := 0.5 + r.Float64()
	at, speed := 0.0, 0.0
	for k := range n {
		f := force(k)
		x, v, u = append(x, at), append(v, speed), append(u, f)
		for range steps {
			speed += dt / steps * (f - fc*math.Tanh(speed/1e-4) - 2*speed)
			at += dt / steps * speed
		}
	}
	return x, v, u
}

// wave is a force of two tones.
func wave(seed uint64) func(k int) float64 {
	p := 0.1 * float64(seed)
	return func(k int) float64 { t := 1e-3 * float64(k); return 4*math.Sin(5*t+p) + 3*math.Sin(13*t+2*p) }
}

// counted rounds a series to steps.
func counted(x []float64, step float64) []float64 {
	y := slices.Clone(x)
	for k := range y {
		y[k] = step * math.Round(y[k]/step)
	}
	return y
}

// Spikes of both signs, of one to three samples, are found where they are, and nothing else is.
func TestSpikesAreLeftOut(t *testing.T) {
	const n = 12000
	for seed := range uint64(3) {
		for _, step := range []float64{1e-6, 2e-5} {
			x, v, u := moved(seed, n, wave(seed))
			r := rand.New(rand.NewPCG(seed, 2))
			for name, clean := range map[string][]float64{"position": counted(x, step), "velocity": noisy(r, v, 1e-3), "force": noisy(r, u, 0.02)} {
				size := map[string]float64{"position": 40 * step, "velocity": 0.05, "force": 2}[name]
				if got, at := Despike(clean); at != nil || &got[0] != &clean[0] {
					t.Errorf("seed %d, %s in steps of %g: %d samples left out of a record without spikes", seed, name, step, len(at))
				}
				for length := 1; length <= 3; length++ {
					bad, want := slices.Clone(clean), []int(nil)
					for k := 60; k < n-60; k += 300 + r.IntN(100) {
						sign := float64(2*r.IntN(2) - 1)
						for i := range length {
							bad[k+i] += sign * size * (1 + r.Float64())
							want = append(want, k+i)
						}
					}
					got, at := Despike(bad)
					missed, extra := 0, 0
					for _, k := range want {
						if !slices.Contains(at, k) {
							missed++
						}
					}
					for _, k := range at {
						if !slices.Contains(want, k) {
							extra++
						}
						if math.Abs(got[k]-clean[k]) > size/4 {
							t.Errorf("seed %d, %s: sample %d is %g, without the spike %g", seed, name, k, got[k], clean[k])
						}
					}
					if missed > len(want)/50 || extra > 0 {
						t.Errorf("seed %d, %s in steps of %g, %d samples long: %d of %d missed, %d too many", seed, name, step, length, missed, len(want),
							extra)
					}
				}
			}
		}
	}
}

func noisy(r *rand.Rand, x []float64, s float64) []float64 {
	y := slices.Clone(x)
	for k := range y {
		y[k] += s * r.NormFloat64()
	}
	return y
}

// Knees of a velocity, jumps of a force and noise are no spikes; many wrong samples are noise.
func TestKneesAreNoSpikes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	knee, jump, white, many := make([]float64, 4000), make([]float64, 4000), make([]float64, 4000), make([]float64, 4000)
	for k := range knee {
		knee[k] = 1e-4*math.Abs(float64(k%400-200)) + 1e-7*r.NormFloat64()
		jump[k] = float64(k/150%2) + 1e-3*r.NormFloat64()
		white[k] = r.NormFloat64()
		many[k] = math.Sin(float64(k)/300) + 1e-4*r.NormFloat64()
		if k%40 == 7 {
			many[k]++
		}
	}
	for name, x := range map[string][]float64{"knees": knee, "jumps": jump, "white noise": white, "one sample in forty": many} {
		if _, at := Despike(x); at != nil {
			t.Errorf("%s: %d samples left out", name, len(at))
		}
	}
}

// A pulse of the force that the motion follows is a force; one that it does not follow is a wrong sample.
func TestPulsesOfTheForce(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		pulse := func(k int) float64 {
			if k%500 == 250 {
				return sign * 60
			}
			return 0
		}
		for _, real := range []bool{true, false} {
			x, _, u := moved(4, 10000, func(k int) float64 {
				f := wave(1)(k)
				if real {
					f += pulse(k)
				}
				return f
			})
			if !real {
				for k := range u {
					u[k] += pulse(k)
				}
			}
			d := &Record{Dt: 1e-3, Position: counted(x, 1e-6), Force: u}
			if out := WithoutSpikes([]*Record{d}); (out[0] == d) != real {
				t.Errorf("sign %g: pulses that act: %v, left out: %v", sign, real, out[0] != d)
			}
			said := slices.ContainsFunc(Check([]*Record{d}, CheckOptions{}), func(f Finding) bool { return strings.Contains(f.Text, "left out") })
			if said == real {
				t.Errorf("sign %g: pulses that act: %v, said to be left out: %v", sign, real, said)
			}
		}
	}
}

// A force that rests on few levels has a gain that is wrong by half a step of them; one that passes over its levels has not.
func TestRoundingOfTheForce(t *testing.T) {
	square := func(levels ...float64) func(k int) float64 {
		return func(k int) float64 { return levels[k/300%len(levels)] }
	}
	for _, c := range []struct {
		name  string
		force func(k int) float64
		step  float64 // that is known
		want  float64 // 0: nothing is said
	}{
		{"two levels, known step", square(9, -9), 1, 0.5 / 9},
		{"two levels, unknown step", square(9, -9), 0, 0.5},
		{"four levels", square(9, -14, 14, -9), 0, 0.5 * 23 / (81 + 196)},
		{"fine levels", square(2000, -1777, 1111, -1999), 0, 0},
		{"a sine in steps", func(k int) float64 { return math.Round(12 * math.Sin(float64(k)/200)) }, 0, 0},
		{"a smooth force", wave(1), 0, 0},
	} {
		for _, gain := range []float64{1, 0.00127, 35.15} {
			d := &Record{Dt: 1e-3, ForceStep: c.step * gain}
			for k := range 9000 {
				d.Force = append(d.Force, gain*c.force(k))
				d.Position = append(d.Position, math.Sin(float64(k)/300)+1e-3*math.Sin(float64(k)/7))
			}
			got := 0.0
			for _, f := range Check([]*Record{d}, CheckOptions{Coupled: true}) {
				if f.Kind == "rounding" {
					got = f.Value
				}
			}
			if math.Abs(got-c.want) > 1e-3 {
				t.Errorf("%s, gain %g: %.4f, want %.4f", c.name, gain, got, c.want)
			}
		}
	}
}

// The numbers of a column of whole numbers count in ones, whatever gain makes them; a step that is given counts before that.
func TestStepOfAForceColumn(t *testing.T) {
	for _, c := range []struct{ step, scale, add, want float64 }{{0, 0.00127, 0, 0.00127}, {0, -2, 0, 2}, {0, 1, 0, 0}, {0, 0.00127, 0.25, 0},
		{0.5, 2, 0.25, 1}} {
		tab := &Table{Names: []string{"t", "x", "f"}, Columns: make([][]float64, 3)}
		for k := range 100 {
			tab.Columns[0], tab.Columns[1] = append(tab.Columns[0], 1e-3*float64(k)), append(tab.Columns[1], float64(k*k))
			tab.Columns[2] = append(tab.Columns[2], float64(9-18*(k/30%2))+c.add)
		}
		recs, err := FromTable(tab, Mapping{Time: Column{Name: "t"}, Position: Column{Name: "x"},
			Force: Column{Name: "f", Scale: c.scale, Step: c.step}})
		if err != nil || math.Abs(recs[0].ForceStep-c.want) > 1e-12 {
			t.Errorf("%+v: %v %v", c, recs, err)
		}
	}
}

// A stuck line of a counter is named, whichever of them and wherever it begins; a whole counter is not.
func TestStuckBits(t *testing.T) {
	for seed := range uint64(3) {
		x, _, u := moved(seed, 8000, wave(seed))
		for _, bit := range []int{-1, 2, 5, 9} {
			for _, high := range []bool{false, true} {
				d := &Record{Dt: 1e-3, Force: u}
				for _, p := range x {
					n := int64(math.Round(p/1e-5)) + 1<<20 + 77*int64(seed)
					switch {
					case bit < 0:
					case high:
						n |= 1 << bit
					default:
						n &^= 1 << bit
					}
					d.Position = append(d.Position, 1e-5*float64(n))
				}
				said := ""
				for _, f := range Check([]*Record{d}, CheckOptions{}) {
					if f.Kind == "bits" {
						said = fmt.Sprint(f.Value)
					}
				}
				if want := map[bool]string{true: "", false: fmt.Sprint(bit)}[bit < 0]; said != want {
					t.Errorf("seed %d, bit %d high %v: said %q", seed, bit, high, said)
				}
			}
		}
	}
}

// The corner of a low-pass shows in the noise that it left; white noise, rounding and a motion have none.
func TestCornerOfALowPass(t *testing.T) {
	const n, dt = 16384, 1e-3
	for seed := range uint64(3) {
		x, _, u := moved(seed, n, wave(seed))
		r := rand.New(rand.NewPCG(seed, 7))
		first := func(x []float64, T float64) []float64 {
			y, at := slices.Clone(x), x[0]
			for k, v := range x {
				at += (v - at) * -math.Expm1(-dt/T)
				y[k] = at
			}
			return y
		}
		mean := func(x []float64, n int) []float64 {
			y := make([]float64, len(x))
			for k := range x {
				for i := range n {
					y[k] += x[max(k-i, 0)] / float64(n)
				}
			}
			return y
		}
		for _, c := range []struct {
			name   string
			x      []float64
			lo, hi float64 // Hz; 0: no corner
		}{
			{"white noise on a force", noisy(r, u, 0.05), 0, 0},
			{"force without noise", u, 0, 0},
			{"position in steps", counted(x, 1e-6), 0, 0},
			{"position without noise", x, 0, 0},
			{"force behind 4 ms", first(noisy(r, u, 0.05), 4e-3), 20, 80},
			{"force averaged over 20 samples", mean(noisy(r, u, 0.05), 20), 15, 100},
		} {
			corner, plateau := cornerOf(c.x)
			if !plateau {
				corner = 0
			}
			if corner /= dt; corner < c.lo || corner > c.hi {
				t.Errorf("seed %d, %s: %.3g Hz, want %g to %g", seed, c.name, corner, c.lo, c.hi)
			}
		}
	}
}
