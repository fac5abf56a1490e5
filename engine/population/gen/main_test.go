package gen

import (
	"flag"
	"os"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write step_amd64.s anew")

// The source that is built is the one that is written here.
func TestSourceIsUpToDate(t *testing.T) {
	want := Source()
	if *update {
		if err := os.WriteFile("../step_amd64.s", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("../step_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("step_amd64.s is not what gen writes: run go generate ./engine/population")
	}
}

// Between the first vector instruction and the last there is none in the older encoding, and every function cleans up.
func TestOneEncodingOnly(t *testing.T) {
	src := Source()
	integer := regexp.MustCompile(`^(MOVQ [A-Za-z0-9+()]+, [A-Z]{2}|SHLQ|ADDQ|DECQ|JNZ|JZ|JMP|RET|PCALIGN)\b`)
	text := regexp.MustCompile(`(?m)^\t(\S.*)$`).FindAllStringSubmatch(src, -1)
	funcs, clean := len(regexp.MustCompile(`(?m)^TEXT`).FindAllString(src, -1)), 0
	for _, m := range text {
		switch line := m[1]; {
		case line == "VZEROUPPER":
			clean++
		case line[0] == 'V' || integer.MatchString(line):
		default:
			t.Errorf("%q", line)
		}
	}
	if clean != funcs || funcs < 5 {
		t.Errorf("%d functions, %d clean up", funcs, clean)
	}
}
