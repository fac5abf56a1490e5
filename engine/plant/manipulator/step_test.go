package manipulator

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"hilrig/engine"
)

// errorsOf runs a machine with a step of dt beside an offline run, and returns the largest differences at the offline samples.
func errorsOf(t *testing.T, p Params, dt, end float64, truth *Result) (q, w, lambda, tau float64) {
	t.Helper()
	m := model(t, p)
	k, err := m.NewMachine()
	if err != nil {
		t.Fatal(err)
	}
	x := k.NewState()
	y := make([]float64, len(k.Layout().Outputs))
	at := 0
	n := int(math.Round(end / dt))
	for i := 0; i <= n; i++ {
		h := dt
		if i == 0 {
			h = 0
		}
		if st := k.Step(h, x, nil, y); st != engine.OK {
			t.Fatalf("at %g s: %v", float64(i)*dt, st)
		}
		for at < len(truth.Samples) && truth.Samples[at].T < float64(i)*dt-1e-9 {
			at++
		}
		if at == len(truth.Samples) || math.Abs(truth.Samples[at].T-float64(i)*dt) > 1e-9 {
			continue
		}
		s := &truth.Samples[at]
		for j, v := range s.Q {
			q = math.Max(q, math.Abs(y[j]-v))
		}
		rest := y[len(s.Q):]
		for j, v := range s.W {
			w = math.Max(w, math.Abs(rest[OutTorque+1+j]-v))
		}
		lambda, tau = math.Max(lambda, math.Abs(rest[OutLambda]-s.Lambda)), math.Max(tau, math.Abs(rest[OutTorque]-s.Torque[0]))
	}
	return q, w, lambda, tau
}

// The fixed step against the offline solution: its errors at 1 ms and 0.1 ms with a third of room, and its order. Without friction it is
// three in coordinates, deflections, λ and torque, however often the contact opens. Friction has a mean force over the step: two in
// coordinates, one in λ and torque.
func TestStepOrder(t *testing.T) {
	for _, c := range []struct {
		name              string
		end               float64
		coarse, fine      [4]float64 // at 1 ms and at 0.1 ms: q, w (m), λ (N), τ (N·m)
		order, orderForce float64    // between the two
	}{
		{"table", 1, [4]float64{1.4e-7, 8e-8, 2.2e-4, 1.6e-5}, [4]float64{3.2e-10, 1.7e-10, 2.8e-7, 1.7e-8}, 2.6, 2.8},
		{"friction", 0.5, [4]float64{9e-7, 3.1e-8, 5.9e-4, 1.7e-3}, [4]float64{7.5e-9, 1.2e-10, 6e-5, 1.8e-4}, 2, 0.95},
		{"unilateral", 0.5, [4]float64{5e-6, 1.6e-6, 5.6e-2, 3.8e-3}, [4]float64{5.8e-9, 1.9e-9, 8.5e-5, 5.5e-6}, 2.8, 2.7},
		{"weight", 0.5, [4]float64{1.1e-7, 4.8e-9, 2.9e-5, 9e-7}, [4]float64{1.1e-10, 5e-12, 3.2e-8, 9e-10}, 2.9, 2.8},
		{"cantilever", 0.3, [4]float64{9e-8, 2.6e-8, 1.8e-4, 1.3e-5}, [4]float64{9e-11, 2.6e-11, 1.9e-7, 1.4e-8}, 2.9, 2.8},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := caseOf(t, c.name)
			truth, err := model(t, p).Run(context.Background(), Options{Duration: c.end, SampleInterval: 0.01})
			if err != nil {
				t.Fatal(err)
			}
			var got [2][4]float64
			for i, dt := range []float64{1e-3, 1e-4} {
				q, w, lambda, tau := errorsOf(t, p, dt, c.end, truth)
				got[i] = [4]float64{q, w, lambda, tau}
				t.Logf("at %g ms: q %.1e, w %.1e m, λ %.1e N, τ %.1e N·m", 1e3*dt, q, w, lambda, tau)
			}
			for k := range 4 {
				order := c.order
				if k > 1 {
					order = c.orderForce
				}
				near(t, "at 1 ms", got[0][k], 0, c.coarse[k])
				near(t, "at 0.1 ms", got[1][k], 0, c.fine[k])
				if o := math.Log10(got[0][k] / got[1][k]); o < order {
					t.Errorf("number %d converges with order %.2f, want %.2f", k, o, order)
				}
			}
		})
	}
}

