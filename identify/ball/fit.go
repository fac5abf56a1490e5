package ball

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/num/quat"
	"gonum.org/v1/gonum/spatial/r3"

	"hilrig/engine/numeric"
	"hilrig/engine/plant/ball"
	"hilrig/engine/rotation"
	"hilrig/identify/fit"
)

// Spec says what is known of ball and markers and what is to be found.
type Spec struct {
	Body       ball.Params // what is known of it; free numbers start here
	Markers    []r3.Vec    // m    from the geometric centre, in axes of the body
	Names      []string    //      of the markers, for people; nil: by number
	FreeParams []string    // of Names; nil: mu_roll and height
	Height     float64     // m    of the plane in the frame of the cameras
	Tilt       [2]float64  // rad  of the plane's normal in the frame of the cameras, about its x and y
	Noise      float64     // m    of a coordinate of a marker; 0: from the distances of the markers
	Slide      float64     //      coefficient of sliding friction that ball and plane are sure to have; 0: not known
	HalfWindow float64     // s    half of the window of the smoothing; 0: 0.05 s
	Order      int         //      of its polynomial; 0: 3
	Uncertain  Uncertainty // of what is given and not searched
	Squares    bool        //      plain least squares; else residuals beyond 3 times the noise pull like their size (Huber)
}

// Evidence is what stands beside the result of a ball: every level, and what was seen of slip.
type Evidence struct {
	Levels    []Level      `json:"levels"`  // from the simplest to the one to report, the last
	Moduli    Moduli       `json:"moduli"`  // the source's (2.2), for comparison only
	Slip      Slip         `json:"slip"`    //
	Refusals  []Refusal    `json:"refused"` // parameters that the recording does not tell
	Frames    int          `json:"frames"`
	LeftOut   int          `json:"frames_left_out"` // fewer than three markers in view
	Odd       int          `json:"frames_odd"`      // markers that do not fit the body or its way: the frame was left out
	Assumed   []Assumption `json:"assumed"`         // numbers of the file that the result rests on
	Exchanges []Exchange   `json:"exchanged"`       // labels that were put right
	Strays    []Stray      `json:"strayed"`         // markers that were left out in a frame
	Noise     float64      `json:"noise_m"`         // m  of a coordinate of a marker
	TopRoll   float64      `json:"roll_max"`        // rad/s
	SpinRMS   float64      `json:"spin_rms"`        // rad/s
}

// Result is what all levels say, and whether to believe it.
type Result struct {
	Evidence
	Parameters []fit.Estimate // of the last level, without the start of the motion
	Accepted   bool
	Reasons    []fit.Reason // against it
	Warnings   []string     // what else a reader has to know
	Compute    float64      // s
	Iterations int

	ExactScales      []fit.ScaleMove    // numbers that are taken for exact
	Spread           map[string]float64 // by parameter: the standard uncertainty that those of assumed numbers add
	Suspects         []fit.Suspect      // what the model may lack, for fit.Unmodelled
	Solution         *fit.Solution
	MovedSolution    *fit.Solution // with the derivatives of assumed numbers too
	Body             ball.Params   // with what was found
	NegligibleParams []string      // coefficients of friction that are known to be next to nothing

	start         ball.State
	startTime     float64            // s  of start
	whiteResidual bool               // the residuals are
	drift         drift              // of the markers
	conflict      conflict           // of recording and file
	little        map[string]float64 // the standard error of each coefficient of friction below which it is known well, whatever its value
}

// Refusal is a parameter whose value is not to be used, and why.
type Refusal struct {
	Name   string `json:"name"`
	Reason string `json:"why"`
}

