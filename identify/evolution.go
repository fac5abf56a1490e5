package identify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"hilrig/engine"
	"hilrig/engine/population"
	"hilrig/identify/axis"
	"hilrig/identify/fit"

	"gonum.org/v1/gonum/floats"
)

// aep evolves a population. What it searched on is told in Extra as "simulator"; what is reported of the best member is what
// the model itself says, in steps short enough. It is a start all the same: nothing has descended to an optimum.
func (j *job) aep(ctx context.Context) (*stage, error) {
	var survivors [][]float64
	st, err := j.output(ctx, true, evolving, func(ctx context.Context, m *axis.Model, params []fit.Param) (*fit.Solution, error) {
		own, err := m.Problem(params)
		if err != nil {
			return nil, err
		}
		if len(own.Params) == 0 {
			return evaluate(own)
		}
		a, p, simulator, err := j.evolution(m, params)
		if err != nil {
			return nil, err
		}
		if j.keeper != nil {
			if data := j.keeper.Load(EvolutionKey); data != nil {
				var c fit.Checkpoint
				if err := json.Unmarshal(data, &c); err != nil {
					return nil, fmt.Errorf("checkpoint: %w", err)
				}
				a.Resume = &c
			}
			a.InitialMembers, a.Mean = carriedMembers(j.keeper.Load(PopulationKey), p)
			a.Save = func(c *fit.Checkpoint) {
				if data, err := json.Marshal(c); err == nil {
					j.keeper.Save(EvolutionKey, data)
				}
				if data, err := json.Marshal(carry{c.Names, c.Values(), c.Mean / float64(p.Rows)}); err == nil {
					j.keeper.Save(PopulationKey, data)
				}
			}
		}
		sol, err := a.Fit(ctx, p, j.watch)
		if err != nil {
			return nil, err
		}
		survivors, _ = sol.Extra["survivors"].([][]float64)
		for i, theta := range survivors { // the kernels search less than the model
			survivors[i] = fit.Values(fit.Valued(own.Params, p.At(theta).Params))
		}
		sol.Extra["simulator"] = simulator
		return bestSurvivor(own, sol, survivors)
	})
	if err == nil {
		st.survivors = survivors
		st.vary, st.resample = nil, nil // both begin at an optimum
	}
	return st, err
}

// evolving is the question of an evolution.
var evolving = question{leadBack: true, fixedGains: true, problem: (*axis.Model).Problem,
	refit: func(_ context.Context, p *fit.Problem) (*fit.Solution, error) { return fit.LM{}.At(p) }}

// evolution is an evolution on a model, with its problem and what simulates it.
func (j *job) evolution(m *axis.Model, params []fit.Param) (a fit.AEP, p *fit.Problem, simulator string, err error) {
	p, simulator, err = j.evolved(m, params)
	a = j.plan.AEP
	a.Start, a.Seed, a.Workers = true, j.plan.Seed, j.plan.Workers
	return a, p, simulator, err
}

// EvolutionKey is where a keeper has the state of an evolution, a fit.Checkpoint as JSON.
const EvolutionKey = "aep"

// Evolution gives the evolution of a plan, with its problem, and does the methods before it. With the state of its end under EvolutionKey,
// Run goes on from there as if it had evolved itself.
func Evolution(ctx context.Context, plan Plan, recs Records) (fit.AEP, *fit.Problem, error) {
	if err := recs.check(); err != nil {
		return fit.AEP{}, nil, err
	}
	j, driven := newJob(plan, recs, nil, nil), recs.withTotalForce()
	for _, name := range plan.Methods {
		method := j.begin(name, recs, driven)
		if name == EvolutionKey {
			m, params, err := j.start()
			if err != nil {
				return fit.AEP{}, nil, refusal(name, recs.Fit[0], err)
			}
			m, _, _ = ledModel(m, params, evolving)
			a, p, _, err := j.evolution(m, params)
			return a, p, err
		}
		st, err := method.run(j, ctx)
		if err != nil {
			return fit.AEP{}, nil, refusal(name, recs.Fit[0], err)
		}
		j.end(method, st)
	}
	return fit.AEP{}, nil, fmt.Errorf("there is no %s among the methods %s", EvolutionKey, plan.Methods)
}

// PopulationKey is where a keeper keeps the members of the last evolution: those of a continued evolution begin there, on whatever record.
const PopulationKey = "population"

// carry is a population as it goes from one record to the next.
type carry struct {
	Names   []string    `json:"parameters"`
	Members [][]float64 `json:"members"`         // in SI, the best first
	Mean    float64     `json:"mean_first_cost"` // of the first generation of all, per row: how far steps have become small
}

