package report

import (
	"errors"
	"fmt"
	"io"

	"hilrig/configs/schema"
)

// PrintProblems writes each problem, the first fifty, behind its own "hil: ".
func PrintProblems(w io.Writer, lead string, err error) {
	var list *schema.Errors
	if !errors.As(err, &list) {
		fmt.Fprintf(w, "%s%v\n", lead, err)
		return
	}
	for i, p := range list.List {
		if i == 50 {
			fmt.Fprintf(w, "%s… and %d more\n", lead, len(list.List)-i)
			return
		}
		fmt.Fprintf(w, "%s%v\n", lead, p)
	}
}