const (
	pieceLength  = 0.5  // s  of multiple shooting
	multiStride  = 4    // frames between those that it compares
	poorFit      = 3.0  // times the noise: root mean square of a first fit that is tried again from several starts
	huberScale   = 3.0  // times the noise
	nearNoise    = 2.0  // times the noise: root mean square of a first fit that is carried to its optimum
	offsetTol    = 1e-3 // standard errors, about, from the optimum
	costTol      = 1e-7 // relative decrease of the cost that ends a fit: of 10 000 rows, a few hundredths of a standard error
	loweredTol   = 1e-5 // likewise, of one that leaves more than the noise
	startTol     = 5e-2 // likewise, of one with many starts, whose first one is wanted
	nearDamping  = 1e-6 // of a fit that goes on from another one
	draftOffset  = 0.1  // likewise, of a fit that another one goes on from
	draftTol     = 1e-2 // relative decrease of the cost that ends such a fit
	shownTo      = 5.0  // rad/s  up to which [KKK17] found its law
	looseErr     = 0.5  // standard error over the value of a coefficient that is refused
	disagreement = 0.1  // relative, of a level, that is told
)

func (s *Spec) withDefaults() (Spec, error) {
	c := *s
	c.HalfWindow, c.Order = cmp.Or(s.HalfWindow, 0.05), cmp.Or(s.Order, 3)
	if len(s.FreeParams) == 0 {
		c.FreeParams = []string{"mu_roll", "height"}
	}
	var errs []error
	for _, p := range s.Body.Check() {
		errs = append(errs, fmt.Errorf("body: %w", &p))
	}
	if s.Body.Slips {
		errs = append(errs, errors.New("body: slips: a fit takes the ball to roll; give the coefficient as slide of the fit, to judge the force"))
	}
	if len(s.Markers) < 3 {
		errs = append(errs, fmt.Errorf("markers: %d, want three at least", len(s.Markers)))
	}
	for k, m := range s.Markers {
		if d := r3.Norm(m); !(d < 10*s.Body.Radius) {
			errs = append(errs, fmt.Errorf("markers[%d]: %.4g m from the centre of a ball of radius %.4g m: lengths are metres", k, d,
				s.Body.Radius))
		}
	}
	if !(s.Noise >= 0) || !(s.Slide >= 0) || math.IsInf(s.Noise+s.Slide, 0) {
		errs = append(errs, fmt.Errorf("noise %g m, slide %g: want finite numbers >= 0", s.Noise, s.Slide))
	}
	return c, errors.Join(errs...)
}

// Fit looks at a recording on all levels.
func Fit(ctx context.Context, spec Spec, rec *Recording, watch fit.Watch) (*Result, error) {
	begin := time.Now()
	c, err := spec.withDefaults()
	if err != nil {
		return nil, err
	}
	free, err := choose(c.FreeParams, len(c.Markers))
	if err != nil {
		return nil, err
	}
	p, ms, err := c.smoothedMotion(rec)
	if err != nil {
		return nil, err
	}
	r := &Result{Evidence: Evidence{Frames: len(rec.Times), LeftOut: p.missingFrames, Odd: p.odd, Noise: p.sigma, Assumed: []Assumption{},
		Exchanges: append([]Exchange{}, p.exchanges...), Strays: append([]Stray{}, p.strays...), Refusals: []Refusal{}},
		Reasons: []fit.Reason{}, Warnings: []string{}}
	r.name(c.Names, len(c.Markers))
	for i := range ms {
		spin, roll := split(&ms[i].f, ms[i].w)
		r.TopRoll = max(r.TopRoll, r3.Norm(roll))
		r.SpinRMS += spin * spin / float64(len(ms))
	}
	r.SpinRMS = math.Sqrt(r.SpinRMS)

	base := setup{body: c.Body, height: c.Height, tilt: c.Tilt, markers: c.Markers}
	if slices.Contains(c.FreeParams, "height") && c.Height == 0 {
		base.height = heightOf(ms, c.Body.Radius)
	}
	base, err = r.smoothed(base, c.FreeParams, ms)
	if err != nil {
		return nil, err
	}
	r.Slip = contactOf(c.Body.Radius, ms)
	far := &progress{watch: watch, later: usualDescents - 1}
	if c.Uncertain != (Uncertainty{}) {
		far.later += usualRounds
	}
	if err := r.shoot(ctx, c, base, free, p, far); err != nil {
		return nil, err
	}
	r.little = r.littles(ms)
	r.Slip.judge(&r.Body, ms, r.Solution, p.sigma, c.Slide)
	r.judge(c)
	r.Compute = time.Since(begin).Seconds()
	return r, nil
}

