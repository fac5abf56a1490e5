package experiment

import (
	"context"
	"errors"
	"math"
	"testing"

	"hilrig/engine/friction"
	"hilrig/engine/reference"
)

// drawn is P95 on a spring of 2 N/m pulled at 0.1 m/s, the case of [C95].
func drawn(h float64) Spec {
	return Spec{
		Plant: DrawnMass, Mass: 1, Spring: 2, Input: reference.Ramp{Velocity: 0.1}, Step: h, Duration: 20,
		Law: &friction.LuGre{Sigma0: 1e5, Sigma1: math.Sqrt(1e5), Sigma2: 0.4, Fc: 1, Fs: 1.5, Vs: 0.001},
	}
}

// Reference by stiff adaptive integration: crossings of 0.01 m/s.
func TestEventsOfStickSlip(t *testing.T) {
	tr, err := Record(context.Background(), drawn(1e-3), Recording{Threshold: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		kind Kind
		t    float64
	}{{BreakAway, 7.458}, {Arrest, 10.2235}, {BreakAway, 13.8207}, {Arrest, 16.5863}}
	if len(tr.Events) != len(want) {
		t.Fatalf("events %v", tr.Events)
	}
	for i, w := range want {
		if e := tr.Events[i]; e.Kind != w.kind || math.Abs(e.T-w.t) > 2e-3 || e.Dir != 1 {
			t.Errorf("event %d: %v at %.4f s, want %v at %.4f", i, e.Kind, e.T, w.kind, w.t)
		}
	}
	if f := tr.Events[0].F; math.Abs(f-1.487) > 0.02 {
		t.Errorf("break-away force %.3f N, want just below 1.5 at 0.2 N/s", f)
	}
	if s := tr.Summary; s.Steps != 20000 || math.Abs(s.XEnd-1.2726) > 1e-4 || math.Abs(s.VMax-0.36982) > 1e-4 || len(tr.T) != 20000 {
		t.Errorf("summary %+v, %d rows", s, len(tr.T))
	}
}

// A velocity that swings through zero has reversals and no rests; one that dwells there has rests.
func TestReversalsAndRests(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    reference.Generator
		kinds []Kind
	}{
		{"swing", reference.Sine{Tone: reference.Tone{Amplitude: 1, Frequency: 1, Phase: 1}}, []Kind{Reversal, Reversal, Reversal, Reversal}},
		{"stop and go", reference.Step{Amplitude: 1, Frequency: 1}, []Kind{Arrest, BreakAway, Arrest}},
	} {
		t.Run(c.name, func(t *testing.T) {
			law, _ := friction.Find("lugre")
			tr, err := Record(context.Background(), Spec{Plant: ImposedVelocity, Law: law.NewLaw(), Input: c.in, Step: 1e-3, Duration: 2},
				Recording{})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []Kind
			for _, e := range tr.Events {
				kinds = append(kinds, e.Kind)
			}
			if len(kinds) != len(c.kinds) {
				t.Fatalf("events %+v, want %v", tr.Events, c.kinds)
			}
			for i := range kinds {
				if kinds[i] != c.kinds[i] {
					t.Errorf("events %+v, want %v", tr.Events, c.kinds)
				}
			}
		})
	}
	// the sine crosses zero where its phase says
	law, _ := friction.Find("lugre")
	tr, _ := Record(context.Background(), Spec{Plant: ImposedVelocity, Law: law.NewLaw(),
		Input: reference.Sine{Tone: reference.Tone{Amplitude: 1, Frequency: 1, Phase: 1}}, Step: 1e-3, Duration: 1}, Recording{})
	if want := (math.Pi - 1) / (2 * math.Pi); math.Abs(tr.Events[0].T-want) > 1e-5 {
		t.Errorf("reversal at %.6f s, want %.6f", tr.Events[0].T, want)
	}
}

// The displacement of an imposed velocity is its integral to the last digits.
func TestImposedVelocityIntegrates(t *testing.T) {
	law, _ := friction.Find("lugre")
	w := 2 * math.Pi
	in := reference.Sine{Offset: 0.06, Tone: reference.Tone{Amplitude: 0.04, Frequency: 1}}
	tr, err := Record(context.Background(), Spec{Plant: ImposedVelocity, Law: law.NewLaw(), Input: in, Step: 1e-3, Duration: 1.3}, Recording{})
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.06*1.3 + 0.04/w*(1-math.Cos(w*1.3)); math.Abs(tr.Summary.XEnd-want) > 1e-14 {
		t.Errorf("x = %.16g, want %.16g", tr.Summary.XEnd, want)
	}
}

// A step beyond the limit of the scheme is refused with the limit, or divided.
func TestStepBeyondTheLimit(t *testing.T) {
	s := drawn(10e-3)
	var e *LimitError
	if _, err := Record(context.Background(), s, Recording{}); !errors.As(err, &e) ||
		math.Abs(e.Limit-2*0.001/(math.Sqrt(2/math.E)*0.5-0.4e-3)) > 1e-6 {
		t.Fatalf("10 ms: %v", err)
	}
	s.Substep = true
	tr, err := Record(context.Background(), s, Recording{})
	if err != nil || tr.Summary.Parts != 3*tr.Summary.Steps {
		t.Errorf("%v, %d parts of %d steps, want three each", err, tr.Summary.Parts, tr.Summary.Steps)
	}
}

func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Run(ctx, drawn(1e-3), func(*Sample) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	stop := errors.New("enough")
	if err := Run(context.Background(), drawn(1e-3), func(*Sample) error { return stop }); err != stop {
		t.Errorf("visit: %v", err)
	}
	bad := drawn(-1)
	bad.Mass, bad.Spring = 0, math.NaN()
	if err := bad.Validate(); err == nil {
		t.Error("a negative step, no mass and no spring were accepted")
	} else {
		t.Log(err)
	}
}

// A normal load that is not given is the nominal one of the law; a load of zero is a contact that has lifted off.
func TestNormalLoad(t *testing.T) {
	peak := func(load reference.Generator) float64 {
		law := &friction.LuGre{Sigma0: 1e3, Sigma1: 30, Fc: 1, Fs: 1.5, Vs: 0.05, Vd: 0.02, N0: 10}
		tr, err := Record(context.Background(), Spec{Plant: ImposedVelocity, Law: law, Input: reference.Constant(0.5), Normal: load, Step: 1e-3,
			Duration: 1}, Recording{})
		if err != nil {
			t.Fatal(err)
		}
		return tr.F[len(tr.F)-1]
	}
	for _, c := range []struct {
		load reference.Generator
		want float64
	}{{nil, 1}, {reference.Constant(10), 1}, {reference.Constant(5), 0.5}, {reference.Constant(0), 0}, {reference.Constant(-3), 0}} {
		if f := peak(c.load); math.Abs(f-c.want) > 1e-9 {
			t.Errorf("load %v: friction %g N, want %g", c.load, f, c.want)
		}
	}
}
