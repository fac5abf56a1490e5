package report

import (
	"bytes"
	"io"
	"testing"
)

// On a terminal a text takes the place of the one before, and the log stays above; a line too wide for the screen is cut, or the
// cursor would go up too few lines. Elsewhere everything follows.
func TestRedrawn(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "one\ntwo\nlog\nthree, longer\n"},
		{7, "one\ntwo\n" + "\x1b[2A\x1b[J" + "log\n" + "one\ntwo\n" + "\x1b[2A\x1b[J" + "three, \n"},
	} {
		var b bytes.Buffer
		d := NewRedrawn(&b, &b)
		if d.Width() != 0 {
			t.Error("a buffer is no terminal")
		}
		d.Width = func() int { return c.width }
		d.Show("one\ntwo\n")
		io.WriteString(d, "log\n")
		d.Show("three, longer\n")
		if b.String() != c.want {
			t.Errorf("%d columns: %q, want %q", c.width, b.String(), c.want)
		}
	}
}