// smoothedMotion are the poses of a recording, and their motion.
func (c *Spec) smoothedMotion(rec *Recording) (*poses, []motion, error) {
	if err := rec.Check(len(c.Markers)); err != nil {
		return nil, nil, err
	}
	p, err := posesOf(rec, c.Markers, c.Body.Radius)
	if err != nil {
		return nil, nil, err
	}
	if c.Noise > 0 {
		p.turn, p.place, p.sigma = p.turn*c.Noise/p.sigma, p.place*c.Noise/p.sigma, c.Noise
	}
	ms, err := smoothPoses(p, c.HalfWindow, c.Order)
	if err == nil {
		err = checkRadius(ms, c.Body.Radius)
	}
	return p, ms, err
}

// heightOf is where the plane lies below the centre.
func heightOf(ms []motion, radius float64) (h float64) {
	for i := range ms {
		h += (ms[i].p.Z - radius) / float64(len(ms))
	}
	return h
}

// smoothed are the levels that need no simulation. It gives base with the friction to start the others from: that of the weak form.
func (r *Result) smoothed(base setup, names []string, ms []motion) (setup, error) {
	terms := freeTerms(names)
	for _, level := range []func() (Level, error){
		func() (Level, error) { return projection(&base.body, terms, ms) },
		func() (Level, error) { return energy(&base.body, terms, ms) },
		func() (Level, error) { return weak(&base.body, terms, ms, weakHalf) },
	} {
		l, err := level()
		if err != nil {
			r.Warnings = append(r.Warnings, err.Error())
			continue
		}
		r.Levels = append(r.Levels, l)
	}
	mu := 0.0
	if len(r.Levels) > 0 {
		v, _ := r.Levels[0].Value("mu_roll")
		mu = v.Value
	}
	r.Moduli = moduli(&base.body, ms, mu)
	if len(r.Levels) == 0 {
		return base, nil
	}
	last := &r.Levels[len(r.Levels)-1]
	base = base.clone()
	for _, t := range terms {
		v, _ := last.Value(t.name)
		if t.isDry {
			v.Value = max(0, v.Value)
		}
		*t.field(&base.body) = v.Value
	}
	return base, nil
}

const weakHalf = 0.1 // s

// startAt is the state of the ball in a frame, by a polynomial about it.
func startAt(p *poses, f int, c *Spec, height float64) (s ball.State, err error) {
	half := c.HalfWindow
	for range 4 {
		turn := rotation.Polynomial{HalfWindow: half, Order: 2, Noise: p.turn}
		m, err1 := turn.Turn(p.times[f], p.times, p.q)
		at, err2 := turn.Point(p.times[f], p.times, p.center)
		if err = errors.Join(err1, err2); err == nil {
			lean := quat.Conj(rotation.Exp(r3.Vec{X: c.Tilt[0], Y: c.Tilt[1]}))
			at.P.Z -= height
			q := rotation.Rotate(lean, at.P)
			return ball.State{Q: quat.Mul(lean, m.R), X: q.X, Y: q.Y, W: m.Omega}, nil
		}
		half *= 2
	}
	return s, fmt.Errorf("start: no motion can be told at %g s: %w", p.times[f], err)
}

