package identify

import (
	"math"
	"slices"

	"hilrig/engine/failure"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Verdict sums a fit up.
type Verdict string

const (
	Identified Verdict = "identified"        // every parameter is known well and the model explains the data
	Weak       Verdict = "weakly identified" // usable with the reservations that are listed
	Rejected   Verdict = "rejected"          // the numbers contradict physics, explain little, or are not those of an optimum
)

// Words for a parameter beside those of a verdict.
const (
	NotIdentifiable = "not identifiable" // the record does not tell it
	KnownBefore     = "known"            // it was not searched: the user says what it is
	Assumed         = "assumed"          // it was not searched, and nobody measured it
	PriorAlone      = "prior"            // its prior says it, and the record hardly adds to that
)

// Result is a fit with all that is needed to judge it. It marshals to JSON without loss; what is infinite or does not exist
// is null. docs/reference/identify-result.md describes every field.
type Result struct {
	Method  string       `json:"method"` // for people
	Model   Subject      `json:"model"`
	Chain   Chain        `json:"methods"`
	Verdict Verdict      `json:"verdict"`
	Reasons []fit.Reason `json:"reasons"` // for a verdict below identified, those that reject first

	Data     record.Info      `json:"data"`              // the first record
	Records  []record.Info    `json:"records,omitempty"` // all of them, if there are several
	Findings []record.Finding `json:"findings"`          // what the checks of the data say
	Settings any              `json:"settings"`          // of the last method

	Parameters  []Parameter      `json:"parameters"`
	Correlation [][]float64      `json:"correlation"`              // of the free parameters, in their order
	Condition   *float64         `json:"condition"`                // of the Jacobian in SI
	Scaled      *float64         `json:"condition_scaled"`         // with columns of length one
	Indistinct  []fit.Indistinct `json:"indistinct"`               // what the data cannot tell apart
	Lags        int              `json:"robust_lags"`              // bandwidth of the robust standard errors, rows
	Fit         fit.Quality      `json:"fit"`                      // on the records that were fitted
	Unweighted  *fit.Quality     `json:"fit_unweighted,omitempty"` // of weighted fits: the same records in their own unit
	Quantity    string           `json:"quantity"`                 // what was explained
	// residuals are in standard deviations of a known noise, or what the rows before do not foretell
	Weighted    bool          `json:"weighted"`
	Residual    fit.Residual  `json:"residual"`              //
	Validation  *Validation   `json:"validation,omitempty"`  // on the second record
	Sensitivity []Sensitivity `json:"sensitivity,omitempty"` // to what was taken for granted
	Unmodelled  []fit.Effect  `json:"unmodelled,omitempty"`  // what the model lacks, as the residual shows it
	Steps       *Stepping     `json:"steps,omitempty"`       // of the simulation
	Equalities  []Equality    `json:"equalities,omitempty"`  // tests of parameters that are one in a simpler model
	Bootstrap   *Resampling   `json:"bootstrap,omitempty"`   //
	HalfCutoff  []float64     `json:"values_at_half_cutoff,omitempty"`
	Stages      []Stage       `json:"stages"`
	Warnings    []string      `json:"warnings"`
	Interrupted bool          `json:"interrupted"` // ended before its time: the best so far
	Compute     float64       `json:"compute_s"`   // s, from records in memory to this result

	Panic *failure.Panic `json:"-"` // what ended the fit before its time; nil: nothing

	evidence
}

// Parameter is one parameter of the model. Of a known one only name, unit and value are there.
type Parameter struct {
	fit.Estimate
	// the standard error to go by, with what was assumed; null: infinite, or known
	Error  *float64    `json:"error"`
	CI     *[2]float64 `json:"interval"`                // the 95 % interval to go by, Result.Interval; null: unbounded, or known
	Term   string      `json:"term,omitempty"`          // regress: its column
	Share  *float64    `json:"share_percent,omitempty"` // regress: rms of its part of the force relative to the whole
	Start  *float64    `json:"start,omitempty"`
	Min    *float64    `json:"min,omitempty"`
	Max    *float64    `json:"max,omitempty"`
	Fixed  bool        `json:"fixed"`
	Boot95 *[2]float64 `json:"ci95_bootstrap,omitempty"`
	// by how much structure in the residual moves the value; the interval holds it
	Biased         *float64       `json:"systematic,omitempty"`
	IntervalSource string         `json:"interval_from,omitempty"`                 // where the interval comes from, in words
	Budget         []Contribution `json:"budget,omitempty"`                        // what makes the value uncertain, by source
	Combined       *float64       `json:"combined_standard_uncertainty,omitempty"` // root of the sum of squares of the budget
	ScalesWith     []Scaled       `json:"scales_with,omitempty"`                   // numbers that are taken for exact
	// identified, weakly identified, rejected, or one of the words below
	Worth string `json:"judgement"`

	assumed    [2]float64 // by which what was assumed moves the ends of the interval, down and up
	rounded    float64    // what rounding of the force moves the value by at most, either way
	assumption bool       // nobody gave it
	givenErr   float64    // standard uncertainty that errors of known values make
	doubt      *spread    // what is left of the doubt in assumed values; nil: none moves it
	prior      float64    // and that of priors
	pulled     float64    // by which priors moved the value from that of the record
	weight     float64    // of its own prior beside the record, 0 to 1
	structure  float64    // by how much all that the residual shows moves the value together
	// by how much what the residual shows moves the value at most, down and up, and what it does not exclude
	shownMove, possibleMove [2]float64
	shownBy, possibleBy     string // what of it moves the value most
}

// Validation is the fit to records that were not used to find the parameters.
type Validation struct {
	Data     record.Info      `json:"data"`
	Records  []record.Info    `json:"records,omitempty"`
	Findings []record.Finding `json:"findings"`
	Fit      fit.Quality      `json:"fit"`
	Residual fit.Residual     `json:"residual"`
	Warnings []string         `json:"warnings"`
}

// Sensitivity is a fit that was repeated with something else taken for granted.
type Sensitivity struct {
	What          string             `json:"what"`
	RMS           float64            `json:"rms"`
	Unit          string             `json:"unit"`
	Values        map[string]float64 `json:"values"`
	Worst         string             `json:"worst"`     // the parameter that moves most …
	Moves         float64            `json:"moves_err"` // … in standard errors of the result
	Form          bool               `json:"-"`         // another form of the same regression
	halfIntervals map[string]float64 // half of the 95 % intervals that a form has itself
	inIntervals   bool               // the intervals hold half of what it does
	Deviation     float64            `json:"off_err"` // by how many of its standard errors the record is away from this; 0: not known
}

// Resampling says how the bootstrap intervals were found.
type Resampling struct {
	Refits int    `json:"refits"`
	Block  int    `json:"block"` // rows that stay together
	Failed int    `json:"failed"`
	Seed   uint64 `json:"seed"`
}

// Stage is what one method of the chain found.
type Stage struct {
	Method      Method  `json:"method"`
	Converged   bool    `json:"converged"`
	Reason      string  `json:"reason"`
	Objective   string  `json:"objective,omitempty"`
	Cost        float64 `json:"cost"`
	RMS         float64 `json:"rms"`
	Unit        string  `json:"unit"`
	Iterations  int     `json:"iterations"`
	Evaluations int     `json:"simulations"`
	// cost of the best so far at the start and after every step or generation; of several descents, of the best
	Trace   []float64          `json:"cost_trace,omitempty"`
	Compute float64            `json:"compute_s"`
	Values  map[string]float64 `json:"values"`
	Notes   []string           `json:"notes,omitempty"`
	Extra   map[string]any     `json:"extra,omitempty"`
}

// Param finds a parameter by name.
func (r *Result) Param(name string) (*Parameter, bool) {
	i := slices.IndexFunc(r.Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil, false
	}
	return &r.Parameters[i], true
}

// axisParam finds a parameter by its name on an axis.
func (r *Result) axisParam(name string) (*Parameter, bool) {
	for i := range r.Parameters {
		if r.axisName(r.Parameters[i].Name) == name {
			return &r.Parameters[i], true
		}
	}
	return nil, false
}

// Correlated are the parameters that were searched, without the states of the motion, and where each stands in Correlation.
func (r *Result) Correlated() (names []string, at []int) {
	free := 0
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.Fixed {
			continue
		}
		if !p.State() {
			names, at = append(names, p.Name), append(at, free)
		}
		free++
	}
	return names, at
}

