package ball

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hilrig/engine/plant/ball"
	"hilrig/identify/fit"
)

// Uncertainty is the standard uncertainty of numbers that are given and not searched, as a share of themselves, of center and markers as a
// share of the radius. 0: exact.
type Uncertainty struct{ Radius, Mass, Inertia, Center, Markers, Gravity float64 }

// Assumption is a number that comes from the file, not from the recording.
type Assumption struct {
	Name        string             `json:"name"`
	Unit        string             `json:"unit"`
	Value       float64            `json:"value"`
	Uncertainty float64            `json:"uncertainty"` // standard
	ParamMoves  map[string]float64 `json:"moves"`       // by which so much more of it moves the parameters, with nothing else changed
}

// Group is what an assumption is one of, for people.
func (a *Assumption) Group() fit.GivenNumber {
	switch {
	case IsMoment(a.Name):
	case a.Name[0] == 'I':
		return fit.GivenNumber{Name: "products of inertia", Uncertainty: a.Uncertainty, Unit: "kg·m²"}
	case a.Name[0] == 'c':
		return fit.GivenNumber{Name: "centre of mass", Uncertainty: a.Uncertainty, Unit: "m"}
	case strings.HasPrefix(a.Name, "marker"):
		return fit.GivenNumber{Name: "places of markers", Uncertainty: a.Uncertainty, Unit: "m"}
	}
	return fit.GivenNumber{Name: a.Name, Uncertainty: 100 * a.Uncertainty / math.Abs(a.Value), Unit: "%"}
}

// Doubt is what numbers that were assumed do to a parameter.
type Doubt struct {
	Shift  float64 // by which it would move if they were what the recording says of them, beside what was given
	Spread float64 // standard error that their uncertainty adds, as far as the recording does not take it away
}

// fixed are the numbers of a setup that are not searched, with the kind of suspect that each belongs to.
type fixed struct {
	parameter
	kind, description, advice string
	uncertainty               float64 // in its unit
}

// givenParameters are the numbers that no fit searches.
func givenParameters() []parameter {
	share := func(part float64, of func(b *ball.Params) *float64) func(b *ball.Params) float64 {
		return func(b *ball.Params) float64 { return part * *of(b) }
	}
	radius := func(b *ball.Params) *float64 { return &b.Radius }
	mass := func(b *ball.Params) *float64 { return &b.Mass }
	gravity := func(b *ball.Params) *float64 { return &b.Gravity }
	inf := math.Inf(1)
	return []parameter{
		{"radius", "m", "of the ball", func(s *setup) *float64 { return &s.body.Radius }, false, 0, inf, share(0.1, radius)},
		{"mass", "kg", "of the ball", func(s *setup) *float64 { return &s.body.Mass }, false, 0, inf, share(0.1, mass)},
		{"gravity", "m/s²", "of free fall", func(s *setup) *float64 { return &s.body.Gravity }, false, 0, inf, share(0.1, gravity)},
	}
}

// others are the numbers that are not free.
func (c *Spec) others(free []parameter) (list []fixed) {
	b, u := &c.Body, &c.Uncertain
	inertia := (b.Inertia[0] + b.Inertia[1] + b.Inertia[2]) / 3
	all := append(parameters(), givenParameters()...)
	for _, p := range append(all, markerParameters(len(c.Markers))...) {
		if slices.ContainsFunc(free, func(q parameter) bool { return q.name == p.name }) {
			continue
		}
		f := fixed{parameter: p, advice: "Search it too: add " + p.name + " to free, or mend it in the file."}
		switch {
		case IsFriction(p.name):
			f.kind, f.description, f.advice = p.doc, p.doc+" that the model does not have", fmt.Sprintf("Add %s to free.", p.name)
		case p.name[0] == 'I':
			f.kind, f.description, f.advice = "inertia", "what another inertia makes", "Mend the inertia, or add Ixx, Iyy, Izz to free."
			f.uncertainty = u.Inertia * inertia
			if IsMoment(p.name) {
				f.uncertainty = u.Inertia * b.Inertia[slices.Index([]string{"Ixx", "Iyy", "Izz"}, p.name)]
			}
		case p.name[0] == 'c':
			f.kind, f.description, f.advice = "centre of mass", "what another centre of mass makes",
				"Mend the centre of mass, or add cx, cy, cz to free."
			f.uncertainty = u.Center * b.Radius
		case strings.HasPrefix(p.name, "tilt"):
			f.kind, f.description, f.advice = "fall of the plane", "what a plane makes that falls to a side", "Add tilt_x, tilt_y to free."
		case p.name == "height" || strings.HasPrefix(p.name, "lean"):
			f.kind, f.description, f.advice = "frame of the plane", "what a plane makes that lies otherwise in front of the cameras",
				"Add height, lean_x, lean_y to free."
		case strings.HasPrefix(p.name, "marker"):
			name, _, _ := strings.Cut(p.name, "_")
			f.kind, f.description, f.advice = "place of "+name, "what another place of "+name+" on the ball makes",
				"Mend its place, or add markers to free."
			f.uncertainty = u.Markers * b.Radius
		default:
			f.kind, f.description, f.advice = p.name, "what another "+p.name+" makes", "Mend it in the file."
			switch p.name {
			case "radius":
				f.uncertainty = u.Radius * b.Radius
			case "mass":
				f.uncertainty = u.Mass * b.Mass
			case "gravity":
				f.uncertainty = u.Gravity * b.Gravity
			}
		}
		list = append(list, f)
	}
	return list
}

