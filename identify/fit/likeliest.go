package fit

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Likeliest keeps of every kind of suspect the one that explains most of the residual in these rows, of those that are looked at, and all
// that are usual: where it costs a run to know what a suspect does to a motion, the force along that motion says which are worth it.
func Likeliest(s *Solution, suspects []Suspect, rows []int) (kept []Suspect) {
	type group struct {
		kind  string
		drift int
	}
	x := s.explained(rows)
	at, share := map[group]int{}, map[group]float64{}
	of := make([][]*trial, len(suspects))
	ParallelOn(max(1, s.Workers), (len(suspects)+likeliestChunk-1)/likeliestChunk, func(i int) {
		first := i * likeliestChunk
		chunk := suspects[first:min(first+likeliestChunk, len(suspects))]
		var courses []Course
		var owners []int
		for i := range chunk {
			if !chunk[i].Expected {
				for _, c := range chunk[i].Courses() {
					courses, owners = append(courses, c), append(owners, first+i)
				}
			}
		}
		for j, column := range columnsAt(courses, rows) {
			i := owners[j]
			of[i] = append(of[i], newTrial(x.free(column), suspects[i].minColumnShare()))
		}
	})
	for i := range suspects {
		sp := &suspects[i]
		if sp.Expected {
			kept = append(kept, *sp)
			continue
		}
		key := group{sp.Kind, -1}
		if sp.Drift {
			key.drift = sp.DriftParam
		}
		own := x.share(of[i])
		best, seen := at[key]
		if !seen {
			best = len(kept)
			at[key], share[key], kept = best, own, append(kept, *sp)
		}
		ranked := kept[best].Ranked + 1
		if own > share[key] {
			share[key], kept[best] = own, *sp
		}
		kept[best].Ranked = ranked
	}
	return kept
}

// likeliestChunk is how many suspects are made side by side.
const likeliestChunk = 32

// certainP is the probability by chance, of the best of all, from which on a suspect is there for certain.
const certainP = 1e-4

// Certain tells that one of the suspects is there for certain.
func Certain(s *Solution, suspects []Suspect) bool {
	rows := s.Looked()
	x := s.explained(rows)
	if x.q == nil || 2*x.columns() >= len(x.e) {
		return false
	}
	x.independent = x.count()
	tries := tries(suspects)
	return slices.ContainsFunc(suspects, func(sp Suspect) bool {
		f, ok := x.try(-1, x.trials(&sp, rows))
		return ok && f.p*tries < certainP
	})
}

// trials are the columns of a suspect.
func (x *explained) trials(sp *Suspect, rows []int) (out []*trial) {
	for _, c := range sp.Columns {
		out = append(out, newTrial(x.columnWithoutLocal(c, rows), sp.minColumnShare()))
	}
	return out
}

// share is what columns explain of the squared residual.
func (x *explained) share(columns []*trial) float64 {
	x.trialRoom.reset()
	y, square := span{q: slices.Clip(x.q), inheritedCount: len(x.q), room: x.trialRoom}, 0.0
	for _, c := range columns {
		y.try(c)
	}
	for _, q := range y.q[y.inheritedCount:] {
		square += floats.Dot(q, x.e) * floats.Dot(q, x.e)
	}
	return square / floats.Dot(x.e, x.e)
}