// The tip that leaves the beam stops a machine at the end, at the time of the source's example, and it stays stopped.
func TestStepLeaves(t *testing.T) {
	k, err := model(t, Paper(0.5)).NewMachine()
	if err != nil {
		t.Fatal(err)
	}
	x, y := k.NewState(), make([]float64, len(k.Layout().Outputs))
	last := 0.0
	for i := 1; ; i++ {
		st := k.Step(1e-3, x, nil, y)
		if st == engine.OK && y[4+OutLeft] == 0 && i < 2000 {
			last = y[4+OutTipX]
			continue
		}
		if st != engine.Limited || y[4+OutLeft] != 1 {
			t.Fatalf("step %d: %v, x = %g m", i, st, y[4+OutTipX])
		}
		if i != 1938 || last > 1 || last < 0.99 {
			t.Errorf("it left in step %d, from %g m", i, last)
		}
		break
	}
	near(t, "time", x[2*(4+18)], 1.9374333, 3e-7)
	near(t, "place", y[4+OutTipX], 1, 1e-9)
	before := append([]float64(nil), x...)
	if st := k.Step(1e-3, x, nil, y); st != engine.Limited {
		t.Errorf("after it left: %v", st)
	}
	for i := range x {
		near(t, "state", x[i], before[i], 0)
	}
}

// Backwards over the borders: both formulations and the fixed step agree.
func TestBackwards(t *testing.T) {
	p := Paper(-1.5)
	p.Joints[0].Drive.Start = -1.5
	var runs [2]*Result
	for _, f := range []Formulation{Partition, Full} {
		r, err := model(t, p).Run(context.Background(), Options{Formulation: f, Duration: 0.5, SampleInterval: 0.05})
		if err != nil {
			t.Fatal(err)
		}
		runs[f] = r
	}
	borders := 0
	for _, e := range runs[0].Events {
		if e.Kind == Border && e.ToIndex == e.FromIndex-1 {
			borders++
		}
	}
	if borders < 2 {
		t.Fatalf("%d borders were crossed backwards", borders)
	}
	for i := range runs[0].Samples {
		a, b := &runs[0].Samples[i], &runs[1].Samples[i]
		near(t, "tip", a.TipX, b.TipX, 1e-10)
		near(t, "λ", a.Lambda, b.Lambda, 1e-7)
	}
	q, w, lambda, _ := errorsOf(t, p, 5e-4, 0.5, runs[0])
	near(t, "fixed step", math.Max(q, w), 0, 2e-6)
	near(t, "fixed step, λ", lambda, 0, 5e-3)
}

// A step depends on x alone, so that a motion can be taken up anywhere; what is no number is told, and x stays.
func TestStepIsFunctionOfState(t *testing.T) {
	m := model(t, caseOf(t, "friction"))
	one, err := m.NewMachine()
	if err != nil {
		t.Fatal(err)
	}
	l := one.Layout()
	if n := l.NQ + l.NV + l.NA; n != len(one.NewState()) || n != len(l.States) {
		t.Fatalf("%d states, %d names, %d numbers", n, len(l.States), len(one.NewState()))
	}
	x, y := one.NewState(), make([]float64, len(l.Outputs))
	for range 420 {
		one.Step(1e-3, x, nil, y)
	}
	two, err := m.NewMachine()
	if err != nil {
		t.Fatal(err)
	}
	x2, y2 := append([]float64(nil), x...), make([]float64, len(y))
	for range 50 {
		one.Step(1e-3, x, nil, y)
		two.Step(1e-3, x2, nil, y2)
	}
	for i := range x {
		near(t, l.States[i].Name, x2[i], x[i], 1e-9*(1+math.Abs(x[i])))
	}
	x[1] = math.NaN()
	if st := one.Step(1e-3, x, nil, y); st != engine.NonFinite || x[1] == x[1] {
		t.Errorf("%v", st)
	}
	if st := two.Step(math.NaN(), x2, nil, y2); st != engine.NonFinite {
		t.Errorf("a step of NaN: %v", st)
	}
	if st := two.Step(1e-3, x2, nil, y2); st != engine.OK {
		t.Errorf("after a bad step: %v", st)
	}
}

func TestStepAllocatesNothing(t *testing.T) {
	for _, name := range []string{"table", "friction", "unilateral"} {
		k, err := model(t, caseOf(t, name)).NewMachine()
		if err != nil {
			t.Fatal(err)
		}
		x, y := k.NewState(), make([]float64, len(k.Layout().Outputs))
		var s engine.System = k
		if n := testing.AllocsPerRun(600, func() { s.Step(1e-3, x, nil, y) }); n != 0 {
			t.Errorf("%s: %g allocations a step", name, n)
		}
	}
}

