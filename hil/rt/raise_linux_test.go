package rt

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// raised is what a raised process says about itself.
type raised struct {
	Refused       string
	Raised, Lower []Thread
	Env           []string
	Args          []string
}

func testRaise() int {
	refused, err := Raise(PlantPriority)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r := raised{Refused: refused, Env: os.Environ(), Args: os.Args[1:]}
	r.Raised, _ = Threads(os.Getpid())
	Lower()
	r.Lower, _ = Threads(os.Getpid())
	json.NewEncoder(os.Stdout).Encode(r)
	return 0
}

func raise(t *testing.T, user *syscall.Credential) (r raised) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "one", "two")
	cmd.Env = append(os.Environ(), modeEnv+"=raise", "GOGC=77")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Args, []string{"one", "two"}) || slices.ContainsFunc(r.Env,
		func(s string) bool { return strings.HasPrefix(s, raisedEnv) }) {
		t.Errorf("arguments %q, environment %q", r.Args, r.Env)
	}
	return r
}

// Every thread of a raised process has the priority, one below that of a core, and loses it again.
func TestRaise(t *testing.T) {
	r := raise(t, nil)
	if r.Refused != "" {
		t.Skip(r.Refused)
	}
	for _, th := range r.Raised {
		if th.Policy != "FIFO" || th.Priority != 49 {
			t.Errorf("raised: %+v", th)
		}
	}
	for _, th := range r.Lower {
		if th.Policy != "OTHER" || th.Nice != preferred {
			t.Errorf("lowered: %+v", th)
		}
	}
	if !slices.Contains(r.Env, "GOGC=off") || !slices.Contains(r.Env, "GOMAXPROCS=8") || slices.Contains(r.Env, "GOGC=77") ||
		len(r.Raised) < 3 || len(r.Lower) < 3 {
		t.Errorf("%d and %d threads, environment %q", len(r.Raised), len(r.Lower), r.Env)
	}
}

// A process that may not be raised goes on as it was, and says why.
func TestRaiseRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs to become another user")
	}
	r := raise(t, &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true})
	if !strings.Contains(r.Refused, "FIFO 49") || !slices.Contains(r.Env, "GOGC=77") {
		t.Errorf("refused %q, environment %q", r.Refused, r.Env)
	}
	for _, th := range append(r.Raised, r.Lower...) {
		if th.Policy != "OTHER" {
			t.Errorf("%+v", th)
		}
	}
}
