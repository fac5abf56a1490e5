package lcp

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// scene is a step of a recorded run: the problem, its extra velocities, and what is known from the step before.
type scene struct {
	q  friction
	c  []float64
	st []State
	p  []float64
}

// record runs a brush and keeps the problems of its steps as the solver saw them.
func record(s *slider, steps int) []scene {
	s.start()
	list := make([]scene, 0, steps)
	s.seen = func(q friction, c []float64, st []State, p []float64) {
		list = append(list, scene{q, slices.Clone(c), slices.Clone(st), slices.Clone(p)})
	}
	for range steps {
		s.step(20e-6)
	}
	return list
}

// replay solves the recorded problems from their recorded starts, rounds times over.
func replay(list []scene, f *Frictional, st []State, p []float64, each func(sc *scene, solve func() FrictionResult)) {
	for k := range list {
		sc := &list[k]
		n := len(sc.st)
		each(sc, func() FrictionResult {
			copy(st, sc.st)
			copy(p, sc.p)
			return f.SolveEased(sc.q.d, sc.q.b, sc.c, sc.q.mu, st[:n], p[:2*n])
		})
	}
}

// Times are printed, not judged: the machine may be busy.
func TestFrictionCost(t *testing.T) {
	steps := 1000
	for _, c := range brushes {
		s := newSlider(source(3))
		c.set(s)
		list := record(s, steps)
		f, st, p := NewFrictional(20), make([]State, 20), make([]float64, 40)
		took := make([][]float64, 21)
		kinds := map[string][]float64{}
		var all []float64
		for range 3 {
			replay(list, f, st, p, func(sc *scene, solve func() FrictionResult) {
				n := len(sc.st)
				best := 1e9
				var r FrictionResult
				for range 3 {
					t0 := time.Now()
					r = solve()
					best = min(best, float64(time.Since(t0)))
				}
				took[n] = append(took[n], best)
				all = append(all, best)
				kind := fmt.Sprintf("%d %v", n, r.Method)
				kinds[kind] = append(kinds[kind], best)
			})
		}
		at := func(v []float64, q float64) float64 {
			if len(v) == 0 {
				return 0
			}
			slices.Sort(v)
			return v[int(q*float64(len(v)-1))]
		}
		line := fmt.Sprintf("%s: all p50 %.0f p99 %.0f p99.9 %.0f max %.0f ns;", c.name, at(all, .5), at(all, .99), at(all, .999), at(all, 1))
		for n, v := range took {
			if len(v) > 100 {
				line += fmt.Sprintf(" %d:%.0f/%.0f", n, at(v, .5), at(v, .999))
			}
		}
		t.Log(line)
		for _, k := range []string{"1 warm", "1 update", "2 warm", "2 update", "5 warm", "5 update", "5 lemke", "6 warm", "6 update"} {
			if v := kinds[k]; len(v) > 10 {
				t.Logf("   %s: %d, p50 %.0f p99 %.0f", k, len(v), at(v, .5), at(v, .99))
			}
		}
	}
}

func BenchmarkFrictionReplay(b *testing.B) {
	for _, k := range []int{1, 2, 5, 6} {
		for _, c := range brushes[:5] {
			s := newSlider(source(3))
			c.set(s)
			list := slices.DeleteFunc(record(s, 4000), func(sc scene) bool { return len(sc.st) != k })
			if len(list) < 100 {
				continue
			}
			b.Run(fmt.Sprintf("%d/%s", k, c.name), func(b *testing.B) {
				f, st, p := NewFrictional(20), make([]State, k), make([]float64, 2*k)
				b.ReportAllocs()
				at := 0
				for b.Loop() {
					sc := &list[at]
					if at++; at == len(list) {
						at = 0
					}
					copy(st, sc.st)
					copy(p, sc.p)
					f.SolveEased(sc.q.d, sc.q.b, sc.c, sc.q.mu, st, p)
				}
			})
		}
	}
}
