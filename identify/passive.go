package identify

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// Friction takes energy out of the motion. A single coefficient may be negative and the friction positive all the same, so
// the whole law is judged, over the speeds of the record:
//
//	F(v) = Fc + (Fs − Fc)·exp(−(v/vs)²) + Fv·v
//
// in both directions together where they differ: a constant force adds to one what it takes from the other.

// frictionAt is the friction of a joint ("", "1", "2") at speed v ≥ 0 (m/s or rad/s), the mean of both directions, by parameters
// of the usual names, and its standard error. ok is false for laws of other names.
func (r *Result) frictionAt(joint string, v float64) (force, err float64, ok bool) {
	slope := make([]float64, len(r.Parameters))
	// add takes in the first of the parameters that exists, and tells whether there is one
	add := func(weight float64, names ...string) bool {
		for _, n := range names {
			if i := slices.IndexFunc(r.Parameters, func(p Parameter) bool { return r.axisName(p.Name) == n+joint }); i >= 0 {
				force += r.Parameters[i].Value * weight
				slope[i] += weight
				return true
			}
		}
		return false
	}
	dip := 0.0
	if vs, _ := r.Param("vs" + joint); vs != nil && vs.Value > 0 {
		dip = math.Exp(-(v / vs.Value) * (v / vs.Value))
	}
	for _, side := range []string{"+", "-"} {
		share := 1.0
		if !add(dip, "dFs") && add(dip, "Fs"+side, "Fs") {
			share = 1 - dip
		}
		ok = add(share, "Fc"+side, "Fc", "alpha0") || ok
		add(v, "Fv"+side, "Fv")
		add(v, "sigma2"+side, "sigma2", "alpha2")
	}
	if !ok {
		return 0, 0, false
	}
	return force / 2, r.errOf(slope) / 2, true
}

// errOf is the standard error of a linear combination of the parameters; +Inf where one is not known.
func (r *Result) errOf(slope []float64) float64 {
	sum := 0.0
	var scaled []float64 // of the free ones that are no states: these come last
	for i := range r.Parameters {
		p, x := &r.Parameters[i], 0.0
		if slope[i] != 0 && !p.Fixed {
			se := r.Err(p)
			if se == nil {
				return math.Inf(1)
			}
			x = slope[i] * *se
		}
		if !p.Fixed && len(scaled) < len(r.Correlation) {
			scaled = append(scaled, x)
		}
	}
	for i, x := range scaled {
		for k, y := range scaled {
			sum += r.Correlation[i][k] * x * y
		}
	}
	return math.Sqrt(math.Max(sum, 0))
}

// judgePassivity rejects friction that drives an axis beyond doubt at a speed of the record.
func (r *Result) judgePassivity(say sayer) {
	for i, top := range r.tops {
		joint, axis := "", "the axis"
		if len(r.tops) > 1 {
			joint = strconv.Itoa(i + 1)
			axis = "joint " + joint
		}
		for _, share := range []float64{0.02, 0.05, 0.1, 0.2, 0.5, 1} {
			v := share * top
			if f, se, ok := r.frictionAt(joint, v); ok && f+beyondDoubt*se < 0 {
				say(fit.DrivingFriction, fit.Reject, nil, "friction would drive %s: %.4g at a speed of %.4g, which the record holds. Is the sign of "+
					"force or position wrong, or does something else drive it?", axis, f, v)
				break
			}
		}
	}
}

// topSpeed is the highest speed of the records but for the fastest half percent, m/s or rad/s; 0: not known.
func topSpeed(recs []*record.Record) float64 {
	top := 0.0
	for _, d := range recs {
		x, v := d.Position, d.Velocity
		if len(v) > 0 {
			top = max(top, numeric.QuantileOf(len(v), 0.995, func(k int) float64 { return math.Abs(v[k]) }))
		} else {
			top = max(top, numeric.QuantileOf(len(x)-20, 0.995, func(k int) float64 { return math.Abs(x[k+20]-x[k]) / (20 * d.Dt) }))
		}
	}
	return top
}

