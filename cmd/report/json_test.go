package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"hilrig/identify"
	"hilrig/identify/fit"
)

// A result with numbers that are not finite is printed, with null in their places and everything else as it was.
func TestJSONOfNumbersThatAreNotFinite(t *testing.T) {
	ci := [2]float64{1, 2}
	result := struct {
		Name string `json:"name"`
		*identify.Result
	}{Name: "a <b> & c", Result: &identify.Result{
		Verdict:    identify.Weak,
		Parameters: []identify.Parameter{{Estimate: fit.Estimate{Name: "Fc", Value: 3, CI95: &ci}}},
		Stages: []identify.Stage{{Method: "presliding", Values: map[string]float64{"a": 1, "b": 2},
			Extra: map[string]any{"rate_se": 7.0, "steps": []map[string]float64{{"A": 1}}}}},
		Settings: struct {
			Rig  float64 `json:"rig,omitempty"`
			List []float64
		}{0, []float64{1, 2}},
	}}
	var standard bytes.Buffer
	enc := json.NewEncoder(&standard)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(result); err != nil {
		t.Fatal(err)
	}
	var own bytes.Buffer
	if err := encodeNull(&own, result); err != nil || own.String() != standard.String() {
		t.Fatalf("a finite result is not printed as encoding/json does (%v):\n%s\n%s", err, own.String(), standard.String())
	}

	inf := math.Inf(1)
	result.Fit.RMS, result.Stages[0].Cost = inf, math.NaN()
	result.Stages[0].Values["b"], result.Stages[0].Extra["rate_se"] = -inf, inf
	result.Stages[0].Extra["steps"] = []map[string]float64{{"A": math.NaN()}}
	result.Parameters[0].CI95 = &[2]float64{1, inf}
	var out bytes.Buffer
	if err := EncodeJSON(&out, result); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"rate_se": 7`, `"rate_se": null`, `"A": 1`, `"A": null`, `"b": 2`, `"b": null`, `"cost": 0`,
		`"cost": null`).Replace(standard.String())
	want = strings.Replace(want, "\"ci95\": [\n        1,\n        2", "\"ci95\": [\n        1,\n        null", 1)
	at := strings.Index(want, `"fit": {`)
	want = want[:at] + strings.Replace(want[at:], `"rms": 0`, `"rms": null`, 1)
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
