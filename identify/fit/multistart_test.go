package fit

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"hilrig/engine"
)

func logarithmic(name string, start, lo, hi float64) Param {
	p := free(name, start, lo, hi)
	p.Log = true
	return p
}

// The far starts of NIST lie in these boxes; one descent from there is lost.
func TestMultiStartFindsFarMinima(t *testing.T) {
	for _, c := range nist {
		var params []Param
		switch c.name {
		case "MGH10":
			params = []Param{logarithmic("b1", 2, 1e-4, 10), logarithmic("b2", 4e5, 1e3, 1e6), logarithmic("b3", 2.5e4, 10, 1e5)}
		case "MGH17":
			params = []Param{free("b1", 50, -100, 100), free("b2", 150, -200, 200), free("b3", -100, -200, 200),
				logarithmic("b4", 1, 1e-3, 2), logarithmic("b5", 2, 1e-3, 2)}
		default:
			continue
		}
		p := nistProblem(c.name, params...)
		s, err := MultiStart{LM: LM{MaxIterations: 500}, Starts: 10, Seed: 1}.Fit(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: sum of squares %.8g, certified %.8g; %d of 10 starts, %d evaluations", c.name, 2*s.Cost, c.sum, s.Extra["reached"],
			s.Evaluations)
		if math.Abs(2*s.Cost/c.sum-1) > 1e-7 {
			t.Errorf("%s: sum of squares %.9g, certified %.9g", c.name, 2*s.Cost, c.sum)
		}
	}
}

// tone is a cosine of unknown pulsation, damping, size and phase: its cost has a trap for every beat.
type tone struct {
	y     []float64
	calls *counter
}

type counter struct {
	sync.Mutex
	n int
}

func (e tone) Residuals(x, r []float64) engine.Status {
	e.calls.Lock()
	e.calls.n++
	e.calls.Unlock()
	for k := range r {
		u := 0.01 * float64(k)
		r[k] = x[0]*math.Exp(-x[1]*u)*math.Cos(x[2]*u+x[3]) - e.y[k]
	}
	return engine.OK
}

func (e tone) Measured() ([]float64, string, []int, float64) { return e.y, "tone", nil, 0.01 }

var toneTruth = []float64{2, 0.02, 40, 0.5}

func toneProblem(rows int, noise float64) *Problem {
	e := tone{y: make([]float64, rows), calls: new(counter)}
	rng := rand.New(rand.NewPCG(5, 6))
	y := make([]float64, rows)
	e.Residuals(toneTruth, y)
	for k := range y {
		e.y[k] = y[k] + noise*rng.NormFloat64()
	}
	p := &Problem{
		Params: []Param{logarithmic("size", 1, 0.1, 10), logarithmic("damping", 0.03, 0.01, 0.05), logarithmic("pulsation", 20, 10, 100),
			free("phase", 0, -math.Pi, math.Pi)},
		Rows: rows, Unit: "V",
		NewEvaluator: func() Evaluator { return e },
	}
	p.Horizon = func(share float64) *Problem {
		q := toneProblem(max(1, int(share*float64(rows))), noise)
		q.Horizon = nil
		copy(q.Params, p.Params)
		return q
	}
	return p
}

