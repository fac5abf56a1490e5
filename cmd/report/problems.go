package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hilrig/configs/schema"
	"hilrig/engine/spelling"
)

// Refuse prints what is wrong with a file, each problem for itself, and ends with the code for that.
func Refuse(w io.Writer, err error) error {
	PrintProblems(w, "hil: ", err)
	return ExitWith(Invalid, nil)
}

// NearFile is what else to say of a file that is not there: the name that was probably meant, or what of the path is missing first.
func NearFile(err error) string {
	var p *fs.PathError
	if !errors.As(err, &p) || !errors.Is(p, fs.ErrNotExist) {
		return ""
	}
	dir, name := filepath.Split(filepath.Clean(p.Path))
	for dir != "" {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir, name = filepath.Split(filepath.Clean(dir))
	}
	list, _ := os.ReadDir(filepath.Clean(dir))
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if near := spelling.Nearest(name, names); near != "" && near != name {
		return fmt.Sprintf(" (did you mean %q?)", dir+near+strings.TrimPrefix(filepath.Clean(p.Path), dir+name))
	}
	if whole, err := filepath.Abs(dir); err == nil {
		return fmt.Sprintf(" (there is no %s in %s)", name, whole)
	}
	return ""
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
		fmt.Fprintf(w, "%s%v%s\n", lead, err, NearFile(err))
		return
	}
	for _, text := range list.Texts() {
		fmt.Fprintf(w, "%s%s\n", lead, text)
	}
}
