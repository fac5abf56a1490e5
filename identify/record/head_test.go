package record

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A text with commas is no table of numbers; a column of dates beside numbers does not matter.
func TestHeadOfProse(t *testing.T) {
	for text, want := range map[string]string{
		"A daemon, for friction\nit identifies, and records\nwhat it reads, and sends\n": "holds no number",
		"day, x\nMonday, 1.5\n": "",
		"t;x\n0,1;0,2\n":        "",
	} {
		path := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadHeader(path)
		if said := err != nil && strings.Contains(err.Error(), "holds no number"); said != (want != "") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
