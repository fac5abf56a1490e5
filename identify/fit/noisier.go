package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Noisier is a solution with as much noise again, and its suspects.
type Noisier struct {
	Solution *Solution
	Suspects []Suspect

	accepted []int // of the suspects
}

// noisy is what the model of a Noisier explains, on some of its rows.
type noisy struct {
	*explained
	source        *Noisier
	rows          []int
	suspectPlaces []int // by suspect, its place among those of the Noisier; −1: it is not there

	columns [][]*trial // by suspect, those that were asked for
}

// of are the columns of suspect i.
func (n *noisy) of(i int) []*trial {
	if n.columns[i] == nil {
		n.columns[i] = n.trials(&n.source.Suspects[n.suspectPlaces[i]], n.rows)
	}
	return n.columns[i]
}

// begin explains the rows of a noisier solution, with what was accepted before.
func (n *Noisier) begin(turn bool, suspects []Suspect) *noisy {
	all, away := n.Solution.rowsAway()
	out := &noisy{source: n, rows: away, suspectPlaces: make([]int, len(suspects)), columns: make([][]*trial, len(suspects))}
	if turn {
		out.rows = all
	}
	out.explained = n.Solution.explained(out.rows)
	for i, same := 0, map[string]int{}; i < len(suspects); i++ { // of those with one name the first is the first
		key := suspects[i].Kind + suspects[i].What
		count, skip := same[key], 0
		same[key]++
		out.suspectPlaces[i] = slices.IndexFunc(n.Suspects, func(o Suspect) bool {
			if o.Kind+o.What != key || len(o.Columns) != len(suspects[i].Columns) {
				return false
			}
			skip++
			return skip > count
		})
	}
	for _, i := range n.accepted {
		out.extend(n.Suspects[i].Columns, out.rows, minColumnShare)
	}
	return out
}

// scores are the products of the columns of a suspect, but for what the model makes of them, with what is left over, per row; nil: it is
// not there, or the model makes a part of it. square is that of the first column alone.
func (n *noisy) scores(i int) (s []float64, square float64) {
	if i < 0 || n.suspectPlaces[i] < 0 {
		return nil, 0
	}
	n.trialRoom.reset()
	y := span{q: slices.Clip(n.q), inheritedCount: len(n.q), room: n.trialRoom}
	for _, c := range n.of(i) {
		if !y.try(c) {
			return nil, 0
		}
	}
	s = y.products(n.e)
	floats.Scale(1/float64(len(n.e)), s)
	return s, y.r[0][0] * y.r[0][0] / float64(len(n.e))
}

// accept adds a suspect for good.
func (n *noisy) accept(i int) {
	if n.suspectPlaces[i] >= 0 {
		n.source.accepted = append(n.source.accepted, n.suspectPlaces[i])
		n.extend(n.source.Suspects[n.suspectPlaces[i]].Columns, n.rows, minColumnShare)
	}
}

// unbiased are the products b of the basis of a suspect i with what is left over without what noise of the columns makes of them, and the
// covariance of that. Noise as large again makes as much again of the scores. nil: no noise, or not known. grown is by how much a single
// coefficient is too small, because noise makes its column longer too.
func (x *explained) unbiased(i int, y *span, b []float64) (without, cov []float64, grown float64) {
	m := len(b)
	var each [][]float64
	for _, r := range x.noisier {
		if s, square := r.scores(i); len(s) == m {
			floats.Scale(float64(len(x.e)), s)
			each = append(each, y.columnProducts(s))
			grown += square * float64(len(x.e)) / (y.r[0][0] * y.r[0][0])
		}
	}
	if len(each) == 0 {
		return nil, nil, 1
	}
	n := float64(len(each))
	mean := make([]float64, m)
	for _, s := range each {
		floats.AddScaled(mean, 1/n, s)
	}
	without, cov = make([]float64, m), make([]float64, m*m)
	for j := range b {
		without[j] = 2*b[j] - mean[j]
		for l := range b {
			for _, s := range each {
				cov[j*m+l] += (s[j] - mean[j]) * (s[l] - mean[l]) / math.Max(n-1, 1) / n
			}
		}
	}
	if grown /= n; m > 1 {
		grown = 1
	}
	return without, cov, 1 / (1 - math.Min(math.Max(grown-1, 0), maxNoiseShare))
}

// maxNoiseShare is the largest share of a column that is taken for noise.
const maxNoiseShare = 0.5
