package report

import (
	"errors"
	"fmt"
	"io"

	"hilrig/configs/schema"
)

// Refuse prints what is wrong with a file, each problem for itself, and ends with the code for that.
func Refuse(w io.Writer, err error) error {
	PrintProblems(w, "hil: ", err)
	return ExitWith(Invalid, nil)
}

// PrintWarnings writes the remarks about a file and gives their texts without the place.
func PrintWarnings(w io.Writer, warnings []schema.Problem) (texts []string) {
	for _, p := range warnings {
		fmt.Fprintf(w, "warning: %v\n", p)
		texts = append(texts, p.Msg)
	}
	return texts
}

// PrintProblems writes each problem, the first fifty, behind its own "hil: ".
func PrintProblems(w io.Writer, lead string, err error) {
	var list *schema.Errors
	if !errors.As(err, &list) {
		fmt.Fprintf(w, "%s%v\n", lead, err)
		return
	}
	for _, text := range list.Texts() {
		fmt.Fprintf(w, "%s%s\n", lead, text)
	}
}
