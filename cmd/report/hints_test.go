package report

import "testing"

func TestHintsNameTheProgramAsStarted(t *testing.T) {
	defer func() { StartName = "hil" }()
	for _, c := range []struct{ word, hint, want string }{
		{"hil", "next: hil run a.yaml", "next: hil run a.yaml"},
		{"./bin/hil", "next: hil run a.yaml; hil check a.yaml (hil ports lists them)",
			"next: ./bin/hil run a.yaml; ./bin/hil check a.yaml (./bin/hil ports lists them)"},
		{"/opt/my rig/hil", "hil identify x", "'/opt/my rig/hil' identify x"},
		{"./$hil", "hil run", `'./$hil' run`},
		{"bin/hil", "hil: cannot open runs/hil run.csv of a phil run", "hil: cannot open runs/hil run.csv of a phil run"},
		{"/tmp/go-build1/exe/hil", "hil run", "hil run"},
	} {
		StartName = "hil"
		StartedAs(c.word)
		if got := AsStarted(c.hint); got != c.want {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
}
