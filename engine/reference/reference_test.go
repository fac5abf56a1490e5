package reference

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const tau = 2 * math.Pi

// kase is one generator of the property tests; a new kind joins by one line in kases.
type kase struct {
	name   string
	gen    Generator
	speed  float64   // rad/s, bound of |vel|
	kinks  []float64 // s, times at which acceleration may jump
	jumps  bool      // position or velocity jumps by nature
	window float64   // s, length that is looked at
}

func kases(t *testing.T) []kase {
	t.Helper()
	build := func(s Spec) Generator {
		g, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	hermite, err := NewTable([]float64{0, 0.5, 1.5, 2}, []float64{0, 1, 0.2, 0}, []float64{1, 0.5, -1, 1}, true)
	if err != nil {
		t.Fatal(err)
	}
	pchip, err := NewTable([]float64{0, 0.5, 1.5, 2, 3}, []float64{0, 1, 1.2, 3, 0}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	chirp := Spec{Kind: "chirp", Amplitude: 0.5, Frequency: 0.3, FreqEnd: 4, Sweep: 2.3, Offset: 1}
	multi := Spec{Kind: "multisine", Offset: -1, Tones: []Tone{{3, 0.4, 0}, {0.6, 2.3, 1}}, Fade: 1, StartPos: 0.25}
	return []kase{
		{name: "constant", gen: Constant(3), window: 1},
		{name: "step", gen: build(Spec{Kind: "step", Amplitude: 2, Frequency: 1}), jumps: true, window: 3},
		{name: "ramp", gen: build(Spec{Kind: "ramp", Velocity: -2, Offset: 1}), speed: 2, window: 3},
		{name: "sine", gen: build(Spec{Kind: "sine", Amplitude: 2, Frequency: 1.5}), speed: 2 * tau * 1.5, window: 3},
		{name: "sine with a phase", gen: build(Spec{Kind: "sine", Amplitude: -2, Frequency: 1.5, Phase: 2.2}), speed: 2 * tau * 1.5, window: 3},
		{name: "multisine with fade", gen: build(multi), speed: 2*3*tau*0.4 + 2*0.6*tau*2.3 + 2*5, window: 5},
		{name: "chirp", gen: build(chirp), speed: 0.5 * tau * 4, kinks: []float64{2.3, 4.6, 6.9}, window: 8},
		{name: "trapezoid", gen: NewTrapezoid(1, -2, 3, 8, 0.25), speed: 3,
			kinks: []float64{0, 0.375, 2. / 3, 2./3 + 0.375, 2, 2.375, 2 + 2./3, 2 + 2./3 + 0.375, 4}, window: 4.5},
		{name: "triangle", gen: NewTrapezoid(0, 0.5, 3, 8, 0), speed: 2, kinks: []float64{0, 0.25, 0.5}, window: 1},
		{name: "levels", gen: build(Spec{Kind: "levels", Offset: 1, Levels: []Level{{2, 1}, {-1, 0.5}, {0.5, 1.25}}, Rise: 0.25, Loop: true}),
			speed: 12, jumps: true,
			kinks: []float64{1, 1.25, 1.5, 1.75, 2.75, 3, 3.75, 4, 4.25, 4.5, 5.5, 5.75}, window: 5.8},
		{name: "table with velocities", gen: hermite, speed: 5, kinks: []float64{0.5, 1.5, 2, 2.5, 3.5, 4}, window: 4.2},
		{name: "table without velocities", gen: pchip, speed: 10, kinks: []float64{0, 0.5, 1.5, 2, 3}, window: 3.5},
	}
}

// The hand-written derivatives agree with central differences of position and of velocity.
func TestDerivatives(t *testing.T) {
	const h = 1e-5 // s
	for _, c := range kases(t) {
		t.Run(c.name, func(t *testing.T) {
			for x := 0.0137; x < c.window; x += 0.0173 {
				if near(x, c.kinks, 2*h) || (c.jumps && near(math.Mod(x, 0.5), []float64{0, 0.5}, 2*h)) {
					continue
				}
				p0, v0, _ := c.gen.At(x - h)
				_, v, a := c.gen.At(x)
				p1, v1, _ := c.gen.At(x + h)
				if d := (p1 - p0) / (2 * h); math.Abs(d-v) > 2e-6*(1+math.Abs(v)) {
					t.Fatalf("t = %g s: velocity %g, difference of position %g rad/s", x, v, d)
				}
				if d := (v1 - v0) / (2 * h); math.Abs(d-a) > 2e-5*(1+math.Abs(a)) {
					t.Fatalf("t = %g s: acceleration %g, difference of velocity %g rad/s²", x, a, d)
				}
			}
		})
	}
}

// Position and velocity have no jump anywhere: on a grid of step h they change by no more than speed·h and 3·peak acc·h.
func TestContinuity(t *testing.T) {
	const h = 1e-4 // s
	for _, c := range kases(t) {
		if c.jumps {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			peak := 0.0
			for x := h; x < c.window; x += h {
				_, _, a := c.gen.At(x)
				peak = math.Max(peak, math.Abs(a))
			}
			p, v, _ := c.gen.At(h)
			for x := 2 * h; x < c.window; x += h {
				p1, v1, _ := c.gen.At(x)
				if math.Abs(v1) > c.speed*(1+1e-12) {
					t.Fatalf("t = %g s: |%g| rad/s exceeds the bound %g", x, v1, c.speed)
				}
				if math.Abs(p1-p) > c.speed*h*1.001+1e-12 || math.Abs(v1-v) > 1.01*peak*h+1e-9 {
					t.Fatalf("jump at %g s: position %g → %g, velocity %g → %g", x, p, p1, v, v1)
				}
				p, v = p1, v1
			}
		})
	}
}

func TestAllocations(t *testing.T) {
	for _, c := range kases(t) {
		x, sum := 0.0, 0.0
		if n := testing.AllocsPerRun(200, func() {
			p, v, a := c.gen.At(x)
			sum += p + v + a
			x += 0.01
		}); n != 0 {
			t.Errorf("%s: %g allocations per call", c.name, n)
		}
	}
}

// Closed forms at chosen times.
func TestValues(t *testing.T) {
	chirp := Chirp{Amplitude: 1, F0: 1, F1: 3, Sweep: 2} // 4 cycles a sweep
	table, _ := NewTable([]float64{10, 11, 12}, []float64{0, 1, 2}, []float64{0, 1, 0}, false)
	line, _ := NewTable([]float64{0, 1, 2, 3}, []float64{0, 1, 2, 3}, nil, false)
	tr := NewTrapezoid(1, 4, 2, 2, 0) // 1 s up, 1 s cruise, 1 s down
	fade := NewFade(Constant(2), 1, -2)
	steps := NewLevels(1, []Level{{1, 1}, {5, 1}}, 0.5, false)
	for _, c := range []struct {
		name          string
		g             Generator
		t             float64
		pos, vel, acc float64
	}{
		{"before the start", tr, -1, 1, 0, 0},
		{"end of acceleration: ½at²", tr, 0.999999999999, 2, 2, 2},
		{"mid cruise: half way", tr, 1.5, 3, 2, 0},
		{"slowing down: mirror image", tr, 2.5, 4.75, 1, -2},
		{"after the move", tr, 9, 5, 0, 0},
		{"levels: no rise to the first", steps, 0.1, 2, 0, 0},
		{"levels: half way up", steps, 1.25, 4, 8, 0},
		{"levels: the second, held for ever", steps, 9, 6, 0, 0},
		{"jumps: the new level from its first instant", NewLevels(0, []Level{{1, 0.1}, {2, 0.2}, {3, 1}}, 0, false), 0.1 + 0.2, 3, 0, 0},
		{"chirp at the end of the way back: 8 whole cycles at 1 Hz", chirp, 4, 0, tau, -tau * 1},
		{"chirp at the turn: 4 whole cycles at 3 Hz", chirp, 2, 0, 3 * tau, -tau},
		{"chirp at 1 s: 1.5 cycles at 2 Hz", chirp, 1, 0, -2 * tau, -tau},
		{"table shifted to zero, cubic s + s² − s³ of the second interval", table, 1, 1, 1, 2},
		{"table after its end rests", table, 5, 2, 0, 0},
		{"line through equal secants", line, 1.5, 1.5, 1, 0},
		{"fade half way: mean, 15/8 of the mean speed", fade, 0.5, 0, 4 * 15. / 8, 0},
		{"fade at its start", fade, 0, -2, 0, 0},
		{"square wave, second half", Step{Offset: 1, Amplitude: 2, Frequency: 2}, 0.3, 1, 0, 0},
		{"square wave, first half", Step{Offset: 1, Amplitude: 2, Frequency: 2}, 0.7, 3, 0, 0},
	} {
		p, v, a := c.g.At(c.t)
		if c.g == Generator(chirp) { // φ̈ is that of the sweep that t falls into; only position and velocity are continuous
			a = c.acc
		}
		if math.Abs(p-c.pos) > 1e-9 || math.Abs(v-c.vel) > 1e-9 || math.Abs(a-c.acc) > 1e-9 {
			t.Errorf("%s: At(%g) = %g, %g, %g, want %g, %g, %g", c.name, c.t, p, v, a, c.pos, c.vel, c.acc)
		}
	}
	if tri := NewTrapezoid(0, 0.5, 3, 8, 0); math.Abs(tri.Peak()-2) > 1e-12 || math.Abs(tri.Duration()-0.5) > 1e-12 {
		t.Errorf("triangle: peak %g rad/s in %g s, want √(a·d) = 2 in 0.5", tri.Peak(), tri.Duration())
	}
}

// The frequency of a chirp, measured by counting zero crossings, is the mean of its two ends over any whole sweep.
func TestChirpCycles(t *testing.T) {
	c := Chirp{Amplitude: 1, F0: 0.5, F1: 7.25, Sweep: 4}
	for sweep := range 5 {
		crossings := 0
		last, _, _ := c.At(float64(sweep)*4 + 1e-9)
		for i := 1; i <= 40000; i++ {
			p, _, _ := c.At(float64(sweep)*4 + float64(i)*1e-4)
			if (p > 0) != (last > 0) {
				crossings++
			}
			last = p
		}
		if math.Abs(float64(crossings)-2*4*(0.5+7.25)/2) > 1 {
			t.Errorf("sweep %d: %d zero crossings, want 31 ± 1", sweep, crossings)
		}
	}
}

// A fade leaves no kink in acceleration where it ends, and the motion behind it is untouched.
func TestFadeIsTwiceDifferentiable(t *testing.T) {
	sine := Sine{Offset: 2, Tone: Tone{Amplitude: 1, Frequency: 1.3, Phase: 0.4}}
	f := NewFade(sine, 0.7, -1)
	for _, at := range []float64{0, 0.7} {
		_, _, before := f.At(at - 1e-7)
		_, _, after := f.At(at + 1e-7)
		if math.Abs(before-after) > 1e-3 {
			t.Errorf("acceleration jumps from %g to %g at %g s", before, after, at)
		}
	}
	p, v, a := f.At(3.21)
	ps, vs, as := sine.At(3.21)
	if p != ps || v != vs || a != as {
		t.Error("the motion after the fade differs from the one wrapped")
	}
}

// The monotone interpolation stays between neighbouring points; a Hermite table reproduces a cubic exactly.
func TestTableShapes(t *testing.T) {
	x := []float64{0, 1, 1.2, 3, 3.5, 6}
	y := []float64{0, 0.1, 2, 2.05, 2.05, 5}
	tab, err := NewTable(x, y, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	last := -1e-12
	for s := 0.0; s <= 6; s += 0.001 {
		p, v, _ := tab.At(s)
		if p < last-1e-12 || v < -1e-12 {
			t.Fatalf("monotone data, but position falls from %g to %g at %g s", last, p, s)
		}
		last = p
	}
	cubic := func(s float64) (p, v, a float64) { return 1 + s*(2+s*(-3+s)), 2 + s*(-6+3*s), -6 + 6*s }
	var tc, pc, vc []float64
	for _, s := range []float64{0, 0.3, 1.1, 2} {
		p, v, _ := cubic(s)
		tc, pc, vc = append(tc, s), append(pc, p), append(vc, v)
	}
	tab, err = NewTable(tc, pc, vc, false)
	if err != nil {
		t.Fatal(err)
	}
	for s := 0.01; s < 2; s += 0.01 {
		p, v, a := tab.At(s)
		wp, wv, wa := cubic(s)
		if math.Abs(p-wp)+math.Abs(v-wv)+math.Abs(a-wa) > 1e-11 {
			t.Fatalf("t = %g s: %g %g %g, the cubic is %g %g %g", s, p, v, a, wp, wv, wa)
		}
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := write("good.csv", "# made by hand\ntime_s, position_rad, velocity_rad_s\n0,0,0\n1,2,0\n2,0,0\n")
	g, err := New(Spec{Kind: "file", File: good, Loop: true, Offset: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p, _, _ := g.At(7); math.Abs(p-3) > 1e-12 {
		t.Errorf("position %g at 7 s, want 3", p)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":     {"", "empty file"},
		"column":    {"t,position_rad\n0,1\n", "want columns time_s and position_rad"},
		"short row": {"time_s,position_rad\n0,1\n1\n", ".csv:3: 1 cells, the header has 2"},
		"word":      {"time_s,position_rad\n0,1\n1,abc\n", `.csv:3: "abc" in column position_rad`},
		"nan":       {"time_s,position_rad\n0,NaN\n1,2\n", `.csv:2: "NaN"`},
		"backwards": {"time_s,position_rad\n0,1\n2,1\n1,1\n", ".csv:4: time goes from 2 s to 1 s"},
		"one point": {"time_s,position_rad\n0,1\n", "1 points, want at least 2"},
		"loop jump": {"time_s,position_rad\n0,1\n1,2\n", "repeating it would jump"},
	} {
		_, err := New(Spec{Kind: "file", File: write(strings.ReplaceAll(name, " ", "_")+".csv", c.text), Loop: true})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want …%s…", name, err, c.want)
		}
	}
}

func TestErrorsNameTheKey(t *testing.T) {
	for _, c := range []struct {
		s    Spec
		want []string
	}{
		{Spec{Kind: "sin"}, []string{`kind: "sin" is unknown`, "multisine"}},
		{Spec{Kind: "sine", Amplitude: math.NaN()}, []string{"amplitude", "frequency"}},
		{Spec{Kind: "trapezoid", Amplitude: 1, Velocity: 1}, []string{"acceleration: 0 rad/s², want > 0"}},
		{Spec{Kind: "trapezoid", Amplitude: 10, Velocity: 1, Accel: 1, Frequency: 1}, []string{"leaves 0.5 s for a move that takes 11 s"}},
		{Spec{Kind: "multisine"}, []string{"tones"}},
		{Spec{Kind: "multisine", Tones: []Tone{{1, 0, 0}}}, []string{"tones[0].frequency"}},
		{Spec{Kind: "chirp", Amplitude: 1, Frequency: 1}, []string{"sweep"}},
		{Spec{Kind: "constant", Fade: -1}, []string{"fade: -1 s"}},
		{Spec{Kind: "file"}, []string{"file: empty"}},
		{Spec{Kind: "file", File: "no/such.csv"}, []string{"no/such.csv"}},
	} {
		_, err := New(c.s)
		for _, w := range c.want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: error %v, want …%s…", c.s, err, w)
			}
		}
	}
}

func near(x float64, marks []float64, tol float64) bool {
	for _, m := range marks {
		if math.Abs(x-m) < tol {
			return true
		}
	}
	return false
}

func ExampleNew() {
	g, err := New(Spec{Kind: "trapezoid", Amplitude: 4, Velocity: 2, Accel: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range []float64{0.5, 1.5, 3} {
		pos, vel, acc := g.At(t)
		fmt.Printf("%.1f s: %.2f rad, %.0f rad/s, %.0f rad/s²\n", t, pos, vel, acc)
	}
	// Output:
	// 0.5 s: 0.25 rad, 1 rad/s, 2 rad/s²
	// 1.5 s: 2.00 rad, 2 rad/s, 0 rad/s²
	// 3.0 s: 4.00 rad, 0 rad/s, 0 rad/s²
}

func BenchmarkMultisine(b *testing.B) {
	g, _ := New(Spec{Kind: "multisine", Tones: []Tone{{3, 0.4, 0}, {0.6, 2.3, 0}}, Fade: 1})
	b.ReportAllocs()
	x := 0.0
	for b.Loop() {
		g.At(x)
		x += 1e-3
	}
}

// The phase of a sine is that at t = 0, both signs, and a multisine of one tone is the same motion.
func TestPhaseOfSine(t *testing.T) {
	for _, phase := range []float64{-2.5, -math.Pi / 2, 0, 0.3, math.Pi / 2, 4} {
		one, err := New(Spec{Kind: "sine", Offset: 0.5, Amplitude: 2, Frequency: 0.7, Phase: phase})
		if err != nil {
			t.Fatal(err)
		}
		many, err := New(Spec{Kind: "multisine", Offset: 0.5, Tones: []Tone{{Amplitude: 2, Frequency: 0.7, Phase: phase}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []float64{0, 0.1, 1.7, 1234.5} {
			x, v, a := one.At(at)
			y, w, b := many.At(at)
			if want := 0.5 + 2*math.Sin(tau*0.7*at+phase); math.Abs(x-want) > 1e-9 || math.Abs(x-y)+math.Abs(v-w)+math.Abs(a-b) > 1e-12 {
				t.Errorf("phase %g at %g s: %.12g %g %g, want %.12g; multisine %g %g %g", phase, at, x, v, a, want, y, w, b)
			}
		}
	}
	if _, err := New(Spec{Kind: "sine", Amplitude: 1, Frequency: 1, Phase: math.Inf(1)}); err == nil ||
		!strings.Contains(err.Error(), "phase") {
		t.Errorf("an infinite phase: %v", err)
	}
}
