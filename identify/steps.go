package identify

import (
	"context"
	"math"

	"hilrig/identify/fit"
)

// halvings is how often lm halves the steps of the simulation at most: of their error a 256th is left then.
const halvings = 4

// tooFar is the share of a standard error by which shorter steps may move a parameter. Beyond it, the simulator and not the
// data would set the value [theory §9.1].
const tooFar = 1. / 3

// lm descends, and once more with steps half as long while these would move a parameter too far. Steps that were given stay.
func (j *job) lm(ctx context.Context) (*stage, error) {
	st, err := j.descend(ctx, nil)
	for range halvings {
		if err != nil || ctx.Err() != nil || j.plan.Model.Substeps > 0 || !st.coarse() {
			break
		}
		was := j.plan.Model.Finer
		j.plan.Model.Finer = 2 * max(1, was)
		finer, err := j.descend(ctx, st.sol.Params)
		if err != nil || ctx.Err() != nil {
			j.plan.Model.Finer = was
			break
		}
		finer.sol.Iterations += st.sol.Iterations
		finer.sol.Evaluations += st.sol.Evaluations
		finer.sol.Compute += st.sol.Compute
		st = finer
	}
	return st, err
}

// coarse tells whether steps half as long would move a parameter too far.
func (s *stage) coarse() bool {
	if s.halved == nil || len(s.sol.Free) == 0 {
		return false
	}
	a, err := fit.Assess(s.sol)
	if err != nil {
		return false
	}
	for _, shorter := range s.halved() {
		for _, e := range a.Estimates {
			se := e.RobustErr
			if a.Residual.White {
				se = e.StdErr
			}
			if x, ok := shorter.Values[e.Name]; ok && se != nil && math.Abs(x-e.Value) > tooFar**se {
				return true
			}
		}
	}
	return false
}
