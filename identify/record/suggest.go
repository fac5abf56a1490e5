package record

import "strings"

// Nearest is the known name that word was probably meant to be: the same but for case, or at most two typing errors away
// (three for long words); "" if none is close.
func Nearest(word string, known []string) string {
	best, limit := "", 3
	if len(word) >= 8 {
		limit = 4
	}
	for _, k := range known {
		if d := typos(strings.ToLower(word), strings.ToLower(k)); d < limit && d < len(word) {
			best, limit = k, d
		}
	}
	return best
}

// typos counts the insertions, deletions, substitutions and swaps of neighbours that turn a into b.
func typos(a, b string) int {
	r, s := []rune(a), []rune(b)
	d := make([][]int, len(r)+1) // d[i][j]: from the first i of a to the first j of b
	for i := range d {
		d[i] = make([]int, len(s)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(r); i++ {
		for j := 1; j <= len(s); j++ {
			same := 1
			if r[i-1] == s[j-1] {
				same = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+same)
			if i > 1 && j > 1 && r[i-1] == s[j-2] && r[i-2] == s[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(r)][len(s)]
}