// lacking forms what numbers of the setup that are not searched do to the markers: suspects for fit.Unmodelled, and by how much the
// uncertainty of those that were given moves the parameters. A number with an uncertainty is no suspect: the residual is looked at after it
// was moved as far as is known of it.
func (r *Result) lacking(c *Spec, s *shooting, sol *fit.Solution) {
	list := c.others(s.freeParams)
	r.Suspects, r.Assumed, r.MovedSolution, r.residualGrowth = nil, []Assumption{}, sol, 0
	o := &shooting{rec: s.rec, poses: s.poses, base: s.base.clone(), segments: s.segments}
	for i := range list {
		o.freeParams = append(o.freeParams, list[i].parameter)
	}
	o.prepare()
	ps, _ := o.params()
	columns, st := o.evaluator().Columns(fit.Values(ps))
	if st != 0 {
		r.Warnings = append(r.Warnings, "what the model may lack was not looked for: the simulation fails beside what was found")
		return
	}
	at := map[string]int{}
	for i := range list {
		f, col := &list[i], columns[i]
		if floats.Norm(col, 2) == 0 || f.uncertainty > 0 {
			continue
		}
		k, known := at[f.kind]
		if !known {
			k = len(r.Suspects)
			at[f.kind] = k
			r.Suspects = append(r.Suspects, fit.Suspect{Kind: f.kind, What: f.description, Advice: f.advice})
		}
		r.Suspects[k].Columns = append(r.Suspects[k].Columns, func(row int) float64 { return col[row] })
	}
	r.assume(list, columns, s, sol)
}

// assume solves for the parameters and the assumed numbers a together, those with what is known of them before:
//
//	|e − J·dθ − C·a|²/σ² + Σ (a/u)²   least,
//
// to first order about the solution. The move of θ is what the recording says of the assumed numbers; its covariance less that of the fit
// with exact numbers is what their uncertainty adds.
func (r *Result) assume(list []fixed, columns [][]float64, s *shooting, sol *fit.Solution) {
	n, p := len(sol.Residual), len(sol.FreeParams)
	moved := *sol
	moved.Params, moved.FreeParams = slices.Clone(sol.Params), slices.Clone(sol.FreeParams)
	var x [][]float64
	for j := range p {
		col := make([]float64, n)
		for k := range col {
			col[k] = sol.Jac[k*p+j]
		}
		x = append(x, col)
	}
	r.Doubts = map[string]Doubt{}
	linear := fit.NewLinear(sol)
	for i := range list {
		if u := list[i].uncertainty; u > 0 {
			x = append(x, floats.ScaleTo(make([]float64, n), u, columns[i]))
			a := Assumption{Name: list[i].name, Unit: list[i].unit, Value: *list[i].field(&s.base), Uncertainty: u, ParamMoves: map[string]float64{}}
			for j, move := range linear.Move(x[len(x)-1]) {
				if name := sol.Params[sol.FreeParams[j]].Name; !fit.IsState(name) {
					a.ParamMoves[name] = move
				}
			}
			r.Assumed = append(r.Assumed, a)
			moved.FreeParams = append(moved.FreeParams, len(moved.Params))
			moved.Params = append(moved.Params, list[i].fitParam(&s.base))
		}
	}
	if len(r.Assumed) == 0 {
		return
	}
	sigma := norm(sol.Residual) * math.Sqrt(float64(n)/float64(max(1, n-p)))
	theta, cov := prior(x, sol.Residual, p, sigma)
	_, own := prior(x[:p], sol.Residual, p, sigma)
	if cov == nil || own == nil {
		r.Warnings = append(r.Warnings, "what the uncertainty of assumed numbers does is not known: the recording does not tell the "+
			"parameters apart")
		return
	}
	left := slices.Clone(sol.Residual)
	far := 1.0
	r.farthest = ""
	for k, v := range theta {
		floats.AddScaled(left, -v, x[k])
		if k >= p && math.Abs(v) > far {
			far, r.farthest = math.Abs(v), r.Assumed[k-p].Name
		}
	}
	r.residualGrowth = norm(left) / norm(sol.Residual)
	moved.Residual, moved.Jac = left, make([]float64, n*len(x))
	for j, col := range x {
		unit := 1.0
		if j >= p {
			unit = r.Assumed[j-p].Uncertainty
		}
		for k, v := range col {
			moved.Jac[k*len(x)+j] = v / unit
		}
	}
	r.MovedSolution = &moved
	for j, i := range sol.FreeParams {
		r.Doubts[sol.Params[i].Name] = Doubt{theta[j], math.Sqrt(max(0, cov[j]-own[j]))}
	}
}

// prior solves x·θ = e with residuals of size sigma, all but the first free columns with θ = 0 ± 1 known before. It gives θ and the
// variances; nil where they are not told.
func prior(x [][]float64, e []float64, free int, sigma float64) (theta, variance []float64) {
	m := len(x)
	size := make([]float64, m)
	for i := range x {
		if size[i] = floats.Norm(x[i], 2); size[i] == 0 {
			size[i] = 1
		}
	}
	g, b := mat.NewSymDense(m, nil), mat.NewVecDense(m, nil)
	for i := range x {
		for j := range i + 1 {
			g.SetSym(i, j, floats.Dot(x[i], x[j])/(size[i]*size[j]))
		}
		if i >= free {
			g.SetSym(i, i, g.At(i, i)+sigma*sigma/(size[i]*size[i]))
		}
		b.SetVec(i, floats.Dot(x[i], e)/size[i])
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	var t mat.VecDense
	if !chol.Factorize(g) || chol.InverseTo(&inverse) != nil || chol.SolveVecTo(&t, b) != nil {
		return nil, nil
	}
	for i := range m {
		theta = append(theta, t.AtVec(i)/size[i])
		variance = append(variance, sigma*sigma*inverse.At(i, i)/(size[i]*size[i]))
	}
	return theta, variance
}
