package study

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/cmd/report"
	plant "hilrig/engine/plant/ball"
	"hilrig/engine/plant/ball/cameras"
	"hilrig/engine/rotation"
	"hilrig/identify/ball"
)

// The study rolling-friction repeats [KKK17] on simulated recordings: its figures 3 to 8, its numbers, and why two of them differ.
const rollingName = "rolling-friction"

// What is simulated: the source's body, turned by swing from where it hangs and let go, in front of cameras like the source's. Markers,
// noise and smoothing are not in the source; these give its linear coefficient within 5 % and its quadratic one within 10 %.
const (
	swing             = 0.9    // rad
	recorded          = 5.0    // s
	rate              = 200.0  // Hz
	markerNoise       = 1e-4   // m
	moduliHalf        = 0.02   // s    9 frames
	moduliOrder       = 2      //
	onPaper           = 2.5e-4 // N·m·s  the source's fit of trajectories
	onGlass           = 1.6e-4 // N·m·s  likewise
	shownSpeed        = 5.0    // rad/s  up to which the source shows its law
	minDirectionSpeed = 2.0    // rad/s  from which directions are told from noise
	rollingDraws      = 3
)

var rollingMarkers = []r3.Vec{{X: 0.025, Y: 0.005, Z: 0.008}, {X: -0.012, Y: 0.024, Z: -0.002}, {X: -0.014, Y: -0.022, Z: 0.006},
	{X: 0.004, Y: -0.006, Z: -0.027}, {X: 0.008, Y: 0.01, Z: 0.025}}

// rollingNumber is a number of the source, and what simulated recordings give in its place.
type rollingNumber struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Figure string   `json:"figure"` // of the source; "": none
	Source *float64 `json:"source"` // null: the source has none
	Mean   float64  `json:"mean"`   // of the draws
	Spread float64  `json:"spread"` // standard deviation of one draw; 0 of a single one
	Text   string   `json:"text"`
}

// rollingResult is the study.
type rollingResult struct {
	Name    string          `json:"name"`
	Program string          `json:"program"`
	Draws   int             `json:"draws"`
	Seed    int             `json:"seed"`
	Numbers []rollingNumber `json:"numbers"`
	Ranking []rollingRank   `json:"ranking"` // the better law first
	Files   []string        `json:"files"`

	firstDraw rollingDraw // what the figures show
}

// rollingRank is a law, and what it leaves over.
type rollingRank struct {
	Law     string  `json:"law"`
	Moduli  float64 `json:"moduli_rms"`  // N·m  of the fit of moduli, the source's measure, mean of the draws
	Markers float64 `json:"markers_rms"` // over the noise of the markers, of the fit of the motion
	Verdict string  `json:"verdict"`     // of that fit
}

// rollingDraw is one recording and what is found from it.
type rollingDraw struct {
	rec     *ball.Recording
	samples []ball.Sample
	fit     *ball.Result
}

// rollingRecord simulates a recording of the source's body with a friction.
func rollingRecord(ctx context.Context, mu float64, seed uint64) (*ball.Recording, error) {
	p := plant.Paper()
	p.Roll.Linear = mu
	m, err := plant.New(p)
	if err != nil {
		return nil, err
	}
	s := plant.State{Q: rotation.Exp(r3.Vec{X: math.Pi - swing})}
	m.Place(&s)
	r, err := cameras.Record(ctx, m, p.Radius, s, recorded,
		cameras.Cameras{Rate: rate, Noise: markerNoise, Markers: rollingMarkers, Seed: seed})
	if err != nil {
		return nil, err
	}
	return &ball.Recording{Times: r.Times, Points: r.Points, Visible: r.Visible}, nil
}

// rollingSpec is the source's body with friction unknown.
func rollingSpec(law string) ball.Spec {
	p := plant.Paper()
	p.Roll = plant.Friction{}
	return ball.Spec{Body: p, Markers: rollingMarkers, FreeParams: []string{law, "height"}, HalfWindow: moduliHalf, Order: moduliOrder}
}

