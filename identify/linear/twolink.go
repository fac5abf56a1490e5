package linear

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hilrig/engine/numeric"
	"hilrig/identify/filter"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

// Two joints in a plane. The first link turns by q1 about a fixed axis (zero: hanging), the second by q2 against the first.
// Inverse dynamics is linear in the base parameters [KD04], here in the form
//
//	τ1 = (J1 + 2·mlc·cos q2)·a1 + (J12 + mlc·cos q2)·a2 − mlc·sin q2·(2·v1·v2 + v2²)
//	     + mgs1·sin q1 + mgs2·sin(q1 + q2) + mgc1·cos q1 + mgc2·cos(q1 + q2) + friction of joint 1
//	τ2 = (J12 + mlc·cos q2)·a1 + J2·a2 + mlc·sin q2·v1² + mgs2·sin(q1 + q2) + mgc2·cos(q1 + q2) + friction of joint 2
//
// J1 is the inertia about joint 1 but for the part that changes with q2, J2 that about joint 2, mlc the second mass times the
// first length times the distance of its centre from joint 2. J12 would equal J2; a motor at the joint, whose rotor turns
// with a gear, adds to J2 and not or otherwise to J12, so they are two. mgs2 = g·mlc/l1 is not tied to mlc, which tells the
// length l1 of the first link. Of a Spec's terms, inertia stands for the four of inertia, gravity-sin and gravity-cos for two
// each, and a friction term or offset for one at each joint: 12 parameters for inertia, gravity-sin, viscous, coulomb, offset.
//
// The rows of both joints are solved together, as one system with equal weights. Each joint is a piece for the tests of
// residuals; that the residuals of the two joints at one time may go together is not looked at.

// JointOptions say how two joints were recorded.
type JointOptions struct {
	Absolute bool `yaml:"absolute" doc:"the second angle counts from the same line as the first, not from the first link"`

	// Undriven: nobody drives the arm, and the sum of all columns times their parameters is zero. All parameters could be scaled
	// together: they come out as ratios to mgs2, from the direction in which the columns, scaled to one length, come nearest
	// to zero. Least squares with one of them on the left would take its noise for that of all and shrink the others. There
	// is no motor: J12 = J2.
	Undriven bool `yaml:"free" doc:"nobody drives the arm: parameters are ratios to mgs2"`
}

// TwoJoint fits two joints; the records of a piece hold one joint each, on the same grid of time. Rows, filters and errors
// are as those of InverseDynamics.
func TwoJoint(first, second []*record.Record, s Spec, o JointOptions) (*Result, error) {
	recs, err := paired(first, second)
	if err != nil {
		return nil, err
	}
	s.Rotary = true
	if o.Undriven {
		s.Lag = LagFixed
	}
	r, err := fitted(recs, s, Direct, Options{}, func(s Spec, recs []*record.Record) (*form, error) { return s.twoJoints(recs, o) })
	if err != nil {
		return nil, err
	}
	for _, e := range r.Estimates {
		if strings.HasPrefix(e.Symbol, "F") && e.RobustCI95[1] < 0 {
			r.sol.Notes = append(r.sol.Notes, fmt.Sprintf("%s is negative (%.3g %s): friction does not drive; it makes up for what the other "+
				"terms of friction miss", e.Symbol, e.Value, e.Unit))
		}
	}
	return r, nil
}

// ExplainJoints is Explain for the result of TwoJoint.
func (r *Result) ExplainJoints(first, second []*record.Record) (*fit.Solution, error) {
	recs, err := paired(first, second)
	if err != nil {
		return nil, err
	}
	return r.Explain(recs...)
}

// byJoint adds how well each joint is explained.
func (reg *regression) byJoint(s *fit.Solution) {
	var y, e [2][]float64
	reg.eachPiece(func(rec, from, to int) {
		joint := reg.form.joint(rec)
		y[joint] = append(y[joint], s.Measured[from:to]...)
		e[joint] = append(e[joint], s.Residual[from:to]...)
	})
	s.Extra = map[string]any{}
	for i := range y {
		percent, rms := fit.Percent(y[i], e[i]), numeric.RMS(e[i])
		s.Extra[fmt.Sprintf("fit_percent_joint%d", i+1)], s.Extra[fmt.Sprintf("rms_joint%d", i+1)] = percent, rms
		s.Notes = append(s.Notes, strings.TrimSpace(fmt.Sprintf("joint %d alone: fit %.1f %%, rms %.3g %s", i+1, percent, rms, s.Unit)))
	}
}

// paired puts the two records of every piece behind each other.
func paired(first, second []*record.Record) ([]*record.Record, error) {
	if len(first) != len(second) || len(first) == 0 {
		return nil, &record.Error{Msg: fmt.Sprintf("two joints: %d pieces of the first and %d of the second, want as many, and at least one",
			len(first), len(second))}
	}
	var recs []*record.Record
	for i, a := range first {
		b := second[i]
		if a.Len() != b.Len() || math.Abs(a.Dt-b.Dt) > 1e-9*a.Dt || a.Start != b.Start {
			return nil, a.Fail(0, "Read both joints from the same rows of the same file.",
				"two joints: the first has %d samples every %g s from %g s, the second %d every %g s from %g s", a.Len(), a.Dt, a.Start, b.Len(), b.Dt,
				b.Start)
		}
		recs = append(recs, a, b)
	}
	return recs, nil
}

