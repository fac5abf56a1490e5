package exportmodel

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// The parameters give the steady friction of the law by BAM's own formula (bam/model.py, compute_frictions without torques):
// frictionloss = base + stribeck·exp(−|v/dtheta|^alpha), to which damping·|v| is added. BAM is in no registry:
// the formula stands here.
func TestBAM(t *testing.T) {
	for _, c := range []struct {
		law, model string
	}{
		{"coulomb", "m1"}, {"viscous", "m1"}, {"static-coulomb-viscous", "m1"}, {"stribeck-tustin", "m2"}, {"stribeck-bo-pavelescu", "m2"},
		{"lugre", "m2"}, {"gms", "m2"},
	} {
		m := model(t, c.law, nil)
		text, _ := written(t, BAM, m)
		p := map[string]any{}
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		get := func(key string) float64 { x, _ := p[key].(float64); return x }
		if p["model"] != c.model || p["actuator"] != "test_bench_1" || get("armature") != m.Inertia {
			t.Errorf("%s: %v", c.law, p)
		}
		for _, v := range []float64{0.001, 0.03, 0.05, 0.4, 3} {
			got := get("friction_base") + get("friction_viscous")*v
			if c.model == "m2" {
				got += get("friction_stribeck") * math.Exp(-math.Pow(v/get("dtheta_stribeck"), get("alpha")))
			}
			if want := m.Law.SteadyForce(v); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: %g at %g rad/s, the law has %g", c.law, got, v, want)
			}
		}
	}
	m := model(t, "lugre", nil)
	m.Rotary = false
	if _, err := Write(&strings.Builder{}, "bam", m); err == nil || !strings.Contains(err.Error(), "linear") {
		t.Error("a linear axis:", err)
	}
}