// rollingDrawOf records and fits once.
func rollingDrawOf(ctx context.Context, mu float64, seed uint64) (d rollingDraw, err error) {
	if d.rec, err = rollingRecord(ctx, mu, seed); err != nil {
		return d, err
	}
	spec := rollingSpec("mu_roll")
	if d.samples, err = ball.Series(spec, d.rec); err != nil {
		return d, err
	}
	d.fit, err = ball.Fit(ctx, spec, d.rec, nil)
	return d, err
}

// level is what a level of a fit says of mu_roll.
func (d *rollingDraw) level(name string) float64 {
	for i := range d.fit.Levels {
		if d.fit.Levels[i].Name == name {
			v, _ := d.fit.Levels[i].Value("mu_roll")
			return v.Value
		}
	}
	return math.NaN()
}

// cosine is the mean of the cosine between moment and turning where the ball is fast enough to tell, figure 5b.
func (d *rollingDraw) cosine() float64 {
	sum, n := 0.0, 0.0
	for i := range d.samples {
		if s := &d.samples[i]; r3.Norm(s.Roll) > minDirectionSpeed {
			sum, n = sum+s.Cosine, n+1
		}
	}
	return sum / n
}

// rolling does the study. Draws differ by the noise of the markers alone.
func rolling(ctx context.Context, draws, seed int) (*rollingResult, error) {
	r := &rollingResult{Name: rollingName, Program: report.Version(), Draws: draws, Seed: seed, Files: []string{}}
	var paper, glass []rollingDraw
	for k := range draws {
		for _, c := range []struct {
			mu float64
			to *[]rollingDraw
		}{{onPaper, &paper}, {onGlass, &glass}} {
			d, err := rollingDrawOf(ctx, c.mu, uint64(seed+k))
			if err != nil {
				return nil, err
			}
			*c.to = append(*c.to, d)
		}
	}
	r.firstDraw = paper[0]
	number := func(name, unit, figure string, source float64, from []rollingDraw, of func(d *rollingDraw) float64, text string) {
		n := rollingNumber{Name: name, Unit: unit, Figure: figure, Text: text}
		if source != 0 {
			n.Source = &source
		}
		for i := range from {
			n.Mean += of(&from[i]) / float64(len(from))
		}
		for i := range from {
			n.Spread += math.Pow(of(&from[i])-n.Mean, 2) / float64(max(1, len(from)-1))
		}
		n.Spread = math.Sqrt(n.Spread)
		r.Numbers = append(r.Numbers, n)
	}
	number("moduli_linear", "N·m·s", "5a", 3.42114e-4, paper, func(d *rollingDraw) float64 { return d.fit.Moduli.Linear },
		"slope of |M_roll| over |ω_roll|: biased upward by noise")
	number("moduli_quadratic", "N·m·s²", "5a", 5.2575e-5, paper, func(d *rollingDraw) float64 { return d.fit.Moduli.Quadratic },
		"coefficient of |ω_roll|²: likewise")
	number("moduli_linear_rms", "N·m", "5a", 1.02e-3, paper, func(d *rollingDraw) float64 { return d.fit.Moduli.LinearRMS },
		"left over by the linear law")
	number("moduli_quadratic_rms", "N·m", "5a", 1.8e-3, paper, func(d *rollingDraw) float64 { return d.fit.Moduli.QuadraticRMS },
		"left over by the quadratic law")
	number("cosine_fast", "", "5b", 0, paper, (*rollingDraw).cosine, "mean cosine between M_roll and ω_roll above 2 rad/s")
	number("cosine", "", "5b", 0, paper, func(d *rollingDraw) float64 { return d.fit.Moduli.Cosine },
		"the same of all frames: noise has no direction")
	number("projection", "N·m·s", "", 0, paper, func(d *rollingDraw) float64 { return d.level("projection") },
		"of the same moments along −ω_roll: noise cancels")
	number("trajectory", "N·m·s", "8", onPaper, paper, func(d *rollingDraw) float64 { return d.level("shooting on γ") },
		"fit of γ, the source's")
	number("markers", "N·m·s", "", 0, paper, func(d *rollingDraw) float64 { return d.level("markers") },
		"fit of the markers, the value to report")
	number("glass_moduli", "N·m·s", "", 0, glass, func(d *rollingDraw) float64 { return d.fit.Moduli.Linear }, "on glass, slope of moduli")
	number("glass_trajectory", "N·m·s", "", onGlass, glass, func(d *rollingDraw) float64 { return d.level("shooting on γ") },
		"on glass, fit of γ")
	number("roll_max", "rad/s", "", shownSpeed, paper, func(d *rollingDraw) float64 { return d.fit.TopRoll },
		"beyond 5 rad/s the law is extrapolated")

	// the laws, by what they leave over
	square, err := ball.Fit(ctx, rollingSpec("mu_roll2"), r.firstDraw.rec, nil)
	if err != nil {
		return nil, fmt.Errorf("quadratic law: %w", err)
	}
	for _, c := range []struct {
		law, number string
		fit         *ball.Result
	}{{"linear", "moduli_linear_rms", r.firstDraw.fit}, {"quadratic", "moduli_quadratic_rms", square}} {
		rank := rollingRank{Law: c.law, Moduli: r.number(c.number).Mean, Markers: c.fit.Slip.Residual, Verdict: "accepted"}
		if !c.fit.Accepted {
			rank.Verdict = "rejected"
		}
		r.Ranking = append(r.Ranking, rank)
	}
	if r.Ranking[1].Markers < r.Ranking[0].Markers {
		r.Ranking[0], r.Ranking[1] = r.Ranking[1], r.Ranking[0]
	}
	return r, nil
}