// shoot are the levels that simulate: γ from one start, then the markers.
func (r *Result) shoot(ctx context.Context, c Spec, base setup, free []parameter, p *poses, watch *progress) error {
	first, err := startAt(p, 0, &c, base.height)
	if err != nil {
		return err
	}

	// γ: friction alone, as in the source, with the start
	friction := slices.DeleteFunc(slices.Clone(free), func(q parameter) bool { return !IsFriction(q.name) })
	watch.begin("vertical in the body", "")
	gamma := newShooting(p, base, friction, p.oneSegment(first))
	gamma.gamma = true
	sol, err := gamma.fit(ctx, c, p.turn, watch, fewSteps, true)
	if err == nil {
		gamma.adopt(sol)
		if r.Slip.Lasting <= lasting && gamma.rmsOf(sol.Cost) < residual*p.turn {
			sol, err = gamma.fit(ctx, c, p.turn, watch, maxSteps, false)
		} else { // rolling does not explain it, as far as one goes
			problem, lm := gamma.problem()
			lm.Loss = c.loss(p.turn)
			sol, err = lm.At(problem)
		}
	}
	if err != nil {
		r.Warnings = append(r.Warnings, "shooting on γ: "+err.Error())
	} else {
		r.level("shooting on γ", sol, "inertia and centre of mass are taken for exact")
	}

	// markers
	s := newShooting(p, base, free, p.oneSegment(first))
	if sol != nil {
		gamma.adopt(sol)
		start := s.segments[0].start
		start.Q, start.W = gamma.segments[0].start.Q, gamma.segments[0].start.W
		other := newShooting(p, base, free, p.oneSegment(start))
		other.base.body.Roll, other.base.body.Spin = gamma.base.body.Roll, gamma.base.body.Spin
		s.prepare()
		other.prepare()
		if other.rms(&c, p.sigma) < s.rms(&c, p.sigma) {
			s = other
		}
	}
	s, sol, err = r.shootMarkers(ctx, c, s, base, p, watch)
	if err != nil {
		return fmt.Errorf("shooting on the markers: %w", err)
	}
	s.adopt(sol)
	if sol, err = r.adjust(ctx, &c, s, sol, p, watch); err != nil {
		return err
	}
	r.Slip.judgeFrames(s, sol, p.sigma)
	r.Slip.judgeEnds(s, sol, p.sigma)
	r.drift = s.findDrift(r.MovedSolution)
	r.Body, r.start, r.startTime, r.Solution, r.Iterations = s.base.body, s.segments[0].start, p.times[0], sol, sol.Iterations
	r.level("markers", sol, "")
	return r.assess(sol, len(free))
}

// Steps of a descent. A motion that the model has needs four to eight; one that slips gets no more, since no parameter explains it.
const (
	maxSteps  = 12
	fewSteps  = 4
	farSteps  = 2  // of one that stays far above it
	lastSteps = 30 // of one that comes near the noise
)

