package record

import (
	"fmt"
	"strings"
)

// Error says that the measured data cannot be used: where, why, and how to go on.
type Error struct {
	File string // "" for data that came from memory
	Line int    // 1-based line of the text, 0 if the problem has no single line
	Msg  string
	Hint string // advice, may be empty
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString("\n     " + e.Hint)
	}
	return b.String()
}
