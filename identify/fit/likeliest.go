package fit

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Likeliest keeps of every kind of suspect the one that explains most of the residual, and all that are usual: where it costs a run to
// know what a suspect does to a motion, the force along that motion says which are worth it.
func Likeliest(s *Solution, suspects []Suspect) (kept []Suspect) {
	type of struct {
		kind  string
		drift int
	}
	rows := s.Looked()
	x := s.explained(rows)
	at, share := map[of]int{}, map[of]float64{}
	for i := range suspects {
		sp := &suspects[i]
		if sp.Expected {
			kept = append(kept, *sp)
			continue
		}
		key := of{sp.Kind, -1}
		if sp.Drift {
			key.drift = sp.DriftParam
		}
		var columns [][]float64
		for _, c := range sp.Columns {
			columns = append(columns, x.columnWithoutLocal(c, rows))
		}
		f, _ := x.try(-1, trials(columns))
		if best, seen := at[key]; !seen {
			at[key], share[key], kept = len(kept), f.share, append(kept, *sp)
		} else if f.share > share[key] {
			share[key], kept[best] = f.share, *sp
		}
	}
	return kept
}

// certainP is the probability by chance from which on a suspect is there for certain.
const certainP = 1e-6

// Certain tells that the suspect of these kinds which explains most is there for certain.
func Certain(s *Solution, suspects []Suspect, kinds []string) bool {
	_, rows := s.rowsAway()
	x := s.explained(rows)
	if x.q == nil || 2*x.columns() >= len(x.e) {
		return false
	}
	x.independent = x.count()
	var best []*trial
	most, tries := 0.0, 0.0
	for i := range suspects {
		if !slices.Contains(kinds, suspects[i].Kind) {
			continue
		}
		tries++
		y, own := span{q: slices.Clip(x.q), inheritedCount: len(x.q), room: &x.trialRoom}, []*trial(nil)
		x.trialRoom.reset()
		for _, c := range suspects[i].Columns {
			own = append(own, newTrial(x.columnWithoutLocal(c, rows)))
			y.try(own[len(own)-1], 1e-3)
		}
		square := 0.0
		for _, q := range y.q[y.inheritedCount:] {
			square += floats.Dot(q, x.e) * floats.Dot(q, x.e)
		}
		if square > most {
			best, most = own, square
		}
	}
	f, ok := x.try(-1, best)
	return ok && f.p*tries < certainP
}
