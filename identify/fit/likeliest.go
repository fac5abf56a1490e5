package fit

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
