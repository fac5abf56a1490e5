package identify

import (
	"math"
	"slices"
	"strings"

	"hilrig/engine/friction"
	"hilrig/identify/fit"
)

// Solution is what the last method found, row by row: what was measured, what the model leaves over, and the motion. nil: the result
// was read from a file.
func (r *Result) Solution() *fit.Solution { return r.solution }

// UnweightedSolution is Solution in the unit of the record: of a weighted fit, the same parameters on the same records without weights.
// nil: there is none.
func (r *Result) UnweightedSolution() *fit.Solution {
	if r.Weighted {
		return r.unweighted
	}
	return r.solution
}

// Validated are the rows of the validation. nil: there was none.
func (r *Result) Validated() *fit.Solution { return r.checked }

// FrictionRows is the friction of an axis along its record: the force of the drive less inertia and loads.
type FrictionRows struct {
	Velocity     []float64 // m/s or rad/s
	Position     []float64 // m or rad; nil: not known at the rows
	Force        []float64 // N or N·m, measured
	Model        []float64 // and what the model says of it at that row, with the state of its bristles
	Pieces       []int     // first row of every piece; nil: one
	SteadyLevels bool      // rows are means at constant velocities, no series in time
	Unit         string    // of the force
}

// loads are the parameters of the force on an axis that are not friction. The force is linear in them.
var loads = []string{"M", "J", "offset", "k", "kd", "mgs", "mgc"}

// FrictionRows takes the friction out of the rows of a fit. nil: the fit explains no force of one axis along a motion that is known, or
// the result was read from a file.
func (r *Result) FrictionRows() *FrictionRows {
	s := r.UnweightedSolution()
	if r.alongMotion != nil {
		s = r.alongMotion()
	}
	if s == nil {
		return nil
	}
	v := s.Velocity
	if len(v) != len(s.Measured) || len(v) == 0 || !strings.HasPrefix(s.Unit, "N") || len(r.tops) > 1 {
		return nil
	}
	out := &FrictionRows{Velocity: v, Force: slices.Clone(s.Measured), Pieces: s.Pieces, Unit: s.Unit, SteadyLevels: s.Dt == 0}
	if len(s.Position) == len(v) {
		out.Position = s.Position
	}
	for i, p := range s.Params {
		if !slices.Contains(loads, r.axisName(p.Name)) {
			continue
		}
		j := slices.Index(s.FreeParams, i)
		for k := range out.Force {
			switch {
			case j >= 0 && len(s.Jac) > 0:
				out.Force[k] -= p.Value * s.Jac[k*len(s.FreeParams)+j]
			case p.Name == "offset" && len(s.Jac) == 0:
				out.Force[k] -= p.Value
			}
		}
	}
	out.Model = make([]float64, len(v))
	for k, f := range out.Force {
		out.Model[k] = f - s.Residual[k]
	}
	return out
}

// freedLoads frees the loads among the parameters, so that the derivatives of a solution of inverse tell their forces.
func freedLoads(params []fit.Param) []fit.Param {
	params = slices.Clone(params)
	for i := range params {
		if p := &params[i]; slices.Contains(loads, p.Name) && p.Value != 0 {
			p.Fixed = false
		}
	}
	return params
}

// FrictionAt is the friction of long sliding at v ≠ 0 (m/s or rad/s) by the parameters of the result, and its standard error from their
// covariance to first order (delta method); +Inf where that is not known. ok is false where the parameters have no steady friction.
func (r *Result) FrictionAt(v float64) (force, err float64, ok bool) {
	theta := make([]float64, len(r.Parameters))
	for i, p := range r.Parameters {
		theta[i] = p.Value
	}
	force, ok = r.steadyForce(theta, v)
	if !ok {
		return 0, 0, false
	}
	slope := make([]float64, len(theta))
	for i := range r.Parameters {
		p := &r.Parameters[i]
		if p.Fixed || fit.IsState(p.Name) {
			continue
		}
		h := 1e-5 * math.Abs(p.Value)
		if se := r.Err(p); h == 0 && se != nil {
			h = 1e-3 * *se
		}
		theta[i] = p.Value + h
		up, okUp := r.steadyForce(theta, v)
		theta[i] = p.Value - h
		down, okDown := r.steadyForce(theta, v)
		theta[i] = p.Value
		if okUp && okDown && h > 0 {
			slope[i] = (up - down) / (2 * h)
		}
	}
	return force, r.errOf(slope), true
}

// steadyForce is the friction at v by the parameters with the values theta: that of the law, with the parameters of the direction of v, and
// viscous friction beside it. Without a law it is Coulomb and viscous friction.
func (r *Result) steadyForce(theta []float64, v float64) (force float64, ok bool) {
	side := "+"
	if v < 0 {
		side = "-"
	}
	value := func(name string) (float64, bool) {
		i := slices.IndexFunc(r.Parameters, func(p Parameter) bool { return p.Name == name+side || p.Name == name })
		if i < 0 {
			return 0, false
		}
		return theta[i], true
	}
	info, known := friction.Find(r.Model.Law)
	viscous := false // by the law
	if !known || r.Model.Law == sliding {
		force, ok = value("Fc")
		force = math.Copysign(force, v)
	} else {
		law := info.NewLaw()
		params := law.Params()
		set := make([]float64, len(params))
		for i, p := range params {
			x, found := value(p.Name)
			if rise, by := value("dFs"); by && p.Name == "Fs" {
				fc, _ := value("Fc")
				x, found = fc+rise, true
			}
			switch {
			case found:
				set[i], ok = x, true
			case !slices.Contains([]string{"Fv", "sigma2", "alpha2", "offset"}, p.Name):
				set[i] = p.Value
			}
			viscous = viscous || p.Name == "Fv"
		}
		if law.SetParams(set) != nil {
			return 0, false
		}
		force = law.SteadyForce(v) - law.Levels().Offset
	}
	if fv, has := value("Fv"); has && !viscous {
		force, ok = force+fv*v, true
	}
	return force, ok && force-force == 0
}
