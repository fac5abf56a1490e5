package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// Redrawn is a text at the end of a terminal that the next one is written over; what the log writes stays above it. Where out is no
// terminal, texts follow one another.
type Redrawn struct {
	stdout, log io.Writer
	Width       func() int // columns; 0: no terminal
	mu          sync.Mutex
	text        string // on the screen
}

// NewRedrawn draws on out; lines of the log go to log, between two drawings.
func NewRedrawn(out, log io.Writer) *Redrawn {
	return &Redrawn{stdout: out, log: log, Width: func() int {
		if f, ok := out.(*os.File); ok {
			if w, _, err := term.GetSize(int(f.Fd())); err == nil {
				return w
			}
		}
		return 0
	}}
}

// UseOutlets writes through outlets from now on.
func (d *Redrawn) UseOutlets(o *Outlets) { d.stdout, d.log = o.Stdout, o.Log }

// Show replaces the text, which consists of whole lines; a line that does not fit is cut, for it would take two.
func (d *Redrawn) Show(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := d.Width()
	if w == 0 {
		io.WriteString(d.stdout, text)
		return
	}
	var b strings.Builder
	for l := range strings.Lines(text) {
		if r := []rune(strings.TrimSuffix(l, "\n")); len(r) > w {
			l = string(r[:w]) + "\n"
		}
		b.WriteString(l)
	}
	d.erase()
	d.text = b.String()
	io.WriteString(d.stdout, d.text)
}

func (d *Redrawn) erase() {
	if n := strings.Count(d.text, "\n"); n > 0 {
		fmt.Fprintf(d.stdout, "\x1b[%dA\x1b[J", n)
	}
}

// Write takes whole lines of the log.
func (d *Redrawn) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	n, err := d.log.Write(p)
	io.WriteString(d.stdout, d.text)
	return n, err
}
