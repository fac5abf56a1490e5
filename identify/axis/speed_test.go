//go:build unix

package axis

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hilrig/engine/numeric"
	"hilrig/engine/population"
	"hilrig/identify/fit"
	"hilrig/identify/record"
)

var rival = flag.Bool("rival", false, "measure searches and fits against SciPy on a numba kernel")

// TestSpeedTable prints the tables of docs/identify-speed.md, but for the kernels alone:
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
		s.descend(uint64(turn))
		s.arrive(uint64(turn))
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
			_, cost := pop.Best()
			s.note(path.String()+" aep wall", took.wall)
			s.note(path.String()+" aep cpu", took.cpu)
			s.note(path.String()+" aep rms", s.rms(cost))
		}
	}
}

// from puts the problem at a start.
func from(p *fit.Problem, theta []float64) *fit.Problem {
	q := *p
	q.Params = slices.Clone(p.Params)
	for j, x := range theta {
		q.Params[j].Value = x
	}
	return &q
}

// starts are the one of the tests and n drawn in the box, evenly in logarithms.
func (s *speed) starts(n int, seed uint64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 77))
	out := make([][]float64, n+1)
	for i := range out {
		for _, p := range s.pr.Params {
			x := p.Value
			if i > 0 {
				x = p.Lo * math.Pow(p.Hi/p.Lo, rng.Float64())
			}
			out[i] = append(out[i], x)
		}
	}
	return out
}

// reached is what a fit has to come to: the cost of the optimum within a millionth.
func (s *speed) reached(cost float64) bool {
	if len(s.of["optimum"]) == 0 {
		sol, err := fit.LM{}.Fit(context.Background(), s.pr, nil)
		if err != nil {
			s.Fatal(err)
		}
		s.note("optimum", 2*sol.Cost)
	}
	return cost <= s.of["optimum"][0]*(1+1e-6)
}

// descend fits from the same starts on both sides, with covariances.
func (s *speed) descend(seed uint64) {
	starts := s.starts(10, seed)
	peer := ask(s.T, s.rec, s.pr.Params, rivalTask{Descend: starts}).Descended[0]
	arrived, sum := 0, 0.0
	for i, c := range peer.Costs {
		if s.reached(c) {
			arrived++
		}
		sum += peer.CPUs[i]
	}
	s.note("trf cpu", peer.CPUs[0])
	s.note("trf arrived", float64(arrived))
	s.note("trf per arrival", sum/float64(arrived))
	for _, path := range population.Paths() {
		on := populationOn(s.T, s.pr, path)
		arrived, sum = 0, 0
		for i, theta := range starts {
			p, begin := from(on, theta), startWatch()
			sol, err := fit.LM{Workers: 1}.Fit(context.Background(), p, nil)
			if err == nil {
				_, err = fit.Assess(sol)
			}
			if err != nil {
				s.Fatal(err)
			}
			took := begin.since()
			if i == 0 {
				for range 10 { // one is too short to be measured
					begin = startWatch()
					if sol, err = (fit.LM{Workers: 1}).Fit(context.Background(), p, nil); err != nil {
						s.Fatal(err)
					}
					s.note(path.String()+" fit alone cpu", begin.since().cpu)
					if _, err = fit.Assess(sol); err != nil {
						s.Fatal(err)
					}
					s.note(path.String()+" fit cpu", begin.since().cpu)
					s.note(path.String()+" fit wall", begin.since().wall)
				}
			}
			if s.reached(2 * sol.Cost) {
				arrived++
			}
			sum += took.cpu
		}
		s.note(path.String()+" arrived", float64(arrived))
		s.note(path.String()+" per arrival", sum/float64(arrived))
	}
}

