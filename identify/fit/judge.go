package fit

import (
	"math"

	"hilrig/engine"
)

// A judge tells the cost of members.
type judge struct {
	ev   Evaluator
	loss Loss
	r    []float64
}

func newJudge(p *Problem, loss Loss) *judge {
	return &judge{ev: p.New(), loss: loss, r: make([]float64, p.Rows)}
}

// best is the member of least cost, the first of several. Those that cannot win are given up where the evaluator can.
func (j *judge) best(members [][]float64) []float64 {
	cost, at := j.costs(members, true), 0
	for i, c := range cost {
		if c < cost[at] {
			at = i
		}
	}
	return members[at]
}

// costs of the members. If losers may be abandoned, a cost above the least of those before is only known to be above it.
func (j *judge) costs(members [][]float64, abandon bool) []float64 {
	cost := make([]float64, len(members))
	alone, isAborter := j.ev.(Aborter)
	least := math.Inf(1)
	for i, theta := range members {
		switch {
		case isAborter && j.loss.Kind == Squares:
			cost[i] = alone.Cost(theta, least)
		case j.ev.Residuals(theta, j.r) == engine.NonFinite:
			cost[i] = math.Inf(1)
		default:
			cost[i] = j.loss.Cost(j.r)
		}
		if math.IsNaN(cost[i]) {
			cost[i] = math.Inf(1)
		}
		if abandon {
			least = min(least, cost[i])
		}
	}
	return cost
}
