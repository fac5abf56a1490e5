// Package identify finds the parameters of a measured axis and says what they are worth.
//
// # Problem
//
// Records of an axis, a model with parameters, and the question which values explain the records, how well they are known,
// and whether the records support the model at all. A Plan names the model, what is known of its parameters, and a chain of
// methods; each method starts from what the one before it found, and the last one gives the Result.
//
// # Methods
//
//	regress        linear least squares on position and force (package linear): inertia, viscous and Coulomb friction, offset
//	two-joint      the same for two coupled joints
//	static         force at constant speeds: the Stribeck curve (package curve)
//	presliding     force against displacement before break-away: stiffness and break-away force
//	presliding-linear  motion that never breaks loose as a linear system, in weak form [MOGI] (6.48), (6.49)
//	joint          both as one experiment
//	velocity-step  jumps of velocity: the state-variable law (6.37)–(6.40)
//	lugre          smoothed motion and separable least squares: all of LuGre, as a start (package bristle)
//	kalman         the prediction error of an extended Kalman filter: all of LuGre, as an answer
//	aep            accelerated evolutionary programming on the simulated motion (packages axis and fit)
//	lm             bounded Levenberg–Marquardt on the simulated motion
//	multishoot     the same in segments whose initial states are parameters
//
// # Verdict
//
// Numbers alone are not a result. Every fit comes with standard errors (classical, robust, on request by resampling),
// correlations, what the data cannot tell apart and which experiment would, tests of the residuals, its performance on a
// second record, and a verdict in words. Compare does so for several models side by side.
package identify

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"hilrig/engine/numeric"
	"hilrig/engine/spelling"
	"hilrig/identify/axis"
	"hilrig/identify/bristle"
	"hilrig/identify/curve"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// Plan is what is to be identified, and how.
type Plan struct {
	Methods     Chain
	Model       axis.Spec // simulated; its law is also that of static, lugre and kalman
	LagFree     bool      // the effective lag of the force is a parameter
	GivenParams []Given   // what is known of parameters

	GainErr      float64            // standard uncertainty of the gain of the force, as a share
	ExactNumbers []string           // other numbers by which the records were reckoned, taken for exact
	Unsure       map[string]float64 // standard uncertainty that other numbers that were given make, by parameter; nil: none

	Regress    linear.Spec
	Form       linear.Form // "": direct
	NoiseRatio float64     // total: position over force noise, m/N or rad/(N·m)

	Static  Static
	Loop    curve.LoopOptions
	Steps   curve.StepOptions
	Joints  linear.JointOptions
	Bristle bristle.Options

	AEP           fit.AEP
	LM            LM
	SimplerParams map[string]float64 // parameters of a simpler model, by name, from which lm descends as well; nil: none
	RunFree       bool               // lm: no simulation is led back along the record, so that residuals of several laws can be compared
	Segments      int

	Bootstrap int
	Seed      uint64
	Workers   int // 0: all processors
	TimeLimit time.Duration
}

// workers are as many as may work at a time.
func (p *Plan) workers() int { return cmp.Or(p.Workers, runtime.GOMAXPROCS(0)) }

// LM are the settings of Levenberg–Marquardt, the section lm of a file.
type LM struct {
	Starts int `yaml:"starts" want:">=0 <=1000" doc:"descents from the best of the draws; 0: one, or five for a bristle in a servo"`
	Draws  int `yaml:"draws" want:">=0 <=100000" doc:"random points of the box that are scored first; 0: only the given start, but 20 for a bristle in a servo"`
	fit.Loss
	Horizon []float64 `yaml:"horizon,omitempty" doc:"shares of the record that are fitted one after the other; the whole comes last anyway"`
}

// Static says how a static map is taken from raw records, the section static of a file.
type Static struct {
	curve.PlateauOptions
	Weights Weights `yaml:"weights" doc:"scatter: by the standard errors and a scatter common to all points; errors: by these alone; equal: none"`
}