func (r *rollingResult) number(name string) *rollingNumber {
	for i := range r.Numbers {
		if r.Numbers[i].Name == name {
			return &r.Numbers[i]
		}
	}
	panic("study: no number " + name)
}

// rollingStudy is hil study rolling-friction; its runs are draws of the noise.
var rollingStudy = single{name: rollingName, takes: []string{"runs", "seed", "out", "plot", "json"},
	draws: "figures 3a to 8b of the source", compute: func(ctx context.Context, f Options) (singleResult, error) {
		return rolling(ctx, cmp.Or(f.Runs, rollingDraws), cmp.Or(f.Seed, 1))
	}}

func (r *rollingResult) setFigures(paths []string) { r.Files = paths }

func (r *rollingResult) print(w io.Writer) {
	fmt.Fprintf(w, "%s: [KKK17] on simulated recordings, %d draws of %.2g mm noise on %d markers, %g s at %g Hz, smoothed over %d frames "+
		"with order %d\n\n", r.Name, r.Draws, 1e3*markerNoise, len(rollingMarkers), recorded, rate, int(2*moduliHalf*rate)+1, moduliOrder)
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	fmt.Fprintln(t, "number\tsource\tsimulated\t± of a draw\tunit\tfigure\t")
	for _, n := range r.Numbers {
		fmt.Fprintf(t, "%s\t%s\t%.4g\t%.1g\t%s\t%s\t%s\n", n.Name, report.OrDash("%.6g", n.Source), report.Number(n.Mean),
			report.Number(n.Spread), n.Unit, n.Figure, n.Text)
	}
	t.Flush()
	fmt.Fprintln(w)
	t = tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	fmt.Fprintln(t, "rank\tlaw\tmoduli leave\tmotion leaves\tits fit is")
	for i, k := range r.Ranking {
		fmt.Fprintf(t, "%d\t%s\t%.3g N·m\t%.3g times the noise\t%s\n", i+1, k.Law, report.Number(k.Moduli), k.Markers, k.Verdict)
	}
	t.Flush()
}
