package identify

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/friction"
	"hilrig/identify/axis"
	"hilrig/identify/bristle"
	"hilrig/identify/fit"
	"hilrig/identify/independent"
	"hilrig/identify/linear"
	"hilrig/identify/record"
)

// pieceSizes are lengths about which something ends: 2 samples have a slope, 8 are simulated, 20 are kept between two gaps, 50 are fitted
// by a bristle, 200 are a record of their own.
var pieceSizes = []int{1, 2, 3, 5, 7, 8, 19, 20, 21, 49, 50, 51, 199, 200}

// cutPieces are the ways in which a record of n samples falls into pieces, as pairs of rows.
func cutPieces(n int) map[string][][2]int {
	ways := map[string][][2]int{}
	for _, size := range pieceSizes {
		var all [][2]int
		for from := 0; from+size <= min(n, 40*(size+3)); from += size + 3 {
			all = append(all, [2]int{from, from + size})
		}
		ways[fmt.Sprintf("all of %d", size)] = all
		ways[fmt.Sprintf("%d in the middle", size)] = [][2]int{{0, n / 2}, {n/2 + 7, n/2 + 7 + size}, {n/2 + 14 + size, n}}
		ways[fmt.Sprintf("%d first", size)] = [][2]int{{0, size}, {size + 7, n}}
		ways[fmt.Sprintf("%d last", size)] = [][2]int{{0, n - size - 7}, {n - size, n}}
	}
	return ways
}

// slidingRecord is a mass with LuGre friction under a force that makes it slide and stick.
func slidingRecord(n int) *record.Record {
	a := independent.Axis{M: 1, Friction: independent.Friction{Sigma0: 4e4, Sigma1: 200, Sigma2: 2, Fc: 1, Fs: 1.5, Vs: 0.01}}
	force := func(t float64) float64 {
		return 2.2*math.Sin(2*math.Pi*1.3*t) + 1.2*math.Sin(2*math.Pi*3.7*t+1) + 0.4*math.Sin(2*math.Pi*11*t)
	}
	tr := a.Simulate(independent.Run{Dt: 1e-3, N: n, Force: force, Intersample: independent.Held})
	d := tr.Record(independent.Sensors{Position: 2e-8, Velocity: 1e-5, Seed: 3}, func(t float64) float64 { return 0.1 * t })
	d.File = "sliding.csv"
	return d
}

// piecesOfRecord are parts of a record, each with its own arrays.
func piecesOfRecord(d *record.Record, parts [][2]int) (out []*record.Record) {
	for i, p := range parts {
		c := *d
		c.Piece, c.Start = fmt.Sprintf("part %d", i+1), d.Start+float64(p[0])*d.Dt
		c.Position, c.Velocity, c.Force, c.Reference = slices.Clone(d.Position), slices.Clone(d.Velocity), slices.Clone(d.Force),
			slices.Clone(d.Reference)
		cut(&c, p[0], p[1])
		out = append(out, &c)
	}
	return out
}

// pieceChains are the chains that the cuts are given to, each method at least once.
func pieceChains() (all []Chain) {
	all = []Chain{{"lugre", "kalman"}, {"regress", "lm"}, {"aep", "lm"}}
	for _, m := range Methods {
		if !slices.ContainsFunc(all, func(c Chain) bool { return c[0] == m.Name }) {
			all = append(all, Chain{m.Name})
		}
	}
	return all
}

func pieceCuts(t *testing.T, every int) {
	whole := slidingRecord(1000)
	ways := cutPieces(whole.Len())
	names := make([]string, 0, len(ways))
	for name := range ways {
		names = append(names, name)
	}
	slices.Sort(names)
	laws := []string{}
	for _, l := range friction.Laws() {
		laws = append(laws, l.Name)
	}
	n := 0
	for i, name := range names {
		for k, chain := range pieceChains() {
			if n++; (n+i)%every != 0 {
				continue
			}
			p := Plan{Methods: chain, Regress: linear.DefaultSpec(), Model: axis.Spec{Law: laws[(i+k)%len(laws)], Hold: axis.Held},
				Bristle: bristle.Options{},
				AEP:     fit.AEP{Members: 4, Generations: 2, Islands: 1, Beta1: 0.1, Beta2: 0.05, Survivors: 1}}
			p.LM.Starts, p.LM.Draws = 1, 1
			recs := piecesOfRecord(whole, ways[name])
			all := Records{Fit: recs}
			switch chain[0] {
			case "joint":
				all.Loop = recs
			case "two-joint":
				all.Second = piecesOfRecord(whole, ways[name])
			}
			if (i+k)%3 == 0 {
				all.Validation = piecesOfRecord(whole, ways[names[(i+5)%len(names)]])
			}
			if bad := attemptAny(p, all); bad != "" {
				t.Errorf("%s, %v, law %s: %s", name, chain, p.Model.Law, bad)
			}
		}
	}
}

