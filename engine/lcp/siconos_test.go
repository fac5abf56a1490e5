//go:build linux

package lcp

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

var siconosRounds = flag.Int("siconos.rounds", 3, "rounds of TestSiconos: every problem is timed once per round and solver")

// siconos is the C program of this directory's siconos/side.c at the other end of a pipe.
type siconos struct {
	in  io.Writer
	out *bufio.Reader
}

func newSiconos(t *testing.T) *siconos {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "side")
	cc := exec.Command("cc", "-O2", "-I/usr/include/siconos", "-I/usr/include/siconos/numerics", "-o", bin, "siconos/side.c",
		"-lsiconos_numerics", "-lm")
	if msg, err := cc.CombinedOutput(); err != nil {
		t.Skipf("no comparison: siconos/side.c needs a C compiler and Debian's libsiconos-numerics-dev: %v\n%.300s", err, msg)
	}
	c := exec.Command(bin)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	return &siconos{in, bufio.NewReaderSize(out, 1<<16)}
}

func (s *siconos) ask(t *testing.T, line string) string {
	t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (s *siconos) load(t *testing.T, p problem) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "p %d", p.n)
	for _, v := range append(slices.Clone(p.m), p.q...) {
		fmt.Fprintf(&b, " %.17g", v)
	}
	s.ask(t, b.String())
}

// solve is the time of one of k solves in ns, and whether z is a solution.
func (s *siconos) solve(t *testing.T, method string, k int, p problem) (ns float64, ok bool) {
	t.Helper()
	r := strings.NewReader(s.ask(t, fmt.Sprint(method, " ", k)))
	z, info := make([]float64, p.n), 0
	fmt.Fscan(r, &ns, &info)
	for i := range z {
		fmt.Fscan(r, &z[i])
	}
	return ns, info == 0 && isSolution(p, z)
}

func isSolution(p problem, z []float64) bool {
	return natural(p, z) <= 1e-9 && slices.Min(z) >= 0
}

// cpu is the processor time of this thread in ns.
func cpu() float64 {
	var t syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Nano())
}

// Side by side with Siconos on the same problems, in turn: median over 24 instances of each size, processor time of the thread.
// What Siconos solves has to be solved here; sliding contacts may have no solution, the others all have one.
func TestSiconos(t *testing.T) {
	other := newSiconos(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t.Log("µs per solve         here: form recognised    general Lemke      Siconos: lexicolemke       pivot")
	for _, c := range []struct {
		name string
		n    int
		draw func(r *rand.Rand) problem
	}{
		{"1 contact", 5, func(r *rand.Rand) problem { return contacts(r, 1) }},
		{"5 contacts, 2 stick", 13, func(r *rand.Rand) problem { return someSlide(r, 5, 2, 0.5) }},
		{"5 contacts", 25, func(r *rand.Rand) problem { return contacts(r, 5) }},
		{"10 contacts", 50, func(r *rand.Rand) problem { return contacts(r, 10) }},
		{"20 contacts", 100, func(r *rand.Rand) problem { return contacts(r, 20) }},
	} {
		const solvers = 4
		var times [solvers][]float64
		var solved [solvers]int
		count := 24
		for i := range count {
			p := c.draw(source(uint64(i)))
			other.load(t, p)
			s, z := NewSolver(p.n), make([]float64, p.n)
			plain := NewSolver(p.n)
			plain.general = true
			// long enough for the clock
			k := max(1, 40000/(p.n*p.n))
			var best [solvers][]float64
			var ok [solvers]bool
			for range *siconosRounds {
				for j, from := range []*Solver{s, plain} {
					at := cpu()
					for range k {
						ok[j] = from.Solve(p.m, p.q, z).Status.OK()
					}
					best[j] = append(best[j], (cpu()-at)/float64(k))
					ok[j] = ok[j] && isSolution(p, z)
				}
				for j, method := range []string{"s", "v"} {
					var ns float64
					ns, ok[2+j] = other.solve(t, method, max(1, k/4), p)
					best[2+j] = append(best[2+j], ns)
				}
			}
			if !ok[0] && (ok[2] || ok[3] || p.n%5 == 0) || !ok[1] && (ok[2] || ok[3]) {
				t.Errorf("%v: solved by path %v, Lemke %v, lexicolemke %v, pivot %v", p, ok[0], ok[1], ok[2], ok[3])
			}
			for j := range times {
				slices.Sort(best[j])
				times[j] = append(times[j], best[j][len(best[j])/2])
				if ok[j] {
					solved[j]++
				}
			}
		}
		line := fmt.Sprintf("n=%-3d %-20s", c.n, c.name)
		var median [solvers]float64
		for j := range times {
			slices.Sort(times[j])
			median[j] = times[j][count/2] / 1000
			line += fmt.Sprintf("  %8.2f (%d of %d)", median[j], solved[j], count)
		}
		t.Logf("%s   ratio %.1f, general %.1f", line, median[2]/median[0], median[2]/median[1])
	}
}
