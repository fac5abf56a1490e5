package identify

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// A fit that goes on after a signal says so; one that ends at once says nothing.
func TestInterruptedFitSaysThatItGoesOn(t *testing.T) {
	for _, takes := range []time.Duration{0, 3 * time.Second / 2} {
		read, write := io.Pipe()
		said := make(chan string)
		go func() {
			text, _ := io.ReadAll(read)
			said <- string(text)
		}()
		ctx, stop := interruptible(t.Context(), write)
		if self, err := os.FindProcess(os.Getpid()); err != nil || self.Signal(os.Interrupt) != nil {
			t.Fatal("no signal could be sent")
		}
		<-ctx.Done()
		time.Sleep(takes)
		stop()
		write.Close()
		if text := <-said; strings.Contains(text, "Ctrl-C again") != (takes > time.Second) {
			t.Errorf("after %v: %q", takes, text)
		}
	}
}