// carriedMembers are the members that a keeper has, in the parameters of a problem; what they do not have, and states,
// which are those of their record, are at its start. mean is the cost from which the evolution came. nil: there are none.
func carriedMembers(data []byte, p *fit.Problem) (members [][]float64, mean float64) {
	var c carry
	if data == nil || json.Unmarshal(data, &c) != nil {
		return nil, 0
	}
	params := p.Params
	for _, m := range c.Members {
		theta := fit.Values(params)
		for j := range theta {
			if k := slices.Index(c.Names, params[j].Name); k >= 0 && k < len(m) && !fit.IsState(params[j].Name) {
				theta[j] = m[k]
			}
		}
		members = append(members, theta)
	}
	return members, c.Mean * float64(p.Rows)
}

// Polished are the members that a keeper has with the parameters of a result before them, which a descent found from one of them; the worst
// goes. A rejected result leaves them as they are.
func Polished(data []byte, r *Result) []byte {
	var c carry
	if r.Verdict == Rejected || json.Unmarshal(data, &c) != nil || len(c.Members) == 0 {
		return data
	}
	first := slices.Clone(c.Members[0])
	for j, name := range c.Names {
		if p, ok := r.Param(name); ok && j < len(first) {
			first[j] = p.Value
		}
	}
	c.Members = append([][]float64{first}, c.Members[:len(c.Members)-1]...)
	if out, err := json.Marshal(c); err == nil {
		return out
	}
	return data
}

// bestSurvivor is the survivor of an evolution that the model p itself explains best.
func bestSurvivor(p *fit.Problem, sol *fit.Solution, survivors [][]float64) (*fit.Solution, error) {
	least, at := math.Inf(1), p
	for _, theta := range survivors {
		q := p.At(theta)
		if r := q.Residuals(); r != nil && floats.Norm(r, 2) < least {
			least, at = floats.Norm(r, 2), q
		}
	}
	s, err := fit.LM{}.At(at)
	if err != nil {
		return nil, err
	}
	s.Converged, s.Reason, s.Iterations, s.Trace = sol.Converged, sol.Reason, sol.Iterations, sol.Trace
	s.Evaluations += sol.Evaluations + len(survivors)
	s.Compute += sol.Compute
	s.Notes = append(sol.Notes, s.Notes...)
	maps.Copy(s.Extra, sol.Extra)
	return s, nil
}

// evolved is the problem of an evolution, and what simulates it. A mass on symmetric LuGre friction, driven by the force of one
// record, has batch kernels of its own, which take tens of times less. Their scheme is of first order and knows no lag, no
// viscosity below zero and no contact beyond its limit of stability; the state at the beginning stays there. Where the plan
// asks for a lag, for a free state at the beginning, and for all else, it is the model itself; where noise of the recorded force
// would take the simulation off the record, one that is led back along it.
func (j *job) evolved(m *axis.Model, params []fit.Param) (p *fit.Problem, simulator string, err error) {
	if d := j.plan.Model.Drive; d == axis.Force || d == axis.Servo {
		params = j.nearer(params)
	}
	spec := &j.plan.Model
	plain := !m.IsLed() && spec.Law == "lugre" && spec.Drive == axis.Force && !spec.Asymmetric && spec.Hold == axis.Held &&
		spec.Decimate <= 1 &&
		len(j.recs.Fit) == 1 && !slices.ContainsFunc(spec.Terms, func(t string) bool { return t != "offset" })
	if plain {
		if p, err = axis.PopulationProblem(j.recs.Fit[0], spec.Output, forKernels(params, spec.Initial)); err == nil {
			return p, fmt.Sprintf("population kernels, %s", population.Fastest()), nil
		}
	}
	if simulator = "model"; m.IsLed() {
		simulator += ", led back along the record"
	}
	p, err = m.Problem(params)
	return p, simulator, err
}

// nearer draws bounds that the plan does not give two thirds of the way, in logarithms, to the start: under a force they are there
// against absurdity, and a population spread over orders of magnitude hardly meets itself.
func (j *job) nearer(params []fit.Param) []fit.Param {
	params = slices.Clone(params)
	for i := range params {
		p := &params[i]
		if p.Fixed || !p.Log {
			continue
		}
		k := slices.IndexFunc(j.plan.GivenParams, func(g Given) bool { return g.Name == p.Name })
		if k < 0 || j.plan.GivenParams[k].Lo == nil {
			p.Lo = p.Value * math.Cbrt(p.Lo/p.Value)
		}
		if k < 0 || j.plan.GivenParams[k].Hi == nil {
			p.Hi = p.Value * math.Cbrt(p.Hi/p.Value)
		}
	}
	return params
}

// forKernels are the parameters as the kernels take them.
func forKernels(params []fit.Param, initial axis.Initial) []fit.Param {
	params = slices.Clone(params)
	rest := initial == axis.Rest
	for i := range params {
		switch p := &params[i]; p.Name {
		case "sigma2":
			if !p.Fixed {
				p.Lo, p.Value = max(p.Lo, 0), max(p.Value, 0)
			}
		case "x0":
			p.Fixed = p.Fixed || initial != axis.Free
		case "v0":
			rest, p.Fixed = false, p.Fixed || initial != axis.Free
		}
	}
	if rest {
		params = append(params, fit.Param{Param: engine.Param{Name: "v0", Fixed: true}})
	}
	return params
}
