package configs

import "strings"

// suggest finds the known word nearest to a misspelt one: at most two edits (three for words of nine letters and more), a
// swap of neighbours counting as one, never more than a third of the word; "" if nothing is near.
func suggest(word string, known []string) string {
	n := len([]rune(word))
	limit := min(2, (n+2)/3)
	if n >= 9 {
		limit = 3
	}
	best, bestD := "", limit+1
	for _, k := range known {
		if k == "" {
			continue
		}
		d := distance(strings.ToLower(word), strings.ToLower(k), limit)
		if d < bestD || d == bestD && best != "" && k < best {
			best, bestD = k, d
		}
	}
	return best
}

// distance is the edit distance with swaps of neighbours (optimal string alignment); beyond limit it is limit+1.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > limit || -d > limit {
		return limit + 1
	}
	before := make([]int, len(y)+1) // row i-2
	prev := make([]int, len(y)+1)   // row i-1
	cur := make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return min(prev[len(y)], limit+1)
}

// DidYouMean is a remark for an error about an unknown word, ` (did you mean "lugre"?)`, or nothing.
func DidYouMean(word string, known []string) string {
	if s := suggest(word, known); s != "" {
		return " (did you mean " + quote(s) + "?)"
	}
	return ""
}