// What a step costs, in corrections of its stages, which is what its time goes by on any machine: three a stage, or four; where a border
// splits a step, one pass is made in vain; friction takes four passes, the later ones from where those before ended.
func TestStepCorrections(t *testing.T) {
	for _, c := range []struct {
		name           string
		median, border int // measured: 9 and 27, 21 and 51, 11 and 32
	}{{"table", 10, 30}, {"friction", 23, 56}, {"unilateral", 12, 36}} {
		k, err := model(t, caseOf(t, c.name)).NewMachine()
		if err != nil {
			t.Fatal(err)
		}
		x, y := k.NewState(), make([]float64, len(k.Layout().Outputs))
		var events []Event
		k.p.events = &events
		var plain []int
		split := 0
		for range 800 {
			before, happened := k.p.newtons, len(events)
			if st := k.Step(1e-3, x, nil, y); st != engine.OK {
				t.Fatalf("%s: %v", c.name, st)
			}
			if n := k.p.newtons - before; len(events) == happened {
				plain = append(plain, n)
			} else {
				split = max(split, n)
			}
		}
		slices.Sort(plain)
		t.Logf("%s: median %d, most %d, %d where something happens", c.name, plain[len(plain)/2], plain[len(plain)-1], split)
		if plain[len(plain)/2] > c.median || split > c.border || split == 0 {
			t.Errorf("%s: median %d corrections a step and %d where something happens, want at most %d and %d", c.name, plain[len(plain)/2], split,
				c.median, c.border)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	p := Paper(1)
	p.Beam.Left.Kind, p.Beam.Right.Kind = "pinned", "pinned" // 20 coordinates of the beam
	p.Joints[0].Drive.Rate = 0.3
	k, err := model(b, p).NewMachine()
	if err != nil {
		b.Fatal(err)
	}
	x, y := k.NewState(), make([]float64, len(k.Layout().Outputs))
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		if n++; n%1000 == 0 {
			copy(x, k.start)
		}
		k.Step(1e-3, x, nil, y)
	}
}

// The distribution over the steps of a run of 1 s at 1 rad/s, six border crossings among them, with 20 coordinates of the beam (pinned) and
// 18 (clamped, the example), without and with friction, and where the contact opens and closes as well: each step is the shortest of many,
// so that the load of the machine does not count.
func BenchmarkRun(b *testing.B) {
	pinned := Paper(1)
	pinned.Beam.Left.Kind, pinned.Beam.Right.Kind = "pinned", "pinned"
	both := caseOf(b, "unilateral")
	both.Friction = caseOf(b, "friction").Friction
	for _, c := range []struct {
		name string
		p    Params
	}{{"pinned", pinned}, {"clamped", Paper(1)}, {"friction", caseOf(b, "friction")}, {"unilateral with friction", both}} {
		b.Run(c.name, func(b *testing.B) {
			k, err := model(b, c.p).NewMachine()
			if err != nil {
				b.Fatal(err)
			}
			y := make([]float64, len(k.Layout().Outputs))
			states := [][]float64{k.NewState()}
			for range 1000 {
				x := append([]float64(nil), states[len(states)-1]...)
				if st := k.Step(1e-3, x, nil, y); st != engine.OK {
					break // the tip has left
				}
				states = append(states, x)
			}
			best := make([]float64, len(states)-1)
			for i := range best {
				best[i] = math.Inf(1)
			}
			x := k.NewState()
			for b.Loop() {
				for i := range best {
					copy(x, states[i])
					at := time.Now()
					k.Step(1e-3, x, nil, y)
					best[i] = math.Min(best[i], float64(time.Since(at).Nanoseconds())/1e3)
				}
			}
			slices.Sort(best)
			n := float64(len(best) - 1)
			b.ReportMetric(best[int(0.5*n)], "µs-p50")
			b.ReportMetric(best[int(0.99*n)], "µs-p99")
			b.ReportMetric(best[len(best)-1], "µs-max")
			b.ReportMetric(n+1, "steps")
		})
	}
}

// The longest steps: across a border, and with friction.
func BenchmarkStepBorder(b *testing.B) { benchmarkAt(b, "table", 308) }

func BenchmarkStepFriction(b *testing.B) { benchmarkAt(b, "friction", 200) }

// benchmarkAt repeats the step after so many of 1 ms.
func benchmarkAt(b *testing.B, name string, steps int) {
	k, err := model(b, caseOf(b, name)).NewMachine()
	if err != nil {
		b.Fatal(err)
	}
	x, y := k.NewState(), make([]float64, len(k.Layout().Outputs))
	for range steps {
		k.Step(1e-3, x, nil, y)
	}
	begin := append([]float64(nil), x...)
	b.ReportAllocs()
	for b.Loop() {
		copy(x, begin)
		k.Step(1e-3, x, nil, y)
	}
}
