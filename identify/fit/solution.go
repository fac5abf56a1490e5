package fit

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
)

// Solution is the answer of a method: values, and what is needed to judge them. Assess turns it into standard errors,
// correlations and what cannot be told apart.
type Solution struct {
	Params     []Param // of the model, the fixed ones too; Value is the estimate
	FreeParams []int   // places in Params of the columns of Jac
	Local      []Block // parameters that move some rows only, which have no column in Jac

	// One row per number that was explained, in order of time within each piece. Weighted if the fit was weighted, Jac and
	// Measured then alike.
	Residual []float64 // measured − model
	Jac      []float64 // ∂model/∂θ, row-major, len(Residual) × len(FreeParams), in the units of the parameters
	Measured []float64 // what was to be explained
	Unit     string    // of the three; "" if weighted to pure numbers
	Quantity string    // what they are, for people: force, position …
	Pieces   []int     // first row of every piece; correlation does not run across. nil: one piece
	Dt       float64   // s, between rows; 0 if they are no series in time

	// NoiseKnown says that the residuals are weighted to unit variance by a noise level known from elsewhere, so that the
	// covariance is (JᵀJ)⁻¹ without the factor s².
	NoiseKnown bool

	// Input, Velocity and Position at the rows, for tests of what residuals depend on; nil if there are none.
	Input, Velocity, Position []float64
	IsReferenceInput          bool // Input is the reference of a controller, in the unit of Position; else it is a force
	// by how much rounding moved a force, as the rows have it; nil: it was not rounded, or that is not known
	Rounded []float64
	// of a force: d²/dt² of the model's, but for jumps, as the rows have it; nil: the rows are as they were recorded
	Bend []float64
	// s, the lag of the force is as much as this, either way, as the rows tell, and was taken for zero; 0: it is a parameter, or was not
	// looked for
	LagWithin float64
	Blur      float64 // s, over which filters mix the rows
	Lags      int     // least bandwidth of the robust covariance, rows; 0: what the scores ask for

	Workers  int  // that search what is left over; 0: one
	EveryRow bool // what is left over is searched in every row; else in some of a long record

	Loops []Loop // of methods that explain force over displacement, as they were recorded; nil: of others

	// Objective names what the cost is; Cost is its least value, e.g. half the sum of squares or of a robust loss.
	Objective string
	Cost      float64

	Converged   bool
	Reason      string // why the method ended, for people
	Iterations  int
	Evaluations int // simulations
	Steps       int // of the integrator in a descent, where the evaluator counts them
	Compute     time.Duration
	Trace       []float64 // cost of the best so far, at the start and after every iteration; nil: not kept

	// Less tells by how much the rows move if the force is less by u (N) at all samples; nil: not known. LessRuns is how often that
	// may be asked in half the time of a fit at most.
	Less     func(u []float64) []float64
	LessRuns int

	// Changed tells by how much the rows of the model move, in units of the residual, if a parameter that was not searched has another
	// value; nil: not known.
	Changed func(name string, value float64) []float64

	// Spread is the standard deviation, by name, of a parameter that the data leave open between two values, as a cost with steps does:
	// what is to be added to that of the derivatives. nil: of none.
	Spread map[string]float64

	weights []float64 // √ρ' of the rows of a robust fit; nil: all 1

	Notes          []string           // what a reader has to know
	Doubts         []string           // reasons not to trust the intervals
	Unidentifiable []Indistinct       // parameters that the method itself found out of reach of the data
	Halved         map[string]float64 // values with simulation steps half as long; nil: not known
	Extra          map[string]any     // numbers of this method, by documented name, for the JSON of the result
}

// Block is the Jacobian of parameters that move the rows from FirstRow on alone.
type Block struct {
	FreeParams []int       // places in Params
	FirstRow   int         // row
	Jac        [][]float64 // columns ∂model/∂θ of these rows, weighted as Solution.Jac
}

// Searched are the places in Params of all that was searched: FreeParams, and behind it those of Local.
func (s *Solution) Searched() []int {
	all := slices.Clone(s.FreeParams)
	for _, b := range s.Local {
		all = append(all, b.FreeParams...)
	}
	return all
}

// MayBeZero tells of parameters of which zero is as good a value as any: a constant force, a lag, the line from which an angle
// counts. A number at the end tells the joint.
func MayBeZero(name string) bool {
	switch strings.TrimRight(name[strings.LastIndexByte(name, '.')+1:], "0123456789") { // of a joint too, "elbow.lag"
	case "offset", "lag", "mgc":
		return true
	}
	return false
}

