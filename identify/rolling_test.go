package identify

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/spatial/r3"

	plant "hilrig/engine/plant/ball"
	"hilrig/identify/ball"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// doubted is what a file says of how well its numbers are known, if it says nothing.
var doubted = ball.Uncertainty{Radius: 0.01, Mass: 0.01, Inertia: 0.01, Center: 0.01, Markers: 0.01, Gravity: 0.001}

// measured is what somebody says who measured them.
var measured = ball.Uncertainty{Radius: 1e-3, Mass: 2e-3, Inertia: 0.01, Center: 5e-3, Markers: 5e-3}

// drawn are the numbers of a file, and the places of its markers, that are off by chance as u says.
func (b *rollingBall) drawn(u ball.Uncertainty, rng *rand.Rand) (body plant.Params, markers []r3.Vec) {
	body = b.given()
	by := func(v *float64, u float64) { *v += u * rng.NormFloat64() }
	by(&body.Radius, u.Radius*b.radius)
	by(&body.Mass, u.Mass*b.mass)
	by(&body.Gravity, u.Gravity*b.gravity)
	for k := range 3 {
		by(&body.Inertia[k], u.Inertia*b.inertia[k])
		by(&body.Center[k], u.Center*b.radius)
	}
	for _, m := range b.seenMarkers() {
		by(&m.X, u.Markers*b.radius)
		by(&m.Y, u.Markers*b.radius)
		by(&m.Z, u.Markers*b.radius)
		markers = append(markers, m)
	}
	return body, markers
}

// slipKinds are motions that rolling does not explain.
var slipKinds = []struct {
	name string
	make func(b *rollingBall, rng *rand.Rand)
}{
	{"a push at the start", func(b *rollingBall, rng *rand.Rand) {
		b.slide = 0.08 + 0.22*rng.Float64()
		turn, lasts := 2*math.Pi*rng.Float64(), 0.02+0.1*rng.Float64() // s, about
		size := 3 * b.slide * b.gravity * lasts
		b.push = r3.Vec{X: size * math.Cos(turn), Y: size * math.Sin(turn)}
	}},
	{"a plane that is too smooth", func(b *rollingBall, rng *rand.Rand) { b.slide = (0.4 + 0.4*rng.Float64()) * b.peakRatio(4) }},
	{"a plane that is far too smooth", func(b *rollingBall, rng *rand.Rand) { b.slide = 0.01 + 0.02*rng.Float64() }},
	{"a slope that is too smooth", func(b *rollingBall, rng *rand.Rand) {
		b.tilt = [2]float64{0.02 * (rng.Float64() - 0.5), 0.02 * (rng.Float64() - 0.5)}
		b.slide = (0.4 + 0.4*rng.Float64()) * b.peakRatio(4)
	}},
	{"a push on a slope", func(b *rollingBall, rng *rand.Rand) {
		b.tilt = [2]float64{0.02 * (rng.Float64() - 0.5), 0.02 * (rng.Float64() - 0.5)}
		b.slide, b.push = 0.05+0.1*rng.Float64(), r3.Vec{X: 0.2 + 0.2*rng.Float64()}
	}},
}

