package machine

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/multibody"
	"hilrig/engine/numeric"
	"hilrig/identify/fit"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// A machine of one joint is an axis. It is fitted by the regression of axes, with its base parameters as columns: inertia and weight of
// its body in place of inertia and gravity of an axis. Settings that are left open are those of an axis too.

// axisSpec is what the regression of an axis is asked for; nil: the machine has more joints, or wants what an axis has not.
func (r *Result) axisSpec(s Spec) *linear.Spec {
	passive := len(s.Passive) > 0 && s.Passive[0]
	if r.Model.NV() != 1 || s.RawSigns || s.Instruments == UseEstimate || passive || len(r.Base.knownColumns) > 0 {
		return nil
	}
	out := &linear.Spec{Rotary: !r.prismatic(0), Order: s.Order, Cutoff: s.Cutoff, Decimate: s.Decimate, Trim: s.Trim,
		MinVelocity: FromRecord, Lag: linear.LagFixed,
		Joint: &linear.Joint{Names: map[linear.Term]string{"lag": JointName(r.Model, 0) + ".lag"}, Units: map[linear.Term]string{},
			Inertial: map[linear.Term]linear.Inertial{}}}
	if len(s.MinVelocity) > 0 {
		out.MinVelocity = s.MinVelocity[0]
	}
	for _, t := range s.Terms {
		if t == Lag {
			out.Lag = linear.LagAuto
		}
	}
	for i, k := range r.Base.Pivot {
		c := &r.Base.Columns[k]
		var t linear.Term
		switch {
		case c.Inertial >= 0 || c.Term == Armature:
			own := r.aboutAxis(c)
			has := func(t linear.Term) bool { _, yes := out.Joint.Inertial[t]; return yes }
			switch sine := math.Abs(own.Sin) >= math.Abs(own.Cos); {
			case own.Mass != 0 && !has(linear.Inertia):
				t = linear.Inertia
			case !has(linear.GravitySin) && (sine || has(linear.GravityCos)):
				t = linear.GravitySin
			case !has(linear.GravityCos):
				t = linear.GravityCos
			default:
				return nil
			}
			out.Joint.Inertial[t] = own
		default:
			t = map[Term][3]linear.Term{Viscous: {linear.ViscousMinus, linear.Viscous, linear.ViscousPlus},
				Coulomb: {linear.CoulombMinus, linear.Coulomb, linear.CoulombPlus},
				Offset:  {"", linear.Offset, ""}, Stiffness: {"", linear.Stiffness, ""}}[c.Term][1+c.Sense]
		}
		out.Terms = append(out.Terms, t)
		out.Joint.Names[t], out.Joint.Units[t] = r.Base.Name(i), c.Unit
	}
	return out
}

// aboutAxis is the column of an inertial parameter or rotor of the only joint.
func (r *Result) aboutAxis(c *Column) linear.Inertial {
	d, wide := r.Model.NewData(), multibody.BodyParams*r.Model.Bodies()
	row := make([]float64, wide)
	at := func(q, a float64) float64 {
		multibody.Regressor(r.Model, d, []float64{q}, []float64{0}, []float64{a}, row)
		return c.value(0, row, 0)
	}
	exact := func(x float64) float64 { // sines of right angles leave rounding
		if math.Abs(x) < 1e-12 {
			return 0
		}
		return x
	}
	zero, quarter, half := at(0, 0), at(math.Pi/2, 0), at(math.Pi, 0)
	out := linear.Inertial{Mass: exact(at(0, 1) - zero), Constant: exact((zero + half) / 2), Cos: exact((zero - half) / 2)}
	out.Sin = exact(quarter - out.Constant)
	if r.prismatic(0) {
		out.Constant, out.Sin, out.Cos = exact(zero), 0, 0
	}
	return out
}

