package report

import (
	_ "embed"
	"html/template"
	"regexp"
	"strings"
)

// PageStyle is how pages of results look: light and dark, on paper, and on a narrow screen.
//
//go:embed page.css
var PageStyle template.CSS

var exponent = regexp.MustCompile(`e\+?(-?)0*(\d+)$`)

// raised are the characters of an exponent.
var raised = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³",
	"4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// Typeset writes the text of a number as pages have it: −70.64·10⁻⁶ in place of -70.64e-6.
func Typeset(text string) string {
	power := ""
	if m := exponent.FindStringSubmatchIndex(text); m != nil {
		power = "·10" + raised.Replace(text[m[2]:m[3]]+text[m[4]:m[5]])
		text = text[:m[0]]
	}
	return strings.ReplaceAll(text, "-", "−") + power
}
