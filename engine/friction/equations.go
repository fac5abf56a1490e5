package friction

import (
	_ "embed"
	"fmt"
	"strings"
)

// equations.txt holds the comment of the type of every law, under a line with its name: equations, what the source says, and where the
// program departs from it. It is written from the code by go test ./engine/friction -run TestEquationsText -update.
//
//go:embed equations.txt
var equationsText string

// Text is what the code says of the law: its equations, and where it departs from its source.
func (i Info) Text() string {
	_, text, _ := strings.Cut(equationsText, fmt.Sprintf("== %s\n", typeName(i.NewLaw())))
	text, _, _ = strings.Cut(text, "\n== ")
	return strings.TrimSpace(text)
}

// typeName is the name of the type of a law.
func typeName(m Model) string {
	name := fmt.Sprintf("%T", m)
	return name[strings.LastIndexByte(name, '.')+1:]
}