// Explained is the fit in percent by which the model is judged: of the data as they are, not of numbers that were divided by
// their noise. nil: there is none.
func (r *Result) Explained() *float64 {
	switch {
	case !r.Weighted:
		return r.Fit.Percent
	case r.Unweighted != nil:
		return r.Unweighted.Percent
	}
	return nil
}

// Interval is the 95 % interval to go by: by resampling if that was done, else that of the estimate; what structure in the
// residual and half of what an assumption about the record does to the value is added. nil: unbounded.
func (r *Result) Interval(p *Parameter) *[2]float64 { return r.interval(p, true) }

// interval is that, with or without what the motion does not exclude.
func (r *Result) interval(p *Parameter, possible bool) *[2]float64 {
	ci := widened(widened(r.random(p), p.shownMove), [2]float64{p.assumed[0] - p.rounded, p.assumed[1] + p.rounded})
	if possible {
		ci = widened(ci, p.possibleMove)
	}
	if ci == nil || p.givenErr == 0 && p.doubt == nil && p.prior == 0 {
		return ci
	}
	half := func(own float64) float64 { // by chance too
		return p.doubt.halfInterval(math.Hypot(own/normal95, math.Hypot(p.givenErr, p.prior)))
	}
	return &[2]float64{p.Value - half(p.Value-ci[0]), p.Value + half(ci[1]-p.Value)}
}

