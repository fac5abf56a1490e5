package identify

import (
	"fmt"
	"math"

	"hilrig/identify/fit"
)

// A prior says what was known of a parameter before the record: a value with its standard uncertainty. It counts as one more observation.
// With θ and C what the record says, h the parameter and μ ± u the prior,
//
//	K = C·h/(hᵀCh + u²),   θ ← θ + K·(μ − hᵀθ),   C ← C − K·hᵀC,
//
// which is least squares with that observation among the rows, exactly where the model is linear [GCSDVR, 14.8]. What else makes a value
// uncertain shrinks as the chance of the record does; the uncertainty of the record is that of its whole interval.

// priorAlone is the weight from which on the prior gives a value and the record does not.
const priorAlone = 0.9

// contradicted is the distance of record and prior, in joint standard uncertainties, that is no chance.
const contradicted = 3.0

// priorDoubt is a prior that the record contradicts.
type priorDoubt struct {
	name            string
	recorded, prior [2]float64 // value and standard uncertainty
}

// takePriors combines what the record says with what was known before, one after the other.
func (r *Result) takePriors(given []Given) {
	for _, g := range given {
		if g.Prior == nil || g.Start == nil {
			continue
		}
		if p, ok := r.Param(g.Name); ok && !p.Fixed {
			r.takePrior(p, *g.Start, *g.Prior)
		}
	}
}

// takePrior combines parameter p with its prior, and moves what goes with it.
func (r *Result) takePrior(p *Parameter, mean, u float64) {
	ci, se := r.Interval(p), r.Err(p)
	if ci == nil || se == nil || !(*se > 0) { // the record does not tell it at all
		p.Value, p.weight, p.prior = mean, 1, u
		zero := 0.0
		p.StdErr, p.RobustErr, p.BetweenErr = &zero, &zero, nil
		p.CI95, p.RobustCI95 = &[2]float64{mean, mean}, &[2]float64{mean, mean}
		p.LogCI95, p.RobustLogCI95, p.BetweenCI95, p.Boot95 = nil, nil, nil, nil
		return
	}
	recorded := math.Max(ci[1]-p.Value, p.Value-ci[0]) / normal95
	gain := recorded * recorded / (recorded*recorded + u*u)
	by := mean - p.Value
	if math.Abs(by) > contradicted*math.Hypot(recorded, u) {
		r.contradicted = append(r.contradicted, priorDoubt{p.Name, [2]float64{p.Value, recorded}, [2]float64{mean, u}})
	}
	rows := r.freeRows()
	at := -1
	for k, i := range rows {
		if &r.Parameters[i] == p {
			at = k
		}
	}
	old := *se
	for k, i := range rows {
		q := &r.Parameters[i]
		other := r.Err(q)
		if q == p || other == nil || at < 0 || k >= len(r.Correlation) {
			continue
		}
		rho := r.Correlation[at][k]
		slope := rho * *other / old
		q.shift(slope*gain*by, math.Sqrt(math.Max(1-2*gain*rho*rho+gain*gain*rho*rho, 0)))
		q.prior = math.Hypot(q.prior, slope*gain*u)
	}
	r.decorrelate(rows, at, gain, u/old)
	p.shift(gain*by, 1-gain)
	for _, way := range []*[2]float64{&p.shownMove, &p.possibleMove, &p.assumed} {
		way[0], way[1] = way[0]*(1-gain), way[1]*(1-gain)
	}
	p.rounded, p.structure = p.rounded*(1-gain), p.structure*(1-gain)
	p.givenErr, p.doubt = p.givenErr*(1-gain), p.doubt.scaled(1-gain)
	p.prior, p.weight = math.Hypot(p.prior*(1-gain), gain*u), gain
}

// freeRows are the places of the parameters that Correlation is about.
func (r *Result) freeRows() (rows []int) {
	for i := range r.Parameters {
		if !r.Parameters[i].Fixed && len(rows) < len(r.Correlation) {
			rows = append(rows, i)
		}
	}
	return rows
}

// decorrelate makes the correlations those after a prior of the parameter in row at, with its gain and its uncertainty in standard errors
// of the record.
func (r *Result) decorrelate(rows []int, at int, gain, u float64) {
	if at < 0 {
		return
	}
	n := len(rows)
	c := make([][]float64, n)
	for i := range c {
		c[i] = make([]float64, n)
		for j := range c[i] {
			a, b := r.Correlation[i][at], r.Correlation[j][at]
			c[i][j] = r.Correlation[i][j] - 2*gain*a*b + gain*gain*a*b*(1+u*u)
		}
	}
	for i := range c {
		for j := range c[i] {
			if size := math.Sqrt(c[i][i] * c[j][j]); size > 0 {
				r.Correlation[i][j] = c[i][j] / size
			}
		}
	}
}

// shift moves a value, and makes what chance does to it smaller.
func (p *Parameter) shift(by, scale float64) {
	for _, ci := range []**[2]float64{&p.CI95, &p.RobustCI95, &p.BetweenCI95, &p.LogCI95, &p.RobustLogCI95, &p.Boot95} {
		if *ci != nil {
			*ci = &[2]float64{p.Value + by + scale*((*ci)[0]-p.Value), p.Value + by + scale*((*ci)[1]-p.Value)}
		}
	}
	for _, e := range []**float64{&p.StdErr, &p.RobustErr, &p.BetweenErr} {
		if *e != nil {
			x := scale * **e
			*e = &x
		}
	}
	p.Value += by
	p.pulled += by
}

// judgePriors says where the record contradicts what was known before, and where it adds nothing to it.
func (r *Result) judgePriors(say sayer) {
	for _, d := range r.contradicted {
		p, _ := r.Param(d.name)
		say(fit.PriorContradicted, fit.Weaken, []string{d.name}, "the record says %s = %.4g ± %.2g %s, and the prior %.4g ± %.2g: they are "+
			"more than %.0f joint standard uncertainties apart, and one of them is wrong. Leave the prior out, or look at the gain of the force",
			d.name, d.recorded[0], d.recorded[1], p.Unit, d.prior[0], d.prior[1], contradicted)
		if p.Worth == PriorAlone {
			p.Worth = string(Weak)
		}
	}
	var alone []string
	for i := range r.Parameters {
		if p := &r.Parameters[i]; p.Worth == PriorAlone {
			alone = append(alone, p.Name)
		}
	}
	if alone != nil {
		say(fit.Prior, fit.Remark, alone, "%s by the prior: the record hardly adds to it", fmt.Sprint(list(alone)))
	}
}
