package failure

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

func put(m map[string]int) { m["x"] = 1 }

func slip(x []int) int { return x[len(os.Args)+100] }

func caught(f func()) (err error) {
	defer Catch(&err)
	f()
	return nil
}

// A panic is named by the line that panicked, whoever it is passed on by.
func TestPlace(t *testing.T) {
	here := regexp.MustCompile(`^engine/failure/failure_test\.go:\d+$`)
	for _, c := range []struct {
		name string
		f    func()
		says string
	}{
		{"runtime", func() { slip(nil) }, "index out of range"},
		{"nil map", func() { put(nil) }, "nil map"},
		{"by hand", func() { panic("many\nlines") }, "many lines at"},
		{"in a library", func() { _ = strings.Repeat("x", -1) }, "negative Repeat count"},
		{"passed on", func() {
			done := make(chan any)
			go func() {
				defer func() { done <- Of(recover()) }()
				slip(nil)
			}()
			panic(<-done)
		}, "index out of range"},
	} {
		p, ok := caught(c.f).(*Panic)
		if !ok || !here.MatchString(p.Place) || !strings.Contains(p.Error(), c.says) || strings.Contains(p.Error(), "\n") || len(p.Stack) == 0 {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	if err := caught(func() {}); err != nil {
		t.Error(err)
	}
}

// A goroutine that nobody waits for tells who is to be told.
func TestHandle(t *testing.T) {
	got := make(chan *Panic, 1)
	restore := Handle(func(p *Panic) { got <- p })
	go func() {
		defer Report()
		slip(nil)
	}()
	if p := <-got; !strings.HasPrefix(p.Place, "engine/failure/") {
		t.Error(p)
	}
	if restore(); handler.Load() != nil {
		t.Error("who was told is not given back")
	}
}

// Where nobody is told, the program ends with one line and the stack in a file.
func TestTellEnds(t *testing.T) {
	if os.Getenv("FAILURE_ENDS") == "1" {
		go func() {
			defer Report()
			slip(nil)
		}()
		select {}
	}
	c := exec.Command(os.Args[0], "-test.run", "^TestTellEnds$")
	c.Env = append(os.Environ(), "FAILURE_ENDS=1", "TMPDIR="+t.TempDir())
	out, _ := c.CombinedOutput()
	line := strings.TrimSpace(string(out))
	if c.ProcessState.ExitCode() != 1 || strings.Contains(line, "\n") || !strings.HasPrefix(line, "hil: internal error: ") ||
		!strings.Contains(line, "failure_test.go:") {
		t.Fatalf("exit code %d, %q", c.ProcessState.ExitCode(), line)
	}
	_, file, _ := strings.Cut(line, "the stack is in ")
	if stack, err := os.ReadFile(file); err != nil || !strings.Contains(string(stack), "failure.slip") {
		t.Errorf("%v\n%s", err, stack)
	}
}