// combined is the standard error with what was assumed: as much larger than that of chance as the interval is.
func (r *Result) combined(p *Parameter) *float64 {
	se, ci := r.Err(p), r.random(p)
	if other := math.Hypot(math.Hypot(p.givenErr, p.doubt.rms()), p.prior); se != nil && other > 0 {
		all := math.Hypot(*se, other)
		se = &all
	}
	if se == nil || ci == nil || p.assumed == [2]float64{} || !(ci[1] > ci[0]) {
		return se
	}
	half := (ci[1] - ci[0]) / 2
	out := *se * (half + math.Max(p.assumed[1], -p.assumed[0])) / half
	return &out
}

// widened is an interval that holds moves of the value down and up as well.
func widened(ci *[2]float64, by [2]float64) *[2]float64 {
	if ci == nil {
		return nil
	}
	return &[2]float64{ci[0] + by[0], ci[1] + by[1]}
}

// addMove takes in by how much something moves the value, which the residual shows or, possible, does not exclude: beside each
// other, for an axis may have both.
func (p *Parameter) addMove(by float64, possible bool, what string) {
	way, name := &p.shownMove, &p.shownBy
	if possible {
		way, name = &p.possibleMove, &p.possibleBy
	}
	if math.Abs(by) > largerMove(*way) {
		*name = what
	}
	way[0], way[1] = math.Min(way[0], by), math.Max(way[1], by)
	if p.Biased == nil || math.Abs(by) > math.Abs(*p.Biased) {
		p.Biased = &by
	}
}

// largerMove is the larger of two moves, down and up.
func largerMove(way [2]float64) float64 { return math.Max(-way[0], way[1]) }

// random is the interval of chance alone.
func (r *Result) random(p *Parameter) *[2]float64 {
	if p.Boot95 != nil {
		return p.Boot95
	}
	return p.Estimate.Interval(r.Residual.White)
}

// Err is the standard error to go by. nil: infinite, or known.
func (r *Result) Err(p *Parameter) *float64 { return p.Estimate.Err(r.Residual.White) }