// fitAlone fits a machine of one joint as an axis. false: it is not done so.
func (r *Result) fitAlone(asked Spec, recs []Recording) (bool, error) {
	spec := r.axisSpec(asked)
	if spec == nil {
		return false, nil
	}
	var flat []*record.Record
	for _, d := range withoutSpikes(recs) {
		flat = append(flat, d[0])
	}
	found, err := linear.Fit(flat, *spec, linear.Direct, linear.Options{Unattenuated: true})
	var unknown *linear.Unidentifiable
	if errors.As(err, &unknown) { // one direction is refused there too; what else is not told stays as it is in the file, and is named
		return false, nil
	}
	if err != nil {
		return true, err
	}
	r.Axis, r.AxisSpec, r.RawRecords = found, *spec, recs
	r.fillFromAxis(found)
	return true, nil
}

// fillFromAxis makes a result of that of an axis.
func (r *Result) fillFromAxis(found *linear.Result) {
	sol := found.Solution()
	if lag := found.Lag(); found.Lagged() {
		r.Base = r.Base.timed(r.Model, &timing{lag: []float64{lag}, lagFree: []bool{true}})
	}
	r.Start, r.Solution, r.HalfCutoff, r.Warnings = r.Base.Of(r.Base.Start()), sol, found.HalfCutoff, found.Warnings
	r.rest, r.rowTime = []float64{found.Spec.MinVelocity}, sol.Dt
	p := len(sol.Params)
	b := block{y: append([]float64(nil), sol.Residual...), q: sol.Position, v: sol.Velocity, w: make([][]float64, p)}
	for k := range p {
		b.w[k] = make([]float64, len(b.y))
		for row := range b.w[k] {
			b.w[k][row] = sol.Jac[row*p+k]
		}
		floats.AddScaled(b.y, sol.Params[k].Value, b.w[k])
		r.Values, r.FreeParams = append(r.Values, sol.Params[k].Value), append(r.FreeParams, k)
	}
	for row := range b.y {
		b.gridPlaces = append(b.gridPlaces, row)
	}
	for _, e := range found.Estimates {
		r.Share = append(r.Share, e.Share)
	}
	r.sys = &system{base: r.Base, blocks: []block{b}, joints: 1, start: r.Start, freeParams: r.FreeParams, theta: r.Values,
		sigma: []float64{1}}
	if rms := numeric.RMS(sol.Residual); rms > 0 {
		r.sys.sigma[0] = rms
	}
	r.sys.factor()
	r.Joints = r.explain(&prepared{blocks: r.sys.blocks, slowRows: []int{found.SlowRows}}, r.Values)
	r.combineJointErrors(r.sys.blocks)
	r.GivenErr = r.uncertainAlone()
}

// uncertainAlone is uncertain of the only joint, but for its gain: what another zero and another direction of gravity make.
func (r *Result) uncertainAlone() []float64 {
	l := &lack{r: r, rows: len(r.Solution.Residual)}
	if phi := r.inertialParams(); phi != nil {
		rows := make([]gridRow, l.rows)
		for k, q := range r.Solution.Position {
			rows[k] = gridRow{q: []float64{q}, v: []float64{0}, a: []float64{0}}
		}
		was := r.torquesAt(r.Model, phi, rows)
		for _, v := range l.variants() {
			if v.uncertainty == 0 || v.kind == "length" {
				continue
			}
			now, c := l.torques(&v, phi, rows), make([]float64, l.rows)
			for k := range c {
				c[k] = (now[k][0] - was[k][0]) / v.size
			}
			l.givenColumns = append(l.givenColumns, givenColumn{"", v.uncertainty, c})
		}
	}
	errs, _ := l.uncertain()
	return errs
}

// Unsure are the standard uncertainties of the free parameters by what was given, by name.
func (r *Result) Unsure() map[string]float64 {
	out := map[string]float64{}
	for j, k := range r.FreeParams {
		out[r.Base.Name(k)] = r.GivenErr[j]
	}
	return out
}

// explainAlone is Explain of the only joint.
func (r *Result) explainAlone(recs []Recording) (*fit.Solution, []Joint, []string, error) {
	var flat []*record.Record
	for _, d := range withoutSpikes(recs) {
		flat = append(flat, d[0])
	}
	s, err := r.Axis.Explain(flat...)
	if err != nil {
		return nil, nil, nil, err
	}
	j := r.Joints[0]
	j.explain(s.Measured, s.Residual)
	j.SlowRows = 0
	return s, []Joint{j}, s.Notes, nil
}