// Into whatever pieces a good record is cut, every method gives a result, or refuses in words.
func TestPiecesOfAnySize(t *testing.T) { pieceCuts(t, 48) }

// Pieces that a bristle fit leaves out are left out of what is looked for in its residual: the answer is that of the fit without them.
func TestShortPieceBesideAFit(t *testing.T) {
	whole := slidingRecord(1500)
	run := func(parts ...[2]int) *Result {
		r, err := Run(context.Background(), Plan{Methods: Chain{"lugre", "kalman"}}, Records{Fit: piecesOfRecord(whole, parts)}, nil, nil)
		if err != nil || r.Panic != nil {
			t.Fatal(err, r)
		}
		return r
	}
	with, without := run([2]int{0, 700}, [2]int{720, 750}, [2]int{770, 1500}), run([2]int{0, 700}, [2]int{770, 1500})
	for i, p := range with.Parameters {
		q := without.Parameters[i]
		a, b := with.Interval(&p), without.Interval(&q)
		if p.Value != q.Value || (a == nil) != (b == nil) || a != nil && *a != *b {
			t.Errorf("%s: %g and %g, %v and %v", p.Name, p.Value, q.Value, a, b)
		}
	}
	if !slices.ContainsFunc(with.Warnings, func(w string) bool { return strings.Contains(w, "1 pieces of less than 50") }) {
		t.Errorf("nothing is said of the piece: %q", with.Warnings)
	}
}

// A panic is an answer: in a method, what the ones before it found, in a worker of it too; in what follows the last one, its values.
func TestPanicKeepsWhatWasFound(t *testing.T) {
	recs := Records{Fit: []*record.Record{slidingRecord(1500)}}
	kalman := FindMethod("kalman")
	was := kalman.run
	defer func() { kalman.run = was }()
	slip := func() { _ = []int{}[len(recs.Fit)-1] }
	for _, c := range []struct {
		name  string
		run   func(j *job, ctx context.Context) (*stage, error)
		found Method
	}{
		{"in a method", func(*job, context.Context) (*stage, error) { slip(); return nil, nil }, "lugre"},
		{"in a worker", func(*job, context.Context) (*stage, error) { fit.Parallel(50, func(int) { slip() }); return nil, nil }, "lugre"},
		{"behind it", func(j *job, ctx context.Context) (*stage, error) {
			st, err := was(j, ctx)
			if st != nil {
				st.inverse = func() *fit.Solution { slip(); return nil }
			}
			return st, err
		}, "kalman"},
		{"before its errors are known", func(j *job, ctx context.Context) (*stage, error) {
			st, err := was(j, ctx)
			if st != nil {
				st.sol.FreeParams[0] = 99
			}
			return st, err
		}, "kalman"},
	} {
		kalman.run = c.run
		r, err := Run(context.Background(), Plan{Methods: Chain{"lugre", "kalman"}}, recs, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		last := r.Stages[len(r.Stages)-1]
		if r.Panic == nil || r.Verdict != Rejected || !strings.Contains(r.Reasons[0].Text, "the program failed") ||
			!strings.Contains(r.Reasons[0].Text, ".go:") || last.Method != c.found {
			t.Errorf("%s: %v, %s %q, %s", c.name, r.Panic, r.Verdict, r.Reasons, last.Method)
		}
		for _, p := range r.Parameters {
			if p.Value != last.Values[p.Name] {
				t.Errorf("%s: %s = %g, found was %g", c.name, p.Name, p.Value, last.Values[p.Name])
			}
		}
		if m, ok := r.Param("M"); !ok || math.Abs(m.Value-1) > 0.1 {
			t.Errorf("%s: M = %v", c.name, m)
		}
	}
	// where nothing was found, the panic is the error
	kalman.run = func(*job, context.Context) (*stage, error) { slip(); return nil, nil }
	if _, err := Run(context.Background(), Plan{Methods: Chain{"kalman"}}, recs, nil, nil); panicOf(err) == nil ||
		!strings.Contains(err.Error(), "identify/pieces_test.go:") {
		t.Error(err)
	}
}
