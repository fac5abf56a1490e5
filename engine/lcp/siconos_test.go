//go:build linux

package lcp

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"hilrig/engine/peer"
)

var (
	siconosRounds = flag.Int("siconos.rounds", 1, "rounds of TestSiconos: every problem is timed once per round and solver")
	siconosFiles  = flag.String("siconos.files", "", "files for TestSiconos, as of hil lcp, instead of drawn problems: a pattern")
)

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
		peer.SkipAbsent(t, "siconos/side.c needs a C compiler and Debian's libsiconos-numerics-dev: %v\n%.300s", err, msg)
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

// solve is the time of one of k solves in ns, z, and whether that is a solution.
func (s *siconos) solve(t *testing.T, method string, k int, p problem) (ns float64, z []float64, ok bool) {
	t.Helper()
	r := strings.NewReader(s.ask(t, fmt.Sprint(method, " ", k)))
	info := 0
	z = make([]float64, p.n)
	fmt.Fscan(r, &ns, &info)
	for i := range z {
		fmt.Fscan(r, &z[i])
	}
	return ns, z, info == 0 && isSolution(p, z)
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

// side is one line of the comparison: problems of one size.
type side struct {
	name     string
	problems []problem
	ratio    float64 // to lexicolemke, at least
}

func drawn(name string, ratio float64, draw func(r *rand.Rand) problem) side {
	s := side{name: name, ratio: ratio}
	for i := range 24 {
		s.problems = append(s.problems, draw(source(uint64(i))))
	}
	return s
}

func fromFiles(t *testing.T, pattern string) (all []side) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no files (%v)", pattern, err)
	}
	for _, path := range paths {
		var f struct {
			M [][]float64
			Q []float64
		}
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, &f)
		}
		var m []float64
		if err == nil {
			m, err = Dense(f.M, f.Q)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, side{name: filepath.Base(path), problems: []problem{{path, len(f.Q), m, f.Q}}})
	}
	return all
}

// Side by side with Siconos on the same problems, in turn: median over the instances of each size, processor time of the thread.
// What Siconos solves has to be solved here; sliding contacts may have no solution, the others all have one. Times count
// against each other only: 5 contacts must be 4 times, 10 contacts 5 times as fast as lexicolemke.
func TestSiconos(t *testing.T) {
	other := newSiconos(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	all := []side{
		drawn("1 contact", 0, func(r *rand.Rand) problem { return contacts(r, 1) }),
		drawn("5 contacts, 2 stick", 0, func(r *rand.Rand) problem { return someSlide(r, 5, 2, 0.5) }),
		drawn("5 contacts", 4, func(r *rand.Rand) problem { return contacts(r, 5) }),
		drawn("10 contacts", 5, func(r *rand.Rand) problem { return contacts(r, 10) }),
		drawn("20 contacts", 5, func(r *rand.Rand) problem { return contacts(r, 20) }),
	}
	if *siconosFiles != "" {
		all = fromFiles(t, *siconosFiles)
	}
	t.Log("µs per solve (solved)         Solve  |  Siconos: lexicolemke, pivot  |  lexicolemke/Solve")
	for _, c := range all {
		const solvers = 3
		var times [solvers][]float64
		var solved [solvers]int
		count, n := len(c.problems), 0
		for _, p := range c.problems {
			n = p.n
			other.load(t, p)
			s, z := NewSolver(n), make([]float64, n)
			// long enough for the clock
			k := max(1, 40000/(n*n))
			var each [solvers][]float64
			var ok [solvers]bool
			for range *siconosRounds {
				var st Status
				at := cpu()
				for range k {
					st = s.Solve(p.m, p.q, z).Status
				}
				each[0] = append(each[0], (cpu()-at)/float64(k))
				ok[0] = st.OK() && isSolution(p, z)
				for j, method := range []string{"s", "v"} {
					var ns float64
					ns, _, ok[1+j] = other.solve(t, method, max(1, k/4), p)
					each[1+j] = append(each[1+j], ns)
				}
			}
			if must := ok[1] || ok[2] || c.ratio > 0; must && !ok[0] {
				t.Errorf("%v: not solved; lexicolemke %v, pivot %v", p, ok[1], ok[2])
			}
			for j := range times {
				slices.Sort(each[j])
				times[j] = append(times[j], each[j][len(each[j])/2])
				if ok[j] {
					solved[j]++
				}
			}
		}
		line := fmt.Sprintf("n=%-3d %-20s", n, c.name)
		var median [solvers]float64
		for j := range times {
			slices.Sort(times[j])
			median[j] = times[j][count/2] / 1000
			line += fmt.Sprintf("  %8.2f (%d/%d)", median[j], solved[j], count)
		}
		ratio := median[1] / median[0]
		t.Logf("%s   %.1f", line, ratio)
		if ratio < c.ratio {
			t.Errorf("%s: %.1f times as fast as lexicolemke, want %g", c.name, ratio, c.ratio)
		}
	}
}

// Where the solution is unique, Siconos finds the same numbers.
func TestSiconosAgrees(t *testing.T) {
	other, compared := newSiconos(t), 0
	for i := range 60 {
		r := source(uint64(i))
		n := 1 + r.IntN(40)
		p := problem{"P", n, skewed(r, n, gram(r, n, n)), normals(r, n)}
		s, z := NewSolver(n), make([]float64, n)
		if res := s.Solve(p.m, p.q, z); !res.Status.OK() {
			t.Fatalf("%v: %+v", p, res)
		}
		other.load(t, p)
		_, want, ok := other.solve(t, "s", 1, p)
		if !ok {
			continue
		}
		compared++
		for j := range z {
			if math.Abs(z[j]-want[j]) > 1e-8*(1+slices.Max(want)) {
				t.Errorf("%v: %v, Siconos %v", p, z, want)
				break
			}
		}
	}
	if compared < 50 {
		t.Errorf("Siconos has solved %d of 60 only", compared)
	}
}