// shootMarkers descends from the start of s. What is left far above the noise is tried again from starts of its own every pieceLength,
// unless the contact slips, or the motion bends so little with what is searched that one start tells as much. Where the fit comes near
// the noise it is carried to the optimum; else a few more steps are enough to say no.
func (r *Result) shootMarkers(ctx context.Context, c Spec, s *shooting, base setup, p *poses, watch *progress) (*shooting, *fit.Solution,
	error) {
	slips := r.Slip.Lasting > lasting
	steps := maxSteps
	if slips {
		steps = fewSteps
	}
	watch.begin("markers", "")
	draft, err := s.fit(ctx, c, p.sigma, watch, steps, true)
	if err == nil {
		s.adopt(draft)
	}
	bends := slices.ContainsFunc(s.freeParams, func(q parameter) bool { return q.bends })
	if !slips && (err != nil || bends && s.rms(&c, p.sigma) > poorFit*p.sigma) {
		watch.begin("markers, from several starts", "one start leaves far more than the noise")
		multi := newShooting(p, base, s.freeParams, pieces(p, &c, base.height))
		multi.stride = multiStride
		// where starts of their own leave more than the noise too, one start for all leaves more still
		if many, err2 := multi.fit(ctx, c, p.sigma, watch, maxSteps/2, true); err2 == nil && multi.rmsOf(many.Cost) < nearNoise*p.sigma {
			multi.adopt(many)
			again := newShooting(p, multi.base, s.freeParams, p.oneSegment(multi.segments[0].start))
			if other, err2 := again.fit(ctx, c, p.sigma, watch, maxSteps/2, true); err2 == nil && (err != nil || other.Cost < draft.Cost) {
				again.adopt(other)
				other.Count(many)
				s, draft, err = again, other, nil
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if steps = farSteps; !slips && s.rms(&c, p.sigma) < nearNoise*p.sigma {
		steps = lastSteps
	}
	sol, err := s.fit(ctx, c, p.sigma, watch, steps, false)
	if err != nil {
		return nil, nil, err
	}
	sol.Count(draft)
	return s, sol, nil
}

func (c *Spec) loss(sigma float64) fit.Loss {
	if c.Squares {
		return fit.Loss{}
	}
	return fit.Loss{Kind: fit.Huber, Scale: huberScale * sigma}
}

// fit descends in so many steps at most, where rows have this noise. A draft is for its values only.
func (s *shooting) fit(ctx context.Context, c Spec, noise float64, watch *progress, steps int, draft bool) (*fit.Solution, error) {
	problem, lm := s.problem()
	lm.Loss, lm.OffsetTol, lm.MaxIterations, lm.Draft = c.loss(noise), offsetTol, steps, draft
	switch {
	case draft && len(s.segments) > 1: // for its start
		lm.CostTol, lm.OffsetTol = startTol, draftOffset
	case draft:
		lm.CostTol, lm.OffsetTol = draftTol, draftOffset
	default:
		lm.CostTol, lm.Damping = costTol, nearDamping
		if s.rms(&c, noise) > residual*noise { // no optimum explains it
			lm.CostTol = loweredTol
		}
	}
	sol, err := lm.Fit(ctx, problem, watch.during(steps))
	watch.end(sol)
	return sol, err
}

// rms is the root mean square of what is left over at the base and the starts, as the loss counts it where rows have this noise.
func (s *shooting) rms(c *Spec, noise float64) float64 {
	ps, _ := s.params()
	left := make([]float64, s.rows)
	s.evaluator().Residuals(fit.Values(ps), left)
	return s.rmsOf(c.loss(noise).Cost(left))
}

// rmsOf is the rms that belongs to a cost.
func (s *shooting) rmsOf(cost float64) float64 { return math.Sqrt(2 * cost / float64(max(1, s.rows))) }

// pieces are segments of pieceLength with starts of their own.
func pieces(p *poses, c *Spec, height float64) (out []segment) {
	n := len(p.times)
	from := 0
	for f := 1; f <= n; f++ {
		if f < n && p.times[f]-p.times[from] < pieceLength {
			continue
		}
		if start, err := startAt(p, from, c, height); len(out) == 0 || err == nil && f-from >= 10 {
			out = append(out, segment{from, f, start})
		} else { // a short rest, or a gap: the one before goes on
			out[len(out)-1].endFrame = f
		}
		from = f
	}
	return out
}

// level lists what a solution says of the friction.
func (r *Result) level(name string, sol *fit.Solution, warning string) {
	l := Level{Name: name, RMS: numeric.RMS(sol.Residual), Unit: sol.Unit, Rows: len(sol.Residual), Warning: warning}
	var se []float64
	if cov := fit.Covariance(sol); cov != nil {
		for j := range sol.FreeParams {
			se = append(se, math.Sqrt(cov.At(j, j)))
		}
	}
	for j, i := range sol.FreeParams {
		q := &sol.Params[i]
		if fit.IsState(q.Name) {
			continue
		}
		v := Value{q.Name, q.Unit, q.Value, 0}
		if se != nil {
			v.Err = se[j]
		}
		l.Values = append(l.Values, v)
	}
	r.Levels = append(r.Levels, l)
}
