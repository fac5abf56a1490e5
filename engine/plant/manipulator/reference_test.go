package manipulator

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"hilrig/engine/beam"
	"hilrig/engine/friction"
)

// reference is what manipulator.py says of a case.
type reference struct {
	Name    string
	Lambda0 float64
	Start   struct{ Q []float64 }
	Samples []struct {
		T, Lam, Tau float64
		Q, Tip, W   []float64
	}
	Events []struct {
		T, Impulse float64
		What       string
		Frm, To    int
	}
}

func load(t testing.TB, name string) *reference {
	t.Helper()
	text, err := os.ReadFile("testdata/manipulator.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []reference
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	t.Fatalf("no case %s", name)
	return nil
}

// caseOf are the parameters of a case of the reference.
func caseOf(t testing.TB, name string) Params {
	p := Paper(1)
	switch name {
	case "table":
	case "slow":
		p = Paper(0.5)
	case "fast":
		p = Paper(2)
	case "weight":
		p.Joints[0].Drive.Start = -1.95
		p.Gravity, p.Beam.Elements, p.Beam.Damping.Mass = 1.5, 7, 0.5
		for _, i := range []int{0, 2, 3} {
			p.Joints[i].Inertia = 0.0075
		}
	case "pinned":
		p.Beam.Elements, p.Beam.Left.Kind, p.Beam.Right.Kind = 4, beam.Pinned, beam.Pinned
	case "cantilever":
		p.Beam.Elements, p.Beam.Right.Kind = 5, beam.Free
	case "friction":
		law := &friction.LuGre{Sigma0: 300, Sigma1: 2, Sigma2: 0.05, Fc: 0.3, Fs: 0.4, Vs: 0.05, N0: 1}
		p.Friction = law
	case "unilateral":
		p = Paper(2)
		p.Joints[0].Drive.Ramp, p.Gravity, p.Unilateral = 0.02, 0.5, true
	default:
		t.Fatalf("no case %s", name)
	}
	return p
}

func model(t testing.TB, p Params) *Model {
	t.Helper()
	m, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %.12g, want %.12g ± %.2g", what, got, want, tol)
	}
}

// compare holds samples and events of a run against a reference: q and w to tol, forces and moments to force.
func compare(t *testing.T, r *Result, ref *reference, tol, force float64) {
	t.Helper()
	k := 0
	var worst struct{ q, w, lambda, tau, event float64 }
	for _, want := range ref.Samples {
		for k < len(r.Samples) && r.Samples[k].T < want.T-1e-9 {
			k++
		}
		if k == len(r.Samples) || math.Abs(r.Samples[k].T-want.T) > 1e-9 {
			t.Fatalf("no sample at %g s", want.T)
		}
		got := &r.Samples[k]
		for i := range want.Q {
			worst.q = math.Max(worst.q, math.Abs(got.Q[i]-want.Q[i]))
		}
		worst.q = math.Max(worst.q, math.Abs(got.TipX-want.Tip[0]))
		for i := range want.W {
			worst.w = math.Max(worst.w, math.Abs(got.W[i]-want.W[i]))
		}
		worst.lambda = math.Max(worst.lambda, math.Abs(got.Lambda-want.Lam))
		worst.tau = math.Max(worst.tau, math.Abs(got.Torque[0]-want.Tau))
	}
	var events []Event
	for _, e := range r.Events {
		if e.Kind != Pulls && e.Kind != Pushes && e.Kind != Switch {
			events = append(events, e)
		}
	}
	if len(events) != len(ref.Events) {
		t.Fatalf("events %+v, want %+v", events, ref.Events)
	}
	word := map[string]string{"border": Border, "open": Opens, "close": Closes, "left": Left}
	for i, want := range ref.Events {
		got := &events[i]
		if got.Kind != word[want.What] || got.Kind == Border && (got.FromIndex != want.Frm || got.ToIndex != want.To) {
			t.Errorf("event %+v, want %+v", got, want)
		}
		if got.Kind == Closes {
			near(t, "impulse", got.Value, want.Impulse, force*1e-2)
		}
		worst.event = math.Max(worst.event, math.Abs(got.T-want.T))
	}
	t.Logf("largest difference: q %.1e, w %.1e m, λ %.1e N, τ %.1e N·m, events %.1e s; audit %.1e, Φ %.1e m, %d steps", worst.q, worst.w,
		worst.lambda, worst.tau, worst.event, r.Audit, r.Phi, r.Steps)
	near(t, "coordinates", worst.q, 0, tol)
	near(t, "deflections", worst.w, 0, tol)
	near(t, "λ", worst.lambda, 0, force)
	near(t, "torque", worst.tau, 0, force)
	near(t, "events", worst.event, 0, tol)
}

// Both formulations against a program that knows neither: bodies in absolute coordinates, all joints as constraints.
func TestReference(t *testing.T) {
	for _, name := range []string{"table", "slow", "fast", "weight", "pinned", "cantilever", "friction", "unilateral"} {
		for _, f := range []Formulation{Partition, Full} {
			t.Run(name+" "+f.String(), func(t *testing.T) {
				ref := load(t, name)
				m := model(t, caseOf(t, name))
				at, err := m.Equilibrium()
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range ref.Start.Q {
					near(t, "equilibrium", at.Q[i+1], want, 1e-11)
				}
				near(t, "λ in equilibrium", at.Lambda, ref.Lambda0, 1e-9)
				end := ref.Samples[len(ref.Samples)-1].T
				left := len(ref.Events) > 0 && ref.Events[len(ref.Events)-1].What == "left"
				if left {
					end = 3
				}
				r, err := m.Run(context.Background(), Options{Formulation: f, Duration: end, SampleInterval: 0.05})
				var off *beam.LeftError
				switch {
				case left && !errors.As(err, &off):
					t.Fatalf("the tip leaves the beam: %v", err)
				case left:
					if want := "the load left the beam over its right end at t = 1.937433"; !strings.Contains(err.Error(), want) || off.X != 1 {
						t.Errorf("%v, want %q", err, want)
					}
				case err != nil:
					t.Fatal(err)
				}
				compare(t, r, ref, 1e-8, 2e-6)
				near(t, "audit", r.Audit, 0, 1e-9)
				near(t, "gap", r.Phi, 0, 1e-10)
			})
		}
	}
}
