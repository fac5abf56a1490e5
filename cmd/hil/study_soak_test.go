//go:build soak

package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"hilrig/cmd/report"
	"hilrig/cmd/study"
)

// Trends of the brush: the mean rate of tilting grows as the brush shortens (240 runs over eleven parameters), and with its
// stiffness (69 runs over two); and hardly a step is taken without a verified solution. The thresholds are those that
// runs of an independent program kept in several designs.
func TestStudiesOfTheBrushSoak(t *testing.T) {
	for _, c := range []struct {
		study string
		args  []string
		want  []struct {
			metric, factor string
			from, to       float64 // Spearman
		}
	}{
		{"brush-length", []string{"--runs", "240"}, []struct {
			metric, factor string
			from, to       float64
		}{{"mean_rate", "length", -1, -0.6}, {"max_rate", "length", -1, -0.5}}},
		{"brush-stiffness", nil, []struct {
			metric, factor string
			from, to       float64
		}{{"mean_rate", "stiffness", 0.3, 1}, {"max_rate", "stiffness", 0.5, 1}, {"loss", "stiffness", 0.8, 1}}},
	} {
		args := append([]string{"study", c.study, "--json", "--out", filepath.Join(t.TempDir(), c.study)}, c.args...)
		stdout, stderr, code := execute(t, args...)
		if code != report.OK {
			t.Fatalf("%s: exit %d\n%s", c.study, code, stderr)
		}
		var s study.Summary
		if err := json.Unmarshal([]byte(stdout), &s); err != nil {
			t.Fatal(err)
		}
		if s.Failed > 0 || s.Unverified == nil || s.Unverified.Mean > 1e-4 {
			t.Errorf("%s: %d runs failed, unverified %+v", c.study, s.Failed, s.Unverified)
		}
		for _, w := range c.want {
			for _, m := range s.Metrics {
				for _, k := range m.Correlations {
					if m.Name != w.metric || k.Factor != w.factor {
						continue
					}
					t.Logf("%s: %s against %s: Spearman %.3f, the others held %.3f (%.3f … %.3f)", c.study, m.Name, k.Factor, *k.Spearman.R,
						*k.Partial.R,
						*k.Partial.Low, *k.Partial.High)
					if r := *k.Spearman.R; r < w.from || r > w.to {
						t.Errorf("%s: %s against %s: %.3f, want %g to %g", c.study, m.Name, k.Factor, r, w.from, w.to)
					}
				}
			}
		}
	}
}