// Weights says what the points of a static map are worth.
type Weights uint8

const (
	ByScatter Weights = iota
	ByErrors
	Equal
)

// Words are the weights by number.
func (Weights) Words() []string { return []string{"scatter", "errors", "equal"} }

// Records are what a plan works on.
type Records struct {
	Fit        []*record.Record
	Loop       []*record.Record // joint: the presliding loop
	Second     []*record.Record // two-joint: the second joint of every record
	Validation []*record.Record // explained, not used; may be empty
	SecondVal  []*record.Record // two-joint: their second joint

	// Fit without what was reckoned from an assumption; nil: there is none. Intervals hold half of what it does
	WithoutAssumed []*record.Record
	Doubt          string // what WithoutAssumed are: "without the winding"
}

// withTotalForce are the records with one force: that of the drive and the known disturbance, if it is not in the command already, for
// methods that know no other. Simulated models keep them apart, since a controller commands but one of them.
func (r Records) withTotalForce() Records {
	out := r.mapRecords(func(recs []*record.Record) []*record.Record {
		recs = slices.Clone(recs)
		for i, d := range recs {
			recs[i] = d.WithTotalForce()
		}
		return recs
	})
	out.WithoutAssumed, out.Doubt = nil, ""
	return out
}

// mapRecords are all records as f makes them.
func (r Records) mapRecords(f func([]*record.Record) []*record.Record) Records {
	for _, recs := range []*[]*record.Record{&r.Fit, &r.Loop, &r.Second, &r.Validation, &r.SecondVal, &r.WithoutAssumed} {
		if *recs != nil {
			*recs = f(*recs)
		}
	}
	return r
}

// Given is what is said about a parameter beforehand.
type Given struct {
	Name          string
	Start, Lo, Hi *float64
	Fixed, Log    *bool
	Optional      bool     // a model that has no such parameter is no error
	Assumed       bool     // it stays at its start, which nobody measured
	Err           *float64 // standard uncertainty of a value that is known; nil: it is exact
	// of a value that is searched: standard uncertainty of the start, from before the record; nil: nothing is known of it
	Prior *float64
}

// apply puts what is given over the parameters that a model has by itself. A start outside bounds that were not given
// widens them; bounds that exclude a start that was not given move it.
func apply(params []fit.Param, given []Given) error {
	var bad fit.ParamError
	for _, g := range given {
		i := fit.Index(params, g.Name)
		if i < 0 && g.Optional {
			continue
		}
		if i < 0 {
			names := make([]string, len(params))
			for k, p := range params {
				names[k] = p.Name
			}
			hint := "the model has " + strings.Join(names, ", ")
			if near := spelling.Nearest(g.Name, names); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			bad.Add("parameters.%s: this model has no such parameter; %s", g.Name, hint)
			continue
		}
		p := &params[i]
		p.Fixed = g.Assumed || g.Err != nil
		if g.Fixed != nil {
			p.Fixed = p.Fixed || *g.Fixed
		}
		if g.Lo != nil {
			p.Lo = *g.Lo
		}
		if g.Hi != nil {
			p.Hi = *g.Hi
		}
		if g.Start != nil {
			p.Value = *g.Start
			if g.Lo == nil && p.Value < p.Lo {
				p.Lo = farBelow(p.Value)
			}
			if g.Hi == nil && p.Value > p.Hi {
				p.Hi = -farBelow(-p.Value)
			}
		} else if !p.Fixed {
			p.Value = math.Min(math.Max(p.Value, p.Lo), p.Hi)
		}
		if g.Log != nil {
			p.Log = *g.Log
		} else if p.Lo <= 0 {
			p.Log = false
		}
	}
	return cmp.Or(bad.OrNil(), fit.Check(params))
}

// farBelow is a number well below x.
func farBelow(x float64) float64 {
	if x > 0 {
		return x / 10
	}
	return 10*x - 1e-12
}

