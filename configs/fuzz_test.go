package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the bytes, a file of any kind is answered: with an error that has words, or with what can be used. Studies are
// left out, since they read the file that they name.
func FuzzFiles(f *testing.F) {
	for _, pattern := range []string{"*.yaml", "contact/*.yaml", "identify/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<13 || strings.Contains(string(data), "file:") && kindOf(data) != IdentifyFile {
			return // of the machine that runs this
		}
		var err error
		switch kindOf(data) {
		case RigFile:
			_, _, err = CheckBytes("x.yaml", data)
		case SimulateFile:
			_, _, err = SimulateBytes("x.yaml", data)
		case ContactFile:
			_, _, err = ContactRunBytes("x.yaml", data)
		case ManipulatorFile:
			_, _, err = ManipulatorRunBytes("x.yaml", data)
		case IdentifyFile:
			_, _, err = identifyBytes("x.yaml", data)
		}
		if err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
	})
}
