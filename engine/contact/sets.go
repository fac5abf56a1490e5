package contact

import "math"

// sets are the index sets of [SNB06] (8), as places in a Set:
//
//	I_S = {g_N ≤ tolG}   I_N = {i ∈ I_S: |ġ_N| ≤ tolV}   I_H = {i ∈ I_N: |ġ_T| ≤ tolT}
//
// I_G is the Set itself. The source prints a dot over g_N in I_S, which must be a misprint. A contact that was held before
// leaves a set only beyond ten times the tolerance: the edge of a step, where the gap under a point jumps, lets it go.
type sets struct {
	tolG, tolV, tolT float64

	s, n, h []int32
}

const hysteresis = 10

// close lists I_S.
func (x *sets) close(set *Set, was []held) {
	x.s = x.s[:0]
	for i := range set.N {
		if g := set.Gap[i]; g <= x.tolG || g <= hysteresis*x.tolG && find(was, set.ID[i]) >= 0 {
			x.s = append(x.s, int32(i))
		}
	}
}

// rest lists I_N and I_H among I_S.
func (x *sets) rest(set *Set, u []float64, was []held) {
	x.n, x.h = x.n[:0], x.h[:0]
	for _, i := range x.s {
		tolV, tolT := x.tolV, x.tolT
		if k := find(was, set.ID[i]); k >= 0 {
			tolV *= hysteresis
			if was[k].sigma == 0 {
				tolT *= hysteresis
			}
		}
		vn, vt := set.Rate(int(i), u)
		if !(math.Abs(vn) <= tolV) {
			continue
		}
		x.n = append(x.n, i)
		if set.Law[i].Mu > 0 && math.Abs(vt) <= tolT {
			x.h = append(x.h, i)
		}
	}
}

// held is a closed contact between two events.
type held struct {
	id      uint32
	feature int32
	sigma   float64 // sign of ġ_T while it slides; 0: sticks
	mu      float64
	place   int32 // place in the Set; −1: not there
}

// find is the index of id in list, or −1.
func find(list []held, id uint32) int {
	for k := range list {
		if list[k].id == id {
			return k
		}
	}
	return -1
}
