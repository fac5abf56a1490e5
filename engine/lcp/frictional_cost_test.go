//go:build linux

package lcp

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hilrig/engine"
	"hilrig/engine/numeric"
)

var costSteps = flag.Int("friction.steps", 0, "steps of each run of TestFrictionCost")

// The bars of TestFrictionCost, twice what was measured: runs that jam take refinement and paths in most steps.
const mostFactorisations, mostJammed = 8, 25

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

// drift is a run of problems of n of the brush's 20 contacts, all within reach in every step, whose velocities wander: from step to
// step the states change in about 40 of 100 cases.
func drift(n, steps int) []scene {
	s, r := newSlider(source(5)), source(uint64(n))
	s.start()
	pick := r.Perm(19)[:n-1]
	pick = append(pick, 19)
	keep := 1 - 0.3/float64(n*n)
	s.speed = 0.5
	u := normals(r, sliderDOF)
	size := []float64{0.02, 0.02, 1, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 1, 1}
	f, st, p := NewFrictional(n), make([]State, n), make([]float64, 2*n)
	var list []scene
	for k := range steps {
		var mh, m [121]float64
		s.q[2] = 5e-3 * math.Sin(0.01*float64(k))
		s.mass(s.q, &m)
		const h, th = 20e-6, 0.55
		for i := range mh {
			mh[i] = m[i] + h*th*s.cmat[i] + h*h*th*th*s.kmat[i]
		}
		chol(mh[:], sliderDOF)
		for i := range u {
			u[i] = keep*u[i] + math.Sqrt(1-keep*keep)*r.NormFloat64()
		}
		var rows [][]float64
		var b, mu []float64
		s.contacts(s.q, 0, func(id int, _, mui, _ float64, wn, wt [11]float64, vn, vt float64) {
			if !slices.Contains(pick, id) {
				return
			}
			rows = append(rows, slices.Clone(wn[:]), slices.Clone(wt[:]))
			bn, bt := -0.01, vt
			for i := range u {
				bn += wn[i] * u[i] * size[i]
				bt += wt[i] * u[i] * size[i]
			}
			b, mu = append(b, bn, bt), append(mu, mui)
		})
		d := make([]float64, 4*n*n)
		for i := range rows {
			x := slices.Clone(rows[i])
			cholSolve(mh[:], sliderDOF, x)
			for j := range rows {
				for l := range x {
					d[i*2*n+j] += x[l] * rows[j][l]
				}
			}
		}
		q := friction{d, b, mu}
		list = append(list, scene{q, make([]float64, 2*n), slices.Clone(st), slices.Clone(p)})
		f.Solve(d, b, mu, st, p)
	}
	return list
}

// What the tick pays for friction. Every problem is solved and verified, and a run takes at most as long as so many dense
// factorisations (LU with pivots) of the same matrices next to it: a solver has to do about one for every set of states that
// it tries. Times alone are printed, not judged: the machine may be busy. Each problem is timed by the processor time of the thread, which
// knows nothing of other programs, five times over from the same start; the median of the five leaves out what interrupts and caches add.
// So the tail is that of the problems and not that of the machine.
func TestFrictionCost(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	steps := 800
	if *costSteps > 0 {
		steps = *costSteps
	}
	runs := map[string][]scene{}
	var names []string
	for _, c := range brushes {
		s := newSlider(source(3))
		c.set(s)
		runs[c.name] = record(s, steps)
		names = append(names, c.name)
	}
	for _, n := range []int{1, 2, 5, 6, 10, 14} {
		name := fmt.Sprintf("drift, %d contacts", n)
		runs[name] = drift(n, steps)
		names = append(names, name)
	}
	for _, name := range names {
		f, st, p := NewFrictional(20), make([]State, 20), make([]float64, 40)
		lu := engine.NewLU(40)
		byCount, byMethod := map[int][]float64{}, map[FrictionMethod][]float64{}
		var all []float64
		var residual, spent, floor float64
		bad := 0
		replay(runs[name], f, st, p, func(sc *scene, solve func() FrictionResult) {
			const times, each = 5, 4
			var r FrictionResult
			timed := func(solve func() FrictionResult) float64 {
				var took [times]float64
				for k := range took {
					t0 := cpu()
					for range each {
						r = solve()
					}
					took[k] = (cpu() - t0) / each
				}
				return numeric.Median(took[:])
			}
			lu.Resize(len(sc.q.b))
			dense := timed(func() FrictionResult {
				copy(lu.A, sc.q.d)
				lu.Factor()
				return FrictionResult{}
			})
			median := timed(solve)
			spent, floor = spent+median, floor+dense
			if r.Status != Verified {
				bad++
			} else {
				residual = max(residual, r.Residual)
			}
			n := len(sc.st)
			all, byCount[n], byMethod[r.Method] = append(all, median), append(byCount[n], median), append(byMethod[r.Method], median)
		})
		at := func(v []float64, q float64) float64 {
			slices.Sort(v)
			return v[int(q*float64(len(v)-1))]
		}
		t.Logf("%s: p50 %.0f, p99 %.0f, p99.9 %.0f, max %.0f ns, residual %.0e, %d not verified", name, at(all, .5), at(all, .99), at(all, .999),
			at(all, 1), residual, bad)
		if bad > 0 {
			t.Errorf("%s: %d problems are not verified", name, bad)
		}
		t.Logf("   as long as %.2f factorisations", spent/floor)
		most := mostFactorisations
		if strings.Contains(name, "jammed") {
			most = mostJammed
		}
		if spent > float64(most)*floor {
			t.Errorf("%s: as long as %.1f factorisations, want at most %d", name, spent/floor, most)
		}
		line := "   p50/p99.9"
		for m := ByWarm; m <= BySafe; m++ {
			if v := byMethod[m]; len(v) > 0 {
				line += fmt.Sprintf("  %v (%.0f %%) %.0f/%.0f", m, 100*float64(len(v))/float64(len(all)), at(v, .5), at(v, .999))
			}
		}
		if !strings.HasPrefix(name, "drift") {
			line += "; contacts"
			for n := range 21 {
				if v := byCount[n]; len(v) > 20 {
					line += fmt.Sprintf("  %d: %.0f/%.0f", n, at(v, .5), at(v, .999))
				}
			}
		}
		t.Log(line)
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