// judgeDirection takes Coulomb friction out of what is identified where all motion goes one way: it and a constant force are
// one number then, unless the user says what the constant force is. Where it goes both ways, Coulomb friction may differ between them
// instead: that is the same force.
func (r *Result) judgeDirection(say sayer) {
	oneWay := slices.ContainsFunc(r.Findings, func(f record.Finding) bool { return f.Kind == "one-direction" && f.Severity != record.Note })
	if r.offsetKnown {
		return
	}
	if !oneWay && !r.oneWay {
		r.sayDifference(say)
		return
	}
	var names []string
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if !p.Fixed && slices.Contains([]string{"Fc", "Fs", "alpha0", "Fs_inf", "offset"}, strings.TrimRight(r.axisName(p.Name), "+-")) {
			p.Worth = NotIdentifiable
			names = append(names, p.Name)
		}
	}
	if names != nil {
		say(fit.OneDirection, fit.Weaken, names, "%s: all motion is in one direction, where friction and an unknown constant force (weight, "+
			"zero of the sensor) are one number. Record both directions, or give the constant force: parameters: {offset: 0}",
			strings.Join(names, ", "))
	}
}

// sayDifference says which Coulomb friction of each direction is the same as a constant force that differs from zero.
func (r *Result) sayDifference(say sayer) {
	for i := range r.Parameters {
		p := &r.Parameters[i]
		fc, ok := r.Param(strings.TrimSuffix(p.Name, "offset") + "Fc")
		ci := r.Interval(p)
		if !ok || r.axisName(p.Name) != "offset" || ci == nil || ci[0]*ci[1] <= 0 || math.Abs(p.Value) <= systematic*fc.Value {
			continue
		}
		next := ", or fit with --asymmetric"
		if r.joint {
			next = ""
		}
		say(fit.Indistinguished, fit.Remark, []string{p.Name, fc.Name}, "%s = %.4g %s may as well be Coulomb friction of %.4g forward and %.4g "+
			"backward: motion does not tell them apart. Measure the constant force%s", p.Name, p.Value, p.Unit, fc.Value+p.Value, fc.Value-p.Value,
			next)
	}
}

// goesOneWay tells whether the rows of a fit move in one direction but for a fiftieth of them: slow ones may have been left out.
func goesOneWay(v []float64) bool {
	forward, backward := 0, 0
	for _, x := range v {
		if x > 0 {
			forward++
		} else if x < 0 {
			backward++
		}
	}
	return 50*min(forward, backward) < forward+backward
}

// isOffset tells whether a parameter is a constant force.
func isOffset(name string) bool { return name == "offset" || name == "Fg" }

// offsetKnown tells whether the user says what the constant force is.
func (j *job) offsetKnown() bool {
	return slices.ContainsFunc(j.plan.GivenParams, func(g Given) bool { return isOffset(g.Name) && g.isKnown() })
}

// isKnown tells whether the user gives the value.
func (g *Given) isKnown() bool {
	return (g.Fixed != nil && *g.Fixed || g.Err != nil) && g.Start != nil && !g.Assumed
}

// knowOffset takes a constant force that the user gives out of the records of methods whose model has none: what is left is
// the force that moves the axis. A model that is simulated needs the term for it, unless it is zero.
func (j *job) knowOffset(method *MethodInfo) {
	i := slices.IndexFunc(j.plan.GivenParams, func(g Given) bool { return isOffset(g.Name) && g.isKnown() })
	if i < 0 {
		return
	}
	j.plan.GivenParams = slices.Clone(j.plan.GivenParams)
	force := *j.plan.GivenParams[i].Start
	switch {
	case method.Name == regress:
		j.plan.Regress.Terms = slices.DeleteFunc(slices.Clone(j.plan.Regress.Terms), func(t linear.Term) bool { return t == linear.Offset })
	case method.SteadyFriction:
	case method.Simulates:
		j.plan.GivenParams[i].Optional = j.plan.GivenParams[i].Optional || force == 0
		return
	default: // has a parameter for it
		return
	}
	j.plan.GivenParams[i].Optional = true
	if force == 0 {
		return
	}
	less := func(recs []*record.Record) []*record.Record {
		out := slices.Clone(recs)
		for k, d := range recs {
			one := *d
			one.Force = slices.Clone(d.Force)
			floats.AddConst(-force, one.Force)
			out[k] = &one
		}
		return out
	}
	j.recs.Fit, j.recs.Validation = less(j.recs.Fit), less(j.recs.Validation)
}
