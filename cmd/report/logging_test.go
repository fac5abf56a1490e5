package report

import (
	"bufio"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ctrl-C on something that takes long to end is answered within two seconds; on something that ends at once nothing is said.
func TestInterruptIsAnswered(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	was := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = was }()
	lines := make(chan string, 2)
	go func() {
		for sc := bufio.NewScanner(r); sc.Scan(); {
			lines <- sc.Text()
		}
	}()
	for _, slow := range []bool{false, true} {
		ctx, interrupted, stop := UntilInterrupt(context.Background())
		began := time.Now()
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if !interrupted() {
			t.Error("not known as an interruption")
		}
		if !slow {
			stop()
		}
		select {
		case line := <-lines:
			if !slow || !strings.Contains(line, "interrupted: what is under way") || time.Since(began) > 2*time.Second {
				t.Errorf("slow %v, after %v: %s", slow, time.Since(began), line)
			}
		case <-time.After(quietTime + time.Second):
			if slow {
				t.Error("nothing was said")
			}
		}
		if slow {
			stop()
		}
	}
}
