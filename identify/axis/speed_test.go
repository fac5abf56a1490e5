//go:build unix

package axis

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/population"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

var rival = flag.Bool("rival", false, "measure searches and fits against SciPy on a numba kernel")

// TestSpeedTable prints the tables of docs/evidence/identify-speed.md, but for the kernels alone:
//
//	go test ./identify/axis -run SpeedTable -v -args -rival
//
// Both sides run in turn on the same machine, and medians are taken. A ratio is one of processor times on one processor, which
// hardly notice what else the machine does. Only the ratio to differential evolution is tested.
func TestSpeedTable(t *testing.T) {
	if !*rival {
		t.Skip("a measurement: asked for with -rival")
	}
	needRival(t)
	rec := populationRecord(t, 10000, 2e-4, 1)
	pr, err := PopulationProblem(rec, Velocity, populationParams(5, populationOff))
	if err != nil {
		t.Fatal(err)
	}
	s := &speed{T: t, rec: rec, pr: pr, of: map[string][]float64{}}
	const turns = 5
	for turn := range turns {
		s.evolve(uint64(turn))
	}
	s.stream()
	s.print()
	for _, p := range population.Paths()[1:] {
		if r := median(s.of["de cpu"]) / median(s.of[p.String()+" aep cpu"]); r < 12 {
			t.Errorf("%s: AEP takes 1/%.1f of the time of differential evolution, want at most 1/12", p, r)
		}
	}
}

// speed collects measurements by name.
type speed struct {
	*testing.T
	rec *record.Record
	pr  *fit.Problem
	of  map[string][]float64
}

func (s *speed) note(name string, v float64) { s.of[name] = append(s.of[name], v) }

func (s *speed) rms(cost float64) float64 { return math.Sqrt(cost / float64(s.rec.Len())) }

// evolve spends 100 members and 200 generations on both sides.
func (s *speed) evolve(seed uint64) {
	peer := ask(s.T, s.rec, s.pr.Params, rivalTask{Evolve: 100, Generations: 200, Seed: int(seed)}).Evolved[0]
	s.note("de wall", peer.Seconds)
	s.note("de cpu", peer.CPU)
	s.note("de rms", s.rms(peer.Cost))
	for _, path := range population.Paths() {
		on := populationOn(s.T, s.pr, path)
		for _, workers := range []int{1, 2} {
			begin := startWatch()
			pop, err := fit.AEP{Members: 100, Generations: 200, Workers: workers, Seed: seed}.Search(context.Background(), on, nil)
			if err != nil {
				s.Fatal(err)
			}
			took := begin.since()
			if workers == 2 {
				s.note(path.String()+" aep wall 2", took.wall)
				continue
			}
			_, cost := pop.BestMember()
			s.note(path.String()+" aep wall", took.wall)
			s.note(path.String()+" aep cpu", took.cpu)
			s.note(path.String()+" aep rms", s.rms(cost))
		}
	}
}

// stream takes a million rows into the factor of linear, in columns.
func (s *speed) stream() {
	const rows = 4096
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{4, 8} {
		w, y := make([][]float64, n), make([]float64, rows)
		for j := range w {
			w[j] = make([]float64, rows)
			for k := range w[j] {
				w[j][k] = rng.NormFloat64()
			}
		}
		for k := range y {
			y[k] = rng.NormFloat64()
		}
		f := numeric.NewFactor(n)
		for range 21 {
			begin := startWatch()
			for range 50 {
				f.AddColumns(w, y)
			}
			f.Triangle()
			s.note(fmt.Sprintf("stream %d", n), 1e9*begin.since().cpu/(50*rows))
		}
	}
}

// print writes the tables.
func (s *speed) print() {
	var b strings.Builder
	m := func(name string) float64 { return median(s.of[name]) }
	b.WriteString("\nEvolution, 100 members × 200 generations × 10 000 samples:\n\n| | processor, s | ratio | wall, s | wall, 2 " +
		"workers, s " +
		"| rms left, m/s |\n|---|---:|---:|---:|---:|---:|\n")
	fmt.Fprintf(&b, "| differential evolution | %.1f | 1 | %.1f | | %.3g |\n", m("de cpu"), m("de wall"), m("de rms"))
	for _, p := range population.Paths() {
		k := p.String() + " aep "
		fmt.Fprintf(&b, "| AEP, %s | %.2f | %.0f | %.2f | %.2f | %.3g |\n", p, m(k+"cpu"), m("de cpu")/m(k+"cpu"), m(k+"wall"), m(k+"wall 2"),
			m(k+"rms"))
	}
	b.WriteString("\nStreaming least squares:\n\n| unknowns | ns per row |\n|---:|---:|\n")
	for _, n := range []int{4, 8} {
		fmt.Fprintf(&b, "| %d | %.1f |\n", n, m(fmt.Sprintf("stream %d", n)))
	}
	fmt.Println(b.String())
}
