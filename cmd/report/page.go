package report

import (
	_ "embed"
	"html/template"
)

// PageStyle is how pages of results look: light and dark, on paper, and on a narrow screen.
//
//go:embed page.css
var PageStyle template.CSS