func TestMultiStartEscapesTraps(t *testing.T) {
	p := toneProblem(1000, 0.02)
	one, err := LM{}.Fit(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{3, 4} {
		s, err := MultiStart{Starts: 8, Draws: 100, Seed: seed}.Fit(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		reached := s.Extra["reached"].(int)
		rms := math.Sqrt(2 * s.Cost / float64(p.Rows))
		t.Logf("seed %d: rms %.4f by %d of 8, one start %.4f", seed, rms, reached, math.Sqrt(2*one.Cost/float64(p.Rows)))
		if one.Cost < 100*s.Cost {
			t.Errorf("one start is not trapped, cost %g: the test shows nothing", one.Cost)
		}
		if math.Abs(rms/0.02-1) > 0.1 || reached < 1 {
			t.Errorf("rms %g by %d starts, want the noise 0.02", rms, reached)
		}
		sd := deviations(s)
		for j, want := range toneTruth {
			if q := s.Params[j]; math.Abs(q.Value-want) > 4*sd[j] {
				t.Errorf("%s = %g ± %g, want %g", q.Name, q.Value, sd[j], want)
			}
		}
		if len(s.Extra["starts"].([]Start)) != 8 || len(s.Measured) != p.Rows || s.Dt != 0.01 {
			t.Error("starts or what was measured are missing")
		}
	}
}

func TestGrowingHorizonEscapesTraps(t *testing.T) {
	p := toneProblem(1000, 0.02)
	p.Params[2].Value = 36 // out of phase by 6 turns at the end
	at := func(m LM) float64 {
		s, err := m.Fit(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Residual) != p.Rows {
			t.Fatalf("%d residuals, want those of the whole, %d", len(s.Residual), p.Rows)
		}
		return math.Sqrt(2 * s.Cost / float64(p.Rows))
	}
	whole, growing := at(LM{}), at(LM{Horizons: []float64{0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1}})
	t.Logf("rms: whole record at once %.4f, growing %.4f", whole, growing)
	if whole < 0.2 || math.Abs(growing/0.02-1) > 0.1 {
		t.Errorf("rms %g at once, %g growing; want a trap and the noise 0.02", whole, growing)
	}
	p.Horizon = nil
	s, err := LM{Horizons: []float64{0.20, 0.35, 0.50, 0.70, 1}}.Fit(context.Background(), p, nil)
	if err != nil || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "cannot be shortened") {
		t.Errorf("a problem that cannot be shortened: %v, notes %q", err, s.Notes)
	}
}

func TestSameDigitsForAnyNumberOfWorkers(t *testing.T) {
	for _, loss := range []Loss{{SoftL1, 0.2}, {}} {
		var want *Solution
		for _, workers := range []int{1, 2, 8} {
			p := toneProblem(300, 0.05)
			m := MultiStart{LM: LM{Horizons: []float64{0.5}, Loss: loss}, Starts: 4, Seed: 9, Workers: workers}
			s, err := m.Fit(context.Background(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := LM{Workers: workers}.Fit(context.Background(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Compute, s.Extra["alone"] = 0, append(append(l.Jac, Values(l.Params)...), l.Cost)
			if want == nil {
				want = s
			} else if !reflect.DeepEqual(s, want) {
				t.Errorf("loss %v: %d workers give other digits than one", loss.Kind, workers)
			}
		}
	}
}

func TestDrawsStayInTheirBounds(t *testing.T) {
	p := toneProblem(100, 0)
	below := 0
	for _, x := range (MultiStart{Draws: 2000}).draw(p, 0) {
		for j, q := range p.Params {
			if !(x[j] >= q.Lo && x[j] <= q.Hi) {
				t.Fatalf("drawn %v", x)
			}
		}
		if x[2] < math.Sqrt(10*100) {
			below++
		}
	}
	// even in the logarithm: as many below the geometric mean as above
	if below < 900 || below > 1100 {
		t.Errorf("%d of 2000 below the geometric mean", below)
	}
	p.Params[3].Hi = math.Inf(1)
	err := MultiStart{Starts: 1, ExtraStarts: [][]float64{{1}}}.check(p)
	for _, want := range []string{"phase cannot be drawn from", "start 1 of those given has 1 numbers"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

func TestSurvivorsArePolished(t *testing.T) {
	p := toneProblem(500, 0.01)
	s, err := MultiStart{ExtraStarts: [][]float64{{1, 0.03, 80, 0}, {1.8, 0.012, 40.1, 0.4}}}.Fit(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	starts := s.Extra["starts"].([]Start)
	if len(starts) != 2 || s.Extra["reached"] != 1 || math.Abs(s.Params[2].Value-40) > 0.01 || len(s.Notes) != 1 {
		t.Errorf("%+v, notes %q", starts, s.Notes)
	}
}

func TestInterruptedKeepsTheBestSoFar(t *testing.T) {
	p := toneProblem(500, 0.01)
	ctx, cancel := context.WithCancel(context.Background())
	p.Params[2].Value = 39.5
	steps := 0
	s, err := LM{}.Fit(ctx, p, func(Progress) {
		if steps++; steps == 3 {
			cancel()
		}
	})
	if err != nil || s.Converged || s.Reason != "interrupted" || s.Iterations != 3 || len(s.Jac) != 4*p.Rows {
		t.Errorf("%v, %+v", err, s)
	}
	start, _ := LM{}.At(p)
	if s.Cost >= start.Cost {
		t.Errorf("cost %g, at the start %g", s.Cost, start.Cost)
	}
	s, err = MultiStart{}.Fit(ctx, p, nil)
	if err != nil || s.Converged || s.Reason != "interrupted" {
		t.Errorf("interrupted at once: %v, %+v", err, s)
	}
}

// counted counts its simulations as steps of an integrator, each as many as the frequency says.
type counted struct {
	Evaluator
	steps int
}

func (c *counted) Residuals(theta, r []float64) engine.Status {
	c.steps += int(theta[2])
	return c.Evaluator.Residuals(theta, r)
}

func (c *counted) Steps() int { return c.steps }

// Where one of two descents leaves nothing but noise and the other one more, no others are asked for, and the one that comes second has no
// more work than the first one twice over. Without that knowledge all descend.
func TestExplainedEndsTheSearch(t *testing.T) {
	good, trap := []float64{1.8, 0.012, 40.1, 0.4}, []float64{1, 0.03, 80, 0}
	for _, c := range []struct {
		name  string
		from  [][]float64
		knows bool
		want  int // descents
	}{
		{"the first one explains", [][]float64{good, trap}, true, 2},
		{"the second one explains", [][]float64{trap, good}, true, 2},
		{"nobody knows", [][]float64{good, trap}, false, 3},
		{"none explains", [][]float64{trap, trap}, true, 3},
	} {
		p := toneProblem(500, 0.01)
		inner := p.NewEvaluator
		p.NewEvaluator = func() Evaluator { return &counted{Evaluator: inner()} }
		m := MultiStart{ExtraStarts: c.from, Workers: 1, MoreStarts: func() [][]float64 { return [][]float64{trap} }}
		if c.knows {
			m.Explained = func(end []Param) bool { return math.Abs(end[2].Value-40) < 0.1 }
		}
		s, err := m.Fit(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		starts := s.Extra["starts"].([]Start)
		explained := c.knows && c.want == 2
		if len(starts) != c.want || s.Extra["explained"] != explained || (len(s.Notes) > 0) != (!explained && s.Extra["reached"] == 1) {
			t.Errorf("%s: %d descents, %v, notes %q", c.name, len(starts), s.Extra, s.Notes)
		}
		if !explained {
			continue
		}
		if math.Abs(s.Params[2].Value-40) > 0.01 {
			t.Errorf("%s: %v", c.name, s.Params)
		}
		// its simulations take twice the steps, so that as many are enough
		if first, second := starts[0].Evaluations, starts[1].Evaluations; c.name == "the first one explains" && second > first+20 {
			t.Errorf("%s: %d simulations to confirm %d", c.name, second, first)
		}
	}
}

// Where two descents end at one cost and what is left over is known to be no matter of the place, no others are asked for.
func TestLackingEndsTheSearch(t *testing.T) {
	good, trap := []float64{1.8, 0.012, 40.1, 0.4}, []float64{1, 0.03, 80, 0}
	for _, c := range []struct {
		name    string
		second  []float64
		lacking bool
		want    int // descents
	}{{"both there", good, true, 2}, {"one elsewhere", trap, true, 3}, {"nothing lacking", good, false, 3}} {
		m := MultiStart{ExtraStarts: [][]float64{good, c.second}, Workers: 1, MoreStarts: func() [][]float64 { return [][]float64{trap} },
			Lacking: func(end []Param) bool { return c.lacking && math.Abs(end[2].Value-40) < 0.1 }}
		s, err := m.Fit(context.Background(), toneProblem(500, 0.01), nil)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.Extra["starts"].([]Start)); n != c.want || s.Extra["lacking"] != (c.want == 2) {
			t.Errorf("%s: %d descents, want %d; lacking %v", c.name, n, c.want, s.Extra["lacking"])
		}
	}
}

// Where the first two descents end at one cost, another one that takes far longer is given up, and the place that was found stays. Two that
// end at different costs limit nothing.
func TestLongDescentsAreGivenUp(t *testing.T) {
	for _, c := range []struct {
		second []float64
		agree  bool
	}{{[]float64{1.0001, 1.0003}, true}, {[]float64{-3, 9}, false}} {
		p := problem(3, func(x, r []float64) { // the valley of Rosenbrock, with a step below −2 and something that no place explains
			r[0], r[1], r[2] = 10*(x[1]-x[0]*x[0]), 1-x[0], 1
			if x[0] < -2 {
				r[1] = 3 + (x[0]+3)*(x[0]+3)
			}
		}, free("a", 1, -4, 4), free("b", 1, -4, 20))
		s, err := MultiStart{Workers: 1, ExtraStarts: [][]float64{{1.0002, 1.0001}, c.second, {-1.9, 2}}}.Fit(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		starts := s.Extra["starts"].([]Start)
		long, limit := starts[2].Evaluations, descentBudget*max(starts[0].Evaluations, starts[1].Evaluations)
		t.Logf("%d, %d and %d simulations, costs %g, %g, %g: %s", starts[0].Evaluations, starts[1].Evaluations, long, starts[0].Cost,
			starts[1].Cost, starts[2].Cost, starts[2].Reason)
		if c.agree && (long > limit+4 || starts[2].Converged) || !c.agree && !starts[2].Converged {
			t.Errorf("agree %v: the third descent took %d simulations, at most %d are for one where two agree (%s)", c.agree, long, limit,
				starts[2].Reason)
		}
		if math.Abs(s.Cost-0.5) > 1e-6 {
			t.Errorf("cost %g, want 0.5", s.Cost)
		}
	}
}
