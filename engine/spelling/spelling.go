// Package spelling finds the word that was meant.
package spelling

import (
	"fmt"
	"strings"
)

// Nearest is the known word nearest to a misspelt one, case aside: at most two typing errors away (three for words of nine
// letters and more), never more than a third of a longer word, nor a whole one; "" if none is.
func Nearest(word string, known []string) string {
	n := len([]rune(word))
	limit := min(2, (n+2)/3, n-1)
	if n >= 9 {
		limit = 3
	}
	best, least := "", limit+1
	for _, k := range known {
		if k == "" {
			continue
		}
		d := Distance(strings.ToLower(word), strings.ToLower(k))
		if d < least || d == least && best != "" && k < best {
			best, least = k, d
		}
	}
	return best
}

// Distance counts the typing errors that turn a into b: a letter too many, missing or wrong, two neighbours swapped (optimal
// string alignment).
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1) // rows i−2, i−1, i
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			wrong := 1
			if x[i-1] == y[j-1] {
				wrong = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+wrong)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}

// DidYouMean is a remark for an error about an unknown word, ` (did you mean "lugre"?)`, or nothing.
func DidYouMean(word string, known []string) string {
	if hint := Hint(word, known, ""); hint != "" {
		return " (" + hint + ")"
	}
	return ""
}

// Hint asks for the word that was probably meant, `did you mean "lugre"?`; without one near enough it is what else there is to say.
func Hint(word string, known []string, otherwise string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}