// alias are names under which the same quantity goes in different models.
var alias = [][]string{
	{"M", "J"}, {"Fv", "sigma2"}, {"Fv+", "sigma2+"}, {"Fv-", "sigma2-"}, {"alpha0", "Fc"}, {"offset", "Fg"}, {"k", "stiffness"},
	{"mgs", "gravity-sin"}, {"mgc", "gravity-cos"}, {"Fs_inf", "Fs"},
}

// found are values by name from earlier methods.
type found map[string]float64

// note remembers the parameters of a method.
func (f found) note(params []fit.Param) {
	for _, p := range params {
		f[p.Name] = p.Value
	}
}

// get looks a parameter up, under its other names and as the mean of its two directions if need be.
func (f found) get(name string) (float64, bool) {
	names := []string{name}
	for _, a := range alias {
		if slices.Contains(a, name) {
			names = append(names, a...)
		}
	}
	for _, n := range names {
		if x, ok := f[n]; ok {
			return x, true
		}
	}
	for _, n := range names {
		if p, ok := f[n+"+"]; ok {
			if m, ok := f[n+"-"]; ok {
				return (p + m) / 2, true
			}
		}
		if base := strings.TrimRight(n, "+-"); base != n {
			if x, ok := f.get(base); ok {
				return x, true
			}
		}
	}
	return 0, false
}

// start moves the parameters to what earlier methods found, but for those whose start the user gave.
func (f found) start(params []fit.Param, given []Given) {
	for i := range params {
		p := &params[i]
		if slices.ContainsFunc(given, func(g Given) bool { return g.Name == p.Name && g.Start != nil }) || p.Fixed {
			continue
		}
		x, ok := f.get(p.Name)
		if ok && numeric.IsFinite(x) && !(p.Log && x <= 0) {
			p.Value = math.Min(math.Max(x, p.Lo), p.Hi)
		}
	}
}

// settings is what the result says of a simulated model.
func (p *Plan) settings() any {
	m := &p.Model
	said := map[string]any{
		"law": m.Law, "asymmetric": m.Asymmetric, "terms": m.Terms, "drive": m.Drive.String(), "output": m.Output.String(),
		"initial": m.Initial.String(), "hold": m.Hold.String(), "scheme": m.Scheme.String(), "decimate": max(m.Decimate, 1),
		"loss": p.LM.Loss.Kind.String(), "seed": p.Seed,
	}
	if m.Controller != nil {
		said["controller"] = m.Controller
	}
	return said
}

// lossNoise is the scale of a robust loss in standard deviations of the noise: well above it, so that the solution is that
// of least squares where nothing is wrong.
const lossNoise = 20

// loss is that of the plan. Without a scale it is lossNoise times the noise of what is explained.
func (j *job) loss(p *fit.Problem) fit.Loss {
	l := j.plan.LM.Loss
	if l.Scale == 0 && l.Kind != fit.Squares {
		if e, ok := p.NewEvaluator().(fit.Measuring); ok {
			y, _, pieces, _ := e.Measured()
			l.Scale = lossNoise * noiseOf(y, pieces)
		}
	}
	return l
}

// lossOf is the loss with which a solution was found.
func lossOf(s *fit.Solution) fit.Loss {
	name, _ := s.Extra["loss"].(string)
	scale, _ := s.Extra["loss_scale"].(float64)
	return fit.Loss{Kind: fit.LossKind(max(0, slices.Index(fit.Squares.Words(), name))), Scale: scale}
}

// minNoise is what a series without any noise is taken to have, of its range.
const minNoise = 1e-6

// noiseOf is the standard deviation of white noise on a smooth series in pieces.
func noiseOf(y []float64, pieces []int) float64 {
	if pieces == nil {
		pieces = []int{0}
	}
	var each [][]float64
	ends := append(slices.Clone(pieces), len(y))
	for i, from := range pieces {
		each = append(each, y[from:ends[i+1]])
	}
	return math.Max(numeric.Noise(each...), minNoise*(slices.Max(y)-slices.Min(y)))
}
