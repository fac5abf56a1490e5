package study

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"hilrig/cmd/report"
)

var beamOnce = sync.OnceValues(func() (*beamResult, error) { return beamFamily(context.Background()) })

// The table of docs/evidence/beam.md is that of the study. The speeds that were published have their published times.
func TestBeamDoc(t *testing.T) {
	r, err := beamOnce()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| speed, rad/s | tip leaves, s | beam pulls from, s | node 3, mm | node 5, mm | contact force, N | torque of the drive, " +
		"N·m |\n|---|---|---|---|---|---|---|\n")
	for _, s := range r.Speeds {
		fmt.Fprintf(&b, "| %g | %s | %s | %.4f | %.4f | %.4f | %.3f to %.3f |\n", s.Rate, report.OrDash("%.7f", s.LeaveTime),
			report.OrDash("%.4f", s.Pulls), 1e3*s.W3, 1e3*s.W5, s.Lambda, s.TauMin, s.TauMax)
		if s.LeaveTime == nil || s.Agree > 1e-11 || s.FixedStepDiff > 2e-6 || s.Audit > 1e-9 {
			t.Errorf("%g rad/s: %+v", s.Rate, s)
		}
		published := map[float64][]float64{
			0.5: {0.4302834, 0.7486586, 0.9389610, 1.0925990, 1.2262206, 1.3499473, 1.4740423, 1.6061912, 1.7529603},
			1:   {0.3083162, 0.5636543, 0.7061078, 0.8122705, 0.9000737, 0.9766944},
		}[s.Rate]
		for i, want := range published {
			if i >= len(s.Borders) || math.Abs(s.Borders[i]-want) > 1e-7 {
				t.Errorf("%g rad/s: borders %v, want %v", s.Rate, s.Borders, published)
				break
			}
		}
	}
	checkTable(t, "evidence/beam.md", b.String())
}

// The figures of the source are there by number, each can be drawn, and the study refuses flags of other studies.
func TestBeamFigures(t *testing.T) {
	r, err := beamOnce()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	figures, err := r.figures()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		names[f.name] = true
		var out bytes.Buffer
		if err := f.Write(&out, "svg"); err != nil || out.Len() < 1000 {
			t.Errorf("%s: %d bytes, %v", f.name, out.Len(), err)
		}
	}
	for _, n := range []string{"fig-3a-slide", "fig-3b-node-3", "fig-3c-node-5", "summary"} {
		if !names[n] {
			t.Errorf("no %s in %v", n, names)
		}
	}
	err = Run(context.Background(), func() bool { return false }, beamName, Options{Changed: func(n string) bool { return n == "runs" }},
		&bytes.Buffer{}, &bytes.Buffer{})
	if report.ExitCode(err) != report.Usage {
		t.Errorf("--runs: %v", err)
	}
}
