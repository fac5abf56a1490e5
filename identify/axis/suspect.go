package axis

import (
	"fmt"
	"math"
	"slices"

	"hilrig/engine/friction"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// What a contact of machine parts looks like. Outside of these limits a bristle is rather a way to bend the model to a
// residual that has another cause. They are conventions, wide ones: the examples of the literature keep well inside.
const (
	maxFsRatio   = 1.8  // break-away over Coulomb friction; published examples have 1.1 to 1.5
	minZeta      = 3e-3 // damping of the bristle mode
	maxZeta      = 5.0
	maxVsRatio   = 0.5  // Stribeck velocity over the highest speed: above, dip and viscous friction are one curve
	maxBendShare = 0.1  // break-away deflection over the travel: above, the bristle is a spring
	fewSlow      = 60   // samples below the Stribeck velocity, less is no dip seen
	maxScatter   = 1.5  // of a parameter among fits that are equally good
	offForce     = 0.15 // of the Coulomb force, between the dip and the force of the record in it
)

// minFsRatio is the least break-away force, in Coulomb forces: with less the steady force would fall to nothing at rest.
const minFsRatio = 0.05

// overfitted is how a suspicion about a bristle begins, so that it is called what it is.
const overfitted = "over-fitted bristle: "

// Suspicions tells in words what is implausible about the contact of a fit, or nothing: levels, speeds and deflections
// that no contact has or that the records cannot show, and a dip that the force of the records contradicts. Only bristles and
// levels that the model has are spoken of, and only what the records hold is looked at: without a position nothing is said of
// speeds and deflections, without a force nothing of the dip.
//
// What a record cannot show is named with the parameter that it cannot show: a record that tells it all the same has the last word.
//
// The contradiction is found without simulating the mass: the bristle of the model is dragged along the recorded motion, and
// what it takes is compared with u − M·a of the records where the axis slides in the dip. An open loop fit, free to trade
// the dip for drift of the position, fails this.
func Suspicions(spec Spec, pieces []*record.Record, s *fit.Solution) []fit.Reason {
	n := numbersOf(s.Params)
	var out []fit.Reason
	about := ""
	unless := func(told string) func(format string, args ...any) { // the record tells this parameter
		return func(format string, args ...any) {
			x := fit.Against(fit.OverFitted, "%s", about+fmt.Sprintf(format, args...))
			if told != "" {
				x.Params = []string{told}
			}
			out = append(out, x)
		}
	}
	say := unless("")
	u := namesOf(spec.Rotary)
	pieces = slices.DeleteFunc(slices.Clone(pieces), func(d *record.Record) bool { // those whose position is not there or does not change
		return len(d.Position) <= 2*halfWindow || !(d.Dt > 0) || numeric.Span(d.Position) == 0
	})
	vmax, travel, step := ranges(pieces)
	for _, w := range n.ways {
		if len(pieces) > 0 && w.s2 < 0 && w.fc+w.s2*vmax < 0 {
			say("viscous friction %.4g %s%s is negative and outweighs Coulomb friction at %.3g %s: the contact would drive the axis", w.s2,
				u.unitDamp, w.name, vmax, u.unitV)
		}
	}
	if !n.bristle {
		return out
	}
	about = overfitted
	// levels
	for _, w := range n.ways {
		switch ratio := (w.fc + w.rise) / w.fc; {
		case !n.breaks:
		case ratio > maxFsRatio:
			say("break-away friction %.4g %s%s is %.2g times Coulomb friction: contacts of machine parts have 1 to %.1f", w.fc+w.rise, u.unitF,
				w.name, ratio, maxFsRatio)
		case ratio <= 1.01*minFsRatio:
			say("break-away friction%s is at its lower limit, %g of Coulomb friction", w.name, minFsRatio)
		}
	}
	if len(pieces) == 0 {
		return out
	}
	// speeds
	switch dt := pieces[0].Dt; {
	case !n.dips:
	case n.vs > maxVsRatio*vmax:
		unless("vs")("Stribeck velocity %.3g %s, but the axis moves at %.3g %s at most: dip and viscous friction cannot be told apart", n.vs,
			u.unitV, vmax, u.unitV)
	case n.vs < step/(20*dt):
		unless("vs")("Stribeck velocity %.3g %s is below what the steps of the position can show", n.vs, u.unitV)
	}
	// deflections
	fs := 0.0
	for _, w := range n.ways {
		fs = max(fs, w.fc+max(w.rise, 0))
	}
	switch bend := fs / n.sigma0; {
	case bend < 2*step:
		unless("sigma0")("the bristle gives way after %.2g %s, within two steps of the position of %.2g %s: there is no bristle in this "+
			"record, sigma0 and sigma1 stand for a contact that is rigid here. Take a dry law, such as --law stribeck-bo-pavelescu or coulomb",
			bend, u.unitX, step, u.unitX)
	case bend > maxBendShare*travel:
		unless("sigma0")("the bristle bends %.2g %s before it gives way, %.0f %% of the travel: that is a spring, not a contact", bend, u.unitX,
			100*bend/travel)
	}
	if f0 := math.Sqrt(n.sigma0/n.m) / (2 * math.Pi); f0 > 0.5/pieces[0].Dt {
		unless("sigma0")("the bristle mode is at %.3g Hz, above half the sampling rate: the record cannot show it. Sample faster, or take a dry "+
			"law, such as --law stribeck-bo-pavelescu or coulomb", f0)
	}
	switch zeta := n.sigma1 / (2 * math.Sqrt(n.sigma0*n.m)); {
	case !n.damps:
	case zeta < minZeta:
		unless("sigma1")("the bristle mode has hardly any damping, %.2g of critical: the data say nothing of sigma1", zeta)
	case zeta > maxZeta:
		say("the bristle damping is %.2g of critical: sigma1 acts as viscous friction at reversals", zeta)
	}
	if n.breaks && n.dips && n.damps {
		for _, said := range n.contradicted(spec, pieces, u) {
			say("%s", said)
		}
	}
	return out
}

// numbers of a contact, from the names of its parameters.
type numbers struct {
	m, sigma0, sigma1, vs, offset, lag float64
	ways                               []way
	bristle                            bool // has a stiffness and a Coulomb level
	breaks                             bool // has a break-away level of its own
	dips                               bool // has a Stribeck velocity
	damps                              bool // has a damping of the bristle
}

type way struct {
	name string
	sign float64 // of the motion; 0: both
	side
}

func numbersOf(params []fit.Param) numbers {
	by := map[string]float64{}
	has := func(name string) bool { _, ok := by[name]; return ok }
	for _, p := range params {
		by[p.Name] = p.Value
	}
	n := numbers{m: by["M"] + by["J"], sigma0: by["sigma0"], sigma1: by["sigma1"], vs: by["vs"], offset: by["offset"], lag: by["lag"]}
	n.bristle = n.m > 0 && n.sigma0 > 0
	n.breaks, n.dips, n.damps = has("Fs") || has("dFs"), n.vs > 0, has("sigma1")
	for _, w := range []way{{name: "", sign: 0}, {name: "+", sign: 1}, {name: "-", sign: -1}} {
		if !has("Fc" + w.name) {
			continue
		}
		w.fc, w.s2 = by["Fc"+w.name], by["Fv"+w.name]+by["sigma2"+w.name]
		w.rise = by["dFs"]
		if has("Fs" + w.name) {
			w.rise = by["Fs"+w.name] - w.fc
		}
		w.rise = max(w.rise, (minFsRatio-1)*w.fc)
		w.name = map[float64]string{0: "", 1: " forward", -1: " backward"}[w.sign]
		n.bristle = n.bristle && w.fc > 0
		n.ways = append(n.ways, w)
	}
	n.bristle = n.bristle && len(n.ways) > 0
	return n
}

// ranges of the motion: the highest speed, the travel and the smallest step of the position.
func ranges(pieces []*record.Record) (vmax, travel, step float64) {
	step = math.Inf(1)
	for _, d := range pieces {
		q := d.Position
		travel = max(travel, numeric.Span(q))
		for k := 1; k < len(q); k++ {
			if s := math.Abs(q[k] - q[k-1]); s > 0 {
				step = min(step, s)
			}
		}
		for k := halfWindow; k < len(q)-halfWindow; k++ {
			vmax = max(vmax, math.Abs(q[k+halfWindow]-q[k-halfWindow])/(2*halfWindow*d.Dt))
		}
	}
	return vmax, travel, step
}

// halfWindow is half the number of samples over which motion and force are averaged.
const halfWindow = 4

// contradicted compares the friction of the model, its bristle dragged along the recorded motion, with what the records leave
// for friction, u − M·a − offset, where the axis slides within the dip.
func (n *numbers) contradicted(spec Spec, pieces []*record.Record, u names) (out []string) {
	forces := slices.DeleteFunc(slices.Clone(pieces), func(d *record.Record) bool { return len(d.Force) != len(d.Position) })
	if len(forces) == 0 {
		return nil
	}
	for _, w := range n.ways {
		var seen, square, model float64
		count := 0
		for _, d := range forces {
			drag, h, q := n.dragged(d.Position, d.Dt), d.Dt, d.Position
			held := windowOf(-0.5-n.lag/h, 0.5-n.lag/h, spec.Hold == Linear)
			slid := 0.0 // since the last reversal
			for k := 1; k < len(q); k++ {
				dx := q[k] - q[k-1]
				if dx*slid < 0 {
					slid = 0
				}
				slid += dx
				if k < halfWindow || k+halfWindow >= len(q) {
					continue
				}
				v := (q[k+halfWindow] - q[k-halfWindow]) / (2 * halfWindow * h)
				dip := math.Exp(-(v / n.vs) * (v / n.vs))
				// in this direction all the time, and no longer held by the bristle
				one := v*(q[k+halfWindow]-q[k]) > 0 && v*(q[k]-q[k-halfWindow]) > 0
				if w.sign*v < 0 || dip < 0.3 || !one || math.Abs(slid) < (w.fc+max(w.rise, 0))/n.sigma0 {
					continue
				}
				var force, f float64 // with the weights that the second difference gives to the acceleration
				for j := 1 - halfWindow; j < halfWindow; j++ {
					weight := float64(halfWindow-max(j, -j)) / (halfWindow * halfWindow)
					force += weight * held.meanOf(d.Force, k+j)
					f += weight * drag[k+j]
				}
				a := (q[k+halfWindow] - 2*q[k] + q[k-halfWindow]) / (halfWindow * halfWindow * h * h)
				sign := math.Copysign(1, v)
				left := sign * (force - n.m*a - n.offset)
				seen, square, model = seen+left, square+left*left, model+sign*f
				count++
			}
		}
		if count < fewSlow {
			out = append(out, fmt.Sprintf("only %d samples slide%s more slowly than the Stribeck velocity of %.3g %s: the dip rests on the "+
				"reversals alone", count, w.name, n.vs, u.unitV))
			continue
		}
		c := float64(count)
		mean := seen / c
		// neighbours share their averages: every 2·smooth samples count as one
		dev := math.Sqrt(max(0, square/c-mean*mean) * 2 * halfWindow / c)
		if off := model/c - mean; math.Abs(off) > max(offForce*w.fc, 3*dev) {
			out = append(out, fmt.Sprintf("sliding%s below the Stribeck velocity takes %.3g ± %.2g %s in the record, %.3g %s in the model: the "+
				"dip is not friction", w.name, mean, dev, u.unitF, model/c, u.unitF))
		}
	}
	return out
}

// dragged is the friction of the model along a recorded motion, without the offset, at the samples: the mean of the exact
// steps before and after [theory §4.2].
func (n *numbers) dragged(q []float64, h float64) []float64 {
	var laws []*friction.LuGre
	for _, w := range n.ways {
		laws = append(laws, &friction.LuGre{Sigma0: n.sigma0, Sigma1: n.sigma1, Sigma2: w.s2, Fc: w.fc, Fs: w.fc + w.rise, Vs: n.vs})
	}
	f, z := make([]float64, len(q)), []float64{0}
	for k := 1; k < len(q); k++ {
		in, law := friction.Input{Dt: h, V: (q[k] - q[k-1]) / h}, laws[0]
		if in.V < 0 {
			law = laws[len(laws)-1]
		}
		force := law.Step(z, in)
		f[k-1] += force / 2
		f[k] += force / 2
	}
	return f
}

// scattered compares the ends of several descents (Extra "starts" of fit.MultiStart): parameters that differ among fits that
// are equally good.
func scattered(s *fit.Solution) (out []string) {
	starts, _ := s.Extra["starts"].([]fit.Start)
	lowest := math.Inf(1)
	for _, e := range starts {
		lowest = min(lowest, e.RMS)
	}
	for _, i := range s.FreeParams {
		p := &s.Params[i]
		lo, hi := math.Inf(1), math.Inf(-1)
		same := 0
		for _, e := range starts {
			if i < len(e.Theta) && e.RMS <= 1.003*lowest {
				lo, hi = min(lo, e.Theta[i]), max(hi, e.Theta[i])
				same++
			}
		}
		if same > 1 && lo > 0 && hi > maxScatter*lo {
			out = append(out, fmt.Sprintf("%s is anything from %.3g to %.3g %s in %d fits that are equally good", p.Name, lo, hi, p.Unit, same))
		}
	}
	return out
}