// IsState tells whether a parameter is where a record, a piece of it or a segment begins, not a property of the axis.
func IsState(name string) bool {
	piece, _, _ := strings.Cut(name, "[")
	segment, _, isSegment := strings.Cut(name, "(")
	return piece == "x0" || piece == "v0" || piece == "z0" || isSegment && (segment == "x" || segment == "v")
}

// Size is what free parameter j is measured by: its value, or, where that may be zero, the value whose effect would be as large as all
// that was measured, or as all that the parameters make of it: where a simulation is led back along the record, they make less.
func (s *Solution) Size(j int) float64 {
	q := &s.Params[s.FreeParams[j]]
	if !q.Zero && !MayBeZero(q.Name) {
		return math.Abs(q.Value)
	}
	p := len(s.FreeParams)
	measured, made, own := 0.0, 0.0, 0.0 // squares
	for k, y := range s.Measured {
		measured += y * y
		for i, d := range s.Jac[k*p : (k+1)*p] {
			effect := s.Params[s.FreeParams[i]].Value * d
			made += effect * effect
		}
		d := s.Jac[k*p+j]
		own += d * d
	}
	if made > 0 {
		measured = min(measured, made)
	}
	if measured == 0 || own == 0 {
		return math.Inf(1)
	}
	return math.Sqrt(measured / own)
}

// Weigh gives rows of the model the weights of the rows of the solution: a copy, or rows itself where there are no weights.
func (s *Solution) Weigh(rows []float64) []float64 {
	if s.weights == nil {
		return rows
	}
	return floats.MulTo(make([]float64, len(rows)), rows, s.weights)
}

// Count adds the work of the solution before.
func (s *Solution) Count(before *Solution) {
	s.Iterations += before.Iterations
	s.Evaluations += before.Evaluations
	s.Compute += before.Compute
}

// Continue makes s, which was found from the solution before, the answer for both: with its work, its notes, and what is known of
// its starts.
func (s *Solution) Continue(before *Solution) {
	s.Count(before)
	if s.Objective == before.Objective && s.Unit == before.Unit && len(s.Residual) == len(before.Residual) {
		s.Trace = append(slices.Clone(before.Trace), s.Trace...)
	}
	extra := maps.Clone(before.Extra)
	maps.Copy(extra, s.Extra)
	s.Extra, s.Notes = extra, append(before.Notes, s.Notes...)
}

// Loop is a record of force over displacement.
type Loop struct {
	Displacement []float64 // m or rad
	Force, Model []float64 // N or N·m, measured and by the parameters at the same displacement
}

// Indistinct is a parameter, or a combination of several, on which the data say nothing.
type Indistinct struct {
	Names   []string  `json:"names"`
	Weights []float64 `json:"weights,omitempty"` // of the combination, largest is 1; parameters in units of their values
	Reason  string    `json:"why"`
	Advice  string    `json:"advice"`           // which experiment would tell, or what to fix
	Remark  bool      `json:"remark,omitempty"` // good to know, no doubt about the values: they hold for what was given
	Absent  bool      `json:"absent,omitempty"` // the record does not hold what they describe: nothing else is said of them

	// RelErr is the largest standard error of the named parameters relative to their sizes (Solution.Size), each for itself: a
	// pair may be tightly correlated and yet known well. nil: infinite, or not known.
	RelErr *float64 `json:"relative_err,omitempty"`
}

// Progress is said now and then by a method at work.
type Progress struct {
	Method          string
	Phase           string    // "generation", "start 3 of 20", "horizon 50 %"
	Step, StepCount int       // steps done and to do; StepCount 0: unknown
	BestCost        float64   // best cost so far
	Unit            string    // of the cost
	Simulated       int       // simulations so far
	Note            string    // more, for people
	Theta           []float64 // of the best, in the order of the problem; valid during the call
}

// squared is the unit of a cost.
func squared(unit string) string {
	if unit == "" {
		return ""
	}
	return unit + "²"
}

// Watch receives progress; nil is allowed where a Watch is wanted.
type Watch func(Progress)

// Report calls w if there is one.
func (w Watch) Report(p Progress) {
	if w != nil {
		w(p)
	}
}