// arrive measures how long a search without a start takes to the optimum: ours by a short evolution whose three best descend,
// theirs by differential evolution until it is within a thousandth of the cost, in a thousand generations at most.
func (s *speed) arrive(seed uint64) {
	const members, generations = 30, 40
	s.reached(0)
	target := s.of["optimum"][0] * 1.001
	peer := ask(s.T, s.rec, s.pr.Params, rivalTask{Evolve: members, Generations: 1000, Seed: int(seed), Target: target}).Evolved[0]
	s.note("de to optimum cpu", peer.CPU)
	s.note("de to optimum simulations", float64(peer.Simulations))
	s.note("de to optimum missed", miss(peer.Cost <= target))
	for _, path := range population.Paths() {
		on, begin := populationOn(s.T, s.pr, path), startWatch()
		pop, err := fit.AEP{Members: members, Generations: generations, Workers: 1, Seed: seed}.Search(context.Background(), on, nil)
		if err != nil {
			s.Fatal(err)
		}
		best := math.Inf(1)
		theta, _ := pop.Survivors(3)
		for _, th := range theta {
			sol, err := fit.LM{Workers: 1}.Fit(context.Background(), from(on, th), nil)
			if err != nil {
				s.Fatal(err)
			}
			best = min(best, 2*sol.Cost)
		}
		s.note(path.String()+" to optimum cpu", begin.since().cpu)
		s.note(path.String()+" to optimum missed", miss(s.reached(best)))
	}
}

func miss(arrived bool) float64 {
	if arrived {
		return 0
	}
	return 1
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
	sum := func(name string) (x float64) {
		for _, v := range s.of[name] {
			x += v
		}
		return x
	}
	b.WriteString("\nEvolution, 100 members × 200 generations × 10 000 samples:\n\n| | processor, s | ratio | wall, s | wall, 2 workers, s | rms left, m/s |\n|---|---:|---:|---:|---:|---:|\n")
	fmt.Fprintf(&b, "| differential evolution | %.1f | 1 | %.1f | | %.3g |\n", m("de cpu"), m("de wall"), m("de rms"))
	for _, p := range population.Paths() {
		k := p.String() + " aep "
		fmt.Fprintf(&b, "| AEP, %s | %.2f | %.0f | %.2f | %.2f | %.3g |\n", p, m(k+"cpu"), m("de cpu")/m(k+"cpu"), m(k+"wall"), m(k+"wall 2"), m(k+"rms"))
	}
	b.WriteString("\nLocal fit from the start of the tests, and from ten random ones too:\n\n| | processor, ms | without covariances, ms | wall, ms | ratio | arrived | processor per arrival, ms |\n|---|---:|---:|---:|---:|---:|---:|\n")
	of := 11 * len(s.of["trf arrived"])
	fmt.Fprintf(&b, "| least_squares, trf | %.0f | | | 1 | %.0f of %d | %.0f |\n", 1e3*m("trf cpu"), sum("trf arrived"), of, 1e3*m("trf per arrival"))
	for _, p := range population.Paths() {
		k := p.String() + " "
		fmt.Fprintf(&b, "| LM, %s | %.1f | %.1f | %.1f | %.0f | %.0f of %d | %.0f |\n", p, 1e3*m(k+"fit cpu"), 1e3*m(k+"fit alone cpu"), 1e3*m(k+"fit wall"),
			m("trf cpu")/m(k+"fit cpu"), sum(k+"arrived"), of, 1e3*m(k+"per arrival"))
	}
	b.WriteString("\nWithout a start, to the same optimum:\n\n| | processor, s | ratio | missed |\n|---|---:|---:|---:|\n")
	turns := len(s.of["de to optimum cpu"])
	fmt.Fprintf(&b, "| differential evolution, 30 members, until the cost is within 0.1 %% (%.0f simulations) | %.1f | 1 | %.0f of %d |\n",
		m("de to optimum simulations"), m("de to optimum cpu"), sum("de to optimum missed"), turns)
	for _, p := range population.Paths() {
		k := p.String() + " to optimum "
		fmt.Fprintf(&b, "| AEP 30 × 40 and three descents, %s | %.3f | %.0f | %.0f of %d |\n", p, m(k+"cpu"), m("de to optimum cpu")/m(k+"cpu"), sum(k+"missed"), turns)
	}
	b.WriteString("\nStreaming least squares:\n\n| unknowns | ns per row |\n|---:|---:|\n")
	for _, n := range []int{4, 8} {
		fmt.Fprintf(&b, "| %d | %.1f |\n", n, m(fmt.Sprintf("stream %d", n)))
	}
	fmt.Println(b.String())
}
