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
	cost, limit := make([]float64, len(members)), make([]float64, len(members))
	batch, isBatcher := j.ev.(Batcher)
	alone, isAborter := j.ev.(Aborter)
	width := 1
	if isBatcher && j.loss.Kind == Squares {
		width = max(1, batch.Width())
	}
	least := math.Inf(1)
	for i := 0; i < len(members); i += width {
		k := min(i+width, len(members))
		for n := i; n < k; n++ {
			limit[n] = least
		}
		switch {
		case isBatcher && j.loss.Kind == Squares:
			batch.Costs(members[i:k], limit[i:k], cost[i:k])
		case isAborter && j.loss.Kind == Squares:
			cost[i] = alone.Cost(members[i], least)
		case j.ev.Residuals(members[i], j.r) == engine.NonFinite:
			cost[i] = math.Inf(1)
		default:
			cost[i] = j.loss.Cost(j.r)
		}
		for n := i; n < k; n++ {
			if math.IsNaN(cost[n]) {
				cost[n] = math.Inf(1)
			}
			if abandon {
				least = min(least, cost[n])
			}
		}
	}
	return cost
}