// slips draws a ball that slips and looks at it, with what its file says exact or not.
func slips(t testing.TB, kind int, seed uint64) *Result {
	rng := rand.New(rand.NewPCG(seed, uint64(kind)))
	b := paperBall()
	b.turn.X = math.Pi - 0.5 - 0.7*rng.Float64()
	b.w = r3.Vec{X: 3 * (rng.Float64() - 0.5), Y: 3 * (rng.Float64() - 0.5), Z: 1.5 + 2.5*rng.Float64()}
	if seed%2 == 1 {
		b.w.Z = -b.w.Z
	}
	slipKinds[kind].make(&b, rng)
	spec := ball.Spec{FreeParams: []string{"mu_roll", "mu_spin", "height"}, Body: b.given()}
	if b.tilt != [2]float64{} {
		spec.FreeParams = append(spec.FreeParams, "tilt_x", "tilt_y")
	}
	if seed%4 >= 2 {
		spec.Uncertain = doubted
	}
	rec := b.recorded(4, 1e-4, seed)
	spec.Markers = rollingMarkers
	found, err := ball.Fit(t.Context(), spec, rec, nil)
	if errors.Is(err, ball.ErrNoRolling) { // it does not even come as far as it turns
		return &Result{Verdict: Rejected}
	}
	if err != nil {
		t.Fatalf("%s, seed %d: %v", slipKinds[kind].name, seed, err)
	}
	r, err := Rolling(found, record.Info{Samples: len(rec.Times), Duration: 4, Interval: 0.005}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A ball that slips is refused.
func TestRollingThatSlips(t *testing.T) {
	t.Parallel()
	seeds, kinds := uint64(1), 2
	if soak {
		seeds, kinds = 10, len(slipKinds)
	}
	refused, of := 0, 0
	for kind := range kinds {
		for seed := range seeds {
			r := slips(t, kind, seed)
			if of++; r.Verdict == Rejected {
				refused++
			} else {
				t.Errorf("%s, seed %d: %s, %v", slipKinds[kind].name, seed, r.Verdict, r.Because())
			}
		}
	}
	t.Logf("%d of %d refused", refused, of)
}

// rollingCase is a recording and what is said of it.
type rollingCase struct {
	name    string
	ball    rollingBall
	spec    ball.Spec // Body empty: that of the ball
	edit    func(rec *ball.Recording, rng *rand.Rand)
	truth   map[string]float64
	verdict []Verdict // that may be
	code    fit.Code  // that a reason or a warning has; "": any
	said    string    // in reasons or warnings
}

var clean = []Verdict{Identified}

// truthOf are the coefficients of a ball that may be searched.
func truthOf(b *rollingBall) map[string]float64 {
	return map[string]float64{
		"mu_roll": b.roll[0], "mu_roll2": b.roll[1], "roll_moment": b.roll[2], "roll_arm": b.roll[3],
		"mu_spin": b.spin[0], "mu_spin2": b.spin[1], "spin_moment": b.spin[2], "spin_arm": b.spin[3], "height": planeHeight,
	}
}

// swap exchanges labels in frames that are drawn.
func swap(frames int, labels ...int) func(rec *ball.Recording, rng *rand.Rand) {
	return func(rec *ball.Recording, rng *rand.Rand) {
		for range frames {
			p := rec.Points[20+rng.IntN(len(rec.Points)-40)]
			first := p[labels[0]]
			for i := range labels[1:] {
				p[labels[i]] = p[labels[i+1]]
			}
			p[labels[len(labels)-1]] = first
		}
	}
}

// rollingCases are made of paperBall.
func rollingCases() (all []rollingCase) {
	usual := []string{"mu_roll", "mu_spin", "height"}
	add := func(name string, change func(c *rollingCase)) {
		c := rollingCase{name: name, ball: paperBall(), spec: ball.Spec{FreeParams: usual}, verdict: clean}
		change(&c)
		if c.truth == nil {
			c.truth = truthOf(&c.ball)
		}
		all = append(all, c)
	}
	add("clean", func(c *rollingCase) {})
	add("labels exchanged in three frames", func(c *rollingCase) { c.edit, c.said = swap(3, 0, 3), "put right" })
	add("three labels exchanged", func(c *rollingCase) { c.edit, c.said = swap(2, 0, 2, 4), "put right" })
	add("a marker astray", func(c *rollingCase) {
		c.edit = func(rec *ball.Recording, rng *rand.Rand) {
			for range 5 {
				p := &rec.Points[20+rng.IntN(len(rec.Points)-40)][1]
				p.X += 0.02
			}
		}
		c.said = "left out there"
	})
	add("no friction against spinning", func(c *rollingCase) { c.ball.spin = [4]float64{} })
	add("no dry friction", func(c *rollingCase) { c.spec.FreeParams = []string{"mu_roll", "roll_moment", "mu_spin", "height"} })
	for k, m := range []float64{3e-4, 5e-4, 8e-4} {
		add(fmt.Sprintf("dry friction of %g N·m, to rest", m), func(c *rollingCase) {
			c.ball.roll, c.ball.w = [4]float64{1e-4, 0, m, 0}, r3.Vec{X: 0.5 * float64(k), Y: float64(k), Z: 1}
			c.spec.FreeParams = []string{"mu_roll", "roll_moment", "mu_spin", "height"}
		})
	}
	add("an arm, to rest", func(c *rollingCase) {
		c.ball.roll, c.ball.w = [4]float64{1e-4, 0, 0, 9e-4}, r3.Vec{X: 0.5, Y: 1, Z: 1}
		c.spec.FreeParams = []string{"mu_roll", "roll_arm", "mu_spin", "height"}
	})
	doubtful := []Verdict{Identified, Weak, Rejected}
	off := func(c *rollingCase) {
		for k, m := range rollingMarkers {
			c.spec.Markers = append(c.spec.Markers, r3.Add(m, r3.Vec{X: 2e-4 * float64(k%3-1), Y: -2e-4 * float64(k%2), Z: 1e-4 * float64(k-2)}))
		}
		c.spec.Noise = 1e-4
	}
	add("markers off within their uncertainty", func(c *rollingCase) {
		off(c)
		c.spec.Uncertain = doubted
	})
	add("all numbers drawn from their uncertainty", func(c *rollingCase) {
		c.spec.Uncertain = measured
		c.spec.Body, c.spec.Markers = c.ball.drawn(measured, rand.New(rand.NewPCG(11, 4)))
	})
	add("inertia wrong by five times its uncertainty", func(c *rollingCase) {
		c.spec.Body, c.spec.Uncertain, c.verdict = c.ball.given(), doubted, []Verdict{Weak, Rejected}
		c.said = "contradict each other"
		for k := range 3 {
			c.spec.Body.Inertia[k] *= 1.05
		}
	})
	add("all markers jump in five frames", func(c *rollingCase) {
		c.edit = func(rec *ball.Recording, rng *rand.Rand) {
			for range 5 {
				p := rec.Points[20+rng.IntN(len(rec.Points)-40)]
				by := r3.Vec{X: 0.02 * (rng.Float64() - 0.5), Y: 0.02 * (rng.Float64() - 0.5), Z: 0.005}
				for j := range p {
					p[j] = r3.Add(p[j], by)
				}
			}
		}
		c.said = "are off its way"
	})
	add("markers off that are said to be exact", func(c *rollingCase) {
		off(c)
		c.verdict, c.said = []Verdict{Rejected}, "rolling does not explain"
	})
	for _, part := range []float64{0.01, 0.02, 0.04} {
		add(fmt.Sprintf("dry friction of %g %% not searched", 100*part), func(c *rollingCase) {
			c.ball.roll[2], c.verdict = part*2.5e-4*2.5, doubtful // beside mu_roll at 2.5 rad/s
			c.truth = map[string]float64{"mu_spin": 5e-5, "height": planeHeight}
		})
	}
	add("friction with the square of the speed not searched", func(c *rollingCase) {
		c.ball.roll[1], c.verdict = 1e-5, doubtful
		c.truth = map[string]float64{"mu_spin": 5e-5, "height": planeHeight}
	})
	add("a plane that falls", func(c *rollingCase) { c.ball.tilt, c.verdict = [2]float64{0.001, -0.0005}, doubtful })
	for k, axes := range []string{"xx", "yy", "zz"} {
		for _, off := range []float64{0.99, 1.01} {
			add(fmt.Sprintf("I%s times %g", axes, off), func(c *rollingCase) {
				c.spec.Body, c.spec.Uncertain = c.ball.given(), doubted
				c.spec.Body.Inertia[k] *= off
				c.verdict, c.code = doubtful, fit.Assumed
			})
		}
	}
	for _, off := range []float64{0.99, 1.01} {
		add(fmt.Sprintf("mass times %g", off), func(c *rollingCase) {
			c.spec.Body, c.spec.Uncertain = c.ball.given(), doubted
			c.spec.Body.Mass *= off
			c.verdict, c.code = doubtful, fit.Assumed
		})
		add(fmt.Sprintf("all of the inertia times %g", off), func(c *rollingCase) {
			c.spec.Body, c.spec.Uncertain = c.ball.given(), doubted
			for k := range 3 {
				c.spec.Body.Inertia[k] *= off
			}
			c.verdict, c.code = doubtful, fit.Assumed
		})
		add(fmt.Sprintf("centre of mass times %g", off), func(c *rollingCase) {
			c.spec.Body, c.spec.Uncertain = c.ball.given(), doubted
			c.spec.Body.Center[2] *= off
			c.verdict, c.code = doubtful, fit.Assumed
		})
		add(fmt.Sprintf("radius times %g", off), func(c *rollingCase) {
			c.spec.Body, c.spec.Uncertain = c.ball.given(), doubted
			c.spec.Body.Radius *= off
			c.verdict, c.code = doubtful, fit.Assumed
		})
	}
	return all
}

// look fits a case and judges it. confident is set where a value is wrong without a word: outside its interval by more than chance, and not
// doubted.
func (c *rollingCase) look(t testing.TB, seconds float64, seed uint64) (r *Result, wrong []string, held, of int) {
	t.Helper()
	rec := c.ball.recorded(seconds, 1e-4, seed)
	if c.edit != nil {
		c.edit(rec, rand.New(rand.NewPCG(seed, 5)))
	}
	spec := c.spec
	if spec.Body.Radius == 0 {
		spec.Body = c.ball.given()
	}
	r, _ = fitRolling(t, spec, rec)
	for i := range r.Parameters {
		p := &r.Parameters[i]
		want, ok := c.truth[p.Name]
		if !ok || p.Fixed || p.CI == nil {
			continue
		}
		of++
		if p.CI[0] <= want && want <= p.CI[1] {
			held++
			continue
		}
		beyond := math.Max(p.CI[0]-want, want-p.CI[1])
		if r.Verdict == Identified && p.Worth == string(Identified) && beyond > 0.5*(p.CI[1]-p.CI[0])/2 { // three standard errors
			wrong = append(wrong, fmt.Sprintf("%s = %.5g, interval %.5g … %.5g, truth %.5g", p.Name, p.Value, p.CI[0], p.CI[1], want))
		}
	}
	return r, wrong, held, of
}

// Recordings of a ball that was integrated apart, clean and with what recordings have: values, verdicts and what is said. A few of them;
// the soak looks at all, with many seeds.
func TestRolling(t *testing.T) {
	t.Parallel()
	short := []string{"clean", "labels exchanged in three frames", "a marker astray", "no friction against spinning",
		"dry friction of 0.0005 N·m, to rest", "dry friction of 4 % not searched", "Ixx times 1.01", "Izz times 0.99",
		"all numbers drawn from their uncertainty", "inertia wrong by five times its uncertainty", "all markers jump in five frames",
		"markers off within their uncertainty", "markers off that are said to be exact"}
	for _, c := range rollingCases() {
		if slices.Contains(short, c.name) {
			t.Run(c.name, func(t *testing.T) {
				r, wrong, _, _ := c.look(t, 2.5, 3)
				c.check(t, r, wrong)
			})
		}
	}
}

func (c *rollingCase) check(t *testing.T, r *Result, wrong []string) {
	t.Helper()
	for _, w := range wrong {
		t.Error(w)
	}
	said := strings.Join(append(r.Because(), r.Warnings...), "\n")
	if !slices.Contains(c.verdict, r.Verdict) || !strings.Contains(said, c.said) {
		t.Errorf("%s, want one of %v and %q: %s", r.Verdict, c.verdict, c.said, said)
	}
	if c.code == fit.Assumed && !strings.Contains(said, "assumed, as the file gives it") {
		t.Errorf("nothing is said of what was assumed: %s", said)
	}
}

// Friction that is not searched is named: the verdict falls, and the interval of what is searched holds what it would be with it.
func TestRollingNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	c := rollingCases()[slices.IndexFunc(rollingCases(), func(c rollingCase) bool { return c.name == "dry friction of 4 % not searched" })]
	r, _, _, _ := c.look(t, 2.5, 1)
	if len(r.Unmodelled) == 0 || !strings.Contains(r.Unmodelled[0].Kind, "rolling friction") {
		t.Errorf("found %+v", r.Unmodelled)
	}
}

// A dry friction that a recording does not show, beside the noise of its markers, and viscous friction look alike: the interval of that
// holds both. Where the noise would show it, the interval is that of chance.
func TestRollingHoldsDryFriction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ part, noise float64 }{{0.04, 1e-3}, {0.02, 6e-4}, {0, 1e-4}} { // beside mu_roll at 2.5 rad/s; m
		b := paperBall()
		b.w.Z, b.roll[2] = 3, c.part*2.5e-4*2.5
		r, _ := fitRolling(t, ball.Spec{FreeParams: []string{"mu_roll", "mu_spin", "height"}, Body: b.given()}, b.recorded(1.5, c.noise, 1))
		p, _ := r.Param("mu_roll")
		chance := r.random(p)
		if truth := truthOf(&b)["mu_roll"]; p.CI == nil || truth < p.CI[0] || truth > p.CI[1] || r.Verdict != Identified {
			t.Errorf("dry friction of %g: %s, mu_roll %g in %v, put in %g", c.part, r.Verdict, p.Value, p.CI, truth)
		}
		if (c.part == 0) != (p.CI[1]-p.CI[0] < 1.01*(chance[1]-chance[0])) {
			t.Errorf("dry friction of %g: %v beside %v by chance", c.part, p.CI, chance)
		}
	}
}
