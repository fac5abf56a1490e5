package fit

import (
	"context"
	"math"
	"strings"
	"testing"
)

// startsOf fits from the starts with one worker, and gives the solution and how the descents ended.
func startsOf(t *testing.T, p *Problem, froms ...[]float64) (*Solution, []Start) {
	t.Helper()
	s, err := MultiStart{ExtraStarts: froms, Workers: 1}.Fit(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.Extra["starts"].([]Start)
}

// Descents that lead to one place are alike from where the linear model holds: those behind the first stop there, and the answer is as
// exact as that of one descent.
func TestDescentsThatMeetStop(t *testing.T) {
	p := toneProblem(1000, 0.02)
	near := func(by float64) []float64 { return []float64{2 * by, 0.02 * by, 40 + 0.02*by, 0.5 * by} }
	s, starts := startsOf(t, p, near(1.2), near(0.8), near(1.3), near(0.7))
	one, err := LM{}.Fit(context.Background(), p.At(near(1.2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.Cost/one.Cost-1) > 1e-7 || s.Extra["reached"] != 4 {
		t.Errorf("cost %.12g by %v starts, one descent %.12g", s.Cost, s.Extra["reached"], one.Cost)
	}
	for i, start := range starts[2:] { // the first two run side by side
		alone, err := LM{}.Fit(context.Background(), p.At(start.InitialTheta), nil)
		if err != nil {
			t.Fatal(err)
		}
		if start.Reason != joined || !start.Converged || 3*start.Evaluations > 2*alone.Evaluations {
			t.Errorf("start %d: %d simulations, %q; alone %d", i+3, start.Evaluations, start.Reason, alone.Evaluations)
		}
	}
}

// A trap that is higher is no end of another descent, and what is lower is found behind two traps.
func TestDescentsElsewhereGoOn(t *testing.T) {
	p := toneProblem(4000, 0.02)
	trap, other := []float64{1, 0.03, 20, 0}, []float64{1, 0.03, 60, 1}
	s, starts := startsOf(t, p, trap, other, []float64{1.5, 0.025, 40.02, 0.3}, trap)
	if rms := math.Sqrt(2 * s.Cost / float64(p.Rows)); math.Abs(rms/0.02-1) > 0.1 {
		t.Errorf("rms %g, want the noise 0.02", rms)
	}
	if starts[0].Cost < 100*s.Cost || starts[1].Cost < 100*s.Cost {
		t.Errorf("no traps: costs %g and %g", starts[0].Cost, starts[1].Cost)
	}
}

// Above its optimum a target changes nothing; far below, the descent and all descents from there are given up.
func TestTarget(t *testing.T) {
	p := nistProblem("MGH09", free("b1", 0.25, 0, 1), free("b2", 0.39, 0, 1), free("b3", 0.415, 0, 1), free("b4", 0.39, 0, 1))
	at := func(target float64) *Solution {
		p.Target = target
		s, err := LM{MaxIterations: 500}.Fit(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	open := at(0)
	if s := at(1.01 * open.Cost); s.Cost != open.Cost || !s.Converged {
		t.Errorf("a target above the optimum: cost %g, %q, want %g", s.Cost, s.Reason, open.Cost)
	}
	if s := at(0.1 * open.Cost); s.Converged || s.Reason != outOfReach || s.Evaluations >= open.Evaluations {
		t.Errorf("a target below the optimum: %q after %d simulations, without it %d", s.Reason, s.Evaluations, open.Evaluations)
	}
	_, err := MultiStart{ExtraStarts: [][]float64{Values(p.Params), Values(open.Params), Values(p.Params)}}.Fit(context.Background(), p, nil)
	if err == nil || !strings.Contains(err.Error(), "leads below a cost") {
		t.Errorf("several starts far above the target: %v", err)
	}
}