// twoJoints is the form of two joints; records come in pairs.
func (s Spec) twoJoints(recs []*record.Record, o JointOptions) (*form, error) {
	if o.Undriven && !s.hasTerm(GravitySin) {
		return nil, &SpecError{Problems: []string{"terms: a free arm is measured by its weight: gravity-sin is needed"}}
	}
	driven := recs
	if o.Undriven { // there may be no column of force
		driven = nil
		for _, d := range recs {
			c := *d
			c.Force = c.Position
			driven = append(driven, &c)
		}
	}
	m, err := s.direct(driven, s.MinVelocity == FromRecord)
	if err != nil {
		return nil, err
	}
	m.columns, m.joints, m.undriven = s.jointColumns(o), true, o.Undriven
	angles := func(rec, from, to int) (x1, x2 []float64) {
		x1, x2 = recs[rec-rec%2].Position[from:to], recs[rec-rec%2+1].Position[from:to]
		if o.Absolute {
			x2 = slices.Clone(x2)
			floats.Sub(x2, x1)
		}
		return x1, x2
	}
	m.track = func(low filter.Lowpass, rec, from, to int) track {
		x1, x2 := angles(rec, from, to)
		return m.f.sampled(recs[rec].Dt).ofJoint(low, rec%2, x1, x2, o)
	}
	if o.Undriven {
		m.sides = func(rec, from, to int, p places, quiet track, moving []bool) rows {
			of := m.cachedTrack(&m.f.positionLowpass, rec, from, to)
			out := m.rows(of, p, quiet.v, moving)
			out.y = make([]float64, p.n)
			m.f.side(of.column(nil, "gravity-sin2", quiet.v), moving, p, out.y)
			floats.Scale(-1, out.y)
			return out
		}
	}
	return m, nil
}

// evenNoise is that of a free arm: every column has as much as it is large.
func (r *regression) evenNoise() {
	r.unit, r.quantity = "", "moment over mgs2"
	p, n := len(r.columns), float64(len(r.y))
	r.noise, r.noiseY = make([]float64, p*p), floats.Dot(r.y, r.y)/n
	for j, col := range r.w {
		r.noise[j*p+j] = floats.Dot(col, col) / n
	}
}

// The columns that both joints share, named by their parameters.
const (
	inertia1  Term = "inertia1"
	inertia12 Term = "inertia12"
	inertia2  Term = "inertia2"
	coupling  Term = "coupling"
)

// jointColumns names the columns.
func (s Spec) jointColumns(o JointOptions) []column {
	var out []column
	add := func(term Term, name, unit string) {
		if o.Undriven {
			name += "/mgs2"
			unit = map[string]string{"kg·m²": "s²", "N·m·s/rad": "s/rad", "N·m/rad": "1/rad", "N·m": ""}[unit]
		}
		out = append(out, column{term, name, unit})
	}
	if s.hasTerm(Inertia) {
		add(inertia1, "J1", "kg·m²")
		if !o.Undriven {
			add(inertia12, "J12", "kg·m²")
		}
		add(inertia2, "J2", "kg·m²")
		add(coupling, "mlc", "kg·m²")
	}
	for joint := 1; joint <= 2; joint++ {
		for _, t := range s.Terms {
			if t == Inertia || o.Undriven && joint == 2 && t == GravitySin {
				continue
			}
			base, name := string(t), t.symbol(true)
			sign := ""
			if strings.HasSuffix(base, "+") || t == ViscousMinus || t == CoulombMinus {
				sign = base[len(base)-1:]
			}
			label := func(x string) string { return fmt.Sprintf("%s%d%s", strings.TrimSuffix(x, sign), joint, sign) }
			add(Term(label(base)), label(name), s.unitOf(t))
		}
	}
	return out
}

// ofJoint is the track of one of two joints, with the columns of its equation.
func (f *filters) ofJoint(low filter.Lowpass, joint int, x1, x2 []float64, o JointOptions) track {
	q1, v1, a1 := low.Motion(x1, f.dt)
	q2, v2, a2 := low.Motion(x2, f.dt)
	at := func(x []float64) func(k int) float64 { return func(k int) float64 { return x[k] } }
	sin := func(k int) float64 { return math.Sin(q1[k] + q2[k]) }
	cos := func(k int) float64 { return math.Cos(q1[k] + q2[k]) }
	shared := map[Term][2]func(k int) float64{
		inertia1: {at(a1), nil}, inertia12: {at(a2), at(a1)}, inertia2: {nil, at(a2)},
		coupling: {func(k int) float64 {
			sin, cos := math.Sincos(q2[k])
			return cos*(2*a1[k]+a2[k]) - sin*v2[k]*(2*v1[k]+v2[k])
		}, func(k int) float64 {
			sin, cos := math.Sincos(q2[k])
			return cos*a1[k] + sin*v1[k]*v1[k]
		}},
		"gravity-sin2": {sin, sin}, "gravity-cos2": {cos, cos},
	}
	if o.Undriven { // J12 is J2
		shared[inertia2] = [2]func(k int) float64{at(a2), func(k int) float64 { return a1[k] + a2[k] }}
	}
	return track{v: [2][]float64{v1, v2}[joint], column: func(room []float64, t Term, way []float64) []float64 {
		if both, ok := shared[t]; ok {
			if both[joint] == nil {
				return nil
			}
			x := make([]float64, len(q1))
			for k := range x {
				x[k] = both[joint](k)
			}
			return x
		}
		base := Term(strings.NewReplacer("1", "", "2", "").Replace(string(t)))
		switch {
		case strings.Contains(string(t), "1") && joint == 0:
			return base.column(room, q1, v1, a1, way)
		case strings.Contains(string(t), "2") && joint == 1:
			return base.column(room, q2, v2, a2, way)
		}
		return nil
	}}
}
